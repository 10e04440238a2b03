//! Conversion of text to floating-point numbers, correctly rounded. Symbolic characters are concretised.
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::Outcome;
use crate::exec::run::Machine;
use crate::exec::run::step::soft;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Bits;
use crate::program::FloatKind;

pub(super) const MODELS: &[ModelRow] = &[
    row("strtod", 2, |e, s, c| convert(e, s, c, FloatKind::Double)),
    row("strtof", 2, |e, s, c| convert(e, s, c, FloatKind::Single)),
    row("strtold", 2, |e, s, c| convert(e, s, c, FloatKind::X87)),
    row("atof", 1, |e, s, c| convert(e, s, c, FloatKind::Double)),
];

const ERANGE: u64 = 34;

/// Characters of a string, each read and concretised once.
struct TextReader {
    address: u64,
    known: Vec<u8>,
}

impl TextReader {
    fn at(&mut self, machine: &mut Machine, state: &mut State, i: usize) -> Result<u8, Outcome> {
        while self.known.len() <= i {
            let address = Value::number(self.address + self.known.len() as u64);
            let byte = machine.load(state, address, 8)?;
            let byte = machine.decider.concretise(state, byte, 8, "a character of a number")?;
            self.known.push(byte as u8);
        }
        Ok(self.known[i])
    }

    /// Are these letters at `i`, in either case?
    fn has(
        &mut self,
        machine: &mut Machine,
        state: &mut State,
        i: usize,
        word: &[u8],
    ) -> Result<bool, Outcome> {
        for (k, letter) in word.iter().enumerate() {
            if !self.at(machine, state, i + k)?.eq_ignore_ascii_case(letter) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn digits(
        &mut self,
        machine: &mut Machine,
        state: &mut State,
        mut i: usize,
        is_digit: fn(&u8) -> bool,
    ) -> Result<usize, Outcome> {
        while is_digit(&self.at(machine, state, i)?) {
            i += 1;
        }
        Ok(i)
    }
}

fn convert(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, kind: FloatKind) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let mut text = TextReader { address, known: Vec::new() };
    let mut start = 0;
    while matches!(text.at(machine, state, start)?, b' ' | b'\t'..=b'\r') {
        start += 1;
    }
    let sign = matches!(text.at(machine, state, start)?, b'+' | b'-');
    let body = start + usize::from(sign);
    let end = scan(&mut text, machine, state, body)?;
    let spelled = if end == body { &b"0"[..] } else { &text.known[body..end] };
    let negative = end > body && text.known[start] == b'-';
    let (bits, out_of_range) = soft::parse(kind, &String::from_utf8_lossy(spelled), negative);
    if out_of_range {
        machine.set_errno(state, ERANGE)?;
    }
    if let Some(&to) = site.arguments.get(1) {
        let to = machine.decider.fork_on_value(state, to, 64, "the end pointer of a conversion")?;
        if to != 0 {
            let at = if end == body { address } else { address + end as u64 };
            machine.store(state, Value::number(to), Value::number(at), 64)?;
        }
    }
    let graph = machine.graph();
    let bits = graph.constant(Bits::from_words(kind.width(), &[bits as u64, (bits >> 64) as u64]));
    Ok(Returned::Value(Value::of(graph, bits)))
}

/// End of the number that starts at `body`; `body` if there is none.
fn scan(
    text: &mut TextReader,
    machine: &mut Machine,
    state: &mut State,
    body: usize,
) -> Result<usize, Outcome> {
    for word in [&b"infinity"[..], b"inf", b"nan"] {
        if text.has(machine, state, body, word)? {
            return Ok(body + word.len());
        }
    }
    if text.has(machine, state, body, b"0x")? {
        let end = scan_digits(text, machine, state, body + 2, u8::is_ascii_hexdigit, b'p')?;
        // Without a digit after the `x` the number is `0`.
        return Ok(if end > body + 2 { end } else { body + 1 });
    }
    scan_digits(text, machine, state, body, u8::is_ascii_digit, b'e')
}

/// Digits with at most one point, then an optional decimal exponent.
fn scan_digits(
    text: &mut TextReader,
    machine: &mut Machine,
    state: &mut State,
    body: usize,
    is_digit: fn(&u8) -> bool,
    mark: u8,
) -> Result<usize, Outcome> {
    let whole = text.digits(machine, state, body, is_digit)?;
    let mut end = whole;
    let mut some = whole > body;
    if text.at(machine, state, whole)? == b'.' {
        let fraction = text.digits(machine, state, whole + 1, is_digit)?;
        if some || fraction > whole + 1 {
            (end, some) = (fraction, true);
        }
    }
    if !some {
        return Ok(body);
    }
    if text.at(machine, state, end)?.eq_ignore_ascii_case(&mark) {
        let sign = matches!(text.at(machine, state, end + 1)?, b'+' | b'-');
        let digits = end + 1 + usize::from(sign);
        let last = text.digits(machine, state, digits, u8::is_ascii_digit)?;
        if last > digits {
            end = last;
        }
    }
    Ok(end)
}
