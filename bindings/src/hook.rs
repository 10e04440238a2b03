//! Python functions as models of C functions: `function(state, *arguments)`, with the path behind `state`.
//!
//! However a path ends inside of a method of `state`, the method raises `PathEnd`, which no `except Exception` catches,
//! and the end is kept here: a hook that catches even that cannot go on. Whatever else a hook raises, or returns that
//! does not fit, ends the path as a `model-error`.

use crate::expr::{Expr, operand};
use crate::loan::Loan;
use crate::term::{Node, Term};
use crate::terms::Terms;
use crate::value::{bits_from_int, signed_int};
use partita_core::exec::{Caller, Class, Hooks, Outcome};
use partita_core::expr::{Bits, Builtin, Expr as Handle, MAX_WIDTH, Sort};
use pyo3::exceptions::{PyBaseException, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyTuple};
use std::sync::Arc;

pyo3::create_exception!(partita.hooks, PathEnd, PyBaseException, "The path has ended: let it through.");

/// How much of a traceback is kept.
const MAX_TRACEBACK: usize = 8_000;

pub(crate) struct PythonHooks {
    functions: Vec<Py<PyAny>>,
    terms: Terms,
}

impl PythonHooks {
    pub(crate) fn new(functions: Vec<Py<PyAny>>) -> PythonHooks {
        PythonHooks { functions, terms: Terms::default() }
    }
}

/// One call of a hook.
pub(crate) struct Session<'s, 'c> {
    caller: &'s mut Caller<'c>,
    terms: &'s mut Terms,
    ended: Option<Outcome>,
}

/// What a value of the run is to Python.
enum Given {
    Number(Bits),
    Term(Arc<Term>),
}

/// Why a method of `State` did not do what it was asked.
enum Trouble {
    /// The path has ended.
    Ended,
    Wrong(String),
}

impl Session<'_, '_> {
    fn give(&mut self, e: Handle) -> Given {
        match self.caller.graph().const_bits(e) {
            Some(bits) => Given::Number(bits),
            None => Given::Term(self.terms.give(self.caller.graph(), e)),
        }
    }

    fn take(&mut self, term: &Arc<Term>) -> Result<Handle, Trouble> {
        self.terms.take(self.caller, term).map_err(Trouble::Wrong)
    }

    /// Is it true, or not zero?
    fn take_condition(&mut self, term: &Arc<Term>) -> Result<Handle, Trouble> {
        let e = self.take(term)?;
        let graph = self.caller.graph();
        if graph.is_bool(e) {
            return Ok(e);
        }
        let zero = graph.word(graph.width(e), 0);
        Ok(graph.ne(e, zero))
    }

    fn or_end<T>(&mut self, result: Result<T, Outcome>) -> Result<T, Trouble> {
        result.map_err(|outcome| {
            self.ended.get_or_insert(outcome);
            Trouble::Ended
        })
    }
}

impl Given {
    fn to_python<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Given::Number(bits) => signed_int(py, &bits),
            Given::Term(term) => Ok(Bound::new(py, Expr { term })?.into_any()),
        }
    }
}

impl Hooks for PythonHooks {
    fn call(&mut self, number: usize, caller: &mut Caller<'_>) -> Result<Option<Handle>, Outcome> {
        Python::attach(|py| {
            let name = caller.name().to_string();
            let width = caller.results().first().copied();
            let mut session = Session { caller, terms: &mut self.terms, ended: None };
            let arguments: Vec<Given> =
                session.caller.arguments().into_iter().map(|e| session.give(e)).collect();
            let function = self.functions[number].bind(py);
            let returned = State::lend(py, &mut session, |state| -> PyResult<Returned> {
                let mut words = vec![state.clone().into_any()];
                for argument in arguments {
                    words.push(argument.to_python(py)?);
                }
                let value = function.call1(PyTuple::new(py, words)?)?;
                Returned::of(&value, width)
            });
            if let Some(outcome) = session.ended.take() {
                return Err(outcome);
            }
            let wrong = |error: &PyErr| Outcome::bug(Class::ModelError, raised(py, &name, error));
            match returned.and_then(|inner| inner).map_err(|error| wrong(&error))? {
                Returned::Nothing => Ok(None),
                Returned::Term(term) => match session.take(&term) {
                    Ok(e) => Ok(Some(e)),
                    Err(Trouble::Wrong(what)) => {
                        Err(Outcome::bug(Class::ModelError, format!("the result of hook `{name}`: {what}")))
                    }
                    Err(Trouble::Ended) => unreachable!("taking a term does not end a path"),
                },
            }
        })
    }

