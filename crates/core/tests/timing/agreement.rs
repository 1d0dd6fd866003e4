//! Does the clock agree with the slow simulator, on random streams with joins, delays and coinciding events?

use nandlab::flash::clock::{Clock, ClockTimes, Release, Ticket, TimingModel};
use nandlab::ledger::Op;
use nandlab::types::Nanos;

use super::rig::{NOW, check_least_work, finish_times};
use super::slow::{After, Slow};
use crate::kit::Dice;

fn times(command: u64, page_transfer: u64, page_read: u64, page_program: u64, block_erase: u64) -> ClockTimes {
    ClockTimes {
        page_read: Nanos(page_read),
        page_program: Nanos(page_program),
        block_erase: Nanos(block_erase),
        page_transfer: Nanos(page_transfer),
        command: Nanos(command),
    }
}

/// A random geometry with random times: small ones make many events coincide, zeros make phases vanish.
fn random_device(r: &mut Dice, scale: u64, zeros: bool) -> (ClockTimes, usize, usize) {
    let channels = 1 + r.below64(4) as usize;
    let most = if r.percent(10) { 12 } else { 5 };
    let dies = channels * (1 + r.below64(most) as usize);
    let mut time = |n: u64| u64::from(!zeros) + r.below64(n * scale);
    let mut times = times(time(1), time(2), time(3), time(12), time(40));
    if r.percent(50) {
        times.command = Nanos::ZERO;
    }
    (times, channels, dies)
}

/// Issues the same random stream to both and compares every finishing time.
/// With `zeros` some phases take no time.
fn compare(model: &str, zeros: bool, seed: u64, count: usize) {
    let mut r = Dice(seed);
    let scale = if seed.is_multiple_of(2) { 4 } else { 5_000 };
    let (times, channels, dies) = random_device(&mut r, scale, zeros && seed.is_multiple_of(4));
    let mut fast = Clock::new(TimingModel::named(model), times, channels as u32, dies as u32);
    let mut slow = Slow::new(times, channels, dies);
    let mut known: Vec<(Ticket, After)> = vec![];
    let (gap, recent) = (1 + r.below64(20) * scale, 1 + r.below64(60));
    let (joining, delayed) = (r.below(40), r.below(20));
    let (mut tokens, mut ends) = (0, vec![]);
    for id in 0..count {
        check_least_work(&fast, dies as u32, &mut Dice::of_case(&[seed, id as u64]), model);
        if r.percent(30) {
            let to = fast.now().0 + r.below64(gap);
            fast.advance(Nanos(to));
            slow.advance(to);
        }
        let pick = |r: &mut Dice| {
            let n = known.len() as u64;
            // An operation long gone must be as good as none.
            let back = if r.percent(10) { n } else { recent.min(n) };
            if back == 0 || r.percent(30) {
                (NOW, After::default())
            } else {
                known[(n - 1 - r.below64(back)) as usize].clone()
            }
        };
        let (mut ticket, mut after) = pick(&mut r);
        while r.percent(joining) {
            let (t, a) = pick(&mut r);
            (ticket, after) = (fast.join(ticket, t), slow.join(after, a));
        }
        if r.percent(delayed) {
            let at = fast.now().0 + r.below64(gap);
            ticket = fast.delay(ticket, Nanos(at));
            after = slow.join(after, After { at, ..After::default() });
        }
        if !after.own {
            known.push((ticket, after.clone()));
        }
        let die = r.below64(dies as u64) as usize;
        let op = Op::ALL[[0, 0, 0, 1, 1, 1, 1, 2][r.below64(8) as usize]];
        let release = if r.percent(40) { Release::Transfer } else { Release::Done };
        let t = fast.issue(die as u32, op, ticket, release);
        fast.watch(t, id as u64);
        known.push((t, After::op(slow.issue(die, op, after, release))));
        tokens += 1;
        if r.percent(5) {
            let (t, after) = (fast.take_programmed(), std::mem::take(&mut slow.programmed));
            fast.watch(t, (count + ends.len()) as u64);
            ends.push((slow.now, after.ends.clone()));
            known.push((t, after));
        }
        for channel in 0..channels {
            let free = fast.channel_busy_until(channel as u32) == fast.now();
            let idle = (channel..dies).step_by(channels).all(|d| slow.executing[d].is_none());
            assert_eq!(free, idle, "seed {seed}, operation {id}: is channel {channel} free?");
        }
    }
    slow.drain();
    slow.check_invariants();
    let finish = finish_times(&mut fast, tokens + ends.len());
    for (id, op) in slow.ops.iter().enumerate() {
        assert_eq!(Some(finish[id]), op.resolved, "seed {seed}, operation {id} of {count}: {op:?}");
        assert!(op.finished >= op.left_queue + fast.service(op.op).0);
    }
    for (n, (asked, ends)) in ends.iter().enumerate() {
        let end = ends.iter().map(|id| slow.ops[*id].finished).fold(*asked, u64::max);
        assert_eq!(finish[count + n], end, "seed {seed}: end of the programs {ends:?}");
    }
    check_busy_time(&fast, &slow, dies);
    assert_eq!(fast.in_flight(), 0);
}

fn check_busy_time(fast: &Clock, slow: &Slow, dies: usize) {
    for die in 0..dies {
        let of_die = slow.ops.iter().filter(|o| o.die == die);
        let service: u64 = of_die.map(|o| fast.service(o.op).0).sum();
        assert_eq!(fast.die_busy_ns(die as u32).0, service, "die {die}");
    }
    for (channel, uses) in slow.bus_use.iter().enumerate() {
        let used: u64 = uses.iter().map(|u| u.1 - u.0).sum();
        assert_eq!(fast.channel_busy_ns(channel as u32).0, used, "channel {channel}");
    }
}

#[test]
fn parallel_clock_agrees_with_the_slow_simulator() {
    for seed in 0..600 {
        compare("parallel", true, seed, 200);
    }
}

/// Without pages nobody waits for anything but its dependency: first come, first served is what a device without a scheduler
/// does. (Of operations that take no time at all several follow each other at one instant, and there the two differ: a die
/// of the scheduled model chooses when all that was released has come.)
#[test]
fn scheduled_clock_with_fifo_agrees_with_the_slow_simulator_of_the_parallel_one() {
    for seed in 0..600 {
        compare("scheduled", false, seed, 200);
    }
}
