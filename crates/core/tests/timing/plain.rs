//! The scheduled model has code of its own for plain devices: does it tell what the code for all devices tells, at any time?

use nandlab::flash::clock::{Clock, ClockShape, CommandConfig, OpClass, OpTarget, Release, Suspend, Ticket};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Nanos, Ppn};

use super::rig::{NOW, finish_times, scheduled};
use super::scheduled::{PAGES_PER_BLOCK, Pages, shape};
use crate::kit::Dice;

/// The same device twice: a plain one, and one that could move pages inside a plane and never does.
struct Both([Clock; 2]);

impl Both {
    fn new(shape: &ClockShape) -> Self {
        Self([false, true].map(|copy_back| {
            let commands = CommandConfig { copy_back, ..CommandConfig::default() };
            scheduled(&ClockShape { commands, ..*shape })
        }))
    }

    /// What both do must be equal.
    fn agree<T: PartialEq + std::fmt::Debug>(&mut self, context: &str, what: impl Fn(&mut Clock) -> T) -> T {
        let [plain, other] = self.0.each_mut().map(what);
        assert_eq!(plain, other, "{context}");
        plain
    }

    /// All that somebody can ask for meanwhile.
    fn compare(&mut self, shape: &ClockShape, context: &str) {
        self.agree(context, |clock| (clock.now(), clock.next_event(), clock.in_flight()));
        for die in 0..shape.dies {
            self.agree(context, |clock| (clock.die_work_until(die), clock.die_busy_ns(die)));
        }
        for channel in 0..shape.channels {
            self.agree(context, |clock| (clock.channel_busy_until(channel), clock.channel_busy_ns(channel)));
        }
        for class in OpClass::ALL {
            self.agree(context, |clock| {
                let waits = clock.waits().expect("the model counts them").of(class);
                (waits.dependency, waits.die, waits.channel, waits.company, waits.latency.sum_ns())
            });
        }
    }
}

fn compare(policy: &str, seed: u64) {
    let mut r = Dice::of_case(&[seed]);
    let mut shape = shape(&mut r, policy);
    shape.scheduler.suspend = Suspend::None;
    let context = format!("{policy}, seed {seed}, {shape:?}");
    let mut both = Both::new(&shape);
    let mut pages = Pages(vec![0; shape.blocks as usize]);
    let mut known = vec![[NOW; 2]];
    let gap = 1 + r.below64(2 * both.0[0].service(Op::Program).0 + 2);
    for token in 0..150 {
        if r.percent(40) {
            let to = both.0[0].now() + Nanos(r.below64(gap));
            both.agree(&context, |clock| clock.advance(to));
        }
        let mut after = *known.last().expect("there is one");
        if !r.percent(30) {
            after = known[r.below(known.len() as u32) as usize];
        }
        let (op, page) = pages.choose(&mut r);
        let cells = if r.percent(20) { Nanos(r.below64(2 * gap)) } else { Nanos::ZERO };
        let target = OpTarget { page: Ppn(page), cause: r.pick(&Cause::ALL), cells, inside: false };
        let release = if r.percent(20) { Release::Transfer } else { Release::Done };
        let die = page / PAGES_PER_BLOCK % shape.dies;
        let watches = r.percent(50);
        let tickets: [Ticket; 2] = std::array::from_fn(|n| {
            let clock = &mut both.0[n];
            let ticket = clock.issue_for(target, die, op, after[n], release);
            if watches {
                clock.watch(ticket, token);
            }
            ticket
        });
        known.push(tickets);
        both.compare(&shape, &context);
    }
    both.agree(&context, |clock| finish_times(clock, 150));
    both.compare(&shape, &context);
}

#[test]
fn plain_devices_are_like_all_others() {
    for policy in ["fifo", "read_first", "fair_share"] {
        for seed in 0..300 {
            compare(policy, seed);
        }
    }
}
