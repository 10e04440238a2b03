//! Reads a format string. Its symbolic bytes fork: a byte is the end, a `%`, or printed as it is; after a `%`, each
//! character that has a meaning is a side of its own, and all others are invalid together. Everything else is as in
//! musl: an invalid directive makes the call fail with EINVAL.
use super::arguments::{ArgumentKind, Arguments};
use super::float::MAX_PRECISION;
use super::number::Notation;
use super::piece::{Datum, MAX_TEXT, Piece, Spec};
use crate::exec::outcome::Outcome;
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Expr;
use crate::program::PointerWidth;

/// Characters with a meaning after a `%`.
const MEANINGFUL: &[u8] = b"dsuxcilzhpf%.*-0123456789+ #'oXeEgGaAFLjtnCSm$";
const EINVAL: u64 = 22;
const EOVERFLOW: u64 = 75;

/// Part of a format, with its arguments.
pub(super) enum Item {
    Piece(Piece),
    /// A string at this address. `limit` is a precision of 32 bits that is not known.
    Text {
        spec: Spec,
        address: u64,
        limit: Option<Expr>,
    },
    /// `%n`: an address that gets the number of characters so far, with this many bits; 0 for none.
    Count {
        address: u64,
        bits: u32,
    },
}

pub(super) struct Parsed {
    pub items: Vec<Item>,
    /// Number of bytes of the format that were read.
    pub length: u64,
    /// `errno` if the call fails after printing the items.
    pub failure: Option<u64>,
}

/// Length modifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Int,
    Char,
    Short,
    Long,
    LongLong,
    /// `z`, `t`.
    Word,
    /// `j`.
    Maximum,
    LongDouble,
}

impl Length {
    fn bits(self, pointers: PointerWidth) -> u32 {
        match self {
            Length::Int => 32,
            Length::Char => 8,
            Length::Short => 16,
            Length::LongLong | Length::Maximum => 64,
            Length::Long | Length::Word => pointers.bits(),
            // No integer of this length is printed, and `%Ln` stores nothing.
            Length::LongDouble => 0,
        }
    }
}

/// Why a directive ends the call.
enum Stop {
    /// The call fails with this `errno`.
    Failure(u64),
    Path(Outcome),
}

impl From<Outcome> for Stop {
    fn from(outcome: Outcome) -> Stop {
        Stop::Path(outcome)
    }
}

struct Reader<'a> {
    machine: &'a mut Machine,
    state: &'a mut State,
    address: u64,
    at: u64,
}

