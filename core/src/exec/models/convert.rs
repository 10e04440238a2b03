//! Floating numbers from text: concretely, and rounded correctly. Symbolic characters are bound to what the model has.
use super::{Answer, Reply, Row, Site, row};
use crate::exec::Engine;
use crate::exec::outcome::Outcome;
use crate::exec::state::State;
use crate::exec::step::soft;
use crate::exec::value::Value;
use crate::expr::Bits;
use crate::program::FloatKind;

pub(super) const MODELS: &[Row] = &[
    row("strtod", 2, |e, s, c| convert(e, s, c, FloatKind::Double)),
    row("strtof", 2, |e, s, c| convert(e, s, c, FloatKind::Single)),
    row("strtold", 2, |e, s, c| convert(e, s, c, FloatKind::X87)),
    row("atof", 1, |e, s, c| convert(e, s, c, FloatKind::Double)),
];

const ERANGE: u64 = 34;

/// Characters of a string, each read and bound once.
struct Reader {
    address: u64,
    known: Vec<u8>,
}

impl Reader {
    fn at(&mut self, engine: &mut Engine, state: &mut State, i: usize) -> Result<u8, Outcome> {
        while self.known.len() <= i {
            let address = Value::number(self.address + self.known.len() as u64);
            let byte = engine.load(state, address, 8)?;
            let byte = engine.concretize(state, byte, 8, "a number that is read from text")?;
            self.known.push(byte as u8);
        }
        Ok(self.known[i])
    }

    /// Do these letters stand at `i`, in either case?
    fn has(
        &mut self,
        engine: &mut Engine,
        state: &mut State,
        i: usize,
        word: &[u8],
    ) -> Result<bool, Outcome> {
        for (k, letter) in word.iter().enumerate() {
            if !self.at(engine, state, i + k)?.eq_ignore_ascii_case(letter) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn digits(
        &mut self,
        engine: &mut Engine,
        state: &mut State,
        mut i: usize,
        is_digit: fn(&u8) -> bool,
    ) -> Result<usize, Outcome> {
        while is_digit(&self.at(engine, state, i)?) {
            i += 1;
        }
        Ok(i)
    }
}

fn convert(engine: &mut Engine, state: &mut State, site: &Site<'_>, kind: FloatKind) -> Answer {
    let address = engine.argument(state, site, 0)?;
    let mut text = Reader { address, known: Vec::new() };
    let mut start = 0;
    while matches!(text.at(engine, state, start)?, b' ' | b'\t'..=b'\r') {
        start += 1;
    }
    let sign = matches!(text.at(engine, state, start)?, b'+' | b'-');
    let body = start + usize::from(sign);
    let end = scan(&mut text, engine, state, body)?;
    let spelled = if end == body { &b"0"[..] } else { &text.known[body..end] };
    let negative = end > body && text.known[start] == b'-';
    let (bits, out_of_range) = soft::parse(kind, &String::from_utf8_lossy(spelled), negative);
    if out_of_range {
        engine.set_errno(state, ERANGE)?;
    }
    if let Some(&to) = site.arguments.get(1) {
        let to = engine.each_value(state, to, 64, "where the end of a number goes")?;
        if to != 0 {
            let at = if end == body { address } else { address + end as u64 };
            engine.store(state, Value::number(to), Value::number(at), 64)?;
        }
    }
    let graph = &mut engine.solver.graph;
    let bits = graph.constant(Bits::from_words(kind.width(), &[bits as u64, (bits >> 64) as u64]));
    Ok(Reply::Value(Value::of(graph, bits)))
}

/// The end of the number that starts at `body`: there if there is none.
fn scan(text: &mut Reader, engine: &mut Engine, state: &mut State, body: usize) -> Result<usize, Outcome> {
    for word in [&b"infinity"[..], b"inf", b"nan"] {
        if text.has(engine, state, body, word)? {
            return Ok(body + word.len());
        }
    }
    if text.has(engine, state, body, b"0x")? {
        let end = scan_digits(text, engine, state, body + 2, u8::is_ascii_hexdigit, b'p')?;
        // `0` alone is one where no digit follows the `x`.
        return Ok(if end > body + 2 { end } else { body + 1 });
    }
    scan_digits(text, engine, state, body, u8::is_ascii_digit, b'e')
}

/// Digits with at most one point among them, then perhaps an exponent, which is decimal.
fn scan_digits(
    text: &mut Reader,
    engine: &mut Engine,
    state: &mut State,
    body: usize,
    is_digit: fn(&u8) -> bool,
    mark: u8,
) -> Result<usize, Outcome> {
    let whole = text.digits(engine, state, body, is_digit)?;
    let mut end = whole;
    let mut some = whole > body;
    if text.at(engine, state, whole)? == b'.' {
        let fraction = text.digits(engine, state, whole + 1, is_digit)?;
        if some || fraction > whole + 1 {
            (end, some) = (fraction, true);
        }
    }
    if !some {
        return Ok(body);
    }
    if text.at(engine, state, end)?.eq_ignore_ascii_case(&mark) {
        let sign = matches!(text.at(engine, state, end + 1)?, b'+' | b'-');
        let digits = end + 1 + usize::from(sign);
        let last = text.digits(engine, state, digits, u8::is_ascii_digit)?;
        if last > digits {
            end = last;
        }
    }
    Ok(end)
}
