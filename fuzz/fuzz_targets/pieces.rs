//! Does it show in how many pieces the bytes of a trace arrive? Rows, places and the error are compared between the whole
//! and pieces; the last byte chooses the format, the one before it the size of the pieces.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use nandlab_trace::{Options, Place, Records, TraceRecord, formats};

/// Gives at most that many bytes at a time.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = out.len().min(self.1);
        self.0.read(&mut out[..most])
    }
}

/// Each row with its place, and how it ended.
fn read(bytes: &[u8], piece: usize, options: &Options) -> (Vec<(TraceRecord, Place)>, String) {
    let reader = Pieces(Cursor::new(bytes.to_vec()), piece);
    let mut rows = Vec::new();
    let mut records = match Records::from_reader("fuzz", reader, options) {
        Ok(records) => records,
        Err(error) => return (rows, error.to_string()),
    };
    while rows.len() < 100_000 {
        match records.next() {
            Some(Ok(record)) => rows.push((record, records.place())),
            Some(Err(error)) => return (rows, error.to_string()),
            None => return (rows, format!("{:?}", records.steps())),
        }
    }
    (rows, "too many".to_owned())
}

fuzz_target!(|input: &[u8]| {
    let [bytes @ .., piece, choice] = input else { return };
    let format = formats()[usize::from(*choice) % formats().len()].name.to_owned();
    let skip_bad = (piece % 2 == 1).then_some(100);
    let options = Options { format: Some(format), skip_bad, ..Options::default() };
    let whole = read(bytes, usize::MAX, &options);
    assert_eq!(whole, read(bytes, 1 + usize::from(*piece) * 16, &options));
});
