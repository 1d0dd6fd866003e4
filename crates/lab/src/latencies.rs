//! One row for each replayed request: what the trace recorded and what was simulated.

use std::collections::VecDeque;

use nandlab::engine::Ssd;
use nandlab::histogram::Histogram;
use nandlab::replay::{Replay, RequestTimes};
use nandlab::types::{HostOp, HostRequest, Nanos};
use nandlab_trace::{TableColumn, TableWriter};

use crate::error::Error;

/// Gets every replayed request; its first error ends the run.
pub type EachRequest<'a> = dyn FnMut(&ReplayedRequest) -> Result<(), Error> + 'a;

/// A replayed request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayedRequest {
    /// Its number among those that were replayed, from 1.
    pub number: u64,
    /// Its time in the trace, ns since the first row.
    pub time: Nanos,
    /// What it asks for.
    pub op: HostOp,
    /// First sector of 512 bytes on the simulated device; of several pieces that of the first.
    pub lba: u64,
    /// Sectors, of all pieces.
    pub sectors: u64,
    /// Pieces into which the address policy cut it: 1 for a request that lies together.
    pub pieces: u32,
    /// How long the recorded device took; `None` if the trace does not say.
    pub recorded: Option<Nanos>,
    /// How long the simulated device took: completion minus arrival (in closed loop minus admission).
    pub response: Nanos,
    /// The part of it in the device: completion minus admission.
    pub device: Nanos,
}

/// Requests that were read and are not handed out yet.
pub(crate) struct Requests<'a, 'b> {
    each: &'a mut EachRequest<'b>,
    number: u64,
    /// Those whose times are not known.
    waiting: VecDeque<ReplayedRequest>,
    /// The request that was seen last has further pieces.
    more: bool,
}

impl<'a, 'b> Requests<'a, 'b> {
    /// Follows a replay from its beginning.
    pub(crate) fn new(each: &'a mut EachRequest<'b>, replay: &mut Replay, device: &mut dyn Ssd) -> Self {
        replay.follow(device);
        Self { each, number: 0, waiting: VecDeque::new(), more: false }
    }

    /// The next piece that was read, with the recorded latency of its request in ns, 0 if there is none.
    pub(crate) fn see(&mut self, piece: &HostRequest, recorded_ns: u64) {
        let HostRequest { at, lba, sectors, op, more, .. } = *piece;
        let sectors = u64::from(sectors);
        if std::mem::replace(&mut self.more, more) {
            let request = self.waiting.back_mut().expect("its first piece was read before");
            request.sectors += sectors;
            request.pieces += 1;
            return;
        }
        self.number += 1;
        self.waiting.push_back(ReplayedRequest {
            number: self.number,
            time: at,
            op,
            lba,
            sectors,
            pieces: 1,
            recorded: (recorded_ns > 0).then_some(Nanos(recorded_ns)),
            response: Nanos::ZERO,
            device: Nanos::ZERO,
        });
    }

    /// Hands out what has completed.
    pub(crate) fn hand_out(&mut self, replay: &mut Replay, device: &mut dyn Ssd) -> Result<(), Error> {
        let Self { each, waiting, .. } = self;
        let mut handed = Ok(());
        replay.take_times(device, |times: RequestTimes| {
            let request = waiting.pop_front().expect("it was read before it was fed");
            if handed.is_ok() {
                handed = each(&ReplayedRequest { response: times.response(), device: times.device(), ..request });
            }
        });
        handed
    }
}

const COLUMNS: [TableColumn; 9] = [
    TableColumn::Number("request"),
    TableColumn::Number("time_ns"),
    TableColumn::Letter("op"),
    TableColumn::Number("lba"),
    TableColumn::Number("sectors"),
    TableColumn::Number("pieces"),
    TableColumn::Maybe("recorded_ns"),
    TableColumn::Number("response_ns"),
    TableColumn::Number("device_ns"),
];

