//! Bytes of an object that were never written. Local variables and memory from `malloc` start so; an object that has been
//! written completely has no such record, and then nothing is asked or kept.
//!
//! An unwritten byte reads as a placeholder of the graph: an expression that stands for no input. Copies carry the record,
//! arithmetic carries the placeholder, and rewriting drops it where the byte does not matter (a bit field that is masked,
//! `x ^ x`). What a program does with it is decided in `decide/undefined.rs`.
use super::bytes::{PAGE_BYTES, PAGE_SHIFT};
use crate::persist::Map;
use std::sync::Arc;

/// Objects up to this size have one bit per byte in a word.
const SMALL_BYTES: u64 = 64;

/// One bit per byte of a page, set if it was written.
type Bits = [u64; (PAGE_BYTES / 64) as usize];

#[derive(Clone)]
enum Page {
    Written,
    Partly(Arc<Bits>),
}

#[derive(Clone)]
enum Marks {
    /// A set bit is a byte that was not written.
    Small(u64),
    /// Pages in which a byte was written, and the number of bytes that were not.
    Large { pages: Map<Page>, left: u64 },
}

/// At least one byte of the object was never written.
#[derive(Clone)]
pub struct Unwritten {
    size: u64,
    marks: Marks,
}

/// The bits `first..first + count` of a word.
fn ones(first: u64, count: u64) -> u64 {
    if count == 0 { 0 } else { (u64::MAX >> (64 - count)) << first }
}

/// Words of bits that overlap `count` bytes from `at` on: page, word in the page, bits.
fn words(at: u64, count: u64) -> impl Iterator<Item = (u32, usize, u64)> {
    let end = at + count;
    let mut at = at;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let first = at % 64;
            let length = (64 - first).min(end - at);
            let word = ((at >> PAGE_SHIFT) as u32, (at % PAGE_BYTES / 64) as usize, ones(first, length));
            at += length;
            word
        })
    })
}

/// First byte of a range within one page that is unwritten, or written.
fn find_in_page(page: Option<&Page>, at: u64, end: u64, unwritten: bool) -> Option<u64> {
    match page {
        None => unwritten.then_some(at),
        Some(Page::Written) => (!unwritten).then_some(at),
        Some(Page::Partly(bits)) => words(at, end - at).find_map(|(_, word, ones)| {
            let found = ones & if unwritten { !bits[word] } else { bits[word] };
            let start = (at & !(PAGE_BYTES - 1)) + 64 * word as u64;
            (found != 0).then(|| start + u64::from(found.trailing_zeros()))
        }),
    }
}

/// First byte of a large object from `at` on and before `end` that is unwritten, or written. Visits the pages of the
/// record on the way only: most of a large object may never have been written.
fn find_in_pages(pages: &Map<Page>, at: u64, end: u64, unwritten: bool) -> Option<u64> {
    if at >= end {
        return None;
    }
    let first = (at >> PAGE_SHIFT) as u32;
    let first_end = (at | (PAGE_BYTES - 1)) + 1;
    let found = find_in_page(pages.get(first), at, end.min(first_end), unwritten);
    if found.is_some() || end <= first_end {
        return found;
    }
    let mut at = first_end;
    for (number, page) in pages.iter_from(first + 1) {
        let start = u64::from(number) << PAGE_SHIFT;
        if start >= end || (unwritten && start > at) {
            break;
        }
        at = start + PAGE_BYTES;
        let found = find_in_page(Some(page), start, end.min(at), unwritten);
        if found.is_some() {
            return found;
        }
    }
    (unwritten && at < end).then_some(at)
}

impl Unwritten {
    /// Record of an object of which nothing was written; `None` if it has no bytes.
    pub fn all(size: u64) -> Option<Unwritten> {
        let marks = match size {
            0 => return None,
            1..=SMALL_BYTES => Marks::Small(ones(0, size)),
            _ => Marks::Large { pages: Map::new(), left: size },
        };
        Some(Unwritten { size, marks })
    }

    /// Bits of the 64 bytes that contain `at` (of one word of a large object): set if written.
    fn written_bits(&self, at: u64) -> u64 {
        match &self.marks {
            Marks::Small(bits) => !bits,
            Marks::Large { pages, .. } => match pages.get((at >> PAGE_SHIFT) as u32) {
                None => 0,
                Some(Page::Written) => u64::MAX,
                Some(Page::Partly(bits)) => bits[(at % PAGE_BYTES / 64) as usize],
            },
        }
    }

