//! Does a fit find the parameters of a drive whose latencies it sees, and say which the latencies do not tell?

use std::fmt::Write as _;

use nandlab::config::Builder;
use nandlab::types::HostOp;
use nandlab_lab::{
    Address, Device, Fit, FitParameter, Fitted, FittedParameter, Reading, ReplayedRequest, Run, Told, Watch, Workload,
};
use nandlab_trace::Volumes;

/// A small drive with what is known of it: all but its times, its link and its channels.
fn drive(secret: &[String]) -> Device {
    let known = [
        "device.geometry.chips_per_channel=4",
        "device.geometry.dies_per_chip=1",
        "device.geometry.blocks_per_plane=8",
        "device.geometry.pages_per_block=16",
        "ram.dram=1MiB",
        "replay.settle=none",
    ];
    let set = known.iter().map(ToString::to_string).chain(secret.iter().cloned()).collect();
    Device { set, ..Device::of("lab") }
}

/// A number between two, by factors.
fn draw(state: &mut u64, low: f64, high: f64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    low * (high / low).powf((*state >> 11) as f64 / (1u64 << 53) as f64)
}

/// Keys with values that a seed draws, with their units.
fn secrets(seed: u64) -> Vec<(&'static str, f64, &'static str)> {
    let mut state = seed;
    let mut secret = |key, low, high, unit| (key, draw(&mut state, low, high).round(), unit);
    vec![
        secret("device.timing.page_read", 40e3, 120e3, "ns"),
        secret("device.timing.page_program", 300e3, 2_000e3, "ns"),
        secret("device.timing.page_transfer", 10e3, 40e3, "ns"),
        secret("device.host.read_overhead", 5e3, 40e3, "ns"),
        secret("device.host.write_overhead", 5e3, 40e3, "ns"),
        secret("device.host.link", 300e6, 3_000e6, "B/s"),
        ("device.geometry.channels", 2.0, ""),
        // As many blocks as the drive with eight channels has.
        ("device.geometry.blocks_per_plane", 32.0, ""),
    ]
}

fn settings(secrets: &[(&str, f64, &str)]) -> Vec<String> {
    secrets.iter().map(|(key, value, unit)| format!("{key}={value}{unit}")).collect()
}

/// A trace with the latencies of a drive.
fn recorded(name: &str, generator: &str, requests: u64, drive: Device) -> Workload {
    recorded_of(name, Workload { limit: Some(requests), ..Workload::of(generator) }, drive)
}

/// The same of any workload.
fn recorded_of(name: &str, workload: Workload, drive: Device) -> Workload {
    let mut text = "time_ns,device,op,offset,length,latency_ns\n".to_owned();
    let mut write = |request: &ReplayedRequest| {
        let op = match request.op {
            HostOp::Read => 'R',
            HostOp::Write => 'W',
            HostOp::Trim => 'T',
            HostOp::Flush => 'F',
        };
        let (time, offset, length) = (request.time.0, request.lba * 512, request.sectors * 512);
        writeln!(text, "{time},0,{op},{offset},{length},{}", request.response.0).unwrap();
        Ok(())
    };
    Run { device: drive, workload }.report_each(&Watch::default(), &mut write).unwrap();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    let reading = Reading { format: Some("nandlab".into()), ..Reading::default() };
    Workload { reading, ..Workload::of(path.to_str().unwrap()) }
}

fn fit(workload: Workload, evaluations: usize, threads: usize) -> Fit {
    let parameters = vec![FitParameter::read("device.geometry.channels=1|2|4").unwrap()];
    let device = drive(&[]);
    Fit {
        device,
        workload,
        parameters,
        holdout: 0.33,
        holdout_parts: 1,
        flushes: false,
        evaluations,
        threads: Some(threads),
    }
}

fn of<'a>(fitted: &'a Fitted, key: &str) -> &'a FittedParameter {
    fitted.parameters.iter().find(|parameter| parameter.key.ends_with(key)).unwrap()
}

/// Light load with bursts: requests that meet nobody, and some that do.
const SHAPE: &str = "span=6MiB:size=4KiB@6,16KiB@2,64KiB@1:arrival=bursty@200us@3@60ms";

