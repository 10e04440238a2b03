//! The driver of the chain: passes a query to the next layer, counts effort, answers and time.
//!
//! `Rest` is what a layer sees: the layers below, graph, path tree, budget and shared services. A layer returns an
//! `Answer`; the driver makes the `Reply` by adding the effort, because most of it is counted by the shared services and
//! a layer could only repeat their sum. Own work is added with `Rest::spend`. The clock is read for statistics only.

use super::Layer;
use super::near_misses::NearMisses;
use crate::budget::{Budget, Why};
use crate::cost;
use crate::expr::walk::Supports;
use crate::expr::{Evaluator, Expr, Graph, Model};
use crate::interval::{Facts, KnownSet, Learner};
use crate::query::{Answer, PathIndex, PathTree, Query};
use std::time::{Duration, Instant};

/// An answer and the effort it took.
#[derive(Debug)]
pub struct Reply {
    pub answer: Answer,
    /// Effort of the layers that were asked, weighted by the table of costs.
    pub effort: u64,
    /// The part of `effort` that complete layers spent.
    pub solving: u64,
}

/// Number of queries of a layer by result, and what they took. `asked = sat + unsat + unknown + passed`.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    /// Queries for which the layer asked those below it.
    pub passed: u64,
    /// Time without that of the layers below.
    pub own: Duration,
    /// Effort without that of the layers below.
    pub effort: u64,
}

pub(super) struct Metered {
    pub layer: Box<dyn Layer>,
    pub meter: Meter,
    is_complete: bool,
}

impl Metered {
    pub fn new(layer: Box<dyn Layer>) -> Metered {
        Metered { is_complete: layer.is_complete(), layer, meter: Meter::default() }
    }
}

/// Effort of the whole chain so far.
#[derive(Default)]
pub(super) struct Spent {
    /// Effort that the shared services do not count.
    own: u64,
    /// Effort of complete layers.
    solving: u64,
    /// Number of decided solves, and their effort.
    decided: (u64, u64),
}

/// Work of the layers below since a layer was entered.
#[derive(Default)]
pub(super) struct Below {
    time: Duration,
    pub effort: u64,
    pub is_asked: bool,
    /// Longest own time of a layer, and the number of layers from it on.
    pub slowest: (Duration, usize),
}

/// The layers below, and what all layers share.
pub struct Rest<'a> {
    pub(super) layers: &'a mut [Metered],
    pub graph: &'a mut Graph,
    pub tree: &'a mut PathTree,
    pub budget: &'a Budget,
    pub evaluator: &'a mut Evaluator,
    /// Facts of paths.
    pub learner: &'a mut Learner,
    /// Inputs of expressions.
    pub supports: &'a mut Supports,
    /// Components of paths, and the constraints that mention an input.
    pub index: &'a mut PathIndex,
    pub near_misses: &'a mut NearMisses,
    pub(super) spent: &'a mut Spent,
    /// Value of `effort()` at which the budget is spent.
    pub(super) effort_limit: u64,
    pub(super) below: Below,
}

