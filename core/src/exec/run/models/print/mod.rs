//! Output functions, with musl's results. Standard output is kept with the path; of other output only bytes that were
//! never written are noticed.
//!
//! Text that the program cannot observe (standard output, with a result that is not used) does not fork: symbolic
//! parts stay symbolic until the path ends. Text that it can observe, in memory or by its length, has its symbolic
//! bytes as expressions, and forks over the lengths of its parts. Numbers in floating point are bound to one value and
//! counted. Nothing is changed before the last fork: a forked state executes the call again.
mod arguments;
mod float;
mod format;
mod number;
mod piece;

use super::Treatment::{Exact, Forks, Unsupported};
use super::text::{Byte, Text};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::access::{Access, access_fault};
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::value::Value;
use crate::expr::{Bits, Expr};
use arguments::Arguments;
use format::{Item, Parsed};
use piece::{Datum, MAX_TEXT, Piece};
use std::sync::Arc;

pub(super) const MODELS: &[ModelRow] = &[
    row("printf", 1, Unsupported, |e, s, c| formatted(e, s, c, Destination::Stdout, 0, false)),
    row("vprintf", 2, Unsupported, |e, s, c| formatted(e, s, c, Destination::Stdout, 0, true)),
    row("fprintf", 2, Unsupported, |e, s, c| formatted(e, s, c, Destination::Stream(0), 1, false)),
    row("vfprintf", 3, Unsupported, |e, s, c| formatted(e, s, c, Destination::Stream(0), 1, true)),
    row("dprintf", 2, Unsupported, |e, s, c| formatted(e, s, c, Destination::Descriptor(0), 1, false)),
    row("vdprintf", 3, Unsupported, |e, s, c| formatted(e, s, c, Destination::Descriptor(0), 1, true)),
    row("sprintf", 2, Unsupported, |e, s, c| {
        formatted(e, s, c, Destination::Memory { size: None }, 1, false)
    }),
    row("vsprintf", 3, Unsupported, |e, s, c| {
        formatted(e, s, c, Destination::Memory { size: None }, 1, true)
    }),
    row("snprintf", 3, Unsupported, |e, s, c| {
        formatted(e, s, c, Destination::Memory { size: Some(1) }, 2, false)
    }),
    row("vsnprintf", 4, Unsupported, |e, s, c| {
        formatted(e, s, c, Destination::Memory { size: Some(1) }, 2, true)
    }),
    row("puts", 1, Exact, puts),
    row("fputs", 2, Forks, fputs),
    row("putchar", 1, Exact, |e, s, c| put_byte(e, s, c, None)),
    row("fputc", 2, Forks, |e, s, c| put_byte(e, s, c, Some(1))),
    row("putc", 2, Forks, |e, s, c| put_byte(e, s, c, Some(1))),
    row("fwrite", 4, Forks, fwrite),
    row("write", 3, Forks, write),
    row("perror", 1, Exact, perror),
    row("fflush", 1, Forks, fflush),
];

/// Values of the pointers `stdin`, `stdout` and `stderr`: no object is there, so they are unique.
pub(in crate::exec::run) const STREAMS: [(&str, u64); 3] =
    [("stdin", 0x2000), ("stdout", 0x2010), ("stderr", 0x2020)];

const EBADF: u64 = 9;
/// -1 as `int`.
const FAILED: u64 = 0xffff_ffff;

/// Destination of the output; numbers are argument positions.
#[derive(Clone, Copy)]
enum Destination {
    Stdout,
    Stream(usize),
    Descriptor(usize),
    /// The first argument.
    Memory {
        size: Option<usize>,
    },
}

/// Where the output of a call goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sink {
    Stdout,
    /// Standard error: the text is not kept.
    Dropped,
    /// Output is not possible there.
    Closed,
}

