//! The fold: a set for every node of an expression, from the sets of its leaves upwards.
//!
//! Sound for every expression: what has more than 64 bits, or depends on something other than leaves, is taken to be
//! any value. Reads of tables and of stores are followed as far as the set of the index tells; a read of an array
//! variable whose index has one value is a leaf like any other.

use super::forward;
use super::range::{self, BitRanges};
use super::set::Set;
use crate::expr::bits::mask;
use crate::expr::eval::Shape;
use crate::expr::{Expr, Graph, Op};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::hash_map::Entry;

/// Expressions with more nodes than this are not folded.
pub const MAX_NODES: usize = 1024;
/// Up to this many indices into a table are looked up one by one.
pub const MAX_INDICES: u128 = 4096;
/// Up to this many indices of a read are looked at one by one, whatever the array.
const MAX_CASES: u128 = 8;
/// Stores that a read looks through.
const MAX_STORES: usize = 256;

/// Pairs of intervals that cost as much as a node, and how many of them count at most: beyond, images are rough.
pub const PAIRS_PER_NODE: usize = 32;
const MAX_COUNTED_PAIRS: usize = 1024;
/// About how long a node takes, and a pair of intervals: folded, and narrowed after that.
const NODE_NS: u64 = 150;
const PAIR_NS: u64 = 20;

/// Where the sets of ranges come from.
pub trait Source {
    fn set(&mut self, ranges: &mut BitRanges, number: u32) -> Set;
}

/// Nothing is known.
pub struct Anything;

impl Source for Anything {
    fn set(&mut self, ranges: &mut BitRanges, number: u32) -> Set {
        Set::full(ranges.range(number).width)
    }
}

/// What a read finds at one index.
#[derive(Clone, Copy, Debug)]
pub enum Case {
    /// The value of this expression.
    Element(Expr),
    /// These bits of an array variable.
    Bits(u32),
    Word(u64),
}

/// Why an expression was not folded, or not to the bottom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imprecision {
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
    /// Where in `nodes` a node is. Sets are large: moving them about in a table would cost more than they do.
    places: FxHashMap<Expr, u32>,
    nodes: Vec<Folded>,
    /// What a read finds at each of its few indices.
    cases: FxHashMap<Expr, Vec<(u64, Case)>>,
    /// BitRanges whose sets were asked for.
    pub used: Vec<u32>,
    /// What it has cost: nodes, and more for sets of many intervals.
    pub cost: usize,
    /// Nanoseconds spent on all that was ever folded, about.
    pub spent: u64,
    /// Something below was not understood.
    pub imprecision: Option<Imprecision>,
    /// Nodes to be visited, and with their places those whose operands have been.
    stack: Vec<(Expr, Option<u32>)>,
}

