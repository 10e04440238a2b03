//! Sets whose members have the same lowest bits: aligned pointers, `8 * i + 4`, masked words.
//!
//! PARTI stores with a set the number of bits it is shifted left. Here the lowest bits may have any one value, so
//! that adding a constant stays exact. An `Aligned` set contains the words whose lowest `shift` bits are `low` and
//! whose upper bits are in `high`. Only sets of more than `INLINE_INTERVALS` intervals have this form, always with
//! the largest possible shift, so that equal sets have equal representations.

use super::field::ones;
use super::set::{Approx, INLINE_INTERVALS, Interval, MAX_BITMAP_WIDTH, MAX_INTERVALS, Repr, Set};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Aligned {
    pub high: Set,
    pub shift: u32,
    pub low: u64,
}

/// Number of lowest bits that are the same in all words; 64 if there is one word.
fn shared_bits(words: impl IntoIterator<Item = u64>) -> u32 {
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
    /// Aligned form of more than `INLINE_INTERVALS` single words with the same lowest bits.
    pub fn of(width: u32, intervals: &[Interval]) -> Option<Approx> {
        if intervals.len() <= INLINE_INTERVALS || intervals.iter().any(|(low, high)| low != high) {
            return None;
        }
        let shift = shared_bits(intervals.iter().map(|s| s.0));
        if shift == 0 {
            return None;
        }
        let low = intervals[0].0 & ones(shift);
        let high = Set::from_values(width - shift, intervals.iter().map(|s| s.0 >> shift));
        Some(high.with_low_bits(shift, low))
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
        let both = self.high.intersect(&other.high_bits(self.shift, self.low));
        both.with_low_bits(self.shift, self.low)
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
        high.with_low_bits(fixed, self.low >> low)
    }

    /// See `Set::with_field`.
    pub fn with_field(&self, low: u32, field: &Set) -> Approx {
        let above = |high: Approx| high.with_low_bits(self.shift, self.low);
        if low >= self.shift {
            return above(self.high.with_field(low - self.shift, field));
        }
        let fixed = self.shift - low;
        if field.width() > fixed {
            let wanted = field.high_bits(fixed, self.low >> low);
            return above(self.high.with_field(0, &wanted));
        }
        let fits = field.contains(self.low >> low & ones(field.width()));
        above(Approx::exact(if fits { self.high.clone() } else { Set::empty(self.high.width()) }))
    }
}

impl Set {
    /// Words whose lowest `shift` bits are `low` and whose upper bits are in this set.
    pub fn with_low_bits(self, shift: u32, low: u64) -> Set {
        debug_assert!(shift < 64 && low <= ones(shift));
        let width = self.width() + shift;
        if shift == 0 {
            return self;
        }
        if width <= MAX_BITMAP_WIDTH || self.count() <= INLINE_INTERVALS as u128 {
            return Set::from_values(width, self.values().map(|h| h << shift | low)).set;
        }
        let (more, bits) = match self.repr() {
            Repr::Aligned(inner) => (inner.shift, inner.low),
            Repr::Bitmap(_) => (self.shared_low(), self.min().expect("many") & ones(self.shared_low())),
            // There are more members than intervals, so two members are adjacent and share no low bits.
            Repr::Intervals(_) => (0, 0),
        };
        let high = if more == 0 { self } else { self.high_bits(more, bits) };
        Set::aligned(Aligned { high, shift: shift + more, low: bits << shift | low })
    }

    /// Upper bits of the members whose lowest `shift` bits (fewer than all) are `low`.
    pub fn high_bits(&self, shift: u32, low: u64) -> Set {
        let width = self.width() - shift;
        if shift == 0 {
            return self.clone();
        }
        match self.repr() {
            Repr::Aligned(aligned) if aligned.shift >= shift => {
                if aligned.low & ones(shift) != low {
                    return Set::empty(width);
                }
                aligned.high.clone().with_low_bits(aligned.shift - shift, aligned.low >> shift)
            }
            Repr::Aligned(aligned) => {
                if low & ones(aligned.shift) != aligned.low {
                    return Set::empty(width);
                }
                aligned.high.high_bits(shift - aligned.shift, low >> aligned.shift)
            }
            Repr::Bitmap(_) | Repr::Intervals(_) => {
                let within = self.intervals().into_iter().filter_map(|(p, q)| {
                    let from = p.saturating_sub(low).div_ceil(1 << shift);
                    let to = q.checked_sub(low)? >> shift;
                    (from <= to).then_some((from, to))
                });
                // Each interval yields at most one, so the limit holds.
                Set::from_intervals(width, within).set
            }
        }
    }

    /// Number of lowest bits that are the same in all members; the width if there is one member.
    pub fn shared_low(&self) -> u32 {
        match self.repr() {
            Repr::Aligned(aligned) => aligned.shift,
            Repr::Bitmap(_) => shared_bits(self.values()).min(self.width()),
            Repr::Intervals(intervals) => {
                if intervals.iter().any(|(low, high)| low != high) {
                    return 0;
                }
                shared_bits(intervals.iter().map(|s| s.0)).min(self.width())
            }
        }
    }

    /// Number of lowest bits that are zero in all members, at most the width minus one.
    pub fn zeros_low(&self) -> u32 {
        let low = self.min().unwrap_or(0) & ones(self.shared_low());
        let zeros = if low == 0 { self.shared_low() } else { low.trailing_zeros() };
        zeros.min(self.width() - 1)
    }

    /// Union where at least one set is aligned and neither is empty.
    pub(super) fn union_aligned(&self, other: &Set) -> Approx {
        let (a, b) = (self.min().expect("not empty"), other.min().expect("not empty"));
        let differ = (a ^ b).trailing_zeros();
        let shift = self.shared_low().min(other.shared_low()).min(differ).min(self.width() - 1);
        if shift > 0 {
            let low = a & ones(shift);
            let both = self.high_bits(shift, low).union(&other.high_bits(shift, low));
            return both.with_low_bits(shift, low);
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
        Set::from_intervals(self.width(), intervals).exact_if(exact)
    }
}
