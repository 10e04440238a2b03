//! `random-path`, `coverage` and `mix`: draw any open state at random.
//!
//! `random-path` walks down the execution tree, so that a state with few decisions is likelier than one of
//! many from deep in a loop. `coverage` draws by weights that fall with the square of the distance to code
//! never entered. `mix` alternates, and continues from the drawn state depth first for a batch, which grows
//! while nothing new is covered: then only speed matters, and the solver's and the processor's caches work
//! best for related states. Between batches every turn is drawn by random path: that covers programs with too
//! many paths to explore. There are as many such turns as in a batch while much is left to cover and
//! something was covered recently, else few.
//!
//! Weights only fall, as distances only grow. A weight is therefore updated when its state is drawn: with the
//! probability by which it has shrunk, another state is drawn instead, which makes the draw as fair as with
//! all weights up to date.
use super::distance::{Distances, UNREACHABLE};
use super::execution_tree::{ExecutionTree, Spent};
use super::split_mix::SplitMix64;
use super::state_table::StateTable;
use super::sum_tree::SumTree;
use super::{MAX_FUEL, Search, View};
use crate::exec::record::targets::Targets;
use crate::exec::state::State;
use crate::program::Program;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Draw {
    Path,
    Coverage,
}

/// Shortest and longest batch, in turns.
const MIN_BATCH: u64 = 16;
const MAX_BATCH: u64 = 1024;
/// Something was covered recently if it was in the last three quarters of all turns, or in this many.
const RECENT_TURNS: u64 = 256;
/// Otherwise the number of drawn turns is divided by this.
const IDLE_DIVISOR: u64 = 32;
/// Cost that counts as one turn: 4,096 instructions, or a query of this effort.
const TURN_COST: u64 = 100_000;
/// Instructions of a turn while other states wait.
const FUEL: u64 = 1 << 15;
/// Weight of a state whose next instruction is new: the sum of 2^28 of them fits.
const MAX_WEIGHT: u64 = 1 << 36;
/// Number of states sampled to find one to evict.
const EVICTION_SAMPLE: usize = 8;

struct Guided {
    states: StateTable,
    tree: ExecutionTree,
    /// Weights of the states outside of the batch; all zero if `distances` are not used.
    weights: SumTree,
    distances: Option<Distances>,
    random: SplitMix64,
    /// How a turn outside of a batch is drawn, and last how the first state of a batch is drawn.
    draws: &'static [Draw],
    /// Longest batch.
    longest: u64,
    length: u64,
    left: u64,
    /// Turns until the next batch.
    drawn_turns: u64,
    /// States of the batch, the next one last.
    batch: Vec<u32>,
    /// Numbers of states that followed seeds when they were put here; some are gone.
    seeded: Vec<u32>,
    /// Marks set, and cost of the run, when last checked.
    found: u64,
    cost: u64,
    /// Marks that were set at the end of the last turn.
    marks: u64,
    /// Cost and marks since a state was drawn. Charged to its subtree, unless all sides are to be equally likely.
    visit: Spent,
    is_fair: bool,
    /// Was the running state rare before its turn?
    is_rare: bool,
    /// Goal for which the current batch was begun, and the number of marks set then.
    goal: Option<(u32, u64)>,
    /// All turns, and the turn at which something new was covered last.
    turns: u64,
    found_at: u64,
}

fn new(program: &Program, seed: u64, draws: &'static [Draw], longest: u64) -> Box<dyn Search> {
    Box::new(Guided {
        states: StateTable::default(),
        tree: ExecutionTree::new(),
        weights: SumTree::default(),
        distances: draws.contains(&Draw::Coverage).then(|| Distances::new(program)),
        random: SplitMix64::new(seed),
        draws,
        longest,
        length: MIN_BATCH.min(longest),
        left: 0,
        drawn_turns: 0,
        batch: Vec::new(),
        seeded: Vec::new(),
        found: 0,
        cost: 0,
        marks: 0,
        visit: Spent::default(),
        is_fair: longest > 0,
        is_rare: false,
        goal: None,
        turns: 0,
        found_at: 0,
    })
}

pub(super) fn random_path(program: &Program, seed: u64) -> Box<dyn Search> {
    new(program, seed, &[Draw::Path], 0)
}

pub(super) fn coverage(program: &Program, seed: u64) -> Box<dyn Search> {
    new(program, seed, &[Draw::Coverage], 0)
}

/// With targets, all draws are by distance: what is far from them can wait.
pub(super) fn mix(program: &Program, seed: u64) -> Box<dyn Search> {
    match Targets::new(program).open() {
        0 => new(program, seed, &[Draw::Path, Draw::Coverage], MAX_BATCH),
        _ => new(program, seed, &[Draw::Coverage], MIN_BATCH),
    }
}

