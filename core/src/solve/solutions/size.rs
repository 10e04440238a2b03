//! How many solutions are worth their cost: a number that doubles while its second half pays, and halves while it does
//! not. Where it has come down to none, a few are tried now and then.
//!
//! What the second half costs (values computed) and gains (answers saved, times what an answer costs) is reckoned in
//! nanoseconds from counts, not from a clock: the same history gives the same sizes.

/// About how long one value takes.
pub(super) const VALUE_NS: u64 = 10;
/// After so much cost of the second half a new size is chosen.
const PERIOD_NS: u64 = 500_000;
/// One in so many times a few are tried where none pay.
const SECOND_CHANCE: u64 = 64;
const FEW: usize = 4;

pub(super) struct Size {
    now: usize,
    idle: u64,
    /// What `take_together` has not given yet.
    saved: usize,
    least: usize,
    most: usize,
    cost: u64,
    gain: u64,
}

impl Size {
    pub(super) fn adaptive(start: usize, least: usize, most: usize) -> Size {
        Size { now: start, idle: 0, saved: 0, least, most, cost: 0, gain: 0 }
    }

    pub(super) fn fixed(size: usize) -> Size {
        Size::adaptive(size, size, size)
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.least == self.most
    }

    pub(super) fn now(&self) -> usize {
        self.now
    }

    /// How many to take this time.
    pub(super) fn take(&mut self) -> usize {
        if self.now == 0 && self.most > 0 {
            self.idle += 1;
            return if self.idle.is_multiple_of(SECOND_CHANCE) { FEW } else { 0 };
        }
        self.now
    }

    /// The same, but rarely and then so many where it would be few: together they are cheaper.
    pub(super) fn take_together(&mut self, many: usize) -> usize {
        let now = self.take();
        if now == 0 || now >= many || self.is_fixed() {
            return now;
        }
        self.saved += now;
        if self.saved < many {
            return 0;
        }
        self.saved -= many;
        many
    }

    /// Does the one with this number belong to the second half?
    pub(super) fn is_late(&self, number: usize) -> bool {
        number >= self.now / 2
    }

    /// A solution of the second half has saved this much.
    pub(super) fn credit(&mut self, gain: u64) {
        self.gain += gain;
    }

    /// So many values were computed for `late` of `all` solutions, the late ones being of the second half.
    pub(super) fn charge(&mut self, values: u64, late: usize, all: usize) {
        self.cost += values * VALUE_NS * late as u64 / all.max(1) as u64;
        if self.cost >= PERIOD_NS {
            self.now = if self.gain >= self.cost { (self.now * 2).max(FEW) } else { self.now / 2 };
            self.now = self.now.clamp(self.least, self.most);
            (self.cost, self.gain) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_while_it_pays_and_shrinks_while_it_does_not() {
        let mut size = Size::adaptive(50, 4, 200);
        for _ in 0..20 {
            size.credit(2 * PERIOD_NS);
            size.charge(PERIOD_NS / VALUE_NS, 1, 1);
        }
        assert_eq!(size.now(), 200);
        for _ in 0..20 {
            size.charge(PERIOD_NS / VALUE_NS, 1, 1);
        }
        assert_eq!(size.now(), 4);
        let mut size = Size::adaptive(50, 0, 200);
        for _ in 0..20 {
            size.charge(PERIOD_NS / VALUE_NS, 1, 1);
        }
        assert_eq!((0..SECOND_CHANCE).map(|_| size.take()).sum::<usize>(), FEW);
        size.credit(PERIOD_NS);
        size.charge(PERIOD_NS / VALUE_NS, 1, 1);
        assert_eq!(size.take(), FEW);
        let mut size = Size::adaptive(8, 0, 200);
        assert_eq!((0..8).map(|_| size.take_together(32)).collect::<Vec<_>>(), [0, 0, 0, 32, 0, 0, 0, 32]);
        let mut size = Size::fixed(8);
        assert_eq!(size.take_together(32), 8);
        let mut size = Size::fixed(50);
        size.charge(PERIOD_NS, 1, 1);
        assert_eq!(size.now(), 50);
    }
}
