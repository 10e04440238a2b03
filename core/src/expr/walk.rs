//! Traversal of a graph without recursion, and the inputs that an expression mentions.

use super::{ArrayOp, Expr, Family, Graph, LeafOp, Op, ShapeOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;

impl Graph {
    /// Calls `visit` once for each node below `roots`, operands before their users.
    pub fn post_order(&self, roots: &[Expr], mut visit: impl FnMut(Expr)) {
        let mut seen = FxHashSet::default();
        self.post_order_unseen(roots, &mut seen, &mut visit);
    }

    /// Like `post_order`, but skips the nodes in `seen` and adds the visited nodes to it.
    pub fn post_order_unseen(
        &self,
        roots: &[Expr],
        seen: &mut FxHashSet<Expr>,
        visit: &mut impl FnMut(Expr),
    ) {
        let mut stack: Vec<(Expr, bool)> = Vec::new();
        for &root in roots {
            stack.push((root, false));
            while let Some((e, opened)) = stack.pop() {
                if opened {
                    visit(e);
                    continue;
                }
                if !seen.insert(e) {
                    continue;
                }
                stack.push((e, true));
                for kid in self.kids(e).into_iter().rev() {
                    if !seen.contains(&kid) {
                        stack.push((kid, false));
                    }
                }
            }
        }
    }

    /// Are there more than `most` nodes below `roots`? Visits no more than that.
    pub fn is_larger(&self, roots: &[Expr], most: usize) -> bool {
        let mut seen: FxHashSet<Expr> = FxHashSet::default();
        let mut stack = roots.to_vec();
        while let Some(e) = stack.pop() {
            if seen.insert(e) {
                if seen.len() > most {
                    return true;
                }
                stack.extend(self.kids(e));
            }
        }
        false
    }

    /// Replaces each key of `map` in `e` by its value.
    pub fn substitute(&mut self, e: Expr, map: &FxHashMap<Expr, Expr>) -> Expr {
        self.substitute_cached(e, &mut map.clone())
    }

    /// Like `substitute`, for several expressions: `done` starts as the map and caches rebuilt nodes.
    pub fn substitute_cached(&mut self, e: Expr, done: &mut FxHashMap<Expr, Expr>) -> Expr {
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            if done.contains_key(&top) {
                stack.pop();
                continue;
            }
            let kids = self.kids(top);
            let before = stack.len();
            stack.extend(kids.iter().filter(|kid| !done.contains_key(kid)));
            if stack.len() > before {
                continue;
            }
            let new: smallvec::SmallVec<[Expr; 3]> = kids.iter().map(|kid| done[kid]).collect();
            let rebuilt = if new == kids { top } else { self.rebuild(top, &new) };
            done.insert(top, rebuilt);
        }
        done[&e]
    }

    /// Builds `e` again with other operands.
    pub fn rebuild(&mut self, e: Expr, kids: &[Expr]) -> Expr {
        match self.op(e) {
            Op::Const | Op::Var => e,
            Op::Table => {
                let elements = self.table(e).elements.clone();
                self.table_over(kids[0], elements)
            }
            Op::ConstArray => {
                let super::Sort::Array { index, .. } = self.sort(e) else { unreachable!("an array") };
                self.const_array(index, kids[0])
            }
            Op::Read => {
                let count = self.read_count(e);
                self.read(kids[0], kids[1], count)
            }
            op => {
                let (width, parameter) = (self.width(e), self.parameter(e).unwrap_or(0));
                self.build(op, width, parameter, kids)
            }
        }
    }

    /// Returns how an array is composed.
    pub fn array_form(&self, e: Expr) -> ArrayForm {
        debug_assert!(self.is_array(e));
        let kid = |i| self.kid(e, i);
        match self.op(e).family() {
            Family::Leaf(LeafOp::Var) => ArrayForm::Variable,
            Family::Array(ArrayOp::ConstArray) => ArrayForm::Constant { value: kid(0) },
            Family::Array(ArrayOp::Table) => ArrayForm::Table { base: kid(0) },
            Family::Array(ArrayOp::Store) => {
                ArrayForm::Store { base: kid(0), index: kid(1), element: kid(2) }
            }
            Family::Shape(ShapeOp::Ite) => {
                ArrayForm::Ite { condition: kid(0), then: kid(1), otherwise: kid(2) }
            }
            Family::Leaf(LeafOp::Const)
            | Family::Array(ArrayOp::Read)
            | Family::Bits(_)
            | Family::Arith(_)
            | Family::Shift(_)
            | Family::Compare(_)
            | Family::Float(_)
            | Family::Shape(_) => {
                unreachable!("{:?} is never an array", self.op(e))
            }
        }
    }
}

/// Composition of an array expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayForm {
    Variable,
    Constant { value: Expr },
    Table { base: Expr },
    Store { base: Expr, index: Expr, element: Expr },
    Ite { condition: Expr, then: Expr, otherwise: Expr },
}

