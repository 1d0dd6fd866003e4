//! One point of docs/theory.md: what was measured, next to what the formula says.

/// Prints the point as a line of docs/theory/results.csv and demands that it differs by at most `allowed`.
#[allow(clippy::print_stdout, reason = "the points are part of what the tests tell")]
#[track_caller]
pub fn compare(figure: &str, series: &str, x: f64, formula: f64, measured: f64, allowed: f64) {
    println!("theory,{figure},{series},{x},{formula},{measured:.6},{allowed:.6}");
    let difference = (measured - formula).abs();
    assert!(difference <= allowed, "{figure} {series} at {x}: {measured} instead of {formula} within {allowed}");
}
