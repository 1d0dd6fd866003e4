//! The laboratory of nandlab for Python: what `nandlab._native` is. The rest of the package, in `python/nandlab`, gives it the
//! form that a user sees. No number is computed here: all of them are those of `crates/lab`.

mod arrow;
mod columns;
mod device;
mod environment;
mod errors;
mod looks;
mod numpy_array;
mod papers;
mod policy;
mod registry;
mod run;
mod scored;
mod sweeps;
mod tables;
mod whole;
mod work;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The command line: returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| nandlab_cli::run_command(arguments))
}

/// The native part of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::arrow_stream;
    #[pymodule_export]
    use super::columns::{Memory, memory};
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use super::device::NativeDevice;
    #[pymodule_export]
    use super::environment::Environment;
    #[pymodule_export]
    use super::errors::{ConfigError, InputError};
    #[pymodule_export]
    use super::papers::{reproduce, search};
    #[pymodule_export]
    use super::policy::PlanView;
    #[pymodule_export]
    use super::policy::views::{AccessView, SenseView, SlotsView};
    #[pymodule_export]
    use super::registry::{describe, devices, plugin_names, short_form};
    #[pymodule_export]
    use super::run::{RunReport, run};
    #[pymodule_export]
    use super::sweeps::{experiment, sweep, sweep_rows};
    #[pymodule_export]
    use super::tables::{bound, compare, curve, trace_info};
    #[pymodule_export]
    use super::work::end_work;

    #[pymodule_export]
    const COLUMNS: [&str; super::columns::NAMES.len()] = super::columns::NAMES;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const DEFAULT_DEVICE: &str = nandlab::config::DEFAULT_DEVICE;
}
