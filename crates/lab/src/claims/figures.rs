//! Figures of several cells: as text, and compared.

use nandlab::report::Report;

/// Figures with the names of what they belong to.
pub(super) type Figures = Vec<(&'static str, f64)>;

/// Hits of all pages, in percent.
pub(super) fn hits(report: &Report) -> f64 {
    100.0 * report.hits.page.total.unwrap_or(0.0)
}
/// Mean response, in microseconds.
pub(super) fn response(report: &Report) -> f64 {
    report.response.all.mean_ns / 1e3
}
/// Erases, whatever their cause.
pub(super) fn erases(report: &Report) -> f64 {
    report.flash.erases.total as f64
}

/// Numbers with their names, as in `fab 1.00, hitstat 0.80`.
pub(super) fn list<N: AsRef<str>>(values: &[(N, f64)], decimals: usize) -> String {
    let one = |(name, value): &(N, f64)| format!("{} {value:.decimals$}", name.as_ref());
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Each value is greater than the next.
pub(super) fn falls<N>(values: &[(N, f64)]) -> Vec<bool> {
    values.windows(2).map(|pair| pair[0].1 > pair[1].1).collect()
}

/// The value of a name is the least (or equals it).
pub(super) fn is_least(values: &[(&str, f64)], name: &str) -> bool {
    let own = value(values, name);
    values.iter().all(|(_, other)| own <= *other)
}

/// The value of a name is the greatest (or equals it).
pub(super) fn is_greatest(values: &[(&str, f64)], name: &str) -> bool {
    let own = value(values, name);
    values.iter().all(|(_, other)| own >= *other)
}

pub(super) fn value(values: &[(&str, f64)], name: &str) -> f64 {
    values.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value)
}

/// Change in percent from `from` to `to`.
pub(super) fn change(from: f64, to: f64) -> f64 {
    100.0 * (to - from) / from
}

/// The plain mean, as the papers form it of percentages.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Figures of several workloads, as in `TV: WPA 1.0, CBM 2.0; hub: WPA 3.0, CBM 4.0`.
pub(super) fn tables(workloads: &[&str], values: &[Figures], decimals: usize) -> String {
    let one = |(workload, values): (&&str, &Figures)| format!("{workload}: {}", list(values, decimals));
    workloads.iter().zip(values).map(one).collect::<Vec<_>>().join("; ")
}
