//! Hash-consed expressions over booleans, bit-vectors and arrays.
//!
//! `Graph` owns every node; `Expr` is a handle to a node, and equal expressions have equal handles. Building an
//! expression simplifies it (`build.rs`, `rewrite/`); only `eval.rs` defines its meaning. Nodes are freed only
//! by `Graph::collect`, which gets all live roots; debug builds detect handles used after their node was
//! collected.

pub mod bits;
mod build;
pub use build::{PLACEHOLDER, Poison, UNWRITTEN};
pub mod builtin;
mod collect;
pub mod columns;
pub mod eval;
mod extensions;
pub mod float;
pub mod kquery;
mod op;
mod rewrite;
mod sharing;
pub mod smtlib;
mod sort;
pub mod value;
pub mod walk;

pub use bits::{Bits, MAX_WIDTH};
pub use builtin::Builtin;
pub use collect::Alive;
pub use eval::Evaluator;
pub use op::{
    ArithOp, ArrayOp, BitsOp, CompareOp, Family, FloatOp, LeafOp, Op, ResultSort, ShapeOp, ShiftOp,
};
pub use rewrite::Rule;
pub(crate) use rewrite::{Monomial, Polynomial};
pub use sort::{Sort, SortError};
pub use value::{ArrayValue, Model, Value};

use crate::budget::Unwinder;
use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A handle to a node of a `Graph`. Only valid with the graph that created it.
#[derive(Clone, Copy)]
pub struct Expr {
    id: u32,
    /// Number of times slot `id` was freed before this node got it.
    #[cfg(debug_assertions)]
    generation: u32,
}

impl Expr {
    /// The slot number: dense, reused after a collection. Used as index of tables keyed by expression.
    #[inline]
    pub fn id(self) -> u32 {
        self.id
    }

    #[inline]
    pub fn index(self) -> usize {
        self.id as usize
    }

    /// Packs the handle into a word, for registers that hold either a number or an expression.
    #[inline]
    pub fn to_word(self) -> u64 {
        #[cfg(debug_assertions)]
        return u64::from(self.id) | u64::from(self.generation) << 32;
        #[cfg(not(debug_assertions))]
        u64::from(self.id)
    }

    /// Unpacks a handle packed by `to_word`.
    #[inline]
    pub fn from_word(word: u64) -> Expr {
        Expr {
            id: word as u32,
            #[cfg(debug_assertions)]
            generation: (word >> 32) as u32,
        }
    }
}

impl PartialEq for Expr {
    #[inline]
    fn eq(&self, other: &Expr) -> bool {
        self.id == other.id
    }
}
impl Eq for Expr {}
impl std::hash::Hash for Expr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u32(self.id);
    }
}
impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> std::cmp::Ordering {
        self.id.cmp(&other.id)
    }
}
impl std::fmt::Debug for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "e{}", self.id)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Kind {
    Bool,
    Bits,
    Array,
    /// A collected slot on the free list.
    Free,
}

/// A node of 24 bytes including its operands. `payload` holds the operands, then the parameter (the lowest bit of
/// an extract), which is in `index_width` if there are three operands; the value of a constant, or its number among the wide constants; the number of a variable or a
/// table.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    op: Op,
    kind: Kind,
    /// Width of the value, or of an element for arrays. Booleans have 1.
    width: u32,
    /// Width of an array's index; the parameter of an operator with three operands; otherwise 0.
    index_width: u32,
    payload: [u32; 3],
}

impl Node {
    /// The number that a node has beside its sort and operands, if its operator has one.
    #[inline]
    fn parameter(&self) -> u32 {
        self.payload.get(self.op.arity()).copied().unwrap_or(self.index_width)
    }

    fn parameter_mut(&mut self) -> &mut u32 {
        self.payload.get_mut(self.op.arity()).unwrap_or(&mut self.index_width)
    }

