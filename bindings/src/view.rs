//! A query as a layer written in Python sees it: its nodes as rows of numbers, and the layers below.

use crate::answer::{Sat, Unknown, Unsat};
use crate::borrowed::Borrowed;
use crate::value::{from_python, to_python};
use partita_core::budget::{Budget, Cancel};
use partita_core::expr::{Expr, Graph, Model, Op, Sort};
use partita_core::interval::{self, Set};
use partita_core::query::{Answer, Query};
use partita_core::solve::Rest;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Kinds of a node's sort, as numbers in a row.
pub(crate) const BOOL: u32 = 0;
pub(crate) const BITS: u32 = 1;
pub(crate) const ARRAY: u32 = 2;

/// One query to a layer written in Python. Nodes are identified by number. Each node is sent once; `dropped` lists the
/// numbers freed since the last query, which new nodes may reuse.
#[pyclass(frozen, module = "partita.layers")]
pub(crate) struct QueryView {
    /// Rows of eight 32-bit numbers (native order), operands before their users: number, operator, kind, width,
    /// index width, and three operands or parameters.
    #[pyo3(get)]
    nodes: Py<PyBytes>,
    /// Numbers of nodes sent earlier that no longer exist. To be removed before `nodes` are added.
    #[pyo3(get)]
    dropped: Py<PyBytes>,
    /// Names of the new variables.
    #[pyo3(get)]
    names: Py<PyDict>,
    /// Bytes of the scalars that new array variables were allocated with, where known; 0 if there are several sizes.
    #[pyo3(get)]
    allocated: Py<PyDict>,
    /// Values of the new constants wider than 64 bits.
    #[pyo3(get)]
    wide: Py<PyDict>,
    /// Elements of the new tables.
    #[pyo3(get)]
    tables: Py<PyDict>,
    /// The path's constraints, oldest first.
    #[pyo3(get)]
    constraints: Vec<u32>,
    #[pyo3(get)]
    condition: u32,
    /// Variables of the constraints and the condition. A model must give a value to each.
    #[pyo3(get)]
    variables: Vec<u32>,
    /// Seconds left; None: no limit.
    #[pyo3(get)]
    seconds: Option<f64>,
    #[pyo3(get)]
    memory_mb: Option<u64>,
    cancel: Cancel,
    query: Query,
}

#[pymethods]
impl QueryView {
    /// Has the query been cancelled?
    fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

impl QueryView {
    #[allow(clippy::too_many_arguments, reason = "one call, each argument a field")]
    pub(crate) fn new(
        py: Python<'_>,
        graph: &Graph,
        query: &Query,
        constraints: &[Expr],
        variables: Vec<u32>,
        new: &[Expr],
        dropped: &[u32],
        budget: &Budget,
    ) -> PyResult<QueryView> {
        let (names, wide, tables) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
        let allocated = PyDict::new(py);
        let mut rows: Vec<u8> = Vec::with_capacity(new.len() * 32);
        for &e in new {
            for number in row(graph, e) {
                rows.extend_from_slice(&number.to_ne_bytes());
            }
            match graph.op(e) {
                Op::Var => {
                    names.set_item(e.id(), graph.name(e))?;
                    if let Some(bytes) = graph.allocated(e) {
                        allocated.set_item(e.id(), bytes)?;
                    }
                }
                Op::Const if graph.width(e) > 64 => {
                    let bits = graph.const_bits(e).expect("a constant");
                    wide.set_item(e.id(), crate::value::int_from_bits(py, &bits)?)?;
                }
                Op::Table => {
                    tables.set_item(e.id(), PyList::new(py, graph.table(e).elements.iter())?)?;
                }
                _ => {}
            }
        }
        let dropped: Vec<u8> = dropped.iter().flat_map(|id| id.to_ne_bytes()).collect();
        Ok(QueryView {
            nodes: PyBytes::new(py, &rows).unbind(),
            dropped: PyBytes::new(py, &dropped).unbind(),
            names: names.unbind(),
            allocated: allocated.unbind(),
            wide: wide.unbind(),
            tables: tables.unbind(),
            constraints: constraints.iter().map(|e| e.id()).collect(),
            condition: query.condition.id(),
            variables,
            seconds: budget.left().map(|left| left.as_secs_f64()),
            memory_mb: budget.memory_mb,
            cancel: budget.cancel.clone(),
            query: query.clone(),
        })
    }
}

fn row(graph: &Graph, e: Expr) -> [u32; 8] {
    let (kind, width, mut index_width) = match graph.sort(e) {
        Sort::Bool => (BOOL, 1, 0),
        Sort::Bits(width) => (BITS, width, 0),
        Sort::Array { index, element } => (ARRAY, element, index),
    };
    let op = graph.op(e);
    let mut payload = [0; 3];
    for (to, kid) in payload.iter_mut().zip(graph.kids(e)) {
        *to = kid.id();
    }
    if let Some(parameter) = graph.parameter(e) {
        *payload.get_mut(op.arity()).unwrap_or(&mut index_width) = parameter;
    }
    if let Some(word) = graph.const_word(e) {
        payload = [word as u32, (word >> 32) as u32, 0];
    }
    [e.id(), op as u32, kind, width, index_width, payload[0], payload[1], payload[2]]
}

/// The layers below. Valid only during the call to `check` that received it.
#[pyclass(frozen, module = "partita.layers")]
pub(crate) struct RestView {
    borrowed: Borrowed<Rest<'static>>,
}

impl RestView {
    /// Runs `f` with a view of `rest`.
    pub(crate) fn lend<'py, R>(
        py: Python<'py>,
        rest: &mut Rest<'_>,
        f: impl FnOnce(&Bound<'py, RestView>) -> R,
    ) -> PyResult<R> {
        Borrowed::during(
            py,
            rest,
            |borrowed| Bound::new(py, RestView { borrowed }),
            |view| &view.get().borrowed,
            f,
        )
    }
}

fn not_lent() -> PyErr {
    PyRuntimeError::new_err(
        "the layers below can only be asked during the call to check() they were given to, by one thread",
    )
}

/// Bounds of an expression: least and greatest unsigned, least and greatest signed, and the constraints they follow from.
type Bounds = (u64, u64, i128, i128, Vec<u32>);

fn bounds_of(graph: &Graph, e: Expr, view: &interval::KnownSet) -> Bounds {
    let because = || view.reasons.flatten().as_slice().iter().map(|e| e.id()).collect();
    let ends = |set: &Set| Some((set.min()?, set.max()?, set.signed_bounds()?));
    let full = || ends(&Set::full(graph.width(e))).expect("a full set has ends");
    let (reasons, (least, greatest, signed)) = match ends(&view.set) {
        Some(found) => (because(), found),
        // The set is empty, so the query is unsat: `check` reports that, bounds do not.
        None => (Vec::new(), full()),
    };
    (least, greatest, signed.0, signed.1, reasons)
}

#[pymethods]
impl RestView {
    /// Bounds of bit-vectors of at most 64 bits, given by node number, under the constraints and the condition: least and
    /// greatest value unsigned, then signed, and the numbers of the constraints they follow from.
    fn bounds(&self, query: &Bound<'_, QueryView>, numbers: Vec<u32>) -> PyResult<Vec<Bounds>> {
        let query = query.get();
        let found = self.borrowed.with(|rest| {
            let graph: &Graph = rest.graph;
            let word = |number: u32| {
                let e = ((number as usize) < graph.slots()).then(|| graph.at_slot(number));
                let is_word = |e: &Expr| matches!(graph.sort(*e), Sort::Bits(width) if width <= 64);
                e.filter(is_word).ok_or_else(|| {
                    PyValueError::new_err(format!(
                        "expected a bit-vector of at most 64 bits, found e{number}"
                    ))
                })
            };
            let terms: Vec<Expr> = numbers.iter().map(|&number| word(number)).collect::<PyResult<_>>()?;
            let views = rest.values(&query.query, &terms);
            Ok(terms.iter().zip(&views).map(|(&e, view)| bounds_of(rest.graph, e, view)).collect())
        });
        found.ok_or_else(not_lent)?
    }

