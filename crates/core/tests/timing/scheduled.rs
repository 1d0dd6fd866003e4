//! Does the scheduled clock agree with a slow simulator of its manual page, on random work of random arrays?

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{AddAssign, Range};

use nandlab::flash::clock::{
    ChannelOrder, Clock, ClockShape, ClockTimes, CommandConfig, OpClass, OpTarget, Planes, Release, Scheduler,
    SchedulerConfig, Suspend, Ticket, TimingModel,
};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Nanos, Ppn};

use super::rig::{NOW, check_least_work, finish_times};
use super::slow_scheduled::{After, Slow};
use crate::kit::Dice;

pub const PAGES_PER_BLOCK: u32 = 4;
const BLOCKS_PER_DIE: u32 = 3;

/// What was seen, so that a comparison that compares nothing fails.
#[derive(Default, Debug)]
pub struct Seen {
    overtaken: u64,
    suspensions: u64,
    /// Pairs of classes of which one waited for the other.
    pub waits: u64,
    moved: u64,
    /// Classes whose operations shared commands.
    pub company: u64,
    /// Reads, and programs, that were begun beside another command.
    pub follows: [u64; 2],
    /// Programs of copies inside a plane.
    pub inside: u64,
    /// Operations that were compared.
    pub operations: u64,
    /// Arrays with a history each, as digests: what was asked of which array, when.
    pub histories: Vec<u64>,
}

impl AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        let Self { overtaken, suspensions, waits, moved, company, follows, inside, operations, histories } = other;
        self.overtaken += overtaken;
        self.suspensions += suspensions;
        self.waits += waits;
        self.moved += moved;
        self.company += company;
        self.follows = [0, 1].map(|kind| self.follows[kind] + follows[kind]);
        self.inside += inside;
        self.operations += operations;
        self.histories.extend(histories);
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { overtaken, suspensions, moved, company: _, follows: [reads, programs], inside, operations, .. } =
            self;
        write!(
            f,
            "{operations} operations on {} arrays, {} of them with work of their own: {overtaken} overtook, {suspensions} \
             suspensions, {moved} reads of pages that were being moved, {reads} reads and {programs} programs in cache \
             registers, {inside} copies inside a plane",
            self.histories.len(),
            self.distinct()
        )
    }
}

impl Seen {
    /// Histories of which no two are equal.
    pub fn distinct(&self) -> usize {
        let mut all = self.histories.clone();
        all.sort_unstable();
        all.dedup();
        all.len()
    }
}

/// An array at random.
pub fn shape(r: &mut Dice, policy: &str) -> ClockShape {
    let scale = if r.percent(50) { 4 } else { 3_000 };
    let zeros = r.percent(20);
    let mut time = |n: u64| Nanos(u64::from(!zeros) + r.below64(n * scale));
    let times = ClockTimes {
        page_read: time(3),
        page_program: time(12),
        block_erase: time(40),
        page_transfer: time(2),
        command: time(1),
    };
    let most_wait = if r.percent(50) { Nanos(scale * (1 + r.below64(60))) } else { Nanos(u64::MAX >> 8) };
    let prefers_reads = Scheduler::named(policy).rule().prefers_reads;
    let suspend = if prefers_reads {
        r.pick(&[Suspend::None, Suspend::Erase, Suspend::EraseAndProgram, Suspend::EraseAndProgram])
    } else {
        Suspend::None
    };
    let (suspend_time, resume_time) = (Nanos(r.below64(2 * scale)), Nanos(r.below64(2 * scale)));
    let channels = 1 + r.below(3);
    let dies = channels * (1 + r.below(3));
    let mut shape = ClockShape {
        times: ClockTimes { command: if r.percent(50) { Nanos::ZERO } else { times.command }, ..times },
        channels,
        dies,
        blocks: dies * BLOCKS_PER_DIE,
        pages_per_block: PAGES_PER_BLOCK,
        planes: 1 + r.below(3),
        commands: CommandConfig {
            unit_pages: r.pick(&[1, 1, 2, 4]),
            planes: r.pick(&[Planes::One, Planes::SamePage, Planes::AnyPage]),
            cache_read: r.percent(50),
            cache_program: r.percent(50),
            copy_back: true,
        },
        scheduler: SchedulerConfig {
            policy: Scheduler::named(policy),
            most_wait,
            suspend,
            suspend_time,
            resume_time,
            channel: r.pick(&[ChannelOrder::AsAsked, ChannelOrder::CommandsFirst, ChannelOrder::DataFirst]),
        },
    };
    // The model has code of its own for devices without these.
    if r.percent(30) {
        (shape.commands, shape.scheduler.suspend) = (CommandConfig::default(), Suspend::None);
    }
    shape
}

