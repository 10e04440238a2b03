//! The layer `store`: answers that outlive the run, in a file that runs share.
//!
//! Answers: questions that an earlier run had solved, up to the names of variables, the places of array elements and
//! the order of constraints.
//! Why sound: the whole question is compared, in a form that says everything about it (`canonical.rs`), with a row
//! whose checksum is right. A model is evaluated before it is given out; of the unsat answers a sample is solved
//! again, and one mismatch ends all trust in the file.
//! When it helps: a program explored again, after a change or with other options.
//! Cost: a sum over the constraints where no question in the file has the same shape. Canonical forms, which are about
//! as long as the question, are made only where solving takes many times longer. Writing is another thread's work.
//! Source: Green, for canonical questions in a store.

mod answer;
mod bytes;
mod canonical;
mod file;
mod journal;
mod question;
mod shape;
mod shelf;
#[cfg(test)]
mod tests;
mod writer;

pub use answer::Verdict;
pub use file::{Contents, File, Row};
pub use question::script;

use super::spec::{Item, SpecError};
use super::{Layer, Rest};
use crate::expr::{Expr, Graph};
use crate::query::{Alive, Answer, Query};
use canonical::{Canonical, canonical};
use file::{Change, Found};
use shape::Shapes;
use shelf::Shelf;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::time::Duration;

/// The file is kept below this size, unless told otherwise.
const DEFAULT_MB: u64 = 256;
/// Answers that took less are not worth keeping: finding one again takes a tenth of that.
const LEAST: Duration = Duration::from_micros(300);
/// What a node of a canonical form costs in nanoseconds, hashing and comparing included.
const NODE_NS: f64 = 150.0;
/// What reading a row costs.
const READ_NS: f64 = 20_000.0;
/// The share of the time spent solving that may go into keeping answers, and what may be spent before there is any.
const SHARE: f64 = 0.015;
const CREDIT_NS: f64 = 1e6;
/// No canonical form costs a larger share of its own question's time.
const LARGEST_SHARE: f64 = 0.2;
/// No canonical form has more nodes.
const MAX_NODES: f64 = 50_000.0;
/// Look-ups that find nothing are given up after this many, and so many times as often as others found something.
const MISSES: u64 = 64;
const MISSES_A_HIT: u64 = 4;
/// One unsat answer of so many is solved again, unless told otherwise.
const SAMPLE: u64 = 64;

pub struct Store {
    shelf: Option<Shelf>,
    shapes: Shapes,
    /// Keep and look up everything, whatever it costs: for tests.
    eager: bool,
    sample: u64,
    /// Which answers are solved again differs between runs, so that each is at some time.
    dice: RandomState,
    /// Time spent solving, and on keeping answers, in nanoseconds.
    solving: f64,
    keeping: f64,
    counts: Counts,
    notice: Option<String>,
}

#[derive(Default)]
struct Counts {
    hits: u64,
    misses: u64,
    written: u64,
    resolved: u64,
    damaged: u64,
    wrong: u64,
}

/// What became of looking a question up.
enum Looked {
    Found(Box<Row>, Canonical),
    /// With the canonical form, if it was made.
    Missing(Option<Canonical>),
}

impl Store {
    /// From `store(path=FILE,mb=N,sample=N,eager=on|off)`. A file that cannot be used is no error: then everything is
    /// passed on, and `notice` says why.
    pub fn from_item(item: &Item) -> Result<Store, SpecError> {
        let (mut path, mut mb, mut sample, mut eager) = (None, DEFAULT_MB, SAMPLE, false);
        for (key, value) in &item.options {
            let number = value.parse::<u64>().ok().filter(|n| (1..=1_000_000).contains(n));
            match (key.as_str(), value.as_str(), number) {
                ("path", value, _) => path = Some(PathBuf::from(value)),
                ("mb", _, Some(number)) => mb = number,
                ("sample", _, Some(number)) => sample = number,
                ("eager", "on", _) => eager = true,
                ("eager", "off", _) => eager = false,
                (key, value, _) => {
                    return Err(SpecError(format!(
                        "expected path=FILE, mb=N, sample=N (from 1 to 1000000) or eager=on|off in \
                         `store(...)`, found `{key}={value}`"
                    )));
                }
            }
        }
        let Some(path) = path.filter(|_| item.variant.is_none()) else {
            return Err(SpecError(format!("expected `store(path=FILE)`, found `{item}`")));
        };
        let mut store = Store {
            shelf: None,
            shapes: Shapes::default(),
            eager,
            sample,
            dice: RandomState::new(),
            solving: 0.0,
            keeping: 0.0,
            counts: Counts::default(),
            notice: None,
        };
        match Shelf::open(path, mb << 20) {
            Ok(shelf) => store.shelf = Some(shelf),
            Err(words) => store.give_up(words),
        }
        Ok(store)
    }

    /// Goes on without the file.
    fn give_up(&mut self, words: String) {
        self.notice = Some(format!("{words}; going on without it"));
        self.shelf = None;
        self.shapes.forget();
    }

