//! Python functions as models of C functions: `function(state, *arguments)`, with the path behind `state`.
//!
//! If the path ends inside a method of `state`, the method raises `PathEnd`, which `except Exception` does not catch. The
//! outcome is kept here, so that a hook which catches even `PathEnd` cannot continue the path. Any other exception, and a
//! result of the wrong type or width, ends the path as a `model-error`.

use crate::borrowed::Borrowed;
use crate::expr::{Expr, operand};
use crate::term::{Term, TermKind};
use crate::term_map::TermMap;
use crate::value::{bits_from_int, signed_int};
use partita_core::exec::{Caller, Class, Hooks, Outcome};
use partita_core::expr::{Bits, Builtin, Expr as Handle, Sort};
use partita_core::program::MAX_WIDTH;
use pyo3::exceptions::{PyBaseException, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyTuple};
use std::sync::Arc;

pyo3::create_exception!(
    partita.hooks,
    PathEnd,
    PyBaseException,
    "The path has ended. Hooks must not catch this exception."
);

/// Bytes of a traceback that are kept.
const MAX_TRACEBACK: usize = 8_000;

pub(crate) struct PythonHooks {
    functions: Vec<Py<PyAny>>,
    terms: TermMap,
}

impl PythonHooks {
    pub(crate) fn new(functions: Vec<Py<PyAny>>) -> PythonHooks {
        PythonHooks { functions, terms: TermMap::default() }
    }
}

/// One call of a hook.
pub(crate) struct HookCall<'s, 'c> {
    caller: &'s mut Caller<'c>,
    terms: &'s mut TermMap,
    ended: Option<Outcome>,
}

/// A value of the run as Python receives it.
enum HookValue {
    Number(Bits),
    Term(Arc<Term>),
}

/// Why a method of `State` failed.
enum HookError {
    /// The path has ended.
    PathEnded,
    /// The hook used the method wrongly.
    Usage(String),
}

impl HookCall<'_, '_> {
    fn value_of(&mut self, e: Handle) -> HookValue {
        match self.caller.graph().const_bits(e) {
            Some(bits) => HookValue::Number(bits),
            None => HookValue::Term(self.terms.term_of(self.caller.graph(), e)),
        }
    }

    fn node_of(&mut self, term: &Arc<Term>) -> Result<Handle, HookError> {
        self.terms.node_of(self.caller, term).map_err(HookError::Usage)
    }

    /// The condition that a value is true, or not zero.
    fn condition_of(&mut self, term: &Arc<Term>) -> Result<Handle, HookError> {
        let e = self.node_of(term)?;
        let graph = self.caller.graph();
        if graph.is_bool(e) {
            return Ok(e);
        }
        let zero = graph.word(graph.width(e), 0);
        Ok(graph.ne(e, zero))
    }

    fn or_end_path<T>(&mut self, result: Result<T, Outcome>) -> Result<T, HookError> {
        result.map_err(|outcome| {
            self.ended.get_or_insert(outcome);
            HookError::PathEnded
        })
    }
}

impl HookValue {
    fn into_python<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            HookValue::Number(bits) => signed_int(py, &bits),
            HookValue::Term(term) => Ok(Bound::new(py, Expr { term })?.into_any()),
        }
    }
}

impl Hooks for PythonHooks {
    fn call(&mut self, number: usize, caller: &mut Caller<'_>) -> Result<Option<Handle>, Outcome> {
        Python::attach(|py| {
            let name = caller.name().to_string();
            let width = caller.results().first().copied();
            let mut call = HookCall { caller, terms: &mut self.terms, ended: None };
            let arguments: Vec<HookValue> =
                call.caller.arguments().into_iter().map(|e| call.value_of(e)).collect();
            let function = self.functions[number].bind(py);
            let returned = State::lend(py, &mut call, |state| -> PyResult<HookResult> {
                let mut words = vec![state.clone().into_any()];
                for argument in arguments {
                    words.push(argument.into_python(py)?);
                }
                let value = function.call1(PyTuple::new(py, words)?)?;
                HookResult::of(&value, width)
            });
            if let Some(outcome) = call.ended.take() {
                return Err(outcome);
            }
            let wrong = |error: &PyErr| Outcome::bug(Class::ModelError, raised(py, &name, error));
            match returned.and_then(|inner| inner).map_err(|error| wrong(&error))? {
                HookResult::Nothing => Ok(None),
                HookResult::Term(term) => match call.node_of(&term) {
                    Ok(e) => Ok(Some(e)),
                    Err(HookError::Usage(what)) => {
                        Err(Outcome::bug(Class::ModelError, format!("the result of hook `{name}`: {what}")))
                    }
                    Err(HookError::PathEnded) => unreachable!("taking a term does not end a path"),
                },
            }
        })
    }

    fn forget(&mut self) {
        self.terms.forget();
    }
}

/// The value that a hook returned.
enum HookResult {
    Nothing,
    Term(Arc<Term>),
}

