//! Guessed models: values for some ranges chosen from their sets, one after the other, each narrowing the next.
//!
//! The caller evaluates a guess on every constraint before using it. Values are chosen for a group of overlapping
//! ranges at once, so that fields of one word do not overwrite each other: the least word from a starting point
//! that lies in all sets of the group is found by repeatedly moving up to the next one that each set allows.

use super::field::next_with_field;
use super::learn::{Facts, Learner};
use super::range::{BitRange, BitRanges};
use super::set::Set;
use crate::expr::bits::mask;
use crate::expr::{Graph, Model};

/// Rounds of moving up before a group is given up.
const MAX_ROUNDS: usize = 64;

/// Values tried for one range before a guess is given up.
const MAX_CHOICES: usize = 3;

/// Where the search for a value starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuessStrategy {
    /// The value in the current model.
    Current,
    Low,
    Middle,
    High,
    /// A pseudo-random value, from this seed.
    Random(u64),
}

impl GuessStrategy {
    /// In the order in which they are tried: cheap and often successful ones first.
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

    /// Do the chosen values narrow the sets of ranges not chosen yet? Random guesses are for conditions from which
    /// nothing can be inferred, so they skip it.
    pub fn infers(self) -> bool {
        !matches!(self, GuessStrategy::Random(_))
    }

    /// Start value for a range with this set, at bit `place` of its group.
    fn start(self, number: u32, set: &Set, current: u64, place: u64) -> Option<u64> {
        Some(match self {
            GuessStrategy::Current => current,
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

/// The bits of overlapping ranges, and the set of each.
struct OverlapGroup {
    hull: BitRange,
    members: Vec<(BitRange, Set)>,
}

impl OverlapGroup {
    /// The group of a range. Ranges that would make it wider than 64 bits are left out.
    fn around(ranges: &BitRanges, facts: &Facts, number: u32) -> OverlapGroup {
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
                let other_range = ranges.range(other);
                let low = hull.low.min(other_range.low);
                let width = hull.end().max(other_range.end()) - low;
                if width <= 64 {
                    hull = BitRange { low, width: width as u32, ..hull };
                    numbers.push(other);
                }
            }
        }
        OverlapGroup { hull, members }
    }

    /// The least value from `start` on that every set allows.
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

/// A copy of `base` in which the given ranges have values that the facts allow;
/// `None` if a choice turns out to be impossible.
pub fn guess_model(
    learner: &mut Learner,
    graph: &Graph,
    facts: &Facts,
    base: &Model,
    changed: &[u32],
    strategy: GuessStrategy,
) -> Option<Model> {
    let mut facts = facts.clone();
    let mut model = base.clone();
    for &number in changed {
        for choice in 0.. {
            let group = OverlapGroup::around(&learner.ranges, &facts, number);
            let current = group.hull.value(graph, &model);
            let place = learner.ranges.range(number).low - group.hull.low;
            let set = facts.known(&learner.ranges, number).set;
            let start = strategy.start(number, &set, current, place)?;
            let value = group.pick(start).or_else(|| group.pick(0))?;
            if value != current {
                group.hull.assign(graph, &mut model, value);
            }
            if changed.len() == 1 || !strategy.infers() {
                break;
            }
            let chosen = learner.ranges.number(group.hull);
            let only = Set::single(group.hull.width, value);
            let mut next = facts.clone();
            learner.assume(graph, &mut next, chosen, &only);
            if next.infeasible.is_none() {
                facts = next;
                break;
            }
            // Excludes the value.
            learner.assume(graph, &mut facts, chosen, &only.complement().set);
            if facts.infeasible.is_some() || choice == MAX_CHOICES {
                return None;
            }
        }
    }
    Some(model)
}
