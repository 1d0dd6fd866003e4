//! Is the offline optimum one: for buffers of every kind, at every size, against slow references?

#[path = "offline/brute.rs"]
mod brute;
mod kit;

use kit::Dice;
use nandlab::catalog::BUFFERS;
use nandlab::config::Config;
use nandlab::ledger::Ledger;
use nandlab::offline::{AccessCounts, Costs, History, LruCurve, ROUNDS, Segments, belady, lower_bound, schedule};
use nandlab::types::{HostOp, HostRequest, Nanos};

const PAGES: u32 = 1_200;
const SECTORS: u32 = 8;
const COSTS: [Costs; 5] = [
    Costs { read: 1, write: 10 },
    Costs { read: 1, write: 1 },
    Costs { read: 3, write: 0 },
    Costs { read: 0, write: 2 },
    Costs { read: 5, write: 3 },
];

fn page(op: HostOp, lpn: u64, pages: u64) -> HostRequest {
    HostRequest::new(Nanos::ZERO, op, lpn * u64::from(SECTORS), pages as u32 * SECTORS)
}

/// Hot and cold pages and runs of them, of 100 requests some writes, trims and flushes.
fn requests(random: &mut Dice, count: usize, pages: u64, [writes, trims, flushes]: [u64; 3]) -> Vec<HostRequest> {
    let one = |_| {
        let most = if random.below64(8) == 0 { 6 } else { 1 };
        let hot = random.below64(3) > 0;
        let first = random.below64(if hot { pages.div_ceil(10) } else { pages });
        let len = (1 + random.below64(most)).min(pages - first);
        match random.below64(100) {
            n if n < flushes => HostRequest::new(Nanos::ZERO, HostOp::Flush, 0, 0),
            n if n < flushes + trims => page(HostOp::Trim, first, len),
            n if n < flushes + trims + writes => page(HostOp::Write, first, len),
            _ => page(HostOp::Read, first, len),
        }
    };
    (0..count).map(one).collect()
}

fn history(requests: &[HostRequest], with_flushes: bool) -> History {
    let mut history = History::new(PAGES, SECTORS, with_flushes);
    history.extend(requests).unwrap();
    history
}

fn config(buffer: &str, frames: u32, nvram: u32) -> Config {
    let geometry = "device.geometry={channels=2, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, \
                    blocks_per_plane=60, pages_per_block=16, page_bytes=4096}";
    let keys = [
        geometry.to_owned(),
        format!("ram.dram={}", frames * 4096),
        format!("ram.nvram={}", nvram * 4096),
        format!("buffer.name={buffer}"),
    ];
    kit::lab(keys)
}

/// What an online policy does; nothing if it refuses the frames.
fn online(requests: &[HostRequest], buffer: &str, frames: u32, nvram: u32) -> Option<(AccessCounts, Ledger)> {
    let mut hits = config(buffer, frames, nvram).build_hits().ok()?;
    hits.run(requests).unwrap();
    Some((AccessCounts::of(&hits.ledger(), hits.dirty_pages()), hits.ledger()))
}

#[test]
fn optimum_of_tiny_histories_lies_between_bound_and_schedule() {
    let mut random = Dice(88_172_645_463_325_252);
    let (mut met, mut cases) = (0, 0);
    for case in 0..400 {
        let rates = if case % 2 == 0 { [50, 0, 0] } else { [50, 10, 10] };
        let requests = requests(&mut random, 16, 5, rates);
        let history = history(&requests, true);
        let costs = COSTS[case % COSTS.len()];
        let segments = Segments::new(&history, costs);
        for frames in 0..4 {
            let best = brute::least(&requests, frames, costs, 0);
            let misses = brute::least(&requests, frames, Costs { read: 1, write: 0 }, 1);
            let min = belady(&history, frames);
            assert_eq!(history.accesses() - min.hits(), misses, "{case}, {frames} frames: {requests:?}");
            let bound = lower_bound(&segments, frames, ROUNDS);
            let possible = schedule(&history, &segments, &bound, frames).cost(costs);
            assert!(bound.cost <= best && best <= possible, "{case}, {frames}: {} {best} {possible}", bound.cost);
            met += u32::from(bound.cost == best);
            cases += 1;
        }
    }
    // It is no bound that is always 0.
    assert!(met > cases / 2, "{met} of {cases}");
}

