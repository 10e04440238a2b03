//! A model at hand that a question's newest constraints violate, changed so that they hold.
//!
//! What is violated is followed down to one input, and what each operator on the way gives is turned into what its
//! operand would have to be. The input is the one that the fewest constraints mention: most often nothing else depends
//! on it yet. If something does, that is repaired next, by other inputs. One or two evaluations instead of a search:
//! tried before anything dear is. Verdicts do not depend on it; models are evaluated against every constraint.
//! Source: propagation-based local search (Niemetz, Preiner, Biere: CAV 2016), of which this is a single walk.

mod inverse;
mod wishes;

use super::Rest;
use crate::expr::walk::Atom;
use crate::expr::{Expr, Model};
use crate::interval::Comparison;
use crate::query::Query;
use smallvec::SmallVec;
use wishes::Wishes;

/// Constraints that are repaired one after the other, each with inputs that were not changed before.
const ROUNDS: usize = 4;
/// What a round takes beside evaluation, about.
const ROUND_NS: u64 = 1_000;
/// Inputs that wishes are followed down to.
const FOLLOWED: usize = 2;
/// Inputs of a constraint and constraints of a question that are looked at.
const INPUTS: usize = 16;
const CONSTRAINTS: usize = 64;
/// Nodes that may be computed for one question, and in trying one input after the other.
const MAX_NODES: u64 = 4096;
const NODES: u64 = 256;
/// So many questions are tried before it is judged; then all, while one in so many is answered, or one in so many.
const TRIES: u32 = 32;
const USE: u32 = 3;
const AGAIN: u32 = 64;

/// How often a repair was tried and led to an answer, and memory for the next.
#[derive(Default)]
pub struct Repairs {
    tried: u32,
    found: u32,
    passed: u32,
    answered: u64,
    wishes: Wishes,
}

impl Repairs {
    fn is_worth_it(&mut self) -> bool {
        let pays = self.tried < TRIES || self.found * USE >= self.tried;
        self.passed = if pays { 0 } else { self.passed + 1 };
        pays || self.passed.is_multiple_of(AGAIN)
    }

    fn note(&mut self, found: bool) {
        if self.tried >= 2 * TRIES {
            (self.tried, self.found) = (self.tried / 2, self.found / 2);
        }
        self.tried += 1;
        self.found += u32::from(found);
        self.answered += u64::from(found);
    }

    /// Questions that were answered.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// A model of the question, made of one that violates these. Not where sets most likely do as well: if all are over
    /// one input, or compare one with a constant.
    pub fn repaired(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        model: &Model,
        mut violated: impl Iterator<Item = Expr>,
    ) -> Option<Model> {
        if query.slice.as_ref().map_or(rest.tree.depth(query.path) as usize, |slice| slice.len())
            > CONSTRAINTS
        {
            return None;
        }
        let is_involved =
            |&e: &Expr| Comparison::of(rest.graph, e).is_none() && rest.supports.of(rest.graph, e).len() > 1;
        let first = violated.find(is_involved)?;
        if !self.is_worth_it() {
            return None;
        }
        let found = self.repair(query, rest, model.clone(), first);
        self.note(found.is_some());
        found
    }

    fn repair(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        mut model: Model,
        mut violated: Expr,
    ) -> Option<Model> {
        let constraints = query.constraints(rest.tree);
        self.wishes.begin();
        let before = rest.evaluator.work;
        for _ in 0..ROUNDS {
            if rest.evaluator.work - before > MAX_NODES {
                return None;
            }
            rest.charge(ROUND_NS);
            let inputs = self.freest_first(rest, &constraints, violated)?;
            let mut followed = inputs.iter().take(FOLLOWED);
            if !followed.any(|&input| self.granted(rest, &mut model, violated, input))
                && !self.flipped(rest, &mut model, violated, &inputs)
            {
                return None;
            }
            let mut session = rest.evaluator.under(rest.graph, &model);
            let all = constraints.iter().chain([&query.condition]).rev();
            let Some(next) = all.copied().find(|&e| !session.truth(e)) else { return Some(model) };
            violated = next;
        }
        None
    }

