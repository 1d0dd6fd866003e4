//! Is what the device writes ahead of need written when it should be, and does a write wait for its programs when it is to?

mod kit;
mod flush {
    mod acknowledged;
    mod order;
    pub mod reference;
}

use flush::reference::{Reference, Request, Shape, Told};
use kit::{Dice, Event, Recorder, Rig, times};
use nandlab::buffer::Medium;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, Config, PluginConfig};
use nandlab::engine::{Arrival, EvictWait, FillMarks, FlushAhead, Payload, Settings, Ssd, WriteAck};
use nandlab::error::ConfigError;
use nandlab::flash::clock::Call;
use nandlab::flash::{Geometry, TimingModel};
use nandlab::ftl::FTLS;
use nandlab::ledger::Op;
use nandlab::registry::Plugin;
use nandlab::types::{HostOp, HostRequest, Nanos};
use serde_json::json;

const SECTORS: u64 = 4;

fn to_host(request: &Request, start: u64) -> HostRequest {
    let op = match request {
        Request { pages: 0, .. } => HostOp::Flush,
        Request { write: true, .. } => HostOp::Write,
        _ => HostOp::Read,
    };
    let (lba, sectors) = (u64::from(request.lpn) * SECTORS, request.pages * SECTORS as u32);
    HostRequest::new(Nanos(start + request.at), op, lba, sectors)
}

/// One die with room for every write of a test, so that nothing is collected; all pages are written once.
fn rig(shape: &Shape, model: &str) -> Rig {
    let geometry = Geometry::single_die(400, 16, SECTORS as u32 * 512);
    Rig {
        timing: TimingModel::named(model),
        times: times(shape.read, shape.program, 1_500_000, shape.transfer),
        settings: Settings {
            arrival: Arrival::Open,
            queue_depth: shape.depth as u32,
            evict_wait: if shape.until_transfer { EvictWait::Transfer } else { EvictWait::Program },
            write_ack: if shape.through { WriteAck::Flash } else { WriteAck::Ram },
            flush: (shape.marks.is_some() || shape.age.is_some() || shape.gather.is_some()).then(|| FlushAhead {
                marks: shape.marks.map(|(above, below)| FillMarks { above, below }),
                age: shape.age.map(Nanos),
                gather: shape.gather.map(|pages| pages as u32),
                most: shape.most as u32,
            }),
            ..Settings::one_at_a_time(64)
        },
        filled: true,
        ..Rig::new(geometry, 64, shape.frames as u32)
    }
}

/// What the device tells of the same requests.
fn observe(shape: &Shape, model: &str, requests: &[Request]) -> (u64, Told) {
    let mut device = rig(shape, model).device("lru", json!({}));
    device.drain();
    let start = device.flash().now().0;
    let recorder = Recorder::default();
    device.set_probe(Some(Box::new(recorder.clone())));
    device.remember_late();
    device.test_port().flash_mut().clock.record();
    let (mut completed, mut late) = (vec![], vec![]);
    for request in requests {
        let completion = device.submit(&to_host(request, start), Payload::None).unwrap();
        if completion.finished.is_none() {
            late.push(completed.len());
        }
        completed.push(completion.finished.map_or(0, |at| at.0));
    }
    device.drain();
    let mut ends = vec![];
    device.take_late(&mut ends);
    assert_eq!(ends.len(), late.len());
    for end in ends {
        completed[late[end.nth as usize]] = end.finished.0;
    }
    let issued = device.flash().clock.recorded().iter().filter_map(|call| match &call.call {
        Call::Operation(operation) if operation.op == Op::Program => Some(call.at.0),
        _ => None,
    });
    let written = recorder.take().into_iter().flat_map(|event| match event {
        Event::Write { lpns, .. } => lpns,
        _ => vec![],
    });
    let programs: Vec<_> = issued.zip(written).collect();
    let ledger = device.ledger();
    assert_eq!(programs.len() as u64, ledger.programs(), "every program is of a page that the buffer wrote");
    let told = Told {
        programs,
        completed,
        write_ns: ledger.buffer_write_ns,
        by_fill: ledger.flushed_by_fill,
        by_age: ledger.flushed_by_age,
        gathered: ledger.flushed_gathered,
        waits: ledger.eviction_waits,
        drops: ledger.buffer_drops,
    };
    (start, told)
}

