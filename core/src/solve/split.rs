//! The layer `split`: asks only about constraints that share variables with the condition.
//!
//! Answers: nothing by itself, except about components it has asked about before; it cuts path and condition into components that share no variable and asks below.
//! Why sound: components are independent, so a model of one and a model of the others make a model of all. What
//! is left out is covered by the model of a feasible node: this one's, or an ancestor's for components that have
//! not changed since. Everything else is asked too: no path is ever assumed to be satisfiable.
//! When it helps: nearly always; a branch concerns few of a program's inputs.
//! Cost: what the slice contains. Components are kept per path node, derived from the parent's by one constraint.

use super::{Layer, Rest};
use crate::expr::walk::{Atom, Supports};
use crate::expr::{ArrayValue, Bits, Expr, Graph, Model, Sort, Value};
use crate::persist::{List, Map};
use crate::query::{Alive, Answer, Path, PathTree, Query};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Models of parts at most; then all are forgotten.
const MAX_MODELS: usize = 4096;

/// Constraints that share variables, with their depth on the path, and the atoms they mention.
#[derive(Clone, Default)]
struct Part {
    constraints: List<(u32, Expr)>,
    atoms: List<u32>,
    /// The depth of the newest constraint.
    newest: u32,
}

impl Part {
    fn add(&mut self, depth: u32, constraint: Expr) {
        self.constraints.push((depth, constraint));
        self.newest = self.newest.max(depth);
    }
}

/// The parts of one path.
#[derive(Clone, Default)]
struct Parts {
    parts: Map<Arc<Part>>,
    /// Which part an atom belongs to.
    of_atom: Map<u32>,
    /// The part of an array that is used as a whole: all of its elements belong there.
    of_array: Map<u32>,
    next: u32,
}

impl Parts {
    fn part(&self, number: u32) -> &Arc<Part> {
        self.parts.get(number).expect("a part")
    }

    fn part_of(&self, atom: Atom, number: u32) -> Option<u32> {
        match atom {
            Atom::Element(array, _) => {
                self.of_array.get(array.id()).or_else(|| self.of_atom.get(number)).copied()
            }
            Atom::Variable(_) => self.of_atom.get(number).copied(),
            Atom::Array(array) => self.of_array.get(array.id()).copied(),
        }
    }

    /// The parts that the atoms touch, each once, in ascending order.
    fn touched(&self, atoms: &[(Atom, u32)], elements: &Elements) -> SmallVec<[u32; 4]> {
        let mut parts: SmallVec<[u32; 4]> = SmallVec::new();
        for &(atom, number) in atoms {
            parts.extend(self.part_of(atom, number));
            if let Atom::Array(array) = atom
                && let Some(elements) = elements.get(&array)
            {
                parts.extend(elements.iter().filter_map(|number| self.of_atom.get(*number).copied()));
            }
        }
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// Adds a constraint: the parts it touches become one.
    fn add(&mut self, atoms: &[(Atom, u32)], elements: &Elements, constraint: Expr, depth: u32) {
        let touched = self.touched(atoms, elements);
        let largest = touched.iter().copied().max_by_key(|number| self.part(*number).atoms.len());
        let (into, mut part) = match largest {
            Some(into) => (into, Arc::clone(self.part(into))),
            None => {
                self.next += 1;
                (self.next, Arc::default())
            }
        };
        let changed = Arc::make_mut(&mut part);
        for other in touched.into_iter().filter(|&other| other != into) {
            self.merge(other, into, changed);
        }
        changed.add(depth, constraint);
        for &(atom, number) in atoms {
            // What is known needs no copy of the maps: nearly all of it, on a long path.
            if self.of_atom.get(number) == Some(&into) {
                continue;
            }
            self.of_atom.insert(number, into);
            changed.atoms.push(number);
            if let Atom::Array(array) = atom {
                self.of_array.insert(array.id(), into);
            }
        }
        self.parts.insert(into, part);
    }

    fn merge(&mut self, from: u32, into: u32, part: &mut Part) {
        let gone = self.parts.remove(from).expect("a touched part");
        for &atom in gone.atoms.iter() {
            self.of_atom.insert(atom, into);
            part.atoms.push(atom);
        }
        let arrays: Vec<u32> =
            self.of_array.iter().filter(|(_, part)| **part == from).map(|(array, _)| array).collect();
        for array in arrays {
            self.of_array.insert(array, into);
        }
        for &(depth, constraint) in gone.constraints.iter() {
            part.add(depth, constraint);
        }
    }

    /// The constraints of some parts, oldest first.
    fn constraints(&self, parts: &[u32]) -> Arc<[Expr]> {
        let mut all: Vec<(u32, Expr)> =
            parts.iter().flat_map(|number| self.part(*number).constraints.iter().copied()).collect();
        // Newest first, or a few such runs after one another.
        all.sort_by_key(|(depth, _)| *depth);
        all.iter().map(|(_, e)| *e).collect()
    }
}

/// All elements seen of each array, on whatever path.
type Elements = FxHashMap<Expr, Vec<u32>>;

#[derive(Default)]
pub struct Split {
    /// The atoms of expressions, with their numbers.
    numbered: FxHashMap<Expr, Arc<[(Atom, u32)]>>,
    numbers: FxHashMap<Atom, u32>,
    atoms: Vec<Atom>,
    elements: Elements,
    nodes: FxHashMap<u32, Parts>,
    /// Models of parts that were asked about: other paths have the same.
    models: FxHashMap<Arc<[Expr]>, Model>,
    dropped_constraints: u64,
    known_parts: u64,
}

impl Split {
    pub fn new() -> Split {
        Split::default()
    }