    #[inline]
    fn hash(&self) -> u64 {
        let head = (self.op as u64) << 56 | (self.kind as u64) << 48 | u64::from(self.width) << 20;
        let a = u64::from(self.payload[0]) | u64::from(self.payload[1]) << 32;
        let b = u64::from(self.payload[2]) | u64::from(self.index_width) << 32;
        // Two multiplications mix every bit into the high half, which selects the bucket.
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut h = (head ^ a).wrapping_mul(K);
        h = (h.rotate_left(29) ^ b ^ (a >> 7)).wrapping_mul(K);
        h ^ h >> 32
    }
}

/// The constant elements of a `Table` node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TableData {
    pub elements: Arc<[u64]>,
}

/// Entries that nodes refer to by number and that are freed with them.
struct Slots<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    fn new() -> Slots<T> {
        Slots { items: Vec::new(), free: Vec::new() }
    }

    fn insert(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(i) => {
                self.items[i as usize] = Some(item);
                i
            }
            None => {
                self.items.push(Some(item));
                u32::try_from(self.items.len() - 1).expect("fewer than 2^32 entries")
            }
        }
    }

    fn get(&self, i: u32) -> &T {
        self.items[i as usize].as_ref().expect("a live node's entry")
    }

    fn remove(&mut self, i: u32) -> T {
        self.free.push(i);
        self.items[i as usize].take().expect("a live node's entry")
    }
}

/// The owner of all expressions.
pub struct Graph {
    nodes: Vec<Node>,
    free: Vec<u32>,
    table: HashTable<u32>,
    wides: Slots<Bits>,
    wide_numbers: FxHashMap<Bits, u32>,
    names: Slots<Arc<str>>,
    variables: FxHashMap<Arc<str>, Expr>,
    tables: Slots<TableData>,
    table_numbers: FxHashMap<TableData, u32>,
    rules: rewrite::Counters,
    /// The result of `not` for each node, or 0. Branches request the negations of the same few conditions
    /// repeatedly.
    negations: Vec<u32>,
    /// Whether a float operator was ever built.
    has_floats: bool,
    /// Ends what builds or walks expressions once the run is overdue.
    pub unwinder: Unwinder,
    /// Number of placeholders that were ever made.
    placeholders: u64,
    /// Bytes of the scalars that an array variable of this name was allocated with; 0 if there are several sizes.
    allocated: FxHashMap<Arc<str>, u8>,
    #[cfg(debug_assertions)]
    generations: Vec<u32>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    pub fn new() -> Graph {
        let mut graph = Graph {
            nodes: Vec::new(),
            free: Vec::new(),
            table: HashTable::new(),
            wides: Slots::new(),
            wide_numbers: FxHashMap::default(),
            names: Slots::new(),
            variables: FxHashMap::default(),
            tables: Slots::new(),
            table_numbers: FxHashMap::default(),
            rules: rewrite::Counters::default(),
            negations: Vec::new(),
            has_floats: false,
            unwinder: Unwinder::default(),
            placeholders: 0,
            allocated: FxHashMap::default(),
            #[cfg(debug_assertions)]
            generations: Vec::new(),
        };
        // The two booleans have the fixed slots 0 and 1 and are never collected.
        graph.intern(Op::Const, Sort::Bool, [0, 0, 0]);
        graph.intern(Op::Const, Sort::Bool, [1, 0, 0]);
        graph
    }

    /// Number of nodes that were not collected.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of slots, free ones included: the length of a dense table keyed by `Expr`.
    pub fn slots(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes used by nodes and the hash table, without wide constants and names.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.table.allocation_size()
    }

    #[inline]
    fn handle(&self, id: u32) -> Expr {
        Expr {
            id,
            #[cfg(debug_assertions)]
            generation: self.generations[id as usize],
        }
    }

    #[inline]
    fn node(&self, e: Expr) -> &Node {
        #[cfg(debug_assertions)]
        assert_eq!(self.generations[e.index()], e.generation, "stale handle {e:?}: its node was collected");
        &self.nodes[e.index()]
    }

    /// Returns the cached result of `not`.
    fn negation(&self, e: Expr) -> Option<Expr> {
        self.negations.get(e.index()).filter(|id| **id != 0).map(|id| self.handle(*id))
    }

