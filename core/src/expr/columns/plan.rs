//! A plan: the nodes of expressions as steps in topological order, each with the slot of its column.
//!
//! A slot is reused after the last step that reads it, so memory depends on live columns, not on the size of
//! the expression. Leaves, constants, roots, operands of arrays and word reads (which may be bound as a
//! whole) keep their slots. A plan holds handles of its atoms and roots; `alive` returns whether it survives
//! a collection.

use crate::expr::eval::{self, Shape};
use crate::expr::walk::{ArrayForm, Atom, element_range};
use crate::expr::{Alive, Bits, Expr, Graph, Op, Sort};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

pub(super) enum Step {
    /// Operands and result have at most 64 bits.
    Word {
        op: Op,
        shape: Shape,
        args: [u32; 3],
        out: u32,
    },
    /// An operand or the result is wider.
    Wide {
        op: Op,
        shape: Shape,
        args: [u32; 3],
        widths: [u32; 3],
        out: u32,
    },
    /// Adjacent elements of an array variable; the plan lists their slots.
    Elements {
        first: u32,
        count: u32,
        element: u32,
        out: u32,
    },
    /// A read at a computed index, or of an array that is not a variable.
    Read {
        array: u32,
        index: u32,
        shape: ReadShape,
        out: u32,
    },
    EqualArrays {
        a: u32,
        b: u32,
        out: u32,
    },
}

impl Step {
    pub(super) fn out(&self) -> u32 {
        match self {
            Step::Word { out, .. } | Step::Wide { out, .. } | Step::Elements { out, .. } => *out,
            Step::Read { out, .. } | Step::EqualArrays { out, .. } => *out,
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct ReadShape {
    pub(super) index_width: u32,
    pub(super) element: u32,
    pub(super) count: u32,
}

/// An array expression; `then`, `otherwise` and `base` are numbers of array nodes, the rest are slots.
pub(super) enum ArrayNode {
    Variable(usize),
    Constant { value: u32 },
    Table { elements: Arc<[u64]>, base: u32 },
    Store { base: u32, index: u32, element: u32 },
    Ite { condition: u32, then: u32, otherwise: u32 },
}

/// A column that is bound, not computed.
pub(super) struct Leaf {
    pub(super) atom: Atom,
    pub(super) slot: u32,
    pub(super) width: u32,
    /// Index width of the array, for an element.
    pub(super) index_width: u32,
}

/// Expressions compiled for `Columns`; can be run any number of times.
pub struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) slots: usize,
    pub(super) constants: Vec<(u32, Bits)>,
    /// Sorted by atom.
    pub(super) leaves: Vec<Leaf>,
    pub(super) roots: Vec<u32>,
    pub(super) root_widths: Vec<u32>,
    /// Number of steps that compute root i and all roots before it.
    pub(super) ends: Vec<usize>,
    /// Array nodes with index and element widths.
    pub(super) array_nodes: Vec<(ArrayNode, u32, u32)>,
    /// Array variables that are not only read at constant indices.
    pub(super) array_variables: Vec<Expr>,
    arrays: Vec<Expr>,
    element_slots: Vec<u32>,
    reads: FxHashMap<Expr, usize>,
    elements: FxHashMap<Expr, Atom>,
    root_exprs: Vec<Expr>,
}

impl Plan {
    /// Compiles booleans and bit-vectors, which are identified by their positions in `roots`.
    pub fn new(graph: &Graph, roots: &[Expr]) -> Plan {
        debug_assert!(roots.iter().all(|&root| !graph.is_array(root)), "arrays have no column");
        Compiler::compile(graph, roots)
    }

    /// Returns the atoms that the roots depend on, sorted. An array that is not only read at constant indices
    /// is one atom.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        let mut arrays = self.array_variables.clone();
        arrays.sort_unstable();
        self.leaves.iter().map(|leaf| leaf.atom).chain(arrays.into_iter().map(Atom::Array))
    }

    pub fn roots(&self) -> &[Expr] {
        &self.root_exprs
    }

    /// Returns whether all nodes of the plan survive the collection.
    pub fn alive(&self, alive: &Alive) -> bool {
        self.root_exprs.iter().all(|&root| alive.has(root))
    }

    /// Number of columns of a run: each takes 8 bytes per lane.
    pub fn columns(&self) -> usize {
        self.slots
    }

    pub(super) fn leaf(&self, atom: Atom) -> Option<u32> {
        self.leaves.binary_search_by_key(&atom, |leaf| leaf.atom).ok().map(|i| self.leaves[i].slot)
    }