/// At least 1, so that every state can be drawn.
fn weight(distance: u32, is_rare: bool) -> u64 {
    match distance {
        UNREACHABLE => 1,
        near => MAX_WEIGHT / ((u64::from(near) + 1).pow(2) * if is_rare { 8 } else { 1 }).min(MAX_WEIGHT),
    }
}

impl Guided {
    fn weigh(&self, number: u32, view: &View<'_>) -> u64 {
        match (&self.distances, self.states.get(number)) {
            (Some(distances), Some(state)) => weight(distances.of(view.program, state), state.is_rare),
            (None, _) | (_, None) => 0,
        }
    }

    /// Lets a state be drawn again.
    fn release(&mut self, number: u32, view: &View<'_>) {
        if self.distances.is_some() {
            let weight = self.weigh(number, view);
            self.weights.set(number, weight);
        }
    }

    /// Ends the batch: its states may be drawn again.
    fn end_batch(&mut self, view: &View<'_>) {
        if let Some(distances) = &mut self.distances {
            if let Some((goal, marks)) = self.goal.take()
                && marks == view.coverage.found()
            {
                distances.miss(goal);
            }
            let is_other = distances.refresh(view);
            let batch = std::mem::take(&mut self.batch);
            let all = if is_other { (0..self.states.capacity()).collect() } else { batch };
            for number in all {
                if self.states.get(number).is_some() {
                    self.release(number, view);
                }
            }
        }
        self.batch.clear();
    }

    /// Begins a batch, longer than the last one if that covered nothing new.
    fn begin_batch(&mut self, view: &View<'_>) {
        let found = view.coverage.found();
        if found > self.found {
            (self.found, self.found_at, self.length) = (found, self.turns, MIN_BATCH);
        } else {
            self.length *= 2;
        }
        self.length = self.length.min(self.longest);
        self.left = self.length;
        // Twice the share of the program that is not covered yet.
        let all = view.coverage.all().max(1);
        let drawn_turns = (2 * self.length * (all - found) / all).min(self.length);
        let recently = self.turns < 4 * self.found_at + RECENT_TURNS;
        self.drawn_turns = if recently { drawn_turns } else { drawn_turns / IDLE_DIVISOR };
    }

    fn draw(&mut self, view: &View<'_>) -> Option<u32> {
        match self.draws[if self.left > 0 { self.draws.len() - 1 } else { 0 }] {
            Draw::Path => self.tree.draw(&mut self.random),
            Draw::Coverage => loop {
                let total = self.weights.total();
                if total == 0 {
                    return None;
                }
                let point = self.random.below(total);
                let number = self.weights.find(point);
                let (before, now) = (self.weights.get(number), self.weigh(number, view));
                self.weights.set(number, now);
                if now >= before || self.random.below(before) < now {
                    return Some(number);
                }
            },
        }
    }

    fn take(&mut self, number: u32) -> Box<State> {
        if self.distances.is_some() {
            self.weights.set(number, 0);
        }
        self.states.take(number)
    }

    /// Removes the state that was taken and did not come back.
    fn end_running(&mut self) {
        if let Some(number) = self.states.take_running() {
            self.tree.remove(number);
            self.states.free_number(number);
        }
    }
}

impl Search for Guided {
    fn put(&mut self, current: Option<Box<State>>, forked: Vec<Box<State>>, view: &View<'_>) {
        let (cost, found) = (view.cost() - self.cost, view.coverage.found() - self.marks);
        (self.cost, self.marks) = (view.cost(), view.coverage.found());
        self.visit.cost += cost;
        self.visit.found += found;
        let turns = 1 + cost / TURN_COST;
        self.turns += turns;
        let count = if self.left > 0 { &mut self.left } else { &mut self.drawn_turns };
        *count = count.saturating_sub(turns);
        // It used all of its turn, and covered nothing: others are next.
        let loses_turn = forked.is_empty() && found == 0;
        let Some(number) = self.states.take_running() else {
            debug_assert!(forked.is_empty() && self.states.len() == 0, "only the first state has no parent");
            if let Some(state) = current {
                let number = self.states.add(state);
                self.tree.plant(number);
                self.batch.push(number);
            }
            return;
        };
        for child in forked {
            let (has_seeds, becomes_rare) = (!child.seeds.is_empty(), child.is_rare && !self.is_rare);
            let child = self.states.add(child);
            self.seeded.extend(has_seeds.then_some(child));
            self.tree.fork(number, child);
            if self.is_fair && becomes_rare {
                self.tree.set_rare(child);
            }
            self.batch.push(child);
        }
        match current {
            Some(state) => {
                self.seeded.extend((!state.seeds.is_empty()).then_some(number));
                self.states.put_back(number, state);
                if loses_turn && self.left > 0 {
                    self.release(number, view);
                } else {
                    self.batch.push(number);
                }
            }
            None => {
                self.tree.remove(number);
                self.states.free_number(number);
            }
        }
    }

