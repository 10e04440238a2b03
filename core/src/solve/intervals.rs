//! The layer `intervals`: sets of values of bits of the inputs, learnt once per path node.
//!
//! Answers: unsat if a set is empty; sat if the path model, a repaired path model (`repair`) or a model chosen from the
//! sets satisfies the query.
//! Why sound: a set contains every solution of its reasons, so the reasons of an empty one are a core. Models are
//! evaluated on every constraint.
//! When it helps: conditions on one byte or word, which are most of a program's conditions; bounds of several words.
//! Cost: learning one constraint per path node; then a look-up and an intersection for a condition seen before.
//! Source: PARTI (ASE 2018), without its restrictions; docs/intervals.md says where it differs.

use super::repair::Repairs;
use super::{Layer, Rest};
use crate::cost;
use crate::expr::{Expr, Model};
use crate::interval::{Facts, GuessStrategy, Imprecision, Set, Summary, guess_model};
use crate::query::{Alive, Answer, Core, Query, Reasons};
use crate::throttle::Throttle;
use crate::tuning::{IntervalsOptions, ThrottleOptions};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Least limit of nodes for one query, however cheap solves are.
const MIN_NODES: u64 = 32;
/// Cost of a node that is folded and visited.
const NODE: u64 = cost::FOLD_NODE + cost::SUMMARY_NODE;
/// Cost of a candidate from which nothing is inferred, in nodes.
const NODES_PER_CANDIDATE: usize = 16;

/// Result of the sets for a query.
enum Verdict {
    Sat(Model),
    /// Unsatisfiable constraints, possibly with the condition.
    Unsat(Reasons),
    Open,
}

/// The path model, or that of the nearest feasible ancestor: where a search for a model starts.
struct Start {
    model: Model,
    /// Violated constraints of the query; all are newer than the node of the model.
    violated: SmallVec<[Expr; 4]>,
    /// Does the model satisfy the condition?
    holds: bool,
}

impl Start {
    fn of(query: &Query, rest: &mut Rest<'_>) -> Start {
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let model = rest.tree.model(ancestor).expect("a feasible node").clone();
        let mut session = rest.evaluator.under(rest.graph, &model);
        let holds = session.truth(query.condition);
        let newer = rest.tree.depth(query.path) - rest.tree.depth(ancestor);
        let mut violated: SmallVec<[Expr; 4]> = match &query.slice {
            Some(slice) if slice.len() <= newer as usize => {
                slice.list().iter().copied().filter(|&e| !session.truth(e)).collect()
            }
            _ => rest
                .tree
                .upwards(query.path)
                .take(newer as usize)
                .map(|node| rest.tree.constraint(node))
                .filter(|&e| !session.truth(e))
                .collect(),
        };
        if let Some(slice) = &query.slice {
            violated.retain(|e| rest.index.contains(rest.graph, slice, *e));
        }
        Start { model, violated, holds }
    }

    /// Violated condition and constraints, the condition first.
    fn violated(&self, query: &Query) -> impl Iterator<Item = Expr> + '_ {
        (!self.holds).then_some(query.condition).into_iter().chain(self.violated.iter().copied())
    }
}

pub struct Intervals {
    options: IntervalsOptions,
    throttle: ThrottleOptions,
    /// By the reason why sets are inexact for the condition: conditions of one kind tend to behave alike.
    kinds: FxHashMap<Option<Imprecision>, Kind>,
    /// Number of queries passed on, by reason.
    passed: BTreeMap<String, u64>,
    repairs: Option<Repairs>,
}

/// Experience with one kind of condition.
struct Kind {
    throttle: Throttle,
    /// Index of the strategy that found the last model; it is tried first.
    strategy: usize,
}

impl Intervals {
    fn add(&self, about: &mut Vec<u32>, more: &[u32]) {
        for &number in more {
            if (about.len() as u64) < self.options.ranges && !about.contains(&number) {
                about.push(number);
            }
        }
    }