#[derive(Default)]
struct Folded {
    set: Option<Set>,
    /// The range that the node is.
    leaf: Option<u32>,
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
        match self.known(e) {
            Some(set) => set.clone(),
            None => Set::full(graph.width(e)),
        }
    }

    fn folded(&self, e: Expr) -> Option<&Folded> {
        self.places.get(&e).map(|&place| &self.nodes[place as usize])
    }

    pub fn known(&self, e: Expr) -> Option<&Set> {
        self.folded(e)?.set.as_ref()
    }

    pub fn leaf(&self, e: Expr) -> Option<u32> {
        self.folded(e)?.leaf
    }

    /// What a read finds at each of its few indices.
    pub fn cases(&self, e: Expr) -> Option<&[(u64, Case)]> {
        self.cases.get(&e).map(|cases| &cases[..])
    }

    /// Computes the sets of `root` and everything below it. False if it is too large, or would cost more than the limit.
    pub fn run(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        root: Expr,
        source: &mut impl Source,
        limit: usize,
    ) -> bool {
        self.places.clear();
        self.nodes.clear();
        self.cases.clear();
        self.used.clear();
        self.cost = 0;
        self.imprecision = None;
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push((root, None));
        while let Some((e, opened)) = stack.pop() {
            if let Some(place) = opened {
                self.nodes[place as usize].set = self.node(graph, ranges, e, source);
                continue;
            }
            let place = self.nodes.len() as u32;
            match self.places.entry(e) {
                Entry::Occupied(_) => continue,
                Entry::Vacant(free) => free.insert(place),
            };
            if self.nodes.len() == MAX_NODES || self.cost > limit {
                self.imprecision = Some(Imprecision::Size);
                self.stack = stack;
                return false;
            }
            self.nodes.push(Folded::default());
            self.cost += 1;
            self.spent += NODE_NS;
            if let Some(value) = graph.const_word(e) {
                self.nodes[place as usize].set = Some(Set::single(graph.width(e), value));
                continue;
            }
            if let Some(bits) = range::leaf_bits(graph, e) {
                let number = ranges.number(bits);
                let set = self.leaf_set(ranges, number, source);
                self.nodes[place as usize] = Folded { set: Some(set), leaf: Some(number) };
                continue;
            }
            stack.push((e, Some(place)));
            for kid in graph.kids(e).into_iter().rev() {
                if !self.places.contains_key(&kid) {
                    stack.push((kid, None));
                }
            }
        }
        self.stack = stack;
        true
    }

    fn leaf_set(&mut self, ranges: &mut BitRanges, number: u32, source: &mut impl Source) -> Set {
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        source.set(ranges, number)
    }

    fn record_imprecision(&mut self, why: Imprecision) {
        self.imprecision.get_or_insert(why);
    }

    /// The set of a node whose operands have been visited, if it is understood.
    fn node(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        e: Expr,
        source: &mut impl Source,
    ) -> Option<Set> {
        if graph.is_array(e) {
            return None;
        }
        let kids = graph.kids(e);
        if graph.width(e) > 64 {
            self.record_imprecision(Imprecision::Width);
            return None;
        }
        let op = graph.op(e);
        if op == Op::Read {
            return self.read(graph, ranges, e, source);
        }
        if kids.iter().any(|&kid| graph.is_array(kid)) {
            self.record_imprecision(Imprecision::Array);
            return None;
        }
        // An operand that is not understood is any word; one that is wider is no word.
        if kids.iter().any(|&kid| self.known(kid).is_none()) {
            self.record_imprecision(Imprecision::Width);
            if kids.iter().any(|&kid| graph.width(kid) > 64) {
                return None;
            }
        }
        let any = |kid| Cow::Owned(Set::full(graph.width(kid)));
        let set = |i: usize| self.known(kids[i]).map_or_else(|| any(kids[i]), Cow::Borrowed);
        let interval_count: usize =
            kids.iter().map(|&kid| self.known(kid).map_or(1, Set::interval_count)).product();
        let image = match kids.len() {
            1 => forward::unary(op, shape(graph, e), &set(0)),
            2 => forward::binary(op, shape(graph, e), &set(0), &set(1)),
            _ => forward::ite(&set(0), &set(1), &set(2)),
        };
        self.cost += interval_count.min(MAX_COUNTED_PAIRS) / PAIRS_PER_NODE;
        self.spent += PAIR_NS * interval_count.min(MAX_COUNTED_PAIRS) as u64;
        Some(image.set)
    }

    /// A read that is not of a variable at a constant index.
    fn read(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        e: Expr,
        source: &mut impl Source,
    ) -> Option<Set> {
        let index = self.known(graph.kid(e, 1)).cloned();
        let found = index.and_then(|index| {
            let few = index.count() <= MAX_CASES;
            let cases = if few { self.read_cases(graph, ranges, e, &index, source) } else { None };
            cases.or_else(|| self.read_many(graph, e, index))
        });
        if found.is_none() {
            self.record_imprecision(Imprecision::Array);
        }
        found
    }

    /// Each index by itself. Nothing if what is found at one of them is not clear.
    fn read_cases(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        e: Expr,
        index: &Set,
        source: &mut impl Source,
    ) -> Option<Set> {
        let mut cases = Vec::new();
        let mut all = Set::empty(graph.width(e));
        for at in index.values() {
            let case = self.find(graph, ranges, e, at)?;
            let set = match case {
                Case::Element(element) => self.known(element)?.clone(),
                Case::Word(word) => Set::single(graph.width(e), word),
                Case::Bits(number) => self.leaf_set(ranges, number, source),
            };
            all = all.union(&set).set;
            cases.push((at, case));
        }
        self.cases.insert(e, cases);
        Some(all)
    }

    /// What a read finds at `at`, if that is clear.
    fn find(&self, graph: &Graph, ranges: &mut BitRanges, e: Expr, at: u64) -> Option<Case> {
        let (width, count) = (graph.width(e), u64::from(graph.read_count(e)));
        let mut array = graph.kid(e, 0);
        for _ in 0..MAX_STORES {
            match graph.op(array) {
                Op::Store => {
                    let stored = self.known(graph.kid(array, 1)).filter(|_| count == 1)?;
                    if stored.value() == Some(at) {
                        return Some(Case::Element(graph.kid(array, 2)));
                    }
                    if stored.contains(at) {
                        return None;
                    }
                    array = graph.kid(array, 0);
                }
                Op::Table => {
                    let elements = &graph.table(array).elements;
                    let length = elements.len() as u64;
                    if at < length && length - at >= count {
                        return Some(Case::Word(table_word(elements, at, count, graph.width(array))));
                    }
                    // A word may lie half in the table.
                    if at < length {
                        return None;
                    }
                    array = graph.kid(array, 0);
                }
                Op::ConstArray if count == 1 => return Some(Case::Element(graph.kid(array, 0))),
                Op::Var => {
                    // Past the last index a word's elements are not adjacent.
                    let last = mask(graph.width(graph.kid(e, 1))) - (count - 1);
                    let bits = range::elements(graph, array, at, width).filter(|_| at <= last)?;
                    return Some(Case::Bits(ranges.number(bits)));
                }
                _ => return None,
            }
        }
        None
    }

    /// The values found at many indices: constants, and stores that may be met on the way.
    fn read_many(&self, graph: &Graph, e: Expr, index: Set) -> Option<Set> {
        let (width, count) = (graph.width(e), u64::from(graph.read_count(e)));
        let mut array = graph.kid(e, 0);
        let mut index = index;
        let mut found = Set::empty(width);
        for _ in 0..MAX_STORES {
            match graph.op(array) {
                Op::Store if count == 1 => {
                    let (at, element) = (self.known(graph.kid(array, 1))?, self.known(graph.kid(array, 2))?);
                    if !at.is_disjoint(&index) {
                        found = found.union(element).set;
                    }
                    array = graph.kid(array, 0);
                }
                Op::Table => {
                    let elements = &graph.table(array).elements;
                    let inside = table_indices(&index, elements.len() as u64, count);
                    if inside.count() > MAX_INDICES {
                        return None;
                    }
                    let step = graph.width(array);
                    let words = inside.values().map(|at| table_word(elements, at, count, step));
                    found = found.union(&Set::from_values(width, words).set).set;
                    if index.is_subset(&inside) {
                        return Some(found);
                    }
                    // A word may lie half in the table.
                    if count > 1 && !(inside.is_empty() && index.min() >= Some(elements.len() as u64)) {
                        return None;
                    }
                    index = inside.complement().set.intersect(&index).set;
                    array = graph.kid(array, 0);
                }
                Op::ConstArray if count == 1 => {
                    return Some(found.union(self.known(graph.kid(array, 0))?).set);
                }
                _ => return None,
            }
        }
        None
    }
}

/// The members of `index` at which a word of `count` elements lies wholly in a table of `length`.
pub fn table_indices(index: &Set, length: u64, count: u64) -> Set {
    match length.checked_sub(count) {
        Some(last) => index.intersect(&Set::interval(index.width(), 0, last.min(mask(index.width())))).set,
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
