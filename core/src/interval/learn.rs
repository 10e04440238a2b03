//! What a path implied of ranges of bits, learnt one constraint at a time.
//!
//! `Facts` hang on path nodes: a persistent map from range to the set of its values, with the constraints behind it,
//! derived from the parent's by the one new constraint. A range's set is met with those of the ranges that overlap it
//! when it is looked up. Constraints that say more than sets can hold are kept as relations: folded over the current
//! sets, narrowed, and visited again, a bounded number of times, when a set they depend on shrinks. Every set
//! contains every solution of its reasons: an empty one proves that they have none.

use super::fold::{Fold, Imprecision, Source};
use super::propagate::propagate;
use super::range::{BitRanges, leaf};
use super::reason_tree::ReasonTree;
use super::set::Set;
use super::summary::{Backoff, Summaries, Summary};
use crate::expr::{Expr, Graph};
use crate::persist::{Map, Recent};
use crate::query::{Alive, Path, PathTree, Reasons};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::sync::Arc;

/// Relations visited again for one new constraint.
const MAX_REVISITS: usize = 16;
/// Inferences from more constraints than this are not kept: long chains cost more than they tell.
const MAX_REASONS: u32 = 256;
/// Nodes folded and visited for one new constraint of a path; sets of many intervals count for more.
pub const LEARNING_EFFORT: usize = 512;
/// Relations remembered for one range.
const MAX_RELATIONS: usize = 16;
/// Cores of more constraints than this are not made smaller, nor those of few by learning again: that costs more.
const MAX_SHRUNK: usize = 64;
const FEW_REASONS: usize = 24;
/// BitRanges that a path knows something of; beyond, it learns nothing more. About 2 MB.
const MAX_KNOWN_SETS: usize = 4096;
/// BitRanges that have numbers; when there are more, everything is forgotten and learnt again. About 2 MB.
const MAX_RANGES: usize = 4 * MAX_KNOWN_SETS;
/// Bytes of the facts of other nodes that are kept while others are asked for, and as many that were before them.
const NODE_BYTES: usize = 2 << 20;

/// RangeNumbers of ranges.
type RangeNumbers = SmallVec<[u32; 8]>;

/// The values of a range, and the constraints that say so.
#[derive(Clone, Debug)]
pub struct KnownSet {
    pub set: Set,
    pub reasons: ReasonTree,
}

/// What a path implied.
#[derive(Clone, Default)]
pub struct Facts {
    sets: Map<Arc<KnownSet>>,
    /// Constraints over several ranges, by range.
    relations: Map<Arc<[Expr]>>,
    /// These constraints contradict each other.
    pub infeasible: Option<ReasonTree>,
}

impl Facts {
    pub fn stored(&self, number: u32) -> Option<&KnownSet> {
        self.sets.get(number).map(|view| &**view)
    }

    /// The set of a range, by all that is known of its bits.
    pub fn known(&self, ranges: &BitRanges, number: u32) -> KnownSet {
        let range = ranges.range(number);
        let mut view = match self.sets.get(number) {
            Some(view) => (**view).clone(),
            None => KnownSet { set: Set::full(range.width), reasons: ReasonTree::default() },
        };
        for &other in ranges.overlaps(number) {
            let Some(beside) = self.sets.get(other) else { continue };
            let theirs = ranges.range(other);
            let (low, end) = (range.low.max(theirs.low), range.end().min(theirs.end()));
            let common = beside.set.extract((low - theirs.low) as u32, (end - low) as u32).set;
            let narrower = view.set.with_field((low - range.low) as u32, &common).set;
            if narrower != view.set {
                view.set = narrower;
                view.reasons = view.reasons.union(&beside.reasons);
            }
        }
        view
    }

    /// About the bytes that one more constraint takes: a branch of each map, the set and its reasons.
    fn growth(&self) -> u32 {
        let levels = self.sets.len().max(1).ilog2() / 4 + self.relations.len().max(1).ilog2() / 4;
        512 + 192 * levels
    }

