//! What is wrong with a trace, and the complete command line that would work.

use clap::Parser;
use nandlab::config::Config;
use nandlab::types::SECTOR_BYTES;
use nandlab_lab::{Address, Device, Error, shell_word};
use nandlab_trace::{
    BlockEvent, Checked, ColumnSpec, DeviceNeed, FileOrder, Finding, Options, Place, TraceError, Volumes, check_up,
    expand,
};

use crate::advice::{Word, capacity, room};
use crate::args::{TraceArgs, VolumeChoice};
use crate::cli::{Cli, Command};
use crate::fail::Failure;
use crate::reading::ReadingArgs;
use crate::trace::TraceCommand;

/// Rows that are looked at to choose between formats.
const FIRST_ROWS: u64 = 65_536;
/// Rows that are looked at to find out what would work.
const ALL_ROWS: u64 = 20_000_000;

/// What is to be said of a failure on standard error. An error of reading ends with the command that the user gave, changed
/// so that it would work, if such a command is known.
pub fn message(failure: &Failure) -> Option<String> {
    let message = failure.message()?;
    let remedy = if let Failure::Lab(Error::Trace(error)) = failure { work_out(error) } else { None };
    Some(message + &remedy.map(|line| format!("\n  try: {line}")).unwrap_or_default())
}

fn work_out(error: &TraceError) -> Option<String> {
    let asked = Asked::parse()?;
    let words = if asked.again() { prescribe(&asked) } else { from_error(error, &asked) }?;
    if words.is_empty() { None } else { Some(asked.changed(&words)) }
}

/// What the user asked for.
struct Asked {
    words: Vec<String>,
    /// Of the traces: paths, patterns, or `-`.
    traces: Vec<String>,
    reading: ReadingArgs,
    /// Devices and addresses, where there is a device.
    replay: Option<TraceArgs>,
    /// That device.
    config: Option<Config>,
}

impl Asked {
    fn parse() -> Option<Self> {
        let words: Vec<String> = std::env::args_os().map(|word| word.into_string().ok()).collect::<Option<_>>()?;
        let cli = Cli::try_parse_from(&words).ok()?;
        let of = |trace: &TraceArgs, config: Option<Config>| {
            let (traces, reading) = (trace.read.trace.clone(), trace.read.reading.clone());
            Some(Self { words: words.clone(), traces, reading, replay: Some(trace.clone()), config })
        };
        match &cli.command {
            Command::Run(args) => {
                let device = args.device.complete(args.size, &args.plugins);
                of(&args.trace, device.configure().ok().map(|(_, config)| config))
            }
            Command::Compare(args) => {
                let device = Device { set: Vec::new(), ..args.device.device(args.size.ram) };
                of(&args.trace, device.configure().ok().map(|(_, config)| config))
            }
            Command::Curve(args) => {
                let device = args.ftl.as_ref().map(|_| Device { set: Vec::new(), ..args.device.device(None) });
                of(&args.trace, device.and_then(|device| device.configure().ok()).map(|(_, config)| config))
            }
            Command::Bound(args) => of(&args.trace, None),
            Command::Trace(command) => {
                let (traces, reading) = TraceCommand::reads(command)?;
                Some(Self { words: words.clone(), traces, reading, replay: None, config: None })
            }
            _ => None,
        }
    }

    /// The trace can be read again.
    fn again(&self) -> bool {
        let paths = expand(&self.traces).unwrap_or_default();
        !paths.is_empty() && paths.iter().all(|path| std::fs::metadata(path).is_ok_and(|meta| meta.is_file()))
    }

    /// The command line with some options changed.
    fn changed(&self, words: &[Word]) -> String {
        let mut line = vec!["nandlab".to_owned()];
        let mut given = self.words.iter().skip(1).peekable();
        while let Some(word) = given.next() {
            let name = word.split('=').next().unwrap_or(word);
            if words.iter().any(|(option, _)| *option == name) {
                let has_value = !word.contains('=') && name != "--rebase";
                if has_value && given.peek().is_some() {
                    given.next();
                }
                continue;
            }
            line.push(shell_word(word));
        }
        let mut added = Vec::new();
        for (option, value) in words.iter().filter_map(|(option, value)| value.as_ref().map(|value| (option, value))) {
            added.push((*option).to_owned());
            if !value.is_empty() {
                added.push(shell_word(value));
            }
        }
        // What follows `--` is not an option.
        let end = line.iter().position(|word| word == "--").unwrap_or(line.len());
        line.splice(end..end, added);
        line.join(" ")
    }
}

