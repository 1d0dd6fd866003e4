//! The command line of a run.

use crate::address::Address;
use crate::run::Run;
use crate::text::shell_word;
use crate::word::Word;
use crate::workload::Workload;

impl Run {
    /// The command that carries it out alone: `nandlab run` with all that differs from the defaults, quoted for a shell.
    pub fn command(&self) -> String {
        let mut words = vec!["nandlab".to_owned(), "run".to_owned()];
        let Self { device, workload } = self;
        words.extend(workload.trace.iter().cloned());
        let mut option = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                let name = format!("--{}", name.replace('_', "-"));
                // `--rebase` has a bound of its own when none is given, so that a word after it would be a trace.
                words.extend(if name == "--rebase" { vec![format!("{name}={value}")] } else { vec![name, value] });
            }
        };
        for (key, value) in workload.reading.given() {
            option(key, Some(value));
        }
        let default = Workload::default();
        option("address", (workload.address != Address::default()).then(|| workload.address.word()));
        option("volumes", (workload.volumes != default.volumes).then(|| workload.volumes.word()));
        option("limit", workload.limit.map(|limit| limit.to_string()));
        option("warm_up", workload.warm_up.map(|warm_up| warm_up.word()));
        option("device", Some(device.base.clone()));
        option("buffer", device.buffer.clone());
        option("ftl", device.ftl.clone());
        option("capacity", device.capacity.as_ref().map(Word::word));
        for setting in &device.set {
            option("set", Some(setting.clone()));
        }
        words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn command_names_what_differs_and_quotes_for_a_shell() {
        let device =
            Device { ftl: Some("dftl".to_owned()), set: vec!["ram.dram=2MiB".to_owned()], ..Device::of("lab") };
        let workload = Workload { limit: Some(7), ..Workload::of("it's *.csv") };
        let command = Run { device, workload }.command();
        assert_eq!(command, r"nandlab run 'it'\''s *.csv' --limit 7 --device lab --ftl dftl --set ram.dram=2MiB");
        let mut workload = Workload::of("t.csv");
        workload.reading.rebase = Some(nandlab::types::Nanos(5));
        let command = Run { device: Device::of("lab"), workload }.command();
        assert_eq!(command, "nandlab run t.csv --rebase=5ns --device lab", "one word: the bound may be left out");
    }
}
