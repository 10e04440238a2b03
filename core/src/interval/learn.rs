//! Facts about the bit ranges of a path, learnt one constraint at a time.
//!
//! `Facts` are attached to path nodes: a persistent map from range to the set of its values with its reasons,
//! derived from the parent's facts and the new constraint. Looking up a range intersects its set with those of
//! overlapping ranges. Constraints that sets do not represent exactly are kept as relations: they are folded over
//! the current sets and propagated again, a bounded number of times, when a set they depend on shrinks. Every set
//! contains all solutions of its reasons, so an empty set proves that they have none.

use super::fold::{Fold, Imprecision, SetSource};
use super::propagate::propagate;
use super::range::{BitRanges, leaf};
use super::reason_tree::ReasonTree;
use super::set::Set;
use super::summary::{Summaries, Summary, VISITS_PER_SUCCESS};
use crate::expr::{Expr, Graph};
use crate::persist::{Map, Recent};
use crate::query::{Alive, Path, PathTree, Reasons};
use crate::throttle::Throttle;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum number of relations visited again for one new constraint.
const MAX_REVISITS: usize = 16;
/// Facts with more reasons are dropped: long chains cost more than they contribute.
const MAX_REASONS: u32 = 256;
/// Effort for one new constraint of a path: nodes folded and visited, with a surcharge for sets of many intervals.
pub const LEARNING_EFFORT: usize = 512;
/// Maximum number of relations per range.
const MAX_RELATIONS: usize = 16;
/// Cores of more constraints are not shrunk; cores below the second limit are not shrunk by learning again. Both
/// would cost more than they save.
const MAX_SHRUNK_CORE: usize = 64;
const MIN_SHRUNK_CORE: usize = 24;
/// Maximum number of ranges with a set on one path, about 2 MB. Above it, the path learns nothing more.
const MAX_KNOWN_SETS: usize = 4096;
/// Maximum number of numbered ranges, about 2 MB. Above it, all facts are dropped and learnt again.
const MAX_RANGES: usize = 4 * MAX_KNOWN_SETS;
/// Bytes of recently used facts to keep, twice over: see `Recent`.
const RECENT_FACTS_BYTES: usize = 2 << 20;

/// Numbers of bit ranges.
type RangeNumbers = SmallVec<[u32; 8]>;

/// The set of values of a range and its reasons.
#[derive(Clone, Debug)]
pub struct KnownSet {
    pub set: Set,
    pub reasons: ReasonTree,
}

/// Facts implied by the constraints of a path.
#[derive(Clone, Default)]
pub struct Facts {
    sets: Map<Arc<KnownSet>>,
    /// Constraints that sets do not represent exactly, by range.
    relations: Map<Arc<[Expr]>>,
    /// A set of constraints that is unsatisfiable, if one was found.
    pub infeasible: Option<ReasonTree>,
}

impl Facts {
    /// The set recorded for the range itself, without overlapping ranges.
    pub fn stored(&self, number: u32) -> Option<&KnownSet> {
        self.sets.get(number).map(|known| &**known)
    }

    /// The set of a range, intersected with the sets of overlapping ranges.
    pub fn known(&self, ranges: &BitRanges, number: u32) -> KnownSet {
        let range = ranges.range(number);
        let mut known = match self.sets.get(number) {
            Some(own) => (**own).clone(),
            None => KnownSet { set: Set::full(range.width), reasons: ReasonTree::default() },
        };
        for &other in ranges.overlaps(number) {
            let Some(other_set) = self.sets.get(other) else { continue };
            let other_range = ranges.range(other);
            let (low, end) = (range.low.max(other_range.low), range.end().min(other_range.end()));
            let common = other_set.set.extract((low - other_range.low) as u32, (end - low) as u32).set;
            let narrower = known.set.with_field((low - range.low) as u32, &common).set;
            if narrower != known.set {
                known.set = narrower;
                known.reasons = known.reasons.union(&other_set.reasons);
            }
        }
        known
    }

    /// Approximate number of bytes that one more constraint takes: a branch of each map, the set and its reasons.
    fn growth(&self) -> u32 {
        let levels = self.sets.len().max(1).ilog2() / 4 + self.relations.len().max(1).ilog2() / 4;
        512 + 192 * levels
    }

