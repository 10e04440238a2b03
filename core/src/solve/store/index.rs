//! The index of a shared store: which queries the server has answers to, in the order in which they were written.
//!
//! An entry is 29 bytes: key, shape, solving time and verdict. So a query without an answer is known to be missing
//! without asking the server. The order is kept because a run asks in about the order in which an earlier run wrote:
//! the rows after one that is asked for are likely to be needed next.

use super::answer::Verdict;
use super::canonical::Key;
use super::row::Row;
use rustc_hash::FxHashMap;

/// Bytes of an entry.
pub const ENTRY: usize = 29;
/// Limit on entries; the oldest are dropped.
pub const MAX_ENTRIES: usize = 1 << 18;

/// The entry of a row.
pub fn entry(row: &Row) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    bytes[..16].copy_from_slice(&row.key);
    bytes[16..24].copy_from_slice(&row.shape.to_le_bytes());
    bytes[24..28].copy_from_slice(&row.cost_us.to_le_bytes());
    bytes[28] = row.verdict as u8;
    bytes
}

/// An entry of the index.
struct Entry {
    shape: u64,
    cost_us: u32,
    /// Place in `order`.
    at: usize,
}

#[derive(Default)]
pub struct Index {
    known: FxHashMap<Key, Entry>,
    /// Longest solving time, by shape.
    shapes: FxHashMap<u64, u32>,
    order: Vec<Key>,
}

impl Index {
    /// Adds entries; unsat ones only if `takes_unsat`. False if the bytes are no entries: then they are ignored.
    pub fn add(&mut self, bytes: &[u8], takes_unsat: bool) -> bool {
        let (entries, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() {
            return false;
        }
        for entry in entries {
            let key: Key = entry[..16].try_into().expect("16 bytes");
            let shape = u64::from_le_bytes(entry[16..24].try_into().expect("8 bytes"));
            let cost_us = u32::from_le_bytes(entry[24..28].try_into().expect("4 bytes"));
            let is_useful = match Verdict::of(entry[28]) {
                Some(Verdict::Sat) => true,
                Some(Verdict::Unsat) => takes_unsat,
                None => false,
            };
            if is_useful && !self.known.contains_key(&key) {
                self.insert(key, shape, cost_us);
            }
        }
        if self.order.len() > MAX_ENTRIES {
            self.drop_older_half();
        }
        true
    }

    fn insert(&mut self, key: Key, shape: u64, cost_us: u32) {
        self.known.insert(key, Entry { shape, cost_us, at: self.order.len() });
        self.order.push(key);
        let longest = self.shapes.entry(shape).or_default();
        *longest = cost_us.max(*longest);
    }

    fn drop_older_half(&mut self) {
        let mut old = std::mem::take(self);
        for key in old.order.iter().skip(old.order.len() / 2) {
            if let Some(entry) = old.known.remove(key) {
                self.insert(*key, entry.shape, entry.cost_us);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub fn cost_us(&self, shape: u64) -> Option<u32> {
        self.shapes.get(&shape).copied()
    }

    /// The solving time of a query, if the server has it.
    pub fn cost_of(&self, key: &Key) -> Option<u32> {
        self.known.get(key).map(|entry| entry.cost_us)
    }

    /// This key and those written after it, `count` at most.
    pub fn from(&self, key: &Key, count: usize) -> &[Key] {
        let Some(entry) = self.known.get(key) else { return &[] };
        &self.order[entry.at..self.order.len().min(entry.at + count)]
    }

    /// The server does not have the row any more.
    pub fn remove(&mut self, key: &Key) {
        self.known.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u64, verdict: Verdict) -> Row {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&number.to_le_bytes());
        Row {
            shape: number / 2,
            key,
            query: vec![],
            verdict,
            answer: vec![],
            cost_us: number as u32,
            used: 0,
        }
    }

    #[test]
    fn entries_are_found_in_the_order_of_writing() {
        let mut index = Index::default();
        let rows: Vec<Row> = (0..6).map(|n| row(n, Verdict::of((n % 2) as u8).unwrap())).collect();
        let bytes: Vec<u8> = rows.iter().flat_map(entry).collect();
        assert!(!index.add(&bytes[1..], true) && index.is_empty());
        assert!(index.add(&bytes, false));
        assert_eq!(index.cost_of(&rows[2].key), None);
        assert_eq!(index.from(&rows[1].key, 2), [rows[1].key, rows[3].key]);
        assert!(index.add(&bytes, true));
        assert_eq!(index.from(&rows[5].key, 9), [rows[5].key, rows[0].key, rows[2].key, rows[4].key]);
        assert_eq!((index.cost_us(1), index.cost_us(7)), (Some(3), None));
        index.remove(&rows[2].key);
        assert_eq!((index.cost_of(&rows[2].key), index.from(&rows[2].key, 9)), (None, &[][..]));
    }

    #[test]
    fn the_oldest_entries_are_dropped() {
        let mut index = Index::default();
        let last = MAX_ENTRIES as u64 + 5;
        for n in 0..=last {
            index.add(&entry(&row(n, Verdict::Sat)), false);
        }
        assert!(index.order.len() <= MAX_ENTRIES && index.known.len() == index.order.len());
        assert_eq!(index.cost_of(&row(3, Verdict::Sat).key), None);
        assert_eq!(index.cost_us(1), None);
        assert_eq!(index.from(&row(last, Verdict::Sat).key, 9), [row(last, Verdict::Sat).key]);
    }
}
