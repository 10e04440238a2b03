//! Values for a satisfiable condition. The paper returns a verdict only; the chain needs a model, so the folded sets are
//! walked top-down once more, and each operator chooses values of its operands that give the wanted result. Folded sets
//! are exact if every read occurs once, so there always are such values.

use super::decide::{Folded, Folds, aligned};
use super::set::MultiInterval;
use super::{Values, bool_to_word, read_of};
use crate::expr::bits::mask;
use crate::expr::{Expr, Graph, Op};

/// Values of the reads of a condition that make it true. `None` if there are none, which a caller with exact sets never
/// sees.
pub fn witness(graph: &Graph, folds: &Folds, condition: Expr) -> Option<Values> {
    let mut values = Values::default();
    let mut open = vec![(condition, 1u64)];
    while let Some((e, wanted)) = open.pop() {
        if graph.is_const(e) {
            continue;
        }
        if read_of(graph, e).is_ok_and(|read| read.is_some()) {
            values.insert(e, wanted);
            continue;
        }
        if let Some(condition) = bool_to_word(graph, e) {
            open.push((condition, wanted));
            continue;
        }
        choose(graph, folds, e, wanted, &mut open)?;
    }
    Some(values)
}

/// Values of the operands for which the result is as wanted.
fn choose(graph: &Graph, folds: &Folds, e: Expr, wanted: u64, open: &mut Vec<(Expr, u64)>) -> Option<()> {
    let kids = graph.kids(e);
    let kid = |i: usize| &folds[&kids[i]];
    let width = graph.width(e);
    let chosen: [Option<u64>; 2] = match graph.op(e) {
        Op::Not => [Some(1 - wanted), None],
        Op::Eq => {
            let (a, b) = aligned(graph, e, folds).ok()?;
            let (x, y) = if wanted == 1 {
                let common = a.set.intersect(&b.set).first()?;
                (common, common)
            } else {
                different(&a.set, &b.set)?
            };
            [Some(x << a.shift), Some(y << b.shift)]
        }
        order if order.is_order() => {
            let (a, b) = (kid(0).closure(order.is_signed())?, kid(1).closure(order.is_signed())?);
            if wanted == 1 { [Some(a.0), Some(b.1)] } else { [Some(a.1), Some(b.0)] }
        }
        Op::ZExt | Op::SExt => [Some(wanted & mask(graph.width(kids[0]))), None],
        Op::Add | Op::Sub => {
            let (a, b) = aligned(graph, e, folds).ok()?;
            let (shift, all) = (a.shift, mask(a.set.width));
            let wanted = wanted >> shift;
            let is_sum = graph.op(e) == Op::Add;
            let partners = if is_sum { b.set.subtracted_from(wanted) } else { b.set.plus(wanted) };
            let x = a.set.intersect(&partners).first()?;
            let y = if is_sum { wanted.wrapping_sub(x) } else { x.wrapping_sub(wanted) };
            [Some(x << shift), Some((y & all) << shift)]
        }
        Op::Extract => {
            let (low, Folded { set, shift }) = (graph.extract_low(e), kid(0));
            let bits = if *shift >= width { 0 } else { width - shift };
            [Some(with_bits(set, low, bits, wanted >> shift.min(&63))? << shift), None]
        }
        Op::Mul | Op::Shl => {
            // The operand that is not constant, and the attribute of the result.
            let at = usize::from(graph.op(e) == Op::Mul && graph.is_const(kids[0]));
            let Folded { set, shift } = kid(at);
            let result = &folds[&e];
            let x = match result.shift {
                // Everything was shifted out.
                0 if result.set.single() == Some(0) && result.set.width == width && wanted == 0 => {
                    if set.contains(0) { Some(0) } else { set.first() }
                }
                total => with_bits(set, 0, width - total, wanted >> total),
            };
            let value = Some(x? << shift);
            if at == 0 { [value, None] } else { [None, value] }
        }
        Op::LShr | Op::UDiv => {
            let constant = graph.const_word(kids[1])?;
            let divisor = match graph.op(e) {
                Op::UDiv => u128::from(constant),
                _ => 1u128.checked_shl(u32::try_from(constant).unwrap_or(u32::MAX)).unwrap_or(u128::MAX),
            };
            let first = u128::from(wanted).saturating_mul(divisor);
            let last = first.saturating_add(divisor - 1).min(u128::from(mask(width)));
            let range = MultiInterval::interval(width, u64::try_from(first).ok()?, last as u64);
            [Some(kid(0).set.intersect(&range).first()?), None]
        }
        _ => return None,
    };
    open.extend(kids.into_iter().zip(chosen).filter_map(|(kid, value)| Some((kid, value?))));
    Some(())
}

/// Two different values.
fn different(a: &MultiInterval, b: &MultiInterval) -> Option<(u64, u64)> {
    let other = |set: &MultiInterval, value| {
        set.intersect(&MultiInterval::point(set.width, value).complement()).first()
    };
    let (x, y) = (a.first()?, b.first()?);
    if x != y {
        return Some((x, y));
    }
    other(b, x).map(|y| (x, y)).or_else(|| other(a, y).map(|x| (x, y)))
}

/// A value whose bits `low .. low + width` are these.
fn with_bits(set: &MultiInterval, low: u32, width: u32, bits: u64) -> Option<u64> {
    let (block, period) = (1u128 << low, 1u128 << (low + width));
    let start = u128::from(bits) << low;
    set.spans().iter().find_map(|&(first, last)| {
        let (first, last) = (u128::from(first), u128::from(last));
        // The first block that does not end before the interval.
        let skipped = (first + 1).saturating_sub(start + block).div_ceil(period);
        let found = first.max(start + skipped * period);
        (found <= last).then_some(found as u64)
    })
}
