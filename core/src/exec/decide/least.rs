//! Values that are functions of the path condition alone: the least ones. What a run binds, keeps at a cap or writes into a
//! test must not depend on which model a layer or a cache happened to have.
//!
//! With `--reproducible` the inputs of a test are the least of its path: of all that take it, those whose first byte is
//! least, of these those whose second byte is, and so on, inputs in the order of their names. That is a property of the set of
//! solutions: it does not matter who finds it, nor in which form the constraints are. Components of the path, which share no
//! input, are derived by themselves and kept, since most paths share most components.
use super::Decider;
use crate::exec::state::State;
use crate::exec::state::contents::INDEX_WIDTH;
use crate::expr::walk::Atom;
use crate::expr::{Bits, Expr, Model};
use crate::query::{Answer, Path, Slice, Status};
use crate::solve::Extreme;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Number of components whose least inputs are kept.
const MAX_KEPT: usize = 1 << 16;
/// Largest input that is read at a symbolic place and still gets its least bytes.
const MAX_WHOLE: u64 = 4096;

/// Reason why a test does not have the least inputs.
const NOT_LEAST: &str = "the least inputs of a path are not known";

type Values = Arc<[(Atom, Bits)]>;
/// Inputs with their sizes.
type Sizes = Vec<(Expr, u64)>;

/// Least inputs of a component, and the sizes of inputs that it uses as a whole.
#[derive(Clone)]
struct Kept {
    values: Values,
    sizes: Arc<[(Expr, u64)]>,
}

/// Least inputs of components, by identity.
#[derive(Default)]
pub struct LeastInputs(FxHashMap<u64, Kept>);

impl LeastInputs {
    pub fn clear(&mut self) {
        self.0 = FxHashMap::default();
    }
}

/// Size of an input of a path.
fn size_of(state: &State, array: Expr) -> Option<u64> {
    state.inputs.newest_first().find(|input| input.array == array).map(|input| input.size)
}

impl Decider {
    /// Least or greatest value of an expression on this path, which continues the state's. `None` if the solver does not know.
    pub(super) fn extreme(&mut self, state: &State, path: Path, e: Expr, greatest: bool) -> Option<Bits> {
        debug_assert!(!self.is_replaying(), "a query while a path is executed again");
        self.begin_query(state);
        let which = Extreme { greatest, signed: false };
        self.solver.extreme(path, e, which, &self.budget).ok().flatten()
    }

    /// Least value of an expression on the state's path; that of its model if the solver does not know.
    pub fn least(&mut self, state: &State, e: Expr) -> Bits {
        match self.extreme(state, state.path, e, false) {
            Some(bits) => bits,
            None => self.evaluate(state, e),
        }
    }

    /// With `--reproducible`: gives the path its least inputs, before something that depends on them is reported.
    pub fn settle(&mut self, state: &State) {
        if self.options.reproducible && !self.is_replaying() && state.seeds.is_empty() {
            self.make_least(state);
        }
    }

    /// Gives the path the least inputs that satisfy it and what the program prefers.
    pub(super) fn make_least(&mut self, state: &State) {
        let (path, _) = self.preferred_path(state);
        let mut model = Model::new();
        for (identity, slice) in self.solver.components(path) {
            let known = self.least_inputs.0.get(&identity).cloned();
            // Inputs of one name may have other sizes on other paths.
            let is_same =
                |kept: &Kept| kept.sizes.iter().all(|(array, size)| size_of(state, *array) == Some(*size));
            let kept = known.filter(is_same).or_else(|| {
                let found = self.least_of(state, path, &slice)?;
                if self.least_inputs.0.len() >= MAX_KEPT {
                    self.least_inputs.clear();
                }
                self.least_inputs.0.insert(identity, found.clone());
                Some(found)
            });
            let values = kept.map(|kept| kept.values).unwrap_or_else(|| {
                self.note(state, NOT_LEAST);
                self.values_of(state, &slice)
            });
            for (atom, bits) in values.iter() {
                self.set_atom(&mut model, *atom, bits.clone());
            }
        }
        self.solver.tree.release(path);
        debug_assert!(
            {
                let constraints = self.solver.tree.constraints(state.path);
                let mut session = self.solver.evaluator.under(&self.solver.graph, &model);
                constraints.iter().all(|constraint| session.truth(*constraint))
            },
            "the least inputs take the path"
        );
        self.solver.tree.set_status(state.path, Status::Feasible(model));
    }

    /// Inputs that the constraints of a slice mention, bytes of an array used as a whole one by one; sorted by name and place.
    /// Also the sizes of such arrays. `None` if there are too many.
    fn inputs_of_slice(&mut self, state: &State, slice: &Slice) -> Option<(Vec<Atom>, Sizes)> {
        let (mut atoms, mut sizes) = (Vec::new(), Vec::new());
        for &constraint in slice.list().iter() {
            for &atom in self.support(constraint).iter() {
                match atom {
                    Atom::Array(array) => {
                        if sizes.iter().any(|(known, _)| *known == array) {
                            continue;
                        }
                        let size = size_of(state, array).filter(|size| *size <= MAX_WHOLE)?;
                        sizes.push((array, size));
                        atoms.extend((0..size).map(|at| Atom::Element(array, at)));
                    }
                    Atom::Variable(_) | Atom::Element(..) => atoms.push(atom),
                }
            }
        }
        let graph = &self.solver.graph;
        let place = |atom: &Atom| match *atom {
            Atom::Element(_, at) => at,
            Atom::Variable(_) | Atom::Array(_) => 0,
        };
        atoms.sort_by(|a, b| (graph.name(a.variable()), place(a)).cmp(&(graph.name(b.variable()), place(b))));
        atoms.dedup();
        Some((atoms, sizes))
    }

