//! The pool: models in slots, each hanging at one node of the path tree, whose constraints it satisfies.
//!
//! A node's solutions sink into a child when the child is first asked about: its constraint is evaluated once for each,
//! and those that satisfy it move. So a node that has been looked at has all that its parent had for it, and looking
//! again costs nothing. New solutions walk down from the root, following the children that they satisfy. When a node
//! is dropped, what hangs there rises to its parent, for as long as such solutions prove useful.
//!
//! Two things are invariant: a solution satisfies every constraint of the node it hangs at, and every node at which
//! something hangs is in `up`, so that none is missed when it is dropped and its number used again.

use crate::expr::columns::{Assignment, Memo};
use crate::expr::walk::Supports;
use crate::expr::{Evaluator, Expr, Graph, Model};
use crate::query::{Alive, Path, PathTree};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Solutions at most.
pub(super) const SLOTS: usize = 4096;
/// Bytes of their arrays at most, about.
const BYTES: usize = 32 << 20;
/// A walk down the tree stops where it is after so many values.
const WALK: u64 = 1 << 16;
/// So many slots are made ready for use at once.
const STALE: usize = 64;
/// Of the children of one node, so many are tried.
const CHILDREN: usize = 8;
/// So many solutions rise from dropped nodes before their use is judged; then one use in this many keeps them rising.
const RISING_TRIES: u64 = 256;
const RISING_USE: u64 = 64;

const UNSEEN: u32 = u32::MAX;
const NOWHERE: u32 = u32::MAX;

/// Where a solution comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// Met by the solver at a conflict.
    Harvest,
    /// An answer, changed at random.
    Variant,
    /// An answer.
    Answer,
}

#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// Where it hangs; `NOWHERE` if the slot is free.
    node: u32,
    pub(super) origin: Origin,
    /// Of the second half of those that came with it.
    pub(super) late: bool,
    /// Was an answer: the node that it was the answer for has it as its model.
    pub(super) given: bool,
    pub(super) risen: bool,
    /// What recent conditions were under it, the last one lowest.
    outcomes: u64,
    /// What its model takes, about.
    bytes: u32,
}

/// A solution that is to hang somewhere.
pub(super) struct Candidate {
    pub(super) model: Assignment,
    pub(super) origin: Origin,
    pub(super) late: bool,
}

/// What solutions are evaluated in.
pub(super) struct World<'a> {
    pub(super) graph: &'a Graph,
    pub(super) tree: &'a PathTree,
    pub(super) evaluator: &'a mut Evaluator,
    pub(super) supports: &'a mut Supports,
}

/// What is known of candidates without evaluation, by nodes of the tree.
#[derive(Default)]
pub(super) struct Known {
    /// Nodes with constraints that all of them satisfy.
    pub(super) certain: FxHashSet<u32>,
    /// Nodes with constraints that the answer satisfies which variants are of.
    pub(super) of_answer: FxHashSet<u32>,
}

#[derive(Default)]
pub(super) struct Pool {
    slots: Vec<Slot>,
    models: Vec<Assignment>,
    /// What free slots have.
    nothing: Assignment,
    /// Slots to be used, and those about whose last models values may still be remembered.
    free: Vec<u32>,
    stale: Vec<u32>,
    used: usize,
    bytes: usize,
    /// Where to look for a solution to give up when all slots are taken.
    hand: usize,
    hung: FxHashMap<u32, Vec<u32>>,
    /// By node: its parent, if everything that the parent had for it has sunk.
    up: Vec<u32>,
    /// How many of the tree's dropped nodes have been seen to.
    dropped: usize,
    risen: u64,
    pub(super) risen_used: u64,
    /// Solutions at one node at most.
    pub(super) limit: usize,
    memo: Memo,
}

impl Pool {
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

    /// Values computed so far.
    pub(super) fn computed(&self) -> u64 {
        self.memo.computed()
    }

    /// What hangs at exactly this node, as far as it has sunk.
    pub(super) fn hanging(&self, path: Path) -> &[u32] {
        self.hung.get(&path.id()).map_or(&[], |list| list)
    }

