//! The Python class `_core.Solver`: a chain of layers, a stack of assertions, and the last answer.
//!
//! Assertions are nodes of the path tree, so that equal prefixes share what layers learn. Each assertion remembers
//! which constraints of the path it became, and cores are given in terms of what was asserted.

use crate::chain;
use crate::expr::{Expr, sort_error};
use crate::intern::Interned;
use crate::layer::{Objects, interrupt};
use crate::model::Model;
use crate::store::detached;
use crate::term::Term;
use crate::value::{int_from_bits, signed_int};
use crate::worker;
use partita_core::budget::{Budget, Cancel};
use partita_core::expr::{Expr as Handle, Sort};
use partita_core::query::{Answer, Core, Path, Query, Reasons};
use partita_core::solve::{Extreme, LayerStatistics, Solver as CoreSolver};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::ThreadId;
use std::time::Duration;

/// Smallest number of nodes at which the graph is collected.
const MIN_COLLECT_NODES: usize = 1 << 20;

struct Assertion {
    term: Arc<Term>,
    /// The path up to and including this assertion; retained.
    path: Path,
}

struct Inner {
    solver: CoreSolver,
    interned: Interned,
    assertions: Vec<Assertion>,
    /// Number of assertions at each push.
    marks: Vec<usize>,
    /// The last check; None once assertions change.
    last: Option<LastCheck>,
    /// Number of nodes at which the graph is collected next.
    collect_at: usize,
}

struct LastCheck {
    answer: Answer,
    assumptions: Vec<Arc<Term>>,
    /// The path constraints that each assumption became. The last assumption is the condition and has none.
    became: Vec<Vec<Handle>>,
}

#[pyclass(frozen, module = "partita._core")]
pub(crate) struct Solver {
    inner: Mutex<Inner>,
    cancel: Cancel,
    objects: Objects,
    /// The thread that is solving: a layer must not use its own solver.
    worker: Mutex<Option<ThreadId>>,
}

impl Inner {
    fn top(&self) -> Path {
        self.assertions.last().map_or_else(|| self.solver.tree.root(), |assertion| assertion.path)
    }

    fn intern(&mut self, term: &Arc<Term>) -> PyResult<Handle> {
        if term.sort != Sort::Bool {
            return Err(PyTypeError::new_err(format!("expected a Bool, found {}", term.sort)));
        }
        self.interned.get(&mut self.solver.graph, term).map_err(sort_error)
    }

    /// Drops nodes that neither a path nor a term held by Python needs, once the graph has doubled.
    fn collect_if_due(&mut self) {
        if self.solver.graph.len() >= self.collect_at {
            self.collect();
        }
    }

    fn collect(&mut self) -> usize {
        let roots = self.interned.sweep();
        self.last = None;
        let freed = self.solver.collect(roots);
        self.collect_at = (self.solver.graph.len() * 2).max(MIN_COLLECT_NODES);
        freed
    }

    fn truncate(&mut self, keep: usize) {
        for assertion in self.assertions.drain(keep..) {
            self.solver.tree.release(assertion.path);
        }
        self.last = None;
    }

    /// All assumptions but the last extend the path, the last is the condition, so that a core distinguishes them.
    fn check(&mut self, assumptions: Vec<(Arc<Term>, Handle)>, budget: &Budget) {
        let mut path = self.solver.tree.retain(self.top());
        let mut became = Vec::new();
        let (path_part, condition) = match assumptions.split_last() {
            Some((last, others)) => (others, Some(last.1)),
            None => (&[][..], None),
        };
        for (_, e) in path_part {
            let next = self.solver.tree.extend(&self.solver.graph, path, *e);
            became.push(self.between(path, next));
            self.solver.tree.release(path);
            path = next;
        }
        let answer = match condition {
            Some(condition) => self.solver.check(&Query::new(path, condition), budget),
            None => self.solver.check_path(path, budget),
        };
        self.solver.tree.release(path);
        let assumptions = assumptions.into_iter().map(|(term, _)| term).collect();
        self.last = Some(LastCheck { answer, assumptions, became });
    }

    /// Constraints of `to` beyond those of `from`.
    fn between(&self, from: Path, to: Path) -> Vec<Handle> {
        let tree = &self.solver.tree;
        tree.upwards(to).take_while(|node| *node != from).map(|node| tree.constraint(node)).collect()
    }

    /// The assertions and assumptions behind a core.
    fn core(&self, core: &Core, last: &LastCheck) -> Vec<Arc<Term>> {
        let hit = |became: &[Handle], reasons: &Reasons| became.iter().any(|e| reasons.contains(*e));
        let mut terms = Vec::new();
        let mut before = self.solver.tree.root();
        for assertion in &self.assertions {
            if hit(&self.between(before, assertion.path), &core.constraints) {
                terms.push(assertion.term.clone());
            }
            before = assertion.path;
        }
        for (i, assumption) in last.assumptions.iter().enumerate() {
            let used = match last.became.get(i) {
                Some(became) => hit(became, &core.constraints),
                None => core.condition,
            };
            if used {
                terms.push(assumption.clone());
            }
        }
        terms
    }
}

