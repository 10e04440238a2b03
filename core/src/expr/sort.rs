//! Sorts, and what to say when they do not fit.

use super::bits::MAX_WIDTH;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    Bool,
    /// A bit-vector of 1 to 65,536 bits.
    Bits(u32),
    /// From bit-vectors to bit-vectors.
    Array {
        index: u32,
        element: u32,
    },
}

impl Sort {
    /// `Sort::Bits(width)`, if there are bit-vectors of that width.
    pub fn bits(width: u64) -> Result<Sort, SortError> {
        match u32::try_from(width) {
            Ok(w @ 1..=MAX_WIDTH) => Ok(Sort::Bits(w)),
            Ok(_) | Err(_) => {
                Err(SortError(format!("expected a width from 1 to {MAX_WIDTH}, found {width}")))
            }
        }
    }
}

/// As SMT-LIB writes it.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("Bool"),
            Sort::Bits(width) => write!(f, "(_ BitVec {width})"),
            Sort::Array { index, element } => {
                write!(f, "(Array {} {})", Sort::Bits(*index), Sort::Bits(*element))
            }
        }
    }
}

/// Operands whose sorts do not fit the operator: what was expected, what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SortError(pub String);

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SortError {}
