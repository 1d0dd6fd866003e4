//! The program `nandlab`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(nandlab_cli::run_command(std::env::args_os()))
}
