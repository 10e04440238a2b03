//! Guessed models: values for some ranges taken from their sets, one after the other, each narrowing the next.
//!
//! A guess is only a guess: whoever asked evaluates it against every constraint before giving it out. Values are
//! chosen per cell, the bits of all ranges that overlap, so that fields of one word do not undo each other: the least
//! word from a starting point on that satisfies all their sets is found by moving up to the next one each allows.

use super::field::next_with_field;
use super::learn::{Facts, Learner};
use super::range::{Range, Ranges};
use super::set::Set;
use crate::expr::bits::mask;
use crate::expr::{Graph, Model};

/// Rounds of moving up before a cell is given up.
const MAX_ROUNDS: usize = 64;

/// Choices for one range before a guess is given up.
const MAX_CHOICES: usize = 3;

/// Where to start looking for a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// At the value the model has.
    Stay,
    Low,
    Middle,
    High,
    /// Anywhere, told apart by the number.
    Anywhere(u64),
}

impl Strategy {
    /// Cheap ones and those that often work first.
    pub const ALL: [Strategy; 10] = [
        Strategy::Stay,
        Strategy::Anywhere(1),
        Strategy::Anywhere(2),
        Strategy::Anywhere(3),
        Strategy::Anywhere(4),
        Strategy::Anywhere(5),
        Strategy::Anywhere(6),
        Strategy::Low,
        Strategy::Middle,
        Strategy::High,
    ];

    /// Do the values chosen narrow those still to be chosen? Guessing anywhere is for conditions of which nothing
    /// can be inferred, and costs little without.
    pub fn infers(self) -> bool {
        !matches!(self, Strategy::Anywhere(_))
    }

    /// The value to start from for a range with these values, in place in its cell.
    fn start(self, number: u32, set: &Set, now: u64, place: u64) -> Option<u64> {
        Some(match self {
            Strategy::Stay => now,
            Strategy::Low => 0,
            Strategy::Middle => set.nth(set.count() / 2)? << place,
            Strategy::High => set.max()? << place,
            Strategy::Anywhere(seed) => {
                let mixed = (u64::from(number) + seed * 0x1_0001).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let place_among = u128::from(mixed ^ mixed >> 31).checked_rem(set.count())?;
                set.nth(place_among)? << place
            }
        })
    }
}

/// The bits of ranges that overlap, and the set of each.
struct Cell {
    hull: Range,
    members: Vec<(Range, Set)>,
}

impl Cell {
    /// The cell around a range. Ranges that would make it wider than 64 bits are left out.
    fn around(ranges: &Ranges, facts: &Facts, number: u32) -> Cell {
        let mut numbers = vec![number];
        let mut hull = ranges.range(number);
        let mut members = Vec::new();
        let mut at = 0;
        while at < numbers.len() {
            let this = numbers[at];
            at += 1;
            if let Some(view) = facts.view(this) {
                members.push((ranges.range(this), view.set.clone()));
            }
            for &other in ranges.overlaps(this) {
                if facts.view(other).is_none() || numbers.contains(&other) {
                    continue;
                }
                let theirs = ranges.range(other);
                let low = hull.low.min(theirs.low);
                let width = hull.end().max(theirs.end()) - low;
                if width <= 64 {
                    hull = Range { low, width: width as u32, ..hull };
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
pub fn dive(
    learner: &mut Learner,
    graph: &Graph,
    facts: &Facts,
    base: &Model,
    about: &[u32],
    strategy: Strategy,
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
            learner.suppose(graph, &mut next, chosen, &only);
            if next.infeasible.is_none() {
                facts = next;
                break;
            }
            // Anything but that.
            learner.suppose(graph, &mut facts, chosen, &only.complement().set);
            if facts.infeasible.is_some() || choice == MAX_CHOICES {
                return None;
            }
        }
    }
    Some((model, facts))
}
