//! The throttle: gives up on an optional step that costs more than it gains, and tries it again later.
//!
//! The caller counts the cost and the gain of every try in the same unit: effort, or tries and successes. While the
//! recent gains do not cover the costs, tries are skipped, four times as many each time that the tries after it confirm
//! the decision. Only counts decide, so the same history gives the same decisions.

/// Tries before the first decision.
const MIN_TRIES: u32 = 16;
/// Sums are halved at this number of tries, so that old tries count less.
const WINDOW: u32 = 64;
/// Number of tries that the first decision skips, the factor when it is confirmed, and the greatest multiple.
const FIRST_SKIP: u32 = 256;
const FIRST_SKIP_OF_TRIES: u32 = 32;
const SKIP_FACTOR: u32 = 4;
const MAX_FACTOR: u32 = 64;
/// Unit `effort`: mean cost up to which a step is always tried, and cost that allows an early decision.
const CHEAP: u64 = 2_000;
const EARLY_COST: u64 = 100_000;
const EARLY_TRIES: u32 = 3;

#[derive(Clone, Debug)]
pub struct Throttle {
    tries: u32,
    cost: u64,
    gain: u64,
    /// Tries still to skip, and the number skipped by the last decision.
    to_skip: u32,
    skip: u32,
    skipped: u64,
    first_skip: u32,
    cheap: u64,
    early_cost: u64,
}

impl Throttle {
    /// Costs and gains are effort.
    pub fn by_effort() -> Throttle {
        Throttle::new(FIRST_SKIP, CHEAP, EARLY_COST)
    }

    /// Costs and gains are numbers of tries: one success pays for as many tries as its gain.
    pub fn by_tries() -> Throttle {
        Throttle::new(FIRST_SKIP_OF_TRIES, 0, u64::MAX)
    }

    fn new(first_skip: u32, cheap: u64, early_cost: u64) -> Throttle {
        Throttle {
            tries: 0,
            cost: 0,
            gain: 0,
            to_skip: 0,
            skip: 0,
            skipped: 0,
            first_skip,
            cheap,
            early_cost,
        }
    }

    /// Is the next try to be skipped? If so, it is counted.
    pub fn skips(&mut self) -> bool {
        if self.to_skip == 0 {
            return false;
        }
        self.to_skip -= 1;
        self.skipped += 1;
        if self.to_skip == 0 {
            self.restart();
        }
        true
    }

    /// Counts a try and decides about the next ones.
    pub fn note(&mut self, cost: u64, gain: u64) {
        if self.tries >= WINDOW {
            (self.tries, self.cost, self.gain) = (self.tries / 2, self.cost / 2, self.gain / 2);
        }
        self.tries += 1;
        self.cost += cost;
        self.gain = self.gain.saturating_add(gain);
        let is_early = self.tries >= EARLY_TRIES && self.cost >= self.early_cost;
        if self.tries < MIN_TRIES && !is_early {
            return;
        }
        if self.gain >= self.cost || self.cost <= self.cheap * u64::from(self.tries) {
            self.skip = 0;
        } else {
            self.skip = (self.skip * SKIP_FACTOR).clamp(self.first_skip, self.first_skip * MAX_FACTOR);
            self.to_skip = self.skip;
        }
    }

    /// Counts a gain of an earlier try.
    pub fn credit(&mut self, gain: u64) {
        self.gain = self.gain.saturating_add(gain);
        if self.to_skip > 0 && self.gain >= self.cost {
            self.resume();
        }
    }

    /// Ends skipping: it costs more than expected.
    pub fn resume(&mut self) {
        (self.to_skip, self.skip) = (0, 0);
        self.restart();
    }

    fn restart(&mut self) {
        (self.tries, self.cost, self.gain) = (0, 0, 0);
    }

    /// Number of tries skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of skipped tries of a thousand.
    fn skipped(mut throttle: Throttle, mut try_it: impl FnMut(u64) -> (u64, u64)) -> u64 {
        for number in 0..1000 {
            if !throttle.skips() {
                let (cost, gain) = try_it(number);
                throttle.note(cost, gain);
            }
        }
        throttle.skipped()
    }

    #[test]
    fn steps_that_do_not_pay_are_skipped() {
        assert!(skipped(Throttle::by_effort(), |_| (500_000, 0)) > 900);
        assert!(skipped(Throttle::by_effort(), |_| (500_000, 400_000)) > 900);
        assert_eq!(skipped(Throttle::by_effort(), |_| (500_000, 500_000)), 0);
        assert_eq!(skipped(Throttle::by_effort(), |_| (1_500, 0)), 0, "cheap");
        assert_eq!(skipped(Throttle::by_tries(), |number| (1, if number % 2 == 0 { 3 } else { 0 })), 0);
        assert!(skipped(Throttle::by_tries(), |number| (1, if number % 4 == 0 { 3 } else { 0 })) > 700);
    }

    #[test]
    fn a_few_expensive_tries_among_cheap_ones_are_no_reason() {
        let cost = |number| if number % 100 >= 95 { 100_000 } else { 2_000 };
        assert_eq!(skipped(Throttle::by_effort(), |number| (cost(number), 20_000)), 0);
    }

    #[test]
    fn skipped_steps_are_tried_again_and_a_gain_resumes_them() {
        let mut throttle = Throttle::by_tries();
        (0..MIN_TRIES).for_each(|_| throttle.note(1, 0));
        assert_eq!((0..1000).take_while(|_| throttle.skips()).count(), FIRST_SKIP_OF_TRIES as usize);
        (0..MIN_TRIES).for_each(|_| throttle.note(1, 0));
        assert!(throttle.skips());
        throttle.credit(u64::from(MIN_TRIES));
        assert!(!throttle.skips());
    }
}
