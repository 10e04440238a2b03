//! From expressions to gates: every boolean and bit-vector expression becomes a word of literals, once.
//!
//! Inputs come in slots: the bits of a variable, of one element of an array variable, of the value of a read at a
//! computed index, or of a comparison of arrays. `cone` says which inputs a literal depends on. Everything is a
//! definition except the lemmas of `arrays.rs`, and those hold of every array: so an assignment of a cone's inputs
//! that is consistent there extends to all other gates, whatever they are. The layer `sat` stops at such an
//! assignment. Meanings are those of `eval.rs`, and are tested against it.

mod arrays;
pub mod batsat;
pub mod cadical;
pub mod circuit;
pub mod cnf;
mod consistency;
pub mod gate;
mod index_sets;
mod sample;
pub mod sat_solver;
mod table;

pub use arrays::ArrayTerm;
pub use consistency::Consistency;

use crate::budget::{Budget, Why};
use crate::expr::walk::Atom;
use crate::expr::{Alive, Bits, Expr, Graph, Op};
use arrays::Arrays;
use circuit::Word;
use gate::{Gate, Gates, Lit};
use index_sets::IndexSets;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Gates that there may be at once. Each costs up to about 200 bytes once it is in a SAT solver.
pub const MAX_GATES: usize = 4_000_000;

/// What a slot's inputs are the bits of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// A boolean or bit-vector variable.
    Variable(Expr),
    /// The element of an array variable at a constant index.
    Element { array: Expr, index: Bits },
    /// What an array variable holds where nothing looks. Only comparisons of arrays ask.
    Unmentioned(Expr),
    /// A value or an index that `arrays.rs` keeps consistent.
    ArrayTerm(ArrayTerm),
    /// An index at which two arrays differ, if any.
    Witness,
}

/// Inputs `first .. first + width`.
#[derive(Clone, Debug)]
pub struct Slot {
    pub first: u32,
    pub width: u32,
    pub owner: Owner,
}

/// What a literal depends on.
#[derive(Clone, Debug, Default)]
pub struct Cone {
    /// Input gates, ascending.
    pub inputs: Vec<u32>,
    /// Array accesses and comparisons among them, ascending.
    pub array_terms: Vec<ArrayTerm>,
    /// All gates, these inputs included.
    pub gates: usize,
}

#[derive(Default)]
pub struct Blaster {
    pub gates: Gates,
    /// Array expressions have an empty word: they are in gates as far as they are read.
    words: FxHashMap<Expr, Box<[Lit]>>,
    /// Ascending by `first`.
    slots: Vec<Slot>,
    quotients: FxHashMap<(Expr, Expr), (Word, Word)>,
    cones: FxHashMap<Lit, Arc<Cone>>,
    arrays: Arrays,
    index_sets: IndexSets,
    /// Of these inputs only the low bits are free, so many of them; the others are zero.
    input_widths: FxHashMap<Atom, u32>,
}

impl Blaster {
    pub fn new() -> Blaster {
        Blaster::default()
    }

    /// One whose gates hold where some inputs are small: so many bits of each.
    pub fn with_input_widths(bits: FxHashMap<Atom, u32>) -> Blaster {
        Blaster { input_widths: bits, ..Blaster::default() }
    }

    /// Has nothing been blasted yet?
    pub fn is_fresh(&self) -> bool {
        self.words.is_empty()
    }

    /// What may be used from now on.
    pub fn allow(&mut self, budget: &Budget, gates: usize) {
        self.gates.allow(budget, gates.min(MAX_GATES));
    }

    /// The literal of a boolean.
    pub fn literal(&mut self, graph: &Graph, e: Expr) -> Result<Lit, Why> {
        debug_assert!(graph.is_bool(e));
        Ok(self.word(graph, e)?[0])
    }

    /// The word of an expression. Stops when the budget or the gates run out; what was built until then stays.
    pub fn word(&mut self, graph: &Graph, e: Expr) -> Result<&[Lit], Why> {
        if !self.words.contains_key(&e) {
            self.build(graph, e)?;
        }
        Ok(&self.words[&e])
    }

    fn build(&mut self, graph: &Graph, root: Expr) -> Result<(), Why> {
        let mut stack = vec![(root, false)];
        while let Some((e, opened)) = stack.pop() {
            if self.words.contains_key(&e) {
                continue;
            }
            if !opened {
                stack.push((e, true));
                stack.extend(graph.kids(e).into_iter().map(|kid| (kid, false)));
                continue;
            }
            let word = self.node(graph, e);
            if let Some(why) = self.gates.stopped() {
                return Err(why.clone());
            }
            self.words.insert(e, word.into());
        }
        Ok(())
    }

