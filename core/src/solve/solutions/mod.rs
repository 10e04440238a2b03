//! The layer `solutions`: a pool of complete assignments, hung on the path tree.
//!
//! Answers: sat, where a solution that hangs at the query's path, or a little below it, satisfies the condition.
//! Why sound: a solution hangs where every constraint has been evaluated under it, and the condition is too.
//! When it helps: after hard questions, whose near misses satisfy other branches; where one answer, changed at random,
//! satisfies many.
//! Cost: nothing while the pool is empty; then the condition's new nodes for the solutions at one node, at any depth.
//! What pays is kept up, what does not is given up, by counts of what was computed and saved.
//! Source: partial solutions in the cache (FSE 2024), as docs/cache.md says.

mod paper;
mod pool;
mod size;

pub use paper::Paper;

use super::harvest::Lot;
use super::spec::{Item, SpecError};
use super::{Layer, Rest};
use crate::expr::columns::Assignment;
use crate::expr::walk::Atom;
use crate::expr::{Bits, Expr, Graph, Model, Sort};
use crate::query::{Alive, Answer, Path, Query, Status};
use pool::{Candidate, Known, Origin, Pool, World};
use rustc_hash::FxHashSet;
use size::Size;

/// Partial solutions taken from one solve, solutions at one node, and variants of one answer: to begin with, at least
/// and at most.
const KP: [usize; 3] = [250, 0, 1000];
const KS: [usize; 3] = [50, 4, 400];
const VARIANTS: [usize; 3] = [32, 0, 512];
/// So many variants are made at once, or at least so many where more would cost too much.
const TOGETHER: usize = 32;
const FEWEST: usize = 4;
/// What one costs is averaged over about so many.
const REMEMBERED: u64 = 256;
/// Values that cost about as much as making a model of another, and setting an atom in it.
const MAKING: u64 = 30;
const SETTING: u64 = 10;
/// So many answers are kept before their use is judged; then all, while one in so many is used, or one in so many. Whoever
/// goes on from an answer has it as its model.
const ANSWERS_TRIES: u64 = 32;
const ANSWERS_USE: u64 = 16;
const ANSWERS_AGAIN: u64 = 256;
/// The largest number an option takes.
const LARGEST_OPTION: usize = 1000;
/// Nodes below the path that are looked at.
const BELOW: usize = 8;
/// What a question costs is averaged over about so many.
const AVERAGED: u64 = 32;
/// Answers that took less than this are as cheap to find again.
const LEAST_NS: u64 = 5_000;

#[derive(Default)]
struct Counts {
    harvest: u64,
    variant: u64,
    answer: u64,
    /// Of those, by solutions that rose from dropped nodes.
    risen: u64,
    /// By models of nodes below.
    below: u64,
    inserted: u64,
    /// Answers of the chain, and those of them that were put into the pool.
    answers: u64,
    kept: u64,
}