    pub fn contains(&self, at: u64) -> bool {
        self.written_bits(at) >> (at % 64) & 1 == 0
    }

    /// Is one of these bytes unwritten?
    pub fn meets(&self, at: u64, count: u64) -> bool {
        self.next_from(at, at + count).is_some()
    }

    /// First unwritten byte from `at` on and before `end`.
    pub fn next_from(&self, at: u64, end: u64) -> Option<u64> {
        self.find(at, end, true)
    }

    /// First written byte from `at` on and before `end`.
    fn next_written(&self, at: u64, end: u64) -> Option<u64> {
        self.find(at, end, false)
    }

    fn find(&self, at: u64, end: u64, unwritten: bool) -> Option<u64> {
        match &self.marks {
            Marks::Small(bits) => {
                let within = ones(at, end.saturating_sub(at));
                let found = within & if unwritten { *bits } else { !bits };
                (found != 0).then(|| u64::from(found.trailing_zeros()))
            }
            Marks::Large { pages, .. } => find_in_pages(pages, at, end, unwritten),
        }
    }

    /// Unwritten ranges (start, end) between `from` and `to`, in order.
    pub fn ranges(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let to = to.min(self.size);
        let mut at = from;
        std::iter::from_fn(move || {
            let start = self.next_from(at, to)?;
            at = self.next_written(start, to).unwrap_or(to);
            Some((start, at))
        })
    }

    /// Written bytes around `at`, which is written, among the 64 bytes before and after it (in its page, if the object
    /// has pages).
    pub fn written_around(&self, at: u64) -> (u64, u64) {
        let here = at & !63;
        let bits = self.written_bits(at);
        let below = u64::from((!bits & ones(0, at - here)).checked_ilog2().map_or(0, |bit| bit + 1));
        let mut end = self.next_from(at, (here + 64).min(self.size)).unwrap_or((here + 64).min(self.size));
        if end == here + 64 {
            let limit = (end + 64).min(self.size);
            end = self.next_from(end, limit).unwrap_or(limit);
        }
        let mut start = here + below;
        if start == here && here > 0 {
            let bits = self.written_bits(here - 64);
            start = here - 64 + u64::from((!bits).checked_ilog2().map_or(0, |bit| bit + 1));
        }
        (start, end)
    }

    /// Are all bytes of the page that contains `at` written?
    pub fn is_page_written(&self, at: u64) -> bool {
        let start = at & !(PAGE_BYTES - 1);
        !self.meets(start, PAGE_BYTES.min(self.size - start))
    }

    /// Records that bytes were written. Returns false if all bytes of the object are now.
    #[must_use]
    pub fn write(&mut self, at: u64, count: u64) -> bool {
        match &mut self.marks {
            Marks::Small(bits) => {
                *bits &= !ones(at, count);
                *bits != 0
            }
            Marks::Large { pages, left } => {
                let mut at = at;
                let end = at + count;
                while at < end {
                    let start = at & !(PAGE_BYTES - 1);
                    let number = (at >> PAGE_SHIFT) as u32;
                    let next = (start + PAGE_BYTES).min(end);
                    let before = match pages.get(number) {
                        None => 0,
                        Some(Page::Written) => {
                            at = next;
                            continue;
                        }
                        Some(Page::Partly(bits)) => {
                            bits.iter().map(|word| u64::from(word.count_ones())).sum()
                        }
                    };
                    let page_size = PAGE_BYTES.min(self.size - start);
                    if next - at == page_size {
                        pages.insert(number, Page::Written);
                        *left -= page_size - before;
                    } else {
                        if before == 0 {
                            pages.insert(number, Page::Partly(Arc::new([0; (PAGE_BYTES / 64) as usize])));
                        }
                        let Some(Page::Partly(bits)) = pages.get_mut(number) else {
                            unreachable!("a page of bits")
                        };
                        let bits = Arc::make_mut(bits);
                        let mut new = 0;
                        for (_, word, ones) in words(at, next - at) {
                            new += u64::from((ones & !bits[word]).count_ones());
                            bits[word] |= ones;
                        }
                        *left -= new;
                        if before + new == page_size {
                            pages.insert(number, Page::Written);
                        }
                    }
                    at = next;
                }
                *left != 0
            }
        }
    }

