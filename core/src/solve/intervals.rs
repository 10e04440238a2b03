//! The layer `intervals`: sets of values of bits of the inputs, learnt once per path node.
//!
//! Answers: conditions that the sets of a path decide; whatever a model guessed from the sets satisfies, or the model at
//! hand with a repair (`repair`).
//! Why sound: every set contains every solution of the constraints behind it, so an empty one is a core; a model is
//! evaluated against every constraint before it is given out.
//! When it helps: conditions on one byte or word, which is what programs mostly ask; bounds of several.
//! Cost: the new constraint when a path grows; then one look-up and an intersection for a condition seen before.
//! Source: PARTI (ASE 2018), without its restrictions; docs/intervals.md says where it differs.

use super::repair::Repairs;
use super::{Layer, Rest};
use crate::expr::{Expr, Graph, Model, Op};
use crate::interval::{Facts, GuessStrategy, Imprecision, Learner, Set, Summary, guess_model};
use crate::query::{Alive, Answer, Core, Query, Reasons};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Models tried for one strategy, each with the leaves of the constraint that the last one violated.
const MAX_REPAIRS: usize = 3;
/// Nodes folded and visited for one query, at least and at most, and for the first of its kind.
const EFFORT: std::ops::RangeInclusive<usize> = 32..=256;
const FIRST_EFFORT: usize = 1024;
/// After so many queries in vain, one after the other, only one in so many is tried.
const VAIN: u32 = 32;
const TRIED: u32 = 8;
/// One in so many queries in vain is given the first effort again: what follows may be easier.
const SECOND_CHANCE: u32 = 64;
/// About how long a node takes.
const NODE_NS: u64 = 200;
/// Nodes that cost about as much as a guess of which nothing is inferred.
const GUESS: usize = 16;
/// Ranges that a guess may change.
const MAX_CHANGED: usize = 64;
/// Alternatives of a disjunction that are looked at one by one.
const MAX_CASES: usize = 8;

/// What the sets say of a query.
enum Verdict {
    Sat(Model),
    /// These constraints, the condition among them if it was needed, have no solution.
    Unsat(Reasons),
    Open,
}

/// Where a search for a model begins: the model of the nearest feasible node.
struct Start {
    model: Model,
    /// What it violates of the query's constraints, all of them newer than that node.
    violated: SmallVec<[Expr; 4]>,
    /// Is the condition true under it?
    holds: bool,
}

impl Start {
    fn of(query: &Query, rest: &mut Rest<'_>) -> Start {
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let model = rest.tree.model(ancestor).expect("a feasible node").clone();
        let mut session = rest.evaluator.under(rest.graph, &model);
        let holds = session.truth(query.condition);
        let newer = rest.tree.depth(query.path) - rest.tree.depth(ancestor);
        let violated = match &query.slice {
            Some(slice) if slice.len() <= newer as usize => {
                slice.iter().copied().filter(|&e| !session.truth(e)).collect()
            }
            slice => rest
                .tree
                .upwards(query.path)
                .take(newer as usize)
                .map(|node| rest.tree.constraint(node))
                .filter(|&e| !session.truth(e))
                .filter(|e| slice.as_ref().is_none_or(|slice| slice.contains(e)))
                .collect(),
        };
        Start { model, violated, holds }
    }

    /// All that it violates, the condition first.
    fn violated(&self, query: &Query) -> impl Iterator<Item = Expr> + '_ {
        (!self.holds).then_some(query.condition).into_iter().chain(self.violated.iter().copied())
    }
}

pub struct Intervals {
    /// By what sets cannot hold of the condition: conditions of one kind tend to go the same way.
    efforts: FxHashMap<Option<Imprecision>, Effort>,
    /// Queries passed on, by why.
    passed: BTreeMap<String, u64>,
    repairs: Option<Repairs>,
}

/// Nodes to be folded and visited for a query: more while that leads to answers, less while it is in vain. Balanced
/// where four queries in five are answered: below, the layers below are cheaper.
struct Effort {
    nodes: usize,
    in_vain: u32,
    /// Since the last that was answered.
    in_a_row: u32,
    /// What led to a model last: which of the strategies is tried first.
    strategy: usize,
}

impl Effort {
    fn next(&self) -> usize {
        if self.in_vain % SECOND_CHANCE == SECOND_CHANCE - 1 {
            FIRST_EFFORT.max(self.nodes)
        } else if self.in_a_row > VAIN && !self.in_a_row.is_multiple_of(TRIED) {
            0
        } else {
            self.nodes
        }
    }

    fn learn(&mut self, answered: bool) {
        if answered {
            self.nodes = (self.nodes + self.nodes / 16).min(*EFFORT.end());
            self.in_a_row = 0;
        } else {
            self.nodes = (self.nodes - self.nodes / 4).max(*EFFORT.start());
            self.in_vain = self.in_vain.wrapping_add(1);
            self.in_a_row = self.in_a_row.saturating_add(1);
        }
    }
}