pub struct Solutions {
    pool: Pool,
    kp: Size,
    ks: Size,
    variants: Size,
    random: u64,
    /// Nanoseconds that a question passed on costs, about, times `AVERAGED`.
    question: u64,
    /// Did a solution of the pool answer the question, or part of it?
    answered: bool,
    /// Nanoseconds that the question took below, about.
    cost: u64,
    /// Nanoseconds that variants may still cost: half as many as solves have, and as many as variants have saved.
    account: u64,
    /// Variants made of late, and the nanoseconds that they, and what else hangs in the pool, have cost.
    made: u64,
    spent: u64,
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
            question: 0,
            answered: false,
            cost: 0,
            account: 0,
            made: 0,
            spent: 0,
            counts: Counts::default(),
        };
        for (key, value) in &item.options {
            let number = value.parse::<usize>().ok().filter(|n| *n <= LARGEST_OPTION);
            match (key.as_str(), number) {
                ("kp", Some(number)) => layer.kp = Size::fixed(number),
                ("ks", Some(number)) => layer.ks = Size::fixed(number),
                ("variants", Some(number)) => layer.variants = Size::fixed(number),
                _ => {
                    return Err(SpecError(format!(
                        "expected kp=N, ks=N or variants=N (up to {LARGEST_OPTION}) in `solutions(...)`, \
                         found `{key}={value}`"
                    )));
                }
            }
        }
        Ok(layer)
    }

    /// A solution at the path, or a little below, that satisfies the condition.
    fn look(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        let before = self.pool.computed();
        let found = self.look_around(query, rest);
        let cost = (self.pool.computed() - before) * size::VALUE_NS;
        self.variants_cost(cost);
        rest.charge(cost);
        found
    }

    fn look_around(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        self.pool.note_dropped(rest.tree.dropped());
        let has_children = rest.tree.children(query.path).next().is_some();
        if self.pool.is_empty() && !has_children {
            return None;
        }
        let mut world = world(rest);
        if !self.pool.is_empty() {
            self.pool.sink(&mut world, query.path);
            if let Some(model) = self.look_at(query.path, query.condition, &mut world) {
                if let Status::Unchecked = rest.tree.status(query.path) {
                    rest.tree.set_status(query.path, Status::Feasible(model.clone()));
                }
                return Some(model);
            }
        }
        if has_children { self.look_below(query, &mut world) } else { None }
    }

    fn look_at(&mut self, path: Path, condition: Expr, world: &mut World<'_>) -> Option<Model> {
        let slots: smallvec::SmallVec<[u32; 8]> = self.pool.hanging(path).into();
        if slots.is_empty() {
            return None;
        }
        let before = self.pool.computed();
        let truths = self.pool.truths(world, &slots, condition);
        let found = truths.iter().position(|&truth| truth);
        let late = slots.len().saturating_sub(self.ks.now() / 2);
        self.ks.charge(self.pool.computed() - before, late, slots.len());
        let at = found?;
        let gain = self.question / AVERAGED;
        if self.ks.is_late(at) {
            self.ks.credit(gain);
        }
        let slot = self.pool.slot(slots[at]);
        slot.given = true;
        let (origin, risen) = (slot.origin, std::mem::take(&mut slot.risen));
        if risen {
            self.counts.risen += 1;
            self.pool.risen_used += 1;
        }
        let (count, size) = match origin {
            Origin::Harvest => (&mut self.counts.harvest, Some(&mut self.kp)),
            Origin::Variant => (&mut self.counts.variant, Some(&mut self.variants)),
            Origin::Answer => (&mut self.counts.answer, None),
        };
        *count += 1;
        if origin == Origin::Variant {
            self.account += gain;
        }
        // Those of a second half have saved the question if there is no other.
        let mut able = truths.iter().zip(&slots).filter(|(truth, _)| **truth);
        if let Some(size) = size
            && able.all(|(_, &slot)| self.pool.slot(slot).late)
        {
            size.credit(gain);
        }
        Some(self.pool.model(world.graph, slots[at]).clone())
    }

    /// Looks through a few nodes below the path: what hangs there, and their models.
    fn look_below(&mut self, query: &Query, world: &mut World<'_>) -> Option<Model> {
        let mut nodes: Vec<Path> = world.tree.children(query.path).collect();
        for _ in 0..BELOW {
            let node = nodes.pop()?;
            if let Some(model) = world.tree.model(node)
                && world.evaluator.under(world.graph, model).truth(query.condition)
            {
                self.counts.below += 1;
                return Some(model.clone());
            }
            if let Some(model) = self.look_at(node, query.condition, world) {
                return Some(model);
            }
            nodes.extend(world.tree.children(node));
        }
        None
    }

    /// Takes in what a solve has brought.
    fn gather(&mut self, query: &Query, rest: &mut Rest<'_>, answer: &Answer) {
        let lots = rest.harvest.take();
        let variants = if let Answer::Sat(_) = answer { self.affordable_variants() } else { 0 };
        if lots.is_empty() && variants == 0 {
            return;
        }
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let base = rest.tree.model(ancestor).expect("a feasible node").clone();
        let atoms = Solutions::atoms(query, rest);
        let mut candidates = self.harvested(rest.graph, &lots, &base);
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
                // What the slice leaves out is as the node's model has it.
                known.certain.insert(node.id());
            } else if inside {
                known.of_answer.insert(node.id());
            }
        }
        let before = self.pool.computed();
        self.pool.limit = self.ks.now();
        let mut world = world(rest);
        self.pool.settle(&mut world, candidates, &known);
        let set = if harvested > 0 { all } else { 1 };
        let making = MAKING * all as u64 + SETTING * (atoms.len() * set) as u64;
        let values = self.pool.computed() - before + making;
        rest.charge(values * size::VALUE_NS);
        self.kp.charge(values * harvested as u64 / all as u64, late_harvested, harvested);
        let others = all - harvested;
        let values = values * others as u64 / all as u64;
        self.variants.charge(values, late_variants, others);
        if others > 0 {
            self.made += others as u64;
            self.variants_cost(values * size::VALUE_NS);
        }
    }

    fn variants_cost(&mut self, ns: u64) {
        self.account = self.account.saturating_sub(ns);
        self.spent += ns;
        if self.made >= REMEMBERED {
            (self.made, self.spent) = (self.made / 2, self.spent / 2);
        }
    }

    /// How many variants to make: all that pay, but they may not cost more than what they are to save, and have saved.
    fn affordable_variants(&mut self) -> usize {
        if self.variants.is_fixed() {
            return self.variants.now();
        }
        let affordable = match self.made {
            0 => FEWEST,
            made => usize::try_from(self.account / (self.spent / made).max(1)).unwrap_or(usize::MAX),
        };
        if affordable < FEWEST { 0 } else { self.variants.take_together(TOGETHER).min(affordable) }
    }

    /// The partial solutions, completed.
    fn harvested(&mut self, graph: &Graph, lots: &[Lot], base: &Model) -> Vec<Candidate> {
        let rows: Vec<(&Lot, usize)> =
            lots.iter().flat_map(|lot| (0..lot.len()).map(move |row| (lot, row))).collect();
        let taken = rows.len().min(KP[2]);
        let mut candidates = Vec::with_capacity(taken);
        for number in 0..taken {
            let (lot, row) = rows[number * rows.len() / taken];
            let model = lot.complete(graph, row, base.clone());
            candidates.push(Candidate {
                model: model.into(),
                origin: Origin::Harvest,
                late: self.kp.is_late(number),
            });
        }
        candidates
    }

    /// What the query mentions.
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

    /// The answer with another value, at random, for one of the atoms: every second time for one that the condition
    /// mentions. What leaves the rest as it is stays near the path.
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

