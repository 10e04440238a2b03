//! The pool: solutions in slots, each attached to one node of the path tree, whose constraints it satisfies.
//!
//! A node's solutions are pushed down to a child when the child is first asked about: its constraint is evaluated once
//! for each, and those that satisfy it move. From then on the child has every solution that its parent had for it, and
//! asking again costs nothing. New solutions are pushed down from the root along the children that they satisfy. The
//! solutions of a dropped node are discarded.
//!
//! Two invariants: a solution satisfies every constraint of its node, and every node with a solution is in `is_pushed`,
//! so that none is missed when the node is dropped and its number reused.

use crate::expr::columns::{Assignment, Memo};
use crate::expr::walk::Supports;
use crate::expr::{Evaluator, Expr, Graph, Model};
use crate::query::{Alive, Path, PathTree};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Limit on the number of solutions.
pub(super) const MAX_SOLUTIONS: usize = 4096;
/// Limit on the estimated size of their arrays.
const MAX_BYTES: usize = 32 << 20;
/// Pushing down new solutions stops after this many computed values.
const MAX_PUSH_VALUES: u64 = 1 << 16;
/// Stale slots are made free in batches of this size.
const STALE_BATCH: usize = 64;
/// Number of children of one node that new solutions are evaluated for.
const MAX_CHILDREN: usize = 8;

const NOWHERE: u32 = u32::MAX;

/// Where a solution comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// An assignment of the SAT solver at a conflict.
    Harvest,
    /// An answer with one input changed at random.
    Variant,
}

#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// The node it is attached to; `NOWHERE` if the slot is free.
    node: u32,
    pub(super) origin: Origin,
    /// Whether it has answered a query: the node of that query has it as its model.
    pub(super) given: bool,
    /// Truth of recent conditions under it, the last one in the lowest bit.
    outcomes: u64,
    /// Estimated size of its model.
    bytes: u32,
}

/// A solution to be attached to a node.
pub(super) struct Candidate {
    pub(super) model: Assignment,
    pub(super) origin: Origin,
}

/// The parts of the chain needed to evaluate solutions.
pub(super) struct Context<'a> {
    pub(super) graph: &'a Graph,
    pub(super) tree: &'a PathTree,
    pub(super) evaluator: &'a mut Evaluator,
    pub(super) supports: &'a mut Supports,
}

/// Nodes whose constraints need not be evaluated for some candidates.
#[derive(Default)]
pub(super) struct Known {
    /// Nodes with constraints that all candidates satisfy.
    pub(super) certain: FxHashSet<u32>,
    /// Nodes with constraints that the answer satisfies from which the variants were made.
    pub(super) of_answer: FxHashSet<u32>,
}

#[derive(Default)]
pub(super) struct Pool {
    slots: Vec<Slot>,
    models: Vec<Assignment>,
    /// The assignment of free slots.
    empty: Assignment,
    /// Slots ready for use.
    free: Vec<u32>,
    /// Slots given up whose values may still be in `memo`.
    stale: Vec<u32>,
    used: usize,
    bytes: usize,
    /// Clock hand of the eviction: the slot that was evicted last.
    hand: usize,
    /// Slots attached to each node.
    attached: FxHashMap<u32, Vec<u32>>,
    /// By node: have the solutions of its parent been pushed down to it?
    is_pushed: Vec<bool>,
    /// Number of the tree's dropped nodes that have been processed.
    dropped: usize,
    /// Limit on the number of solutions at one node.
    limit: usize,
    memo: Memo,
}

