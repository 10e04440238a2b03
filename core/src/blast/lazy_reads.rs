//! Reads over many writes, decided on demand.
//!
//! A read over more writes than `Blaster::lazy_reads` has a free value instead of a multiplexer per write. A candidate
//! assignment says which write the read meets: the array is walked from the last write down, past the writes to other
//! indices and through the chosen arms of ites. If the value is not the one that was written there, a lemma is added
//! about this walk alone: "if these indices differ, these conditions hold and this index is equal, so are the values".
//! Two reads that meet the same element of an array variable are compared in the same way, and a table is read by its
//! circuit. Lemmas hold for every array, like those of `arrays.rs`.

use super::arrays::{Access, ArrayTerm, At};
use super::circuit::{self, Word};
use super::gate::Lit;
use super::offsets::Offset;
use super::{Blaster, Owner};
use crate::expr::walk::ArrayForm;
use crate::expr::{Bits, Expr, Graph, Op};
use crate::interval::Set;
use rustc_hash::{FxHashMap, FxHashSet};

/// Gates for each bit of a multiplexer or of a comparison.
const GATES_PER_BIT: u64 = 3;

/// An array that is read on demand: the arrays it is made of, and the words of its own node.
pub(super) struct Written {
    pub(super) below: Vec<Expr>,
    pub(super) words: Vec<Lit>,
}

/// A step of a walk past a node of an array.
pub(super) enum Step {
    /// Past a write to this index.
    Miss(Expr),
    /// Through the arm of an ite; the literal is true under the assignment.
    Arm(Lit),
}

/// The node at which a walk ends.
pub(super) enum End {
    /// A write to the index that is read.
    Hit {
        index: Expr,
        element: Expr,
    },
    Constant(Expr),
    Variable(Expr),
    Table(Expr),
}

/// The walk of a read under an assignment.
pub(super) struct Walk {
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

impl Blaster {
    /// Whether a read of `array` is decided on demand: it meets more open writes and ites than the limit.
    fn is_on_demand(&mut self, graph: &Graph, array: Expr, at: &At) -> bool {
        let At::Index(word, set, offset) = at else { return false };
        if self.lazy_reads == 0 {
            return false;
        }
        let is_constant = word.iter().all(|lit| lit.is_constant());
        let most = self.lazy_reads;
        let (mut writes, mut ites) = (0, 0);
        self.visit_writes(graph, array, |blaster, index| {
            match index {
                None => ites += 1,
                Some(index) => {
                    let is_known = *word == *blaster.words[&index]
                        || (is_constant && graph.is_const(index))
                        || blaster.is_known(graph, (set.as_ref(), offset.as_ref()), index);
                    writes += u32::from(!is_known);
                }
            }
            // Without comparisons of indices a multiplexer is small.
            writes == 0 || writes + ites <= most
        });
        writes > 0 && writes + ites > most
    }