    /// Values of a slice's inputs under the path's model.
    fn values_of(&mut self, state: &State, slice: &Slice) -> Values {
        let mut atoms: Vec<Atom> = Vec::new();
        let model = self.model(state).clone();
        for &constraint in slice.list().iter() {
            for &atom in self.support(constraint).iter() {
                match atom {
                    Atom::Array(array) => {
                        let known = model.array(array).cloned();
                        let places = known.iter().flat_map(|array| array.set_bytes()).map(|(at, _)| at);
                        atoms.extend(places.map(|at| Atom::Element(array, at)));
                    }
                    Atom::Variable(_) | Atom::Element(..) => atoms.push(atom),
                }
            }
        }
        let mut values = Vec::new();
        for atom in atoms {
            let e = self.input(atom);
            values.push((atom, self.solver.evaluator.under(&self.solver.graph, &model).bits(e)));
        }
        values.into()
    }

    fn input(&mut self, atom: Atom) -> Expr {
        match atom {
            Atom::Element(array, at) => {
                let index = self.solver.graph.word(INDEX_WIDTH, at);
                self.solver.graph.select(array, index)
            }
            Atom::Variable(variable) | Atom::Array(variable) => variable,
        }
    }

    fn set_atom(&mut self, model: &mut Model, atom: Atom, bits: Bits) {
        match atom {
            Atom::Element(array, at) => {
                model.set_element(&self.solver.graph, array, &Bits::word(INDEX_WIDTH, at), bits);
            }
            Atom::Variable(variable) | Atom::Array(variable) => model.set_bits(variable, bits),
        }
    }

    fn all_hold(&mut self, model: &Model, slice: &Slice) -> bool {
        let mut session = self.solver.evaluator.under(&self.solver.graph, model);
        slice.list().iter().all(|constraint| session.truth(*constraint))
    }

    /// The least inputs of a component of a path. `None` if the solver does not know, or there are too many.
    fn least_of(&mut self, state: &State, path: Path, slice: &Slice) -> Option<Kept> {
        let (atoms, sizes) = self.inputs_of_slice(state, slice)?;
        let sizes = sizes.into();
        let mut model = self.solver.tree.model(path).expect("a path with a model").clone();
        if let [atom @ Atom::Element(..)] = atoms[..] {
            let value = self.least_byte(path, slice, atom, &mut model);
            return Some(Kept { values: Arc::new([(atom, value)]), sizes });
        }
        let mut node = self.solver.tree.retain(path);
        let mut values = Vec::with_capacity(atoms.len());
        let mut is_known = true;
        for &atom in &atoms {
            let e = self.input(atom);
            let Some(bits) = self.least_input(state, node, slice, (atom, e), &mut model) else {
                is_known = false;
                break;
            };
            let equal = self.equals(e, bits.clone());
            values.push((atom, bits));
            let next = self.solver.tree.extend(&self.solver.graph, node, equal);
            if next != node {
                self.solver.tree.set_status(next, Status::Feasible(model.clone()));
            }
            self.solver.tree.release(node);
            node = next;
        }
        self.solver.tree.release(node);
        is_known.then(|| Kept { values: values.into(), sizes })
    }

    /// The least value of the only byte that a component mentions.
    fn least_byte(&mut self, path: Path, slice: &Slice, atom: Atom, model: &mut Model) -> Bits {
        let e = self.input(atom);
        for value in self.solver.values(path, e).values() {
            let bits = Bits::word(8, value);
            self.set_atom(model, atom, bits.clone());
            if self.all_hold(model, slice) {
                return bits;
            }
        }
        unreachable!("a feasible path has a value of each byte")
    }

    /// The least value of an input on a path whose model this is. The model gets it.
    fn least_input(
        &mut self,
        state: &State,
        path: Path,
        slice: &Slice,
        (atom, e): (Atom, Expr),
        model: &mut Model,
    ) -> Option<Bits> {
        let now = self.solver.evaluator.under(&self.solver.graph, model).bits(e);
        let bound = match now.width() <= 64 {
            true => Bits::word(now.width(), self.solver.values(path, e).min()?),
            false => Bits::zero(now.width()),
        };
        if now == bound {
            return Some(now);
        }
        // Mostly nothing else has to change.
        let mut changed = model.clone();
        self.set_atom(&mut changed, atom, bound.clone());
        if self.all_hold(&changed, slice) {
            *model = changed;
            return Some(bound);
        }
        let least = self.extreme(state, path, e, false)?;
        if least != now {
            let equal = self.equals(e, least.clone());
            let Answer::Sat(found) = self.ask_on(state, path, equal) else { return None };
            *model = found;
        }
        Some(least)
    }
}