/// The stream of an argument. An address that is no stream is a bug.
fn stream(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, i: usize) -> Result<Sink, Outcome> {
    let address = machine.argument(state, site, i)?;
    match STREAMS.iter().position(|stream| stream.1 == address) {
        Some(0) => Ok(Sink::Closed),
        Some(1) => Ok(Sink::Stdout),
        Some(_) => Ok(Sink::Dropped),
        None => Err(access_fault(state, address, 1, Access::Read)),
    }
}

/// The file descriptor of an argument. Only the three standard ones are open, and standard input cannot be written to.
fn descriptor(
    machine: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    i: usize,
) -> Result<Sink, Outcome> {
    let width = site.call.args[i].width;
    let number = site.arguments[i].to_bits(machine.graph(), width);
    let graph = machine.graph();
    let (one, two) = (graph.word(width, 1), graph.word(width, 2));
    let (is_output, is_error) = (graph.eq(number, one), graph.eq(number, two));
    Ok(if machine.decider.decide(state, is_output) {
        Sink::Stdout
    } else if machine.decider.decide(state, is_error) {
        Sink::Dropped
    } else {
        Sink::Closed
    })
}

/// Does the program use the result of the call?
fn uses_result(machine: &Machine, state: &State, site: &CallSite<'_>) -> bool {
    let function = &machine.program.functions[state.frame.func.index()];
    site.call.results > 0 && function.reads(site.call.first)
}

/// Bytes of a string, at most `most`, and at most `limit` of 32 bits, which forks. If its length is observed, other states take the other lengths, and there is no
/// zero among the bytes. Otherwise it ends at the first zero among them. Errors: it does not end in its object.
fn string(
    machine: &mut Machine,
    state: &mut State,
    address: u64,
    most: u64,
    limit: Option<Expr>,
    is_observed: bool,
) -> Result<Vec<Datum>, Outcome> {
    let mut bytes = Vec::new();
    let ends_at = |machine: &mut Machine, state: &mut State, at: u64| {
        limit.is_some_and(|limit| {
            let graph = machine.graph();
            let here = graph.word(32, at);
            let is_here = graph.eq(limit, here);
            machine.decider.decide(state, is_here)
        })
    };
    if most == 0 || ends_at(machine, state, 0) {
        return Ok(bytes);
    }
    let text = Text::of(machine, state, Value::number(address), 1, "the address of a printed string")?;
    let mut ended = machine.graph().boolean(false);
    for at in 0..most {
        if at > 0 && ends_at(machine, state, at) {
            break;
        }
        if at == text.size() {
            let fault = text.fault(state, at);
            machine.decider.require(state, ended, fault)?;
            break;
        }
        if at as usize == MAX_TEXT {
            return Err(Outcome::unsupported(format::too_long()));
        }
        let (e, may_be_zero) = match text.byte(machine, state, at) {
            Byte::Number(0) => break,
            Byte::Number(byte) => {
                bytes.push(Datum::of_byte(byte));
                continue;
            }
            Byte::Symbolic { e, may_be_zero } => (e, may_be_zero),
        };
        if may_be_zero {
            let graph = machine.graph();
            let zero = graph.word(8, 0);
            let is_zero = graph.eq(e, zero);
            if is_observed {
                if machine.decider.decide(state, is_zero) {
                    break;
                }
            } else {
                ended = graph.or(ended, is_zero);
            }
        }
        bytes.push(Datum::Symbolic(e));
    }
    Ok(bytes)
}

/// Text of a piece; other states take the other lengths. A number in floating point is concretised.
fn fixed_text(machine: &mut Machine, state: &mut State, piece: &Piece) -> Result<Vec<Datum>, Outcome> {
    match piece {
        &Piece::Integer { ref spec, notation, value: Datum::Symbolic(e) } => {
            Ok(number::symbolic_text(machine, state, spec, notation, e))
        }
        &Piece::Float { spec, kind, long, value: Datum::Symbolic(e) } => {
            let width = machine.graph().width(e);
            let bits = machine.decider.concretise_bits(
                state,
                e,
                width,
                "a floating-point number that is printed",
            )?;
            float::text(&spec, kind, long, piece::number(&bits))
        }
        // `string` has found its end.
        Piece::Text { spec, bytes } => Ok(spec.padded(bytes.clone())),
        piece => Ok(piece.known_text()?.expect("its values are numbers")),
    }
}

