//! Index of the constraints of a path: independent components, and the constraints that mention an input.
//!
//! Each path node has the index of its parent and one constraint. All maps are persistent, so nodes share what they have
//! in common, and a constraint costs what it mentions, at any depth. A component is a set of constraints that share
//! inputs. It has an identity: components made by adding the same constraints in the same order are the same, on any path.
//!
//! An expression may mention all inputs of a path, as a running sum does. A constraint over a large expression therefore
//! makes *parts* of its subexpressions: from then on a part stands for the inputs below it, which are all in its
//! component. Constraints over larger expressions stop at parts, so each node of the graph is visited once per path.

use super::{Path, PathTree, Slice};
use crate::expr::walk::{Atom, Marks, element_range};
use crate::expr::{ArrayValue, Bits, Expr, Graph, Model, Op, Sort, Value};
use crate::persist::{List, Map};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Components of more constraints know which of them mention an input. Evaluating all is cheaper in smaller ones.
const MIN_INDEXED: usize = 32;
/// A constraint of more nodes makes parts of them.
const MIN_PART_NODES: usize = 64;
/// Values of at most this many keys are copied without comparing models.
const MAX_FEW_KEYS: usize = 16;
/// Limit of remembered identities; all are dropped when it is reached.
const MAX_IDENTITIES: usize = 1 << 16;

/// Numbers of components, within one path.
pub type Numbers = SmallVec<[u32; 4]>;

/// An input, or an expression that stands for the inputs below it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Atom(Atom),
    Part(Expr),
}

impl Key {
    fn expr(self) -> Expr {
        match self {
            Key::Atom(atom) => atom.variable(),
            Key::Part(e) => e,
        }
    }
}

/// A constraint or part that mentions a key directly.
#[derive(Clone, Copy)]
enum User {
    /// A constraint with its depth on the path.
    Constraint(u32, Expr),
    /// The part with this number.
    Part(u32),
}

/// A component: constraints that share inputs, with their depth on the path, and their keys.
#[derive(Clone, Default)]
pub struct Component {
    identity: u64,
    constraints: List<(u32, Expr)>,
    keys: List<u32>,
    /// Arrays that are used as a whole.
    arrays: List<u32>,
    /// Depth of the newest constraint.
    newest: u32,
    /// Are its constraints in `Components::users`?
    is_indexed: bool,
}

impl Component {
    /// Equal for components made by the same constraints in the same order.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Depth of the newest constraint.
    pub fn newest(&self) -> u32 {
        self.newest
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    fn add(&mut self, depth: u32, constraint: Expr) {
        self.constraints.push((depth, constraint));
        self.newest = self.newest.max(depth);
    }
}

/// The components of one path.
#[derive(Clone, Default)]
pub struct Components {
    components: Map<Arc<Component>>,
    /// Component of each key.
    of_key: Map<u32>,
    /// Component of each array that is used as a whole; all of its elements belong to it.
    of_array: Map<u32>,
    /// Users of each key.
    users: Map<List<User>>,
    next: u32,
}

impl Components {
    /// Components by number, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Component)> {
        self.components.iter().map(|(number, component)| (number, &**component))
    }

    pub fn component(&self, number: u32) -> &Component {
        self.components.get(number).expect("a component")
    }

    /// Constraints of some components, oldest first.
    pub(super) fn constraints(&self, components: &[u32]) -> Arc<[Expr]> {
        let mut all: Vec<(u32, Expr)> = components
            .iter()
            .flat_map(|number| self.component(*number).constraints.iter().copied())
            .collect();
        // The lists are newest first but for merged ones; a stable sort of a few sorted runs is cheap.
        all.sort_by_key(|(depth, _)| *depth);
        all.iter().map(|(_, e)| *e).collect()
    }

    fn component_of(&self, key: Key, number: u32) -> Option<u32> {
        match key {
            Key::Atom(Atom::Element(array, _)) => {
                self.of_array.get(array.id()).or_else(|| self.of_key.get(number)).copied()
            }
            Key::Atom(Atom::Array(array)) => self.of_array.get(array.id()).copied(),
            Key::Atom(Atom::Variable(_)) | Key::Part(_) => self.of_key.get(number).copied(),
        }
    }