    fn contradiction(&mut self, reasons: ReasonTree) {
        self.infeasible.get_or_insert(reasons);
    }

    /// Intersects the set of a range with another. Returns true if it became smaller.
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
            let known = self.known(ranges, number);
            if known.set.is_empty() {
                self.contradiction(known.reasons);
            }
        }
        true
    }

    /// Records a contradiction if one of the ranges has no value left.
    pub fn check(&mut self, ranges: &BitRanges, numbers: &[u32]) {
        for &number in numbers {
            let known = self.known(ranges, number);
            if known.set.is_empty() {
                self.contradiction(known.reasons);
            }
        }
    }

    fn add_relation(&mut self, number: u32, constraint: Expr) {
        let known = self.relations.get(number);
        if known.is_some_and(|all| all.len() >= MAX_RELATIONS || all.contains(&constraint)) {
            return;
        }
        let all = known.iter().flat_map(|all| all.iter().copied()).chain([constraint]).collect();
        self.relations.insert(number, all);
    }
}

/// Provides sets from facts, and collects the reasons of those that are used.
struct Context<'a> {
    facts: &'a Facts,
    reasons: ReasonTree,
}

impl SetSource for Context<'_> {
    fn set(&mut self, ranges: &mut BitRanges, number: u32) -> Set {
        let known = self.facts.known(ranges, number);
        if !known.set.is_full() {
            self.reasons = self.reasons.union(&known.reasons);
        }
        known.set
    }
}

/// Learns the constraints of paths. Its memory is bounded, however long paths are.
pub struct Learner {
    pub ranges: BitRanges,
    summaries: Summaries,
    fold: Fold,
    nodes: Recent<u32, Facts>,
    /// Visiting new constraints, and visiting constraints again, by imprecision: constraints of one kind behave alike.
    visits: FxHashMap<Option<Imprecision>, Throttle>,
    revisits: FxHashMap<Option<Imprecision>, Throttle>,
    /// Number of nodes that may still be folded or visited.
    effort: usize,
    /// Estimate of the time spent before everything was last dropped.
    spent_before_reset: u64,
}

fn note(visits: &mut FxHashMap<Option<Imprecision>, Throttle>, kind: Option<Imprecision>, narrowed: bool) {
    let throttle = visits.get_mut(&kind).expect("asked before the visit");
    throttle.note(1, if narrowed { VISITS_PER_SUCCESS } else { 0 });
}

impl Default for Learner {
    fn default() -> Learner {
        Learner {
            ranges: BitRanges::default(),
            summaries: Summaries::default(),
            fold: Fold::default(),
            nodes: Recent::new(RECENT_FACTS_BYTES),
            visits: FxHashMap::default(),
            revisits: FxHashMap::default(),
            effort: 0,
            spent_before_reset: 0,
        }
    }
}

impl Learner {
    pub fn summary(&mut self, graph: &Graph, e: Expr) -> Arc<Summary> {
        self.summaries.of(graph, &mut self.ranges, e)
    }