    pub fn new(options: IntervalsOptions, throttle: &ThrottleOptions) -> Intervals {
        let repairs = options.repair.then(|| Repairs::new(&options, throttle));
        Intervals {
            options,
            throttle: throttle.clone(),
            kinds: FxHashMap::default(),
            passed: BTreeMap::new(),
            repairs,
        }
    }

    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>, facts: &Facts, start: &Start) -> Verdict {
        if let Some(because) = &facts.infeasible {
            return Verdict::Unsat(because.flatten());
        }
        if let Some(verdict) = self.decide_by_ranges(query, rest, facts, start) {
            return verdict;
        }
        let kind = rest.learner.summary(rest.graph, query.condition).imprecision();
        let new = || Kind { throttle: Throttle::by_tries(&self.throttle), strategy: 0 };
        let known = self.kinds.entry(kind).or_insert_with(new);
        if known.throttle.skips() {
            return Verdict::Open;
        }
        let (nodes, mut strategy) = (max_nodes(rest, self.options.nodes), known.strategy);
        let verdict = self.learn(query, rest, facts, start, (nodes, &mut strategy));
        let known = self.kinds.get_mut(&kind).expect("inserted above");
        known.strategy = strategy;
        known.throttle.note(1, if matches!(verdict, Verdict::Open) { 0 } else { self.options.tries });
        verdict
    }

    /// Learns the condition: unsat if the sets have no value then, sat with a model chosen from them.
    fn learn(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        facts: &Facts,
        start: &Start,
        (effort, strategy): (usize, &mut usize),
    ) -> Verdict {
        rest.learner.set_effort(effort);
        let mut violated = Vec::new();
        for &constraint in &start.violated {
            self.add(&mut violated, &rest.learner.ranges_of(rest.graph, facts, constraint));
        }
        let condition = query.condition;
        let mut with = facts.clone();
        rest.learner.learn(rest.graph, &mut with, condition);
        let mut about = rest.learner.ranges_of(rest.graph, &with, condition);
        with.check(&rest.learner.ranges, &about);
        if let Some(because) = &with.infeasible {
            let reasons = because.flatten();
            if !reasons.contains(condition) {
                return Verdict::Unsat(reasons);
            }
            let others: Reasons = reasons.as_slice().iter().copied().filter(|&e| e != condition).collect();
            let others = rest.learner.shrink_core(rest.graph, &others, condition);
            return Verdict::Unsat(others.union(&Reasons::One(condition)));
        }
        self.add(&mut about, &violated);
        let limits = (effort / NODES_PER_CANDIDATE, strategy);
        Intervals::guess(query, rest, &with, &start.model, &about, limits).map_or(Verdict::Open, Verdict::Sat)
    }

    /// Fast path: the sets of the ranges in the condition decide it, or other values of these ranges satisfy it. For
    /// conditions, and new constraints of the path, that are exactly a conjunction of sets of ranges.
    fn decide_by_ranges(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        facts: &Facts,
        start: &Start,
    ) -> Option<Verdict> {
        let summary = rest.learner.summary(rest.graph, query.condition);
        for (number, wanted) in &summary.implied.sets {
            if let Some(view) = facts.stored(*number)
                && view.set.is_disjoint(wanted)
            {
                let reasons = rest.learner.core_excluding(rest.graph, *number, wanted, &view.reasons);
                return Some(Verdict::Unsat(reasons.union(&Reasons::One(query.condition))));
            }
        }
        if !summary.implied.exact {
            return None;
        }
        let mut model = start.model.clone();
        for &constraint in &start.violated {
            let violated = rest.learner.summary(rest.graph, constraint);
            if !violated.implied.exact || !assign(rest, facts, &violated, &mut model) {
                return None;
            }
        }
        let assigned = assign(rest, facts, &summary, &mut model);
        (assigned && rest.satisfies(query, &model).is_ok()).then_some(Verdict::Sat(model))
    }

    /// A model from the sets of these ranges, by one strategy after the other.
    fn guess(
        query: &Query,
        rest: &mut Rest<'_>,
        facts: &Facts,
        base: &Model,
        about: &[u32],
        (mut guesses, first): (usize, &mut usize),
    ) -> Option<Model> {
        let others = (0..GuessStrategy::ALL.len()).filter(|at| at != first);
        for at in [*first].into_iter().chain(others.collect::<Vec<_>>()) {
            let strategy = GuessStrategy::ALL[at];
            if if strategy.infers() { rest.learner.is_out_of_effort() } else { guesses == 0 } {
                continue;
            }
            guesses = guesses.saturating_sub(1);
            if let Some(model) = guess_model(rest.learner, rest.graph, facts, base, about, strategy)
                && rest.satisfies(query, &model).is_ok()
            {
                *first = at;
                return Some(model);
            }
        }
        None
    }

    fn answer(&self, query: &Query, verdict: Verdict) -> Option<Answer> {
        match verdict {
            Verdict::Sat(model) => Some(Answer::Sat(model)),
            Verdict::Open => None,
            Verdict::Unsat(reasons) => {
                let condition = reasons.contains(query.condition);
                let others = reasons.as_slice().iter().copied().filter(|&e| e != query.condition);
                Some(Answer::Unsat(Core { constraints: others.collect(), condition }))
            }
        }
    }

    fn pass(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let why = match rest.learner.summary(rest.graph, query.condition).imprecision() {
            Some(Imprecision::Size) => "size".to_string(),
            Some(Imprecision::Width) => "width".to_string(),
            Some(Imprecision::Array) => "array".to_string(),
            Some(Imprecision::Operator(op)) => format!("operator_{op:?}").to_lowercase(),
            Some(Imprecision::Several(op)) => format!("several_{op:?}").to_lowercase(),
            // Sets are exact for the condition, but not for the constraints.
            None => "constraints".to_string(),
        };
        *self.passed.entry(why).or_default() += 1;
        rest.check(query).answer
    }
}

