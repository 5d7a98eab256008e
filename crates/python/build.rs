//! Lets the crate's own tests find the interpreter they were built for, not another of the same version.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    pyo3_build_config::add_libpython_rpath_link_args();
}