#[track_caller]
fn agree(shape: &Shape, requests: &[Request]) -> Told {
    let mut told = Told::default();
    for model in ["parallel", "serial", "scheduled"] {
        let (start, got) = observe(shape, model, requests);
        let shifted: Vec<Request> = requests.iter().map(|r| Request { at: start + r.at, ..*r }).collect();
        let mut reference = Reference::new(*shape, start);
        reference.run(&shifted);
        let expected = std::mem::take(&mut reference.told);
        for (n, (got, expected)) in got.programs.iter().zip(&expected.programs).enumerate() {
            assert_eq!(got, expected, "{model}: program {n} of {shape:?}");
        }
        for (n, (got, expected)) in got.completed.iter().zip(&expected.completed).enumerate() {
            assert_eq!(got, expected, "{model}: request {n} of {shape:?}");
        }
        assert_eq!(got, expected, "{model}: {shape:?}");
        told = got;
    }
    told
}

fn any_requests(dice: &mut Dice, count: u32, span: u32) -> Vec<Request> {
    let mut at = 0;
    let request = |_| {
        at += u64::from(match dice.below(10) {
            0 => dice.below(40_000_000),
            1..4 => dice.below(2_000_000),
            _ => dice.below(100_000),
        });
        let pages = if dice.below(20) == 0 { 0 } else { 1 + dice.below(3) };
        Request { at, write: dice.below(10) < 6, lpn: dice.below(span - pages), pages }
    };
    (0..count).map(request).collect()
}

fn any_shape(dice: &mut Dice) -> Shape {
    let above = f64::from(dice.below(100)) / 100.0;
    let transfer = u64::from(dice.below(2) * 25_000);
    Shape {
        frames: 4 + dice.below(16) as usize,
        depth: 1 + dice.below(4) as usize,
        read: 60_000,
        program: 800_000,
        transfer,
        // What takes no time at all is over at an instant whose order is the model's own.
        until_transfer: transfer > 0 && dice.one_in(2),
        marks: (!dice.one_in(3)).then(|| (above, above * f64::from(dice.below(101)) / 100.0)),
        age: (!dice.one_in(3)).then(|| u64::from(100_000 + dice.below(12_000_000))),
        gather: dice.one_in(3).then(|| 2 + dice.below(5) as usize),
        most: 1 + dice.below(4) as usize,
        through: false,
    }
}

#[test]
fn every_page_is_flushed_when_a_plain_list_says() {
    let (mut by_fill, mut by_age, mut gathered, mut waits) = (0, 0, 0, 0);
    for case in 0..150 {
        let mut dice = Dice::of_case(&[case]);
        let shape = any_shape(&mut dice);
        let span = 2 * shape.frames as u32 + 8;
        let told = agree(&shape, &any_requests(&mut dice, 300, span));
        (by_fill, by_age, waits) = (by_fill + told.by_fill, by_age + told.by_age, waits + told.waits);
        gathered += told.gathered;
    }
    let told = format!("{by_fill} by fill, {by_age} by age, {gathered} gathered, {waits} waits");
    assert!(by_fill > 5_000 && by_age > 4_000 && gathered > 2_000 && waits > 5_000, "{told}");
}

#[test]
fn write_through_completes_when_a_plain_list_says() {
    for case in 0..40 {
        let mut dice = Dice::of_case(&[case, 7]);
        let shape = Shape {
            marks: None,
            age: None,
            gather: None,
            until_transfer: false,
            through: true,
            ..any_shape(&mut dice)
        };
        let told = agree(&shape, &any_requests(&mut dice, 200, 40));
        assert!(told.drops > 50, "{told:?}");
    }
}

