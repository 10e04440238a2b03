//! Output functions. Standard output is kept with the path; other output is dropped. Symbolic values are
//! printed with their values under the path model. They are concretised only where the program can observe
//! the text, in memory or as the number of characters.
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::Outcome;
use crate::exec::run::Machine;
use crate::exec::run::step::soft;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Bits;
use crate::program::FloatKind;
use std::sync::Arc;

pub(super) const MODELS: &[ModelRow] = &[
    row("printf", 1, |e, s, c| formatted(e, s, c, Destination::Stdout, 0, false)),
    row("vprintf", 2, |e, s, c| formatted(e, s, c, Destination::Stdout, 0, true)),
    row("fprintf", 2, |e, s, c| formatted(e, s, c, Destination::Stream(0), 1, false)),
    row("vfprintf", 3, |e, s, c| formatted(e, s, c, Destination::Stream(0), 1, true)),
    row("dprintf", 2, |e, s, c| formatted(e, s, c, Destination::Descriptor(0), 1, false)),
    row("sprintf", 2, |e, s, c| formatted(e, s, c, Destination::Memory { at: 0, size: None }, 1, false)),
    row("vsprintf", 3, |e, s, c| formatted(e, s, c, Destination::Memory { at: 0, size: None }, 1, true)),
    row("snprintf", 3, |e, s, c| formatted(e, s, c, Destination::Memory { at: 0, size: Some(1) }, 2, false)),
    row("vsnprintf", 4, |e, s, c| formatted(e, s, c, Destination::Memory { at: 0, size: Some(1) }, 2, true)),
    row("puts", 1, puts),
    row("fputs", 2, fputs),
    row("putchar", 1, putchar),
    row("fputc", 2, fputc),
    row("putc", 2, fputc),
    row("fwrite", 4, fwrite),
    row("write", 3, write),
    row("perror", 1, |_, _, _| Ok(Returned::Nothing)),
    row("fflush", 1, |_, _, _| Ok(Returned::Value(Value::ZERO))),
];

/// Values of the pointers `stdin`, `stdout` and `stderr`: no object is there, so they are unique.
pub(in crate::exec::run) const STREAMS: [(&str, u64); 3] =
    [("stdin", 0x2000), ("stdout", 0x2010), ("stderr", 0x2020)];

/// Destination of the output; numbers are argument positions.
#[derive(Clone, Copy)]
enum Destination {
    Stdout,
    Stream(usize),
    Descriptor(usize),
    Memory { at: usize, size: Option<usize> },
}

/// Type of a conversion's argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentKind {
    Integer,
    Double,
    LongDouble,
}

/// Source of the values to print.
enum ArgumentSource<'a> {
    Arguments {
        values: &'a [Value],
    },
    /// A `va_list`: used bytes of general and vector registers, next argument on the stack, saved registers.
    List {
        gp: u64,
        fp: u64,
        stack: u64,
        registers: u64,
    },
}

/// How the program can observe the printed text.
#[derive(Clone, Copy)]
enum Observed<'a> {
    InMemory,
    /// If it uses the result of the call, the number of characters.
    ByLength(&'a CallSite<'a>),
}

impl Observed<'_> {
    fn is_on(self, machine: &Machine, state: &State) -> bool {
        match self {
            Observed::InMemory => true,
            Observed::ByLength(site) => {
                let function = &machine.program.functions[state.frame.func.index()];
                site.call.results > 0 && function.reads(site.call.first)
            }
        }
    }
}

/// Number that a value is printed as. Concretised if the program can observe it.
fn printed_value(
    machine: &mut Machine,
    state: &mut State,
    value: Value,
    width: u32,
    observed: Observed<'_>,
) -> Result<Bits, Outcome> {
    match value.expr() {
        None => Ok(Bits::word(width, value.word)),
        Some(e) if observed.is_on(machine, state) => {
            machine.decider.concretise_bits(state, e, width, "a value that is printed")
        }
        Some(e) => Ok(machine.decider.evaluate(state, e)),
    }
}

