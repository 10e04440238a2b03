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
use crate::expr::bits::mask;
use crate::expr::walk::{Atom, Supports};
use crate::expr::{Bits, Expr, Graph, Model, Sort, Value};
use crate::query::{Alive, Answer, Path, Query, Status};
use pool::{Candidate, Origin, Pool, World};
use rustc_hash::FxHashSet;
use size::Size;

/// Partial solutions taken from one solve, solutions at one node, and variants of one answer: to begin with, at least
/// and at most.
const KP: [usize; 3] = [250, 0, 1000];
const KS: [usize; 3] = [50, 4, 400];
const VARIANTS: [usize; 3] = [32, 0, 512];
/// So many variants are made at once at least.
const TOGETHER: usize = 32;
/// Values that cost about as much as making a model, and setting an atom in it.
const MAKING: u64 = 100;
const SETTING: u64 = 10;
/// So many answers are kept before their use is judged; then all, while one in so many is used, or one in so many.
const ANSWERS_TRIES: u64 = 256;
const ANSWERS_USE: u64 = 16;
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
    supports: Supports,
    random: u64,
    /// Nanoseconds that a question passed on costs, about, times `AVERAGED`.
    question: u64,
    /// Did a solution of the pool answer the question, or part of it?
    answered: bool,
    /// Nanoseconds that the question took below, about.
    cost: u64,
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
            supports: Supports::default(),
            random: 0x9e37_79b9_7f4a_7c15,
            question: 0,
            answered: false,
            cost: 0,
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
        rest.charge((self.pool.computed() - before) * size::VALUE_NS);
        found
    }

    fn look_around(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Model> {
        self.pool.note_dropped(rest.tree.dropped());
        let has_children = rest.tree.children(query.path).next().is_some();
        if self.pool.is_empty() && !has_children {
            return None;
        }
        let mut world = World { graph: rest.graph, tree: rest.tree, evaluator: rest.evaluator };
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
        let (origin, late, risen) = (slot.origin, slot.late, std::mem::take(&mut slot.risen));
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
        if let Some(size) = size.filter(|_| late) {
            size.credit(gain);
        }
        Some(self.pool.model(slots[at]).clone())
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
        let variants = if let Answer::Sat(_) = answer { self.variants.take_together(TOGETHER) } else { 0 };
        if lots.is_empty() && variants == 0 {
            return;
        }
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let base = rest.tree.model(ancestor).expect("a feasible node").clone();
        let atoms = self.atoms(query, rest);
        let mut candidates = self.harvested(rest.graph, &lots, &base);
        let harvested = candidates.len();
        if let (Answer::Sat(model), 1..) = (answer, variants) {
            self.vary(query, rest.graph, &atoms, model, base, variants, &mut candidates);
        }
        if candidates.is_empty() {
            return;
        }
        self.counts.inserted += candidates.len() as u64;
        let all = candidates.len();
        let late = |c: &&Candidate, origin| c.late && c.origin == origin;
        let late_harvested = candidates.iter().filter(|c| late(c, Origin::Harvest)).count();
        let late_variants = candidates.iter().filter(|c| late(c, Origin::Variant)).count();
        // What the slice leaves out is as the node's model has it.
        let mut certain = FxHashSet::default();
        if let Some(slice) = query.slice.as_ref().filter(|_| ancestor == query.path) {
            let slice: FxHashSet<Expr> = slice.iter().copied().collect();
            let outside = |node: &Path| !slice.contains(&rest.tree.constraint(*node));
            certain = rest.tree.upwards(query.path).filter(outside).map(Path::id).collect();
        }
        let before = self.pool.computed();
        self.pool.limit = self.ks.now();
        let mut world = World { graph: rest.graph, tree: rest.tree, evaluator: rest.evaluator };
        self.pool.settle(&mut world, candidates, &certain);
        let making = (MAKING + SETTING * atoms.len() as u64) * all as u64;
        let values = self.pool.computed() - before + making;
        rest.charge(values * size::VALUE_NS);
        self.kp.charge(values * harvested as u64 / all as u64, late_harvested, harvested);
        let others = all - harvested;
        self.variants.charge(values * others as u64 / all as u64, late_variants, others);
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
            candidates.push(Candidate { model, origin: Origin::Harvest, late: self.kp.is_late(number) });
        }
        candidates
    }

    /// What the query mentions.
    fn atoms(&mut self, query: &Query, rest: &Rest<'_>) -> Vec<Atom> {
        let constraints = query.constraints(rest.tree);
        let all = constraints.iter().copied().chain([query.condition]);
        let mut atoms: Vec<Atom> =
            all.flat_map(|e| self.supports.of(rest.graph, e).iter().copied().collect::<Vec<_>>()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// The answer changed at random: every second time in all that the condition mentions, else in half of what the
    /// query does.
    #[allow(clippy::too_many_arguments)]
    fn vary(
        &mut self,
        query: &Query,
        graph: &Graph,
        atoms: &[Atom],
        found: &Model,
        mut model: Model,
        variants: usize,
        to: &mut Vec<Candidate>,
    ) {
        for &atom in atoms {
            set(graph, &mut model, atom, found);
        }
        let own = self.supports.of(graph, query.condition);
        for number in 0..variants {
            let mut variant = model.clone();
            let (changed, all) = if number % 2 == 0 { (atoms, false) } else { (&own[..], true) };
            for &atom in changed {
                let word = self.random_word();
                if all || word >> 63 == 1 {
                    set_word(graph, &mut variant, atom, word >> 16 ^ word << 48);
                }
            }
            let late = number >= variants / 2;
            to.push(Candidate { model: variant, origin: Origin::Variant, late });
        }
    }

    fn random_word(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
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

/// Gives an atom of at most 64 bits a value; others stay.
fn set_word(graph: &Graph, model: &mut Model, atom: Atom, word: u64) {
    let width = graph.width(atom.variable());
    if width > 64 {
        return;
    }
    let value = Bits::word(width, word & mask(width));
    match (atom, graph.sort(atom.variable())) {
        (Atom::Element(array, index), Sort::Array { index: index_width, .. }) => {
            model.set_element(graph, array, &Bits::word(index_width, index), value);
        }
        (Atom::Variable(v), _) => model.set(v, Value::Bits(value)),
        (Atom::Array(_) | Atom::Element(..), _) => {}
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
        if !pays && !counts.answers.is_multiple_of(ANSWERS_TRIES) {
            return;
        }
        counts.kept += 1;
        self.pool.note_dropped(rest.tree.dropped());
        self.pool.limit = self.ks.now();
        let mut world = World { graph: rest.graph, tree: rest.tree, evaluator: rest.evaluator };
        let candidate = Candidate { model: model.clone(), origin: Origin::Answer, late: false };
        self.pool.put(&mut world, candidate, query.path);
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.pool.sweep(alive);
        self.supports.sweep(alive.exprs);
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        self.pool.recycle(gone);
    }

    fn forget(&mut self) {
        self.pool.forget();
        self.supports.forget();
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
