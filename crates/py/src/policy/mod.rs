//! Buffer policies written in Python: the hooks of [`Buffer`], called under their names.
//!
//! A hook that a class does not have costs nothing. An exception in a hook, or an answer that makes no sense, ends the run: the
//! exception waits in [`Raised`] while the stack of the engine is unwound.

mod lent;
mod plan;
pub mod views;

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use nandlab::buffer::{Access, Admission, Buffer, BufferShape, Fill, Frames, Grain, Medium, Plan, Sense, Slots};
use nandlab::engine::Engine;
use nandlab::error::ConfigError;
use nandlab::types::Slot;
use nandlab_lab::OwnBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::work::Turns;
pub use plan::{PlanView, medium};
use views::{AccessView, SenseView, SlotsView};

/// The exception that ended a run, if one did, and the wish that it ends. Clones share both.
#[derive(Clone, Default)]
pub struct Raised {
    exception: Arc<Mutex<Option<PyErr>>>,
    /// Work that asks code in Python looks at it whenever it asks.
    pub turns: Turns,
}

impl Raised {
    /// Keeps the first exception.
    pub fn keep(&self, exception: PyErr) {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
    }
    /// The exception, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What unwinds the stack when a policy failed, the exception is in [`Raised`] then, or when the run is to end.
pub struct PolicyFailed;

/// The hooks that an object has.
struct Hooks {
    resize: Option<Py<PyAny>>,
    on_hit: Option<Py<PyAny>>,
    on_miss: Option<Py<PyAny>>,
    make_room: Py<PyAny>,
    on_insert: Option<Py<PyAny>>,
    after_access: Option<Py<PyAny>>,
    on_remove: Py<PyAny>,
    on_clean: Option<Py<PyAny>>,
}

impl Hooks {
    fn of(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = policy.get_type().name()?;
        let maybe = |hook: &str| match policy.getattr_opt(hook)? {
            Some(found) if found.is_none() => Ok(None),
            Some(found) if found.is_callable() => Ok(Some(found.unbind())),
            Some(_) => Err(PyTypeError::new_err(format!("buffer: {name}.{hook} is not a method"))),
            None => Ok(None),
        };
        let must = |hook: &str| {
            maybe(hook)?.ok_or_else(|| PyTypeError::new_err(format!("buffer: {name} has no method {hook}")))
        };
        Ok(Self {
            resize: maybe("resize")?,
            on_hit: maybe("on_hit")?,
            on_miss: maybe("on_miss")?,
            make_room: must("make_room")?,
            on_insert: maybe("on_insert")?,
            after_access: maybe("after_access")?,
            on_remove: must("on_remove")?,
            on_clean: maybe("on_clean")?,
        })
    }
}

/// A policy in Python.
pub struct PythonBuffer {
    hooks: Hooks,
    grain: Grain,
    fetches_first: bool,
    access: Py<AccessView>,
    slots: Py<SlotsView>,
    sense: Py<SenseView>,
    plan: Py<PlanView>,
    raised: Raised,
    /// Memory to which the page at hand is admitted.
    admitted: Medium,
    /// Times that the policy was asked to make room for the page at hand.
    rounds: usize,
}

/// A policy in Python as the buffer of a device: an object, or a class of which every device gets an object of its own.
pub fn own_buffer(policy: Py<PyAny>, raised: Raised) -> PyResult<OwnBuffer> {
    let name = Python::attach(|py| {
        let policy = policy.bind(py);
        let class = policy.cast::<pyo3::types::PyType>().cloned().unwrap_or_else(|_| policy.get_type());
        class.name().map(|name| format!("{name} (Python)"))
    })?;
    let of = name.clone();
    let buffer = OwnBuffer::new(&name, move |parts| {
        let shape = parts.buffer_shape();
        shape.need_frames(&of, shape.frames.total(), 1, "a page")?;
        let buffer = Python::attach(|py| PythonBuffer::new(policy.bind(py), &shape, raised.clone()));
        let buffer = buffer.map_err(|exception| {
            let error = ConfigError::new("buffer", exception.to_string(), "see docs/python.md");
            raised.keep(exception);
            error
        })?;
        Ok(Box::new(Engine::new(parts, buffer)?))
    });
    // To take the lock of the interpreter at every access would cost as much as the access. It is given away whenever another
    // thread of Python wants it, as by any code in Python, and to who waits for the run by `Turns`.
    Ok(buffer.holding(|work| Python::attach(|_| work())))
}

impl PythonBuffer {
    fn new(policy: &Bound<'_, PyAny>, shape: &BufferShape, raised: Raised) -> PyResult<Self> {
        let py = policy.py();
        let policy = if policy.is_instance_of::<pyo3::types::PyType>() { &policy.call0()? } else { policy };
        let slots = Py::new(py, SlotsView::new(shape))?;
        let sense = Py::new(py, SenseView::new(shape.times))?;
        let hooks = Hooks::of(policy)?;
        if let Some(begin) = policy.getattr_opt("begin")?.filter(|begin| !begin.is_none()) {
            begin.call1((shape_of(py, shape)?, &slots, &sense))?;
        }
        let flag = |name: &str| policy.getattr_opt(name)?.map_or(Ok(false), |value| value.is_truthy());
        let grain = match policy.getattr_opt("grain")?.map(|grain| grain.extract::<String>()).transpose()?.as_deref() {
            None | Some("page") => Grain::Page,
            Some("block") => Grain::Block,
            Some(other) => {
                return Err(PyValueError::new_err(format!("grain: {other:?} is neither \"page\" nor \"block\"")));
            }
        };
        Ok(Self {
            hooks,
            grain,
            fetches_first: flag("fetches_first")?,
            access: Py::new(py, AccessView::default())?,
            plan: Py::new(py, PlanView::new(slots.clone_ref(py)))?,
            slots,
            sense,
            raised,
            admitted: Medium::Dram,
            rounds: 0,
        })
    }

