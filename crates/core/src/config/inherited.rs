//! What a preset says that would have no effect, or contradict what is laid over it: it goes with what it depends on.

use serde_json::Value;

use crate::ftl::placement::Placement;

/// Something laid over a preset.
#[derive(Clone, Debug)]
pub(super) enum Laid {
    Layer(Value),
    Key(String, Value),
}

/// What keys of a preset depend on is gone.
type IsGone = fn(&Value) -> bool;

/// By what they depend on, keys of a preset.
const HANG_ON: [(IsGone, &[&str]); 5] = [
    (suspends_nothing, &["/device/scheduler/suspend_time", "/device/scheduler/resume_time"]),
    (places_by_number, &["/ftl/whole_units"]),
    (programs_single_pages, &["/ftl/whole_units"]),
    (ends_before_it_begins, &["/ram/flush/below"]),
    (keeps_no_pages, &["/ram/flush"]),
];

fn suspends_nothing(root: &Value) -> bool {
    root["device"]["scheduler"]["suspend"] == "none"
}

fn places_by_number(root: &Value) -> bool {
    let placement = root["ftl"].get("placement").cloned();
    // The default is a number.
    placement.is_none_or(|name| serde_json::from_value(name).is_ok_and(|named: Placement| named.rule().by_number))
}

fn programs_single_pages(root: &Value) -> bool {
    root["device"]["commands"]["unit_pages"].as_u64().unwrap_or(1) == 1
}

fn ends_before_it_begins(root: &Value) -> bool {
    let mark = |key| root["ram"]["flush"][key].as_f64();
    mark("below").is_some_and(|below| mark("above").is_none_or(|above| above < below))
}

fn keeps_no_pages(root: &Value) -> bool {
    root["buffer"]["name"] == "none"
}

/// Takes out what only the preset says and what depends on something that was set otherwise. What is asked for in
/// addition to the preset stays, and is refused.
pub(super) fn without_what_hangs(mut root: Value, laid: &[Laid]) -> Value {
    for (is_gone, keys) in HANG_ON {
        if is_gone(&root) {
            for key in keys.iter().filter(|key| !laid.iter().any(|laid| laid.says(key))) {
                let (table, last) = key.rsplit_once('/').expect("a path begins with a slash");
                if let Some(table) = root.pointer_mut(table).and_then(Value::as_object_mut) {
                    table.remove(last);
                }
            }
        }
    }
    root
}

impl Laid {
    /// It says something of a key, `/ftl/reserve`, or of a part of it.
    pub(super) fn says(&self, pointer: &str) -> bool {
        match self {
            Self::Layer(layer) => layer.pointer(pointer).is_some(),
            Self::Key(key, value) => {
                let said = format!("/{}", key.replace('.', "/"));
                let is_part = said.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
                let rest = pointer.strip_prefix(&*said);
                is_part || rest.is_some_and(|rest| value.pointer(rest).is_some())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Builder, Config};
    use crate::error::ConfigError;

    fn drive(settings: &[&str]) -> Result<Config, ConfigError> {
        settings.iter().try_fold(Builder::preset("nvme-client")?, |builder, setting| builder.set(setting))?.finish()
    }

    #[test]
    fn preset_keys_go_with_what_they_hang_on() {
        let usual = drive(&[]).unwrap();
        assert!(usual.ftl.params["whole_units"] == true && usual.ram.flush.below.is_some());
        let by_number = drive(&["ftl.placement=lpn"]).unwrap();
        assert_eq!(by_number.ftl.params["whole_units"], false);
        let by_page = drive(&["device.commands.unit_pages=1"]).unwrap();
        assert_eq!(by_page.ftl.params["whole_units"], false);
        let lower = drive(&["ram.flush.above=0.3"]).unwrap();
        assert_eq!((lower.ram.flush.above, lower.ram.flush.below), (Some(0.3), None));
        assert_eq!(drive(&["ram.flush.above=0.7"]).unwrap().ram.flush.below, usual.ram.flush.below);
        assert!(drive(&["buffer.name=none"]).unwrap().build().is_ok());
        let waits = drive(&["device.scheduler.suspend=none"]).unwrap();
        assert_eq!(waits.device.scheduler.suspend_time.0, 0);
    }

    #[test]
    fn what_is_asked_for_stays_and_is_refused() {
        for (settings, key) in [
            (["ftl.placement=lpn", "ftl.whole_units=true"], "ftl.whole_units"),
            (["ftl={name=\"page\", placement=\"lpn\", whole_units=true}", "seed=1"], "ftl.whole_units"),
            (["device.commands.unit_pages=1", "ftl.whole_units=true"], "ftl.whole_units"),
            (["ram.flush.above=0.3", "ram.flush.below=0.48"], "ram.flush.below"),
            (["buffer.name=none", "ram.flush.age=1s"], "ram.flush"),
            (["device.scheduler.suspend=none", "device.scheduler.resume_time=1us"], "device.scheduler.resume_time"),
        ] {
            let error = drive(&settings).and_then(|config| config.build().map(|_| ())).unwrap_err();
            assert_eq!(error.key, key, "{settings:?}: {error}");
        }
        let file = "[ftl]\nplacement = \"lpn\"\nwhole_units = true\n";
        let builder = Builder::preset("nvme-client").and_then(|builder| builder.file("mine.toml", file)).unwrap();
        let error = builder.finish().and_then(|config| config.build().map(|_| ())).unwrap_err();
        assert_eq!(error.key, "ftl.whole_units");
    }
}
