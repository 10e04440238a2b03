//! The layer `store`: answers kept between runs, in a file that runs share or on a server that machines share.
//!
//! Answers: queries that an earlier run has solved, up to names of variables, indices of array elements and the order
//! of constraints.
//! Why sound: the canonical form (`canonical.rs`) describes a query completely, and the whole form is compared with a
//! row whose checksum is right. A model is evaluated before it is returned; a sample of the unsat answers, and every one
//! that anyone may have written, is solved again, and after one mismatch the store is not used any more.
//! When it helps: a program explored again, after a change or with other options.
//! Cost: a sum over the constraints if no query in the file has the same shape. Canonical forms, which are about as long
//! as the query, are computed only if solving takes many times longer. Another thread writes.
//! Source: Green, for canonical queries in a store.

mod answer;
mod backend;
mod canonical;
mod decode;
mod exchange;
mod file;
mod index;
mod journal;
mod open_store;
mod row;
mod shape;
mod shared;
#[cfg(test)]
mod tests;
mod writer;

pub use answer::Verdict;
pub(super) use backend::Change;
pub use decode::script;
pub use exchange::{Batch, Exchange};
pub use file::{Contents, File};
pub use row::Row;

use super::{Layer, Rest};
use crate::cost;
use crate::expr::{Expr, Graph};
use crate::query::{Alive, Answer, Query};
use crate::throttle::Throttle;
use crate::tuning::{StoreOptions, ThrottleOptions};
use backend::{Backend, Found, Put};
pub(super) use canonical::{Canonical, canonical, semantics, sort_of};
use open_store::OpenStore;
pub(super) use shape::Shapes;
use shared::Shared;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Limit on the nodes of a canonical form.
const MAX_NODES: u64 = 50_000;

pub struct Store {
    open: Option<Box<dyn Backend>>,
    shapes: Shapes,
    options: StoreOptions,
    /// Chooses the unsat answers to solve again; differs between runs, so that over time each is chosen.
    sampler: RandomState,
    look_ups: Throttle,
    /// Keeping answers: costs the canonical form, gains a share of the effort of solves.
    keeping: Throttle,
    counts: Counts,
    notice: Option<String>,
}

#[derive(Default)]
struct Counts {
    hits: u64,
    misses: u64,
    written: u64,
    /// Answers that were not accepted: too many were pending, or writing has failed.
    dropped: u64,
    /// Answers dropped because too many were pending, and not reported yet.
    overflow: u64,
    resolved: u64,
    damaged: u64,
    wrong: u64,
}

/// Result of a look-up.
enum LookUp {
    Found(Box<Row>, Canonical),
    /// The row must be proved again.
    Unproved(Box<Row>, Canonical),
    /// With the canonical form, if it was computed.
    Missing(Option<Canonical>),
}

impl Store {
    /// A store in a file. One that cannot be used is no error: then every query is passed on, and `notice` gives the reason.
    pub fn new(options: StoreOptions, throttle: &ThrottleOptions) -> Store {
        let (path, bytes) = (options.path.clone().unwrap_or_default(), options.mb << 20);
        match OpenStore::open(path, bytes) {
            Ok(open) => Store::with(Some(Box::new(open)), options, throttle),
            Err(message) => {
                let mut store = Store::with(None, options, throttle);
                store.give_up(message);
                store
            }
        }
    }

    /// A store on a server.
    pub fn shared(exchange: Arc<Exchange>, options: StoreOptions, throttle: &ThrottleOptions) -> Store {
        Store::with(Some(Box::new(Shared::new(exchange, &options))), options, throttle)
    }

    fn with(open: Option<Box<dyn Backend>>, options: StoreOptions, throttle: &ThrottleOptions) -> Store {
        Store {
            open,
            shapes: Shapes::default(),
            options,
            sampler: RandomState::new(),
            look_ups: Throttle::by_tries(throttle),
            keeping: Throttle::by_effort(throttle),
            counts: Counts::default(),
            notice: None,
        }
    }

    /// Limit on the nodes of the canonical form of a query that takes this effort.
    fn max_nodes(&self, effort: u64) -> u64 {
        if self.options.eager {
            return MAX_NODES;
        }
        (effort.saturating_mul(self.options.form_share) / 100 / cost::CANONICAL_NODE).min(MAX_NODES)
    }

    /// Continues without the store.
    fn give_up(&mut self, message: String) {
        self.notice = Some(format!("{message}; going on without it"));
        self.open = None;
        self.shapes.forget();
    }

    /// Looks the query up. Errors: the file cannot be read.
    fn look_up(&mut self, graph: &Graph, all: &[Expr]) -> Result<LookUp, String> {
        let missing = Ok(LookUp::Missing(None));
        let Some(open) = self.open.as_mut().filter(|open| !open.is_empty()) else { return missing };
        let shape = self.shapes.of_all(graph, all);
        let Some(cost_us) = open.cost_us(shape) else { return missing };
        if !self.options.eager && self.look_ups.skips() {
            return missing;
        }
        let effort = u64::from(cost_us) * 1000;
        let limit = self.max_nodes(effort.saturating_sub(cost::STORE_READ));
        let Some(form) = canonical(graph, &mut self.shapes, all, limit as usize) else {
            self.note_miss();
            return missing;
        };
        let Some(open) = self.open.as_mut() else { return missing };
        match open.find(shape, &form.key)? {
            Found::Row(row) if row.query == form.bytes => return Ok(LookUp::Found(Box::new(row), form)),
            Found::Unproved(row) if row.query == form.bytes => {
                self.note_miss();
                return Ok(LookUp::Unproved(Box::new(row), form));
            }
            Found::Row(_) | Found::Unproved(_) | Found::Nothing => {}
            Found::Damaged => {
                self.counts.damaged += 1;
                open.put(Change::Remove(shape, form.key));
            }
        }
        self.note_miss();
        Ok(LookUp::Missing(Some(form)))
    }