    /// Calls the policy with the slots lent to it; whatever goes wrong ends the run.
    fn ask<R>(&self, slots: &Slots, call: impl FnOnce(Python<'_>) -> PyResult<R>) -> R {
        let asked = Python::attach(|py| {
            self.raised.turns.give(py);
            // A run looks at it between batches only, which take long with a policy in Python.
            if self.raised.turns.stop.is_stopped() {
                resume_unwind(Box::new(PolicyFailed));
            }
            self.slots.get().lent.during(py, slots, || call(py))
        });
        match asked {
            Ok(answer) => answer,
            Err(exception) => {
                self.raised.keep(exception);
                resume_unwind(Box::new(PolicyFailed))
            }
        }
    }

    fn show(&self, access: Option<&Access>, sense: Option<&Sense<'_>>) {
        if let Some(access) = access {
            self.access.get().show(access);
        }
        if let Some(sense) = sense {
            self.sense.get().show(sense);
        }
    }

    /// Has the policy plan to make room, and sees to it that it does.
    fn plan_room(&self, py: Python<'_>, access: Option<&Access>, slots: &Slots, plan: &mut Plan) -> PyResult<()> {
        let access = access.map(|_| &self.access);
        self.plan.get().open(false);
        let answer = self.hooks.make_room.bind(py).call1((access, &self.plan))?;
        if !answer.is_none() {
            self.plan.get().evict_answer(py, &answer)?;
        }
        if self.plan.get().close(plan) == 0 {
            return Err(PyValueError::new_err("make_room: no page leaves; return a slot, or plan.evict one"));
        }
        if self.rounds > 2 * slots.slot_count() + 2 {
            return Err(PyValueError::new_err("make_room: however often it is asked, there is no room for the page"));
        }
        Ok(())
    }
}

/// What a policy is told before the first access.
fn shape_of<'py>(py: Python<'py>, shape: &BufferShape) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
    let facts = pyo3::types::PyDict::new(py);
    facts.set_item("pages_per_block", shape.pages_per_block)?;
    facts.set_item("page_bytes", shape.page_sectors * 512)?;
    facts.set_item("logical_pages", shape.logical_pages)?;
    facts.set_item("dram_frames", shape.frames.dram)?;
    facts.set_item("nvram_frames", shape.frames.nvram)?;
    facts.set_item("seed", shape.seed)?;
    Ok(facts)
}

