//! Rules for reads and writes of arrays.

use super::Rule;
use crate::expr::{Expr, Graph, Op};

/// Most writes between a write and the one that it overwrites.
const MAX_WRITES_BETWEEN: usize = 4;

impl Graph {
    pub(in crate::expr) fn rewrite_read(&mut self, array: Expr, index: Expr, count: u32) -> Option<Expr> {
        if count > 1 {
            return self.rewrite_read_word(array, index, count);
        }
        match self.op(array) {
            Op::ConstArray => {
                let element = self.kid(array, 0);
                self.fire(Rule::ReadConst, element)
            }
            Op::Store => {
                let mut below = array;
                while self.op(below) == Op::Store && self.never_equal(self.kid(below, 1), index) {
                    below = self.kid(below, 0);
                }
                let e = if self.op(below) == Op::Store && self.kid(below, 1) == index {
                    self.kid(below, 2)
                } else if let Some(element) = self.read_swapped(below, index) {
                    return self.fire(Rule::ReadSwapped, element);
                } else if below != array {
                    self.select(below, index)
                } else {
                    return None;
                };
                self.fire(Rule::ReadStore, e)
            }
            Op::Table => {
                let at = self.const_bits(index)?;
                let element = at.to_u64().and_then(|at| self.table(array).elements.get(at as usize).copied());
                let e = match element {
                    Some(element) => self.word(self.width(array), element),
                    None => self.select(self.kid(array, 0), index),
                };
                self.fire(Rule::ReadTable, e)
            }
            Op::Ite => {
                let (p, a, b) = (self.kid(array, 0), self.kid(array, 1), self.kid(array, 2));
                let (a, b) = (self.select(a, index), self.select(b, index));
                let e = self.ite(p, a, b);
                self.fire(Rule::ReadIte, e)
            }
            _ => None,
        }
    }

    /// Returns `x` for `store(store(a, i, x), j, y)` read at `i`, if `x` is the element of an array at `j` and `y` that at `i`:
    /// they are equal if the indices are.
    fn read_swapped(&self, array: Expr, index: Expr) -> Option<Expr> {
        let is_store = |e: Expr| self.op(e) == Op::Store;
        if !is_store(array) || !is_store(self.kid(array, 0)) || self.kid(self.kid(array, 0), 1) != index {
            return None;
        }
        let (j, y, x) = (self.kid(array, 1), self.kid(array, 2), self.kid(self.kid(array, 0), 2));
        let is_element = |e: Expr, at: Expr| self.op(e) == Op::Read && self.kid(e, 1) == at;
        let is_swap = is_element(x, j) && is_element(y, index) && self.kid(x, 0) == self.kid(y, 0);
        is_swap.then_some(x)
    }

    /// Returns whether a word read stays one node: over a variable, or over a table at a computed index.
    pub(super) fn reads_words(&self, array: Expr, index: Expr) -> bool {
        match self.op(array) {
            Op::Var => true,
            Op::Table => !self.is_const(index),
            _ => false,
        }
    }

    fn rewrite_read_word(&mut self, array: Expr, index: Expr, count: u32) -> Option<Expr> {
        if self.reads_words(array, index) {
            return None;
        }
        let mut result = self.select(array, index);
        for i in 1..count {
            let skip = self.word(self.width(index), i.into());
            let at = self.add(index, skip);
            let element = self.select(array, at);
            result = self.concat(element, result);
        }
        self.fire(Rule::ReadWord, result)
    }

    /// Returns whether constants or constant differences show that the indices are never equal.
    fn never_equal(&self, i: Expr, j: Expr) -> bool {
        if self.is_const(i) && self.is_const(j) {
            return i != j;
        }
        let ((x, c), (y, d)) = (self.split_sum(i), self.split_sum(j));
        // A sum with zero may exist if rewriting stopped at a limit.
        let (c, d) = (c.filter(|&c| !self.is_zero(c)), d.filter(|&d| !self.is_zero(d)));
        x == y && c != d
    }

    pub(in crate::expr) fn rewrite_store(&mut self, array: Expr, index: Expr, element: Expr) -> Option<Expr> {
        if self.op(element) == Op::Read && self.kid(element, 0) == array && self.kid(element, 1) == index {
            return self.fire(Rule::StoreSame, array);
        }
        if self.op(array) == Op::Store && self.kid(array, 1) == index {
            let e = self.store(self.kid(array, 0), index, element);
            return self.fire(Rule::StoreTwice, e);
        }
        self.rewrite_overwritten(array, index, element)
    }

    /// Removes a write to the same index below other writes.
    fn rewrite_overwritten(&mut self, array: Expr, index: Expr, element: Expr) -> Option<Expr> {
        let mut between = [array; MAX_WRITES_BETWEEN];
        let (mut below, mut count) = (array, 0);
        while self.op(below) == Op::Store && self.kid(below, 1) != index {
            *between.get_mut(count)? = below;
            (below, count) = (self.kid(below, 0), count + 1);
        }
        if self.op(below) != Op::Store {
            return None;
        }
        let mut kept = self.kid(below, 0);
        for &write in between[..count].iter().rev() {
            kept = self.store(kept, self.kid(write, 1), self.kid(write, 2));
        }
        let e = self.store(kept, index, element);
        self.fire(Rule::StoreOverwritten, e)
    }
}
