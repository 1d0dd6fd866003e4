//! A run whose buffer is an agent: what `nandlab.gym` is made of.
//!
//! The run goes on by itself on a thread of its own, as fast as with any other buffer, until a page must leave. Then it waits
//! for what the agent says.

mod chosen;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvError, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use nandlab::config::Precondition;
use nandlab::engine::Engine;
use nandlab_lab::{Error, OwnBuffer, Run, Stop, Watch};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::columns::Memory;
use crate::errors::{from_json, raised, wrong};
use crate::run::RunReport;
use crate::work::bug;
use chosen::{AgentLeft, Asked, Choice, Chosen, FEATURES, Rules, saved};

/// Time between two looks for signals.
const POLL: Duration = Duration::from_millis(25);
/// Most groups that an agent is shown.
const CANDIDATES_MAX: usize = 65_536;

/// What the thread of the run says when it is over.
type End = thread::Result<Result<(RunReport, i64), Error>>;

/// A run that is under way, seen from the agent.
struct Ends {
    asked: Receiver<Asked>,
    answer: Sender<Choice>,
    end: Receiver<End>,
    /// The run waits for an answer.
    waits: bool,
}

/// A run that asks at every page that must leave.
#[pyclass(frozen, module = "nandlab._native")]
pub struct Environment {
    rules: Rules,
    stop: Stop,
    ends: Mutex<Option<Ends>>,
}

/// Features and numbers of the candidates, flash time saved so far in ns, and the page that comes and whether it is written.
type Question<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<u32>>, i64, Option<(u32, bool)>);

/// What an environment says.
#[derive(IntoPyObject)]
pub enum Said<'py> {
    /// A page must leave.
    Question(Question<'py>),
    /// The run is over: its report, and the flash time that it saved in all.
    Over((Py<RunReport>, i64)),
}

#[pymethods]
impl Environment {
    /// Begins the run that the JSON describes. The agent is shown so many groups at a time: pages, or logical blocks.
    #[new]
    #[pyo3(signature = (run, candidates, by_block, memory=None))]
    fn new(run: &str, candidates: usize, by_block: bool, memory: Option<&Bound<'_, Memory>>) -> PyResult<Self> {
        let mut run: Run = from_json(run)?;
        run.workload.memory = memory.map(|memory| memory.get().0.clone());
        if !(1..=CANDIDATES_MAX).contains(&candidates) {
            return Err(wrong(format!("candidates: {candidates} is outside 1 to {CANDIDATES_MAX}")));
        }
        if run.workload.warm_up.is_some() {
            return Err(wrong("warm_up: the rewards of an episode are those of all its requests; leave it out"));
        }
        let (_, config) = run.device.configure().map_err(|error| raised(&error))?;
        if config.precondition == Precondition::Trace {
            return Err(wrong("precondition: \"trace\" runs the trace twice, and an episode is one run: use \"full\""));
        }
        let rules = Rules { candidates, by_block };
        let ((to_agent, asked), (answer, from_agent), (over, end)) =
            (mpsc::channel(), mpsc::channel(), mpsc::channel());
        let times = Arc::new(OnceLock::new());
        let (ends, told) = (Mutex::new(Some((to_agent, from_agent))), Arc::clone(&times));
        run.device.own = Some(OwnBuffer::new("agent", move |parts| {
            let ends = ends.lock().unwrap_or_else(PoisonError::into_inner).take();
            let ends = ends.expect("a run builds its device once");
            let buffer = Chosen::new(rules, ends, Arc::clone(&told), &parts.buffer_shape());
            Ok(Box::new(Engine::new(parts, buffer)?))
        }));
        let stop = Stop::default();
        let seen = stop.clone();
        let task = move || {
            let done = catch_unwind(AssertUnwindSafe(|| {
                let report = run.report(&Watch::new(seen, |_| ()))?;
                let saved = times.get().map_or(0, |times| saved(&report.ledger, *times));
                Ok((RunReport::new(report, None), saved))
            }));
            // The agent is told that nothing more is asked before it is told the end.
            drop(run);
            _ = over.send(done);
        };
        let spawned = thread::Builder::new().name("nandlab".to_owned()).stack_size(8 << 20).spawn(task);
        spawned.map_err(|error| PyRuntimeError::new_err(format!("no thread: {error}")))?;
        Ok(Self { rules, stop, ends: Mutex::new(Some(Ends { asked, answer, end, waits: false })) })
    }

    /// How many numbers are shown of a candidate.
    #[classattr]
    const FEATURES: usize = FEATURES;

    /// Answers the question, if there is one, and goes on to the next or to the end.
    ///
    /// # Errors
    /// Those of the run; a choice that is none; a signal came.
    #[pyo3(signature = (candidate=0, pad=false))]
    fn advance<'py>(&self, py: Python<'py>, candidate: usize, pad: bool) -> PyResult<Said<'py>> {
        if candidate >= self.rules.candidates {
            return Err(wrong(format!("candidate: {candidate} is not below {}", self.rules.candidates)));
        }
        let mut place = self.ends.try_lock().map_err(|_| wrong("the environment is in use by another thread"))?;
        let Some(ends) = place.as_mut() else { return Err(wrong("the episode is over: begin another")) };
        if ends.waits {
            // If the run is over meanwhile, the end is what is heard next.
            _ = ends.answer.send(Choice { candidate, pad });
            ends.waits = false;
        }
        loop {
            let asked = &mut ends.asked;
            match py.detach(move || asked.recv_timeout(POLL)) {
                Ok(asked) => {
                    ends.waits = true;
                    let Asked { features, groups, saved, comes } = asked;
                    let features = PyArray1::from_vec(py, features).reshape([self.rules.candidates, FEATURES])?;
                    return Ok(Said::Question((features, PyArray1::from_vec(py, groups), saved, comes)));
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let end = place.take().map(|ends| ends.end);
        match py.detach(move || end.map_or(Err(RecvError), |end| end.recv())) {
            Ok(Ok(Ok((report, saved)))) => Ok(Said::Over((Py::new(py, report)?, saved))),
            Ok(Ok(Err(error))) => Err(raised(&error)),
            Ok(Err(panic)) if panic.is::<AgentLeft>() => Err(bug(&"the run lost its agent")),
            Ok(Err(panic)) => Err(bug(&*panic)),
            Err(_) => Err(bug(&"its thread ended")),
        }
    }
}

impl Drop for Environment {
    /// The run ends by itself at its next batch or question.
    fn drop(&mut self) {
        self.stop.stop();
    }
}
