//! What decides the result of a cell, and its hash.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use nandlab::CORE_SOURCES;
use nandlab::config::Config;
use nandlab_trace::{TRACE_SOURCES, generators};
use serde::Serialize;
use twox_hash::XxHash3_128;

use crate::error::Error;
use crate::run::Run;
use crate::warm_up::WarmUp;
use crate::word::Word;
use crate::workload::Reading;

/// The parts of the laboratory that take part in a run.
const RUN_SOURCES: [&str; 10] = [
    include_str!("../run.rs"),
    include_str!("../course.rs"),
    include_str!("../measurement.rs"),
    include_str!("../warm_up.rs"),
    include_str!("../source.rs"),
    include_str!("../decoded.rs"),
    include_str!("../address.rs"),
    include_str!("../device.rs"),
    include_str!("../capacity.rs"),
    include_str!("../workload.rs"),
];

/// All that decides the result of a cell. Paths of traces do not: what is in the files does.
#[derive(Serialize)]
struct Deciding<'a> {
    nandlab: &'static str,
    /// Of the core, the trace readers and the laboratory: a changed policy gives new results.
    sources: [&'static str; 2],
    lab: String,
    /// The whole configuration, seed included; the description of the device, and why, if it cannot be built.
    config: serde_json::Value,
    /// The capacity that is fitted to the trace.
    capacity: Option<String>,
    traces: Vec<String>,
    reading: &'a Reading,
    address: String,
    volumes: String,
    limit: Option<u64>,
    warm_up: Option<WarmUp>,
}

/// The contents of traces by their paths: each file is read once.
#[derive(Default)]
pub(super) struct Contents(BTreeMap<String, String>);

impl Contents {
    /// A generator as it is written, or the hash of what is in a file.
    fn of(&mut self, path: &str) -> Result<String, Error> {
        if path.starts_with(generators::PREFIX) {
            return Ok(path.to_owned());
        }
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let cannot = |error| {
            let help = "check the path, which is seen from the folder in which the sweep is started";
            Error::input(format!("{path}: cannot be read: {error}"), help)
        };
        if path == "-" || !std::fs::metadata(path).map_err(cannot)?.is_file() {
            let problem = format!("{path}: a sweep reads its traces many times, and this is no file");
            return Err(Error::input(problem, "write the trace to a file first"));
        }
        let mut file = File::open(path).map_err(cannot)?;
        let (mut hash, mut block) = (XxHash3_128::new(), vec![0; 1 << 20]);
        loop {
            match file.read(&mut block).map_err(cannot)? {
                0 => break,
                bytes => hash.write(&block[..bytes]),
            }
        }
        let content = format!("{:032x}", hash.finish_128());
        self.0.insert(path.to_owned(), content.clone());
        Ok(content)
    }
}

/// What decides the result of a run as JSON, and the hash of that in 32 digits.
///
/// # Errors
/// A trace cannot be read.
pub(super) fn key(
    run: &Run,
    config: Result<&Config, &str>,
    contents: &mut Contents,
) -> Result<(String, String), Error> {
    let Run { device, workload } = run;
    let paths = if workload.is_built_in() { Vec::new() } else { workload.paths()? };
    let config = config.map_or_else(|problem| serde_json::to_value((device, problem)), serde_json::to_value);
    let deciding = Deciding {
        nandlab: env!("CARGO_PKG_VERSION"),
        sources: [CORE_SOURCES, TRACE_SOURCES],
        lab: hash_of(RUN_SOURCES.concat().as_bytes()),
        config: config.expect("a configuration is plain data"),
        capacity: device.capacity.as_ref().map(Word::word),
        traces: paths.iter().map(|path| contents.of(path)).collect::<Result<_, _>>()?,
        reading: &workload.reading,
        address: workload.address.word(),
        volumes: workload.volumes.word(),
        limit: workload.limit,
        warm_up: workload.warm_up,
    };
    let text = serde_json::to_string(&deciding).expect("it is plain data");
    let hash = hash_of(text.as_bytes());
    Ok((text, hash))
}

fn hash_of(bytes: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(bytes))
}