    fn use_key(&mut self, graph: &Graph, key: u32, user: User) {
        let mut users = self.users.get(key).cloned().unwrap_or_default();
        if let (User::Constraint(_, new), Some(User::Constraint(_, old))) = (user, users.newest()) {
            if implies(graph, new, *old) {
                users = users.before_newest();
            } else if implies(graph, *old, new) {
                return;
            }
        }
        users.push(user);
        self.users.insert(key, users);
    }
}

/// Does a bound imply another bound of the same expression? A loop up to an input bounds it anew in each round: only the
/// last bound has to be evaluated.
fn implies(graph: &Graph, new: Expr, old: Expr) -> bool {
    if graph.op(new) != graph.op(old) {
        return false;
    }
    let signed = match graph.op(new) {
        Op::Ult | Op::Ule => false,
        Op::Slt | Op::Sle => true,
        _ => return false,
    };
    let value = |e: Expr| {
        let word = graph.const_word(e)?;
        // As unsigned numbers in the order of signed ones.
        Some(if signed { word ^ 1 << (graph.width(e) - 1) } else { word })
    };
    let ([a, b], [c, d]) = ([0, 1].map(|i| graph.kid(new, i)), [0, 1].map(|i| graph.kid(old, i)));
    match (value(a), value(b), value(c), value(d)) {
        (Some(new), None, Some(old), None) => b == d && new >= old,
        (None, Some(new), None, Some(old)) => a == c && new <= old,
        _ => false,
    }
}

/// Indices of all paths.
#[derive(Default)]
pub struct PathIndex {
    numbers: FxHashMap<Key, u32>,
    keys: Vec<Key>,
    /// Number of keys that are parts.
    parts: usize,
    /// Elements seen of each array, over all paths.
    elements: FxHashMap<Expr, Vec<u32>>,
    /// Atoms of expressions, and the number of their nodes that are not inputs.
    atoms: FxHashMap<Expr, (Arc<[u32]>, usize)>,
    nodes: FxHashMap<u32, Arc<Components>>,
    /// Identity of a component: those of the components that the constraint touched, and the constraint.
    identities: FxHashMap<(SmallVec<[u64; 2]>, Expr), u64>,
    last_identity: u64,
    marks: Marks,
    /// Nodes visited by the last walk that are neither inputs nor parts.
    visited: Vec<Expr>,
    stack: Vec<Expr>,
    /// Number of nodes and users visited since creation.
    work: u64,
    /// Number of constraints put into lists since creation.
    listed: Arc<AtomicU64>,
}

impl PathIndex {
    /// Number of nodes and users visited, and of constraints put into lists, since creation.
    pub fn work(&self) -> u64 {
        self.work + self.listed.load(Ordering::Relaxed)
    }

    /// The constraints of some components of a path, given by ascending numbers.
    pub fn slice(&self, of: &Arc<Components>, numbers: Numbers) -> Slice {
        Slice::of_components(Arc::clone(of), numbers, Arc::clone(&self.listed))
    }

    /// Components of a path, derived from the nearest ancestor that has them.
    pub fn components(&mut self, graph: &Graph, tree: &PathTree, path: Path) -> Arc<Components> {
        let mut missing = Vec::new();
        let mut components = Arc::default();
        for node in tree.upwards(path) {
            if let Some(known) = self.nodes.get(&node.id()) {
                components = Arc::clone(known);
                break;
            }
            missing.push(node);
        }
        for node in missing.into_iter().rev() {
            let mut next = Components::clone(&components);
            self.add(graph, &mut next, tree.constraint(node), tree.depth(node));
            components = Arc::new(next);
            self.nodes.insert(node.id(), Arc::clone(&components));
        }
        components
    }

    /// Keys of an expression on a path, ascending, and the components that they belong to.
    pub fn touched(&mut self, graph: &Graph, at: &Components, e: Expr) -> (Arc<[u32]>, Numbers) {
        let keys = match self.atoms.get(&e) {
            Some((known, _)) => Arc::clone(known),
            None => self.walk(graph, at, e),
        };
        let touched = self.components_of(at, &keys);
        (keys, touched)
    }

