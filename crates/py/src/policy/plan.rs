//! The plan that a policy in Python fills: each action is checked when it is named, so that the error is where the mistake is.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nandlab::buffer::{Medium, Plan, Slots};
use nandlab::types::{Lpn, Slot};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::views::{SlotsView, resident};

/// What the engine is to do, in this order. The policy takes the pages that leave out of its own lists.
#[pyclass(frozen, module = "nandlab._native", name = "Plan")]
pub struct PlanView {
    slots: Py<SlotsView>,
    filling: Mutex<Filling>,
}

/// A plan that is being made, and what it does.
#[derive(Default)]
struct Filling {
    is_open: bool,
    /// The access is over, so that pages may be read ahead.
    is_over: bool,
    plan: Plan,
    /// Pages that leave.
    freed: Vec<Slot>,
    /// Pages that stay, clean.
    cleaned: Vec<Slot>,
    moved: Vec<(Slot, Medium)>,
    wanted: Vec<Lpn>,
}

impl PlanView {
    pub fn new(slots: Py<SlotsView>) -> Self {
        Self { slots, filling: Mutex::default() }
    }

    fn filling(&self) -> MutexGuard<'_, Filling> {
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins in which the plan is made, before or after the access is over.
    pub fn open(&self, is_over: bool) {
        let mut filling = self.filling();
        (filling.is_open, filling.is_over) = (true, is_over);
    }

    /// The call is over: its actions are those of `plan`, which is empty. Returns how many pages leave or move.
    pub fn close(&self, plan: &mut Plan) -> usize {
        let mut filling = self.filling();
        filling.is_open = false;
        std::mem::swap(plan, &mut filling.plan);
        let left = filling.freed.len() + filling.moved.len();
        filling.freed.clear();
        filling.cleaned.clear();
        filling.moved.clear();
        filling.wanted.clear();
        left
    }

    fn add<R>(&self, py: Python<'_>, add: impl FnOnce(&mut Filling, &Slots) -> PyResult<R>) -> PyResult<R> {
        self.slots.get().look(py, |slots| {
            let mut filling = self.filling();
            if !filling.is_open {
                return Err(PyValueError::new_err("a plan is made in make_room and after_access, and not now"));
            }
            add(&mut filling, slots)
        })?
    }
}

impl Filling {
    /// A slot that holds a page until now.
    fn staying(&self, slots: &Slots, slot: i64) -> PyResult<Slot> {
        let slot = resident(slots, slot)?;
        if self.freed.contains(&slot) {
            return Err(PyValueError::new_err(format!("slot {} leaves twice in one plan", slot.0)));
        }
        Ok(slot)
    }

    fn is_dirty(&self, slots: &Slots, slot: Slot) -> bool {
        slots.is_dirty(slot) && !self.cleaned.contains(&slot)
    }

    /// Pages to write back: dirty, each once.
    fn dirty(&self, slots: &Slots, pages: &[i64]) -> PyResult<Vec<Slot>> {
        let mut found = Vec::with_capacity(pages.len());
        for page in pages {
            let slot = self.staying(slots, *page)?;
            if !self.is_dirty(slots, slot) {
                return Err(PyValueError::new_err(format!(
                    "write_back: the page in slot {page} is clean; drop or evict it"
                )));
            }
            if found.contains(&slot) {
                return Err(PyValueError::new_err(format!("write_back: slot {page} is named twice")));
            }
            found.push(slot);
        }
        Ok(found)
    }

    /// Frames of a memory in use when the plan is carried out up to here. A page moves once.
    fn used(&self, slots: &Slots, medium: Medium) -> usize {
        let used = slots.used();
        let before = if medium == Medium::Dram { used.dram } else { used.nvram } as usize;
        let of =
            |slot: Slot| self.moved.iter().find(|moved| moved.0 == slot).map_or(slots.medium(slot), |moved| moved.1);
        let left = self.freed.iter().filter(|slot| of(**slot) == medium).count();
        let came = self.moved.iter().filter(|moved| moved.1 == medium).count();
        let ahead = if medium == Medium::Dram { self.wanted.len() } else { 0 };
        (before + came + ahead).saturating_sub(left + self.moved.len() - came)
    }
}

