//! `nandlab record`: what a command reads and writes, with call stacks.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::{Args, ValueEnum};
use nandlab::types::Bytes;
use nandlab_host::{Hinter, Indicator, Patterns};
use nandlab_lab::count;
use nandlab_record::{Ended, Level, RecordError, RecordOptions, RecordedCommand};
use nandlab_trace::tools::Tool;
use nandlab_trace::{Extra, FILE_PAGE_BYTES, Step, Writer};

use crate::fail::{Exit, Failure};
use crate::trace::cannot_write;
use crate::{interrupt, output};

/// Arguments of `record`.
#[derive(Args, Debug)]
pub struct RecordArgs {
    /// Where to write the trace: Parquet if the name ends in .parquet, else text (compressed for .zst and .gz).
    #[arg(long, short, value_name = "FILE")]
    output: String,
    /// Where requests are recorded.
    #[arg(long, value_enum, default_value = "syscall")]
    level: RecordLevel,
    /// Memory of the host. At the level of system calls: its page cache, of which a model decides what reaches a device; 64
    /// MiB if it is not said, and with 0 every system call is a request. At the level of devices: all memory that the command
    /// has.
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse, allow_hyphen_values = true)]
    memory_limit: Option<Bytes>,
    /// What the model of the page cache reads ahead of a stream at most, 128 KiB if it is not said; 0: nothing.
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse, allow_hyphen_values = true)]
    read_ahead: Option<Bytes>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Where requests are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RecordLevel {
    /// At system calls: needs no privileges; what is mapped into memory is not seen.
    Syscall,
    /// At block devices: needs root, or some capabilities (docs/hosts.md).
    Device,
}

impl RecordLevel {
    /// Its name on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Syscall => "syscall",
            Self::Device => "device",
        }
    }
    fn level(self) -> Level {
        match self {
            Self::Syscall => Level::Syscall,
            Self::Device => Level::Device,
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        match &error {
            // As env, nice and time end.
            RecordError::Command { code, .. } => Self::Command(format!("error: {error}"), *code),
            _ => Self::Message(Exit::Failed, error.to_string()),
        }
    }
}

/// What the model reads ahead at most.
fn read_ahead(args: &RecordArgs) -> Bytes {
    args.read_ahead.unwrap_or(Bytes::kib(128))
}

/// Runs the command. The exit code is that of the command.
pub fn record(args: &RecordArgs) -> Result<(), Failure> {
    if args.level == RecordLevel::Device && args.memory_limit == Some(Bytes(0)) {
        let help = "give what the command needs and some page cache, as in --memory-limit 64MiB, or leave it out";
        return Err(Failure::bad("--memory-limit 0: no program runs without memory", help));
    }
    if args.level == RecordLevel::Device && args.read_ahead.is_some() {
        let help = "leave it out: what the kernel reads ahead is recorded as it is";
        return Err(Failure::bad("--read-ahead belongs to --level syscall", help));
    }
    if args.memory_limit.is_some_and(|limit| (1..FILE_PAGE_BYTES).contains(&limit.0)) {
        let help = "give 4KiB or more, or 0 for every call as a request of its own";
        return Err(Failure::bad("--memory-limit is less than a page", help));
    }
    if args.output == "-" {
        let help = "name a file, as in -o t.parquet";
        return Err(Failure::bad("-o -: what the command prints would be among the requests", help));
    }
    let options = RecordOptions {
        level: args.level.level(),
        memory_limit: args.memory_limit.map(|limit| limit.0),
        read_ahead: read_ahead(args).0,
        folder: std::env::current_dir().map_err(|error| cannot("the working directory is gone", &error))?,
        stop: interrupt::stop().flag(),
    };
    let wrong = |error| cannot_write(&args.output, &error);
    let extra = Extra::PROCESS.or(Extra::HINTS).or(Extra { origin: true, ..Extra::NONE });
    // Before the command runs: a trace that cannot be written costs no work.
    let mut writer = Writer::create(&args.output, &[], extra).map_err(wrong)?;
    let recorded = nandlab_record::record_command(&own(args.level)?, &args.command, &options)?;
    let mut hinter = Hinter::new(Indicator::default(), recorded.recording.clone(), Patterns::new(Patterns::LONGEST));
    let mut hinted = Vec::new();
    for request in &recorded.requests {
        hinted.clear();
        hinter.feed(request, &mut hinted).map_err(|problem| Failure::Message(Exit::Failed, problem))?;
        for request in &hinted {
            writer.write(request).map_err(wrong)?;
        }
    }
    writer.set_steps(vec![step(args, &recorded, hinter.counts())]);
    writer.set_recording(recorded.recording.clone());
    writer.finish().map_err(wrong)?;
    say(&recorded, &args.output, args.memory_limit);
    let has = format!("{} has what it did until then", args.output);
    match recorded.ended {
        Ended::Status(0) => Ok(()),
        Ended::Status(code) => {
            let said = format!("note: the command ended with status {code}; {has}");
            Err(Failure::Command(said, u8::try_from(code).unwrap_or(Exit::Failed as u8)))
        }
        Ended::Signal(signal) => {
            let code = u8::try_from(128 + signal).unwrap_or(Exit::Failed as u8);
            Err(Failure::Command(format!("note: signal {signal} ended the command; {has}"), code))
        }
        Ended::Unfollowed => {
            let why = "a real-time signal came, which cannot be passed on: the command was killed";
            Err(Failure::Message(Exit::Failed, format!("{why}; {has}")))
        }
        Ended::Stopped => Err(Failure::Interrupted(has)),
    }
}

