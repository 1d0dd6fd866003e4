//! A trace as it is replayed: times from zero and in order, one address space, within the capacity.

use std::io::Read;

use nandlab::types::{HostOp, HostRequest, Nanos};

use crate::error::TraceError;
use crate::options::{AddressPolicy, DeviceExtent, Options, TraceReport, Volumes};
use crate::policy::{DEVICES_MAX, Devices, UnitNumbers, fold};
use crate::records::Records;
use crate::row::TraceRecord;
use crate::times::{TimeCounts, Timed};

/// A request in the address space of a replay.
struct Placed {
    request: HostRequest,
    /// Its device, where pages are numbered by device; else 0.
    device: u32,
}

/// Requests ready for replay. Ends after the first error.
///
/// Times are nanoseconds since the first row of the trace and never fall.
pub struct Trace {
    records: Timed,
    options: Options,
    devices: Devices,
    units: UnitNumbers,
    report: TraceReport,
    /// Time of the first row.
    origin_ns: Option<u64>,
    /// Time of the last request.
    now_ns: u64,
    delivered: u64,
    /// What is left of a request that is being split.
    rest: Option<Placed>,
    /// Of the request that was given last.
    latency_ns: u64,
    done: bool,
}

impl Trace {
    /// Opens a trace in one file; `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read, its format is unknown, or an option is out of range. With [`Volumes::Stack`] also any
    /// error inside the trace, because it is read once to learn the sizes of the devices.
    pub fn open(path: &str, options: &Options) -> Result<Self, TraceError> {
        Self::open_all(&[path.to_owned()], options)
    }

    /// Opens a trace in several files, which are one trace (see [`FileOrder`](crate::FileOrder)).
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open_all(paths: &[String], options: &Options) -> Result<Self, TraceError> {
        let mut trace = Self::new(Records::open_all(paths, options)?, options);
        if options.volumes == Volumes::Stack && !matches!(options.address, AddressPolicy::Compact { .. }) {
            if options.passes.is_none() && trace.records().bytes_total().is_none() {
                return Err(TraceError::StackNeedsFile { name: trace.records().name() });
            }
            trace.measure_devices()?;
            let mut devices = std::mem::take(&mut trace.devices);
            if devices.stack(options.page_sectors).is_none() {
                let (name, place) = trace.records.whereabouts();
                let problem =
                    "one after the other the devices need more than 2^63 bytes of addresses; choose pick N, or the \
                               address policy compact"
                        .to_owned();
                return Err(TraceError::Tool { name, place, problem });
            }
            trace = Self::new(Records::open_all(paths, options)?, options);
            trace.devices = devices;
        }
        Ok(trace)
    }

    /// The devices of a trace, in order of their numbers; it is read to its end.
    ///
    /// # Errors
    /// As reading the trace.
    pub fn devices(paths: &[String], options: &Options) -> Result<Vec<DeviceExtent>, TraceError> {
        let options = Options { volumes: Volumes::Merge, ..options.clone() };
        let mut trace = Self::new(Records::open_all(paths, &options)?, &options);
        trace.measure_devices()?;
        Ok(trace.devices.list().to_vec())
    }