    fn contradiction(&mut self, reasons: ReasonTree) {
        self.infeasible.get_or_insert(reasons);
    }

    /// Meets a range's set with another; true if that changed it.
    pub fn restrict(&mut self, ranges: &BitRanges, number: u32, set: &Set, reasons: &ReasonTree) -> bool {
        let (new, all) = match self.sets.get(number) {
            None if set.is_full() => return false,
            None => (set.clone(), reasons.clone()),
            Some(old) => {
                let both = old.set.intersect(set).set;
                if both == old.set {
                    return false;
                }
                let all = if both == *set { reasons.clone() } else { old.reasons.union(reasons) };
                (both, all)
            }
        };
        if new.is_empty() {
            self.contradiction(all);
            return true;
        }
        self.sets.insert(number, Arc::new(KnownSet { set: new, reasons: all }));
        if !ranges.overlaps(number).is_empty() {
            let view = self.known(ranges, number);
            if view.set.is_empty() {
                self.contradiction(view.reasons);
            }
        }
        true
    }

    /// Looks whether what is known of some ranges, all together, leaves any value.
    pub fn check(&mut self, ranges: &BitRanges, numbers: &[u32]) {
        for &number in numbers {
            let view = self.known(ranges, number);
            if view.set.is_empty() {
                self.contradiction(view.reasons);
            }
        }
    }

    fn relate(&mut self, number: u32, constraint: Expr) {
        let known = self.relations.get(number);
        if known.is_some_and(|all| all.len() >= MAX_RELATIONS || all.contains(&constraint)) {
            return;
        }
        let all = known.iter().flat_map(|all| all.iter().copied()).chain([constraint]).collect();
        self.relations.insert(number, all);
    }
}

/// Sets from facts, with the reasons of those that say anything.
struct Context<'a> {
    facts: &'a Facts,
    reasons: ReasonTree,
}

impl Source for Context<'_> {
    fn set(&mut self, ranges: &mut BitRanges, number: u32) -> Set {
        let view = self.facts.known(ranges, number);
        if !view.set.is_full() {
            self.reasons = self.reasons.union(&view.reasons);
        }
        view.set
    }
}

/// Learns constraints along paths. Its memory is bounded, however many they are and however long.
pub struct Learner {
    pub ranges: BitRanges,
    summaries: Summaries,
    fold: Fold,
    nodes: Recent<u32, Facts>,
    /// How visiting new constraints went, by what sets cannot hold of them: those of one kind tend to go the same way.
    backoff: FxHashMap<Option<Imprecision>, Backoff>,
    /// Nodes that may still be folded or visited for what is being learnt.
    effort: usize,
    /// What was spent before the last time that everything was forgotten.
    spent_before: u64,
}

impl Default for Learner {
    fn default() -> Learner {
        Learner {
            ranges: BitRanges::default(),
            summaries: Summaries::default(),
            fold: Fold::default(),
            nodes: Recent::new(NODE_BYTES),
            backoff: FxHashMap::default(),
            effort: 0,
            spent_before: 0,
        }
    }
}

impl Learner {
    pub fn summary(&mut self, graph: &Graph, e: Expr) -> Arc<Summary> {
        self.summaries.of(graph, &mut self.ranges, e)
    }

    /// The facts of a path: from the nearest node above that has them, one constraint at a time.
    pub fn facts(&mut self, graph: &Graph, tree: &PathTree, path: Path) -> Facts {
        let mut missing = Vec::new();
        let mut facts = Facts::default();
        for node in tree.upwards(path) {
            if let Some(known) = self.nodes.get(node.id()) {
                facts = known.clone();
                break;
            }
            missing.push(node);
        }
        for (distance, node) in missing.into_iter().enumerate().rev() {
            self.set_effort(LEARNING_EFFORT);
            self.learn_newest(graph, &mut facts, tree.constraint(node));
            // Of a long way, a few are enough to start from again.
            if distance < 8 || distance.is_power_of_two() {
                self.nodes.insert(node.id(), facts.clone(), facts.growth());
            }
        }
        facts
    }

