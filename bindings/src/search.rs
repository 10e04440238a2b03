//! A Python object as a search strategy: `add(state)`, `choose() -> number`, `remove(number)`.
//!
//! An exception raised by one of them ends the run and is raised again by the call that explores.

use partita_core::budget::Cancel;
use partita_core::exec::{Chooser, OpenState as Core};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// An exception to be raised by the call that explores.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn set(&self, py: Python<'_>, error: PyErr) {
        self.0.lock_py_attached(py).expect("never poisoned").get_or_insert(error);
    }

    /// Takes the exception, as the cause of a ValueError.
    pub(crate) fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let error = self.0.lock_py_attached(py).expect("never poisoned").take()?;
        let kind = error.get_type(py).name().map_or_else(|_| "an exception".to_string(), |n| n.to_string());
        let outer = PyValueError::new_err(format!("the search strategy raised {kind}: {}", error.value(py)));
        outer.set_cause(py, Some(error));
        Some(outer)
    }
}

/// A state that has not finished and is not running.
#[pyclass(frozen, get_all, module = "partita.search")]
pub(crate) struct OpenState {
    number: u64,
    parent: Option<u64>,
    depth: u32,
    function: String,
    file: String,
    line: u32,
    frames: usize,
    distance: Option<u32>,
}

#[pymethods]
impl OpenState {
    fn __repr__(&self) -> String {
        format!("<OpenState {} at {}:{} in {}>", self.number, self.file, self.line, self.function)
    }
}

pub(crate) struct PythonSearch {
    object: Py<PyAny>,
    cancel: Cancel,
    raised: Raised,
    waiting: HashSet<u64>,
    /// A method has raised: the object is not called any more.
    failed: bool,
}

impl PythonSearch {
    pub(crate) fn new(object: Py<PyAny>, cancel: Cancel, raised: Raised) -> PythonSearch {
        PythonSearch { object, cancel, raised, waiting: HashSet::new(), failed: false }
    }

    fn ask<R>(&mut self, f: impl FnOnce(&mut PythonSearch, Python<'_>) -> PyResult<R>) -> Option<R> {
        if self.failed {
            return None;
        }
        Python::attach(|py| match f(self, py) {
            Ok(value) => Some(value),
            Err(error) => {
                self.failed = true;
                self.raised.set(py, error);
                self.cancel.cancel();
                None
            }
        })
    }
}

impl Chooser for PythonSearch {
    fn add(&mut self, state: Core) {
        self.waiting.insert(state.number);
        self.ask(|search, py| {
            let view = OpenState {
                number: state.number,
                parent: state.parent,
                depth: state.depth,
                function: state.place.function,
                file: state.place.file,
                line: state.place.line,
                frames: state.frames,
                distance: state.distance,
            };
            search.object.bind(py).call_method1("add", (view,)).map(|_| ())
        });
    }

    fn choose(&mut self) -> Option<u64> {
        let number = self.ask(|search, py| {
            let chosen = search.object.bind(py).call_method0("choose")?;
            match chosen.extract::<u64>() {
                Ok(number) if search.waiting.contains(&number) => Ok(number),
                Ok(_) | Err(_) => Err(PyValueError::new_err(format!(
                    "expected choose() to return the number of a waiting state, found {}",
                    chosen.repr()?
                ))),
            }
        })?;
        self.waiting.remove(&number);
        Some(number)
    }

    fn remove(&mut self, number: u64) {
        self.waiting.remove(&number);
        self.ask(|search, py| search.object.bind(py).call_method1("remove", (number,)).map(|_| ()));
    }
}
