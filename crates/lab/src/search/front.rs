//! Fronts: who beats whom, and how well a short run orders what a long one does.

use std::collections::BTreeMap;

use super::{Place, Values, workload};

/// The first is no worse in any metric and better in one.
fn beats(a: &Values, b: &Values) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
}

/// Something of the same workload beats it.
pub(super) fn is_beaten(place: &Place, values: &Values, all: &BTreeMap<Place, Values>) -> bool {
    all.iter().any(|(other, other_values)| workload(other) == workload(place) && beats(other_values, values))
}

/// The best, as many as are wanted, shared out evenly among the workloads: front by front, and within one by the sum of the ranks
/// in each metric. The order is that in which they were taken.
pub(super) fn best_first(all: &BTreeMap<Place, Values>, wanted: usize) -> Vec<Place> {
    let mut by_workload: BTreeMap<&str, Vec<(&Place, &Values)>> = BTreeMap::new();
    for (place, values) in all {
        by_workload.entry(workload(place)).or_default().push((place, values));
    }
    let ordered: Vec<Vec<&Place>> = by_workload.into_values().map(in_order).collect();
    let longest = ordered.iter().map(Vec::len).max().unwrap_or(0);
    let in_turns = (0..longest).flat_map(|at| ordered.iter().filter_map(move |places| places.get(at)));
    in_turns.take(wanted).map(|place| (*place).clone()).collect()
}

fn in_order<'a>(mut left: Vec<(&'a Place, &'a Values)>) -> Vec<&'a Place> {
    let metrics = left.first().map_or(0, |(_, values)| values.len());
    let mut ranks: BTreeMap<&Place, usize> = BTreeMap::new();
    for metric in 0..metrics {
        let mut order: Vec<f64> = left.iter().map(|(_, values)| values[metric]).collect();
        order.sort_by(f64::total_cmp);
        for (place, values) in &left {
            *ranks.entry(place).or_default() += order.partition_point(|value| value.total_cmp(&values[metric]).is_lt());
        }
    }
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let is_first = |(_, values): &&(&Place, &Values)| !left.iter().any(|(_, other)| beats(other, values));
        let mut layer: Vec<&Place> = left.iter().filter(is_first).map(|(place, _)| *place).collect();
        layer.sort_by_key(|place| (ranks[place], *place));
        left.retain(|(place, _)| !layer.contains(place));
        ordered.extend(layer);
    }
    ordered
}

/// For each metric the share of pairs of one workload that both order alike; pairs that are equal in one of them do not
/// count. `None` if there is no other.
pub(super) fn agreement(short: &BTreeMap<Place, Values>, long: &BTreeMap<Place, Values>) -> Vec<Option<f64>> {
    let both: Vec<(&Place, &Values, &Values)> =
        long.iter().filter_map(|(place, values)| Some((place, short.get(place)?, values))).collect();
    let metrics = long.values().next().map_or(0, Vec::len);
    let share = |metric: usize| {
        let (mut alike, mut all) = (0_u64, 0_u64);
        for (number, (place, short, long)) in both.iter().enumerate() {
            for (_, other_short, other_long) in
                both[..number].iter().filter(|(other, ..)| workload(other) == workload(place))
            {
                let (a, b) =
                    (short[metric].total_cmp(&other_short[metric]), long[metric].total_cmp(&other_long[metric]));
                if a.is_ne() && b.is_ne() {
                    all += 1;
                    alike += u64::from(a == b);
                }
            }
        }
        if all == 0 { None } else { Some(alike as f64 / all as f64) }
    };
    (0..metrics).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(cells: &[(&str, &str, [f64; 2])]) -> BTreeMap<Place, Values> {
        let place = |workload: &str, name: &str| {
            Place::from([("workload".to_owned(), workload.to_owned()), ("buffer".to_owned(), name.to_owned())])
        };
        cells.iter().map(|(workload, name, values)| (place(workload, name), values.to_vec())).collect()
    }

    fn names(places: &[Place]) -> String {
        places.iter().map(|place| place["buffer"].as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn fronts_come_one_behind_the_other() {
        let cells = all(&[
            ("w", "a", [1.0, 5.0]),
            ("w", "b", [5.0, 1.0]),
            ("w", "c", [2.0, 6.0]),
            ("w", "d", [9.0, 9.0]),
            ("w", "e", [2.0, 2.0]),
        ]);
        // a, b and e are the front; a and e have the best ranks.
        assert_eq!(names(&best_first(&cells, 5)), "a e b c d");
        assert_eq!(names(&best_first(&cells, 2)), "a e");
        let front: Vec<Place> =
            cells.iter().filter(|(p, v)| !is_beaten(p, v, &cells)).map(|(p, _)| p.clone()).collect();
        assert_eq!(names(&front), "a b e");
    }

    #[test]
    fn workloads_have_fronts_of_their_own() {
        let cells =
            all(&[("w", "a", [1.0, 1.0]), ("w", "b", [2.0, 2.0]), ("x", "c", [8.0, 8.0]), ("x", "d", [9.0, 9.0])]);
        assert_eq!(names(&best_first(&cells, 2)), "a c");
        let (place, values) = cells.iter().find(|(place, _)| place["buffer"] == "c").unwrap();
        assert!(!is_beaten(place, values, &cells));
    }

    #[test]
    fn agreement_counts_pairs_in_the_same_order() {
        let short = all(&[("w", "a", [1.0, 1.0]), ("w", "b", [2.0, 2.0]), ("w", "c", [3.0, 2.0])]);
        let long = all(&[("w", "a", [10.0, 1.0]), ("w", "b", [30.0, 3.0]), ("w", "c", [20.0, 2.0])]);
        // Of a < b < c the last pair is turned round; in the second metric b and c were equal.
        assert_eq!(agreement(&short, &long), [Some(2.0 / 3.0), Some(1.0)]);
        // What is equal in the end says nothing either.
        let equal = all(&[("w", "a", [10.0, 1.0]), ("w", "b", [10.0, 3.0])]);
        assert_eq!(agreement(&short, &equal), [None, Some(1.0)]);
        let alone = all(&[("w", "a", [1.0, 1.0])]);
        assert_eq!(agreement(&alone, &alone), [None, None], "nothing can be said of one");
    }
}