    /// Forgets everything if that takes too much memory. For a time when nobody holds facts.
    pub fn limit_memory(&mut self) {
        if self.ranges.count() > MAX_RANGES {
            self.forget();
        }
    }

    /// The facts of some constraints, of whatever path.
    pub fn facts_of(&mut self, graph: &Graph, constraints: &[Expr]) -> Facts {
        let mut facts = Facts::default();
        for &constraint in constraints {
            self.set_effort(LEARNING_EFFORT);
            self.learn(graph, &mut facts, constraint);
        }
        facts
    }

    /// Nanoseconds spent so far, about: reckoned from what was done, not from a clock.
    pub(crate) fn spent(&self) -> u64 {
        self.spent_before + self.fold.spent + self.summaries.spent()
    }

    /// How many nodes may be folded and visited from here on.
    pub fn set_effort(&mut self, effort: usize) {
        self.effort = effort;
    }

    fn spend(&mut self, nodes: usize) {
        self.effort = self.effort.saturating_sub(nodes);
    }

    /// Is any effort left?
    pub fn is_out_of_effort(&self) -> bool {
        self.effort == 0
    }

    /// Adds what a constraint implied.
    pub fn learn(&mut self, graph: &Graph, facts: &mut Facts, constraint: Expr) {
        self.add(graph, facts, constraint, |learner, facts, changed| {
            learner.visit(graph, facts, constraint, changed);
        });
    }

    /// The same of a path's newest constraint, of which more is learnt only where that has led to something with others
    /// of its kind: what is not learnt here is found when it is visited again.
    fn learn_newest(&mut self, graph: &Graph, facts: &mut Facts, constraint: Expr) {
        self.add(graph, facts, constraint, |learner, facts, changed| {
            let kind = learner.summary(graph, constraint).imprecision();
            if learner.backoff.entry(kind).or_default().is_due() {
                let before = changed.len();
                learner.visit(graph, facts, constraint, changed);
                let narrowed = changed.len() > before || facts.infeasible.is_some();
                learner.backoff.entry(kind).or_default().record(narrowed);
            }
        });
    }

    /// Adds what a constraint implied outright, and what `visiting` finds if there is more to it.
    fn add(
        &mut self,
        graph: &Graph,
        facts: &mut Facts,
        constraint: Expr,
        visiting: impl FnOnce(&mut Learner, &mut Facts, &mut RangeNumbers),
    ) {
        if facts.sets.len() >= MAX_KNOWN_SETS {
            return;
        }
        let summary = self.summary(graph, constraint);
        let reason = ReasonTree::one(constraint);
        if summary.implied.impossible {
            return facts.contradiction(reason);
        }
        let mut changed = RangeNumbers::new();
        for (number, set) in &summary.implied.sets {
            if facts.restrict(&self.ranges, *number, set, &reason) {
                changed.push(*number);
            }
        }
        if !summary.implied.exact {
            visiting(self, facts, &mut changed);
            for &leaf in &summary.leaves {
                facts.relate(leaf, constraint);
            }
        }
        self.propagate(graph, facts, changed);
    }

    /// Visits relations that depend on changed ranges until nothing changes, or it has been often enough.
    fn propagate(&mut self, graph: &Graph, facts: &mut Facts, mut changed: RangeNumbers) {
        if facts.relations.is_empty() || self.is_out_of_effort() {
            return;
        }
        let mut visits = 0;
        while let Some(number) = changed.pop() {
            let near = [number].into_iter().chain(self.ranges.overlaps(number).iter().copied());
            let relations: Vec<Arc<[Expr]>> = near.filter_map(|n| facts.relations.get(n).cloned()).collect();
            for &relation in relations.iter().flat_map(|all| all.iter()) {
                visits += 1;
                if visits > MAX_REVISITS || self.is_out_of_effort() || facts.infeasible.is_some() {
                    return;
                }
                let summary = self.summary(graph, relation);
                if !summary.backoff.is_due() {
                    continue;
                }
                let before = changed.len();
                self.visit(graph, facts, relation, &mut changed);
                summary.backoff.record(changed.len() > before || facts.infeasible.is_some());
            }
        }
    }

