//! What was recorded, loaded once: requests, and groups of them with the times that they took.

use nandlab::config::{Builder, Config};
use nandlab::replay::Replay;
use nandlab::types::{HostOp, HostRequest};

use crate::device::built;
use crate::error::Error;
use crate::latencies::{ReplayedRequest, Requests};
use crate::source::Source;
use crate::watch::Stop;

/// The percentiles that are compared of a recorded trace: the body of the distribution, and its tail as often.
const PERCENTILES: [f64; 11] = [5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9];
/// Classes of sizes: from and up to this many sectors of 512 bytes. They tell what a request costs from what its bytes cost.
const CLASSES: [(u64, u64); 5] = [(1, 8), (9, 32), (33, 128), (129, 512), (513, u64::MAX)];
/// A group of fewer requests says nothing of a percentile.
const GROUP_MIN: usize = 100;

/// A percentile with fewer requests beyond it is chance.
pub(super) const BEYOND_MIN: f64 = 5.0;

/// The kinds of requests that can be compared. Trims are replayed only.
pub(super) const KINDS: [(&str, HostOp); 3] =
    [("reads", HostOp::Read), ("writes", HostOp::Write), ("flushes", HostOp::Flush)];

/// The kinds that are compared: flushes only if they are wanted, because with protection against loss of power a drive answers
/// them from RAM, and what they take says nothing of its flash.
fn compared(flushes: bool) -> &'static [(&'static str, HostOp)] {
    if flushes { &KINDS } else { &KINDS[..2] }
}

/// A percentile of the times of a group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Percentile(pub(super) f64);

/// Requests of a kind that are compared together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Subset {
    /// All of them; these are reported.
    All,
    /// A class of sizes.
    Sizes,
    /// Those that met no other request while they were served: what a request takes without a queue.
    Alone,
}

/// A request as it was recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded {
    /// Its number in the trace, from 0.
    pub(super) number: u32,
    pub(super) op: HostOp,
    sectors: u64,
    /// Arrival, ns.
    at: u64,
    /// Response, ns; 0 if it was not recorded.
    latency: u64,
}

/// Requests that are compared together.
#[derive(Debug)]
pub(super) struct Group {
    /// `reads`, `writes` or `flushes`.
    pub(super) kind: &'static str,
    /// Which requests of the kind these are.
    pub(super) subset: Subset,
    /// It is held out: the search does not see it.
    pub(super) held_out: bool,
    /// Numbers of the requests, from 0.
    pub(super) members: Vec<u32>,
    /// What was recorded, ns.
    pub(super) recorded: Vec<(Percentile, f64)>,
}

/// Requests that are replayed on a device of its own, with what was recorded of them.
#[derive(Debug)]
pub(super) struct Sample {
    /// Settings of the device that belong to it.
    pub(super) settings: Vec<String>,
    pub(super) batches: Vec<Vec<HostRequest>>,
    /// Requests, whatever their pieces.
    pub(super) requests: usize,
    pub(super) groups: Vec<Group>,
}

impl Sample {
    /// Reads requests to the end of their source; they come with what was recorded of them.
    pub(super) fn load(mut source: Source) -> Result<(Self, Vec<Recorded>), Error> {
        let (mut batches, mut known, mut more) = (Vec::new(), Vec::<Recorded>::new(), false);
        let mut batch = Vec::new();
        while source.fill_seen(&mut batch, |piece, latency| {
            if std::mem::replace(&mut more, piece.more) {
                known.last_mut().expect("its first piece was read before").sectors += u64::from(piece.sectors);
            } else {
                let (number, sectors) = (known.len() as u32, piece.sectors.into());
                known.push(Recorded { number, op: piece.op, sectors, at: piece.at.0, latency });
            }
        })? {
            batches.push(std::mem::take(&mut batch));
        }
        Ok((Self { settings: Vec::new(), batches, requests: known.len(), groups: Vec::new() }, known))
    }

