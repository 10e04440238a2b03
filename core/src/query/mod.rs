//! Path tree, queries and answers.
//!
//! A path condition is a node of one tree: the constraints of its parent and one more. Equal sequences of
//! constraints share a node, and so do the data that layers attach to nodes. A `Query` asks whether a path
//! condition and a condition are satisfiable together. `Sat` carries a model that evaluation confirms, `Unsat`
//! carries a core. Layers assume nothing about a node that has not been checked.

mod index;
mod slice;

pub use crate::budget::Why;
pub use index::{Components, PathIndex};
pub use slice::{Slice, SliceKey};

use crate::expr::{Alive as AliveExprs, Evaluator, Expr, Graph, Model, Op};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// A node of the path tree: a conjunction of constraints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Path {
    id: u32,
    #[cfg(debug_assertions)]
    generation: u32,
}

impl Path {
    pub fn id(self) -> u32 {
        self.id
    }
}

/// Feasibility of a path.
#[derive(Clone, Debug)]
pub enum Status {
    /// Satisfied by this complete model.
    Feasible(Model),
    Unchecked,
    /// A subset of the constraints that is unsatisfiable.
    Infeasible(Arc<[Expr]>),
}

struct PathNode {
    parent: u32,
    constraint: Expr,
    depth: u32,
    /// Number of holders outside the tree plus number of children.
    references: u32,
    status: Status,
    children: SmallVec<[u32; 2]>,
}

const ROOT: u32 = 0;

/// The path tree. The root is the empty path: it is feasible and never dropped.
pub struct PathTree {
    nodes: Vec<Option<PathNode>>,
    /// Identifiers of dropped nodes. Layers may still have data for them, so they are reused only after the next
    /// sweep.
    dropped: Vec<u32>,
    free: Vec<u32>,
    /// The last path whose feasible ancestor was searched, and that ancestor. A query that is split into components
    /// searches it once per component.
    last_search: Cell<Option<(u32, u32)>>,
    #[cfg(debug_assertions)]
    generations: Vec<u32>,
}

impl Default for PathTree {
    fn default() -> PathTree {
        PathTree::new()
    }
}

impl PathTree {
    pub fn new() -> PathTree {
        let root = PathNode {
            parent: ROOT,
            constraint: Graph::new().boolean(true),
            depth: 0,
            references: 1,
            status: Status::Feasible(Model::new()),
            children: SmallVec::new(),
        };
        PathTree {
            nodes: vec![Some(root)],
            dropped: Vec::new(),
            free: Vec::new(),
            last_search: Cell::new(None),
            #[cfg(debug_assertions)]
            generations: vec![0],
        }
    }

    fn path(&self, id: u32) -> Path {
        Path {
            id,
            #[cfg(debug_assertions)]
            generation: self.generations[id as usize],
        }
    }

    fn node(&self, path: Path) -> &PathNode {
        #[cfg(debug_assertions)]
        assert_eq!(self.generations[path.id as usize], path.generation, "stale path {path:?}");
        self.nodes[path.id as usize].as_ref().expect("a held path")
    }

    fn node_mut(&mut self, path: Path) -> &mut PathNode {
        self.nodes[path.id as usize].as_mut().expect("a held path")
    }

    pub fn root(&self) -> Path {
        self.path(ROOT)
    }

