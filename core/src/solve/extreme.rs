//! The least or greatest value of a bit-vector on a path.
//!
//! Binary search between the bound given by the sets of the path and the value in a model. The bound itself is tried
//! first, as it is mostly reached. All four cases are mapped to the greatest unsigned value: signed order is unsigned
//! order with the sign bit flipped, and the least value is the complement of the greatest complement.

use super::Solver;
use crate::budget::{Budget, Why};
use crate::expr::{Bits, Expr};
use crate::interval::Set;
use crate::query::{Answer, Path, Query};
use std::cmp::Ordering;

/// Which extreme value to compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extreme {
    pub greatest: bool,
    pub signed: bool,
}

impl Extreme {
    /// Mask that maps the order to unsigned and the extreme to the greatest value, by exclusive or.
    fn order_mask(self, width: u32) -> Bits {
        let sign = Bits::word(1, 1).zext(width).shl(u64::from(width) - 1);
        let flipped = if self.signed { sign } else { Bits::zero(width) };
        if self.greatest { flipped } else { flipped.not() }
    }

    /// The extreme value of a set.
    fn bound(self, set: &Set) -> Option<Bits> {
        let width = set.width();
        let word = match self {
            Extreme { greatest: true, signed: false } => set.max()?,
            Extreme { greatest: false, signed: false } => set.min()?,
            Extreme { greatest: true, signed: true } => set.signed_bounds()?.1 as u64,
            Extreme { greatest: false, signed: true } => set.signed_bounds()?.0 as u64,
        };
        Some(Bits::word(width, word))
    }
}

impl Solver {
    /// Returns the extreme value of a bit-vector on the path; `None` if the path is infeasible.
    ///
    /// # Errors
    /// The reason, if a query has no answer.
    pub fn extreme(
        &mut self,
        path: Path,
        e: Expr,
        which: Extreme,
        budget: &Budget,
    ) -> Result<Option<Bits>, Why> {
        let width = self.graph.width(e);
        let order_mask = which.order_mask(width);
        let xor = |bits: &Bits| bits.zip(&order_mask, |a, b| a ^ b);
        let model = match self.check_path(path, budget) {
            Answer::Sat(model) => model,
            Answer::Unsat(_) => return Ok(None),
            Answer::Unknown(why) => return Err(why),
        };
        let mut reached = xor(&self.evaluator.under(&self.graph, &model).bits(e));
        let bound = (width <= 64).then(|| self.values(path, e)).and_then(|set| which.bound(&set));
        let mut limit = bound.map_or_else(|| Bits::ones(width), |bits| xor(&bits));
        let constant = self.graph.constant(order_mask.clone());
        let mapped = self.graph.xor(e, constant);
        let one = Bits::word(width, 1);
        let mut next = limit.clone();
        while reached.ucmp(&limit) == Ordering::Less {
            let least = self.graph.constant(next.clone());
            let further = self.graph.ule(least, mapped);
            match self.check(&Query::new(path, further), budget) {
                Answer::Sat(model) => {
                    reached = xor(&self.evaluator.under(&self.graph, &model).bits(e));
                    debug_assert_ne!(reached.ucmp(&next), Ordering::Less);
                }
                Answer::Unsat(_) => limit = next.sub(&one),
                Answer::Unknown(why) => return Err(why),
            }
            // The middle, rounded up, so that it is above the value reached.
            next = reached.add(&limit.sub(&reached).add(&one).lshr(1));
            if next.ucmp(&reached) != Ordering::Greater {
                next = limit.clone();
            }
        }
        Ok(Some(xor(&reached)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Sort;
    use crate::solve::{Spec, build_chain};

    fn solver(spec: &str) -> Solver {
        let spec = Spec::parse(spec, &Spec(Vec::new())).expect("a chain");
        Solver::new(build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core"))
    }

    const ALL: [Extreme; 4] = [
        Extreme { greatest: true, signed: false },
        Extreme { greatest: false, signed: false },
        Extreme { greatest: true, signed: true },
        Extreme { greatest: false, signed: true },
    ];

    /// Every subset of the values of three bits, as the disjunction of its members.
    #[test]
    fn extremes_of_every_set_of_three_bits() {
        for set in 0u32..1 << 8 {
            let mut solver = solver("simplify sat");
            let x = solver.graph.var("x", Sort::Bits(3)).expect("a new name");
            let mut member = solver.graph.boolean(false);
            for value in (0..8).filter(|value| set >> value & 1 == 1) {
                let constant = solver.graph.word(3, value);
                let here = solver.graph.eq(x, constant);
                member = solver.graph.or(member, here);
            }
            let root = solver.tree.root();
            let path = solver.tree.extend(&solver.graph, root, member);
            for which in ALL {
                let found = solver.extreme(path, x, which, &Budget::unlimited()).expect("decided");
                let signed = |value: u64| if value >= 4 { value as i64 - 8 } else { value as i64 };
                let key = |value: &u64| if which.signed { signed(*value) } else { *value as i64 };
                let members = (0..8u64).filter(|value| set >> value & 1 == 1);
                let expected = if which.greatest { members.max_by_key(key) } else { members.min_by_key(key) };
                assert_eq!(found.map(|bits| bits.low()), expected, "{set:08b} {which:?}");
            }
        }
    }

    #[test]
    fn few_queries_are_needed_at_any_width() {
        for width in [8, 32, 64, 128] {
            let mut solver = solver("simplify split intervals sat");
            let x = solver.graph.var("x", Sort::Bits(width)).expect("a new name");
            let (low, high) = (solver.graph.word(width, 17), solver.graph.word(width, 99));
            let (above, below) = (solver.graph.ule(low, x), solver.graph.ule(x, high));
            let inside = solver.graph.and(above, below);
            let root = solver.tree.root();
            let path = solver.tree.extend(&solver.graph, root, inside);
            for which in ALL {
                let before = solver.queries();
                let found = solver.extreme(path, x, which, &Budget::unlimited()).expect("decided");
                let expected = if which.greatest { 99 } else { 17 };
                assert_eq!(found.map(|bits| bits.low()), Some(expected), "{width} {which:?}");
                let most = if width <= 64 { 2 } else { u64::from(width) + 2 };
                assert!(solver.queries() - before <= most, "{width} {which:?}");
            }
        }
    }

    #[test]
    fn no_answer_after_the_deadline() {
        let mut solver = solver("simplify sat");
        let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
        let budget = Budget::for_time(std::time::Duration::ZERO);
        assert!(solver.extreme(solver.tree.root(), x, ALL[0], &budget).is_err());
    }
}
