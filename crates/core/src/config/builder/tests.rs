//! What does a configuration become that is put together of layers?

use serde_json::Map;

use super::*;

#[test]
fn label_reads_back_as_the_same_plugin() {
    let params = json!({
        "victim": {"d_choices": 10}, "ratio": [1, 2.5], "padding": 0.5, "rule": "model", "size": "8MiB",
        "number_as_text": "7", "flag": true, "nested": {"a": [{"b": "c"}]}, "streams": 4,
    });
    let plugin = PluginConfig { name: "page".to_owned(), params: params.as_object().unwrap().clone() };
    let label = plugin.label();
    assert!(label.contains("victim={ d_choices = 10 }") && label.contains("rule=model"), "{label}");
    let again = PluginConfig::parse(&label, "ftl").unwrap();
    assert_eq!((again.name, again.params), (plugin.name, plugin.params), "{label}");
    let defaults = FTLS.iter().map(|p| (p.name(), (p.defaults)()));
    let defaults = defaults.chain(crate::catalog::BUFFERS.iter().map(|p| (p.name(), (p.defaults)())));
    for (name, params) in defaults {
        let mut params = params.as_object().cloned().unwrap_or_default();
        params.retain(|_, value| !value.is_null());
        let plugin = PluginConfig { name, params };
        let again = PluginConfig::parse(&plugin.label(), "ftl").unwrap();
        assert_eq!((&again.name, &again.params), (&plugin.name, &plugin.params), "{}", plugin.label());
    }
}

#[test]
fn plugin_has_each_parameter_once() {
    let error = PluginConfig::parse("cflru:window_ratio=0.1:window_ratio=0.9", "buffer").unwrap_err().to_string();
    assert!(error.contains("buffer") && error.contains("`window_ratio` is there twice"), "{error}");
    let absent = PluginConfig { name: "dftl".to_owned(), params: Map::from_iter([("gc_lag".to_owned(), Value::Null)]) };
    assert_eq!(absent.label(), "dftl", "what is absent has no form on a command line");
}

