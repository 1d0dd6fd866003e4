//! What a policy in Python sees: one object each for the access, the slots and the senses, which stay the same from call to
//! call, so that none is made for a call.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nandlab::buffer::{BufferShape, FlashTimes, Medium, Sense, Slots};
use nandlab::types::{Lbn, Lpn, Pattern, Slot};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::lent::Lent;

/// The page access that the policy is asked about.
#[pyclass(frozen, module = "nandlab._native", name = "Access")]
#[derive(Default)]
pub struct AccessView {
    lpn: AtomicU32,
    /// Write, ahead.
    flags: AtomicU32,
    request: AtomicU64,
    request_pages: AtomicU32,
    pattern: AtomicU32,
    pc: AtomicU32,
    run_pages: AtomicU32,
    period: AtomicU32,
}

const WRITE: u32 = 1;
const AHEAD: u32 = 2;

impl AccessView {
    pub fn show(&self, access: &nandlab::buffer::Access) {
        let set = |place: &AtomicU32, value| place.store(value, Ordering::Relaxed);
        set(&self.lpn, access.lpn.0);
        set(&self.flags, WRITE * u32::from(access.write) + AHEAD * u32::from(access.ahead));
        set(&self.request_pages, access.request_pages);
        set(&self.pattern, access.hint.pattern as u32);
        set(&self.pc, access.hint.pc);
        set(&self.run_pages, access.hint.run_pages);
        set(&self.period, access.hint.period);
        self.request.store(access.request, Ordering::Relaxed);
    }
}

#[pymethods]
impl AccessView {
    /// The page.
    #[getter]
    fn lpn(&self) -> u32 {
        self.lpn.load(Ordering::Relaxed)
    }
    /// True for a write.
    #[getter]
    fn write(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & WRITE != 0
    }
    /// The page is read ahead: the host has not asked for it yet.
    #[getter]
    fn ahead(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & AHEAD != 0
    }
    /// Number of the host request: unique, increasing.
    #[getter]
    fn request(&self) -> u64 {
        self.request.load(Ordering::Relaxed)
    }
    /// Pages of that request.
    #[getter]
    fn request_pages(&self) -> u32 {
        self.request_pages.load(Ordering::Relaxed)
    }
    /// Hint of the host: 0 sequential, 1 looping, 2 clustered hot, 3 random or unknown.
    #[getter]
    fn pattern(&self) -> u32 {
        self.pattern.load(Ordering::Relaxed)
    }
    /// Hint of the host: the program location that asked; 0 = unknown.
    #[getter]
    fn pc(&self) -> u32 {
        self.pc.load(Ordering::Relaxed)
    }
    /// Hint of the host: predicted run length in pages, from this page on.
    #[getter]
    fn run_pages(&self) -> u32 {
        self.run_pages.load(Ordering::Relaxed)
    }
    /// Hint of the host: accesses between repeats; 0 = unknown.
    #[getter]
    fn period(&self) -> u32 {
        self.period.load(Ordering::Relaxed)
    }
}

/// The pattern of a number, as [`AccessView`] shows it.
pub fn pattern(number: u64) -> Option<Pattern> {
    [Pattern::Sequential, Pattern::Looping, Pattern::ClusteredHot, Pattern::Random]
        .into_iter()
        .find(|pattern| *pattern as u64 == number)
}

/// The frames of the buffer and the pages in them.
#[pyclass(frozen, module = "nandlab._native", name = "Slots")]
pub struct SlotsView {
    pub lent: Lent<Slots>,
    logical_pages: u32,
    logical_blocks: u32,
}

impl SlotsView {
    pub fn new(shape: &BufferShape) -> Self {
        Self { lent: Lent::default(), logical_pages: shape.logical_pages, logical_blocks: shape.logical_blocks() }
    }

    /// Looks at the slots.
    pub fn look<R>(&self, py: Python<'_>, look: impl FnOnce(&Slots) -> R) -> PyResult<R> {
        self.lent.look(py, "slots", look)
    }

    /// A number as a page of the device.
    ///
    /// # Errors
    /// It is none.
    pub fn page(&self, lpn: i64) -> PyResult<Lpn> {
        let found = u32::try_from(lpn).ok().filter(|lpn| *lpn < self.logical_pages);
        let wrong =
            || PyValueError::new_err(format!("lpn {lpn}: the pages of the device are 0 to {}", self.logical_pages - 1));
        found.map(Lpn).ok_or_else(wrong)
    }

