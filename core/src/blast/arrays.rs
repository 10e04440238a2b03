//! Arrays in circuits.
//!
//! Reads over stores become multiplexers, unless there are many (`lazy_reads.rs`); what remains are reads of array
//! variables. Table elements and stores that the index cannot reach by its operators alone (`index_sets.rs`) are left out. A read at a constant index has an
//! input slot; a read at few indices selects among slots. Any other read is an *access*: a free value, with a lemma
//! for each read of the same array at an equal index that a candidate assignment violates. A comparison of arrays
//! with very few indices is expanded. Otherwise it is a free bit: if false, the arrays differ at a witness index; if
//! true, lemmas equate both sides at each index where a candidate has them differ, and at an *unmentioned* index,
//! which exists if fewer indices are mentioned than there are. If not, the layer `sat` starts over with comparisons
//! of that index width expanded. Lemmas hold for all arrays, so they are never retracted.

use super::circuit::{self, Word};
use super::gate::Lit;
use super::lazy_reads::Written;
use super::offsets::Offset;
use super::{Blaster, Owner, table};
use crate::expr::walk::ArrayForm;
use crate::expr::{Alive, Bits, Expr, Graph, Op, Sort};
use crate::interval::Set;
use rustc_hash::{FxHashMap, FxHashSet};

/// Comparisons of arrays with indices up to this width are always expanded.
const ALWAYS_EXPANDED_INDEX_WIDTH: u32 = 2;

/// A read of an array variable selects among elements if its index has at most this many values.
const MAX_SELECTED_INDICES: u128 = 16;

/// An array access or comparison: free in the gates, constrained by lemmas.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ArrayTerm {
    Access(u32),
    Comparison(u32),
}

pub(super) struct Access {
    pub(super) array: Expr,
    pub(super) index: Word,
    pub(super) offset: Option<Offset>,
    pub(super) value: Word,
    pub(super) lemmas: Vec<Lit>,
    /// Tables that lemmas mention, with their elements at the index.
    pub(super) tied: Vec<(Expr, Word)>,
}

pub(super) struct Comparison {
    pub(super) sides: [Expr; 2],
    pub(super) equal: Lit,
    /// Indices mentioned by its sides, the witness first.
    pub(super) indices: Vec<Word>,
    /// Literals that belong to the cone of the comparison.
    pub(super) dependencies: Vec<Lit>,
    pub(super) lemmas: Vec<Lit>,
    pub(super) tied_unmentioned: bool,
    /// Number of indices covered by tables in its sides.
    table_indices: usize,
}

#[derive(Default)]
pub struct Arrays {
    pub(super) accesses: Vec<Access>,
    pub(super) access_at: FxHashMap<(Expr, Word), u32>,
    /// Arrays that are read on demand, with those below them.
    pub(super) written: FxHashMap<Expr, Written>,
    elements: FxHashMap<(Expr, Bits), Word>,
    unmentioned: FxHashMap<Expr, Word>,
    pub(super) comparisons: Vec<Comparison>,
}

impl Arrays {
    /// Adds the literals that belong to the cone of an array term; those of arrays that are in `seen` are left out.
    pub fn dependencies(&self, array_term: ArrayTerm, seen: &mut FxHashSet<Expr>, lits: &mut Vec<Lit>) {
        match array_term {
            ArrayTerm::Access(at) => {
                let access = &self.accesses[at as usize];
                lits.extend_from_slice(&access.index);
                access.tied.iter().for_each(|(_, element)| lits.extend_from_slice(element));
                let mut stack = vec![access.array];
                while let Some(array) = stack.pop() {
                    if let Some(written) = self.written.get(&array).filter(|_| seen.insert(array)) {
                        lits.extend_from_slice(&written.words);
                        stack.extend_from_slice(&written.below);
                    }
                }
            }
            ArrayTerm::Comparison(at) => lits.extend_from_slice(&self.comparisons[at as usize].dependencies),
        }
    }

    /// Upper bound of the number of indices mentioned.
    fn mentioned(&self) -> usize {
        let compared: usize = self.comparisons.iter().map(|c| c.indices.len() + c.table_indices).sum();
        self.accesses.len() + self.elements.len() + compared
    }

    /// Accesses and comparisons keep their numbers. Those of dead arrays are in no live cone.
    pub fn sweep(&mut self, alive: &Alive) {
        self.access_at.retain(|(array, _), _| alive.has(*array));
        self.elements.retain(|(array, _), _| alive.has(*array));
        for access in &mut self.accesses {
            access.offset.take_if(|offset| !offset.is_alive(alive));
        }
        self.unmentioned.retain(|array, _| alive.has(*array));
        self.written.retain(|array, _| alive.has(*array));
    }
}

