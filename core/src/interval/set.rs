//! Sets of words of 1 to 64 bits.
//!
//! Up to 8 bits, a set is a bitmap of 256 bits and every operation is exact. A wider set is a list of closed
//! intervals of unsigned values, sorted, disjoint and not adjacent, so that equal sets have equal representations.
//! If there are more than `MAX_INTERVALS`, the narrowest gaps are filled; this only adds values, and the result is
//! marked inexact. Sets of many single values with the same lowest bits are `Aligned`. Signed operations split
//! intervals at the sign boundary.

use super::aligned::Aligned;
use crate::expr::bits::{mask, signed};
use smallvec::{SmallVec, smallvec};

/// Maximum number of intervals of a set.
pub const MAX_INTERVALS: usize = 64;
/// Number of intervals stored inline, without a heap allocation.
pub const INLINE_INTERVALS: usize = 4;
/// Sets of words up to this width are bitmaps.
pub const MAX_BITMAP_WIDTH: u32 = 8;

pub type Interval = (u64, u64);
pub type Intervals = SmallVec<[Interval; INLINE_INTERVALS]>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Repr {
    Bitmap([u64; 4]),
    Intervals(Intervals),
    Aligned(Box<Aligned>),
}

/// Set of words of one width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set {
    width: u32,
    repr: Repr,
}

/// A superset of the requested set; `exact` if it is equal to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approx {
    pub set: Set,
    pub exact: bool,
}

impl Approx {
    /// See `Set::with_low_bits`.
    pub fn with_low_bits(self, shift: u32, low: u64) -> Approx {
        Approx { set: self.set.with_low_bits(shift, low), exact: self.exact }
    }

    pub fn exact(set: Set) -> Approx {
        Approx { set, exact: true }
    }

    pub fn sound(set: Set) -> Approx {
        Approx { set, exact: false }
    }

    /// Keeps the set, exact only if `condition` holds.
    pub fn exact_if(self, condition: bool) -> Approx {
        Approx { exact: self.exact && condition, ..self }
    }
}

const fn full_map(width: u32) -> [u64; 4] {
    match width {
        8 => [u64::MAX; 4],
        7 => [u64::MAX, u64::MAX, 0, 0],
        _ => [mask(1 << width), 0, 0, 0],
    }
}

impl Set {
    pub fn empty(width: u32) -> Set {
        debug_assert!((1..=64).contains(&width));
        let repr =
            if width <= MAX_BITMAP_WIDTH { Repr::Bitmap([0; 4]) } else { Repr::Intervals(SmallVec::new()) };
        Set { width, repr }
    }

    pub fn full(width: u32) -> Set {
        Set::interval(width, 0, mask(width))
    }

    /// All values if `condition` holds, otherwise none.
    pub fn full_if(width: u32, condition: bool) -> Set {
        if condition { Set::full(width) } else { Set::empty(width) }
    }

    pub fn single(width: u32, value: u64) -> Set {
        Set::interval(width, value, value)
    }

    /// All values from `low` to `high`, both included; empty if `low > high`.
    pub fn interval(width: u32, low: u64, high: u64) -> Set {
        debug_assert!((1..=64).contains(&width) && high <= mask(width));
        let mut set = Set::empty(width);
        if low > high {
            return set;
        }
        match &mut set.repr {
            Repr::Bitmap(map) => fill(map, low, high),
            Repr::Intervals(intervals) => intervals.push((low, high)),
            Repr::Aligned(_) => unreachable!("an empty set"),
        }
        set
    }

    pub(super) fn aligned(aligned: Aligned) -> Set {
        Set { width: aligned.high.width + aligned.shift, repr: Repr::Aligned(Box::new(aligned)) }
    }

    pub(super) fn repr(&self) -> &Repr {
        &self.repr
    }

    /// Returns true if the set is stored as `Aligned`. `intervals()` then returns a superset of it.
    pub fn is_aligned(&self) -> bool {
        matches!(self.repr, Repr::Aligned(_))
    }

