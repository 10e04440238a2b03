//! The layer `split`: passes on only the constraints that share inputs with the condition (the slice).
//!
//! Answers: components whose model it has kept. Otherwise it partitions path and condition into components that share
//! no input, and passes each one on.
//! Why sound: components are independent, so models of all of them form a model of the query. A component that is left
//! out is satisfied by the model of the nearest feasible node. Components with newer constraints are passed on too: no
//! path is ever assumed to be satisfiable.
//! When it helps: nearly always; a branch depends on few of a program's inputs.
//! Cost: linear in the slice. The components of a path node are those of its parent and one constraint.
//! Source: constraint independence (EXE, KLEE).

use super::{Layer, Rest};
use crate::expr::walk::{Atom, Supports};
use crate::expr::{ArrayValue, Bits, Expr, Graph, Model, Sort, Value};
use crate::persist::{List, Map};
use crate::query::{Alive, Answer, Path, PathTree, Query};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Limit of kept models of components; all are dropped when it is reached.
const MAX_MODELS: usize = 4096;

/// A component: constraints that share inputs, with their depth on the path, and their atoms.
#[derive(Clone, Default)]
struct Component {
    constraints: List<(u32, Expr)>,
    atoms: List<u32>,
    /// Depth of the newest constraint.
    newest: u32,
}

impl Component {
    fn add(&mut self, depth: u32, constraint: Expr) {
        self.constraints.push((depth, constraint));
        self.newest = self.newest.max(depth);
    }
}

/// The components of one path.
#[derive(Clone, Default)]
struct Components {
    components: Map<Arc<Component>>,
    /// Component of each atom.
    of_atom: Map<u32>,
    /// Component of each array that is used as a whole; all of its elements belong to it.
    of_array: Map<u32>,
    next: u32,
}

impl Components {
    fn component(&self, number: u32) -> &Arc<Component> {
        self.components.get(number).expect("a component")
    }

    fn component_of(&self, atom: Atom, number: u32) -> Option<u32> {
        match atom {
            Atom::Element(array, _) => {
                self.of_array.get(array.id()).or_else(|| self.of_atom.get(number)).copied()
            }
            Atom::Variable(_) => self.of_atom.get(number).copied(),
            Atom::Array(array) => self.of_array.get(array.id()).copied(),
        }
    }

    /// Components that contain one of the atoms, ascending, without duplicates.
    fn touched(&self, atoms: &[(Atom, u32)], elements: &Elements) -> SmallVec<[u32; 4]> {
        let mut components: SmallVec<[u32; 4]> = SmallVec::new();
        for &(atom, number) in atoms {
            components.extend(self.component_of(atom, number));
            if let Atom::Array(array) = atom
                && let Some(elements) = elements.get(&array)
            {
                components.extend(elements.iter().filter_map(|number| self.of_atom.get(*number).copied()));
            }
        }
        components.sort_unstable();
        components.dedup();
        components
    }

    /// Adds a constraint and merges the components that it touches.
    fn add(&mut self, atoms: &[(Atom, u32)], elements: &Elements, constraint: Expr, depth: u32) {
        let touched = self.touched(atoms, elements);
        let largest = touched.iter().copied().max_by_key(|number| self.component(*number).atoms.len());
        let (into, mut component) = match largest {
            Some(into) => (into, Arc::clone(self.component(into))),
            None => {
                self.next += 1;
                (self.next, Arc::default())
            }
        };
        let changed = Arc::make_mut(&mut component);
        for other in touched.into_iter().filter(|&other| other != into) {
            self.merge(other, into, changed);
        }
        changed.add(depth, constraint);
        for &(atom, number) in atoms {
            // Skipped to avoid copying the persistent maps; on a long path nearly all atoms are known.
            if self.of_atom.get(number) == Some(&into) {
                continue;
            }
            self.of_atom.insert(number, into);
            changed.atoms.push(number);
            if let Atom::Array(array) = atom {
                self.of_array.insert(array.id(), into);
            }
        }
        self.components.insert(into, component);
    }

    fn merge(&mut self, from: u32, into: u32, component: &mut Component) {
        let gone = self.components.remove(from).expect("a touched component");
        for &atom in gone.atoms.iter() {
            self.of_atom.insert(atom, into);
            component.atoms.push(atom);
        }
        let arrays: Vec<u32> = self
            .of_array
            .iter()
            .filter(|(_, component)| **component == from)
            .map(|(array, _)| array)
            .collect();
        for array in arrays {
            self.of_array.insert(array, into);
        }
        for &(depth, constraint) in gone.constraints.iter() {
            component.add(depth, constraint);
        }
    }

