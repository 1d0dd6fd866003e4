//! The closed forms behind docs/theory.md, with no function of the system, so that the curves are the same everywhere.
//!
//! `alpha` is usable physical over logical pages, `rho` its inverse; amplification is programs for each page written.

/// `e^x` by the series of `x / 4096` and twelve squarings.
fn exp(x: f64) -> f64 {
    let small = x / 4096.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..=12 {
        term *= small / f64::from(n);
        sum += term;
    }
    for _ in 0..12 {
        sum *= sum;
    }
    sum
}

/// Where a function that falls from positive to negative is 0.
fn root([mut low, mut high]: [f64; 2], falling: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if falling(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// FIFO cleaning under uniform writes: `A = 1 / (1 - exp(-alpha / A))` (Desnoyers; Xiang and Kurkoski).
pub fn fifo(alpha: f64) -> f64 {
    root([1.0, 1e3], |a| 1.0 - a * (1.0 - exp(-alpha / a)))
}

/// Random victims: `A = 1 / (1 - rho)`.
pub fn random(alpha: f64) -> f64 {
    1.0 / (1.0 - 1.0 / alpha)
}

/// The emptiest of `d` random blocks of `b` pages (Van Houdt's mean field). `c` is the rate of invalidations.
pub fn d_choices(alpha: f64, b: u32, d: u32) -> f64 {
    let rho = 1.0 / alpha;
    // s_i is the share of blocks with i valid pages or more.
    let valid = |c: f64| {
        let (mut above, mut sum) = (0.0, 0.0);
        for i in (1..=b).rev() {
            let share =
                root([above, 1.0], |s| (1.0 - (0..d).fold(1.0, |p, _| p * s)) / (c * f64::from(i)) - (s - above));
            above = share;
            sum += share;
        }
        sum / f64::from(b)
    };
    1.0 / (rho * root([1e-3, 1e3], |c| valid(c) - rho))
}

/// Greedy cleaning, the limit of many choices: the harmonic form.
pub fn greedy(alpha: f64, b: u32) -> f64 {
    let harmonic = |n: u32| (1..=n).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    let (size, all) = (f64::from(b), harmonic(b));
    for j in 0..b {
        let next = f64::from(j + 1);
        let x = (all - harmonic(j + 1) - (size - next) * alpha / size) / (alpha / size - 1.0 / next);
        if (0.0..=1.0).contains(&x) {
            return size / (size - (next - x));
        }
    }
    f64::NAN
}

/// FIFO cleaning where a share `r` of the writes goes to a share `f` of the pages.
pub fn hot_cold(alpha: f64, r: f64, f: f64) -> f64 {
    let part = |r: f64, f: f64, a: f64| r / (1.0 - exp(-r * alpha / (f * a)));
    root([1.0, 1e3], |a| part(r, f, a) + part(1.0 - r, 1.0 - f, a) - a)
}

/// The same with blocks of its own for each class and the best split of the spare space.
pub fn separated(alpha: f64, r: f64, f: f64) -> f64 {
    let of_split = |hot: f64| {
        let spare = |share: f64, part: f64| 1.0 + (alpha - 1.0) * part / share;
        r * fifo(spare(f, hot)) + (1.0 - r) * fifo(spare(1.0 - f, 1.0 - hot))
    };
    let (mut low, mut high) = (0.02, 0.98);
    for _ in 0..60 {
        let (a, b) = ((2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0);
        if of_split(a) < of_split(b) {
            high = b;
        } else {
            low = a;
        }
    }
    of_split(f64::midpoint(low, high))
}

/// Logical blocks merged when FAST reclaims a log block of `n` pages; `ratio` is log blocks over `blocks` data blocks.
pub fn fast_associativity(ratio: f64, n: f64, blocks: f64) -> f64 {
    let logged = ratio * blocks * n - (n - 1.0) / 2.0;
    n * blocks / (blocks + logged)
}

/// Mean waiting time of an M/G/1 queue, microseconds, by Pollaczek and Khinchine, from (share, service) of the operations.
pub fn waiting(load: f64, mix: &[(f64, f64)]) -> f64 {
    let mean: f64 = mix.iter().map(|(share, service)| share * service).sum();
    let square: f64 = mix.iter().map(|(share, service)| share * service * service).sum();
    load / mean * square / (2.0 * (1.0 - load))
}

/// Programs a second of dies on one channel: the transfer bounds the channel, transfer and program a die. Seconds.
pub fn programs_a_second(dies: f64, transfer: f64, program: f64) -> f64 {
    (1.0 / transfer).min(dies / (transfer + program))
}
