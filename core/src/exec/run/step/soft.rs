//! Floating point on bits: every operation for single, double and x87 extended precision.
//!
//! `rustc_apfloat` computes exactly as LLVM's constant folding, in the default rounding mode. It has no
//! square root: those of single and double are the machine's, which IEEE 754 requires to be correctly
//! rounded; that of x87 is computed here. IEEE 754 leaves sign and payload of a NaN result open: they are x86's.
use crate::program::{FBinOp, FCmpPred, FUnOp, FloatKind};
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};
use std::cmp::Ordering;

/// Larger exponents give the same result, except for numbers with more digits than this.
const MAX_EXPONENT: i64 = 1_000_000;

/// Calls a generic function for the format of `kind`.
macro_rules! with {
    ($kind:expr, $f:ident($($arg:expr),*)) => {
        match $kind {
            FloatKind::Single => $f::<Single>($($arg),*),
            FloatKind::Double => $f::<Double>($($arg),*),
            FloatKind::X87 => $f::<X87DoubleExtended>($($arg),*),
        }
    };
}

pub fn binary(kind: FloatKind, op: FBinOp, a: u128, b: u128) -> u128 {
    fn go<F: Float>(op: FBinOp, a: u128, b: u128) -> u128 {
        let (a, b) = (F::from_bits(a), F::from_bits(b));
        let result = match op {
            FBinOp::Add => (a + b).value,
            FBinOp::Sub => (a - b).value,
            FBinOp::Mul => (a * b).value,
            FBinOp::Div => (a / b).value,
            FBinOp::Rem => a.c_fmod(b).value,
            FBinOp::CopySign => a.copy_sign(b),
            FBinOp::MinNum => a.min(b),
            FBinOp::MaxNum => a.max(b),
            FBinOp::Minimum => a.minimum(b),
            FBinOp::Maximum => a.maximum(b),
        };
        result.to_bits()
    }
    let result = with!(kind, go(op, a, b));
    let both_zero = is_zero(kind, a) && is_zero(kind, b);
    match op {
        FBinOp::Add | FBinOp::Sub | FBinOp::Mul | FBinOp::Div | FBinOp::Rem if is_nan(kind, result) => {
            nan_result(kind, a, b)
        }
        // x86 has no instruction for these: they are calls of musl's functions, which order zeros by sign.
        FBinOp::MinNum if kind == FloatKind::X87 && both_zero => a | b,
        FBinOp::MaxNum if kind == FloatKind::X87 && both_zero => a & b,
        _ => result,
    }
}

fn is_nan(kind: FloatKind, a: u128) -> bool {
    fn go<F: Float>(a: u128) -> bool {
        F::from_bits(a).is_nan()
    }
    with!(kind, go(a))
}

fn is_zero(kind: FloatKind, a: u128) -> bool {
    fn go<F: Float>(a: u128) -> bool {
        F::from_bits(a).is_zero()
    }
    with!(kind, go(a))
}

/// The NaN that x86 returns for these operands: an operand that is one, made quiet, or else the default NaN, which is
/// negative. SSE takes the first of two NaNs; x87 the one with the larger significand, and of equal ones the positive.
fn nan_result(kind: FloatKind, a: u128, b: u128) -> u128 {
    let (quiet, default): (u128, u128) = match kind {
        FloatKind::Single => (1 << 22, 0xffc0_0000),
        FloatKind::Double => (1 << 51, 0xfff8_0000_0000_0000),
        FloatKind::X87 => (1 << 62, 0xffff_c000_0000_0000_0000),
    };
    let significand = |x: u128| x as u64 | quiet as u64;
    match (is_nan(kind, a), is_nan(kind, b)) {
        (true, true) if kind == FloatKind::X87 => {
            let larger = significand(b).cmp(&significand(a)).then(a.cmp(&b));
            (if larger == Ordering::Greater { b } else { a }) | quiet
        }
        (true, _) => a | quiet,
        (false, true) => b | quiet,
        (false, false) => default,
    }
}

pub fn unary(kind: FloatKind, op: FUnOp, a: u128) -> u128 {
    fn go<F: Float>(op: FUnOp, a: u128) -> u128 {
        let a = F::from_bits(a);
        let result = match op {
            FUnOp::Neg => -a,
            FUnOp::Abs => a.abs(),
            FUnOp::Sqrt => unreachable!("the caller computes roots"),
            FUnOp::Floor => a.round_to_integral(Round::TowardNegative).value,
            FUnOp::Ceil => a.round_to_integral(Round::TowardPositive).value,
            FUnOp::Trunc => a.round_to_integral(Round::TowardZero).value,
            FUnOp::Rint => a.round_to_integral(Round::NearestTiesToEven).value,
            FUnOp::Round => a.round_to_integral(Round::NearestTiesToAway).value,
        };
        result.to_bits()
    }
    match (op, kind) {
        (FUnOp::Sqrt, _) if is_nan(kind, a) => nan_result(kind, a, a),
        (FUnOp::Sqrt, FloatKind::Single) => f32::from_bits(a as u32).sqrt().to_bits().into(),
        (FUnOp::Sqrt, FloatKind::Double) => f64::from_bits(a as u64).sqrt().to_bits().into(),
        (FUnOp::Sqrt, FloatKind::X87) => extended_root(a),
        _ => with!(kind, go(op, a)),
    }
}

