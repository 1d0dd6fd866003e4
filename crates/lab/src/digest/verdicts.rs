//! The claims of an experiment with their verdicts, as tables.

use super::figures::{Data, Datum, Head, Shown};
use super::judge::{Condition, Judged, Verdict};
use super::metric::Metric;
use super::points::Points;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::table::{Cell, Column, Table, Unit};
use crate::text::plural;

/// Names of cases that are listed.
const FAILS: usize = 4;

/// The claims of an experiment, judged.
pub(super) struct Verdicts {
    /// A row for each claim.
    pub(super) summary: Data,
    /// How many are reproduced under every condition, under some, under none, and not tested.
    pub(super) sentence: String,
    /// For each claim that was tested what came out under every condition.
    pub(super) details: Vec<Shown>,
}

impl Verdicts {
    /// The claims of an experiment; `fill` puts the figures of cells into notes. Nothing if it has none.
    pub(super) fn of(
        experiment: &Experiment,
        points: &Points<'_>,
        metrics: &[Metric],
        fill: impl Fn(&str) -> Result<String, Error>,
    ) -> Result<Option<Self>, Error> {
        if experiment.claims.is_empty() {
            return Ok(None);
        }
        let judged = experiment.claims.iter().map(|claim| Judged::of(claim, points, metrics, &experiment.open));
        let judged: Vec<Judged<'_>> = judged.collect();
        let head = [
            "where",
            "claim",
            "printed",
            "measured, mean of all",
            "verdict",
            "cases that hold",
            "what decides",
            "note",
        ];
        let mut summary = Data { head: head.map(Head::name).to_vec(), rows: Vec::new() };
        for judged in &judged {
            let claim = judged.claim;
            let place = if claim.control { format!("{}, control", claim.place) } else { claim.place.clone() };
            let note = fill(&claim.note)?;
            let cells = [&place, &claim.claim, &claim.printed, &judged.measured, &judged.words(), &judged.cases()];
            let mut row: Vec<Datum> = cells.into_iter().map(|text| Datum::name(text)).collect();
            row.extend([Datum::name(&judged.decides(points).unwrap_or_default()), Datum::name(&note)]);
            summary.rows.push(row);
        }
        let details = judged.iter().enumerate().filter(|(_, judged)| !judged.conditions.is_empty());
        let details = details.map(|(number, judged)| details_of(number, judged)).collect();
        Ok(Some(Self { summary, sentence: sentence(&judged), details }))
    }

    /// The summary with names that programs use.
    pub(super) fn table(&self) -> Table {
        let names = ["place", "claim", "printed", "measured", "verdict", "cases", "decides", "note"];
        let cells = |row: &Vec<Datum>| row.iter().map(|datum| Cell::from(datum.text.as_str())).collect();
        Table {
            columns: names.map(|name| Column::plain(name, Unit::Text)).to_vec(),
            rows: self.summary.rows.iter().map(cells).collect(),
        }
    }
}

impl Judged<'_> {
    /// The verdict over all conditions, and under how many each is true.
    fn words(&self) -> String {
        let verdict = self.verdict();
        let all = self.conditions.len();
        if verdict != Verdict::Partly || all < 2 {
            return verdict.word().to_owned();
        }
        let count = |verdict| self.count(verdict);
        let (yes, no) = (count(Verdict::Reproduced), count(Verdict::Not));
        let words = [(yes, "reproduced"), (all - yes - no, "partly"), (no, "not")];
        let words = words.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{word} under {count}"));
        format!("partly: of {all} conditions {}", words.collect::<Vec<_>>().join(", "))
    }

    fn cases(&self) -> String {
        let sum = |number: fn(&Condition) -> usize| self.conditions.iter().map(number).sum::<usize>();
        if self.conditions.is_empty() { "-".to_owned() } else { format!("{} of {}", sum(|c| c.holds), sum(|c| c.of)) }
    }
}

/// How the claims of the paper came out; controls are not among them.
fn sentence(judged: &[Judged<'_>]) -> String {
    let own = || judged.iter().filter(|judged| !judged.claim.control);
    let count = |is: &dyn Fn(&Judged<'_>) -> bool| own().filter(|judged| is(judged)).count();
    let everywhere = count(&|j| j.verdict() == Verdict::Reproduced);
    let nowhere = count(&|j| j.verdict() == Verdict::Not);
    let untested = count(&|j| j.verdict() == Verdict::NotTested);
    let some = count(&|j| j.verdict() == Verdict::Partly && j.count(Verdict::Reproduced) > 0);
    let cases = own().count() - everywhere - nowhere - untested - some;
    let parts = [
        (everywhere, ["holds", "hold"], "in every case under every condition"),
        (some, ["holds", "hold"], "in every case under some conditions"),
        (cases, ["holds", "hold"], "in some cases only"),
        (nowhere, ["holds", "hold"], "in no case"),
        (untested, ["is", "are"], "not tested"),
    ];
    let parts = parts.iter().filter(|(count, ..)| *count > 0);
    let parts =
        parts.map(|(count, [one, more], words)| format!("{count} {} {words}", if *count == 1 { one } else { more }));
    format!("Of {} {}.", plural(own().count() as u64, "claim"), parts.collect::<Vec<_>>().join(", "))
}

fn details_of(number: usize, judged: &Judged<'_>) -> Shown {
    let claim = judged.claim;
    let head = ["condition", "verdict", "cases that hold", "cases that do not", "measured"];
    let row = |condition: &Condition| {
        let Condition { name, holds, of, fails, measured } = condition;
        let mut listed = fails.iter().take(FAILS).cloned().collect::<Vec<_>>().join("; ");
        if fails.len() > FAILS {
            listed += &format!(" and {}", plural((fails.len() - FAILS) as u64, "other"));
        }
        let name = if name.is_empty() { "the only one" } else { name };
        let verdict = Verdict::of(*holds, *of).word();
        [name, verdict, &format!("{holds} of {of}"), &listed, measured].map(Datum::name).to_vec()
    };
    let rows = judged.conditions.iter().map(row).collect();
    Shown {
        name: format!("claim-{}", number + 1),
        title: format!("{}: {}", claim.place, claim.claim),
        sentence: format!("Printed: {}.", claim.printed.trim_end_matches('.')),
        figure: None,
        data: Data { head: head.map(Head::name).to_vec(), rows },
        zoom: None,
        drawn: None,
    }
}
