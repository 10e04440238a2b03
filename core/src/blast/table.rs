//! A table of constants read at a computed index: for each bit of the element a tree of multiplexers over those
//! bits of the index that are not constant. Equal subtrees are one, so that what costs is how irregular the
//! contents are, not how long the table is; indices that constant bits rule out cost nothing.

use super::circuit::Word;
use super::gate::{Gates, Lit};

/// The low bits of an index that tell a table's elements apart.
pub fn index_bits(length: usize, index: &[Lit]) -> usize {
    (length.next_power_of_two().trailing_zeros() as usize).min(index.len())
}

/// Can the index lie past the table's end?
pub fn may_miss(length: usize, index: &[Lit]) -> bool {
    let bits = index_bits(length, index);
    let high = index[bits..].iter().any(|lit| *lit != Lit::FALSE);
    // The largest index that the constant bits allow.
    let largest = index[..bits].iter().rev().fold(0u64, |sum, lit| sum << 1 | (*lit != Lit::FALSE) as u64);
    high || largest >= length as u64
}

/// The element at `index`; `miss` past the end.
pub fn lookup(g: &mut Gates, elements: &[u64], index: &[Lit], miss: &[Lit]) -> Word {
    let bits = index_bits(elements.len(), index);
    let (low, high) = index.split_at(bits);
    let open: Vec<usize> = (0..bits).filter(|&i| !low[i].is_constant()).collect();
    let fixed: usize = (0..bits).filter(|&i| low[i] == Lit::TRUE).map(|i| 1 << i).sum();
    let position =
        |choice: usize| open.iter().enumerate().fold(fixed, |p, (k, &i)| p | (choice >> k & 1) << i);
    let positions: Vec<usize> = (0..1usize << open.len()).map(position).collect();
    let out = g.any(high.to_vec());
    let mut word = Word::with_capacity(miss.len());
    for (bit, &otherwise) in miss.iter().enumerate() {
        if g.stopped().is_some() {
            return miss.to_vec();
        }
        let leaf = |&p: &usize| elements.get(p).map_or(otherwise, |e| Lit::constant(e >> bit & 1 == 1));
        let mut layer: Vec<Lit> = positions.iter().map(leaf).collect();
        for &i in &open {
            layer = layer.chunks_exact(2).map(|pair| g.mux(low[i], pair[1], pair[0])).collect();
        }
        word.push(g.mux(out, otherwise, layer[0]));
    }
    word
}
