//! Bottom-up evaluation of an expression on sets.
//!
//! Sound for every expression: nodes of more than 64 bits and unsupported nodes can have any value. Reads of tables
//! and stores are resolved as far as the set of the index allows. A read of an array variable at an index with one
//! value is a leaf.

use super::forward;
use super::range::{self, BitRanges};
use super::set::Set;
use crate::cost;
use crate::expr::bits::mask;
use crate::expr::eval::Shape;
use crate::expr::{Expr, Family, Graph, Op};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::hash_map::Entry;

/// Expressions with more nodes are not folded.
pub const MAX_NODES: usize = 1024;
/// Maximum number of indices into a table that are looked up one by one.
pub const MAX_INDICES: u128 = 4096;
/// Maximum number of indices of a read that are handled as separate cases.
const MAX_READ_CASES: u128 = 8;
/// Maximum number of stores that a read skips.
const MAX_SKIPPED_STORES: usize = 256;

/// Number of interval pairs that cost as much as one node, and the maximum that is counted: above it, images are
/// approximated.
pub const PAIRS_PER_NODE: usize = 32;
const MAX_COUNTED_PAIRS: usize = 1024;

/// Provides the sets of bit ranges.
pub trait SetSource {
    fn set(&mut self, ranges: &mut BitRanges, number: u32) -> Set;
}

/// Every range has all values.
pub struct Unconstrained;

impl SetSource for Unconstrained {
    fn set(&mut self, ranges: &mut BitRanges, number: u32) -> Set {
        Set::full(ranges.range(number).width)
    }
}

/// Result of a read at one index.
#[derive(Clone, Copy, Debug)]
pub enum ReadCase {
    /// The value of this expression.
    Element(Expr),
    /// This range of an array variable.
    Bits(u32),
    Word(u64),
}

/// Reason why sets do not represent an expression exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imprecision {
    /// Too many nodes.
    Size,
    /// More than 64 bits.
    Width,
    /// An array read at an index with many values, or an array compared as a whole.
    Array,
    /// The image or preimage of this operator is not exact.
    Operator(Op),
    /// The operands of this operator share a variable or depend on several.
    Several(Op),
}

/// Sets of the nodes of an expression. Its memory is reused.
#[derive(Default)]
pub struct Fold {
    /// Index of a node in `nodes`. Sets are large, so they are not stored in the hash table, which would move them.
    positions: FxHashMap<Expr, u32>,
    nodes: Vec<FoldedNode>,
    /// Results of reads with few indices, by index.
    cases: FxHashMap<Expr, Vec<(u64, ReadCase)>>,
    /// Ranges whose sets were used.
    pub used: Vec<u32>,
    /// Number of nodes, plus a share for sets of many intervals.
    pub cost: usize,
    /// Estimated nanoseconds of all folds so far.
    pub spent: u64,
    /// First cause of imprecision below the root.
    pub imprecision: Option<Imprecision>,
    /// Nodes to visit; with an index into `nodes` if the operands have been visited.
    stack: Vec<(Expr, Option<u32>)>,
}

#[derive(Default)]
struct FoldedNode {
    set: Option<Set>,
    /// The range, if the node is a leaf.
    leaf: Option<u32>,
}

pub fn shape(graph: &Graph, e: Expr) -> Shape {
    graph.shape(e)
}

/// The image of the sets of the operands of `e`, all values where a set is unknown. `e` is an operator on words of at most
/// 64 bits.
pub fn image<'a>(graph: &Graph, e: Expr, known: impl Fn(Expr) -> Option<&'a Set>) -> Set {
    let kids = graph.kids(e);
    let set = |i: usize| match known(kids[i]) {
        Some(set) => Cow::Borrowed(set),
        None => Cow::Owned(Set::full(graph.width(kids[i]))),
    };
    let image = match kids.len() {
        1 => forward::unary(graph.op(e), shape(graph, e), &set(0)),
        2 => forward::binary(graph.op(e), shape(graph, e), &set(0), &set(1)),
        _ if graph.op(e) == Op::Ite => forward::ite(&set(0), &set(1), &set(2)),
        _ => forward::ternary(graph.op(e), shape(graph, e), [&set(0), &set(1), &set(2)]),
    };
    image.set
}

impl Fold {
    /// The set of `e`, all values if unknown. `e` has at most 64 bits.
    pub fn set(&self, graph: &Graph, e: Expr) -> Set {
        match self.known(e) {
            Some(set) => set.clone(),
            None => Set::full(graph.width(e)),
        }
    }

    fn folded(&self, e: Expr) -> Option<&FoldedNode> {
        self.positions.get(&e).map(|&position| &self.nodes[position as usize])
    }

    pub fn known(&self, e: Expr) -> Option<&Set> {
        self.folded(e)?.set.as_ref()
    }

    pub fn leaf(&self, e: Expr) -> Option<u32> {
        self.folded(e)?.leaf
    }

    /// Results of a read with few indices, by index.
    pub fn cases(&self, e: Expr) -> Option<&[(u64, ReadCase)]> {
        self.cases.get(&e).map(|cases| &cases[..])
    }

