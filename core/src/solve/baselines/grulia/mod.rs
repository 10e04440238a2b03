//! The baseline `reuse:grulia`: Green with its service Grulia, as published.
//!
//! Answers: sat if a reference assignment is at distance 0, or if a model of one of the ten nearest satisfiable queries
//! satisfies this one; unsat if its constraints include the core of one of the ten nearest unsatisfiable queries. Near
//! means a similar mean distance (SAT-delta) from being satisfied by three reference assignments.
//! Why sound: models are evaluated before they are returned. Cores are compared as constraints of renamed variables,
//! completely and not by a hash: equal constraints are equal up to one renaming of all variables. Rows of a file have
//! checksums.
//! When it helps: a baseline for `reuse` and `solutions`. With `partial=on` the partial solutions of solves enter the
//! repository, for each prefix and off-the-path branch that they satisfy.
//! With `path=FILE` the repository is shared with earlier and later runs, as Green's is.
//! Cost: the canonical form of the query, its distances, and evaluation of up to ten candidates.
//! Source: Green (FSE 2012) slices, canonises and renames; `split` before this layer slices, the form of `store` does the
//! rest. Grulia, after Utopia (ICSE 2017): K = 10, references -10000, 0 and 100, distances over integers. Partial solutions:
//! FSE 2024, section 4.1.

mod file;

use crate::expr::bits::{mask, signed};
use crate::expr::walk::{Atom, element_range};
use crate::expr::{ArrayValue, Bits, Expr, Graph, Model, Op, Sort, Value};
use crate::query::{Alive, Answer, Core, Query};
use crate::solve::store::{Canonical, Shapes, canonical, sort_of};
use crate::solve::{Layer, Rest};
use crate::tuning::GruliaOptions;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

use file::{Entry, Shared};

const NEAREST: usize = 10;
const REFERENCES: [i64; 3] = [-10_000, 0, 100];
/// Queries with more nodes are passed on without being kept.
const MAX_NODES: usize = 1 << 20;

/// Ordered by distance and insertion.
type Repository<V> = BTreeMap<(u128, u64), V>;
/// Values of the variables of a canonical form, by number.
type Values = Vec<(Sort, Value)>;

pub struct Grulia {
    options: GruliaOptions,
    models: Repository<Values>,
    /// Cores as encoded constraints.
    cores: Repository<Vec<Vec<u8>>>,
    shapes: Shapes,
    /// The distance of each expression from each reference.
    distances: FxHashMap<Expr, [i128; 3]>,
    inserted: u64,
    shared: Option<Shared>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    zero: u64,
    sat: u64,
    unsat: u64,
    partial: u64,
    /// Entries of earlier runs.
    loaded: u64,
}

impl Grulia {
    pub fn new(options: GruliaOptions) -> Grulia {
        let mut grulia = Grulia::empty(options);
        if let Some(path) = grulia.options.path.clone() {
            let limit = grulia.options.mb << 20;
            grulia.shared = Some(Shared::open(path, limit, |anchor, entry| grulia.insert(anchor, entry)));
            grulia.counts.loaded = grulia.inserted;
        }
        grulia
    }

    fn empty(options: GruliaOptions) -> Grulia {
        Grulia {
            options,
            models: Repository::new(),
            cores: Repository::new(),
            shapes: Shapes::default(),
            distances: FxHashMap::default(),
            inserted: 0,
            shared: None,
            counts: Counts::default(),
        }
    }

    fn insert(&mut self, anchor: u128, entry: Entry) {
        self.inserted += 1;
        let place = (anchor, self.inserted);
        match entry {
            Entry::Model(values) => drop(self.models.insert(place, values)),
            Entry::Core(constraints) => drop(self.cores.insert(place, constraints)),
        }
    }

    fn keep(&mut self, anchor: u128, entry: Entry) {
        if let Some(shared) = &mut self.shared {
            shared.keep(anchor, &entry);
        }
        self.insert(anchor, entry);
    }

    /// The distances of a conjunction from each reference: sums over its parts.
    fn deltas(&mut self, graph: &Graph, all: &[Expr]) -> [i128; 3] {
        let mut sums = [0i128; 3];
        for &e in all {
            let distance = self.expression(graph, e);
            sums.iter_mut().zip(distance).for_each(|(sum, d)| *sum = sum.saturating_add(d));
        }
        sums
    }

