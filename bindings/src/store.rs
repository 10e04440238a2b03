//! Access to the answers of the layer `store` outside of a run, and the exchange with the client of a shared store.

use partita_core::solve::store::{Exchange, File, Row, script};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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
    let emit = |row: &Row| write.call1((row_dict(py, row)?,)).map(|_| ());
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

fn row_dict<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let key: String = row.key.iter().map(|byte| format!("{byte:02x}")).collect();
    dict.set_item("key", key)?;
    dict.set_item("verdict", row.verdict.name())?;
    dict.set_item("cost_s", f64::from(row.cost_us) / 1e6)?;
    dict.set_item("used", row.used)?;
    dict.set_item("query", script(&row.query))?;
    Ok(dict)
}

/// A row of a shared store as a dict; None if the bytes are damaged.
#[pyfunction]
pub(crate) fn store_row<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyDict>>> {
    Row::decode(bytes).map(|row| row_dict(py, &row)).transpose()
}

/// Does something with a locked value while other Python threads run: the client of a shared store is one.
pub(crate) fn detached<T: Send>(py: Python<'_>, value: &Mutex<T>, act: impl FnOnce(&mut T) + Send) {
    py.detach(|| act(&mut value.lock().expect("the caller has locked it before")));
}

/// The exchange between the layer `store` and the client of a server.
#[pyclass(frozen, module = "partita._core")]
pub(crate) struct StoreExchange {
    pub(crate) exchange: Arc<Exchange>,
}

/// Keys to read, rows to write (key, whether unsat, bytes), their entries of the index, keys to remove, whether it is the
/// last batch.
type Batch<'py> = (
    Vec<Bound<'py, PyBytes>>,
    Vec<(Bound<'py, PyBytes>, bool, Bound<'py, PyBytes>)>,
    Bound<'py, PyBytes>,
    Vec<Bound<'py, PyBytes>>,
    bool,
);

#[pymethods]
impl StoreExchange {
    #[new]
    fn new(name: String, takes_unsat: bool) -> StoreExchange {
        StoreExchange { exchange: Arc::new(Exchange::new(name, takes_unsat)) }
    }

    /// Waits for work, `timeout` seconds at most, and takes it.
    fn take_batch<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Batch<'py>> {
        let timeout =
            Duration::try_from_secs_f64(timeout).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let batch = py.detach(|| self.exchange.take_batch(timeout));
        let keys = |keys: &[[u8; 16]]| keys.iter().map(|key| PyBytes::new(py, key)).collect();
        let row = |(key, is_unsat, bytes): &([u8; 16], bool, Vec<u8>)| {
            (PyBytes::new(py, key), *is_unsat, PyBytes::new(py, bytes))
        };
        let rows = batch.rows.iter().map(row).collect();
        let entries = PyBytes::new(py, &batch.entries);
        Ok((keys(&batch.wanted), rows, entries, keys(&batch.removed), batch.is_last))
    }

    /// Adds entries of the server's index. False if the bytes are no entries.
    fn add_index(&self, py: Python<'_>, entries: &[u8]) -> bool {
        py.detach(|| self.exchange.add_index(entries))
    }

    /// Delivers a row that was asked for; None if the server does not have it.
    #[pyo3(signature = (key, row, is_trusted = false))]
    fn deliver(&self, key: [u8; 16], row: Option<Vec<u8>>, is_trusted: bool) {
        self.exchange.deliver(key, row.map(|row| (row, is_trusted)));
    }

    /// Ends a batch: how many changes are written or given up, how many given up, and whether the server has answered.
    fn finish_batch(&self, settled: u64, lost: u64, is_answered: bool) {
        self.exchange.finish_batch(settled, lost, is_answered);
    }

    /// A message for the user.
    fn report(&self, message: String) {
        self.exchange.report(message);
    }

    /// Ends the exchange: the client gets a last batch.
    fn close(&self) {
        self.exchange.close();
    }
}
