//! Indices as a base and a constant: `p + 1` and `p + 2` differ, whatever `p` is.
//!
//! Indices over two bases are compared through the difference of the bases, which all comparisons share: `s + 3 = d + 1`
//! is `s - d = -2`.

use super::Blaster;
use super::circuit::{self, Word};
use super::gate::Lit;
use crate::expr::{Alive, Bits, Expr, Graph, Op};

/// An index: the sum of a base, if there is one, and a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Offset {
    base: Option<Expr>,
    constant: Bits,
}

impl Offset {
    pub(super) fn of(graph: &Graph, e: Expr) -> Offset {
        let width = graph.width(e);
        if let Some(constant) = graph.const_bits(e) {
            return Offset { base: None, constant };
        }
        if graph.op(e) == Op::Add
            && let Some(constant) = graph.const_bits(graph.kid(e, 1))
        {
            return Offset { base: Some(graph.kid(e, 0)), constant };
        }
        Offset { base: Some(e), constant: Bits::zero(width) }
    }

    /// Whether the base is alive: the handle of a dead expression is used again.
    pub(super) fn is_alive(&self, alive: &Alive) -> bool {
        self.base.is_none_or(|base| alive.has(base))
    }

    /// The index that many elements further on.
    pub(super) fn plus(&self, elements: u32) -> Offset {
        let constant = self.constant.add(&Bits::word(self.constant.width(), elements.into()));
        Offset { base: self.base, constant }
    }

    /// Whether the indices are equal, if that is the same for all values of the bases.
    pub(super) fn equals(&self, other: &Offset) -> Option<bool> {
        (self.base == other.base).then(|| self.constant == other.constant)
    }
}

impl Blaster {
    /// The literal that two indices are equal.
    pub(super) fn same_index(
        &mut self,
        one: (&Word, Option<&Offset>),
        other: (&Word, Option<&Offset>),
    ) -> Lit {
        let [(word, offset), (other_word, other_offset)] = [one, other];
        if let (Some(offset), Some(other)) = (offset, other_offset) {
            if let Some(equal) = offset.equals(other) {
                return Lit::constant(equal);
            }
            if let (Some(a), Some(b)) = (offset.base, other.base)
                && self.words.contains_key(&a)
                && self.words.contains_key(&b)
            {
                if offset.constant == other.constant {
                    return circuit::equal(&mut self.gates, &self.words[&a], &self.words[&b]);
                }
                let (a, b, [c, d]) = if a < b {
                    (a, b, [&offset.constant, &other.constant])
                } else {
                    (b, a, [&other.constant, &offset.constant])
                };
                let difference = self.difference(a, b);
                return circuit::equal(&mut self.gates, &difference, &circuit::constant(&d.sub(c)));
            }
        }
        circuit::equal(&mut self.gates, word, other_word)
    }

    /// The literal that this write is to the index.
    pub(super) fn is_index(&mut self, graph: &Graph, at: (&Word, Option<&Offset>), index: Expr) -> Lit {
        let word = self.words[&index].to_vec();
        self.same_index(at, (&word, Some(&Offset::of(graph, index))))
    }

    fn difference(&mut self, a: Expr, b: Expr) -> Word {
        if let Some(known) = self.differences.get(&(a, b)) {
            return known.clone();
        }
        let word = circuit::subtract(&mut self.gates, &self.words[&a], &self.words[&b]);
        if self.gates.stopped().is_none() {
            self.differences.insert((a, b), word.clone());
        }
        word
    }
}