    /// Supposes that a range has a value of the set, for no reason.
    pub fn assume(&mut self, graph: &Graph, facts: &mut Facts, number: u32, set: &Set) {
        if facts.restrict(&self.ranges, number, set, &ReasonTree::default()) {
            self.propagate(graph, facts, smallvec![number]);
        }
    }

    /// Adds to the facts of a path, if they are known, that a variable or a read at a constant place has a value of
    /// the set, by these constraints of the path. True if that is news.
    pub fn add_fact(&mut self, graph: &Graph, path: Path, e: Expr, set: &Set, reasons: &Reasons) -> bool {
        let Some(range) = leaf(graph, e) else { return false };
        let Some(mut facts) = self.nodes.get(path.id()).cloned() else { return false };
        let number = self.ranges.number(range);
        let reasons =
            reasons.as_slice().iter().fold(ReasonTree::default(), |all, &e| all.union(&ReasonTree::one(e)));
        let news = facts.restrict(&self.ranges, number, set, &reasons);
        if news {
            self.set_effort(LEARNING_EFFORT);
            self.propagate(graph, &mut facts, smallvec![number]);
            let growth = facts.growth();
            self.nodes.insert(path.id(), facts, growth);
        }
        news
    }

    /// Of the constraints behind a range's set, which has nothing of `wanted`, few that by themselves leave it nothing;
    /// all, if it takes inferences from several to see that.
    pub fn core_excluding(
        &mut self,
        graph: &Graph,
        number: u32,
        wanted: &Set,
        reasons: &ReasonTree,
    ) -> Reasons {
        let mut excludes = |constraint| {
            let summary = self.summary(graph, constraint);
            summary.set_of(number).is_some_and(|set| set.is_disjoint(wanted))
        };
        if let Some(one) = reasons.find(MAX_SHRUNK as u32, &mut excludes) {
            return Reasons::One(one);
        }
        let all = reasons.flatten();
        if all.as_slice().len() < 2 || all.as_slice().len() > MAX_SHRUNK {
            return all;
        }
        let mut say: Vec<(Expr, Set)> = Vec::new();
        for &constraint in all.as_slice() {
            if let Some(set) = self.summary(graph, constraint).set_of(number) {
                say.push((constraint, set.clone()));
            }
        }
        let (mut left, mut chosen) = (wanted.clone(), Vec::new());
        while !left.is_empty() {
            // After those before it, this one leaves nothing: it is needed, and those after it are not.
            let mut with = left.clone();
            let last = say.iter().position(|(_, set)| {
                with = with.intersect(set).set;
                with.is_empty()
            });
            let Some(last) = last else { return all };
            left = left.intersect(&say[last].1).set;
            chosen.push(say[last].0);
            say.truncate(last);
        }
        chosen.into_iter().collect()
    }

    /// Of constraints that contradict the condition, fewer that still do, if that shows at once: none, or a half.
    pub fn shrink_core(&mut self, graph: &Graph, reasons: &Reasons, condition: Expr) -> Reasons {
        let mut kept = reasons.as_slice();
        let mut contradicts = |constraints: &[Expr]| {
            let mut facts = self.facts_of(graph, constraints);
            self.set_effort(LEARNING_EFFORT);
            self.learn(graph, &mut facts, condition);
            let about = self.ranges_of(graph, &facts, condition);
            facts.check(&self.ranges, &about);
            facts.infeasible.is_some()
        };
        if kept.len() > FEW_REASONS && contradicts(&[]) {
            return Reasons::None;
        }
        while kept.len() > FEW_REASONS && kept.len() <= MAX_SHRUNK {
            let (older, newer) = kept.split_at(kept.len() / 2);
            match [newer, older].into_iter().find(|half| contradicts(half)) {
                Some(half) => kept = half,
                None => break,
            }
        }
        kept.iter().copied().collect()
    }

