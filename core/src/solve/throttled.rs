//! The throttle as a decorator: skips a layer whose effort is greater than what it saves below.
//!
//! Answers: nothing by itself; a query goes to the layer, or to the layers below it.
//! Why sound: it only chooses which layers are asked. It is used above a complete layer, so every query is answered.
//! When it helps: programs whose queries are too hard for a layer, or cheap for the layers below.
//! Cost: a few counters per query. A skipped query gets a small budget first; if that does not suffice, the layer is
//! asked after all.
//! Source: our own.

use super::{Layer, Rest};
use crate::budget::Why;
use crate::expr::{Expr, Model};
use crate::query::{Alive, Answer, Query};
use crate::throttle::Throttle;

/// Effort limit of the layers below for a query that skips the layer.
const BRIEF: u64 = 5_000_000;
/// The layer pays while its effort is at most this part of what it saves, as costs are only estimates.
const TOLERANCE: (u64, u64) = (5, 4);
/// The mean effort below is over about this many queries.
const WINDOW: u64 = 16;
/// Skipped queries before skipping can end because it costs more than expected.
const MIN_SKIPPED: u64 = 3;

/// A sum over recent queries.
#[derive(Default)]
struct Recent {
    queries: u64,
    effort: u64,
}

impl Recent {
    fn add(&mut self, effort: u64) {
        if self.queries >= WINDOW {
            (self.queries, self.effort) = (self.queries / 2, self.effort / 2);
        }
        self.queries += 1;
        self.effort += effort;
    }

    fn mean(&self) -> Option<u64> {
        self.effort.checked_div(self.queries)
    }
}

pub(super) struct Throttled {
    layer: Box<dyn Layer>,
    throttle: Throttle,
    /// Effort of queries with the layer; effort below of those that it passed on; effort of skipped queries.
    with: Recent,
    below: Recent,
    without: Recent,
    /// Path and condition of the last query that the small budget did not suffice for: it is not skipped again.
    open: Option<(u32, Expr)>,
}

impl Throttled {
    pub fn new(layer: Box<dyn Layer>) -> Throttled {
        Throttled {
            layer,
            throttle: Throttle::by_effort(),
            with: Recent::default(),
            below: Recent::default(),
            without: Recent::default(),
            open: None,
        }
    }

    /// Asks only the layers below. `None` if a small budget does not suffice for the query.
    fn skip(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Answer> {
        // A layer above may have set the small budget; then it makes the query again with a larger one.
        let is_small = rest.effort_left() <= BRIEF;
        let reply = rest.check_within(query, BRIEF);
        if let Answer::Unknown(why) = &reply.answer
            && !matches!(why, Why::Deadline | Why::Cancelled | Why::WrongModel { .. })
        {
            self.open = Some((query.path.id(), query.condition));
            return is_small.then_some(reply.answer);
        }
        self.without.add(reply.effort);
        if self.without.queries >= MIN_SKIPPED && self.without.mean() > self.with.mean() {
            self.throttle.resume();
            self.without = Recent::default();
        }
        Some(reply.answer)
    }
}

impl Layer for Throttled {
    fn name(&self) -> &str {
        self.layer.name()
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let is_open = self.open.is_some_and(|open| open == (query.path.id(), query.condition));
        if !is_open
            && self.throttle.skips()
            && let Some(answer) = self.skip(query, rest)
        {
            return answer;
        }
        let (before, below_before) = (rest.effort(), rest.below.effort);
        rest.below.is_asked = false;
        let answer = self.layer.check(query, rest);
        let (effort, below) = (rest.effort() - before, rest.below.effort - below_before);
        let own = effort - below;
        self.with.add(effort);
        let saved = if rest.below.is_asked {
            self.below.add(below);
            0
        } else {
            // Without any estimate the layer is taken to pay.
            self.below.mean().or_else(|| rest.solve_estimate()).unwrap_or(own)
        };
        self.throttle.note(own, saved * TOLERANCE.0 / TOLERANCE.1);
        answer
    }

    fn found(&mut self, query: &Query, model: &Model, rest: &mut Rest<'_>) {
        self.layer.found(query, model, rest);
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.open = None;
        self.layer.sweep(alive);
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        self.open = None;
        self.layer.drop_paths(gone);
    }

    fn forget(&mut self) {
        self.layer.forget();
    }

    fn flush(&mut self) {
        self.layer.flush();
    }

    fn notice(&mut self) -> Option<String> {
        self.layer.notice()
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let mut all = self.layer.counters();
        all.push(("skipped".to_string(), self.throttle.skipped() as f64));
        all
    }
}
