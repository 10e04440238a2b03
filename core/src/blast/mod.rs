//! From expressions to gates: each boolean and bit-vector expression becomes a word of literals, once.
//!
//! Inputs are grouped in slots: the bits of a variable, of an element of an array variable, of an array access, or
//! of a comparison of arrays. `cone` lists the inputs that a literal depends on. All gates are definitions except
//! the lemmas of `arrays.rs`, which hold for every array. So a consistent assignment of the inputs of a cone
//! extends to all other gates, and the layer `sat` stops at such an assignment. Circuits are tested against
//! `eval.rs`.

mod arrays;
pub mod batsat;
pub mod cadical;
pub mod cdcl;
pub mod circuit;
pub mod cnf;
mod consistency;
pub mod gate;
mod guards;
mod index_sets;
mod lazy_reads;
mod offsets;
mod overflow;
pub mod refute;
mod sample;
pub mod sat_solver;
mod table;

pub use arrays::ArrayTerm;
pub use consistency::Consistency;
pub use guards::GuardLemma;

use crate::budget::{Budget, Why, machine_memory};
use crate::expr::walk::Atom;
use crate::expr::{Alive, ArithOp, ArrayOp, Bits, Expr, Family, Graph, LeafOp};
use arrays::Arrays;
use circuit::Word;
use gate::{Gate, Gates, Lit};
use guards::Guards;
use index_sets::IndexSets;
use overflow::Fits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Approximate size of a gate in bytes once it is in a SAT solver.
const BYTES_PER_GATE: u64 = 200;

/// Maximum number of gates of the representation.
const MAX_GATES: u64 = 1 << 30;

/// Maximum number of gates within the memory limit; without a limit, within half the memory of the machine.
pub fn max_gates(budget: &Budget) -> usize {
    let bytes = budget.memory_mb.map_or_else(|| machine_memory() / 2, |mb| mb.saturating_mul(1 << 20));
    (bytes / BYTES_PER_GATE).min(MAX_GATES) as usize
}

/// The object whose bits are the inputs of a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// A boolean or bit-vector variable.
    Variable(Expr),
    /// The element of an array variable at a constant index.
    Element { array: Expr, index: Bits },
    /// The element of an array variable at every unmentioned index. Only for comparisons of arrays.
    Unmentioned(Expr),
    /// The value of an array access or comparison, constrained by lemmas.
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

/// The inputs and gates that a literal depends on.
#[derive(Clone, Debug, Default)]
pub struct Cone {
    /// Input gates, ascending.
    pub inputs: Vec<u32>,
    /// Array accesses and comparisons among the inputs, ascending.
    pub array_terms: Vec<ArrayTerm>,
    /// Number of gates, inputs included.
    pub gates: usize,
}

#[derive(Default)]
pub struct Blaster {
    pub gates: Gates,
    /// Words by expression. Array expressions have an empty word: their elements get gates when they are read.
    words: FxHashMap<Expr, Box<[Lit]>>,
    /// Ascending by `first`.
    slots: Vec<Slot>,
    quotients: FxHashMap<(Expr, Expr), (Word, Word)>,
    /// Differences of bases of indices (`offsets.rs`).
    differences: FxHashMap<(Expr, Expr), Word>,
    cones: FxHashMap<Lit, Arc<Cone>>,
    arrays: Arrays,
    index_sets: IndexSets,
    guards: Guards,
    /// Comparisons of arrays with indices up to this width are expanded.
    pub expanded_index_width: u32,
    /// Reads over more writes than this are decided on demand; 0 for none.
    pub lazy_reads: u32,
    /// Number of low bits that are free, by input; the other bits are zero. Inputs not listed are free.
    input_widths: FxHashMap<Atom, u32>,
}

impl Blaster {
    pub fn new() -> Blaster {
        Blaster::default()
    }

    /// A blaster with restricted inputs: only the given number of low bits is free.
    pub fn with_input_widths(bits: FxHashMap<Atom, u32>) -> Blaster {
        Blaster { input_widths: bits, ..Blaster::default() }
    }

    /// Returns true if nothing has been blasted yet.
    pub fn is_fresh(&self) -> bool {
        self.words.is_empty()
    }

    /// Sets the limits for gates built from now on.
    pub fn allow(&mut self, budget: &Budget, gates: usize) {
        self.gates.allow(budget, gates.min(max_gates(budget)));
    }

    /// The literal of a boolean.
    pub fn literal(&mut self, graph: &Graph, e: Expr) -> Result<Lit, Why> {
        debug_assert!(graph.is_bool(e));
        Ok(self.word(graph, e)?[0])
    }

    /// The word of an expression. Errors: the limit that was reached; what was built until then stays.
    pub fn word(&mut self, graph: &Graph, e: Expr) -> Result<&[Lit], Why> {
        if !self.words.contains_key(&e) {
            self.build(graph, e)?;
        }
        Ok(&self.words[&e])
    }

    fn build(&mut self, graph: &Graph, root: Expr) -> Result<(), Why> {
        let mut stack = vec![(root, false)];
        while let Some((e, expanded)) = stack.pop() {
            if self.words.contains_key(&e) {
                continue;
            }
            if !expanded {
                stack.push((e, true));
                match Fits::of(graph, e) {
                    Some(fits) => stack.extend(fits.factors.map(|factor| (factor, false))),
                    None => stack.extend(graph.kids(e).into_iter().map(|kid| (kid, false))),
                }
                continue;
            }
            let word = self.node(graph, e);
            if let Some(why) = self.gates.stopped() {
                return Err(why.clone());
            }
            self.words.insert(e, word.into());
            self.guards.add(graph, &mut self.gates, &self.words, e);
            if let Some(why) = self.gates.stopped() {
                return Err(why.clone());
            }
        }
        Ok(())
    }

