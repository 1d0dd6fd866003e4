//! The paper of URM: one RAM for map and data.

use nandlab::report::Report;

use super::figures::{Figures, change, hits, is_greatest, is_least, list, mean, response, tables};
use super::verdict::{Judged, Judges};
use crate::error::Error;
use crate::experiment::Cells;

pub(super) const JUDGES: Judges = Judges::of(&[
    ("hits", judge_hits),
    ("hits-small", small_hits),
    ("multi2", multi2),
    ("response", |cells| judge_response(cells, Reach::Preset)),
    ("multi3", multi3),
    ("hits-near", near_hits),
    ("response-near", |cells| judge_response(cells, Reach::Near)),
    ("attribution", attribution),
]);

const BUFFERS: [&str; 4] = ["CFLRU", "BPLRU", "VBBMS", "URM"];
const WORKLOADS: [&str; 4] = ["Multi1", "Multi2", "Multi3", "Multi4"];
/// RAM of the paper in MB: the smallest, the quoted and the largest.
const SIZES: [u32; 3] = [33, 43, 48];

/// How large loops and hot places are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// As the presets choose them, which the paper does not print: loops of 64 MiB, hot pages spread over 4 GiB.
    Preset,
    /// Loops of 16 MiB and hot pages in 512 MiB.
    Near,
}

impl Reach {
    /// RAM sizes that are tested.
    const fn sizes(self) -> &'static [u32] {
        match self {
            Self::Preset => &SIZES,
            Self::Near => &[33, 43],
        }
    }

    /// The workload of the preset with this reach.
    fn workload(self, preset: &str) -> String {
        format!("{preset}{}", if self == Self::Near { "-near" } else { "" })
    }
}

type Figure = fn(&Report) -> f64;

/// A figure of the policies: URM shares the RAM with its compressed map, the others have what the plain map leaves.
fn of(cells: &Cells, preset: &str, megabytes: u32, reach: Reach, figure: Figure) -> Result<Figures, Error> {
    let workload = reach.workload(preset);
    let cell = |buffer: &str| match buffer {
        "URM" => format!("{workload}/URM/urm-map/{megabytes}MB-shared"),
        _ => format!("{workload}/{buffer}/page/{megabytes}MB"),
    };
    BUFFERS.into_iter().map(|buffer| Ok((buffer, figure(cells.get(&cell(buffer))?)))).collect()
}

/// The same of every workload.
fn by_workload(cells: &Cells, megabytes: u32, reach: Reach, figure: Figure) -> Result<Vec<Figures>, Error> {
    WORKLOADS.into_iter().map(|preset| of(cells, preset, megabytes, reach, figure)).collect()
}

/// The same of every workload with every RAM.
fn all(cells: &Cells, reach: Reach, figure: Figure) -> Result<Vec<Figures>, Error> {
    let sizes = reach.sizes().iter().map(|size| by_workload(cells, *size, reach, figure));
    Ok(sizes.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Change of URM against the others, in percent.
fn against(values: &[(&'static str, f64)]) -> Figures {
    values[..3].iter().map(|(name, other)| (*name, change(*other, values[3].1))).collect()
}

/// In which cells URM hits most.
fn best_hits(cells: &Cells, reach: Reach) -> Result<Vec<bool>, Error> {
    Ok(all(cells, reach, hits)?.iter().map(|values| is_greatest(values, "URM")).collect())
}
fn count(conditions: &[bool]) -> String {
    format!("{} of {}", conditions.iter().filter(|holds| **holds).count(), conditions.len())
}

fn judge_hits(cells: &Cells) -> Judged {
    let best = best_hits(cells, Reach::Preset)?;
    let [small, quoted, large] = SIZES.map(|size| by_workload(cells, size, Reach::Preset, hits));
    let (small, quoted, large) = (small?, quoted?, large?);
    let rise = |(t, b): (usize, usize)| [&small, &quoted, &large].map(|values| values[t][b].1).is_sorted();
    let rises = (0..4).flat_map(|t| (0..4).map(move |b| (t, b))).all(rise);
    let measured = format!(
        "rises: {}; URM best {}; 43 MB: {} %",
        if rises { "always" } else { "not always" },
        count(&best),
        tables(&WORKLOADS, &quoted, 2)
    );
    Ok((measured, vec![rises, best.iter().all(|best| *best)]))
}

fn small_hits(cells: &Cells) -> Judged {
    let values = by_workload(cells, 33, Reach::Preset, hits)?;
    let below = |(t, v): (usize, &Figures)| if t == 3 { v[1].1 >= v[0].1 } else { v[1].1 < v[0].1 };
    Ok((tables(&WORKLOADS, &values, 2), values.iter().enumerate().map(below).collect()))
}

fn multi2(cells: &Cells) -> Judged {
    let values = of(cells, "Multi2", 43, Reach::Preset, hits)?;
    let gains = against(&values).iter().map(|(_, gain)| *gain > 0.0).collect();
    Ok((format!("{} %", list(&values, 2)), gains))
}

fn judge_response(cells: &Cells, reach: Reach) -> Judged {
    let values = all(cells, reach, response)?;
    let fastest: Vec<bool> = values.iter().map(|values| is_least(values, "URM")).collect();
    let mean = mean(values.iter().flat_map(|values| against(values)).map(|(_, change)| change));
    let quoted = tables(&WORKLOADS, &by_workload(cells, 43, reach, response)?, 0);
    Ok((format!("{}; mean {mean:+.1} %; 43 MB, us: {quoted}", count(&fastest)), fastest))
}

fn multi3(cells: &Cells) -> Judged {
    let changes = against(&of(cells, "Multi3", 43, Reach::Preset, response)?);
    Ok((format!("{} %", list(&changes, 1)), changes.iter().map(|(_, change)| *change < 0.0).collect()))
}

/// With loops and hot pages that fit.
fn near_hits(cells: &Cells) -> Judged {
    let best = best_hits(cells, Reach::Near)?;
    let quoted = tables(&WORKLOADS, &by_workload(cells, 43, Reach::Near, hits)?, 2);
    Ok((format!("URM best {}; 43 MB: {quoted} %", count(&best)), best))
}

/// The control is URM's buffer over page mapping, with the RAM of the baselines.
fn attribution(cells: &Cells) -> Judged {
    let (mut texts, mut holds) = (Vec::new(), Vec::new());
    for preset in WORKLOADS {
        let values = of(cells, preset, 33, Reach::Near, hits)?;
        let (cflru, urm) = (values[0].1, values[3].1);
        let control = hits(cells.get(&format!("{}/URM/page/33MB", Reach::Near.workload(preset)))?);
        texts.push(format!("{preset}: CFLRU {cflru:.2}, control {control:.2}, URM {urm:.2}"));
        holds.push(control - cflru < 0.5 * (urm - cflru));
    }
    Ok((texts.join("; "), holds))
}
