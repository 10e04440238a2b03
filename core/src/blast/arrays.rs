//! Arrays: reads over writes become multiplexers; what is left are reads of array variables.
//!
//! What an index cannot be, by its operators alone (`index_sets.rs`), is left out: elements of tables, stores elsewhere.
//! A read at a constant index is its own input slot, one at few indices a choice between those. A read at any other
//! computed index is an *access*: a free value that lemmas, added when a candidate assignment violates them, tie to
//! every other read of the same array at an equal index. A comparison of arrays with a short index is spelt out;
//! otherwise it is a free bit *e*: if false, the arrays differ at a witness index; if true, lemmas tie both sides at
//! each index where a candidate has them differ, and *elsewhere*: at an index that nothing mentions, which exists
//! while there are fewer indices mentioned than there are indices. Lemmas hold of all arrays, so they are never taken
//! back.

use super::circuit::{self, Word};
use super::gate::Lit;
use super::{Blaster, Owner, table};
use crate::budget::Why;
use crate::expr::{Alive, Bits, Expr, Graph, Op, Sort};
use crate::interval::Set;
use rustc_hash::FxHashMap;

/// Index widths up to this are spelt out when arrays are compared.
const SPELT: u32 = 10;

/// A read of an array variable is a choice between elements if its index has at most so many values.
const FEW: u128 = 16;

/// Something whose value is free as far as gates go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ArrayTerm {
    Access(u32),
    Comparison(u32),
}

pub(super) struct Access {
    pub(super) array: Expr,
    pub(super) index: Word,
    pub(super) value: Word,
    pub(super) lemmas: Vec<Lit>,
}

pub(super) struct Comparison {
    pub(super) sides: [Expr; 2],
    pub(super) equal: Lit,
    /// Indices that its sides mention, the witness first.
    pub(super) indices: Vec<Word>,
    /// What must be in the cone with it.
    pub(super) behind: Vec<Lit>,
    pub(super) lemmas: Vec<Lit>,
    pub(super) tied_unmentioned: bool,
    /// Indices that tables in its sides cover.
    tabled: usize,
}

#[derive(Default)]
pub struct Arrays {
    pub(super) accesses: Vec<Access>,
    access_at: FxHashMap<(Expr, Word), u32>,
    elements: FxHashMap<(Expr, Bits), Word>,
    unmentioned: FxHashMap<Expr, Word>,
    pub(super) comparisons: Vec<Comparison>,
}

