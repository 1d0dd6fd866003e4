//! Refuses claims and figures about what is not there, and tests that say nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Axis, Claim, ClaimTest, Experiment, ExperimentFigure, PlacedRun, unknown};
use crate::digest::{SEED, compared};
use crate::error::Error;
use crate::text;

/// The axes of an experiment with their values.
struct Axes<'e> {
    all: Vec<Axis<'e>>,
    /// The one whose values are compared where nothing else is said.
    compared: Option<&'e str>,
}

impl Axes<'_> {
    fn values(&self, key: &str, axis: &str) -> Result<&[String], Error> {
        let known = self.all.iter().find(|(name, _)| *name == axis).map(|(_, values)| values.as_slice());
        known.ok_or_else(|| unknown(key, axis, self.all.iter().map(|(name, _)| *name)))
    }

    fn is_value(&self, key: &str, axis: &str, value: &str) -> Result<(), Error> {
        let known = self.values(key, axis)?;
        let is_known = known.iter().any(|known| known == value);
        if is_known { Ok(()) } else { Err(unknown(&format!("{key}.{axis}"), value, known)) }
    }

    /// Values by axes.
    fn are_cells(&self, key: &str, cells: &BTreeMap<String, Vec<String>>) -> Result<(), Error> {
        let mut listed = cells.iter().flat_map(|(axis, values)| values.iter().map(move |value| (axis, value)));
        listed.try_for_each(|(axis, value)| self.is_value(&format!("{key}: where"), axis, value))
    }

    /// An axis along which a metric can go, of these cells: its values are numbers, no two alike.
    fn is_along(&self, key: &str, along: &str, cells: &BTreeMap<String, Vec<String>>) -> Result<(), Error> {
        let all = self.values(key, along)?;
        let mut places: BTreeMap<u64, &str> = BTreeMap::new();
        for value in cells.get(along).map_or(all, Vec::as_slice) {
            let (place, is_number) = text::place(value);
            // No place is -0.
            if !is_number || places.insert((place + 0.0).to_bits(), value).is_some_and(|other| other != value) {
                let problem = format!("{key}: `{along}` is no axis of different numbers: it has `{value}`");
                let help = format!(
                    "take one whose values are, or begin with, numbers or sizes, or name those that are meant: \
                     where = {{ {along} = [...] }}"
                );
                return Err(Error::input(problem, help));
            }
        }
        Ok(())
    }
}