impl Rest<'_> {
    /// Effort of the chain so far, over all queries.
    pub fn effort(&self) -> u64 {
        self.spent.total(self.evaluator, self.index, self.learner)
    }

    /// Effort that the budget has left; `u64::MAX` if it is not limited.
    pub fn effort_left(&self) -> u64 {
        match self.effort_limit {
            u64::MAX => u64::MAX,
            limit => limit.saturating_sub(self.effort()),
        }
    }

    /// Counts effort of a layer, beyond evaluation and learning.
    pub fn spend(&mut self, effort: u64) {
        self.spent.own += effort;
    }

    /// Mean effort of a solve; `None` before the first.
    pub fn solve_estimate(&self) -> Option<u64> {
        let (solves, effort) = self.spent.decided;
        effort.checked_div(solves)
    }

    /// Passes a query on with a budget of at most this effort.
    pub fn check_within(&mut self, query: &Query, effort: u64) -> Reply {
        let limit = self.effort_limit;
        self.effort_limit = limit.min(self.effort().saturating_add(effort));
        let reply = self.check(query);
        self.effort_limit = limit;
        reply
    }

    /// Passes a query on.
    pub fn check(&mut self, query: &Query) -> Reply {
        self.below.is_asked = true;
        let before = self.effort();
        let unknown = |why| Reply { answer: Answer::Unknown(why), effort: 0, solving: 0 };
        if let Some(why) = self.budget.spent() {
            return unknown(why);
        }
        if before >= self.effort_limit {
            return unknown(Why::Effort);
        }
        let layers = std::mem::take(&mut self.layers);
        let layers_left = layers.len();
        let Some((first, others)) = layers.split_first_mut() else {
            return unknown(Why::Incomplete);
        };
        let start = Instant::now();
        self.spent.own += cost::QUERY;
        let solving = self.spent.solving;
        let mut rest = self.above(others);
        let answer = first.layer.check(query, &mut rest);
        debug_assert!(rest.is_honest(query, &answer), "a wrong answer from layer {}", first.layer.name());
        let is_solve = first.is_complete && !rest.below.is_asked;
        if is_solve {
            rest.spend(cost::SOLVE);
        }
        let (effort, below) = (rest.effort() - before, rest.below);
        let time = start.elapsed();
        let own = time.saturating_sub(below.time);
        if is_solve {
            self.spent.note_solve(effort, &answer);
        }
        self.below.time += time;
        self.below.effort += effort;
        self.below.slowest = self.below.slowest.max(below.slowest).max((own, layers_left));
        first.meter.note(&answer, below.is_asked, own, effort - below.effort);
        self.layers = layers;
        Reply { answer, effort, solving: self.spent.solving - solving }
    }

    /// The view of a layer that stands above `layers`.
    fn above<'b>(&'b mut self, layers: &'b mut [Metered]) -> Rest<'b> {
        Rest {
            layers,
            graph: self.graph,
            tree: self.tree,
            budget: self.budget,
            evaluator: self.evaluator,
            learner: self.learner,
            supports: self.supports,
            index: self.index,
            near_misses: self.near_misses,
            spent: self.spent,
            effort_limit: self.effort_limit,
            below: Below::default(),
        }
    }

    /// Asks a layer that is not part of the chain, with no layers below it.
    pub(super) fn ask_alone(&mut self, layer: &mut dyn Layer, query: &Query) -> Answer {
        layer.check(query, &mut self.above(&mut []))
    }

    /// Does a layer below decide every query?
    pub(super) fn is_complete(&self) -> bool {
        // Most often the last layer does.
        self.layers.iter().rev().any(|metered| metered.is_complete)
    }

    /// Is there no layer below?
    pub fn is_last(&self) -> bool {
        self.layers.is_empty()
    }

    /// Does the model satisfy the query?
    ///
    /// # Errors
    /// The first violated constraint.
    pub fn satisfies(&mut self, query: &Query, model: &Model) -> Result<(), Expr> {
        let Some(constraints) = self.unsure(query, model) else {
            return crate::query::verify(self.graph, self.tree, query, model, self.evaluator);
        };
        let mut session = self.evaluator.under(self.graph, model);
        let violated = constraints.into_iter().chain([query.condition]).find(|e| !session.truth(*e));
        violated.map_or(Ok(()), Err)
    }

    /// Constraints of the query that a model may violate, oldest first: those that mention an input in which it differs
    /// from the model of the nearest feasible node, and those that are newer than this node. `None`: all of them.
    pub(super) fn unsure(&mut self, query: &Query, model: &Model) -> Option<Vec<Expr>> {
        let slice = query.slice.as_ref()?;
        let ancestor = self.tree.feasible_ancestor(query.path);
        let base = self.tree.model(ancestor).expect("a feasible node");
        let mut constraints = self.index.affected(slice, &base.changes(model))?;
        let newer = self.tree.depth(query.path) - self.tree.depth(ancestor);
        if newer > 0 {
            for node in self.tree.upwards(query.path).take(newer as usize) {
                let constraint = self.tree.constraint(node);
                if self.index.contains(self.graph, slice, constraint) {
                    constraints.push((self.tree.depth(node), constraint));
                }
            }
            constraints.sort_unstable();
            constraints.dedup();
        }
        Some(constraints.into_iter().map(|(_, constraint)| constraint).collect())
    }

    /// Is a constraint of the path, or the condition, part of the query?
    pub fn is_inside(&mut self, query: &Query, e: Expr) -> bool {
        match &query.slice {
            Some(slice) => e == query.condition || self.index.contains(self.graph, slice, e),
            None => true,
        }
    }

    /// Sets of some terms under the query's constraints and condition, with reasons among these.
    pub fn values(&mut self, query: &Query, terms: &[Expr]) -> Vec<KnownSet> {
        let of_path = self.learner.facts(self.graph, self.tree, query.path);
        let found = self.values_under(of_path, query.condition, terms);
        let Some(slice) = &query.slice else { return found };
        let mut reasons = found.iter().map(|known| known.reasons.flatten());
        if reasons.all(|reasons| reasons.as_slice().iter().all(|&e| self.is_inside(query, e))) {
            return found;
        }
        let of_slice = self.learner.facts_of(self.graph, slice.list());
        self.values_under(of_slice, query.condition, terms)
    }

    fn values_under(&mut self, mut facts: Facts, condition: Expr, terms: &[Expr]) -> Vec<KnownSet> {
        self.learner.set_effort(crate::interval::LEARNING_EFFORT);
        self.learner.learn(self.graph, &mut facts, condition);
        terms.iter().map(|&e| self.learner.values(self.graph, &facts, e)).collect()
    }

    fn is_honest(&mut self, query: &Query, answer: &Answer) -> bool {
        let work = self.evaluator.work;
        let constraints = match &query.slice {
            Some(slice) => slice.list_uncounted(),
            None => query.constraints(self.tree),
        };
        let honest = match answer {
            // All of them, also those that are known to hold.
            Answer::Sat(model) => {
                let mut session = self.evaluator.under(self.graph, model);
                constraints.iter().chain([&query.condition]).all(|e| session.truth(*e))
            }
            Answer::Unsat(core) => core.constraints.as_slice().iter().all(|e| constraints.contains(e)),
            Answer::Unknown(_) => true,
        };
        // Debug and release builds must count the same effort.
        self.evaluator.work = work;
        honest
    }
}

impl Spent {
    /// Effort with that of the shared services.
    pub fn total(&self, evaluator: &Evaluator, index: &PathIndex, learner: &Learner) -> u64 {
        self.own + (evaluator.work + index.work()) * cost::VALUE + learner.spent()
    }

    fn note_solve(&mut self, effort: u64, answer: &Answer) {
        self.solving += effort;
        if !matches!(answer, Answer::Unknown(_)) {
            self.decided = (self.decided.0 + 1, self.decided.1 + effort);
        }
    }
}

impl Meter {
    fn note(&mut self, answer: &Answer, is_passed: bool, own: Duration, effort: u64) {
        self.asked += 1;
        self.own += own;
        self.effort += effort;
        match (answer, is_passed) {
            (_, true) => self.passed += 1,
            (Answer::Sat(_), false) => self.sat += 1,
            (Answer::Unsat(_), false) => self.unsat += 1,
            (Answer::Unknown(_), false) => self.unknown += 1,
        }
    }
}