    /// Counts effort of the layer, in nanoseconds by the table of costs; never a clock.
    fn spend(&self, effort: u64) -> PyResult<()> {
        self.borrowed.with(|rest| rest.spend(effort)).ok_or_else(not_lent)
    }

    /// Number of partial solutions that layers above want from one solve.
    #[getter]
    fn partial_limit(&self) -> PyResult<usize> {
        self.borrowed.with(|rest| rest.near_misses.limit()).ok_or_else(not_lent)
    }

    /// Hands over assignments that the solver met in its search: candidates for later queries, by number of the variable.
    fn keep_partial(&self, query: &Bound<'_, QueryView>, found: Vec<Bound<'_, PyDict>>) -> PyResult<()> {
        let query = query.get();
        let kept = self.borrowed.with(|rest| {
            let model = |values: &Bound<'_, PyDict>| {
                let mut model = Model::new();
                for (key, value) in values {
                    let id: u32 = key.extract()?;
                    if !query.variables.contains(&id) {
                        return Err(PyValueError::new_err(format!(
                            "expected variables of the query, found e{id}"
                        )));
                    }
                    let variable = rest.graph.at_slot(id);
                    model.set(variable, from_python(rest.graph.sort(variable), &value)?);
                }
                Ok(model)
            };
            let models: Vec<Model> = found.iter().map(model).collect::<PyResult<_>>()?;
            rest.near_misses.put_models(query.query.path, models);
            Ok(())
        });
        kept.ok_or_else(not_lent)?
    }

    /// Effort that the budget has left; `None` if it is not limited.
    #[getter]
    fn effort_left(&self) -> PyResult<Option<u64>> {
        let left = self.borrowed.with(|rest| rest.effort_left()).ok_or_else(not_lent)?;
        Ok((left < u64::MAX).then_some(left))
    }

    /// Passes the query on to the layers below, with a budget of at most `effort` if it is given.
    #[pyo3(signature = (query, effort=None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, QueryView>,
        effort: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let query = query.get().query.clone();
        let answered = py.detach(|| {
            self.borrowed.with(|rest| {
                let answer = rest.check_within(&query, effort.unwrap_or(u64::MAX)).answer;
                let sorts: Vec<(u32, Sort)> = match &answer {
                    Answer::Sat(model) => model.iter().map(|(e, _)| (e.id(), rest.graph.sort(e))).collect(),
                    Answer::Unsat(_) | Answer::Unknown(_) => Vec::new(),
                };
                (answer, sorts)
            })
        });
        let (answer, sorts) = answered.ok_or_else(not_lent)?;
        match answer {
            Answer::Sat(model) => {
                let values = PyDict::new(py);
                for ((e, value), (id, sort)) in model.iter().zip(sorts) {
                    debug_assert_eq!(e.id(), id);
                    values.set_item(id, to_python(py, sort, value)?)?;
                }
                Ok(Bound::new(py, Sat { values: values.unbind() })?.into_any())
            }
            Answer::Unsat(core) => {
                let ids = core.constraints.as_slice().iter().map(|e| e.id()).collect();
                Ok(Bound::new(py, Unsat { core: ids, condition: core.condition })?.into_any())
            }
            Answer::Unknown(why) => Ok(Bound::new(py, Unknown { reason: why.to_string() })?.into_any()),
        }
    }
}
