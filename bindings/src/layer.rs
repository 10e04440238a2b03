//! A Python object as a layer: `name`, `check(query, rest)`, `forget()`, and if it has them `complete`, `counters`
//! (a dict of numbers) and `interrupt()`.
//!
//! No answer of a Python layer is trusted: a model is evaluated, a core must be part of the query, an exception
//! becomes `Unknown` with the end of its traceback, after which the layer is reset.

use crate::answer::{Sat, Unknown, Unsat};
use crate::value::from_python;
use crate::view::{QueryView, RestView};
use partita_core::budget::Why;
use partita_core::cost;
use partita_core::expr::walk::Supports;
use partita_core::expr::{Expr, Graph, Model, Op};
use partita_core::query::{Alive, Answer, Core, Query};
use partita_core::solve::{Layer, Rest};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::sync::Arc;

/// Number of nodes dropped since the last reset above which the layer is reset, if it has fewer live ones: sending
/// everything again is then cheaper than keeping dead nodes in its solver.
const MAX_DROPPED: usize = 200_000;

/// Number of lines of a traceback that are kept.
const TRACEBACK_LINES: usize = 3;

pub(crate) struct PythonLayer {
    object: Py<PyAny>,
    name: String,
    complete: bool,
    /// Nodes sent to the object, one bit per node.
    sent: Vec<u64>,
    /// Nodes sent to the object that no longer exist, to be reported with the next query.
    dropped: Vec<u32>,
    /// Number of nodes dropped since the last reset.
    total_dropped: usize,
    /// The variables among the nodes sent.
    variables: HashMap<u32, Expr>,
    supports: Supports,
}

impl PythonLayer {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<PythonLayer> {
        let wrong = |what: &str| {
            let found = object.get_type().name().map_or_else(|_| "an object".to_string(), |n| n.to_string());
            PyTypeError::new_err(format!("expected a layer with {what}, found {found}"))
        };
        let name: String =
            object.getattr("name").and_then(|n| n.extract()).map_err(|_| wrong("a str `name`"))?;
        for method in ["check", "forget"] {
            if !object.getattr(method).is_ok_and(|m| m.is_callable()) {
                return Err(wrong(&format!("a method `{method}`")));
            }
        }
        let complete = match object.getattr_opt("complete")? {
            Some(value) => value.is_truthy()?,
            None => false,
        };
        Ok(PythonLayer {
            object: object.clone().unbind(),
            name,
            complete,
            sent: Vec::new(),
            dropped: Vec::new(),
            total_dropped: 0,
            variables: HashMap::new(),
            supports: Supports::default(),
        })
    }

    fn fail(&self, message: String) -> Answer {
        Answer::Unknown(Why::Layer { name: self.name.clone(), message })
    }

    /// Nodes under the roots that have not been sent, operands first. Marks them as sent.
    fn take_new(&mut self, graph: &Graph, roots: impl Iterator<Item = Expr>) -> Vec<Expr> {
        self.sent.resize(graph.slots().div_ceil(64), 0);
        let mut new = Vec::new();
        let mut stack: Vec<(Expr, bool)> = Vec::new();
        for root in roots {
            stack.push((root, false));
            while let Some((e, opened)) = stack.pop() {
                if opened {
                    new.push(e);
                    if graph.op(e) == Op::Var {
                        self.variables.insert(e.id(), e);
                    }
                    continue;
                }
                let (word, bit) = (&mut self.sent[e.index() / 64], 1u64 << (e.index() % 64));
                if *word & bit != 0 {
                    continue;
                }
                *word |= bit;
                stack.push((e, true));
                stack.extend(graph.kids(e).into_iter().rev().map(|kid| (kid, false)));
            }
        }
        new
    }

