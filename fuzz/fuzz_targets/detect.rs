//! Detection of format and compression, and whatever follows from it, on any bytes.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use nandlab_trace::{Options, Trace, Volumes};

fuzz_target!(|bytes: &[u8]| {
    let options = Options { volumes: Volumes::Merge, limit: Some(100_000), ..Options::default() };
    let Ok(trace) = Trace::from_reader("fuzz", Cursor::new(bytes.to_vec()), &options) else { return };
    assert!(trace.records().reason().starts_with("because "));
    trace.map_while(Result::ok).for_each(drop);
});
