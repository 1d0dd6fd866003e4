//! On the way from a workload to a device: which requests are measured, and who looks on.

use nandlab::engine::Ssd;
use nandlab::replay::{Replay, ReplayError};
use nandlab::types::HostRequest;

use crate::course::Course;
use crate::source::first;

/// Hands requests to a device: first those that are not measured.
pub(crate) struct Measurement<'c> {
    /// Requests that are not measured and were not handed to the device yet.
    left: u64,
    course: Option<&'c mut Course>,
}

impl<'c> Measurement<'c> {
    /// After that many requests the measurement begins.
    pub(crate) fn after(requests: u64, mut course: Option<&'c mut Course>, device: &dyn Ssd) -> Self {
        if let Some(course) = &mut course {
            course.begin(device);
        }
        Self { left: requests, course }
    }

    /// The next requests, each with all its pieces.
    pub(crate) fn feed(
        &mut self,
        replay: &mut Replay,
        device: &mut dyn Ssd,
        requests: &[HostRequest],
    ) -> Result<(), ReplayError> {
        let mut measured = requests;
        if self.left > 0 {
            let (before, behind) = first(requests, self.left);
            replay.feed(device, before)?;
            self.left -= HostRequest::count(before);
            if self.left > 0 {
                return Ok(());
            }
            replay.measure_from_here(device);
            if let Some(course) = &mut self.course {
                course.begin(device);
            }
            measured = behind;
        }
        match &mut self.course {
            None => replay.feed(device, measured),
            Some(course) => course.feed(replay, device, measured),
        }
    }

    /// All requests have completed.
    pub(crate) fn end(self, device: &dyn Ssd) {
        if let Some(course) = self.course {
            course.end(device);
        }
    }
}

#[cfg(test)]
mod tests {
    use nandlab::report::Report;

    use crate::course::Course;
    use crate::run::Run;
    use crate::watch::Watch;

    fn run(limit: u64, warm_up: &str, mode: &str) -> Result<(Report, Course), crate::Error> {
        let text = format!(
            "[device]\nbase = 'lab'\nset = ['ram.dram=1MiB', 'replay.settle=none', 'replay.mode={mode}', \
             'device.geometry.blocks_per_plane=64']\n[workload]\n\
             trace = ['make:zipf:theta=0.9:writes=0.6']\naddress = 'modulo'\nlimit = {limit}\n{warm_up}\n"
        );
        let run: Run = toml::from_str(&text).unwrap();
        let (watch, mut course) = (Watch::default(), Course::default());
        let (report, _) = run.simulate_over(&run.device.base()?, &watch.work(1).part(), None, Some(&mut course))?;
        Ok((report, course))
    }

    #[test]
    fn warm_up_leaves_what_comes_behind_it() {
        for mode in ["closed", "open"] {
            let [whole, beginning] = [run(5_000, "", mode), run(1_700, "", mode)].map(|run| run.unwrap().0);
            let (warm, course) = run(5_000, "warm_up = 1700", mode).unwrap();
            assert_eq!((warm.requests.total, warm.trace.replayed, warm.response.all.count), (3_300, 5_000, 3_300));
            assert_eq!(
                warm.trace.warm_up.as_ref().map(|cut| (cut.requests, cut.rule.as_str())),
                Some((1_700, "given"))
            );
            let hits = |report: &Report| report.ledger.buffer_read_hits + report.ledger.buffer_write_hits;
            assert_eq!(hits(&warm), hits(&whole) - hits(&beginning), "{mode}");
            assert_eq!(warm.ledger.programs(), whole.ledger.programs() - beginning.ledger.programs(), "{mode}");
            assert_eq!(warm.wear.erases, whole.wear.erases, "wear counts from the beginning");
            let [window] = course.windows(1)[..] else { panic!("one window") };
            assert_eq!((window.requests, window.hits), (3_300.0, warm.hits.page.total));
        }
    }

    #[test]
    fn warm_up_is_not_in_the_times_of_flash_operations() {
        let mode = "closed', 'device.timing.model=scheduled";
        let run = |limit, warm_up| run(limit, warm_up, mode).unwrap().0.operations.expect("a scheduler");
        let [whole, beginning, warm] = [run(5_000, ""), run(1_700, ""), run(5_000, "warm_up = 1700")];
        let counts = |of: &nandlab::report::Operations| [of.host_read.latency.count, of.host_write.latency.count];
        let expected = [0, 1].map(|at| counts(&whole)[at] - counts(&beginning)[at]);
        assert_eq!(counts(&warm), expected);
    }

    #[test]
    fn rule_cuts_what_the_same_number_cuts() {
        let (by_rule, _) = run(5_000, "warm_up = 'mser-5'", "closed").unwrap();
        let cut = by_rule.trace.warm_up.clone().unwrap();
        assert_eq!((cut.rule.as_str(), cut.requests % 5), ("mser-5", 0));
        assert!(cut.requests <= 2_500);
        let (given, _) = run(5_000, &format!("warm_up = {}", cut.requests), "closed").unwrap();
        assert_eq!((by_rule.ledger, by_rule.response), (given.ledger, given.response));
    }

    #[test]
    fn warm_up_leaves_something_to_measure() {
        let error = run(500, "warm_up = 500", "closed").unwrap_err().to_string();
        assert!(error.contains("500 requests are not to be measured, and there are 500"), "{error}");
    }
}
