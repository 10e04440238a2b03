//! The Python class `Model`: values of variables by name. Independent of the solver that found it.

use crate::expr::{Expr, sort_error};
use crate::intern::Interned;
use crate::value::to_python;
use partita_core::expr::{Evaluator, Graph, Model as CoreModel, Sort, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A satisfying assignment. Variables that it does not mention are zero (False, the all-zero array).
#[pyclass(frozen, module = "partita", mapping)]
pub(crate) struct Model {
    values: Vec<(String, Sort, Value)>,
}

impl Model {
    pub(crate) fn new(graph: &Graph, model: &CoreModel) -> Model {
        let entry = |(e, value): (_, &Value)| (graph.name(e).to_string(), graph.sort(e), value.clone());
        let mut values: Vec<_> = model.iter().map(entry).collect();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        Model { values }
    }
}

#[pymethods]
impl Model {
    /// The value of any expression: `bool`, `int` (unsigned), for an array `(default, {index: element})`, for a
    /// `Float` a number.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, expr: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(expr) = expr.cast::<Expr>() else {
            // A number: an expression with a format.
            if let Ok(value) = expr.getattr("value_in") {
                return value.call1((slf,));
            }
            let found = expr.get_type().name()?;
            return Err(PyTypeError::new_err(format!("expected model[expression], found {found}")));
        };
        let term = &expr.get().term;
        let mut graph = Graph::new();
        let mut model = CoreModel::new();
        for (name, sort, value) in &slf.get().values {
            model.set(graph.var(name, *sort).map_err(sort_error)?, value.clone());
        }
        let e = Interned::default().get(&mut graph, term).map_err(sort_error)?;
        let value = Evaluator::new().under(&graph, &model).value(e);
        to_python(slf.py(), term.sort, &value)
    }

    /// Values of all variables that the model mentions, by name.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, sort, value) in &self.values {
            all.set_item(name, to_python(py, *sort, value)?)?;
        }
        Ok(all)
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Model({})", self.as_dict(py)?.repr()?))
    }
}