    pub(super) fn elements_of(&self, array: Expr) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter().filter(move |leaf| matches!(leaf.atom, Atom::Element(a, _) if a == array))
    }

    pub(super) fn array_number(&self, array: Expr) -> Option<usize> {
        self.array_variables.iter().position(|&a| a == array)
    }

    pub(super) fn arrays(&self) -> &[Expr] {
        &self.arrays
    }

    pub(super) fn element_slots(&self, first: u32, count: u32) -> impl Iterator<Item = u32> + '_ {
        self.element_slots[first as usize..(first + count) as usize].iter().copied()
    }

    pub(super) fn read_step(&self, read: Expr) -> Option<usize> {
        self.reads.get(&read).copied()
    }

    /// Returns the atom of a read of a single element.
    pub(super) fn element_of(&self, read: Expr) -> Option<Atom> {
        self.elements.get(&read).copied()
    }
}

struct Compiler<'a> {
    graph: &'a Graph,
    plan: Plan,
    /// Slots of bit-vectors and booleans.
    places: FxHashMap<Expr, u32>,
    /// Numbers of array nodes.
    array_places: FxHashMap<Expr, u32>,
    atoms: FxHashMap<Atom, u32>,
    /// The last step that uses a node with a reusable slot.
    last_use: FxHashMap<Expr, usize>,
    free: Vec<u32>,
}

/// Returns the operands to compute for `e`: none for a read that consists of atoms.
fn operands(graph: &Graph, e: Expr) -> smallvec::SmallVec<[Expr; 3]> {
    if graph.op(e) == Op::Read && element_range(graph, e).is_some() {
        return smallvec::SmallVec::new();
    }
    graph.kids(e)
}

/// Returns the nodes in topological order, those of the first root first, and the number of nodes up to each
/// root.
fn order(graph: &Graph, roots: &[Expr]) -> (Vec<Expr>, Vec<usize>) {
    let (mut nodes, mut ends) = (Vec::new(), Vec::new());
    let mut seen = FxHashSet::default();
    let mut stack: Vec<(Expr, bool)> = Vec::new();
    for &root in roots {
        stack.push((root, false));
        while let Some((e, opened)) = stack.pop() {
            if opened {
                nodes.push(e);
            } else if seen.insert(e) {
                stack.push((e, true));
                stack.extend(operands(graph, e).into_iter().rev().map(|kid| (kid, false)));
            }
        }
        ends.push(nodes.len());
    }
    (nodes, ends)
}