    fn expression(&mut self, graph: &Graph, root: Expr) -> [i128; 3] {
        let mut todo = Vec::new();
        graph.post_order(&[root], |e| todo.push(e));
        for e in todo {
            if !self.distances.contains_key(&e) {
                let kids = graph.kids(e);
                let kid = |i: usize, at: usize| self.distances[&kids[i]][at];
                let distance = std::array::from_fn(|at| distance(graph, e, REFERENCES[at], |i| kid(i, at)));
                self.distances.insert(e, distance);
            }
        }
        self.distances[&root]
    }

    fn find(
        &mut self,
        rest: &mut Rest<'_>,
        form: &Canonical,
        all: &[Expr],
        deltas: [i128; 3],
    ) -> Option<Found> {
        let satisfies = |rest: &mut Rest<'_>, model: &Model| {
            let mut session = rest.evaluator.under(rest.graph, model);
            all.iter().all(|e| session.truth(*e))
        };
        for (at, _) in deltas.iter().enumerate().filter(|(_, delta)| **delta == 0) {
            let model = reference(rest.graph, &form.variables, REFERENCES[at]);
            if satisfies(rest, &model) {
                self.counts.zero += 1;
                return Some(Found::Model(model));
            }
        }
        let anchor = mean(deltas);
        for values in nearest(&self.models, anchor) {
            // Entries with fewer variables than the query are skipped.
            if values.len() >= form.variables.len() {
                let model = renamed(rest.graph, &form.variables, values);
                if satisfies(rest, &model) {
                    self.counts.sat += 1;
                    return Some(Found::Model(model));
                }
            }
        }
        if self.cores.is_empty() {
            return None;
        }
        let encoded = encode_all(rest.graph, form, all);
        for core in nearest(&self.cores, anchor) {
            let places: Option<Vec<Expr>> = core.iter().map(|one| encoded.get(one).copied()).collect();
            if let Some(constraints) = places {
                self.counts.unsat += 1;
                return Some(Found::Core(constraints));
            }
        }
        None
    }

    fn keep_model(&mut self, graph: &Graph, form: &Canonical, anchor: u128, model: &Model) {
        let values = form.variables.iter().map(|&atom| (sort_of(graph, atom), value_of(graph, model, atom)));
        self.keep(anchor, Entry::Model(values.collect()));
    }

    /// Keeps a partial solution for each prefix that it satisfies, and for the branch that it takes off the path.
    fn keep_partial(&mut self, rest: &mut Rest<'_>, all: &[Expr], model: &Model) {
        self.counts.partial += 1;
        let mut session = rest.evaluator.under(rest.graph, model);
        let length = all.iter().take_while(|&&e| session.truth(e)).count();
        let mut keys: Vec<Vec<Expr>> = (1..=length).map(|end| all[..end].to_vec()).collect();
        if let Some(&violated) = all.get(length) {
            let negated = rest.graph.not(violated);
            keys.push(all[..length].iter().copied().chain([negated]).collect());
        }
        for key in keys {
            if let Some(form) = canonical(rest.graph, &mut self.shapes, &key, MAX_NODES) {
                let anchor = mean(self.deltas(rest.graph, &key));
                self.keep_model(rest.graph, &form, anchor, model);
            }
        }
    }
}

enum Found {
    Model(Model),
    /// Constraints of the query, the condition among them or not.
    Core(Vec<Expr>),
}

fn mean(deltas: [i128; 3]) -> u128 {
    let total = deltas.iter().fold(0i128, |total, delta| total.saturating_add(*delta));
    total.unsigned_abs() / REFERENCES.len() as u128
}

/// The distance of a condition, or the value of a number. 0 for operators that Grulia has no rule for.
fn distance(graph: &Graph, e: Expr, reference: i64, kid: impl Fn(usize) -> i128) -> i128 {
    let width = graph.width(e);
    let number = |word: u64| i128::from(signed(width, word & mask(width)));
    match graph.op(e) {
        Op::Const => graph.const_word(e).map_or(0, number),
        // Every read counts as a variable.
        Op::Var | Op::Read if !graph.is_array(e) && width <= 64 => number(reference as u64),
        Op::Ult | Op::Slt if kid(0) >= kid(1) => kid(0).saturating_sub(kid(1)).saturating_add(1),
        Op::Ule | Op::Sle if kid(0) > kid(1) => kid(0).saturating_sub(kid(1)),
        Op::Ult | Op::Slt | Op::Ule | Op::Sle => 0,
        Op::Eq if !graph.is_array(graph.kid(e, 0)) => kid(0).saturating_sub(kid(1)).saturating_abs(),
        Op::Not if graph.is_bool(e) => i128::from(kid(0) == 0),
        Op::And | Op::Or | Op::Add => kid(0).saturating_add(kid(1)),
        Op::Mul => kid(0).saturating_mul(kid(1)),
        Op::Sub => kid(1).saturating_abs().saturating_sub(kid(0).saturating_abs()).saturating_abs(),
        Op::URem | Op::SRem => kid(0).checked_rem_euclid(kid(1)).unwrap_or(0),
        Op::ZExt | Op::SExt => kid(0),
        // The paper defines no distance for other operators.
        _ => 0,
    }
}