/// Reads a C string to be printed, at most `most` bytes.
fn text_at(
    machine: &mut Machine,
    state: &mut State,
    address: u64,
    most: usize,
    observed: Observed<'_>,
) -> Result<Vec<u8>, Outcome> {
    let mut text = Vec::new();
    while text.len() < most {
        let byte = machine.load(state, Value::number(address + text.len() as u64), 8)?;
        match printed_value(machine, state, byte, 8, observed)?.low() as u8 {
            0 => break,
            byte => text.push(byte),
        }
    }
    Ok(text)
}

impl ArgumentSource<'_> {
    fn next(
        &mut self,
        machine: &mut Machine,
        state: &mut State,
        kind: ArgumentKind,
        observed: Observed<'_>,
    ) -> Result<u128, Outcome> {
        let (address, words) = match self {
            ArgumentSource::Arguments { values } => {
                let Some((first, rest)) = values.split_first() else {
                    return Err(Outcome::bug(
                        crate::exec::outcome::Class::ModelError,
                        "a format with more conversions than arguments",
                    ));
                };
                *values = rest;
                let width = first.expr().map_or(64, |e| machine.graph().width(e));
                let bits = printed_value(machine, state, *first, width, observed)?;
                let high = bits.words().get(1).copied().unwrap_or(0);
                return Ok(u128::from(bits.low()) | u128::from(high) << 64);
            }
            ArgumentSource::List { gp, registers, .. } if kind == ArgumentKind::Integer && *gp < 48 => {
                *gp += 8;
                (*registers + *gp - 8, 1)
            }
            ArgumentSource::List { fp, registers, .. } if kind == ArgumentKind::Double && *fp < 176 => {
                *fp += 16;
                (*registers + *fp - 16, 1)
            }
            ArgumentSource::List { stack, .. } if kind == ArgumentKind::LongDouble => {
                *stack = stack.next_multiple_of(16) + 16;
                (*stack - 16, 2)
            }
            ArgumentSource::List { stack, .. } => {
                *stack += 8;
                (*stack - 8, 1)
            }
        };
        let mut result = 0;
        for i in 0..words {
            let value = machine.load(state, Value::number(address + 8 * i), 64)?;
            result |= u128::from(printed_value(machine, state, value, 64, observed)?.low()) << (64 * i);
        }
        Ok(result)
    }
}

fn emit(state: &mut State, text: &[u8]) {
    Arc::make_mut(&mut state.output).extend_from_slice(text);
}

fn formatted(
    machine: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    destination: Destination,
    format: usize,
    list: bool,
) -> ModelResult {
    let address = machine.argument(state, site, format)?;
    let format_text = machine.string_at(state, address)?;
    let source = if list {
        let list = machine.argument(state, site, format + 1)?;
        let mut field = |offset: u64, width: u32| {
            let value = machine.load(state, Value::number(list + offset), width)?;
            Ok(machine.decider.evaluate_word(state, value))
        };
        ArgumentSource::List {
            gp: field(0, 32)?,
            fp: field(4, 32)?,
            stack: field(8, 64)?,
            registers: field(16, 64)?,
        }
    } else {
        ArgumentSource::Arguments { values: &site.arguments[format + 1..] }
    };
    let observed = match destination {
        Destination::Memory { .. } => Observed::InMemory,
        Destination::Stdout | Destination::Stream(_) | Destination::Descriptor(_) => Observed::ByLength(site),
    };
    let text = format_with(machine, state, &format_text, source, observed)?;
    match destination {
        Destination::Stdout => emit(state, &text),
        Destination::Stream(i) => {
            if machine.argument(state, site, i)? == STREAMS[1].1 {
                emit(state, &text);
            }
        }
        Destination::Descriptor(i) => {
            if machine.argument(state, site, i)? == 1 {
                emit(state, &text);
            }
        }
        Destination::Memory { at, size } => {
            let to = machine.argument(state, site, at)?;
            let room = match size {
                Some(i) => machine.argument(state, site, i)?,
                None => u64::MAX,
            };
            if room > 0 {
                let kept = &text[..text.len().min(usize::try_from(room - 1).unwrap_or(usize::MAX))];
                for (i, &byte) in kept.iter().chain(&[0]).enumerate() {
                    machine.store(state, Value::number(to + i as u64), Value::number(byte.into()), 8)?;
                }
            }
        }
    }
    Ok(Returned::Value(Value::number(text.len() as u64 & 0xffff_ffff)))
}

