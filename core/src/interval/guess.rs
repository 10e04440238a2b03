//! Guessed models: values for some ranges taken from their sets, one after the other, each narrowing the next.
//!
//! A guess is only a guess: whoever asked evaluates it against every constraint before giving it out. Values are
//! chosen per cell, the bits of all ranges that overlap, so that fields of one word do not undo each other: the least
//! word from a starting point on that satisfies all their sets is found by moving up to the next one each allows.

use super::field::next_with_field;
use super::learn::{Facts, Learner};
use super::range::{BitRange, BitRanges};
use super::set::Set;
use crate::expr::bits::mask;
use crate::expr::{Graph, Model};

/// Rounds of moving up before a cell is given up.
const MAX_ROUNDS: usize = 64;

/// Choices for one range before a guess is given up.
const MAX_CHOICES: usize = 3;

/// Where to start looking for a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuessStrategy {
    /// At the value the model has.
    Current,
    Low,
    Middle,
    High,
    /// Random, told apart by the number.
    Random(u64),
}

impl GuessStrategy {
    /// Cheap ones and those that often work first.
    pub const ALL: [GuessStrategy; 10] = [
        GuessStrategy::Current,
        GuessStrategy::Random(1),
        GuessStrategy::Random(2),
        GuessStrategy::Random(3),
        GuessStrategy::Random(4),
        GuessStrategy::Random(5),
        GuessStrategy::Random(6),
        GuessStrategy::Low,
        GuessStrategy::Middle,
        GuessStrategy::High,
    ];

    /// Do the values chosen narrow those still to be chosen? Guessing anywhere is for conditions of which nothing
    /// can be inferred, and costs little without.
    pub fn infers(self) -> bool {
        !matches!(self, GuessStrategy::Random(_))
    }

    /// The value to start from for a range with these values, in place in its cell.
    fn start(self, number: u32, set: &Set, now: u64, place: u64) -> Option<u64> {
        Some(match self {
            GuessStrategy::Current => now,
            GuessStrategy::Low => 0,
            GuessStrategy::Middle => set.nth(set.count() / 2)? << place,
            GuessStrategy::High => set.max()? << place,
            GuessStrategy::Random(seed) => {
                let mixed = (u64::from(number) + seed * 0x1_0001).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let place_among = u128::from(mixed ^ mixed >> 31).checked_rem(set.count())?;
                set.nth(place_among)? << place
            }
        })
    }
}

/// The bits of ranges that overlap, and the set of each.
struct Cell {
    hull: BitRange,
    members: Vec<(BitRange, Set)>,
}

impl Cell {
    /// The cell around a range. BitRanges that would make it wider than 64 bits are left out.
    fn around(ranges: &BitRanges, facts: &Facts, number: u32) -> Cell {
        let mut numbers = vec![number];
        let mut hull = ranges.range(number);
        let mut members = Vec::new();
        let mut at = 0;
        while at < numbers.len() {
            let this = numbers[at];
            at += 1;
            if let Some(view) = facts.stored(this) {
                members.push((ranges.range(this), view.set.clone()));
            }
            for &other in ranges.overlaps(this) {
                if facts.stored(other).is_none() || numbers.contains(&other) {
                    continue;
                }
                let theirs = ranges.range(other);
                let low = hull.low.min(theirs.low);
                let width = hull.end().max(theirs.end()) - low;
                if width <= 64 {
                    hull = BitRange { low, width: width as u32, ..hull };
                    numbers.push(other);
                }
            }
        }
        Cell { hull, members }
    }

    /// The least value from `start` on that every member allows.
    fn pick(&self, start: u64) -> Option<u64> {
        let limit = mask(self.hull.width);
        let mut value = start;
        for _ in 0..MAX_ROUNDS {
            let before = value;
            for (range, set) in &self.members {
                value = next_with_field(value, limit, (range.low - self.hull.low) as u32, set)?;
            }
            if value == before {
                return Some(value);
            }
        }
        None
    }
}

/// A model like `base`, with the ranges of `about` changed to values that the facts allow, and what holds after those
/// choices; `None` if a choice turns out to be impossible.
pub fn guess_model(
    learner: &mut Learner,
    graph: &Graph,
    facts: &Facts,
    base: &Model,
    about: &[u32],
    strategy: GuessStrategy,
) -> Option<(Model, Facts)> {
    let mut facts = facts.clone();
    let mut model = base.clone();
    for &number in about {
        for choice in 0.. {
            let cell = Cell::around(&learner.ranges, &facts, number);
            let now = cell.hull.value(graph, &model);
            let place = learner.ranges.range(number).low - cell.hull.low;
            let set = facts.known(&learner.ranges, number).set;
            let start = strategy.start(number, &set, now, place)?;
            let value = cell.pick(start).or_else(|| cell.pick(0))?;
            if value != now {
                cell.hull.assign(graph, &mut model, value);
            }
            if about.len() == 1 || !strategy.infers() {
                break;
            }
            let chosen = learner.ranges.number(cell.hull);
            let only = Set::single(cell.hull.width, value);
            let mut next = facts.clone();
            learner.assume(graph, &mut next, chosen, &only);
            if next.infeasible.is_none() {
                facts = next;
                break;
            }
            // Anything but that.
            learner.assume(graph, &mut facts, chosen, &only.complement().set);
            if facts.infeasible.is_some() || choice == MAX_CHOICES {
                return None;
            }
        }
    }
    Some((model, facts))
}