impl Arrays {
    pub fn behind(&self, array_term: ArrayTerm) -> &[Lit] {
        match array_term {
            ArrayTerm::Access(at) => &self.accesses[at as usize].index,
            ArrayTerm::Comparison(at) => &self.comparisons[at as usize].behind,
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
        self.unmentioned.retain(|array, _| alive.has(*array));
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
        let mut word = Word::with_capacity(graph.width(e) as usize);
        for i in 0..graph.read_count(e) {
            let skip = circuit::constant(&Bits::word(index.len() as u32, i.into()));
            let at = circuit::add(&mut self.gates, &index, &skip);
            let set = set.as_ref().map(|set| set.plus(i.into()));
            word.extend(self.element(graph, array, &At::Index(at, set)));
        }
        word
    }

    /// The element of an array expression, without recursion: what an array needs from those it is made of is
    /// computed first.
    pub(super) fn element(&mut self, graph: &Graph, array: Expr, at: &At) -> Word {
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
            let made = made_of(graph, top);
            // When the first of the arrays below is not needed, and when the second is not.
            let (below, hit) = match made {
                Made::Variable | Made::Constant(_) => ([None, None], Lit::TRUE),
                Made::Store { base, index, .. } => ([Some(base), None], self.hit(graph, index, at)),
                Made::Table { base } => {
                    let inside = match at {
                        At::Index(index, set) => {
                            !table::may_miss(graph.table(top).elements.len(), index, set.as_ref())
                        }
                        At::Unmentioned => false,
                    };
                    ([Some(base), None], Lit::constant(inside))
                }
                Made::Choice { condition, then, other } => {
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
            let word = match made {
                Made::Variable => self.base(graph, top, at),
                Made::Constant(element) => self.words[&element].to_vec(),
                Made::Store { element, .. } => {
                    circuit::choose(&mut self.gates, hit, &self.words[&element], first)
                }
                Made::Table { .. } => match at {
                    At::Index(index, set) => {
                        let elements = &graph.table(top).elements;
                        table::lookup(&mut self.gates, elements, index, set.as_ref(), first)
                    }
                    At::Unmentioned => first.clone(),
                },
                Made::Choice { .. } => circuit::choose(&mut self.gates, hit, second, first),
            };
            done.insert(top, word);
            stack.pop();
        }
        done.remove(&array).expect("the last one computed")
    }

    /// Is the index of a store the one that is read?
    fn hit(&mut self, graph: &Graph, index: Expr, at: &At) -> Lit {
        match at {
            At::Index(_, Some(set))
                if self.index_sets.of(graph, index).is_some_and(|other| other.is_disjoint(set)) =>
            {
                Lit::FALSE
            }
            At::Index(word, _) => circuit::equal(&mut self.gates, word, &self.words[&index]),
            At::Unmentioned => Lit::FALSE,
        }
    }

    /// An element of an array variable.
    fn base(&mut self, graph: &Graph, array: Expr, at: &At) -> Word {
        let width = graph.width(array);
        let At::Index(index, set) = at else {
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
        if let Some(set) = set.as_ref().filter(|set| set.count() <= FEW) {
            return self.one_of(graph, array, index, set);
        }
        let key = (array, index.clone());
        if let Some(&known) = self.arrays.access_at.get(&key) {
            return self.arrays.accesses[known as usize].value.clone();
        }
        let number = self.arrays.accesses.len() as u32;
        let value = self.inputs(width, Owner::ArrayTerm(ArrayTerm::Access(number)));
        if self.gates.stopped().is_none() {
            let index = index.clone();
            self.arrays.accesses.push(Access { array, index, value: value.clone(), lemmas: Vec::new() });
            self.arrays.access_at.insert(key, number);
        }
        value
    }

    /// An element of an array variable at one of few indices: each has bits of its own.
    fn one_of(&mut self, graph: &Graph, array: Expr, index: &Word, set: &Set) -> Word {
        let mut word: Option<Word> = None;
        for value in set.values() {
            let here = circuit::constant(&Bits::word(set.width(), value));
            let element = self.base(graph, array, &At::Index(here.clone(), None));
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

    /// Are two arrays equal?
    pub(super) fn same_array(&mut self, graph: &Graph, e: Expr) -> Lit {
        let sides = [graph.kid(e, 0), graph.kid(e, 1)];
        let Sort::Array { index: index_width, .. } = graph.sort(sides[0]) else { unreachable!("an array") };
        if index_width <= SPELT {
            let mut same = Vec::new();
            for i in 0..1u64 << index_width {
                let at = At::Index(circuit::constant(&Bits::word(index_width, i)), None);
                let [a, b] = sides.map(|side| self.element(graph, side, &at));
                same.push(circuit::equal(&mut self.gates, &a, &b));
            }
            return self.gates.all(same);
        }
        let number = self.arrays.comparisons.len() as u32;
        let equal = self.inputs(1, Owner::ArrayTerm(ArrayTerm::Comparison(number)));
        let witness = self.inputs(index_width, Owner::Witness);
        let [a, b] = sides.map(|side| self.element(graph, side, &At::Index(witness.clone(), None)));
        let agree = circuit::equal(&mut self.gates, &a, &b);
        let differ_if_unequal = self.gates.or(equal[0], !agree);
        let mut indices = vec![witness];
        let mut tabled = 0;
        graph.post_order(&sides, |node| {
            if graph.op(node) == Op::Store {
                indices.push(self.words[&graph.kid(node, 1)].to_vec());
            } else if graph.op(node) == Op::Table {
                tabled += graph.table(node).elements.len();
            }
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
            tied_unmentioned: false,
            tabled,
        });
        equal[0]
    }

    /// Is there an index that nothing mentions for each of the comparisons? What is said of *elsewhere* needs one.
    pub fn has_unmentioned_index(&self, array_terms: &[ArrayTerm]) -> Result<(), Why> {
        for array_term in array_terms {
            let ArrayTerm::Comparison(at) = array_term else { continue };
            let comparison = &self.arrays.comparisons[*at as usize];
            let (width, mentioned) = (comparison.indices[0].len(), self.arrays.mentioned());
            if comparison.tied_unmentioned && width < 32 && mentioned >= 1 << width {
                let message = format!(
                    "expected fewer than 2^{width} indices where arrays are compared, found {mentioned}"
                );
                return Err(Why::Layer { name: "sat".into(), message });
            }
        }
        Ok(())
    }
}

/// Where an element is wanted.
pub(super) enum At {
    /// This one, a member of the set if there is one.
    Index(Word, Option<Set>),
    /// At an index that nothing mentions.
    Unmentioned,
}

/// What an array expression is made of.
#[derive(Clone, Copy)]
enum Made {
    Variable,
    Constant(Expr),
    Store { base: Expr, index: Expr, element: Expr },
    Table { base: Expr },
    Choice { condition: Expr, then: Expr, other: Expr },
}

fn made_of(graph: &Graph, e: Expr) -> Made {
    let kid = |i| graph.kid(e, i);
    match graph.op(e) {
        Op::Var => Made::Variable,
        Op::ConstArray => Made::Constant(kid(0)),
        Op::Store => Made::Store { base: kid(0), index: kid(1), element: kid(2) },
        Op::Table => Made::Table { base: kid(0) },
        Op::Ite => Made::Choice { condition: kid(0), then: kid(1), other: kid(2) },
        op @ (Op::Const | Op::Read | Op::Not | Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::Mul) => {
            unreachable!("{op:?} is never an array")
        }
        op @ (Op::UDiv | Op::URem | Op::SDiv | Op::SRem | Op::Shl | Op::LShr | Op::AShr | Op::Eq) => {
            unreachable!("{op:?} is never an array")
        }
        op @ (Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Concat | Op::Extract | Op::ZExt | Op::SExt) => {
            unreachable!("{op:?} is never an array")
        }
    }
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
