//! Text of floating-point numbers, as musl prints them.
use super::piece::{Datum, Spec};
use crate::exec::outcome::Outcome;
use crate::exec::run::step::soft;
use crate::program::FloatKind;

/// Largest precision: Rust's formatting has a limit of its own.
pub(super) const MAX_PRECISION: usize = 1 << 12;

/// Text of the number with these bits, for a conversion such as `f`.
pub(super) fn text(spec: &Spec, kind: u8, long: bool, bits: u128) -> Result<Vec<Datum>, Outcome> {
    let given = if long { FloatKind::X87 } else { FloatKind::Double };
    let double = soft::convert(given, FloatKind::Double, bits);
    let value = f64::from_bits(double as u64);
    let extended = soft::convert(given, FloatKind::X87, bits);
    let is_finite = extended >> 64 & 0x7fff != 0x7fff;
    let is_hexadecimal = kind.eq_ignore_ascii_case(&b'a') && is_finite;
    let is_double = soft::convert(FloatKind::Double, FloatKind::X87, double) == extended;
    if is_finite && !is_hexadecimal && !is_double {
        return Err(Outcome::unsupported("printf in decimal of a long double that is no double"));
    }
    let text =
        if is_hexadecimal { hexadecimal(spec, kind, extended) } else { floating(spec, kind, value.abs()) };
    let is_negative = extended >> 79 & 1 == 1;
    let sign = match is_negative {
        true => "-",
        false if spec.plus => "+",
        false if spec.space => " ",
        false => "",
    };
    let prefix = match (is_hexadecimal, kind) {
        (true, b'a') => "0x",
        (true, _) => "0X",
        (false, _) => "",
    };
    let length = sign.len() + prefix.len() + text.len();
    let zeros = if spec.zero && !spec.left && is_finite { spec.width.saturating_sub(length) } else { 0 };
    let text = format!("{sign}{prefix}{}{text}", "0".repeat(zeros));
    Ok(spec.padded(text.bytes().map(Datum::of_byte).collect()))
}

/// Text after `0x` for a finite number in extended precision, with one digit before the point, as musl prints
/// it. Rounded to nearest, ties to even.
fn hexadecimal(spec: &Spec, kind: u8, bits: u128) -> String {
    const BIAS: i64 = 16383;
    const DIGITS: usize = 16;
    let mantissa = bits as u64;
    let zeros = mantissa.leading_zeros();
    let (mut whole, mut fraction, exponent) = match mantissa {
        0 => (0, 0, 0),
        _ => {
            let exponent = ((bits >> 64) as i64 & 0x7fff).max(1) - BIAS - i64::from(zeros);
            (1, (mantissa << zeros) << 1, exponent)
        }
    };
    let precision = spec.precision.unwrap_or(DIGITS);
    if precision < DIGITS {
        let dropped = 4 * (DIGITS - precision) as u32;
        let kept = (u128::from(whole as u64) << 64 | u128::from(fraction)) >> dropped;
        let rest = u128::from(fraction) & ((1 << dropped) - 1);
        let half = 1u128 << (dropped - 1);
        let up = rest > half || (rest == half && kept & 1 == 1);
        let rounded = (kept + u128::from(up)) << dropped;
        (whole, fraction) = ((rounded >> 64) as i32, rounded as u64);
    }
    let mut digits = format!("{fraction:016x}");
    match spec.precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) if precision < DIGITS => digits.truncate(precision),
        Some(precision) => digits.push_str(&"0".repeat(precision - DIGITS)),
    }
    let point = if digits.is_empty() && !spec.alternate { "" } else { "." };
    let text = format!("{whole}{point}{digits}p{exponent:+}");
    if kind == b'A' { text.to_uppercase() } else { text }
}

/// Text of a number that is not negative.
fn floating(spec: &Spec, kind: u8, value: f64) -> String {
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return if kind.is_ascii_uppercase() { text.to_uppercase() } else { text.to_string() };
    }
    let precision = spec.precision.unwrap_or(6);
    let scientific = |digits: usize| {
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').expect("scientific notation");
        let exponent: i32 = exponent.parse().expect("an exponent");
        (mantissa.to_string(), exponent)
    };
    let with_exponent = |mantissa: &str, exponent: i32| {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    };
    // `#` keeps a trailing point, and the zeros that %g drops.
    let pointed = |text: String| if spec.alternate && !text.contains('.') { text + "." } else { text };
    let text = match kind.to_ascii_lowercase() {
        b'f' => pointed(format!("{value:.precision$}")),
        b'e' => {
            let (mantissa, exponent) = scientific(precision);
            with_exponent(&pointed(mantissa), exponent)
        }
        _ => {
            let digits = precision.max(1);
            let (mantissa, exponent) = scientific(digits - 1);
            let trim = |text: String| match text.contains('.') && !spec.alternate {
                true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
                false => pointed(text),
            };
            if exponent < -4 || exponent >= digits as i32 {
                with_exponent(&trim(mantissa), exponent)
            } else {
                let after = (digits as i32 - 1 - exponent) as usize;
                trim(format!("{value:.after$}"))
            }
        }
    };
    if kind.is_ascii_uppercase() { text.to_uppercase() } else { text }
}