    /// Records that bytes are as if never written.
    pub fn erase(&mut self, at: u64, count: u64) {
        match &mut self.marks {
            Marks::Small(bits) => *bits |= ones(at, count),
            Marks::Large { pages, left } => {
                let end = at + count;
                let first = (at >> PAGE_SHIFT) as u32;
                let met = pages.iter_from(first).map(|(number, _)| number);
                let met: Vec<u32> = met.take_while(|number| u64::from(*number) << PAGE_SHIFT < end).collect();
                for number in met {
                    let start = u64::from(number) << PAGE_SHIFT;
                    let page_end = (start + PAGE_BYTES).min(self.size);
                    let (from, to) = (at.max(start), end.min(page_end));
                    let mut bits = match pages.get(number) {
                        None => unreachable!("a page of the record"),
                        Some(Page::Written) => {
                            let mut bits = [0; (PAGE_BYTES / 64) as usize];
                            for (_, word, ones) in words(0, page_end - start) {
                                bits[word] = ones;
                            }
                            Arc::new(bits)
                        }
                        Some(Page::Partly(bits)) => Arc::clone(bits),
                    };
                    let changed = Arc::make_mut(&mut bits);
                    for (_, word, ones) in words(from, to - from) {
                        *left += u64::from((changed[word] & ones).count_ones());
                        changed[word] &= !ones;
                    }
                    pages.insert(number, Page::Partly(bits));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A search in a large object takes time for its written pages, not for its size: this would take hours otherwise.
    #[test]
    fn pages_that_were_never_written_are_not_visited() {
        let size = 1 << 43;
        let mut record = Unwritten::all(size).expect("not empty");
        let far = size - PAGE_BYTES / 2;
        assert!(record.write(PAGE_BYTES + 5, 3) && record.write(far, 1));
        for _ in 0..1000 {
            let ranges: Vec<_> = record.ranges(0, size).collect();
            assert_eq!(ranges, [(0, PAGE_BYTES + 5), (PAGE_BYTES + 8, far), (far + 1, size)]);
            assert_eq!(record.next_written(PAGE_BYTES + 8, far), None);
            assert_eq!(record.next_written(PAGE_BYTES + 8, size), Some(far));
        }
        record.erase(PAGE_BYTES + 7, size - PAGE_BYTES - 7);
        assert_eq!(record.ranges(0, size).collect::<Vec<_>>(), [(0, PAGE_BYTES + 5), (PAGE_BYTES + 7, size)]);
    }

    /// Records agree with a vector of flags, for sizes of a word, of pages and between them.
    #[test]
    fn records_agree_with_flags() {
        let mut random = Random::new(11);
        for size in [1, 7, 63, 64, 65, 200, PAGE_BYTES - 1, PAGE_BYTES, 3 * PAGE_BYTES + 77] {
            for round in 0..30 {
                let mut flags = vec![true; size as usize];
                let mut record = Unwritten::all(size);
                for step in 0..60 {
                    let at = random.below(size);
                    let most = [9, 200, 2 * PAGE_BYTES][random.below(3) as usize];
                    let count = (1 + random.below(most)).min(size - at);
                    let erases = random.below(4) == 0;
                    flags[at as usize..(at + count) as usize].fill(erases);
                    if erases {
                        let whole = record.is_none();
                        let mut changed = record.take().or_else(|| Unwritten::all(size)).expect("not empty");
                        if whole {
                            let _ = changed.write(0, size);
                        }
                        changed.erase(at, count);
                        record = Some(changed);
                    } else if let Some(changed) = &mut record
                        && !changed.write(at, count)
                    {
                        record = None;
                    }
                    let what = format!("size {size}, round {round}, step {step}");
                    assert_eq!(record.is_some(), flags.contains(&true), "{what}");
                    let Some(record) = &record else { continue };
                    let at = random.below(size);
                    assert_eq!(record.contains(at), flags[at as usize], "{what}");
                    let count = (1 + random.below(100)).min(size - at);
                    let range = at as usize..(at + count) as usize;
                    assert_eq!(record.meets(at, count), flags[range].contains(&true), "{what}");
                    let mut found = vec![false; size as usize];
                    for (from, to) in record.ranges(0, size) {
                        assert!(from < to, "{what}");
                        found[from as usize..to as usize].fill(true);
                    }
                    assert!(found == flags, "{what}: ranges");
                    if !flags[at as usize] {
                        let (from, to) = record.written_around(at);
                        assert!((from..to).contains(&at), "{what}");
                        assert!(!flags[from as usize..to as usize].contains(&true), "{what}: written around");
                    }
                    let page = (at & !(PAGE_BYTES - 1)) as usize;
                    let page = &flags[page..(page + PAGE_BYTES as usize).min(size as usize)];
                    assert_eq!(record.is_page_written(at), !page.contains(&true), "{what}");
                }
            }
        }
    }
}