    /// Number of live nodes.
    pub fn len(&self) -> usize {
        self.nodes.iter().flatten().count()
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// One more than the largest node identifier: the length of a dense table indexed by path.
    pub fn slots(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node for `path` and `constraint`, held for the caller, who must `release` it. A conjunction
    /// becomes one node per conjunct; `true` adds no node.
    pub fn extend(&mut self, graph: &Graph, path: Path, constraint: Expr) -> Path {
        let mut current = self.retain(path);
        let mut conjuncts = vec![constraint];
        // Conjunctions may share operands. Expanding each once makes the cost linear in the size of the graph.
        let mut expanded = FxHashSet::default();
        while let Some(next) = conjuncts.pop() {
            if graph.op(next) == Op::And {
                if expanded.insert(next) {
                    conjuncts.push(graph.kid(next, 1));
                    conjuncts.push(graph.kid(next, 0));
                }
            } else if !graph.is_true(next) {
                let child = self.child(current, next);
                self.release(current);
                current = child;
            }
        }
        current
    }

    fn child(&mut self, parent: Path, constraint: Expr) -> Path {
        let node = self.node(parent);
        for &id in &node.children {
            if self.nodes[id as usize].as_ref().is_some_and(|child| child.constraint == constraint) {
                return self.retain(self.path(id));
            }
        }
        let depth = node.depth + 1;
        let child = PathNode {
            parent: parent.id,
            constraint,
            depth,
            references: 1,
            status: Status::Unchecked,
            children: SmallVec::new(),
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = Some(child);
                id
            }
            None => {
                self.nodes.push(Some(child));
                #[cfg(debug_assertions)]
                self.generations.push(0);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 paths")
            }
        };
        let node = self.node_mut(parent);
        node.children.push(id);
        node.references += 1;
        self.path(id)
    }

    /// Increments the reference count of a node.
    pub fn retain(&mut self, path: Path) -> Path {
        self.node(path);
        self.node_mut(path).references += 1;
        path
    }

    /// Decrements the reference count of a node. A node without references is dropped, and then perhaps its
    /// ancestors.
    pub fn release(&mut self, path: Path) {
        self.node(path);
        let mut id = path.id;
        loop {
            let node = self.nodes[id as usize].as_mut().expect("a held path");
            node.references -= 1;
            if node.references > 0 || id == ROOT {
                return;
            }
            let parent = node.parent;
            self.last_search.set(None);
            self.nodes[id as usize] = None;
            self.dropped.push(id);
            #[cfg(debug_assertions)]
            {
                self.generations[id as usize] += 1;
            }
            let siblings = &mut self.nodes[parent as usize].as_mut().expect("a parent of a child").children;
            siblings.retain(|child| *child != id);
            id = parent;
        }
    }

    pub fn parent(&self, path: Path) -> Option<Path> {
        let node = self.node(path);
        (path.id != ROOT).then(|| self.path(node.parent))
    }

    /// Children of a node that are held, oldest first.
    pub fn children(&self, path: Path) -> impl DoubleEndedIterator<Item = Path> + '_ {
        self.node(path).children.iter().map(|&id| self.path(id))
    }

    /// The newest constraint; `true` for the root.
    pub fn constraint(&self, path: Path) -> Expr {
        self.node(path).constraint
    }

    /// Number of constraints of the path.
    pub fn depth(&self, path: Path) -> u32 {
        self.node(path).depth
    }

    pub fn status(&self, path: Path) -> &Status {
        &self.node(path).status
    }

    pub fn set_status(&mut self, path: Path, status: Status) {
        self.node(path);
        self.last_search.set(None);
        self.node_mut(path).status = status;
    }

    /// The path model, if the path is known to be feasible.
    pub fn model(&self, path: Path) -> Option<&Model> {
        match &self.node(path).status {
            Status::Feasible(model) => Some(model),
            Status::Unchecked | Status::Infeasible(_) => None,
        }
    }

    /// The nearest node known to be feasible: `path` itself or an ancestor.
    pub fn feasible_ancestor(&self, path: Path) -> Path {
        if let Some((searched, found)) = self.last_search.get()
            && searched == path.id
        {
            return self.path(found);
        }
        let mut current = path;
        while self.model(current).is_none() {
            current = self.parent(current).expect("the root is feasible");
        }
        self.last_search.set(Some((path.id, current.id)));
        current
    }

