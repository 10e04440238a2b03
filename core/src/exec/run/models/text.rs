//! Functions that compare, measure and search bytes: one expression instead of one fork per byte. Concrete
//! bytes are processed directly. The other string functions are C (`runtime/lib/string.c`).
use super::Treatment::{Binds, Exact, Forks};
use super::{CallSite, ModelResult, ModelRow, Returned, row};
use crate::exec::outcome::Outcome;
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::run::access::access_fault;
use crate::exec::run::resolve::Location;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Expr;

pub(super) const MODELS: &[ModelRow] = &[
    row("strlen", 1, Exact, |e, s, c| length(e, s, c, false)),
    row("strnlen", 2, Binds, |e, s, c| length(e, s, c, true)),
    row("memcmp", 3, Forks, memory_compare),
    row("bcmp", 3, Forks, memory_compare),
    row("strcmp", 2, Exact, |e, s, c| string_compare(e, s, c, false, Case::Sensitive)),
    row("strcoll", 2, Exact, |e, s, c| string_compare(e, s, c, false, Case::Sensitive)),
    row("strncmp", 3, Binds, |e, s, c| string_compare(e, s, c, true, Case::Sensitive)),
    row("__partita_strcasecmp", 2, Exact, |e, s, c| string_compare(e, s, c, false, Case::Insensitive)),
    row("__partita_strncasecmp", 3, Exact, |e, s, c| string_compare(e, s, c, true, Case::Insensitive)),
    row("__partita_memchr", 3, Exact, |e, s, c| search(e, s, c, Searched::FirstInBytes)),
    row("__partita_strchr", 2, Exact, |e, s, c| search(e, s, c, Searched::FirstInString)),
    row("__partita_strrchr", 2, Exact, |e, s, c| search(e, s, c, Searched::LastInString)),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Sensitive,
    /// ASCII letters are compared in lower case.
    Insensitive,
}

/// Which match is returned: the first in `count` bytes, or the first or last in a string including its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Searched {
    FirstInBytes,
    FirstInString,
    LastInString,
}

/// As in `string.c`.
const ABSENT: u64 = -1i64 as u64;
const BYTEWISE: u64 = -2i64 as u64;

/// Bytes from an offset to the end of their object.
pub(super) struct Text {
    location: Location,
    offset: u64,
    size: u64,
}

impl Text {
    /// Resolves argument `i`; other states take the other possibilities. `needed` bytes must be in bounds.
    fn at(
        machine: &mut Machine,
        state: &mut State,
        site: &CallSite<'_>,
        i: usize,
        needed: u64,
    ) -> Result<Text, Outcome> {
        let what = format!("argument {} of `{}`", i + 1, site.name);
        Text::of(machine, state, site.arguments[i], needed, &what)
    }

