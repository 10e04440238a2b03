//! The Python function `_core.refute`: a refutation of clauses, for proofs.

use crate::solver::seconds;
use crate::worker;
use partita_core::blast::refute::{self, Refutation};
use partita_core::budget::{Budget, Cancel};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::time::Instant;

/// Refutes clauses over the variables 1 to `variables`, given as native 32-bit integers, each clause ended by a zero.
/// Returns the refutation (LRAT, text), or a byte per variable with its value in a model.
#[pyfunction]
#[pyo3(name = "refute", signature = (variables, clauses, timeout = None))]
pub(crate) fn refute_clauses<'py>(
    py: Python<'py>,
    variables: i32,
    clauses: &[u8],
    timeout: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let clauses: Vec<i32> =
        clauses.chunks_exact(4).map(|c| i32::from_ne_bytes([c[0], c[1], c[2], c[3]])).collect();
    let known = |literal: &i32| (1..=variables.max(0) as u32).contains(&literal.unsigned_abs());
    if clauses.last().is_some_and(|&last| last != 0) || !clauses.iter().all(|l| *l == 0 || known(l)) {
        return Err(PyValueError::new_err("expected clauses over the variables, each ended by a zero"));
    }
    let cancel = Cancel::default();
    let deadline = timeout.map(|value| seconds("timeout", value)).transpose()?;
    let deadline = deadline.map(|limit| Instant::now() + limit);
    let budget = Budget { deadline, cancel: cancel.clone(), ..Budget::default() };
    let found =
        worker::run(py, &cancel, |_| {}, |_, _| Ok(()), |_| refute::refute(variables, &clauses, &budget))?;
    match found {
        Refutation::Lrat(text) => Ok(PyString::new(py, &text).into_any()),
        Refutation::Model(values) => {
            let values: Vec<u8> = values.into_iter().map(u8::from).collect();
            Ok(PyBytes::new(py, &values).into_any())
        }
        Refutation::Stopped(why) => Err(PyTimeoutError::new_err(why.to_string())),
    }
}