impl Intervals {
    /// With or without repairs of the model at hand.
    pub fn new(repairs: bool) -> Intervals {
        let repairs = repairs.then(Repairs::default);
        Intervals { efforts: FxHashMap::default(), passed: BTreeMap::new(), repairs }
    }

    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>, facts: &Facts, start: &Start) -> Verdict {
        if let Some(because) = &facts.infeasible {
            return Verdict::Unsat(because.flatten());
        }
        if let Some(verdict) = self.short(query, rest, facts, start) {
            return verdict;
        }
        let kind = rest.learner.summary(rest.graph, query.condition).imprecision();
        let first = Effort { nodes: FIRST_EFFORT, in_vain: 0, in_a_row: 0, strategy: 0 };
        let known = self.efforts.entry(kind).or_insert(first);
        let (effort, mut strategy) = (known.next().min(worth(rest)), known.strategy);
        let verdict = if effort == 0 {
            Verdict::Open
        } else {
            self.try_cases(query, rest, facts, start, (effort, &mut strategy))
        };
        let known = self.efforts.get_mut(&kind).expect("just made");
        known.strategy = strategy;
        known.learn(!matches!(verdict, Verdict::Open));
        verdict
    }

    /// Supposes each case of the condition in turn: impossible all, or a model of one.
    fn try_cases(
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
            add(&mut violated, &rest.learner.ranges_of(rest.graph, facts, constraint));
        }
        let mut impossible = Reasons::None;
        let mut open = false;
        for case in cases(rest.learner, rest.graph, query.condition) {
            let mut with = facts.clone();
            rest.learner.learn(rest.graph, &mut with, case);
            let mut about = rest.learner.ranges_of(rest.graph, &with, case);
            with.check(&rest.learner.ranges, &about);
            if let Some(because) = &with.infeasible {
                let reasons = because.flatten();
                let needed = reasons.contains(case);
                let mut others: Reasons = reasons.as_slice().iter().copied().filter(|&e| e != case).collect();
                if needed {
                    others = rest.learner.shrink_core(rest.graph, &others, case);
                    others = others.union(&Reasons::One(query.condition));
                }
                impossible = impossible.union(&others);
                rest.learner.set_effort(effort);
                continue;
            }
            add(&mut about, &violated);
            if let Some(model) =
                self.guess(query, rest, &with, &start.model, about, (effort / GUESS, strategy))
            {
                return Verdict::Sat(model);
            }
            open = true;
        }
        if open { Verdict::Open } else { Verdict::Unsat(impossible) }
    }

    /// The short way for a condition that says something of ranges and nothing else, most often of one, on a path
    /// whose newest constraints do: a look at the sets, and a model with other values of those ranges.
    fn short(&mut self, query: &Query, rest: &mut Rest<'_>, facts: &Facts, start: &Start) -> Option<Verdict> {
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

    fn guess(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        facts: &Facts,
        base: &Model,
        mut about: Vec<u32>,
        (mut guesses, first): (usize, &mut usize),
    ) -> Option<Model> {
        let others = (0..GuessStrategy::ALL.len()).filter(|at| at != first);
        for at in [*first].into_iter().chain(others.collect::<Vec<_>>()) {
            let strategy = GuessStrategy::ALL[at];
            if strategy.infers() && rest.learner.is_out_of_effort() {
                continue;
            }
            for _ in 0..MAX_REPAIRS {
                if guesses == 0 && !strategy.infers() {
                    break;
                }
                guesses = guesses.saturating_sub(1);
                let guess = guess_model(rest.learner, rest.graph, facts, base, &about, strategy);
                let Some((model, facts)) = guess else { break };
                let Err(violated) = rest.satisfies(query, &model) else {
                    *first = at;
                    return Some(model);
                };
                let before = about.len();
                let more = rest.learner.ranges_of(rest.graph, &facts, violated);
                add(&mut about, &more);
                if about.len() == before {
                    break;
                }
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
            // The condition is clear; it is the constraints that are not.
            None => "constraints".to_string(),
        };
        *self.passed.entry(why).or_default() += 1;
        rest.check(query)
    }
}

/// Nodes that take about twice as long as a solve does: more of them are not worth it.
fn worth(rest: &Rest<'_>) -> usize {
    let nodes = |solve: u64| usize::try_from(2 * solve / NODE_NS).unwrap_or(usize::MAX);
    rest.harvest.solving().map_or(usize::MAX, nodes).max(*EFFORT.start())
}

/// Changes the model where a constraint says something, to values that the facts allow. False where there is none, or
/// where other ranges that share bits with it have a say.
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

/// The condition itself, or the alternatives of a disjunction that sets cannot hold.
fn cases(learner: &mut Learner, graph: &Graph, condition: Expr) -> Vec<Expr> {
    if graph.op(condition) != Op::Or || learner.summary(graph, condition).implied.exact {
        return vec![condition];
    }
    let mut cases = Vec::new();
    let mut stack = vec![condition];
    while let Some(e) = stack.pop() {
        if graph.op(e) == Op::Or {
            stack.extend(graph.kids(e));
        } else {
            cases.push(e);
        }
        if cases.len() + stack.len() > MAX_CASES {
            return vec![condition];
        }
    }
    cases
}

fn add(about: &mut Vec<u32>, more: &[u32]) {
    for &number in more {
        if about.len() < MAX_CHANGED && !about.contains(&number) {
            about.push(number);
        }
    }
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
        // What a slice leaves out may not be used: it could not be part of the core.
        if let (Verdict::Unsat(reasons), Some(slice)) = (&verdict, &query.slice) {
            let inside = |e: &Expr| *e == query.condition || slice.contains(e);
            if !reasons.as_slice().iter().all(inside) {
                let facts = rest.learner.facts_of(rest.graph, slice);
                verdict = self.decide(query, rest, &facts, &start);
            }
        }
        match self.answer(query, verdict) {
            Some(answer) => answer,
            None => self.pass(query, rest),
        }
    }

    fn is_optional(&self) -> bool {
        true
    }

    /// What it knows of paths is the chain's.
    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn counters(&self) -> Vec<(String, f64)> {
        let repaired = self.repairs.as_ref().map_or(0, Repairs::answered);
        let passed = self.passed.iter().map(|(why, count)| (format!("passed_{why}"), *count));
        [("repaired".to_string(), repaired)]
            .into_iter()
            .chain(passed)
            .map(|(name, n)| (name, n as f64))
            .collect()
    }
}
