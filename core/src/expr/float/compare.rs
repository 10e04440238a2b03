//! Comparison: the order of finite numbers and infinities is that of sign, exponent and significand as stored.

use super::Format;
use super::natural::Natural;
use super::unpack::{fields, unpack};
use std::cmp::Ordering;

/// Returns the order of two numbers; `None` if one is NaN. Zeros are equal.
pub(super) fn compare<N: Natural>(format: Format, a: &N, b: &N) -> Option<Ordering> {
    if unpack(format, a).is_nan() || unpack(format, b).is_nan() {
        return None;
    }
    let (x, y) = (fields(format, a), fields(format, b));
    let zero = |f: &super::unpack::Fields<N>| f.exponent == 0 && f.stored.is_zero();
    if zero(&x) && zero(&y) {
        return Some(Ordering::Equal);
    }
    if x.negative != y.negative {
        return Some(if x.negative { Ordering::Less } else { Ordering::Greater });
    }
    // Exponents 0 and 1 scale the significand alike; only pseudo-denormals of x87 have the integer bit with 0.
    let exponent = |f: &super::unpack::Fields<N>| {
        if format.is_explicit() { f.exponent.max(1) } else { f.exponent }
    };
    let order = exponent(&x).cmp(&exponent(&y)).then_with(|| x.stored.compare(&y.stored));
    Some(if x.negative { order.reverse() } else { order })
}
