//! Walking a graph without recursion, and finding which variables an expression mentions.

use super::{Expr, Graph, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

impl Graph {
    /// Calls `visit` once for each node under `roots`, operands before their users.
    pub fn post_order(&self, roots: &[Expr], mut visit: impl FnMut(Expr)) {
        let mut seen = FxHashSet::default();
        self.post_order_new(roots, &mut seen, &mut visit);
    }

    /// The same, passing over what is in `seen` and adding what is visited to it.
    pub fn post_order_new(&self, roots: &[Expr], seen: &mut FxHashSet<Expr>, visit: &mut impl FnMut(Expr)) {
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

    /// `e` with each key of `map` replaced by its value, and everything above rebuilt.
    pub fn substitute(&mut self, e: Expr, map: &FxHashMap<Expr, Expr>) -> Expr {
        self.substitute_more(e, &mut map.clone())
    }

    /// The same for one of many expressions: `done` begins as the map and remembers what was rebuilt.
    pub fn substitute_more(&mut self, e: Expr, done: &mut FxHashMap<Expr, Expr>) -> Expr {
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

    /// The expression that `e` is, over other operands.
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
            Op::Store => self.store(kids[0], kids[1], kids[2]),
            Op::Not => self.not(kids[0]),
            Op::And => self.and(kids[0], kids[1]),
            Op::Or => self.or(kids[0], kids[1]),
            Op::Xor => self.xor(kids[0], kids[1]),
            Op::Add => self.add(kids[0], kids[1]),
            Op::Sub => self.sub(kids[0], kids[1]),
            Op::Mul => self.mul(kids[0], kids[1]),
            Op::UDiv => self.udiv(kids[0], kids[1]),
            Op::URem => self.urem(kids[0], kids[1]),
            Op::SDiv => self.sdiv(kids[0], kids[1]),
            Op::SRem => self.srem(kids[0], kids[1]),
            Op::Shl => self.shl(kids[0], kids[1]),
            Op::LShr => self.lshr(kids[0], kids[1]),
            Op::AShr => self.ashr(kids[0], kids[1]),
            Op::Eq => self.eq(kids[0], kids[1]),
            Op::Ult => self.ult(kids[0], kids[1]),
            Op::Ule => self.ule(kids[0], kids[1]),
            Op::Slt => self.slt(kids[0], kids[1]),
            Op::Sle => self.sle(kids[0], kids[1]),
            Op::Concat => self.concat(kids[0], kids[1]),
            Op::Extract => {
                let (low, width) = (self.extract_low(e), self.width(e));
                self.extract(kids[0], low, width)
            }
            Op::ZExt => {
                let width = self.width(e);
                self.zext(kids[0], width)
            }
            Op::SExt => {
                let width = self.width(e);
                self.sext(kids[0], width)
            }
            Op::Ite => self.ite(kids[0], kids[1], kids[2]),
        }
    }
}

/// What an expression can depend on: a whole variable, or one element of an array variable.
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

/// Which expressions a walk has met: memory for many walks, one after the other.
#[derive(Default)]
pub struct Marks {
    /// By expression: the walk that met it last.
    met: Vec<u32>,
    walk: u32,
}

impl Marks {
    /// A new walk has met nothing.
    pub fn begin(&mut self, graph: &Graph) {
        self.walk = self.walk.wrapping_add(1);
        if self.walk == 0 {
            self.met.fill(0);
            self.walk = 1;
        }
        self.met.resize(self.met.len().max(graph.slots()), 0);
    }

    /// Meets an expression: for the first time?
    pub fn is_new(&mut self, e: Expr) -> bool {
        std::mem::replace(&mut self.met[e.index()], self.walk) != self.walk
    }
}

/// The atoms of expressions, sorted; remembered per expression until swept.
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
            // Only what is asked about is remembered, and only truths are.
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

    pub fn sweep(&mut self, alive: &super::Alive) {
        self.known.retain(|e, _| alive.has(*e));
    }

    pub fn forget(&mut self) {
        self.known = FxHashMap::default();
        self.marks = Marks::default();
    }
}

/// For a read of an array variable at a constant index: the variable, the first element and how many. Not for
/// one that runs past the last index, whose elements are not adjacent numbers.
pub fn element_range(graph: &Graph, read: Expr) -> Option<(Expr, u64, u64)> {
    let (array, index) = (graph.kid(read, 0), graph.kid(read, 1));
    if graph.op(array) != Op::Var {
        return None;
    }
    let (first, count) = (graph.const_word(index)?, u64::from(graph.read_count(read)));
    let last = first.checked_add(count - 1)?;
    (last <= super::bits::mask(graph.width(index))).then_some((array, first, count))
}