    /// Constraints of some components, oldest first.
    fn constraints(&self, components: &[u32]) -> Arc<[Expr]> {
        let mut all: Vec<(u32, Expr)> = components
            .iter()
            .flat_map(|number| self.component(*number).constraints.iter().copied())
            .collect();
        // The lists are newest first; a stable sort of a few sorted runs is cheap.
        all.sort_by_key(|(depth, _)| *depth);
        all.iter().map(|(_, e)| *e).collect()
    }
}

/// Elements seen of each array, over all paths.
type Elements = FxHashMap<Expr, Vec<u32>>;

#[derive(Default)]
pub struct Split {
    /// Atoms of each expression, with their numbers.
    numbered: FxHashMap<Expr, Arc<[(Atom, u32)]>>,
    numbers: FxHashMap<Atom, u32>,
    atoms: Vec<Atom>,
    elements: Elements,
    nodes: FxHashMap<u32, Components>,
    /// Models of components that were passed on; other paths contain the same components.
    models: FxHashMap<Arc<[Expr]>, Model>,
    dropped_constraints: u64,
    known_components: u64,
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

    fn components(
        &mut self,
        graph: &Graph,
        supports: &mut Supports,
        tree: &PathTree,
        path: Path,
    ) -> Components {
        let mut missing = Vec::new();
        let mut components = Components::default();
        for node in tree.upwards(path) {
            if let Some(known) = self.nodes.get(&node.id()) {
                components = known.clone();
                break;
            }
            missing.push(node);
        }
        for node in missing.into_iter().rev() {
            let constraint = tree.constraint(node);
            let atoms = self.support(graph, supports, constraint);
            components.add(&atoms, &self.elements, constraint, tree.depth(node));
            self.nodes.insert(node.id(), components.clone());
        }
        components
    }

    /// Copies the values of some atoms from another model. Most are equal, as layers below change few inputs.
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
            return rest.check(query).answer;
        }
        let components = self.components(rest.graph, rest.supports, rest.tree, query.path);
        let condition_atoms = self.support(rest.graph, rest.supports, query.condition);
        let touched = components.touched(&condition_atoms, &self.elements);
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let covered_depth = rest.tree.depth(ancestor);
        let mut model = rest.tree.model(ancestor).expect("a feasible node").clone();

        let slice = components.constraints(&touched);
        self.dropped_constraints += u64::from(rest.tree.depth(query.path)) - slice.len() as u64;
        // With a constant condition only the components below are passed on.
        if !rest.graph.is_true(query.condition) {
            let about = Query { path: query.path, condition: query.condition, slice: Some(slice) };
            match rest.check(&about).answer {
                Answer::Sat(found) => {
                    let own = condition_atoms.iter().map(|&(_, number)| number);
                    let atoms = touched
                        .iter()
                        .flat_map(|component| components.component(*component).atoms.iter().copied())
                        .chain(own);
                    self.take(rest.graph, &mut model, &found, atoms);
                }
                answer => return answer,
            }
        }
        if ancestor == query.path {
            return Answer::Sat(model);
        }
        let yes = rest.graph.boolean(true);
        for (number, component) in components.components.iter() {
            if component.newest <= covered_depth || touched.binary_search(&number).is_ok() {
                continue;
            }
            let slice = components.constraints(&[number]);
            let found = match self.models.get(&slice) {
                Some(known) => {
                    self.known_components += 1;
                    known.clone()
                }
                None => {
                    let about = Query { path: query.path, condition: yes, slice: Some(slice.clone()) };
                    match rest.check(&about).answer {
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
            self.take(rest.graph, &mut model, &found, component.atoms.iter().copied());
        }
        Answer::Sat(model)
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.numbered.retain(|e, _| alive.expr(*e));
        self.nodes.retain(|id, _| alive.path(*id));
        // The number of a dead variable is not reused: components of live paths do not mention it, and the variable that
        // takes its handle gets a new number.
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
        [("dropped_constraints", self.dropped_constraints), ("known_components", self.known_components)]
            .map(|(name, count)| (name.to_string(), count as f64))
            .to_vec()
    }
}
