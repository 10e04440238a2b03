//! The layer `solutions`: a pool of complete assignments, attached to nodes of the path tree.
//!
//! Answers: sat, if a solution attached to the query's path, or a few nodes below it, satisfies the condition.
//! Why sound: every constraint of a node has been evaluated under its solutions, and so is the condition.
//! When it helps: after hard queries, whose near misses satisfy other branches; if variants of one answer satisfy many.
//! Cost: nothing while the pool is empty; then the condition's new nodes for the solutions of one node, at any depth.
//! New solutions cost at most half the effort of solves, and what earlier ones have saved.
//! Source: partial solutions in the cache (FSE 2024), as docs/cache.md says.

mod pool;

use super::near_misses::Batch;
use super::{Layer, Rest};
use crate::cost;
use crate::expr::columns::Assignment;
use crate::expr::walk::Atom;
use crate::expr::{Bits, Expr, Graph, Model, Sort};
use crate::query::{Alive, Answer, Path, Query, Status};
use crate::throttle::Throttle;
use crate::tuning::{SolutionsOptions, ThrottleOptions};
use pool::{Candidate, Context, Known, Origin, Pool};
use rustc_hash::FxHashSet;

/// Fewer variants are not worth making.
const MIN_VARIANTS: usize = 4;
/// The cost of a candidate is averaged over about this many.
const COST_SAMPLES: u64 = 256;
/// Cost of copying a model, in values computed.
const COPY_COST: u64 = 30;
/// Cost of setting an atom in a model, in values computed.
const SET_COST: u64 = 10;
/// Keeping answers pays if at least one in this many is used. A state that continues from an answer has it as its path
/// model anyway.
const ANSWERS_PER_USE: u64 = 16;
/// The cost of a query is averaged over about this many.
const QUERY_SAMPLES: u64 = 32;
/// Cheaper answers are not kept: finding them again costs as little.
const MIN_ANSWER_EFFORT: u64 = 5_000;

#[derive(Default)]
struct Counts {
    /// Queries answered by near misses.
    harvest: u64,
    variant: u64,
    answer: u64,
    /// Queries answered by path models of nodes below.
    below: u64,
    inserted: u64,
    /// Answers of the chain that were put into the pool.
    kept: u64,
}

pub struct Solutions {
    pool: Pool,
    options: SolutionsOptions,
    random: u64,
    /// Mean effort of a query passed on, times `QUERY_SAMPLES`.
    query_cost: u64,
    /// Whether a solution of the pool answered the current query or a part of it.
    answered: bool,
    /// Effort of the layers below for the current query.
    cost: u64,
    /// Effort that new solutions may still take: a share of that of solves, plus what solutions have saved.
    allowance: u64,
    /// Number of recent candidates, and the effort they took.
    made: u64,
    spent: u64,
    /// Keeping answers of the chain.
    keeping: Throttle,
    counts: Counts,
}

impl Solutions {
    pub fn new(options: SolutionsOptions, throttle: &ThrottleOptions) -> Solutions {
        Solutions {
            options,
            pool: Pool::default(),
            random: 0x9e37_79b9_7f4a_7c15,
            query_cost: 0,
            answered: false,
            cost: 0,
            allowance: 0,
            made: 0,
            spent: 0,
            keeping: Throttle::by_tries(throttle),
            counts: Counts::default(),
        }
    }

    /// A solution at the path, or a few nodes below, that satisfies the condition.
    fn find(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        let before = self.pool.computed();
        let found = self.find_uncharged(query, rest);
        let cost = (self.pool.computed() - before) * cost::VALUE;
        self.charge(cost);
        rest.spend(cost);
        found
    }

    fn find_uncharged(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        self.pool.note_dropped(rest.tree.dropped());
        let has_children = rest.tree.children(query.path).next().is_some();
        if self.pool.is_empty() && !has_children {
            return None;
        }
        let mut context = context(rest);
        if !self.pool.is_empty() {
            self.pool.push_down(&mut context, query.path);
            if let Some(model) = self.find_at(query.path, query.condition, &mut context) {
                if let Status::Unchecked = rest.tree.status(query.path) {
                    rest.tree.set_status(query.path, Status::Feasible(model.clone()));
                }
                return Some(model);
            }
        }
        if has_children { self.find_below(query, &mut context) } else { None }
    }