#[test]
fn fit_finds_secret_parameters_and_fits_what_it_did_not_see() {
    for seed in [20_261, 3] {
        let secrets = secrets(seed);
        let generator = format!("make:uniform:{SHAPE}:writes=0.2");
        let workload = recorded(&format!("fit_secret_{seed}.csv"), &generator, 2_000, drive(&settings(&secrets)));
        let fitted = fit(workload, 900, 2).run(&Watch::default()).unwrap();
        let mut found = 0;
        for (key, value, _) in secrets.into_iter().filter(|(key, ..)| !key.contains("blocks")) {
            let parameter = of(&fitted, key);
            let number =
                if key.ends_with("channels") { [1.0, 2.0, 4.0][parameter.number as usize] } else { parameter.number };
            let off = (number / value).ln().abs();
            if parameter.told == Told::Found {
                found += 1;
                assert!(off < 0.05, "seed {seed}: {value} is {parameter:?}");
            }
        }
        assert!(found >= 5, "seed {seed}: {:?}", fitted.parameters);
        let unseen: Vec<f64> = fitted.errors.iter().filter(|error| error.held_out).map(|error| error.error).collect();
        assert!(unseen.len() >= 5);
        assert!(unseen.iter().all(|error| *error < 0.1), "seed {seed}: {unseen:?}");
    }
}

/// A drive of which nothing but these keys is searched.
fn few(keys: &[&str]) -> Vec<String> {
    let all = [
        "device.timing.page_read=60us",
        "device.timing.page_program=600us",
        "device.timing.block_erase=4ms",
        "device.timing.page_transfer=12us",
        "device.geometry.channels=2",
        "device.geometry.blocks_per_plane=32",
        "device.host.link=none",
        "device.host.read_overhead=10us",
        "device.host.write_overhead=10us",
    ];
    all.iter().filter(|setting| !keys.iter().any(|key| setting.contains(key))).map(ToString::to_string).collect()
}

#[test]
fn fit_says_what_reads_alone_do_not_tell() {
    let workload = recorded("fit_reads.csv", &format!("make:uniform:{SHAPE}:writes=0"), 1_000, drive(&few(&[])));
    let keys = ["page_read", "page_program", "block_erase", "write_overhead"];
    let fit = Fit { parameters: Vec::new(), device: drive(&few(&keys)), ..fit(workload, 80, 2) };
    let fitted = fit.run(&Watch::default()).unwrap();
    let told: Vec<Told> = keys.iter().map(|key| of(&fitted, key).told).collect();
    assert_eq!(told, [Told::Found, Told::Nothing, Told::Nothing, Told::Nothing], "{:?}", fitted.parameters);
    assert!((of(&fitted, "page_read").number / 60e3 - 1.0).abs() < 0.01, "{:?}", fitted.parameters);
    // The file says it too, and is a device.
    assert!(fitted.preset.contains("# device.timing.block_erase: not told\n"), "{}", fitted.preset);
    let config = Builder::preset("lab").unwrap().file("fitted.toml", &fitted.preset).unwrap().finish().unwrap();
    assert_eq!(config.device.timing.page_read.0 as f64, of(&fitted, "page_read").number);
    assert!(config.device.source.contains("fit_reads.csv") && config.device.source.contains("out of sample"));
    assert_eq!(config.device.name, "lab-fitted");
    config.build().unwrap();
}

#[test]
fn profile_that_finds_a_better_drive_is_made_again() {
    let workload = recorded("fit_again.csv", &format!("make:uniform:{SHAPE}:writes=0"), 600, drive(&few(&[])));
    let keys = ["page_read", "page_program", "block_erase", "page_transfer", "read_overhead", "write_overhead"];
    for seed in 1..=4 {
        // So few evaluations that the profile ends far below where the search did.
        let device = drive(&[few(&keys), vec![format!("seed={seed}")]].concat());
        let fitted =
            Fit { parameters: Vec::new(), device, ..fit(workload.clone(), 10, 2) }.run(&Watch::default()).unwrap();
        for key in ["page_program", "block_erase", "write_overhead"] {
            assert_eq!(of(&fitted, key).told, Told::Nothing, "seed {seed}: {:?}", fitted.parameters);
        }
        assert_ne!(of(&fitted, "page_read").told, Told::Nothing, "seed {seed}: {:?}", fitted.parameters);
        assert!(fitted.evaluations > 10 + 2 * 6 * 18, "seed {seed}: {} evaluations", fitted.evaluations);
    }
}

