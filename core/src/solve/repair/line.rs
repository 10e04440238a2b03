//! Search along one input: a value of a set with distance 0, found without derivatives and without random numbers.
//!
//! Values on a grid are looked at, then on one twice as fine, and so on. Where a value of the grid is better than both of
//! its neighbours there is a minimum between them; it is approached by halving until single words are left. So each of
//! many minima gets its turn, also narrow ones: a minimum that is almost a solution does not hide the others, as it would
//! where only the best values are refined. There are two grids: words, which are a logarithmic scale of numbers,
//! and numbers. Cost: some 60 values per minimum.

use crate::interval::Set;
use std::collections::BTreeMap;

/// Binary logarithm of the number of steps of the first grid.
const FIRST_LEVEL: u32 = 4;
/// Words around a minimum that are all looked at.
const LAST_WORDS: u64 = 16;

/// The best value that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Best {
    pub distance: u64,
    pub value: u64,
}

/// Words of one sign, the values looked at on the grids, and the minima, with their distances.
struct Segment {
    low: u64,
    high: u64,
    grid: BTreeMap<u64, u64>,
    minima: BTreeMap<u64, u64>,
}

/// The function that is searched: the distance of a value, `None` to end the search.
struct Line<F> {
    distance: F,
    best: Option<Best>,
}

/// Looks for a value of the set with distance 0. `distance` returns `None` when the search must end. The sign bit of
/// numbers is the upper bit of words of `width` bits: the order of numbers turns round there.
pub fn search(set: &Set, width: u32, distance: impl FnMut(u64) -> Option<u64>) -> Option<Best> {
    let half = 1u64 << (width - 1);
    let mut segments: Vec<Segment> = Vec::new();
    for (low, high) in set.intervals() {
        let parts =
            if low < half && half <= high { vec![(low, half - 1), (half, high)] } else { vec![(low, high)] };
        let part = |(low, high)| Segment { low, high, grid: BTreeMap::new(), minima: BTreeMap::new() };
        segments.extend(parts.into_iter().map(part));
    }
    let mut line = Line { distance, best: None };
    line.explore(&mut segments, width);
    line.best
}

impl<F: FnMut(u64) -> Option<u64>> Line<F> {
    /// Ends when nothing is left to look for.
    fn judge(&mut self, value: u64) -> Option<u64> {
        let distance = (self.distance)(value)?;
        if self.best.is_none_or(|known| distance < known.distance) {
            self.best = Some(Best { distance, value });
        }
        (distance > 0).then_some(distance)
    }

    fn explore(&mut self, segments: &mut [Segment], width: u32) -> Option<()> {
        for level in FIRST_LEVEL..=width.max(FIRST_LEVEL) {
            for segment in segments.iter_mut().filter(|segment| !segment.is_done(level)) {
                for step in 0..=1u64 << level.min(63) {
                    for value in [Some(segment.word(step, level)), segment.number(step, level, width)] {
                        if let Some(value) = value.filter(|value| !segment.grid.contains_key(value)) {
                            let distance = self.judge(value)?;
                            segment.grid.insert(value, distance);
                        }
                    }
                }
                self.refine(segment)?;
            }
        }
        Some(())
    }

    /// Approaches every minimum of the grid that is not known yet.
    fn refine(&mut self, segment: &mut Segment) -> Option<()> {
        let grid: Vec<(u64, u64)> =
            segment.grid.iter().map(|(&value, &distance)| (value, distance)).collect();
        for (at, &(middle, distance)) in grid.iter().enumerate() {
            let (before, after) = (at.checked_sub(1).map(|at| grid[at]), grid.get(at + 1).copied());
            let is_below = |other: Option<(u64, u64)>| other.is_none_or(|(_, of)| distance < of);
            let is_above = |other: Option<(u64, u64)>| other.is_some_and(|(_, of)| distance > of);
            // On a plateau nothing shows where to go.
            if is_above(before) || is_above(after) || !(is_below(before) || is_below(after)) {
                continue;
            }
            let (low, high) = (before.map_or(middle, |p| p.0), after.map_or(middle, |p| p.0));
            if segment.minima.range(low..=high).any(|(_, &of)| of <= distance) {
                continue;
            }
            let (value, least) = self.approach([low, middle, high], distance)?;
            segment.minima.insert(value, least);
        }
        Some(())
    }

