//! How a run went, besides its report: the distributions of its times, and its counts at evenly spread requests.

use std::collections::BTreeMap;

use nandlab::engine::Ssd;
use nandlab::flash::clock::OpClass;
use nandlab::histogram::Histogram;
use nandlab::replay::{Replay, ReplayError};
use nandlab::types::HostRequest;
use serde::{Deserialize, Serialize};

use crate::source::first;

/// Most marks besides the first; when there would be more, every other one goes.
const MARKS: usize = 256;

/// Durations as a histogram: the upper edge of each bucket in ns, ascending, and its durations.
pub(crate) type Buckets = Vec<(u64, u64)>;

/// How a run went.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Course {
    /// Times by their place in the report, as in `response.reads` or `operations.map_read`; those without any are left out.
    times: BTreeMap<String, Buckets>,
    /// The first is the beginning, the last the end; between two lie equally many requests, fewer before the last.
    marks: Vec<Mark>,
    /// Requests between two marks.
    #[serde(skip)]
    width: u64,
    /// Requests so far.
    #[serde(skip)]
    requests: u64,
}

/// What was counted up to a request, and the state of the device then.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "[f64; 9]", into = "[f64; 9]")]
struct Mark {
    /// Requests that were handed to the device.
    requests: f64,
    /// Simulated time.
    time_ns: f64,
    /// Pages that the host read and wrote, and those of them that hit.
    pages: f64,
    hits: f64,
    pages_written: f64,
    programs: f64,
    /// Of the device now.
    free_blocks: f64,
    /// Requests whose completion is known, and the sum of their response times.
    completed: f64,
    response_ns: f64,
}

impl From<[f64; 9]> for Mark {
    fn from(fields: [f64; 9]) -> Self {
        let [requests, time_ns, pages, hits, pages_written, programs, free_blocks, completed, response_ns] = fields;
        Self { requests, time_ns, pages, hits, pages_written, programs, free_blocks, completed, response_ns }
    }
}
impl From<Mark> for [f64; 9] {
    fn from(mark: Mark) -> Self {
        let Mark { requests, time_ns, pages, hits, pages_written, programs, free_blocks, completed, response_ns } =
            mark;
        [requests, time_ns, pages, hits, pages_written, programs, free_blocks, completed, response_ns]
    }
}

impl Mark {
    fn of(device: &dyn Ssd, requests: u64) -> Self {
        let (ledger, times) = (device.ledger(), device.times());
        let responses = [&times.read_response, &times.write_response, &times.other_response];
        Self {
            requests: requests as f64,
            time_ns: device.flash().now().0 as f64,
            pages: (ledger.host_page_reads + ledger.host_page_writes) as f64,
            hits: (ledger.buffer_read_hits + ledger.buffer_write_hits) as f64,
            pages_written: ledger.host_page_writes as f64,
            programs: ledger.programs() as f64,
            free_blocks: device.ftl().free_blocks().into(),
            completed: responses.iter().map(|times| times.count()).sum::<u64>() as f64,
            response_ns: responses.iter().map(|times| times.sum_ns()).sum::<u128>() as f64,
        }
    }
}

/// What happened between two marks; nothing where there was nothing of the kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Window {
    /// Requests up to its end.
    pub(crate) requests: f64,
    /// Mean response time of what completed, ns.
    pub(crate) response_ns: Option<f64>,
    /// Part of the pages that hit.
    pub(crate) hits: Option<f64>,
    /// Programs for each page that the host wrote.
    pub(crate) waf: Option<f64>,
    /// Free blocks at its end.
    pub(crate) free_blocks: f64,
    /// Mean number of requests that waited or were carried out: their response times over the time that passed (John D. C.
    /// Little, "A Proof for the Queuing Formula: L = lambda W", Operations Research 9(3), 1961).
    pub(crate) queue: Option<f64>,
}

