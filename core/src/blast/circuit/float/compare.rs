//! Comparisons: one chain of borrows over the magnitudes. Its start and its result are flipped for negative operands,
//! where the order is reversed.

use super::special::any_nan;
use super::unpack::{Number, unpack};
use super::{Format, Gates, Lit};
use crate::blast::circuit::equal as equal_words;

pub fn less(g: &mut Gates, format: Format, a: &[Lit], b: &[Lit], or_equal: bool) -> Lit {
    let (a, b) = (unpack(g, format, a), unpack(g, format, b));
    // For equal signs.
    let mut borrow = a.sign.flip(or_equal);
    for (x, y) in a.magnitude().into_iter().zip(b.magnitude()) {
        borrow = g.majority(!x, y, borrow);
    }
    let same_signs = g.xor(borrow, a.sign);
    let differ = g.xor(a.sign, b.sign);
    let ordered = g.mux(differ, a.sign, same_signs);
    let zeros = g.and(a.zero, b.zero);
    let result = g.mux(zeros, Lit::constant(or_equal), ordered);
    not_nan(g, &a, &b, result)
}

pub fn equal(g: &mut Gates, format: Format, a: &[Lit], b: &[Lit]) -> Lit {
    let (a, b) = (unpack(g, format, a), unpack(g, format, b));
    let same_signs = !g.xor(a.sign, b.sign);
    let same = g.or(same_signs, a.zero);
    let magnitudes = equal_words(g, &a.magnitude(), &b.magnitude());
    let result = g.and(magnitudes, same);
    not_nan(g, &a, &b, result)
}

fn not_nan(g: &mut Gates, a: &Number, b: &Number, result: Lit) -> Lit {
    let nan = any_nan(g, &[a, b]);
    g.and(result, !nan)
}
