//! Figures of papers show the values of the cells.

use std::collections::BTreeMap;

use serde_json::json;

use super::{figures, order, spaced};
use crate::digest::figures::{Datum, Head, Shown};
use crate::digest::metric::metrics;
use crate::digest::points::Points;
use crate::experiment::ExperimentFigure;
use crate::sweep::SweepRow;

#[test]
fn figures_are_in_the_order_of_their_numbers() {
    let mut names = ["table5", "fig10", "fig9b", "fig9a", "fig7"];
    names.sort_by_key(|name| order(name));
    assert_eq!(names, ["fig7", "fig9a", "fig9b", "fig10", "table5"]);
    assert_eq!(spaced("fig10"), "fig 10");
}

/// Erases of two buffers on two workloads with two sizes of RAM.
const CELLS: [(&str, &str, &str, f64); 8] = [
    ("w", "a", "4MiB", 10.0),
    ("w", "b", "4MiB", 40.0),
    ("w", "a", "16MiB", 8.0),
    ("w", "b", "16MiB", 2.0),
    ("x", "a", "4MiB", 100.0),
    ("x", "b", "4MiB", 50.0),
    ("x", "a", "16MiB", 30.0),
    ("x", "b", "16MiB", 60.0),
];

/// The figure that is described.
fn figure(text: &str) -> Shown {
    let rows: Vec<SweepRow> = CELLS
        .iter()
        .map(|(workload, buffer, ram, erases)| {
            let values = [("workload", workload), ("buffer", buffer), ("ram", ram)];
            let values = values.into_iter().map(|(axis, value)| (axis.to_owned(), (*value).to_owned())).collect();
            let report = json!({"flash": {"erases": {"total": erases}}});
            SweepRow::done(format!("{workload}/{buffer}/{ram}"), values, report)
        })
        .collect();
    let figure: ExperimentFigure =
        toml::from_str(&format!("title = 't'\nprinted = 'p'\nmetric = 'erases'\n{text}")).unwrap();
    let named = "fig1".to_owned();
    let mut shown = figures(&Points::of(&rows), &metrics(&BTreeMap::new()).unwrap(), [(&named, &figure)].into_iter());
    shown.remove(0)
}

/// The table behind a figure over RAM: workload, RAM, then a column for each buffer and each printed value.
fn table(text: &str) -> Vec<Vec<String>> {
    let data = figure(&format!("x = 'ram'\n{text}")).data;
    let exact = |row: &Vec<Datum>| row.iter().map(|datum| datum.exact.clone()).collect();
    let head = data.head.iter().map(Head::with_unit).collect();
    std::iter::once(head).chain(data.rows.iter().map(exact)).collect()
}

#[test]
fn figure_shows_the_values_of_its_cells() {
    // What is 1 in each place, by hand.
    let scales: [(&str, [f64; 4]); 4] = [
        ("", [1.0, 1.0, 1.0, 1.0]),
        ("relative = 'worst'", [40.0, 8.0, 100.0, 60.0]),
        ("relative = 'best'", [10.0, 2.0, 50.0, 30.0]),
        ("relative = 'b'", [40.0, 2.0, 50.0, 60.0]),
    ];
    for (text, ones) in scales {
        let shown = table(text);
        let unit = if text.is_empty() { "" } else { "_relative" };
        assert_eq!(shown[0], ["in".to_owned(), "ram".to_owned(), format!("a{unit}"), format!("b{unit}")], "{text}");
        let expected: Vec<Vec<String>> = CELLS
            .chunks(2)
            .zip(ones)
            .map(|(pair, one)| {
                let (workload, _, ram, _) = pair[0];
                let values = pair.iter().map(|(.., erases)| (erases / one).to_string());
                [workload.to_owned(), ram.to_owned()].into_iter().chain(values).collect()
            })
            .collect();
        assert_eq!(shown[1..], expected, "{text}");
    }
}

#[test]
fn printed_values_stand_beside_those_that_they_are_of() {
    let shown = table("where = { workload = ['x'] }\nvalues = { a = 7.0, 'b/16MiB' = 9.0 }");
    assert_eq!(shown[0], ["in", "ram", "a", "b", "a, printed", "b, printed"]);
    assert_eq!(shown[1], ["", "4MiB", "100", "50", "7", ""]);
    assert_eq!(shown[2], ["", "16MiB", "30", "60", "7", "9"]);
    assert_eq!(shown.len(), 3);
}

#[test]
fn axis_with_one_value_makes_no_places() {
    let shown = figure("x = 'ftl'\nwhere = { workload = ['x'], ram = ['4MiB'] }\nvalues = { 'a/page' = 90.0 }");
    assert_eq!(shown.data.rows.len(), 1);
    assert_eq!([2, 4].map(|column| shown.data.rows[0][column].exact.clone()), ["100", "90"]);
}

#[test]
fn bars_are_as_high_as_their_own_line_says() {
    let shown = figure("x = 'workload'\nwhere = { ram = ['16MiB'] }\nvalues = { 'b/w' = 3.0 }");
    let panels = shown.figure.unwrap().data();
    let lines: Vec<_> =
        panels[0]["series"].as_array().unwrap().iter().map(|line| (&line["name"], &line["y"])).collect();
    let expected = [("a", json!([8, 30])), ("b", json!([2, 60])), ("printed", json!([3]))];
    assert_eq!(lines.len(), expected.len());
    for ((name, heights), (own, right)) in lines.into_iter().zip(&expected) {
        assert_eq!((name.as_str(), heights), (Some(*own), right));
    }
}
