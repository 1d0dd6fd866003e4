//! The manual page of an experiment.

use std::fmt::Write;
use std::slice;

use super::{Claim, Experiment, Setting};
use crate::error::Error;

impl Experiment {
    /// The manual page: what holds for all of it, what varies, and what is claimed; headings begin with `# `.
    ///
    /// # Errors
    /// As [`Experiment::runs`].
    pub fn manual(&self) -> Result<String, Error> {
        let runs = self.runs()?;
        let mut page = format!("{}\n\n# What varies\n", self.about.trim());
        for (axis, values) in self.axes()? {
            let value = |name: &String| format!("  {name} = {}\n", self.meaning(axis, name));
            _ = write!(page, "{axis}:\n{}", values.iter().map(value).collect::<String>());
        }
        page += &match runs.keys().next() {
            Some(cell) => format!("{} runs, the first of which is `{cell}`.\n", runs.len()),
            None => "Nothing is simulated.\n".to_owned(),
        };
        if !self.claims.is_empty() {
            page += "\n# Claims\n";
        }
        for Claim { place, claim, printed, .. } in &self.claims {
            _ = writeln!(page, "{place}: {claim} ({printed})");
        }
        Ok(page)
    }

    /// What a value of an axis stands for.
    fn meaning(&self, axis: &str, value: &str) -> String {
        match axis {
            "workload" => self.workloads[value].trace.join(" "),
            "device" => [slice::from_ref(&self.devices[value].base), &self.devices[value].set].concat().join(" "),
            "buffer" => self.buffers[value].clone(),
            "ftl" => self.ftls[value].clone(),
            "seed" => value.to_owned(),
            axis => self.axes[axis][value].iter().map(Setting::words).collect::<Vec<_>>().join(" "),
        }
    }
}