/// A host that flushes what it wrote, and reads when that is over.
fn flushing(name: &str) -> Workload {
    let mut text = "time_ns,device,op,offset,length\n".to_owned();
    for round in 0..400u64 {
        let at = round * 20_000_000;
        for (number, (op, page)) in
            [('W', round % 50), ('W', 60 + round % 70), ('F', 0), ('R', 300 + round)].iter().enumerate()
        {
            let (time, length) = (at + number as u64 * 4_000_000, if *op == 'F' { 0 } else { 4096 });
            writeln!(text, "{time},0,{op},{},{length}", page * 4096).unwrap();
        }
    }
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    let reading = Reading { format: Some("nandlab".into()), ..Reading::default() };
    Workload { reading, ..Workload::of(path.to_str().unwrap()) }
}

#[test]
fn flushes_tell_what_writes_into_ram_do_not() {
    let workload = recorded_of("fit_flushing.csv", flushing("fit_flushing_requests.csv"), drive(&few(&[])));
    let device = drive(&few(&["page_program"]));
    let with =
        |flushes| Fit { flushes, parameters: Vec::new(), device: device.clone(), ..fit(workload.clone(), 40, 2) };
    let [without, with] = [false, true].map(|flushes| with(flushes).run(&Watch::default()).unwrap());
    assert_eq!(of(&without, "page_program").told, Told::Nothing, "{:?}", without.parameters);
    assert_eq!(of(&with, "page_program").told, Told::Found, "{:?}", with.parameters);
    assert!((of(&with, "page_program").number / 600e3 - 1.0).abs() < 0.01, "{:?}", with.parameters);
    let kinds = |fitted: &Fitted| fitted.errors.iter().any(|error| error.kind == "flushes");
    assert_eq!((kinds(&without), kinds(&with)), (false, true));
}

#[test]
fn fit_keeps_the_kind_of_link_and_the_means_of_its_base() {
    let base = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fit_half_duplex.toml");
    let text = "preset = \"lab\"\n[device.host]\nlink = \"sata3\"\n[device.timing]\nmodel = \"scheduled\"\npage_read = \"60us\"\n\
                [device.cells]\nread_by_type = [\"40us\", \"80us\"]\n";
    std::fs::write(&base, text).unwrap();
    let fixed = few(&["page_read", "link", "read_overhead"]);
    let device = Device { base: base.to_str().unwrap().to_owned(), ..drive(&fixed) };
    let workload = recorded("fit_half_duplex.csv", &format!("make:uniform:{SHAPE}:writes=0"), 300, device.clone());
    let fitted = Fit { parameters: Vec::new(), device, ..fit(workload, 20, 2) }.run(&Watch::default()).unwrap();
    assert!(!fitted.parameters.iter().any(|parameter| parameter.key.ends_with("page_read")), "{:?}", fitted.parameters);
    assert_eq!(fitted.not_searched, ["device.timing.page_read is the mean of device.cells.read_by_type"]);
    let link = fitted.settings.iter().find_map(|setting| setting.strip_prefix("device.host.link=")).unwrap();
    assert!(link.ends_with("B/s half-duplex"), "{link}");
    assert!(of(&fitted, "link").value.ends_with("MB/s half-duplex"), "{:?}", fitted.parameters);
    assert!(
        fitted.preset.lines().any(|line| line.starts_with("link = ") && line.contains("half-duplex")),
        "{}",
        fitted.preset
    );
}

#[test]
fn fit_is_the_same_on_any_number_of_threads() {
    let workload = recorded("fit_threads.csv", &format!("make:uniform:{SHAPE}:writes=0.2"), 600, drive(&few(&[])));
    let device = drive(&few(&["page_read", "link"]));
    let with = |threads| Fit { parameters: Vec::new(), device: device.clone(), ..fit(workload.clone(), 60, threads) };
    let results = [1, 2].map(|threads| with(threads).run(&Watch::default()).unwrap());
    let [one, two] = results.map(|fitted| serde_json::to_string(&fitted).unwrap() + &fitted.preset);
    assert_eq!(one, two);
}