#[derive(Default)]
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of an integer argument.
    bits: u32,
    long_double: bool,
}

fn format_with(
    machine: &mut Machine,
    state: &mut State,
    format: &[u8],
    mut source: ArgumentSource<'_>,
    observed: Observed<'_>,
) -> Result<Vec<u8>, Outcome> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&c) = format.get(at) {
        at += 1;
        if c != b'%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec { bits: 32, ..Spec::default() };
        while let Some(&flag) = format.get(at) {
            match flag {
                b'-' => spec.left = true,
                b'0' => spec.zero = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                _ => break,
            }
            at += 1;
        }
        if format.get(at) == Some(&b'*') {
            at += 1;
            let width = source.next(machine, state, ArgumentKind::Integer, observed)? as i32;
            spec.left |= width < 0;
            spec.width = width.unsigned_abs() as usize;
        } else {
            spec.width = number(format, &mut at);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            spec.precision = if format.get(at) == Some(&b'*') {
                at += 1;
                usize::try_from(source.next(machine, state, ArgumentKind::Integer, observed)? as i32).ok()
            } else {
                Some(number(format, &mut at))
            };
        }
        while let Some(&length) = format.get(at) {
            match length {
                b'h' => spec.bits = if spec.bits == 16 { 8 } else { 16 },
                b'l' | b'j' | b'z' | b't' | b'q' => spec.bits = 64,
                b'L' => spec.long_double = true,
                _ => break,
            }
            at += 1;
        }
        let Some(&kind) = format.get(at) else { break };
        at += 1;
        conversion(machine, state, &mut source, &spec, kind, observed, &mut out)?;
    }
    Ok(out)
}

fn number(format: &[u8], at: &mut usize) -> usize {
    let mut value = 0usize;
    while let Some(digit) = format.get(*at).filter(|c| c.is_ascii_digit()) {
        value = value.saturating_mul(10).saturating_add((digit - b'0').into()).min(1 << 20);
        *at += 1;
    }
    value
}

fn conversion(
    machine: &mut Machine,
    state: &mut State,
    source: &mut ArgumentSource<'_>,
    spec: &Spec,
    kind: u8,
    observed: Observed<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Outcome> {
    let mask = if spec.bits == 64 { u64::MAX } else { (1 << spec.bits) - 1 };
    match kind {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let word = source.next(machine, state, ArgumentKind::Integer, observed)? as u64 & mask;
            let value = crate::expr::bits::signed(spec.bits, word);
            let sign = match value {
                ..0 => "-",
                _ if spec.plus => "+",
                _ if spec.space => " ",
                _ => "",
            };
            integer(spec, sign, value.unsigned_abs().to_string(), out);
        }
        b'u' | b'x' | b'X' | b'o' => {
            let value = source.next(machine, state, ArgumentKind::Integer, observed)? as u64 & mask;
            let (prefix, digits) = match kind {
                b'u' => ("", value.to_string()),
                b'x' => (if spec.alternate && value != 0 { "0x" } else { "" }, format!("{value:x}")),
                b'X' => (if spec.alternate && value != 0 { "0X" } else { "" }, format!("{value:X}")),
                _ => (if spec.alternate && value != 0 { "0" } else { "" }, format!("{value:o}")),
            };
            integer(spec, prefix, digits, out);
        }
        b'p' => {
            let value = source.next(machine, state, ArgumentKind::Integer, observed)? as u64;
            integer(spec, "0x", format!("{value:x}"), out);
        }
        b'c' => {
            let byte = source.next(machine, state, ArgumentKind::Integer, observed)? as u8;
            padded(spec, &[byte], out);
        }
        b's' => {
            let address = source.next(machine, state, ArgumentKind::Integer, observed)? as u64;
            let most = spec.precision.unwrap_or(usize::MAX);
            let mut text = if address == 0 {
                b"(null)".to_vec()
            } else {
                text_at(machine, state, address, most, observed)?
            };
            text.truncate(most);
            padded(spec, &text, out);
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let long = spec.long_double;
            let bits = source.next(
                machine,
                state,
                if long { ArgumentKind::LongDouble } else { ArgumentKind::Double },
                observed,
            )?;
            let given = if long { FloatKind::X87 } else { FloatKind::Double };
            let value = f64::from_bits(soft::convert(given, FloatKind::Double, bits) as u64);
            let extended = soft::convert(given, FloatKind::X87, bits);
            let is_finite = extended >> 64 & 0x7fff != 0x7fff;
            let is_hexadecimal = kind.eq_ignore_ascii_case(&b'a') && is_finite;
            let text = if is_hexadecimal {
                hexadecimal(spec, kind, extended)
            } else {
                floating(spec, kind, value.abs())
            };
            let sign = if value.is_sign_negative() {
                "-"
            } else if spec.plus {
                "+"
            } else if spec.space {
                " "
            } else {
                ""
            };
            let prefix = match (is_hexadecimal, kind) {
                (true, b'a') => "0x",
                (true, _) => "0X",
                (false, _) => "",
            };
            let spec = Spec { precision: None, zero: spec.zero && is_finite, ..*spec };
            integer(&spec, &format!("{sign}{prefix}"), text, out);
        }
        other => {
            return Err(Outcome::unsupported(format!("the format `%{}` of printf", char::from(other))));
        }
    }
    Ok(())
}

