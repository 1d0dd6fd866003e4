//! What is known of files of a trace that are not open yet.

use crate::error::TraceError;
use crate::file::{Common, RecordFile};
use crate::generators::PREFIX;
use crate::row::Extra;

/// What the requests of such files of our own form carry besides the rest: the beginning of each says so, or may not be looked
/// at, as that of a pipe, which has it once.
pub(crate) fn extra(names: &[String], common: &Common) -> Extra {
    let of = |name: &String| {
        let may_be_opened = name.starts_with(PREFIX) || std::fs::metadata(name).is_ok_and(|meta| meta.is_file());
        match may_be_opened.then(|| RecordFile::open(name, common)) {
            Some(Ok(file)) => file.extra(),
            Some(Err(TraceError::Empty { .. })) => Extra::NONE,
            // What is wrong with it is said when it is read.
            Some(Err(_)) | None => Extra::ALL,
        }
    };
    names.iter().map(of).fold(Extra::NONE, Extra::or)
}
