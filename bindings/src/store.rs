//! Access to the file of the layer `store` outside of a run.

use partita_core::solve::store::{File, Row, script};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

fn open(path: &Path) -> PyResult<File> {
    File::open(path).map_err(PyValueError::new_err)
}

/// Number of sat and unsat answers, their size in bytes, and the seconds that solving them took.
#[pyfunction]
pub(crate) fn store_contents(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let contents = open(&path)?.contents().map_err(PyValueError::new_err)?;
    let dict = PyDict::new(py);
    dict.set_item("sat", contents.sat)?;
    dict.set_item("unsat", contents.unsat)?;
    dict.set_item("bytes", contents.bytes)?;
    dict.set_item("cost_s", contents.cost_us as f64 / 1e6)?;
    Ok(dict)
}

/// Removes all answers and returns their number.
#[pyfunction]
pub(crate) fn store_clear(path: PathBuf) -> PyResult<u64> {
    open(&path)?.clear().map_err(PyValueError::new_err)
}

/// Calls `write` with each answer as a dict. Returns the number of damaged rows, which are skipped.
#[pyfunction]
pub(crate) fn store_export(py: Python<'_>, path: PathBuf, write: &Bound<'_, PyAny>) -> PyResult<u64> {
    let emit = |row: &Row| -> PyResult<()> {
        let dict = PyDict::new(py);
        let key: String = row.key.iter().map(|byte| format!("{byte:02x}")).collect();
        dict.set_item("key", key)?;
        dict.set_item("verdict", row.verdict.name())?;
        dict.set_item("cost_s", f64::from(row.cost_us) / 1e6)?;
        dict.set_item("used", row.used)?;
        dict.set_item("query", script(&row.query))?;
        write.call1((dict,)).map(|_| ())
    };
    let (mut damaged, mut raised) = (0, None);
    let visit = |row: Option<Row>| {
        match row {
            Some(row) => raised = emit(&row).err(),
            None => damaged += 1,
        }
        raised.is_none()
    };
    open(&path)?.each(visit).map_err(PyValueError::new_err)?;
    raised.map_or(Ok(damaged), Err)
}