    fn graft(&mut self, state: Box<State>, view: &View<'_>) {
        let is_rare = state.is_rare;
        let number = self.states.add(state);
        self.tree.graft(number);
        if self.is_fair && is_rare {
            self.tree.set_rare(number);
        }
        self.release(number, view);
    }

    fn next(&mut self, view: &View<'_>) -> Option<Box<State>> {
        self.end_running();
        if self.left > 0
            && let Some(number) = self.batch.pop()
        {
            let state = self.states.take(number);
            self.is_rare = state.is_rare;
            return Some(state);
        }
        self.left = 0;
        self.end_batch(view);
        let visit = std::mem::take(&mut self.visit);
        if self.is_fair {
            self.tree.charge(visit);
        }
        if self.drawn_turns == 0 {
            self.begin_batch(view);
        }
        let number = self.draw(view)?;
        if self.left > 0
            && let (Some(distances), Some(state)) = (&self.distances, self.states.get(number))
        {
            self.goal = distances.goal_of(view.program, state).map(|goal| (goal, view.coverage.found()));
        }
        if self.is_fair {
            self.tree.set_charged(number);
        }
        let state = self.take(number);
        self.is_rare = state.is_rare;
        Some(state)
    }

    fn fuel(&self) -> u64 {
        if self.states.len() == 0 { MAX_FUEL } else { FUEL }
    }

    fn evict(&mut self, view: &View<'_>) -> Option<Box<State>> {
        self.end_running();
        self.end_batch(view);
        if self.states.len() == 0 {
            return None;
        }
        let mut some = Vec::with_capacity(EVICTION_SAMPLE);
        for _ in 0..16 * EVICTION_SAMPLE {
            let number = self.random.below(u64::from(self.states.capacity())) as u32;
            if self.states.get(number).is_some() {
                some.push(number);
            }
            if some.len() == EVICTION_SAMPLE {
                break;
            }
        }
        // Few states are left among many numbers.
        if some.is_empty() {
            some.extend((0..self.states.capacity()).filter(|number| self.states.get(*number).is_some()));
        }
        // Least useful is the state farthest from new code; among equals, the one that forked most often.
        let number = some.into_iter().min_by_key(|&number| {
            let depth = self.states.get(number).map_or(0, |state| state.depth);
            (self.weigh(number, view), std::cmp::Reverse(depth), number)
        })?;
        let state = self.take(number);
        self.end_running();
        Some(state)
    }

    fn shallowest(&mut self, view: &View<'_>) -> Option<Box<State>> {
        self.end_running();
        self.end_batch(view);
        let depth = |number: &u32| self.states.get(*number).map(|state| state.depth);
        let open = (0..self.states.capacity()).filter(|number| depth(number).is_some());
        let number = open.min_by_key(depth)?;
        let state = self.take(number);
        self.end_running();
        Some(state)
    }

    fn extract(&mut self, leaves: &dyn Fn(&State) -> bool, view: &View<'_>) -> Vec<Box<State>> {
        self.end_running();
        self.end_batch(view);
        let goes = |number: &u32| self.states.get(*number).is_some_and(leaves);
        let numbers: Vec<u32> = (0..self.states.capacity()).filter(goes).collect();
        let take = |number| {
            let state = self.take(number);
            self.end_running();
            state
        };
        numbers.into_iter().map(take).collect()
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        self.end_running();
        (self.tree, self.weights) = (ExecutionTree::new(), SumTree::default());
        self.batch.clear();
        self.states.drain()
    }

    fn next_seeded(&mut self) -> Option<Box<State>> {
        self.end_running();
        while let Some(number) = self.seeded.pop() {
            if self.states.get(number).is_some_and(|state| !state.seeds.is_empty()) {
                self.batch.retain(|other| *other != number);
                return Some(self.take(number));
            }
        }
        None
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.states.each(visit);
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut State)) {
        self.seeded.clear();
        let seeded = &mut self.seeded;
        self.states.each_mut(&mut |number, state| {
            visit(state);
            seeded.extend((!state.seeds.is_empty()).then_some(number));
        });
    }
}
