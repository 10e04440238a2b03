//! The Python class `_core.Script`: a session of SMT-LIB commands or KQuery texts.

use crate::chain;
use crate::layer::{Objects, interrupt};
use crate::solver::{seconds, statistics_dict};
use crate::store::detached;
use crate::worker;
use partita_core::budget::Cancel;
use partita_core::script::{KQuerySession, Limits, Mode, Session, Step};
use partita_core::solve::Solver;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use std::sync::Mutex;
use std::time::Duration;

enum Kind {
    Smtlib(Box<Session>),
    KQuery(Box<KQuerySession>, u64),
}

impl Kind {
    fn solver(&self) -> &Solver {
        match self {
            Kind::Smtlib(session) => &session.solver,
            Kind::KQuery(session, _) => &session.solver,
        }
    }

    fn solver_mut(&mut self) -> &mut Solver {
        match self {
            Kind::Smtlib(session) => &mut session.solver,
            Kind::KQuery(session, _) => &mut session.solver,
        }
    }

    /// Executes the complete commands; with `end` also the rest of the text.
    fn run(&mut self, text: &[u8], end: bool, cancel: &Cancel, emit: &mut dyn FnMut(&str)) {
        match self {
            Kind::Smtlib(session) => {
                session.add_text(text);
                while !cancel.is_cancelled() {
                    match session.step() {
                        Step::Done(answer) => answer.iter().for_each(|line| emit(line)),
                        Step::Idle | Step::Exit => break,
                    }
                }
                let last = if end && !cancel.is_cancelled() { session.finish() } else { Step::Idle };
                if let Step::Done(Some(answer)) = last {
                    emit(&answer);
                }
            }
            Kind::KQuery(session, errors) => {
                if let Err(error) = session.run(text, emit) {
                    *errors += 1;
                    emit(&format!("error: {error}"));
                }
            }
        }
    }
}

/// A script in the language "smtlib" (text in chunks of any size), "kquery" or "kquery-validity" (a complete text).
#[pyclass(frozen, module = "partita._core")]
pub(crate) struct Script {
    kind: Mutex<Kind>,
    cancel: Cancel,
    objects: Objects,
}

#[pymethods]
impl Script {
    #[new]
    #[pyo3(signature = (language, layers, default, backend, timeout, memory_mb, store = None))]
    fn new(
        language: &str,
        layers: &str,
        default: &str,
        backend: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        memory_mb: Option<u64>,
        store: Option<chain::StorePlace>,
    ) -> PyResult<Script> {
        let (layers, objects) = chain::build(layers, default, backend, store)?;
        let timeout = timeout.map(|value| seconds("timeout", value)).transpose()?;
        let cancel = Cancel::default();
        let limits = Limits { timeout, memory_mb, cancel: cancel.clone() };
        let solver = Solver::new(layers);
        let kquery =
            |solver, limits, mode| Kind::KQuery(Box::new(KQuerySession::new(solver, limits, mode)), 0);
        let kind = match language {
            "kquery" => kquery(solver, limits, Mode::Entailment),
            "kquery-validity" => kquery(solver, limits, Mode::Validity),
            "smtlib" => Kind::Smtlib(Box::new(Session::new(solver, limits))),
            other => {
                return Err(PyValueError::new_err(format!(
                    "expected smtlib, kquery or kquery-validity, found {other}"
                )));
            }
        };
        Ok(Script { kind: Mutex::new(kind), cancel, objects })
    }

    /// Executes the commands of `text` and calls `write` with the answers (each ending in a newline) as they come.
    /// `end`: no more text follows.
    fn run(&self, py: Python<'_>, text: Vec<u8>, end: bool, write: &Bound<'_, PyAny>) -> PyResult<()> {
        let write = write.clone().unbind();
        self.cancel.reset();
        worker::run(
            py,
            &self.cancel,
            |py| interrupt(py, &self.objects),
            |py, lines| {
                let mut text = lines.join("\n");
                text.push('\n');
                write.bind(py).call1((text,)).map(|_| ())
            },
            |emit| {
                let Ok(mut kind) = self.kind.lock() else { return false };
                kind.run(&text, end, &self.cancel, emit);
                true
            },
        )?
        .then_some(())
        .ok_or_else(|| PyRuntimeError::new_err("an internal error has ended this script"))
    }

    /// Answers the queries of a KQuery text. Returns for each query and layer how often the layer was asked and its own
    /// seconds. All queries run in one thread, as those of an exploration do.
    fn costs(&self, py: Python<'_>, text: Vec<u8>) -> PyResult<Vec<Vec<(u64, f64)>>> {
        self.cancel.reset();
        let found = worker::run(
            py,
            &self.cancel,
            |py| interrupt(py, &self.objects),
            |_, _| Ok(()),
            |_| match &mut *self.kind.lock().ok()? {
                Kind::Smtlib(_) => Some(Err("expected a script of kquery, found smtlib".to_string())),
                Kind::KQuery(session, _) => Some(session.costs(&text)),
            },
        )?;
        let found =
            found.ok_or_else(|| PyRuntimeError::new_err("an internal error has ended this script"))?;
        let seconds = |layers: Vec<(u64, Duration)>| {
            layers.into_iter().map(|(asked, own)| (asked, own.as_secs_f64())).collect()
        };
        Ok(found.map_err(PyValueError::new_err)?.into_iter().map(seconds).collect())
    }

    /// Has the script executed `(exit)`?
    fn exited(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(match &*self.lock(py)? {
            Kind::Smtlib(session) => session.has_exited(),
            Kind::KQuery(..) => false,
        })
    }

    /// Number of commands that failed.
    fn errors(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(match &*self.lock(py)? {
            Kind::Smtlib(session) => session.errors(),
            Kind::KQuery(_, errors) => *errors,
        })
    }

    /// Number of queries answered unknown.
    fn unknowns(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(match &*self.lock(py)? {
            Kind::Smtlib(session) => session.unknowns(),
            Kind::KQuery(session, _) => session.unknowns(),
        })
    }

    /// New warnings of the layers for the user.
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.solver_mut().notices())
    }

    /// Waits until the layers' files are written.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        drop(self.lock(py)?);
        detached(py, &self.kind, |kind| kind.solver_mut().flush());
        Ok(())
    }

    fn has_complete_layer(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.solver().has_complete_layer())
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kind = self.lock(py)?;
        let solver = kind.solver();
        statistics_dict(py, solver.queries(), solver.time(), &solver.statistics())
    }

    /// Cancels the current query, from any thread.
    fn cancel(&self, py: Python<'_>) {
        self.cancel.cancel();
        interrupt(py, &self.objects);
    }
}

impl Script {
    fn lock(&self, py: Python<'_>) -> PyResult<std::sync::MutexGuard<'_, Kind>> {
        self.kind
            .lock_py_attached(py)
            .map_err(|_| PyRuntimeError::new_err("an internal error has ended this script"))
    }
}