/// Prints sign or prefix, then digits, padded by the flags.
fn integer(spec: &Spec, prefix: &str, digits: String, out: &mut Vec<u8>) {
    let least = spec.precision.unwrap_or(1);
    let digits = if spec.precision == Some(0) && digits == "0" { String::new() } else { digits };
    let mut zeros = least.saturating_sub(digits.len());
    if spec.zero && !spec.left && spec.precision.is_none() {
        zeros = zeros.max(spec.width.saturating_sub(prefix.len() + digits.len()));
    }
    padded(spec, format!("{prefix}{}{digits}", "0".repeat(zeros)).as_bytes(), out);
}

fn padded(spec: &Spec, text: &[u8], out: &mut Vec<u8>) {
    let padding = spec.width.saturating_sub(text.len());
    if !spec.left {
        out.extend(std::iter::repeat_n(b' ', padding));
    }
    out.extend_from_slice(text);
    if spec.left {
        out.extend(std::iter::repeat_n(b' ', padding));
    }
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

fn puts(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let mut text = machine.string_at(state, address)?;
    text.push(b'\n');
    emit(state, &text);
    Ok(Returned::Value(Value::number(1)))
}

fn fputs(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let text = machine.string_at(state, address)?;
    if machine.argument(state, site, 1)? == STREAMS[1].1 {
        emit(state, &text);
    }
    Ok(Returned::Value(Value::number(1)))
}

fn putchar(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let byte = machine.decider.evaluate_word(state, site.arguments[0]) as u8;
    emit(state, &[byte]);
    Ok(Returned::Value(Value::number(byte.into())))
}

fn fputc(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let byte = machine.decider.evaluate_word(state, site.arguments[0]) as u8;
    if machine.argument(state, site, 1)? == STREAMS[1].1 {
        emit(state, &[byte]);
    }
    Ok(Returned::Value(Value::number(byte.into())))
}

pub(super) fn bytes(
    machine: &mut Machine,
    state: &mut State,
    address: u64,
    count: u64,
) -> Result<Vec<u8>, Outcome> {
    let mut text = Vec::new();
    for i in 0..count {
        let byte = machine.load(state, Value::number(address + i), 8)?;
        text.push(machine.decider.evaluate_word(state, byte) as u8);
    }
    Ok(text)
}

fn fwrite(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let [address, size, count, stream] = [0, 1, 2, 3].map(|i| machine.argument(state, site, i));
    let (size, count) = (size?, count?);
    let text = bytes(machine, state, address?, size.saturating_mul(count))?;
    if stream? == STREAMS[1].1 {
        emit(state, &text);
    }
    Ok(Returned::Value(Value::number(count)))
}

fn write(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let [descriptor, address, count] = [0, 1, 2].map(|i| machine.argument(state, site, i));
    let count = count?;
    let text = bytes(machine, state, address?, count)?;
    if descriptor? == 1 {
        emit(state, &text);
    }
    Ok(Returned::Value(Value::number(count)))
}