/// The pages of an array by the rules of NAND: what may be done to a block.
pub struct Pages(pub Vec<u32>);

impl Pages {
    /// An operation that the rules allow, with its first page.
    pub fn choose(&mut self, r: &mut Dice) -> (Op, u32) {
        let block = r.below(self.0.len() as u32);
        let programmed = &mut self.0[block as usize];
        let first = block * PAGES_PER_BLOCK;
        match r.below(10) {
            0..5 if *programmed > 0 => (Op::Read, first + r.below(*programmed)),
            _ if *programmed < PAGES_PER_BLOCK => {
                *programmed += 1;
                (Op::Program, first + *programmed - 1)
            }
            _ => {
                *programmed = 0;
                (Op::Erase, first)
            }
        }
    }

    /// The next page of a block in the same plane as a page, if one has room.
    fn room_beside(&mut self, r: &mut Dice, page: u32, planes: u32) -> Option<u32> {
        let block = page / PAGES_PER_BLOCK;
        let beside: Vec<u32> = (0..self.0.len() as u32)
            .filter(|other| other % planes == block % planes && self.0[*other as usize] < PAGES_PER_BLOCK)
            .collect();
        let to = if beside.is_empty() { return None } else { r.pick(&beside) };
        self.0[to as usize] += 1;
        Some(to * PAGES_PER_BLOCK + self.0[to as usize] - 1)
    }
}

/// A copy inside a plane, `from` one page `to` another.
fn move_inside(
    r: &mut Dice,
    (fast, slow): (&mut Clock, &mut Slow),
    [from, to]: [u32; 2],
    (mut ticket, mut after): (Ticket, After),
    gap: u64,
) -> (Ticket, After) {
    let die = from / PAGES_PER_BLOCK % slow.dies();
    let cause = r.pick(&[Cause::Gc, Cause::Merge, Cause::MapGc, Cause::Wear, Cause::Refresh]);
    for (op, page) in [(Op::Read, from), (Op::Program, to)] {
        let cells = if r.percent(20) { Nanos(r.below64(2 * gap)) } else { Nanos::ZERO };
        let target = OpTarget { page: Ppn(page), cause, cells, inside: true };
        ticket = fast.issue_for(target, die, op, ticket, Release::Done);
        after = slow.issue(target, die as usize, op, &after, Release::Done);
    }
    (ticket, after)
}

/// Nothing, an earlier operation, or several and a time; `often` it joins several, and waits at all, in percent.
fn what_to_wait_for(
    r: &mut Dice,
    (fast, slow): (&mut Clock, &mut Slow),
    known: &[(Ticket, After)],
    [joining, depending]: [u32; 2],
    gap: u64,
) -> (Ticket, After) {
    let pick = |r: &mut Dice| {
        let n = known.len() as u64;
        if n == 0 || !r.percent(depending) {
            (NOW, After::default())
        } else {
            known[(n - 1 - r.below64(n.min(20))) as usize].clone()
        }
    };
    let (mut ticket, mut after) = pick(r);
    while r.percent(joining) {
        let (t, a) = pick(r);
        (ticket, after) = (fast.join(ticket, t), slow.join(after, a));
    }
    if r.percent(10) {
        let at = fast.now().0 + r.below64(gap);
        ticket = fast.delay(ticket, Nanos(at));
        after = slow.join(after, After::at(at));
    }
    (ticket, after)
}

/// Digest of an array and of what was asked of it, when.
fn history(shape: &ClockShape, slow: &Slow) -> u64 {
    let mut digest = DefaultHasher::new();
    format!("{shape:?}").hash(&mut digest);
    for (op, page) in slow.ops.iter().zip(&slow.pages) {
        (page, op.op as u8, op.class as u8, op.cells, op.issued).hash(&mut digest);
    }
    digest.finish()
}

