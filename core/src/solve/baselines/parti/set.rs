//! Multi-intervals as PARTI has them: sorted, disjoint, not adjacent, in any number.
//!
//! The set is kept in the unsigned order; its closure in the signed order is found by binary search, so that a sign cast
//! (section 3.4.4 of the paper) copies nothing. Each operation says how many intervals it may return.

use crate::expr::bits::mask;

/// A set of words of `width` bits, at most 64.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultiInterval {
    pub width: u32,
    spans: Vec<(u64, u64)>,
}

impl MultiInterval {
    pub fn empty(width: u32) -> MultiInterval {
        MultiInterval { width, spans: Vec::new() }
    }

    pub fn full(width: u32) -> MultiInterval {
        MultiInterval::interval(width, 0, mask(width))
    }

    pub fn point(width: u32, value: u64) -> MultiInterval {
        MultiInterval::interval(width, value, value)
    }

    /// The values from `first` to `last`; none if `first` is greater.
    pub fn interval(width: u32, first: u64, last: u64) -> MultiInterval {
        let spans = if first <= last { vec![(first, last)] } else { Vec::new() };
        MultiInterval { width, spans }
    }

    /// Cardinality in the sense of the paper: number of intervals.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub fn spans(&self) -> &[(u64, u64)] {
        &self.spans
    }

    pub fn contains(&self, value: u64) -> bool {
        let after = self.spans.partition_point(|span| span.0 <= value);
        after > 0 && value <= self.spans[after - 1].1
    }

    pub fn first(&self) -> Option<u64> {
        self.spans.first().map(|span| span.0)
    }

    /// Its only value.
    pub fn single(&self) -> Option<u64> {
        match self.spans[..] {
            [(first, last)] if first == last => Some(first),
            _ => None,
        }
    }

    /// Least and greatest value in the unsigned or signed order.
    pub fn closure(&self, is_signed: bool) -> Option<(u64, u64)> {
        let (first, last) = (self.spans.first()?.0, self.spans.last()?.1);
        if !is_signed {
            return Some((first, last));
        }
        let half = 1u64 << (self.width - 1);
        // Spans that begin in the negative half.
        let at = self.spans.partition_point(|span| span.0 < half);
        let crosses = at > 0 && self.spans[at - 1].1 >= half;
        let least = if crosses { half } else { self.spans.get(at).map_or(first, |span| span.0) };
        let greatest = match at {
            0 => last,
            at => self.spans[at - 1].1.min(half - 1),
        };
        Some((least, greatest))
    }

    /// Values in both: at most n + m - 1 intervals, in linear time.
    pub fn intersect(&self, other: &MultiInterval) -> MultiInterval {
        let (mut a, mut b) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        let mut spans = Vec::new();
        while let (Some(&&(a0, a1)), Some(&&(b0, b1))) = (a.peek(), b.peek()) {
            if a0.max(b0) <= a1.min(b1) {
                spans.push((a0.max(b0), a1.min(b1)));
            }
            if a1 < b1 {
                a.next()
            } else {
                b.next()
            };
        }
        MultiInterval { width: self.width, spans }
    }

    /// All other values: at most n + 1 intervals.
    pub fn complement(&self) -> MultiInterval {
        let mut spans = Vec::with_capacity(self.spans.len() + 1);
        let mut next = Some(0);
        for &(first, last) in &self.spans {
            if let Some(from) = next.filter(|from| *from < first) {
                spans.push((from, first - 1));
            }
            next = last.checked_add(1).filter(|from| *from <= mask(self.width));
        }
        spans.extend(next.map(|from| (from, mask(self.width))));
        MultiInterval { width: self.width, spans }
    }

    /// The values plus a constant: at most n + 1 intervals.
    pub fn plus(&self, constant: u64) -> MultiInterval {
        let all = mask(self.width);
        let constant = constant & all;
        // Intervals that wrap come first afterwards.
        let at = self.spans.partition_point(|span| span.1 <= all - constant);
        let mut low = Vec::with_capacity(self.spans.len() + 1);
        let mut high = Vec::with_capacity(at + 1);
        high.extend(self.spans[..at].iter().map(|span| (span.0 + constant, span.1 + constant)));
        for &(first, last) in &self.spans[at..] {
            let wrapped = last.wrapping_add(constant) & all;
            if first <= all - constant {
                high.push((first + constant, all));
                low.push((0, wrapped));
            } else {
                low.push((first.wrapping_add(constant) & all, wrapped));
            }
        }
        low.extend(high);
        MultiInterval { width: self.width, spans: merged(low) }
    }

    /// A constant minus the values: at most n + 1 intervals.
    pub fn subtracted_from(&self, constant: u64) -> MultiInterval {
        let all = mask(self.width);
        // -x is (not x) + 1.
        let spans = self.spans.iter().rev().map(|&(first, last)| (all - last, all - first)).collect();
        MultiInterval { width: self.width, spans }.plus(constant.wrapping_add(1))
    }

    /// Values that multiplied by a constant give one of these, without wrapping: at most n intervals.
    pub fn divided_exactly(&self, constant: u64) -> MultiInterval {
        let quotients = self.spans.iter().map(|&(first, last)| (first.div_ceil(constant), last / constant));
        MultiInterval {
            width: self.width,
            spans: merged(quotients.filter(|span| span.0 <= span.1).collect()),
        }
    }

    /// Quotients by a constant, rounded down: at most n intervals.
    pub fn quotients(&self, constant: u64) -> MultiInterval {
        let spans = self.spans.iter().map(|&(first, last)| (first / constant, last / constant)).collect();
        MultiInterval { width: self.width, spans: merged(spans) }
    }

    /// The low bits: at most n + 1 intervals. An interval can cross a multiple of 2^width; all that do so share the
    /// intervals at 0 and at the greatest value.
    pub fn truncated(&self, width: u32) -> MultiInterval {
        let all = mask(width);
        let mut spans = Vec::with_capacity(self.spans.len() + 1);
        let (mut low, mut high) = (None, None);
        for &(first, last) in &self.spans {
            if last - first >= all {
                return MultiInterval::full(width);
            }
            let (a, b) = (first & all, last & all);
            if a <= b {
                spans.push((a, b));
            } else {
                low = low.max(Some(b));
                high = Some(high.map_or(a, |high: u64| high.min(a)));
            }
        }
        spans.extend(low.map(|low| (0, low)));
        spans.extend(high.map(|high| (high, all)));
        spans.sort_unstable();
        MultiInterval { width, spans: merged(spans) }
    }

    /// Zero-extended values: the same intervals.
    pub fn zero_extended(&self, width: u32) -> MultiInterval {
        MultiInterval { width, spans: self.spans.clone() }
    }

    /// Sign-extended values: at most n + 1 intervals.
    pub fn sign_extended(&self, width: u32) -> MultiInterval {
        let half = 1u64 << (self.width - 1);
        let added = mask(width) - mask(self.width);
        let mut spans = Vec::with_capacity(self.spans.len() + 1);
        for &(first, last) in &self.spans {
            match (first < half, last < half) {
                (true, true) => spans.push((first, last)),
                (true, false) => spans.extend([(first, half - 1), (half + added, last + added)]),
                (false, _) => spans.push((first + added, last + added)),
            }
        }
        MultiInterval { width, spans: merged(spans) }
    }

    /// Words whose zero extension is one of these: at most n intervals.
    pub fn zero_extended_from(&self, width: u32) -> MultiInterval {
        let inside = self.intersect(&MultiInterval::interval(self.width, 0, mask(width)));
        MultiInterval { width, spans: inside.spans }
    }

    /// Words whose sign extension is one of these: at most n intervals. What is extended from both halves has the values
    /// between them too, and its parts are adjacent.
    pub fn sign_extended_from(&self, width: u32) -> MultiInterval {
        let half = 1u64 << (width - 1);
        let all = mask(self.width);
        let inside = MultiInterval { width: self.width, spans: vec![(0, half - 1), (all - half + 1, all)] };
        let inside = if width == self.width { self.clone() } else { self.intersect(&inside) };
        let spans =
            inside.spans.iter().map(|&(first, last)| (first & mask(width), last & mask(width))).collect();
        MultiInterval { width, spans: merged(spans) }
    }

    /// Sums of all pairs: at most n * m + 1 intervals. The sums with each interval of the shorter operand are sorted
    /// lists, which are merged two by two: n * m * log(min(n, m)) steps.
    pub fn sums(&self, other: &MultiInterval) -> MultiInterval {
        let (long, short) = if self.len() < other.len() { (other, self) } else { (self, other) };
        let mut lists: Vec<Vec<(u64, u64)>> =
            short.spans.iter().map(|&span| long.plus_interval(span).spans).collect();
        while lists.len() > 1 {
            let mut halves = Vec::with_capacity(lists.len().div_ceil(2));
            let mut rest = lists.into_iter();
            while let Some(first) = rest.next() {
                halves.push(match rest.next() {
                    Some(second) => merged(merge_sorted(&first, &second)),
                    None => first,
                });
            }
            lists = halves;
        }
        MultiInterval { width: self.width, spans: lists.pop().unwrap_or_default() }
    }

    fn plus_interval(&self, (first, last): (u64, u64)) -> MultiInterval {
        let all = mask(self.width);
        let added = last - first;
        let is_all = |span: &(u64, u64)| (span.1 - span.0).checked_add(added).is_none_or(|size| size >= all);
        if self.spans.iter().any(is_all) {
            return MultiInterval::full(self.width);
        }
        // Made longer first, then moved. Only the last ones can wrap, and then they begin at 0.
        let mut longer = Vec::with_capacity(self.spans.len() + 1);
        let mut wrapped = None;
        for &(a, b) in &self.spans {
            if b > all - added {
                wrapped = wrapped.max(Some(b.wrapping_add(added) & all));
                longer.push((a, all));
            } else {
                longer.push((a, b + added));
            }
        }
        longer.extend(wrapped.map(|last| (0, last)));
        longer.sort_unstable();
        MultiInterval { width: self.width, spans: merged(longer) }.plus(first)
    }
}

