//! The Python class `Expr`: a term with Python's operators. Comparisons and `/`, `%`, `>>` are signed, as in Z3's
//! Python interface; unsigned operators are methods.

use crate::term::{Term, TermKind};
use crate::value::bits_from_int;
use partita_core::expr::{Bits, Builtin, Sort, SortError};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};
use std::sync::Arc;

const TEXT_LIMIT: usize = 1000;

/// An expression over booleans, bit-vectors and arrays. Immutable, and not tied to any solver.
#[pyclass(frozen, module = "partita")]
pub(crate) struct Expr {
    pub(crate) term: Arc<Term>,
}

pub(crate) fn sort_error(error: SortError) -> PyErr {
    PyTypeError::new_err(error.0)
}

impl Expr {
    fn wrap(term: Result<Arc<Term>, SortError>) -> PyResult<Expr> {
        term.map(|term| Expr { term }).map_err(sort_error)
    }

    fn unary(&self, f: Builtin, params: &[u64]) -> PyResult<Expr> {
        Expr::wrap(Term::apply(f, params, std::slice::from_ref(&self.term)))
    }

    fn binary(&self, f: Builtin, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        let other = operand(other, self.term.sort)?;
        Expr::wrap(Term::apply(f, &[], &[self.term.clone(), other]))
    }

    /// The function with its operands exchanged.
    fn reflected(&self, f: Builtin, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        let other = operand(other, self.term.sort)?;
        Expr::wrap(Term::apply(f, &[], &[other, self.term.clone()]))
    }

    /// The boolean function on booleans, the bit-vector function otherwise.
    fn either(&self, on_bool: Builtin, on_bits: Builtin) -> Builtin {
        if self.term.sort == Sort::Bool { on_bool } else { on_bits }
    }
}

/// An operand: an `Expr`, or a `bool` or `int` that becomes a constant of the given sort.
pub(crate) fn operand(value: &Bound<'_, PyAny>, like: Sort) -> PyResult<Arc<Term>> {
    if let Ok(expr) = value.cast::<Expr>() {
        return Ok(expr.get().term.clone());
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return match like {
            Sort::Bool => Ok(Term::leaf(Sort::Bool, TermKind::Const(Bits::from_bool(truth.is_true())))),
            Sort::Bits(_) | Sort::Array { .. } => {
                Err(PyTypeError::new_err(format!("expected {like}, found {}", value.repr()?)))
            }
        };
    }
    if value.cast::<PyInt>().is_ok() {
        return match like {
            Sort::Bits(width) => Ok(Term::leaf(like, TermKind::Const(bits_from_int(value, width)?))),
            Sort::Bool | Sort::Array { .. } => {
                Err(PyTypeError::new_err(format!("expected {like}, found the number {value}")))
            }
        };
    }
    let found = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("expected an expression or a number, found {found}")))
}

/// Arguments of `f`. Plain numbers take the sort that `f` expects in their position.
fn operands(f: Builtin, args: &Bound<'_, PyTuple>) -> PyResult<Vec<Arc<Term>>> {
    let sort_of = |i: usize| -> Option<Sort> {
        let arg = args.get_item(i).ok()?;
        arg.cast::<Expr>().ok().map(|expr| expr.get().term.sort)
    };
    let first = (0..args.len()).find_map(|i| sort_of(i).filter(|sort| *sort != Sort::Bool));
    let array = match sort_of(0) {
        Some(Sort::Array { index, element }) => Some((index, element)),
        Some(Sort::Bool | Sort::Bits(_)) | None => None,
    };
    let mut terms = Vec::with_capacity(args.len());
    for (i, arg) in args.iter().enumerate() {
        let like = match (f, i, array) {
            (Builtin::Select | Builtin::Store, 1, Some((index, _))) => Sort::Bits(index),
            (Builtin::Store, 2, Some((_, element))) => Sort::Bits(element),
            (Builtin::Ite, 0, _) => Sort::Bool,
            _ if arg.cast::<PyBool>().is_ok() => Sort::Bool,
            (Builtin::Concat, ..) if arg.cast::<Expr>().is_err() => {
                return Err(PyTypeError::new_err(format!(
                    "concat: expected an expression, whose width is known, found {}",
                    arg.repr()?
                )));
            }
            _ => first.unwrap_or(Sort::Bool),
        };
        terms.push(operand(&arg, like)?);
    }
    Ok(terms)
}

/// Applies a function of SMT-LIB by name: apply("bvsmulo", x, y), apply("extract", x, params=(7, 0)).
#[pyfunction]
#[pyo3(signature = (name, *args, params = Vec::new()))]
pub(crate) fn apply(name: &str, args: &Bound<'_, PyTuple>, params: Vec<u64>) -> PyResult<Expr> {
    let Some(f) = Builtin::lookup(name) else {
        return Err(PyValueError::new_err(format!(
            "expected the name of an SMT-LIB function, found {name:?}"
        )));
    };
    Expr::wrap(Term::apply(f, &params, &operands(f, args)?))
}

fn bits_sort(width: u64) -> PyResult<Sort> {
    Sort::bits(width).map_err(|error| PyValueError::new_err(error.0))
}