pub(super) fn parse(
    machine: &mut Machine,
    state: &mut State,
    address: u64,
    arguments: &mut Arguments<'_>,
) -> Result<Parsed, Outcome> {
    let mut reader = Reader { machine, state, address, at: 0 };
    let mut items = Vec::new();
    let mut text = Vec::new();
    // musl reads the format up to the first argument before it prints anything.
    let mut has_arguments = false;
    loop {
        let byte = reader.byte()?;
        if reader.is(byte, 0) {
            break;
        }
        reader.at += 1;
        if !reader.is(byte, b'%') {
            text.push(byte);
            continue;
        }
        if reader.letter()? == b'%' {
            reader.at += 1;
            text.push(Datum::of_byte(b'%'));
            continue;
        }
        if !text.is_empty() {
            items.push(Item::Piece(Piece::Bytes(std::mem::take(&mut text))));
        }
        match reader.directive(arguments, &mut has_arguments) {
            Ok(item) => items.push(item),
            Err(Stop::Path(outcome)) => return Err(outcome),
            Err(Stop::Failure(errno)) => {
                if !has_arguments {
                    items.clear();
                }
                return Ok(Parsed { items, length: reader.at, failure: Some(errno) });
            }
        }
    }
    items.push(Item::Piece(Piece::Bytes(text)));
    Ok(Parsed { items, length: reader.at + 1, failure: None })
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<Datum, Outcome> {
        let address = Value::number(self.address.wrapping_add(self.at));
        let value = self.machine.load(self.state, address, 8)?;
        let Some(e) = value.expr() else { return Ok(Datum::Number(value.word.into())) };
        let known = self.machine.decider.values(self.state, e).value();
        Ok(known.map_or(Datum::Symbolic(e), |word| Datum::Number(word.into())))
    }

    /// Is the byte this one? A state where it is another executes the call again.
    fn is(&mut self, byte: Datum, wanted: u8) -> bool {
        match byte {
            Datum::Number(number) => number == u128::from(wanted),
            Datum::Symbolic(e) => {
                if !self.machine.decider.values(self.state, e).contains(wanted.into()) {
                    return false;
                }
                let graph = self.machine.graph();
                let wanted = graph.word(8, wanted.into());
                let equal = graph.eq(e, wanted);
                self.machine.decider.decide(self.state, equal)
            }
        }
    }

    /// The next character of a directive; 0 for one without a meaning.
    fn letter(&mut self) -> Result<u8, Outcome> {
        let byte = self.byte()?;
        Ok(MEANINGFUL.iter().copied().find(|&letter| self.is(byte, letter)).unwrap_or(0))
    }

    fn accept(&mut self, wanted: u8) -> Result<bool, Outcome> {
        let is_next = self.letter()? == wanted;
        self.at += u64::from(is_next);
        Ok(is_next)
    }

    /// A decimal number; `None` if it does not fit an `int`.
    fn number(&mut self) -> Result<Option<u32>, Outcome> {
        let mut value = Some(0u32);
        loop {
            let digit = self.letter()?;
            if !digit.is_ascii_digit() {
                return Ok(value.filter(|&value| i32::try_from(value).is_ok()));
            }
            self.at += 1;
            value = value.and_then(|value| value.checked_mul(10)?.checked_add((digit - b'0').into()));
        }
    }

    fn length(&mut self) -> Result<Length, Outcome> {
        let length = match self.letter()? {
            b'h' => Length::Short,
            b'l' => Length::Long,
            b'L' => Length::LongDouble,
            b'z' | b't' => Length::Word,
            b'j' => Length::Maximum,
            _ => return Ok(Length::Int),
        };
        self.at += 1;
        Ok(match length {
            Length::Short if self.accept(b'h')? => Length::Char,
            Length::Long if self.accept(b'l')? => Length::LongLong,
            other => other,
        })
    }

    /// Reads what follows a `%`.
    fn directive(&mut self, arguments: &mut Arguments<'_>, has_arguments: &mut bool) -> Result<Item, Stop> {
        let mut spec = Spec::default();
        loop {
            match self.letter()? {
                b'-' => spec.left = true,
                b'0' => spec.zero = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'\'' => {}
                _ => break,
            }
            self.at += 1;
        }
        // Arguments for width and precision are taken once the directive is known to be valid.
        let star_width = self.accept(b'*')?;
        let width = if star_width { Some(0) } else { self.number()? }.ok_or(Stop::Failure(EOVERFLOW))?;
        let star_precision = self.accept(b'.')?.then(|| self.accept(b'*')).transpose()?;
        let precision = match star_precision {
            Some(false) => Some(self.number()?),
            Some(true) | None => None,
        };
        let length = self.length()?;
        let kind = self.letter()?;
        self.at += 1;
        if kind == b'$' {
            return Err(Outcome::unsupported("printf with a numbered argument").into());
        }
        if !is_valid(length, kind) {
            // The width of an invalid directive is not used.
            return Err(Stop::Failure(EINVAL));
        }
        if matches!(kind, b'm' | b'C' | b'S') || (length == Length::Long && matches!(kind, b'c' | b's')) {
            let long = if length == Length::Long { "l" } else { "" };
            return Err(Outcome::unsupported(format!("printf with `%{long}{}`", char::from(kind))).into());
        }
        *has_arguments = true;
        let (machine, state) = (&mut *self.machine, &mut *self.state);
        spec.width = width as usize;
        if star_width {
            let width = arguments.next_number(machine, state, 32, "the width of a conversion")? as i32;
            spec.left |= width < 0;
            spec.width = usize::try_from(width.wrapping_abs()).unwrap_or(0);
        }
        let mut limit = None;
        spec.precision = match (star_precision, precision) {
            (Some(true), _) => match arguments.next(machine, state, ArgumentKind::Integer(32))? {
                Datum::Number(given) => usize::try_from(given as i32).ok(),
                Datum::Symbolic(e) if kind == b's' => {
                    let graph = machine.graph();
                    let zero = graph.word(32, 0);
                    let is_negative = graph.slt(e, zero);
                    limit = (!machine.decider.decide(state, is_negative)).then_some(e);
                    None
                }
                Datum::Symbolic(e) => {
                    let value = Value::of(machine.decider.graph(), e);
                    let what = "the precision of a conversion";
                    let given = machine.decider.fork_on_value(state, value, 32, what)?;
                    usize::try_from(given as i32).ok()
                }
            },
            (_, Some(Some(precision))) => Some(precision as usize),
            (_, _) => None,
        };
        let precision_overflows = precision == Some(None);
        if spec.width > MAX_TEXT
            || spec.precision.is_some_and(|precision| precision > MAX_TEXT) && kind != b's'
        {
            return Err(Outcome::unsupported(too_long()).into());
        }
        spec.bits = length.bits(machine.program.pointers);
        let mut item = conversion(machine, state, spec, kind, length, arguments)?;
        if let Item::Text { limit: slot, .. } = &mut item {
            *slot = limit;
        }
        if precision_overflows && !matches!(kind, b's' | b'c' | b'n') {
            return Err(Stop::Failure(EOVERFLOW));
        }
        Ok(item)
    }
}

