//! What an operand would have to be for an operator to give what is wanted, the others being what they are.

use crate::expr::Op;
use crate::expr::bits::{mask, signed};
use crate::expr::eval::{Shape, word};

/// The operand of a binary operator that is to change.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Is it the first?
    pub first: bool,
    /// Its value now, and the other operand's.
    pub now: u64,
    pub other: u64,
}

/// What a word is wanted to be: any value from `from` upwards to `to`, round the end if `to` is smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish {
    pub from: u64,
    pub to: u64,
}

impl Wish {
    pub fn one(value: u64) -> Wish {
        Wish { from: value, to: value }
    }

    pub fn contains(self, value: u64) -> bool {
        if self.from <= self.to {
            (self.from..=self.to).contains(&value)
        } else {
            value >= self.from || value <= self.to
        }
    }

    /// The value of the wish that is nearest to one outside it.
    pub fn nearest(self, now: u64) -> u64 {
        if now.abs_diff(self.to) < now.abs_diff(self.from) { self.to } else { self.from }
    }

    pub fn plus(self, amount: u64, width: u32) -> Wish {
        let shifted = |end: u64| end.wrapping_add(amount) & mask(width);
        Wish { from: shifted(self.from), to: shifted(self.to) }
    }

    pub fn minus(self, amount: u64, width: u32) -> Wish {
        self.plus(amount.wrapping_neg(), width)
    }

    /// The values `amount - x`; with all ones, the complements.
    pub fn taken_from(self, amount: u64, width: u32) -> Wish {
        Wish { from: self.to, to: self.from }.map(|end| amount.wrapping_sub(end) & mask(width))
    }

    fn map(self, f: impl Fn(u64) -> u64) -> Wish {
        Wish { from: f(self.from), to: f(self.to) }
    }

    /// Those of its values, or some of them, that have at most so many bits.
    pub fn within(self, width: u32) -> Option<Wish> {
        let most = mask(width);
        if self.from <= most {
            // From there round the end is up to `most` and then from zero on.
            return Some(Wish { from: self.from, to: self.to.min(most) });
        }
        (self.to < self.from).then(|| Wish { from: 0, to: self.to.min(most) })
    }

    /// Those, or some of them, that are the sign extension of so many bits, as the words that are extended.
    pub fn within_signed(self, width: u32, extended: u32) -> Option<Wish> {
        let half = 1 << (width - 1);
        Some(self.plus(half, extended).within(width)?.minus(half, width))
    }
}

/// The values of an operand under which a comparison is true, or false.
pub fn side(op: Op, width: u32, first: bool, other: u64, wanted: bool) -> Option<Wish> {
    if op == Op::Eq {
        let equal = Wish::one(other);
        let others = Wish { from: other.wrapping_add(1), to: other.wrapping_sub(1) };
        return Some(if wanted { equal } else { others.map(|end| end & mask(width)) });
    }
    let (least, most) = match op {
        Op::Slt | Op::Sle => (1 << (width - 1), mask(width) >> 1),
        _ => (0, mask(width)),
    };
    let is_strict = matches!(op, Op::Ult | Op::Slt) == wanted;
    let is_smaller = first == wanted;
    match (is_smaller, is_strict) {
        (true, false) => Some(Wish { from: least, to: other }),
        (false, false) => Some(Wish { from: other, to: most }),
        (true, true) => {
            (other != least).then(|| Wish { from: least, to: other.wrapping_sub(1) & mask(width) })
        }
        (false, true) => {
            (other != most).then(|| Wish { from: other.wrapping_add(1) & mask(width), to: most })
        }
    }
}

/// A value of the operand under which the operator gives `wanted`, near the present one where there is a choice. Nothing
/// where there is none, or none that is found easily. Not for sums and comparisons: those move a wish as a whole.
pub fn operand(op: Op, s: Shape, place: Place, wanted: u64) -> Option<u64> {
    let Place { first, now, other } = place;
    let w = s.operand;
    let rest = |op: Op| word(op, s, now, other, 0);
    let product = wanted.wrapping_mul(other);
    let tried = match op {
        Op::And => [now & !other | wanted, now],
        Op::Or => [wanted & !other | now & other, now],
        Op::Xor => [wanted ^ other, now],
        Op::Mul if other != 0 => {
            let zeros = other.trailing_zeros();
            let low = mask(w - zeros);
            // Bits that are shifted out may stay as they are.
            [now & !low | (wanted >> zeros).wrapping_mul(inverse(other >> zeros)) & low, now]
        }
        // A remainder may stay, or be none.
        Op::UDiv if first => [product.wrapping_add(rest(Op::URem)), product],
        Op::SDiv if first => [product.wrapping_add(rest(Op::SRem)), product],
        Op::URem if first => [now.wrapping_sub(rest(Op::URem)).wrapping_add(wanted), wanted],
        Op::SRem if first => [now.wrapping_sub(rest(Op::SRem)).wrapping_add(wanted), wanted],
        Op::UDiv => [other.checked_div(wanted).unwrap_or(0), now],
        Op::SDiv => {
            let by = signed(w, wanted);
            [if by == 0 { 0 } else { signed(w, other).wrapping_div(by) as u64 }, now]
        }
        Op::URem | Op::SRem => [other.wrapping_sub(wanted), now],
        Op::Shl | Op::LShr | Op::AShr if first && other < u64::from(w) => match op {
            Op::Shl => [wanted >> other | now & !(mask(w) >> other), now],
            _ => [wanted << other | now & ((1 << other) - 1), now],
        },
        Op::AShr if first => [wanted, now],
        _ => [now, now],
    };
    let gives = |x: u64| if first { word(op, s, x, other, 0) } else { word(op, s, other, x, 0) };
    tried.into_iter().map(|x| x & mask(w)).find(|&x| gives(x) == wanted)
}