fn compare(policy: &str, seed: u64, count: usize, seen: &mut Seen) {
    let mut r = Dice::of_case(&[seed]);
    let shape = shape(&mut r, policy);
    let mut fast = Clock::of(TimingModel::named("scheduled"), &shape);
    let mut slow = Slow::new(shape);
    let mut pages = Pages(vec![0; shape.blocks as usize]);
    let mut known: Vec<(Ticket, After)> = vec![];
    let gap = 1 + r.below64(2 * fast.service(Op::Program).0 + 2);
    let often = [r.below(40), r.below(60)];
    let moving = r.below(60);
    let (mut unwatched, mut ends) = (vec![], vec![]);
    let mut last_read: Option<(Ticket, After)> = None;
    let (mut least, context) = (Dice::of_case(&[seed, 1]), format!("{policy}, seed {seed}, {shape:?}"));
    for _ in 0..count {
        let id = slow.ops.len();
        check_least_work(&fast, shape.dies, &mut least, &context);
        if r.percent(40) {
            let to = fast.now().0 + r.below64(gap);
            fast.advance(Nanos(to));
            slow.advance(to);
        }
        let (mut ticket, mut after) = what_to_wait_for(&mut r, (&mut fast, &mut slow), &known, often, gap);
        if !after.own {
            known.push((ticket, after.clone()));
        }
        let (op, page) = pages.choose(&mut r);
        // Most programs of collections are copies of what was read before.
        if let Some((read, slow_read)) = last_read.take()
            && op == Op::Program
            && r.percent(70)
        {
            (ticket, after) = (read, slow_read);
        }
        let die = page / PAGES_PER_BLOCK % shape.dies;
        if op == Op::Read
            && shape.commands.copy_back
            && r.percent(moving)
            && let Some(to) = pages.room_beside(&mut r, page, shape.dies * shape.planes)
        {
            unwatched.extend([id, id + 1]);
            known.push(move_inside(&mut r, (&mut fast, &mut slow), [page, to], (ticket, after), gap));
            continue;
        }
        let cause = r.pick(&Cause::ALL);
        let release = if r.percent(30) { Release::Transfer } else { Release::Done };
        // Pages and blocks that differ in their times.
        let cells = if r.percent(20) { Nanos(r.below64(2 * gap)) } else { Nanos::ZERO };
        let target = OpTarget { page: Ppn(page), cause, cells, inside: false };
        let t = fast.issue_for(target, die, op, ticket, release);
        let a = slow.issue(target, die as usize, op, &after, release);
        // Who watches hurries what is watched: some are watched at the end only.
        if r.percent(50) {
            fast.watch(t, id as u64);
            slow.watch(&a);
        } else {
            unwatched.push(id);
        }
        if r.percent(3) {
            let (end, after) = (fast.take_programmed(), std::mem::take(&mut slow.programmed));
            let token = 2 * count + ends.len();
            fast.watch(end, token as u64);
            slow.watch(&after);
            ends.push((token, slow.now, after.ends.clone()));
            known.push((end, after));
        }
        last_read = (op == Op::Read).then(|| (t, a.clone()));
        known.push((t, a));
    }
    seen.histories.push(history(&shape, &slow));
    judge(fast, slow, (&unwatched, &ends), &context, seen);
}

/// Somebody asked, at that time, for the end of these programs: the token.
type Ends = (usize, u64, Vec<usize>);

/// Compares all times when all is over.
fn judge(mut fast: Clock, mut slow: Slow, (unwatched, ends): (&[usize], &[Ends]), context: &str, seen: &mut Seen) {
    let count = slow.ops.len();
    seen.operations += count as u64;
    slow.drain();
    slow.check_order();
    let finish = finish_times(&mut fast, ends.last().map_or(count, |(token, ..)| token + 1));
    for (token, asked, programs) in ends {
        let end = programs.iter().map(|id| slow.ops[*id].finished.unwrap()).fold(*asked, u64::max);
        assert_eq!(finish[*token], end, "{context}: end of the programs {programs:?}");
    }
    let watched = |id: &usize| !unwatched.contains(id);
    for (id, op) in slow.ops.iter().enumerate() {
        assert!(!watched(&id) || Some(finish[id]) == op.resolved, "{context}, operation {id} of {count}: {op:?}");
    }
    assert_eq!(fast.in_flight(), 0);
    seen.moved += slow.ops.iter().filter(|o| o.moved).count() as u64;
    check_waits(&fast, &slow, context, seen);
    let finished = |id: usize| slow.ops[id].finished;
    seen.overtaken += (1..count)
        .filter(|id| slow.ops[*id].die == slow.ops[id - 1].die && finished(*id) < finished(id - 1))
        .count() as u64;
}

