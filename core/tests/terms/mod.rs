//! Random expressions for the tests of `expr`: a `World` has variables, models (all, if there are few) and a
//! growing pool of expressions, and knows the value of each node under each model.
//!
//! A value is computed from the operator of a node and the values of its operands by `Make::meaning`, which uses
//! `eval::word` and `eval::wide` (compared with SMT-LIB by `eval.rs`) and treats arrays as plain lists. So
//! comparing the result of a builder with the value of the request tests the rewriting in between.

// Each test file uses only a part of this.
#![allow(dead_code)]

mod make;

pub(crate) use make::{Make, V};

use partita_core::expr::{ArrayValue, Bits, Expr, Graph, Model, Op, Sort, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// SplitMix64: small, seeded, reproducible.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// Often a boundary value: zero, one, all ones, the top bit, a few bits; otherwise any value.
    pub(crate) fn bits(&mut self, width: u32) -> Bits {
        match self.below(8) {
            0 => Bits::zero(width),
            1 => Bits::word(width, 1),
            2 => Bits::ones(width),
            3 => Bits::word(width, 1).shl(u64::from(width) - 1),
            4 => Bits::word(width, self.next() % 16),
            5 => Bits::ones(width).lshr(self.below(width.into())),
            _ => {
                let words: Vec<u64> = (0..width.div_ceil(64)).map(|_| self.next()).collect();
                Bits::from_words(width, &words)
            }
        }
    }
}

pub(crate) struct World {
    pub(crate) graph: Graph,
    pub(crate) random: Random,
    pub(crate) variables: Vec<Expr>,
    pub(crate) models: Vec<Model>,
    /// Maximum width of bit-vectors that are chosen.
    pub(crate) widest: u32,
    /// Whether float operators are chosen.
    pub(crate) floats: bool,
    pool: FxHashMap<Sort, Vec<Expr>>,
    sorts: Vec<Sort>,
    tables: FxHashMap<Expr, Rc<[V]>>,
    seen: FxHashSet<Expr>,
}

/// Maximum number of expressions of one sort in the pool.
const POOL: usize = 40;

impl World {
    /// Variables `v0`, `v1`, ... of the given sorts, under all models if there are at most 2^12, otherwise under
    /// `samples` random ones.
    pub(crate) fn new(seed: u64, sorts: &[Sort], widest: u32, samples: usize) -> World {
        let mut world = World {
            graph: Graph::new(),
            random: Random::new(seed),
            variables: Vec::new(),
            models: Vec::new(),
            widest,
            floats: false,
            pool: FxHashMap::default(),
            sorts: Vec::new(),
            tables: FxHashMap::default(),
            seen: FxHashSet::default(),
        };
        for (i, &sort) in sorts.iter().enumerate() {
            let v = world.graph.var(&format!("v{i}"), sort).unwrap();
            world.variables.push(v);
            world.keep(v);
        }
        let bits: u64 = sorts.iter().map(|&sort| sort_bits(sort)).sum();
        let exhaustive = bits <= 12;
        let count = if exhaustive { 1 << bits } else { samples as u64 };
        let mut values: Vec<Vec<V>> = vec![Vec::new(); sorts.len()];
        for number in 0..count {
            let mut rest = number;
            let mut take = |random: &mut Random, width: u32| {
                if !exhaustive {
                    return random.bits(width);
                }
                let value = Bits::word(width, rest);
                rest >>= width;
                value
            };
            let mut model = Model::new();
            for ((&sort, &v), column) in sorts.iter().zip(&world.variables).zip(&mut values) {
                let value = match sort {
                    Sort::Bool => V::Bits(take(&mut world.random, 1)),
                    Sort::Bits(width) => V::Bits(take(&mut world.random, width)),
                    Sort::Array { index, element } => {
                        V::Array((0..1 << index).map(|_| take(&mut world.random, element)).collect())
                    }
                };
                model.set(v, to_value(sort, &value));
                column.push(value);
            }
            world.models.push(model);
        }
        for (&v, column) in world.variables.iter().zip(values) {
            world.seen.insert(v);
            world.tables.insert(v, column.into());
        }
        world
    }