/// What the error alone tells, for a trace that can be read once.
fn from_error(error: &TraceError, asked: &Asked) -> Option<Vec<Word>> {
    let replays = asked.replay.is_some();
    Some(match error {
        TraceError::NotRecognised { proposal: Some(proposal), .. } => {
            vec![("--format", None), ("--columns", Some(proposal.columns.clone()?))]
        }
        TraceError::SecondDevice { first, .. } if replays => vec![("--volumes", Some(format!("pick:{first}")))],
        TraceError::BeyondCapacity { lba, sectors, .. } if replays => {
            vec![room(asked.config.as_ref()?, (lba + u64::from(*sectors)).saturating_mul(SECTOR_BYTES))]
        }
        TraceError::NoEvents { .. } => vec![("--event", None)],
        TraceError::TimeFixed { .. } => vec![("--time-unit", None)],
        TraceError::NoObjects { .. } => vec![("--object-unit", None)],
        TraceError::StackNeedsFile { .. } => vec![("--volumes", Some("merge".to_owned()))],
        _ => return None,
    })
}

/// Looks at the trace until it reads: the options that this takes.
fn prescribe(asked: &Asked) -> Option<Vec<Word>> {
    let paths = expand(&asked.traces).ok()?;
    // The error of one of several simulations has stopped all work; a second signal, or some seconds, still end this.
    let mut options = Options { stop: None, ..asked.reading.options().ok()? };
    let mut words: Vec<Word> = Vec::new();
    for _ in 0..6 {
        match check_up(&paths, &options, ALL_ROWS) {
            Ok(checked) if is_another(&checked, &paths, &options) => {
                options.format.take()?;
                options.skip_bad = None;
                words.push(("--format", None));
            }
            Ok(checked) => {
                if checked.rows == 0 {
                    return None;
                }
                words.extend(fixes(&checked.findings, &["--time-unit", "--skip-bad"]));
                let places = |args| places(args, &checked, asked.config.as_ref());
                words.extend(asked.replay.as_ref().map(places).unwrap_or_default());
                return Some(words);
            }
            Err(error) => words.extend(fix(&error, &paths, &mut options)?),
        }
    }
    None
}

/// What was read is of another format: so many bad rows are no damage, and what speaks against the format that was named may
/// not speak against the one that the contents tell.
fn is_another(checked: &Checked, paths: &[String], options: &Options) -> bool {
    let is_odd =
        |finding: &Finding| finding.warning && matches!(finding.topic, "bad rows" | "order" | "times" | "sizes");
    let told = || Options { format: None, skip_bad: None, ..options.clone() };
    checked.bad_rows * 10 > checked.rows + checked.bad_rows
        || options.format.is_some()
            && checked.findings.iter().any(is_odd)
            && check_up(paths, &told(), FIRST_ROWS).is_ok_and(|read| !read.findings.iter().any(is_odd))
}

