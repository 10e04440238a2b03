//! Sorts of expressions, and the error for sorts that do not match.

use super::bits::MAX_WIDTH;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    Bool,
    /// A bit-vector of 1 to `MAX_WIDTH` bits.
    Bits(u32),
    /// An array that maps bit-vectors to bit-vectors.
    Array {
        index: u32,
        element: u32,
    },
}

impl Sort {
    /// Returns `Sort::Bits(width)`. Fails if the width is not in 1..=`MAX_WIDTH`.
    pub fn bits(width: u64) -> Result<Sort, SortError> {
        match u32::try_from(width) {
            Ok(w @ 1..=MAX_WIDTH) => Ok(Sort::Bits(w)),
            Ok(_) | Err(_) => {
                Err(SortError(format!("expected a width from 1 to {MAX_WIDTH}, found {width}")))
            }
        }
    }
}

/// Prints the sort in SMT-LIB syntax.
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

/// Operand sorts that do not match the operator; the text names the expected and the found sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SortError(pub String);

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SortError {}
