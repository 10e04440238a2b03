//! Arrays: reads over writes become multiplexers; what is left are reads of array variables.
//!
//! A read at a constant index is its own input slot. A read at a computed index is an *access*: a free value that
//! lemmas, added when a candidate assignment violates them, tie to every other read of the same array at an equal
//! index. A comparison of arrays with a short index is spelt out; otherwise it is a free bit *e*: if false, the
//! arrays differ at a witness index; if true, lemmas tie both sides at each index where a candidate has them
//! differ, and *elsewhere*: at an index that nothing mentions, which exists while there are fewer indices
//! mentioned than there are indices. Lemmas hold of all arrays, so they are never taken back.

use super::circuit::{self, Word};
use super::gate::Lit;
use super::{Blaster, Owner, Slot, table};
use crate::budget::Why;
use crate::expr::{Alive, ArrayValue, Bits, Evaluator, Expr, Graph, Model, Op, Sort, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Index widths up to this are spelt out when arrays are compared.
const SPELT: u32 = 10;
/// Lemmas of one comparison added at a time.
const AT_ONCE: usize = 64;

/// Something whose value is free as far as gates go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Special {
    Access(u32),
    Comparison(u32),
}

struct Access {
    array: Expr,
    index: Word,
    value: Word,
    lemmas: Vec<Lit>,
}

struct Comparison {
    sides: [Expr; 2],
    equal: Lit,
    /// Indices that its sides mention, the witness first.
    indices: Vec<Word>,
    /// What must be in the cone with it.
    behind: Vec<Lit>,
    lemmas: Vec<Lit>,
    tied_elsewhere: bool,
    /// Indices that tables in its sides cover.
    tabled: usize,
}

#[derive(Default)]
pub struct Arrays {
    accesses: Vec<Access>,
    access_at: FxHashMap<(Expr, Word), u32>,
    elements: FxHashMap<(Expr, Bits), Word>,
    elsewhere: FxHashMap<Expr, Word>,
    comparisons: Vec<Comparison>,
}

impl Arrays {
    pub fn behind(&self, special: Special) -> &[Lit] {
        match special {
            Special::Access(at) => &self.accesses[at as usize].index,
            Special::Comparison(at) => &self.comparisons[at as usize].behind,
        }
    }

    /// At least as many as there are indices that anything mentions.
    fn mentioned(&self) -> usize {
        let compared: usize = self.comparisons.iter().map(|c| c.indices.len() + c.tabled).sum();
        self.accesses.len() + self.elements.len() + compared
    }

    /// Accesses and comparisons keep their numbers; those of dead arrays are in no live cone.
    pub fn sweep(&mut self, alive: &Alive) {
        self.access_at.retain(|(array, _), _| alive.has(*array));
        self.elements.retain(|(array, _), _| alive.has(*array));
        self.elsewhere.retain(|array, _| alive.has(*array));
    }
}

/// What a candidate assignment says of the arrays in its cone.
pub enum Verdict {
    /// A model, as far as arrays go.
    Consistent(Model),
    /// Lemmas were added.
    Refuted,
}

impl Blaster {
    /// Lemmas about `special` so far. The list only grows.
    pub fn lemmas(&self, special: Special) -> &[Lit] {
        match special {
            Special::Access(at) => &self.arrays.accesses[at as usize].lemmas,
            Special::Comparison(at) => &self.arrays.comparisons[at as usize].lemmas,
        }
    }

    pub(super) fn read(&mut self, graph: &Graph, e: Expr) -> Word {
        let (array, index) = (graph.kid(e, 0), self.words[&graph.kid(e, 1)].to_vec());
        let mut word = Word::with_capacity(graph.width(e) as usize);
        for i in 0..graph.read_count(e) {
            let skip = circuit::constant(&Bits::word(index.len() as u32, i.into()));
            let at = circuit::add(&mut self.gates, &index, &skip);
            word.extend(self.element(graph, array, &At::Index(at)));
        }
        word
    }

