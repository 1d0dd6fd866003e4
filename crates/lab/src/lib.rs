//! The laboratory: experiments with simulated SSDs as values, without a command line and without a terminal.
//!
//! A [`Run`] is a [`Device`] and a [`Workload`]; its result is a [`Report`](nandlab::report::Report). All of them are plain
//! values, which can be written in TOML too. A [`Watch`] is told how far the work is, and can stop it.
//!
//! ```
//! use nandlab_lab::{Address, Device, Run, Watch, Workload};
//!
//! let device = Device { ftl: Some("dftl".into()), set: vec!["ram.dram=2MiB".into()], ..Device::of("lab") };
//! let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures/msr.csv");
//! let workload = Workload { address: Address::Modulo, ..Workload::of(trace) };
//! let report = Run { device, workload }.report(&Watch::default())?;
//! println!("{:?} programs for a page of the host", report.write_amplification.host);
//! assert_eq!(report.requests.total, 4);
//! # Ok::<(), nandlab_lab::Error>(())
//! ```
//!
//! What varies over what is an [`Experiment`]: a TOML file of its own whose runs have names. [`papers::PAPERS`] are those
//! of papers.
#![forbid(unsafe_code)]
#![allow(clippy::format_push_string, clippy::format_collect, reason = "the text is short and for people")]

mod address;
mod alone;
pub mod bound;
mod capacity;
mod command;
pub mod compare;
mod course;
pub mod curve;
pub mod datasheet;
mod decoded;
mod device;
mod digest;
mod error;
mod experiment;
mod files;
mod fit;
mod foresight;
mod idle;
mod judge;
mod latencies;
mod measurement;
mod memory;
mod own_buffer;
pub mod pages;
pub mod papers;
mod parallel;
mod patterns;
mod plugins;
mod probe;
pub mod ram;
mod run;
mod search;
mod source;
mod sweep;
mod table;
mod text;
mod timeline;
mod trace_figure;
mod warm_up;
mod watch;
mod word;
mod workload;

pub use address::{Address, AddressUnit};
pub use alone::Sizes;
pub use bound::{Bound, Bounds};
pub use capacity::{Capacity, rounded_size};
pub use compare::{Compare, Comparison};
pub use curve::{Curve, Curves};
pub use decoded::Decoded;
pub use device::Device;
pub use digest::{Digest, DigestFigure};
pub use error::{Error, ErrorKind, ROOM};
pub use experiment::{
    Cells, Claim, ClaimTest, ClaimWay, Experiment, ExperimentFigure, ExperimentMetric, MetricEnd, MetricUnit, Setting,
    SettingOfSome,
};
pub use fit::{Fit, FitError, FitParameter, FitRange, FitUnit, Fitted, FittedParameter, SkippedJob, Told};
pub use foresight::Foresight;
pub use judge::judge;
pub use latencies::{EachRequest, LatencyFile, LatencySummary, ReplayedRequest, TimesOfKind};
pub use memory::check as check_memory;
pub use own_buffer::OwnBuffer;
pub use patterns::{LocatedRequests, PatternCounts, PatternReport};
pub use plugins::plugin_list;
pub use probe::MicroBenchmark;
pub use run::{Run, Separate, Volume};
pub use search::{FoundCell, FoundFront, Search, SearchBudget, SearchClock};
pub use sweep::{CellStatus, SWEEP_MEMORY, Sweep, SweepCell, SweepResults, SweepRow, SweepShard, SweepStep, SweepWork};
pub use table::{Cell, Column, Good, Table, Unit};
pub use text::{count, csv_line, json, plural, shell_word};
pub use timeline::{Timeline, TimelineRow};
pub use trace_figure::trace_figure;
pub use warm_up::WarmUp;
pub use watch::{Event, Phase, Stop, Watch};
pub use word::Word;
pub use workload::{Reading, Workload};
