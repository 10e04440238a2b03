//! The core's conformance suite, for chains with layers written in Python.

use crate::chain;
use partita_core::solve::conformance as suite;
use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;

/// Puts a chain through the suite that every layer must pass; gives how many questions were answered sat, unsat
/// and unknown. Raises AssertionError saying what is wrong.
#[pyfunction]
pub(crate) fn conformance(
    py: Python<'_>,
    layers: &str,
    backend: &Bound<'_, PyAny>,
    seed: u64,
    questions: u64,
) -> PyResult<(u64, u64, u64)> {
    let mut chains = Vec::new();
    for _ in 0..3 {
        chains.push(chain::build(layers, layers, backend, None)?.0);
    }
    let tally =
        py.detach(|| suite::check(seed, questions, || chains.pop().expect("the suite makes three chains")));
    let tally = tally.map_err(PyAssertionError::new_err)?;
    Ok((tally.sat, tally.unsat, tally.unknown))
}
