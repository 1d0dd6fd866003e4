//! A buffer policy that is in no list, as part of a device.

use std::fmt;
use std::sync::Arc;

use nandlab::config::{Config, PluginConfig};
use nandlab::engine::{Parts, Ssd};
use nandlab::error::ConfigError;

/// A policy of the caller's own, instead of one of the lists. Clones share the function that builds it.
#[derive(Clone)]
pub struct OwnBuffer {
    name: String,
    build: Arc<Build>,
    hold: Arc<Hold>,
}

type Hold = dyn Fn(&mut dyn FnMut()) + Send + Sync;
type Build = dyn Fn(Parts) -> Result<Box<dyn Ssd>, ConfigError> + Send + Sync;

impl OwnBuffer {
    /// A policy with the name under which reports show it, and what makes a device around it
    /// ([`Engine::new`](nandlab::engine::Engine::new)).
    pub fn new(name: &str, build: impl Fn(Parts) -> Result<Box<dyn Ssd>, ConfigError> + Send + Sync + 'static) -> Self {
        Self { name: name.to_owned(), build: Arc::new(build), hold: Arc::new(|work| work()) }
    }

    /// The same, and `hold` is given what the device does once it is built, and carries it out: for a policy that would have to
    /// take something again at every call.
    #[must_use]
    pub fn holding(self, hold: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static) -> Self {
        Self { hold: Arc::new(hold), ..self }
    }

    /// Carries out what the device does.
    pub(crate) fn hold<R>(&self, work: impl FnOnce() -> R) -> R {
        let (mut work, mut done) = (Some(work), None);
        (self.hold)(&mut || done = work.take().map(|work| work()));
        done.expect("`hold` carries out the work")
    }

    /// The configuration as reports show it.
    pub(crate) fn shown(&self, config: &Config) -> Config {
        Config { buffer: PluginConfig::named(&self.name), ..config.clone() }
    }

    /// The new device of a configuration around this policy.
    ///
    /// # Errors
    /// As [`Config::fresh_around`].
    pub(crate) fn device(&self, config: &Config) -> Result<Box<dyn Ssd>, ConfigError> {
        config.fresh_around(|parts| (self.build)(parts))
    }
}

impl PartialEq for OwnBuffer {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.build, &other.build)
    }
}

impl fmt::Debug for OwnBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnBuffer({})", self.name)
    }
}