fn value(datum: Datum) -> Value {
    match datum {
        Datum::Number(number) => Value::number(number as u64),
        Datum::Symbolic(e) => Value { word: e.to_word(), symbolic: true },
    }
}

/// A character or value that is printed, without placeholders.
fn defined(machine: &mut Machine, state: &mut State, datum: Datum) -> Datum {
    match datum {
        Datum::Number(_) => datum,
        Datum::Symbolic(e) => {
            let e = machine.decider.defined(state, e, "output");
            machine
                .decider
                .graph()
                .const_word(e)
                .map_or(Datum::Symbolic(e), |word| Datum::Number(word.into()))
        }
    }
}

/// Writes text: appends it to standard output, or only looks for bytes that were never written.
fn emit(machine: &mut Machine, state: &mut State, sink: Sink, text: &[Datum]) {
    for datum in text {
        let datum = defined(machine, state, *datum);
        if sink != Sink::Stdout {
            continue;
        }
        let output = Arc::make_mut(&mut state.output);
        match datum {
            Datum::Number(byte) => output.extend_from_slice(&[byte as u8]),
            Datum::Symbolic(e) => output.push_symbolic(e),
        }
    }
}

/// Expressions that the text of a piece depends on, in order and without placeholders. A character of a string counts
/// only if none before it ends the string.
fn printed_values(machine: &mut Machine, state: &mut State, piece: &Piece) -> Arc<[Expr]> {
    let is_text = matches!(piece, Piece::Text { .. });
    let mut goes_on = machine.graph().boolean(true);
    let mut values = Vec::new();
    for e in piece.values() {
        let graph = machine.graph();
        let printed = if is_text && graph.has_placeholders() {
            let zero = graph.constant(Bits::zero(graph.width(e)));
            graph.ite(goes_on, e, zero)
        } else {
            e
        };
        let value = machine.decider.defined(state, printed, "output");
        if is_text {
            let graph = machine.graph();
            let zero = graph.constant(Bits::zero(graph.width(value)));
            let follows = graph.ne(value, zero);
            goes_on = graph.and(goes_on, follows);
        }
        values.push(value);
    }
    values.into()
}