/// Of an odd number, modulo 2^64.
fn inverse(odd: u64) -> u64 {
    // Each step doubles the bits that are right, of which there are three at first.
    (0..5).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Family;

    /// All but those for which a wish is moved as a whole.
    fn operators() -> impl Iterator<Item = Op> {
        let is_one = |op: &Op| {
            op.arity() == 2
                && matches!(op.family(), Family::Bits | Family::Arith | Family::Shift)
                && !matches!(op, Op::Add | Op::Sub)
        };
        Op::ALL.iter().copied().filter(is_one)
    }

    /// Is an operand that there is always found? Not where that would take a search.
    fn is_complete(op: Op, first: bool, other: u64) -> bool {
        if first {
            return op != Op::SDiv || other != 0;
        }
        !matches!(op, Op::Shl | Op::LShr | Op::AShr | Op::UDiv | Op::URem | Op::SDiv | Op::SRem)
    }

    #[test]
    fn what_is_found_gives_what_is_wanted_and_what_there_is_is_found() {
        for (width, op) in (1..=5).flat_map(|width| operators().map(move |op| (width, op))) {
            let s = Shape { width, operand: width, low: 0 };
            let values = 0..=mask(width);
            for (other, wanted) in values.clone().flat_map(|a| values.clone().map(move |b| (a, b))) {
                for first in [true, false] {
                    let gives =
                        |x: u64| if first { word(op, s, x, other, 0) } else { word(op, s, other, x, 0) };
                    let exists = values.clone().any(|x| gives(x) == wanted);
                    for now in values.clone() {
                        let place = Place { first, now, other };
                        match operand(op, s, place, wanted) {
                            Some(x) => assert!(
                                x <= mask(width) && gives(x) == wanted,
                                "{op:?} {width} {place:?} {wanted}: {x}"
                            ),
                            None => {
                                assert!(
                                    !exists || !is_complete(op, first, other),
                                    "{op:?} {width} {place:?} {wanted}"
                                )
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sides_are_all_values_that_a_comparison_allows() {
        for (width, op) in
            (1..=4).flat_map(|w| [Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle].map(|op| (w, op)))
        {
            let s = Shape { width: 1, operand: width, low: 0 };
            for (other, first) in (0..=mask(width)).flat_map(|other| [(other, true), (other, false)]) {
                for wanted in [true, false] {
                    let wish = side(op, width, first, other, wanted);
                    for x in 0..=mask(width) {
                        let truth = if first { word(op, s, x, other, 0) } else { word(op, s, other, x, 0) };
                        let allowed = wish.is_some_and(|wish| wish.contains(x));
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
    fn wishes_are_moved_and_narrowed_to_values_that_are_in_them() {
        let (width, extended) = (3, 4);
        let wishes = (0..16).flat_map(|from| (0..16).map(move |to| Wish { from, to }));
        for wish in wishes {
            for amount in 0..16u64 {
                for x in 0..16u64 {
                    assert_eq!(wish.plus(amount, 4).contains((x + amount) & 15), wish.contains(x));
                    assert_eq!(
                        wish.taken_from(amount, 4).contains(amount.wrapping_sub(x) & 15),
                        wish.contains(x)
                    );
                }
            }
            let narrowed = |wish: Option<Wish>, extend: &dyn Fn(u64) -> u64, of: Wish| {
                let some = wish.map(|wish| (0..8).filter(|&x| wish.contains(x)).collect::<Vec<_>>());
                let all: Vec<u64> = (0..8).filter(|&x| of.contains(extend(x))).collect();
                assert_eq!(some.is_none(), all.is_empty(), "{of:?}");
                assert!(some.unwrap_or_default().iter().all(|x| all.contains(x)), "{of:?} {wish:?}");
            };
            narrowed(wish.within(width), &|x| x, wish);
            narrowed(wish.within_signed(width, extended), &|x| signed(width, x) as u64 & 15, wish);
            (0..16).filter(|&x| !wish.contains(x)).for_each(|x| assert!(wish.contains(wish.nearest(x))));
        }
    }
}