impl HookResult {
    fn of(value: &Bound<'_, PyAny>, width: Option<u32>) -> PyResult<HookResult> {
        let wrong = |expected: String| {
            let found = value.repr().map_or_else(|_| "something".to_string(), |text| text.to_string());
            Err(PyTypeError::new_err(format!("expected the hook to return {expected}, found {found}")))
        };
        let Some(width) = width else {
            return if value.is_none() {
                Ok(HookResult::Nothing)
            } else {
                wrong("None, as the function returns nothing".to_string())
            };
        };
        if let Ok(expr) = value.cast::<Expr>() {
            let term = expr.get().term.clone();
            return match term.sort {
                Sort::Bits(found) if found == width => Ok(HookResult::Term(term)),
                Sort::Bool => Ok(HookResult::Term(as_number(term, width))),
                Sort::Bits(_) | Sort::Array { .. } => {
                    wrong(format!("{width} bits (see zext, sext, extract)"))
                }
            };
        }
        if let Ok(truth) = value.cast::<PyBool>() {
            return Ok(HookResult::Term(constant(Bits::word(width, truth.is_true().into()))));
        }
        if value.cast::<PyInt>().is_ok() {
            return Ok(HookResult::Term(constant(bits_from_int(value, width)?)));
        }
        wrong(format!("an int or an Expr of {width} bits"))
    }
}

fn constant(bits: Bits) -> Arc<Term> {
    Term::leaf(Sort::Bits(bits.width()), TermKind::Const(bits))
}

/// A boolean as the number 1 or 0.
fn as_number(truth: Arc<Term>, width: u32) -> Arc<Term> {
    let [one, zero] = [1, 0].map(|word| constant(Bits::word(width, word)));
    Term::apply(Builtin::Ite, &[], &[truth, one, zero]).expect("a choice between numbers")
}

/// Message for an exception of a hook, with the traceback below it.
fn raised(py: Python<'_>, name: &str, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "an exception".to_string(), |n| n.to_string());
    let message = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
    let message = message.lines().next().unwrap_or_default();
    let head = format!("hook `{name}` raised {kind}: {message}");
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

/// The path that called a hooked function. Numbers are signed, like the operators of `Expr`.
#[pyclass(frozen, module = "partita.hooks")]
pub(crate) struct State {
    borrowed: Borrowed<HookCall<'static, 'static>>,
}

impl State {
    fn lend<'py, R>(
        py: Python<'py>,
        call: &mut HookCall<'_, '_>,
        f: impl FnOnce(&Bound<'py, State>) -> R,
    ) -> PyResult<R> {
        Borrowed::during(
            py,
            call,
            |borrowed| Bound::new(py, State { borrowed }),
            |state| &state.get().borrowed,
            f,
        )
    }

    /// Calls `f` with the GIL released, since it may ask the solver.
    fn act<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut HookCall<'static, 'static>) -> Result<R, HookError> + Send,
    ) -> PyResult<R> {
        let act = |call: &mut HookCall<'static, 'static>| match call.ended {
            Some(_) => Err(HookError::PathEnded),
            None => f(call),
        };
        match py.detach(|| self.borrowed.with(act)) {
            Some(Ok(value)) => Ok(value),
            Some(Err(HookError::PathEnded)) => Err(PathEnd::new_err("the path has ended")),
            Some(Err(HookError::Usage(what))) => Err(PyValueError::new_err(what)),
            None => Err(PyRuntimeError::new_err(
                "a state can only be used during the call of the hook it was given to, by one thread",
            )),
        }
    }

    fn end(&self, py: Python<'_>, outcome: Outcome) -> PyResult<()> {
        self.act(py, |call| call.or_end_path(Err(outcome)))
    }
}

