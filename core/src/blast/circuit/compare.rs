//! Equality and order.

use super::{Gates, Lit};

pub fn equal(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    debug_assert_eq!(a.len(), b.len());
    let bits = a.iter().zip(b).map(|(&x, &y)| !g.xor(x, y)).collect();
    g.all(bits)
}

/// `a < b`, or `a <= b` if `or_equal`: the borrow of `a - b`. Signed comparison is unsigned comparison with
/// inverted sign bits, that is, with the operands' top bits swapped.
pub fn less(g: &mut Gates, a: &[Lit], b: &[Lit], or_equal: bool, signed: bool) -> Lit {
    debug_assert_eq!(a.len(), b.len());
    let top = a.len() - 1;
    let mut borrow = Lit::constant(or_equal);
    for i in 0..top {
        borrow = g.majority(!a[i], b[i], borrow);
    }
    let (x, y) = if signed { (b[top], a[top]) } else { (a[top], b[top]) };
    g.majority(!x, y, borrow)
}
