//! Concrete bytes of an object. Small objects are one vector; large ones are pages, shared between copies and absent
//! while they are zero, so that an object costs what was written.
use crate::persist::Map;
use std::ops::Range;
use std::sync::Arc;

pub const PAGE_BYTES: u64 = 1 << PAGE_SHIFT;
pub const PAGE_SHIFT: u32 = 12;
/// Largest size of an object that is one vector: copying it for a write after a fork takes some microseconds.
pub const MAX_FLAT_BYTES: u64 = 1 << 18;

pub type Page = [u8; PAGE_BYTES as usize];
static ZEROS: Page = [0; PAGE_BYTES as usize];

#[derive(Clone)]
pub enum Bytes {
    Flat(Vec<u8>),
    Paged(Map<Arc<Page>>),
}

/// Pages that overlap `count` bytes from `at` on: number, first byte in the page, and number of bytes there.
fn pages(at: u64, count: u64) -> impl Iterator<Item = (u32, usize, usize)> {
    let end = at + count;
    let mut at = at;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let first = at % PAGE_BYTES;
            let length = (PAGE_BYTES - first).min(end - at);
            let number = (at >> PAGE_SHIFT) as u32;
            at += length;
            (number, first as usize, length as usize)
        })
    })
}

impl Bytes {
    /// Zeros.
    pub fn new(size: u64) -> Bytes {
        match size {
            0..=MAX_FLAT_BYTES => Bytes::Flat(vec![0; size as usize]),
            _ => Bytes::Paged(Map::new()),
        }
    }

    /// Zeros, in the memory of these bytes if they are one vector.
    pub fn renewed(self, size: u64) -> Bytes {
        match self {
            Bytes::Flat(mut bytes) if size <= MAX_FLAT_BYTES => {
                bytes.clear();
                bytes.resize(size as usize, 0);
                Bytes::Flat(bytes)
            }
            Bytes::Flat(_) | Bytes::Paged(_) => Bytes::new(size),
        }
    }

    /// The page that contains the byte `at` of a paged object.
    pub fn page(&self, at: u64) -> Option<&Page> {
        match self {
            Bytes::Flat(_) => None,
            Bytes::Paged(pages) => Some(pages.get((at >> PAGE_SHIFT) as u32).map_or(&ZEROS, |page| &**page)),
        }
    }

    /// The page that contains the byte `at` of a paged object, for writing.
    pub fn page_mut(&mut self, at: u64) -> Option<&mut Page> {
        match self {
            Bytes::Flat(_) => None,
            Bytes::Paged(pages) => Some(existing(pages, (at >> PAGE_SHIFT) as u32)),
        }
    }

    /// Up to eight bytes as a number, the first one lowest.
    pub fn word(&self, at: u64, count: u64) -> u64 {
        let mut word = [0; 8];
        match self {
            Bytes::Flat(bytes) => {
                word[..count as usize].copy_from_slice(&bytes[at as usize..(at + count) as usize]);
            }
            Bytes::Paged(_) => self.read(at, &mut word[..count as usize]),
        }
        u64::from_le_bytes(word)
    }

    pub fn read(&self, at: u64, into: &mut [u8]) {
        match self {
            Bytes::Flat(bytes) => into.copy_from_slice(&bytes[at as usize..at as usize + into.len()]),
            Bytes::Paged(map) => {
                let mut rest = into;
                for (number, first, length) in pages(at, rest.len() as u64) {
                    let (here, after) = rest.split_at_mut(length);
                    match map.get(number) {
                        Some(page) => here.copy_from_slice(&page[first..first + length]),
                        None => here.fill(0),
                    }
                    rest = after;
                }
            }
        }
    }

    pub fn write(&mut self, at: u64, from: &[u8]) {
        match self {
            Bytes::Flat(bytes) => bytes[at as usize..at as usize + from.len()].copy_from_slice(from),
            Bytes::Paged(map) => {
                let mut rest = from;
                for (number, first, length) in pages(at, from.len() as u64) {
                    let (here, after) = rest.split_at(length);
                    existing(map, number)[first..first + length].copy_from_slice(here);
                    rest = after;
                }
            }
        }
    }

    pub fn fill(&mut self, at: u64, count: u64, byte: u8) {
        match self {
            Bytes::Flat(bytes) => bytes[at as usize..(at + count) as usize].fill(byte),
            Bytes::Paged(map) if byte == 0 => {
                for (number, bytes) in existing_pages(map, at, at + count).collect::<Vec<_>>() {
                    if bytes.len() == PAGE_BYTES as usize {
                        map.remove(number);
                    } else {
                        existing(map, number)[bytes].fill(0);
                    }
                }
            }
            Bytes::Paged(map) => {
                let full = Arc::new([byte; PAGE_BYTES as usize]);
                for (number, first, length) in pages(at, count) {
                    if length < PAGE_BYTES as usize {
                        existing(map, number)[first..first + length].fill(byte);
                    } else {
                        map.insert(number, Arc::clone(&full));
                    }
                }
            }
        }
    }

    /// Copies bytes of another object (or of a copy of this one). Whole pages are shared; absent ones are not visited.
    pub fn copy(&mut self, at: u64, from: &Bytes, start: u64, count: u64) {
        match (&mut *self, from) {
            (_, Bytes::Flat(bytes)) => self.write(at, &bytes[start as usize..(start + count) as usize]),
            (Bytes::Flat(bytes), Bytes::Paged(_)) => {
                from.read(start, &mut bytes[at as usize..(at + count) as usize]);
            }
            (Bytes::Paged(_), Bytes::Paged(source)) => {
                self.fill(at, count, 0);
                for (number, bytes) in existing_pages(source, start, start + count) {
                    let page = source.get(number).expect("an existing page");
                    let to = at + (u64::from(number) << PAGE_SHIFT) + bytes.start as u64 - start;
                    match self {
                        Bytes::Paged(map)
                            if bytes.len() == PAGE_BYTES as usize && to.is_multiple_of(PAGE_BYTES) =>
                        {
                            map.insert((to >> PAGE_SHIFT) as u32, Arc::clone(page));
                        }
                        _ => self.write(to, &page[bytes]),
                    }
                }
            }
        }
    }

