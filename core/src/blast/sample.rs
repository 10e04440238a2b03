//! A sample of assignments of the traced inputs that a SAT solver reaches at conflicts.

use crate::random::Random;
use rustc_hash::FxHashSet;
use std::hash::Hasher;

/// Reservoir sampling: distinct assignments, at most `keep`, each kept with equal probability.
#[derive(Default)]
pub struct Sample {
    keep: usize,
    rows: Vec<Box<[u64]>>,
    hashes: FxHashSet<u64>,
    random: Random,
}

/// Sets one bit of a row.
pub fn set_bit(row: &mut [u64], position: u32, value: bool) {
    let (word, bit) = (position as usize / 64, position % 64);
    row[word] = row[word] & !(1 << bit) | u64::from(value) << bit;
}

impl Sample {
    /// Starts a new sample.
    pub fn start(&mut self, keep: usize) {
        self.keep = keep;
        self.rows.clear();
        self.hashes.clear();
    }

    pub fn is_enabled(&self) -> bool {
        self.keep > 0
    }

    pub fn offer(&mut self, row: &[u64]) {
        let mut hasher = rustc_hash::FxHasher::default();
        row.iter().for_each(|&word| hasher.write_u64(word));
        if !self.hashes.insert(hasher.finish()) {
            return;
        }
        if self.rows.len() < self.keep {
            self.rows.push(row.into());
            return;
        }
        let at = self.random.index(self.hashes.len());
        if at < self.keep {
            self.rows[at].copy_from_slice(row);
        }
    }

    pub fn take(&mut self) -> Vec<Box<[u64]>> {
        self.hashes.clear();
        std::mem::take(&mut self.rows)
    }
}