/// The term for a value of any width.
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
        self.act(py, |call| Ok(call.caller.name().to_string()))
    }

    /// The call stack as function, file and line, innermost first; line 0 is unknown.
    #[getter]
    fn stack(&self, py: Python<'_>) -> PyResult<Vec<(String, String, u32)>> {
        let places = self.act(py, |call| Ok(call.caller.stack()))?;
        Ok(places.into_iter().map(|place| (place.function, place.file, place.line)).collect())
    }

    /// Returns a new symbolic value of `width` bits, which tests have under this name.
    fn symbolic(&self, py: Python<'_>, name: String, width: u32) -> PyResult<Expr> {
        if !(1..=MAX_WIDTH).contains(&width) {
            return Err(PyValueError::new_err(format!("expected 1 to {MAX_WIDTH} bits, found {width}")));
        }
        let term = self.act(py, |call| {
            let e = call.caller.symbolic(&name, width);
            Ok(call.terms.term_of(call.caller.graph(), e))
        })?;
        Ok(Expr { term })
    }

    /// Makes `size` bytes of memory symbolic. Tests have their values under this name.
    fn make_symbolic(
        &self,
        py: Python<'_>,
        address: &Bound<'_, PyAny>,
        size: u64,
        name: String,
    ) -> PyResult<()> {
        let address = address_term(address)?;
        self.act(py, |call| {
            let address = call.node_of(&address)?;
            let made = call.caller.make_symbolic(address, size, &name);
            call.or_end_path(made)
        })
    }

    /// Reads `size` bytes of memory as a little-endian number.
    fn read<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        size: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let address = address_term(address)?;
        let given = self.act(py, |call| {
            let address = call.node_of(&address)?;
            let read = call.caller.read(address, size);
            let e = call.or_end_path(read)?;
            Ok(call.value_of(e))
        })?;
        given.into_python(py)
    }

    /// Reads `size` bytes of memory, or up to the first zero byte, which is left out. The path forks over the values of a
    /// symbolic byte.
    #[pyo3(signature = (address, size = None))]
    fn read_bytes<'py>(
        &self,
        py: Python<'py>,
        address: &Bound<'py, PyAny>,
        size: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let address = address_term(address)?;
        let bytes = self.act(py, |call| {
            let start = call.node_of(&address)?;
            let mut bytes: Vec<u8> = Vec::new();
            while size.is_none_or(|size| (bytes.len() as u64) < size) {
                let graph = call.caller.graph();
                let step = graph.word(64, bytes.len() as u64);
                let at = graph.add(start, step);
                let read = call.caller.read(at, 1);
                let e = call.or_end_path(read)?;
                let number = call.caller.number(e);
                match call.or_end_path(number)? as u8 {
                    0 if size.is_none() => break,
                    byte => bytes.push(byte),
                }
            }
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes an `Expr` of whole bytes, `bytes`, or an `int` as `size` bytes.
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
        self.act(py, |call| {
            let start = call.node_of(&address)?;
            for (i, term) in terms.iter().enumerate() {
                let bits = call.node_of(term)?;
                let graph = call.caller.graph();
                let step = graph.word(64, i as u64);
                let at = graph.add(start, step);
                let written = call.caller.write(at, bits);
                call.or_end_path(written)?;
            }
            Ok(())
        })
    }

    /// Allocates an object of zeros and returns its address, like `calloc`.
    fn allocate(&self, py: Python<'_>, size: u64) -> PyResult<u64> {
        self.act(py, |call| {
            let made = call.caller.allocate(size);
            call.or_end_path(made)
        })
    }

    /// Returns whether the condition holds. If both are possible the path forks, and the hook starts again on the other
    /// side.
    fn decide(&self, py: Python<'_>, condition: &Bound<'_, PyAny>) -> PyResult<bool> {
        let condition = condition_term(condition)?;
        self.act(py, |call| {
            let e = call.condition_of(&condition)?;
            Ok(call.caller.decide(e))
        })
    }

    /// Returns the value of the first pair whose condition holds; the path forks if several are possible. A path on which
    /// none holds is dropped.
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

    /// Adds the condition to the path. If it cannot hold, the path ends as a `model-error`.
    fn assume(&self, py: Python<'_>, condition: &Bound<'_, PyAny>) -> PyResult<()> {
        let condition = condition_term(condition)?;
        self.act(py, |call| {
            let e = call.condition_of(&condition)?;
            let assumed = call.caller.assume(e);
            call.or_end_path(assumed)
        })
    }

    /// Returns one number for a value of at most 64 bits; the path forks over all numbers that the value can have.
    fn number<'py>(&self, py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let term = value_term(value)?;
        let Sort::Bits(width @ 1..=64) = term.sort else {
            let found = term.sort;
            return Err(PyTypeError::new_err(format!("expected a value of at most 64 bits, found {found}")));
        };
        let word = self.act(py, |call| {
            let e = call.node_of(&term)?;
            let number = call.caller.number(e);
            call.or_end_path(number)
        })?;
        signed_int(py, &Bits::word(width, word))
    }

    /// Returns the value under one input that takes this path. Adds no constraint.
    fn example<'py>(&self, py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let term = value_term(value)?;
        if matches!(term.sort, Sort::Array { .. }) {
            return Err(PyTypeError::new_err(format!("expected a number or a boolean, found {}", term.sort)));
        }
        let bits = self.act(py, |call| {
            let e = call.node_of(&term)?;
            Ok(call.caller.example(e))
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

    /// Ends the program at once with this status, as `_exit` does.
    #[pyo3(signature = (status = 0))]
    fn exit(&self, py: Python<'_>, status: u8) -> PyResult<()> {
        self.end(py, Outcome::Exit { status: status.into() })
    }

    /// Drops the path: it is not counted and has no test.
    fn drop(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, Outcome::Dropped)
    }

    /// Ends the path because something is not modelled. The exploration is then incomplete.
    fn unsupported(&self, py: Python<'_>, message: &str) -> PyResult<()> {
        self.end(py, Outcome::unsupported(message))
    }
}
