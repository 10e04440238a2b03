//! Conversions between formats, and from and to integers.

use super::align::{keep_sticky, shift_sticky};
use super::exponent::Exponent;
use super::normalise::normalise;
use super::round::{Exact, increment, round};
use super::special::{any_nan, default_nan, infinity, select, zero};
use super::unpack::{Number, unpack};
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::arith::negate_if;
use crate::blast::circuit::choose;

pub fn to_format(g: &mut Gates, from: Format, to: Format, rounding: Rounding, a: &[Lit]) -> Word {
    let number = unpack(g, from, a);
    let (exponent, significand) = number.normalised(g);
    let exponent = exponent.plus_constant(g, to.bias() - from.bias());
    let rounded = round(g, to, rounding, &Exact { sign: number.sign, exponent, significand });
    let nan = any_nan(g, &[&number]);
    let cases = [
        (nan, converted_nan(g, to, &number)),
        (number.infinite, infinity(g, to, number.sign)),
        (number.zero, zero(g, to, number.sign)),
    ];
    select(g, &cases, rounded)
}

/// The highest bits of the fraction of a NaN are kept; it becomes quiet.
fn converted_nan(g: &mut Gates, to: Format, number: &Number) -> Word {
    let width = to.significand() as usize - 1;
    let from = number.fraction.len();
    let mut fraction: Word = (0..width)
        .map(|i| if i + from >= width { number.fraction[i + from - width] } else { Lit::FALSE })
        .collect();
    fraction[width - 1] = Lit::TRUE;
    let field = vec![Lit::TRUE; to.exponent() as usize];
    let word = super::round::pack(g, to, number.sign, &field, &fraction);
    let default = default_nan(g, to);
    choose(g, number.unsupported, &default, &word)
}

/// The integer of `width` bits; out of range or NaN, only its highest bit is set.
pub fn to_integer(
    g: &mut Gates,
    format: Format,
    rounding: Rounding,
    a: &[Lit],
    (width, signed): (usize, bool),
) -> Word {
    let number = unpack(g, format, a);
    // The integer places of the result, a guard bit and a sticky bit; the highest place is at first the highest bit
    // of the significand.
    let kept = keep_sticky(g, &number.significand(), width + 2);
    let exponent = number.exponent(g);
    let amount = Exponent::constant(format.bias() + width as i64 - 1).minus(g, &exponent);
    let too_large = amount.negative();
    let shifted = shift_sticky(g, &kept, amount.magnitude());
    let mut carry = increment(g, rounding, number.sign, (shifted[2], shifted[1], shifted[0]));
    let mut size = Word::with_capacity(width);
    for &bit in &shifted[2..] {
        size.push(g.xor(bit, carry));
        carry = g.and(bit, carry);
    }
    let something = g.any(size.clone());
    let outside = if signed {
        // The magnitude of the smallest number is one more than the greatest.
        let below_top = g.any(size[..width - 1].to_vec());
        let smallest = g.and(number.sign, !below_top);
        g.and(size[width - 1], !smallest)
    } else {
        g.and(number.sign, something)
    };
    let value = if signed { negate_if(g, number.sign, &size) } else { size };
    let nan = any_nan(g, &[&number]);
    // An infinite number has a large exponent only if the format's range exceeds that of the integers.
    let outside = g.any(vec![too_large, carry, outside, nan, number.infinite]);
    let mut invalid = vec![Lit::FALSE; width];
    invalid[width - 1] = Lit::TRUE;
    choose(g, outside, &invalid, &value)
}

pub fn from_integer(g: &mut Gates, format: Format, rounding: Rounding, a: &[Lit], signed: bool) -> Word {
    let sign = if signed { a[a.len() - 1] } else { Lit::FALSE };
    let size = if signed { negate_if(g, sign, a) } else { a.to_vec() };
    let something = g.any(size.clone());
    let (mut significand, zeros) = normalise(g, &size);
    let top = significand.len() - 1;
    significand[top] = Lit::TRUE;
    let zeros = Exponent::unsigned(&zeros, 0, top as i64);
    let exponent = Exponent::constant(format.bias() + top as i64).minus(g, &zeros);
    let rounded = round(g, format, rounding, &Exact { sign, exponent, significand });
    let cases = [(!something, zero(g, format, Lit::FALSE))];
    select(g, &cases, rounded)
}
