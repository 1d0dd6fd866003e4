//! The models of LearnedFTL: of all slopes and pieces the best, by trying.

use std::collections::BTreeMap;

use nandlab::types::Ppn;

use super::LOGICAL;

/// The models of LearnedFTL with a single frontier: a piece is (its first page, place of that, slope).
#[derive(Default)]
pub struct Learned {
    pub pieces: usize,
    pub models: BTreeMap<u32, Vec<(u32, i64, i64)>>,
    /// By page; empty before the first access.
    pub exact: Vec<bool>,
}

impl Learned {
    /// Where a model sees a page.
    fn place(model: &[(u32, i64, i64)], lpn: u32) -> Option<i64> {
        let (first, base, slope) = model.iter().rev().find(|(first, _, _)| *first <= lpn)?;
        Some(base + (i64::from(lpn - first) * slope).div_euclid(65536))
    }

    /// The least slope that is exact for pages that all are mapped, if there is one.
    fn slope(pages: &[u32], places: &[Ppn]) -> Option<i64> {
        let place = |lpn: u32| i64::from(places[lpn as usize].0);
        let exact = |slope: i64| {
            pages.iter().all(|lpn| Self::place(&[(pages[0], place(pages[0]), slope)], *lpn) == Some(place(*lpn)))
        };
        // Every page bounds the slope from below; the largest of these bounds is the least slope, if any is exact.
        let bounds = pages[1..].iter().map(|lpn| {
            let (run, rise) = (i64::from(lpn - pages[0]), place(*lpn) - place(pages[0]));
            (rise * 65536).div_euclid(run) + i64::from((rise * 65536).rem_euclid(run) > 0)
        });
        Some(bounds.max().unwrap_or(65536)).filter(|slope| exact(*slope))
    }

    pub fn train(&mut self, tp: u32, entries_per_tp: u32, places: &[Ppn]) {
        let range = tp * entries_per_tp..((tp + 1) * entries_per_tp).min(LOGICAL);
        let mut pages: &[u32] = &range.clone().collect::<Vec<_>>();
        let mut found = Vec::new();
        while !pages.is_empty() {
            let most = (1..=pages.len()).take_while(|n| Self::slope(&pages[..*n], places).is_some()).count();
            let slope = Self::slope(&pages[..most], places).expect("one page always lies on a line");
            found.push((most, (pages[0], i64::from(places[pages[0] as usize].0), slope)));
            pages = &pages[most..];
        }
        while found.len() > self.pieces {
            // The shortest goes, the last of several.
            let (at, _) = found.iter().enumerate().rev().min_by_key(|(_, piece)| piece.0).expect("not empty");
            found.remove(at);
        }
        let learned = found.into_iter().map(|(_, piece)| piece).collect::<Vec<_>>();
        let hits = |model: &[(u32, i64, i64)]| {
            let exact = |lpn: u32| Self::place(model, lpn) == Some(i64::from(places[lpn as usize].0));
            range.clone().map(exact).collect::<Vec<_>>()
        };
        let count = |model: &[(u32, i64, i64)]| hits(model).iter().filter(|hit| **hit).count();
        let model = self.models.entry(tp).or_default();
        if count(&learned) > count(model) {
            *model = learned;
        }
        let hits = hits(model);
        self.exact[range.start as usize..range.end as usize].copy_from_slice(&hits);
    }
}