impl Blaster {
    /// Lemmas about `array_term` so far. The list only grows.
    pub fn lemmas(&self, array_term: ArrayTerm) -> &[Lit] {
        match array_term {
            ArrayTerm::Access(at) => &self.arrays.accesses[at as usize].lemmas,
            ArrayTerm::Comparison(at) => &self.arrays.comparisons[at as usize].lemmas,
        }
    }

    pub(super) fn read(&mut self, graph: &Graph, e: Expr) -> Word {
        let (array, index) = (graph.kid(e, 0), self.words[&graph.kid(e, 1)].to_vec());
        let set = self.index_sets.of(graph, graph.kid(e, 1)).cloned();
        let offset = Offset::of(graph, graph.kid(e, 1));
        let mut word = Word::with_capacity(graph.width(e) as usize);
        for i in 0..graph.read_count(e) {
            let skip = circuit::constant(&Bits::word(index.len() as u32, i.into()));
            let at = circuit::add(&mut self.gates, &index, &skip);
            let set = set.as_ref().map(|set| set.plus(i.into()));
            word.extend(self.element(graph, array, &At::Index(at, set, Some(offset.plus(i)))));
        }
        word
    }

    /// The element of an array expression at an index.
    pub(super) fn element(&mut self, graph: &Graph, array: Expr, at: &At) -> Word {
        self.on_demand(graph, array, at).unwrap_or_else(|| self.element_at(graph, array, at))
    }