/// As `emit`, of pieces. The lengths of symbolic ones are known when the path ends.
fn emit_pieces(
    machine: &mut Machine,
    state: &mut State,
    sink: Sink,
    pieces: Vec<Piece>,
) -> Result<(), Outcome> {
    for piece in pieces {
        match piece.known_text()? {
            Some(text) => emit(machine, state, sink, &text),
            None => {
                let values = printed_values(machine, state, &piece);
                if sink != Sink::Stdout {
                    continue;
                }
                let render = move |values: &[Bits]| {
                    let text = piece.clone().with_values(&mut values.iter()).known_text();
                    let text = text.ok().flatten().expect("all values are known, and doubles can be printed");
                    let byte = |datum: Datum| match datum {
                        Datum::Number(byte) => byte as u8,
                        Datum::Symbolic(_) => unreachable!("all values are known"),
                    };
                    text.into_iter().map(byte).collect()
                };
                Arc::make_mut(&mut state.output).push_text(values, Arc::new(render));
            }
        }
    }
    Ok(())
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
    let mut arguments = match list {
        true => {
            let list = machine.argument(state, site, format + 1)?;
            Arguments::of_list(machine, state, list)?
        }
        false => Arguments::of_call(machine, site, format + 1),
    };
    let sink = match destination {
        Destination::Stdout => Sink::Stdout,
        Destination::Stream(i) => stream(machine, state, site, i)?,
        Destination::Descriptor(i) => descriptor(machine, state, site, i)?,
        Destination::Memory { .. } => Sink::Dropped,
    };
    let Parsed { items, length, failure } = format::parse(machine, state, address, &mut arguments)?;
    if sink == Sink::Closed {
        if let Destination::Descriptor(_) = destination {
            machine.set_errno(state, EBADF)?;
        }
        return Ok(Returned::Value(Value::number(FAILED)));
    }
    let in_memory = matches!(destination, Destination::Memory { .. });
    let is_observed = in_memory
        || uses_result(machine, state, site)
        || items.iter().any(|item| matches!(item, Item::Count { .. }));
    if !is_observed {
        let pieces = unobserved(machine, state, items)?;
        emit_pieces(machine, state, sink, pieces)?;
        return result(machine, state, 0, failure);
    }
    let Observed { text, counts, mut read } = observed(machine, state, items)?;
    let kept = match destination {
        Destination::Memory { size } => Some(memory(machine, state, site, size, text.len())?),
        Destination::Stdout | Destination::Stream(_) | Destination::Descriptor(_) => None,
    };
    if let Some((to, Some(kept))) = kept {
        read.push((address, length));
        check_overlap(to, kept as u64 + 1, &read)?;
    }
    for (address, bits, count) in counts {
        machine.store(state, Value::number(address), Value::number(count as u64), bits)?;
    }
    if let Some((to, Some(kept))) = kept {
        for (i, &datum) in text[..kept].iter().chain(&[Datum::Number(0)]).enumerate() {
            machine.store(state, Value::number(to.wrapping_add(i as u64)), value(datum), 8)?;
        }
    }
    if !in_memory {
        emit(machine, state, sink, &text);
    }
    result(machine, state, text.len(), failure)
}

/// Text that is written over one of the strings it is made of is a bug. Strings are addresses and numbers of bytes.
fn check_overlap(to: u64, count: u64, read: &[(u64, u64)]) -> Result<(), Outcome> {
    let is_hit = |&(from, length): &(u64, u64)| {
        length > 0 && to < from.saturating_add(length) && from < to.saturating_add(count)
    };
    if read.iter().any(is_hit) {
        return Err(Outcome::bug(Class::Overlap, "text is printed over a string that it is made of"));
    }
    Ok(())
}

/// The result of printf: the number of characters, or -1 with `errno`.
fn result(machine: &mut Machine, state: &mut State, count: usize, failure: Option<u64>) -> ModelResult {
    match failure {
        None => Ok(Returned::Value(Value::number(count as u64))),
        Some(errno) => {
            machine.set_errno(state, errno)?;
            Ok(Returned::Value(Value::number(FAILED)))
        }
    }
}

/// Bytes of the text of a `%s`.
fn text_of(
    machine: &mut Machine,
    state: &mut State,
    spec: &piece::Spec,
    address: u64,
    limit: Option<Expr>,
    is_observed: bool,
) -> Result<Vec<Datum>, Outcome> {
    let most = spec.precision.map_or(u64::MAX, |precision| precision as u64);
    if address != 0 {
        return string(machine, state, address, most, limit, is_observed);
    }
    let most = match limit {
        None => most,
        Some(e) => {
            let value = Value::of(machine.decider.graph(), e);
            machine.decider.fork_on_value(state, value, 32, "the precision of a conversion")?
        }
    };
    Ok(b"(null)".iter().take(most as usize).map(|&byte| Datum::of_byte(byte)).collect())
}

fn unobserved(machine: &mut Machine, state: &mut State, items: Vec<Item>) -> Result<Vec<Piece>, Outcome> {
    let mut pieces = Vec::new();
    for item in items {
        pieces.push(match item {
            // Not every long double can be printed: it is bound to a number that is known now.
            Item::Piece(piece @ Piece::Float { long: true, .. }) => {
                Piece::Bytes(fixed_text(machine, state, &piece)?)
            }
            Item::Piece(piece) => piece,
            Item::Text { spec, address, limit } => {
                Piece::Text { spec, bytes: text_of(machine, state, &spec, address, limit, false)? }
            }
            Item::Count { .. } => unreachable!("the program observes the count"),
        });
    }
    Ok(pieces)
}

