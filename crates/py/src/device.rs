//! A device that is driven step by step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

use nandlab::config::Config;
use nandlab::engine::{Payload, Ssd};
use nandlab::flash::Media;
use nandlab::types::{Hint, HostOp, HostRequest, Nanos, SECTOR_BYTES};
use nandlab_lab::Device as Description;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{from_json, wrong};
use crate::policy::{self, Raised, views};
use crate::work::{away_until, bug};

/// A device and where it stands.
struct Running {
    ssd: Box<dyn Ssd>,
    config: Config,
    raised: Raised,
}

/// A device, which carries out one request at a time. It is used by one thread at a time.
#[pyclass(frozen, module = "nandlab._native", name = "Device")]
pub struct NativeDevice(Mutex<Option<Running>>);

impl NativeDevice {
    /// The device, for whoever is alone with it.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Running>>> {
        match self.0.try_lock() {
            Ok(running) => Ok(running),
            Err(TryLockError::WouldBlock) => Err(PyValueError::new_err(
                "the device is in use: by another thread, or by the call in which its policy is asked",
            )),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        }
    }

    /// Does something with the device. One whose policy failed in the middle of a request is of no use any more.
    fn with<R>(&self, work: impl FnOnce(&mut Running) -> PyResult<R>) -> PyResult<R> {
        let mut place = self.lock()?;
        let Some(running) = place.as_mut() else {
            return Err(PyRuntimeError::new_err(
                "the device stopped in the middle of a request when its policy failed; make another",
            ));
        };
        match catch_unwind(AssertUnwindSafe(|| work(running))) {
            Ok(done) => done,
            Err(panic) => {
                let exception = running.raised.take();
                *place = None;
                Err(exception.unwrap_or_else(|| bug(&*panic)))
            }
        }
    }
}

#[pymethods]
impl NativeDevice {
    /// Builds the device that the JSON describes, with a policy in Python if there is one.
    #[new]
    #[pyo3(signature = (device, policy=None))]
    fn new(py: Python<'_>, device: &str, policy: Option<Py<PyAny>>) -> PyResult<Self> {
        let mut device: Description = from_json(device)?;
        let exception = Raised::default();
        if let Some(policy) = policy {
            device.own = Some(policy::own_buffer(policy, exception.clone())?);
        }
        let built = away_until(py, &exception.turns, None, move |watch| device.build(&watch.stop));
        let (ssd, config) = built.map_err(|error| exception.take().unwrap_or(error))?;
        Ok(Self(Mutex::new(Some(Running { ssd, config, raised: exception }))))
    }