    /// The circuit of the element of an array expression. Iterative: the elements of operand arrays are computed
    /// first.
    pub(super) fn element_at(&mut self, graph: &Graph, array: Expr, at: &At) -> Word {
        let nothing = vec![Lit::FALSE; graph.width(array) as usize];
        let mut done: FxHashMap<Expr, Word> = FxHashMap::default();
        let mut stack = vec![array];
        while let Some(&top) = stack.last() {
            if self.gates.stopped().is_some() {
                return nothing;
            }
            if done.contains_key(&top) {
                stack.pop();
                continue;
            }
            let node = graph.array_form(top);
            // The first operand is not needed if `hit` is true, the second not if it is false.
            let (below, hit) = match node {
                ArrayForm::Variable | ArrayForm::Constant { .. } => ([None, None], Lit::TRUE),
                ArrayForm::Store { base, index, .. } => ([Some(base), None], self.hit(graph, index, at)),
                ArrayForm::Table { base } => {
                    let inside = match at {
                        At::Index(index, set, _) => {
                            !table::may_miss(graph.table(top).elements.len(), index, set.as_ref())
                        }
                        At::Unmentioned => false,
                    };
                    ([Some(base), None], Lit::constant(inside))
                }
                ArrayForm::Ite { condition, then, otherwise: other } => {
                    ([Some(other), Some(then)], self.words[&condition][0])
                }
            };
            let needed = [below[0].filter(|_| hit != Lit::TRUE), below[1].filter(|_| hit != Lit::FALSE)];
            let missing: Vec<Expr> =
                needed.into_iter().flatten().filter(|kid| !done.contains_key(kid)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let [first, second] = needed.map(|kid| kid.map_or(&nothing, |kid| &done[&kid]));
            let word = match node {
                ArrayForm::Variable => self.base(graph, top, at),
                ArrayForm::Constant { value: element } => self.words[&element].to_vec(),
                ArrayForm::Store { element, .. } => {
                    circuit::choose(&mut self.gates, hit, &self.words[&element], first)
                }
                ArrayForm::Table { .. } => match at {
                    At::Index(index, set, _) => {
                        let elements = &graph.table(top).elements;
                        table::lookup(&mut self.gates, elements, index, set.as_ref(), first)
                    }
                    At::Unmentioned => first.clone(),
                },
                ArrayForm::Ite { .. } => circuit::choose(&mut self.gates, hit, second, first),
            };
            done.insert(top, word);
            stack.pop();
        }
        done.remove(&array).expect("the last one computed")
    }

    /// Literal that is true if the index of a store is the index read.
    fn hit(&mut self, graph: &Graph, index: Expr, at: &At) -> Lit {
        match at {
            At::Index(_, Some(set), _)
                if self.index_sets.of(graph, index).is_some_and(|other| other.is_disjoint(set)) =>
            {
                Lit::FALSE
            }
            At::Index(word, _, offset) => self.is_index(graph, (word, offset.as_ref()), index),
            At::Unmentioned => Lit::FALSE,
        }
    }

    /// An element of an array variable.
    fn base(&mut self, graph: &Graph, array: Expr, at: &At) -> Word {
        let width = graph.width(array);
        let At::Index(index, set, offset) = at else {
            if let Some(known) = self.arrays.unmentioned.get(&array) {
                return known.clone();
            }
            let word = self.inputs(width, Owner::Unmentioned(array));
            if self.gates.stopped().is_none() {
                self.arrays.unmentioned.insert(array, word.clone());
            }
            return word;
        };
        if index.iter().all(|lit| lit.is_constant()) {
            let key = (array, bits_of(index.iter().map(|lit| *lit == Lit::TRUE)));
            if let Some(known) = self.arrays.elements.get(&key) {
                return known.clone();
            }
            let word = self.inputs(width, Owner::Element { array, index: key.1.clone() });
            if self.gates.stopped().is_none() {
                self.arrays.elements.insert(key, word.clone());
            }
            return word;
        }
        if let Some(set) = set.as_ref().filter(|set| set.count() <= MAX_SELECTED_INDICES) {
            return self.select(graph, array, index, set);
        }
        let key = (array, index.clone());
        if let Some(&known) = self.arrays.access_at.get(&key) {
            return self.arrays.accesses[known as usize].value.clone();
        }
        let number = self.arrays.accesses.len() as u32;
        let value = self.inputs(width, Owner::ArrayTerm(ArrayTerm::Access(number)));
        if self.gates.stopped().is_none() {
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
        value
    }

    /// An element of an array variable at one of few indices, by selection among their slots.
    fn select(&mut self, graph: &Graph, array: Expr, index: &Word, set: &Set) -> Word {
        let mut word: Option<Word> = None;
        for value in set.values() {
            let here = circuit::constant(&Bits::word(set.width(), value));
            let element = self.base(graph, array, &At::Index(here.clone(), None, None));
            word = Some(match word {
                None => element,
                Some(others) => {
                    let hit = circuit::equal(&mut self.gates, index, &here);
                    circuit::choose(&mut self.gates, hit, &element, &others)
                }
            });
        }
        word.expect("an index has a value")
    }

    /// Literal that is true if two arrays are equal.
    pub(super) fn arrays_equal(&mut self, graph: &Graph, e: Expr) -> Lit {
        let sides = [graph.kid(e, 0), graph.kid(e, 1)];
        let Sort::Array { index: index_width, .. } = graph.sort(sides[0]) else { unreachable!("an array") };
        if index_width <= self.expanded_index_width.max(ALWAYS_EXPANDED_INDEX_WIDTH) {
            let mut same = Vec::new();
            for i in 0..1u64 << index_width {
                let at = At::Index(circuit::constant(&Bits::word(index_width, i)), None, None);
                let [a, b] = sides.map(|side| self.element(graph, side, &at));
                same.push(circuit::equal(&mut self.gates, &a, &b));
            }
            return self.gates.all(same);
        }
        let number = self.arrays.comparisons.len() as u32;
        let equal = self.inputs(1, Owner::ArrayTerm(ArrayTerm::Comparison(number)));
        let witness = self.inputs(index_width, Owner::Witness);
        let [a, b] = sides.map(|side| self.element(graph, side, &At::Index(witness.clone(), None, None)));
        let agree = circuit::equal(&mut self.gates, &a, &b);
        let differ_if_unequal = self.gates.or(equal[0], !agree);
        let mut indices = vec![witness];
        let mut table_indices = 0;
        graph.post_order(&sides, |node| {
            if graph.op(node) == Op::Store {
                indices.push(self.words[&graph.kid(node, 1)].to_vec());
            } else if graph.op(node) == Op::Table {
                table_indices += graph.table(node).elements.len();
            }
        });
        if self.gates.stopped().is_some() {
            return Lit::FALSE;
        }
        let mut dependencies: Vec<Lit> = indices.iter().flatten().copied().collect();
        dependencies.push(differ_if_unequal);
        let lemmas = vec![differ_if_unequal];
        self.arrays.comparisons.push(Comparison {
            sides,
            equal: equal[0],
            indices,
            dependencies,
            lemmas,
            tied_unmentioned: false,
            table_indices,
        });
        equal[0]
    }

    /// The greatest index width of the comparisons that need an unmentioned index and may not have one.
    pub fn lacks_unmentioned_index(&self, array_terms: &[ArrayTerm]) -> Option<u32> {
        let mentioned = self.arrays.mentioned();
        let tied = array_terms.iter().filter_map(|array_term| match array_term {
            ArrayTerm::Comparison(at) => Some(&self.arrays.comparisons[*at as usize]),
            ArrayTerm::Access(_) => None,
        });
        tied.filter(|comparison| comparison.tied_unmentioned)
            .map(|comparison| comparison.indices[0].len() as u32)
            .filter(|&width| width < 32 && mentioned >= 1 << width)
            .max()
    }
}

/// Index of an element.
pub(super) enum At {
    /// This index; its values lie in the set if one is given, and it is the sum of a base and a constant.
    Index(Word, Option<Set>, Option<Offset>),
    /// An index that no access, store or table mentions.
    Unmentioned,
}

pub(super) fn bits_of(values: impl Iterator<Item = bool>) -> Bits {
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