#[test]
fn fit_refuses_what_it_cannot_do() {
    let refused = |fit: Fit| fit.run(&Watch::default()).unwrap_err().to_string();
    let plain = recorded("fit_refused.csv", &format!("make:uniform:{SHAPE}:writes=0.2"), 300, drive(&few(&[])));
    let with = |text: &str| Fit { parameters: vec![FitParameter::read(text).unwrap()], ..fit(plain.clone(), 10, 1) };
    let no_latencies = fit(Workload { limit: Some(500), ..Workload::of("make:uniform:span=1MiB") }, 10, 1);
    for (fit, reason) in [
        (no_latencies, "0 of 500 requests have a recorded latency"),
        (with("device.timing.page_reed=1us..2us"), "page_reed"),
        (with("ram.dram=1MiB..2MiB"), "--set ram.dram=1MiB fixes it"),
        (with("device.geometry.blocks_per_plane=10..90"), "keeps the number of erase blocks"),
        (Fit { flushes: true, ..with("device.timing.page_read=20us..90us") }, "--flushes: 0 flushes of"),
        (Fit { holdout: 1.5, ..with("device.timing.page_read=20us..90us") }, "--holdout 1.5"),
        (Fit { holdout_parts: 0, ..with("device.timing.page_read=20us..90us") }, "--holdout-parts 0"),
        (
            Fit { device: drive(&["precondition=trace".into()]), ..with("device.timing.page_read=20us..90us") },
            "precondition",
        ),
    ] {
        let error = refused(fit);
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

/// Results of fio as a drive would have them.
fn fio_results(drive: &Device) -> String {
    let mut jobs = Vec::new();
    let shapes = [("randread", "4k", 1), ("randread", "64k", 1), ("randread", "4k", 32), ("randwrite", "4k", 4)];
    for (rw, size, depth) in shapes {
        let (writes, kind) = if rw == "randread" { (0, "read") } else { (1, "write") };
        let generator = format!("make:uniform:span=4194304:size={size}:align={size}:writes={writes}:arrival=closed");
        let workload = Workload { limit: Some(800), ..Workload::of(generator) };
        let mode = ["replay.mode=fast".to_owned(), format!("replay.queue_depth={depth}")];
        let device = Device { set: [&drive.set[..], &mode].concat(), ..drive.clone() };
        let mut times = Vec::new();
        let mut each = |request: &ReplayedRequest| {
            times.push(request.response.0);
            Ok(())
        };
        Run { device, workload }.report_each(&Watch::default(), &mut each).unwrap();
        times.sort_unstable();
        let percentile =
            |percent: usize| (format!("{percent}.000000"), times[(times.len() * percent).div_ceil(100) - 1]);
        let percentiles: std::collections::BTreeMap<String, u64> = [5, 25, 50, 75, 95, 99].map(percentile).into();
        let told = serde_json::json!({"total_ios": 800, "clat_ns": {"percentile": percentiles}});
        let options = serde_json::json!({"rw": rw, "bs": size, "iodepth": depth.to_string()});
        jobs.push(serde_json::json!({"jobname": format!("{rw}-{size}-{depth}"), "job options": options, kind: told}));
    }
    // Jobs that cannot be simulated, each for a reason of its own.
    for (name, key, value) in
        [("limited", "rate", "1m"), ("odd", "bs", "1000"), ("small", "size", "2k"), ("cached", "direct", "0")]
    {
        let options = serde_json::json!({"rw": "read", key: value});
        let told = serde_json::json!({"total_ios": 800, "clat_ns": {"percentile": {"50.000000": 90_000}}});
        jobs.push(serde_json::json!({"jobname": name, "job options": options, "read": told}));
    }
    for (name, error, ns) in [("falls", 0, [90_000, 80_000]), ("failed", 5, [90_000, 95_000])] {
        let percentile = serde_json::json!({"50.000000": ns[0], "95.000000": ns[1]});
        let told = serde_json::json!({"total_ios": 800, "clat_ns": {"percentile": percentile}});
        jobs.push(serde_json::json!({"jobname": name, "error": error, "job options": {"rw": "read"}, "read": told}));
    }
    // Each is in a group of its own, as `stonewall` has it, but for two: one that only `new_group` begins, and its clone.
    for (group, job) in jobs.iter_mut().enumerate() {
        job["groupid"] = group.into();
    }
    let (group, last) = (jobs.len(), jobs.last().unwrap().clone());
    for (name, begins) in [("beside", "new_group"), ("clone", "stonewall")] {
        let options = serde_json::json!({"rw": "randread", "bs": "4k", "iodepth": "1", begins: "1"});
        jobs.push(serde_json::json!({"jobname": name, "groupid": group, "job options": options, "read": last["read"]}));
    }
    let results = serde_json::json!({"fio version": "fio-3.36", "global options": {"size": "4m", "ioengine": "libaio", "direct": "1"}, "jobs": jobs});
    format!("note: something that fio says first\n{results}\n")
}

#[test]
fn fit_finds_secret_parameters_from_results_of_fio() {
    let secret = ["device.timing.page_read=83us", "device.timing.page_program=900us", "device.host.read_overhead=21us"];
    let keys = ["page_read", "page_program", "read_overhead"];
    let known = few(&keys);
    let drive_with =
        |more: &[&str]| drive(&[&known[..], &more.iter().map(ToString::to_string).collect::<Vec<_>>()].concat());
    let [path, named_otherwise] =
        ["fit_fio.json", "fit_fio.results"].map(|name| std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    for path in [&path, &named_otherwise] {
        std::fs::write(path, fio_results(&drive_with(&secret))).unwrap();
    }
    let workload = Workload::of(path.to_str().unwrap());
    let fit = Fit { parameters: Vec::new(), device: drive_with(&[]), ..fit(workload, 120, 2) };
    let otherwise = Fit { workload: Workload::of(named_otherwise.to_str().unwrap()), ..fit.clone() };
    let fitted = otherwise.run(&Watch::default()).unwrap();
    for (key, value) in keys.into_iter().zip([83e3, 900e3, 21e3]) {
        let parameter = of(&fitted, key);
        assert!(parameter.number / value > 0.95 && parameter.number / value < 1.05, "{parameter:?}");
    }
    // Every third job is held out, and some cannot be simulated.
    assert!(fitted.errors.iter().any(|error| error.held_out && error.kind == "reads" && error.error < 0.05));
    let skipped = |(job, reason): (usize, &str)| fitted.skipped[job].reason.contains(reason);
    let reasons = [
        "`rate`",
        "`bs=1000`",
        "its `size` of 2KiB",
        "`direct=0`",
        "do not ascend",
        "it ended with error 5",
        "same time as `failed`",
        "same time as `failed`",
    ];
    assert_eq!(fitted.skipped.len(), reasons.len());
    assert!(reasons.into_iter().enumerate().all(skipped), "{:?}", fitted.skipped);
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        fit.run(&Watch::default()).unwrap_err().to_string()
    };
    let in_parts = Fit { holdout_parts: 2, ..fit.clone() }.run(&Watch::default()).unwrap_err().to_string();
    assert!(in_parts.contains("--holdout-parts: of results of fio whole jobs"), "{in_parts}");
    let with = |fit: Fit| fit.run(&Watch::default()).unwrap_err().to_string();
    let of = |workload: Workload| with(Fit { workload, ..fit.clone() });
    let limited = of(Workload { limit: Some(5), ..fit.workload.clone() });
    assert!(limited.contains("--limit says how to read a trace"), "{limited}");
    let folded = of(Workload { address: Address::Modulo, ..fit.workload.clone() });
    assert!(folded.contains("--address says how to read a trace"), "{folded}");
    let stacked = of(Workload { volumes: Volumes::Stack, ..fit.workload.clone() });
    assert!(stacked.contains("--volumes says how to read a trace"), "{stacked}");
    for (setting, option) in [
        ("replay.mode=closed", "--mode says how to replay a trace"),
        ("replay.queue_depth=8", "--queue-depth says how to replay a trace"),
        ("replay.think_time=1ms", "--set replay.think_time says how to replay a trace"),
    ] {
        let set = with(Fit { device: drive_with(&[setting]), ..fit.clone() });
        assert!(set.contains(option), "{set}");
    }
    let depth = vec![FitParameter::read("replay.queue_depth=1..64").unwrap()];
    let searched = with(Fit { parameters: depth, ..fit.clone() });
    assert!(searched.contains("--queue-depth says how to replay a trace"), "{searched}");
    assert!(refused("{\"jobs\": []}").contains("no job that can be compared"));
    assert!(refused("{}").contains("no results of fio"));
}
