//! Work of the laboratory on a thread of its own: other threads of Python go on meanwhile, and Ctrl-C ends it at once.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use nandlab_lab::{Error, Event, Stop, Watch};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;

use crate::errors::raised;

/// Time between two looks for signals, and between two calls of `progress`.
const POLL: Duration = Duration::from_millis(25);
/// Time between two looks whether the waiting thread has had its turn.
const GLANCE: Duration = Duration::from_micros(20);
/// In units of what the progress is kept.
const WHOLE: f64 = 1e6;

/// Work that asks code in Python and may not be over: the interpreter must not end before it.
static ASKING: Mutex<Vec<Asking>> = Mutex::new(Vec::new());

struct Asking {
    goes_on: Weak<()>,
    /// The process whose thread does it: a child by `fork` has a copy of this list and no such thread.
    process: u32,
    stop: Stop,
}

thread_local! {
    /// The wish that the work of this thread ends: what code in Python begins there ends with it.
    static OUTER: RefCell<Stop> = RefCell::default();
}

/// How work that keeps the lock of the interpreter, and the thread that waits for it and looks for signals, take turns.
///
/// The interpreter itself lets threads take turns by a request of the one that waits; on two idle processors that was seen to
/// fail for seconds. Clones share it.
#[derive(Clone, Default)]
pub struct Turns {
    wanted: Arc<AtomicBool>,
    /// The wish that the work ends.
    pub stop: Stop,
}

impl Turns {
    /// Gives the interpreter to the waiting thread, if it wants it.
    pub fn give(&self, py: Python<'_>) {
        if self.wanted.load(Ordering::Relaxed) {
            py.detach(|| {
                while self.wanted.load(Ordering::Acquire) {
                    thread::sleep(GLANCE);
                }
            });
        }
    }

    /// Waits without the interpreter, and takes it when that is over.
    fn wait<R: Send>(&self, py: Python<'_>, wait: impl FnOnce() -> R + Send) -> R {
        let waited = py.detach(|| {
            let waited = wait();
            self.wanted.store(true, Ordering::Release);
            waited
        });
        self.wanted.store(false, Ordering::Release);
        waited
    }
}

/// What the work has told.
#[derive(Default)]
struct Told {
    share: AtomicU64,
    warnings: Mutex<Vec<String>>,
}

impl Told {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::Progress(_, share) => self.share.store((share * WHOLE) as u64, Ordering::Relaxed),
            Event::Warning(text) => {
                self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
            }
        }
    }

    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let said = std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner));
        for text in said {
            let text = std::ffi::CString::new(text.replace('\0', "")).unwrap_or_default();
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
        }
        Ok(())
    }
}

/// Does work on another thread, and calls `progress` with its share from 0 to 1 every now and then. A signal is noticed within
/// 25 ms and ends the call within 75 ms, also while a device is built that does not look at its [`Stop`]: then its thread ends by
/// itself, later.
///
/// # Errors
/// Those of the work, an exception of a signal's handler or of `progress`, a warning that is an error.
pub fn away<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    carry_out(py, &Turns::default(), progress, work)
}

/// The same of work that asks code in Python: it takes turns with the caller by `turns`, and ends by its `stop`.
///
/// # Errors
/// As [`away`].
pub fn away_until<T: Send + 'static>(
    py: Python<'_>,
    turns: &Turns,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let goes_on = Arc::new(());
    asking().push(Asking { goes_on: Arc::downgrade(&goes_on), process: std::process::id(), stop: turns.stop.clone() });
    carry_out(py, turns, progress, move |watch| {
        let done = work(watch);
        drop(goes_on);
        done
    })
}

/// Work that asks code in Python and is not over.
fn asking() -> MutexGuard<'static, Vec<Asking>> {
    let (mut asking, process) = (ASKING.lock().unwrap_or_else(PoisonError::into_inner), std::process::id());
    asking.retain(|work| work.process == process && work.goes_on.strong_count() > 0);
    asking
}

/// Ends all work that asks code in Python, and waits for that: to be called before the interpreter ends, which such work would
/// not survive. A function that takes its time is waited for.
///
/// # Errors
/// A signal came.
#[pyfunction]
pub fn end_work(py: Python<'_>) -> PyResult<()> {
    loop {
        let stops: Vec<Stop> = asking().iter().map(|work| work.stop.clone()).collect();
        if stops.is_empty() {
            return Ok(());
        }
        stops.iter().for_each(Stop::stop);
        py.detach(|| thread::sleep(POLL / 5));
        py.check_signals()?;
    }
}

fn carry_out<T: Send + 'static>(
    py: Python<'_>,
    turns: &Turns,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let told = Arc::new(Told::default());
    let (sender, mut done) = mpsc::channel();
    let (seen, hears) = (turns.stop.clone(), Arc::clone(&told));
    let outer = OUTER.with_borrow(Clone::clone);
    let task = move || {
        OUTER.set(seen.clone());
        let watch = Watch::new(seen, |event| hears.hear(event));
        // Nobody waits any more after a signal.
        _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&watch))));
    };
    let spawned = thread::Builder::new().name("nandlab".to_owned()).stack_size(8 << 20).spawn(task);
    spawned.map_err(|error| PyRuntimeError::new_err(format!("no thread: {error}")))?;
    loop {
        let (received, receiver) = turns.wait(py, move || (done.recv_timeout(POLL), done));
        done = receiver;
        let step = match received {
            // What is stopped while it asks is unwound.
            Ok(Err(_)) if turns.stop.is_stopped() => return Err(PyKeyboardInterrupt::new_err(())),
            Ok(result) => {
                told.warn(py)?;
                return result.map_err(|panic| bug(&*panic))?.map_err(|error| raised(&error));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(bug(&"its thread ended")),
            // Signals come to another thread if this is the work of one that was called away.
            Err(RecvTimeoutError::Timeout) if outer.is_stopped() => Err(PyKeyboardInterrupt::new_err(())),
            Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| {
                let share = told.share.load(Ordering::Relaxed) as f64 / WHOLE;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1((share,)).map(|_| ()))
            }),
        };
        if let Err(exception) = step {
            turns.stop.stop();
            // What looks at its `Stop` has ended when the caller goes on, a policy in Python above all.
            py.detach(move || _ = done.recv_timeout(2 * POLL));
            return Err(exception);
        }
    }
}

/// A broken invariant, which is never the fault of an input.
pub fn bug(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let (version, text) = (env!("CARGO_PKG_VERSION"), text.unwrap_or("it panicked"));
    PyRuntimeError::new_err(format!("this is a bug in nandlab {version}, please report it with its input: {text}"))
}