    /// A recorded trace, cut into equal parts; the last requests of each are held out, that share of them.
    ///
    /// # Errors
    /// It cannot be read, or it has too few requests with latencies.
    pub(super) fn of_trace(source: Source, holdout: f64, parts: usize, flushes: bool) -> Result<Self, Error> {
        let name = source.describe().name;
        let (sample, all) = Self::load(source)?;
        let is_alone = alone(&all);
        let is_compared = |request: &Recorded| compared(flushes).iter().any(|(_, kind)| *kind == request.op);
        let known: Vec<Recorded> =
            all.into_iter().filter(|request| request.latency > 0 && is_compared(request)).collect();
        if known.len() < GROUP_MIN {
            let (requests, few) = (sample.requests, known.len());
            let problem =
                format!("{name}: {few} of {requests} requests have a recorded latency, and a fit needs {GROUP_MIN}");
            let help = match few {
                0 => {
                    "wpa, msr, systor, blktrace and fio latency logs have them, --columns has latency=N:UNIT; \
                     `nandlab trace info` shows what a trace has"
                }
                _ => "take a longer trace, or a larger --limit",
            };
            return Err(Error::input(problem, help));
        }
        let [seen, held_out] = split(&known, holdout, parts);
        let flushed = seen.iter().filter(|request| request.op == HostOp::Flush).count();
        if flushes && flushed < GROUP_MIN {
            let problem = format!(
                "--flushes: {flushed} flushes of {name} with a recorded latency are left to search with, and {GROUP_MIN} are needed"
            );
            return Err(Error::input(problem, "leave --flushes out, use a longer trace, or hold out less (--holdout)"));
        }
        let mut groups = Vec::new();
        for (part, held_out) in [(&seen, false), (&held_out, true)] {
            for &(kind, op) in compared(flushes) {
                let whole = part.iter().filter(|request| request.op == op);
                let group = |subset, members: &mut dyn Iterator<Item = &Recorded>| {
                    Group::of_trace(kind, subset, held_out, members)
                };
                groups.extend(group(Subset::All, &mut whole.clone()));
                let sizes = CLASSES.into_iter().filter_map(|(least, most)| {
                    group(Subset::Sizes, &mut whole.clone().filter(|request| (least..=most).contains(&request.sectors)))
                });
                let sizes: Vec<Group> = sizes.collect();
                if sizes.len() > 1 {
                    groups.extend(sizes);
                }
                groups.extend(group(Subset::Alone, &mut whole.filter(|request| is_alone[request.number as usize])));
            }
        }
        let sample = Self { groups, ..sample };
        if !sample.is_seen() {
            let problem = format!(
                "{name}: neither {GROUP_MIN} reads nor {GROUP_MIN} writes with a recorded latency are left to search with"
            );
            return Err(Error::input(problem, "use a longer trace, or hold out less (--holdout)"));
        }
        Ok(sample)
    }

    /// Something of it is seen by the search.
    pub(super) fn is_seen(&self) -> bool {
        self.groups.iter().any(|group| !group.held_out)
    }

    /// Something of it is held out.
    pub(super) fn is_held_out(&self) -> bool {
        self.groups.iter().any(|group| group.held_out)
    }

    /// The response of every request on a device, ns.
    pub(super) fn simulate(&self, builder: &Builder, config: &Config, stop: &Stop) -> Result<Vec<u64>, Error> {
        let mut device = built(builder, config, None, stop)?;
        let mut responses = Vec::with_capacity(self.requests);
        let mut each = |request: &ReplayedRequest| {
            responses.push(request.response.0);
            Ok(())
        };
        let mut replay = Replay::new(config, &*device);
        let mut requests = Requests::new(&mut each, &mut replay, &mut *device);
        for batch in &self.batches {
            stop.check()?;
            for piece in batch {
                requests.see(piece, 0);
            }
            replay.feed(&mut *device, batch)?;
            requests.hand_out(&mut replay, &mut *device)?;
        }
        device.drain();
        requests.hand_out(&mut replay, &mut *device)?;
        Ok(responses)
    }
}

/// The requests that are seen, and those that are held out: the last ones of each of this many equal parts.
fn split<R: Clone>(requests: &[R], holdout: f64, parts: usize) -> [Vec<R>; 2] {
    let (mut seen, mut held_out) = (Vec::new(), Vec::new());
    for part in 0..parts {
        let part = &requests[requests.len() * part / parts..requests.len() * (part + 1) / parts];
        let (before, after) = part.split_at((part.len() as f64 * (1.0 - holdout)).round() as usize);
        seen.extend_from_slice(before);
        held_out.extend_from_slice(after);
    }
    [seen, held_out]
}

impl Group {
    /// Nothing if there are too few.
    fn of_trace(
        kind: &'static str,
        subset: Subset,
        held_out: bool,
        requests: &mut dyn Iterator<Item = &Recorded>,
    ) -> Option<Self> {
        let (members, mut times): (Vec<u32>, Vec<u64>) =
            requests.map(|request| (request.number, request.latency)).unzip();
        if members.len() < GROUP_MIN {
            return None;
        }
        times.sort_unstable();
        let is_told = |percent: &f64| percent.min(100.0 - percent) / 100.0 * times.len() as f64 >= BEYOND_MIN;
        let known = PERCENTILES.into_iter().filter(is_told).map(Percentile);
        let recorded = known.map(|what| (what, what.of(&times))).collect();
        Some(Self { kind, subset, held_out, members, recorded })
    }

    /// The times of its requests, ascending.
    pub(super) fn sorted(&self, responses: &[u64]) -> Vec<u64> {
        let mut times: Vec<u64> = self.members.iter().map(|member| responses[*member as usize]).collect();
        times.sort_unstable();
        times
    }

    /// The logarithms of simulated over recorded figures.
    fn residuals(&self, responses: &[u64]) -> impl Iterator<Item = f64> {
        let times = self.sorted(responses);
        self.recorded.iter().map(move |(what, recorded)| log_ratio(what.of(&times), *recorded))
    }
}

