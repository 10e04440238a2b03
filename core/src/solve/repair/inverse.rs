//! Inverses of operators: the value of one operand under which an operator has a wanted result, the other operand fixed.

use crate::expr::Op;
use crate::expr::bits::{inverse_of_odd, mask, signed};
use crate::expr::eval::{Shape, word};

/// The operand of a binary operator to be changed.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Whether it is the first operand.
    pub first: bool,
    /// Its current value.
    pub current: u64,
    /// Value of the other operand.
    pub other: u64,
}

/// The values that a word should have: from `from` upwards to `to`, wrapping around if `to` is smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    pub from: u64,
    pub to: u64,
}

impl Target {
    pub fn one(value: u64) -> Target {
        Target { from: value, to: value }
    }

    pub fn contains(self, value: u64) -> bool {
        if self.from <= self.to {
            (self.from..=self.to).contains(&value)
        } else {
            value >= self.from || value <= self.to
        }
    }

    /// The end of the target that is nearer to a value outside it.
    pub fn nearest(self, current: u64) -> u64 {
        if current.abs_diff(self.to) < current.abs_diff(self.from) { self.to } else { self.from }
    }

    pub fn plus(self, amount: u64, width: u32) -> Target {
        let shifted = |end: u64| end.wrapping_add(amount) & mask(width);
        Target { from: shifted(self.from), to: shifted(self.to) }
    }

    pub fn minus(self, amount: u64, width: u32) -> Target {
        self.plus(amount.wrapping_neg(), width)
    }

    /// The values `amount - x`; with all ones, the complements.
    pub fn taken_from(self, amount: u64, width: u32) -> Target {
        Target { from: self.to, to: self.from }.map(|end| amount.wrapping_sub(end) & mask(width))
    }

    fn map(self, f: impl Fn(u64) -> u64) -> Target {
        Target { from: f(self.from), to: f(self.to) }
    }

    /// A part of the target that fits `width` bits; all of it unless it wraps around.
    pub fn within(self, width: u32) -> Option<Target> {
        let most = mask(width);
        if self.from <= most {
            // If the target wraps around, the part from zero on is left out.
            return Some(Target { from: self.from, to: self.to.min(most) });
        }
        (self.to < self.from).then(|| Target { from: 0, to: self.to.min(most) })
    }

    /// A part of the target whose values are sign extensions of `width` bits, as words before the extension.
    pub fn within_signed(self, width: u32, extended: u32) -> Option<Target> {
        let half = 1 << (width - 1);
        Some(self.plus(half, extended).within(width)?.minus(half, width))
    }
}

/// The values of an operand under which a comparison is true, or false (`wanted`).
pub fn comparison_target(op: Op, width: u32, first: bool, other: u64, wanted: bool) -> Option<Target> {
    if op == Op::Eq {
        let equal = Target::one(other);
        let others = Target { from: other.wrapping_add(1), to: other.wrapping_sub(1) };
        return Some(if wanted { equal } else { others.map(|end| end & mask(width)) });
    }
    let (least, most) = if op.is_signed() { (1 << (width - 1), mask(width) >> 1) } else { (0, mask(width)) };
    let is_strict = op.is_strict() == wanted;
    let is_smaller = first == wanted;
    match (is_smaller, is_strict) {
        (true, false) => Some(Target { from: least, to: other }),
        (false, false) => Some(Target { from: other, to: most }),
        (true, true) => {
            (other != least).then(|| Target { from: least, to: other.wrapping_sub(1) & mask(width) })
        }
        (false, true) => {
            (other != most).then(|| Target { from: other.wrapping_add(1) & mask(width), to: most })
        }
    }
}

