//! Sets whose members share their lowest bits: aligned pointers, `8 * i + 4`, masked words.
//!
//! The paper keeps with a set by how many bits it is shifted to the left. Here the bits below may have any one value,
//! so that adding a constant keeps a set exact too: `Aligned` are the words whose lowest `shift` bits are `low` and
//! whose bits above are in `high`, a set without shared bits. Only sets of more than `INLINE_INTERVALS` intervals take this form,
//! and then with the largest shift, so that equal sets are still equal values.

use super::field::ones;
use super::set::{Approx, INLINE_INTERVALS, Interval, MAX_BITMAP_WIDTH, MAX_INTERVALS, Repr, Set};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Aligned {
    pub high: Set,
    pub shift: u32,
    pub low: u64,
}

/// How many of their lowest bits some words share; all 64 if there is one word.
fn shared(words: impl IntoIterator<Item = u64>) -> u32 {
    let mut words = words.into_iter();
    let Some(first) = words.next() else { return 0 };
    let mut differ = 0;
    for word in words {
        differ |= word ^ first;
        if differ & 1 == 1 {
            return 0;
        }
    }
    differ.trailing_zeros()
}

impl Aligned {
    /// The form of many maximal intervals that are single words and share bits.
    pub fn of(width: u32, intervals: &[Interval]) -> Option<Approx> {
        if intervals.len() <= INLINE_INTERVALS || intervals.iter().any(|(low, high)| low != high) {
            return None;
        }
        let shift = shared(intervals.iter().map(|s| s.0));
        if shift == 0 {
            return None;
        }
        let low = intervals[0].0 & ones(shift);
        let high = Set::from_values(width - shift, intervals.iter().map(|s| s.0 >> shift));
        Some(Approx { set: Set::above(high.set, shift, low), exact: high.exact })
    }

    pub fn word(&self, high: u64) -> u64 {
        high << self.shift | self.low
    }

    pub fn contains(&self, value: u64) -> bool {
        value & ones(self.shift) == self.low && self.high.contains(value >> self.shift)
    }

    pub fn next_from(&self, from: u64) -> Option<u64> {
        let here = from >> self.shift;
        let first = if from & ones(self.shift) <= self.low { here } else { here + 1 };
        self.high.next_from(first).map(|high| self.word(high))
    }

    pub fn previous_from(&self, from: u64) -> Option<u64> {
        let here = from >> self.shift;
        let last = if from & ones(self.shift) >= self.low { here } else { here.checked_sub(1)? };
        self.high.previous_from(last).map(|high| self.word(high))
    }

    pub fn intersect(&self, other: &Set) -> Approx {
        let both = self.high.intersect(&other.high_of(self.shift, self.low));
        Approx { set: Set::above(both.set, self.shift, self.low), exact: both.exact }
    }

    pub fn extract(&self, low: u32, width: u32) -> Approx {
        if low >= self.shift {
            return self.high.extract(low - self.shift, width);
        }
        let fixed = self.shift - low;
        if width <= fixed {
            return Approx::exact(Set::single(width, self.low >> low & ones(width)));
        }
        let high = self.high.extract(0, width - fixed);
        Approx { set: Set::above(high.set, fixed, self.low >> low), exact: high.exact }
    }

    /// See `Set::with_field`.
    pub fn with_field(&self, low: u32, field: &Set) -> Approx {
        let above =
            |high: Approx| Approx { set: Set::above(high.set, self.shift, self.low), exact: high.exact };
        if low >= self.shift {
            return above(self.high.with_field(low - self.shift, field));
        }
        let fixed = self.shift - low;
        if field.width() > fixed {
            let wanted = field.high_of(fixed, self.low >> low);
            return above(self.high.with_field(0, &wanted));
        }
        let fits = field.contains(self.low >> low & ones(field.width()));
        above(Approx::exact(if fits { self.high.clone() } else { Set::empty(self.high.width()) }))
    }
}