    fn forget(&mut self) {
        self.terms.forget();
    }
}

/// What a hook said the function returns.
enum Returned {
    Nothing,
    Term(Arc<Term>),
}

impl Returned {
    fn of(value: &Bound<'_, PyAny>, width: Option<u32>) -> PyResult<Returned> {
        let wrong = |expected: String| {
            let found = value.repr().map_or_else(|_| "something".to_string(), |text| text.to_string());
            Err(PyTypeError::new_err(format!("expected the hook to return {expected}, found {found}")))
        };
        let Some(width) = width else {
            return if value.is_none() {
                Ok(Returned::Nothing)
            } else {
                wrong("None, as the function returns nothing".to_string())
            };
        };
        if let Ok(expr) = value.cast::<Expr>() {
            let term = expr.get().term.clone();
            return match term.sort {
                Sort::Bits(found) if found == width => Ok(Returned::Term(term)),
                Sort::Bool => Ok(Returned::Term(as_number(term, width))),
                Sort::Bits(_) | Sort::Array { .. } => {
                    wrong(format!("{width} bits (see zext, sext, extract)"))
                }
            };
        }
        if let Ok(truth) = value.cast::<PyBool>() {
            return Ok(Returned::Term(constant(Bits::word(width, truth.is_true().into()))));
        }
        if value.cast::<PyInt>().is_ok() {
            return Ok(Returned::Term(constant(bits_from_int(value, width)?)));
        }
        wrong(format!("an int or an Expr of {width} bits"))
    }
}

fn constant(bits: Bits) -> Arc<Term> {
    Term::leaf(Sort::Bits(bits.width()), Node::Const(bits))
}

/// 1 or 0, as C has it.
fn as_number(truth: Arc<Term>, width: u32) -> Arc<Term> {
    let [one, zero] = [1, 0].map(|word| constant(Bits::word(width, word)));
    Term::apply(Builtin::Ite, &[], &[truth, one, zero]).expect("a choice between numbers")
}

/// What was raised, and below it the traceback.
fn raised(py: Python<'_>, name: &str, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "an exception".to_string(), |n| n.to_string());
    let words = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
    let words = words.lines().next().unwrap_or_default();
    let head = format!("hook `{name}` raised {kind}: {words}");
    let formatted = || -> PyResult<String> {
        let arguments = (error.get_type(py), error.value(py), error.traceback(py));
        let lines: Vec<String> =
            py.import("traceback")?.call_method1("format_exception", arguments)?.extract()?;
        Ok(lines.concat())
    };
    let mut traceback = formatted().unwrap_or_default();
    if traceback.len() > MAX_TRACEBACK {
        let cut = (0..=traceback.len() - MAX_TRACEBACK).rev().find(|i| traceback.is_char_boundary(*i));
        traceback.replace_range(..cut.unwrap_or(0), "...");
    }
    format!("{head}\n{}", traceback.trim_end())
}

/// The path that called a hooked function. Numbers are signed, as the operators of `Expr` are.
#[pyclass(frozen, module = "partita.hooks")]
pub(crate) struct State {
    loan: Loan<Session<'static, 'static>>,
}

impl State {
    fn lend<'py, R>(
        py: Python<'py>,
        session: &mut Session<'_, '_>,
        f: impl FnOnce(&Bound<'py, State>) -> R,
    ) -> PyResult<R> {
        Loan::during(py, session, |loan| Bound::new(py, State { loan }), |state| &state.get().loan, f)
    }

    /// Does something to the path, while other threads may run: it may ask the solver.
    fn act<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Session<'static, 'static>) -> Result<R, Trouble> + Send,
    ) -> PyResult<R> {
        let act = |session: &mut Session<'static, 'static>| match session.ended {
            Some(_) => Err(Trouble::Ended),
            None => f(session),
        };
        match py.detach(|| self.loan.with(act)) {
            Some(Ok(value)) => Ok(value),
            Some(Err(Trouble::Ended)) => Err(PathEnd::new_err("the path has ended")),
            Some(Err(Trouble::Wrong(what))) => Err(PyValueError::new_err(what)),
            None => Err(PyRuntimeError::new_err(
                "a state can only be used during the call of the hook it was given to, by one thread",
            )),
        }
    }

    fn end(&self, py: Python<'_>, outcome: Outcome) -> PyResult<()> {
        self.act(py, |session| session.or_end(Err(outcome)))
    }
}

