//! Ctrl-C and the like. The first signal asks everything to end: work looks at a flag, leaves by the way of errors, and what
//! was finished is printed. The second one ends the process at once. Either way no incomplete file is left.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use nandlab_lab::Stop;

/// The wish that all work ends: a signal came, or an error made the rest of it pointless.
static STOP: LazyLock<Stop> = LazyLock::new(Stop::default);
/// The signal that came; 0 for none.
static SIGNAL: AtomicU8 = AtomicU8::new(0);

/// The wish, for all work of this command.
pub fn stop() -> Stop {
    STOP.clone()
}

/// The exit code of a process that a signal ended, as shells count it; nothing if none came.
pub fn exit_code() -> Option<u8> {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => None,
        signal => Some(128 + signal),
    }
}

/// Begins to listen for SIGINT (Ctrl-C), SIGTERM, and SIGHUP (the terminal is gone) unless that is ignored, as under `nohup`. A
/// file that may not grow any more (SIGXFSZ) is an error of writing. On other systems than Unix they end the process as usual.
pub fn listen() {
    #[cfg(unix)]
    unix::listen();
}

#[cfg(unix)]
mod unix {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::thread;
    use std::time::Duration;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    use super::{SIGNAL, exit_code, stop};

    /// Time for work to end by itself after the first signal. What does not look at the flag, such as a read from a pipe to
    /// which nobody writes, is given no more.
    const GRACE: Duration = Duration::from_secs(5);

    pub fn listen() {
        // Without memory for it the signals have their usual effect.
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
        if !ignores_hangup() {
            _ = signals.handle().add_signal(SIGHUP);
        }
        // Once there is a handler, the write fails.
        _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        thread::spawn(move || {
            let mut forever = signals.forever();
            if let Some(signal) = forever.next() {
                SIGNAL.store(signal as u8, Ordering::Relaxed);
                stop().stop();
                thread::spawn(|| {
                    thread::sleep(GRACE);
                    end();
                });
            }
            forever.next();
            end();
        });
    }

    /// This process was told to ignore SIGHUP, which is bit 0 of the mask that Linux shows. Where that is not known, it keeps
    /// its usual effect.
    fn ignores_hangup() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
    }

    /// Ends the process without leaving its scopes.
    fn end() {
        nandlab_trace::remove_unfinished();
        std::process::exit(i32::from(exit_code().unwrap_or(1)));
    }
}
