//! Floating numbers from text: concretely, and rounded correctly. Symbolic characters are bound to what the model has.
use super::{Answer, Reply, Row, Site, row};
use crate::exec::Engine;
use crate::exec::outcome::Outcome;
use crate::exec::state::State;
use crate::exec::value::Value;

pub(super) const MODELS: &[Row] = &[
    row("strtod", 2, |e, s, c| convert(e, s, c, 64)),
    row("strtof", 2, |e, s, c| convert(e, s, c, 32)),
    row("atof", 1, |e, s, c| convert(e, s, c, 64)),
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

    fn digits(&mut self, engine: &mut Engine, state: &mut State, mut i: usize) -> Result<usize, Outcome> {
        while self.at(engine, state, i)?.is_ascii_digit() {
            i += 1;
        }
        Ok(i)
    }
}

fn convert(engine: &mut Engine, state: &mut State, site: &Site<'_>, width: u32) -> Answer {
    let address = engine.argument(state, site, 0)?;
    let mut text = Reader { address, known: Vec::new() };
    let mut start = 0;
    while matches!(text.at(engine, state, start)?, b' ' | b'\t'..=b'\r') {
        start += 1;
    }
    let sign = matches!(text.at(engine, state, start)?, b'+' | b'-');
    let body = start + usize::from(sign);
    let (end, range) = scan(&mut text, engine, state, body)?;
    let spelled =
        String::from_utf8_lossy(&text.known[if end == body { 0..0 } else { start..end }]).into_owned();
    let (word, out_of_range) = match width {
        32 => {
            let value: f32 = spelled.parse().unwrap_or(0.0);
            (u64::from(value.to_bits()), value.is_infinite() || value.is_subnormal() || value == 0.0)
        }
        _ => {
            let value: f64 = spelled.parse().unwrap_or(0.0);
            (value.to_bits(), value.is_infinite() || value.is_subnormal() || value == 0.0)
        }
    };
    if range && out_of_range {
        engine.set_errno(state, ERANGE)?;
    }
    if let Some(&to) = site.arguments.get(1) {
        let to = engine.each_value(state, to, 64, "where the end of a number goes")?;
        if to != 0 {
            let at = if end == body { address } else { address + end as u64 };
            engine.store(state, Value::number(to), Value::number(at), 64)?;
        }
    }
    Ok(Reply::Value(Value::number(word)))
}

/// The end of the number that starts at `body` (there if there is none), and whether it is out of range where its value
/// is zero, denormal or infinite.
fn scan(
    text: &mut Reader,
    engine: &mut Engine,
    state: &mut State,
    body: usize,
) -> Result<(usize, bool), Outcome> {
    for word in [&b"infinity"[..], b"inf", b"nan"] {
        if text.has(engine, state, body, word)? {
            return Ok((body + word.len(), false));
        }
    }
    if text.has(engine, state, body, b"0x")? && text.at(engine, state, body + 2)?.is_ascii_hexdigit() {
        return Err(Outcome::unsupported("a hexadecimal floating number that is read from text"));
    }
    let whole = text.digits(engine, state, body)?;
    let mut end = whole;
    let mut some = whole > body;
    if text.at(engine, state, whole)? == b'.' {
        let fraction = text.digits(engine, state, whole + 1)?;
        if some || fraction > whole + 1 {
            (end, some) = (fraction, true);
        }
    }
    if !some {
        return Ok((body, false));
    }
    let mantissa = body..end;
    if text.at(engine, state, end)?.eq_ignore_ascii_case(&b'e') {
        let sign = matches!(text.at(engine, state, end + 1)?, b'+' | b'-');
        let digits = end + 1 + usize::from(sign);
        let last = text.digits(engine, state, digits)?;
        if last > digits {
            end = last;
        }
    }
    let is_zero = text.known[mantissa].iter().all(|c| matches!(c, b'0' | b'.'));
    Ok((end, !is_zero))
}