/// Square root of an extended number, rounded to nearest.
fn extended_root(a: u128) -> u128 {
    const BIAS: i64 = 16383;
    let x = X87DoubleExtended::from_bits(a);
    if x.is_zero() || x.is_nan() || (x.is_infinite() && !x.is_negative()) {
        return a;
    }
    if x.is_negative() {
        return nan_result(FloatKind::X87, a, a);
    }
    let zeros = (a as u64).leading_zeros();
    // The number is mantissa * 2^(exponent - 63) with the mantissa's top bit set.
    let mantissa = u128::from((a as u64) << zeros);
    let exponent = ((a >> 64) as i64 & 0x7fff).max(1) - BIAS - i64::from(zeros);
    let (square, half) = match exponent.rem_euclid(2) {
        0 => (mantissa << 63, exponent / 2),
        _ => (mantissa << 64, (exponent - 1) / 2),
    };
    let root = square.isqrt();
    // The exact root is above root + 1/2 iff the remainder is more than the root.
    let rounded = if square - root * root > root { root + 1 } else { root };
    (((half + BIAS) as u128) << 64) | rounded
}

pub fn fma(kind: FloatKind, a: u128, b: u128, c: u128) -> u128 {
    fn go<F: Float>(a: u128, b: u128, c: u128) -> u128 {
        F::from_bits(a).mul_add(F::from_bits(b), F::from_bits(c)).value.to_bits()
    }
    with!(kind, go(a, b, c))
}

pub fn compare(kind: FloatKind, pred: FCmpPred, a: u128, b: u128) -> bool {
    fn go<F: Float>(a: u128, b: u128) -> Option<Ordering> {
        F::from_bits(a).partial_cmp(&F::from_bits(b))
    }
    let order = with!(kind, go(a, b));
    let is = |wanted: Ordering| order == Some(wanted);
    let (less, equal, greater, none) =
        (is(Ordering::Less), is(Ordering::Equal), is(Ordering::Greater), order.is_none());
    match pred {
        FCmpPred::False => false,
        FCmpPred::Oeq => equal,
        FCmpPred::Ogt => greater,
        FCmpPred::Oge => greater || equal,
        FCmpPred::Olt => less,
        FCmpPred::Ole => less || equal,
        FCmpPred::One => less || greater,
        FCmpPred::Ord => !none,
        FCmpPred::Ueq => none || equal,
        FCmpPred::Ugt => none || greater,
        FCmpPred::Uge => none || greater || equal,
        FCmpPred::Ult => none || less,
        FCmpPred::Ule => none || less || equal,
        FCmpPred::Une => none || !equal,
        FCmpPred::Uno => none,
        FCmpPred::True => true,
    }
}

/// Class of a number, as a bit numbered by `llvm.is.fpclass`.
pub fn class(kind: FloatKind, a: u128) -> u32 {
    fn go<F: Float>(a: u128) -> u32 {
        let a = F::from_bits(a);
        let signed = |negative: u32, positive: u32| if a.is_negative() { negative } else { positive };
        if a.is_nan() {
            if a.is_signaling() { 0 } else { 1 }
        } else if a.is_infinite() {
            signed(2, 9)
        } else if a.is_zero() {
            signed(5, 6)
        } else if a.is_denormal() {
            signed(4, 7)
        } else {
            signed(3, 8)
        }
    }
    1 << with!(kind, go(a))
}

/// Converts towards zero; saturates if out of range; 0 for NaN. The flag is true if it was in range.
pub fn to_integer(kind: FloatKind, signed: bool, width: u32, a: u128) -> (u128, bool) {
    fn go<F: Float>(signed: bool, width: u32, a: u128) -> (u128, bool) {
        let a = F::from_bits(a);
        let mut exact = false;
        let (value, status) = if signed {
            let r = a.to_i128_r(width as usize, Round::TowardZero, &mut exact);
            (r.value as u128, r.status)
        } else {
            let r = a.to_u128_r(width as usize, Round::TowardZero, &mut exact);
            (r.value, r.status)
        };
        (value, !status.contains(rustc_apfloat::Status::INVALID_OP))
    }
    with!(kind, go(signed, width, a))
}

/// Converts to nearest, ties to even.
pub fn from_integer(kind: FloatKind, signed: bool, a: u128) -> u128 {
    fn go<F: Float>(signed: bool, a: u128) -> u128 {
        if signed { F::from_i128(a as i128).value.to_bits() } else { F::from_u128(a).value.to_bits() }
    }
    with!(kind, go(signed, a))
}

