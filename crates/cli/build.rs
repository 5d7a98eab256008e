//! Links the crate's own tests to the interpreter that `crates/python` found.

use std::env;

fn main() {
    let folder = env::var("DEP_TESTWRIGHT_PYTHON_FOLDER");
    let name = env::var("DEP_TESTWRIGHT_PYTHON_NAME");
    if let (Ok(folder), Ok(name)) = (folder, name) {
        println!("cargo::rustc-link-arg=-L{folder}");
        println!("cargo::rustc-link-arg=-l{name}");
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
