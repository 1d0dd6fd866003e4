//! `nandlab probe`: the micro-benchmark whose results `nandlab fit` wants.

use clap::{Args, ValueEnum};
use nandlab::types::Bytes;
use nandlab_lab::MicroBenchmark;

use crate::fail::Failure;
use crate::output;

/// Arguments of `probe`.
#[derive(Args, Debug)]
pub struct ProbeArgs {
    /// The program that the jobs are for.
    #[arg(long, value_enum, default_value = "fio")]
    pub script: ScriptKind,
    /// The file or block device that is measured. ALL DATA ON IT IS LOST when the jobs run.
    #[arg(long, value_name = "PATH", value_parser = file, default_value = "/dev/CHANGE_ME")]
    pub file: String,
    /// Bytes of it that are used: more than the drive's caches.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "64GiB", allow_hyphen_values = true)]
    pub size: Bytes,
}

/// A program that carries out a micro-benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ScriptKind {
    /// fio, the flexible I/O tester.
    Fio,
}

/// A path that fits into one line of a job file.
fn file(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a path is needed".to_owned()),
        text if text.contains(char::is_control) => {
            Err("a path without line breaks and other control characters is needed".to_owned())
        }
        text => Ok(text.to_owned()),
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    let size = Bytes::parse(text)?;
    if size >= Bytes(1 << 30) { Ok(size) } else { Err("at least 1GiB, so that bursts of a GiB have room".to_owned()) }
}

/// Runs the command.
pub fn probe(args: &ProbeArgs) -> Result<(), Failure> {
    let probe = MicroBenchmark { file: args.file.clone(), size: args.size };
    match args.script {
        ScriptKind::Fio => output::print(&probe.fio()),
    }
}