fn cannot(what: &str, error: &std::io::Error) -> Failure {
    Failure::Message(Exit::Failed, format!("{what}: {error}"))
}

/// This program, as a process that is to become the command runs it.
fn own(level: RecordLevel) -> Result<Vec<OsString>, Failure> {
    let own = std::env::current_exe().map_err(|error| cannot("this program cannot find itself", &error))?;
    let is_python = own.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    let module: &[&str] = if is_python { &["-m", "nandlab"] } else { &[] };
    let words = module.iter().copied().chain(["record-traced", "--level", level.name(), "--"]).map(OsString::from);
    Ok(std::iter::once(own.into_os_string()).chain(words).collect())
}

/// What was recorded, as the trace says it.
fn step(args: &RecordArgs, recorded: &RecordedCommand, hinted: BTreeMap<String, u64>) -> Step {
    let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let ahead = (args.level == RecordLevel::Syscall).then(|| format!(" --read-ahead {}", read_ahead(args)));
    let limit = args.memory_limit.map(|limit| format!(" --memory-limit {limit}"));
    let options = limit.into_iter().chain(ahead).collect::<String>();
    let tool = format!("record --level {}{options} -- {}", args.level.name(), words.join(" "));
    let (counts, cache) = (recorded.counts, recorded.counts.cache);
    let missing: u64 = recorded.missing.iter().map(|(_, n)| n).sum();
    let kinds = [
        ("tasks", counts.tasks),
        ("reads", counts.reads),
        ("writes", counts.writes),
        ("stacks_cut_short", counts.stacks_cut_short),
        ("pages_hit", cache.hits),
        ("pages_missed", cache.misses),
        ("pages_read_ahead", cache.ahead),
        ("pages_written", cache.written),
        ("pages_written_back", cache.written_back),
        ("pages_dropped", cache.dropped),
        ("pages_dirtied", counts.joined.dirtied),
        ("writes_of_several_stacks", counts.joined.of_several),
        ("requests_without_file", counts.joined.without_file),
        ("requests_without_stack", counts.joined.without_stack),
        ("writes_of_others", counts.joined.of_others),
        ("incomplete", missing + u64::from(matches!(recorded.ended, Ended::Stopped | Ended::Unfollowed))),
    ];
    let kinds = kinds.into_iter().filter(|(_, n)| *n > 0).map(|(kind, n)| (kind.to_owned(), n));
    let mut step = Step::new(tool, Vec::new());
    step.counts = kinds.chain(hinted).collect();
    step
}

/// What people should know.
fn say(recorded: &RecordedCommand, target: &str, limit: Option<Bytes>) {
    let counts = recorded.counts;
    output::complain(&format!(
        "{target}: requests {}; reads {}, writes {}, files {}, processes and threads {}, call stacks {}",
        count(recorded.requests.len() as u64),
        count(counts.reads),
        count(counts.writes),
        count(recorded.recording.file_count() as u64),
        count(counts.tasks),
        count(recorded.recording.stacks().count() as u64)
    ));
    let joined = counts.joined;
    let whose = [
        (joined.without_file, "requests of no file (metadata)"),
        (joined.without_stack, "requests without a call stack: of threads of the kernel, or while a program begins"),
        (joined.of_several, "writes of pages that several had made dirty"),
    ];
    for (n, what) in whose.iter().filter(|(n, _)| *n > 0) {
        output::complain(&format!("note: {} {what}", count(*n)));
    }
    if recorded.killed > 0 {
        let (n, limit) = (count(recorded.killed), limit.unwrap_or_default());
        let what =
            format!("warning: processes killed because the command needed more than --memory-limit {limit}: {n}");
        output::complain(&format!("{what}; give it more"));
    }
    for (what, n) in &recorded.missing {
        output::complain(&format!("warning: not complete: {what}: {}", count(*n)));
    }
}

/// The process of the command. What is wrong is said by the process that started it.
pub fn traced(level: RecordLevel, command: &[OsString]) -> Result<(), Failure> {
    match nandlab_record::run_traced(level.level(), command) {
        Ok(never) => match never {},
        Err((_, code)) => Err(Failure::Command(String::new(), code)),
    }
}
