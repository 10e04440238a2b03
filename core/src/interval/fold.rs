//! The fold: a set for every node of an expression, from the sets of its leaves upwards.
//!
//! Sound for every expression: what has more than 64 bits, or depends on something other than leaves, is taken to be
//! any value. Reads of tables and of stores are followed as far as the set of the index tells; a read of an array
//! variable whose index has one value is a leaf like any other.

use super::forward;
use super::range::{self, Range, Ranges};
use super::set::Set;
use crate::expr::bits::mask;
use crate::expr::eval::Shape;
use crate::expr::{Expr, Graph, Op};
use rustc_hash::FxHashMap;

/// Expressions with more nodes than this are not folded.
pub const MAX_NODES: usize = 1024;
/// Up to this many indices into a table are looked up one by one.
pub const MAX_INDICES: u128 = 4096;
/// Up to this many elements of an array variable are told apart.
const MAX_ELEMENTS: u128 = 8;
/// Stores that a read looks through.
const MAX_STORES: usize = 256;

/// Where the sets of ranges come from.
pub trait Source {
    fn set(&mut self, ranges: &mut Ranges, number: u32) -> Set;
}

/// Nothing is known.
pub struct Anything;

impl Source for Anything {
    fn set(&mut self, ranges: &mut Ranges, number: u32) -> Set {
        Set::full(ranges.range(number).width)
    }
}

/// Why an expression was not folded, or not to the bottom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stop {
    /// Too many nodes.
    Size,
    /// More than 64 bits.
    Width,
    /// An array at an index of many values, or as a whole.
    Array,
    /// This operator's image or preimage is not exact.
    Operator(Op),
    /// A variable occurs on both sides of this operator, or several do.
    Several(Op),
}

/// The sets of an expression's nodes. Reusable memory.
#[derive(Default)]
pub struct Fold {
    sets: FxHashMap<Expr, Set>,
    /// The range that a node is.
    leaves: FxHashMap<Expr, u32>,
    /// The stored element that a read is sure to find.
    found: FxHashMap<Expr, Expr>,
    /// Ranges whose sets were asked for.
    pub used: Vec<u32>,
    /// Something below was not understood.
    pub stop: Option<Stop>,
    stack: Vec<(Expr, bool)>,
}

pub fn shape(graph: &Graph, e: Expr) -> Shape {
    let operand = graph.kid(e, 0);
    let low = match graph.op(e) {
        Op::Extract => graph.extract_low(e),
        Op::Concat => graph.width(graph.kid(e, 1)),
        _ => 0,
    };
    Shape { width: graph.width(e), operand: graph.width(operand), low }
}

impl Fold {
    /// The set of `e`, any value if nothing is known. Only for words of at most 64 bits.
    pub fn set(&self, graph: &Graph, e: Expr) -> Set {
        match self.sets.get(&e) {
            Some(set) => set.clone(),
            None => Set::full(graph.width(e)),
        }
    }

    pub fn known(&self, e: Expr) -> Option<&Set> {
        self.sets.get(&e)
    }

    pub fn leaf(&self, e: Expr) -> Option<u32> {
        self.leaves.get(&e).copied()
    }

    /// The stored element that a read is sure to find.
    pub fn found(&self, e: Expr) -> Option<Expr> {
        self.found.get(&e).copied()
    }

    /// Computes the sets of `root` and everything below it. False if it is too large.
    pub fn run(&mut self, graph: &Graph, ranges: &mut Ranges, root: Expr, source: &mut impl Source) -> bool {
        self.sets.clear();
        self.leaves.clear();
        self.found.clear();
        self.used.clear();
        self.stop = None;
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push((root, false));
        let mut visited: FxHashMap<Expr, ()> = FxHashMap::default();
        while let Some((e, opened)) = stack.pop() {
            if opened {
                self.node(graph, ranges, e, source);
                continue;
            }
            if visited.insert(e, ()).is_some() {
                continue;
            }
            if visited.len() > MAX_NODES {
                self.stop = Some(Stop::Size);
                self.stack = stack;
                return false;
            }
            if let Some(value) = graph.const_word(e) {
                self.sets.insert(e, Set::single(graph.width(e), value));
                continue;
            }
            if let Some(bits) = range::leaf_bits(graph, e) {
                self.leaf_set(ranges, e, bits, source);
                continue;
            }
            stack.push((e, true));
            for kid in graph.kids(e).into_iter().rev() {
                if !visited.contains_key(&kid) {
                    stack.push((kid, false));
                }
            }
        }
        self.stack = stack;
        true
    }

    fn leaf_set(&mut self, ranges: &mut Ranges, e: Expr, bits: Range, source: &mut impl Source) {
        let number = ranges.number(bits);
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        let set = source.set(ranges, number);
        self.sets.insert(e, set);
        self.leaves.insert(e, number);
    }

    fn stopped(&mut self, why: Stop) {
        self.stop.get_or_insert(why);
    }