    pub(super) fn truths(&mut self, world: &mut World<'_>, slots: &[u32], e: Expr) -> SmallVec<[bool; 8]> {
        let truths = self.memo.truths(world.graph, world.evaluator, &mut self.models, slots, e);
        for (&slot, &truth) in slots.iter().zip(&truths) {
            let outcomes = &mut self.slots[slot as usize].outcomes;
            *outcomes = *outcomes << 1 | u64::from(truth);
        }
        truths
    }

    /// Takes in which nodes were dropped since the last time, the tree's whole list given.
    pub(super) fn note_dropped(&mut self, dropped: &[u32]) {
        let (from, to) = (self.dropped, dropped.len());
        self.dropped = to;
        for &id in &dropped[from..] {
            let Some(up) = self.up.get_mut(id as usize) else { continue };
            let parent = std::mem::replace(up, UNSEEN);
            if parent != UNSEEN
                && let Some(list) = self.hung.remove(&id)
            {
                self.rise(list, parent);
            }
        }
    }

    fn rise(&mut self, list: Vec<u32>, parent: u32) {
        for slot in list {
            self.risen += 1;
            let rises = self.risen <= RISING_TRIES || self.risen_used * RISING_USE >= self.risen;
            if rises {
                self.slots[slot as usize].risen = true;
                self.hang(slot, parent);
            } else {
                self.give_up(slot);
            }
        }
        self.trim(parent);
    }

    /// The numbers of dropped nodes are about to be used again.
    pub(super) fn recycle(&mut self, dropped: &[u32]) {
        self.note_dropped(dropped);
        self.dropped = 0;
    }

    fn hang(&mut self, slot: u32, node: u32) {
        self.slots[slot as usize].node = node;
        self.hung.entry(node).or_default().push(slot);
    }

    /// Frees a slot that is in no list.
    fn give_up(&mut self, slot: u32) {
        self.slots[slot as usize].node = NOWHERE;
        self.bytes -= self.slots[slot as usize].bytes as usize;
        self.models[slot as usize] = self.nothing.clone();
        self.stale.push(slot);
        self.used -= 1;
    }

    /// Lets what belongs there sink down to `path`.
    pub(super) fn sink(&mut self, world: &mut World<'_>, path: Path) {
        let root = world.tree.root();
        self.up.resize(self.up.len().max(world.tree.slots()), UNSEEN);
        self.up[root.id() as usize] = root.id();
        let mut chain: SmallVec<[Path; 4]> = SmallVec::new();
        let mut node = path;
        while self.up[node.id() as usize] == UNSEEN {
            chain.push(node);
            node = world.tree.parent(node).expect("the root has been seen");
        }
        for next in chain.into_iter().rev() {
            self.up[next.id() as usize] = node.id();
            if let Some(list) = self.hung.remove(&node.id()) {
                let (moving, staying) = self.divided(world, list, world.tree.constraint(next));
                if !staying.is_empty() {
                    self.hung.insert(node.id(), staying);
                }
                for slot in moving {
                    // The node that was answered with it has it as its model: asking it again is in vain.
                    if self.slots[slot as usize].given && world.tree.model(next).is_some() {
                        self.give_up(slot);
                    } else {
                        self.hang(slot, next.id());
                    }
                }
            }
            node = next;
        }
    }

    fn divided(&mut self, world: &mut World<'_>, slots: Vec<u32>, e: Expr) -> (Vec<u32>, Vec<u32>) {
        if slots.is_empty() {
            return (slots, Vec::new());
        }
        let mut truths = self.truths(world, &slots, e).into_iter();
        slots.into_iter().partition(|_| truths.next().expect("one truth a slot"))
    }