/// What `on_miss` answers: `None` or true for DRAM, false for past the buffer, or the name of a memory.
fn admission(answer: &Bound<'_, PyAny>) -> PyResult<Admission> {
    if answer.is_none() {
        return Ok(Admission::Admit(Medium::Dram));
    }
    if let Ok(keep) = answer.extract::<bool>() {
        return Ok(if keep { Admission::Admit(Medium::Dram) } else { Admission::Bypass });
    }
    let name = answer.extract::<String>();
    let name =
        name.map_err(|_| PyTypeError::new_err("on_miss: the answer is None, True, False, \"dram\" or \"nvram\""))?;
    medium(&name).map(Admission::Admit)
}

impl Buffer for PythonBuffer {
    fn resize(&mut self, frames: Frames) {
        if let Some(hook) = &self.hooks.resize {
            let told = Python::attach(|py| hook.call1(py, (frames.dram, frames.nvram)).map(|_| ()));
            if let Err(exception) = told {
                self.raised.keep(exception);
                resume_unwind(Box::new(PolicyFailed));
            }
        }
    }
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, sense: &Sense<'_>) {
        self.rounds = 0;
        let Some(hook) = &self.hooks.on_hit else { return };
        self.show(Some(access), Some(sense));
        self.ask(slots, |py| hook.call1(py, (slot.0, &self.access)).map(|_| ()));
    }
    fn on_miss(&mut self, access: &Access, slots: &Slots, sense: &Sense<'_>) -> Admission {
        self.rounds = 0;
        self.admitted = Medium::Dram;
        // Also for what follows, which is told no time.
        self.show(Some(access), Some(sense));
        let Some(hook) = &self.hooks.on_miss else { return Admission::Admit(Medium::Dram) };
        let answer = self.ask(slots, |py| {
            let answer = admission(hook.bind(py).call1((&self.access,))?.as_any())?;
            match answer {
                Admission::Admit(Medium::Nvram) if slots.frames().nvram == 0 => {
                    Err(PyValueError::new_err("on_miss: the device has no NVRAM (ram.nvram)"))
                }
                _ => Ok(answer),
            }
        });
        if let Admission::Admit(medium) = answer {
            self.admitted = medium;
        }
        answer
    }
    fn has_room(&self, access: Option<&Access>, slots: &Slots) -> bool {
        let (used, frames) = (slots.used(), slots.frames());
        match (access, self.admitted) {
            (None, _) => used.dram <= frames.dram && used.nvram <= frames.nvram,
            (Some(_), Medium::Dram) => used.dram < frames.dram,
            (Some(_), Medium::Nvram) => used.nvram < frames.nvram,
        }
    }
    fn fill(&self, slots: &Slots) -> Option<Fill> {
        Some(Fill { used: slots.used().dram, frames: slots.frames().dram })
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.rounds += usize::from(access.is_some());
        self.show(access, Some(sense));
        self.ask(slots, |py| self.plan_room(py, access, slots, plan));
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        let Some(hook) = &self.hooks.on_insert else { return };
        self.show(Some(access), None);
        self.ask(slots, |py| hook.call1(py, (slot.0, &self.access)).map(|_| ()));
    }
    fn after_access(&mut self, access: &Access, hit: bool, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        let Some(hook) = &self.hooks.after_access else { return };
        self.show(Some(access), Some(sense));
        self.ask(slots, |py| {
            self.plan.get().open(true);
            hook.call1(py, (&self.access, hit, &self.plan))?;
            self.plan.get().close(plan);
            Ok(())
        });
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        self.ask(slots, |py| self.hooks.on_remove.call1(py, (slot.0,)).map(|_| ()));
    }
    fn on_clean(&mut self, slot: Slot, slots: &Slots) -> bool {
        let Some(hook) = &self.hooks.on_clean else {
            self.on_remove(slot, slots);
            return false;
        };
        self.ask(slots, |py| {
            let answer = hook.bind(py).call1((slot.0,))?;
            answer
                .extract::<bool>()
                .map_err(|_| PyTypeError::new_err("on_clean: the answer is True (it stays) or False"))
        })
    }
    fn grain(&self) -> Grain {
        self.grain
    }
    fn fetches_first(&self) -> bool {
        self.fetches_first
    }
    fn golden_state(&self, _: &Slots) -> Value {
        json!({})
    }
}