    fn note_miss(&mut self) {
        self.counts.misses += 1;
        self.look_ups.note(1, 0);
    }

    /// The answer of a row after checking it; `None` if it is wrong.
    fn confirm(&mut self, row: &Row, form: &Canonical, query: &Query, rest: &mut Rest<'_>) -> Option<Answer> {
        let path = query.constraints(rest.tree);
        let answer = answer::decode(rest.graph, form, &path, row.verdict, &row.answer)?;
        match &answer {
            Answer::Sat(model) => rest.satisfies(query, model).is_ok().then_some(answer),
            Answer::Unsat(_) if self.sampler.hash_one(row.key).is_multiple_of(self.options.sample) => {
                self.counts.resolved += 1;
                match rest.check(query).answer {
                    Answer::Sat(_) => None,
                    Answer::Unsat(core) => Some(Answer::Unsat(core)),
                    // The budget did not suffice to check it.
                    Answer::Unknown(_) => Some(answer),
                }
            }
            Answer::Unsat(_) => Some(answer),
            Answer::Unknown(_) => None,
        }
    }

    /// Keeps an answer if its effort is worth the cost.
    fn keep(
        &mut self,
        graph: &Graph,
        all: &[Expr],
        form: Option<Canonical>,
        condition: Expr,
        answer: &Answer,
        effort: u64,
    ) {
        self.keeping.credit(effort.saturating_mul(self.options.share) / 1000);
        let is_cheap = effort < self.options.min_effort;
        if matches!(answer, Answer::Unknown(_)) || !self.options.eager && (is_cheap || self.keeping.skips()) {
            return;
        }
        let limit = self.max_nodes(effort);
        let form = form.or_else(|| canonical(graph, &mut self.shapes, all, limit as usize));
        let nodes = form.as_ref().map_or(limit, |form| form.nodes as u64);
        self.keeping.note(nodes * cost::CANONICAL_NODE, 0);
        let Some(form) = form else { return };
        let Some((verdict, answer)) = answer::encode(graph, &form, condition, answer) else { return };
        let shape = self.shapes.of_all(graph, all);
        let cost_us = u32::try_from(effort / 1000).unwrap_or(u32::MAX);
        let row = Row { shape, key: form.key, query: form.bytes, verdict, answer, cost_us, used: 0 };
        let Some(open) = &mut self.open else { return };
        match open.put(Change::Insert(row)) {
            Put::Accepted => self.counts.written += 1,
            Put::Full => {
                self.counts.dropped += 1;
                self.counts.overflow += 1;
            }
            Put::Refused => self.counts.dropped += 1,
        }
    }

    /// Removes a row that is wrong, and the store from this run.
    fn refute(&mut self, row: &Row) {
        self.counts.wrong += 1;
        if let Some(open) = &mut self.open {
            open.put(Change::Remove(row.shape, row.key));
            let message = format!("the store {} has a wrong answer", open.name());
            self.give_up(message);
        }
    }
}

impl Layer for Store {
    fn name(&self) -> &str {
        "store"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if self.open.is_none() {
            return rest.check(query).answer;
        }
        let mut all = query.constraints(rest.tree).to_vec();
        if !rest.graph.is_true(query.condition) {
            all.push(query.condition);
        }
        let (form, doubted) = match self.look_up(rest.graph, &all) {
            Ok(LookUp::Missing(form)) => (form, None),
            Ok(LookUp::Unproved(row, form)) => (Some(form), Some(row)),
            Ok(LookUp::Found(row, form)) => {
                rest.spend(cost::STORE_READ);
                if let Some(answer) = self.confirm(&row, &form, query, rest) {
                    self.counts.hits += 1;
                    self.look_ups.note(1, self.options.tries);
                    if let Some(open) = self.open.as_mut().filter(|_| row.is_stale()) {
                        open.put(Change::Used(row.shape, row.key));
                    }
                    return answer;
                }
                self.refute(&row);
                return rest.check(query).answer;
            }
            Err(message) => {
                self.give_up(message);
                return rest.check(query).answer;
            }
        };
        let reply = rest.check(query);
        if let Some(row) = doubted {
            self.counts.resolved += 1;
            if matches!(reply.answer, Answer::Sat(_)) {
                self.refute(&row);
            }
        }
        self.keep(rest.graph, &all, form, query.condition, &reply.answer, reply.effort);
        reply.answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.shapes.sweep(alive.exprs);
    }

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.shapes.forget();
    }

    fn flush(&mut self) {
        if let Some(open) = &self.open {
            open.flush();
        }
    }

    fn notice(&mut self) -> Option<String> {
        let error = self.open.as_ref().and_then(|open| open.take_error()).or_else(|| self.notice.take());
        if error.is_some() || self.counts.overflow == 0 {
            return error;
        }
        let count = std::mem::take(&mut self.counts.overflow);
        let name = self.open.as_ref().map_or_else(String::new, |open| format!(" {}", open.name()));
        Some(format!("answers not kept: {count}, because the store{name} writes more slowly than they came"))
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counts = &self.counts;
        let own = [
            ("hits", counts.hits),
            ("misses", counts.misses),
            ("written", counts.written),
            ("dropped", counts.dropped),
            ("resolved", counts.resolved),
            ("damaged", counts.damaged),
            ("wrong", counts.wrong),
        ];
        let more = self.open.as_ref().map_or_else(Vec::new, |open| open.counters());
        own.into_iter().chain(more).map(|(name, count)| (name.to_string(), count as f64)).collect()
    }
}
