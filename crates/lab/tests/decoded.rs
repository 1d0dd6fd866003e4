//! Decoded traces: a run on one gives what a run on the file gives, errors included.

use std::path::Path;

use nandlab_lab::{Address, AddressUnit, Decoded, Device, Run, Watch, Workload};
use nandlab_trace::Volumes;

/// The report without what differs between two runs, or the error.
fn outcome(run: &Run) -> Result<String, String> {
    let mut report = run.report(&Watch::default()).map_err(|error| error.to_string())?;
    report.wall = None;
    Ok(serde_json::to_string(&report).unwrap())
}

fn traces() -> Vec<String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures");
    let mut traces: Vec<String> = std::fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    traces.sort();
    traces.extend(["make:zipf:theta=0.9:span=8MiB".to_owned(), "make:oltp".to_owned()]);
    traces
}

#[test]
fn decoded_trace_is_replayed_as_the_file_is() {
    let addresses =
        [Address::Reject, Address::Modulo, Address::Compact(AddressUnit::Block), Address::Compact(AddressUnit::Page)];
    let mut runs = 0;
    for trace in traces() {
        let decoded = Decoded::up_to(1 << 26);
        for address in addresses {
            for volumes in [Volumes::Reject, Volumes::Stack, Volumes::Merge] {
                for (capacity, seed) in [("256", 1), ("32", 2)] {
                    let blocks = format!("device.geometry.blocks_per_plane={capacity}");
                    let set = vec!["precondition=none".into(), format!("seed={seed}"), blocks];
                    let device = Device { set, ..Device::of("lab") };
                    let streamed = Workload { address, volumes, limit: Some(500), ..Workload::of(&trace) };
                    let kept = Workload { decoded: decoded.clone(), ..streamed.clone() };
                    let streamed = outcome(&Run { device: device.clone(), workload: streamed });
                    let kept = outcome(&Run { device, workload: kept });
                    assert_eq!(streamed, kept, "{trace} {address:?} {volumes:?} {capacity}");
                    runs += usize::from(kept.is_ok());
                }
            }
        }
        assert!(decoded.reads() > 0);
    }
    assert!(runs > 100, "{runs} runs could be compared");
}

#[test]
fn trace_is_decoded_once_for_all_seeds_and_sizes_of_the_device() {
    let decoded = Decoded::up_to(1 << 26);
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures/msr.csv");
    for (blocks, seed) in [(512, 1), (1024, 2), (2048, 3)] {
        let set = vec!["precondition=none".into(), format!("seed={seed}")];
        let set = [set, vec![format!("device.geometry.blocks_per_plane={blocks}")]].concat();
        let device = Device { set, capacity: Some(nandlab_lab::Capacity::Fit), ..Device::of("lab") };
        let workload = Workload { decoded: decoded.clone(), ..Workload::of(trace) };
        outcome(&Run { device, workload }).unwrap();
    }
    assert_eq!(decoded.reads(), 1);
}

#[test]
fn trace_without_room_is_read_by_each_run() {
    let decoded = Decoded::up_to(1000);
    let workload = Workload { limit: Some(1000), decoded: decoded.clone(), ..Workload::of("make:oltp") };
    let device = Device { set: vec!["precondition=none".into()], ..Device::of("lab") };
    let run = Run { device, workload };
    let without = Run { workload: Workload { decoded: Decoded::default(), ..run.workload.clone() }, ..run.clone() };
    assert_eq!(outcome(&run), outcome(&without));
    assert_eq!(outcome(&run), outcome(&without));
    assert_eq!(decoded.reads(), 1, "it is known not to fit");
}