impl Compiler<'_> {
    fn compile(graph: &Graph, roots: &[Expr]) -> Plan {
        let (nodes, node_ends) = order(graph, roots);
        let mut compiler = Compiler {
            graph,
            plan: Plan {
                steps: Vec::new(),
                slots: 0,
                constants: Vec::new(),
                leaves: Vec::new(),
                roots: Vec::new(),
                root_widths: roots.iter().map(|&root| graph.width(root)).collect(),
                ends: Vec::new(),
                array_nodes: Vec::new(),
                array_variables: Vec::new(),
                arrays: Vec::new(),
                element_slots: Vec::new(),
                reads: FxHashMap::default(),
                elements: FxHashMap::default(),
                root_exprs: roots.to_vec(),
            },
            places: FxHashMap::default(),
            array_places: FxHashMap::default(),
            atoms: FxHashMap::default(),
            last_use: last_uses(graph, &nodes, roots),
            free: Vec::new(),
        };
        let mut done = 0;
        for end in node_ends {
            for (at, &e) in nodes[done..end].iter().enumerate() {
                compiler.node(e);
                compiler.release(e, done + at);
            }
            done = end;
            compiler.plan.ends.push(compiler.plan.steps.len());
        }
        let mut plan = compiler.plan;
        plan.roots = roots.iter().map(|root| compiler.places[root]).collect();
        plan.leaves.sort_unstable_by_key(|leaf| leaf.atom);
        plan.arrays.sort_unstable();
        plan.arrays.dedup();
        plan
    }

    /// Returns a new slot.
    fn fresh(&mut self) -> u32 {
        self.plan.slots += 1;
        u32::try_from(self.plan.slots - 1).expect("fewer columns than nodes")
    }

    fn node(&mut self, e: Expr) {
        let graph = self.graph;
        if graph.is_array(e) {
            return self.array(e);
        }
        let slot = match graph.op(e) {
            Op::Const => {
                let slot = self.fresh();
                self.plan.constants.push((slot, graph.const_bits(e).expect("a constant")));
                slot
            }
            Op::Var => self.leaf(Atom::Variable(e), graph.width(e), 0),
            Op::Read => self.read(e),
            _ => {
                let out = self.free.pop().unwrap_or_else(|| self.fresh());
                let step = self.step(e, out);
                self.plan.steps.push(step);
                out
            }
        };
        self.places.insert(e, slot);
    }

    /// Frees the slots of operands that no later node uses.
    fn release(&mut self, e: Expr, at: usize) {
        let mut kids = operands(self.graph, e);
        kids.sort_unstable();
        kids.dedup();
        for kid in kids {
            if self.last_use.get(&kid) == Some(&at) {
                self.free.push(self.places[&kid]);
            }
        }
    }

    fn leaf(&mut self, atom: Atom, width: u32, index_width: u32) -> u32 {
        if let Some(&slot) = self.atoms.get(&atom) {
            return slot;
        }
        let slot = self.fresh();
        self.atoms.insert(atom, slot);
        self.plan.leaves.push(Leaf { atom, slot, width, index_width });
        slot
    }

    fn read(&mut self, e: Expr) -> u32 {
        let graph = self.graph;
        let array = graph.kid(e, 0);
        let Sort::Array { index: index_width, element } = graph.sort(array) else {
            unreachable!("reads are of arrays")
        };
        if let Some((array, first, count)) = element_range(graph, e) {
            self.plan.arrays.push(array);
            if count == 1 {
                self.plan.elements.insert(e, Atom::Element(array, first));
                return self.leaf(Atom::Element(array, first), element, index_width);
            }
            let start = self.plan.element_slots.len() as u32;
            for i in 0..count {
                let slot = self.leaf(Atom::Element(array, first + i), element, index_width);
                self.plan.element_slots.push(slot);
            }
            let out = self.fresh();
            self.plan.reads.insert(e, self.plan.steps.len());
            self.plan.steps.push(Step::Elements { first: start, count: count as u32, element, out });
            return out;
        }
        let out = self.free.pop().unwrap_or_else(|| self.fresh());
        let shape = ReadShape { index_width, element, count: graph.read_count(e) };
        let (array, index) = (self.array_places[&array], self.places[&graph.kid(e, 1)]);
        self.plan.steps.push(Step::Read { array, index, shape, out });
        out
    }

    fn step(&self, e: Expr, out: u32) -> Step {
        let graph = self.graph;
        let kids = graph.kids(e);
        if graph.is_array(kids[0]) {
            return Step::EqualArrays { a: self.array_places[&kids[0]], b: self.array_places[&kids[1]], out };
        }
        let op = graph.op(e);
        let shape = eval::shape(graph, graph.node(e));
        let arg = |i: usize| kids.get(i).copied().unwrap_or(kids[0]);
        let args = [0, 1, 2].map(|i| self.places[&arg(i)]);
        let widths = [0, 1, 2].map(|i| graph.width(arg(i)));
        if shape.width <= 64 && widths.iter().all(|&width| width <= 64) {
            Step::Word { op, shape, args, out }
        } else {
            Step::Wide { op, shape, args, widths, out }
        }
    }

    fn array(&mut self, e: Expr) {
        let graph = self.graph;
        let node = match graph.array_form(e) {
            ArrayForm::Variable => {
                self.plan.array_variables.push(e);
                self.plan.arrays.push(e);
                ArrayNode::Variable(self.plan.array_variables.len() - 1)
            }
            ArrayForm::Constant { value } => ArrayNode::Constant { value: self.places[&value] },
            ArrayForm::Table { base } => {
                ArrayNode::Table { elements: graph.table(e).elements.clone(), base: self.array_places[&base] }
            }
            ArrayForm::Store { base, index, element } => ArrayNode::Store {
                base: self.array_places[&base],
                index: self.places[&index],
                element: self.places[&element],
            },
            ArrayForm::Ite { condition, then, otherwise } => ArrayNode::Ite {
                condition: self.places[&condition],
                then: self.array_places[&then],
                otherwise: self.array_places[&otherwise],
            },
        };
        let Sort::Array { index, element } = graph.sort(e) else { unreachable!("an array") };
        self.array_places.insert(e, self.plan.array_nodes.len() as u32);
        self.plan.array_nodes.push((node, index, element));
    }
}

/// Returns the position in `nodes` of the last user of each node with a reusable slot.
fn last_uses(graph: &Graph, nodes: &[Expr], roots: &[Expr]) -> FxHashMap<Expr, usize> {
    let mut last = FxHashMap::default();
    for (at, &e) in nodes.iter().enumerate() {
        for kid in operands(graph, e).into_iter().filter(|&kid| !graph.is_array(kid)) {
            last.insert(kid, at);
        }
    }
    let keeps = |e: Expr| match graph.op(e) {
        Op::Const | Op::Var => true,
        Op::Read => element_range(graph, e).is_some(),
        _ => false,
    };
    last.retain(|&e, _| !keeps(e));
    for root in roots {
        last.remove(root);
    }
    for &array in nodes.iter().filter(|&&e| graph.is_array(e)) {
        for kid in graph.kids(array) {
            last.remove(&kid);
        }
    }
    last
}
