//! Text of integers, as musl prints them: for a number, and for an expression on a path that knows its sign and the
//! number of its digits.
use super::piece::{Datum, Spec};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::expr::{Expr, Graph};

/// Notation of an integer conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Notation {
    Signed,
    Decimal,
    Octal,
    Hexadecimal { upper: bool },
}

impl Notation {
    fn base(self) -> u64 {
        match self {
            Notation::Signed | Notation::Decimal => 10,
            Notation::Octal => 8,
            Notation::Hexadecimal { .. } => 16,
        }
    }
}

/// Sign or prefix of a number.
fn prefix(spec: &Spec, notation: Notation, negative: bool, is_zero: bool) -> &'static [u8] {
    match notation {
        Notation::Signed if negative => b"-",
        Notation::Signed if spec.plus => b"+",
        Notation::Signed if spec.space => b" ",
        Notation::Hexadecimal { upper } if spec.alternate && !is_zero => {
            if upper {
                b"0X"
            } else {
                b"0x"
            }
        }
        Notation::Signed | Notation::Decimal | Notation::Octal | Notation::Hexadecimal { .. } => b"",
    }
}

/// Sign or prefix, then the digits, padded by the flags. Zero has no digits of its own: the precision gives it one.
fn laid_out(spec: &Spec, notation: Notation, prefix: &[u8], digits: &[Datum], is_zero: bool) -> Vec<Datum> {
    let mut least = spec.precision.unwrap_or(usize::from(is_zero));
    if notation == Notation::Octal && spec.alternate {
        least = least.max(digits.len() + 1);
    }
    let mut zeros = least.saturating_sub(digits.len());
    if spec.zero && !spec.left && spec.precision.is_none() {
        zeros = zeros.max(spec.width.saturating_sub(prefix.len() + digits.len()));
    }
    let mut text: Vec<Datum> = prefix.iter().map(|&byte| Datum::of_byte(byte)).collect();
    text.extend(std::iter::repeat_n(Datum::of_byte(b'0'), zeros));
    text.extend_from_slice(digits);
    spec.padded(text)
}

/// Text of a number of `spec.bits` bits.
pub(super) fn text(spec: &Spec, notation: Notation, value: u64) -> Vec<Datum> {
    let negative = notation == Notation::Signed && crate::expr::bits::signed(spec.bits, value) < 0;
    let magnitude = match notation {
        Notation::Signed => crate::expr::bits::signed(spec.bits, value).unsigned_abs(),
        Notation::Decimal | Notation::Octal | Notation::Hexadecimal { .. } => value,
    };
    let digits = match notation {
        _ if magnitude == 0 => String::new(),
        Notation::Signed | Notation::Decimal => magnitude.to_string(),
        Notation::Octal => format!("{magnitude:o}"),
        Notation::Hexadecimal { upper: false } => format!("{magnitude:x}"),
        Notation::Hexadecimal { upper: true } => format!("{magnitude:X}"),
    };
    let digits: Vec<Datum> = digits.bytes().map(Datum::of_byte).collect();
    let prefix = prefix(spec, notation, negative, magnitude == 0);
    laid_out(spec, notation, prefix, &digits, magnitude == 0)
}

/// Text of an expression of `spec.bits` bits; other states take the other signs and numbers of digits.
pub(super) fn symbolic_text(
    machine: &mut Machine,
    state: &mut State,
    spec: &Spec,
    notation: Notation,
    e: Expr,
) -> Vec<Datum> {
    let zero = machine.graph().word(spec.bits, 0);
    let negative = notation == Notation::Signed && {
        let below = machine.graph().slt(e, zero);
        machine.decider.decide(state, below)
    };
    let magnitude = if negative { machine.graph().neg(e) } else { e };
    // Zero is a digit like others unless precision or prefix make it special.
    let is_special = spec.precision == Some(0) || spec.alternate;
    let is_zero = is_special && {
        let is_zero = machine.graph().eq(magnitude, zero);
        machine.decider.decide(state, is_zero)
    };
    let mut count = 0;
    if !is_zero {
        count = 1;
        let mut power = notation.base();
        let largest = crate::expr::bits::mask(spec.bits);
        loop {
            let limit = machine.graph().word(spec.bits, power);
            let is_below = machine.graph().ult(magnitude, limit);
            if machine.decider.decide(state, is_below) {
                break;
            }
            count += 1;
            match power.checked_mul(notation.base()).filter(|&power| power <= largest) {
                Some(next) => power = next,
                None => break,
            }
        }
    }
    let graph = machine.graph();
    let mut digits = Vec::new();
    for place in (0..count).rev() {
        let e = digit(graph, notation, magnitude, place);
        digits.push(Datum::of(graph, e));
    }
    let prefix = prefix(spec, notation, negative, is_zero);
    laid_out(spec, notation, prefix, &digits, is_zero)
}

/// Character of the digit at `place`, counted from the lowest.
fn digit(graph: &mut Graph, notation: Notation, magnitude: Expr, place: u32) -> Expr {
    let width = graph.width(magnitude);
    let value = match notation {
        Notation::Signed | Notation::Decimal => {
            let power = graph.word(width, 10u64.pow(place));
            let ten = graph.word(width, 10);
            let rest = graph.udiv(magnitude, power);
            let digit = graph.urem(rest, ten);
            graph.extract(digit, 0, 8)
        }
        Notation::Octal | Notation::Hexadecimal { .. } => {
            let bits = notation.base().ilog2();
            let digit = graph.extract(magnitude, bits * place, bits.min(width - bits * place));
            graph.zext(digit, 8)
        }
    };
    let add = |graph: &mut Graph, offset: u8| {
        let offset = graph.word(8, offset.into());
        graph.add(value, offset)
    };
    let number = add(graph, b'0');
    match notation {
        Notation::Signed | Notation::Decimal | Notation::Octal => number,
        Notation::Hexadecimal { upper } => {
            let letter = add(graph, if upper { b'A' } else { b'a' } - 10);
            let ten = graph.word(8, 10);
            let is_number = graph.ult(value, ten);
            graph.ite(is_number, number, letter)
        }
    }
}