    /// Components that contain one of the keys, ascending, without duplicates.
    fn components_of(&self, at: &Components, keys: &[u32]) -> Numbers {
        let mut components = Numbers::new();
        for &number in keys {
            let key = self.keys[number as usize];
            let component = at.component_of(key, number);
            components.extend(component);
            // All elements of an array that the path has used as a whole are in its component.
            if let (Key::Atom(Atom::Array(array)), None) = (key, component)
                && let Some(elements) = self.elements.get(&array)
            {
                components.extend(elements.iter().filter_map(|number| at.of_key.get(*number).copied()));
            }
        }
        components.sort_unstable();
        components.dedup();
        components
    }

    fn number(&mut self, key: Key) -> u32 {
        let next = self.keys.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
            match key {
                Key::Atom(Atom::Element(array, _)) => self.elements.entry(array).or_default().push(number),
                Key::Atom(Atom::Variable(_) | Atom::Array(_)) => {}
                Key::Part(_) => self.parts += 1,
            }
        }
        number
    }

    /// The number of an expression that is a part on this path.
    fn part(&self, at: &Components, e: Expr) -> Option<u32> {
        if self.parts == 0 {
            return None;
        }
        self.numbers.get(&Key::Part(e)).copied().filter(|number| at.of_key.get(*number).is_some())
    }

    /// Keys of an expression on a path: the parts below it, and the inputs that are not below these.
    fn walk(&mut self, graph: &Graph, at: &Components, e: Expr) -> Arc<[u32]> {
        self.marks.begin(graph);
        self.visited.clear();
        let (mut keys, mut only_atoms) = (Vec::new(), true);
        let mut stack = std::mem::take(&mut self.stack);
        stack.push(e);
        while let Some(e) = stack.pop() {
            if !self.marks.is_new(e) {
                continue;
            }
            self.work += 1;
            if let Some(number) = self.part(at, e) {
                keys.push(number);
                only_atoms = false;
                continue;
            }
            if !self.push_atoms(graph, e, &mut keys) {
                self.visited.push(e);
                stack.extend(graph.kids(e));
            }
        }
        self.stack = stack;
        keys.sort_unstable();
        keys.dedup();
        let keys: Arc<[u32]> = keys.into();
        if only_atoms {
            self.atoms.insert(e, (Arc::clone(&keys), self.visited.len()));
        }
        keys
    }

    /// Adds the atoms of an input, or of a read of inputs. False for other expressions.
    fn push_atoms(&mut self, graph: &Graph, e: Expr, keys: &mut Vec<u32>) -> bool {
        match graph.op(e) {
            Op::Var if graph.is_array(e) => keys.push(self.number(Key::Atom(Atom::Array(e)))),
            Op::Var => keys.push(self.number(Key::Atom(Atom::Variable(e)))),
            Op::Read => match element_range(graph, e) {
                Some((array, first, count)) => {
                    keys.extend(
                        (first..first + count).map(|at| self.number(Key::Atom(Atom::Element(array, at)))),
                    );
                }
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Adds a constraint and merges the components that it touches.
    fn add(&mut self, graph: &Graph, to: &mut Components, constraint: Expr, depth: u32) {
        let keys = match self.atoms.get(&constraint) {
            // No part is made of it, and it has none.
            Some((known, nodes)) if *nodes <= MIN_PART_NODES && self.parts == 0 => {
                self.visited.clear();
                Arc::clone(known)
            }
            _ => self.walk(graph, to, constraint),
        };
        // Merging walks too.
        let visited = std::mem::take(&mut self.visited);
        let touched = self.components_of(to, &keys);
        let largest = touched.iter().copied().max_by_key(|number| to.component(*number).keys.len());
        let (into, mut component) = match largest {
            Some(into) => (into, Arc::clone(to.components.get(into).expect("a touched component"))),
            None => {
                to.next += 1;
                (to.next, Arc::default())
            }
        };
        let changed = Arc::make_mut(&mut component);
        changed.identity = self.identity(to, &touched, constraint);
        for other in touched.into_iter().filter(|&other| other != into) {
            self.merge(graph, to, other, into, changed);
        }
        changed.add(depth, constraint);
        for &number in keys.iter() {
            // Skipped to avoid copying the persistent maps; on a long path nearly all keys are known.
            if to.of_key.get(number) == Some(&into) {
                continue;
            }
            to.of_key.insert(number, into);
            changed.keys.push(number);
            if let Key::Atom(Atom::Array(array)) = self.keys[number as usize] {
                to.of_array.insert(array.id(), into);
                changed.arrays.push(array.id());
            }
        }
        if visited.len() > MIN_PART_NODES {
            // The first is the constraint itself.
            self.make_parts(graph, to, &visited[1..], (into, changed));
        }
        self.visited = visited;
        if changed.is_indexed {
            self.index(graph, to, depth, constraint);
        } else if changed.constraints.len() > MIN_INDEXED {
            self.index_all(graph, to, changed);
        }
        to.components.insert(into, component);
    }

    fn identity(&mut self, at: &Components, touched: &[u32], constraint: Expr) -> u64 {
        let mut of: SmallVec<[u64; 2]> =
            touched.iter().map(|number| at.component(*number).identity).collect();
        of.sort_unstable();
        if self.identities.len() >= MAX_IDENTITIES {
            self.identities.clear();
        }
        let next = self.last_identity + 1;
        let identity = *self.identities.entry((of, constraint)).or_insert(next);
        self.last_identity = self.last_identity.max(identity);
        identity
    }

    fn merge(&mut self, graph: &Graph, at: &mut Components, from: u32, into: u32, component: &mut Component) {
        let gone = at.components.remove(from).expect("a touched component");
        for &key in gone.keys.iter() {
            at.of_key.insert(key, into);
            component.keys.push(key);
        }
        for &array in gone.arrays.iter() {
            at.of_array.insert(array, into);
            component.arrays.push(array);
        }
        match (component.is_indexed, gone.is_indexed) {
            (true, false) => self.index_all(graph, at, &mut Component::clone(&gone)),
            (false, true) => self.index_all(graph, at, component),
            (true, true) | (false, false) => {}
        }
        for &(depth, constraint) in gone.constraints.iter() {
            component.add(depth, constraint);
        }
    }

    /// Makes parts of nodes whose inputs are in this component.
    fn make_parts(
        &mut self,
        graph: &Graph,
        at: &mut Components,
        nodes: &[Expr],
        (into, component): (u32, &mut Component),
    ) {
        for &e in nodes {
            let number = self.number(Key::Part(e));
            at.of_key.insert(number, into);
            component.keys.push(number);
        }
        let mut keys = Vec::new();
        for &e in nodes {
            let user = User::Part(self.number(Key::Part(e)));
            for kid in graph.kids(e) {
                self.push_direct(graph, at, kid, &mut keys);
            }
            keys.drain(..).for_each(|key| at.use_key(graph, key, user));
        }
    }

    /// Adds the key of an operand of a part: a part, or inputs. Constants have none.
    fn push_direct(&mut self, graph: &Graph, at: &Components, e: Expr, keys: &mut Vec<u32>) {
        self.work += 1;
        match self.part(at, e) {
            Some(number) => keys.push(number),
            None => {
                self.push_atoms(graph, e, keys);
            }
        }
    }

    fn index_all(&mut self, graph: &Graph, at: &mut Components, component: &mut Component) {
        for (depth, constraint) in component.constraints.iter().copied().collect::<Vec<_>>() {
            self.index(graph, at, depth, constraint);
        }
        component.is_indexed = true;
    }

    /// Makes a constraint a user of its keys.
    fn index(&mut self, graph: &Graph, at: &mut Components, depth: u32, constraint: Expr) {
        // The walk of a large constraint ends at its parts, unlike the list of its atoms.
        for &key in self.walk(graph, at, constraint).iter() {
            self.work += 1;
            at.use_key(graph, key, User::Constraint(depth, constraint));
        }
    }

    /// Is a constraint of the path in this slice of it?
    pub fn contains(&mut self, graph: &Graph, slice: &Slice, constraint: Expr) -> bool {
        match slice.parts() {
            Err(list) => list.contains(&constraint),
            Ok((at, numbers)) => {
                let keys = match self.atoms.get(&constraint) {
                    Some((known, _)) => Arc::clone(known),
                    None => self.walk(graph, at, constraint),
                };
                if keys.is_empty() {
                    // A constant is a component of its own.
                    let mut components = numbers.iter().map(|number| at.component(*number));
                    return components
                        .any(|component| component.constraints.iter().any(|(_, e)| *e == constraint));
                }
                // All keys of a constraint are in one component.
                let component = keys.first().and_then(|&key| at.component_of(self.keys[key as usize], key));
                component.is_some_and(|component| numbers.binary_search(&component).is_ok())
            }
        }
    }

    /// Constraints of a slice that inputs in which two models differ can affect, oldest first, with their depth. `None`
    /// if it has no index, or if they are many: then all constraints must be evaluated.
    pub fn affected(&mut self, slice: &Slice, changes: &[Atom]) -> Option<Vec<(u32, Expr)>> {
        let (at, numbers) = slice.parts().ok()?;
        if slice.len() <= MIN_INDEXED {
            return None;
        }
        let limit = slice.len() / 2;
        let mut found: Vec<(u32, Expr)> = Vec::new();
        for &number in numbers {
            let component = at.component(number);
            if !component.is_indexed {
                found.extend(component.constraints.iter().copied());
            }
        }
        let mut stack: Vec<u32> = Vec::new();
        for &atom in changes {
            stack.extend(self.numbers.get(&Key::Atom(atom)));
            match atom {
                Atom::Variable(_) => {}
                Atom::Element(array, _) => stack.extend(self.numbers.get(&Key::Atom(Atom::Array(array)))),
                Atom::Array(array) => stack.extend(self.elements.get(&array).into_iter().flatten()),
            }
        }
        // All users of a key in the slice are in the slice.
        let is_inside = |number: &u32| {
            let component = at.component_of(self.keys[*number as usize], *number);
            component.is_some_and(|component| numbers.binary_search(&component).is_ok())
        };
        stack.retain(is_inside);
        let mut seen: FxHashSet<u32> = stack.iter().copied().collect();
        while let Some(key) = stack.pop() {
            for user in at.users.get(key).into_iter().flat_map(List::iter) {
                self.work += 1;
                match *user {
                    User::Constraint(depth, constraint) => found.push((depth, constraint)),
                    User::Part(number) if seen.insert(number) => stack.push(number),
                    User::Part(_) => {}
                }
            }
            if found.len() > limit {
                found.sort_unstable();
                found.dedup();
                if found.len() > limit {
                    return None;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Constraints of a path that a change of this input can affect; `None` if the path uses its array as a whole.
    pub fn mentioning(&mut self, at: &Arc<Components>, atom: Atom) -> Option<Vec<Expr>> {
        if at.of_array.get(atom.variable().id()).is_some() {
            return None;
        }
        let Some(&number) = self.numbers.get(&Key::Atom(atom)) else { return Some(Vec::new()) };
        let Some(component) = at.component_of(Key::Atom(atom), number) else { return Some(Vec::new()) };
        let slice = self.slice(at, [component].into_iter().collect());
        Some(match self.affected(&slice, &[atom]) {
            Some(affected) => affected.into_iter().map(|(_, constraint)| constraint).collect(),
            None => slice.list().to_vec(),
        })
    }

    /// Number of constraints and parts of the slice that mention an input directly; `None` if it has no index.
    pub fn mentions(&self, slice: &Slice, atom: Atom) -> Option<usize> {
        let (at, numbers) = slice.parts().ok()?;
        let Some(number) = self.numbers.get(&Key::Atom(atom)) else { return Some(0) };
        let Some(component) = at.component_of(Key::Atom(atom), *number) else { return Some(0) };
        if numbers.binary_search(&component).is_err() {
            return Some(0);
        }
        at.component(component).is_indexed.then(|| at.users.get(*number).map_or(0, List::len))
    }

    /// Copies the values of the inputs of some components, and of the given keys, from another model.
    pub fn copy_inputs(
        &self,
        graph: &Graph,
        at: &Components,
        (components, keys): (&[u32], &[u32]),
        model: &mut Model,
        other: &Model,
    ) {
        let number =
            components.iter().map(|&number| at.component(number).keys.len()).sum::<usize>() + keys.len();
        // Models of different sizes differ in at least as many inputs.
        if number <= MAX_FEW_KEYS.max(model.len().abs_diff(other.len())) {
            let of_components = components.iter().flat_map(|&number| at.component(number).keys.iter());
            for &key in of_components.chain(keys) {
                match self.keys[key as usize] {
                    Key::Atom(Atom::Variable(v)) => {
                        let value = other.bits(v, graph.width(v));
                        if value != model.bits(v, graph.width(v)) {
                            model.set_bits(v, value);
                        }
                    }
                    Key::Atom(Atom::Element(array, at)) => copy_element(graph, model, other, array, at),
                    Key::Atom(Atom::Array(array)) => copy_array(graph, model, other, array),
                    Key::Part(_) => {}
                }
            }
            return;
        }
        let is_wanted = |key: Key| {
            let Some(number) = self.numbers.get(&key) else { return false };
            let component = at.component_of(key, *number);
            component.is_some_and(|component| components.binary_search(&component).is_ok())
                || keys.binary_search(number).is_ok()
        };
        for atom in model.changes(other) {
            match atom {
                Atom::Variable(v) if is_wanted(Key::Atom(atom)) => {
                    model.set_bits(v, other.bits(v, graph.width(v)));
                }
                Atom::Element(array, at) => {
                    if is_wanted(Key::Atom(atom)) || is_wanted(Key::Atom(Atom::Array(array))) {
                        copy_element(graph, model, other, array, at);
                    }
                }
                Atom::Array(array) if is_wanted(Key::Atom(atom)) => copy_array(graph, model, other, array),
                Atom::Array(array) => {
                    for &number in self.elements.get(&array).into_iter().flatten() {
                        let key = self.keys[number as usize];
                        if let (Key::Atom(Atom::Element(_, at)), true) = (key, is_wanted(key)) {
                            copy_element(graph, model, other, array, at);
                        }
                    }
                }
                Atom::Variable(_) => {}
            }
        }
    }

    /// Drops what mentions expressions and nodes that are about to be reused.
    pub fn sweep(&mut self, alive: &super::Alive<'_>) {
        self.atoms.retain(|e, _| alive.expr(*e));
        self.nodes.retain(|id, _| alive.path(*id));
        self.identities.retain(|(_, constraint), _| alive.expr(*constraint));
        // The number of a dead expression is not reused: components of live paths do not mention it, and the expression
        // that takes its handle gets a new number.
        self.numbers.retain(|key, _| alive.expr(key.expr()));
        self.elements.retain(|array, _| alive.expr(*array));
    }

    pub fn drop_paths(&mut self, gone: &[u32]) {
        for id in gone {
            self.nodes.remove(id);
        }
    }

    /// Memory is short: drops what can be derived again. Identities are not reused.
    pub fn forget(&mut self) {
        *self = PathIndex {
            last_identity: self.last_identity,
            work: self.work,
            listed: Arc::clone(&self.listed),
            ..PathIndex::default()
        };
    }
}

fn copy_element(graph: &Graph, model: &mut Model, other: &Model, array: Expr, at: u64) {
    let Sort::Array { index, element } = graph.sort(array) else { unreachable!("an array atom") };
    let at = Bits::word(index, at);
    let value =
        |model: &Model| model.array(array).map_or_else(|| Bits::zero(element), |value| value.get(&at));
    let new = value(other);
    // Changing an array that models share copies it.
    if new != value(model) {
        model.set_element(graph, array, &at, new);
    }
}

fn copy_array(graph: &Graph, model: &mut Model, other: &Model, array: Expr) {
    let Sort::Array { index, element } = graph.sort(array) else { unreachable!("an array atom") };
    let zero = || Arc::new(ArrayValue::zero(index, element));
    model.set(array, Value::Array(other.array(array).cloned().unwrap_or_else(zero)));
}