pub(super) fn too_long() -> String {
    format!("printf of more than {MAX_TEXT} characters")
}

fn is_valid(length: Length, kind: u8) -> bool {
    match kind {
        b'n' => true,
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => length != Length::LongDouble,
        b'e' | b'f' | b'g' | b'a' | b'E' | b'F' | b'G' | b'A' => {
            matches!(length, Length::Int | Length::Long | Length::LongDouble)
        }
        b'c' | b's' => matches!(length, Length::Int | Length::Long),
        b'p' | b'C' | b'S' | b'm' => length == Length::Int,
        _ => false,
    }
}

/// A valid conversion with its argument.
fn conversion(
    machine: &mut Machine,
    state: &mut State,
    mut spec: Spec,
    kind: u8,
    length: Length,
    arguments: &mut Arguments<'_>,
) -> Result<Item, Outcome> {
    let pointer_bits = machine.program.pointers.bits();
    let notation = match kind {
        b'd' | b'i' => Notation::Signed,
        b'u' => Notation::Decimal,
        b'o' => Notation::Octal,
        b'x' | b'X' => Notation::Hexadecimal { upper: kind == b'X' },
        b'p' => {
            spec.alternate = true;
            spec.bits = machine.program.pointers.bits();
            // As musl does: a pointer has at least all its digits if there is a precision.
            let digits = 2 * machine.program.pointers.bytes() as usize;
            spec.precision = spec.precision.map(|precision| precision.max(digits));
            Notation::Hexadecimal { upper: false }
        }
        b'c' => {
            let byte = arguments.next(machine, state, ArgumentKind::Integer(8))?;
            return Ok(Item::Piece(Piece::Bytes(spec.padded(vec![byte]))));
        }
        b's' => {
            let address =
                arguments.next_number(machine, state, pointer_bits, "the address of a printed string")?;
            return Ok(Item::Text { spec, address, limit: None });
        }
        b'n' => {
            let address = arguments.next_number(machine, state, pointer_bits, "the address for `%n`")?;
            return Ok(Item::Count { address, bits: length.bits(machine.program.pointers) });
        }
        _ => {
            if spec.precision.is_some_and(|precision| precision > MAX_PRECISION) {
                return Err(Outcome::unsupported(format!(
                    "printf of a floating-point number with more than {MAX_PRECISION} digits"
                )));
            }
            let long = length == Length::LongDouble;
            let value = arguments.next(
                machine,
                state,
                if long { ArgumentKind::LongDouble } else { ArgumentKind::Double },
            )?;
            return Ok(Item::Piece(Piece::Float { spec, kind, long, value }));
        }
    };
    let value = arguments.next(machine, state, ArgumentKind::Integer(spec.bits))?;
    Ok(Item::Piece(Piece::Integer { spec, notation, value }))
}
