//! How far a command is: a bar on standard error, if that is a terminal.

use std::cell::Cell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::fail::Failure;
use crate::output;

/// Steps of the bar for each part of the work.
const STEPS: u64 = 1000;

/// The bar of a command.
pub struct Progress {
    bar: ProgressBar,
    parts: u64,
}

impl Progress {
    /// A bar for work of so many parts, which take about equally long.
    pub fn new(message: &'static str, parts: usize, quiet: bool) -> Self {
        let parts = parts as u64;
        if quiet {
            return Self { bar: ProgressBar::hidden(), parts };
        }
        let target = ProgressDrawTarget::stderr_with_hz(8);
        let bar = ProgressBar::with_draw_target(Some(parts * STEPS), target);
        let style = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  {elapsed} (left: {eta})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(message);
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Self { bar, parts }
    }

    /// Begins one of the parts.
    pub fn part(&self) -> Part<'_> {
        Part { progress: self, told: Cell::new(0) }
    }

    /// Says what is done now.
    pub fn say(&self, message: &'static str) {
        self.bar.set_message(message);
    }

    /// Prints results above the bar.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.bar.suspend(|| output::print(text))
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// A part of the work; complete when it is dropped.
pub struct Part<'a> {
    progress: &'a Progress,
    told: Cell<u64>,
}

impl Part<'_> {
    /// A pass over the trace begins: its progress counts from nothing.
    pub fn begin(&self, message: &'static str) {
        if self.progress.parts == 1 {
            self.progress.say(message);
        }
        self.set(0);
    }
    /// So much of the pass is done.
    pub fn show(&self, done: u64, whole: u64) {
        let share = u128::from(done.min(whole)) * u128::from(STEPS) / u128::from(whole.max(1));
        self.set(share as u64);
    }
    fn set(&self, steps: u64) {
        let told = self.told.replace(steps);
        let bar = &self.progress.bar;
        if steps >= told { bar.inc(steps - told) } else { bar.dec(told - steps) }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.set(STEPS);
    }
}
