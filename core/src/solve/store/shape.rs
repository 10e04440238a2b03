//! Shapes: hashes of expressions that ignore names of variables and indices of array elements. They sort constraints the
//! same way in every run and find rows that may be the same query. They are kept in the file and must not change without
//! a new `FORMAT`.

use crate::expr::walk::element_range;
use crate::expr::{Alive, Expr, Graph, Op, Sort};

/// Not the hash of anything: computed shapes have their lowest bit set.
const UNKNOWN: u64 = 0;

/// The shapes of expressions, remembered until swept.
#[derive(Default)]
pub struct Shapes {
    /// Indexed by slot of the expression.
    known: Vec<u64>,
}

impl Shapes {
    /// The shape of a set of constraints; does not depend on their order.
    pub fn of_all(&mut self, graph: &Graph, all: &[Expr]) -> u64 {
        all.iter().fold(0, |sum, e| sum.wrapping_add(mix(1, self.of(graph, *e))))
    }

    pub fn of(&mut self, graph: &Graph, e: Expr) -> u64 {
        if self.known.len() < graph.slots() {
            self.known.resize(graph.slots(), UNKNOWN);
        }
        let known = self.known[e.index()];
        if known != UNKNOWN {
            return known;
        }
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            let before = stack.len();
            if self.known[top.index()] == UNKNOWN && !is_element(graph, top) {
                stack.extend(graph.kids(top).iter().filter(|kid| self.known[kid.index()] == UNKNOWN));
            }
            if stack.len() == before {
                self.known[top.index()] = self.compute(graph, top) | 1;
                stack.pop();
            }
        }
        self.known[e.index()]
    }

    /// The shape of `e`, whose operands' shapes are known.
    fn compute(&self, graph: &Graph, e: Expr) -> u64 {
        let op = graph.op(e);
        let (kind, width, index) = match graph.sort(e) {
            Sort::Bool => (0, 1, 0),
            Sort::Bits(width) => (1, width, 0),
            Sort::Array { index, element } => (2, element, index),
        };
        let mut hash = mix(mix(op as u64 + 1, kind << 32 | u64::from(width)), index.into());
        if is_element(graph, e) {
            return mix(hash, graph.width(graph.kid(e, 0)).into());
        }
        match op {
            Op::Const => {
                let bits = graph.const_bits(e).expect("a constant");
                hash = bits.words().iter().fold(hash, |hash, &word| mix(hash, word));
            }
            Op::Table => hash = graph.table(e).elements.iter().fold(hash, |hash, &word| mix(hash, word)),
            // Sort, parameter and operands suffice; a missing parameter costs time, never a wrong answer.
            _ => {
                if let Some(parameter) = graph.parameter(e) {
                    hash = mix(hash, parameter.into());
                }
            }
        }
        let mut kids = graph.kids(e);
        if op.commutes() {
            kids.sort_by_key(|kid| self.known[kid.index()]);
        }
        kids.iter().fold(hash, |hash, kid| mix(hash, self.known[kid.index()]))
    }

    pub fn sweep(&mut self, alive: &Alive) {
        for (id, known) in self.known.iter_mut().enumerate() {
            if !alive.has_id(id as u32) {
                *known = UNKNOWN;
            }
        }
    }

    pub fn forget(&mut self) {
        self.known = Vec::new();
    }
}

/// Whether `e` is a read of an array variable at a constant index.
pub fn is_element(graph: &Graph, e: Expr) -> bool {
    graph.op(e) == Op::Read && element_range(graph, e).is_some()
}

pub fn mix(hash: u64, word: u64) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let h = (hash.rotate_left(23) ^ word).wrapping_mul(K);
    (h ^ h >> 29).wrapping_mul(K | 2)
}