impl Course {
    /// The measurement begins.
    pub(crate) fn begin(&mut self, device: &dyn Ssd) {
        *self = Self { marks: vec![Mark::of(device, 0)], width: 1, ..Self::default() };
    }

    /// Hands requests to the device, each with all its pieces, and marks those at which it is time.
    pub(crate) fn feed(
        &mut self,
        replay: &mut Replay,
        device: &mut dyn Ssd,
        requests: &[HostRequest],
    ) -> Result<(), ReplayError> {
        let mut rest = requests;
        while !rest.is_empty() {
            let wanted = self.width - self.requests % self.width;
            let (part, later) = first(rest, wanted);
            replay.feed(device, part)?;
            self.requests += HostRequest::count(part);
            if self.requests.is_multiple_of(self.width) {
                self.mark(Mark::of(device, self.requests));
            }
            rest = later;
        }
        Ok(())
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
        if self.marks.len() > MARKS {
            self.width *= 2;
            // Every other one behind the first goes: those that stay have even numbers.
            let mut number = 0;
            self.marks.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// All requests have completed; what is left in the buffer is there yet.
    pub(crate) fn end(&mut self, device: &dyn Ssd) {
        let last = Mark::of(device, self.requests);
        if self.marks.last().is_some_and(|mark| mark.requests == last.requests) {
            self.marks.pop();
        }
        self.marks.push(last);
        let times = device.times();
        let mut keep = |name: String, histogram: &Histogram| {
            if histogram.count() > 0 {
                let buckets = histogram.buckets().map(|(edge, count)| (edge.0, count));
                self.times.insert(name, buckets.collect());
            }
        };
        keep("response.reads".to_owned(), &times.read_response);
        keep("response.writes".to_owned(), &times.write_response);
        keep("response.others".to_owned(), &times.other_response);
        if let Some(waits) = device.flash().clock.waits() {
            for class in OpClass::ALL {
                keep(format!("operations.{}", class.name().replace(' ', "_")), &waits.of(class).latency);
            }
        }
    }

    /// The times of a kind; `response.all` are those of all requests. Empty if there are none.
    pub(crate) fn times(&self, of: &str) -> Buckets {
        let kinds = self.times.iter().filter(|(name, _)| match of {
            "response.all" => name.starts_with("response."),
            _ => *name == of,
        });
        merged(kinds.map(|(_, buckets)| buckets))
    }

    /// It has times of a kind.
    pub(crate) fn has_times(&self, of: &str) -> bool {
        !self.times(of).is_empty()
    }

    /// The part of the times of a kind that are in buckets no longer than `at_most` ns; nothing without times.
    pub(crate) fn share_within(&self, of: &str, at_most: u64) -> Option<f64> {
        let buckets = self.times(of);
        let sum = |limit: u64| buckets.iter().filter(|(edge, _)| *edge <= limit).map(|(_, count)| count).sum::<u64>();
        let all = sum(u64::MAX);
        (all > 0).then(|| sum(at_most) as f64 / all as f64)
    }

    /// The run in windows of equally many requests, at most `most` of them. The last may have fewer, but no less than half as
    /// many: what is left behind others goes with them.
    pub(crate) fn windows(&self, most: usize) -> Vec<Window> {
        let Some(last) = self.marks.last() else { return Vec::new() };
        let every = (self.marks.len() - 1).div_ceil(most.max(1)).max(1);
        let mut kept: Vec<&Mark> = self.marks[..self.marks.len() - 1].iter().step_by(every).collect();
        if let [.., before, end] = kept[..]
            && 2.0 * (last.requests - end.requests) < end.requests - before.requests
        {
            kept.pop();
        }
        kept.push(last);
        kept.windows(2).map(|pair| Window::between(pair[0], pair[1])).collect()
    }
}

impl Window {
    fn between(from: &Mark, to: &Mark) -> Self {
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let pages_written = to.pages_written - from.pages_written;
        let response_ns = to.response_ns - from.response_ns;
        Self {
            requests: to.requests,
            response_ns: share(response_ns, to.completed - from.completed),
            hits: share(to.hits - from.hits, to.pages - from.pages),
            waf: share(to.programs - from.programs, pages_written),
            free_blocks: to.free_blocks,
            queue: share(response_ns, to.time_ns - from.time_ns),
        }
    }
}

/// Histograms as one.
pub(crate) fn merged<'b>(all: impl Iterator<Item = &'b Buckets>) -> Buckets {
    let mut sum: BTreeMap<u64, u64> = BTreeMap::new();
    for (edge, count) in all.flatten() {
        *sum.entry(*edge).or_default() += count;
    }
    sum.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use nandlab::report::Report;

    use super::*;
    use crate::run::Run;
    use crate::watch::Watch;

    fn plan(limit: u64) -> Run {
        let text = format!(
            "[device]\nbase = 'lab'\nset = ['ram.dram=1MiB', 'replay.settle=none', 'device.timing.model=scheduled', \
             'device.geometry.blocks_per_plane=64']\n[workload]\ntrace = ['make:zipf:theta=0.9:writes=0.6']\n\
             address = 'modulo'\nlimit = {limit}\n"
        );
        toml::from_str(&text).unwrap()
    }

    fn run(limit: u64) -> (Report, Course) {
        let run = plan(limit);
        let watch = Watch::default();
        let mut course = Course::default();
        let (report, _) =
            run.simulate_over(&run.device.base().unwrap(), &watch.work(1).part(), None, Some(&mut course)).unwrap();
        (report, course)
    }

    #[test]
    fn windows_have_equally_many_requests_and_add_up_to_the_report() {
        for limit in [1, 2, 255, 256, 257, 5_000] {
            let (report, course) = run(limit);
            let marks = &course.marks;
            assert!(marks.len() <= MARKS + 1 && (limit < 256 || marks.len() > MARKS / 2), "{limit}: {}", marks.len());
            let width = marks[1].requests;
            let is_even = |pair: &[Mark]| pair[1].requests - pair[0].requests == width;
            assert!(marks[..marks.len() - 1].windows(2).all(is_even), "{limit}");
            let last = marks[marks.len() - 1];
            assert_eq!((last.requests, last.completed), (limit as f64, limit as f64));
            let [whole] = course.windows(1)[..] else { panic!("one window") };
            assert_eq!(whole.hits, report.hits.page.total);
            assert_eq!(whole.waf, report.write_amplification.host);
            let mean = whole.response_ns.unwrap();
            assert!((mean - report.response.all.mean_ns.expect("requests")).abs() <= 1e-9 * mean, "{limit}");
            for most in [1, 7, 64] {
                let windows = course.windows(most);
                assert!(windows.len() <= most && windows.last().map(|w| w.requests) == Some(limit as f64), "{limit}");
                let mut before = 0.0;
                for window in &windows {
                    let requests = window.requests - before;
                    assert!(2.0 * requests >= windows[0].requests, "{limit} {most}: {requests}");
                    before = window.requests;
                }
            }
        }
    }

    #[test]
    fn course_changes_nothing_and_has_the_times_of_the_report() {
        let (report, course) = run(3_000);
        let watch = Watch::default();
        let alone = plan(3_000);
        let (alone, _) = alone.simulate(&watch.work(1).part(), None).unwrap();
        assert_eq!(report.ledger, alone.ledger);
        assert_eq!(report.response, alone.response);
        let count = |of: &str| course.times(of).iter().map(|(_, count)| count).sum::<u64>();
        assert_eq!(count("response.all"), 3_000);
        assert_eq!(count("response.reads"), report.response.reads.count);
        let operations = report.operations.unwrap();
        assert_eq!(count("operations.host_write"), operations.host_write.latency.count);
        let text = serde_json::to_string(&course).unwrap();
        let read: Course = serde_json::from_str(&text).unwrap();
        assert_eq!((read.times, read.marks), (course.times, course.marks));
    }
}