/// Something that an expression can depend on: a variable, or an element of an array variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// A boolean or bit-vector variable.
    Variable(Expr),
    /// Element `.1` of the array variable `.0`, read at a constant index.
    Element(Expr, u64),
    /// Any element of the array variable: it is read at a computed index, compared or stored into.
    Array(Expr),
}

impl Atom {
    pub fn variable(self) -> Expr {
        match self {
            Atom::Variable(v) | Atom::Element(v, _) | Atom::Array(v) => v,
        }
    }
}

/// The set of expressions visited by a walk; its memory is reused for many walks.
#[derive(Default)]
pub struct Marks {
    /// The number of the last walk that visited each expression.
    visited_by: Vec<u32>,
    walk: u32,
}

impl Marks {
    /// Starts a new walk, which has visited nothing.
    pub fn begin(&mut self, graph: &Graph) {
        self.walk = self.walk.wrapping_add(1);
        if self.walk == 0 {
            self.visited_by.fill(0);
            self.walk = 1;
        }
        self.visited_by.resize(self.visited_by.len().max(graph.slots()), 0);
    }

    /// Marks an expression as visited; returns whether it was new.
    pub fn is_new(&mut self, e: Expr) -> bool {
        std::mem::replace(&mut self.visited_by[e.index()], self.walk) != self.walk
    }
}

/// Supports (sorted atoms) of expressions, cached until swept.
#[derive(Default)]
pub struct Supports {
    known: FxHashMap<Expr, Arc<[Atom]>>,
    marks: Marks,
}

impl Supports {
    pub fn of(&mut self, graph: &Graph, e: Expr) -> Arc<[Atom]> {
        if let Some(known) = self.known.get(&e) {
            return known.clone();
        }
        self.marks.begin(graph);
        let mut atoms = Vec::new();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !self.marks.is_new(e) {
                continue;
            }
            // Only supports of booleans are likely to be cached.
            if graph.is_bool(e)
                && let Some(known) = self.known.get(&e)
            {
                atoms.extend_from_slice(known);
                continue;
            }
            match graph.op(e) {
                Op::Var if graph.is_array(e) => atoms.push(Atom::Array(e)),
                Op::Var => atoms.push(Atom::Variable(e)),
                Op::Read => match element_range(graph, e) {
                    Some((array, first, count)) => {
                        atoms.extend((0..count).map(|i| Atom::Element(array, first + i)));
                    }
                    None => stack.extend(graph.kids(e)),
                },
                _ => stack.extend(graph.kids(e)),
            }
        }
        atoms.sort_unstable();
        atoms.dedup();
        let atoms: Arc<[Atom]> = atoms.into();
        self.known.insert(e, atoms.clone());
        atoms
    }

    /// At most `limit` atoms of an expression, ascending: those nearest to its root, within `nodes` visited nodes.
    pub fn nearest(&mut self, graph: &Graph, e: Expr, limit: usize, nodes: usize) -> Vec<Atom> {
        if let Some(known) = self.known.get(&e).filter(|known| known.len() <= limit) {
            return known.to_vec();
        }
        self.marks.begin(graph);
        let mut atoms = Vec::new();
        let mut queue = VecDeque::from([e]);
        for _ in 0..nodes {
            let Some(e) = queue.pop_front().filter(|_| atoms.len() < limit) else { break };
            match graph.op(e) {
                Op::Var if graph.is_array(e) => atoms.push(Atom::Array(e)),
                Op::Var => atoms.push(Atom::Variable(e)),
                op => match if op == Op::Read { element_range(graph, e) } else { None } {
                    Some((array, first, count)) => {
                        atoms.extend((first..first + count).map(|at| Atom::Element(array, at)));
                    }
                    None => queue.extend(graph.kids(e).into_iter().filter(|kid| self.marks.is_new(*kid))),
                },
            }
        }
        // Reads of several elements may overlap.
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    pub fn sweep(&mut self, alive: &super::Alive) {
        self.known.retain(|e, _| alive.has(*e));
    }

    pub fn forget(&mut self) {
        self.known = FxHashMap::default();
        self.marks = Marks::default();
    }
}

/// Returns the variable, the first element and the number of elements of a read of an array variable at a
/// constant index. `None` if the read wraps around the last index.
pub fn element_range(graph: &Graph, read: Expr) -> Option<(Expr, u64, u64)> {
    let (array, index) = (graph.kid(read, 0), graph.kid(read, 1));
    if graph.op(array) != Op::Var {
        return None;
    }
    let (first, count) = (graph.const_word(index)?, u64::from(graph.read_count(read)));
    let last = first.checked_add(count - 1)?;
    (last <= super::bits::mask(graph.width(index))).then_some((array, first, count))
}
