//! Sets of the values that an index can have by its operators alone. They depend on no path, so circuits built with
//! them serve every path. Each node is visited once.

use crate::expr::{Alive, Expr, Graph, Op};
use crate::interval::{Set, image};
use rustc_hash::FxHashMap;

/// Sets by expression; `None` if nothing is known.
#[derive(Default)]
pub struct IndexSets {
    known: FxHashMap<Expr, Option<Set>>,
}

impl IndexSets {
    /// A set that contains every value of `e`; `None` if nothing is known.
    pub fn of(&mut self, graph: &Graph, e: Expr) -> Option<&Set> {
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            if self.known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            if is_word_operator(graph, top) {
                stack.extend(graph.kids(top).into_iter().filter(|kid| !self.known.contains_key(kid)));
            }
            if stack.len() == before {
                let set = self.node(graph, top).filter(|set| !set.is_full());
                self.known.insert(top, set);
                stack.pop();
            }
        }
        self.known[&e].as_ref()
    }

    fn node(&self, graph: &Graph, e: Expr) -> Option<Set> {
        if !is_word_operator(graph, e) {
            return graph.const_word(e).map(|word| Set::single(graph.width(e), word));
        }
        Some(image(graph, e, |kid| self.known[&kid].as_ref()))
    }

    pub fn sweep(&mut self, alive: &Alive) {
        self.known.retain(|e, _| alive.has(*e));
    }
}

/// Returns true for an operator on words of at most 64 bits.
fn is_word_operator(graph: &Graph, e: Expr) -> bool {
    let is_word = |e: Expr| !graph.is_array(e) && graph.width(e) <= 64;
    !matches!(graph.op(e), Op::Const | Op::Var | Op::Read)
        && is_word(e)
        && graph.kids(e).into_iter().all(is_word)
}