    /// Adds `e` to the pool.
    pub(crate) fn keep(&mut self, e: Expr) {
        let sort = self.graph.sort(e);
        let pool = self.pool.entry(sort).or_default();
        if pool.is_empty() {
            self.sorts.push(sort);
        }
        if pool.len() < POOL {
            pool.push(e);
        } else {
            let at = self.random.below(POOL as u64) as usize;
            pool[at] = e;
        }
    }

    /// Values of `e` under each model.
    pub(crate) fn table(&mut self, e: Expr) -> Rc<[V]> {
        let mut new = Vec::new();
        self.graph.post_order_unseen(&[e], &mut self.seen, &mut |e| new.push(e));
        for e in new {
            let count = self.models.len();
            let table: Rc<[V]> = match self.graph.op(e) {
                Op::Const => vec![V::Bits(self.graph.const_bits(e).unwrap()); count].into(),
                Op::Var => unreachable!("all variables are known from the start"),
                _ => {
                    let kids: Vec<Rc<[V]>> =
                        self.graph.kids(e).iter().map(|kid| self.tables[kid].clone()).collect();
                    let make = Make::of(&self.graph, e);
                    (0..count).map(|i| meaning_at(&make, &kids, i)).collect()
                }
            };
            self.tables.insert(e, table);
        }
        self.tables[&e].clone()
    }

    /// Builds the expression and compares it with the request under every model.
    pub(crate) fn make(&mut self, make: &Make, args: &[Expr]) -> Expr {
        let sorts: Vec<Sort> = args.iter().map(|&a| self.graph.sort(a)).collect();
        let e = make.build(&mut self.graph, args);
        assert_eq!(self.graph.sort(e), make.sort(&sorts), "the sort of {make:?} over {sorts:?}");
        let kids: Vec<Rc<[V]>> = args.iter().map(|&a| self.table(a)).collect();
        let table = self.table(e);
        for (i, value) in table.iter().enumerate() {
            let right = meaning_at(make, &kids, i);
            if right != *value {
                let args: Vec<String> = args.iter().map(|&a| self.show(a)).collect();
                let model: Vec<String> =
                    self.variables.iter().map(|v| format!("{v:?} = {:?}", self.tables[v][i])).collect();
                panic!(
                    "{make:?} of\n  {}\nbuilt\n  {}\nwhich is {value:?} instead of {right:?} where {}",
                    args.join("\n  "),
                    self.show(e),
                    model.join(", ")
                );
            }
        }
        e
    }

    /// Adds one expression with random operator and operands.
    pub(crate) fn step(&mut self) -> Expr {
        loop {
            let Some((make, args)) = Make::choose(self) else { continue };
            let e = self.make(&make, &args);
            self.keep(e);
            return e;
        }
    }

    /// Frees all but the variables and `keep`, and drops the values of the rest.
    pub(crate) fn collect(&mut self, keep: &[Expr]) -> usize {
        let roots: Vec<Expr> = self.variables.iter().chain(keep).copied().collect();
        let alive = self.graph.mark(roots);
        let freed = self.graph.collect(&alive);
        self.tables.retain(|&e, _| alive.has(e));
        self.seen.retain(|&e| alive.has(e));
        for pool in self.pool.values_mut() {
            pool.retain(|&e| alive.has(e));
        }
        self.pool.retain(|_, pool| !pool.is_empty());
        self.sorts.retain(|sort| self.pool.contains_key(sort));
        freed
    }

    pub(crate) fn some_sort(&mut self) -> Sort {
        *self.random.pick(&self.sorts)
    }

    pub(crate) fn some_bits(&mut self) -> Expr {
        loop {
            let sort = self.some_sort();
            if matches!(sort, Sort::Bits(_)) {
                return self.some(sort);
            }
        }
    }

