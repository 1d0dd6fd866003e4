//! What the pages of AALRU's buffer cost below: `D_r`, `D_w` and the write amplification `Wf` of every period, out of the
//! ledger (equations 4 and 5 of its paper).

use super::{Params, WfSource};
use crate::buffer::tools::padding::write_amplification;
use crate::buffer::{FlashTimes, Sense};
use crate::ledger::{Ledger, since};

/// `GC_w`, `Bf_w`, then nanoseconds and pages of the buffer's reads and writes.
type Seen = [u64; 6];

fn seen(source: WfSource, ledger: &Ledger) -> Seen {
    [
        if source == WfSource::Collection { ledger.programs_by_collection() } else { ledger.programs_from_below() },
        ledger.programs_from_above(),
        ledger.buffer_read_ns,
        ledger.buffer_read_pages,
        ledger.buffer_write_ns,
        ledger.write_back_pages + ledger.padded_pages,
    ]
}

/// The costs of a period, from the ledger: `D_r` and `D_w` in ns, and the write amplification `Wf`.
#[derive(Debug)]
pub(super) struct Costs {
    source: WfSource,
    measure_read: bool,
    measure_write: bool,
    read_us: f64,
    write_us: f64,
    /// The ledger when the period began.
    start: Seen,
}

impl Costs {
    /// Until a first sample a page costs what the parameters say, else the device's own time.
    pub fn new(params: &Params, times: &FlashTimes) -> Self {
        Self {
            source: params.wf_source,
            measure_read: params.d_read.is_none(),
            measure_write: params.d_write.is_none(),
            read_us: params.d_read.unwrap_or(times.read.as_us()),
            write_us: params.d_write.unwrap_or(times.program.as_us()),
            start: Seen::default(),
        }
    }
    /// `D_r`, microseconds.
    pub const fn read_us(&self) -> f64 {
        self.read_us
    }
    /// `D_w`, microseconds.
    pub const fn write_us(&self) -> f64 {
        self.write_us
    }
    /// A period is over: renews `D_r` and `D_w` and tells `Wf`, each where the period has a sample.
    pub fn end_period(&mut self, sense: &Sense<'_>) -> Option<f64> {
        let now = seen(self.source, sense.ledger);
        let [gc, buffer, read_ns, read_pages, write_ns, write_pages] = since(now, self.start);
        self.start = now;
        let mean_us = |ns: u64, pages: u64| (ns > 0 && pages > 0).then(|| ns as f64 / 1e3 / pages as f64);
        let (read, write) = (mean_us(read_ns, read_pages), mean_us(write_ns, write_pages));
        self.read_us = read.filter(|_| self.measure_read).unwrap_or(self.read_us);
        self.write_us = write.filter(|_| self.measure_write).unwrap_or(self.write_us);
        match self.source {
            WfSource::Ftl | WfSource::Collection => write_amplification(gc, buffer),
            WfSource::Delay => write.map(|us| us / sense.times.program.as_us()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Cause, Op};
    use crate::types::Nanos;

    #[test]
    fn each_cost_follows_its_last_sample() {
        let times = FlashTimes { read: Nanos::from_us(30), program: Nanos::from_us(100), erase: Nanos::from_us(1500) };
        let mut ledger = Ledger::default();
        let mut measured = Costs::new(&Params::default(), &times);
        let mut given = Costs::new(
            &Params { d_read: Some(7.0), d_write: Some(8.0), wf_source: WfSource::Delay, ..Params::default() },
            &times,
        );
        // Nanoseconds and pages of the buffer's reads and writes, programs for the buffer and below it.
        let periods = [
            ([0, 0, 0, 0], (0, 0), (30.0, 100.0, None), None),
            ([80_000, 2, 450_000, 3], (3, 3), (40.0, 150.0, Some(2.0)), Some(1.5)),
            ([0, 0, 600_000, 2], (2, 0), (40.0, 300.0, Some(1.0)), Some(3.0)),
            ([90_000, 3, 0, 0], (0, 5), (30.0, 300.0, None), None),
        ];
        for ([read_ns, read_pages, write_ns, write_pages], (above, below), (read, write, wf), delay) in periods {
            ledger.buffer_read_ns += read_ns;
            ledger.buffer_read_pages += read_pages;
            ledger.buffer_write_ns += write_ns;
            ledger.write_back_pages += write_pages;
            (0..above).for_each(|_| ledger.add(Op::Program, Cause::Host, 1));
            (0..below).for_each(|_| ledger.add(Op::Program, Cause::Gc, 1));
            let sense = Sense { now: Nanos(0), ledger: &ledger, times };
            assert_eq!((measured.end_period(&sense), given.end_period(&sense)), (wf, delay));
            assert_eq!((measured.read_us(), measured.write_us()), (read, write));
            assert_eq!((given.read_us(), given.write_us()), (7.0, 8.0));
        }
    }

    #[test]
    fn map_cache_evictions_count_as_collection() {
        let times = FlashTimes { read: Nanos::from_us(30), program: Nanos::from_us(100), erase: Nanos::from_us(1500) };
        let mut ledger = Ledger::default();
        let programs = [
            (Cause::Host, 4),
            (Cause::Gc, 1),
            (Cause::Merge, 1),
            (Cause::MapUpdate, 1),
            (Cause::MapGc, 1),
            (Cause::MapEvict, 8),
            (Cause::Wear, 4),
        ];
        for (cause, pages) in programs {
            (0..pages).for_each(|_| ledger.add(Op::Program, cause, 1));
        }
        let wf = |wf_source| {
            let mut costs = Costs::new(&Params { wf_source, ..Params::default() }, &times);
            costs.end_period(&Sense { now: Nanos(0), ledger: &ledger, times })
        };
        assert_eq!((wf(WfSource::Ftl), wf(WfSource::Collection)), (Some(5.0), Some(2.0)));
    }
}
