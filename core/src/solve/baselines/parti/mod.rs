//! The baseline `intervals:paper`: PARTI, as published.
//!
//! Answers: queries whose constraints are each over one read, through the operators of the paper's Table 2, and whose
//! condition is folded by those of its second half. Everything else is passed on, with the reason.
//! Why sound: sets are exact, since each constraint has one read and reads do not overlap, and each operation is (tested
//! exhaustively). A condition that mentions a read twice is folded to a superset: then only one verdict answers. The
//! core of an empty set is all constraints over its read. Models are evaluated.
//! When it helps: a baseline for `intervals`.
//! Cost: learns anew for each query: the whole slice, Table 2 for each operator. There is no limit of the number of
//! intervals: sums multiply it, as in the paper's worst case, until the effort of the budget is spent.
//! Source: PARTI (ASE 2018), sections 3 and 4.1.1; errors of its text (docs/papers.md) are not followed.

mod decide;
mod learn;
mod set;
mod witness;

use crate::budget::Budget;
use crate::cost;
use crate::expr::walk::element_range;
use crate::expr::{Bits, Expr, Graph, Model, Op};
use crate::query::{Alive, Answer, Core, Query};
use crate::solve::{Layer, Rest};
use crate::tuning::PartiOptions;
use learn::Learnt;
use rustc_hash::FxHashMap;
use set::MultiInterval;
use std::collections::BTreeMap;

/// Reason for passing a query on; the counters of the layer have these names.
type Abort = &'static str;
/// Values of reads.
type Values = FxHashMap<Expr, u64>;

/// Work between two looks at the clock.
const WORK_PER_POLL: u64 = 1 << 16;

pub struct Parti {
    options: PartiOptions,
    passed: BTreeMap<Abort, u64>,
    /// Greatest number of intervals of a set so far.
    intervals: u64,
}

/// A variable, or adjacent elements of an array variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Read {
    variable: Expr,
    first: u64,
    count: u64,
}

/// The read that an expression is.
fn read_of(graph: &Graph, e: Expr) -> Result<Option<Read>, Abort> {
    match graph.op(e) {
        Op::Var if !graph.is_array(e) => Ok(Some(Read { variable: e, first: 0, count: 1 })),
        Op::Read => {
            let (variable, first, count) = element_range(graph, e).ok_or("array")?;
            Ok(Some(Read { variable, first, count }))
        }
        _ => Ok(None),
    }
}

/// The condition of `ite(condition, 1, 0)`, which is a zero extension where booleans are words of one bit, as in KLEE.
fn bool_to_word(graph: &Graph, e: Expr) -> Option<Expr> {
    if graph.op(e) != Op::Ite || graph.is_bool(e) {
        return None;
    }
    let is = |i: usize, value: u64| graph.const_word(graph.kid(e, i)) == Some(value);
    (is(1, 1) && is(2, 0)).then(|| graph.kid(e, 0))
}

/// The sets of the reads of a query, and the work it may still do.
struct Reads {
    sets: FxHashMap<Expr, (MultiInterval, Vec<Expr>)>,
    /// First element and number of elements of the reads of each variable.
    ranges: FxHashMap<Expr, BTreeMap<u64, u64>>,
    has_attribute: bool,
    work: u64,
    limit: u64,
    next_poll: u64,
    budget: Budget,
    /// Greatest number of intervals at a read or in a sum.
    intervals: u64,
}

impl Reads {
    fn new(has_attribute: bool, rest: &Rest<'_>) -> Reads {
        let limit = match rest.effort_left() {
            u64::MAX => u64::MAX,
            effort => effort / cost::INTERVAL_PAIR,
        };
        Reads {
            sets: FxHashMap::default(),
            ranges: FxHashMap::default(),
            has_attribute,
            work: 0,
            limit,
            next_poll: WORK_PER_POLL,
            budget: rest.budget.clone(),
            intervals: 0,
        }
    }

    /// Counts intervals that are looked at.
    fn spend(&mut self, intervals: usize) -> Result<(), Abort> {
        self.intervals = self.intervals.max(intervals as u64);
        self.work = self.work.saturating_add(intervals as u64);
        if self.work > self.limit {
            return Err("effort");
        }
        if self.work >= self.next_poll {
            self.next_poll = self.work + WORK_PER_POLL;
            if self.budget.spent().is_some() {
                return Err("effort");
            }
        }
        Ok(())
    }

    /// The set of a read so far. Reads that overlap without being the same are not supported.
    fn set(&mut self, graph: &Graph, e: Expr, read: Read) -> Result<MultiInterval, Abort> {
        if let Some((set, _)) = self.sets.get(&e) {
            return Ok(set.clone());
        }
        let ranges = self.ranges.entry(read.variable).or_default();
        let overlaps = |(first, _): (&u64, &u64)| first - read.first < read.count;
        let below = ranges.range(..read.first).next_back();
        let is_below = below.is_some_and(|(first, count)| read.first - first < *count);
        if is_below || ranges.range(read.first..).next().is_some_and(overlaps) {
            return Err("overlap");
        }
        ranges.insert(read.first, read.count);
        let full = MultiInterval::full(graph.width(e));
        self.sets.insert(e, (full.clone(), Vec::new()));
        Ok(full)
    }

