//! The throttle: gives up on an optional step that costs more than it gains, and tries it again later.
//!
//! The caller counts the cost and the gain of every try in the same unit: effort, or tries and successes. While the
//! recent gains do not cover the costs, tries are skipped, four times as many each time that the tries after it confirm
//! the decision. Only counts decide, so the same history gives the same decisions. The numbers are rows of `tuning.rs`.

use crate::tuning::ThrottleOptions;

/// Mean of recent values.
#[derive(Clone, Default, Debug)]
pub struct Mean {
    count: u64,
    sum: u64,
}

impl Mean {
    /// Adds a value. Old values are halved at times, so that the mean is over about `window` of them.
    pub fn add(&mut self, value: u64, window: u64) {
        self.add_all(1, value, window);
    }

    /// Adds several values by their sum.
    pub fn add_all(&mut self, count: u64, sum: u64, window: u64) {
        if self.count >= window {
            (self.count, self.sum) = (self.count / 2, self.sum / 2);
        }
        self.count += count;
        self.sum += sum;
    }

    /// The mean; `None` before the first value.
    pub fn get(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }

    /// Number of values, old ones halved.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[derive(Clone, Debug)]
pub struct Throttle {
    options: ThrottleOptions,
    /// Recent tries, with their costs and gains. They are halved at times, so that old tries count less.
    tries: u64,
    cost: u64,
    gain: u64,
    /// Tries still to skip, and the number skipped by the last decision.
    to_skip: u64,
    skip: u64,
    skipped: u64,
}

/// By tries, with the default numbers.
impl Default for Throttle {
    fn default() -> Throttle {
        Throttle::by_tries(&ThrottleOptions::default())
    }
}

impl Throttle {
    /// Costs and gains are effort.
    pub fn by_effort(options: &ThrottleOptions) -> Throttle {
        let options = options.clone();
        Throttle { options, tries: 0, cost: 0, gain: 0, to_skip: 0, skip: 0, skipped: 0 }
    }

    /// Costs and gains are numbers of tries: one success pays for as many tries as its gain.
    pub fn by_tries(options: &ThrottleOptions) -> Throttle {
        let first_skip = options.short_skip;
        Throttle::by_effort(&ThrottleOptions {
            first_skip,
            cheap: 0,
            early_cost: u64::MAX,
            ..options.clone()
        })
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
        let options = &self.options;
        if self.tries >= options.window {
            (self.tries, self.cost, self.gain) = (self.tries / 2, self.cost / 2, self.gain / 2);
        }
        self.tries += 1;
        self.cost += cost;
        self.gain = self.gain.saturating_add(gain);
        let is_early = self.tries >= options.early_tries && self.cost >= options.early_cost;
        if self.tries < options.min_tries && !is_early {
            return;
        }
        if self.gain >= self.cost || self.cost <= options.cheap * self.tries {
            self.skip = 0;
        } else {
            let first = options.first_skip;
            self.skip = (self.skip * options.factor).clamp(first, first * options.max_factor);
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

    fn by_effort() -> Throttle {
        Throttle::by_effort(&ThrottleOptions::default())
    }

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
        assert!(skipped(by_effort(), |_| (500_000, 0)) > 900);
        assert!(skipped(by_effort(), |_| (500_000, 400_000)) > 900);
        assert_eq!(skipped(by_effort(), |_| (500_000, 500_000)), 0);
        assert_eq!(skipped(by_effort(), |_| (1_500, 0)), 0, "cheap");
        assert_eq!(skipped(Throttle::default(), |number| (1, if number % 2 == 0 { 3 } else { 0 })), 0);
        assert!(skipped(Throttle::default(), |number| (1, if number % 4 == 0 { 3 } else { 0 })) > 700);
    }

    #[test]
    fn a_few_expensive_tries_among_cheap_ones_are_no_reason() {
        let cost = |number| if number % 100 >= 95 { 100_000 } else { 2_000 };
        assert_eq!(skipped(by_effort(), |number| (cost(number), 20_000)), 0);
    }

    #[test]
    fn skipped_steps_are_tried_again_and_a_gain_resumes_them() {
        let mut throttle = Throttle::default();
        let ThrottleOptions { min_tries, short_skip, .. } = ThrottleOptions::default();
        (0..min_tries).for_each(|_| throttle.note(1, 0));
        assert_eq!((0..1000).take_while(|_| throttle.skips()).count() as u64, short_skip);
        (0..min_tries).for_each(|_| throttle.note(1, 0));
        assert!(throttle.skips());
        throttle.credit(min_tries);
        assert!(!throttle.skips());
    }
}
