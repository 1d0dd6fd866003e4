//! Fronts: which cell beats which, and how well a short run orders cells as a long one does.

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

/// Points of the front that are this near to a point that was taken need not be taken themselves: half of what a front that was
/// found may be off.
const COVERED: f64 = 0.01;

/// How much greater the first is, as a part of the greater one.
fn excess(value: f64, other: f64) -> f64 {
    if value == other { 0.0 } else { (value - other) / value.abs().max(other.abs()) }
}

/// How much worse one is than another in the metric in which it is worst, at least 0.
fn loss(own: &Values, wanted: &Values) -> f64 {
    own.iter().zip(wanted).map(|(own, wanted)| excess(*own, *wanted)).fold(0.0, f64::max)
}

/// The best, as many as are wanted, shared out evenly among the workloads, in the order in which they are taken: first what
/// stands for the front ([`stand_ins`]), then what may need more than a short run ([`not_yet_better`]). What comes behind it in a
/// short run may be on the front in the whole one, so that the others are taken in turns: what is nearest to being on it too, and
/// what stands for the front of the rest, which is the second best of each part. `is_exact` says which metrics short runs
/// know exactly.
pub(super) fn best_first(all: &BTreeMap<Place, Values>, wanted: usize, is_exact: &[bool]) -> Vec<Place> {
    let mut by_workload: BTreeMap<&str, Vec<(&Place, &Values)>> = BTreeMap::new();
    for (place, values) in all {
        by_workload.entry(workload(place)).or_default().push((place, values));
    }
    let ordered: Vec<Vec<&Place>> = by_workload.into_values().map(|own| in_order(&own, wanted, is_exact)).collect();
    let longest = ordered.iter().map(Vec::len).max().unwrap_or(0);
    let in_turns = (0..longest).flat_map(|at| ordered.iter().filter_map(move |places| places.get(at)));
    in_turns.take(wanted).map(|place| (*place).clone()).collect()
}

/// At least as many as are wanted, or all.
fn in_order<'a>(all: &[(&'a Place, &'a Values)], wanted: usize, is_exact: &[bool]) -> Vec<&'a Place> {
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut layer = stand_ins(all, &left);
    let first = [layer.clone(), not_yet_better(all, is_exact)].concat();
    let mut layers = Vec::new();
    while !layer.is_empty() {
        left.retain(|at| !layer.contains(at));
        layers.append(&mut layer);
        if layers.len() < wanted {
            layer = stand_ins(all, &left);
        }
    }
    let mut rank = vec![usize::MAX; all.len()];
    for (number, at) in layers.iter().enumerate() {
        rank[*at] = number;
    }
    // Differences within a step are none.
    let step = |at: usize| (distance(at, all, is_exact) / COVERED).floor().max(0.0);
    let mut near: Vec<(f64, usize, usize)> = (0..all.len()).map(|at| (step(at), rank[at], at)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut order, mut is_taken) = (Vec::new(), vec![false; all.len()]);
    let turns = near.iter().enumerate().flat_map(|(number, (.., at))| [Some(at), layers.get(number)]);
    for at in first.iter().chain(turns.flatten()) {
        if !std::mem::replace(&mut is_taken[*at], true) {
            order.push(all[*at].0);
        }
    }
    order
}

/// For each metric that is not exact the point which is as good as the best, within 1 %, at the greatest exact value: a memory
/// that a short run does not fill costs more, and is of no use yet.
fn not_yet_better(all: &[(&Place, &Values)], is_exact: &[bool]) -> Vec<usize> {
    let those =
        |wanted: bool| is_exact.iter().enumerate().filter(move |(_, is)| **is == wanted).map(|(metric, _)| metric);
    let greatest = |(noisy, exact): (usize, usize)| {
        let best = all.iter().map(|(_, values)| values[noisy]).fold(f64::INFINITY, f64::min);
        let as_good = (0..all.len()).filter(|at| excess(all[*at].1[noisy], best) <= COVERED);
        let order = |at: &usize| (all[*at].1[exact], -all[*at].1[noisy]);
        as_good.reduce(|a, b| if order(&b) > order(&a) { b } else { a })
    };
    those(false).flat_map(|noisy| those(true).map(move |exact| (noisy, exact))).filter_map(greatest).collect()
}

/// What stands for the front of some: always the point that those before stand for worst (Teofilo F. Gonzalez, "Clustering to
/// minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985), until one of them is within 1 % of every
/// point of it.
fn stand_ins(all: &[(&Place, &Values)], some: &[usize]) -> Vec<usize> {
    let is_front = |at: &usize| !some.iter().any(|other| beats(all[*other].1, all[*at].1));
    let mut front: Vec<(usize, f64)> =
        some.iter().copied().filter(|at| is_front(at)).map(|at| (at, f64::INFINITY)).collect();
    let mut taken = Vec::new();
    while let Some((worst, loss_of_worst)) = front.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })
        && loss_of_worst > COVERED
    {
        taken.push(worst);
        for (at, least) in &mut front {
            *least = least.min(loss(all[worst].1, all[*at].1));
        }
    }
    taken
}