/// The assignment that gives every variable the same number.
fn reference(graph: &Graph, variables: &[Atom], number: i64) -> Model {
    let mut model = Model::new();
    for &atom in variables {
        match (atom, sort_of(graph, atom)) {
            (Atom::Variable(variable), Sort::Bool) => model.set_bits(variable, Bits::from_bool(number != 0)),
            (Atom::Variable(_) | Atom::Element(..), Sort::Bits(width)) if width <= 64 => {
                model.set_atom(graph, atom, number as u64 & mask(width));
            }
            // Others stay zero.
            _ => {}
        }
    }
    model
}

/// A stored assignment with the variables of this query.
fn renamed(graph: &Graph, variables: &[Atom], values: &Values) -> Model {
    let mut model = Model::new();
    for (&atom, (sort, value)) in variables.iter().zip(values) {
        let own = sort_of(graph, atom);
        match (atom, own, value) {
            (Atom::Variable(variable) | Atom::Array(variable), _, _) if own == *sort => {
                model.set(variable, value.clone());
            }
            (Atom::Variable(_) | Atom::Element(..), Sort::Bits(width), Value::Bits(bits)) if width <= 64 => {
                model.set_atom(graph, atom, bits.low() & mask(width));
            }
            // Others stay zero.
            _ => {}
        }
    }
    model
}

fn value_of(graph: &Graph, model: &Model, atom: Atom) -> Value {
    match (atom, sort_of(graph, atom)) {
        (Atom::Element(..), Sort::Bits(width)) if width <= 64 => {
            Value::Bits(Bits::word(width, model.atom(atom)))
        }
        (Atom::Variable(variable) | Atom::Array(variable), sort) => {
            let zero = || match sort {
                Sort::Array { index, element } => Value::Array(Arc::new(ArrayValue::zero(index, element))),
                Sort::Bits(width) => Value::Bits(Bits::zero(width)),
                Sort::Bool => Value::Bits(Bits::from_bool(false)),
            };
            model.get(variable).cloned().unwrap_or_else(zero)
        }
        (Atom::Element(..), _) => Value::Bits(Bits::zero(1)),
    }
}

/// The constraints by their bytes with renamed variables. Those that cannot be encoded are left out.
fn encode_all(graph: &Graph, form: &Canonical, all: &[Expr]) -> FxHashMap<Vec<u8>, Expr> {
    let numbers: FxHashMap<Atom, u32> = form.variables.iter().copied().zip(0..).collect();
    all.iter().filter_map(|&e| Some((encode(graph, &numbers, e)?, e))).collect()
}

/// A complete description of a constraint: every node after its operands, variables by their number.
fn encode(graph: &Graph, numbers: &FxHashMap<Atom, u32>, root: Expr) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut places: FxHashMap<Expr, u32> = FxHashMap::default();
    let mut open = vec![(root, false)];
    let mut seen = FxHashSet::default();
    while let Some((e, is_done)) = open.pop() {
        let elements = || {
            let (array, first, count) = (graph.op(e) == Op::Read).then(|| element_range(graph, e))??;
            (0..count)
                .map(|i| numbers.get(&Atom::Element(array, first + i)).copied())
                .collect::<Option<Vec<u32>>>()
        };
        let elements = elements();
        if !is_done {
            if seen.insert(e) {
                open.push((e, true));
                if elements.is_none() {
                    open.extend(graph.kids(e).into_iter().map(|kid| (kid, false)));
                }
            }
            continue;
        }
        let place = places.len() as u32;
        places.insert(e, place);
        bytes.push(graph.op(e) as u8);
        bytes.extend(format!("{:?}", graph.sort(e)).bytes());
        let mut put = |number: u64| bytes.extend(number.to_le_bytes());
        put(u64::from(graph.parameter(e).unwrap_or(0)));
        match (graph.op(e), elements) {
            (_, Some(elements)) => {
                put(elements.len() as u64);
                elements.iter().for_each(|number| put(u64::from(*number)));
            }
            (Op::Const, None) => graph.const_bits(e)?.words().iter().for_each(|word| put(*word)),
            (Op::Var, None) => {
                let atom = if graph.is_array(e) { Atom::Array(e) } else { Atom::Variable(e) };
                put(u64::from(*numbers.get(&atom)?));
            }
            // The elements of tables are not encoded.
            (Op::Table, None) => return None,
            (_, None) => {
                put(u64::MAX);
                graph.kids(e).iter().for_each(|kid| put(u64::from(places[kid])));
            }
        }
    }
    Some(bytes)
}

