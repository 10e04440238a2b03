//! The core's conformance suite, for chains with layers written in Python.

use crate::chain;
use partita_core::solve::conformance as suite;
use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;

/// Runs the conformance suite on a chain. Returns the number of queries answered sat, unsat and unknown; raises
/// AssertionError with the first violation.
#[pyfunction]
pub(crate) fn conformance(
    py: Python<'_>,
    layers: &str,
    backend: &Bound<'_, PyAny>,
    seed: u64,
    queries: u64,
) -> PyResult<(u64, u64, u64)> {
    let mut chains = Vec::new();
    for _ in 0..3 {
        chains.push(chain::build(layers, layers, backend, None)?.0);
    }
    let tally =
        py.detach(|| suite::check(seed, queries, || chains.pop().expect("the suite makes three chains")));
    let tally = tally.map_err(PyAssertionError::new_err)?;
    Ok((tally.sat, tally.unsat, tally.unknown))
}
