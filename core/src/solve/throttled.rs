//! The throttle as a decorator: skips a layer whose effort is greater than what it saves below.
//!
//! Answers: nothing by itself; a query goes to the layer, or to the layers below it.
//! Why sound: it only chooses which layers are asked. It skips only above a complete layer, so every query is answered.
//! When it helps: programs whose queries are too hard for a layer, or cheap for the layers below.
//! Cost: a few counters per query. A skipped query gets a small budget first; if that does not suffice, the layer is
//! asked after all.
//! Source: our own.

use super::{Layer, Rest};
use crate::budget::Why;
use crate::expr::Expr;
use crate::query::{Alive, Answer, Query};
use crate::throttle::{Mean, Throttle};
use crate::tuning::ThrottleOptions;

/// A layer and its throttle.
pub struct Throttled {
    layer: Box<dyn Layer>,
    options: ThrottleOptions,
    throttle: Throttle,
    /// Effort of queries with the layer; effort below of those that it passed on; effort of skipped queries.
    with: Mean,
    below: Mean,
    without: Mean,
    /// Number of answers of the layer while it was unknown what they save.
    unvalued: u64,
    /// Path and condition of the last query that the small budget did not suffice for: it is not skipped again.
    open: Option<(u32, Expr)>,
}

impl Throttled {
    pub fn new(layer: Box<dyn Layer>, options: &ThrottleOptions) -> Throttled {
        Throttled {
            layer,
            throttle: Throttle::by_effort(options),
            options: options.clone(),
            with: Mean::default(),
            below: Mean::default(),
            without: Mean::default(),
            unvalued: 0,
            open: None,
        }
    }

    /// Asks only the layers below. `None` if a small budget does not suffice for the query.
    fn skip(&mut self, query: &Query, rest: &mut Rest<'_>) -> Option<Answer> {
        // A layer above may have set the small budget; then it makes the query again with a larger one.
        let is_small = rest.effort_left() <= self.options.brief;
        let reply = rest.check_within(query, self.options.brief);
        if let Answer::Unknown(why) = &reply.answer
            && !matches!(why, Why::Deadline | Why::Cancelled | Why::WrongModel { .. })
        {
            self.open = Some((query.path.id(), query.condition));
            return is_small.then_some(reply.answer);
        }
        self.without.add(reply.effort, self.options.recent);
        if self.without.count() >= self.options.min_skipped && self.without.get() > self.with.get() {
            self.throttle.resume();
            self.without = Mean::default();
        }
        Some(reply.answer)
    }
}

impl Layer for Throttled {
    fn name(&self) -> &str {
        self.layer.name()
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if !rest.is_complete() {
            return self.layer.check(query, rest);
        }
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
        self.with.add(effort, self.options.recent);
        let is_answer = !rest.below.is_asked;
        if !is_answer {
            self.below.add(below, self.options.recent);
        }
        match (self.below.get().or_else(|| rest.solve_estimate()), is_answer) {
            (Some(mean), _) => {
                let saved = mean * self.options.tolerance / 100;
                // Only now is it known what the first answers have saved.
                self.throttle.credit(saved * std::mem::take(&mut self.unvalued));
                self.throttle.note(own, if is_answer { saved } else { 0 });
            }
            // Without any estimate the layer is taken to pay.
            (None, _) => {
                self.unvalued += 1;
                self.throttle.note(own, own);
            }
        }
        answer
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

    fn is_complete(&self) -> bool {
        self.layer.is_complete()
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let mut all = self.layer.counters();
        all.push(("skipped".to_string(), self.throttle.skipped() as f64));
        all
    }
}