    fn node(&mut self, graph: &Graph, ranges: &mut Ranges, e: Expr, source: &mut impl Source) {
        if graph.is_array(e) {
            return;
        }
        let kids = graph.kids(e);
        if graph.width(e) > 64 {
            return self.stopped(Stop::Width);
        }
        let op = graph.op(e);
        if op == Op::Read {
            return self.read(graph, ranges, e, source);
        }
        if kids.iter().any(|&kid| graph.is_array(kid)) {
            return self.stopped(Stop::Array);
        }
        if kids.iter().any(|kid| !self.sets.contains_key(kid)) {
            self.stopped(Stop::Width);
            // An operand that is not understood is any word; one that is wider is no word.
            if kids.iter().any(|&kid| graph.width(kid) > 64) {
                return;
            }
        }
        let set = |i: usize| self.set(graph, kids[i]);
        let image = match kids.len() {
            1 => forward::unary(op, shape(graph, e), &set(0)),
            2 => forward::binary(op, shape(graph, e), &set(0), &set(1)),
            _ => forward::ite(&set(0), &set(1), &set(2)),
        };
        self.sets.insert(e, image.set);
    }

    /// A read that is not of a variable at a constant index.
    fn read(&mut self, graph: &Graph, ranges: &mut Ranges, e: Expr, source: &mut impl Source) {
        let (width, count) = (graph.width(e), u64::from(graph.read_count(e)));
        let mut array = graph.kid(e, 0);
        let Some(mut index) = self.sets.get(&graph.kid(e, 1)).cloned() else {
            return self.stopped(Stop::Array);
        };
        let mut found = Set::empty(width);
        let mut looked_through = 0;
        loop {
            looked_through += 1;
            if looked_through > MAX_STORES {
                return self.stopped(Stop::Array);
            }
            match graph.op(array) {
                Op::Store => {
                    let (at, element) = (self.known(graph.kid(array, 1)), self.known(graph.kid(array, 2)));
                    let (Some(at), true) = (at, element.is_some() && count == 1) else {
                        return self.stopped(Stop::Array);
                    };
                    if !at.is_disjoint(&index) {
                        let sure = at.value().is_some() && at.value() == index.value();
                        if sure && found.is_empty() {
                            self.found.insert(e, graph.kid(array, 2));
                        }
                        found = found.union(self.known(graph.kid(array, 2)).expect("just looked")).set;
                        if sure {
                            break;
                        }
                    }
                    array = graph.kid(array, 0);
                }
                Op::Table => {
                    let elements = graph.table(array).elements.clone();
                    let inside = table_indices(&index, elements.len() as u64, count);
                    if inside.count() > MAX_INDICES {
                        return self.stopped(Stop::Array);
                    }
                    let step = graph.width(array);
                    let words = inside.values().map(|at| table_word(&elements, at, count, step));
                    found = found.union(&Set::from_values(width, words).set).set;
                    if index.is_subset(&inside) {
                        break;
                    }
                    if count > 1 && !(inside.is_empty() && index.min() >= Some(elements.len() as u64)) {
                        // A word may lie half in the table.
                        return self.stopped(Stop::Array);
                    }
                    index = inside.complement().set.intersect(&index).set;
                    array = graph.kid(array, 0);
                }
                Op::ConstArray => {
                    let Some(element) = self.known(graph.kid(array, 0)) else { return self.stopped(Stop::Array) };
                    if count > 1 {
                        return self.stopped(Stop::Array);
                    }
                    found = found.union(element).set;
                    break;
                }
                Op::Var => {
                    // Past the last index a word's elements are not adjacent.
                    let last = mask(index.width()) - (count - 1);
                    if index.count() > MAX_ELEMENTS || index.max().is_some_and(|at| at > last) {
                        return self.stopped(Stop::Array);
                    }
                    for at in index.values() {
                        let Some(bits) = range::elements(graph, array, at, width) else {
                            return self.stopped(Stop::Array);
                        };
                        let number = ranges.number(bits);
                        if !self.used.contains(&number) {
                            self.used.push(number);
                        }
                        if index.value().is_some() && found.is_empty() {
                            self.leaves.insert(e, number);
                        }
                        found = found.union(&source.set(ranges, number)).set;
                    }
                    break;
                }
                _ => return self.stopped(Stop::Array),
            }
        }
        self.sets.insert(e, found);
    }
}

/// The members of `index` at which a word of `count` elements lies wholly in a table of `length`.
pub fn table_indices(index: &Set, length: u64, count: u64) -> Set {
    match length.checked_sub(count) {
        Some(last) => index.intersect(&Set::span(index.width(), 0, last.min(mask(index.width())))).set,
        None => Set::empty(index.width()),
    }
}

/// Adjacent elements of a table as one word.
pub fn table_word(elements: &[u64], at: u64, count: u64, step: u32) -> u64 {
    if count == 1 {
        return elements[at as usize];
    }
    (0..count).rev().fold(0, |word, i| word << step | elements[(at + i) as usize])
}