    /// Folds a constraint over the current sets and narrows them by its being true.
    fn visit(&mut self, graph: &Graph, facts: &mut Facts, constraint: Expr, changed: &mut RangeNumbers) {
        if self.effort == 0 {
            return;
        }
        let mut context = Context { facts, reasons: ReasonTree::one(constraint) };
        let whole = self.fold.run(graph, &mut self.ranges, constraint, &mut context, self.effort);
        self.spend(self.fold.cost);
        if !whole {
            return;
        }
        let reasons = context.reasons;
        let implied =
            propagate(graph, &mut self.ranges, &self.fold, constraint, Set::truth(true), &mut self.effort);
        if implied.impossible {
            return facts.contradiction(reasons);
        }
        if reasons.size() > MAX_REASONS {
            return;
        }
        for (number, set) in &implied.sets {
            if facts.restrict(&self.ranges, *number, set, &reasons) {
                changed.push(*number);
            }
        }
    }

    /// The ranges that a constraint is about: those it implied something of, if that is all it implied, or else all that
    /// it depends on, given the facts.
    pub fn ranges_of(&mut self, graph: &Graph, facts: &Facts, constraint: Expr) -> Vec<u32> {
        let summary = self.summary(graph, constraint);
        if summary.implied.exact {
            return summary.implied.sets.iter().map(|(number, _)| *number).collect();
        }
        if self.effort == 0 {
            return summary.leaves.clone();
        }
        let mut context = Context { facts, reasons: ReasonTree::default() };
        let whole = self.fold.run(graph, &mut self.ranges, constraint, &mut context, self.effort);
        self.spend(self.fold.cost);
        if whole { self.fold.used.clone() } else { summary.leaves.clone() }
    }

    /// The values an expression of at most 64 bits can have on a path, and the constraints that say so: for resolving
    /// pointers, switch targets and loop bounds. `set.value()` tells whether there is only one, `set.min()` and
    /// `set.max()` (or `set.signed_bounds()`) the ends. Every possible value is in the set; not every member of it
    /// need be possible.
    pub fn values_on(&mut self, graph: &Graph, tree: &PathTree, path: Path, e: Expr) -> KnownSet {
        let facts = self.facts(graph, tree, path);
        self.values(graph, &facts, e)
    }

    /// The same of a variable or a read at a constant place, if the facts say anything of it, without folding. `None`
    /// for any other expression.
    pub fn leaf_values<'a>(
        &mut self,
        graph: &Graph,
        facts: &'a Facts,
        e: Expr,
    ) -> Option<Option<Cow<'a, KnownSet>>> {
        let number = self.ranges.number(leaf(graph, e)?);
        if !self.ranges.overlaps(number).is_empty() {
            return Some(Some(Cow::Owned(facts.known(&self.ranges, number))));
        }
        Some(facts.stored(number).map(Cow::Borrowed))
    }

    /// The same under given facts.
    pub fn values(&mut self, graph: &Graph, facts: &Facts, e: Expr) -> KnownSet {
        let mut context = Context { facts, reasons: ReasonTree::default() };
        let whole = self.fold.run(graph, &mut self.ranges, e, &mut context, usize::MAX);
        if !whole {
            return KnownSet { set: Set::full(graph.width(e)), reasons: ReasonTree::default() };
        }
        let reasons = context.reasons;
        KnownSet { set: self.fold.set(graph, e), reasons }
    }

    pub fn sweep(&mut self, alive: &Alive<'_>) {
        self.summaries.sweep(alive.exprs);
        self.ranges.sweep(alive.exprs);
        self.nodes.retain(|id| alive.path(id));
    }

    pub fn drop_paths(&mut self, gone: &[u32]) {
        for id in gone {
            self.nodes.remove(*id);
        }
    }

    pub fn forget(&mut self) {
        *self = Learner { spent_before: self.spent(), ..Learner::default() };
    }
}
