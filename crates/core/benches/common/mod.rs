//! What the benchmarks share: the clock.

use std::sync::OnceLock;
use std::time::Instant;

/// CPU time of this thread from the kernel, or wall time where it does not tell.
#[expect(clippy::disallowed_methods, reason = "wall time where the kernel gives no CPU time")]
pub fn cpu_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let wall = START.get_or_init(Instant::now).elapsed();
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = schedstat.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    nanos.map_or(wall.as_secs_f64(), |nanos| nanos / 1e9)
}
