//! Functions in Python that see the requests of a run in batches, before the device does: hints and scores.

use std::sync::{Arc, Mutex, PoisonError};

use nandlab::types::{Hint, HostOp, HostRequest};
use nandlab_lab::{Error, Foresight};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::wrong;
use crate::policy::{Raised, views};
use crate::scored::Ahead;

/// What looks at the requests. Both functions are given a dict of arrays with an element for each request, and were wrapped by
/// the Python side, which checks their answers.
pub struct Looks {
    /// Gives the arrays `pattern`, `pc`, `run_pages`, `period`.
    pub hint: Option<Py<PyAny>>,
    /// Gives an array of scores, which the buffer finds there.
    pub decide: Option<(Py<PyAny>, Arc<Mutex<Ahead>>)>,
}

impl Looks {
    /// The function that the run calls, if there is anything to do.
    pub fn foresight(self, raised: Raised) -> Option<Foresight> {
        if self.hint.is_none() && self.decide.is_none() {
            return None;
        }
        let next = Mutex::new(1);
        Some(Foresight::new(move |batch| {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let first = *next;
            *next += HostRequest::count(batch);
            Python::attach(|py| self.look(py, first, batch)).map_err(|exception| {
                raised.keep(exception);
                Error::Stopped
            })
        }))
    }

    fn look(&self, py: Python<'_>, first: u64, batch: &mut [HostRequest]) -> PyResult<()> {
        if let Some(hint) = &self.hint {
            let answer = hint.bind(py).call1((arrays(py, first, batch)?,))?;
            give_hints(batch, answer.extract()?)?;
        }
        if let Some((decide, ahead)) = &self.decide {
            let answer = decide.bind(py).call1((arrays(py, first, batch)?,))?;
            let scores: PyReadonlyArray1<'_, f64> = answer.extract()?;
            let scores = scores.as_array().to_vec();
            let requests = HostRequest::count(batch);
            if scores.len() as u64 != requests {
                return Err(wrong(format!("decide: {} scores for {requests} requests", scores.len())));
            }
            *ahead.lock().unwrap_or_else(PoisonError::into_inner) = Ahead { first, scores };
        }
        Ok(())
    }
}

/// What is known of the requests before they are carried out, each with all its pieces.
fn arrays<'py>(py: Python<'py>, first: u64, batch: &[HostRequest]) -> PyResult<Bound<'py, PyDict>> {
    let (mut time, mut lba, mut sectors, mut op) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut rest = batch;
    while let Some((pieces, later)) = HostRequest::split_first(rest) {
        time.push(pieces[0].at.0);
        lba.push(pieces[0].lba);
        sectors.push(pieces.iter().map(|piece| u64::from(piece.sectors)).sum::<u64>());
        op.push(match pieces[0].op {
            HostOp::Read => b'R',
            HostOp::Write => b'W',
            HostOp::Trim => b'D',
            HostOp::Flush => b'F',
        });
        rest = later;
    }
    let arrays = PyDict::new(py);
    arrays.set_item("first", first)?;
    arrays.set_item("time_ns", PyArray1::from_vec(py, time))?;
    arrays.set_item("lba", PyArray1::from_vec(py, lba))?;
    arrays.set_item("sectors", PyArray1::from_vec(py, sectors))?;
    arrays.set_item("op", PyArray1::from_vec(py, op))?;
    Ok(arrays)
}

/// Pattern, pc, `run_pages` and period of each request; what is not told stays as the trace has it.
type Hints<'py> = [Option<PyReadonlyArray1<'py, u32>>; 4];

fn give_hints(batch: &mut [HostRequest], hints: Hints<'_>) -> PyResult<()> {
    let requests = HostRequest::count(batch);
    let hints = hints.map(|column| column.map(|column| column.as_array().to_vec()));
    if let Some(column) = hints.iter().flatten().find(|column| column.len() as u64 != requests) {
        return Err(wrong(format!("hint: {} values for {requests} requests", column.len())));
    }
    let mut at = 0;
    for request in batch {
        let Hint { pattern, pc, run_pages, period, .. } = request.hint;
        let told = [0, 1, 2, 3].map(|column: usize| hints[column].as_ref().map(|column| column[at]));
        let known = told[0].map_or(Some(pattern), |pattern| views::pattern(pattern.into()));
        let unknown = || wrong(format!("hint: pattern {} is none of 0 to 3", told[0].unwrap_or_default()));
        request.hint = Hint {
            pattern: known.ok_or_else(unknown)?,
            pc: told[1].unwrap_or(pc),
            run_pages: told[2].unwrap_or(run_pages),
            period: told[3].unwrap_or(period),
            ..request.hint
        };
        at += usize::from(!request.more);
    }
    Ok(())
}