/// A value of any width, as a term.
fn value_term(value: &Bound<'_, PyAny>) -> PyResult<Arc<Term>> {
    match value.cast::<Expr>() {
        Ok(expr) => Ok(expr.get().term.clone()),
        Err(_) => operand(value, if value.is_instance_of::<PyBool>() { Sort::Bool } else { Sort::Bits(64) }),
    }
}

fn address_term(address: &Bound<'_, PyAny>) -> PyResult<Arc<Term>> {
    let term = operand(address, Sort::Bits(64))?;
    match term.sort {
        Sort::Bits(64) => Ok(term),
        other => Err(PyTypeError::new_err(format!("expected an address of 64 bits, found {other}"))),
    }
}

fn condition_term(condition: &Bound<'_, PyAny>) -> PyResult<Arc<Term>> {
    let term = value_term(condition)?;
    match term.sort {
        Sort::Bool | Sort::Bits(_) => Ok(term),
        Sort::Array { .. } => Err(PyTypeError::new_err(format!("expected a condition, found {}", term.sort))),
    }
}

#[pymethods]
impl State {
    /// The function that was called.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.act(py, |session| Ok(session.caller.name().to_string()))
    }

    /// Function, file and line of the call and of what led to it, innermost first; line 0 is not known.
    #[getter]
    fn stack(&self, py: Python<'_>) -> PyResult<Vec<(String, String, u32)>> {
        let places = self.act(py, |session| Ok(session.caller.stack()))?;
        Ok(places.into_iter().map(|place| (place.function, place.file, place.line)).collect())
    }

    /// A new symbolic value of `width` bits. Tests have its value, under this name.
    fn symbolic(&self, py: Python<'_>, name: String, width: u32) -> PyResult<Expr> {
        if !(1..=MAX_WIDTH).contains(&width) {
            return Err(PyValueError::new_err(format!("expected 1 to {MAX_WIDTH} bits, found {width}")));
        }
        let term = self.act(py, |session| {
            let e = session.caller.symbolic(&name, width);
            Ok(session.terms.give(session.caller.graph(), e))
        })?;
        Ok(Expr { term })
    }

    /// `size` bytes of memory become symbolic. Tests have their values, under this name.
    fn make_symbolic(
        &self,
        py: Python<'_>,
        address: &Bound<'_, PyAny>,
        size: u64,
        name: String,
    ) -> PyResult<()> {
        let address = address_term(address)?;
        self.act(py, |session| {
            let address = session.take(&address)?;
            let made = session.caller.make_symbolic(address, size, &name);
            session.or_end(made)
        })
    }

    /// The number that `size` bytes of memory hold, the lowest byte first.
    fn read<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        size: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let address = address_term(address)?;
        let given = self.act(py, |session| {
            let address = session.take(&address)?;
            let read = session.caller.read(address, size);
            let e = session.or_end(read)?;
            Ok(session.give(e))
        })?;
        given.to_python(py)
    }

    /// Bytes of memory: `size` of them, or up to the first zero byte, which is left out. Where a byte is symbolic, the
    /// path takes each value that it can have.
    #[pyo3(signature = (address, size = None))]
    fn read_bytes<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        size: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let address = address_term(address)?;
        let bytes = self.act(py, |session| {
            let start = session.take(&address)?;
            let mut bytes: Vec<u8> = Vec::new();
            while size.is_none_or(|size| (bytes.len() as u64) < size) {
                let graph = session.caller.graph();
                let step = graph.word(64, bytes.len() as u64);
                let at = graph.add(start, step);
                let read = session.caller.read(at, 1);
                let e = session.or_end(read)?;
                let number = session.caller.number(e);
                match session.or_end(number)? as u8 {
                    0 if size.is_none() => break,
                    byte => bytes.push(byte),
                }
            }
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes an `Expr` of whole bytes, `bytes`, or an `int`, for which `size` says how many bytes it takes.
    #[pyo3(signature = (address, value, size = None))]
    fn write(
        &self,
        py: Python<'_>,
        address: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        size: Option<u32>,
    ) -> PyResult<()> {
        let address = address_term(address)?;
        let terms: Vec<Arc<Term>> = if let Ok(bytes) = value.cast::<PyBytes>() {
            bytes.as_bytes().iter().map(|byte| constant(Bits::word(8, (*byte).into()))).collect()
        } else if let Ok(expr) = value.cast::<Expr>() {
            vec![expr.get().term.clone()]
        } else {
            let Some(size) = size.filter(|size| (1..=MAX_WIDTH / 8).contains(size)) else {
                return Err(PyValueError::new_err(
                    "expected the size in bytes after a number to write, as write(address, number, size)",
                ));
            };
            vec![operand(value, Sort::Bits(8 * size))?]
        };
        for term in &terms {
            match term.sort {
                Sort::Bits(width)
                    if width.is_multiple_of(8)
                        && size.is_none_or(|size| width == 8 * size || terms.len() > 1) => {}
                other => {
                    let wanted = size.map_or("whole bytes".to_string(), |size| format!("{size} bytes"));
                    return Err(PyTypeError::new_err(format!("expected {wanted} to write, found {other}")));
                }
            }
        }
        self.act(py, |session| {
            let start = session.take(&address)?;
            for (i, term) in terms.iter().enumerate() {
                let bits = session.take(term)?;
                let graph = session.caller.graph();
                let step = graph.word(64, i as u64);
                let at = graph.add(start, step);
                let written = session.caller.write(at, bits);
                session.or_end(written)?;
            }
            Ok(())
        })
    }

    /// The address of a new object of zeros, as from `malloc`.
    fn allocate(&self, py: Python<'_>, size: u64) -> PyResult<u64> {
        self.act(py, |session| {
            let made = session.caller.allocate(size);
            session.or_end(made)
        })
    }

    /// Does the condition hold? Where it may and may not, the path forks, and the hook starts again on the other side.
    fn decide(&self, py: Python<'_>, condition: &Bound<'_, PyAny>) -> PyResult<bool> {
        let condition = condition_term(condition)?;
        self.act(py, |session| {
            let e = session.take_condition(&condition)?;
            Ok(session.caller.decide(e))
        })
    }

    /// The value of the first pair whose condition holds; the path forks where several may. A path on which none holds
    /// is none.
    fn fork<'py>(&self, py: Python<'py>, alternatives: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        for pair in alternatives.try_iter()? {
            let (condition, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            if self.decide(py, &condition)? {
                return Ok(value);
            }
        }
        self.end(py, Outcome::Dropped)?;
        unreachable!("the path has ended")
    }

    /// From here on the condition holds. If it cannot, the path ends as a `model-error`.
    fn assume(&self, py: Python<'_>, condition: &Bound<'_, PyAny>) -> PyResult<()> {
        let condition = condition_term(condition)?;
        self.act(py, |session| {
            let e = session.take_condition(&condition)?;
            let assumed = session.caller.assume(e);
            session.or_end(assumed)
        })
    }

    /// One number for a value of at most 64 bits; the path forks, and takes every number that the value can have.
    fn number<'py>(&self, py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let term = value_term(value)?;
        let Sort::Bits(width @ 1..=64) = term.sort else {
            let found = term.sort;
            return Err(PyTypeError::new_err(format!("expected a value of at most 64 bits, found {found}")));
        };
        let word = self.act(py, |session| {
            let e = session.take(&term)?;
            let number = session.caller.number(e);
            session.or_end(number)
        })?;
        signed_int(py, &Bits::word(width, word))
    }

    /// What a value is for one input that takes this path. The path is not bound to it.
    fn example<'py>(&self, py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let term = value_term(value)?;
        if matches!(term.sort, Sort::Array { .. }) {
            return Err(PyTypeError::new_err(format!("expected a number or a truth, found {}", term.sort)));
        }
        let bits = self.act(py, |session| {
            let e = session.take(&term)?;
            Ok(session.caller.example(e))
        })?;
        match term.sort {
            Sort::Bool => Ok(PyBool::new(py, !bits.is_zero()).to_owned().into_any()),
            Sort::Bits(_) | Sort::Array { .. } => signed_int(py, &bits),
        }
    }

    /// Ends the path in a bug of this class, at the line of the call.
    #[pyo3(signature = (message, class_ = "assert"))]
    fn bug(&self, py: Python<'_>, message: &str, class_: &str) -> PyResult<()> {
        let Some(&class) = Class::ALL.iter().find(|class| class.name() == class_) else {
            let known: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
            let known = known.join(", ");
            return Err(PyValueError::new_err(format!(
                "expected a class of bug ({known}), found `{class_}`"
            )));
        };
        self.end(py, Outcome::bug(class, message))
    }

    /// Ends the program with this status, at once, as `_exit` does.
    #[pyo3(signature = (status = 0))]
    fn exit(&self, py: Python<'_>, status: u8) -> PyResult<()> {
        self.end(py, Outcome::Exit { status: status.into() })
    }

    /// This path is none: it is not counted, and has no test.
    fn drop(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, Outcome::Dropped)
    }

    /// Ends the path because what it does is not modelled: the exploration is incomplete.
    fn unsupported(&self, py: Python<'_>, message: &str) -> PyResult<()> {
        self.end(py, Outcome::unsupported(message))
    }
}
