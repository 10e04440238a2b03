//! Sorts of a script. The graph has bit-vectors only; a script distinguishes a floating-point number and a rounding
//! mode from the bit-vector that represents them.
//!
//! A float term may have any NaN: bits of NaN are not observable by the functions of the theory of floating point.
//! Where bits become observable (equality, indices of arrays, `fp.to_ieee_bv`), every NaN is replaced by one
//! (`Graph::canonical_word`). A rounding mode has three bits, numbered as `Rounding`; other values stand for the
//! first. Elements of a declared sort are numbers of `IDENTITY_WIDTH` bits (`declared.rs`); arrays inside other sorts
//! are words too (`nested.rs`).

use super::nested::Nested;
use crate::expr::float::Format;
use crate::expr::{Expr, Graph, Sort};

/// A sort that arrays can have as index and element, and functions as parameters and result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WordSort {
    /// One bit, unlike the sort `Bool` of terms.
    Bool,
    Bits(u32),
    Float(Format),
    Rounding,
    /// A position in the table of declared sorts.
    Declared(u32),
    Nested(Nested),
}

/// Bits of a rounding mode.
pub(super) const ROUNDING_WIDTH: u32 = 3;

/// Bits of an element of a declared sort. A quantifier-free formula that has a model has one with at most as many
/// elements as terms of the sort, and one with any larger number of elements.
pub(super) const IDENTITY_WIDTH: u32 = 20;

impl WordSort {
    pub fn width(self) -> u32 {
        match self {
            WordSort::Bits(width) => width,
            WordSort::Float(format) => format.width(),
            WordSort::Bool => 1,
            WordSort::Rounding => ROUNDING_WIDTH,
            WordSort::Declared(_) => IDENTITY_WIDTH,
            WordSort::Nested(nested) => nested.width,
        }
    }

    /// Describes the sort in a message, without the names of declared sorts.
    pub(super) fn describe(self) -> String {
        match self {
            WordSort::Bool => "Bool".into(),
            WordSort::Bits(width) => Sort::Bits(width).to_string(),
            WordSort::Float(format) => {
                format!("(_ FloatingPoint {} {})", format.exponent(), format.significand())
            }
            WordSort::Rounding => "RoundingMode".into(),
            WordSort::Declared(_) => "a declared sort".into(),
            WordSort::Nested(_) => "an array sort".into(),
        }
    }

    /// Whether one value has more than one representation.
    pub(super) fn is_ambiguous(self) -> bool {
        match self {
            WordSort::Float(_) | WordSort::Rounding => true,
            WordSort::Bool | WordSort::Bits(_) | WordSort::Declared(_) | WordSort::Nested(_) => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScriptSort {
    Bool,
    Word(WordSort),
    Array {
        index: WordSort,
        element: WordSort,
    },
    /// A constant that is only an argument of `to_fp`: its position among the constants of the command.
    Real(u32),
}

impl ScriptSort {
    pub fn of(sort: Sort) -> ScriptSort {
        match sort {
            Sort::Bool => ScriptSort::Bool,
            Sort::Bits(width) => ScriptSort::Word(WordSort::Bits(width)),
            Sort::Array { index, element } => {
                ScriptSort::Array { index: WordSort::Bits(index), element: WordSort::Bits(element) }
            }
        }
    }

    /// The sort of the node that represents it.
    pub fn sort(self) -> Sort {
        match self {
            ScriptSort::Bool => Sort::Bool,
            ScriptSort::Word(word) => Sort::Bits(word.width()),
            ScriptSort::Array { index, element } => {
                Sort::Array { index: index.width(), element: element.width() }
            }
            ScriptSort::Real(_) => Sort::Bool,
        }
    }

    /// Describes the sort in a message, without the names of declared sorts.
    pub(super) fn describe(self) -> String {
        match self {
            ScriptSort::Bool => "Bool".into(),
            ScriptSort::Word(word) => word.describe(),
            ScriptSort::Array { index, element } => {
                format!("(Array {} {})", index.describe(), element.describe())
            }
            ScriptSort::Real(_) => "Real".into(),
        }
    }

    /// Whether the graph has this sort too.
    pub(super) fn is_core(self) -> bool {
        match self {
            ScriptSort::Bool | ScriptSort::Word(WordSort::Bits(_)) => true,
            ScriptSort::Array { index: WordSort::Bits(_), element: WordSort::Bits(_) } => true,
            ScriptSort::Word(_) | ScriptSort::Array { .. } | ScriptSort::Real(_) => false,
        }
    }
}

/// A term of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    pub expr: Expr,
    pub sort: ScriptSort,
}

impl Graph {
    /// Replaces representations of one value by one of them.
    pub(super) fn canonical_word(&mut self, sort: WordSort, e: Expr) -> Expr {
        match sort {
            WordSort::Bool | WordSort::Bits(_) | WordSort::Declared(_) | WordSort::Nested(_) => e,
            WordSort::Float(format) => self.f_canonical(format, e),
            WordSort::Rounding => {
                let (last, first) = (self.word(ROUNDING_WIDTH, 4), self.word(ROUNDING_WIDTH, 0));
                let known = self.ule(e, last);
                self.ite(known, e, first)
            }
        }
    }

    /// Equality of two words of a script.
    pub(super) fn equal_words(&mut self, sort: WordSort, a: Expr, b: Expr) -> Expr {
        if let WordSort::Float(format) = sort {
            let is_number = |e: Expr| self.const_bits(e).is_some_and(|bits| !format.is_nan(&bits));
            if is_number(a) || is_number(b) {
                return self.eq(a, b);
            }
        }
        let (a, b) = (self.canonical_word(sort, a), self.canonical_word(sort, b));
        self.eq(a, b)
    }
}