/// Every figure of the waits from the times of the slow simulator.
pub fn check_waits(fast: &Clock, slow: &Slow, context: &str, seen: &mut Seen) {
    let waits = fast.waits().expect("the model counts them");
    seen.follows = [0, 1].map(|kind| seen.follows[kind] + slow.beside[kind]);
    seen.inside += slow.ops.iter().filter(|op| op.inside && op.op == Op::Program).count() as u64;
    for class in OpClass::ALL {
        let of_class: Vec<_> = slow.ops.iter().filter(|o| o.class == class).collect();
        let counted = waits.of(class);
        assert_eq!(counted.latency.count(), of_class.len() as u64, "{context}: {class:?}");
        let latency: u64 = of_class.iter().map(|o| o.finished.expect("it is over") - o.issued).sum();
        let mean = latency as f64 / of_class.len().max(1) as f64;
        assert!((counted.latency.mean_ns() - mean).abs() < 1e-6 * (1.0 + mean), "{context}: latency of {class:?}");
        assert_eq!((counted.dependency.0, counted.channel.0), slow.waited(class), "{context}: {class:?}");
        assert_eq!(counted.suspensions, of_class.iter().map(|o| o.suspensions).sum::<u64>(), "{context}: {class:?}");
        assert_eq!(counted.suspended.0, of_class.iter().map(|o| o.suspended).sum::<u64>(), "{context}: {class:?}");
        for busy in OpClass::ALL {
            let waited = slow.waited_for_die(class, busy);
            assert_eq!(counted.die[busy as usize].0, waited, "{context}: {class:?} for {busy:?}");
            seen.waits += u64::from(waited > 0);
        }
        let company: u64 = of_class.iter().map(|o| o.company).sum();
        assert_eq!(counted.company.0, company, "{context}: {class:?}");
        seen.company += u64::from(company > 0);
        let service = slow.alone_all(class);
        let waited: u64 = counted.die.iter().map(|time| time.0).sum();
        let waited = waited + counted.dependency.0 + counted.channel.0 + counted.suspended.0 + company;
        assert_eq!(service + waited, latency, "{context}: the parts of what {class:?} took");
        seen.suspensions += counted.suspensions;
    }
}

/// An array for each seed, with that many calls.
pub fn compare_many(policy: &str, seeds: Range<u64>, calls: usize) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        compare(policy, seed, calls, &mut seen);
    }
    seen
}

#[cfg(test)]
fn compare_some(policy: &str) -> Seen {
    let seen = compare_many(policy, 0..400, 150);
    assert_eq!(seen.distinct(), 400, "an array and its work came twice");
    seen
}

#[test]
fn fifo_agrees_with_the_slow_simulator() {
    let seen = compare_some("fifo");
    assert!(seen.waits > 3_000 && seen.company > 500, "{seen:?}");
    assert!(seen.follows.iter().all(|n| *n > 1_000) && seen.inside > 1_000, "{seen:?}");
}

#[test]
fn read_first_agrees_with_the_slow_simulator() {
    let seen = compare_some("read_first");
    assert!(
        seen.waits > 3_000
            && seen.overtaken > 3_000
            && seen.suspensions > 500
            && seen.moved > 100
            && seen.company > 500
            && seen.follows.iter().all(|n| *n > 1_000)
            && seen.inside > 1_000,
        "{seen:?}"
    );
}

#[test]
fn fair_share_agrees_with_the_slow_simulator() {
    let seen = compare_some("fair_share");
    assert!(seen.waits > 3_000 && seen.overtaken > 3_000 && seen.moved > 100, "{seen:?}");
    assert!(seen.follows.iter().all(|n| *n > 1_000) && seen.inside > 1_000, "{seen:?}");
}
