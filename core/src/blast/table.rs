//! Reads of a table of constants at a computed index: for each bit of the element, a tree of multiplexers over the
//! non-constant bits of the index. Equal subtrees are shared, so the cost depends on how irregular the contents are
//! and not on the length. Indices excluded by constant bits or by the index's set cost nothing.

use super::circuit::Word;
use super::gate::{Gates, Lit};
use crate::interval::Set;

/// Number of low index bits that distinguish the elements of a table.
pub fn index_bits(length: usize, index: &[Lit]) -> usize {
    (length.next_power_of_two().trailing_zeros() as usize).min(index.len())
}

/// Returns true if the index, which lies in the set, can be past the end of the table.
pub fn may_miss(length: usize, index: &[Lit], set: Option<&Set>) -> bool {
    if set.is_some_and(|set| set.max().is_none_or(|largest| largest < length as u64)) {
        return false;
    }
    let bits = index_bits(length, index);
    let high = index[bits..].iter().any(|lit| *lit != Lit::FALSE);
    // The largest index that the constant bits allow.
    let largest = index[..bits].iter().rev().fold(0u64, |sum, lit| sum << 1 | (*lit != Lit::FALSE) as u64);
    high || largest >= length as u64
}

/// The element at `index`, which lies in the set; `miss` past the end.
pub fn lookup(g: &mut Gates, elements: &[u64], index: &[Lit], set: Option<&Set>, miss: &[Lit]) -> Word {
    let bits = index_bits(elements.len(), index);
    let (low, high) = index.split_at(bits);
    let open: Vec<usize> = (0..bits).filter(|&i| !low[i].is_constant()).collect();
    let fixed: usize = (0..bits).filter(|&i| low[i] == Lit::TRUE).map(|i| 1 << i).sum();
    let position =
        |choice: usize| open.iter().enumerate().fold(fixed, |p, (k, &i)| p | (choice >> k & 1) << i);
    // `None`: an impossible index, whose element may be anything.
    let possible = |p: usize| set.is_none_or(|set| set.contains(p as u64)).then_some(p);
    let positions: Vec<Option<usize>> = (0..1usize << open.len()).map(|c| possible(position(c))).collect();
    let out = if may_miss(elements.len(), index, set) { g.any(high.to_vec()) } else { Lit::FALSE };
    let mut word = Word::with_capacity(miss.len());
    for (bit, &otherwise) in miss.iter().enumerate() {
        if g.stopped().is_some() {
            return miss.to_vec();
        }
        let leaf = |p: usize| elements.get(p).map_or(otherwise, |e| Lit::constant(e >> bit & 1 == 1));
        let mut layer: Vec<Option<Lit>> = positions.iter().map(|p| p.map(leaf)).collect();
        for &i in &open {
            let one = |pair: &[Option<Lit>]| match (pair[0], pair[1]) {
                (Some(zero), Some(one)) => Some(g.mux(low[i], one, zero)),
                (only, None) | (None, only) => only,
            };
            layer = layer.chunks_exact(2).map(one).collect();
        }
        word.push(g.mux(out, otherwise, layer[0].unwrap_or(otherwise)));
    }
    word
}