pub fn convert(from: FloatKind, to: FloatKind, a: u128) -> u128 {
    fn go<F: FloatConvert<Single> + FloatConvert<Double> + FloatConvert<X87DoubleExtended>>(
        to: FloatKind,
        a: u128,
    ) -> u128 {
        let a = F::from_bits(a);
        let mut lossy = false;
        match to {
            FloatKind::Single => FloatConvert::<Single>::convert(a, &mut lossy).value.to_bits(),
            FloatKind::Double => FloatConvert::<Double>::convert(a, &mut lossy).value.to_bits(),
            FloatKind::X87 => FloatConvert::<X87DoubleExtended>::convert(a, &mut lossy).value.to_bits(),
        }
    }
    with!(from, go(to, a))
}

/// Parses a number as in C. The flag is true if it is out of range: infinite, or so small that digits are
/// lost; for hexadecimal ones, as in musl, only if all are lost.
pub fn parse(kind: FloatKind, text: &str, negative: bool) -> (u128, bool) {
    fn go<F: Float>(text: &str, negative: bool) -> (u128, bool) {
        let text = text.to_ascii_lowercase();
        let (value, status) = match text.as_str() {
            "inf" | "infinity" => (F::INFINITY, Status::OK),
            "nan" => (F::NAN, Status::OK),
            _ => {
                // The exponent may be missing, or have more digits than matter.
                let mark = if text.starts_with("0x") { 'p' } else { 'e' };
                let (digits, exponent) = text.split_once(mark).unwrap_or((&text, "0"));
                let exponent: i64 =
                    exponent.parse().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
                let spelled = format!("{digits}{mark}{}", exponent.clamp(-MAX_EXPONENT, MAX_EXPONENT));
                let parsed = F::from_str_r(&spelled, Round::NearestTiesToEven);
                let parsed = parsed.expect("the caller has checked the characters");
                (parsed.value, parsed.status)
            }
        };
        let value = if negative { -value } else { value };
        let too_small = status.intersects(Status::UNDERFLOW) && (value.is_zero() || !text.starts_with("0x"));
        (value.to_bits(), status.intersects(Status::OVERFLOW) || too_small)
    }
    with!(kind, go(text, negative))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn double_arithmetic_agrees_with_the_processor() {
        let samples = [0.0, -0.0, 1.0, -1.5, 1e300, 1e-310, f64::MAX, f64::INFINITY, 3.25, 1.0 / 3.0];
        for a in samples {
            for b in samples {
                let bits = |op| {
                    f64::from_bits(
                        binary(FloatKind::Double, op, a.to_bits().into(), b.to_bits().into()) as u64
                    )
                };
                for (op, native) in [
                    (FBinOp::Add, a + b),
                    (FBinOp::Sub, a - b),
                    (FBinOp::Mul, a * b),
                    (FBinOp::Div, a / b),
                    (FBinOp::Rem, a % b),
                ] {
                    let ours = bits(op);
                    assert!(
                        ours.to_bits() == native.to_bits() || ours.is_nan() && native.is_nan(),
                        "{op:?} {a} {b}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_extended_root_is_rounded_to_nearest() {
        let extended = |x: f64| convert(FloatKind::Double, FloatKind::X87, x.to_bits().into());
        for x in [0.0, 1.0, 4.0, 2.25, 5e-324, 12345678.0 * 12345678.0, f64::INFINITY] {
            assert_eq!(extended_root(extended(x)), extended(x.sqrt()), "{x}");
        }
        for x in [2.0, 3.0, 0.1, 1.7e308, 10.0, 1e300, 1e-300] {
            let root = extended_root(extended(x));
            let double = convert(FloatKind::X87, FloatKind::Double, root) as u64;
            assert_eq!(f64::from_bits(double), x.sqrt(), "{x}");
            // The squares of its neighbours are on both sides of the number.
            let square = |r: u128| binary(FloatKind::X87, FBinOp::Mul, r, r);
            let less = |a, b| compare(FloatKind::X87, FCmpPred::Olt, a, b);
            assert!(less(square(root - 1), extended(x)) && less(extended(x), square(root + 1)), "{x}");
        }
        assert_eq!(class(FloatKind::X87, extended_root(extended(-1.0))), 2, "not a number");
    }

    #[test]
    fn conversions_saturate_and_report_it() {
        let bits = |x: f64| u128::from(x.to_bits());
        assert_eq!(to_integer(FloatKind::Double, true, 32, bits(-7.9)), ((-7i128) as u128, true));
        assert_eq!(to_integer(FloatKind::Double, true, 32, bits(1e10)), (0x7fff_ffff, false));
        assert_eq!(to_integer(FloatKind::Double, false, 8, bits(300.0)), (255, false));
        assert_eq!(from_integer(FloatKind::Double, true, (-3i128) as u128), bits(-3.0));
        let extended = convert(FloatKind::Double, FloatKind::X87, bits(0.1));
        assert_eq!(convert(FloatKind::X87, FloatKind::Double, extended), bits(0.1));
        assert_eq!(class(FloatKind::Double, bits(-0.0)), 1 << 5);
    }
}