    pub(crate) fn some_array(&mut self) -> Option<Expr> {
        let arrays: Vec<Sort> =
            self.sorts.iter().copied().filter(|sort| matches!(sort, Sort::Array { .. })).collect();
        if arrays.is_empty() {
            return None;
        }
        let sort = *self.random.pick(&arrays);
        Some(self.some(sort))
    }

    /// An expression of this sort: from the pool, or a constant (for a new sort always a constant).
    pub(crate) fn some(&mut self, sort: Sort) -> Expr {
        let constant = self.random.chance(30);
        if let Some(pool) = self.pool.get(&sort).filter(|_| !constant) {
            return *self.random.pick(pool);
        }
        match sort {
            Sort::Bool => {
                if self.pool.contains_key(&sort) {
                    let pool = &self.pool[&sort];
                    return *self.random.pick(pool);
                }
                let value = self.random.chance(50);
                self.graph.boolean(value)
            }
            Sort::Bits(width) => {
                let bits = self.random.bits(width);
                self.graph.constant(bits)
            }
            Sort::Array { .. } => *self.random.pick(&self.pool[&sort]),
        }
    }

    /// An expression of this sort, perhaps a part of `e`, so that rules about common parts apply.
    pub(crate) fn some_related(&mut self, sort: Sort, e: Expr) -> Expr {
        if self.random.chance(25) {
            let mut parts: Vec<Expr> = self.graph.kids(e).to_vec();
            parts.extend(parts.clone().iter().flat_map(|&kid| self.graph.kids(kid)));
            parts.retain(|&kid| self.graph.sort(kid) == sort);
            if !parts.is_empty() {
                return *self.random.pick(&parts);
            }
        }
        self.some(sort)
    }

    /// The expression as text, for messages; shared parts are repeated.
    pub(crate) fn show(&self, e: Expr) -> String {
        show(&self.graph, e)
    }
}

fn meaning_at(make: &Make, kids: &[Rc<[V]>], i: usize) -> V {
    let args: Vec<&V> = kids.iter().map(|kid| &kid[i]).collect();
    make.meaning(&args)
}

pub(crate) fn show(graph: &Graph, e: Expr) -> String {
    let mut texts: FxHashMap<Expr, String> = FxHashMap::default();
    graph.post_order(&[e], |e| {
        let text = match graph.op(e) {
            Op::Const => format!("{:?}", graph.const_bits(e).unwrap()),
            Op::Var => graph.name(e).to_string(),
            _ => {
                let kids: Vec<&str> = graph.kids(e).iter().map(|kid| texts[kid].as_str()).collect();
                format!("({:?} {})", Make::of(graph, e), kids.join(" "))
            }
        };
        texts.insert(e, text);
    });
    texts.remove(&e).unwrap()
}

/// Number of bits of a value of this sort.
pub(crate) fn sort_bits(sort: Sort) -> u64 {
    match sort {
        Sort::Bool => 1,
        Sort::Bits(width) => width.into(),
        Sort::Array { index, element } => u64::from(element) << index,
    }
}

pub(crate) fn to_value(sort: Sort, value: &V) -> Value {
    match (sort, value) {
        (Sort::Array { index, element }, V::Array(elements)) => {
            let mut array = ArrayValue::zero(index, element);
            for (i, e) in elements.iter().enumerate() {
                array.set(&Bits::word(index, i as u64), e.clone());
            }
            Value::Array(Arc::new(array))
        }
        (_, V::Bits(bits)) => Value::Bits(bits.clone()),
        (_, V::Array(_)) => unreachable!("an array of another sort"),
    }
}

/// A value of the library in the form of the tests.
pub(crate) fn from_value(value: &Value) -> V {
    match value {
        Value::Bits(bits) => V::Bits(bits.clone()),
        Value::Array(array) => {
            let index = array.index_width();
            V::Array((0..1 << index).map(|i| array.get(&Bits::word(index, i))).collect())
        }
    }
}
