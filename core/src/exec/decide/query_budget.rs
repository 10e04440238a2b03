//! Effort of queries by program location: where queries stay without an answer, the next ones get less and less.
//!
//! A branch on a hash or on a sum of inputs has no answer within any sensible time, on every path that comes to it. The
//! first query there gets all of `max_solver_time`, in counted effort (estimated nanoseconds, never a clock); each failure
//! divides that of later ones by `DIVISOR`, down to `MIN_EFFORT`; each answer takes back one failure. A query without an
//! answer is counted as cut by the limit `solver`, whatever its budget was.
use crate::program::FuncId;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// Function and instruction.
pub type Location = (FuncId, u32);

/// A failure divides the effort by this.
const DIVISOR: u64 = 4;
/// Least effort of a query: enough for some hundred conflicts of a SAT solver, or all other layers.
const MIN_EFFORT: u64 = 5_000_000;
/// Failures that count.
const MAX_FAILURES: u32 = 16;

#[derive(Default)]
pub struct QueryBudgets {
    /// Failures without an answer since, by location; those without any are absent.
    failures: FxHashMap<Location, u32>,
}

impl QueryBudgets {
    pub fn has_failed(&self, at: Location) -> bool {
        self.failures.contains_key(&at)
    }

    /// Effort of the next query here, if `time` limits one; `None` for no limit.
    pub fn effort(&self, at: Location, time: Option<Duration>) -> Option<u64> {
        let all = u64::try_from(time?.as_nanos()).unwrap_or(u64::MAX);
        let failures = self.failures.get(&at).copied().unwrap_or(0);
        Some((all / DIVISOR.saturating_pow(failures)).max(MIN_EFFORT.min(all)))
    }

    /// A query here had no answer.
    pub fn note_failure(&mut self, at: Location) {
        let failures = self.failures.entry(at).or_default();
        *failures = (*failures + 1).min(MAX_FAILURES);
    }

    /// A query here was answered.
    pub fn note_answer(&mut self, at: Location) {
        if self.failures.is_empty() {
            return;
        }
        if let Some(failures) = self.failures.get_mut(&at) {
            *failures -= 1;
            if *failures == 0 {
                self.failures.remove(&at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_shrink_the_effort_of_their_place_only() {
        let (here, there) = ((FuncId(1), 2), (FuncId(1), 3));
        let second = Some(Duration::from_secs(1));
        let mut budgets = QueryBudgets::default();
        assert_eq!(budgets.effort(here, None), None);
        assert_eq!(budgets.effort(here, second), Some(1_000_000_000));
        budgets.note_failure(here);
        budgets.note_failure(here);
        assert_eq!(budgets.effort(here, second), Some(62_500_000));
        assert_eq!(budgets.effort(there, second), Some(1_000_000_000));
        (0..40).for_each(|_| budgets.note_failure(here));
        assert_eq!(budgets.effort(here, second), Some(MIN_EFFORT));
        assert_eq!(budgets.effort(here, Some(Duration::from_millis(1))), Some(1_000_000));
        (0..16).for_each(|_| budgets.note_answer(here));
        assert!(!budgets.has_failed(here) && budgets.effort(here, second) == Some(1_000_000_000));
    }
}
