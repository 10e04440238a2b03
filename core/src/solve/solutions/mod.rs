//! The layer `solutions`: a pool of complete assignments, attached to nodes of the path tree.
//!
//! Answers: sat, if a solution attached to the query's path, or a few nodes below it, satisfies the condition.
//! Why sound: every constraint of a node has been evaluated under its solutions, and so is the condition.
//! When it helps: after hard queries, whose near misses satisfy other branches; if variants of one answer satisfy many.
//! Cost: nothing while the pool is empty; then the condition's new nodes for the solutions of one node, at any depth.
//! Sizes adapt to what pays, by counts of values computed and queries saved.
//! Source: partial solutions in the cache (FSE 2024), as docs/cache.md says.

mod pool;
mod size;

use super::near_misses::Batch;
use super::spec::{Item, SpecError};
use super::{Layer, Rest};
use crate::cost;
use crate::expr::columns::Assignment;
use crate::expr::walk::Atom;
use crate::expr::{Bits, Expr, Graph, Model, Sort};
use crate::query::{Alive, Answer, Path, Query, Status};
use crate::throttle::Throttle;
use pool::{Candidate, Context, Known, Origin, Pool};
use rustc_hash::FxHashSet;
use size::Size;

/// Partial solutions taken from one solve: at first, at least, at most.
const KP: [usize; 3] = [250, 0, 1000];
/// Solutions at one node: at first, at least, at most.
const KS: [usize; 3] = [50, 4, 400];
/// Variants of one answer: at first, at least, at most.
const VARIANTS: [usize; 3] = [32, 0, 512];
/// Variants made at once.
const VARIANT_BATCH: usize = 32;
/// Fewer variants are not worth making.
const MIN_VARIANTS: usize = 4;
/// The cost of a variant is averaged over about this many.
const VARIANT_SAMPLES: u64 = 256;
/// Cost of copying a model, in values computed.
const COPY_COST: u64 = 30;
/// Cost of setting an atom in a model, in values computed.
const SET_COST: u64 = 10;
/// Keeping answers pays if at least one in this many is used. A state that continues from an answer has it as its path
/// model anyway.
const ANSWERS_PER_USE: u64 = 16;
const MAX_OPTION: usize = 1000;
/// Number of nodes below the path that are tried.
const MAX_NODES_BELOW: usize = 8;
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
    /// Queries answered by solutions moved up from dropped nodes; also counted by origin.
    moved_up: u64,
    /// Queries answered by path models of nodes below.
    below: u64,
    inserted: u64,
    /// Answers of the chain that were put into the pool.
    kept: u64,
}

pub struct Solutions {
    pool: Pool,
    kp: Size,
    ks: Size,
    variants: Size,
    random: u64,
    /// Estimated nanoseconds of a query passed on, times `QUERY_SAMPLES`.
    query_cost: u64,
    /// Whether a solution of the pool answered the current query or a part of it.
    answered: bool,
    /// Estimated nanoseconds that the layers below spent on the current query.
    cost: u64,
    /// Nanoseconds that variants may still cost: half the cost of solves, plus the cost that variants have saved.
    variant_allowance: u64,
    /// Number of variants made recently.
    made: u64,
    /// Nanoseconds spent on them and on other solutions of the pool.
    spent: u64,
    /// Keeping answers of the chain.
    keeping: Throttle,
    counts: Counts,
}

impl Solutions {
    pub fn new(item: &Item) -> Result<Solutions, SpecError> {
        let adaptive = |[start, least, most]: [usize; 3]| Size::adaptive(start, least, most);
        let mut layer = Solutions {
            pool: Pool::default(),
            kp: adaptive(KP),
            ks: adaptive(KS),
            variants: adaptive(VARIANTS),
            random: 0x9e37_79b9_7f4a_7c15,
            query_cost: 0,
            answered: false,
            cost: 0,
            variant_allowance: 0,
            made: 0,
            spent: 0,
            keeping: Throttle::by_tries(),
            counts: Counts::default(),
        };
        for (key, value) in &item.options {
            let number = value.parse::<usize>().ok().filter(|n| *n <= MAX_OPTION);
            match (key.as_str(), number) {
                ("kp", Some(number)) => layer.kp = Size::fixed(number),
                ("ks", Some(number)) => layer.ks = Size::fixed(number),
                ("variants", Some(number)) => layer.variants = Size::fixed(number),
                _ => {
                    return Err(SpecError(format!(
                        "expected kp=N, ks=N or variants=N (up to {MAX_OPTION}) in `solutions(...)`, \
                         found `{key}={value}`"
                    )));
                }
            }
        }
        Ok(layer)
    }

