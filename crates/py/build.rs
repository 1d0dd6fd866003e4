//! What linking a module of Python takes on macOS, where its symbols are found when it is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
