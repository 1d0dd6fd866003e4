//! Is flash time right? A slow simulator written from the specification, queueing theory, bounds.

#[path = "common/point.rs"]
mod point;

use nandlab::flash::clock::{Clock, ClockTimes, Release, Ticket, TimingModel};
use nandlab::ledger::Op;
use nandlab::types::Nanos;

/// Splitmix64: the tests need no more, and it stays the same for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    /// Exponentially distributed with mean 1.
    fn exponential(&mut self) -> f64 {
        let uniform = ((self.next() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        -uniform.ln()
    }
}

fn times(command: u64, page_transfer: u64, page_read: u64, page_program: u64, block_erase: u64) -> ClockTimes {
    ClockTimes {
        page_read: Nanos(page_read),
        page_program: Nanos(page_program),
        block_erase: Nanos(block_erase),
        page_transfer: Nanos(page_transfer),
        command: Nanos(command),
    }
}

const NOW: Ticket = Ticket::at(Nanos::ZERO);

/// Everything that is watched, as `finish[token]`, when nothing is pending any more.
fn finish_times(clock: &mut Clock, tokens: usize) -> Vec<u64> {
    clock.drain();
    let mut finish = vec![u64::MAX; tokens];
    let mut last = (0, 0);
    while let Some((token, at)) = clock.take_resolved() {
        assert!(last <= (at.0, token), "taken out of order: {last:?}, then {:?}", (at.0, token));
        last = (at.0, token);
        assert_eq!(finish[token as usize], u64::MAX, "token {token} twice");
        finish[token as usize] = at.0;
    }
    finish
}

// ---- The slow simulator -------------------------------------------------------------------------------------------

/// A ticket: all of some operations and a time.
#[derive(Clone, PartialEq, Debug, Default)]
struct After {
    ops: Vec<usize>,
    at: u64,
    /// It is the ticket of one operation, not a combination.
    own: bool,
}

impl After {
    fn op(id: usize) -> Self {
        Self { ops: vec![id], at: 0, own: true }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Waiting,
    Queued,
    Executing,
    Done,
}

#[derive(Clone, Debug)]
struct SlowOp {
    die: usize,
    op: Op,
    release: Release,
    after: After,
    state: State,
    /// What it still has to do: (on the channel?, ns).
    phases: Vec<(bool, u64)>,
    left_queue: u64,
    finished: u64,
    resolved: Option<u64>,
}

/// The parallel model word by word: lists that are searched, nothing clever.
struct Slow {
    times: ClockTimes,
    channels: usize,
    now: u64,
    ops: Vec<SlowOp>,
    queue: Vec<Vec<usize>>,
    executing: Vec<Option<usize>>,
    /// (time of the request, operation).
    wants_bus: Vec<Vec<(u64, usize)>>,
    on_bus: Vec<Option<usize>>,
    /// (end, operation): the end of its current phase.
    events: Vec<(u64, usize)>,
    /// Intervals of use, for the invariants: (begin, end).
    die_use: Vec<Vec<(u64, u64)>>,
    bus_use: Vec<Vec<(u64, u64)>>,
    /// (channel, request, grant).
    bus_waits: Vec<(usize, u64, u64)>,
}

impl Slow {
    fn new(times: ClockTimes, channels: usize, dies: usize) -> Self {
        Self {
            times,
            channels,
            now: 0,
            ops: vec![],
            queue: vec![vec![]; dies],
            executing: vec![None; dies],
            wants_bus: vec![vec![]; channels],
            on_bus: vec![None; channels],
            events: vec![],
            die_use: vec![vec![]; dies],
            bus_use: vec![vec![]; channels],
            bus_waits: vec![],
        }
    }

    fn issue(&mut self, die: usize, op: Op, after: After, release: Release) -> usize {
        let t = self.times;
        let data = t.command.0 + t.page_transfer.0;
        let command = (true, t.command.0);
        let mut phases = match op {
            Op::Read => vec![command, (false, t.page_read.0), (true, t.page_transfer.0)],
            Op::Program => vec![(true, data), (false, t.page_program.0)],
            Op::Erase => vec![command, (false, t.block_erase.0)],
        };
        if op != Op::Program && t.command.0 == 0 {
            phases.remove(0);
        }
        let id = self.ops.len();
        let on_this_die = after.own && {
            let before = &self.ops[after.ops[0]];
            before.die == die && matches!(before.state, State::Queued | State::Executing)
        };
        let state = State::Waiting;
        self.ops.push(SlowOp { die, op, release, after, state, phases, left_queue: 0, finished: 0, resolved: None });
        if on_this_die || self.may_arrive(id) {
            self.arrive(id);
            self.start_heads();
            self.grant();
        }
        id
    }

    fn may_arrive(&self, id: usize) -> bool {
        self.is_resolved(&self.ops[id].after)
    }

    /// Whoever joins something with what has resolved gets that something.
    fn join(&self, a: After, b: After) -> After {
        if a == b || self.is_resolved(&b) {
            return a;
        }
        if self.is_resolved(&a) {
            return b;
        }
        After { ops: [a.ops, b.ops].concat(), at: a.at.max(b.at), own: false }
    }

    fn is_resolved(&self, after: &After) -> bool {
        after.at <= self.now && after.ops.iter().all(|&o| self.ops[o].resolved.is_some())
    }

    fn arrive(&mut self, id: usize) {
        self.ops[id].state = State::Queued;
        self.queue[self.ops[id].die].push(id);
    }

    fn start_heads(&mut self) {
        for die in 0..self.queue.len() {
            if self.executing[die].is_none() && !self.queue[die].is_empty() {
                let id = self.queue[die].remove(0);
                self.executing[die] = Some(id);
                self.ops[id].state = State::Executing;
                self.ops[id].left_queue = self.now;
                self.next_phase(id);
            }
        }
    }

    fn next_phase(&mut self, id: usize) {
        let die = self.ops[id].die;
        match self.ops[id].phases.first() {
            None => {
                self.ops[id].state = State::Done;
                self.ops[id].finished = self.now;
                self.ops[id].resolved.get_or_insert(self.now);
                self.executing[die] = None;
                self.die_use[die].push((self.ops[id].left_queue, self.now));
            }
            Some(&(true, _)) => self.wants_bus[die % self.channels].push((self.now, id)),
            Some(&(false, ns)) => self.events.push((self.now + ns, id)),
        }
    }

    fn grant(&mut self) {
        for channel in 0..self.channels {
            if self.on_bus[channel].is_none() && !self.wants_bus[channel].is_empty() {
                self.wants_bus[channel].sort_unstable();
                let (requested, id) = self.wants_bus[channel].remove(0);
                let end = self.now + self.ops[id].phases[0].1;
                self.on_bus[channel] = Some(id);
                self.events.push((end, id));
                self.bus_use[channel].push((self.now, end));
                self.bus_waits.push((channel, requested, self.now));
            }
        }
    }

    fn complete(&mut self, id: usize) {
        let (bus, _) = self.ops[id].phases.remove(0);
        if bus {
            self.on_bus[self.ops[id].die % self.channels] = None;
            if self.ops[id].op == Op::Program && self.ops[id].release == Release::Transfer {
                self.ops[id].resolved = Some(self.now);
            }
        }
        self.next_phase(id);
        self.start_heads();
    }

    fn next_instant(&self) -> Option<u64> {
        let arrivals = self.ops.iter().filter(|o| o.state == State::Waiting && o.after.at > self.now);
        self.events.iter().map(|e| e.0).chain(arrivals.map(|o| o.after.at)).min()
    }

    fn process_instant(&mut self) {
        loop {
            if let Some(at) = self.events.iter().position(|e| e.0 == self.now) {
                let (_, id) = self.events.remove(at);
                self.complete(id);
                continue;
            }
            let free = |s: &Self, id: &usize| s.ops[*id].state == State::Waiting && s.may_arrive(*id);
            let arrivals: Vec<usize> = (0..self.ops.len()).filter(|id| free(self, id)).collect();
            if !arrivals.is_empty() {
                for id in arrivals {
                    self.arrive(id);
                }
                self.start_heads();
                continue;
            }
            self.grant();
            if self.events.iter().all(|e| e.0 != self.now) {
                return;
            }
        }
    }

    fn advance(&mut self, to: u64) {
        while let Some(t) = self.next_instant().filter(|&t| t <= to) {
            self.now = t;
            self.process_instant();
        }
        self.now = self.now.max(to);
    }

    fn drain(&mut self) {
        while let Some(t) = self.next_instant() {
            self.advance(t);
        }
    }

    fn check_invariants(&self) {
        for uses in self.die_use.iter().chain(&self.bus_use) {
            for pair in uses.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "two at a time: {pair:?}");
            }
        }
        // Work-conserving: as long as somebody waits for a channel it is in use without a gap.
        for &(channel, requested, granted) in &self.bus_waits {
            let (busy, mut reached) = (&self.bus_use[channel], requested);
            for &(begin, end) in busy.iter().filter(|u| u.0 < granted && u.1 > requested) {
                assert!(begin <= reached, "channel {channel} idle from {reached} to {begin}");
                reached = reached.max(end);
            }
            assert!(reached >= granted, "channel {channel} idle from {reached} to {granted}");
        }
        for op in &self.ops {
            assert_eq!(op.state, State::Done);
            assert!(op.resolved.is_some());
        }
    }
}