impl Set {
    /// The words whose lowest `shift` bits are `low` and whose bits above are in `high`.
    pub fn above(high: Set, shift: u32, low: u64) -> Set {
        debug_assert!(shift < 64 && low <= ones(shift));
        let width = high.width() + shift;
        if shift == 0 {
            return high;
        }
        if width <= MAX_BITMAP_WIDTH || high.count() <= INLINE_INTERVALS as u128 {
            return Set::from_values(width, high.values().map(|h| h << shift | low)).set;
        }
        let (more, bits) = match high.repr() {
            Repr::Aligned(inner) => (inner.shift, inner.low),
            Repr::Bitmap(_) => (high.shared_low(), high.min().expect("many") & ones(high.shared_low())),
            // More members than intervals: two of them are neighbours.
            Repr::Intervals(_) => (0, 0),
        };
        let high = if more == 0 { high } else { high.high_of(more, bits) };
        Set::aligned(Aligned { high, shift: shift + more, low: bits << shift | low })
    }

    /// The bits above the lowest `shift` (fewer than all) of those members whose lowest are `low`.
    pub fn high_of(&self, shift: u32, low: u64) -> Set {
        let width = self.width() - shift;
        if shift == 0 {
            return self.clone();
        }
        match self.repr() {
            Repr::Aligned(own) if own.shift >= shift => {
                if own.low & ones(shift) != low {
                    return Set::empty(width);
                }
                Set::above(own.high.clone(), own.shift - shift, own.low >> shift)
            }
            Repr::Aligned(own) => {
                if low & ones(own.shift) != own.low {
                    return Set::empty(width);
                }
                own.high.high_of(shift - own.shift, low >> own.shift)
            }
            Repr::Bitmap(_) | Repr::Intervals(_) => {
                let within = self.intervals().into_iter().filter_map(|(p, q)| {
                    let from = p.saturating_sub(low).div_ceil(1 << shift);
                    let to = q.checked_sub(low)? >> shift;
                    (from <= to).then_some((from, to))
                });
                // One interval of each at most, so that the cap holds.
                Set::from_intervals(width, within).set
            }
        }
    }

    /// How many of their lowest bits all members share; all bits if there is one member.
    pub fn shared_low(&self) -> u32 {
        match self.repr() {
            Repr::Aligned(own) => own.shift,
            Repr::Bitmap(_) => shared(self.values()).min(self.width()),
            Repr::Intervals(intervals) => {
                if intervals.iter().any(|(low, high)| low != high) {
                    return 0;
                }
                shared(intervals.iter().map(|s| s.0)).min(self.width())
            }
        }
    }

    /// How many of their lowest bits are zero in all members, fewer than all bits.
    pub fn zeros_low(&self) -> u32 {
        let low = self.min().unwrap_or(0) & ones(self.shared_low());
        let zeros = if low == 0 { self.shared_low() } else { low.trailing_zeros() };
        zeros.min(self.width() - 1)
    }

    /// The union where one of the sets is aligned and none is empty.
    pub(super) fn union_aligned(&self, other: &Set) -> Approx {
        let (a, b) = (self.min().expect("not empty"), other.min().expect("not empty"));
        let differ = (a ^ b).trailing_zeros();
        let shift = self.shared_low().min(other.shared_low()).min(differ).min(self.width() - 1);
        if shift > 0 {
            let low = a & ones(shift);
            let both = self.high_of(shift, low).union(&other.high_of(shift, low));
            return Approx { set: Set::above(both.set, shift, low), exact: both.exact };
        }
        let (mut intervals, mut exact) = (Vec::new(), true);
        for set in [self, other] {
            if set.is_aligned() && set.count() <= MAX_INTERVALS as u128 {
                intervals.extend(set.values().map(|v| (v, v)));
            } else {
                exact &= !set.is_aligned();
                intervals.extend(set.intervals());
            }
        }
        Set::from_intervals(self.width(), intervals).and(exact)
    }
}