/// Changes the options so that reading gets further than to this error.
fn fix(error: &TraceError, paths: &[String], options: &mut Options) -> Option<Vec<Word>> {
    Some(match error {
        TraceError::NotRecognised { proposal: Some(proposal), .. } => {
            let columns = proposal.columns.clone()?;
            options.columns = Some(ColumnSpec::parse(&columns).ok()?.into());
            vec![("--columns", Some(columns))]
        }
        TraceError::Ambiguous { candidates, .. } => {
            let look = |format: &'static str| {
                let options = Options { format: Some(format.to_owned()), ..options.clone() };
                Some((format, check_up(paths, &options, FIRST_ROWS).ok()?))
            };
            // How the file ends says nothing of its format.
            let fits = |finding: &Finding| !finding.warning || matches!(finding.topic, "end" | "files");
            let read: Vec<_> = candidates.iter().filter_map(|candidate| look(candidate.format)).collect();
            let without_doubt: Vec<_> = read
                .iter()
                .filter(|(_, checked)| checked.findings.iter().all(fits))
                .map(|(format, _)| *format)
                .collect();
            // Where several readings work, only the user knows which one is right.
            let format = match (&without_doubt[..], &read[..]) {
                ([format], _) | ([], [(format, _)]) => *format,
                _ => return None,
            };
            options.format = Some(format.to_owned());
            vec![("--format", Some(format.to_owned()))]
        }
        // Perhaps a header whose columns are in another order than those of the format that rows look like.
        TraceError::Row { place: Place::Line(1), row, .. }
            if options.format.is_none() && row.text.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            return None;
        }
        TraceError::Row { .. } | TraceError::TooManyBad { .. } => {
            // Skips all; how many there were comes with the findings.
            if options.skip_bad == Some(i64::MAX as u64) {
                // Not even its header is of the format that was named.
                options.format.take()?;
                options.skip_bad = None;
                return Some(vec![("--format", None)]);
            }
            options.skip_bad = Some(i64::MAX as u64);
            Vec::new()
        }
        TraceError::NoSuchEvent { seen, .. } => {
            let letter = seen.chars().next()?.to_string();
            options.event = Some(BlockEvent::parse(&letter).ok()?);
            vec![("--event", Some(letter))]
        }
        TraceError::NoEvents { .. } => {
            options.event = None;
            vec![("--event", None)]
        }
        TraceError::TimeFixed { .. } => {
            options.time_unit = None;
            vec![("--time-unit", None)]
        }
        TraceError::NoObjects { .. } => {
            options.object_unit = None;
            vec![("--object-unit", None)]
        }
        TraceError::DevicesInFile { .. } => {
            options.files = Some(FileOrder::Merge);
            vec![("--files", Some("merge".to_owned()))]
        }
        _ => return None,
    })
}

/// The options of warnings, of these kinds.
fn fixes(findings: &[Finding], kinds: &[&'static str]) -> Vec<Word> {
    let options = findings.iter().filter(|finding| finding.warning).map(|finding| &finding.options);
    let word = |options: &Vec<String>| {
        let known = kinds.iter().find(|kind| options.first().is_some_and(|option| option == *kind))?;
        Some((*known, Some(options.get(1).cloned().unwrap_or_default())))
    };
    options.filter_map(word).collect()
}

/// Where devices and addresses go.
fn places(args: &TraceArgs, checked: &Checked, config: Option<&Config>) -> Vec<Word> {
    let mut words = Vec::new();
    let VolumeChoice::Together(mut volumes) = args.volumes else { return words };
    let devices = &checked.devices;
    let busiest = devices.iter().max_by_key(|need| need.requests).map_or(0, |need| need.device);
    let is_wrong = match volumes {
        Volumes::Reject => devices.len() > 1,
        Volumes::Pick(wanted) => devices.iter().all(|need| need.device != wanted),
        Volumes::Stack | Volumes::Merge => false,
    };
    if is_wrong {
        volumes = Volumes::Pick(busiest);
        words.push(("--volumes", Some(format!("pick:{busiest}"))));
    }
    let needed = need(devices, volumes);
    if let Some(config) = config.filter(|config| args.address == Address::Reject && needed > capacity(config)) {
        words.push(room(config, needed));
    }
    words
}

/// Bytes that a replay addresses.
fn need(devices: &[DeviceNeed], volumes: Volumes) -> u64 {
    let ends = devices.iter().map(|need| need.end_bytes);
    match volumes {
        Volumes::Stack => ends.map(|end| end.next_multiple_of(1 << 16)).sum(),
        Volumes::Pick(number) => devices.iter().find(|need| need.device == number).map_or(0, |need| need.end_bytes),
        Volumes::Reject | Volumes::Merge => ends.max().unwrap_or(0),
    }
}