    /// Looks for this very question. An error means that the file cannot be read.
    fn look_up(&mut self, graph: &Graph, all: &[Expr]) -> Result<Looked, String> {
        let missing = Ok(Looked::Missing(None));
        let Some(shelf) = self.shelf.as_mut().filter(|shelf| !shelf.is_empty()) else { return missing };
        let shape = self.shapes.of_all(graph, all);
        let Some(cost_us) = shelf.cost_us(shape) else { return missing };
        let limit = if self.eager {
            MAX_NODES
        } else if self.counts.misses > MISSES + MISSES_A_HIT * self.counts.hits {
            return missing;
        } else {
            (f64::from(cost_us) * 1e3 * LARGEST_SHARE - READ_NS) / NODE_NS
        };
        let (Some(form), Some(file)) = (canonical(graph, &mut self.shapes, all, nodes(limit)), shelf.file())
        else {
            self.counts.misses += 1;
            return missing;
        };
        match file.find(shape, &form.key)? {
            Found::Row(row) if row.question == form.bytes => return Ok(Looked::Found(Box::new(row), form)),
            Found::Row(_) | Found::Nothing => {}
            Found::Damaged => {
                self.counts.damaged += 1;
                shelf.put(Change::Remove(shape, form.key));
            }
        }
        self.counts.misses += 1;
        Ok(Looked::Missing(Some(form)))
    }

    /// The answer of a row, made sure of; `None` if it is wrong.
    fn confirm(&mut self, row: &Row, form: &Canonical, query: &Query, rest: &mut Rest<'_>) -> Option<Answer> {
        let path = query.constraints(rest.tree);
        let answer = answer::decode(rest.graph, form, &path, row.verdict, &row.answer)?;
        match &answer {
            Answer::Sat(model) => rest.satisfies(query, model).is_ok().then_some(answer),
            Answer::Unsat(_) if self.dice.hash_one(row.key).is_multiple_of(self.sample) => {
                self.counts.resolved += 1;
                match rest.check(query) {
                    Answer::Sat(_) => None,
                    Answer::Unsat(core) => Some(Answer::Unsat(core)),
                    // There was no time to make sure.
                    Answer::Unknown(_) => Some(answer),
                }
            }
            Answer::Unsat(_) => Some(answer),
            Answer::Unknown(_) => None,
        }
    }

    /// Keeps an answer that took so long, if it is worth it.
    fn keep(
        &mut self,
        graph: &Graph,
        all: &[Expr],
        form: Option<Canonical>,
        condition: Expr,
        answer: &Answer,
        took: Duration,
    ) {
        let took_ns = took.as_nanos() as f64;
        self.solving += took_ns;
        let left = CREDIT_NS + self.solving * SHARE - self.keeping;
        if matches!(answer, Answer::Unknown(_)) || (!self.eager && took < LEAST) {
            return;
        }
        let limit = if self.eager { MAX_NODES } else { left.min(took_ns * LARGEST_SHARE) / NODE_NS };
        let Some(form) = form.or_else(|| canonical(graph, &mut self.shapes, all, nodes(limit))) else {
            self.keeping += limit.max(0.0) * NODE_NS;
            return;
        };
        self.keeping += form.nodes as f64 * NODE_NS;
        let Some((verdict, answer)) = answer::encode(graph, &form, condition, answer) else { return };
        let shape = self.shapes.of_all(graph, all);
        let cost_us = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        let row = Row { shape, key: form.key, question: form.bytes, verdict, answer, cost_us, used: 0 };
        let Some(shelf) = &mut self.shelf else { return };
        self.counts.written += u64::from(shelf.put(Change::Insert(row)));
    }
}

fn nodes(limit: f64) -> usize {
    limit.clamp(0.0, MAX_NODES) as usize
}

impl Layer for Store {
    fn name(&self) -> &str {
        "store"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if self.shelf.is_none() {
            return rest.check(query);
        }
        let mut all = query.constraints(rest.tree).to_vec();
        if !rest.graph.is_true(query.condition) {
            all.push(query.condition);
        }
        let form = match self.look_up(rest.graph, &all) {
            Ok(Looked::Missing(form)) => form,
            Ok(Looked::Found(row, form)) => {
                rest.charge(READ_NS as u64);
                if let Some(answer) = self.confirm(&row, &form, query, rest) {
                    self.counts.hits += 1;
                    if let Some(shelf) = self.shelf.as_mut().filter(|_| row.is_stale()) {
                        shelf.put(Change::Used(row.shape, row.key));
                    }
                    return answer;
                }
                self.counts.wrong += 1;
                if let Some(shelf) = &mut self.shelf {
                    shelf.put(Change::Remove(row.shape, row.key));
                    let words = format!("the store {} has a wrong answer", shelf.path().display());
                    self.give_up(words);
                }
                return rest.check(query);
            }
            Err(words) => {
                self.give_up(words);
                return rest.check(query);
            }
        };
        let before = rest.below;
        let answer = rest.check(query);
        self.keep(rest.graph, &all, form, query.condition, &answer, rest.below - before);
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.shapes.sweep(alive.exprs);
    }

    /// Nothing hangs on path nodes here.
    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.shapes.forget();
    }

    fn flush(&mut self) {
        if let Some(shelf) = &self.shelf {
            shelf.flush();
        }
    }

    fn notice(&mut self) -> Option<String> {
        let trouble = self.shelf.as_ref().and_then(Shelf::take_trouble);
        trouble.map(|words| format!("{words}; going on without writing it")).or_else(|| self.notice.take())
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counts = &self.counts;
        [
            ("hits", counts.hits),
            ("misses", counts.misses),
            ("written", counts.written),
            ("resolved", counts.resolved),
            ("damaged", counts.damaged),
            ("wrong", counts.wrong),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
