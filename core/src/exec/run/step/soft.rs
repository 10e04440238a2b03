//! Numbers of the program as text: conversions that the models of `printf` and `strtod` need.
//!
//! `rustc_apfloat` computes exactly as LLVM's constant folding, in the default rounding mode.
use super::float_terms as terms;
use crate::expr::eval::Shape;
use crate::expr::float::{self, FloatParameter, Rounding};
use crate::expr::{Bits, FloatOp};
use crate::program::FloatKind;
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, Round, Status};

/// Larger exponents give the same result, except for numbers with more digits than this.
const MAX_EXPONENT: i64 = 1_000_000;

/// Calls a generic function for the format of `kind`.
macro_rules! with {
    ($kind:expr, $f:ident($($arg:expr),*)) => {
        match $kind {
            FloatKind::Half => $f::<Half>($($arg),*),
            FloatKind::BFloat => $f::<BFloat>($($arg),*),
            FloatKind::Single => $f::<Single>($($arg),*),
            FloatKind::Double => $f::<Double>($($arg),*),
            FloatKind::X87 => $f::<X87DoubleExtended>($($arg),*),
            FloatKind::Quad => $f::<Quad>($($arg),*),
        }
    };
}

/// Converts between formats, to nearest.
pub fn convert(from: FloatKind, to: FloatKind, a: u128) -> u128 {
    let (source, format) = (terms::format(from), terms::format(to));
    let parameter = FloatParameter { format, rounding: Rounding::NearestEven, source };
    let shape = Shape { width: to.width(), operand: from.width(), low: parameter.pack(FloatOp::FToF) };
    let a = Bits::from_words(from.width(), &[a as u64, (a >> 64) as u64]);
    let result = float::wide(FloatOp::FToF, shape, &a, &a, &a);
    let words = result.words();
    u128::from(result.low()) | u128::from(words.get(1).copied().unwrap_or(0)) << 64
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