struct Observed {
    text: Vec<Datum>,
    /// Address, bits and value of each `%n`.
    counts: Vec<(u64, u32, usize)>,
    /// Address and number of bytes of each string.
    read: Vec<(u64, u64)>,
}

fn observed(machine: &mut Machine, state: &mut State, items: Vec<Item>) -> Result<Observed, Outcome> {
    let mut text: Vec<Datum> = Vec::new();
    let mut counts: Vec<(u64, u32, usize)> = Vec::new();
    let mut read: Vec<(u64, u64)> = Vec::new();
    for item in items {
        match item {
            Item::Piece(piece) => text.extend(fixed_text(machine, state, &piece)?),
            Item::Text { spec, address, limit } => {
                // Counts are stored at the end, where no state executes the call again.
                let object = ObjectId::of_address(address);
                if object.is_some() && counts.iter().any(|&(to, ..)| ObjectId::of_address(to) == object) {
                    return Err(Outcome::unsupported("printf of a string that `%n` may have changed"));
                }
                let bytes = text_of(machine, state, &spec, address, limit, true)?;
                if address != 0 {
                    // The zero at its end is not read where a precision ends the string.
                    let is_cut = limit.is_some() || spec.precision == Some(bytes.len());
                    read.push((address, bytes.len() as u64 + u64::from(!is_cut)));
                }
                text.extend(fixed_text(machine, state, &Piece::Text { spec, bytes })?);
            }
            Item::Count { bits: 0, .. } => {}
            Item::Count { address, bits } => {
                machine.object_at(state, address, u64::from(bits / 8), Access::Write)?;
                counts.push((address, bits, text.len()));
            }
        }
        if text.len() > MAX_TEXT {
            return Err(Outcome::unsupported(format::too_long()));
        }
    }
    Ok(Observed { text, counts, read })
}

/// Address of the text in memory, and the number of characters that fit before its end; none for a size of 0.
fn memory(
    machine: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    size: Option<usize>,
    length: usize,
) -> Result<(u64, Option<usize>), Outcome> {
    let to = machine.argument(state, site, 0)?;
    let Some(i) = size else { return Ok((to, Some(length))) };
    if let Some(e) = site.arguments[i].expr() {
        // Sizes with room for all of the text are one side.
        let graph = machine.graph();
        let length_word = graph.word(64, length as u64);
        let fits = graph.ult(length_word, e);
        if machine.decider.decide(state, fits) {
            return Ok((to, Some(length)));
        }
    }
    let room = machine.argument(state, site, i)?;
    let most = room.checked_sub(1);
    Ok((to, most.map(|most| length.min(usize::try_from(most).unwrap_or(usize::MAX)))))
}

/// Prints a string, and then `end`.
fn put_string(
    machine: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    sink: Sink,
    end: &[u8],
) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    let bytes = string(machine, state, address, u64::MAX, None, false)?;
    let is_empty = bytes.is_empty();
    match sink {
        Sink::Stdout | Sink::Dropped => {
            let end = end.iter().map(|&byte| Datum::of_byte(byte)).collect();
            emit_pieces(machine, state, sink, vec![Piece::plain(bytes), Piece::Bytes(end)])?;
        }
        // musl writes no characters successfully to any stream.
        Sink::Closed if is_empty => {}
        Sink::Closed => return closed_string(machine, state, &bytes),
    }
    Ok(Returned::Value(Value::ZERO))
}