    fn block(&self, lbn: i64) -> PyResult<Lbn> {
        let found = u32::try_from(lbn).ok().filter(|lbn| *lbn < self.logical_blocks);
        let wrong = || {
            PyValueError::new_err(format!("lbn {lbn}: the blocks of the device are 0 to {}", self.logical_blocks - 1))
        };
        found.map(Lbn).ok_or_else(wrong)
    }

    /// Looks at a slot that holds a page.
    fn at<R>(&self, py: Python<'_>, slot: i64, look: impl FnOnce(&Slots, Slot) -> R) -> PyResult<R> {
        self.look(py, |slots| Ok(look(slots, resident(slots, slot)?)))?
    }
}

/// A number as a slot that holds a page.
///
/// # Errors
/// It is none.
pub fn resident(slots: &Slots, slot: i64) -> PyResult<Slot> {
    let found = usize::try_from(slot).ok().filter(|slot| *slot < slots.slot_count()).map(Slot::from);
    found
        .filter(|slot| slots.is_resident(*slot))
        .ok_or_else(|| PyValueError::new_err(format!("slot {slot} holds no page")))
}

#[pymethods]
impl SlotsView {
    /// The slot of a page, or `None` if it is not in the buffer.
    fn find(&self, py: Python<'_>, lpn: i64) -> PyResult<Option<u32>> {
        let lpn = self.page(lpn)?;
        self.look(py, |slots| Some(slots.find(lpn)).filter(|slot| slot.is_some()).map(|slot| slot.0))
    }
    /// The page in a slot.
    fn lpn(&self, py: Python<'_>, slot: i64) -> PyResult<u32> {
        self.at(py, slot, |slots, slot| slots.lpn(slot).0)
    }
    /// The logical block of the page in a slot.
    fn lbn(&self, py: Python<'_>, slot: i64) -> PyResult<u32> {
        self.at(py, slot, |slots, slot| slots.lbn(slot).0)
    }
    /// True if the page must be written back before its frame is given away.
    fn is_dirty(&self, py: Python<'_>, slot: i64) -> PyResult<bool> {
        self.at(py, slot, Slots::is_dirty)
    }
    /// The memory in which the page lies: `"dram"` or `"nvram"`.
    fn medium(&self, py: Python<'_>, slot: i64) -> PyResult<&'static str> {
        self.at(py, slot, |slots, slot| if slots.medium(slot) == Medium::Dram { "dram" } else { "nvram" })
    }
    /// The slots of the resident pages of a logical block, ascending.
    fn of_block(&self, py: Python<'_>, lbn: i64) -> PyResult<Vec<u32>> {
        let lbn = self.block(lbn)?;
        self.look(py, |slots| slots.of_block(lbn).map(|slot| slot.0).collect())
    }
    /// The resident pages of a logical block.
    fn resident_pages(&self, py: Python<'_>, lbn: i64) -> PyResult<u32> {
        let lbn = self.block(lbn)?;
        self.look(py, |slots| slots.resident_pages(lbn))
    }
    /// The slots that hold pages.
    fn resident(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.look(py, |slots| slots.iter().map(|slot| slot.0).collect())
    }
    /// Dirty pages.
    fn dirty_pages(&self, py: Python<'_>) -> PyResult<u32> {
        self.look(py, Slots::dirty_pages)
    }
    /// Frames there are: DRAM, NVRAM.
    fn frames(&self, py: Python<'_>) -> PyResult<(u32, u32)> {
        self.look(py, |slots| (slots.frames().dram, slots.frames().nvram))
    }
    /// Frames in use: DRAM, NVRAM.
    fn used(&self, py: Python<'_>) -> PyResult<(u32, u32)> {
        self.look(py, |slots| (slots.used().dram, slots.used().nvram))
    }
}

/// What a policy may sense about the world below.
#[pyclass(frozen, module = "nandlab._native", name = "Sense")]
pub struct SenseView {
    now: AtomicU64,
    times: FlashTimes,
}

impl SenseView {
    pub const fn new(times: FlashTimes) -> Self {
        Self { now: AtomicU64::new(0), times }
    }
    pub fn show(&self, sense: &Sense<'_>) {
        self.now.store(sense.now.0, Ordering::Relaxed);
    }
}

#[pymethods]
impl SenseView {
    /// Simulated time.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
    /// Service time of a page read.
    #[getter]
    const fn read_ns(&self) -> u64 {
        self.times.read.0
    }
    /// Service time of a page program.
    #[getter]
    const fn program_ns(&self) -> u64 {
        self.times.program.0
    }
    /// Service time of a block erase.
    #[getter]
    const fn erase_ns(&self) -> u64 {
        self.times.erase.0
    }
}