    /// Ranges (start, length) between `from` and `to` outside of which all bytes are zero, in order.
    pub fn occupied(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        match self {
            Bytes::Flat(_) if from < to => vec![(from, to - from)],
            Bytes::Flat(_) => Vec::new(),
            Bytes::Paged(map) => existing_pages(map, from, to)
                .map(|(number, bytes)| {
                    ((u64::from(number) << PAGE_SHIFT) + bytes.start as u64, bytes.len() as u64)
                })
                .collect(),
        }
    }
}

/// Pages that exist and overlap the bytes from `at` to `end` (exclusive): number, and the overlapping bytes in the page.
fn existing_pages(map: &Map<Arc<Page>>, at: u64, end: u64) -> impl Iterator<Item = (u32, Range<usize>)> {
    let pages =
        map.iter_from((at >> PAGE_SHIFT) as u32).map(|(number, _)| (number, u64::from(number) << PAGE_SHIFT));
    pages.take_while(move |&(_, start)| start < end).map(move |(number, start)| {
        let (from, to) = (at.max(start) - start, end.min(start + PAGE_BYTES) - start);
        (number, from as usize..to as usize)
    })
}

/// A page for writing: copied first if it is shared.
fn existing(map: &mut Map<Arc<Page>>, number: u32) -> &mut Page {
    if map.get(number).is_none() {
        map.insert(number, Arc::new(ZEROS));
    }
    Arc::make_mut(map.get_mut(number).expect("just made"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const SIZE: u64 = MAX_FLAT_BYTES + 3 * PAGE_BYTES + 77;

    /// Writes, fills and copies agree with a vector, for paged and flat objects and between them.
    #[test]
    fn pages_behave_like_a_vector() {
        let mut random = Random::new(5);
        for round in 0..40 {
            let sizes = [SIZE, SIZE, MAX_FLAT_BYTES];
            let mut all: Vec<(Bytes, Vec<u8>)> =
                sizes.map(|size| (Bytes::new(size), vec![0; size as usize])).into();
            for step in 0..40 {
                let which = random.below(3) as usize;
                let (at, start) = (random.below(MAX_FLAT_BYTES), random.below(MAX_FLAT_BYTES));
                // Some ranges begin at pages, or at the same place in a page.
                let (at, start) = match random.below(3) {
                    0 => (at, start),
                    1 => (at / PAGE_BYTES * PAGE_BYTES, start / PAGE_BYTES * PAGE_BYTES),
                    _ => (at, start / PAGE_BYTES * PAGE_BYTES + at % PAGE_BYTES),
                };
                let most = [100, 5 * PAGE_BYTES][random.below(2) as usize];
                let count = random.below(most);
                let count = count.min(MAX_FLAT_BYTES - at).min(MAX_FLAT_BYTES.saturating_sub(start));
                let range = at as usize..(at + count) as usize;
                match random.below(3) {
                    0 => {
                        let data: Vec<u8> = (0..count).map(|_| random.word() as u8).collect();
                        all[which].0.write(at, &data);
                        all[which].1[range].copy_from_slice(&data);
                    }
                    1 => {
                        let byte = random.below(2) as u8;
                        all[which].0.fill(at, count, byte);
                        all[which].1[range].fill(byte);
                    }
                    _ => {
                        let (from, data) = all[random.below(3) as usize].clone();
                        all[which].0.copy(at, &from, start, count);
                        let data = &data[start as usize..(start + count) as usize];
                        all[which].1[range].copy_from_slice(data);
                    }
                }
                let (bytes, expected) = &all[which];
                let mut found = vec![9; expected.len()];
                bytes.read(0, &mut found);
                assert!(found == *expected, "round {round}, step {step}");
                let mut outside = expected.clone();
                for (start, length) in bytes.occupied(0, expected.len() as u64) {
                    outside[start as usize..(start + length) as usize].fill(0);
                }
                assert!(outside.iter().all(|&byte| byte == 0), "round {round}, step {step}: occupied");
                let (at, count) = (random.below(MAX_FLAT_BYTES - 8), random.below(9));
                let word = expected[at as usize..(at + count) as usize].iter().rev();
                let word = word.fold(0, |word, &byte| word << 8 | u64::from(byte));
                assert_eq!(bytes.word(at, count), word);
            }
        }
    }

    fn page_count(bytes: &Bytes) -> usize {
        match bytes {
            Bytes::Flat(_) => 0,
            Bytes::Paged(map) => map.len(),
        }
    }

    #[test]
    fn only_pages_that_were_written_exist() {
        let mut large = Bytes::new(1 << 32);
        large.write((1 << 31) - 2, &[1, 2, 3, 4]);
        assert_eq!(page_count(&large), 2);
        large.fill(5, 1 << 20, 0);
        assert_eq!(page_count(&large), 2, "zeros over zeros");
        let mut copy = Bytes::new(1 << 32);
        copy.copy(0, &large, 1 << 30, 1 << 31);
        assert_eq!(page_count(&copy), 2);
        assert_eq!(copy.word((1 << 30) - 2, 4), 0x0403_0201);
        copy.fill(0, 1 << 32, 0);
        assert_eq!(page_count(&copy), 0);
    }
}
