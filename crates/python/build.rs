//! Links the crate's own tests to the interpreter that the build is for, and lets them find it when they run.
//!
//! The crates are built as parts of an extension module, which links to no interpreter: the one that loads it has all it
//! needs. So one build serves the wheel and the tests.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    let config = pyo3_build_config::get();
    if let (Some(folder), Some(name)) = (config.lib_dir(), config.lib_name()) {
        println!("cargo::rustc-link-arg=-L{folder}");
        println!("cargo::rustc-link-arg=-l{name}");
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
        // For the tests of crates that use this one.
        println!("cargo::metadata=folder={folder}");
        println!("cargo::metadata=name={name}");
    }
}