impl Solver {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        if *self.worker.lock_py_attached(py).expect("never poisoned") == Some(std::thread::current().id()) {
            return Err(PyRuntimeError::new_err("a layer cannot use the solver that it is a layer of"));
        }
        self.inner.lock_py_attached(py).map_err(|_| {
            PyRuntimeError::new_err(
                "an internal error has ended an earlier check: this solver cannot be used any more",
            )
        })
    }
}

impl Solver {
    /// Runs `ask` in a worker thread.
    fn work<R: Send>(&self, py: Python<'_>, ask: impl FnOnce(&mut Inner) -> R + Send) -> PyResult<R> {
        self.cancel.reset();
        worker::run(
            py,
            &self.cancel,
            |py| interrupt(py, &self.objects),
            |_, _| Ok(()),
            |_| {
                let mut inner = self.inner.lock().expect("not poisoned a moment ago");
                *self.worker.lock().expect("never poisoned") = Some(std::thread::current().id());
                let answer = ask(&mut inner);
                *self.worker.lock().expect("never poisoned") = None;
                answer
            },
        )
    }
}

/// Seconds as a duration. Fails for negative numbers and those that are not finite.
pub(crate) fn seconds(name: &str, value: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| PyValueError::new_err(format!("expected {name} in seconds, at least 0, found {value}")))
}

pub(crate) fn budget(cancel: &Cancel, timeout: Option<f64>, memory_mb: Option<u64>) -> PyResult<Budget> {
    let limit = timeout.map(|value| seconds("timeout", value)).transpose()?;
    let timed = limit.map_or_else(Budget::unlimited, Budget::for_time);
    Ok(Budget { cancel: cancel.clone(), memory_mb, ..timed })
}

