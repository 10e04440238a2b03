//! An adaptive number of solutions: it doubles while its second half pays and halves while it does not. At zero, a few
//! are tried now and then.
//!
//! The cost of the second half (values computed) and its gain (answers saved, times the cost of an answer) are estimated
//! in nanoseconds from counts, not from a clock: the same history gives the same sizes.

use crate::cost;

/// A new size is chosen each time the second half has cost this much.
const PERIOD: u64 = 500_000;
/// At size zero, one call in this many tries `PROBE_SIZE` solutions.
const PROBE_INTERVAL: u64 = 64;
const PROBE_SIZE: usize = 4;

pub(super) struct Size {
    current: usize,
    /// Calls of `take` at size zero.
    idle: u64,
    /// Solutions that `take_batch` has held back so far.
    held_back: usize,
    least: usize,
    most: usize,
    cost: u64,
    gain: u64,
}

impl Size {
    pub(super) fn adaptive(start: usize, least: usize, most: usize) -> Size {
        Size { current: start, idle: 0, held_back: 0, least, most, cost: 0, gain: 0 }
    }

    pub(super) fn fixed(size: usize) -> Size {
        Size::adaptive(size, size, size)
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.least == self.most
    }

    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// Number of solutions to take this time.
    pub(super) fn take(&mut self) -> usize {
        if self.current == 0 && self.most > 0 {
            self.idle += 1;
            return if self.idle.is_multiple_of(PROBE_INTERVAL) { PROBE_SIZE } else { 0 };
        }
        self.current
    }

    /// As `take`, but small numbers are collected until there are `batch`: together they are cheaper.
    pub(super) fn take_batch(&mut self, batch: usize) -> usize {
        let size = self.take();
        if size == 0 || size >= batch || self.is_fixed() {
            return size;
        }
        self.held_back += size;
        if self.held_back < batch {
            return 0;
        }
        self.held_back -= batch;
        batch
    }

    /// Whether the solution with this number belongs to the second half.
    pub(super) fn is_late(&self, number: usize) -> bool {
        number >= self.current / 2
    }

    /// Counts a gain of the second half, in nanoseconds.
    pub(super) fn credit(&mut self, gain: u64) {
        self.gain += gain;
    }

    /// Counts values computed for `all` solutions, `late` of which belong to the second half.
    pub(super) fn charge(&mut self, values: u64, late: usize, all: usize) {
        self.cost += values * cost::VALUE * late as u64 / all.max(1) as u64;
        if self.cost >= PERIOD {
            self.current =
                if self.gain >= self.cost { (self.current * 2).max(PROBE_SIZE) } else { self.current / 2 };
            self.current = self.current.clamp(self.least, self.most);
            (self.cost, self.gain) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_doubles_while_it_pays_and_halves_while_it_does_not() {
        let mut size = Size::adaptive(50, 4, 200);
        for _ in 0..20 {
            size.credit(2 * PERIOD);
            size.charge(PERIOD / cost::VALUE, 1, 1);
        }
        assert_eq!(size.current(), 200);
        for _ in 0..20 {
            size.charge(PERIOD / cost::VALUE, 1, 1);
        }
        assert_eq!(size.current(), 4);
        let mut size = Size::adaptive(50, 0, 200);
        for _ in 0..20 {
            size.charge(PERIOD / cost::VALUE, 1, 1);
        }
        assert_eq!((0..PROBE_INTERVAL).map(|_| size.take()).sum::<usize>(), PROBE_SIZE);
        size.credit(PERIOD);
        size.charge(PERIOD / cost::VALUE, 1, 1);
        assert_eq!(size.take(), PROBE_SIZE);
        let mut size = Size::adaptive(8, 0, 200);
        assert_eq!((0..8).map(|_| size.take_batch(32)).collect::<Vec<_>>(), [0, 0, 0, 32, 0, 0, 0, 32]);
        let mut size = Size::fixed(8);
        assert_eq!(size.take_batch(32), 8);
        let mut size = Size::fixed(50);
        size.charge(PERIOD, 1, 1);
        assert_eq!(size.current(), 50);
    }
}
