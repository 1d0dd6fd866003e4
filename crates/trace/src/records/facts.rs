//! What a trace says about itself, and what is assumed where it says nothing.

use super::Records;
use crate::file::RecordFile;
use crate::provenance::Step;
use crate::recording::Recording;
use crate::row::Extra;
use crate::unit::TimeUnit;

impl Records {
    /// Why this format: a clause that begins with "because".
    pub fn reason(&self) -> &str {
        &self.reason
    }
    /// The tools that made the trace, as far as it says. Text that comes through a pipe says what the tools counted
    /// after its last row only: then this changes at the end.
    pub fn steps(&self) -> Vec<Step> {
        let open = self.files.iter().flatten().flat_map(|file| file.about().steps.iter());
        self.past_about.steps.iter().chain(open).cloned().collect()
    }
    /// The files and call stacks that its requests name. Text says so after its last row: then this changes at the end.
    pub fn recording(&self) -> Recording {
        let mut all = self.past_about.recording.clone();
        self.files.iter().flatten().for_each(|file| all.join(&file.about().recording));
        all
    }
    /// What requests carry besides the rest, or may do so in a file that is not open yet.
    pub fn extra(&self) -> Extra {
        let open = self.files.iter().flatten().map(RecordFile::extra);
        open.fold(self.past_about.extra.or(self.later_extra), Extra::or)
    }
    /// Unit of the times, if that is a guess.
    pub fn guessed_unit(&self) -> Option<TimeUnit> {
        self.guessed_unit
    }
    /// What is assumed about its first file because nothing says it, and what to do if that is wrong: a sentence.
    pub fn assumed(&self) -> Option<&str> {
        self.past_about.assumed.as_deref()
    }
}