    fn node(&mut self, graph: &Graph, e: Expr) -> Word {
        let op = graph.op(e);
        if graph.is_array(e) {
            return Word::new();
        }
        match op.family() {
            Family::Leaf(LeafOp::Const) => circuit::constant(&graph.const_bits(e).expect("a constant")),
            Family::Leaf(LeafOp::Var) => self.inputs(graph.width(e), Owner::Variable(e)),
            Family::Array(ArrayOp::Read) => self.read(graph, e),
            Family::Array(ArrayOp::Table | ArrayOp::ConstArray | ArrayOp::Store) => {
                unreachable!("{op:?} is an array")
            }
            Family::Compare(_) if graph.is_array(graph.kid(e, 0)) => vec![self.arrays_equal(graph, e)],
            // Quotient and remainder share a circuit.
            Family::Arith(ArithOp::UDiv) => self.quotient(graph, e).0,
            Family::Arith(ArithOp::URem) => self.quotient(graph, e).1,
            Family::Compare(_) => match Fits::of(graph, e) {
                Some(fits) => {
                    let [a, b] = fits.factors.map(|factor| &*self.words[&factor]);
                    vec![fits.circuit(&mut self.gates, a, b)]
                }
                None => self.circuit(graph, e),
            },
            Family::Bits(_) | Family::Arith(_) | Family::Shift(_) | Family::Shape(_) => {
                self.circuit(graph, e)
            }
            Family::Float(_) => self.circuit(graph, e),
        }
    }

    fn circuit(&mut self, graph: &Graph, e: Expr) -> Word {
        let op = graph.op(e);
        let low = graph.parameter(e).unwrap_or(0);
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

    /// Lemmas that follow from the gates. The list only grows.
    pub fn guard_lemmas(&self) -> &[GuardLemma] {
        self.guards.lemmas()
    }

    /// Allocates a slot.
    fn inputs(&mut self, width: u32, owner: Owner) -> Word {
        let first = self.gates.len() as u32;
        let mut word: Word = (0..width).map(|_| self.gates.input()).collect();
        self.restrict(&owner, &mut word);
        if self.gates.stopped().is_none() {
            self.slots.push(Slot { first, width, owner });
        }
        word
    }

    /// Number of free bits of an input, if it is restricted.
    fn free_bits(&self, owner: &Owner) -> Option<u32> {
        let atom = match owner {
            Owner::Variable(v) => Atom::Variable(*v),
            Owner::Element { array, index } => Atom::Element(*array, index.low()),
            Owner::Unmentioned(_) | Owner::ArrayTerm(_) | Owner::Witness => return None,
        };
        self.input_widths.get(&atom).copied()
    }

    /// Makes the bits zero that a restricted input does not have.
    fn restrict(&self, owner: &Owner, word: &mut [Lit]) {
        if let Some(free) = self.free_bits(owner) {
            word[free as usize..].fill(Lit::FALSE);
        }
    }

    /// Slots of the restricted elements of arrays, with their numbers of free bits.
    fn restricted_elements(&self) -> impl Iterator<Item = (&Slot, u32)> {
        let slots = if self.input_widths.is_empty() { &[] } else { &self.slots[..] };
        slots
            .iter()
            .filter(|slot| matches!(slot.owner, Owner::Element { .. }))
            .filter_map(|slot| Some((slot, self.free_bits(&slot.owner)?)))
    }

    /// The slot of an input gate, and the bit within it.
    pub fn slot(&self, input: u32) -> (&Slot, u32) {
        let at = self.slots.partition_point(|slot| slot.first <= input) - 1;
        let slot = &self.slots[at];
        (slot, input - slot.first)
    }

    /// The inputs that `root` depends on. The cone of an access includes its index, the cone of a comparison its
    /// lemmas.
    pub fn cone(&mut self, root: Lit) -> Arc<Cone> {
        if let Some(known) = self.cones.get(&root) {
            return known.clone();
        }
        let mut cone = Cone::default();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut array_terms: FxHashSet<ArrayTerm> = FxHashSet::default();
        let mut arrays: FxHashSet<Expr> = FxHashSet::default();
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
                    self.arrays.dependencies(array_term, &mut arrays, &mut roots);
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

    /// Drops expressions that are not alive. Returns false if most gates serve no live expression, so that starting
    /// over is better.
    pub fn sweep(&mut self, alive: &Alive) -> bool {
        self.words.retain(|e, _| alive.has(*e));
        self.quotients.retain(|(a, b), _| alive.has(*a) && alive.has(*b));
        self.differences.retain(|(a, b), _| alive.has(*a) && alive.has(*b));
        self.arrays.sweep(alive);
        self.index_sets.sweep(alive);
        self.guards.sweep(alive);
        let roots: Vec<Lit> = self.words.values().flat_map(|word| word.iter().copied()).collect();
        let (mut used, mut marked) = (0, vec![false; self.gates.len()]);
        self.gates.walk(&roots, |node| !std::mem::replace(&mut marked[node as usize], true), |_| used += 1);
        self.cones.retain(|root, _| marked[root.node() as usize]);
        used * 2 >= self.gates.len() || self.gates.len() < 10_000
    }
}