    /// Values from `low` up to `high`, wrapping around if `high < low`.
    pub fn wrapped(width: u32, low: u64, high: u64) -> Set {
        if low <= high {
            return Set::interval(width, low, high);
        }
        Set::from_intervals(width, [(0, high), (low, mask(width))]).set
    }

    pub fn truth(value: bool) -> Set {
        Set::single(1, value.into())
    }

    /// Set of a width of at most 8 from its bitmap.
    pub fn from_map(width: u32, map: [u64; 4]) -> Set {
        let full = full_map(width);
        Set { width, repr: Repr::Bitmap(std::array::from_fn(|i| map[i] & full[i])) }
    }

    /// Union of intervals in any order.
    pub fn from_intervals(width: u32, intervals: impl IntoIterator<Item = Interval>) -> Approx {
        let mut set = Set::empty(width);
        if let Repr::Bitmap(map) = &mut set.repr {
            for (low, high) in intervals {
                fill(map, low, high);
            }
            return Approx::exact(set);
        }
        let mut all: Intervals = intervals.into_iter().filter(|(low, high)| low <= high).collect();
        if !all.is_sorted() {
            all.sort_unstable();
        }
        let mut merged: Intervals = SmallVec::new();
        for (low, high) in all {
            match merged.last_mut() {
                Some(last) if last.1 >= low || last.1 + 1 == low => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Set::from_maximal(width, merged)
    }

    /// Set of a width above 8 from maximal intervals in ascending order.
    fn from_maximal(width: u32, mut intervals: Intervals) -> Approx {
        if let Some(aligned) = Aligned::of(width, &intervals) {
            return aligned;
        }
        let exact = intervals.len() <= MAX_INTERVALS;
        if !exact {
            fill_gaps(&mut intervals);
        }
        Approx { set: Set { width, repr: Repr::Intervals(intervals) }, exact }
    }

    pub fn from_values(width: u32, values: impl IntoIterator<Item = u64>) -> Approx {
        Set::from_intervals(width, values.into_iter().map(|v| (v, v)))
    }

    /// Words congruent to the integers from `low` to `high`.
    pub fn from_integers(width: u32, low: i128, high: i128) -> Set {
        if low > high {
            return Set::empty(width);
        }
        if high - low >= i128::from(mask(width)) {
            return Set::full(width);
        }
        Set::wrapped(width, low as u64 & mask(width), high as u64 & mask(width))
    }

    pub fn width(&self) -> u32 {
        self.width
    }

    pub fn is_empty(&self) -> bool {
        match &self.repr {
            Repr::Bitmap(map) => *map == [0; 4],
            Repr::Intervals(intervals) => intervals.is_empty(),
            Repr::Aligned(_) => false,
        }
    }

    pub fn is_full(&self) -> bool {
        match &self.repr {
            Repr::Bitmap(map) => *map == full_map(self.width),
            Repr::Intervals(intervals) => intervals[..] == [(0, mask(self.width))],
            Repr::Aligned(_) => false,
        }
    }

    pub fn contains(&self, value: u64) -> bool {
        match &self.repr {
            Repr::Bitmap(map) => value < 256 && map[value as usize / 64] >> (value % 64) & 1 == 1,
            Repr::Intervals(intervals) => {
                let after = intervals.partition_point(|&(low, _)| low <= value);
                after > 0 && intervals[after - 1].1 >= value
            }
            Repr::Aligned(aligned) => aligned.contains(value),
        }
    }

    /// Maximal intervals in ascending order. For an aligned set: intervals whose ends are members and whose union
    /// contains the set.
    pub fn intervals(&self) -> Intervals {
        match &self.repr {
            Repr::Bitmap(map) => map_intervals(map),
            Repr::Intervals(intervals) => intervals.clone(),
            Repr::Aligned(aligned) => aligned
                .high
                .intervals()
                .into_iter()
                .map(|(low, high)| (aligned.word(low), aligned.word(high)))
                .collect(),
        }
    }

    /// Number of intervals that `intervals` returns: a measure of the cost of an operation.
    pub fn interval_count(&self) -> usize {
        match &self.repr {
            Repr::Bitmap(map) => {
                let mut before = 0;
                let starts = |&word: &u64| {
                    let starts = word & !(word << 1 | before);
                    before = word >> 63;
                    starts.count_ones() as usize
                };
                map.iter().map(starts).sum()
            }
            Repr::Intervals(intervals) => intervals.len(),
            Repr::Aligned(aligned) => aligned.high.interval_count(),
        }
    }

    /// Intervals as signed integers in ascending order, split at the sign boundary.
    pub fn signed_intervals(&self) -> SmallVec<[(i128, i128); 4]> {
        let top = 1u64 << (self.width - 1);
        let integer = |v| i128::from(signed(self.width, v));
        let mut all: SmallVec<[(i128, i128); 4]> = smallvec![];
        for (low, high) in self.intervals() {
            if low < top && high >= top {
                all.push((integer(low), integer(top - 1)));
                all.push((integer(top), integer(high)));
            } else {
                all.push((integer(low), integer(high)));
            }
        }
        all.sort_unstable();
        all
    }

    /// Number of values.
    pub fn count(&self) -> u128 {
        match &self.repr {
            Repr::Bitmap(map) => map.iter().map(|w| u128::from(w.count_ones())).sum(),
            Repr::Intervals(intervals) => {
                intervals.iter().map(|&(low, high)| u128::from(high - low) + 1).sum()
            }
            Repr::Aligned(aligned) => aligned.high.count(),
        }
    }

    /// All values in ascending order. For small sets.
    pub fn values(&self) -> impl Iterator<Item = u64> + use<> {
        let set = self.clone();
        let mut from = Some(0);
        std::iter::from_fn(move || {
            let value = set.next_from(from?)?;
            from = value.checked_add(1);
            Some(value)
        })
    }

    /// The value of a set with exactly one member.
    pub fn value(&self) -> Option<u64> {
        match &self.repr {
            Repr::Bitmap(map) => {
                let ones: u32 = map.iter().map(|w| w.count_ones()).sum();
                if ones == 1 { self.min() } else { None }
            }
            Repr::Intervals(intervals) => match intervals[..] {
                [(low, high)] if low == high => Some(low),
                _ => None,
            },
            Repr::Aligned(_) => None,
        }
    }

    pub fn min(&self) -> Option<u64> {
        self.next_from(0)
    }

    pub fn max(&self) -> Option<u64> {
        match &self.repr {
            Repr::Bitmap(map) => {
                let at = map.iter().rposition(|w| *w != 0)?;
                Some(at as u64 * 64 + 63 - u64::from(map[at].leading_zeros()))
            }
            Repr::Intervals(intervals) => intervals.last().map(|s| s.1),
            Repr::Aligned(aligned) => aligned.high.max().map(|high| aligned.word(high)),
        }
    }

    /// Least and greatest member as signed integers.
    pub fn signed_bounds(&self) -> Option<(i128, i128)> {
        let top = 1u64 << (self.width - 1);
        let least = self.next_from(top).or_else(|| self.min())?;
        let greatest = self.previous_from(top - 1).or_else(|| self.max())?;
        Some((signed(self.width, least).into(), signed(self.width, greatest).into()))
    }

    /// The least member that is at least `from`.
    pub fn next_from(&self, from: u64) -> Option<u64> {
        match &self.repr {
            Repr::Bitmap(map) => {
                if from >= 256 {
                    return None;
                }
                let mut at = from as usize / 64;
                let mut word = map[at] & (u64::MAX << (from % 64));
                while word == 0 {
                    at += 1;
                    word = *map.get(at)?;
                }
                Some(at as u64 * 64 + u64::from(word.trailing_zeros()))
            }
            Repr::Intervals(intervals) => {
                let at = intervals.partition_point(|&(_, high)| high < from);
                intervals.get(at).map(|&(low, _)| low.max(from))
            }
            Repr::Aligned(aligned) => aligned.next_from(from),
        }
    }

    /// The greatest member that is at most `from`.
    pub fn previous_from(&self, from: u64) -> Option<u64> {
        match &self.repr {
            Repr::Bitmap(map) => {
                let mut at = from.min(255) as usize / 64;
                let mut word = map[at] & mask((from.min(255) % 64) as u32 + 1);
                while word == 0 {
                    at = at.checked_sub(1)?;
                    word = map[at];
                }
                Some(at as u64 * 64 + 63 - u64::from(word.leading_zeros()))
            }
            Repr::Intervals(intervals) => {
                let after = intervals.partition_point(|&(low, _)| low <= from);
                after.checked_sub(1).map(|at| intervals[at].1.min(from))
            }
            Repr::Aligned(aligned) => aligned.previous_from(from),
        }
    }

    /// The member at position `n` in ascending order, counted from 0.
    pub fn nth(&self, mut n: u128) -> Option<u64> {
        if let Repr::Aligned(aligned) = &self.repr {
            return aligned.high.nth(n).map(|high| aligned.word(high));
        }
        for (low, high) in self.intervals() {
            let length = u128::from(high - low) + 1;
            if n < length {
                return Some(low + n as u64);
            }
            n -= length;
        }
        None
    }

    pub fn intersect(&self, other: &Set) -> Approx {
        debug_assert_eq!(self.width, other.width);
        match (&self.repr, &other.repr) {
            (Repr::Bitmap(a), Repr::Bitmap(b)) => Approx::exact(Set {
                width: self.width,
                repr: Repr::Bitmap(std::array::from_fn(|i| a[i] & b[i])),
            }),
            (Repr::Intervals(a), Repr::Intervals(b)) => {
                let mut both: Intervals = SmallVec::new();
                let (mut i, mut j) = (0, 0);
                while i < a.len() && j < b.len() {
                    let (low, high) = (a[i].0.max(b[j].0), a[i].1.min(b[j].1));
                    if low <= high {
                        both.push((low, high));
                    }
                    if a[i].1 < b[j].1 { i += 1 } else { j += 1 }
                }
                Set::from_maximal(self.width, both)
            }
            (Repr::Aligned(aligned), _) => aligned.intersect(other),
            (_, Repr::Aligned(aligned)) => aligned.intersect(self),
            (Repr::Bitmap(_), Repr::Intervals(_)) | (Repr::Intervals(_), Repr::Bitmap(_)) => {
                unreachable!("sets of one width are both bitmaps or both are not")
            }
        }
    }

    pub fn is_disjoint(&self, other: &Set) -> bool {
        match (&self.repr, &other.repr) {
            (Repr::Bitmap(a), Repr::Bitmap(b)) => a.iter().zip(b).all(|(x, y)| x & y == 0),
            (Repr::Intervals(a), Repr::Intervals(b)) => {
                let (mut i, mut j) = (0, 0);
                while i < a.len() && j < b.len() {
                    if a[i].0.max(b[j].0) <= a[i].1.min(b[j].1) {
                        return false;
                    }
                    if a[i].1 < b[j].1 { i += 1 } else { j += 1 }
                }
                true
            }
            // Filling gaps preserves whether a set is empty.
            _ => self.intersect(other).set.is_empty(),
        }
    }

    pub fn is_subset(&self, other: &Set) -> bool {
        match (&self.repr, &other.repr) {
            (Repr::Bitmap(a), Repr::Bitmap(b)) => a.iter().zip(b).all(|(x, y)| x & !y == 0),
            (Repr::Intervals(a), Repr::Intervals(b)) => a.iter().all(|&(low, high)| {
                let after = b.partition_point(|s| s.0 <= low);
                after > 0 && b[after - 1].1 >= high
            }),
            (Repr::Aligned(_), _) | (_, Repr::Aligned(_)) => {
                // The intersection is a subset of both, so it needs no more intervals than one of them.
                let both = self.intersect(other);
                both.exact && both.set == *self
            }
            (Repr::Bitmap(_), Repr::Intervals(_)) | (Repr::Intervals(_), Repr::Bitmap(_)) => false,
        }
    }

    pub fn union(&self, other: &Set) -> Approx {
        debug_assert_eq!(self.width, other.width);
        match (&self.repr, &other.repr) {
            (Repr::Bitmap(a), Repr::Bitmap(b)) => Approx::exact(Set {
                width: self.width,
                repr: Repr::Bitmap(std::array::from_fn(|i| a[i] | b[i])),
            }),
            (Repr::Aligned(_), _) | (_, Repr::Aligned(_)) => match (self.is_empty(), other.is_empty()) {
                (true, _) => Approx::exact(other.clone()),
                (_, true) => Approx::exact(self.clone()),
                (false, false) => self.union_aligned(other),
            },
            _ => Set::from_intervals(self.width, self.intervals().into_iter().chain(other.intervals())),
        }
    }

    /// All values that are not members.
    pub fn complement(&self) -> Approx {
        match &self.repr {
            Repr::Bitmap(map) => Approx::exact(Set::from_map(self.width, map.map(|w| !w))),
            Repr::Aligned(aligned) if aligned.high.count() > MAX_INTERVALS as u128 => {
                Approx::sound(Set::full(self.width))
            }
            Repr::Intervals(_) | Repr::Aligned(_) => {
                let members: Intervals = match &self.repr {
                    Repr::Aligned(_) => self.values().map(|v| (v, v)).collect(),
                    _ => self.intervals(),
                };
                let mut gaps: Intervals = SmallVec::new();
                let mut next = Some(0);
                for (low, high) in members {
                    if let Some(from) = next
                        && from < low
                    {
                        gaps.push((from, low - 1));
                    }
                    next = if high == mask(self.width) { None } else { Some(high + 1) };
                }
                if let Some(from) = next {
                    gaps.push((from, mask(self.width)));
                }
                Set::from_intervals(self.width, gaps)
            }
        }
    }
}

fn fill(map: &mut [u64; 4], low: u64, high: u64) {
    if low > high {
        return;
    }
    // Fast path: most calls set one bit.
    if low == high {
        map[low as usize / 64] |= 1 << (low % 64);
        return;
    }
    for (i, word) in map.iter_mut().enumerate() {
        let (first, last) = (i as u64 * 64, i as u64 * 64 + 63);
        if high < first || low > last {
            continue;
        }
        let (from, to) = (low.max(first) - first, high.min(last) - first);
        *word |= (u64::MAX << from) & mask(to as u32 + 1);
    }
}

fn map_intervals(map: &[u64; 4]) -> Intervals {
    let mut intervals: Intervals = SmallVec::new();
    for (i, &word) in map.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            let from = left.trailing_zeros();
            let length = (left >> from).trailing_ones();
            let (low, high) = (i as u64 * 64 + u64::from(from), i as u64 * 64 + u64::from(from + length) - 1);
            match intervals.last_mut() {
                Some(last) if last.1 + 1 == low => last.1 = high,
                _ => intervals.push((low, high)),
            }
            left &= !(mask(length) << from);
        }
    }
    intervals
}

/// Fills the narrowest gaps until `MAX_INTERVALS` intervals are left.
fn fill_gaps(intervals: &mut Intervals) {
    let mut gaps: Vec<(u64, usize)> =
        (1..intervals.len()).map(|i| (intervals[i].0 - intervals[i - 1].1, i)).collect();
    let excess = intervals.len() - MAX_INTERVALS;
    gaps.sort_unstable();
    let mut filled = vec![false; intervals.len()];
    for &(_, i) in &gaps[..excess] {
        filled[i] = true;
    }
    let mut merged: Intervals = SmallVec::new();
    for (i, &interval) in intervals.iter().enumerate() {
        match merged.last_mut() {
            Some(last) if filled[i] => last.1 = interval.1,
            _ => merged.push(interval),
        }
    }
    *intervals = merged;
}