impl Experiment {
    /// Refuses claims and figures about what is not there, and tests that say nothing.
    pub(super) fn check_claims(&self, cells: &[PlacedRun]) -> Result<(), Error> {
        let all = self.axes()?;
        // As a report has it: of the values that cells have.
        let mut used: BTreeMap<&str, BTreeSet<&String>> = BTreeMap::new();
        for (axis, value) in cells.iter().flat_map(|cell| &cell.values) {
            used.entry(axis).or_default().insert(value);
        }
        let of_cells = |(axis, values): &Axis<'_>| -> Vec<String> {
            let used = used.get(axis);
            values.iter().filter(|value| used.is_some_and(|used| used.contains(value))).cloned().collect()
        };
        let values: Vec<Vec<String>> = all.iter().map(of_cells).collect();
        let named: Vec<_> = all.iter().map(|(axis, _)| *axis).zip(values.iter().map(Vec::as_slice)).collect();
        let compared = compared(&named.into_iter().filter(|(axis, _)| *axis != SEED).collect::<Vec<_>>());
        let axes = Axes { all, compared };
        self.open.iter().try_for_each(|axis| axes.values("open", axis).map(|_| ()))?;
        self.figures
            .iter()
            .try_for_each(|(name, figure)| self.check_figure(&format!("figures.{name}"), figure, &axes))?;
        self.claims.iter().try_for_each(|claim| self.check_claim(&format!("claims: {}", claim.place), claim, &axes))
    }

    fn check_figure(&self, key: &str, figure: &ExperimentFigure, axes: &Axes<'_>) -> Result<(), Error> {
        axes.are_cells(key, &figure.cells)?;
        for axis in [&figure.axis, &figure.x].into_iter().flatten() {
            axes.values(key, axis)?;
        }
        figure.check_times().map_err(|error| error.at(key))?;
        if figure.times.is_none() {
            self.check_metric(key, &figure.metric)?;
        }
        let Some(axis) = figure.axis.as_deref().or(axes.compared) else { return Ok(()) };
        if let Some(relative) = figure.relative.as_ref().filter(|name| !["best", "worst"].contains(&name.as_str())) {
            axes.is_value(&format!("{key}: relative"), axis, relative)?;
        }
        let key = format!("{key}: values");
        for name in figure.values.keys() {
            axes.is_value(&key, axis, name.split('/').next().unwrap_or_default())?;
            let (None, Some((_, place))) = (&figure.times, name.split_once('/')) else { continue };
            let x = figure.x.as_deref().ok_or_else(|| {
                Error::input(
                    format!("{key}: `{name}` has a place, and the figure no x"),
                    "name the axis, as in x = \"ram\"",
                )
            })?;
            axes.is_value(&key, x, place)?;
        }
        Ok(())
    }

    fn check_claim(&self, key: &str, claim: &Claim, axes: &Axes<'_>) -> Result<(), Error> {
        let Some(test) = &claim.test else { return Ok(()) };
        if claim.metric.is_empty() {
            let problem = format!("{key}: `{}` has a test and no metric", claim.claim);
            return Err(Error::input(problem, "name one: metric = \"mean\""));
        }
        self.check_metric(key, &claim.metric)?;
        axes.are_cells(key, &claim.cells)?;
        let Some(axis) = claim.axis.as_deref().or(axes.compared) else {
            return Err(Error::input(format!("{key}: nothing says what is compared"), "name an axis"));
        };
        test.check().map_err(|error| error.at(key))?;
        let all = axes.values(key, axis)?.len();
        if all < 2 {
            let problem = format!("{key}: `{axis}` has one value, so that nothing is compared");
            return Err(Error::input(problem, "name another axis, or add a value"));
        }
        if let ClaimTest::First { value, rank, among, .. } = test {
            let named: BTreeSet<&String> = among.iter().chain([value]).collect();
            let compared = if among.is_empty() { claim.cells.get(axis).map_or(all, Vec::len) } else { named.len() };
            if *rank >= compared {
                let problem = format!("{key}: test.first: of {compared} value(s) any is among the first {rank}");
                return Err(Error::input(problem, "give a smaller `rank`, or compare more values"));
            }
        }
        test.values().into_iter().try_for_each(|value| axes.is_value(key, axis, value))?;
        test.along().map_or(Ok(()), |along| axes.is_along(key, along, &claim.cells))?;
        if let ClaimTest::Crossing { along, at, .. } = test { axes.is_value(key, along, at) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = 'a'\n[workloads.w]\n[buffers]\nLRU = 'lru'\nFIFO = 'fifo'\nNONE = 'none'\n\
                        [axes.pace]\nslow = []\nquick = []\n[axes.ram]\n1MiB = []\n1024KiB = []\n2MiB = []\n";

    fn problem(more: &str) -> String {
        let error = Experiment::read("a.toml", &format!("{TEXT}{more}")).err();
        error.map_or_else(String::new, |error| format!("{error} {}", error.help()))
    }

    #[test]
    fn test_that_says_nothing_is_refused() {
        for (test, words) in [
            ("first = { value = 'LRU', rank = 0 }", "`rank` is 1 or more"),
            ("first = { value = 'LRU', rank = 3 }", "of 3 value(s) any is among the first 3"),
            ("first = { value = 'LRU', within = -5.0 }", "`within` 0 or more"),
            ("order = { values = ['LRU'] }", "two values at least, the best first"),
            ("inside = { values = ['LRU', 'FIFO'] }", "three values at least"),
            ("change = { of = 'LRU', from = { FIFO = 0.0 } }", "which is not 0"),
            ("change = { of = 'LRU', from = {} }", "name others"),
            ("between = { low = 2.0, high = 1.0 }", "`low` is not above `high`"),
            ("between = { low = nan, high = 1.0 }", "`low` is not above `high`"),
            ("ratios = { of = { LRU = 1.0 }, within = 1.0 }", "two values at least"),
            ("ratios = { of = { LRU = 1.0, FIFO = 0.0 }, within = 1.0 }", "shares other than 0"),
            ("along = { along = 'pace', way = 'rises' }", "`pace` is no axis of different numbers: it has `"),
            ("along = { along = 'ram', way = 'rises' }", "`ram` is no axis of different numbers: it has `1MiB`"),
            ("last = { value = 'LRU', among = ['LRU'] }", "the test compares a value with itself"),
            ("order = { values = ['LRU', 'LRU'] }", "compares a value with itself"),
            ("inside = { values = ['LRU', 'FIFO', 'LRU'] }", "compares a value with itself"),
            ("change = { of = 'LRU', from = { LRU = 1.0 } }", "compares a value with itself"),
            ("crossing = { of = 'LRU', with = 'LRU', along = 'pace', at = 'slow' }", "compares a value with itself"),
            ("first = { value = 'LRU' }", ""),
        ] {
            let claim = format!("[[claims]]\nplace = 'p'\nclaim = 'c'\nprinted = ''\nmetric = 'mean'\ntest.{test}\n");
            let said = problem(&claim);
            assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{test}: {said}");
            assert!(words.is_empty() || said.contains("claims: p"), "{test}: {said}");
            let here = problem(&format!("{claim}where = {{ ram = ['1MiB', '2MiB'] }}\n"));
            assert_eq!(here.is_empty(), words.is_empty() || test.contains("'ram'"), "{test}: {here}");
        }
        let one = "[[claims]]\nplace = 'p'\nclaim = 'c'\nprinted = ''\nmetric = 'mean'\naxis = 'workload'\n\
                   test.between = { low = 0.0, high = 1.0 }\n";
        assert!(problem(one).contains("claims: p: `workload` has one value, so that nothing is compared"));
    }

    #[test]
    fn axis_that_a_report_compares_needs_no_name() {
        let text = "name = 'a'\n[workloads.w]\n[axes.ram]\n1MiB = []\n2MiB = []\n";
        let problem = |more: &str| {
            let error = Experiment::read("a.toml", &format!("{text}{more}")).err();
            error.map_or_else(String::new, |error| error.to_string())
        };
        let figure = "[figures.f]\ntitle = 't'\nprinted = ''\nmetric = 'mean'\n";
        let claim = "[[claims]]\nplace = 'p'\nclaim = 'c'\nprinted = ''\nmetric = 'mean'\n";
        for (more, words) in [
            (format!("{figure}values = {{ 2MiB = 1.0 }}\n"), ""),
            (format!("{figure}values = {{ 3MiB = 1.0 }}\n"), "figures.f: values.ram: there is no `3MiB`"),
            (format!("{figure}relative = 'best1'\n"), "figures.f: relative.ram: there is no `best1`"),
            (format!("{claim}test.first = {{ value = '2MiB' }}\n"), ""),
            (format!("{claim}test.first = {{ value = '3MiB' }}\n"), "there is no `3MiB`"),
            // Of the axis that is not a scale if all its values count.
            (
                format!(
                    "default = []\n[axes.pace]\nslow = []\nquick = []\n{figure}values = {{ slow = 1.0 }}\n[[cells]]\n\
                     ram = ['1MiB', '2MiB']\n"
                ),
                "",
            ),
        ] {
            let said = problem(&more);
            assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{more}: {said}");
        }
    }

    #[test]
    fn printed_value_of_no_place_is_refused() {
        let figure =
            |more: &str| problem(&format!("[figures.f]\ntitle = 't'\nprinted = ''\nmetric = 'mean'\n{more}\n"));
        assert_eq!(figure("x = 'ram'\nvalues = { 'LRU/2MiB' = 1.0, FIFO = 2.0 }"), "");
        assert!(
            figure("x = 'ram'\nvalues = { 'LRU/3MiB' = 1.0 }").contains("figures.f: values.ram: there is no `3MiB`")
        );
        assert!(figure("values = { 'LRU/2MiB' = 1.0 }").contains("`LRU/2MiB` has a place, and the figure no x"));
    }
}