impl Percentile {
    /// Of times in ascending order; 0 of none.
    pub(super) fn of(self, sorted: &[u64]) -> f64 {
        if sorted.is_empty() {
            return 0.0;
        }
        let rank = (sorted.len() as f64 * self.0 / 100.0).ceil() as usize;
        sorted[rank.clamp(1, sorted.len()) - 1] as f64
    }
}

/// The logarithm of a ratio of times; less than a nanosecond counts as one.
pub(super) fn log_ratio(simulated: f64, recorded: f64) -> f64 {
    (simulated.max(1.0) / recorded.max(1.0)).ln()
}

/// 0 of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

impl Sample {
    /// What the search sees of the responses: the logarithms of simulated over recorded figures.
    pub(super) fn residuals(&self, responses: &[u64]) -> impl Iterator<Item = f64> {
        let groups = self.groups.iter().filter(|group| !group.held_out);
        groups.flat_map(move |group| group.residuals(responses))
    }

    /// How much each of them weighs, in all 1: kinds weigh the same, and of a kind all its requests, its classes of sizes
    /// together, and those that were alone.
    pub(super) fn weights(&self) -> Vec<f64> {
        let seen = || self.groups.iter().filter(|group| !group.held_out && !group.recorded.is_empty());
        let kinds = KINDS.iter().filter(|(kind, _)| seen().any(|group| group.kind == *kind)).count();
        let weight = |group: &Group| {
            let like = |subset| seen().filter(|g| g.kind == group.kind && g.subset == subset).count();
            let present =
                [Subset::All, Subset::Sizes, Subset::Alone].into_iter().filter(|subset| like(*subset) > 0).count();
            1.0 / (kinds * present * like(group.subset) * group.recorded.len()) as f64
        };
        seen().flat_map(|group| std::iter::repeat_n(weight(group), group.recorded.len())).collect()
    }
}

/// Which requests met no other: none was under way when they arrived, and none arrived until they were complete. Requests are
/// in the order in which they arrived.
fn alone(requests: &[Recorded]) -> Vec<bool> {
    let mut busy_until = 0;
    let next = requests.iter().skip(1).map(|request| request.at).chain([u64::MAX]);
    let one = |(request, next): (&Recorded, u64)| {
        let end = request.at.saturating_add(request.latency);
        let met_none = busy_until <= request.at && end <= next;
        busy_until = busy_until.max(end);
        met_none
    };
    requests.iter().zip(next).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{Group, HostOp, Percentile, Recorded, Sample, Subset, alone, split};

    #[test]
    fn last_requests_of_every_part_are_held_out() {
        let requests: Vec<u32> = (0..30).collect();
        assert_eq!(split(&requests, 0.2, 1), [(0..24).collect::<Vec<_>>(), (24..30).collect()]);
        let [seen, held_out] = split(&requests, 0.2, 3);
        assert_eq!(held_out, [8, 9, 18, 19, 28, 29]);
        assert_eq!(seen.len() + held_out.len(), 30);
        assert_eq!(split(&requests, 0.0, 7), [requests.clone(), vec![]]);
        // More parts than requests: a part may be one request, or none.
        assert_eq!(split(&requests, 0.9, 100)[1], requests);
    }

    #[test]
    fn request_is_alone_if_it_meets_no_other() {
        let request = |number: u32, at, latency| Recorded { number, op: HostOp::Read, sectors: 8, at, latency };
        // The third arrives when the second ends; the fifth and sixth while the fourth is served, which ends last.
        let times = [(0, 5), (10, 10), (20, 5), (30, 50), (40, 5), (79, 1), (80, 0), (80, 3)];
        let requests: Vec<Recorded> =
            (0..).zip(times).map(|(number, (at, latency))| request(number, at, latency)).collect();
        assert_eq!(alone(&requests), [true, true, true, false, false, false, true, true]);
        assert_eq!(alone(&[]), [] as [bool; 0]);
    }

    #[test]
    fn weights_are_equal_between_kinds_and_between_all_sizes_and_alone() {
        let group = |kind, subset, held_out, percentiles: usize| {
            let recorded = vec![(Percentile(50.0), 1.0); percentiles];
            Group { kind, subset, held_out, members: Vec::new(), recorded }
        };
        let groups = vec![
            group("reads", Subset::All, false, 2),
            group("reads", Subset::Sizes, false, 1),
            group("reads", Subset::Sizes, false, 2),
            group("reads", Subset::Alone, false, 4),
            group("writes", Subset::All, false, 1),
            group("writes", Subset::All, true, 1),
        ];
        let sample = Sample { settings: Vec::new(), batches: Vec::new(), requests: 0, groups };
        let part = 1.0 / 12.0;
        let expected = [part, part, part, part / 2.0, part / 2.0]
            .into_iter()
            .chain([1.0 / 24.0; 4])
            .chain([0.5])
            .collect::<Vec<f64>>();
        for (weight, expected) in sample.weights().iter().zip(&expected) {
            assert!((weight - expected).abs() < 1e-12, "{:?}, not {expected:?}", sample.weights());
        }
        assert_eq!(sample.weights().len(), expected.len());
    }
}