const LOGICAL_PAGES: u32 = 256;

/// Four dies that store bytes, without transfers, and some keys besides.
fn config(buffer: &str, ftl: &str, keys: &[&str]) -> Result<Config, ConfigError> {
    let mut builder = Builder::preset("lab")?;
    builder = builder.plugin("buffer", &PluginConfig::named(buffer)).plugin("ftl", &PluginConfig::named(ftl));
    let device = [
        "device.geometry={channels=2, chips_per_channel=2, dies_per_chip=1, planes_per_die=1, blocks_per_plane=40, \
         pages_per_block=8, page_bytes=512}",
        "device.media=memory",
        "device.timing.page_read=50us",
        "device.timing.page_program=400us",
        "device.timing.page_transfer=0us",
        "device.timing.command=0us",
        "ram.dram=16KiB",
        "ram.nvram=16KiB",
        "ram.dram_read=0us",
        "ram.dram_write=0us",
    ];
    for key in device.iter().chain(keys) {
        builder = builder.set(key)?;
    }
    builder.set_value("device.over_provisioning", json!({"logical_pages": LOGICAL_PAGES}))?;
    let small = FTLS.iter().find(|plugin| plugin.name() == ftl).map(|plugin| (plugin.defaults)()).unwrap_or_default();
    for (parameter, value) in [("entries_per_tp", 32), ("cmt_entries", 24), ("idle_free", 2)] {
        if small.get(parameter).is_some() {
            builder.set_value(&format!("ftl.{parameter}"), json!(value))?;
        }
    }
    builder.finish()
}

fn device(buffer: &str, ftl: &str, keys: &[&str]) -> Box<dyn Ssd> {
    let built = config(buffer, ftl, keys).and_then(|config| config.build());
    built.unwrap_or_else(|error| panic!("{buffer} over {ftl}, {keys:?}: {error}"))
}

fn submit(device: &mut dyn Ssd, op: HostOp, at_us: u64, lpn: u32) -> Option<Nanos> {
    let request = HostRequest::new(Nanos::from_us(at_us), op, u64::from(lpn), 1);
    let mut bytes = vec![lpn as u8; 512];
    let payload = if op == HostOp::Write { Payload::Write(&bytes) } else { Payload::Read(&mut bytes) };
    device.submit(&request, payload).unwrap().finished
}

/// When programs were handed to the flash, in us.
fn programs_us(device: &mut dyn Ssd) -> Vec<u64> {
    let record = device.test_port().flash_mut().clock.recorded().iter();
    let program = |call: &Call| matches!(call, Call::Operation(operation) if operation.op == Op::Program);
    record.filter(|call| program(&call.call)).map(|call| call.at.0 / 1000).collect()
}

#[test]
fn pages_that_age_in_a_long_idle_time_are_written_at_their_time_and_a_few_at_a_time() {
    for (most, together) in [("", 4), ("ram.flush.most=2", 2)] {
        let keys: Vec<_> = ["ram.flush.age=1s", most].into_iter().filter(|key| !key.is_empty()).collect();
        let mut device = device("lru", "page", &keys);
        let start = device.flash().now().0 / 1000;
        device.test_port().flash_mut().clock.record();
        for lpn in 0..6 {
            submit(&mut *device, HostOp::Write, start, lpn);
        }
        submit(&mut *device, HostOp::Write, start + 10, 6);
        submit(&mut *device, HostOp::Write, start + 500_000, 0);
        // The next request comes long after all of them.
        submit(&mut *device, HostOp::Read, start + 10_000_000, 100);
        let due = |n: u64| start + 1_000_000 + n / together * 400;
        let mut expected: Vec<u64> = (0..6).map(due).collect();
        expected.push(due(6));
        assert_eq!(programs_us(&mut *device), expected, "{together} at a time; page 0 is as old as its first write");
        let ledger = device.ledger();
        assert_eq!((ledger.flushed_by_age, ledger.flushed_by_fill, ledger.write_back_pages), (7, 0, 7));
        assert_eq!(device.slots().dirty_pages(), 0);
        assert_eq!(device.slots().used().dram, 8, "they stay");
        device.drain();
        assert_eq!(device.ledger().programs(), 7, "the last write of page 0 was in it");
    }
}