    /// A solution attached to this node that satisfies the condition.
    fn find_at(&mut self, path: Path, condition: Expr, context: &mut Context<'_>) -> Option<Model> {
        let slots: smallvec::SmallVec<[u32; 8]> = self.pool.attached_to(path).into();
        if slots.is_empty() {
            return None;
        }
        let at = self.pool.truths(context, &slots, condition).iter().position(|&truth| truth)?;
        let slot = self.pool.slot(slots[at]);
        slot.given = true;
        let origin = slot.origin;
        let gain = self.query_cost / QUERY_SAMPLES;
        match origin {
            Origin::Harvest => {
                self.counts.harvest += 1;
                self.allowance += gain;
            }
            Origin::Variant => {
                self.counts.variant += 1;
                self.allowance += gain;
            }
            Origin::Answer => {
                self.counts.answer += 1;
                self.keeping.credit(ANSWERS_PER_USE);
            }
        }
        Some(self.pool.model(context.graph, slots[at]).clone())
    }

    /// Tries the path models and the solutions of a few nodes below the path.
    fn find_below(&mut self, query: &Query, context: &mut Context<'_>) -> Option<Model> {
        let mut nodes: Vec<Path> = context.tree.children(query.path).collect();
        for _ in 0..self.options.below {
            let node = nodes.pop()?;
            if let Some(model) = context.tree.model(node)
                && context.evaluator.under(context.graph, model).truth(query.condition)
            {
                self.counts.below += 1;
                return Some(model.clone());
            }
            if let Some(model) = self.find_at(node, query.condition, context) {
                return Some(model);
            }
            nodes.extend(context.tree.children(node));
        }
        None
    }

    /// Inserts the near misses of a solve, and variants of its answer.
    fn insert_solutions(&mut self, query: &Query, rest: &mut Rest<'_>, answer: &Answer) {
        let batches = rest.near_misses.take();
        let affordable = self.affordable();
        let variants = match answer {
            Answer::Sat(_) if affordable >= MIN_VARIANTS => affordable.min(self.options.variants as usize),
            Answer::Sat(_) | Answer::Unsat(_) | Answer::Unknown(_) => 0,
        };
        if batches.is_empty() && variants == 0 {
            return;
        }
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let base = rest.tree.model(ancestor).expect("a feasible node").clone();
        let atoms = Solutions::atoms(query, rest);
        let mut candidates = Solutions::harvested(self.options.kp as usize, rest.graph, &batches, &base);
        let harvested = candidates.len();
        if let (Answer::Sat(model), 1..) = (answer, variants) {
            let mut whole = base;
            atoms.iter().for_each(|&atom| set(rest.graph, &mut whole, atom, model));
            let own = rest.supports.of(rest.graph, query.condition);
            self.vary(rest.graph, [&atoms, &own], &whole, variants, &mut candidates);
        }
        if candidates.is_empty() {
            return;
        }
        self.counts.inserted += candidates.len() as u64;
        let all = candidates.len();
        let mut known = Known::default();
        let slice: Option<FxHashSet<Expr>> =
            query.slice.as_ref().map(|slice| slice.iter().copied().collect());
        for node in rest.tree.upwards(query.path) {
            let inside = slice.as_ref().is_none_or(|slice| slice.contains(&rest.tree.constraint(node)));
            if !inside && ancestor == query.path {
                // Inputs outside the slice have the values of the node's path model.
                known.certain.insert(node.id());
            } else if inside {
                known.of_answer.insert(node.id());
            }
        }
        let before = self.pool.computed();
        self.pool.limit = self.options.ks as usize;
        let mut context = context(rest);
        self.pool.insert_from_root(&mut context, candidates, &known);
        let set = if harvested > 0 { all } else { 1 };
        let copying = COPY_COST * all as u64 + SET_COST * (atoms.len() * set) as u64;
        let values = self.pool.computed() - before + copying;
        rest.spend(values * cost::VALUE);
        self.made += all as u64;
        self.charge(values * cost::VALUE);
    }

    fn charge(&mut self, effort: u64) {
        self.allowance = self.allowance.saturating_sub(effort);
        self.spent += effort;
        if self.made >= COST_SAMPLES {
            (self.made, self.spent) = (self.made / 2, self.spent / 2);
        }
    }

    /// Number of candidates within the allowance, at their mean cost.
    fn affordable(&self) -> usize {
        match self.made {
            0 => usize::MAX,
            made => usize::try_from(self.allowance / (self.spent / made).max(1)).unwrap_or(usize::MAX),
        }
    }