#[pymethods]
impl PlanView {
    /// The page leaves: written back alone if it is dirty.
    fn evict(&self, py: Python<'_>, slot: i64) -> PyResult<()> {
        self.add(py, |filling, slots| {
            let slot = filling.staying(slots, slot)?;
            if filling.is_dirty(slots, slot) || !slots.is_dirty(slot) {
                filling.plan.evict(slot, slots);
            } else {
                filling.plan.drop_page(slot);
            }
            filling.freed.push(slot);
            Ok(())
        })
    }
    /// The clean page leaves.
    fn drop_page(&self, py: Python<'_>, slot: i64) -> PyResult<()> {
        self.add(py, |filling, slots| {
            let slot = filling.staying(slots, slot)?;
            if filling.is_dirty(slots, slot) {
                return Err(PyValueError::new_err(format!(
                    "drop_page: the page in slot {} is dirty; evict it",
                    slot.0
                )));
            }
            filling.plan.drop_page(slot);
            filling.freed.push(slot);
            Ok(())
        })
    }
    /// These dirty pages leave, written back as one command; those of `keep` are written too and stay, clean. With `pad` all are
    /// of one logical block, and its other pages are written along.
    #[pyo3(signature = (slots, pad=false, keep=Vec::new()))]
    fn write_back(&self, py: Python<'_>, slots: Vec<i64>, pad: bool, keep: Vec<i64>) -> PyResult<()> {
        let pages = slots;
        self.add(py, |filling, slots| {
            if pages.is_empty() && keep.is_empty() {
                return Err(PyValueError::new_err("write_back: no pages"));
            }
            let all = filling.dirty(slots, &[&pages[..], &keep[..]].concat())?;
            if pad && all.iter().any(|slot| slots.lbn(*slot) != slots.lbn(all[0])) {
                return Err(PyValueError::new_err("write_back: with `pad` all pages are of one logical block"));
            }
            let (leaving, kept) = all.split_at(pages.len());
            filling.plan.write_back_and_keep(leaving.iter().copied(), kept.iter().copied(), pad);
            filling.freed.extend_from_slice(leaving);
            filling.cleaned.extend_from_slice(kept);
            Ok(())
        })
    }
    /// The page moves to the other memory, in which there is room for it.
    fn move_page(&self, py: Python<'_>, slot: i64, to: &str) -> PyResult<()> {
        let to = medium(to)?;
        self.add(py, |filling, slots| {
            let slot = filling.staying(slots, slot)?;
            let frames = slots.frames();
            let frames = if to == Medium::Dram { frames.dram } else { frames.nvram };
            if slots.medium(slot) == to || filling.moved.iter().any(|moved| moved.0 == slot) {
                return Err(PyValueError::new_err(format!(
                    "move_page: slot {} moves once, to the other memory",
                    slot.0
                )));
            }
            if filling.used(slots, to) >= frames as usize {
                return Err(PyValueError::new_err("move_page: there is no room in the other memory"));
            }
            filling.plan.move_page(slot, to);
            filling.moved.push((slot, to));
            Ok(())
        })
    }
    /// Reads a page that is not in the buffer ahead of the host, into a frame of DRAM that is free when the plan is carried out.
    fn prefetch(&self, py: Python<'_>, lpn: i64) -> PyResult<()> {
        let lpn = self.slots.get().page(lpn)?;
        self.add(py, |filling, slots| {
            if !filling.is_over {
                return Err(PyValueError::new_err("prefetch: pages are read ahead in after_access only"));
            }
            if slots.find(lpn).is_some() || filling.wanted.contains(&lpn) {
                return Err(PyValueError::new_err(format!("prefetch: page {} is in the buffer", lpn.0)));
            }
            if filling.used(slots, Medium::Dram) >= slots.frames().dram as usize {
                return Err(PyValueError::new_err("prefetch: there is no free frame; evict a page first"));
            }
            filling.plan.prefetch(lpn);
            filling.wanted.push(lpn);
            Ok(())
        })
    }
}

/// A number that is not a truth, though Python takes these for 0 and 1.
struct Number(i64);

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err("a truth is no slot"));
        }
        given.extract().map(Self)
    }
}

impl PlanView {
    /// What `make_room` returned: the slot of the page that leaves, or several.
    pub fn evict_answer(&self, py: Python<'_>, answer: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(Number(slot)) = answer.extract() {
            return self.evict(py, slot);
        }
        let slots = answer.extract::<Vec<Number>>();
        let slots =
            slots.map_err(|_| PyTypeError::new_err("make_room: the answer is None, a slot or a list of slots"))?;
        slots.into_iter().try_for_each(|Number(slot)| self.evict(py, slot))
    }
}

/// A memory by its name.
///
/// # Errors
/// There is no such memory.
pub fn medium(name: &str) -> PyResult<Medium> {
    match name {
        "dram" => Ok(Medium::Dram),
        "nvram" => Ok(Medium::Nvram),
        _ => Err(PyValueError::new_err(format!("there is no memory {name:?}: use \"dram\" or \"nvram\""))),
    }
}
