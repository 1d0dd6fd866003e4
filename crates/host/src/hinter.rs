//! Joins hints to the requests of a trace.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use nandlab::types::{Hint, Pattern};
use nandlab_trace::tools::{Counts, Flow, Tool};
use nandlab_trace::{Extra, FILE_PAGE_BYTES, Recording, TraceRecord};
use twox_hash::XxHash3_128;

use crate::indicator::Indicator;
use crate::lengths::{MappingLengths, RunFacts, RunLengths};
use crate::patterns::{FileAccess, Patterns};

/// Hints as the controls of an experiment want them.
#[derive(Clone, Debug)]
pub enum HintControl {
    /// Patterns, locations and periods, no lengths.
    Patterns,
    /// Lengths only: every request is said to be sequential, so that nothing else tells them apart.
    Lengths,
    /// The lengths that runs turn out to have, in place of those that are expected: pages of each request in the order of the
    /// trace, and how many are announced at most.
    Actual(Vec<u32>, u32),
    /// The hint of another request: one for each request of the trace, in its order.
    Shuffled(Vec<Hint>),
}

impl HintControl {
    /// The hints of a trace in an order that the seed decides.
    pub fn shuffled(mut hints: Vec<Hint>, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..hints.len()).collect();
        order.sort_by_cached_key(|at| XxHash3_128::oneshot_with_seed(seed, &(*at as u64).to_le_bytes()));
        hints = order.into_iter().map(|at| hints[at]).collect();
        Self::Shuffled(hints)
    }

    /// What is told in place of a hint of the request with this number.
    fn told(&self, number: u64, hint: Hint) -> Hint {
        match self {
            Self::Patterns => Hint { run_pages: 0, mappings: 0, ..hint },
            Self::Lengths => Hint { pattern: Pattern::Sequential, period: 0, ..hint },
            Self::Actual(pages, longest) => {
                let actual = usize::try_from(number).ok().and_then(|at| pages.get(at).copied()).unwrap_or(0);
                Hint { run_pages: if hint.run_pages == 0 { 0 } else { actual.min(*longest) }, ..hint }
            }
            Self::Shuffled(hints) => {
                usize::try_from(number).ok().and_then(|at| hints.get(at).copied()).unwrap_or_default()
            }
        }
    }
}

/// Gives every request of a trace the hint that a host would have given, which knows the requests before it.
///
/// The location is the PC of the call stack; without one it is the PC that the trace says, if any. The place is page and file;
/// without a file it is the address on the device.
#[derive(Clone, Debug)]
pub struct Hinter {
    indicator: Indicator,
    recording: Recording,
    patterns: Patterns,
    runs: RunLengths,
    lengths: Option<MappingLengths>,
    control: Option<HintControl>,
    /// Requests so far.
    seen: u64,
    pcs: HashMap<u32, u32, FixedState>,
    hinted: BTreeMap<Pattern, u64>,
    unknown: u64,
    /// Of requests whose pattern the trace said before: that one and ours.
    compared: BTreeMap<(Pattern, Pattern), u64>,
}

/// A letter of a pattern as traces have it.
fn word(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Sequential => "sequential",
        Pattern::Looping => "looping",
        Pattern::ClusteredHot => "clustered",
        Pattern::Random => "random",
    }
}

impl Hinter {
    /// For a trace with these call stacks.
    pub fn new(indicator: Indicator, recording: Recording, patterns: Patterns) -> Self {
        let (pcs, hinted, compared) = (HashMap::default(), BTreeMap::new(), BTreeMap::new());
        let runs = RunLengths::default();
        Self {
            indicator,
            recording,
            patterns,
            runs,
            lengths: None,
            control: None,
            seen: 0,
            pcs,
            hinted,
            unknown: 0,
            compared,
        }
    }

    /// Also says how many mappings the run of each request will need.
    #[must_use]
    pub fn with_lengths(self, lengths: MappingLengths) -> Self {
        Self { lengths: Some(lengths), ..self }
    }

    /// Tells something else than it knows.
    #[must_use]
    pub fn with_control(self, control: HintControl) -> Self {
        Self { control: Some(control), ..self }
    }

    /// The hint of the next request, and what is known of its run on the device.
    pub fn look(&mut self, record: &TraceRecord) -> (Hint, Option<RunFacts>) {
        let pc = self.pc(record);
        let origin = record.origin;
        let (file, offset) = match origin.file {
            // Numbers of devices and of files may meet, in different traces only.
            0 => (record.device, record.offset),
            file => (file, u64::from(origin.file_page) * FILE_PAGE_BYTES + record.offset % FILE_PAGE_BYTES),
        };
        let mut hint = self.patterns.see(&FileAccess { pc, file, offset, length: u64::from(record.length) });
        let facts = self.runs.see(pc, record);
        if let (Some(lengths), Some(facts)) = (&self.lengths, &facts) {
            hint.mappings = lengths.mappings(self.seen, facts, hint.pattern);
        }
        if let Some(control) = &self.control {
            hint = control.told(self.seen, hint);
        }
        self.seen += 1;
        (hint, facts)
    }

    /// The location of a request.
    fn pc(&mut self, record: &TraceRecord) -> u32 {
        let (stack, recording, indicator) = (record.origin.stack, &self.recording, self.indicator);
        let of_stack = |stack| recording.stack(stack).map_or(0, |frames| indicator.pc(frames, recording));
        match *self.pcs.entry(stack).or_insert_with(|| of_stack(stack)) {
            0 => record.hint.pc,
            pc => pc,
        }
    }
}

impl Tool for Hinter {
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String> {
        let (hint, _) = self.look(record);
        if hint.pc == 0 {
            self.unknown += 1;
        } else {
            *self.hinted.entry(hint.pattern).or_default() += 1;
            if record.hint.pc != 0 {
                *self.compared.entry((record.hint.pattern, hint.pattern)).or_default() += 1;
            }
        }
        out.push(TraceRecord { hint, ..*record });
        Ok(Flow::More)
    }

    fn adds(&self) -> Extra {
        Extra { mappings: self.lengths.is_some(), ..Extra::HINTS }
    }

    fn counts(&self) -> Counts {
        let hinted = self.hinted.iter().map(|(pattern, n)| (format!("hinted_{}", word(*pattern)), *n));
        let compared = self.compared.iter();
        let compared = compared.map(|((said, ours), n)| (format!("said_{}_hinted_{}", word(*said), word(*ours)), *n));
        let unknown = (self.unknown > 0).then(|| ("without_program_location".to_owned(), self.unknown));
        hinted.chain(compared).chain(unknown).collect()
    }
}
