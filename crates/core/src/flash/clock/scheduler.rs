//! Schedulers: which of the waiting operations an idle die takes. One file and one line each.
//!
//! A scheduler chooses a class; within a class the first that came is the first that goes. A file has its facts (`RULE`)
//! and what it chooses by (`key`), which is compiled into the path of every operation that waited.

use serde::{Deserialize, Serialize};

use super::{CLASSES, OpClass};
use crate::error::ConfigError;
use crate::registry::Plugin;
use crate::registry::rules::{self, Choice};
use crate::types::Nanos;

macro_rules! schedulers {
    ($($name:ident,)+) => {
        rules::rules! {
            /// All schedulers; the first is the default.
            SCHEDULERS: SchedulerRule, "scheduler";
            $($name,)+
        }

        /// Of several classes that have an operation waiting a die takes the one of which this is least, of equal ones the
        /// most urgent. Below 2^61.
        #[inline]
        pub(super) fn key(scheduler: Scheduler, head: &Head) -> u64 {
            #[expect(non_camel_case_types, reason = "they are names of modules")]
            enum Index { $($name,)+ }
            $(if scheduler.index() == Index::$name as u8 {
                return $name::key(head);
            })+
            unreachable!("every scheduler is in the list")
        }
    };
}

schedulers! {
    fifo,
    read_first,
    fair_share,
}

/// What is known of a scheduler beforehand.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerRule {
    /// Operations go in the order in which they came, whatever their class.
    pub keeps_order: bool,
    /// Host and map reads go first, so that it makes sense to suspend what a die does for them.
    pub prefers_reads: bool,
}

impl rules::Rule for SchedulerRule {
    const KIND: &'static str = "scheduler";
    const ALL: &'static [Plugin<Self>] = SCHEDULERS;
    const KEY: &'static str = "device.scheduler.policy";
    const CHOSEN_BY: &'static str = "devices with `device.timing.model = \"scheduled\"`";
}

/// A scheduler, as a configuration names it.
pub type Scheduler = Choice<SchedulerRule>;

/// The first operation of a class that waits for a die.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// When it came, as a number that grows with every operation, below 2^56.
    pub order: u64,
    /// How urgent it is, the least first. Its class, or that of a host write if such a one waits for it.
    pub rank: OpClass,
    /// The time that the die has worked for its class, as fair queueing counts it, ns: below 2^61, for times end at 2^60.
    pub work: u64,
}

/// The classes in a mask, the most urgent first.
#[inline]
pub(super) fn classes_of(mask: u8) -> impl Iterator<Item = usize> {
    let mut mask = u32::from(mask);
    std::iter::from_fn(move || {
        let class = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (class < CLASSES).then_some(class)
    })
}

/// What a die may suspend for a host read or map read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suspend {
    /// Nothing.
    #[default]
    None,
    /// Erases.
    Erase,
    /// Erases and programs.
    EraseAndProgram,
}

/// Which of the dies that wait for a channel uses it next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelOrder {
    /// The one that asked first, as with the timing model `parallel`.
    #[default]
    AsAsked,
    /// Command phases without data go before pages: they are short, and put the cells of a die to work. A die waits for at
    /// most one more command of each of the others.
    CommandsFirst,
    /// Pages that were read go before commands and the pages of programs, as in MQSim (Tavakkol et al., FAST 2018; its source,
    /// where a channel becomes idle): what was read is answered sooner, and dies wait for their commands.
    DataFirst,
}

/// In which order a die takes what waits for it, and what it interrupts for a read. For the timing model `scheduled`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Which of the waiting operations goes next.
    pub policy: Scheduler,
    /// If operations have waited this long, every other one that the die takes is the first of them, whatever its class; and an
    /// operation that was begun this long ago is not suspended any more. So nothing starves.
    pub most_wait: Nanos,
    /// What a die may suspend for a host read or map read.
    pub suspend: Suspend,
    /// From the decision to suspend to when the die can read.
    pub suspend_time: Nanos,
    /// What the suspended operation takes longer each time it goes on.
    pub resume_time: Nanos,
    /// Which die uses a channel next.
    pub channel: ChannelOrder,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            policy: Scheduler::default(),
            most_wait: Nanos(100_000_000),
            suspend: Suspend::None,
            suspend_time: Nanos::ZERO,
            resume_time: Nanos::ZERO,
            channel: ChannelOrder::AsAsked,
        }
    }
}

impl SchedulerConfig {
    /// Refuses what would be without effect where a command takes `command`, and times out of range.
    ///
    /// # Errors
    /// Names the key.
    pub fn check(&self, schedules: bool, command: Nanos) -> Result<(), ConfigError> {
        if !schedules && *self != Self::default() {
            let problem = "this timing model has no scheduler: its dies take what comes first";
            let help = "use device.timing.model = \"scheduled\", or set policy = \"fifo\" and leave the other keys out";
            return Err(ConfigError::new("device.scheduler", problem, help));
        }
        if self.policy.rule().keeps_order && self.most_wait != Self::default().most_wait {
            let problem = format!("with `{}` nothing is overtaken", self.policy.name());
            return Err(ConfigError::new(
                "device.scheduler.most_wait",
                problem,
                "leave it out, or choose another policy",
            ));
        }
        if self.channel == ChannelOrder::CommandsFirst && command == Nanos::ZERO {
            let problem = "commands take no time, so that none waits for its channel";
            let help = "set device.timing.command, or leave it out";
            return Err(ConfigError::new("device.scheduler.channel", problem, help));
        }
        if self.suspend != Suspend::None && self.most_wait == Nanos::ZERO {
            let problem = "an operation that was begun 0 ns ago is not suspended any more";
            return Err(ConfigError::new(
                "device.scheduler.most_wait",
                problem,
                "use more than 0, or suspend = \"none\"",
            ));
        }
        if self.suspend != Suspend::None && !self.policy.rule().prefers_reads {
            let problem = format!("`{}` lets no read go first, so that nothing is ever suspended", self.policy.name());
            let help = "use suspend = \"none\" with it, or policy = \"read_first\"";
            return Err(ConfigError::new("device.scheduler.suspend", problem, help));
        }
        if self.suspend == Suspend::None && self.suspend_time.max(self.resume_time) > Nanos::ZERO {
            let help = "use suspend = \"erase\" or \"erase_and_program\", or leave the times out";
            let key = if self.suspend_time > Nanos::ZERO { "suspend_time" } else { "resume_time" };
            return Err(ConfigError::new(format!("device.scheduler.{key}"), "nothing is suspended", help));
        }
        Ok(())
    }

    /// True if an erase, or else a program, may be suspended.
    #[inline]
    pub(super) const fn suspends(&self, is_erase: bool) -> bool {
        match self.suspend {
            Suspend::None => false,
            Suspend::Erase => is_erase,
            Suspend::EraseAndProgram => true,
        }
    }
}

impl OpClass {
    /// How urgent an operation of this class is if a host write waits for it.
    #[inline]
    pub(super) fn hurried(self) -> Self {
        self.min(Self::HostWrite)
    }
}