    /// The element of an array expression, without recursion: what an array needs from those it is made of is
    /// computed first.
    fn element(&mut self, graph: &Graph, array: Expr, at: &At) -> Word {
        let mut done: FxHashMap<Expr, Word> = FxHashMap::default();
        let mut stack = vec![array];
        while let Some(&top) = stack.last() {
            if self.gates.stopped().is_some() {
                return vec![Lit::FALSE; graph.width(array) as usize];
            }
            if done.contains_key(&top) {
                stack.pop();
                continue;
            }
            let hit = match graph.op(top) {
                Op::Store => self.hit(&graph.kid(top, 1), at),
                Op::Ite => self.words[&graph.kid(top, 0)][0],
                Op::Table => match at {
                    At::Index(index) if !table::may_miss(graph.table(top).elements.len(), index) => Lit::TRUE,
                    At::Index(_) | At::Elsewhere => Lit::FALSE,
                },
                _ => Lit::FALSE,
            };
            // Which of the arrays below can be reached.
            let below: &[usize] = match graph.op(top) {
                Op::Store | Op::Table if hit != Lit::TRUE => &[0],
                Op::Ite if hit == Lit::TRUE => &[1],
                Op::Ite if hit == Lit::FALSE => &[2],
                Op::Ite => &[1, 2],
                _ => &[],
            };
            let before = stack.len();
            stack.extend(below.iter().map(|&i| graph.kid(top, i)).filter(|kid| !done.contains_key(kid)));
            if stack.len() > before {
                continue;
            }
            let width = graph.width(top) as usize;
            let of =
                |i: usize| done.get(&graph.kid(top, i)).cloned().unwrap_or_else(|| vec![Lit::FALSE; width]);
            let word = match graph.op(top) {
                Op::ConstArray => self.words[&graph.kid(top, 0)].to_vec(),
                Op::Store => {
                    let element = self.words[&graph.kid(top, 2)].to_vec();
                    circuit::choose(&mut self.gates, hit, &element, &of(0))
                }
                Op::Ite => circuit::choose(&mut self.gates, hit, &of(1), &of(2)),
                Op::Table => match at {
                    At::Index(index) => {
                        table::lookup(&mut self.gates, &graph.table(top).elements, index, &of(0))
                    }
                    At::Elsewhere => of(0),
                },
                Op::Var => self.base(graph, top, at),
                op => unreachable!("{op:?} is never an array"),
            };
            done.insert(top, word);
            stack.pop();
        }
        done.remove(&array).expect("the last one computed")
    }

    /// Is the index of a store the one that is read?
    fn hit(&mut self, index: &Expr, at: &At) -> Lit {
        match at {
            At::Index(word) => circuit::equal(&mut self.gates, word, &self.words[index]),
            At::Elsewhere => Lit::FALSE,
        }
    }

    /// An element of an array variable.
    fn base(&mut self, graph: &Graph, array: Expr, at: &At) -> Word {
        let width = graph.width(array);
        let At::Index(index) = at else {
            if let Some(known) = self.arrays.elsewhere.get(&array) {
                return known.clone();
            }
            let word = self.inputs(width, Owner::Elsewhere(array));
            self.arrays.elsewhere.insert(array, word.clone());
            return word;
        };
        if index.iter().all(|lit| lit.is_constant()) {
            let key = (array, bits_of(index.iter().map(|lit| *lit == Lit::TRUE)));
            if let Some(known) = self.arrays.elements.get(&key) {
                return known.clone();
            }
            let word = self.inputs(width, Owner::Element { array, index: key.1.clone() });
            self.arrays.elements.insert(key, word.clone());
            return word;
        }
        let key = (array, index.clone());
        if let Some(&known) = self.arrays.access_at.get(&key) {
            return self.arrays.accesses[known as usize].value.clone();
        }
        let number = self.arrays.accesses.len() as u32;
        let value = self.inputs(width, Owner::Special(Special::Access(number)));
        if self.gates.stopped().is_none() {
            let index = index.clone();
            self.arrays.accesses.push(Access { array, index, value: value.clone(), lemmas: Vec::new() });
            self.arrays.access_at.insert(key, number);
        }
        value
    }