    /// `path` and its ancestors, newest first, without the root.
    pub fn upwards(&self, path: Path) -> impl Iterator<Item = Path> + '_ {
        let mut current = Some(path);
        std::iter::from_fn(move || {
            let here = current.filter(|here| here.id != ROOT)?;
            current = self.parent(here);
            Some(here)
        })
    }

    /// All constraints, oldest first.
    pub fn constraints(&self, path: Path) -> Vec<Expr> {
        let mut all: Vec<Expr> = self.upwards(path).map(|node| self.constraint(node)).collect();
        all.reverse();
        all
    }

    /// Visits the expressions that live nodes refer to: constraints, and the variables of models.
    pub fn roots(&self, visit: &mut dyn FnMut(Expr)) {
        for node in self.nodes.iter().flatten().filter(|node| node.depth > 0) {
            visit(node.constraint);
            if let Status::Feasible(model) = &node.status {
                model.iter().for_each(|(variable, _)| visit(variable));
            }
        }
    }

    /// Identifiers of the nodes dropped since the last sweep.
    pub fn dropped(&self) -> &[u32] {
        &self.dropped
    }

    /// Allows reuse of the identifiers of dropped nodes. Called after every layer has been swept.
    pub(crate) fn recycle(&mut self) {
        self.free.append(&mut self.dropped);
    }
}

/// The expressions and path nodes that survive a collection. Every table keyed by either is swept with it.
pub struct Alive<'a> {
    pub exprs: &'a AliveExprs,
    tree: &'a PathTree,
}

impl<'a> Alive<'a> {
    pub fn new(exprs: &'a AliveExprs, tree: &'a PathTree) -> Alive<'a> {
        Alive { exprs, tree }
    }

    pub fn expr(&self, e: Expr) -> bool {
        self.exprs.has(e)
    }

    /// Identifiers of the nodes dropped since the last sweep, children before parents.
    pub fn dropped(&self) -> &[u32] {
        self.tree.dropped()
    }

    /// Returns true if the node with this identifier is alive.
    pub fn path(&self, id: u32) -> bool {
        self.tree.nodes.get(id as usize).is_some_and(Option::is_some)
    }
}

/// Is `path` and `condition` satisfiable?
#[derive(Clone, Debug)]
pub struct Query {
    pub path: Path,
    pub condition: Expr,
    /// The relevant constraints of the path, oldest first; `None` means all. The omitted constraints must be
    /// satisfiable for every assignment of the others; the layer `split` guarantees this.
    pub slice: Option<Slice>,
}

impl Query {
    pub fn new(path: Path, condition: Expr) -> Query {
        Query { path, condition, slice: None }
    }

    /// The relevant constraints, oldest first.
    pub fn constraints(&self, tree: &PathTree) -> Arc<[Expr]> {
        match &self.slice {
            Some(slice) => Arc::clone(slice.list()),
            None => tree.constraints(self.path).into(),
        }
    }

    /// Returns this query with another condition.
    pub fn with_condition(&self, condition: Expr) -> Query {
        Query { condition, ..self.clone() }
    }
}

#[derive(Clone, Debug)]
pub enum Answer {
    /// A model of the query's constraints and condition.
    Sat(Model),
    Unsat(Core),
    Unknown(Why),
}

impl Answer {
    /// The verdict in SMT-LIB's words.
    pub fn verdict(&self) -> &'static str {
        match self {
            Answer::Sat(_) => "sat",
            Answer::Unsat(_) => "unsat",
            Answer::Unknown(_) => "unknown",
        }
    }
}

/// Constraints of the query that are unsatisfiable together, with the condition if `condition` is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Core {
    pub constraints: Reasons,
    /// Does the core contain the condition? If not, the path itself is infeasible.
    pub condition: bool,
}

/// The set of constraints that a derived fact depends on. Cheap to clone. Unions copy, which is affordable because
/// facts mention few variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Reasons {
    /// Depends on no constraint.
    #[default]
    None,
    One(Expr),
    /// Sorted, at least two.
    Many(Arc<[Expr]>),
}

