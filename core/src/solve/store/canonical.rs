//! Canonical forms of queries: equal bytes for queries that differ only in names of variables, in the indices of array
//! elements and in the order of the constraints.
//!
//! Constraints are sorted by shape (those of equal shape stay in path order), and so are operands of commuting
//! operators. Every node is written after its operands, with operator, sort, constants, table contents and the positions
//! of its operands; variables are numbered in order of appearance. An array read only at constant indices counts as one
//! variable per element. The bytes are a complete description: queries with equal bytes are equal up to renaming, so a
//! model or core of one is one of the other. If several orders are possible, equal queries may have different bytes:
//! a miss, never a wrong answer.

use super::shape::{Shapes, is_element, mix};
use crate::encoding::{put, put_bits, put_sort};
use crate::expr::walk::{Atom, element_range};
use crate::expr::{Expr, Graph, Op, Sort};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// To be raised when the meaning of an operator changes. New and reordered operators are detected by `semantics`.
const SEMANTICS: u64 = 2;
/// Written instead of an operator's number for a read of elements that are encoded as variables.
pub const ELEMENTS: u8 = u8::MAX;

/// Estimated bytes per node: a limit on nodes is one on bytes too.
const BYTES_PER_NODE: usize = 8;

pub type Key = [u8; 16];

pub struct Canonical {
    pub key: Key,
    pub bytes: Vec<u8>,
    /// Number of nodes that the bytes describe.
    pub nodes: usize,
    /// In the order of `bytes`.
    pub constraints: Vec<Expr>,
    /// The atom of each numbered variable.
    pub variables: Vec<Atom>,
}

/// A hash of the operator table and `SEMANTICS`: queries written with other semantics are different queries.
pub fn semantics() -> u64 {
    static KNOWN: OnceLock<u64> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        Op::ALL.iter().fold(mix(SEMANTICS, 0), |hash, op| {
            format!("{op:?}/{};", op.arity()).bytes().fold(hash, |hash, byte| mix(hash, byte.into()))
        })
    })
}

/// The canonical form of the constraints; `None` if it has more than `limit` nodes.
pub fn canonical(graph: &Graph, shapes: &mut Shapes, all: &[Expr], limit: usize) -> Option<Canonical> {
    let mut seen = FxHashSet::default();
    let mut constraints: Vec<Expr> = all.iter().copied().filter(|e| seen.insert(*e)).collect();
    constraints.sort_by_cached_key(|e| shapes.of(graph, *e));
    let mut whole = FxHashSet::default();
    loop {
        let mut form = Form::new(graph, shapes, limit, &whole);
        for &constraint in &constraints {
            form.add(constraint)?;
        }
        // Elements of an array that also appears as a whole are not encoded as variables.
        let mixed: Vec<Expr> = form.mixed().collect();
        if !mixed.is_empty() {
            whole.extend(mixed);
            continue;
        }
        let nodes = form.numbers.len();
        let (bytes, variables) = form.finish(&constraints);
        let digest = Sha256::digest(&bytes);
        let key = digest[..16].try_into().expect("a digest has 32 bytes");
        return Some(Canonical { key, bytes, nodes, constraints, variables });
    }
}

struct Form<'a> {
    graph: &'a Graph,
    shapes: &'a mut Shapes,
    limit: usize,
    /// Arrays whose elements are not encoded as variables.
    whole: &'a FxHashSet<Expr>,
    numbers: FxHashMap<Expr, u64>,
    nodes: Vec<u8>,
    variables: Vec<Atom>,
    positions: FxHashMap<Atom, u64>,
}