    /// The partial solutions of a solve, completed by the path model.
    fn harvested(kp: usize, graph: &Graph, batches: &[Batch], base: &Model) -> Vec<Candidate> {
        let rows: Vec<(&Batch, usize)> =
            batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row))).collect();
        let taken = rows.len().min(kp);
        let mut candidates = Vec::with_capacity(taken);
        for number in 0..taken {
            let (batch, row) = rows[number * rows.len() / taken];
            let model = batch.complete(graph, row, base.clone());
            candidates.push(Candidate { model: model.into(), origin: Origin::Harvest });
        }
        candidates
    }

    /// The atoms that the query mentions.
    fn atoms(query: &Query, rest: &mut Rest<'_>) -> Vec<Atom> {
        let constraints = query.constraints(rest.tree);
        let mut atoms = Vec::new();
        for &e in constraints.iter().chain([&query.condition]) {
            atoms.extend_from_slice(&rest.supports.of(rest.graph, e));
        }
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Variants of the answer, each with a random value for one atom: every second time for one that the condition
    /// mentions. Constraints over other atoms still hold.
    fn vary(
        &mut self,
        graph: &Graph,
        atoms: [&[Atom]; 2],
        answer: &Model,
        variants: usize,
        to: &mut Vec<Candidate>,
    ) {
        for number in 0..variants {
            let from = atoms[number % 2];
            if from.is_empty() {
                continue;
            }
            let atom = from[self.random_word() as usize % from.len()];
            if let Some(model) = Assignment::changed(graph, answer, atom, self.random_word() >> 8) {
                to.push(Candidate { model, origin: Origin::Variant });
            }
        }
    }

    fn random_word(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

fn context<'a>(rest: &'a mut Rest<'_>) -> Context<'a> {
    Context { graph: rest.graph, tree: rest.tree, evaluator: rest.evaluator, supports: rest.supports }
}

/// Sets an atom to its value in another model.
fn set(graph: &Graph, model: &mut Model, atom: Atom, from: &Model) {
    match (atom, graph.sort(atom.variable())) {
        (Atom::Element(array, index), Sort::Array { index: width, element }) => {
            let index = Bits::word(width, index);
            let value = from.array(array).map_or_else(|| Bits::zero(element), |array| array.get(&index));
            model.set_element(graph, array, &index, value);
        }
        (Atom::Variable(v) | Atom::Array(v) | Atom::Element(v, _), _) => match from.get(v) {
            Some(value) => model.set(v, value.clone()),
            None => model.unset(v),
        },
    }
}

impl Layer for Solutions {
    fn name(&self) -> &str {
        "solutions"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if let Some(model) = self.find(query, rest) {
            self.answered = true;
            return Answer::Sat(model);
        }
        rest.near_misses.wanted = self.affordable().min(self.options.kp as usize);
        let reply = rest.check(query);
        self.cost = reply.effort;
        self.query_cost += self.cost;
        self.query_cost -= self.query_cost / QUERY_SAMPLES;
        if reply.solving > 0 {
            self.allowance += reply.solving.saturating_mul(self.options.share) / 100;
            self.insert_solutions(query, rest, &reply.answer);
        }
        reply.answer
    }

    fn found(&mut self, query: &Query, model: &Model, rest: &mut Rest<'_>) {
        let cost = std::mem::take(&mut self.cost);
        if std::mem::take(&mut self.answered) || cost < MIN_ANSWER_EFFORT {
            return;
        }
        if self.keeping.skips() {
            return;
        }
        self.keeping.note(1, 0);
        self.counts.kept += 1;
        self.pool.note_dropped(rest.tree.dropped());
        self.pool.limit = self.options.ks as usize;
        let mut context = context(rest);
        let candidate = Candidate { model: model.clone().into(), origin: Origin::Answer };
        self.pool.insert_at(&mut context, candidate, query.path);
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.pool.sweep(alive);
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        self.pool.recycle(gone);
    }

    fn forget(&mut self) {
        self.pool.forget();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counts = &self.counts;
        [
            ("by_harvest", counts.harvest),
            ("by_variant", counts.variant),
            ("by_answer", counts.answer),
            ("below", counts.below),
            ("inserted", counts.inserted),
            ("kept", counts.kept),
            ("pool", self.pool.len() as u64),
            ("values", self.pool.computed()),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