impl Pool {
    pub(super) fn new(limit: usize) -> Pool {
        Pool { limit, ..Pool::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    pub(super) fn slot(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    pub(super) fn model(&mut self, graph: &Graph, slot: u32) -> &Model {
        self.models[slot as usize].model(graph)
    }

    /// Number of values computed so far.
    pub(super) fn computed(&self) -> u64 {
        self.memo.computed()
    }

    /// Solutions attached to exactly this node.
    pub(super) fn attached_to(&self, path: Path) -> &[u32] {
        self.attached.get(&path.id()).map_or(&[], |list| list)
    }

    pub(super) fn truths(
        &mut self,
        context: &mut Context<'_>,
        slots: &[u32],
        e: Expr,
    ) -> SmallVec<[bool; 8]> {
        let truths = self.memo.truths(context.graph, context.evaluator, &mut self.models, slots, e);
        for (&slot, &truth) in slots.iter().zip(&truths) {
            let outcomes = &mut self.slots[slot as usize].outcomes;
            *outcomes = *outcomes << 1 | u64::from(truth);
        }
        truths
    }

    /// Processes the nodes dropped since the last call, given the tree's whole list.
    pub(super) fn note_dropped(&mut self, dropped: &[u32]) {
        let (from, to) = (self.dropped, dropped.len());
        self.dropped = to;
        for &id in &dropped[from..] {
            let Some(is_pushed) = self.is_pushed.get_mut(id as usize) else { continue };
            *is_pushed = false;
            let list = self.attached.remove(&id).unwrap_or_default();
            list.into_iter().for_each(|slot| self.discard(slot));
        }
    }

    /// Called before the numbers of dropped nodes are reused.
    pub(super) fn recycle(&mut self, dropped: &[u32]) {
        self.note_dropped(dropped);
        self.dropped = 0;
    }

    fn attach(&mut self, slot: u32, node: u32) {
        self.slots[slot as usize].node = node;
        self.attached.entry(node).or_default().push(slot);
    }

    /// Frees a slot that is attached to no node.
    fn discard(&mut self, slot: u32) {
        self.slots[slot as usize].node = NOWHERE;
        self.bytes -= self.slots[slot as usize].bytes as usize;
        self.models[slot as usize] = self.empty.clone();
        self.stale.push(slot);
        self.used -= 1;
    }

    /// Pushes solutions down from the ancestors of `path` as far as `path`.
    pub(super) fn push_down(&mut self, context: &mut Context<'_>, path: Path) {
        let root = context.tree.root();
        self.is_pushed.resize(self.is_pushed.len().max(context.tree.slots()), false);
        self.is_pushed[root.id() as usize] = true;
        let mut chain: SmallVec<[Path; 4]> = SmallVec::new();
        let mut node = path;
        while !self.is_pushed[node.id() as usize] {
            chain.push(node);
            node = context.tree.parent(node).expect("the root has been seen");
        }
        for next in chain.into_iter().rev() {
            self.is_pushed[next.id() as usize] = true;
            if let Some(list) = self.attached.remove(&node.id()) {
                let (moving, staying) = self.partition(context, list, context.tree.constraint(next));
                if !staying.is_empty() {
                    self.attached.insert(node.id(), staying);
                }
                for slot in moving {
                    // The node whose query it answered has it as its model: evaluating it again is useless.
                    if self.slots[slot as usize].given && context.tree.model(next).is_some() {
                        self.discard(slot);
                    } else {
                        self.attach(slot, next.id());
                    }
                }
            }
            node = next;
        }
    }

    /// Divides slots into those whose solutions satisfy `e` and the others.
    fn partition(&mut self, context: &mut Context<'_>, slots: Vec<u32>, e: Expr) -> (Vec<u32>, Vec<u32>) {
        if slots.is_empty() {
            return (slots, Vec::new());
        }
        let mut truths = self.truths(context, &slots, e).into_iter();
        slots.into_iter().partition(|_| truths.next().expect("one truth per slot"))
    }

    /// Pushes new solutions down from the root to the nodes that they satisfy.
    pub(super) fn insert_from_root(
        &mut self,
        context: &mut Context<'_>,
        candidates: Vec<Candidate>,
        known: &Known,
    ) {
        let slots: Vec<u32> = candidates.into_iter().map(|candidate| self.allocate(candidate)).collect();
        let end = self.memo.computed() + MAX_PUSH_VALUES;
        self.push_down(context, context.tree.root());
        let mut walks = vec![(context.tree.root(), slots)];
        while let Some((node, mut slots)) = walks.pop() {
            // A constraint that no solution still in `slots` satisfies.
            let mut refused = None;
            for child in context.tree.children(node).rev().take(MAX_CHILDREN) {
                if slots.is_empty() || self.memo.computed() > end {
                    break;
                }
                let mut moving = Vec::new();
                let constraint = context.tree.constraint(child);
                let is_other_side = |refused| context.graph.are_negations(refused, constraint);
                if known.certain.contains(&child.id()) || refused.is_some_and(is_other_side) {
                    std::mem::swap(&mut moving, &mut slots);
                } else {
                    if known.of_answer.contains(&child.id()) {
                        // It does not mention the input that a variant has changed.
                        let atoms = context.supports.of(context.graph, constraint);
                        let shares = |&slot: &u32| self.models[slot as usize].shares(&atoms);
                        (moving, slots) = slots.into_iter().partition(shares);
                    }
                    let (others, staying) = self.partition(context, slots, constraint);
                    moving.extend(others);
                    slots = staying;
                    refused = Some(constraint);
                }
                if !moving.is_empty() {
                    self.push_down(context, child);
                    walks.push((child, moving));
                }
            }
            for slot in slots {
                self.attach(slot, node.id());
            }
            self.trim(node.id());
        }
    }

    fn allocate(&mut self, candidate: Candidate) -> u32 {
        let bytes = candidate.model.footprint().min(MAX_BYTES);
        while (self.used >= MAX_SOLUTIONS || self.bytes + bytes > MAX_BYTES) && self.evict_any() {}
        let slot =
            Slot { node: NOWHERE, origin: candidate.origin, given: false, outcomes: 0, bytes: bytes as u32 };
        self.used += 1;
        self.bytes += bytes;
        if self.free.is_empty() && (self.stale.len() >= STALE_BATCH || self.slots.len() >= MAX_SOLUTIONS) {
            self.memo.forget_lanes(&self.stale);
            self.free.append(&mut self.stale);
            // The lowest first: adjacent lanes are computed together.
            self.free.sort_unstable_by_key(|&slot| std::cmp::Reverse(slot));
        }
        match self.free.pop() {
            Some(free) => {
                self.slots[free as usize] = slot;
                self.models[free as usize] = candidate.model;
                free
            }
            None => {
                self.slots.push(slot);
                self.models.push(candidate.model);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// Discards the next attached solution in the order of slots. False if there is none.
    fn evict_any(&mut self) -> bool {
        for _ in 0..self.slots.len() {
            self.hand = (self.hand + 1) % self.slots.len();
            let node = self.slots[self.hand].node;
            if node != NOWHERE {
                let slot = self.hand as u32;
                let list = self.attached.get_mut(&node).expect("the list of its node");
                list.retain(|&other| other != slot);
                if list.is_empty() {
                    self.attached.remove(&node);
                }
                self.discard(slot);
                return true;
            }
        }
        false
    }

    /// Discards solutions of a node above its limit: first all but the newest of those that recent conditions do not
    /// distinguish, then the oldest.
    fn trim(&mut self, node: u32) {
        let limit = self.limit;
        let Some(list) = self.attached.get(&node).filter(|list| list.len() > limit) else { return };
        let mut seen = FxHashSet::default();
        let mut is_new = |&slot: &u32| {
            let slot = &self.slots[slot as usize];
            !slot.given && seen.insert(slot.outcomes)
        };
        let (mut keeping, doubles): (Vec<u32>, Vec<u32>) = list.iter().rev().partition(|slot| is_new(slot));
        keeping.extend(doubles);
        let gone = keeping.split_off(limit);
        // Lists are ordered from old to new.
        keeping.reverse();
        gone.into_iter().for_each(|slot| self.discard(slot));
        if keeping.is_empty() {
            self.attached.remove(&node);
        } else {
            self.attached.insert(node, keeping);
        }
    }

    pub(super) fn sweep(&mut self, alive: &Alive<'_>) {
        self.recycle(alive.dropped());
        self.memo.sweep(alive.exprs);
        self.models.iter_mut().for_each(|model| model.retain(|variable| alive.expr(variable)));
    }

    pub(super) fn forget(&mut self) {
        let Pool { dropped, limit, .. } = *self;
        *self = Pool { dropped, limit, ..Pool::default() };
    }
}
