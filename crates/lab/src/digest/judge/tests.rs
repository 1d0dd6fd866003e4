//! Every kind of claim: when it holds, when it does not, and what is said of it.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Judged, Verdict};
use crate::digest::metric::{Metric, metrics};
use crate::digest::points::Points;
use crate::experiment::Claim;
use crate::sweep::SweepRow;

/// A cell: values of its axes as `axis=value`, and its erases.
fn row(cell: &str, erases: f64) -> SweepRow {
    let values = cell.split(' ').map(|word| word.split_once('=').unwrap());
    let values: BTreeMap<String, String> = values.map(|(axis, value)| (axis.to_owned(), value.to_owned())).collect();
    SweepRow::done(cell, values, json!({"flash": {"erases": {"total": erases}}}))
}

fn claim(text: &str) -> Claim {
    toml::from_str(&format!("place = 'fig 1'\nclaim = 'c'\nprinted = 'p'\nmetric = 'erases'\n{text}")).unwrap()
}

fn known() -> Vec<Metric> {
    metrics(&BTreeMap::new()).unwrap()
}

/// The verdict of a claim on these cells, with the cases that hold and all.
fn verdict(text: &str, cells: &[(&str, f64)]) -> (Verdict, usize, usize) {
    let rows: Vec<SweepRow> = cells.iter().map(|(cell, erases)| row(cell, *erases)).collect();
    let (points, claim) = (Points::of(&rows), claim(text));
    let judged = Judged::of(&claim, &points, &known(), &["age".to_owned()]);
    let sum = |number: fn(&super::Condition) -> usize| judged.conditions.iter().map(number).sum();
    (judged.verdict(), sum(|condition| condition.holds), sum(|condition| condition.of))
}

const THREE: [(&str, f64); 6] = [
    ("buffer=a workload=w", 10.0),
    ("buffer=b workload=w", 20.0),
    ("buffer=c workload=w", 30.0),
    ("buffer=a workload=x", 10.0),
    ("buffer=b workload=x", 5.0),
    ("buffer=c workload=x", 30.0),
];

#[test]
fn claims_about_order_hold_in_the_cases_in_which_they_do() {
    use Verdict::{Not, NotTested, Partly, Reproduced};
    for (text, verdict_of) in [
        ("test.first = { value = 'a' }", (Partly, 1, 2)),
        ("test.first = { value = 'a', rank = 2 }", (Reproduced, 2, 2)),
        ("test.first = { value = 'a', among = ['c'] }", (Reproduced, 2, 2)),
        ("test.first = { value = 'c' }", (Not, 0, 2)),
        // 10 is twice 5: 100 % worse.
        ("test.first = { value = 'a', within = 99.0 }", (Partly, 1, 2)),
        ("test.first = { value = 'a', within = 100.0 }", (Reproduced, 2, 2)),
        ("test.last = { value = 'c' }", (Reproduced, 2, 2)),
        ("test.last = { value = 'b', among = ['a'] }", (Partly, 1, 2)),
        // A case without one of the values does not count, whatever the others say.
        ("test.last = { value = 'b', among = ['c', 'd'] }", (NotTested, 0, 0)),
        ("test.last = { value = 'b', among = ['d', 'c'] }", (NotTested, 0, 0)),
        ("axis = 'ftl'\ntest.between = { low = 1e9, high = 2e9 }", (NotTested, 0, 0)),
        ("test.order = { values = ['a', 'b', 'c'] }", (Partly, 1, 2)),
        ("test.order = { values = ['b', 'a'] }", (Partly, 1, 2)),
        ("where = { workload = ['x'] }\ntest.order = { values = ['b', 'a', 'c'] }", (Reproduced, 1, 1)),
        ("test.inside = { values = ['c', 'b', 'a'] }", (Partly, 1, 2)),
        ("test.inside = { values = ['a', 'b'] }", (Not, 0, 2)),
        ("test.between = { of = ['a', 'c'], low = 10, high = 30 }", (Reproduced, 2, 2)),
        ("test.between = { of = ['b'], low = 10, high = 30 }", (Partly, 1, 2)),
        ("test.ratios = { of = { a = 1, b = 2, c = 3 }, within = 5 }", (Partly, 1, 2)),
        // Too low is as wrong as too high: 10, 2.5 and 10 for each unit.
        ("test.ratios = { of = { a = 1, b = 2, c = 3 }, within = 50 }", (Partly, 1, 2)),
        // On average b is 25 % above a: 20 against 10, and 5 against 10.
        ("test.change = { of = 'b', from = { a = 1.0, c = -1.0 } }", (Reproduced, 2, 2)),
        ("test.change = { of = 'b', from = { a = -1.0, c = -1.0 } }", (Partly, 1, 2)),
        // Of a value that no cell has nothing is known.
        ("test.first = { value = 'a', among = ['d'] }", (NotTested, 0, 0)),
        ("", (NotTested, 0, 0)),
    ] {
        assert_eq!(verdict(text, &THREE), verdict_of, "{text}");
    }
}