/// How much a point must gain in all metrics that are not exact to be better than every other one in one of them; those that are
/// no worse in an exact metric, within 1 %, are its rivals.
fn distance(at: usize, all: &[(&Place, &Values)], is_exact: &[bool]) -> f64 {
    let own = all[at].1;
    let behind = |(number, (_, other)): (usize, &(&Place, &Values))| {
        let mut least = f64::INFINITY;
        for ((own, other), is_exact) in own.iter().zip(*other).zip(is_exact) {
            let excess = excess(*own, *other);
            if *is_exact && excess < -COVERED {
                return None;
            }
            if !is_exact {
                least = least.min(excess);
            }
        }
        (number != at).then_some(least)
    };
    all.iter().enumerate().filter_map(behind).fold(f64::NEG_INFINITY, f64::max)
}

/// For each metric the share of pairs of one workload that the short run orders as the long one does; pairs that are equal in the
/// long one do not count. `None` if there is no other.
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
                if b.is_ne() {
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
        // a, b and e are the front: a is taken first, it stands for b worst; c is nearer to it than d, and the front of the rest.
        let noisy = [false, false];
        assert_eq!(names(&best_first(&cells, 5, &noisy)), "a b e c d");
        assert_eq!(names(&best_first(&cells, 2, &noisy)), "a b");
        let front: Vec<Place> =
            cells.iter().filter(|(p, v)| !is_beaten(p, v, &cells)).map(|(p, _)| p.clone()).collect();
        assert_eq!(names(&front), "a b e");
    }

    #[test]
    fn what_a_short_run_cannot_tell_apart_is_kept() {
        // The second metric is known exactly. At 8 three are within noise of each other, at 4 one is far ahead. In turns: b and c
        // are near, f is the second best at 4.
        let cells = all(&[
            ("w", "a", [100.0, 8.0]),
            ("w", "b", [100.5, 8.0]),
            ("w", "c", [102.0, 8.0]),
            ("w", "d", [200.0, 8.0]),
            ("w", "e", [150.0, 4.0]),
            ("w", "f", [190.0, 4.0]),
        ]);
        assert_eq!(names(&best_first(&cells, 6, &[false, true])), "a e b c f d");
        // Points of the front that another one stands for come behind those that none does.
        let near = all(&[("w", "a", [100.0, 8.0]), ("w", "b", [100.2, 7.99]), ("w", "c", [300.0, 1.0])]);
        assert_eq!(names(&best_first(&near, 3, &[false, false])), "a c b");
    }

    #[test]
    fn memory_that_a_short_run_does_not_fill_is_tried_behind_the_front() {
        // The second metric is known exactly. From 4 on a short run sees no difference; at 16 g is as good as any, h is not.
        let cells = all(&[
            ("w", "a", [100.0, 4.0]),
            ("w", "b", [120.0, 2.0]),
            ("w", "c", [120.1, 2.0]),
            ("w", "d", [120.2, 2.0]),
            ("w", "e", [100.0, 8.0]),
            ("w", "f", [100.1, 16.0]),
            ("w", "g", [100.0, 16.0]),
            ("w", "h", [140.0, 16.0]),
        ]);
        assert_eq!(names(&best_first(&cells, 3, &[false, true])), "a b g");
        // Without an exact metric nothing says which of them would need more than a short run.
        assert_eq!(names(&best_first(&cells, 3, &[false, false])), "a b c");
    }

    #[test]
    fn workloads_have_fronts_of_their_own() {
        let cells =
            all(&[("w", "a", [1.0, 1.0]), ("w", "b", [2.0, 2.0]), ("x", "c", [8.0, 8.0]), ("x", "d", [9.0, 9.0])]);
        assert_eq!(names(&best_first(&cells, 2, &[false, false])), "a c");
        let (place, values) = cells.iter().find(|(place, _)| place["buffer"] == "c").unwrap();
        assert!(!is_beaten(place, values, &cells));
    }

    #[test]
    fn agreement_counts_pairs_in_the_same_order() {
        let short = all(&[("w", "a", [1.0, 1.0]), ("w", "b", [2.0, 2.0]), ("w", "c", [3.0, 2.0])]);
        let long = all(&[("w", "a", [10.0, 1.0]), ("w", "b", [30.0, 3.0]), ("w", "c", [20.0, 2.0])]);
        // Of a < b < c the last pair is turned round; in the second metric the short run could not tell b from c.
        assert_eq!(agreement(&short, &long), [Some(2.0 / 3.0), Some(2.0 / 3.0)]);
        // What is equal in the end says nothing either.
        let equal = all(&[("w", "a", [10.0, 1.0]), ("w", "b", [10.0, 3.0])]);
        assert_eq!(agreement(&short, &equal), [None, Some(1.0)]);
        let alone = all(&[("w", "a", [1.0, 1.0])]);
        assert_eq!(agreement(&alone, &alone), [None, None], "nothing can be said of one");
    }
}