fn world<'a>(rest: &'a mut Rest<'_>) -> World<'a> {
    World { graph: rest.graph, tree: rest.tree, evaluator: rest.evaluator, supports: rest.supports }
}

/// Gives an atom the value it has in another model.
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
        if let Some(model) = self.look(query, rest) {
            self.answered = true;
            return Answer::Sat(model);
        }
        rest.harvest.wanted = self.kp.take();
        let (solved, before) = (rest.harvest.work, rest.work());
        let answer = rest.check(query);
        self.cost = rest.work() - before;
        self.question += self.cost;
        self.question -= self.question / AVERAGED;
        if rest.harvest.work > solved {
            self.account += (rest.harvest.work - solved) / 2;
            self.gather(query, rest, &answer);
        }
        answer
    }

    fn found(&mut self, query: &Query, model: &Model, rest: &mut Rest<'_>) {
        let counts = &mut self.counts;
        let cost = std::mem::take(&mut self.cost);
        if std::mem::take(&mut self.answered) || cost < LEAST_NS {
            return;
        }
        counts.answers += 1;
        let pays = counts.kept < ANSWERS_TRIES || counts.answer * ANSWERS_USE >= counts.kept;
        if !pays && !counts.answers.is_multiple_of(ANSWERS_AGAIN) {
            return;
        }
        counts.kept += 1;
        self.pool.note_dropped(rest.tree.dropped());
        self.pool.limit = self.ks.now();
        let mut world = world(rest);
        let candidate = Candidate { model: model.clone().into(), origin: Origin::Answer, late: false };
        self.pool.put(&mut world, candidate, query.path);
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
            ("by_risen", counts.risen),
            ("below", counts.below),
            ("inserted", counts.inserted),
            ("kept", counts.kept),
            ("pool", self.pool.len() as u64),
            ("kp", self.kp.now() as u64),
            ("ks", self.ks.now() as u64),
            ("variants", self.variants.now() as u64),
            ("values", self.pool.computed()),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