    fn support(&mut self, graph: &Graph, supports: &mut Supports, e: Expr) -> Arc<[(Atom, u32)]> {
        if let Some(known) = self.numbered.get(&e) {
            return known.clone();
        }
        let support = supports.of(graph, e);
        let number = |atom: &Atom| {
            let next = self.atoms.len() as u32;
            let number = *self.numbers.entry(*atom).or_insert(next);
            if number == next {
                self.atoms.push(*atom);
                if let Atom::Element(array, _) = atom {
                    self.elements.entry(*array).or_default().push(number);
                }
            }
            (*atom, number)
        };
        let numbered: Arc<[(Atom, u32)]> = support.iter().map(number).collect();
        self.numbered.insert(e, numbered.clone());
        numbered
    }

    fn parts(&mut self, graph: &Graph, supports: &mut Supports, tree: &PathTree, path: Path) -> Parts {
        let mut missing = Vec::new();
        let mut parts = Parts::default();
        for node in tree.upwards(path) {
            if let Some(known) = self.nodes.get(&node.id()) {
                parts = known.clone();
                break;
            }
            missing.push(node);
        }
        for node in missing.into_iter().rev() {
            let constraint = tree.constraint(node);
            let atoms = self.support(graph, supports, constraint);
            parts.add(&atoms, &self.elements, constraint, tree.depth(node));
            self.nodes.insert(node.id(), parts.clone());
        }
        parts
    }

    /// Takes the values of some atoms over from another model. Most are the same: a layer below changes what it must.
    fn take(&self, graph: &Graph, own: &mut Model, other: &Model, atoms: impl Iterator<Item = u32>) {
        if own.is_shared_with(other) {
            return;
        }
        for number in atoms {
            match self.atoms[number as usize] {
                Atom::Variable(v) => {
                    let bits = other.bits(v, graph.width(v));
                    if own.bits(v, graph.width(v)) != bits {
                        own.set_bits(v, bits);
                    }
                }
                Atom::Array(v) => {
                    let Sort::Array { index, element } = graph.sort(v) else { unreachable!("an array atom") };
                    let zero = || Arc::new(ArrayValue::zero(index, element));
                    own.set(v, Value::Array(other.array(v).cloned().unwrap_or_else(zero)));
                }
                Atom::Element(v, at) => {
                    let Sort::Array { index, element } = graph.sort(v) else { unreachable!("an array atom") };
                    let at = Bits::word(index, at);
                    let get = |model: &Model| {
                        model.array(v).map_or_else(|| Bits::zero(element), |array| array.get(&at))
                    };
                    let value = get(other);
                    if get(own) != value {
                        own.set_element(graph, v, &at, value);
                    }
                }
            }
        }
    }
}

impl Layer for Split {
    fn name(&self) -> &str {
        "split"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if query.slice.is_some() {
            return rest.check(query);
        }
        let parts = self.parts(rest.graph, rest.supports, rest.tree, query.path);
        let condition_atoms = self.support(rest.graph, rest.supports, query.condition);
        let touched = parts.touched(&condition_atoms, &self.elements);
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let covered_depth = rest.tree.depth(ancestor);
        let mut model = rest.tree.model(ancestor).expect("a feasible node").clone();

        let slice = parts.constraints(&touched);
        self.dropped_constraints += u64::from(rest.tree.depth(query.path)) - slice.len() as u64;
        // Is the path satisfiable? Then there are only the other parts to ask about.
        if !rest.graph.is_true(query.condition) {
            let about = Query { path: query.path, condition: query.condition, slice: Some(slice) };
            match rest.check(&about) {
                Answer::Sat(found) => {
                    let own = condition_atoms.iter().map(|&(_, number)| number);
                    let atoms =
                        touched.iter().flat_map(|part| parts.part(*part).atoms.iter().copied()).chain(own);
                    self.take(rest.graph, &mut model, &found, atoms);
                }
                answer => return answer,
            }
        }
        if ancestor == query.path {
            return Answer::Sat(model);
        }
        let yes = rest.graph.boolean(true);
        for (number, part) in parts.parts.iter() {
            if part.newest <= covered_depth || touched.binary_search(&number).is_ok() {
                continue;
            }
            let slice = parts.constraints(&[number]);
            let found = match self.models.get(&slice) {
                Some(known) => {
                    self.known_parts += 1;
                    known.clone()
                }
                None => {
                    let about = Query { path: query.path, condition: yes, slice: Some(slice.clone()) };
                    match rest.check(&about) {
                        Answer::Sat(found) => {
                            if self.models.len() >= MAX_MODELS {
                                self.models.clear();
                            }
                            self.models.insert(slice, found.clone());
                            found
                        }
                        answer => return answer,
                    }
                }
            };
            self.take(rest.graph, &mut model, &found, part.atoms.iter().copied());
        }
        Answer::Sat(model)
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.numbered.retain(|e, _| alive.expr(*e));
        self.nodes.retain(|id, _| alive.path(*id));
        // A dead variable's number is not given out again: parts of live paths do not mention it, and the
        // variable that takes its handle gets a new one.
        self.numbers.retain(|atom, _| alive.expr(atom.variable()));
        self.elements.retain(|array, _| alive.expr(*array));
        self.models.retain(|slice, model| {
            model.retain(|variable| alive.expr(variable));
            slice.iter().all(|e| alive.expr(*e))
        });
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        for id in gone {
            self.nodes.remove(id);
        }
    }

    fn forget(&mut self) {
        self.numbered = FxHashMap::default();
        self.nodes = FxHashMap::default();
        self.models = FxHashMap::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        [("dropped_constraints", self.dropped_constraints), ("known_parts", self.known_parts)]
            .map(|(name, count)| (name.to_string(), count as f64))
            .to_vec()
    }
}