    /// Learns from a constraint. The read, if its set is empty now.
    fn learn(&mut self, graph: &Graph, constraint: Expr) -> Result<Option<Expr>, Abort> {
        let Learnt::Set(e, learnt) = learn::learn(graph, self, constraint)? else { return Ok(None) };
        let read = read_of(graph, e)?.expect("a read");
        let known = self.set(graph, e, read)?;
        self.spend(known.len() + learnt.len())?;
        let set = known.intersect(&learnt);
        let is_empty = set.is_empty();
        let entry = self.sets.get_mut(&e).expect("just added");
        entry.0 = set;
        entry.1.push(constraint);
        Ok(is_empty.then_some(e))
    }

    /// Constraints behind the sets of some reads.
    fn reasons<'a>(&self, reads: impl Iterator<Item = &'a Expr>) -> Vec<Expr> {
        reads
            .filter_map(|read| self.sets.get(read))
            .flat_map(|(_, reasons)| reasons.iter().copied())
            .collect()
    }
}

/// Reads of a condition, and whether one of them occurs twice in its tree.
fn occurrences(graph: &Graph, condition: Expr) -> (Vec<Expr>, bool) {
    let mut order = Vec::new();
    graph.post_order(&[condition], |e| order.push(e));
    let mut paths: FxHashMap<Expr, u32> = FxHashMap::default();
    paths.insert(condition, 1);
    let (mut reads, mut is_twice) = (Vec::new(), false);
    for &e in order.iter().rev() {
        let Some(&count) = paths.get(&e) else { continue };
        if read_of(graph, e).is_ok_and(|read| read.is_some()) {
            reads.push(e);
            is_twice |= count > 1;
            continue;
        }
        for kid in graph.kids(e) {
            let paths = paths.entry(kid).or_default();
            *paths = (*paths + count).min(2);
        }
    }
    (reads, is_twice)
}

impl Parti {
    pub fn new(options: PartiOptions) -> Parti {
        Parti { options, passed: BTreeMap::new(), intervals: 0 }
    }

    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, Abort> {
        let mut reads = Reads::new(self.options.shift, rest);
        let answer = self.answer(query, rest, &mut reads);
        rest.spend(reads.work.min(reads.limit) * cost::INTERVAL_PAIR);
        self.intervals = self.intervals.max(reads.intervals);
        answer
    }

    fn answer(&mut self, query: &Query, rest: &mut Rest<'_>, reads: &mut Reads) -> Result<Answer, Abort> {
        let mut empty = None;
        for &constraint in query.constraints(rest.tree).iter() {
            empty = reads.learn(rest.graph, constraint)?.or(empty);
        }
        if let Some(read) = empty {
            let constraints = reads.reasons([read].iter()).into_iter().collect();
            return Ok(Answer::Unsat(Core { constraints, condition: false }));
        }
        let folds = decide::fold_all(rest.graph, reads, query.condition)?;
        let truth = &folds[&query.condition].set;
        let (mentioned, is_twice) = occurrences(rest.graph, query.condition);
        if !truth.contains(1) {
            let constraints = reads.reasons(mentioned.iter()).into_iter().collect();
            return Ok(Answer::Unsat(Core { constraints, condition: true }));
        }
        let chosen = if truth.contains(0) {
            if is_twice {
                return Err("twice");
            }
            witness::witness(rest.graph, &folds, query.condition).ok_or("model")?
        } else {
            Values::default()
        };
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let mut model = rest.tree.model(ancestor).expect("a feasible node").clone();
        for (&e, (set, _)) in &reads.sets {
            let value = chosen.get(&e).copied().or_else(|| set.first()).ok_or("model")?;
            assign(rest.graph, &mut model, e, value)?;
        }
        rest.satisfies(query, &model).map_err(|_| "model")?;
        Ok(Answer::Sat(model))
    }
}

/// Gives a read a value.
fn assign(graph: &Graph, model: &mut Model, e: Expr, value: u64) -> Result<(), Abort> {
    let Read { variable, first, count } = read_of(graph, e)?.expect("a read");
    if graph.op(e) == Op::Var {
        model.set_bits(variable, Bits::word(graph.width(e), value));
        return Ok(());
    }
    let element = graph.width(e) / count as u32;
    let index_width = graph.width(graph.kid(e, 1));
    for i in 0..count {
        let bits = Bits::word(element, value >> (i * u64::from(element)));
        model.set_element(graph, variable, &Bits::word(index_width, first + i), bits);
    }
    Ok(())
}

impl Layer for Parti {
    fn name(&self) -> &str {
        "intervals:paper"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        match self.decide(query, rest) {
            Ok(answer) => answer,
            Err(why) => {
                *self.passed.entry(why).or_default() += 1;
                rest.check(query).answer
            }
        }
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn counters(&self) -> Vec<(String, f64)> {
        let passed = self.passed.iter().map(|(why, count)| (format!("passed_{why}"), *count as f64));
        passed.chain([("intervals".to_string(), self.intervals as f64)]).collect()
    }
}