    /// The variables of a query, by number.
    fn mentioned(&mut self, graph: &Graph, constraints: &[Expr], condition: Expr) -> Vec<u32> {
        let mut all = Vec::new();
        for &e in constraints.iter().chain([&condition]) {
            all.extend(self.supports.of(graph, e).iter().map(|atom| atom.variable().id()));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn ask(&mut self, py: Python<'_>, query: &Query, rest: &mut Rest<'_>) -> PyResult<Answer> {
        let constraints = query.constraints(rest.tree);
        let new = self.take_new(rest.graph, constraints.iter().copied().chain([query.condition]));
        let variables = self.mentioned(rest.graph, &constraints, query.condition);
        let dropped = std::mem::take(&mut self.dropped);
        let view = QueryView::new(
            py,
            rest.graph,
            query,
            &constraints,
            variables,
            &new,
            &dropped,
            &rest.budget.foreign(),
        )?;
        let object = self.object.bind(py);
        let view = Bound::new(py, view)?;
        let answer = RestView::lend(py, rest, |rest| object.call_method1("check", (&view, rest)))??;
        if let Ok(sat) = answer.cast::<Sat>() {
            let model = self.model(rest.graph, sat.get().values.bind(py))?;
            return Ok(match rest.satisfies(query, &model) {
                Ok(()) => Answer::Sat(model),
                Err(violated) => {
                    let what = if violated == query.condition { "the condition" } else { "constraint" };
                    let message = format!("model does not satisfy {what} {violated:?}");
                    Answer::Unknown(Why::WrongModel { name: self.name.clone(), message })
                }
            });
        }
        if let Ok(unsat) = answer.cast::<Unsat>() {
            let unsat = unsat.get();
            let find = |id: &u32| constraints.iter().copied().find(|e| e.id() == *id).ok_or(*id);
            return Ok(match unsat.core.iter().map(find).collect::<Result<_, u32>>() {
                Ok(reasons) => Answer::Unsat(Core { constraints: reasons, condition: unsat.condition }),
                Err(id) => self.fail(format!("the core has e{id}, which is not a constraint of the query")),
            });
        }
        if let Ok(unknown) = answer.cast::<Unknown>() {
            let reason = &unknown.get().reason;
            return Ok(match reason.as_str() {
                "timeout" => Answer::Unknown(Why::Deadline),
                "canceled" => Answer::Unknown(Why::Cancelled),
                "memout" => Answer::Unknown(Why::Memory),
                "effort limit reached" => Answer::Unknown(Why::Effort),
                other => self.fail(other.to_string()),
            });
        }
        let found = answer.get_type().name()?;
        Err(PyTypeError::new_err(format!("check() must return Sat, Unsat or Unknown, found {found}")))
    }

    fn model(&self, graph: &Graph, values: &Bound<'_, PyDict>) -> PyResult<Model> {
        let mut model = Model::new();
        for (key, value) in values {
            let id: u32 = key.extract()?;
            let Some(&variable) = self.variables.get(&id) else {
                return Err(PyValueError::new_err(format!("expected variables in a model, found e{id}")));
            };
            model.set(variable, from_python(graph.sort(variable), &value)?);
        }
        Ok(model)
    }

    /// Makes the object forget all nodes; they will be sent again.
    fn restart(&mut self, py: Python<'_>) -> PyResult<()> {
        self.sent.clear();
        self.dropped.clear();
        self.total_dropped = 0;
        self.variables.clear();
        self.supports.forget();
        self.object.bind(py).call_method0("forget").map(|_| ())
    }
}

/// The end of an exception's traceback, in one line.
pub(crate) fn last_lines(py: Python<'_>, error: &PyErr) -> String {
    let formatted = || -> PyResult<String> {
        let traceback = py.import("traceback")?;
        let lines: Vec<String> = traceback
            .call_method1("format_exception", (error.get_type(py), error.value(py), error.traceback(py)))?
            .extract()?;
        let text = lines.concat();
        let all = text.lines().map(str::trim).filter(|line| line.contains(|c| !"^~ ".contains(c)));
        let all: Vec<&str> = all.collect();
        Ok(all[all.len().saturating_sub(TRACEBACK_LINES)..].join(" | "))
    };
    formatted().unwrap_or_else(|_| error.to_string())
}

impl Layer for PythonLayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if self.complete {
            rest.spend(cost::FOREIGN_SOLVE);
        }
        // Python code must not be unwound.
        let was_armed = rest.graph.unwinder.arm(false);
        let answer = Python::attach(|py| match self.ask(py, query, rest) {
            Ok(answer) => answer,
            Err(error) => {
                let mut message = last_lines(py, &error);
                if let Err(second) = self.restart(py) {
                    message = format!("{message}; then forget() failed: {}", last_lines(py, &second));
                }
                self.fail(message)
            }
        });
        rest.graph.unwinder.arm(was_armed);
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.variables.retain(|_, e| alive.expr(*e));
        self.supports.sweep(alive.exprs);
        let (before, mut left) = (self.dropped.len(), 0);
        for (i, word) in self.sent.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let id = i as u32 * 64 + bit;
                if !alive.exprs.has_id(id) {
                    *word &= !(1 << bit);
                    self.dropped.push(id);
                }
            }
            left += word.count_ones() as usize;
        }
        self.total_dropped += self.dropped.len() - before;
        if self.total_dropped > MAX_DROPPED.max(left) {
            self.forget();
        }
    }

    /// A Python layer keeps nothing per path node.
    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        Python::attach(|py| {
            if let Err(error) = self.restart(py) {
                // The object may still hold nodes that are reused: it must not answer any more.
                let message = last_lines(py, &error);
                self.object = Bound::new(py, Broken { message })
                    .expect("memory for a small object")
                    .into_any()
                    .unbind();
            }
        });
    }

    fn counters(&self) -> Vec<(String, f64)> {
        Python::attach(|py| {
            let counters = self.object.bind(py).getattr_opt("counters").ok().flatten();
            let Some(counters) = counters.and_then(|c| c.cast_into::<PyDict>().ok()) else {
                return Vec::new();
            };
            let pair =
                |(k, v): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Some((k.extract().ok()?, v.extract().ok()?));
            counters.iter().filter_map(pair).collect()
        })
    }

    fn is_complete(&self) -> bool {
        self.complete
    }
}

/// Replaces a layer whose `forget()` failed.
#[pyclass(frozen)]
struct Broken {
    message: String,
}

#[pymethods]
impl Broken {
    fn check(&self, _query: Bound<'_, PyAny>, _rest: Bound<'_, PyAny>) -> Unknown {
        Unknown { reason: format!("forget() failed: {}", self.message) }
    }

    fn forget(&self) {}
}

/// Python layers of a chain, to be interrupted from another thread.
pub(crate) type Objects = Arc<Vec<Py<PyAny>>>;

/// Asks every layer that can be interrupted to stop.
pub(crate) fn interrupt(py: Python<'_>, objects: &Objects) {
    for object in objects.iter() {
        let object = object.bind(py);
        let asked = object.getattr_opt("interrupt").and_then(|method| method.map(|m| m.call0()).transpose());
        if let Err(error) = asked {
            error.write_unraisable(py, Some(object));
        }
    }
}
