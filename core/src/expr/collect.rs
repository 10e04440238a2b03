//! Collection of dead nodes: mark from the roots, free the rest.
//!
//! Only called at safe points, with all roots. Freed slots are reused, so every table keyed by `Expr` must drop
//! its dead entries (see `Alive`) in the same collection.

use super::{Expr, Graph, Kind, Op};

/// The set of expressions that survive a collection.
pub struct Alive {
    marks: Vec<u64>,
}

impl Alive {
    #[inline]
    pub fn has(&self, e: Expr) -> bool {
        self.has_id(e.id())
    }

    #[inline]
    pub fn has_id(&self, id: u32) -> bool {
        self.marks.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// Returns true the first time.
    fn mark(&mut self, id: u32) -> bool {
        let (word, bit) = (&mut self.marks[id as usize / 64], 1 << (id % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// Marks expressions root by root, so that a caller with many roots needs no list of them: memory is short when it is used.
pub struct Marking<'a> {
    graph: &'a Graph,
    alive: Alive,
    /// Marked operators whose operands are not marked yet.
    stack: Vec<u32>,
}

impl Marking<'_> {
    /// Marks everything reachable from `root`.
    pub fn add(&mut self, root: Expr) {
        self.graph.node(root);
        self.reach(root.id());
        while let Some(id) = self.stack.pop() {
            let node = &self.graph.nodes[id as usize];
            for &kid in &node.payload[..node.op.arity()] {
                self.reach(kid);
            }
        }
    }

    /// Leaves do not enter the stack: in a chain of operations with constants it stays short.
    fn reach(&mut self, id: u32) {
        if self.alive.mark(id) && self.graph.nodes[id as usize].op.arity() > 0 {
            self.stack.push(id);
        }
    }

    pub fn alive(self) -> Alive {
        self.alive
    }
}

impl Graph {
    /// Begins to mark, with the booleans.
    pub fn marking(&self) -> Marking<'_> {
        let mut alive = Alive { marks: vec![0; self.nodes.len().div_ceil(64)] };
        alive.mark(0);
        alive.mark(1);
        Marking { graph: self, alive, stack: Vec::new() }
    }

    /// Marks the booleans and everything reachable from `roots`.
    pub fn mark(&self, roots: impl IntoIterator<Item = Expr>) -> Alive {
        let mut marking = self.marking();
        roots.into_iter().for_each(|root| marking.add(root));
        marking.alive()
    }

    /// Frees every node that is not `alive`; returns the number of freed nodes. Tables keyed by `Expr` must be
    /// swept with the same `alive` before the graph is used again.
    pub fn collect(&mut self, alive: &Alive) -> usize {
        let mut freed = 0;
        for id in 0..self.nodes.len() as u32 {
            if alive.has_id(id) || self.nodes[id as usize].kind == Kind::Free {
                continue;
            }
            let node = self.nodes[id as usize];
            let entry = self.table.find_entry(node.hash(), |&other| other == id);
            entry.expect("every live node is in the table").remove();
            match node.op {
                Op::Const if node.width > 64 => {
                    let bits = self.wides.remove(node.payload[0]);
                    self.wide_numbers.remove(&bits);
                }
                Op::Var => {
                    let name = self.names.remove(node.payload[0]);
                    self.variables.remove(&name);
                }
                _ => {}
            }
            self.nodes[id as usize].kind = Kind::Free;
            #[cfg(debug_assertions)]
            {
                self.generations[id as usize] += 1;
            }
            self.free.push(id);
            freed += 1;
        }
        self.collect_tables(alive);
        for (id, not) in self.negations.iter_mut().enumerate() {
            if !alive.has_id(id as u32) || !alive.has_id(*not) {
                *not = 0;
            }
        }
        freed
    }

    /// Tables over different bases may share their elements.
    fn collect_tables(&mut self, alive: &Alive) {
        let mut used = vec![false; self.tables.items.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            if node.op == Op::Table && node.kind != Kind::Free && alive.has_id(id as u32) {
                used[node.payload[1] as usize] = true;
            }
        }
        for (number, used) in used.into_iter().enumerate() {
            if !used && self.tables.items[number].is_some() {
                let data = self.tables.remove(number as u32);
                self.table_numbers.remove(&data);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Bits, Sort};

    #[test]
    fn dead_slots_are_reused_and_live_handles_stay_valid() {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let one = g.word(32, 1);
        let keep = g.add(x, one);
        let wide = g.constant(Bits::ones(200));
        let y = g.var("y", Sort::Bits(200)).unwrap();
        let _dead = g.add(y, wide);
        let before = g.len();
        let alive = g.mark([keep]);
        let freed = g.collect(&alive);
        assert_eq!(freed, 3);
        assert_eq!(g.len(), before - freed);
        assert!(g.lookup("y").is_none());
        assert_eq!(g.add(x, one), keep);
        let slots = g.slots();
        g.var("z", Sort::Bits(8)).unwrap();
        assert_eq!(g.slots(), slots, "a freed slot is used before a new one");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "stale handle")]
    fn stale_handle_panics() {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let alive = g.mark([]);
        g.collect(&alive);
        g.var("y", Sort::Bits(32)).unwrap();
        g.op(x);
    }
}