/// The entries at the least distance from the anchor, nearest first.
fn nearest<V>(repository: &Repository<V>, anchor: u128) -> Vec<&V> {
    let mut above = repository.range((anchor, 0)..).peekable();
    let mut below = repository.range(..(anchor, 0)).rev().peekable();
    let mut found = Vec::new();
    while found.len() < NEAREST {
        let next = match (above.peek(), below.peek()) {
            (None, None) => break,
            (Some(_), None) => above.next(),
            (None, Some(_)) => below.next(),
            (Some((a, _)), Some((b, _))) if a.0 - anchor <= anchor - b.0 => above.next(),
            (Some(_), Some(_)) => below.next(),
        };
        found.extend(next.map(|(_, entry)| entry));
    }
    found
}

impl Layer for Grulia {
    fn name(&self) -> &str {
        "reuse:grulia"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let constraints = query.constraints(rest.tree);
        let all: Vec<Expr> = constraints.iter().copied().chain([query.condition]).collect();
        let Some(form) = canonical(rest.graph, &mut self.shapes, &all, MAX_NODES) else {
            return rest.check(query).answer;
        };
        let deltas = self.deltas(rest.graph, &all);
        match self.find(rest, &form, &all, deltas) {
            Some(Found::Model(model)) => return Answer::Sat(model),
            Some(Found::Core(core)) => {
                let condition = core.contains(&query.condition) && !constraints.contains(&query.condition);
                let needed = constraints.iter().copied().filter(|e| core.contains(e)).collect();
                return Answer::Unsat(Core { constraints: needed, condition });
            }
            None => {}
        }
        let wanted = if self.options.partial { self.options.kp as usize } else { 0 };
        let before = rest.near_misses.exactly;
        if self.options.partial {
            rest.near_misses.exactly = Some(wanted);
        }
        let answer = rest.check(query).answer;
        rest.near_misses.exactly = before;
        let anchor = mean(deltas);
        match &answer {
            Answer::Sat(model) => self.keep_model(rest.graph, &form, anchor, model),
            Answer::Unsat(core) => {
                let numbers: FxHashMap<Atom, u32> = form.variables.iter().copied().zip(0..).collect();
                let own = core.condition.then_some(query.condition);
                let encoded = core.constraints.as_slice().iter().copied().chain(own);
                let encoded: Option<Vec<Vec<u8>>> =
                    encoded.map(|e| encode(rest.graph, &numbers, e)).collect();
                if let Some(core) = encoded {
                    self.keep(anchor, Entry::Core(core));
                }
            }
            Answer::Unknown(_) => {}
        }
        if self.options.partial {
            for batch in rest.near_misses.take() {
                for row in 0..batch.len().min(wanted) {
                    let model = batch.complete(rest.graph, row, Model::new());
                    self.keep_partial(rest, &all, &model);
                }
            }
        }
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.distances.retain(|e, _| alive.expr(*e));
        self.shapes.sweep(alive.exprs);
    }

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        let (counts, shared) = (std::mem::take(&mut self.counts), self.shared.take());
        *self = Grulia { inserted: self.inserted, counts, shared, ..Grulia::empty(self.options.clone()) };
    }

    fn flush(&mut self) {
        if let Some(shared) = &mut self.shared {
            shared.write();
        }
    }

    fn notice(&mut self) -> Option<String> {
        self.shared.as_mut().and_then(Shared::notice)
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counts = &self.counts;
        [
            ("delta_zero", counts.zero),
            ("sat_near", counts.sat),
            ("unsat_near", counts.unsat),
            ("partial", counts.partial),
            ("loaded", counts.loaded),
            ("entries", (self.models.len() + self.cores.len()) as u64),
        ]
        .map(|(name, count)| (name.to_string(), count as f64))
        .to_vec()
    }
}
