//! Bit fields of words: the set of values of bits `low .. low + width`, and the words whose field is in a set.

use super::set::{Approx, Interval, MAX_INTERVALS, Repr, Set};
use crate::expr::bits::mask;

/// Intervals that cross at most this many blocks (words with equal bits above the field) are split into blocks.
const MAX_BLOCKS: u64 = 16;

/// Word with the `count` lowest bits set; 0 for 0.
pub fn ones(count: u32) -> u64 {
    if count == 0 { 0 } else { mask(count) }
}

impl Set {
    /// Values of bits `low .. low + width`. Exact up to the limit of intervals: consecutive words have consecutive
    /// fields.
    pub fn extract(&self, low: u32, width: u32) -> Approx {
        debug_assert!(low + width <= self.width());
        if width == self.width() {
            return Approx::exact(self.clone());
        }
        if let Repr::Aligned(aligned) = self.repr() {
            return aligned.extract(low, width);
        }
        let mut out: Vec<Interval> = Vec::new();
        for (a, b) in self.intervals() {
            let (a, b) = (a >> low, b >> low);
            if b - a >= mask(width) {
                return Approx::exact(Set::full(width));
            }
            let (a, b) = (a & mask(width), b & mask(width));
            if a <= b {
                out.push((a, b));
            } else {
                out.extend([(0, b), (a, mask(width))]);
            }
        }
        Set::from_intervals(width, out)
    }

    /// Words of `width` bits whose field at `low` is in the set and whose other bits are arbitrary.
    pub fn lift(&self, low: u32, width: u32) -> Approx {
        debug_assert!(low + self.width() <= width);
        if self.is_full() || self.is_empty() {
            return Approx::exact(Set::full_if(width, self.is_full()));
        }
        let shared = if low == 0 && width > self.width() { self.shared_low() } else { 0 };
        if shared > 0 {
            let bits = self.min().expect("not empty") & ones(shared);
            let high = if shared == self.width() {
                Approx::exact(Set::full(width - shared))
            } else {
                self.high_bits(shared, bits).lift(0, width - shared)
            };
            return high.with_low_bits(shared, bits);
        }
        let above = width - low - self.width();
        let intervals = self.intervals();
        let blocks = 1u64
            .checked_shl(above)
            .filter(|n| n.saturating_mul(intervals.len() as u64) <= 2 * MAX_INTERVALS as u64);
        let scale = |(a, b): Interval| (a << low, b << low | ones(low));
        match blocks {
            Some(blocks) => {
                let top = low + self.width();
                let plain = !self.is_aligned();
                let all = (0..blocks).flat_map(|block| {
                    let base = block.checked_shl(top).unwrap_or(0);
                    intervals.iter().map(move |&s| (base | scale(s).0, base | scale(s).1))
                });
                Set::from_intervals(width, all).exact_if(plain)
            }
            None => {
                let (first, last) = (scale(intervals[0]).0, scale(intervals[intervals.len() - 1]).1);
                let top = ones(above) << (low + self.width());
                Approx::sound(Set::interval(width, first, top | last))
            }
        }
    }

    /// Members whose field at `low` is in `field`. Exact for bitmaps, for one value of the lowest bits, for the
    /// highest bits, and for intervals that cross few blocks. Otherwise the ends of each interval are moved inwards
    /// to the nearest such words.
    pub fn with_field(&self, low: u32, field: &Set) -> Approx {
        if field.is_full() {
            return Approx::exact(self.clone());
        }
        if low == 0 && field.width() == self.width() {
            return self.intersect(field);
        }
        let top = low + field.width();
        let of = |v: u64| v >> low & mask(field.width());
        if self.count() <= 256 {
            return Set::from_values(self.width(), self.values().filter(|&v| field.contains(of(v))));
        }
        if let Repr::Aligned(aligned) = self.repr() {
            return aligned.with_field(low, field);
        }
        let shared = if low == 0 { field.shared_low() } else { 0 };
        if shared > 0 && !field.is_empty() {
            let bits = field.min().expect("not empty") & ones(shared);
            let mut high = Approx::exact(self.high_bits(shared, bits));
            if shared < field.width() {
                high = high.set.with_field(0, &field.high_bits(shared, bits));
            }
            return high.with_low_bits(shared, bits);
        }
        let mut exact = !field.is_aligned();
        let mut out: Vec<Interval> = Vec::new();
        for (a, b) in self.intervals() {
            let blocks = if top >= 64 { 0 } else { (b >> top) - (a >> top) };
            if blocks > MAX_BLOCKS {
                exact = false;
                if let (Some(a), Some(b)) =
                    (next_with_field(a, b, low, field), last_with_field(a, b, low, field))
                {
                    out.push((a, b));
                }
                continue;
            }
            for block in 0..=blocks {
                let base = if top >= 64 { 0 } else { ((a >> top) + block) << top };
                for (f, g) in field.intervals() {
                    let (from, to) = (base | f << low, base | g << low | ones(low));
                    out.push((a.max(from), b.min(to)));
                }
            }
        }
        out.retain(|(a, b)| a <= b);
        Set::from_intervals(self.width(), out).exact_if(exact)
    }
}

/// The least word in `from ..= limit` whose field at `low` is in `field`.
pub fn next_with_field(from: u64, limit: u64, low: u32, field: &Set) -> Option<u64> {
    let top = low + field.width();
    let here = from >> low & mask(field.width());
    let high = if top >= 64 { 0 } else { from >> top };
    let word = match field.next_from(here) {
        Some(f) if f == here => from,
        Some(f) => (if top >= 64 { 0 } else { high << top }) | f << low,
        None => {
            if top >= 64 || high == u64::MAX >> top {
                return None;
            }
            (high + 1) << top | field.min()? << low
        }
    };
    (word <= limit).then_some(word)
}

/// The greatest word in `limit ..= from` whose field at `low` is in `field`.
fn last_with_field(limit: u64, from: u64, low: u32, field: &Set) -> Option<u64> {
    let top = low + field.width();
    let here = from >> low & mask(field.width());
    let high = if top >= 64 { 0 } else { from >> top };
    let above = |high: u64| if top >= 64 { 0 } else { high << top };
    let word = match field.previous_from(here) {
        Some(f) if f == here => from,
        Some(f) => above(high) | f << low | ones(low),
        None if high == 0 => return None,
        None => above(high - 1) | field.max()? << low | ones(low),
    };
    (word >= limit).then_some(word)
}