/// A value of the operand under which the operator results in `wanted`, near the current one if there are several. `None`
/// if there is none, or if finding it needs a search. Sums and comparisons propagate whole targets instead.
pub fn operand_value(op: Op, s: Shape, operand: Operand, wanted: u64) -> Option<u64> {
    let Operand { first, current, other } = operand;
    let w = s.operand;
    let rest = |op: Op| word(op, s, current, other, 0);
    let product = wanted.wrapping_mul(other);
    let candidates = match op {
        Op::And => [current & !other | wanted, current],
        Op::Or => [wanted & !other | current & other, current],
        Op::Xor => [wanted ^ other, current],
        Op::Mul if other != 0 => {
            let zeros = other.trailing_zeros();
            let low = mask(w - zeros);
            // Bits that are shifted out keep their values.
            [current & !low | (wanted >> zeros).wrapping_mul(inverse_of_odd(other >> zeros)) & low, current]
        }
        // First with the current remainder, then with remainder zero.
        Op::UDiv if first => [product.wrapping_add(rest(Op::URem)), product],
        Op::SDiv if first => [product.wrapping_add(rest(Op::SRem)), product],
        Op::URem if first => [current.wrapping_sub(rest(Op::URem)).wrapping_add(wanted), wanted],
        Op::SRem if first => [current.wrapping_sub(rest(Op::SRem)).wrapping_add(wanted), wanted],
        Op::UDiv => [other.checked_div(wanted).unwrap_or(0), current],
        Op::SDiv => {
            let by = signed(w, wanted);
            [if by == 0 { 0 } else { signed(w, other).wrapping_div(by) as u64 }, current]
        }
        Op::URem | Op::SRem => [other.wrapping_sub(wanted), current],
        Op::Shl | Op::LShr | Op::AShr if first && other < u64::from(w) => match op {
            Op::Shl => [wanted >> other | current & !(mask(w) >> other), current],
            _ => [wanted << other | current & ((1 << other) - 1), current],
        },
        Op::AShr if first => [wanted, current],
        _ => [current, current],
    };
    let gives = |x: u64| if first { word(op, s, x, other, 0) } else { word(op, s, other, x, 0) };
    candidates.into_iter().map(|x| x & mask(w)).find(|&x| gives(x) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Family;

    /// Binary operators, except those that propagate whole targets.
    fn operators() -> impl Iterator<Item = Op> {
        let is_inverted = |op: &Op| {
            op.arity() == 2
                && matches!(op.family(), Family::Bits(_) | Family::Arith(_) | Family::Shift(_))
                && !matches!(op, Op::Add | Op::Sub)
        };
        Op::ALL.iter().copied().filter(is_inverted)
    }

    /// Whether an operand is found whenever one exists. False if that needs a search.
    fn is_complete(op: Op, first: bool, other: u64) -> bool {
        match op {
            Op::And | Op::Or | Op::Xor | Op::Mul => true,
            Op::SDiv => first && other != 0,
            Op::UDiv | Op::URem | Op::SRem | Op::Shl | Op::LShr | Op::AShr => first,
            _ => false,
        }
    }

    #[test]
    fn operand_gives_the_wanted_result_and_is_found_if_it_exists() {
        for (width, op) in (1..=5).flat_map(|width| operators().map(move |op| (width, op))) {
            let s = Shape { width, operand: width, low: 0 };
            let values = 0..=mask(width);
            for (other, wanted) in values.clone().flat_map(|a| values.clone().map(move |b| (a, b))) {
                for first in [true, false] {
                    let gives =
                        |x: u64| if first { word(op, s, x, other, 0) } else { word(op, s, other, x, 0) };
                    let exists = values.clone().any(|x| gives(x) == wanted);
                    for current in values.clone() {
                        let operand = Operand { first, current, other };
                        match operand_value(op, s, operand, wanted) {
                            Some(x) => assert!(
                                x <= mask(width) && gives(x) == wanted,
                                "{op:?} {width} {operand:?} {wanted}: {x}"
                            ),
                            None => {
                                assert!(
                                    !exists || !is_complete(op, first, other),
                                    "{op:?} {width} {operand:?} {wanted}"
                                )
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn comparison_targets_are_all_values_that_a_comparison_allows() {
        for (width, op) in
            (1..=4).flat_map(|w| [Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle].map(|op| (w, op)))
        {
            let s = Shape { width: 1, operand: width, low: 0 };
            for (other, first) in (0..=mask(width)).flat_map(|other| [(other, true), (other, false)]) {
                for wanted in [true, false] {
                    let target = comparison_target(op, width, first, other, wanted);
                    for x in 0..=mask(width) {
                        let truth = if first { word(op, s, x, other, 0) } else { word(op, s, other, x, 0) };
                        let allowed = target.is_some_and(|target| target.contains(x));
                        assert_eq!(
                            allowed,
                            (truth != 0) == wanted,
                            "{op:?} {width} {first} {other} {wanted} {x}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn shifted_and_narrowed_targets_contain_the_right_values() {
        let (width, extended) = (3, 4);
        let targets = (0..16).flat_map(|from| (0..16).map(move |to| Target { from, to }));
        for target in targets {
            for amount in 0..16u64 {
                for x in 0..16u64 {
                    assert_eq!(target.plus(amount, 4).contains((x + amount) & 15), target.contains(x));
                    assert_eq!(
                        target.taken_from(amount, 4).contains(amount.wrapping_sub(x) & 15),
                        target.contains(x)
                    );
                }
            }
            let narrowed = |target: Option<Target>, extend: &dyn Fn(u64) -> u64, of: Target| {
                let some = target.map(|target| (0..8).filter(|&x| target.contains(x)).collect::<Vec<_>>());
                let all: Vec<u64> = (0..8).filter(|&x| of.contains(extend(x))).collect();
                assert_eq!(some.is_none(), all.is_empty(), "{of:?}");
                assert!(some.unwrap_or_default().iter().all(|x| all.contains(x)), "{of:?} {target:?}");
            };
            narrowed(target.within(width), &|x| x, target);
            narrowed(target.within_signed(width, extended), &|x| signed(width, x) as u64 & 15, target);
            (0..16)
                .filter(|&x| !target.contains(x))
                .for_each(|x| assert!(target.contains(target.nearest(x))));
        }
    }
}
