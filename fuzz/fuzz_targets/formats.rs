//! Every format on any bytes, with every policy for times and volumes: the last byte chooses the policies, the one
//! before it the format, the rest is the file (so that traces can be the seeds).
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use nandlab::types::Nanos;
use nandlab_trace::{AddressPolicy, Options, Trace, Volumes, formats};

fuzz_target!(|input: &[u8]| {
    let [bytes @ .., choice, policies] = input else { return };
    let format = &formats()[usize::from(*choice) % formats().len()];
    let given = |bit: u8| policies >> bit & 1 == 1;
    let options = Options {
        format: Some(format.name.to_owned()),
        volumes: if given(0) { Volumes::Merge } else { Volumes::Reject },
        address: if given(1) { AddressPolicy::Modulo } else { AddressPolicy::Reject },
        capacity_sectors: Some(1 << 40),
        skip_bad: given(2).then_some(1_000),
        rebase: given(3).then_some(Nanos(1_000_000_000)),
        sort_window: given(4).then_some(16),
        cap_gap: given(5).then_some(Nanos(1_000_000)),
        limit: Some(100_000),
        ..Options::default()
    };
    let Ok(trace) = Trace::from_reader("fuzz", Cursor::new(bytes.to_vec()), &options) else { return };
    let mut before = None;
    for request in trace.map_while(Result::ok) {
        assert!(request.lba + u64::from(request.sectors) <= 1 << 40);
        assert!(before.is_none_or(|before| before <= request.at));
        before = Some(request.at);
    }
});