#[test]
fn claims_along_an_axis_follow_its_numbers() {
    use Verdict::{Not, Reproduced};
    // By their names 16 would come before 4.
    let cells = [
        ("buffer=a ram=4MiB", 9.0),
        ("buffer=a ram=8MiB", 7.0),
        ("buffer=a ram=16MiB", 2.0),
        ("buffer=b ram=4MiB", 8.0),
        ("buffer=b ram=8MiB", 6.0),
        ("buffer=b ram=16MiB", 4.0),
    ];
    for (text, verdict_of) in [
        ("test.along = { along = 'ram', way = 'falls' }", (Reproduced, 1, 1)),
        ("test.along = { along = 'ram', way = 'rises' }", (Not, 0, 1)),
        ("test.crossing = { of = 'a', with = 'b', along = 'ram', at = '8MiB' }", (Reproduced, 1, 1)),
        ("test.crossing = { of = 'a', with = 'b', along = 'ram', at = '4MiB' }", (Not, 0, 1)),
        ("test.crossing = { of = 'b', with = 'a', along = 'ram', at = '8MiB' }", (Not, 0, 1)),
    ] {
        assert_eq!(verdict(text, &cells), verdict_of, "{text}");
    }
}

#[test]
fn equal_is_not_worse_before_a_crossing() {
    let cells = |before: f64| {
        [
            ("buffer=a ram=4MiB", before),
            ("buffer=a ram=8MiB", 2.0),
            ("buffer=b ram=4MiB", 8.0),
            ("buffer=b ram=8MiB", 3.0),
        ]
    };
    let crossing = "test.crossing = { of = 'a', with = 'b', along = 'ram', at = '4MiB' }";
    assert_eq!(verdict(crossing, &cells(9.0)), (Verdict::Reproduced, 1, 1));
    assert_eq!(verdict(crossing, &cells(8.0)), (Verdict::Not, 0, 1));
}

#[test]
fn claims_along_an_axis_need_every_place_and_every_step() {
    use Verdict::{Not, NotTested, Reproduced};
    let cells = [
        ("buffer=a ram=4MiB", 1.0),
        ("buffer=a ram=8MiB", 9.0),
        ("buffer=a ram=16MiB", 5.0),
        ("buffer=b ram=4MiB", 2.0),
        ("buffer=b ram=16MiB", 4.0),
    ];
    for (text, verdict_of) in [
        ("test.along = { along = 'ram', way = 'rises', of = ['a'] }", (Not, 0, 1)),
        ("test.along = { along = 'ram', way = 'rises', of = ['b'] }", (NotTested, 0, 0)),
        ("test.crossing = { of = 'a', with = 'b', along = 'ram', at = '4MiB' }", (NotTested, 0, 0)),
        (
            "where = { ram = ['4MiB', '16MiB'] }\ntest.crossing = { of = 'b', with = 'a', along = 'ram', at = '4MiB' }",
            (Reproduced, 1, 1),
        ),
    ] {
        assert_eq!(verdict(text, &cells), verdict_of, "{text}");
    }
}

#[test]
fn conditions_are_judged_apart_and_what_decides_is_named() {
    let rows: Vec<SweepRow> = ["new", "old"]
        .into_iter()
        .flat_map(|age| ["w", "x"].map(|workload| (age, workload)))
        .flat_map(|(age, workload)| ["a", "b"].map(|buffer| (age, workload, buffer)))
        .map(|(age, workload, buffer)| {
            let erases = if buffer == "a" && age == "new" {
                1.0
            } else if buffer == "a" {
                3.0
            } else {
                2.0
            };
            row(&format!("buffer={buffer} age={age} workload={workload}"), erases)
        })
        .collect();
    let (points, claim) = (Points::of(&rows), claim("test.first = { value = 'a' }"));
    let judged = Judged::of(&claim, &points, &known(), &["age".to_owned()]);
    let found: Vec<_> =
        judged.conditions.iter().map(|c| (c.name.as_str(), c.holds, c.of, c.measured.as_str())).collect();
    assert_eq!(found, [("new", 2, 2, "a against b -50.0 %"), ("old", 0, 2, "a against b +50.0 %")]);
    assert_eq!(judged.conditions[1].fails, ["w", "x"]);
    assert_eq!(judged.decides(&points).unwrap(), "age: new 2 of 2, old 0 of 2");
    assert_eq!((judged.verdict(), judged.count(Verdict::Reproduced)), (Verdict::Partly, 1));
    assert_eq!(judged.measured, "a against b +0.0 %");
}

#[test]
fn difference_within_chance_is_none() {
    // Seed by seed the differences are 1 and -0.9: their mean is far within its interval.
    let cells =
        [("buffer=a seed=1", 10.0), ("buffer=a seed=2", 10.0), ("buffer=b seed=1", 11.0), ("buffer=b seed=2", 9.1)];
    assert_eq!(verdict("test.first = { value = 'a' }", &cells), (Verdict::Not, 0, 1));
    let mut apart = cells;
    (apart[2].1, apart[3].1) = (11.0, 11.1);
    assert_eq!(verdict("test.first = { value = 'a' }", &apart), (Verdict::Reproduced, 1, 1));
}