    /// New solutions walk down from the root to where they belong.
    pub(super) fn settle(&mut self, world: &mut World<'_>, candidates: Vec<Candidate>, known: &Known) {
        let slots: Vec<u32> = candidates.into_iter().map(|candidate| self.place(candidate)).collect();
        let end = self.memo.computed() + WALK;
        self.sink(world, world.tree.root());
        let mut walks = vec![(world.tree.root(), slots)];
        while let Some((node, mut slots)) = walks.pop() {
            // A constraint that none of them satisfies.
            let mut refused = None;
            for child in world.tree.children(node).rev().take(CHILDREN) {
                if slots.is_empty() || self.memo.computed() > end {
                    break;
                }
                let mut going = Vec::new();
                let constraint = world.tree.constraint(child);
                let is_other_side = |refused| world.graph.are_negations(refused, constraint);
                if known.certain.contains(&child.id()) || refused.is_some_and(is_other_side) {
                    std::mem::swap(&mut going, &mut slots);
                } else {
                    if known.of_answer.contains(&child.id()) {
                        // It says nothing of what variants have changed.
                        let atoms = world.supports.of(world.graph, constraint);
                        let shares = |&slot: &u32| self.models[slot as usize].shares(&atoms);
                        (going, slots) = slots.into_iter().partition(shares);
                    }
                    let (others, staying) = self.divided(world, slots, constraint);
                    going.extend(others);
                    slots = staying;
                    refused = Some(constraint);
                }
                if !going.is_empty() {
                    self.sink(world, child);
                    walks.push((child, going));
                }
            }
            for slot in slots {
                self.hang(slot, node.id());
            }
            self.trim(node.id());
        }
    }

    /// Hangs a solution of the whole path there.
    pub(super) fn put(&mut self, world: &mut World<'_>, candidate: Candidate, path: Path) {
        self.sink(world, path);
        let slot = self.place(candidate);
        self.hang(slot, path.id());
        self.trim(path.id());
    }

    fn place(&mut self, candidate: Candidate) -> u32 {
        let bytes = candidate.model.footprint().min(BYTES);
        while (self.used >= SLOTS || self.bytes + bytes > BYTES) && self.evict_any() {}
        let slot = Slot {
            node: NOWHERE,
            origin: candidate.origin,
            late: candidate.late,
            given: candidate.origin == Origin::Answer,
            risen: false,
            outcomes: 0,
            bytes: bytes as u32,
        };
        self.used += 1;
        self.bytes += bytes;
        if self.free.is_empty() && (self.stale.len() >= STALE || self.slots.len() >= SLOTS) {
            self.memo.forget_lanes(&self.stale);
            self.free.append(&mut self.stale);
            // The lowest first: lanes side by side are computed together.
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

    /// Gives up the next solution that hangs somewhere, in the order of slots. False: none does.
    fn evict_any(&mut self) -> bool {
        for _ in 0..self.slots.len() {
            self.hand = (self.hand + 1) % self.slots.len();
            let node = self.slots[self.hand].node;
            if node != NOWHERE {
                let slot = self.hand as u32;
                let list = self.hung.get_mut(&node).expect("the list it hangs in");
                list.retain(|&other| other != slot);
                if list.is_empty() {
                    self.hung.remove(&node);
                }
                self.give_up(slot);
                return true;
            }
        }
        false
    }

    /// Leaves a node as many solutions as it may have, those that differ most: of those that recent conditions could not tell apart only
    /// the newest, then the oldest go.
    fn trim(&mut self, node: u32) {
        let limit = self.limit;
        let Some(list) = self.hung.get(&node).filter(|list| list.len() > limit) else { return };
        let mut seen = FxHashSet::default();
        let mut is_new = |&slot: &u32| {
            let slot = &self.slots[slot as usize];
            !slot.given && !slot.risen && seen.insert(slot.outcomes)
        };
        let (mut keeping, doubles): (Vec<u32>, Vec<u32>) = list.iter().rev().partition(|slot| is_new(slot));
        keeping.extend(doubles);
        let gone = keeping.split_off(limit);
        // The oldest first, as before.
        keeping.reverse();
        gone.into_iter().for_each(|slot| self.give_up(slot));
        if keeping.is_empty() {
            self.hung.remove(&node);
        } else {
            self.hung.insert(node, keeping);
        }
    }

    pub(super) fn sweep(&mut self, alive: &Alive<'_>) {
        self.recycle(alive.dropped());
        self.memo.sweep(alive.exprs);
        self.models.iter_mut().for_each(|model| model.retain(|variable| alive.expr(variable)));
    }

    pub(super) fn forget(&mut self) {
        let Pool { dropped, risen, risen_used, limit, .. } = *self;
        *self = Pool { dropped, risen, risen_used, limit, ..Pool::default() };
    }
}