impl<'a> Form<'a> {
    fn new(graph: &'a Graph, shapes: &'a mut Shapes, limit: usize, whole: &'a FxHashSet<Expr>) -> Form<'a> {
        Form {
            graph,
            shapes,
            limit,
            whole,
            numbers: FxHashMap::default(),
            nodes: Vec::new(),
            variables: Vec::new(),
            positions: FxHashMap::default(),
        }
    }

    fn add(&mut self, root: Expr) -> Option<()> {
        let mut stack = vec![(root, false)];
        while let Some((e, expanded)) = stack.pop() {
            if self.numbers.contains_key(&e) {
                continue;
            }
            if !expanded {
                stack.push((e, true));
                if !self.is_variables(e) {
                    stack.extend(self.operands(e).iter().rev().map(|kid| (*kid, false)));
                }
                continue;
            }
            let table = if self.graph.op(e) == Op::Table { self.graph.table(e).elements.len() } else { 0 };
            if self.numbers.len() >= self.limit || (self.nodes.len() + table) / BYTES_PER_NODE >= self.limit {
                return None;
            }
            self.write(e);
            self.numbers.insert(e, self.numbers.len() as u64);
        }
        Some(())
    }

    fn is_variables(&self, e: Expr) -> bool {
        is_element(self.graph, e) && !self.whole.contains(&self.graph.kid(e, 0))
    }

    fn operands(&mut self, e: Expr) -> smallvec::SmallVec<[Expr; 3]> {
        let mut kids = self.graph.kids(e);
        if self.graph.op(e).commutes() {
            kids.sort_by_key(|kid| self.shapes.of(self.graph, *kid));
        }
        kids
    }

    /// The number of a variable, assigned at its first appearance.
    fn number(&mut self, atom: Atom) -> u64 {
        let next = self.variables.len() as u64;
        let number = *self.positions.entry(atom).or_insert(next);
        if number == next {
            self.variables.push(atom);
        }
        number
    }

    /// Writes a node whose operands are numbered.
    fn write(&mut self, e: Expr) {
        let graph = self.graph;
        let op = graph.op(e);
        if self.is_variables(e) {
            let (array, first, count) = element_range(graph, e).expect("constant indices");
            self.nodes.push(ELEMENTS);
            put(&mut self.nodes, count);
            put(&mut self.nodes, graph.width(array).into());
            for index in first..first + count {
                let number = self.number(Atom::Element(array, index));
                put(&mut self.nodes, number);
            }
            return;
        }
        self.nodes.push(op as u8);
        put_sort(&mut self.nodes, graph.sort(e));
        match op {
            Op::Const => put_bits(&mut self.nodes, &graph.const_bits(e).expect("a constant")),
            Op::Var => {
                let atom = if graph.is_array(e) { Atom::Array(e) } else { Atom::Variable(e) };
                let number = self.number(atom);
                put(&mut self.nodes, number);
            }
            Op::Table => {
                let elements = &graph.table(e).elements;
                put(&mut self.nodes, elements.len() as u64);
                elements.iter().for_each(|&element| put(&mut self.nodes, element));
            }
            // Sort, parameter and operands describe these completely.
            _ => {
                if let Some(parameter) = graph.parameter(e) {
                    put(&mut self.nodes, parameter.into());
                }
            }
        }
        let own = self.numbers.len() as u64;
        for kid in self.operands(e) {
            put(&mut self.nodes, own - self.numbers[&kid]);
        }
    }

    /// Arrays that appear both as a whole and by element.
    fn mixed(&self) -> impl Iterator<Item = Expr> + '_ {
        self.variables.iter().filter_map(|atom| match *atom {
            Atom::Element(array, _) if self.positions.contains_key(&Atom::Array(array)) => Some(array),
            Atom::Element(..) | Atom::Array(_) | Atom::Variable(_) => None,
        })
    }

    fn finish(self, constraints: &[Expr]) -> (Vec<u8>, Vec<Atom>) {
        let mut bytes = semantics().to_le_bytes().to_vec();
        put(&mut bytes, self.numbers.len() as u64);
        bytes.extend_from_slice(&self.nodes);
        put(&mut bytes, constraints.len() as u64);
        constraints.iter().for_each(|e| put(&mut bytes, self.numbers[e]));
        (bytes, self.variables)
    }
}

/// The sort of a variable.
pub fn sort_of(graph: &Graph, atom: Atom) -> Sort {
    match atom {
        Atom::Variable(v) | Atom::Array(v) => graph.sort(v),
        Atom::Element(array, _) => Sort::Bits(graph.width(array)),
    }
}
