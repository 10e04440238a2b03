//! Answers of a layer written in Python: `Sat`, `Unsat` or `Unknown`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Satisfiable. `values` has the value of each variable by node number: `bool`, `int`, or `(default, {index: element})`.
#[pyclass(frozen, get_all, module = "partita.layers")]
pub(crate) struct Sat {
    pub(crate) values: Py<PyDict>,
}

#[pymethods]
impl Sat {
    #[new]
    fn new(values: Py<PyDict>) -> Sat {
        Sat { values }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Sat({})", self.values.bind(py).repr()?))
    }
}

/// Unsatisfiable. `core` has the constraints that contradict each other, with the condition unless `condition` is false.
#[pyclass(frozen, get_all, module = "partita.layers")]
pub(crate) struct Unsat {
    pub(crate) core: Vec<u32>,
    pub(crate) condition: bool,
}

#[pymethods]
impl Unsat {
    #[new]
    #[pyo3(signature = (core, condition = true))]
    fn new(core: Vec<u32>, condition: bool) -> Unsat {
        Unsat { core, condition }
    }

    fn __repr__(&self) -> String {
        let condition = if self.condition { "True" } else { "False" };
        format!("Unsat({:?}, condition={condition})", self.core)
    }
}

/// No answer. `reason` is "timeout", "canceled", "memout" or other text.
#[pyclass(frozen, get_all, module = "partita.layers")]
pub(crate) struct Unknown {
    pub(crate) reason: String,
}

#[pymethods]
impl Unknown {
    #[new]
    fn new(reason: String) -> Unknown {
        Unknown { reason }
    }

    fn __repr__(&self) -> String {
        format!("Unknown({:?})", self.reason)
    }
}
