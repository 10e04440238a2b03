//! Python integers as values of bit-vectors, and back.

use partita_core::expr::{ArrayValue, Bits, Sort, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyTuple};
use std::sync::Arc;

/// A Python integer as a bit-vector of `width` bits; negative numbers in two's complement.
pub(crate) fn bits_from_int(value: &Bound<'_, PyAny>, width: u32) -> PyResult<Bits> {
    if let Ok(small) = value.extract::<i64>() {
        let fits = if small < 0 {
            width >= 64 || small >= -1 << (width - 1)
        } else {
            width >= 63 || small >> width == 0
        };
        if fits {
            let mut words = vec![if small < 0 { u64::MAX } else { 0 }; width.div_ceil(64) as usize];
            words[0] = small as u64;
            return Ok(Bits::from_words(width, &words));
        }
        return Err(does_not_fit(value, width));
    }
    let bytes = width.div_ceil(8) + 1;
    let magnitude: u64 = value.call_method0("bit_length")?.extract()?;
    let negative = value.lt(0)?;
    let smallest = negative && magnitude == u64::from(width) && is_power_of_two(value)?;
    if magnitude > u64::from(width) || (negative && magnitude == u64::from(width) && !smallest) {
        return Err(does_not_fit(value, width));
    }
    let kwargs = PyDict::new(value.py());
    kwargs.set_item("signed", true)?;
    let raw = value.call_method("to_bytes", (bytes, "little"), Some(&kwargs))?;
    let raw = raw.cast_into::<PyBytes>()?;
    let word = |chunk: &[u8]| {
        let mut padded = [if negative { 0xff } else { 0 }; 8];
        padded[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(padded)
    };
    let words: Vec<u64> = raw.as_bytes().chunks(8).map(word).collect();
    Ok(Bits::from_words(width, &words))
}

fn is_power_of_two(negative: &Bound<'_, PyAny>) -> PyResult<bool> {
    let positive = negative.neg()?;
    let below = positive.sub(1)?;
    positive.bitand(below)?.eq(0)
}

fn does_not_fit(value: &Bound<'_, PyAny>, width: u32) -> PyErr {
    PyValueError::new_err(format!(
        "expected a number that fits in {width} bits (-2**{} to 2**{width} - 1), found {value}",
        width - 1
    ))
}

/// The value as an unsigned Python integer.
pub(crate) fn int_from_bits<'py>(py: Python<'py>, bits: &Bits) -> PyResult<Bound<'py, PyAny>> {
    if let Some(word) = bits.to_u64() {
        return Ok(word.into_pyobject(py)?.into_any());
    }
    let raw: Vec<u8> = bits.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, &raw), "little"))
}

/// The value as a signed Python integer.
pub(crate) fn signed_int<'py>(py: Python<'py>, bits: &Bits) -> PyResult<Bound<'py, PyAny>> {
    let unsigned = int_from_bits(py, bits)?;
    if !bits.sign() {
        return Ok(unsigned);
    }
    let two = 2u64.into_pyobject(py)?.into_any();
    unsigned.sub(two.pow(bits.width(), py.None())?)
}

/// The value as `bool`, `int`, or for an array `(default, {index: element})`.
pub(crate) fn to_python<'py>(py: Python<'py>, sort: Sort, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match (sort, value) {
        (Sort::Bool, Value::Bits(bits)) => Ok(PyBool::new(py, !bits.is_zero()).to_owned().into_any()),
        (Sort::Bits(_), Value::Bits(bits)) => int_from_bits(py, bits),
        (Sort::Array { .. }, Value::Array(array)) => {
            let entries = PyDict::new(py);
            for (index, element) in array.entries() {
                entries.set_item(int_from_bits(py, &index)?, int_from_bits(py, &element)?)?;
            }
            let default = int_from_bits(py, array.default_element())?;
            Ok(PyTuple::new(py, [default, entries.into_any()])?.into_any())
        }
        (Sort::Bool | Sort::Bits(_), Value::Array(_)) | (Sort::Array { .. }, Value::Bits(_)) => {
            unreachable!("a value of its variable's sort")
        }
    }
}

/// Inverse of `to_python`.
pub(crate) fn from_python(sort: Sort, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    match sort {
        Sort::Bool => match value.cast::<PyBool>() {
            Ok(truth) => Ok(Value::Bits(Bits::from_bool(truth.is_true()))),
            Err(_) => Err(PyTypeError::new_err(format!("expected True or False, found {}", value.repr()?))),
        },
        Sort::Bits(width) => Ok(Value::Bits(bits_from_int(value, width)?)),
        Sort::Array { index, element } => {
            let (default, entries): (Bound<'_, PyAny>, Bound<'_, PyDict>) = value.extract()?;
            let mut array = ArrayValue::new(index, bits_from_int(&default, element)?);
            for (at, to) in entries {
                array.set(&bits_from_int(&at, index)?, bits_from_int(&to, element)?);
            }
            Ok(Value::Array(Arc::new(array)))
        }
    }
}