    /// Are two arrays equal?
    pub(super) fn same_array(&mut self, graph: &Graph, e: Expr) -> Lit {
        let sides = [graph.kid(e, 0), graph.kid(e, 1)];
        let Sort::Array { index: index_width, .. } = graph.sort(sides[0]) else { unreachable!("an array") };
        if index_width <= SPELT {
            let mut same = Vec::new();
            for i in 0..1u64 << index_width {
                let at = At::Index(circuit::constant(&Bits::word(index_width, i)));
                let [a, b] = sides.map(|side| self.element(graph, side, &at));
                same.push(circuit::equal(&mut self.gates, &a, &b));
            }
            return self.gates.all(same);
        }
        let number = self.arrays.comparisons.len() as u32;
        let equal = self.inputs(1, Owner::Special(Special::Comparison(number)));
        let witness = self.inputs(index_width, Owner::Witness);
        let [a, b] = sides.map(|side| self.element(graph, side, &At::Index(witness.clone())));
        let agree = circuit::equal(&mut self.gates, &a, &b);
        let differ_if_unequal = self.gates.or(equal[0], !agree);
        let mut indices = vec![witness];
        let mut tabled = 0;
        graph.post_order(&sides, |node| match graph.op(node) {
            Op::Store => indices.push(self.words[&graph.kid(node, 1)].to_vec()),
            Op::Table => tabled += graph.table(node).elements.len(),
            _ => {}
        });
        if self.gates.stopped().is_some() {
            return Lit::FALSE;
        }
        let mut behind: Vec<Lit> = indices.iter().flatten().copied().collect();
        behind.push(differ_if_unequal);
        let lemmas = vec![differ_if_unequal];
        self.arrays.comparisons.push(Comparison {
            sides,
            equal: equal[0],
            indices,
            behind,
            lemmas,
            tied_elsewhere: false,
            tabled,
        });
        equal[0]
    }

    /// Is there an index that nothing mentions for each of the comparisons? What is said of *elsewhere* needs one.
    pub fn has_elsewhere(&self, specials: &[Special]) -> Result<(), Why> {
        for special in specials {
            let Special::Comparison(at) = special else { continue };
            let comparison = &self.arrays.comparisons[*at as usize];
            let (width, mentioned) = (comparison.indices[0].len(), self.arrays.mentioned());
            if comparison.tied_elsewhere && width < 32 && mentioned >= 1 << width {
                let message = format!(
                    "expected fewer than 2^{width} indices where arrays are compared, found {mentioned}"
                );
                return Err(Why::Layer { name: "sat".into(), message });
            }
        }
        Ok(())
    }

