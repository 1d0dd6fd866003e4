//! How far a command is: a bar on standard error, if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nandlab_lab::{Event, Phase, Watch};

use crate::fail::Failure;
use crate::interrupt;
use crate::output;

/// Steps of the bar.
const STEPS: u64 = 100_000;

/// The bar of a command; it is removed when it is dropped.
pub struct Progress {
    bar: ProgressBar,
    /// It says what the simulation does, else what the command does.
    has_phases: bool,
}

impl Progress {
    /// A bar for a command of several simulations.
    pub fn new(message: &'static str, quiet: bool) -> Self {
        Self::with(message, false, quiet)
    }

    /// A bar for a single simulation.
    pub fn of_phases(quiet: bool) -> Self {
        Self::with(word(Phase::Building), true, quiet)
    }

    fn with(message: &'static str, has_phases: bool, quiet: bool) -> Self {
        if quiet {
            return Self { bar: ProgressBar::hidden(), has_phases };
        }
        let target = ProgressDrawTarget::stderr_with_hz(8);
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  {elapsed} (left: {eta})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(message);
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Self { bar, has_phases }
    }

    /// Shows what the laboratory tells, and lets signals stop it.
    pub fn watch(&self) -> Watch<'_> {
        Watch::new(interrupt::stop(), |event| match event {
            Event::Progress(phase, share) => {
                if self.has_phases {
                    self.bar.set_message(word(phase));
                }
                self.bar.set_position((share * STEPS as f64) as u64);
            }
            Event::Warning(warning) => self.complain(&format!("warning: {warning}")),
        })
    }

    /// Prints results above the bar.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.bar.suspend(|| output::print(text))
    }

    /// Says what is done at the moment.
    pub fn say(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Prints a message on standard error, above the bar.
    pub fn complain(&self, text: &str) {
        self.bar.suspend(|| output::complain(text));
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

const fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Building => "building the device",
        Phase::Preconditioning => "preconditioning",
        Phase::Replaying => "replaying",
    }
}