/// MIN as the textbook has it: of the resident pages and the one just accessed, the farthest leaves.
fn slow_min(lpns: &[u64], frames: usize) -> u64 {
    let (mut resident, mut hits) = (Vec::new(), 0);
    for (time, lpn) in lpns.iter().enumerate() {
        if resident.contains(lpn) {
            hits += 1;
        } else {
            resident.push(*lpn);
        }
        if resident.len() > frames {
            let next = |lpn: &u64| lpns[time + 1..].iter().position(|l| l == lpn).unwrap_or(usize::MAX);
            let farthest = (0..resident.len()).max_by_key(|i| next(&resident[*i])).unwrap();
            resident.swap_remove(farthest);
        }
    }
    hits
}

#[test]
fn min_hits_as_the_slow_reference() {
    let mut random = Dice(1);
    let pages = [12, 120];
    let mut draw = |_| {
        let set = random.below64(2) as usize;
        random.below64(pages[set])
    };
    let lpns: Vec<u64> = (0..3_000).map(&mut draw).collect();
    let op = |time: usize| if time.is_multiple_of(3) { HostOp::Write } else { HostOp::Read };
    let requests: Vec<_> = lpns.iter().enumerate().map(|(time, lpn)| page(op(time), *lpn, 1)).collect();
    for frames in [0, 1, 2, 7, 40, 120, 500] {
        assert_eq!(belady(&history(&requests, true), frames).hits(), slow_min(&lpns, frames as usize), "{frames}");
    }
}

#[test]
fn policies_are_never_better_than_the_bound_and_min() {
    let mut random = Dice(2);
    for (rates, nvram) in [([50, 1, 1], 0), ([50, 1, 1], 64), ([80, 0, 0], 0), ([10, 0, 0], 0)] {
        let requests = requests(&mut random, 20_000, u64::from(PAGES), rates);
        // What lies in NVRAM survives a flush where it is.
        let history = history(&requests, nvram == 0);
        let (dram, mut compared) = (96, 0);
        let min = belady(&history, dram + nvram);
        let bounds = COSTS.map(|costs| lower_bound(&Segments::new(&history, costs), dram + nvram, 60).cost);
        for plugin in BUFFERS {
            let Some((counts, ledger)) = online(&requests, &plugin.name(), dram, nvram) else { continue };
            let name = plugin.module;
            assert_eq!((counts.reads, counts.writes), (history.reads(), history.writes()), "{name}");
            // A prefetched page is a miss beforehand.
            assert!(counts.hits() <= min.hits() + ledger.prefetched_pages, "{name}");
            for (costs, bound) in COSTS.iter().zip(bounds) {
                assert!(counts.cost(*costs) >= bound, "{name}: {} below {bound} for {costs:?}", counts.cost(*costs));
            }
            compared += 1;
        }
        assert!(compared >= BUFFERS.len() - 3, "{compared}");
    }
}

#[test]
fn bound_is_close_to_what_is_possible() {
    let mut random = Dice(3);
    for (rates, costs, most) in
        [([50, 0, 0], COSTS[0], 1.01), ([80, 1, 0], COSTS[0], 1.012), ([50, 0, 0], COSTS[1], 1.034)]
    {
        let history = history(&requests(&mut random, 60_000, u64::from(PAGES), rates), true);
        let segments = Segments::new(&history, costs);
        for frames in [20, 100, 400] {
            let bound = lower_bound(&segments, frames, ROUNDS);
            let possible = schedule(&history, &segments, &bound, frames).cost(costs);
            let gap = possible as f64 / bound.cost as f64;
            assert!((1.0..most).contains(&gap), "{rates:?}, {frames} frames: {gap}");
            assert!(possible <= belady(&history, frames).cost(costs));
        }
    }
}

#[test]
fn bound_of_reads_alone_is_close_to_min() {
    let history = history(&requests(&mut Dice(4), 60_000, u64::from(PAGES), [0; 3]), true);
    let costs = Costs { read: 1, write: 10 };
    for frames in [20, 100, 400] {
        let (min, bound) =
            (belady(&history, frames).cost(costs), lower_bound(&Segments::new(&history, costs), frames, ROUNDS));
        assert!(bound.cost <= min && min as f64 <= bound.cost as f64 * 1.02, "{frames}: {} {min}", bound.cost);
    }
}