    /// Resolves an address that `what` describes, in the same way.
    pub(super) fn of(
        machine: &mut Machine,
        state: &mut State,
        address: Value,
        needed: u64,
        what: &str,
    ) -> Result<Text, Outcome> {
        let location = machine.locate(state, address, needed, Access::Read)?;
        let offset = machine.fork_on_offset(state, &location, what)?;
        let size = machine.bound_size(state, location.id)?;
        Ok(Text { location, offset, size: size - offset })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Bug of reading byte `i`, which is out of bounds.
    pub(super) fn fault(&self, state: &State, i: u64) -> Outcome {
        access_fault(state, self.location.id.base() + self.offset + i, 1, Access::Read)
    }

    /// Byte `i`: a number if the path allows only one.
    pub(super) fn byte(&self, machine: &mut Machine, state: &State, i: u64) -> Byte {
        let object = state.memory.get(self.location.id).expect("a live object");
        if let Some(word) = object.read_concrete(self.offset + i, 1) {
            return Byte::Number(word as u8);
        }
        let e = object.read(machine.graph(), self.offset + i, 1);
        let set = machine.decider.values(state, e);
        match set.value() {
            Some(word) => Byte::Number(word as u8),
            None => Byte::Symbolic { e, may_be_zero: set.contains(0) },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Byte {
    Number(u8),
    Symbolic { e: Expr, may_be_zero: bool },
}

impl Byte {
    fn to_expr(self, machine: &mut Machine) -> Expr {
        match self {
            Byte::Number(byte) => machine.graph().word(8, byte.into()),
            Byte::Symbolic { e, .. } => e,
        }
    }

    fn is_zero(self) -> bool {
        self == Byte::Number(0)
    }

    /// Lower case of an upper case letter. Zero stays zero.
    fn folded(self, machine: &mut Machine) -> Byte {
        match self {
            Byte::Number(byte) => Byte::Number(byte.to_ascii_lowercase()),
            Byte::Symbolic { e, may_be_zero } => {
                let graph = machine.graph();
                let [first, letters, bit] = [u64::from(b'A'), 26, 0x20].map(|word| graph.word(8, word));
                let place = graph.sub(e, first);
                let capital = graph.ult(place, letters);
                let small = graph.or(e, bit);
                Byte::Symbolic { e: graph.ite(capital, small, e), may_be_zero }
            }
        }
    }
}

fn length(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, bounded: bool) -> ModelResult {
    let most = if bounded { machine.argument(state, site, 1)? } else { u64::MAX };
    if most == 0 {
        return Ok(Returned::Value(Value::ZERO));
    }
    let text = Text::at(machine, state, site, 0, 1)?;
    // Positions at which the string can end.
    let mut ends = Vec::new();
    let mut at = 0;
    while at < most {
        if at == text.size {
            let graph = machine.graph();
            let mut ended = graph.boolean(false);
            for &(_, end) in &ends {
                ended = graph.or(ended, end);
            }
            let fault = text.fault(state, at);
            machine.decider.require(state, ended, fault)?;
            // It ends at the last position if not before.
            at = ends.pop().map_or(at, |(last, _)| last);
            break;
        }
        match text.byte(machine, state, at) {
            Byte::Number(0) => break,
            Byte::Symbolic { e, may_be_zero: true } => {
                let graph = machine.graph();
                let zero = graph.word(8, 0);
                ends.push((at, graph.eq(e, zero)));
            }
            Byte::Number(_) | Byte::Symbolic { .. } => {}
        }
        at += 1;
    }
    let graph = machine.graph();
    let mut result = graph.word(64, at);
    for (at, end) in ends.into_iter().rev() {
        let here = graph.word(64, at);
        result = graph.ite(end, here, result);
    }
    Ok(Returned::Value(Value::of(graph, result)))
}

/// Difference of two bytes, as `int`.
fn difference(machine: &mut Machine, x: Expr, y: Expr) -> Expr {
    let graph = machine.graph();
    let (x, y) = (graph.zext(x, 32), graph.zext(y, 32));
    graph.sub(x, y)
}

/// Two bytes that are compared, and whether both may be zero.
struct Pair {
    x: Expr,
    y: Expr,
    may_end: bool,
}

/// Difference of the first pair that differs; zero where both strings end before; `rest` where no pair
/// differs.
fn first_difference(machine: &mut Machine, pairs: Vec<Pair>, rest: Expr) -> ModelResult {
    let mut result = rest;
    for Pair { x, y, may_end } in pairs.into_iter().rev() {
        let here = difference(machine, x, y);
        let graph = machine.graph();
        if may_end {
            let (zero, equal) = (graph.word(8, 0), graph.word(32, 0));
            let end = graph.eq(x, zero);
            result = graph.ite(end, equal, result);
        }
        let same = graph.eq(x, y);
        result = graph.ite(same, result, here);
    }
    Ok(Returned::Value(Value::of(machine.decider.graph(), result)))
}

fn memory_compare(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let count = machine.argument(state, site, 2)?;
    let mut rest = machine.graph().word(32, 0);
    if count == 0 {
        return Ok(Returned::Value(Value::ZERO));
    }
    let a = Text::at(machine, state, site, 0, count)?;
    let b = Text::at(machine, state, site, 1, count)?;
    let mut pairs = Vec::new();
    for i in 0..count {
        let (x, y) = (a.byte(machine, state, i), b.byte(machine, state, i));
        if x == y {
            continue;
        }
        let differ = matches!((x, y), (Byte::Number(_), Byte::Number(_)));
        let (x, y) = (x.to_expr(machine), y.to_expr(machine));
        if differ {
            rest = difference(machine, x, y);
            break;
        }
        pairs.push(Pair { x, y, may_end: false });
    }
    first_difference(machine, pairs, rest)
}

fn string_compare(
    machine: &mut Machine,
    state: &mut State,
    site: &CallSite<'_>,
    bounded: bool,
    case: Case,
) -> ModelResult {
    let most = if bounded { machine.argument(state, site, 2)? } else { u64::MAX };
    let mut rest = machine.graph().word(32, 0);
    if most == 0 {
        return Ok(Returned::Value(Value::ZERO));
    }
    let a = Text::at(machine, state, site, 0, 1)?;
    let b = Text::at(machine, state, site, 1, 1)?;
    let mut pairs = Vec::new();
    // True where neither string has ended and all bytes so far are equal.
    let mut goes_on = machine.graph().boolean(true);
    let mut i = 0;
    while i < most {
        if let Some(short) = [&a, &b].into_iter().find(|text| text.size == i) {
            let graph = machine.graph();
            let ended = graph.not(goes_on);
            let fault = short.fault(state, i);
            machine.decider.require(state, ended, fault)?;
            break;
        }
        let (mut x, mut y) = (a.byte(machine, state, i), b.byte(machine, state, i));
        if case == Case::Insensitive {
            (x, y) = (x.folded(machine), y.folded(machine));
        }
        let last = x.is_zero() || y.is_zero();
        let differ = matches!((x, y), (Byte::Number(p), Byte::Number(q)) if p != q);
        let may_end = [x, y].into_iter().all(|b| matches!(b, Byte::Symbolic { may_be_zero: true, .. }));
        let (x, y) = (x.to_expr(machine), y.to_expr(machine));
        if last || differ {
            rest = difference(machine, x, y);
            break;
        }
        let graph = machine.graph();
        let same = graph.eq(x, y);
        goes_on = graph.and(goes_on, same);
        pairs.push(Pair { x, y, may_end });
        if may_end {
            let zero = graph.word(8, 0);
            let more = graph.ne(x, zero);
            goes_on = graph.and(goes_on, more);
        }
        i += 1;
    }
    first_difference(machine, pairs, rest)
}

/// Position of a byte among concrete bytes, or `ABSENT`; `BYTEWISE` if some are symbolic, or the match may be
/// beyond the end of the object.
fn search(machine: &mut Machine, state: &mut State, site: &CallSite<'_>, wanted: Searched) -> ModelResult {
    let bytewise = Ok(Returned::Value(Value::number(BYTEWISE)));
    let most = match (wanted, site.arguments.get(2)) {
        (Searched::FirstInBytes, Some(count)) if count.symbolic => return bytewise,
        (Searched::FirstInBytes, Some(count)) if count.word == 0 => {
            return Ok(Returned::Value(Value::number(ABSENT)));
        }
        (Searched::FirstInBytes, Some(count)) => count.word,
        (Searched::FirstInBytes | Searched::FirstInString | Searched::LastInString, _) => u64::MAX,
    };
    let text = Text::at(machine, state, site, 0, 1)?;
    let sought = machine.low_byte(site.arguments[1], site.call.args[1].width);
    let object = state.memory.get(text.location.id).expect("a live object");
    let mut bytes = Vec::new();
    let ended = loop {
        if bytes.len() as u64 == most {
            break true;
        }
        if bytes.len() as u64 == text.size {
            break false;
        }
        let Some(word) = object.read_concrete(text.offset + bytes.len() as u64, 1) else { return bytewise };
        bytes.push(word as u8);
        let found = !sought.symbolic && word == sought.word && wanted != Searched::LastInString;
        if found || (wanted != Searched::FirstInBytes && word == 0) {
            break true;
        }
    };
    if !ended {
        return bytewise;
    }
    let places = bytes.iter().enumerate().map(|(at, &byte)| (at as u64, byte));
    let Some(e) = sought.expr() else {
        let mut equal = places.filter(|&(_, byte)| u64::from(byte) == sought.word);
        let found = if wanted == Searched::LastInString { equal.next_back() } else { equal.next() };
        return Ok(Returned::Value(Value::number(found.map_or(ABSENT, |(at, _)| at))));
    };
    // First or last position of each byte value.
    let mut place: [Option<u64>; 256] = [None; 256];
    for (at, byte) in places {
        let known = &mut place[usize::from(byte)];
        *known = known.filter(|_| wanted != Searched::LastInString).or(Some(at));
    }
    let graph = machine.graph();
    let mut result = graph.word(64, ABSENT);
    for (byte, at) in (0u64..).zip(place).filter_map(|(byte, at)| Some((byte, at?))) {
        let (byte, at) = (graph.word(8, byte), graph.word(64, at));
        let here = graph.eq(e, byte);
        result = graph.ite(here, at, result);
    }
    Ok(Returned::Value(Value::of(graph, result)))
}
