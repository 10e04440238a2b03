//! Rounding to an integral number: one is added to the last integral place of the packed word, and the places below are
//! cleared.

use super::exponent::Exponent;
use super::round::{increment, pack};
use super::special::{any_nan, propagate, select};
use super::unpack::unpack;
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::{add, left};

pub fn round_to_integral(g: &mut Gates, format: Format, rounding: Rounding, a: &[Lit]) -> Word {
    let number = unpack(g, format, a);
    let precision = format.significand() as usize;
    // Number of fractional places of the significand: below zero the number is integral, at `precision` or more it is
    // less than one.
    let exponent = number.exponent(g);
    let places = Exponent::constant(format.bias() + precision as i64 - 1).minus(g, &exponent);
    let integral = places.negative();
    let all = Exponent::constant(precision as i64);
    let less_than_one = all.less(g, &places, true);
    let less_than_half = all.less(g, &places, false);

    // Ones in the fractional places.
    let below: Word =
        left(g, &vec![Lit::TRUE; precision], places.magnitude()).into_iter().map(|bit| !bit).collect();
    let significand = number.significand();
    let at = |i: usize| below.get(i).copied().unwrap_or(less_than_half);
    let (mut lowest, mut guard, mut sticky) = (Word::new(), Word::new(), Word::new());
    let mut unit = Word::new();
    for (i, &bit) in significand.iter().enumerate() {
        let is_unit = if i == 0 { !at(0) } else { g.and(!at(i), at(i - 1)) };
        unit.push(is_unit);
        lowest.push(g.and(bit, is_unit));
        let is_guard = g.and(at(i), !at(i + 1));
        guard.push(g.and(bit, is_guard));
        sticky.push(g.and(bit, at(i + 1)));
    }
    let (lowest, guard, sticky) = (g.any(lowest), g.any(guard), g.any(sticky));
    let up = increment(g, rounding, number.sign, (lowest, guard, sticky));

    let magnitude = number.magnitude();
    let mut addend: Word = unit[..precision].iter().map(|&bit| g.and(bit, up)).collect();
    addend.resize(magnitude.len(), Lit::FALSE);
    // At one and above but below two, the last integral place is the integer bit, which is not stored: adding to the
    // lowest bit of the field doubles the number, as it should.
    let sum = add(g, &magnitude, &addend);
    let (fraction, field) = sum.split_at(precision - 1);
    let cleared: Word = fraction.iter().zip(&below).map(|(&bit, &b)| g.and(bit, !b)).collect();
    let rounded = pack(g, format, number.sign, field, &cleared);

    // Zero or one.
    let one: Word =
        (0..format.exponent()).map(|i| g.and(up, Lit::constant(format.bias() >> i & 1 == 1))).collect();
    let small = pack(g, format, number.sign, &one, &vec![Lit::FALSE; precision - 1]);
    let itself = g.any(vec![integral, number.infinite, number.zero]);
    let same = pack(g, format, number.sign, &number.field, &number.fraction);
    let nan = any_nan(g, &[&number]);
    let cases = [(nan, propagate(g, format, &[&number])), (itself, same), (less_than_one, small)];
    select(g, &cases, rounded)
}
