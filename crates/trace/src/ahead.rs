//! What is known of files of a trace that are not open yet.

use crate::file::{Common, RecordFile};
use crate::row::Extra;

/// What the requests of such a file of our own form carry besides the rest: its beginning says so, or may not be looked at, as
/// that of a pipe, which has it once.
pub(crate) fn extra(name: &str, common: &Common) -> Extra {
    let is_file = std::fs::metadata(name).is_ok_and(|meta| meta.is_file());
    // What is wrong with it is said when it is read.
    let opened = is_file.then(|| RecordFile::open(name, common).ok()).flatten();
    opened.map_or(Extra::ALL, |file| file.extra())
}