    /// The minimum between two words, one between them being better than both.
    fn approach(&mut self, [mut low, mut middle, mut high]: [u64; 3], mut least: u64) -> Option<(u64, u64)> {
        while high - low > LAST_WORDS {
            let is_above = high - middle > middle - low;
            let next = if is_above { middle + (high - middle) / 2 } else { middle - (middle - low) / 2 };
            let distance = self.judge(next)?;
            match (distance < least, is_above) {
                (true, true) => low = middle,
                (true, false) => high = middle,
                (false, true) => high = next,
                (false, false) => low = next,
            }
            if distance < least {
                (middle, least) = (next, distance);
            }
        }
        let (first, last) = (low, high);
        for value in first..=last {
            let distance = self.judge(value)?;
            if distance < least {
                (middle, least) = (value, distance);
            }
        }
        Some((middle, least))
    }
}

impl Segment {
    /// Whether the grid of the level before has every word.
    fn is_done(&self, level: u32) -> bool {
        level > FIRST_LEVEL && (self.high - self.low) >> (level - 1) == 0
    }

    /// The word after `step` of 2^`level` steps from the first to the last.
    fn word(&self, step: u64, level: u32) -> u64 {
        self.low + ((u128::from(self.high - self.low) * u128::from(step)) >> level) as u64
    }

    /// As `word`, in equal steps of numbers of single or double format. `None` if the ends are not finite.
    fn number(&self, step: u64, level: u32, width: u32) -> Option<u64> {
        let number = |word: u64| match width {
            32 => Some(f64::from(f32::from_bits(word as u32))),
            64 => Some(f64::from_bits(word)),
            _ => None,
        };
        let (low, high) = (number(self.low)?, number(self.high)?);
        let part = step as f64 / (1u64 << level.min(63)) as f64;
        let value = low + (high - low) * part;
        let word = if width == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
        (value.is_finite() && (self.low..=self.high).contains(&word)).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of values looked at until the distance is 0; `None` if that is more than `limit`.
    fn looks(set: &Set, width: u32, limit: usize, distance: impl Fn(u64) -> u64) -> Option<usize> {
        let mut count = 0;
        let best = search(set, width, |value| {
            assert!(set.contains(value), "{value} is not in the set");
            count += 1;
            (count <= limit).then(|| distance(value))
        });
        (best?.distance == 0).then_some(count)
    }

    #[test]
    fn every_value_of_a_small_set_is_found() {
        for width in 1..=6 {
            let set = Set::full(width);
            for wanted in 0..1u64 << width {
                let best = search(&set, width, |value| Some(u64::from(value != wanted)));
                assert_eq!(best, Some(Best { distance: 0, value: wanted }));
            }
            assert_eq!(looks(&set, width, usize::MAX, |_| 1), None);
        }
    }

    #[test]
    fn a_root_is_found_as_by_bisection() {
        for root in [1.0f32, 2.56, 99.5, 1e-30, -3.0, -1e20] {
            let gap = |value: u64| (f32::from_bits(value as u32) - root).abs();
            let found = looks(&Set::full(32), 32, 2_000, |v| {
                let gap = gap(v);
                if gap.is_nan() { u64::MAX } else { u64::from(gap.to_bits()) }
            });
            assert!(found.is_some(), "{root}");
        }
    }

    #[test]
    fn a_minimum_that_is_no_solution_does_not_hide_the_others() {
        // Near 1e-7 the distance is 1, and grows slowly around; at 2.56 it is 0, and hardly smaller beside it.
        let found = looks(&Set::interval(32, 0, u64::from(100f32.to_bits())), 32, 2_000, |value| {
            let [wrong, right] = [1e-7f32, 2.56].map(|x| u64::from(x.to_bits()).abs_diff(value));
            if right == 0 { 0 } else { (1 + wrong).min((1 << 24) + right) }
        });
        assert!(found.is_some());
    }

    #[test]
    fn other_roots_are_found_if_the_first_has_no_solution() {
        // Every root but one is near 0 and never 0.
        let roots: Vec<u64> = (1..40).map(|i| i * 25_000_007).collect();
        for right in &roots {
            let found = looks(&Set::full(32), 32, 20_000, |value| {
                let near = roots.iter().map(|root| (root.abs_diff(value), root)).min().expect("roots");
                near.0 + u64::from(near.1 != right)
            });
            assert!(found.is_some(), "{right}");
        }
    }
}