/// Limit of nodes for a query: at most twice the cost of a solve.
fn max_nodes(rest: &Rest<'_>, most: u64) -> usize {
    let nodes = rest.solve_estimate().map_or(most, |solve| 2 * solve / NODE);
    nodes.max(MIN_NODES).min(most) as usize
}

/// Changes the ranges of a constraint in the model to values in its sets and in those of the facts. False if there is no
/// value, or if facts exist for other ranges that share bits.
fn assign(rest: &Rest<'_>, facts: &Facts, summary: &Summary, model: &mut Model) -> bool {
    let ranges = &rest.learner.ranges;
    summary.implied.sets.iter().all(|(number, wanted)| {
        if ranges.overlaps(*number).iter().any(|&other| facts.stored(other).is_some()) {
            return false;
        }
        let range = ranges.range(*number);
        let now = range.value(rest.graph, model);
        let next = |values: &Set| values.next_from(now).or_else(|| values.min());
        let value = match facts.stored(*number) {
            Some(view) => next(&view.set.intersect(wanted).set),
            None => next(wanted),
        };
        value.is_some_and(|value| {
            if value != now {
                range.assign(rest.graph, model, value);
            }
            true
        })
    })
}

impl Layer for Intervals {
    fn name(&self) -> &str {
        "intervals"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let start = Start::of(query, rest);
        if start.holds && start.violated.is_empty() {
            return Answer::Sat(start.model);
        }
        if let Some(repairs) = &mut self.repairs
            && let Some(model) = repairs.repair(query, rest, &start.model, start.violated(query))
        {
            return Answer::Sat(model);
        }
        let facts = rest.learner.facts(rest.graph, rest.tree, query.path);
        let mut verdict = self.decide(query, rest, &facts, &start);
        // Constraints outside the slice may not be used: they could not be part of the core.
        if let (Verdict::Unsat(reasons), Some(slice)) = (&verdict, &query.slice)
            && !reasons.as_slice().iter().all(|&e| rest.is_inside(query, e))
        {
            let facts = rest.learner.facts_of(rest.graph, slice.list());
            verdict = self.decide(query, rest, &facts, &start);
        }
        if let (Verdict::Open, Some(repairs)) = (&verdict, &mut self.repairs)
            && let Some(model) = repairs.search(query, rest, &facts, &start.model)
        {
            return Answer::Sat(model);
        }
        match self.answer(query, verdict) {
            Some(answer) => answer,
            None => self.pass(query, rest),
        }
    }

    /// The facts of paths belong to the shared `Learner`.
    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn counters(&self) -> Vec<(String, f64)> {
        let repaired = self.repairs.as_ref().map_or(0, Repairs::answered);
        let passed = self.passed.iter().map(|(why, count)| (format!("passed_{why}"), *count));
        let searched = self.repairs.as_ref().map_or(0, Repairs::searched);
        [("repaired".to_string(), repaired), ("searched".to_string(), searched)]
            .into_iter()
            .chain(passed)
            .map(|(name, n)| (name, n as f64))
            .collect()
    }
}