    /// Facts of a path, derived from the nearest ancestor with facts one constraint at a time.
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
            // On a long path, facts of some nodes suffice as starting points.
            if distance < 8 || distance.is_power_of_two() {
                self.nodes.insert(node.id(), facts.clone(), facts.growth());
            }
        }
        facts
    }

    /// Drops all facts if they take too much memory. The caller must not hold any.
    pub fn limit_memory(&mut self) {
        if self.ranges.count() > MAX_RANGES {
            self.forget();
        }
    }

    /// Facts of a list of constraints.
    pub fn facts_of(&mut self, graph: &Graph, constraints: &[Expr]) -> Facts {
        let mut facts = Facts::default();
        for &constraint in constraints {
            self.set_effort(LEARNING_EFFORT);
            self.learn(graph, &mut facts, constraint);
        }
        facts
    }

    /// Estimated nanoseconds spent so far, from counts and not from a clock.
    pub(crate) fn spent(&self) -> u64 {
        self.spent_before_reset + self.fold.spent + self.summaries.spent()
    }

    /// Sets the number of nodes that may be folded and visited from now on.
    pub fn set_effort(&mut self, effort: usize) {
        self.effort = effort;
    }

    fn spend(&mut self, nodes: usize) {
        self.effort = self.effort.saturating_sub(nodes);
    }

    /// Returns true if the effort is used up.
    pub fn is_out_of_effort(&self) -> bool {
        self.effort == 0
    }

    /// Adds the facts that a constraint implies.
    pub fn learn(&mut self, graph: &Graph, facts: &mut Facts, constraint: Expr) {
        self.add(graph, facts, constraint, |learner, facts, changed| {
            learner.visit(graph, facts, constraint, changed);
        });
    }

    /// Adds the facts of the newest constraint of a path. Beyond its summary it is only visited if this paid off
    /// for constraints of its kind; otherwise later visits find the rest.
    fn learn_newest(&mut self, graph: &Graph, facts: &mut Facts, constraint: Expr) {
        self.add(graph, facts, constraint, |learner, facts, changed| {
            let kind = learner.summary(graph, constraint).imprecision();
            if !learner.visits.entry(kind).or_default().skips() {
                let before = changed.len();
                learner.visit(graph, facts, constraint, changed);
                let narrowed = changed.len() > before || facts.infeasible.is_some();
                note(&mut learner.visits, kind, narrowed);
            }
        });
    }

    /// Adds the summary of a constraint, and calls `visit_more` if the summary is not exact.
    fn add(
        &mut self,
        graph: &Graph,
        facts: &mut Facts,
        constraint: Expr,
        visit_more: impl FnOnce(&mut Learner, &mut Facts, &mut RangeNumbers),
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
            visit_more(self, facts, &mut changed);
            for &leaf in &summary.leaves {
                facts.add_relation(leaf, constraint);
            }
        }
        self.revisit_relations(graph, facts, changed);
    }

    /// Visits relations that depend on changed ranges until nothing changes or a limit is reached.
    fn revisit_relations(&mut self, graph: &Graph, facts: &mut Facts, mut changed: RangeNumbers) {
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
                let kind = self.summary(graph, relation).imprecision();
                if self.revisits.entry(kind).or_default().skips() {
                    continue;
                }
                let before = changed.len();
                self.visit(graph, facts, relation, &mut changed);
                let narrowed = changed.len() > before || facts.infeasible.is_some();
                note(&mut self.revisits, kind, narrowed);
            }
        }
    }

    /// Assumes that the value of a range is in the set, without a reason.
    pub fn assume(&mut self, graph: &Graph, facts: &mut Facts, number: u32, set: &Set) {
        if facts.restrict(&self.ranges, number, set, &ReasonTree::default()) {
            self.revisit_relations(graph, facts, smallvec![number]);
        }
    }

    /// Adds a fact with its reasons to a path whose facts are known: the value of a leaf is in the set. Returns
    /// true if the fact is new.
    pub fn add_fact(&mut self, graph: &Graph, path: Path, e: Expr, set: &Set, reasons: &Reasons) -> bool {
        let Some(range) = leaf(graph, e) else { return false };
        let Some(mut facts) = self.nodes.get(path.id()).cloned() else { return false };
        let number = self.ranges.number(range);
        let reasons =
            reasons.as_slice().iter().fold(ReasonTree::default(), |all, &e| all.union(&ReasonTree::one(e)));
        let is_new = facts.restrict(&self.ranges, number, set, &reasons);
        if is_new {
            self.set_effort(LEARNING_EFFORT);
            self.revisit_relations(graph, &mut facts, smallvec![number]);
            let growth = facts.growth();
            self.nodes.insert(path.id(), facts, growth);
        }
        is_new
    }

    /// Shrinks the reasons of a set that is disjoint from `wanted` to few constraints that exclude `wanted` by
    /// their summaries alone. Returns all reasons if that is not possible.
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
        if let Some(one) = reasons.find(MAX_SHRUNK_CORE as u32, &mut excludes) {
            return Reasons::One(one);
        }
        let all = reasons.flatten();
        if all.as_slice().len() < 2 || all.as_slice().len() > MAX_SHRUNK_CORE {
            return all;
        }
        let mut summaries: Vec<(Expr, Set)> = Vec::new();
        for &constraint in all.as_slice() {
            if let Some(set) = self.summary(graph, constraint).set_of(number) {
                summaries.push((constraint, set.clone()));
            }
        }
        let (mut left, mut chosen) = (wanted.clone(), Vec::new());
        while !left.is_empty() {
            // The constraints up to this one exclude all values: this one is needed, the ones after it are not.
            let mut with = left.clone();
            let last = summaries.iter().position(|(_, set)| {
                with = with.intersect(set).set;
                with.is_empty()
            });
            let Some(last) = last else { return all };
            left = left.intersect(&summaries[last].1).set;
            chosen.push(summaries[last].0);
            summaries.truncate(last);
        }
        chosen.into_iter().collect()
    }

    /// Shrinks reasons that contradict the condition: to none or to a half, as long as learning still finds the
    /// contradiction.
    pub fn shrink_core(&mut self, graph: &Graph, reasons: &Reasons, condition: Expr) -> Reasons {
        let mut kept = reasons.as_slice();
        let mut contradicts = |constraints: &[Expr]| {
            let mut facts = self.facts_of(graph, constraints);
            self.set_effort(LEARNING_EFFORT);
            self.learn(graph, &mut facts, condition);
            let ranges = self.ranges_of(graph, &facts, condition);
            facts.check(&self.ranges, &ranges);
            facts.infeasible.is_some()
        };
        if kept.len() > MIN_SHRUNK_CORE && contradicts(&[]) {
            return Reasons::None;
        }
        while kept.len() > MIN_SHRUNK_CORE && kept.len() <= MAX_SHRUNK_CORE {
            let (older, newer) = kept.split_at(kept.len() / 2);
            match [newer, older].into_iter().find(|half| contradicts(half)) {
                Some(half) => kept = half,
                None => break,
            }
        }
        kept.iter().copied().collect()
    }

    /// Folds a constraint over the current sets and propagates its truth.
    fn visit(&mut self, graph: &Graph, facts: &mut Facts, constraint: Expr, changed: &mut RangeNumbers) {
        if self.effort == 0 {
            return;
        }
        let mut context = Context { facts, reasons: ReasonTree::one(constraint) };
        let complete = self.fold.run(graph, &mut self.ranges, constraint, &mut context, self.effort);
        self.spend(self.fold.cost);
        if !complete {
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

    /// The ranges that a constraint depends on: those of its summary if that is exact, otherwise all that are used
    /// under the facts.
    pub fn ranges_of(&mut self, graph: &Graph, facts: &Facts, constraint: Expr) -> Vec<u32> {
        let summary = self.summary(graph, constraint);
        if summary.implied.exact {
            return summary.implied.sets.iter().map(|(number, _)| *number).collect();
        }
        if self.effort == 0 {
            return summary.leaves.clone();
        }
        let mut context = Context { facts, reasons: ReasonTree::default() };
        let complete = self.fold.run(graph, &mut self.ranges, constraint, &mut context, self.effort);
        self.spend(self.fold.cost);
        if complete { self.fold.used.clone() } else { summary.leaves.clone() }
    }

    /// Values of an expression of at most 64 bits on a path, with reasons: for resolving pointers, switch targets
    /// and loop bounds. The set contains every possible value, and perhaps others.
    pub fn values_on(&mut self, graph: &Graph, tree: &PathTree, path: Path, e: Expr) -> KnownSet {
        let facts = self.facts(graph, tree, path);
        self.values(graph, &facts, e)
    }

    /// Values of a leaf, without folding: `None` if `e` is not a leaf, `Some(None)` if nothing is known about it.
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

    /// Values of an expression under given facts.
    pub fn values(&mut self, graph: &Graph, facts: &Facts, e: Expr) -> KnownSet {
        let mut context = Context { facts, reasons: ReasonTree::default() };
        let complete = self.fold.run(graph, &mut self.ranges, e, &mut context, usize::MAX);
        if !complete {
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
        *self = Learner { spent_before_reset: self.spent(), ..Learner::default() };
    }
}
