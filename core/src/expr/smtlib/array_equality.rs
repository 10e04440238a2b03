//! Equality of whole arrays of which index or element is a floating-point number or a rounding mode.
//!
//! The graph compares bits. Two arrays can differ in bits that a script does not see: the payload of an element that is
//! NaN, and elements at an index that is a NaN other than the canonical one (reads and writes use the canonical one).
//!
//! If the index has few values, the comparison is a conjunction over them. Otherwise equality is equality of bits, under
//! the condition that it holds or that the arrays differ visibly at a fresh index, the witness. Why this is correct:
//! equality of bits implies equality; and where bits differ, the condition shows a visible difference, so `sat` is right.
//! A model of the script can be turned into one of the query, so `unsat` is right: elements that are written are
//! canonical, those of variables can be chosen so, and elements at other NaNs can be chosen the same in all arrays that
//! are equal. Only arrays over different constants cannot, and these are equal only after writes to every index, of which
//! there are more than nodes.

use super::symbols::WitnessCondition;
use super::term_sort::{ROUNDING_WIDTH, WordSort};
use super::terms::Parser;
use crate::expr::{Bits, Expr, Sort};

/// Greatest width of an index whose values are listed.
const MAX_LISTED_WIDTH: u32 = 8;

impl Parser<'_, '_> {
    /// Equality of two arrays of the same sort, which is not one of the graph.
    pub(super) fn equal_arrays(
        &mut self,
        index: WordSort,
        element: WordSort,
        a: Expr,
        b: Expr,
    ) -> Result<Expr, String> {
        let width = index.width();
        let is_listed = match index {
            WordSort::Bool | WordSort::Bits(_) => width <= 4,
            WordSort::Declared(_) | WordSort::Nested(_) => false,
            WordSort::Float(_) => width <= MAX_LISTED_WIDTH,
            WordSort::Rounding => true,
        };
        if is_listed {
            return Ok(self.equal_at_each_index(index, element, a, b));
        }
        if let WordSort::Float(_) = index
            && (width < 16 || self.graph.len() >= 1 << (width - 2).min(30))
        {
            return Err(format!("comparison of arrays with this index is unsupported: {}", index.describe()));
        }
        let same_bits = self.graph.eq(a, b);
        if !self.graph.is_const(same_bits) && self.symbols.witnessed.insert(same_bits) {
            let witness = self.symbols.witness(self.graph, Sort::Bits(width));
            let at = self.graph.canonical_word(index, witness);
            let (left, right) = (self.graph.select(a, at), self.graph.select(b, at));
            let equal = self.graph.equal_words(element, left, right);
            let differ = self.graph.not(equal);
            let condition = self.graph.or(same_bits, differ);
            self.symbols.conditions.push(WitnessCondition { witness, condition });
        }
        Ok(same_bits)
    }

    fn equal_at_each_index(&mut self, index: WordSort, element: WordSort, a: Expr, b: Expr) -> Expr {
        let mut all = self.graph.boolean(true);
        let count = if index == WordSort::Rounding { 5 } else { 1 << index.width() };
        debug_assert!(index != WordSort::Rounding || index.width() == ROUNDING_WIDTH);
        for i in 0..count {
            let bits = Bits::word(index.width(), i);
            if let WordSort::Float(format) = index
                && format.is_nan(&bits)
                && bits != format.nan()
            {
                continue;
            }
            let at = self.graph.constant(bits);
            let (left, right) = (self.graph.select(a, at), self.graph.select(b, at));
            let equal = self.graph.equal_words(element, left, right);
            all = self.graph.and(all, equal);
        }
        all
    }
}