    /// Carries out one request: `op` is R, W, D or F. Returns when the device admitted it and when it is done, ns, the latter
    /// `None` if that is open yet, and the bytes of a read if the device stores such. Hints are pattern, pc, `run_pages`, period.
    #[pyo3(signature = (op, lba, sectors, data=None, at_ns=0, hints=(3, 0, 0, 0)))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn submit<'py>(
        &self,
        py: Python<'py>,
        op: char,
        lba: u64,
        sectors: u32,
        data: Option<&[u8]>,
        at_ns: u64,
        hints: (u32, u32, u32, u32),
    ) -> PyResult<(u64, Option<u64>, Option<Bound<'py, PyBytes>>)> {
        let op = match op {
            'R' => HostOp::Read,
            'W' => HostOp::Write,
            'D' => HostOp::Trim,
            'F' => HostOp::Flush,
            _ => return Err(wrong(format!("op: {op:?} is none of R, W, D, F"))),
        };
        let (pattern, pc, run_pages, period) = hints;
        let known = views::pattern(pattern.into());
        let pattern = known.ok_or_else(|| wrong(format!("pattern: {pattern} is none of 0 to 3")))?;
        let hint = Hint { pattern, pc, run_pages, period, mappings: 0 };
        self.with(|running| {
            let bytes = sectors as usize * 512;
            let stores = running.config.device.media == Media::Memory;
            let most =
                u64::from(running.config.logical_pages()) * u64::from(running.config.device.geometry.page_sectors());
            if lba.checked_add(sectors.into()).is_none_or(|end| end > most) {
                return Err(wrong(format!("lba {lba}, {sectors} sectors: the device has sectors 0 to {}", most - 1)));
            }
            if (sectors == 0) != (op == HostOp::Flush) {
                return Err(wrong(format!("sectors: {sectors}; a flush has 0 and every other request 1 or more")));
            }
            if u64::from(sectors) > nandlab_trace::REQUEST_BYTES_MAX / SECTOR_BYTES {
                let most = nandlab_trace::REQUEST_BYTES_MAX / SECTOR_BYTES;
                return Err(wrong(format!("sectors: {sectors} is above {most}, the largest request")));
            }
            if at_ns > nandlab::replay::TIME_MAX.0 {
                return Err(wrong(format!("at_ns: {at_ns} is above {}", nandlab::replay::TIME_MAX.0)));
            }
            match data {
                Some(_) if op != HostOp::Write => return Err(wrong("data: only a write has such")),
                Some(_) if !stores => {
                    return Err(wrong("data: this device stores no bytes (device.media = \"memory\" does)"));
                }
                Some(data) if data.len() != bytes => {
                    return Err(wrong(format!("data: {} bytes for {sectors} sectors of 512", data.len())));
                }
                _ => {}
            }
            let zeros = if op == HostOp::Write && stores && data.is_none() { vec![0; bytes] } else { Vec::new() };
            let mut read = if op == HostOp::Read && stores { vec![0; bytes] } else { Vec::new() };
            let payload = match op {
                HostOp::Write if stores => Payload::Write(data.unwrap_or(&zeros)),
                HostOp::Read if stores => Payload::Read(&mut read),
                _ => Payload::None,
            };
            let request = HostRequest { hint, ..HostRequest::new(Nanos(at_ns), op, lba, sectors) };
            let done = running.ssd.submit(&request, payload).map_err(|error| wrong(error.to_string()))?;
            let read = (op == HostOp::Read && stores).then(|| PyBytes::new(py, &read));
            Ok((done.admitted.0, done.finished.map(|finished| finished.0), read))
        })
    }

    /// Power fails now and comes back: what is in DRAM only is lost, and the FTL rebuilds its map.
    fn cut_power(&self) -> PyResult<()> {
        self.with(|running| {
            if running.config.device.media != Media::Memory {
                return Err(wrong("cut_power: recovery reads what is stored: set device.media = \"memory\""));
            }
            running.ssd.test_port().cut_power();
            Ok(())
        })
    }

    /// Lets all that is under way finish.
    fn drain(&self) -> PyResult<()> {
        self.with(|running| {
            running.ssd.drain();
            Ok(())
        })
    }

    /// Where the device stands: simulated time, frames, dirty pages, and the sums of the ledger that are flash work.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.with(|running| {
            let (ssd, state) = (&running.ssd, PyDict::new(py));
            let ledger = ssd.ledger();
            state.set_item("now_ns", ssd.flash().now().0)?;
            state.set_item("dirty_pages", ssd.slots().dirty_pages())?;
            state.set_item("pages_in_buffer", ssd.slots().used().total())?;
            state.set_item("frames", ssd.slots().frames().total())?;
            state.set_item("logical_pages", ssd.logical_pages())?;
            state.set_item("host_page_reads", ledger.host_page_reads)?;
            state.set_item("host_page_writes", ledger.host_page_writes)?;
            state.set_item("read_hits", ledger.buffer_read_hits)?;
            state.set_item("write_hits", ledger.buffer_write_hits)?;
            state.set_item("flash_programs", ledger.programs())?;
            state.set_item("flash_busy_ns", ledger.op_ns.iter().flatten().sum::<u64>())?;
            Ok(state)
        })
    }

    /// Everything counted so far, as JSON.
    fn ledger(&self) -> PyResult<String> {
        self.with(|running| Ok(serde_json::to_string(&running.ssd.ledger()).expect("counts are plain data")))
    }

    /// The configuration as TOML.
    fn config(&self) -> PyResult<String> {
        self.with(|running| Ok(running.config.to_toml()))
    }
}