    /// Computes the sets of `root` and its operands. Returns false if there are too many nodes or the cost exceeds
    /// `limit`.
    pub fn run(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        root: Expr,
        source: &mut impl SetSource,
        limit: usize,
    ) -> bool {
        self.positions.clear();
        self.nodes.clear();
        self.cases.clear();
        self.used.clear();
        self.cost = 0;
        self.imprecision = None;
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push((root, None));
        while let Some((e, expanded)) = stack.pop() {
            graph.unwinder.check();
            if let Some(position) = expanded {
                self.nodes[position as usize].set = self.node(graph, ranges, e, source);
                continue;
            }
            let position = self.nodes.len() as u32;
            match self.positions.entry(e) {
                Entry::Occupied(_) => continue,
                Entry::Vacant(free) => free.insert(position),
            };
            if self.nodes.len() == MAX_NODES || self.cost > limit {
                self.imprecision = Some(Imprecision::Size);
                self.stack = stack;
                return false;
            }
            self.nodes.push(FoldedNode::default());
            self.cost += 1;
            self.spent += cost::FOLD_NODE;
            if let Some(value) = graph.const_word(e) {
                self.nodes[position as usize].set = Some(Set::single(graph.width(e), value));
                continue;
            }
            if let Some(bits) = range::leaf_bits(graph, e) {
                let number = ranges.number(bits);
                let set = self.leaf_set(ranges, number, source);
                self.nodes[position as usize] = FoldedNode { set: Some(set), leaf: Some(number) };
                continue;
            }
            stack.push((e, Some(position)));
            for kid in graph.kids(e).into_iter().rev() {
                if !self.positions.contains_key(&kid) {
                    stack.push((kid, None));
                }
            }
        }
        self.stack = stack;
        true
    }

    fn leaf_set(&mut self, ranges: &mut BitRanges, number: u32, source: &mut impl SetSource) -> Set {
        if !self.used.contains(&number) {
            self.used.push(number);
        }
        source.set(ranges, number)
    }

    fn record_imprecision(&mut self, why: Imprecision) {
        self.imprecision.get_or_insert(why);
    }

    /// The set of a node whose operands have been visited; `None` if it is unsupported.
    fn node(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        e: Expr,
        source: &mut impl SetSource,
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
        // An operand without a set can have any value, provided that it has at most 64 bits.
        if kids.iter().any(|&kid| self.known(kid).is_none()) {
            self.record_imprecision(Imprecision::Width);
            if kids.iter().any(|&kid| graph.width(kid) > 64) {
                return None;
            }
        }
        let interval_count: usize =
            kids.iter().map(|&kid| self.known(kid).map_or(1, Set::interval_count)).product();
        let image = image(graph, e, |kid| self.known(kid));
        self.cost += interval_count.min(MAX_COUNTED_PAIRS) / PAIRS_PER_NODE;
        self.spent += cost::INTERVAL_PAIR * interval_count.min(MAX_COUNTED_PAIRS) as u64;
        if let Family::Float(float) = op.family()
            && float.rounds()
        {
            self.spent += cost::FLOAT_NODE;
        }
        Some(image)
    }

    /// A read that is not of a variable at a constant index.
    fn read(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        e: Expr,
        source: &mut impl SetSource,
    ) -> Option<Set> {
        let index = self.known(graph.kid(e, 1)).cloned();
        let found = index.and_then(|index| {
            let is_small = index.count() <= MAX_READ_CASES;
            let cases = if is_small { self.read_cases(graph, ranges, e, &index, source) } else { None };
            cases.or_else(|| self.read_many(graph, e, index))
        });
        if found.is_none() {
            self.record_imprecision(Imprecision::Array);
        }
        found
    }

    /// Union over the indices; `None` if the result at one of them is unknown.
    fn read_cases(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        e: Expr,
        index: &Set,
        source: &mut impl SetSource,
    ) -> Option<Set> {
        let mut cases = Vec::new();
        let mut all = Set::empty(graph.width(e));
        for at in index.values() {
            let case = self.find(graph, ranges, e, at)?;
            let set = match case {
                ReadCase::Element(element) => self.known(element)?.clone(),
                ReadCase::Word(word) => Set::single(graph.width(e), word),
                ReadCase::Bits(number) => self.leaf_set(ranges, number, source),
            };
            all = all.union(&set).set;
            cases.push((at, case));
        }
        self.cases.insert(e, cases);
        Some(all)
    }

    /// Result of a read at index `at`, if it is known.
    fn find(&self, graph: &Graph, ranges: &mut BitRanges, e: Expr, at: u64) -> Option<ReadCase> {
        let (width, count) = (graph.width(e), u64::from(graph.read_count(e)));
        let mut array = graph.kid(e, 0);
        for _ in 0..MAX_SKIPPED_STORES {
            match graph.op(array) {
                Op::Store => {
                    let stored = self.known(graph.kid(array, 1)).filter(|_| count == 1)?;
                    if stored.value() == Some(at) {
                        return Some(ReadCase::Element(graph.kid(array, 2)));
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
                        return Some(ReadCase::Word(table_word(elements, at, count, graph.width(array))));
                    }
                    // The elements of the word may lie partly inside the table.
                    if at < length {
                        return None;
                    }
                    array = graph.kid(array, 0);
                }
                Op::ConstArray if count == 1 => return Some(ReadCase::Element(graph.kid(array, 0))),
                Op::Var => {
                    // Beyond this index the elements of a word wrap around and are not adjacent.
                    let last = mask(graph.width(graph.kid(e, 1))) - (count - 1);
                    let bits = range::elements(graph, array, at, width).filter(|_| at <= last)?;
                    return Some(ReadCase::Bits(ranges.number(bits)));
                }
                _ => return None,
            }
        }
        None
    }

    /// Values of a read with many indices: constants, and the elements of stores whose index may match.
    fn read_many(&self, graph: &Graph, e: Expr, index: Set) -> Option<Set> {
        let (width, count) = (graph.width(e), u64::from(graph.read_count(e)));
        let mut array = graph.kid(e, 0);
        let mut index = index;
        let mut found = Set::empty(width);
        for _ in 0..MAX_SKIPPED_STORES {
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
                    // The elements of the word may lie partly inside the table.
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

/// Members of `index` at which a word of `count` elements lies inside a table of `length` elements.
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