    /// Changes the model so that the truth holds, by going down to this input.
    fn granted(&mut self, rest: &mut Rest<'_>, model: &mut Model, truth: Expr, input: Atom) -> bool {
        let session = rest.evaluator.under(rest.graph, model);
        let Some(changes) = self.wishes.grant(rest.graph, session, truth, input) else { return false };
        let mut changed = model.clone();
        changes.iter().for_each(|&(atom, value)| changed.set_atom(rest.graph, atom, value));
        let holds = rest.evaluator.under(rest.graph, &changed).truth(truth);
        if holds {
            *model = changed;
            self.wishes.accept();
        }
        holds
    }

    /// Changes the lowest bit of one of the inputs so that the truth holds.
    fn flipped(&mut self, rest: &mut Rest<'_>, model: &mut Model, truth: Expr, inputs: &[Atom]) -> bool {
        let before = rest.evaluator.work;
        for &atom in inputs {
            if rest.evaluator.work - before > NODES {
                return false;
            }
            let value = model.atom(atom);
            model.set_atom(rest.graph, atom, value ^ 1);
            if rest.evaluator.under(rest.graph, model).truth(truth) {
                self.wishes.note(atom);
                return true;
            }
            model.set_atom(rest.graph, atom, value);
        }
        false
    }

    /// The words in an expression that may be changed, those first that the fewest constraints mention.
    fn freest_first(
        &self,
        rest: &mut Rest<'_>,
        constraints: &[Expr],
        of: Expr,
    ) -> Option<SmallVec<[Atom; INPUTS]>> {
        let atoms = rest.supports.of(rest.graph, of);
        if atoms.len() > INPUTS {
            return None;
        }
        let may_change = |atom: &Atom| {
            let is_word = !matches!(atom, Atom::Array(_)) && rest.graph.width(atom.variable()) <= 64;
            is_word && !self.wishes.changed().contains(atom)
        };
        let mut mentions: SmallVec<[(u32, Atom); INPUTS]> =
            atoms.iter().rev().filter(|atom| may_change(atom)).map(|&atom| (0, atom)).collect();
        if mentions.len() > 1 {
            for &constraint in constraints {
                let of = rest.supports.of(rest.graph, constraint);
                mentions
                    .iter_mut()
                    .for_each(|(count, atom)| *count += u32::from(of.binary_search(atom).is_ok()));
            }
            mentions.sort_by_key(|(count, _)| *count);
        }
        Some(mentions.into_iter().map(|(_, atom)| atom).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expr::{Graph, Sort};
    use crate::query::Answer;
    use crate::solve::{Solver, Spec, build_chain};

    struct Asked {
        solver: Solver,
        bytes: [Expr; 4],
    }

    impl Asked {
        /// With four bytes, `sat` below.
        fn new() -> Asked {
            let spec = Spec::parse("intervals sat", &Spec(Vec::new())).unwrap();
            let mut solver = Solver::new(build_chain(&spec, &mut |_| Ok(None)).unwrap());
            let array = solver.graph.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
            let bytes = [0, 1, 2, 3].map(|i| {
                let at = solver.graph.word(32, i);
                solver.graph.read(array, at, 1)
            });
            Asked { solver, bytes }
        }

        /// Asks for a condition under constraints: the verdict, and how many repairs have answered so far.
        fn ask(&mut self, build: impl Fn(&mut Graph, [Expr; 4]) -> Vec<Expr>) -> (&'static str, f64) {
            let mut all = build(&mut self.solver.graph, self.bytes);
            let condition = all.pop().expect("a condition");
            let path = all.into_iter().fold(self.solver.tree.root(), |path, constraint| {
                self.solver.tree.extend(&self.solver.graph, path, constraint)
            });
            let answer = self.solver.check(&Query::new(path, condition), &Budget::unlimited());
            if let Answer::Sat(model) = &answer {
                let query = Query::new(path, condition);
                let Solver { graph, tree, evaluator, .. } = &mut self.solver;
                assert!(crate::query::verify(graph, tree, &query, model, evaluator).is_ok());
            }
            let counters = &self.solver.statistics()[0].counters;
            (answer.verdict(), counters.iter().find(|(name, _)| name == "repaired").unwrap().1)
        }
    }

    #[track_caller]
    fn is_repaired(build: impl Fn(&mut Graph, [Expr; 4]) -> Vec<Expr>) {
        assert_eq!(Asked::new().ask(build), ("sat", 1.0));
    }

    #[test]
    fn wishes_go_through_every_kind_of_operator() {
        // A parity, a sum, a product, a quotient, a remainder, shifts, masks, extensions, an `ite`.
        is_repaired(|g, [a, b, c, _]| {
            let ab = g.xor(a, b);
            let all = g.xor(ab, c);
            let bit = g.extract(all, 5, 1);
            let one = g.word(1, 1);
            vec![g.eq(bit, one)]
        });
        is_repaired(|g, [a, b, ..]| {
            let (a, b) = (g.sext(a, 32), g.zext(b, 32));
            let (seven, limit) = (g.word(32, 7), g.word(32, 300));
            let product = g.mul(a, seven);
            let sum = g.add(product, b);
            vec![g.slt(limit, sum)]
        });
        is_repaired(|g, [a, b, ..]| {
            let (five, nine, three, two) = (g.word(8, 5), g.word(8, 9), g.word(8, 3), g.word(8, 2));
            let (quotient, rest) = (g.udiv(a, five), g.urem(b, nine));
            let both = g.concat(quotient, rest);
            let wanted = g.concat(three, two);
            vec![g.eq(both, wanted)]
        });
        is_repaired(|g, [a, b, ..]| {
            let (three, mask, wanted) = (g.word(8, 3), g.word(8, 0x70), g.word(8, 0x58));
            let shifted = g.shl(a, three);
            let masked = g.and(b, mask);
            let joined = g.or(shifted, masked);
            vec![g.eq(joined, wanted)]
        });
        is_repaired(|g, [a, b, c, _]| {
            let (zero, nine) = (g.word(8, 0), g.word(8, 9));
            let is_zero = g.eq(a, zero);
            let sum = g.add(b, c);
            let chosen = g.ite(is_zero, nine, sum);
            let more = g.word(8, 77);
            vec![g.eq(chosen, more)]
        });
    }

    #[test]
    fn tables_are_searched_for_what_is_wanted() {
        is_repaired(|g, [a, b, ..]| {
            let zero = g.word(8, 0);
            let nothing = g.const_array(8, zero);
            let squares = g.table_over(nothing, (0..16).map(|i| i * i).collect());
            let read = g.read(squares, a, 1);
            let sum = g.add(read, b);
            let limit = g.word(8, 200);
            // The sum is at least 200 with a = 15, or with another b.
            vec![g.ule(b, zero), g.ule(limit, sum)]
        });
    }

    #[test]
    fn where_wishes_lead_nowhere_each_input_is_tried() {
        // A counter at a computed place, one more each time: three unless a place differs.
        is_repaired(|g, places| {
            let zero = g.word(8, 0);
            let mut counters = g.const_array(8, zero);
            for place in &places[..3] {
                let before = g.read(counters, *place, 1);
                let one = g.word(8, 1);
                let more = g.add(before, one);
                counters = g.store(counters, *place, more);
            }
            let (count, two) = (g.read(counters, places[3], 1), g.word(8, 2));
            vec![g.eq(count, two)]
        });
    }

    #[test]
    fn what_a_repair_breaks_is_repaired_by_other_inputs() {
        is_repaired(|g, [a, b, c, d]| {
            let (zero, nine) = (g.word(8, 0), g.word(8, 9));
            let (sum, difference) = (g.add(c, d), g.sub(c, d));
            // Of b and c, b is mentioned less; then a has to follow.
            let others = [g.eq(a, b), g.eq(sum, zero), g.eq(difference, zero)];
            let condition = g.add(b, c);
            let condition = g.eq(condition, nine);
            others.into_iter().chain([condition]).collect()
        });
    }

    #[test]
    fn what_has_no_model_is_left_to_others_and_soon_not_tried() {
        let mut asked = Asked::new();
        for i in 0..4 * u64::from(TRIES) {
            let (verdict, repaired) = asked.ask(|g, [a, b, ..]| {
                let (a, b) = (g.zext(a, 32), g.zext(b, 32));
                let product = g.mul(a, b);
                let limit = g.word(32, 65_026 + i);
                vec![g.ule(limit, product)]
            });
            assert_eq!((verdict, repaired), ("unsat", 0.0));
        }
        let mut repairs = Repairs::default();
        let tried = (0..1000).filter(|_| {
            let tries = repairs.is_worth_it();
            if tries {
                repairs.note(false);
            }
            tries
        });
        assert!((TRIES..2 * TRIES).contains(&(tried.count() as u32)));
    }
}
