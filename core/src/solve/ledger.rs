//! Is a layer worth asking? What questions cost with it is held against what they cost without.
//!
//! Costs are reckoned from counts of what was done (values computed, nodes folded, literals propagated), never from a
//! clock: the same history asks the same layers. A layer that is dear, and whose open questions are answered below for
//! less, is passed by for some questions, then asked again for a few; as long as that decision stands it holds longer
//! each time. A question that passes a layer by and proves hard is asked of it after all (`Rest::check`), so that the
//! next one may be as hard as it likes. Verdicts do not depend on it: what a layer leaves, those below it answer.

/// Below this, on average, a layer is asked in any case.
const CHEAP_NS: u64 = 5_000;
/// By one part in so many questions may cost more with a layer than without, as costs are only reckoned.
const DOUBT: u64 = 4;
/// Questions to judge by: fewer if they have cost much, and never more.
const FEW: u64 = 3;
const MANY: u64 = 16;
const MUCH_NS: u64 = 100_000;
/// Means are those of about so many questions.
const REMEMBERED: u64 = 64;
/// For so many questions a decision holds, at first and at most; so many times as long each time that it is confirmed.
const FIRST_HOLD: u32 = 256;
const LAST_HOLD: u32 = 16_384;
const LONGER: u32 = 4;

/// Costs of some questions.
#[derive(Clone, Copy, Default, Debug)]
struct Sum {
    questions: u64,
    ns: u64,
    /// The last ones.
    recent: [u64; FEW as usize],
}

impl Sum {
    fn add(&mut self, ns: u64) {
        if self.questions >= REMEMBERED {
            (self.questions, self.ns) = (self.questions / 2, self.ns / 2);
        }
        self.questions += 1;
        self.ns += ns;
        self.recent.rotate_right(1);
        self.recent[0] = ns;
    }

    fn is_telling(&self) -> bool {
        self.questions >= MANY || (self.questions >= FEW && self.ns >= MUCH_NS)
    }

    fn mean(&self) -> u64 {
        self.ns / self.questions.max(1)
    }

    /// What the next one will cost, if those that came first were dear because they were the first.
    fn expected(&self) -> u64 {
        let recent = if self.questions > FEW { self.recent.into_iter().max() } else { None };
        recent.map_or(self.mean(), |most| most.min(self.mean()))
    }
}

/// Is a layer not worth what questions cost with it, in view of what they cost without?
fn is_dear(with: u64, without: u64) -> bool {
    with > CHEAP_NS && without + without / DOUBT < with
}

/// The account of one layer.
#[derive(Default, Debug)]
pub struct Ledger {
    /// Questions it was asked, and what those that it left open cost below, since they last passed it by.
    with: Sum,
    open: Sum,
    /// Questions that passed it by, since it was last judged.
    without: Sum,
    /// Questions that are still to pass it by, and so many it was when it was last decided.
    left: u32,
    hold: u32,
    pub passed_by: u64,
}

impl Ledger {
    /// Is the next question to pass the layer by?
    pub fn passes_by(&self) -> bool {
        self.left > 0
    }

    /// A question that passed the layer by has cost this much.
    pub fn note_without(&mut self, ns: u64) {
        self.passed_by += 1;
        self.left = self.left.saturating_sub(1);
        self.without.add(ns);
        if self.without.is_telling() {
            // Worse than expected: back to it at once.
            if !is_dear(self.with.mean(), self.without.mean()) {
                (self.left, self.hold) = (0, 0);
            }
            self.without = Sum::default();
        }
        if self.left == 0 {
            (self.with, self.open) = (Sum::default(), Sum::default());
        }
    }

    /// A question that the layer was asked has cost this much, and if it was left open, so much of it below. A solve
    /// takes about `solving`, if there was any.
    pub fn note_with(&mut self, ns: u64, below: Option<u64>, solving: Option<u64>) {
        self.with.add(ns);
        if let Some(below) = below {
            self.open.add(below);
        }
        if !self.with.is_telling() {
            return;
        }
        let without = if self.open.questions > 0 { Some(self.open.expected()) } else { solving };
        if without.is_some_and(|without| is_dear(self.with.expected(), without)) {
            self.hold = (self.hold * LONGER).clamp(FIRST_HOLD, LAST_HOLD);
            self.left = self.hold;
            self.without = Sum::default();
        } else {
            self.hold = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions of a thousand that pass a layer by.
    fn passing(own: u64, answers: bool, below: u64) -> u64 {
        let mut ledger = Ledger::default();
        for i in 0..1000 {
            if ledger.passes_by() {
                ledger.note_without(below);
            } else if answers && i % 4 != 0 {
                ledger.note_with(own, None, None);
            } else {
                ledger.note_with(own + below, Some(below), None);
            }
        }
        ledger.passed_by
    }

    #[test]
    fn dear_layers_are_passed_by_and_others_are_not() {
        assert!(passing(500_000, false, 10_000) > 900);
        assert!(passing(500_000, true, 10_000) > 900);
        assert_eq!(passing(500_000, true, 600_000), 0);
        assert_eq!(passing(4_000, false, 500), 0);
        // What it answers is not known to be cheap below.
        let mut ledger = Ledger::default();
        (0..100).for_each(|_| ledger.note_with(500_000, None, None));
        assert!(!ledger.passes_by());
        (0..100).for_each(|_| ledger.note_with(500_000, None, Some(450_000)));
        assert!(!ledger.passes_by());
        (0..2).for_each(|_| ledger.note_with(500_000, None, Some(20_000)));
        assert!(ledger.passes_by());
    }

    #[test]
    fn a_few_dear_questions_among_cheap_ones_are_no_reason() {
        let mut ledger = Ledger::default();
        for i in 0..1000 {
            ledger.note_with(if i % 100 >= 95 { 100_000 } else { 2_000 }, None, Some(20_000));
            assert!(!ledger.passes_by(), "{ledger:?}");
        }
    }

    #[test]
    fn a_layer_is_asked_again_when_the_others_are_dearer_than_expected() {
        let mut ledger = Ledger::default();
        while !ledger.passes_by() {
            ledger.note_with(600_000, Some(10_000), None);
        }
        (1..FEW).for_each(|_| ledger.note_without(10_000_000));
        assert!(ledger.passes_by());
        ledger.note_without(10_000_000);
        assert!(!ledger.passes_by());
    }
}