#[test]
fn request_that_needs_a_frame_whose_page_is_on_its_way_waits_for_exactly_that() {
    // 32 frames: above 30 of them, down to 24.
    let mut device = device("lru", "page", &["ram.flush.above=0.95", "ram.flush.below=0.75", "replay.queue_depth=64"]);
    let start = device.flash().now().0 / 1000;
    for lpn in 0..31 {
        submit(&mut *device, HostOp::Write, start, lpn);
    }
    // Four pages are on their way, one frame was never used.
    assert_eq!(submit(&mut *device, HostOp::Write, start + 100, 100), Some(Nanos::from_us(start + 100)));
    for lpn in 101..105 {
        assert_eq!(submit(&mut *device, HostOp::Write, start + 100, lpn), None, "it waits for a program");
    }
    assert_eq!(device.ledger().eviction_waits, 4);
    device.drain();
    // Four waited from 100 us to the end of the programs that began at 0.
    assert_eq!(device.times().write_response.max(), Nanos::from_us(300));
    assert_eq!(device.slots().used().dram, 32, "the last request is complete: the device stops");
    assert_eq!(submit(&mut *device, HostOp::Read, start + 10_000, 104), Some(Nanos::from_us(start + 10_000)));
    assert_eq!(device.slots().used().dram, 24, "with time until the next it goes on until it is there");
    assert_eq!(device.ledger().flushed_by_fill, 31 + 5 - 24);
}

fn any_host(dice: &mut Dice, count: u64, start: u64) -> Vec<HostRequest> {
    let mut at = start;
    let request = |_| {
        at += u64::from(if dice.one_in(20) { dice.below(50_000_000) } else { dice.below(300_000) });
        let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Trim];
        let op = if dice.one_in(40) { HostOp::Flush } else { dice.pick(&op) };
        let sectors = if op == HostOp::Flush { 0 } else { 1 + dice.below(4) };
        HostRequest::new(Nanos(at), op, u64::from(dice.below(LOGICAL_PAGES - 8)), sectors)
    };
    (0..count).map(request).collect()
}

/// Policies that keep pages.
fn keepers() -> impl Iterator<Item = String> {
    BUFFERS.iter().map(Plugin::name).filter(|name| name != "none")
}

#[test]
fn nothing_to_flush_changes_nothing() {
    let modes = ["replay.mode=open", "replay.mode=closed"];
    let models = ["parallel", "serial", "scheduled"];
    for (n, buffer) in keepers().enumerate() {
        let ftl = &FTLS[n % FTLS.len()].name();
        let model = format!("device.timing.model={}", models[n % 3]);
        for (ftl, mode) in [(ftl.as_str(), modes[n % 2]), ("page", modes[0]), ("page", modes[1])] {
            let run = |age: &[&str]| {
                let keys = [
                    &[mode, "device.media=none", "replay.queue_depth=3", "replay.think_time=40us", model.as_str()],
                    age,
                ]
                .concat();
                let mut device = device(&buffer, ftl, &keys);
                let requests = any_host(&mut Dice::of_case(&[n as u64]), 1500, device.flash().now().0);
                device.run(&requests).unwrap();
                device.finish();
                let (ledger, times) = (device.ledger(), format!("{:?}", device.times()));
                (ledger, times, device.flash().now())
            };
            assert!(run(&["ram.flush.age=86400s"]) == run(&[]), "{buffer} over {ftl}, {mode}, {model}");
        }
    }
}

