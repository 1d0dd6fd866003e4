//! What the benchmarks share: the clock.

use std::time::Instant;

/// Seconds of CPU of this thread where the system tells them (Linux), else of wall time: machines are often shared.
pub fn seconds(begun: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    on_cpu.map_or_else(|| begun.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

/// The least seconds of several passes; each is given what `prepare` makes, which is not counted.
pub fn least<T>(passes: usize, mut prepare: impl FnMut() -> T, mut pass: impl FnMut(T)) -> f64 {
    let begun = Instant::now();
    let mut seconds_of_one = |_| {
        let prepared = prepare();
        let before = seconds(begun);
        pass(prepared);
        seconds(begun) - before
    };
    (0..passes).map(&mut seconds_of_one).fold(f64::INFINITY, f64::min)
}