    /// A solution at the path, or a few nodes below, that satisfies the condition.
    fn find(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        let before = self.pool.computed();
        let found = self.find_uncharged(query, rest);
        let cost = (self.pool.computed() - before) * cost::VALUE;
        self.charge_variants(cost);
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
        let before = self.pool.computed();
        let truths = self.pool.truths(context, &slots, condition);
        let found = truths.iter().position(|&truth| truth);
        let late = slots.len().saturating_sub(self.ks.current() / 2);
        self.ks.charge(self.pool.computed() - before, late, slots.len());
        let at = found?;
        let gain = self.query_cost / QUERY_SAMPLES;
        if self.ks.is_late(at) {
            self.ks.credit(gain);
        }
        let slot = self.pool.slot(slots[at]);
        slot.given = true;
        let (origin, moved_up) = (slot.origin, std::mem::take(&mut slot.moved_up));
        if moved_up {
            self.counts.moved_up += 1;
            self.pool.moved_up_used += 1;
        }
        let (count, size) = match origin {
            Origin::Harvest => (&mut self.counts.harvest, Some(&mut self.kp)),
            Origin::Variant => (&mut self.counts.variant, Some(&mut self.variants)),
            Origin::Answer => (&mut self.counts.answer, None),
        };
        *count += 1;
        match origin {
            Origin::Harvest => {}
            Origin::Variant => self.variant_allowance += gain,
            Origin::Answer => self.keeping.credit(ANSWERS_PER_USE),
        }
        // A second half has saved the query only if no solution of a first half satisfies the condition.
        let mut satisfying = truths.iter().zip(&slots).filter(|(truth, _)| **truth);
        if let Some(size) = size
            && satisfying.all(|(_, &slot)| self.pool.slot(slot).late)
        {
            size.credit(gain);
        }
        Some(self.pool.model(context.graph, slots[at]).clone())
    }

    /// Tries the path models and the solutions of a few nodes below the path.
    fn find_below(&mut self, query: &Query, context: &mut Context<'_>) -> Option<Model> {
        let mut nodes: Vec<Path> = context.tree.children(query.path).collect();
        for _ in 0..MAX_NODES_BELOW {
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
        let variants = if let Answer::Sat(_) = answer { self.affordable_variants() } else { 0 };
        if batches.is_empty() && variants == 0 {
            return;
        }
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let base = rest.tree.model(ancestor).expect("a feasible node").clone();
        let atoms = Solutions::atoms(query, rest);
        let mut candidates = self.harvested(rest.graph, &batches, &base);
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
        let late = |c: &&Candidate, origin| c.late && c.origin == origin;
        let late_harvested = candidates.iter().filter(|c| late(c, Origin::Harvest)).count();
        let late_variants = candidates.iter().filter(|c| late(c, Origin::Variant)).count();
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
        self.pool.limit = self.ks.current();
        let mut context = context(rest);
        self.pool.insert_from_root(&mut context, candidates, &known);
        let set = if harvested > 0 { all } else { 1 };
        let copying = COPY_COST * all as u64 + SET_COST * (atoms.len() * set) as u64;
        let values = self.pool.computed() - before + copying;
        rest.spend(values * cost::VALUE);
        self.kp.charge(values * harvested as u64 / all as u64, late_harvested, harvested);
        let others = all - harvested;
        let values = values * others as u64 / all as u64;
        self.variants.charge(values, late_variants, others);
        if others > 0 {
            self.made += others as u64;
            self.charge_variants(values * cost::VALUE);
        }
    }

    fn charge_variants(&mut self, ns: u64) {
        self.variant_allowance = self.variant_allowance.saturating_sub(ns);
        self.spent += ns;
        if self.made >= VARIANT_SAMPLES {
            (self.made, self.spent) = (self.made / 2, self.spent / 2);
        }
    }

    /// Number of variants to make: as many as pay, within their allowance.
    fn affordable_variants(&mut self) -> usize {
        if self.variants.is_fixed() {
            return self.variants.current();
        }
        let affordable = match self.made {
            0 => MIN_VARIANTS,
            made => {
                usize::try_from(self.variant_allowance / (self.spent / made).max(1)).unwrap_or(usize::MAX)
            }
        };
        if affordable < MIN_VARIANTS { 0 } else { self.variants.take_batch(VARIANT_BATCH).min(affordable) }
    }

    /// The partial solutions of a solve, completed by the path model.
    fn harvested(&mut self, graph: &Graph, batches: &[Batch], base: &Model) -> Vec<Candidate> {
        let rows: Vec<(&Batch, usize)> =
            batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row))).collect();
        let taken = rows.len().min(KP[2]);
        let mut candidates = Vec::with_capacity(taken);
        for number in 0..taken {
            let (batch, row) = rows[number * rows.len() / taken];
            let model = batch.complete(graph, row, base.clone());
            candidates.push(Candidate {
                model: model.into(),
                origin: Origin::Harvest,
                late: self.kp.is_late(number),
            });
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
                to.push(Candidate { model, origin: Origin::Variant, late: number >= variants / 2 });
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
        rest.near_misses.wanted = self.kp.take();
        let reply = rest.check(query);
        self.cost = reply.effort;
        self.query_cost += self.cost;
        self.query_cost -= self.query_cost / QUERY_SAMPLES;
        if reply.solving > 0 {
            self.variant_allowance += reply.solving / 2;
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
        self.pool.limit = self.ks.current();
        let mut context = context(rest);
        let candidate = Candidate { model: model.clone().into(), origin: Origin::Answer, late: false };
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
            ("by_moved_up", counts.moved_up),
            ("below", counts.below),
            ("inserted", counts.inserted),
            ("kept", counts.kept),
            ("pool", self.pool.len() as u64),
            ("kp", self.kp.current() as u64),
            ("ks", self.ks.current() as u64),
            ("variants", self.variants.current() as u64),
            ("values", self.pool.computed()),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