#[test]
fn idle_device_is_clean_and_below_its_mark_under_every_policy() {
    for (n, buffer) in keepers().enumerate() {
        let ftl = &FTLS[n % FTLS.len()].name();
        let keys = ["ram.flush.age=20ms", "ram.flush.above=0.5", "ram.flush.below=0.25"];
        let [by_age, by_fill] = [&keys[..1], &keys[1..]].map(|keys| {
            let mut device = device(&buffer, ftl, &[&["device.media=none"], keys].concat());
            let requests = any_host(&mut Dice::of_case(&[n as u64, 1]), 1500, device.flash().now().0);
            device.run(&requests).unwrap();
            // The last request sees what happened until then.
            let late = device.flash().now() + Nanos::from_us(10_000_000);
            device.run(&[HostRequest::new(late, HostOp::Read, u64::from(LOGICAL_PAGES) - 1, 1)]).unwrap();
            device
        });
        let in_dram = |slot: &_| by_age.slots().is_dirty(*slot) && by_age.slots().medium(*slot) == Medium::Dram;
        assert_eq!(by_age.slots().iter().filter(in_dram).count(), 0, "{buffer} over {ftl}: pages that aged");
        // Pages that are written to NVRAM do not age.
        let to_nvram = ["cbm-r", "clock-dnv"].contains(&&*buffer);
        assert!(by_age.ledger().flushed_by_age > 100 || to_nvram, "{buffer}: {:?}", by_age.ledger());
        let used = by_fill.slots().used();
        let of = if used.nvram > 0 { used.nvram } else { used.dram };
        // Half of 32 frames, and the page that was read last. LIRS gives nothing but the pages of its short queue.
        assert!(of <= 16 + 1 || buffer == "lirs", "{buffer} over {ftl}: {used:?}");
        assert!(by_fill.ledger().flushed_by_fill > 100, "{buffer}: {:?}", by_fill.ledger());
    }
}

#[test]
fn senseless_keys_are_refused_by_their_names() {
    let cases: [(&str, &[&str], &str); 13] = [
        ("lru", &["ram.flush.above=1.0"], "ram.flush.above"),
        ("lru", &["ram.flush.above=-0.1"], "ram.flush.above"),
        ("lru", &["ram.flush.above=nan"], "ram.flush.above"),
        ("lru", &["ram.flush.above=0.5", "ram.flush.below=0.6"], "ram.flush.below"),
        ("lru", &["ram.flush.below=0.6"], "ram.flush.below"),
        ("lru", &["ram.flush.age=0s"], "ram.flush.age"),
        ("lru", &["ram.flush.age=86401s"], "ram.flush.age"),
        ("lru", &["ram.flush.age=1s", "ram.flush.most=0"], "ram.flush.most"),
        ("lru", &["ram.flush.most=4"], "ram.flush.most"),
        ("lru", &["ram.flush.older=4"], "ram.flush.older"),
        ("lru", &["device.host.write_ack=flash", "ram.flush.age=1s"], "device.host.write_ack"),
        ("lru", &["device.host.write_ack=flash", "ram.evict_wait=transfer"], "device.host.write_ack"),
        ("none", &["ram.flush.age=1s"], "ram.flush"),
    ];
    for (buffer, keys, key) in cases {
        let Err(error) = config(buffer, "page", keys).and_then(|config| config.build()) else {
            panic!("{keys:?} is accepted");
        };
        assert!(error.to_string().contains(key), "{keys:?}: {error}");
    }
    let error = config("lru", "page", &["ram.flush.age=1s"]).unwrap().build_hits().err().expect("there is no time");
    assert_eq!(error.key, "ram.flush");
    let accepted = ["ram.flush.above=0.0", "ram.flush.below=0.0", "ram.flush.age=1ns", "ram.flush.most=65536"];
    let config = config("lru", "page", &accepted).unwrap();
    let again = Builder::preset("lab").and_then(|builder| builder.file("again.toml", &config.to_toml()));
    assert_eq!(again.and_then(|builder| builder.finish()).unwrap().to_toml(), config.to_toml());
}