fn array_sort(index_width: u64, element_width: u64) -> PyResult<Sort> {
    let (Sort::Bits(index), Sort::Bits(element)) = (bits_sort(index_width)?, bits_sort(element_width)?)
    else {
        unreachable!("sorts of bit-vectors")
    };
    Ok(Sort::Array { index, element })
}

/// A bit-vector variable (named by a string) or constant (given by a number).
#[pyfunction]
pub(crate) fn bv(name_or_value: &Bound<'_, PyAny>, width: u64) -> PyResult<Expr> {
    let sort = bits_sort(width)?;
    if let Ok(name) = name_or_value.extract::<String>() {
        return Ok(Expr { term: Term::leaf(sort, TermKind::Var(name.into())) });
    }
    if name_or_value.cast::<PyBool>().is_ok() || name_or_value.cast::<PyInt>().is_err() {
        let found = name_or_value.repr()?;
        return Err(PyTypeError::new_err(format!("expected a name or a number, found {found}")));
    }
    Ok(Expr { term: operand(name_or_value, sort)? })
}

/// A boolean variable (named by a string) or constant.
#[pyfunction]
pub(crate) fn boolean(name_or_value: &Bound<'_, PyAny>) -> PyResult<Expr> {
    if let Ok(name) = name_or_value.extract::<String>() {
        return Ok(Expr { term: Term::leaf(Sort::Bool, TermKind::Var(name.into())) });
    }
    Ok(Expr { term: operand(name_or_value, Sort::Bool)? })
}

/// An array variable from bit-vectors of `index_width` bits to bit-vectors of `element_width` bits.
#[pyfunction]
pub(crate) fn array(name: &str, index_width: u64, element_width: u64) -> PyResult<Expr> {
    let sort = array_sort(index_width, element_width)?;
    Ok(Expr { term: Term::leaf(sort, TermKind::Var(name.into())) })
}

/// The array that has `element` at every index.
#[pyfunction]
pub(crate) fn const_array(index_width: u64, element: &Bound<'_, Expr>) -> PyResult<Expr> {
    let element = element.get().term.clone();
    let Sort::Bits(width) = element.sort else {
        return Err(PyTypeError::new_err(format!(
            "expected a bit-vector as element, found {}",
            element.sort
        )));
    };
    let sort = array_sort(index_width, width.into())?;
    Ok(Expr {
        term: Arc::new(Term { sort, kind: TermKind::ConstArray, args: [element].into_iter().collect() }),
    })
}

/// `base` with its elements 0, 1, ... replaced by the given numbers.
#[pyfunction]
pub(crate) fn table(base: &Bound<'_, Expr>, elements: Vec<Bound<'_, PyAny>>) -> PyResult<Expr> {
    let base = base.get().term.clone();
    let Sort::Array { index, element } = base.sort else {
        return Err(PyTypeError::new_err(format!("expected an array as base, found {}", base.sort)));
    };
    if element > 64 {
        return Err(PyValueError::new_err(format!("expected elements of at most 64 bits, found {element}")));
    }
    if index < 64 && elements.len() as u64 > 1 << index {
        return Err(PyValueError::new_err(format!(
            "expected at most {} elements for an index of {index} bits, found {}",
            1u64 << index,
            elements.len()
        )));
    }
    let words: PyResult<Vec<u64>> =
        elements.iter().map(|value| bits_from_int(value, element).map(|bits| bits.low())).collect();
    let (sort, kind) = (base.sort, TermKind::Table(words?.into()));
    Ok(Expr { term: Arc::new(Term { sort, kind, args: [base].into_iter().collect() }) })
}