impl Reasons {
    pub fn as_slice(&self) -> &[Expr] {
        match self {
            Reasons::None => &[],
            Reasons::One(e) => std::slice::from_ref(e),
            Reasons::Many(all) => all,
        }
    }

    pub fn union(&self, other: &Reasons) -> Reasons {
        match (self, other) {
            (Reasons::None, only) | (only, Reasons::None) => only.clone(),
            _ if self.contains_all(other) => self.clone(),
            _ if other.contains_all(self) => other.clone(),
            _ => self.as_slice().iter().chain(other.as_slice()).copied().collect(),
        }
    }

    fn contains_all(&self, other: &Reasons) -> bool {
        let mine = self.as_slice();
        other.as_slice().iter().all(|e| mine.binary_search(e).is_ok())
    }

    pub fn contains(&self, e: Expr) -> bool {
        self.as_slice().binary_search(&e).is_ok()
    }
}

impl FromIterator<Expr> for Reasons {
    fn from_iter<I: IntoIterator<Item = Expr>>(items: I) -> Reasons {
        let mut all: Vec<Expr> = items.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        match all.as_slice() {
            [] => Reasons::None,
            [one] => Reasons::One(*one),
            _ => Reasons::Many(all.into()),
        }
    }
}

/// Checks that the model satisfies the query's constraints and condition. Errors: the first one violated.
pub fn verify(
    graph: &Graph,
    tree: &PathTree,
    query: &Query,
    model: &Model,
    memory: &mut Evaluator,
) -> Result<(), Expr> {
    let mut session = memory.under(graph, model);
    let constraints = query.constraints(tree);
    match constraints.iter().chain([&query.condition]).find(|e| !session.truth(**e)) {
        Some(violated) => Err(*violated),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Sort;

    #[test]
    fn equal_paths_share_a_node_and_released_nodes_are_dropped() {
        let mut g = Graph::new();
        let mut tree = PathTree::new();
        let p = g.var("p", Sort::Bool).unwrap();
        let q = g.var("q", Sort::Bool).unwrap();
        let both = g.and(p, q);
        let a = tree.extend(&g, tree.root(), both);
        let b = tree.extend(&g, tree.root(), p);
        let c = tree.extend(&g, b, q);
        assert_eq!(a, c);
        assert_eq!(tree.constraints(a), vec![p, q]);
        assert_eq!(tree.len(), 3);
        for path in [a, b, c] {
            tree.release(path);
        }
        assert_eq!(tree.len(), 1);
        let yes = g.boolean(true);
        assert_eq!(tree.extend(&g, tree.root(), yes), tree.root());
    }

    #[test]
    fn shared_conjunctions_are_expanded_once() {
        let mut g = Graph::new();
        let mut tree = PathTree::new();
        let leaves: Vec<Expr> = (0..80).map(|i| g.var(&format!("p{i}"), Sort::Bool).unwrap()).collect();
        // Each level occurs twice in the next one: 2^40 leaves if every occurrence were expanded.
        let mut whole = leaves[0];
        for pair in leaves[1..].chunks(2) {
            let (left, right) = (g.and(whole, pair[0]), g.and(whole, pair[pair.len() - 1]));
            whole = g.and(left, right);
        }
        let path = tree.extend(&g, tree.root(), whole);
        assert!(tree.constraints(path).len() <= 160);
    }

    #[test]
    fn reasons_are_sets() {
        let mut g = Graph::new();
        let e: Vec<Expr> = (0..4).map(|i| g.word(8, i)).collect();
        let ab: Reasons = [e[1], e[0], e[1]].into_iter().collect();
        let bc: Reasons = [e[1], e[2]].into_iter().collect();
        assert_eq!(ab.union(&bc).as_slice(), &[e[0], e[1], e[2]]);
        assert_eq!(ab.union(&Reasons::None), ab);
        assert_eq!(Reasons::One(e[3]).union(&Reasons::One(e[3])), Reasons::One(e[3]));
    }
}
