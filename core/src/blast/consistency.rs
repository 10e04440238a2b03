//! Checks an assignment of inputs against the theory of arrays: it yields a model, or lemmas that exclude it
//! (`arrays.rs` explains them).
//!
//! Each round adds a lemma that the assignment violates, over existing indices. There are finitely many pairs of
//! reads and finitely many indices at which a comparison can be equated, so the process terminates.

use super::arrays::{ArrayTerm, At, bits_of};
use super::circuit::{self, Word};
use super::gate::Lit;
use super::lazy_reads::{End, Walk};
use super::{Blaster, Owner, Slot};
use crate::budget::Why;
use crate::expr::{ArrayValue, Bits, Evaluator, Expr, Graph, Model, Op, Sort, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Maximum number of lemmas added for one comparison at a time.
const MAX_LEMMAS_PER_ROUND: usize = 64;

/// Result of checking a candidate assignment.
pub enum Consistency {
    /// A model of the arrays and variables.
    Consistent(Model),
    /// Lemmas were added.
    Refuted,
}

/// Bits of an element: the value, and the input it comes from.
type ElementBits = Vec<Option<(bool, u32)>>;

impl Blaster {
    /// Checks an assignment of inputs, in ascending order. Adds lemmas if it is inconsistent.
    pub fn check_arrays(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        inputs: &[(u32, bool)],
        array_terms: &[ArrayTerm],
    ) -> Result<Consistency, Why> {
        let mut model = Model::new();
        if array_terms.is_empty() {
            for (slot, bits) in self.slot_values(inputs) {
                match &slot.owner {
                    Owner::Variable(v) => model.set_bits(*v, bits),
                    Owner::Element { array, index } => model.set_element(graph, *array, index, bits),
                    Owner::Unmentioned(_) | Owner::ArrayTerm(_) | Owner::Witness => {}
                }
            }
            return Ok(Consistency::Consistent(model));
        }
        let mut known = FxHashMap::default();
        let value = |node: u32| inputs.binary_search_by_key(&node, |i| i.0).is_ok_and(|at| inputs[at].1);
        let mut index_of = |blaster: &Blaster, word: &[Lit]| {
            bits_of(blaster.gates.evaluate(word, &mut known, value).into_iter())
        };
        let mut walks = FxHashMap::default();
        let (conflicts, missed) = self.fill_model(graph, inputs, &mut model, &mut walks, &mut index_of);
        if !conflicts.is_empty() || !missed.is_empty() {
            for number in missed {
                let slot = self.arrays.accesses[number as usize].value[0].node();
                self.add_walk_lemma(graph, number, &walks[&slot]);
            }
            for (one, other) in conflicts {
                self.add_meeting_lemma(graph, [one, other].map(|slot| (slot, walks.get(&slot))));
            }
            return match self.gates.stopped() {
                Some(why) => Err(why.clone()),
                None => Ok(Consistency::Refuted),
            };
        }
        let mut refuted = false;
        for array_term in array_terms {
            if let ArrayTerm::Comparison(number) = array_term {
                let comparison = &self.arrays.comparisons[*number as usize];
                if value(comparison.equal.node()) {
                    let mut session = evaluator.under(graph, &model);
                    let sides = comparison.sides.map(|side| match session.value(side) {
                        Value::Array(array) => array,
                        Value::Bits(_) => unreachable!("sides are arrays"),
                    });
                    if sides[0] != sides[1] {
                        self.add_comparison_lemmas(graph, *number, &sides, array_terms, &mut index_of)?;
                        refuted = true;
                    }
                }
            }
        }
        Ok(if refuted { Consistency::Refuted } else { Consistency::Consistent(model) })
    }

    /// Puts the values into `model`, and the walks of reads on demand, by slot, into `walks`. Returns pairs of slots of
    /// conflicting reads, and the numbers of reads that have not the value at the end of their walks.
    fn fill_model(
        &self,
        graph: &Graph,
        inputs: &[(u32, bool)],
        model: &mut Model,
        walks: &mut FxHashMap<u32, Walk>,
        index_of: &mut impl FnMut(&Blaster, &[Lit]) -> Bits,
    ) -> (Vec<(u32, u32)>, Vec<u32>) {
        let (mut missed, mut indices) = (Vec::new(), FxHashMap::default());
        let mut elements: FxHashMap<(Expr, Bits), ElementBits> = FxHashMap::default();
        let mut order = Vec::new();
        let mut conflicts = FxHashSet::default();
        // Default elements first: the other elements are set on top of them.
        for (slot, bits) in self.slot_values(inputs) {
            if let Owner::Unmentioned(array) = slot.owner {
                let Sort::Array { index, .. } = graph.sort(array) else { unreachable!("an array") };
                model.set(array, Value::Array(Arc::new(ArrayValue::new(index, bits))));
            }
        }
        // The upper bits of a restricted element are zero in the circuits, so they are in no cone: a read at an index
        // that is equal by its value alone must agree with them too.
        for (slot, free) in self.restricted_elements() {
            let Owner::Element { array, index } = &slot.owner else { unreachable!("an element") };
            let bits =
                (0..slot.width).map(|bit| (bit >= free).then_some((false, slot.first + bit))).collect();
            let key = (*array, index.clone());
            order.push(key.clone());
            elements.insert(key, bits);
        }
        for run in inputs_by_slot(self, inputs) {
            let (slot, _) = self.slot(run[0].0);
            let key = match &slot.owner {
                Owner::Variable(v) => {
                    model.set_bits(*v, slot_bits(slot, run));
                    continue;
                }
                Owner::Element { array, index } => (*array, index.clone()),
                Owner::ArrayTerm(ArrayTerm::Access(number)) => {
                    let access = &self.arrays.accesses[*number as usize];
                    let index = index_of(self, &access.index);
                    if graph.op(access.array) == Op::Var {
                        (access.array, index)
                    } else {
                        let walk = self.walk_writes(graph, access.array, &index, &mut indices, index_of);
                        let differs = |word: &[Lit], value: Bits| {
                            debug_assert_eq!(word.len(), slot.width as usize);
                            run.iter().any(|&(input, bit)| value.bit(input - slot.first) != bit)
                        };
                        let (variable, is_missed) = match &walk.end {
                            End::Variable(array) => (Some(*array), false),
                            End::Hit { element, .. } | End::Constant(element) => {
                                let word = &self.words[element];
                                (None, differs(word, index_of(self, word)))
                            }
                            End::Table(table) => {
                                let tied = access.tied.iter().find(|(array, _)| array == table);
                                (None, tied.is_none_or(|(_, word)| differs(word, index_of(self, word))))
                            }
                        };
                        if is_missed {
                            missed.push(*number);
                        }
                        walks.insert(slot.first, walk);
                        let Some(array) = variable else { continue };
                        (array, index)
                    }
                }
                Owner::ArrayTerm(ArrayTerm::Comparison(_)) | Owner::Unmentioned(_) | Owner::Witness => {
                    continue;
                }
            };
            let bits = elements.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                vec![None; slot.width as usize]
            });
            for &(input, value) in run {
                match bits[(input - slot.first) as usize] {
                    Some((other, by)) if other != value => {
                        conflicts.insert((self.slot(by).0.first, slot.first));
                    }
                    Some(_) => {}
                    None => bits[(input - slot.first) as usize] = Some((value, input)),
                }
            }
        }
        for key in order {
            let known = &elements[&key];
            let element = bits_of(known.iter().map(|bit| bit.is_some_and(|(value, _)| value)));
            model.set_element(graph, key.0, &key.1, element);
        }
        let mut conflicts: Vec<(u32, u32)> = conflicts.into_iter().collect();
        conflicts.sort_unstable();
        (conflicts, missed)
    }

    /// Index and value words of a read, by its slot.
    pub(super) fn read_of(&self, slot: u32) -> (Word, Word) {
        let (slot, _) = self.slot(slot);
        match &slot.owner {
            Owner::ArrayTerm(ArrayTerm::Access(number)) => {
                let access = &self.arrays.accesses[*number as usize];
                (access.index.clone(), access.value.clone())
            }
            Owner::Element { index, .. } => {
                let mut value: Word =
                    (slot.first..slot.first + slot.width).map(|node| Lit::new(node, false)).collect();
                self.restrict(&slot.owner, &mut value);
                (circuit::constant(index), value)
            }
            Owner::Variable(_)
            | Owner::Unmentioned(_)
            | Owner::ArrayTerm(ArrayTerm::Comparison(_))
            | Owner::Witness => {
                unreachable!("not a read")
            }
        }
    }

    /// Adds lemmas that equate both sides of a comparison where their `values` differ.
    fn add_comparison_lemmas(
        &mut self,
        graph: &Graph,
        number: u32,
        values: &[Arc<ArrayValue>; 2],
        array_terms: &[ArrayTerm],
        index_of: &mut impl FnMut(&Blaster, &[Lit]) -> Bits,
    ) -> Result<(), Why> {
        let index_width = values[0].index_width();
        let mut terms: FxHashMap<Bits, Word> = FxHashMap::default();
        for array_term in array_terms {
            let words: &[Word] = match array_term {
                ArrayTerm::Access(at) => std::slice::from_ref(&self.arrays.accesses[*at as usize].index),
                ArrayTerm::Comparison(at) => &self.arrays.comparisons[*at as usize].indices,
            };
            for word in words.iter().filter(|word| word.len() as u32 == index_width) {
                terms.entry(index_of(self, word)).or_insert_with(|| word.clone());
            }
        }
        let mut places: Vec<Bits> = values.iter().flat_map(|v| v.entries()).map(|(index, _)| index).collect();
        places.sort_unstable();
        places.dedup();
        let mut indices: Vec<At> = places
            .into_iter()
            .filter(|place| values[0].get(place) != values[1].get(place))
            .take(MAX_LEMMAS_PER_ROUND)
            .map(|place| terms.get(&place).cloned().unwrap_or_else(|| circuit::constant(&place)))
            .map(|index| At::Index(index, None, None))
            .collect();
        let comparison = &self.arrays.comparisons[number as usize];
        let (sides, equal) = (comparison.sides, comparison.equal);
        let elsewhere = values[0].default_element() != values[1].default_element();
        if elsewhere && !comparison.tied_unmentioned {
            indices.push(At::Unmentioned);
        }
        if indices.is_empty() {
            let message =
                "internal error: the sides of an array comparison differ at no index mentioned".to_string();
            return Err(Why::Layer { name: "sat".into(), message });
        }
        for at in indices {
            let [a, b] = sides.map(|side| self.element(graph, side, &at));
            let agree = circuit::equal(&mut self.gates, &a, &b);
            let lemma = self.gates.or(!equal, agree);
            if let Some(why) = self.gates.stopped() {
                return Err(why.clone());
            }
            let comparison = &mut self.arrays.comparisons[number as usize];
            comparison.tied_unmentioned |= matches!(at, At::Unmentioned);
            comparison.lemmas.push(lemma);
            comparison.dependencies.push(lemma);
            // The lemma extends the cone of the comparison.
            self.cones.clear();
        }
        Ok(())
    }

    /// Values of slots; missing inputs are zero.
    fn slot_values<'a>(&'a self, inputs: &'a [(u32, bool)]) -> impl Iterator<Item = (&'a Slot, Bits)> {
        inputs_by_slot(self, inputs).map(|run| {
            let (slot, _) = self.slot(run[0].0);
            (slot, slot_bits(slot, run))
        })
    }
}

/// Splits inputs, in ascending order, by slot.
fn inputs_by_slot<'a>(
    blaster: &'a Blaster,
    inputs: &'a [(u32, bool)],
) -> impl Iterator<Item = &'a [(u32, bool)]> {
    let mut left = inputs;
    std::iter::from_fn(move || {
        let (slot, _) = blaster.slot(left.first()?.0);
        let (run, rest) = left.split_at(left.partition_point(|i| i.0 < slot.first + slot.width));
        left = rest;
        Some(run)
    })
}

fn slot_bits(slot: &Slot, run: &[(u32, bool)]) -> Bits {
    let mut words = vec![0u64; slot.width.div_ceil(64) as usize];
    for &(input, value) in run {
        let bit = input - slot.first;
        words[(bit / 64) as usize] |= u64::from(value) << (bit % 64);
    }
    Bits::from_words(slot.width, &words)
}