    fn node(&mut self, graph: &Graph, e: Expr) -> Word {
        let op = graph.op(e);
        if graph.is_array(e) {
            return Word::new();
        }
        match op {
            Op::Const => circuit::constant(&graph.const_bits(e).expect("a constant")),
            Op::Var => self.inputs(graph.width(e), Owner::Variable(e)),
            Op::Read => self.read(graph, e),
            Op::Eq if graph.is_array(graph.kid(e, 0)) => vec![self.same_array(graph, e)],
            // A quotient and a remainder are one circuit.
            Op::UDiv => self.quotient(graph, e).0,
            Op::URem => self.quotient(graph, e).1,
            Op::Not | Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::Mul | Op::SDiv | Op::SRem => {
                self.plain(graph, e)
            }
            Op::Shl | Op::LShr | Op::AShr | Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                self.plain(graph, e)
            }
            Op::Concat | Op::Extract | Op::ZExt | Op::SExt | Op::Ite => self.plain(graph, e),
            Op::Table | Op::ConstArray | Op::Store => unreachable!("{op:?} is an array"),
        }
    }

    fn plain(&mut self, graph: &Graph, e: Expr) -> Word {
        let op = graph.op(e);
        let low = if op == Op::Extract { graph.extract_low(e) } else { 0 };
        let kids = graph.kids(e);
        let operands: smallvec::SmallVec<[&[Lit]; 3]> = kids.iter().map(|kid| &*self.words[kid]).collect();
        circuit::apply(&mut self.gates, op, graph.width(e), low, &operands)
    }

    fn quotient(&mut self, graph: &Graph, e: Expr) -> (Word, Word) {
        let key = (graph.kid(e, 0), graph.kid(e, 1));
        if let Some(known) = self.quotients.get(&key) {
            return known.clone();
        }
        let both = circuit::divide(&mut self.gates, &self.words[&key.0], &self.words[&key.1]);
        if self.gates.stopped().is_none() {
            self.quotients.insert(key, both.clone());
        }
        both
    }

    /// A new slot.
    fn inputs(&mut self, width: u32, owner: Owner) -> Word {
        let first = self.gates.len() as u32;
        let mut word: Word = (0..width).map(|_| self.gates.input()).collect();
        let atom = match &owner {
            Owner::Variable(v) => Some(Atom::Variable(*v)),
            Owner::Element { array, index } => Some(Atom::Element(*array, index.low())),
            Owner::Unmentioned(_) | Owner::ArrayTerm(_) | Owner::Witness => None,
        };
        if let Some(&bits) = atom.and_then(|atom| self.input_widths.get(&atom)) {
            word[bits as usize..].fill(Lit::FALSE);
        }
        if self.gates.stopped().is_none() {
            self.slots.push(Slot { first, width, owner });
        }
        word
    }

    /// The slot of an input gate, and which of its bits that is.
    pub fn slot(&self, input: u32) -> (&Slot, u32) {
        let at = self.slots.partition_point(|slot| slot.first <= input) - 1;
        let slot = &self.slots[at];
        (slot, input - slot.first)
    }

    /// The inputs that `root` depends on. Behind the value of a read is its index, behind a comparison of arrays
    /// whatever keeps it honest.
    pub fn cone(&mut self, root: Lit) -> Arc<Cone> {
        if let Some(known) = self.cones.get(&root) {
            return known.clone();
        }
        let mut cone = Cone::default();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut array_terms: FxHashSet<ArrayTerm> = FxHashSet::default();
        let mut roots = vec![root];
        while !roots.is_empty() {
            let mut inputs = Vec::new();
            let visit = |node: u32| {
                if self.gates.gate(node) == Gate::Input {
                    inputs.push(node);
                }
            };
            self.gates.walk(&roots, |node| seen.insert(node), visit);
            roots.clear();
            for &input in &inputs {
                if let Owner::ArrayTerm(array_term) = self.slot(input).0.owner
                    && array_terms.insert(array_term)
                {
                    roots.extend_from_slice(self.arrays.behind(array_term));
                }
            }
            cone.inputs.append(&mut inputs);
        }
        cone.gates = seen.len();
        cone.inputs.sort_unstable();
        cone.array_terms = array_terms.into_iter().collect();
        cone.array_terms.sort_unstable();
        let cone = Arc::new(cone);
        self.cones.insert(root, cone.clone());
        cone
    }

    /// Expressions that are not alive are about to be reused. False if most gates serve none that is: better to
    /// start again.
    pub fn sweep(&mut self, alive: &Alive) -> bool {
        self.words.retain(|e, _| alive.has(*e));
        self.quotients.retain(|(a, b), _| alive.has(*a) && alive.has(*b));
        self.arrays.sweep(alive);
        self.index_sets.sweep(alive);
        let roots: Vec<Lit> = self.words.values().flat_map(|word| word.iter().copied()).collect();
        let (mut used, mut marked) = (0, vec![false; self.gates.len()]);
        self.gates.walk(&roots, |node| !std::mem::replace(&mut marked[node as usize], true), |_| used += 1);
        self.cones.retain(|root, _| marked[root.node() as usize]);
        used * 2 >= self.gates.len() || self.gates.len() < 10_000
    }
}
