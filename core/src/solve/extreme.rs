//! The least or greatest value of a bit-vector on a path.
//!
//! The sets of the path bound it from one side, a model from the other; the bound itself is asked for first, since it is
//! mostly met, and then the middle of what is left. Every model found moves its side as far as it goes. Values are kept
//! so that the one looked for is the greatest unsigned: signed order is unsigned order with the sign flipped, and the
//! least of a value is the greatest of its complement.
use super::Solver;
use crate::budget::{Budget, Why};
use crate::expr::{Bits, Expr};
use crate::interval::Set;
use crate::query::{Answer, Path, Query};
use std::cmp::Ordering;

/// Which value is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extreme {
    pub greatest: bool,
    pub signed: bool,
}

impl Extreme {
    /// What a value is xored with so that the greatest unsigned is looked for.
    fn turn(self, width: u32) -> Bits {
        let sign = Bits::word(1, 1).zext(width).shl(u64::from(width) - 1);
        let flipped = if self.signed { sign } else { Bits::zero(width) };
        if self.greatest { flipped } else { flipped.not() }
    }

    /// The furthest that the set leaves, as a value.
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
    /// The extreme value of a bit-vector on the path; `None` if nothing satisfies the path.
    pub fn extreme(
        &mut self,
        path: Path,
        e: Expr,
        which: Extreme,
        budget: &Budget,
    ) -> Result<Option<Bits>, Why> {
        let width = self.graph.width(e);
        let turn = which.turn(width);
        let xor = |bits: &Bits| bits.zip(&turn, |a, b| a ^ b);
        let model = match self.check_path(path, budget) {
            Answer::Sat(model) => model,
            Answer::Unsat(_) => return Ok(None),
            Answer::Unknown(why) => return Err(why),
        };
        let mut reached = xor(&self.evaluator.under(&self.graph, &model).bits(e));
        let bound = (width <= 64).then(|| self.values(path, e)).and_then(|set| which.bound(&set));
        let mut limit = bound.map_or_else(|| Bits::ones(width), |bits| xor(&bits));
        let constant = self.graph.constant(turn.clone());
        let turned = self.graph.xor(e, constant);
        let one = Bits::word(width, 1);
        let mut next = limit.clone();
        while reached.ucmp(&limit) == Ordering::Less {
            let least = self.graph.constant(next.clone());
            let further = self.graph.ule(least, turned);
            match self.check(&Query::new(path, further), budget) {
                Answer::Sat(model) => {
                    reached = xor(&self.evaluator.under(&self.graph, &model).bits(e));
                    debug_assert_ne!(reached.ucmp(&next), Ordering::Less);
                }
                Answer::Unsat(_) => limit = next.sub(&one),
                Answer::Unknown(why) => return Err(why),
            }
            // The middle, rounded up: above what was reached.
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
        Solver::new(build_chain(&spec, &mut |_| Ok(None)).expect("layers of ours"))
    }

    const ALL: [Extreme; 4] = [
        Extreme { greatest: true, signed: false },
        Extreme { greatest: false, signed: false },
        Extreme { greatest: true, signed: true },
        Extreme { greatest: false, signed: true },
    ];

    /// Every set of values of four bits, as the disjunction of its members.
    #[test]
    fn every_set_of_small_values_has_its_extremes() {
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
    fn words_of_any_width_take_few_questions() {
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
    fn without_time_there_is_no_answer() {
        let mut solver = solver("simplify sat");
        let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
        let budget = Budget::for_time(std::time::Duration::ZERO);
        assert!(solver.extreme(solver.tree.root(), x, ALL[0], &budget).is_err());
    }
}