    /// Reads a trace from any reader; `name` is for messages.
    ///
    /// # Errors
    /// As [`Trace::open`]; stacking devices needs a file unless the address policy is compact.
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static, options: &Options) -> Result<Self, TraceError> {
        if options.volumes == Volumes::Stack && !matches!(options.address, AddressPolicy::Compact { .. }) {
            return Err(TraceError::StackNeedsFile { name: name.to_owned() });
        }
        Ok(Self::new(Records::from_reader(name, reader, options)?, options))
    }

    fn new(records: Records, options: &Options) -> Self {
        Self {
            records: Timed::new(records, options),
            options: options.clone(),
            devices: Devices::default(),
            units: UnitNumbers::default(),
            report: TraceReport::default(),
            origin_ns: None,
            now_ns: 0,
            delivered: 0,
            rest: None,
            latency_ns: 0,
            done: false,
        }
    }

    fn measure_devices(&mut self) -> Result<(), TraceError> {
        while let Some(record) = self.records.next() {
            self.see_device(&record?)?;
        }
        Ok(())
    }

    /// The rows below.
    pub fn records(&self) -> &Records {
        self.records.records()
    }
    /// Adds requests to `batch` until it has `wanted` and the last one has all its pieces, and for each piece how long the
    /// recorded device took for its request to `latencies`, if that is wanted. Adds nothing at the
    /// end.
    ///
    /// # Errors
    /// The first of the trace, after what came before it was added; there is nothing behind it.
    pub fn fill(
        &mut self,
        batch: &mut Vec<HostRequest>,
        wanted: usize,
        mut latencies: Option<&mut Vec<u64>>,
    ) -> Result<(), TraceError> {
        while batch.len() < wanted || batch.last().is_some_and(|request| request.more) {
            let Some(request) = self.next() else { break };
            batch.push(request?);
            if let Some(latencies) = latencies.as_deref_mut() {
                latencies.push(self.latency_ns);
            }
        }
        Ok(())
    }
    /// What was done to the trace so far.
    pub fn report(&self) -> TraceReport {
        let (seen, pairs) = (self.records().seen(), self.records().pairs());
        let TimeCounts { out_of_order, clock_jumps, late, gaps_capped, gaps_capped_ns } = self.records.counts();
        TraceReport {
            records: seen.requests,
            other_rows: seen.other_rows,
            blank_rows: seen.blank_rows,
            bad_rows: seen.bad_rows,
            open_end: seen.open_end(),
            first_bad: seen.first_bad,
            out_of_order,
            clock_jumps,
            late,
            gaps_capped,
            gaps_capped_ns,
            without_completion: if pairs.completions > 0 { pairs.without_completion } else { 0 },
            completions_alone: pairs.without_request,
            compacted_units: self.units.len(),
            devices: self.devices.list().to_vec(),
            ..self.report.clone()
        }
    }

    /// Accounts for the device of a row; returns where its space begins.
    #[inline]
    fn see_device(&mut self, record: &TraceRecord) -> Result<u64, TraceError> {
        let known = self.devices.list().len();
        let Some(base) = self.devices.see(record) else {
            let (name, place) = self.records.whereabouts();
            return Err(TraceError::TooManyDevices { name, place, max: DEVICES_MAX });
        };
        if known == 1 && self.options.volumes == Volumes::Reject && self.devices.list().len() == 2 {
            let list = self.devices.list();
            let first = if list[0].device == record.device { list[1].device } else { list[0].device };
            let (name, place) = self.records.whereabouts();
            return Err(TraceError::SecondDevice { name, place, first, second: record.device });
        }
        Ok(base)
    }

    /// Applies times and devices; `None` if nothing of the row is to be replayed.
    #[inline]
    fn place(&mut self, record: &TraceRecord) -> Result<Option<Placed>, TraceError> {
        let at = record.at.0;
        let origin = *self.origin_ns.get_or_insert(at);
        let base = self.see_device(record)?;
        if let Volumes::Pick(wanted) = self.options.volumes
            && wanted != record.device
        {
            self.report.other_devices += 1;
            return Ok(None);
        }
        let sectors = if record.op == HostOp::Flush { 0 } else { record.sectors() };
        if sectors == 0 && record.op != HostOp::Flush {
            self.report.zero_length += 1;
            return Ok(None);
        }
        self.latency_ns = record.latency_ns;
        let relative = at.saturating_sub(origin);
        self.report.clamped += u64::from(at < origin || relative < self.now_ns);
        self.now_ns = self.now_ns.max(relative);
        if self.delivered == 0 {
            self.report.first_ns = self.now_ns;
        }
        self.report.last_ns = self.now_ns;
        self.report.rounded += u64::from(record.is_rounded());
        let device = if self.options.volumes == Volumes::Stack { record.device } else { 0 };
        let (lba, op, hint) = (record.lba() + base, record.op, record.hint);
        Ok(Some(Placed {
            request: HostRequest { at: Nanos(self.now_ns), lba, sectors, op, hint, more: false },
            device,
        }))
    }

    #[cold]
    fn beyond(&self, lba: u64, sectors: u32, capacity: u64) -> TraceError {
        let (name, place) = self.records.whereabouts();
        TraceError::BeyondCapacity { name, place, lba, sectors, capacity }
    }

    /// The next piece of a request that lies together in the device; the remainder waits in `rest`.
    #[inline]
    fn piece(&mut self, mut placed: Placed, first: bool) -> Result<HostRequest, TraceError> {
        let request = placed.request;
        let end = request.lba + u64::from(request.sectors);
        let capacity = self.options.capacity_sectors.unwrap_or(u64::MAX);
        let (lba, sectors) = match self.options.address {
            _ if request.op == HostOp::Flush => return Ok(HostRequest { lba: 0, ..request }),
            AddressPolicy::Reject if end > capacity => return Err(self.beyond(request.lba, request.sectors, capacity)),
            AddressPolicy::Reject | AddressPolicy::Keep => return Ok(request),
            AddressPolicy::Modulo => {
                self.report.folded += u64::from(first && end > capacity);
                let (lba, sectors) = fold(request.lba, u64::from(request.sectors), capacity);
                (lba, sectors as u32)
            }
            AddressPolicy::Compact { unit_sectors } => self.compact(&placed, unit_sectors, capacity)?,
        };
        let more = sectors < request.sectors;
        if more {
            self.report.split += u64::from(first);
            placed.request.lba += u64::from(sectors);
            placed.request.sectors -= sectors;
            self.rest = Some(placed);
        }
        Ok(HostRequest { lba, sectors, more, ..request })
    }

    /// The longest beginning of the request whose units have consecutive numbers.
    fn compact(&mut self, placed: &Placed, unit_sectors: u64, capacity: u64) -> Result<(u64, u32), TraceError> {
        let (at, end) = (placed.request.lba, placed.request.lba + u64::from(placed.request.sectors));
        let (lba, sectors) = self.units.compact(placed.device, at, end, unit_sectors);
        // The end of a page counts as the page: a trace fits a device or does not, whatever its requests cover.
        let page_end = (lba + sectors).next_multiple_of(u64::from(self.options.page_sectors));
        if page_end > capacity {
            let (name, place) = self.records.whereabouts();
            return Err(TraceError::CompactFull { name, place, capacity, unit_sectors });
        }
        Ok((lba, sectors as u32))
    }

    fn advance(&mut self) -> Result<Option<HostRequest>, TraceError> {
        if let Some(rest) = self.rest.take() {
            return self.piece(rest, false).map(Some);
        }
        while self.options.limit.is_none_or(|limit| self.delivered < limit) {
            let Some(record) = self.records.next() else {
                self.picked_something()?;
                return Ok(None);
            };
            if let Some(record) = self.place(&record?)? {
                self.delivered += 1;
                return self.piece(record, true).map(Some);
            }
        }
        Ok(None)
    }

    /// # Errors
    /// The trace has ended and the device that the user picked was not in it.
    fn picked_something(&mut self) -> Result<(), TraceError> {
        match self.options.volumes {
            Volumes::Pick(wanted) if self.devices.list().iter().all(|d| d.device != wanted) => {
                let (name, devices) = (self.records().name(), self.devices.names());
                Err(TraceError::NoSuchDevice { name, wanted, devices })
            }
            _ => Ok(()),
        }
    }
}

impl Iterator for Trace {
    type Item = Result<HostRequest, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.advance();
        self.report.requests += u64::from(matches!(next, Ok(Some(HostRequest { more: false, .. }))));
        self.done = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}
