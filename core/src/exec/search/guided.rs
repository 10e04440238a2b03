//! `random-path`, `coverage` and `mix`: any open state may be next, drawn by chance.
//!
//! `random-path` walks down the tree of forks, so that a state with few decisions behind it is likelier than one of the many
//! from deep in a loop. `coverage` draws by weights that fall with the square of the distance to code never entered.
//! `mix` takes turns, and stays with what was drawn, depth first, for a batch that grows while nothing new is covered: then
//! all there is to gain is speed, which lives off what the solver and the processor remember of the last state. Between
//! batches it wanders, every turn drawn by random path: that covers programs which have more paths than anyone can
//! explore. It wanders for as long as a batch while much is to be found and some was found lately, else hardly.
//!
//! Weights only fall, as distances only grow. A weight is therefore brought up to date when its state is drawn: with
//! the chance that it has shrunk by, another one is drawn instead, which makes the draw as fair as if all were up to date.
use super::distance::{Distances, FAR};
use super::pool::Pool;
use super::random::Random;
use super::sums::Sums;
use super::tree::Tree;
use super::{Search, View};
use crate::exec::state::State;
use crate::program::Program;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Draw {
    Path,
    Coverage,
}

/// The shortest and the longest batch, in turns.
const SHORT: u64 = 16;
const LONG: u64 = 1024;
/// Something was found lately if it was in the last three quarters of all turns, or of these.
const LATELY: u64 = 256;
/// Otherwise it wanders so much less.
const HARDLY: u64 = 32;
/// So many instructions count as a turn.
const INSTRUCTIONS: u64 = 4096;
/// The weight of a state whose next instruction is new: leaves room for the sum of 2^28 of them.
const WEIGHT: u64 = 1 << 36;
/// States looked at to find one to give up.
const SAMPLE: usize = 8;

struct Guided {
    pool: Pool,
    tree: Tree,
    /// Of the states outside the batch; all zero where `distances` are not asked for.
    weights: Sums,
    distances: Option<Distances>,
    random: Random,
    /// How a turn of wandering is drawn, and last how a batch begins.
    draws: &'static [Draw],
    /// The longest batch.
    longest: u64,
    length: u64,
    left: u64,
    /// Turns until the next batch, each of which is drawn.
    wander: u64,
    /// States of the batch, the next one last.
    batch: Vec<u32>,
    /// What was covered, and executed, when last looked.
    found: u64,
    instructions: u64,
    /// Turns in all, and when something new was covered for the last time.
    turns: u64,
    found_at: u64,
}

