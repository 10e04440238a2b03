//! KQuery operators and the expressions they build. Operands may be numbers without a width, which get the
//! width of the operator or of the other operand.

use super::{ELEMENT_WIDTH, INDEX_WIDTH};
use crate::expr::{Bits, BitsOp, Expr, Family, Graph, MAX_WIDTH, Op, ShapeOp, Sort};
use num_bigint::BigUint;

/// Most digits of a number; every value of the widest type has fewer in any base but two.
const MAX_DIGITS: usize = 66_000;

/// An operator of KQuery: an operator of the table, or a comparison with swapped operands or negated result.
#[derive(Clone, Copy)]
pub(super) struct Operator {
    name: &'static str,
    op: Op,
    swapped: bool,
    negated: bool,
}

impl Operator {
    pub(super) fn lookup(name: &str) -> Option<Operator> {
        let comparison = |name, op| Some(Operator { name, op, swapped: true, negated: false });
        match name {
            "Ne" => Some(Operator { name: "Ne", op: Op::Eq, swapped: false, negated: true }),
            "Ugt" => comparison("Ugt", Op::Ult),
            "Uge" => comparison("Uge", Op::Ule),
            "Sgt" => comparison("Sgt", Op::Slt),
            "Sge" => comparison("Sge", Op::Sle),
            _ => {
                let op = Op::from_kquery(name)?;
                Some(Operator { name: op.kquery(), op, swapped: false, negated: false })
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Operand<'a> {
    Expr(Expr),
    Number(&'a str),
}

/// Builds a constant of `width` bits (a boolean for one bit).
pub(super) fn number(graph: &mut Graph, text: &str, width: u32) -> Result<Expr, String> {
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        Some(_) | None => (false, text),
    };
    let (radix, digits) = match rest.as_bytes() {
        [b'0', b'x', ..] => (16, &rest[2..]),
        [b'0', b'b', ..] => (2, &rest[2..]),
        [b'0', b'o', ..] => (8, &rest[2..]),
        _ => (10, rest),
    };
    let shown = text.get(..40).unwrap_or(text);
    let no_number = || format!("expected a number, found `{shown}`");
    // Rejects a second sign, which the parser below would accept.
    if digits.is_empty() || digits.len() > MAX_DIGITS || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(no_number());
    }
    let (bits, needed) = match u64::from_str_radix(digits, radix) {
        Ok(word) => (Bits::word(width.max(64), word), u64::from(64 - word.leading_zeros())),
        Err(_) => {
            let big = BigUint::parse_bytes(digits.as_bytes(), radix).ok_or_else(no_number)?;
            (Bits::from_words(width.max(64), &big.to_u64_digits()), big.bits())
        }
    };
    if needed > u64::from(width) {
        return Err(format!("expected a number of at most {width} bits, found `{shown}`"));
    }
    let bits = if negative { bits.neg() } else { bits };
    let bits = bits.extract(0, width);
    Ok(if width == 1 { graph.boolean(!bits.is_zero()) } else { graph.constant(bits) })
}

/// Converts a boolean to a vector of one bit.
pub(super) fn to_vector(graph: &mut Graph, e: Expr) -> Expr {
    if graph.is_bool(e) { graph.bool_to_bit(e) } else { e }
}

/// Converts a vector of one bit to a boolean; returns anything else unchanged.
pub(super) fn to_boolean(graph: &mut Graph, e: Expr) -> Expr {
    if graph.sort(e) == Sort::Bits(1) { graph.bit_to_bool(e) } else { e }
}

/// Returns the operand, which must have `width` bits or be a number.
pub(super) fn typed(graph: &mut Graph, what: &str, operand: Operand<'_>, width: u32) -> Result<Expr, String> {
    match operand {
        Operand::Number(text) => number(graph, text, width),
        Operand::Expr(e) if graph.is_array(e) || graph.width(e) != width => {
            Err(format!("{what}: expected w{width}, found w{}", graph.width(e)))
        }
        Operand::Expr(e) => Ok(e),
    }
}

fn known_width(graph: &Graph, operand: Operand<'_>) -> Option<u32> {
    match operand {
        Operand::Expr(e) => Some(graph.width(e)),
        Operand::Number(_) => None,
    }
}

/// Applies the operator, with its optional width, to the operands.
pub(super) fn build(
    graph: &mut Graph,
    operator: Operator,
    width: Option<u32>,
    operands: &[Operand<'_>],
) -> Result<Expr, String> {
    let name = operator.name;
    let count = |n: usize| {
        if operands.len() == n {
            return Ok(());
        }
        let s = if n == 1 { "" } else { "s" };
        Err(format!("{name}: expected {n} operand{s}, found {}", operands.len()))
    };
    let no_type = || format!("{name}: expected a type such as `w32` after it, found none");
    let infer = |graph: &Graph, among: &[Operand<'_>]| {
        among.iter().find_map(|&o| known_width(graph, o)).ok_or_else(|| {
            format!("{name}: expected an operand with a width, found only numbers; write `(w32 5)` for one")
        })
    };
    // Both operands, with the same width.
    let pair = |graph: &mut Graph, width: Option<u32>| {
        count(2)?;
        let width = width.map_or_else(|| infer(graph, operands), Ok)?;
        Ok::<_, String>((typed(graph, name, operands[0], width)?, typed(graph, name, operands[1], width)?))
    };
    let boolean_result = || match width {
        Some(w) if w != 1 => Err(format!("{name}: expected no type or w1, found w{w}")),
        Some(_) | None => Ok(()),
    };
    let op = operator.op;
    match op.family() {
        // Operands and result are vectors, even of one bit.
        Family::Arith(_) | Family::Shift(_) => {
            let (a, b) = pair(graph, width)?;
            let (a, b) = (to_vector(graph, a), to_vector(graph, b));
            Ok(if op == Op::AShr { arithmetic_shift(graph, a, b) } else { graph.operator2(op, a, b) })
        }
        Family::Bits(BitsOp::Not) => {
            count(1)?;
            let width = width.map_or_else(|| infer(graph, operands), Ok)?;
            let a = typed(graph, name, operands[0], width)?;
            let a = to_boolean(graph, a);
            Ok(graph.not(a))
        }
        // Operands and result are vectors, or booleans if they have one bit.
        Family::Bits(_) => {
            let (a, b) = pair(graph, width)?;
            let (a, b) = (to_boolean(graph, a), to_boolean(graph, b));
            Ok(graph.operator2(op, a, b))
        }
        Family::Compare(_) => {
            boolean_result()?;
            let (a, b) = pair(graph, None)?;
            let convert = if op.takes_bools() { to_boolean } else { to_vector };
            let (a, b) = (convert(graph, a), convert(graph, b));
            let (a, b) = if operator.swapped { (b, a) } else { (a, b) };
            let holds = graph.operator2(op, a, b);
            Ok(if operator.negated { graph.not(holds) } else { holds })
        }
        Family::Shape(ShapeOp::ZExt | ShapeOp::SExt) => {
            count(1)?;
            let to = width.ok_or_else(no_type)?;
            let from = infer(graph, operands)?;
            if from > to {
                return Err(format!("{name}: expected at least w{from}, the operand's type, found w{to}"));
            }
            let e = typed(graph, name, operands[0], from)?;
            if from == to {
                return Ok(e);
            }
            let e = to_vector(graph, e);
            Ok(graph.build(op, to, 0, &[e]))
        }
        Family::Shape(ShapeOp::Extract) => {
            count(2)?;
            extract(graph, width.ok_or_else(no_type)?, operands[0], operands[1])
        }
        Family::Shape(ShapeOp::Concat) => concat(graph, width, operands),
        Family::Shape(ShapeOp::Ite) => {
            count(3)?;
            let c = typed(graph, name, operands[0], 1)?;
            let width = width.map_or_else(|| infer(graph, &operands[1..]), Ok)?;
            let (a, b) = (typed(graph, name, operands[1], width)?, typed(graph, name, operands[2], width)?);
            let (c, a, b) = (to_boolean(graph, c), to_boolean(graph, a), to_boolean(graph, b));
            Ok(graph.ite(c, a, b))
        }
        Family::Float(_) => Err(format!("{name}: KQuery has no floating-point operators")),
        Family::Leaf(_) | Family::Array(_) => unreachable!("{name} is parsed elsewhere"),
    }
}

/// `AShr` as KLEE gives it to its solvers: 0 where the amount reaches the width. KLEE folds constants, and vectors of
/// one bit, with the sign in all bits; so does this.
fn arithmetic_shift(graph: &mut Graph, a: Expr, amount: Expr) -> Expr {
    let width = graph.width(a);
    let folded = graph.is_const(a) && graph.is_const(amount) || width == 1;
    if let Some(amount) = clamped(graph, amount, width) {
        return graph.ashr(a, amount);
    }
    let shifted = graph.ashr(a, amount);
    if folded {
        return shifted;
    }
    let end = graph.word(width, width.into());
    let (inside, zero) = (graph.ult(amount, end), graph.constant(Bits::zero(width)));
    graph.ite(inside, shifted, zero)
}

/// The amount `n` if the expression is `n`, or the largest amount below the width: the printer writes a shift of ours
/// so, which fills with the sign.
fn clamped(graph: &mut Graph, amount: Expr, width: u32) -> Option<Expr> {
    if graph.op(amount) != Op::Ite {
        return None;
    }
    let (condition, n, last) = (graph.kid(amount, 0), graph.kid(amount, 1), graph.kid(amount, 2));
    let (end, largest) = (graph.word(width, width.into()), graph.word(width, u64::from(width) - 1));
    (last == largest && condition == graph.ult(n, end)).then_some(n)
}

fn extract(graph: &mut Graph, to: u32, offset: Operand<'_>, operand: Operand<'_>) -> Result<Expr, String> {
    let Operand::Number(offset) = offset else {
        return Err("Extract: expected a number as offset, found an expression".into());
    };
    let low: u32 = offset.parse().map_err(|_| format!("Extract: expected an offset, found `{offset}`"))?;
    let Operand::Expr(e) = operand else {
        return Err("Extract: expected an operand with a width, found a number".into());
    };
    let from = graph.width(e);
    if u64::from(low) + u64::from(to) > u64::from(from) {
        return Err(format!("Extract: expected offset and width within w{from}, found {low} and w{to}"));
    }
    let e = to_vector(graph, e);
    Ok(graph.extract(e, low, to))
}

fn concat(graph: &mut Graph, width: Option<u32>, operands: &[Operand<'_>]) -> Result<Expr, String> {
    let mut parts = Vec::with_capacity(operands.len());
    let mut total = 0u64;
    for operand in operands {
        let Operand::Expr(e) = *operand else {
            return Err(
                "Concat: expected operands with a width, found a number; write `(w8 5)` for one".into()
            );
        };
        parts.push(to_vector(graph, e));
        total += u64::from(graph.width(e));
    }
    if operands.len() < 2 {
        return Err(format!("Concat: expected at least 2 operands, found {}", operands.len()));
    }
    if width.is_some_and(|w| u64::from(w) != total) || total > u64::from(MAX_WIDTH) {
        let expected = width.map_or(format!("at most w{MAX_WIDTH}"), |w| format!("w{w}"));
        return Err(format!("Concat: expected {expected}, found w{total}"));
    }
    let last = parts.pop().expect("at least two");
    Ok(parts.into_iter().rev().fold(last, |low, high| graph.concat(high, low)))
}

/// Order of elements: `Read`, `ReadLSB`, `ReadMSB`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Single,
    LeastFirst,
    MostFirst,
}

impl Order {
    pub(super) fn lookup(name: &str) -> Option<Order> {
        match name {
            "Read" => Some(Order::Single),
            "ReadLSB" => Some(Order::LeastFirst),
            "ReadMSB" => Some(Order::MostFirst),
            _ => None,
        }
    }
}

pub(super) fn read(
    graph: &mut Graph,
    order: Order,
    width: u32,
    index: Expr,
    array: Expr,
) -> Result<Expr, String> {
    debug_assert_eq!(graph.width(index), INDEX_WIDTH);
    let count = width / ELEMENT_WIDTH;
    if count == 0 || !width.is_multiple_of(ELEMENT_WIDTH) || (order == Order::Single && count != 1) {
        let expected = if order == Order::Single { "w8" } else { "a multiple of w8" };
        return Err(format!("Read: expected {expected}, found w{width}"));
    }
    if order != Order::MostFirst {
        return Ok(graph.read(array, index, count));
    }
    let mut result: Option<Expr> = None;
    for i in (0..count).rev() {
        let skip = graph.word(INDEX_WIDTH, i.into());
        let at = graph.add(index, skip);
        let element = graph.select(array, at);
        result = Some(match result {
            Some(low) => graph.concat(element, low),
            None => element,
        });
    }
    Ok(result.expect("at least one element"))
}