#[test]
fn curve_of_lru_is_what_lru_does_at_every_size() {
    for (seed, rates) in [(5, [50, 0, 0]), (6, [50, 3, 2]), (7, [20, 20, 0]), (8, [90, 0, 5])] {
        let requests = requests(&mut Dice(seed), 20_000, u64::from(PAGES), rates);
        let history = history(&requests, true);
        let curve = LruCurve::new(&history);
        for frames in [1, 2, 3, 10, 50, 119, 120, 500, 1_199, 1_200, 5_000] {
            let (counts, _) = online(&requests, "lru", frames, 0).unwrap();
            assert_eq!(curve.at(frames), counts, "{rates:?}, {frames} frames");
        }
        let nothing = curve.at(0);
        assert_eq!((nothing.hits(), nothing.pages_in, nothing.pages_out), (0, history.reads(), history.writes()));
    }
}

#[test]
fn curve_is_the_same_after_accesses_are_renumbered() {
    // The line has 65,536 positions at first.
    let requests = requests(&mut Dice(9), 150_000, u64::from(PAGES), [40, 2, 0]);
    let curve = LruCurve::new(&history(&requests, true));
    for frames in [7, 300] {
        assert_eq!(curve.at(frames), online(&requests, "lru", frames, 0).unwrap().0, "{frames} frames");
    }
}

#[test]
fn request_beyond_the_device_is_refused() {
    let error = History::new(PAGES, SECTORS, true).extend(&[page(HostOp::Read, u64::from(PAGES), 1)]).unwrap_err();
    assert!(error.to_string().contains("beyond") || error.to_string().contains("9600"), "{error}");
}

/// Pages that MIN of the textbook writes: dirty ones that leave, are flushed, or are left at the end.
fn slow_min_writes(accesses: &[(HostOp, u64)], frames: usize) -> u64 {
    let (mut resident, mut written): (Vec<(u64, bool)>, u64) = (Vec::new(), 0);
    for (time, (op, lpn)) in accesses.iter().enumerate() {
        if *op == HostOp::Flush {
            written += resident.iter().filter(|(_, dirty)| *dirty).count() as u64;
            for (_, dirty) in &mut resident {
                *dirty = false;
            }
            continue;
        }
        let at = resident.iter().position(|(known, _)| known == lpn).unwrap_or_else(|| {
            resident.push((*lpn, false));
            resident.len() - 1
        });
        resident[at].1 |= *op == HostOp::Write;
        if resident.len() > frames {
            let accesses = |lpn: u64| accesses[time + 1..].iter().position(|a| a.0 != HostOp::Flush && a.1 == lpn);
            let next = |page: &(u64, bool)| accesses(page.0).unwrap_or(usize::MAX);
            // Of pages that never come again the dirty ones leave first: it makes no difference to what is written.
            let farthest = (0..resident.len()).max_by_key(|i| (next(&resident[*i]), resident[*i].1)).unwrap();
            written += u64::from(resident.swap_remove(farthest).1);
        }
    }
    written + resident.iter().filter(|(_, dirty)| *dirty).count() as u64
}

#[test]
fn min_writes_every_dirty_page_once_those_at_the_end_too() {
    let mut random = Dice(5);
    for flushes in [0, 3] {
        let draw = |_| match random.below64(100) {
            n if n < flushes => (HostOp::Flush, 0),
            n if n < 60 => (HostOp::Write, random.below64(60)),
            _ => (HostOp::Read, random.below64(60)),
        };
        let accesses: Vec<(HostOp, u64)> = (0..2_000).map(draw).collect();
        let request = |(op, lpn): &(HostOp, u64)| match op {
            HostOp::Flush => HostRequest::new(Nanos::ZERO, HostOp::Flush, 0, 0),
            op => page(*op, *lpn, 1),
        };
        let history = history(&accesses.iter().map(request).collect::<Vec<_>>(), true);
        for frames in [0, 1, 5, 30, 59, 60, 100] {
            let slow = slow_min_writes(&accesses, frames as usize);
            assert_eq!(belady(&history, frames).pages_out, slow, "{frames} frames, {flushes} % flushes");
        }
    }
}