fn new(program: &Program, seed: u64, draws: &'static [Draw], longest: u64) -> Box<dyn Search> {
    Box::new(Guided {
        pool: Pool::default(),
        tree: Tree::new(),
        weights: Sums::default(),
        distances: draws.contains(&Draw::Coverage).then(|| Distances::new(program)),
        random: Random::new(seed),
        draws,
        longest,
        length: SHORT.min(longest),
        left: 0,
        wander: 0,
        batch: Vec::new(),
        found: 0,
        instructions: 0,
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

pub(super) fn mix(program: &Program, seed: u64) -> Box<dyn Search> {
    new(program, seed, &[Draw::Path, Draw::Coverage], LONG)
}

/// At least 1, so that no state is out of reach.
fn weight(distance: u32) -> u64 {
    match distance {
        FAR => 1,
        near => WEIGHT / (u64::from(near) + 1).pow(2).min(WEIGHT),
    }
}

impl Guided {
    fn weigh(&self, number: u32, view: &View<'_>) -> u64 {
        match (&self.distances, self.pool.get(number)) {
            (Some(distances), Some(state)) => weight(distances.of(view.program, state)),
            (None, _) | (_, None) => 0,
        }
    }

    /// The batch is over: what is left of it may be drawn.
    fn end_batch(&mut self, view: &View<'_>) {
        if let Some(distances) = &mut self.distances {
            distances.refresh(view);
            for number in std::mem::take(&mut self.batch) {
                let weight = self.weigh(number, view);
                self.weights.set(number, weight);
            }
        }
        self.batch.clear();
    }

    /// A batch begins, longer than the last one if that has found nothing new.
    fn begin_batch(&mut self, view: &View<'_>) {
        let found = view.coverage.found();
        if found > self.found {
            (self.found, self.found_at, self.length) = (found, self.turns, SHORT);
        } else {
            self.length *= 2;
        }
        self.length = self.length.min(self.longest);
        self.left = self.length;
        // Twice the part of the program that is still to be found.
        let all = view.coverage.all().max(1);
        let wander = (2 * self.length * (all - found) / all).min(self.length);
        let lately = self.turns < 4 * self.found_at + LATELY;
        self.wander = if lately { wander } else { wander / HARDLY };
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
        self.pool.run(number)
    }

    /// Forgets the state that was taken and did not come back.
    fn end_running(&mut self) {
        if let Some(number) = self.pool.ran() {
            self.tree.remove(number);
            self.pool.end(number);
        }
    }
}

impl Search for Guided {
    fn put(&mut self, current: Option<Box<State>>, born: Vec<Box<State>>, view: &View<'_>) {
        let turns = 1 + (view.instructions - self.instructions) / INSTRUCTIONS;
        self.turns += turns;
        let count = if self.left > 0 { &mut self.left } else { &mut self.wander };
        *count = count.saturating_sub(turns);
        self.instructions = view.instructions;
        let Some(number) = self.pool.ran() else {
            debug_assert!(born.is_empty() && self.pool.len() == 0, "only the first state comes from nowhere");
            if let Some(state) = current {
                let number = self.pool.add(state);
                self.tree.plant(number);
                self.batch.push(number);
            }
            return;
        };
        for child in born {
            let child = self.pool.add(child);
            self.tree.fork(number, child);
            self.batch.push(child);
        }
        match current {
            Some(state) => {
                self.pool.back(number, state);
                self.batch.push(number);
            }
            None => {
                self.tree.remove(number);
                self.pool.end(number);
            }
        }
    }

    fn next(&mut self, view: &View<'_>) -> Option<Box<State>> {
        self.end_running();
        if self.left > 0
            && let Some(number) = self.batch.pop()
        {
            return Some(self.pool.run(number));
        }
        self.left = 0;
        self.end_batch(view);
        if self.wander == 0 {
            self.begin_batch(view);
        }
        let number = self.draw(view)?;
        Some(self.take(number))
    }

    fn shed(&mut self, view: &View<'_>) -> Option<Box<State>> {
        self.end_running();
        self.end_batch(view);
        if self.pool.len() == 0 {
            return None;
        }
        let mut some = Vec::with_capacity(SAMPLE);
        for _ in 0..16 * SAMPLE {
            let number = self.random.below(u64::from(self.pool.numbers())) as u32;
            if self.pool.get(number).is_some() {
                some.push(number);
            }
            if some.len() == SAMPLE {
                break;
            }
        }
        // Few are left among many numbers.
        if some.is_empty() {
            some.extend((0..self.pool.numbers()).filter(|number| self.pool.get(*number).is_some()));
        }
        // Least useful is what is farthest from new code; among equals, what has forked most often.
        let number = some.into_iter().min_by_key(|&number| {
            let depth = self.pool.get(number).map_or(0, |state| state.depth);
            (self.weigh(number, view), std::cmp::Reverse(depth), number)
        })?;
        let state = self.take(number);
        self.end_running();
        Some(state)
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        self.end_running();
        (self.tree, self.weights) = (Tree::new(), Sums::default());
        self.batch.clear();
        self.pool.drain()
    }

    fn len(&self) -> usize {
        self.pool.len()
    }

    fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.pool.each(visit);
    }
}