    /// Judges an assignment of inputs (ascending, with their values): a model, or lemmas that exclude it.
    pub fn judge(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        inputs: &[(u32, bool)],
        specials: &[Special],
    ) -> Result<Verdict, Why> {
        let mut model = Model::new();
        if specials.is_empty() {
            for (slot, bits) in self.slot_values(inputs) {
                match &slot.owner {
                    Owner::Variable(v) => model.set_bits(*v, bits),
                    Owner::Element { array, index } => model.set_element(graph, *array, index, bits),
                    Owner::Elsewhere(_) | Owner::Special(_) | Owner::Witness => {}
                }
            }
            return Ok(Verdict::Consistent(model));
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
                None => Ok(Verdict::Refuted),
            };
        }
        let mut refuted = false;
        for special in specials {
            if let Special::Comparison(number) = special {
                let comparison = &self.arrays.comparisons[*number as usize];
                if value(comparison.equal.node()) {
                    let mut session = evaluator.under(graph, &model);
                    let sides = comparison.sides.map(|side| match session.value(side) {
                        Value::Array(array) => array,
                        Value::Bits(_) => unreachable!("sides are arrays"),
                    });
                    if sides[0] != sides[1] {
                        self.tie_sides(graph, *number, &sides, specials, &mut index_of)?;
                        refuted = true;
                    }
                }
            }
        }
        Ok(if refuted { Verdict::Refuted } else { Verdict::Consistent(model) })
    }

    /// Puts the values into `model`; the first bits of reads that contradict each other, by input number.
    fn place(
        &self,
        graph: &Graph,
        inputs: &[(u32, bool)],
        model: &mut Model,
        index_of: &mut impl FnMut(&Blaster, &[Lit]) -> Bits,
    ) -> Vec<(u32, u32)> {
        let mut elements: FxHashMap<(Expr, Bits), Vec<Option<(bool, u32)>>> = FxHashMap::default();
        let mut order = Vec::new();
        let mut clashes = FxHashSet::default();
        // What arrays hold elsewhere comes first: it is what their other elements start from.
        for (slot, bits) in self.slot_values(inputs) {
            if let Owner::Elsewhere(array) = slot.owner {
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
                Owner::Special(Special::Access(number)) => {
                    let access = &self.arrays.accesses[*number as usize];
                    (access.array, index_of(self, &access.index))
                }
                Owner::Special(Special::Comparison(_)) | Owner::Elsewhere(_) | Owner::Witness => continue,
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
            Owner::Special(Special::Access(number)) => {
                let access = &self.arrays.accesses[*number as usize];
                (access.index.clone(), access.value.clone())
            }
            Owner::Element { index, .. } => {
                let value = (slot.first..slot.first + slot.width).map(|node| Lit::new(node, false)).collect();
                (circuit::constant(index), value)
            }
            Owner::Variable(_)
            | Owner::Elsewhere(_)
            | Owner::Special(Special::Comparison(_))
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
        // Two constant indices are one slot, so at least one of them is an access.
        for slot in [one, other] {
            if let Owner::Special(Special::Access(number)) = self.slot(slot).0.owner {
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
        specials: &[Special],
        index_of: &mut impl FnMut(&Blaster, &[Lit]) -> Bits,
    ) -> Result<(), Why> {
        let index_width = values[0].index_width();
        let mut terms: FxHashMap<Bits, Word> = FxHashMap::default();
        for special in specials {
            let words: &[Word] = match special {
                Special::Access(at) => std::slice::from_ref(&self.arrays.accesses[*at as usize].index),
                Special::Comparison(at) => &self.arrays.comparisons[*at as usize].indices,
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
            .map(|place| At::Index(terms.get(&place).cloned().unwrap_or_else(|| circuit::constant(&place))))
            .collect();
        let comparison = &self.arrays.comparisons[number as usize];
        let (sides, equal) = (comparison.sides, comparison.equal);
        let elsewhere = values[0].default_element() != values[1].default_element();
        if elsewhere && !comparison.tied_elsewhere {
            self.arrays.comparisons[number as usize].tied_elsewhere = true;
            ats.push(At::Elsewhere);
        }
        if ats.is_empty() {
            let message = "two sides of a comparison differ nowhere that is mentioned".to_string();
            return Err(Why::Layer { name: "sat".into(), message });
        }
        for at in ats {
            let [a, b] = sides.map(|side| self.element(graph, side, &at));
            let agree = circuit::equal(&mut self.gates, &a, &b);
            let lemma = self.gates.or(!equal, agree);
            let comparison = &mut self.arrays.comparisons[number as usize];
            comparison.lemmas.push(lemma);
            comparison.behind.push(lemma);
        }
        // There is more behind the comparison now.
        self.cones.clear();
        match self.gates.stopped() {
            Some(why) => Err(why.clone()),
            None => Ok(()),
        }
    }

    /// The values of slots; inputs that are not given are zero.
    fn slot_values<'a>(&'a self, inputs: &'a [(u32, bool)]) -> impl Iterator<Item = (&'a Slot, Bits)> {
        runs(self, inputs).map(|run| {
            let (slot, _) = self.slot(run[0].0);
            (slot, run_bits(slot, run))
        })
    }
}

/// Where an element is wanted.
enum At {
    Index(Word),
    /// At an index that nothing mentions.
    Elsewhere,
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

fn bits_of(values: impl Iterator<Item = bool>) -> Bits {
    let mut words = Vec::new();
    let mut width = 0;
    for value in values {
        if width % 64 == 0 {
            words.push(0u64);
        }
        words[(width / 64) as usize] |= u64::from(value) << (width % 64);
        width += 1;
    }
    Bits::from_words(width, &words)
}