/// A random geometry with random times: small ones make many events coincide, zeros make phases vanish.
fn random_device(r: &mut Random, scale: u64, zeros: bool) -> (ClockTimes, usize, usize) {
    let channels = 1 + r.below(4) as usize;
    let most = if r.chance(10) { 12 } else { 5 };
    let dies = channels * (1 + r.below(most) as usize);
    let mut time = |n: u64| u64::from(!zeros) + r.below(n * scale);
    let mut times = times(time(1), time(2), time(3), time(12), time(40));
    if r.chance(50) {
        times.command = Nanos::ZERO;
    }
    (times, channels, dies)
}

/// Issues the same random stream to both and compares every finishing time.
fn compare(seed: u64, count: usize) {
    let mut r = Random(seed);
    let scale = if seed.is_multiple_of(2) { 4 } else { 5_000 };
    let (times, channels, dies) = random_device(&mut r, scale, seed.is_multiple_of(4));
    let mut fast = Clock::new(TimingModel::Parallel, times, channels as u32, dies as u32);
    let mut slow = Slow::new(times, channels, dies);
    let mut known: Vec<(Ticket, After)> = vec![];
    let (gap, recent) = (1 + r.below(20) * scale, 1 + r.below(60));
    let (joining, delayed) = (r.below(40), r.below(20));
    let mut tokens = 0;
    for id in 0..count {
        if r.chance(30) {
            let to = fast.now().0 + r.below(gap);
            fast.advance(Nanos(to));
            slow.advance(to);
        }
        let pick = |r: &mut Random| {
            let n = known.len() as u64;
            // An operation long gone must be as good as none.
            let back = if r.chance(10) { n } else { recent.min(n) };
            if back == 0 || r.chance(30) {
                (NOW, After::default())
            } else {
                known[(n - 1 - r.below(back)) as usize].clone()
            }
        };
        let (mut ticket, mut after) = pick(&mut r);
        while r.chance(joining) {
            let (t, a) = pick(&mut r);
            (ticket, after) = (fast.join(ticket, t), slow.join(after, a));
        }
        if r.chance(delayed) {
            let at = fast.now().0 + r.below(gap);
            ticket = fast.delay(ticket, Nanos(at));
            after = slow.join(after, After { at, ..After::default() });
        }
        if !after.own {
            known.push((ticket, after.clone()));
        }
        let die = r.below(dies as u64) as usize;
        let op = Op::ALL[[0, 0, 0, 1, 1, 1, 1, 2][r.below(8) as usize]];
        let release = if r.chance(40) { Release::Transfer } else { Release::Done };
        let t = fast.issue(die as u32, op, ticket, release);
        fast.watch(t, id as u64);
        known.push((t, After::op(slow.issue(die, op, after, release))));
        tokens += 1;
        for channel in 0..channels {
            let free = fast.channel_busy_until(channel as u32) == fast.now();
            let idle = (channel..dies).step_by(channels).all(|d| slow.executing[d].is_none());
            assert_eq!(free, idle, "seed {seed}, operation {id}: is channel {channel} free?");
        }
    }
    slow.drain();
    slow.check_invariants();
    let finish = finish_times(&mut fast, tokens);
    for (id, op) in slow.ops.iter().enumerate() {
        assert_eq!(Some(finish[id]), op.resolved, "seed {seed}, operation {id} of {count}: {op:?}");
        assert!(op.finished >= op.left_queue + fast.service(op.op).0);
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
fn does_it_agree_with_the_slow_simulator() {
    for seed in 0..600 {
        compare(seed, 200);
    }
}

// ---- Theory -------------------------------------------------------------------------------------------------------

const RFTL: ClockTimes = ClockTimes {
    page_read: Nanos::from_us(25),
    page_program: Nanos::from_us(200),
    block_erase: Nanos::from_us(1_500),
    page_transfer: Nanos::from_us(100),
    command: Nanos::ZERO,
};

fn assert_close(got: f64, want: f64, within: f64, what: &str) {
    assert!((got / want - 1.0).abs() < within, "{what}: {got} instead of {want}");
}

#[test]
fn does_a_single_die_wait_as_queueing_theory_says() {
    queue_of_one_die(
        &[(TimingModel::Parallel, 0.3), (TimingModel::Parallel, 0.7), (TimingModel::Serial, 0.7)],
        1_000_000,
    );
}

#[test]
#[ignore = "the nightly matrix, see docs/theory.md"]
fn does_a_single_die_wait_as_queueing_theory_says_at_every_load() {
    queue_of_one_die(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map(|rho| (TimingModel::Parallel, rho)), 8_000_000);
}

/// W = lambda E\[S^2\] / (2 (1 - rho)): Pollaczek and Khinchine.
fn queue_of_one_die(loads: &[(TimingModel, f64)], count: u64) {
    for (model, rho) in loads.iter().copied() {
        let mut clock = Clock::new(model, RFTL, 1, 1);
        let mut r = Random(42);
        let mix = [(Op::Read, 0.60), (Op::Program, 0.39), (Op::Erase, 0.01)];
        let s = |op: Op| clock.service(op).0 as f64;
        let mean: f64 = mix.iter().map(|&(op, p)| p * s(op)).sum();
        let square: f64 = mix.iter().map(|&(op, p)| p * s(op) * s(op)).sum();
        let lambda = rho / mean;
        let want = lambda * square / (2.0 * (1.0 - rho));
        let (mut at, mut begun, mut waited) = (0.0, vec![], 0.0);
        for id in 0..count {
            at += r.exponential() / lambda;
            clock.advance(Nanos(at as u64));
            let op = match r.below(100) {
                0..60 => Op::Read,
                60..99 => Op::Program,
                _ => Op::Erase,
            };
            begun.push((clock.now(), clock.service(op)));
            let t = clock.issue(0, op, NOW, Release::Done);
            clock.watch(t, id);
        }
        clock.drain();
        while let Some((id, at)) = clock.take_resolved() {
            let (arrival, service) = begun[id as usize];
            waited += (at - arrival - service).0 as f64;
        }
        let waited = waited / count as f64;
        point::compare("queue", "mean waiting time us", rho, want / 1e3, waited / 1e3, 0.02 * want / 1e3);
    }
}

/// Operations per second of an endless supply of programs to `dies` dies on one channel.
fn saturated(times: ClockTimes, op: Op, dies: u32) -> f64 {
    let mut clock = Clock::new(TimingModel::Parallel, times, 1, dies);
    let count = 4_000;
    for i in 0..count {
        clock.issue(i % dies, op, NOW, Release::Done);
    }
    clock.drain();
    f64::from(count) / clock.now().as_secs()
}

#[test]
fn does_it_saturate_where_theory_says() {
    let (transfer, program) = (RFTL.page_transfer.as_secs(), RFTL.page_program.as_secs());
    for dies in [1, 2, 3, 4, 8, 64] {
        let want = (1.0 / transfer).min(f64::from(dies) / (transfer + program));
        let got = saturated(RFTL, Op::Program, dies);
        point::compare("saturation", "programs a second", f64::from(dies), want, got, 0.01 * want);
    }
    assert_close(saturated(RFTL, Op::Read, 8), 1.0 / transfer, 0.01, "reads per second of a saturated channel");
    assert_close(saturated(RFTL, Op::Program, 1), 1.0 / (transfer + program), 0.01, "programs per second of a die");
    let with_command = ClockTimes { command: Nanos::from_us(5), ..RFTL };
    let want = 1.0 / (transfer + 5e-6);
    assert_close(saturated(with_command, Op::Program, 8), want, 0.01, "programs per second with commands");
    assert_close(saturated(with_command, Op::Read, 8), want, 0.01, "reads per second with commands");
}

/// Lindley's equation: with one die per channel the end of an operation is the end of its service after the later of
/// its arrival and the end before.
#[test]
fn is_a_die_of_its_own_channel_never_idle_while_it_has_work() {
    let dies = 5;
    let mut clock = Clock::new(TimingModel::Parallel, ClockTimes { command: Nanos(7), ..RFTL }, dies, dies);
    let mut serial = Clock::new(TimingModel::Serial, ClockTimes { command: Nanos(7), ..RFTL }, dies, dies);
    let (mut r, mut free, mut want) = (Random(3), vec![0; dies as usize], vec![]);
    let (mut serial_free, mut total) = (0, 0);
    for id in 0..20_000 {
        let now = clock.now() + Nanos(r.below(100_000));
        clock.advance(now);
        serial.advance(now);
        let (die, op) = (r.below(u64::from(dies)) as usize, Op::ALL[r.below(3) as usize]);
        let service = clock.service(op).0;
        free[die] = now.0.max(free[die]) + service;
        want.push(free[die]);
        let t = clock.issue(die as u32, op, NOW, Release::Done);
        clock.watch(t, id);
        serial_free = now.0.max(serial_free) + service;
        total += service;
        let t = serial.issue(die as u32, op, NOW, Release::Done);
        assert_eq!(serial.time(t), Some(Nanos(serial_free)));
        assert_eq!(serial.channel_busy_until(0).0, serial_free);
    }
    assert_eq!(finish_times(&mut clock, want.len()), want);
    assert_eq!((0..dies).map(|d| clock.die_busy_ns(d).0).sum::<u64>(), total);
    assert_eq!((0..dies).map(|d| serial.die_busy_ns(d).0).sum::<u64>(), total);
    serial.drain();
    assert_eq!(serial.now().0, serial_free);
}

// ---- Bounds and repeatability -------------------------------------------------------------------------------------

/// A closed loop of 32 operations with joins and bursts. Returns a digest of all times.
fn closed_loop(seed: u64, count: u64, mut each: impl FnMut(&Clock)) -> u64 {
    let (mut clock, mut r) = (Clock::new(TimingModel::Parallel, RFTL, 4, 16), Random(seed));
    let (mut issued, mut digest, mut old) = (0, 0u64, NOW);
    let mut tokens: Vec<u64> = (0..32).collect();
    while issued < count {
        while let Some(token) = tokens.pop() {
            let delay = Ticket::at(clock.now() + Nanos(r.below(2_000)));
            let a = clock.issue(r.below(16) as u32, Op::Program, delay, Release::Transfer);
            let b = clock.issue(r.below(16) as u32, Op::Read, old, Release::Done);
            let both = clock.join(a, b);
            let both = clock.delay(both, clock.now() + Nanos(10_000));
            clock.watch(both, token);
            (old, issued) = (if r.chance(10) { a } else { old }, issued + 2);
            if r.chance(1) {
                let die = r.below(16) as u32;
                let mut last = NOW;
                for _ in 0..20 {
                    last = clock.issue(die, Op::Read, last, Release::Done);
                    last = clock.issue(r.below(16) as u32, Op::Program, last, Release::Done);
                }
                clock.issue(die, Op::Erase, last, Release::Done);
                issued += 41;
            }
        }
        assert!(clock.step());
        each(&clock);
        while let Some((token, at)) = clock.take_resolved() {
            digest = (digest ^ token ^ at.0).wrapping_mul(0x100_0000_01b3);
            tokens.push(token);
        }
    }
    digest
}

#[test]
fn does_its_memory_stay_bounded() {
    let mut places = vec![];
    closed_loop(1, 1_000_000, |clock| {
        if places.last() != Some(&clock.slab_len()) {
            places.push(clock.slab_len());
        }
    });
    assert!(*places.last().unwrap() <= 4_096, "{places:?}");
    let (mut clock, mut early) = (Clock::new(TimingModel::Parallel, RFTL, 8, 32), 0);
    for i in 0..1_000_000u32 {
        clock.issue(i % 32, Op::Program, NOW, Release::Done);
        while clock.in_flight() > 40 {
            clock.step();
        }
        if i == 1_000 {
            early = clock.slab_len();
        }
    }
    assert_eq!(clock.slab_len(), early, "operations that nobody waits for are forgotten too");
}

#[test]
fn does_the_same_input_give_the_same_times() {
    assert_eq!(closed_loop(5, 30_000, |_| ()), closed_loop(5, 30_000, |_| ()));
    assert_ne!(closed_loop(5, 30_000, |_| ()), closed_loop(6, 30_000, |_| ()));
}

#[test]
fn can_a_hundred_thousand_operations_hang_on_one() {
    let mut clock = Clock::new(TimingModel::Parallel, RFTL, 2, 2);
    let first = clock.issue(0, Op::Erase, NOW, Release::Done);
    let (mut all, mut chain) = (first, first);
    for token in (0..100_000).rev() {
        let t = clock.issue(1, Op::Read, first, Release::Done);
        clock.watch(first, token);
        chain = clock.delay(chain, Nanos(token));
        all = clock.join(t, all);
        all = clock.join(all, chain);
    }
    clock.watch(all, 100_000);
    let finish = finish_times(&mut clock, 100_001);
    assert!(finish[..100_000].iter().all(|&t| t == 1_500_000));
    assert_eq!(finish[100_000], 1_500_000 + 100_000 * 125_000);
}

// ---- Tickets ------------------------------------------------------------------------------------------------------

#[test]
fn what_does_a_ticket_say_before_and_after_it_resolves() {
    let mut clock = Clock::new(TimingModel::Parallel, RFTL, 1, 2);
    let write = clock.issue(0, Op::Program, NOW, Release::Transfer);
    let read = clock.issue(0, Op::Read, write, Release::Done);
    assert_eq!((clock.time(write), clock.in_flight()), (None, 2));
    assert_eq!(clock.time(Ticket::at(Nanos(5))), Some(Nanos(5)));
    clock.advance(Nanos(99_999));
    assert_eq!(clock.time(write), None);
    assert!(clock.step());
    assert_eq!((clock.now(), clock.time(write), clock.time(read)), (Nanos(100_000), Some(Nanos(100_000)), None));
    clock.watch(write, 7);
    clock.watch(Ticket::at(Nanos(3)), 6);
    assert_eq!(clock.take_resolved(), Some((6, Nanos(100_000))));
    assert_eq!(clock.take_resolved(), Some((7, Nanos(100_000))));
    assert_eq!(clock.take_resolved(), None);
    assert_eq!(clock.next_event(), Some(Nanos(300_000)));
    // Joined with what has resolved, a ticket is itself.
    assert_eq!((clock.join(write, read), clock.join(read, NOW), clock.join(read, read)), (read, read, read));
    let later = clock.delay(read, Nanos(1_000_000));
    clock.watch(later, 1);
    clock.watch(read, 2);
    clock.watch(read, 3);
    clock.drain();
    assert_eq!(clock.take_resolved(), Some((2, Nanos(425_000))));
    assert_eq!(clock.take_resolved(), Some((3, Nanos(425_000))));
    assert_eq!(clock.take_resolved(), Some((1, Nanos(1_000_000))));
    assert!(!clock.step());
    assert_eq!((clock.next_event(), clock.in_flight()), (None, 0));
}

#[test]
fn does_a_watch_on_a_time_fire_at_that_time() {
    for model in [TimingModel::Serial, TimingModel::Parallel] {
        let mut clock = Clock::new(model, RFTL, 1, 1);
        for (token, at) in [(1, 500), (2, 300), (4, 400), (3, 400)] {
            clock.watch(Ticket::at(Nanos(at)), token);
        }
        assert_eq!(clock.next_event(), Some(Nanos(300)));
        assert!(clock.step());
        assert_eq!((clock.now(), clock.take_resolved()), (Nanos(300), Some((2, Nanos(300)))));
        clock.advance(Nanos(450));
        assert_eq!(clock.take_resolved(), Some((3, Nanos(400))));
        assert_eq!(clock.take_resolved(), Some((4, Nanos(400))));
        assert_eq!((clock.take_resolved(), clock.now()), (None, Nanos(450)));
        clock.drain();
        assert_eq!((clock.take_resolved(), clock.step()), (Some((1, Nanos(500))), false));
    }
}

#[test]
fn is_the_data_of_a_program_released_at_the_end_of_its_transfer() {
    for (model, second) in [(TimingModel::Serial, 300 + 100), (TimingModel::Parallel, 200)] {
        let mut clock = Clock::new(model, RFTL, 1, 2);
        for die in 0..2 {
            let t = clock.issue(die, Op::Program, NOW, Release::Transfer);
            clock.watch(t, u64::from(die));
        }
        assert_eq!(finish_times(&mut clock, 2), [100_000, second * 1_000]);
    }
}

#[test]
fn does_an_operation_that_waits_let_others_pass() {
    let mut clock = Clock::new(TimingModel::Parallel, RFTL, 2, 2);
    let erase = clock.issue(0, Op::Erase, NOW, Release::Done);
    let waits = clock.issue(1, Op::Read, erase, Release::Done);
    let passes = clock.issue(1, Op::Read, NOW, Release::Done);
    let behind = clock.issue(0, Op::Read, erase, Release::Done);
    for (token, t) in [waits, passes, behind].into_iter().enumerate() {
        clock.watch(t, token as u64);
    }
    assert_eq!(finish_times(&mut clock, 3), [1_625_000, 125_000, 1_625_000]);
}

#[test]
fn when_is_a_channel_expected_to_be_free() {
    let mut clock = Clock::new(TimingModel::Parallel, RFTL, 2, 4);
    let until = |clock: &Clock| (clock.channel_busy_until(0).0 / 1_000, clock.channel_busy_until(1).0 / 1_000);
    assert_eq!(until(&clock), (0, 0));
    clock.issue(0, Op::Program, NOW, Release::Done);
    clock.issue(2, Op::Read, NOW, Release::Done);
    assert_eq!(until(&clock), (300, 0));
    clock.issue(2, Op::Read, NOW, Release::Done);
    clock.issue(2, Op::Program, NOW, Release::Done);
    assert_eq!(until(&clock), (125 + 125 + 300, 0));
    // The first read has waited for the channel since 25.
    clock.advance(Nanos::from_us(60));
    assert_eq!(until(&clock), (60 + 100 + 125 + 300, 60));
    clock.advance(Nanos::from_us(150));
    assert_eq!(until(&clock), (200 + 125 + 300, 150));
    clock.drain();
    assert_eq!(until(&clock), (625, 625));
}

#[test]
#[should_panic(expected = "at most 64")]
fn are_impossible_devices_refused() {
    for (channels, dies) in [(0, 0), (2, 1), (2, 3)] {
        let new = || Clock::new(TimingModel::Parallel, RFTL, channels, dies);
        assert!(std::panic::catch_unwind(new).is_err(), "{dies} dies on {channels} channels");
    }
    Clock::new(TimingModel::Serial, RFTL, 1, 65);
}