/// What goes with a Parquet file.
const FACTS: [(&str, &str); 2] = [
    ("nandlab.latencies.version", "1"),
    (
        "nandlab.latencies.units",
        "request: number from 1; time_ns: of the trace, from its first row; op: R(ead), W(rite), D(iscard), F(lush); lba, \
         sectors: 512 bytes, on the simulated device; pieces: into which the address policy cut the request; recorded_ns: \
         of the recorded device, null = not recorded; response_ns: completion - arrival; device_ns: completion - admission",
    ),
];

/// A file with a row for each request: Parquet if its name ends in `.parquet`, else comma-separated values, compressed if it
/// ends in `.zst` or `.gz`. It appears when [`LatencyFile::finish`] has returned, as a whole or not at all.
pub struct LatencyFile {
    target: String,
    table: TableWriter,
}

impl LatencyFile {
    /// Begins the file.
    ///
    /// # Errors
    /// It cannot be made or written, or this is not the name of a file.
    pub fn create(target: &str) -> Result<Self, Error> {
        if target == "-" {
            let help = "name a file; /dev/stdout, with --quiet, is standard output";
            return Err(Error::input("--latencies -: the rows go to a file", help));
        }
        match TableWriter::create(target, &COLUMNS, &FACTS) {
            Ok(table) => Ok(Self { target: target.to_owned(), table }),
            Err(source) => Err(Error::Write { target: target.to_owned(), source }),
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The disk is full or broken.
    pub fn write(&mut self, request: &ReplayedRequest) -> Result<(), Error> {
        let ReplayedRequest { number, time, op, lba, sectors, pieces, recorded, response, device } = *request;
        let letter = match op {
            HostOp::Read => b'R',
            HostOp::Write => b'W',
            HostOp::Trim => b'D',
            HostOp::Flush => b'F',
        };
        let numbers = [number, time.0, letter.into(), lba, sectors, pieces.into()].map(Some);
        let [request, time, op, lba, sectors, pieces] = numbers;
        let recorded = recorded.map(|latency| latency.0);
        let row = [request, time, op, lba, sectors, pieces, recorded, Some(response.0), Some(device.0)];
        self.table.write(&row).map_err(|source| Error::Write { target: self.target.clone(), source })
    }

    /// Ends the file: it is there once this has returned.
    ///
    /// # Errors
    /// The disk is full or broken; an old file of this name is as it was.
    pub fn finish(self) -> Result<(), Error> {
        let Self { target, table } = self;
        table.finish().map_err(|source| Error::Write { target, source })
    }
}

/// The times of one kind of requests.
#[derive(Clone, Debug, Default)]
pub struct TimesOfKind {
    /// Of the recorded device.
    pub recorded: Histogram,
    /// Simulated: completion minus arrival.
    pub response: Histogram,
    /// Simulated: completion minus admission.
    pub device: Histogram,
}

/// Recorded and simulated times of the requests for which both are known, by kind.
#[derive(Clone, Debug, Default)]
pub struct LatencySummary {
    /// Reads.
    pub reads: TimesOfKind,
    /// Writes.
    pub writes: TimesOfKind,
    /// Trims and flushes.
    pub others: TimesOfKind,
}

impl LatencySummary {
    /// Counts a request, if its recorded latency is known.
    pub fn add(&mut self, request: &ReplayedRequest) {
        let Some(recorded) = request.recorded else { return };
        let times = match request.op {
            HostOp::Read => &mut self.reads,
            HostOp::Write => &mut self.writes,
            HostOp::Trim | HostOp::Flush => &mut self.others,
        };
        times.recorded.record(recorded);
        times.response.record(request.response);
        times.device.record(request.device);
    }

    /// The kinds with at least one request, with their names.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &TimesOfKind)> {
        let kinds = [("reads", &self.reads), ("writes", &self.writes), ("others", &self.others)];
        kinds.into_iter().filter(|(_, times)| times.recorded.count() > 0)
    }
}
