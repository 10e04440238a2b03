//! Is an assignment of inputs consistent with what arrays are? Either it gives a model, or there are lemmas that
//! exclude it (`arrays.rs` says which, and why they are sound).
//!
//! Each round adds a lemma that the assignment violates, over indices that are already there, so there is an end to
//! it: finitely many pairs of reads, and finitely many indices at which a comparison can be tied.

use super::arrays::{ArrayTerm, At, bits_of};
use super::circuit::{self, Word};
use super::gate::Lit;
use super::{Blaster, Owner, Slot};
use crate::budget::Why;
use crate::expr::{ArrayValue, Bits, Evaluator, Expr, Graph, Model, Sort, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Lemmas of one comparison added at a time.
const AT_ONCE: usize = 64;

/// What a candidate assignment says of the arrays in its cone.
pub enum Consistency {
    /// A model, as far as arrays go.
    Consistent(Model),
    /// Lemmas were added.
    Refuted,
}

/// What is known of an element: each bit's value, and the input that gave it.
type Known = Vec<Option<(bool, u32)>>;

impl Blaster {
    /// Judges an assignment of inputs (ascending, with their values): a model, or lemmas that exclude it.
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
        let clashes = self.place(graph, inputs, &mut model, &mut index_of);
        if !clashes.is_empty() {
            for (one, other) in clashes {
                self.tie_accesses(one, other);
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
                        self.tie_sides(graph, *number, &sides, array_terms, &mut index_of)?;
                        refuted = true;
                    }
                }
            }
        }
        Ok(if refuted { Consistency::Refuted } else { Consistency::Consistent(model) })
    }

    /// Puts the values into `model`; the first bits of reads that contradict each other, by input number.
    fn place(
        &self,
        graph: &Graph,
        inputs: &[(u32, bool)],
        model: &mut Model,
        index_of: &mut impl FnMut(&Blaster, &[Lit]) -> Bits,
    ) -> Vec<(u32, u32)> {
        let mut elements: FxHashMap<(Expr, Bits), Known> = FxHashMap::default();
        let mut order = Vec::new();
        let mut clashes = FxHashSet::default();
        // What arrays hold elsewhere comes first: it is what their other elements start from.
        for (slot, bits) in self.slot_values(inputs) {
            if let Owner::Unmentioned(array) = slot.owner {
                let Sort::Array { index, .. } = graph.sort(array) else { unreachable!("an array") };
                model.set(array, Value::Array(Arc::new(ArrayValue::new(index, bits))));
            }
        }
        for run in runs(self, inputs) {
            let (slot, _) = self.slot(run[0].0);
            let key = match &slot.owner {
                Owner::Variable(v) => {
                    model.set_bits(*v, run_bits(slot, run));
                    continue;
                }
                Owner::Element { array, index } => (*array, index.clone()),
                Owner::ArrayTerm(ArrayTerm::Access(number)) => {
                    let access = &self.arrays.accesses[*number as usize];
                    (access.array, index_of(self, &access.index))
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
                        clashes.insert((self.slot(by).0.first, slot.first));
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
        let mut clashes: Vec<(u32, u32)> = clashes.into_iter().collect();
        clashes.sort_unstable();
        clashes
    }

    /// The array, index and value words of a read, by its slot.
    fn read_of(&self, slot: u32) -> (Word, Word) {
        let (slot, _) = self.slot(slot);
        match &slot.owner {
            Owner::ArrayTerm(ArrayTerm::Access(number)) => {
                let access = &self.arrays.accesses[*number as usize];
                (access.index.clone(), access.value.clone())
            }
            Owner::Element { index, .. } => {
                let value = (slot.first..slot.first + slot.width).map(|node| Lit::new(node, false)).collect();
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

    /// Reads of one array at equal indices are equal.
    fn tie_accesses(&mut self, one: u32, other: u32) {
        let (i, v) = self.read_of(one);
        let (j, w) = self.read_of(other);
        let apart = !circuit::equal(&mut self.gates, &i, &j);
        let same = circuit::equal(&mut self.gates, &v, &w);
        let lemma = self.gates.or(apart, same);
        if self.gates.stopped().is_some() {
            return;
        }
        // Two constant indices are one slot, so at least one of them is an access.
        for slot in [one, other] {
            if let Owner::ArrayTerm(ArrayTerm::Access(number)) = self.slot(slot).0.owner {
                self.arrays.accesses[number as usize].lemmas.push(lemma);
                return;
            }
        }
    }

    /// Both sides of a comparison called equal are equal where `sides`, their values, are not.
    fn tie_sides(
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
        let mut ats: Vec<At> = places
            .into_iter()
            .filter(|place| values[0].get(place) != values[1].get(place))
            .take(AT_ONCE)
            .map(|place| terms.get(&place).cloned().unwrap_or_else(|| circuit::constant(&place)))
            .map(|index| At::Index(index, None))
            .collect();
        let comparison = &self.arrays.comparisons[number as usize];
        let (sides, equal) = (comparison.sides, comparison.equal);
        let elsewhere = values[0].default_element() != values[1].default_element();
        if elsewhere && !comparison.tied_unmentioned {
            ats.push(At::Unmentioned);
        }
        if ats.is_empty() {
            let message = "two sides of a comparison differ nowhere that is mentioned".to_string();
            return Err(Why::Layer { name: "sat".into(), message });
        }
        for at in ats {
            let [a, b] = sides.map(|side| self.element(graph, side, &at));
            let agree = circuit::equal(&mut self.gates, &a, &b);
            let lemma = self.gates.or(!equal, agree);
            if let Some(why) = self.gates.stopped() {
                return Err(why.clone());
            }
            let comparison = &mut self.arrays.comparisons[number as usize];
            comparison.tied_unmentioned |= matches!(at, At::Unmentioned);
            comparison.lemmas.push(lemma);
            comparison.behind.push(lemma);
            // There is more behind the comparison now.
            self.cones.clear();
        }
        Ok(())
    }

    /// The values of slots; inputs that are not given are zero.
    fn slot_values<'a>(&'a self, inputs: &'a [(u32, bool)]) -> impl Iterator<Item = (&'a Slot, Bits)> {
        runs(self, inputs).map(|run| {
            let (slot, _) = self.slot(run[0].0);
            (slot, run_bits(slot, run))
        })
    }
}

/// Inputs (ascending) cut by slot.
fn runs<'a>(blaster: &'a Blaster, inputs: &'a [(u32, bool)]) -> impl Iterator<Item = &'a [(u32, bool)]> {
    let mut left = inputs;
    std::iter::from_fn(move || {
        let (slot, _) = blaster.slot(left.first()?.0);
        let (run, rest) = left.split_at(left.partition_point(|i| i.0 < slot.first + slot.width));
        left = rest;
        Some(run)
    })
}

fn run_bits(slot: &Slot, run: &[(u32, bool)]) -> Bits {
    let mut words = vec![0u64; slot.width.div_ceil(64) as usize];
    for &(input, value) in run {
        let bit = input - slot.first;
        words[(bit / 64) as usize] |= u64::from(value) << (bit % 64);
    }
    Bits::from_words(slot.width, &words)
}
