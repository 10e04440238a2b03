//! The layer `solutions`: a pool of complete assignments, attached to nodes of the path tree.
//!
//! Answers: sat, if a solution attached to the query's path satisfies the condition.
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
use crate::random::Random;
use crate::throttle::Mean;
use crate::tuning::SolutionsOptions;
use pool::{Candidate, Context, Known, Origin, Pool};
use rustc_hash::FxHashSet;

#[derive(Default)]
struct Counts {
    /// Queries answered by near misses.
    harvest: u64,
    variant: u64,
    inserted: u64,
}

pub struct Solutions {
    pool: Pool,
    options: SolutionsOptions,
    random: Random,
    /// Effort of the layers below for a query: what an answer of the pool saves.
    query_cost: Mean,
    /// Effort that new solutions may still take: a share of that of solves, plus what solutions have saved.
    allowance: u64,
    /// Effort of a candidate, with the look-ups that follow.
    candidate_cost: Mean,
    counts: Counts,
}

impl Solutions {
    pub fn new(options: SolutionsOptions) -> Solutions {
        Solutions {
            pool: Pool::new(options.ks as usize),
            options,
            random: Random::default(),
            query_cost: Mean::default(),
            allowance: 0,
            candidate_cost: Mean::default(),
            counts: Counts::default(),
        }
    }

    /// A solution at the path that satisfies the condition.
    fn find(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        let before = self.pool.computed();
        let found = self.find_uncharged(query, rest);
        let cost = (self.pool.computed() - before) * cost::VALUE;
        self.charge(0, cost);
        rest.spend(cost);
        found
    }

    fn find_uncharged(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        self.pool.note_dropped(rest.tree.dropped());
        if self.pool.is_empty() {
            return None;
        }
        let mut context = context(rest);
        self.pool.push_down(&mut context, query.path);
        let model = self.find_at(query.path, query.condition, &mut context)?;
        if let Status::Unchecked = rest.tree.status(query.path) {
            rest.tree.set_status(query.path, Status::Feasible(model.clone()));
        }
        Some(model)
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
        match slot.origin {
            Origin::Harvest => self.counts.harvest += 1,
            Origin::Variant => self.counts.variant += 1,
        }
        self.allowance += self.query_cost.get().unwrap_or(0);
        Some(self.pool.model(context.graph, slots[at]).clone())
    }

    /// Inserts the near misses of a solve, and variants of its answer.
    fn insert_solutions(&mut self, query: &Query, rest: &mut Rest<'_>, answer: &Answer) {
        let batches = rest.near_misses.take();
        let affordable = self.affordable();
        let variants = match answer {
            Answer::Sat(_) if affordable >= self.options.min_variants as usize => {
                affordable.min(self.options.variants as usize)
            }
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
            query.slice.as_ref().map(|slice| slice.list().iter().copied().collect());
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
        let mut context = context(rest);
        self.pool.insert_from_root(&mut context, candidates, &known);
        let models_set = if harvested > 0 { all } else { 1 };
        let effort = (self.pool.computed() - before) * cost::VALUE
            + all as u64 * cost::COPY_MODEL
            + (atoms.len() * models_set) as u64 * cost::SET_INPUT;
        rest.spend(effort);
        self.charge(all as u64, effort);
    }

    /// Counts the effort of new candidates, or of a look-up.
    fn charge(&mut self, candidates: u64, effort: u64) {
        self.allowance = self.allowance.saturating_sub(effort);
        self.candidate_cost.add_all(candidates, effort, self.options.samples);
    }

    /// Number of candidates within the allowance, at their mean cost.
    fn affordable(&self) -> usize {
        match self.candidate_cost.get() {
            None => usize::MAX,
            Some(cost) => usize::try_from(self.allowance / cost.max(1)).unwrap_or(usize::MAX),
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
            let atom = self.random.pick(from);
            if let Some(model) = Assignment::changed(graph, answer, atom, self.random.word() >> 8) {
                to.push(Candidate { model, origin: Origin::Variant });
            }
        }
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
            return Answer::Sat(model);
        }
        if rest.budget.whole_core {
            // No similar query follows that could use a solution.
            rest.near_misses.wanted = 0;
            return rest.check(query).answer;
        }
        rest.near_misses.wanted = self.affordable().min(self.options.kp as usize);
        let reply = rest.check(query);
        self.query_cost.add(reply.effort, self.options.samples);
        if reply.solving > 0 {
            self.allowance += reply.solving.saturating_mul(self.options.share) / 100;
            self.insert_solutions(query, rest, &reply.answer);
        }
        reply.answer
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
            ("inserted", counts.inserted),
            ("pool", self.pool.len() as u64),
            ("values", self.pool.computed()),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