macro_rules! named {
    ($( $method:ident $f:ident; )*) => {
        #[pymethods]
        impl Expr { $(
            fn $method(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> { self.binary(Builtin::$f, other) }
        )* }
    };
}

named! {
    udiv BvUdiv;
    urem BvUrem;
    sdiv BvSdiv;
    srem BvSrem;
    smod BvSmod;
    lshr BvLshr;
    ashr BvAshr;
    ult BvUlt;
    ule BvUle;
    ugt BvUgt;
    uge BvUge;
    slt BvSlt;
    sle BvSle;
    sgt BvSgt;
    sge BvSge;
    concat Concat;
    implies Implies;
}

// PyO3 does not accept special methods from a macro.
#[pymethods]
impl Expr {
    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvAdd, other)
    }

    fn __radd__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(Builtin::BvAdd, other)
    }

    fn __sub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvSub, other)
    }

    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(Builtin::BvSub, other)
    }

    fn __mul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvMul, other)
    }

    fn __rmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(Builtin::BvMul, other)
    }

    fn __truediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvSdiv, other)
    }

    fn __rtruediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(Builtin::BvSdiv, other)
    }

    fn __mod__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvSmod, other)
    }

    fn __rmod__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(Builtin::BvSmod, other)
    }

    fn __lshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvShl, other)
    }

    fn __rlshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(Builtin::BvShl, other)
    }

    fn __rshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvAshr, other)
    }

    fn __rrshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(Builtin::BvAshr, other)
    }

    fn __and__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(self.either(Builtin::And, Builtin::BvAnd), other)
    }

    fn __rand__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(self.either(Builtin::And, Builtin::BvAnd), other)
    }

    fn __or__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(self.either(Builtin::Or, Builtin::BvOr), other)
    }

    fn __ror__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(self.either(Builtin::Or, Builtin::BvOr), other)
    }

    fn __xor__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(self.either(Builtin::Xor, Builtin::BvXor), other)
    }

    fn __rxor__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.reflected(self.either(Builtin::Xor, Builtin::BvXor), other)
    }

    fn __invert__(&self) -> PyResult<Expr> {
        self.unary(self.either(Builtin::Not, Builtin::BvNot), &[])
    }

    fn __neg__(&self) -> PyResult<Expr> {
        self.unary(Builtin::BvNeg, &[])
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::Equal, other)
    }

    fn __ne__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::Distinct, other)
    }

    fn __lt__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvSlt, other)
    }

    fn __le__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvSle, other)
    }

    fn __gt__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvSgt, other)
    }

    fn __ge__(&self, other: &Bound<'_, PyAny>) -> PyResult<Expr> {
        self.binary(Builtin::BvSge, other)
    }

    /// Hashes by identity: `==` builds an expression.
    fn __hash__(&self) -> usize {
        Arc::as_ptr(&self.term) as usize >> 4
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(format!(
            "the truth of {} is not known: write & | ~ instead of and, or, not, give it to Solver.add(), \
             or look it up in a model with model[expr]",
            self.term.text(60)
        )))
    }

    /// The element at an index of an array.
    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Expr> {
        let Sort::Array { index: width, .. } = self.term.sort else {
            return Err(PyTypeError::new_err(format!(
                "expected an array before [index], found {}: for bits of a bit-vector write x.extract(high, low)",
                self.term.sort
            )));
        };
        let index = operand(index, Sort::Bits(width))?;
        Expr::wrap(Term::apply(Builtin::Select, &[], &[self.term.clone(), index]))
    }

    /// Raises. Without this method Python would iterate over `[index]` without end.
    fn __iter__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(format!(
            "an expression cannot be iterated over, found {}",
            self.term.text(60)
        )))
    }

    /// The array with one element replaced.
    fn store(&self, index: &Bound<'_, PyAny>, element: &Bound<'_, PyAny>) -> PyResult<Expr> {
        let Sort::Array { index: index_width, element: element_width } = self.term.sort else {
            return Err(PyTypeError::new_err(format!("store: expected an array, found {}", self.term.sort)));
        };
        let index = operand(index, Sort::Bits(index_width))?;
        let element = operand(element, Sort::Bits(element_width))?;
        Expr::wrap(Term::apply(Builtin::Store, &[], &[self.term.clone(), index, element]))
    }

    /// Bits `high` down to `low`.
    fn extract(&self, high: u64, low: u64) -> PyResult<Expr> {
        self.unary(Builtin::Extract, &[high, low])
    }

    /// Zero-extends to `width` bits.
    fn zext(&self, width: u64) -> PyResult<Expr> {
        self.unary(Builtin::ZeroExtend, &[self.wider(width)?])
    }

    /// Sign-extends to `width` bits.
    fn sext(&self, width: u64) -> PyResult<Expr> {
        self.unary(Builtin::SignExtend, &[self.wider(width)?])
    }

    fn rotate_left(&self, amount: u64) -> PyResult<Expr> {
        self.unary(Builtin::RotateLeft, &[amount])
    }

    fn rotate_right(&self, amount: u64) -> PyResult<Expr> {
        self.unary(Builtin::RotateRight, &[amount])
    }

    /// The sort as SMT-LIB text: `Bool`, `(_ BitVec 32)`, `(Array (_ BitVec 32) (_ BitVec 8))`.
    #[getter]
    fn sort(&self) -> String {
        self.term.sort.to_string()
    }

    /// The width in bits; of the elements for an array; 1 for a boolean.
    #[getter]
    fn width(&self) -> u32 {
        match self.term.sort {
            Sort::Bool => 1,
            Sort::Bits(width) | Sort::Array { element: width, .. } => width,
        }
    }

    fn __str__(&self) -> String {
        self.term.text(TEXT_LIMIT)
    }

    /// The expression as HTML for notebooks.
    fn _repr_html_(&self) -> String {
        let text = self.term.text(TEXT_LIMIT);
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<code>{text}</code>")
    }

    fn __repr__(&self) -> String {
        format!("<Expr {} {}>", self.term.sort, self.term.text(80))
    }
}

impl Expr {
    /// Number of bits that an extension to `width` adds.
    fn wider(&self, width: u64) -> PyResult<u64> {
        let Sort::Bits(own) = self.term.sort else {
            return Err(PyTypeError::new_err(format!("expected a bit-vector, found {}", self.term.sort)));
        };
        width.checked_sub(own.into()).ok_or_else(|| {
            PyValueError::new_err(format!("expected a width of at least {own} to extend to, found {width}"))
        })
    }
}
