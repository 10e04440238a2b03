//! IEEE remainder: long division with as many steps as the exponents differ, some 2,000 for double. A step is skipped
//! where the difference is smaller. The gate limit ends it for formats with a larger range.

use super::divide::{double, subtract_if_fits};
use super::exponent::Exponent;
use super::normalise::normalise;
use super::round::{Exact, pack, round};
use super::special::{any_nan, propagate, select, zero};
use super::unpack::unpack;
use super::{Format, Gates, Lit, Rounding, Word};
use crate::blast::circuit::{choose, less, subtract};

pub fn remainder(g: &mut Gates, format: Format, a: &[Lit], b: &[Lit]) -> Word {
    let (a, b) = (unpack(g, format, a), unpack(g, format, b));
    let ((a_exponent, a_significand), (b_exponent, b_significand)) = (a.normalised(g), b.normalised(g));
    let precision = format.significand() as usize;
    let steps = a_exponent.minus(g, &b_exponent);
    let mut rest = a_significand;
    rest.push(Lit::FALSE);
    let mut odd = Lit::FALSE;
    for step in (0..=steps.high()).rev() {
        if g.stopped().is_some() {
            break;
        }
        let active = Exponent::constant(step).less(g, &steps, true);
        let (fits, smaller) = subtract_if_fits(g, &rest, &b_significand);
        let next = if step > 0 { double(&smaller[..precision]) } else { smaller };
        rest = choose(g, active, &next, &rest);
        odd = g.and(active, fits);
    }
    // In halves of a unit, so that a dividend one exponent below the divisor is exact.
    let lower = steps.negative();
    let rest = choose(g, lower, &rest, &double(&rest)[..precision + 1]);
    let divisor = double(&b_significand);
    let twice = double(&rest);
    let mut wide = divisor.clone();
    wide.push(Lit::FALSE);
    let above = less(g, &wide, &twice, false, false);
    let tie = super::super::equal(g, &wide, &twice);
    let tie_up = g.and(tie, odd);
    let up = g.or(above, tie_up);
    let complement = subtract(g, &divisor, &rest);
    let size = choose(g, up, &complement, &rest);
    let sign = g.xor(a.sign, up);
    let something = g.any(size.clone());
    let (significand, zeros) = normalise(g, &size);
    let zeros = Exponent::unsigned(&zeros, 0, significand.len() as i64);
    let exponent = b_exponent.minus(g, &zeros);
    let exact = round(g, format, Rounding::TowardZero, &Exact { sign, exponent, significand });

    let invalid = g.or(a.infinite, b.zero);
    let nan = any_nan(g, &[&a, &b]);
    let nan = g.or(nan, invalid);
    let below = steps.less(g, &Exponent::constant(-1), false);
    let small = g.any(vec![a.zero, b.infinite, below]);
    let dividend = pack(g, format, a.sign, &a.field, &a.fraction);
    let cases =
        [(nan, propagate(g, format, &[&a, &b])), (small, dividend), (!something, zero(g, format, a.sign))];
    select(g, &cases, exact)
}