/// Joins overlapping and adjacent intervals of a sorted list.
fn merged(sorted: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
    for (first, last) in sorted {
        match spans.last_mut() {
            Some(before) if before.1 == u64::MAX || first <= before.1 + 1 => before.1 = before.1.max(last),
            Some(_) | None => spans.push((first, last)),
        }
    }
    spans
}

fn merge_sorted(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] <= b[j] {
            all.push(a[i]);
            i += 1;
        } else {
            all.push(b[j]);
            j += 1;
        }
    }
    all.extend_from_slice(&a[i..]);
    all.extend_from_slice(&b[j..]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The set of the values whose bits are set in `bitmap`.
    fn of_bitmap(width: u32, bitmap: u64) -> MultiInterval {
        let points = (0..1u64 << width).filter(|value| bitmap >> value & 1 == 1).map(|value| (value, value));
        MultiInterval { width, spans: merged(points.collect()) }
    }

    fn of_values(width: u32, values: BTreeSet<u64>) -> MultiInterval {
        of_bitmap(width, values.into_iter().fold(0, |bitmap, value| bitmap | 1 << value))
    }

    fn values(set: &MultiInterval) -> Vec<u64> {
        (0..1u64 << set.width).filter(|&value| set.contains(value)).collect()
    }

    /// The image of all values of a set.
    fn image(set: &MultiInterval, width: u32, f: impl Fn(u64) -> u64) -> MultiInterval {
        of_values(width, values(set).into_iter().map(|value| f(value) & mask(width)).collect())
    }

    fn signed(width: u32, value: u64) -> i64 {
        crate::expr::bits::signed(width, value)
    }

    /// Every set of three bits and some of four, every constant: results and cardinalities.
    #[test]
    fn operations_with_one_set() {
        (0..256).for_each(|bitmap| one_set(3, bitmap));
        (0..1 << 16).step_by(29).for_each(|bitmap| one_set(4, bitmap));
    }

    fn one_set(width: u32, bitmap: u64) {
        let all_bits = if width == 4 { 0xffff } else { 0xff };
        let set = of_bitmap(width, bitmap);
        let n = set.len();
        let bounded =
            |result: &MultiInterval, most: usize| assert!(result.len() <= most, "{set:?} {result:?}");
        assert_eq!(set.complement(), of_bitmap(width, !bitmap & all_bits));
        bounded(&set.complement(), n + 1);
        let all = values(&set);
        let ends = |key: &dyn Fn(&u64) -> i64| {
            let least = all.iter().min_by_key(|value| key(value))?;
            Some((*least, *all.iter().max_by_key(|value| key(value))?))
        };
        assert_eq!(set.closure(false), ends(&|value| *value as i64));
        assert_eq!(set.closure(true), ends(&|value| signed(width, *value)));
        assert_eq!(set.single(), if all.len() == 1 { Some(all[0]) } else { None });
        for c in 0..1 << width {
            assert_eq!(set.plus(c), image(&set, width, |x| x + c));
            bounded(&set.plus(c), n + 1);
            assert_eq!(set.subtracted_from(c), image(&set, width, |x| c.wrapping_sub(x)));
            bounded(&set.subtracted_from(c), n + 1);
            if c > 0 {
                assert_eq!(set.quotients(c), image(&set, width, |x| x / c));
                bounded(&set.quotients(c), n);
                let multiples = (0..1u64 << width).filter(|x| (x * c) >> width == 0 && set.contains(x * c));
                assert_eq!(set.divided_exactly(c), of_values(width, multiples.collect()));
                bounded(&set.divided_exactly(c), n);
            }
        }
        for less in 1..=width {
            assert_eq!(set.truncated(less), image(&set, less, |x| x));
            bounded(&set.truncated(less), n + 1);
            let words =
                |is_in: &dyn Fn(u64) -> bool| of_values(less, (0..1 << less).filter(|x| is_in(*x)).collect());
            assert_eq!(set.zero_extended_from(less), words(&|x| set.contains(x)));
            bounded(&set.zero_extended_from(less), n);
            assert_eq!(
                set.sign_extended_from(less),
                words(&|x| set.contains(signed(less, x) as u64 & mask(width)))
            );
            bounded(&set.sign_extended_from(less), n);
        }
        for more in width..=5 {
            assert_eq!(set.zero_extended(more), image(&set, more, |x| x));
            assert_eq!(set.sign_extended(more), image(&set, more, |x| signed(width, x) as u64));
            bounded(&set.sign_extended(more), n + 1);
        }
    }

    #[test]
    fn all_pairs_of_sets_of_three_bits() {
        for a in 0..256 {
            for b in 0..256 {
                let (left, right) = (of_bitmap(3, a), of_bitmap(3, b));
                assert_eq!(left.intersect(&right), of_bitmap(3, a & b));
                assert!(left.intersect(&right).len() < (left.len() + right.len()).max(1));
                let pairs = values(&left)
                    .into_iter()
                    .flat_map(|x| values(&right).into_iter().map(move |y| (x + y) & 7));
                assert_eq!(left.sums(&right), of_values(3, pairs.collect()));
                assert!(left.sums(&right).len() <= left.len() * right.len() + 1);
            }
        }
    }

    #[test]
    fn words_of_64_bits() {
        let last = u64::MAX;
        let set = MultiInterval::interval(64, last - 1, last);
        assert_eq!(set.plus(1).spans(), [(0, 0), (last, last)]);
        assert_eq!(set.complement().spans(), [(0, last - 2)]);
        assert_eq!(set.sums(&set).spans(), [(last - 3, last - 1)]);
        assert_eq!(MultiInterval::full(64).sums(&set), MultiInterval::full(64));
        assert_eq!(set.closure(true), Some((last - 1, last)));
        assert_eq!(MultiInterval::full(64).truncated(8), MultiInterval::full(8));
    }

    /// The example of section 4.1.2: sums of {0, 2^i} have twice as many intervals with every variable, without a cap.
    #[test]
    fn the_number_of_intervals_explodes() {
        let choice = |i: u32| MultiInterval { width: 32, spans: vec![(0, 0), (1 << i, 1 << i)] };
        let mut sum = choice(1);
        for i in 2..=17 {
            sum = sum.sums(&choice(i));
            assert_eq!(sum.len(), 1 << i);
        }
    }
}
