//! Lets the crate's own tests find the interpreter they are linked to, not another of the same version.
//!
//! pyo3's helper for this works only in crates that depend on pyo3, which this one promises not to do.

use std::env;
use std::process::Command;

fn main() {
    for name in ["PYO3_PYTHON", "PYO3_ENVIRONMENT_SIGNATURE", "PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let python = env::var_os("PYO3_PYTHON").unwrap_or_else(|| "python3".into());
    let script = "import sysconfig; print(sysconfig.get_config_var('LIBDIR') or '')";
    let Ok(answer) = Command::new(python).args(["-c", script]).output() else {
        return;
    };
    let folder = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    if cfg!(unix) && !folder.is_empty() {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