#[test]
fn map_larger_than_the_ram_it_shares_is_refused() {
    let of = |dram: &str| {
        let settings = ["ram.budget=unified".to_owned(), "ram.nvram=0".to_owned(), format!("ram.dram={dram}")];
        let builder = settings.iter().try_fold(Builder::preset("lab").unwrap(), |b, s| b.set(s)).unwrap();
        builder.finish().and_then(|config| config.fresh()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(of("16MiB"), Ok(()));
    let error = of("100KiB").unwrap_err();
    assert!(error.contains("ram.dram") && error.contains("the map of `page` takes"), "{error}");
}

#[test]
fn key_without_a_value_is_left_out() {
    let lag = |settings: &[&str]| {
        let builder = settings.iter().try_fold(Builder::preset("modern-tlc")?, |b, setting| b.set(setting))?;
        builder.finish().map(|config| config.ftl.params.get("gc_lag").and_then(Value::as_u64))
    };
    assert_eq!(lag(&[]).unwrap(), Some(4));
    assert_eq!(lag(&["ftl.gc_lag="]).unwrap(), None);
    assert_eq!(lag(&["ftl.gc_lag=", "ftl.gc_lag="]).unwrap(), None, "a key that is not there");
    assert_eq!(lag(&["ftl.gc_lag= ", "ftl.gc_slice=whole"]).unwrap(), None);
    assert!(lag(&["ftl.gc_lagg="]).unwrap_err().to_string().contains("gc_lagg"));
    assert!(lag(&["device.geometry.channels="]).is_err(), "a key that is needed");
    let twice = lag(&["device.timing.command=", "device.timing.command="]).unwrap_err().to_string();
    assert!(twice.contains("missing field `command`"), "{twice}");
    // Nothing had set them.
    assert_eq!(lag(&["ftl.victim=", "ftl.reserve=", "buffer.name=cflru", "buffer.period="]).unwrap(), Some(4));
    let error = lag(&["device.cells.read_by_type="]).unwrap_err().to_string();
    assert!(error.contains("device.cells.read_by_type: there is nothing to leave out"), "{error}");
}

#[test]
fn number_that_is_none_does_not_leave_a_key_out() {
    for (text, key) in [
        ("[ram.flush]\nabove = nan\n", "my.toml:2: ram.flush.above"),
        ("\n[ftl]\nname = \"page\"\ngc_lag = -inf\n", "my.toml:4: ftl.gc_lag"),
        ("[device]\nsleep = { after = inf }\n", "device.sleep.after"),
        ("[device.cells]\nread_by_type = [\"40us\", nan]\n", "my.toml:2: device.cells.read_by_type"),
    ] {
        let error = Builder::preset("nvme-client").unwrap().file("my.toml", text).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains("not a finite number"), "{error}");
    }
    for setting in ["ram.flush={above=nan}", "ram.flush.above=nan", "ftl.gc_lag=inf"] {
        let set = Builder::preset("nvme-client").and_then(|base| base.set(setting)).and_then(|base| base.finish());
        assert!(set.is_err(), "{setting}");
    }
}

#[test]
fn every_preset_builds() {
    for (name, _) in DEVICES {
        let builder = Builder::preset(name).unwrap();
        for (key, value) in builder.preset["ftl"].as_object().unwrap() {
            let known = FTLS.iter().any(|ftl| is_known(&json!(ftl.name()), key, value));
            assert!(known, "{name}: no FTL has ftl.{key} = {value}");
        }
        let config = builder.finish().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(&config.device.name, name);
        let device = config.build().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(device.logical_pages(), config.logical_pages());
    }
}

#[test]
fn expanded_form_is_a_configuration_again() {
    let config = Builder::preset("lab").and_then(|b| b.finish()).unwrap();
    let text = config.to_toml();
    let again = Builder::preset("aalru").and_then(|b| b.file("x.toml", &text)).and_then(|b| b.finish()).unwrap();
    assert_eq!(text, again.to_toml());
}

#[test]
fn another_ftl_keeps_what_it_has_too() {
    let ftl = |name: &str| {
        let file = format!("[ftl]\nname = \"{name}\"\n");
        let by_file = Builder::preset("modern-tlc").unwrap().file("my.toml", &file).unwrap();
        let by_name = Builder::preset("modern-tlc").unwrap().plugin("ftl", &PluginConfig::named(name));
        assert_eq!(by_file.root, by_name.root);
        by_name.root["ftl"].clone()
    };
    let paced = json!({"name": "dftl", "placement": "least_busy", "gc_frontier": "separate", "gc_slice": "paced", "gc_lag": 4,
        "map_write_buffer": 16});
    assert_eq!(ftl("dftl"), paced, "the map of `page` is in RAM");
    assert_eq!(ftl("block"), json!({"name": "block"}));
    let settings = ["ftl.frontiers=single", "ftl.reserve=3"];
    let builder = settings.iter().try_fold(Builder::preset("lab").unwrap(), |b, s| b.set(s)).unwrap();
    let named = builder.plugin("ftl", &PluginConfig::parse("dftl:reserve=4", "ftl").unwrap());
    assert_eq!(
        named.root["ftl"],
        json!({"name": "dftl", "frontiers": "single", "reserve": 4}),
        "what is said of it goes before"
    );
    for (name, _) in DEVICES {
        for plugin in FTLS {
            let builder = Builder::preset(name).unwrap().plugin("ftl", &PluginConfig::named(&plugin.name()));
            assert!(builder.finish().is_ok(), "{name}, {}", plugin.name());
        }
    }
}

#[test]
fn ftl_is_the_same_however_it_is_named() {
    for name in ["lab", "lab-drive", "modern-tlc", "g1"] {
        let device = || Builder::preset(name).unwrap();
        let expanded = device().finish().unwrap().to_toml();
        for plugin in FTLS {
            let ftl = plugin.name();
            let of = |builder: Builder| builder.finish().map(|config| config.to_toml()).map_err(|e| e.to_string());
            let named = of(device().plugin("ftl", &PluginConfig::named(&ftl)));
            assert_eq!(of(device().set(&format!("ftl.name={ftl}")).unwrap()), named, "{name}, {ftl}, by its key");
            let file = device().file("my.toml", &expanded).unwrap().plugin("ftl", &PluginConfig::named(&ftl));
            assert_eq!(of(file), named, "{name}, {ftl}, over a file that says all of {name}");
        }
    }
}

#[test]
fn ftl_is_the_same_after_another_one() {
    let mut pairs = 0;
    for preset in ["lab", "lab-drive", "modern-tlc", "aalru", "urm", "g1"] {
        let over = |before: &str, ftl: &str| {
            let builder = Builder::preset("lab").unwrap().file("my.toml", before).unwrap();
            let finished = builder.plugin("ftl", &PluginConfig::named(ftl)).finish();
            finished.map(|config| config.to_toml()).map_err(|error| error.problem)
        };
        let names = FTLS.iter().map(registry::Plugin::name).collect::<Vec<_>>();
        let device = format!("preset = \"{preset}\"\n");
        let named: Vec<_> = names.iter().map(|ftl| over(&device, ftl)).collect();
        for first in named.iter().flatten() {
            for (ftl, named) in names.iter().zip(&named) {
                assert_eq!(over(first, ftl), *named, "{preset}: {ftl} over\n{first}");
                pairs += 1;
            }
        }
        for first in &names {
            for (ftl, named) in names.iter().zip(&named).filter(|(ftl, _)| *ftl != first) {
                assert_eq!(
                    over(&format!("{device}[ftl]\nname = \"{first}\"\n"), ftl),
                    *named,
                    "{preset}: {ftl} after {first}"
                );
            }
        }
    }
    assert!(pairs > 900, "{pairs}");
}

#[test]
fn another_ftl_keeps_what_the_file_says() {
    let over = |file: &str, key: &str| {
        let builder = Builder::preset("lab").unwrap().file("my.toml", file).unwrap();
        let config = builder.plugin("ftl", &PluginConfig::named("dftl")).finish();
        config.map(|config| config.ftl.params[key].clone()).map_err(|error| error.to_string())
    };
    let file = "preset = \"lab-drive\"\n[ftl]\nname = \"page\"\ngc_slice = \"whole\"\n";
    assert_eq!(over(file, "gc_slice"), Ok(json!("whole")), "not the preset's");
    let file = "preset = \"nvme-client\"\n[ftl]\nslc = \"none\"\nslc_blocks = 0\n";
    assert_eq!(over(file, "slc"), Ok(json!("none")));
    let error = over("[ftl]\nname = \"page\"\ngc_lagg = 4\n", "reserve").unwrap_err();
    assert!(error.contains("my.toml:3: ftl.gc_lagg: unknown field"), "{error}");
}

#[test]
fn parameter_that_needs_another_one_is_known() {
    let known = |ftl: &str, key: &str, value: Value| is_known(&json!(ftl), key, &value);
    assert!(known("bast", "lookahead", json!(20)) && known("fast", "sw_switch", json!("lazy")));
    assert!(!known("fast", "lookahead", json!(20)) && !known("bast", "lookahead", json!("far")));
}

#[test]
fn scheduler_of_a_preset_goes_with_its_timing_model() {
    let policy = |settings: &[&str]| {
        let builder = settings.iter().try_fold(Builder::preset("lab-drive")?, |b, setting| b.set(setting))?;
        builder.finish().map(|config| config.device.scheduler == SchedulerConfig::default())
    };
    assert!(!policy(&[]).unwrap());
    assert!(policy(&["device.timing.model=parallel"]).unwrap());
    assert!(policy(&["device.timing.model=serial"]).unwrap());
    let asked = ["device.timing.model=parallel", "device.scheduler.suspend=erase"];
    let error = policy(&asked).unwrap_err().to_string();
    assert!(error.contains("device.scheduler") && error.contains("no scheduler"), "{error}");
}

#[test]
fn lab_drive_has_the_flash_of_lab() {
    let of = |name| Builder::preset(name).and_then(|b| b.finish()).unwrap();
    let (lab, drive) = (of("lab"), of("lab-drive"));
    assert_eq!((lab.device.geometry, lab.logical_pages()), (drive.device.geometry, drive.logical_pages()));
    let cells = |config: &Config| {
        let timing = config.device.timing;
        (timing.page_read, timing.page_program, timing.block_erase, timing.page_transfer)
    };
    assert_eq!(cells(&lab), cells(&drive));
    assert_eq!((lab.ram.dram, lab.ram.nvram), (drive.ram.dram, drive.ram.nvram));
}

#[test]
fn bad_key_names_its_line() {
    let error = |file: &str, settings: &[&str]| {
        let builder = Builder::preset("lab").and_then(|b| b.file("my.toml", file));
        let builder = settings.iter().try_fold(builder.unwrap(), |b, setting| b.set(setting)).unwrap();
        builder.finish().unwrap_err().to_string()
    };
    let in_ram = error("seed = 3\n[ram]\ndram = \"8MiB\"\ndarm = 1\n", &[]);
    assert!(in_ram.contains("my.toml:4") && in_ram.contains("darm"), "{in_ram}");
    // Other tables have such a key too.
    let named = "[device]\nname = \"mine\"\n[replay]\nmode = \"open\"\n[buffer]\nname = \"lruu\"\n";
    assert!(error(named, &[]).contains("my.toml:6"), "{}", error(named, &[]));
    let unknown = error("seed = 3\n[bufer]\nname = \"lru\"\n", &[]);
    assert!(unknown.contains("my.toml:2") && unknown.contains("bufer"), "{unknown}");
    // What was said later is not the file's.
    let later = error("[device.geometry]\npages_per_block = 128\n", &["device.geometry.pages_per_block=1"]);
    assert!(later.contains("pages_per_block") && !later.contains("my.toml"), "{later}");
    let later = Builder::preset("lab").and_then(|b| b.file("my.toml", "[buffer]\nname = \"lru\"\n")).unwrap();
    let later = later.plugin("buffer", &PluginConfig::named("lruu")).finish().unwrap_err().to_string();
    assert!(later.contains("lruu") && !later.contains("my.toml"), "{later}");
}

#[test]
fn file_lays_one_key_as_a_setting_does() {
    let of = |builder: Builder| builder.finish().unwrap().to_toml();
    for (preset, table, key, value) in [
        ("lab-drive", "device.host", "read_overhead", "\"8us\""),
        ("nvme-client", "device.commands", "cache_read", "true"),
        ("lab", "ftl", "reserve", "5"),
        ("lab", "buffer", "name", "\"fifo\""),
        ("lab", "device.over_provisioning", "logical_pages", "1000"),
        ("urm", "ram", "dram", "\"1MiB\""),
    ] {
        let preset = || Builder::preset(preset).unwrap();
        let file = preset().file("my.toml", &format!("[{table}]\n{key} = {value}\n")).unwrap();
        let setting = match table {
            "device.over_provisioning" => preset().set(&format!("{table}={{{key}={value}}}")),
            _ => preset().set(&format!("{table}.{key}={}", value.trim_matches('"'))),
        };
        assert_eq!(of(file), of(setting.unwrap()), "{table}.{key}");
    }
}

#[test]
fn expanded_form_says_what_it_is_without() {
    let of = |builder: Result<Builder, ConfigError>| builder.and_then(|b| b.finish()).map(|config| config.to_toml());
    let mine = |settings: &[&str]| settings.iter().try_fold(Builder::preset("modern-tlc")?, |b, s| b.set(s));
    for settings in [&["ftl.gc_lag="][..], &["ftl.name=dftl", "ftl.gc_lag="], &["ram.flush.age=1s"], &[]] {
        let text = of(mine(settings)).unwrap();
        assert_eq!(text.contains("without = [\"ftl.gc_lag\"]"), settings.contains(&"ftl.gc_lag="), "{text}");
        assert_eq!(of(Builder::preset("lab").and_then(|b| b.file("again.toml", &text))).unwrap(), text);
    }
    let file = |text: &str| of(Builder::preset("lab").and_then(|b| b.file("my.toml", text))).unwrap_err().to_string();
    let error = file("preset = \"modern-tlc\"\nwithout = 3\n");
    assert!(error.contains("my.toml:2: without"), "{error}");
    let error = file("without = [\"ftl.gc_lagg\"]\n");
    assert!(error.contains("my.toml:1") && error.contains("gc_lagg"), "{error}");
}
