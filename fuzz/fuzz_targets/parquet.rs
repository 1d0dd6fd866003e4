//! Any bytes as a Parquet file: it is opened, read as recorded with bad rows skipped, and read for replay.
//!
//! Panics of the Parquet library that are caught and reported as damage are no findings: the hook that ends the fuzzer
//! passes over them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use nandlab_trace::{AddressPolicy, Options, Records, Trace, Volumes, is_guarded};

/// Parquet is read from files only: one for each process that fuzzes.
static PATH: LazyLock<String> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("nandlab-fuzz-{}.parquet", std::process::id()));
    path.into_os_string().into_string().expect("the folder for temporary files has a name in UTF-8")
});

fn pass_over_guarded_panics() {
    let end = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_guarded() {
            end(panic);
        }
    }));
}

fuzz_target!(init: pass_over_guarded_panics(), |bytes: &[u8]| {
    std::fs::write(&*PATH, bytes).expect("the folder for temporary files can be written");
    let options = Options {
        format: Some("parquet".to_owned()),
        skip_bad: Some(1_000),
        limit: Some(100_000),
        volumes: Volumes::Merge,
        address: AddressPolicy::Modulo,
        capacity_sectors: Some(1 << 40),
        ..Options::default()
    };
    if let Ok(records) = Records::open(&PATH, &options) {
        records.take(100_000).map_while(Result::ok).for_each(drop);
    }
    if let Ok(trace) = Trace::open(&PATH, &options) {
        let within = |request: nandlab::types::HostRequest| request.lba + u64::from(request.sectors) <= 1 << 40;
        assert!(trace.map_while(Result::ok).all(within));
    }
});
