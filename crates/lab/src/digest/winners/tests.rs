//! Who is best, on numbers made by hand: what counts, what is undecided and what is said of it.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Groups, Winners};
use crate::digest::metric::{Metric, metrics};
use crate::digest::points::Points;
use crate::sweep::SweepRow;

/// A cell: buffer, FTL, seed, and the value of all metrics that are tried.
fn row(buffer: &str, ftl: &str, seed: &str, value: Option<f64>) -> SweepRow {
    let values = [("buffer", buffer), ("ftl", ftl), ("seed", seed)];
    let values: BTreeMap<_, _> = values.map(|(axis, value)| (axis.to_owned(), value.to_owned())).into();
    let report = json!({
        "response": {"all": {"p99_ns": value, "mean_ns": value}},
        "hits": {"page": {"total": value.map(|value| value / 100.0)}},
    });
    SweepRow::done(format!("{buffer}/{ftl}/{seed}"), values, report)
}

fn metric(name: &str) -> Metric {
    metrics(&BTreeMap::new()).unwrap().into_iter().find(|metric| metric.name == name).unwrap()
}

fn sentence(name: &str, rows: &[SweepRow]) -> Option<String> {
    let (points, metric) = (Points::of(rows), metric(name));
    let groups = Groups::of(&points, "buffer", &metric)?;
    Some(Winners::of(&points, "buffer", &metric, &groups).sentence(&metric, points.seeds))
}

/// Cells of one seed: buffer, FTL, value.
fn of_one_seed(cells: &[(&str, &str, f64)]) -> Vec<SweepRow> {
    cells.iter().map(|(buffer, ftl, value)| row(buffer, ftl, "1", Some(*value))).collect()
}

#[test]
fn percentiles_in_neighbouring_buckets_have_no_winner() {
    // 0 and 3.0 % apart: 33 * 2^15 - 1 is the edge of the bucket above 32 * 2^15 - 1.
    let (one, next, far) = (1_048_575.0, 1_081_343.0, 1_114_111.0);
    let rows = of_one_seed(&[
        ("a", "p", one),
        ("b", "p", next),
        ("a", "q", one),
        ("b", "q", far),
        ("a", "r", one),
        ("b", "r", one),
    ]);
    let text = sentence("p99", &rows).unwrap();
    assert!(
        text.starts_with("Lowest 99th percentile of response times, of 3 combinations: a 1 (5.9 % ahead"),
        "{text}"
    );
    assert!(
        text.ends_with("undecided 2 (the best two are within the 3.1 % to which percentiles are known)."),
        "{text}"
    );
    // A mean is exact.
    let text = sentence("mean", &rows).unwrap();
    assert!(text.contains("a 2 (4.5 % ahead") && text.ends_with("undecided 1 (the best two are equal)."), "{text}");
}

#[test]
fn differences_of_percentiles_must_exceed_both_chance_and_a_bucket() {
    let cells = |[a, b]: [[f64; 3]; 2]| -> Vec<SweepRow> {
        let seeds = ["1", "2", "3"].into_iter().enumerate();
        let of = |(n, seed)| [row("a", "p", seed, Some(a[n])), row("b", "p", seed, Some(b[n]))];
        seeds.flat_map(of).collect()
    };
    // Always 1 % apart: no chance, but within a bucket.
    let near = cells([[100.0, 200.0, 300.0], [101.0, 202.0, 303.0]]);
    assert!(
        sentence("p99", &near).unwrap().contains("undecided 1 (the best two do not differ by more than chance and")
    );
    let near = cells([[100.0, 100.0, 100.0], [101.0, 101.0, 101.0]]);
    assert!(sentence("p99", &near).unwrap().contains("undecided 1"));
    assert!(sentence("mean", &near).unwrap().contains(": a 1 (1.0 % ahead"));
}

#[test]
fn combinations_that_lack_a_value_do_not_count() {
    let mut rows =
        of_one_seed(&[("none", "p", 1.0), ("b", "p", 2.0), ("c", "p", 3.0), ("none", "q", 9.0), ("b", "q", 2.0)]);
    let text = sentence("mean", &rows).unwrap();
    assert_eq!(
        text,
        "Lowest mean response time, of 1 combination: none 1 (50.0 % ahead of the second best, median); 1 other lacks a value \
         and does not count."
    );
    // A value that nobody has is not missing.
    rows.push(row("d", "p", "1", None));
    rows.push(row("c", "q", "1", Some(3.0)));
    assert!(
        sentence("mean", &rows)
            .unwrap()
            .ends_with(", of 2 combinations: b 1 (33.3 % ahead of the second best, median), none 1.")
    );
    // Nothing is compared where nobody has everything.
    let apart = of_one_seed(&[("a", "p", 1.0), ("b", "q", 2.0)]);
    assert_eq!(sentence("mean", &apart).unwrap(), "Lowest mean response time: no combination has all values.");
    assert_eq!(sentence("mean", &of_one_seed(&[("a", "p", 1.0)])), None);
}

#[test]
fn small_leads_are_not_called_nothing() {
    let text = sentence("hits", &of_one_seed(&[("a", "p", 40.01), ("b", "p", 40.0)])).unwrap();
    assert_eq!(
        text,
        "Highest page hit ratio, of 1 combination: a 1 (less than 0.1 percentage points ahead of the second best, median)."
    );
}