    /// Returns whether one is the cached negation of the other.
    pub fn are_negations(&self, a: Expr, b: Expr) -> bool {
        self.negation(a) == Some(b) || self.negation(b) == Some(a)
    }

    fn note_negation(&mut self, e: Expr, not: Expr) {
        if self.negations.len() <= e.index() {
            self.negations.resize(self.nodes.len(), 0);
        }
        self.negations[e.index()] = not.id();
    }

    /// Returns the unique node with these contents. Does not simplify.
    fn intern(&mut self, op: Op, sort: Sort, payload: [u32; 3]) -> Expr {
        let (kind, width, index_width) = match sort {
            Sort::Bool => (Kind::Bool, 1, 0),
            Sort::Bits(width) => (Kind::Bits, width, 0),
            Sort::Array { index, element } => (Kind::Array, element, index),
        };
        self.intern_node(Node { op, kind, width, index_width, payload })
    }

    fn intern_node(&mut self, node: Node) -> Expr {
        self.unwinder.check();
        let hash = node.hash();
        if let Some(&id) = self.table.find(hash, |&id| self.nodes[id as usize] == node) {
            return self.handle(id);
        }
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                if self.nodes.len() == self.nodes.capacity() {
                    // Doubling could leave 24 bytes per node unused; large blocks grow in place.
                    self.nodes.reserve_exact(self.nodes.len() / 8 + 64);
                }
                self.nodes.push(node);
                #[cfg(debug_assertions)]
                self.generations.push(0);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 nodes")
            }
        };
        if self.table.len() == self.table.capacity() {
            self.grow_table();
        } else {
            self.table.insert_unique(hash, id, |&id| self.nodes[id as usize].hash());
        }
        self.handle(id)
    }

    /// Doubles the hash table and fills it in node order. hashbrown would rehash in bucket order, which misses
    /// the cache for every node.
    #[cold]
    fn grow_table(&mut self) {
        let room = self.table.capacity() * 2;
        self.table = HashTable::new();
        self.table = HashTable::with_capacity(room.max(64));
        for (id, node) in self.nodes.iter().enumerate() {
            if node.kind != Kind::Free {
                self.table.insert_unique(node.hash(), id as u32, |_| unreachable!("there is room"));
            }
        }
    }

    fn intern1(&mut self, op: Op, sort: Sort, a: Expr) -> Expr {
        self.intern(op, sort, [a.id, 0, 0])
    }

    /// Returns the unique node of an operator on words with a parameter.
    fn intern_operator(&mut self, op: Op, sort: Sort, kids: &[Expr], parameter: u32) -> Expr {
        let (kind, width) = match sort {
            Sort::Bool => (Kind::Bool, 1),
            Sort::Bits(width) => (Kind::Bits, width),
            Sort::Array { .. } => unreachable!("{op:?} is not an array"),
        };
        let mut node = Node { op, kind, width, index_width: 0, payload: [0; 3] };
        for (slot, kid) in node.payload.iter_mut().zip(kids) {
            *slot = kid.id;
        }
        *node.parameter_mut() = parameter;
        self.intern_node(node)
    }

    fn intern2(&mut self, op: Op, sort: Sort, a: Expr, b: Expr) -> Expr {
        self.intern(op, sort, [a.id, b.id, 0])
    }

    /// Returns the expression in a slot.
    pub fn at_slot(&self, slot: u32) -> Expr {
        self.handle(slot)
    }

    // Accessors of nodes.

    #[inline]
    pub fn op(&self, e: Expr) -> Op {
        self.node(e).op
    }

    #[inline]
    pub fn sort(&self, e: Expr) -> Sort {
        let node = self.node(e);
        match node.kind {
            Kind::Bool => Sort::Bool,
            Kind::Bits => Sort::Bits(node.width),
            Kind::Array => Sort::Array { index: node.index_width, element: node.width },
            Kind::Free => unreachable!("a handle to a collected node"),
        }
    }

    /// Width of the value in bits: 1 for a boolean, the element width for an array.
    #[inline]
    pub fn width(&self, e: Expr) -> u32 {
        self.node(e).width
    }

    #[inline]
    pub fn is_bool(&self, e: Expr) -> bool {
        self.node(e).kind == Kind::Bool
    }

    #[inline]
    pub fn is_array(&self, e: Expr) -> bool {
        self.node(e).kind == Kind::Array
    }

    /// Returns operand `i`, which must exist.
    #[inline]
    pub fn kid(&self, e: Expr, i: usize) -> Expr {
        let node = self.node(e);
        debug_assert!(i < node.op.arity());
        self.handle(node.payload[i])
    }

    /// Returns all operands in order.
    #[inline]
    pub fn kids(&self, e: Expr) -> SmallVec<[Expr; 3]> {
        let node = self.node(e);
        node.payload[..node.op.arity()].iter().map(|&id| self.handle(id)).collect()
    }

    /// Returns the number that a node has beside its sort and operands, if its operator has a parameter.
    #[inline]
    pub fn parameter(&self, e: Expr) -> Option<u32> {
        let node = self.node(e);
        node.op.has_parameter().then(|| node.parameter())
    }

    /// Returns the lowest bit that an extract selects.
    #[inline]
    pub fn extract_low(&self, e: Expr) -> u32 {
        debug_assert_eq!(self.op(e), Op::Extract);
        self.node(e).payload[1]
    }

    /// Returns the value of a constant of at most 64 bits.
    #[inline]
    pub fn const_word(&self, e: Expr) -> Option<u64> {
        let node = self.node(e);
        (node.op == Op::Const && node.width <= 64)
            .then(|| u64::from(node.payload[0]) | u64::from(node.payload[1]) << 32)
    }

    /// Returns the value of a constant of any width.
    pub fn const_bits(&self, e: Expr) -> Option<Bits> {
        let node = self.node(e);
        if node.op != Op::Const {
            return None;
        }
        Some(match self.const_word(e) {
            Some(word) => Bits::word(node.width, word),
            None => self.wides.get(node.payload[0]).clone(),
        })
    }

    #[inline]
    pub fn is_const(&self, e: Expr) -> bool {
        self.node(e).op == Op::Const
    }

    #[inline]
    pub fn is_true(&self, e: Expr) -> bool {
        e.id == 1
    }

    #[inline]
    pub fn is_false(&self, e: Expr) -> bool {
        e.id == 0
    }

    /// Returns the name of a variable.
    pub fn name(&self, e: Expr) -> &str {
        debug_assert_eq!(self.op(e), Op::Var);
        self.names.get(self.node(e).payload[0])
    }

    /// Records the bytes of the scalars that an array variable was allocated with: a hint, part of no meaning.
    pub fn set_allocated(&mut self, variable: Expr, bytes: u8) {
        let name: Arc<str> = self.name(variable).into();
        self.allocated
            .entry(name)
            .and_modify(|known| *known = if *known == bytes { bytes } else { 0 })
            .or_insert(bytes);
    }

    /// Bytes of the scalars that an array variable was allocated with, if known; 0 if there are several sizes.
    pub fn allocated(&self, variable: Expr) -> Option<u8> {
        self.allocated.get(self.name(variable)).copied()
    }

    /// Returns the variable of this name if it exists.
    pub fn lookup(&self, name: &str) -> Option<Expr> {
        self.variables.get(name).copied()
    }

    /// Returns the elements of a `Table` node.
    pub fn table(&self, e: Expr) -> &TableData {
        debug_assert_eq!(self.op(e), Op::Table);
        self.tables.get(self.node(e).payload[1])
    }

    /// Number of adjacent elements that a `Read` returns.
    pub fn read_count(&self, e: Expr) -> u32 {
        debug_assert_eq!(self.op(e), Op::Read);
        self.width(e) / self.width(self.kid(e, 0))
    }

    /// Number of times each rewrite rule was applied.
    pub fn rule_counts(&self) -> impl Iterator<Item = (Rule, u64)> + '_ {
        self.rules.iter()
    }
}
