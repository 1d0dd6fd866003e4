//! Is docs/theory.md what its file of results says?

#[path = "../examples/theory/figures.rs"]
mod figures;
#[path = "../examples/theory/formulas.rs"]
mod formulas;

use std::fs;
use std::path::{Path, PathBuf};

use figures::Point;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn points() -> Vec<Point> {
    figures::points(&fs::read_to_string(docs().join("theory/results.csv")).unwrap()).unwrap()
}

#[test]
fn every_measured_point_is_near_its_formula() {
    let points = points();
    for point in &points {
        assert!((point.measured - point.formula).abs() <= point.allowed, "{point:?}");
    }
    let count = |figure: &str| points.iter().filter(|point| point.figure.starts_with(figure)).count();
    assert_eq!(count("waf"), 5 * 4 * 3, "five policies, four over-provisionings, three sizes of blocks");
    assert_eq!([count("hot-cold"), count("separated"), count("zipf")], [12, 12, 8]);
    assert_eq!([count("map-cache-lru"), count("map-cache-slru80"), count("batch-write-back")], [30, 30, 15]);
    assert_eq!([count("fast"), count("queue"), count("saturation")], [7, 9, 6]);
}

/// The tables in the tests were computed elsewhere, so that the two check each other.
#[test]
fn curves_are_those_of_the_tables_in_the_tests() {
    let mut seen = 0;
    for point in points() {
        if let Some(computed) = figures::formula(&point.figure, &point.series, point.x) {
            assert!((computed / point.formula - 1.0).abs() < 2e-4, "{computed} at {point:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 60 + 12 + 12 + 7 + 9 + 6);
}

#[test]
fn pictures_and_table_are_those_of_the_results() {
    let points = points();
    for (name, figure) in figures::figures(&points) {
        let file = docs().join("theory").join(name).with_extension("svg");
        let drawn = fs::read_to_string(&file).unwrap_or_default();
        assert!(drawn == figure.scene().svg(), "{name}.svg is old: cargo run -p nandlab-plot --example theory");
    }
    let page = fs::read_to_string(docs().join("theory.md")).unwrap();
    let renewed = figures::with_table(&page, &points).unwrap();
    assert!(page == renewed, "the table of docs/theory.md is old: cargo run -p nandlab-plot --example theory");
    for (name, _) in figures::figures(&points) {
        assert!(page.contains(&format!("(theory/{name}.svg)")), "docs/theory.md does not show {name}.svg");
    }
}