/// Result of writing a string to a stream that cannot be written to: an empty string is written successfully.
fn closed_string(machine: &mut Machine, state: &mut State, bytes: &[Datum]) -> ModelResult {
    let result = match bytes.first() {
        Some(&Datum::Symbolic(e)) => {
            let graph = machine.graph();
            let zero = graph.word(8, 0);
            let is_empty = graph.eq(e, zero);
            if machine.decider.decide(state, is_empty) { 0 } else { FAILED }
        }
        Some(Datum::Number(_)) => FAILED,
        None => 0,
    };
    Ok(Returned::Value(Value::number(result)))
}

fn puts(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    put_string(machine, state, site, Sink::Stdout, b"\n")
}

fn fputs(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let sink = stream(machine, state, site, 1)?;
    put_string(machine, state, site, sink, b"")
}

fn put_byte(
    machine: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    file: Option<usize>,
) -> ModelResult {
    let sink = file.map_or(Ok(Sink::Stdout), |i| stream(machine, state, site, i))?;
    if sink == Sink::Closed {
        return Ok(Returned::Value(Value::number(FAILED)));
    }
    let byte = machine.low_byte(site.arguments[0], site.call.args[0].width);
    let graph = machine.graph();
    let bits = byte.to_bits(graph, 8);
    let result = graph.zext(bits, 32);
    let result = Value::of(graph, result);
    let byte = Datum::of(graph, bits);
    emit(machine, state, sink, &[byte]);
    Ok(Returned::Value(result))
}

/// Bytes at an address.
fn bytes(machine: &mut Machine, state: &mut State, address: u64, count: u64) -> Result<Vec<Datum>, Outcome> {
    let mut text = Vec::new();
    if count > 0 {
        machine.object_at(state, address, count, Access::Read)?;
    }
    for i in 0..count {
        let byte = machine.load(state, Value::number(address + i), 8)?;
        text.push(match byte.expr() {
            None => Datum::Number(byte.word.into()),
            Some(e) => Datum::Symbolic(e),
        });
    }
    Ok(text)
}

/// Bytes at an address, for the outside: symbolic ones are concretised.
pub(super) fn concrete_bytes(
    machine: &mut Machine,
    state: &mut State,
    address: u64,
    count: u64,
) -> Result<Vec<u8>, Outcome> {
    let mut text = Vec::new();
    for datum in bytes(machine, state, address, count)? {
        let byte = value(datum);
        text.push(machine.decider.concretise(state, byte, 8, "a byte that is written to a file")? as u8);
    }
    Ok(text)
}

fn fwrite(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let [address, size, count] = [0, 1, 2].map(|i| machine.argument(state, site, i));
    let (size, count) = (size?, count?);
    let sink = stream(machine, state, site, 3)?;
    let text = bytes(machine, state, address?, size.wrapping_mul(count))?;
    match sink {
        Sink::Stdout | Sink::Dropped => emit(machine, state, sink, &text),
        Sink::Closed => return Ok(Returned::Value(Value::ZERO)),
    }
    Ok(Returned::Value(Value::number(if size == 0 { 0 } else { count })))
}

fn write(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let sink = descriptor(machine, state, site, 0)?;
    let [address, count] = [1, 2].map(|i| machine.argument(state, site, i));
    let count = count?;
    if sink == Sink::Closed {
        machine.set_errno(state, EBADF)?;
        return Ok(Returned::Value(Value::number(u64::MAX)));
    }
    let text = bytes(machine, state, address?, count)?;
    emit(machine, state, sink, &text);
    Ok(Returned::Value(Value::number(count)))
}

fn perror(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let address = machine.argument(state, site, 0)?;
    if address != 0 {
        let bytes = string(machine, state, address, u64::MAX, None, false)?;
        emit_pieces(machine, state, Sink::Dropped, vec![Piece::plain(bytes)])?;
    }
    Ok(Returned::Nothing)
}

fn fflush(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    if machine.argument(state, site, 0)? != 0 {
        stream(machine, state, site, 0)?;
    }
    Ok(Returned::Value(Value::ZERO))
}