    /// Visits the indices of the writes that an array is made of, and its ites (`None`), while the visitor returns true.
    fn visit_writes(
        &mut self,
        graph: &Graph,
        array: Expr,
        mut visit: impl FnMut(&mut Blaster, Option<Expr>) -> bool,
    ) {
        let (mut seen, mut stack) = (FxHashSet::default(), vec![array]);
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            let goes_on = match graph.array_form(e) {
                ArrayForm::Variable | ArrayForm::Constant { .. } => true,
                ArrayForm::Table { base } => {
                    stack.push(base);
                    true
                }
                ArrayForm::Ite { then, otherwise, .. } => {
                    stack.extend([then, otherwise]);
                    visit(self, None)
                }
                ArrayForm::Store { base, index, .. } => {
                    stack.push(base);
                    visit(self, Some(index))
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Whether a write is to the index that is read, or not, for all values.
    fn is_known(&mut self, graph: &Graph, at: (Option<&Set>, Option<&Offset>), index: Expr) -> bool {
        let (set, offset) = at;
        offset.is_some_and(|at| at.equals(&Offset::of(graph, index)).is_some())
            || set.is_some_and(|set| {
                self.index_sets.of(graph, index).is_some_and(|other| other.is_disjoint(set))
            })
    }

    /// Whether the multiplexers of all reads in some expressions have at most this many gates, by an estimate.
    pub fn has_few_multiplexers(&mut self, graph: &Graph, roots: &[Expr], most: u64) -> bool {
        let mut reads = Vec::new();
        graph.post_order(roots, |e| {
            if graph.op(e) == Op::Read && graph.op(graph.kid(e, 0)) != Op::Var {
                reads.push(e);
            }
        });
        let mut gates = 0;
        for e in reads {
            let (array, index) = (graph.kid(e, 0), graph.kid(e, 1));
            let set = self.index_sets.of(graph, index).cloned();
            let offset = Offset::of(graph, index);
            let compared = u64::from(graph.read_count(e)) * GATES_PER_BIT * u64::from(graph.width(index));
            let chosen = u64::from(graph.width(e)) * GATES_PER_BIT;
            self.visit_writes(graph, array, |blaster, index| {
                let is_known =
                    index.is_none_or(|index| blaster.is_known(graph, (set.as_ref(), Some(&offset)), index));
                gates += if is_known { chosen } else { chosen + compared };
                gates <= most
            });
            if gates > most {
                return false;
            }
        }
        true
    }

    /// The free value of a read that is decided on demand.
    pub(super) fn on_demand(&mut self, graph: &Graph, array: Expr, at: &At) -> Option<Word> {
        if !self.is_on_demand(graph, array, at) {
            return None;
        }
        let At::Index(index, _, offset) = at else { return None };
        let key = (array, index.clone());
        if let Some(&known) = self.arrays.access_at.get(&key) {
            return Some(self.arrays.accesses[known as usize].value.clone());
        }
        let number = self.arrays.accesses.len() as u32;
        let value = self.inputs(graph.width(array), Owner::ArrayTerm(ArrayTerm::Access(number)));
        if self.gates.stopped().is_none() {
            self.add_written(graph, array);
            let index = index.clone();
            self.arrays.accesses.push(Access {
                array,
                index,
                offset: offset.clone(),
                value: value.clone(),
                lemmas: Vec::new(),
                tied: Vec::new(),
            });
            self.arrays.access_at.insert(key, number);
        }
        Some(value)
    }

    /// Records the words that the elements of an array depend on.
    fn add_written(&mut self, graph: &Graph, array: Expr) {
        let mut stack = vec![array];
        while let Some(e) = stack.pop() {
            if self.arrays.written.contains_key(&e) {
                continue;
            }
            let word = |e: &Expr| self.words[e].to_vec();
            let written = match graph.array_form(e) {
                ArrayForm::Variable => Written { below: Vec::new(), words: Vec::new() },
                ArrayForm::Constant { value } => Written { below: Vec::new(), words: word(&value) },
                ArrayForm::Table { base } => Written { below: vec![base], words: Vec::new() },
                ArrayForm::Ite { condition, then, otherwise } => {
                    Written { below: vec![then, otherwise], words: word(&condition) }
                }
                ArrayForm::Store { base, index, element } => {
                    Written { below: vec![base], words: [word(&index), word(&element)].concat() }
                }
            };
            stack.extend_from_slice(&written.below);
            self.arrays.written.insert(e, written);
        }
    }

    /// The walk of a read of `array` at an index with this value. `indices` has the values of indices so far.
    pub(super) fn walk_writes(
        &self,
        graph: &Graph,
        array: Expr,
        at: &Bits,
        indices: &mut FxHashMap<Expr, Bits>,
        value_of: &mut impl FnMut(&Blaster, &[Lit]) -> Bits,
    ) -> Walk {
        let mut steps = Vec::new();
        let mut array = array;
        loop {
            let end = match graph.array_form(array) {
                ArrayForm::Variable => End::Variable(array),
                ArrayForm::Table { .. } => End::Table(array),
                ArrayForm::Constant { value } => End::Constant(value),
                ArrayForm::Store { index, element, .. }
                    if indices.entry(index).or_insert_with(|| value_of(self, &self.words[&index])) == at =>
                {
                    End::Hit { index, element }
                }
                ArrayForm::Store { base, index, .. } => {
                    steps.push(Step::Miss(index));
                    array = base;
                    continue;
                }
                ArrayForm::Ite { condition, then, otherwise } => {
                    let condition = self.words[&condition][0];
                    let holds = !value_of(self, &[condition]).is_zero();
                    steps.push(Step::Arm(if holds { condition } else { !condition }));
                    array = if holds { then } else { otherwise };
                    continue;
                }
            };
            return Walk { steps, end };
        }
    }

    /// Literals of which one is true unless a read at `index` takes the walk to its end.
    fn off_walk(&mut self, graph: &Graph, walk: &Walk, at: (&Word, Option<&Offset>), lits: &mut Vec<Lit>) {
        for step in &walk.steps {
            lits.push(match step {
                Step::Miss(other) => self.is_index(graph, at, *other),
                Step::Arm(condition) => !*condition,
            });
        }
        if let End::Hit { index: other, .. } = walk.end {
            lits.push(!self.is_index(graph, at, other));
        }
    }

    /// Adds the lemma that a read has the value at the end of its walk.
    pub(super) fn add_walk_lemma(&mut self, graph: &Graph, number: u32, walk: &Walk) {
        let access = &self.arrays.accesses[number as usize];
        let (index, offset, value) = (access.index.clone(), access.offset.clone(), access.value.clone());
        let mut lits = Vec::new();
        self.off_walk(graph, walk, (&index, offset.as_ref()), &mut lits);
        let element = match walk.end {
            End::Hit { element, .. } | End::Constant(element) => self.words[&element].to_vec(),
            End::Variable(array) | End::Table(array) => {
                let element = self.element_at(graph, array, &At::Index(index, None, offset));
                // It is new to the cone of the read.
                self.arrays.accesses[number as usize].tied.push((array, element.clone()));
                self.cones.clear();
                element
            }
        };
        lits.push(circuit::equal(&mut self.gates, &value, &element));
        let lemma = self.gates.any(lits);
        if self.gates.stopped().is_some() {
            return;
        }
        self.arrays.accesses[number as usize].lemmas.push(lemma);
    }

    /// The offset of the index of a read, by its slot.
    fn offset_of(&self, slot: u32) -> Option<Offset> {
        match self.slot(slot).0.owner {
            Owner::ArrayTerm(ArrayTerm::Access(number)) => {
                self.arrays.accesses[number as usize].offset.clone()
            }
            _ => None,
        }
    }

    /// Adds the lemma that two reads that meet the same element of an array variable are equal.
    pub(super) fn add_meeting_lemma(&mut self, graph: &Graph, reads: [(u32, Option<&Walk>); 2]) {
        let [(i, v), (j, w)] = reads.map(|(slot, _)| self.read_of(slot));
        let offsets = reads.map(|(slot, _)| self.offset_of(slot));
        let [k, l] = &offsets;
        let mut lits = vec![!self.same_index((&i, k.as_ref()), (&j, l.as_ref()))];
        for (((_, walk), index), offset) in reads.iter().zip([&i, &j]).zip(&offsets) {
            if let Some(walk) = walk {
                self.off_walk(graph, walk, (index, offset.as_ref()), &mut lits);
            }
        }
        lits.push(circuit::equal(&mut self.gates, &v, &w));
        let lemma = self.gates.any(lits);
        if self.gates.stopped().is_some() {
            return;
        }
        // Constant indices share a slot, so at least one of the two is an access.
        for (slot, _) in reads {
            if let Owner::ArrayTerm(ArrayTerm::Access(number)) = self.slot(slot).0.owner {
                self.arrays.accesses[number as usize].lemmas.push(lemma);
                return;
            }
        }
    }
}