pub(crate) fn statistics_dict<'py>(
    py: Python<'py>,
    queries: u64,
    time: Duration,
    layers: &[LayerStatistics],
) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyList::empty(py);
    for layer in layers {
        let row = PyDict::new(py);
        row.set_item("name", &layer.name)?;
        row.set_item("asked", layer.meter.asked)?;
        row.set_item("sat", layer.meter.sat)?;
        row.set_item("unsat", layer.meter.unsat)?;
        row.set_item("unknown", layer.meter.unknown)?;
        row.set_item("passed", layer.meter.passed)?;
        row.set_item("time_s", layer.meter.own.as_secs_f64())?;
        row.set_item("effort_s", layer.meter.effort as f64 / 1e9)?;
        for (name, value) in &layer.counters {
            row.set_item(name, value)?;
        }
        rows.append(row)?;
    }
    let all = PyDict::new(py);
    all.set_item("queries", queries)?;
    all.set_item("time_s", time.as_secs_f64())?;
    all.set_item("layers", rows)?;
    Ok(all)
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (layers, default, backend, store = None))]
    fn new(
        layers: &str,
        default: &str,
        backend: &Bound<'_, PyAny>,
        store: Option<chain::StorePlace>,
    ) -> PyResult<Solver> {
        let (layers, objects) = chain::build(layers, default, backend, store)?;
        let inner = Inner {
            solver: CoreSolver::new(layers),
            interned: Interned::default(),
            assertions: Vec::new(),
            marks: Vec::new(),
            last: None,
            collect_at: MIN_COLLECT_NODES,
        };
        Ok(Solver { inner: Mutex::new(inner), cancel: Cancel::default(), objects, worker: Mutex::new(None) })
    }

    fn add(&self, py: Python<'_>, expr: &Bound<'_, Expr>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let term = expr.get().term.clone();
        let e = inner.intern(&term)?;
        let top = inner.top();
        let Inner { solver, .. } = &mut *inner;
        let path = solver.tree.extend(&solver.graph, top, e);
        inner.assertions.push(Assertion { term, path });
        inner.last = None;
        Ok(())
    }

    fn push(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let mark = inner.assertions.len();
        inner.marks.push(mark);
        Ok(())
    }

    fn pop(&self, py: Python<'_>, levels: usize) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let depth = inner.marks.len();
        if levels > depth {
            return Err(PyValueError::new_err(format!(
                "expected at most {depth} levels to pop, found {levels}"
            )));
        }
        if levels > 0 {
            let keep = inner.marks[depth - levels];
            inner.marks.truncate(depth - levels);
            inner.truncate(keep);
        }
        Ok(())
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.marks.clear();
        inner.truncate(0);
        Ok(())
    }

    /// Number of pushes that have not been popped.
    fn depth(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.marks.len())
    }

    fn assertions(&self, py: Python<'_>) -> PyResult<Vec<Expr>> {
        let inner = self.lock(py)?;
        Ok(inner.assertions.iter().map(|assertion| Expr { term: assertion.term.clone() }).collect())
    }

    fn check(
        &self,
        py: Python<'_>,
        assumptions: Vec<Bound<'_, Expr>>,
        timeout: Option<f64>,
        memory_mb: Option<u64>,
    ) -> PyResult<&'static str> {
        let mut inner = self.lock(py)?;
        inner.collect_if_due();
        let mut interned = Vec::with_capacity(assumptions.len());
        for assumption in &assumptions {
            let term = assumption.get().term.clone();
            let e = inner.intern(&term)?;
            interned.push((term, e));
        }
        let budget = budget(&self.cancel, timeout, memory_mb)?;
        // The worker takes the lock, so that it is poisoned if the worker panics, and only then.
        drop(inner);
        self.work(py, |inner| {
            inner.check(interned, &budget);
            inner.last.as_ref().map_or("unknown", |last| last.answer.verdict())
        })
    }

    /// The least or greatest value of a bit-vector; `which` is (greatest, signed). None if the assertions and assumptions
    /// contradict each other; a string with the reason if that cannot be decided.
    fn extreme<'py>(
        &self,
        py: Python<'py>,
        expr: &Bound<'py, Expr>,
        assumptions: Vec<Bound<'py, Expr>>,
        which: (bool, bool),
        timeout: Option<f64>,
        memory_mb: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut inner = self.lock(py)?;
        inner.collect_if_due();
        let term = expr.get().term.clone();
        let Sort::Bits(_) = term.sort else {
            return Err(PyTypeError::new_err(format!("expected a bit-vector, found {}", term.sort)));
        };
        let Inner { solver, interned, .. } = &mut *inner;
        let e = interned.get(&mut solver.graph, &term).map_err(sort_error)?;
        let mut conditions = Vec::with_capacity(assumptions.len());
        for assumption in &assumptions {
            conditions.push(inner.intern(&assumption.get().term.clone())?);
        }
        let budget = budget(&self.cancel, timeout, memory_mb)?;
        let (greatest, signed) = which;
        drop(inner);
        let found = self.work(py, |inner| {
            inner.last = None;
            let mut path = inner.solver.tree.retain(inner.top());
            for condition in conditions {
                let next = inner.solver.tree.extend(&inner.solver.graph, path, condition);
                inner.solver.tree.release(path);
                path = next;
            }
            let found = inner.solver.extreme(path, e, Extreme { greatest, signed }, &budget);
            inner.solver.tree.release(path);
            found
        })?;
        match found {
            Ok(Some(bits)) if signed => signed_int(py, &bits),
            Ok(Some(bits)) => int_from_bits(py, &bits),
            Ok(None) => Ok(py.None().into_bound(py)),
            Err(why) => Ok(why.to_string().into_pyobject(py)?.into_any()),
        }
    }

    fn model(&self, py: Python<'_>) -> PyResult<Option<Model>> {
        let inner = self.lock(py)?;
        Ok(match inner.last.as_ref().map(|last| &last.answer) {
            Some(Answer::Sat(model)) => Some(Model::new(&inner.solver.graph, model)),
            Some(Answer::Unsat(_) | Answer::Unknown(_)) | None => None,
        })
    }

    fn unsat_core(&self, py: Python<'_>) -> PyResult<Option<Vec<Expr>>> {
        let inner = self.lock(py)?;
        let Some(last) = &inner.last else { return Ok(None) };
        Ok(match &last.answer {
            Answer::Unsat(core) => {
                Some(inner.core(core, last).into_iter().map(|term| Expr { term }).collect())
            }
            Answer::Sat(_) | Answer::Unknown(_) => None,
        })
    }

    fn reason_unknown(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let inner = self.lock(py)?;
        Ok(match inner.last.as_ref().map(|last| &last.answer) {
            Some(Answer::Unknown(why)) => Some(why.to_string()),
            Some(Answer::Sat(_) | Answer::Unsat(_)) | None => None,
        })
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.lock(py)?;
        statistics_dict(py, inner.solver.queries(), inner.solver.time(), &inner.solver.statistics())
    }

    /// New warnings of the layers for the user.
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.solver.notices())
    }

    /// Waits until the layers' files are written.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        drop(self.lock(py)?);
        detached(py, &self.inner, |inner| inner.solver.flush());
        Ok(())
    }

    fn has_complete_layer(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.solver.has_complete_layer())
    }

    /// Cancels the current check, from any thread.
    fn cancel(&self, py: Python<'_>) {
        self.cancel.cancel();
        interrupt(py, &self.objects);
    }

    /// Frees expressions that are not needed any more and returns the number of nodes. Called as the graph grows.
    fn collect(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.collect())
    }

    /// Makes every layer drop what it can recompute.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.solver.forget();
        Ok(())
    }
}
