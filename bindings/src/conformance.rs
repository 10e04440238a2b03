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
    // The suite builds several chains. The first is built here too, so that a wrong spec or backend raises its own error.
    chain::build(layers, layers, backend, None)?;
    let backend = backend.clone().unbind();
    let make = || {
        Python::attach(|py| {
            let built = chain::build(layers, layers, backend.bind(py), None);
            built.expect("a chain that was built before").0
        })
    };
    let tally = py.detach(|| suite::check(seed, queries, make)).map_err(PyAssertionError::new_err)?;
    Ok((tally.sat, tally.unsat, tally.unknown))
}
