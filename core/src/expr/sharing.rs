//! Analysis for printers: which nodes are used more than once, and which tables can be printed as assertions
//! about their base array.
//!
//! A table over the array variable `b` has its constants below n and the elements of `b` from n on. If nothing
//! else reads `b` below n, asserting that the first n elements of `b` *are* the constants changes no verdict:
//! no expression can distinguish `b` from the table. Other tables are printed as chains of writes.

use super::walk::element_range;
use super::{Expr, Graph, Op};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) struct Sharing {
    /// Nodes below the roots, operands before their users.
    pub(super) order: Vec<Expr>,
    uses: FxHashMap<Expr, u32>,
    /// Tables that are printed as assertions about their base.
    asserted: FxHashSet<Expr>,
}

impl Sharing {
    pub(super) fn of(graph: &Graph, roots: &[Expr]) -> Sharing {
        let mut order = Vec::new();
        graph.post_order(roots, |e| order.push(e));
        let mut uses: FxHashMap<Expr, u32> = FxHashMap::default();
        for &root in roots {
            *uses.entry(root).or_default() += 1;
        }
        for &e in &order {
            // A word read is printed as several element reads, each with the array and the index.
            let times = if graph.op(e) == Op::Read && graph.read_count(e) > 1 { 2 } else { 1 };
            for kid in graph.kids(e) {
                *uses.entry(kid).or_default() += times;
            }
        }
        let asserted = assertable_tables(graph, roots, &order);
        Sharing { order, uses, asserted }
    }

    /// Returns whether `e` should be printed once and bound to a name.
    pub(super) fn is_shared(&self, graph: &Graph, e: Expr) -> bool {
        self.uses.get(&e).is_some_and(|&n| n > 1)
            && match graph.op(e) {
                Op::Var => false,
                // A name is not shorter than a narrow constant.
                Op::Const => graph.width(e) > 64,
                Op::Table => !self.is_asserted(e),
                _ => true,
            }
    }

    /// Prints all tables as chains of writes, for a term without assertions.
    pub(super) fn assert_no_tables(&mut self) {
        self.asserted.clear();
    }

    /// Returns whether the table is printed as assertions about its base.
    pub(super) fn is_asserted(&self, table: Expr) -> bool {
        self.asserted.contains(&table)
    }

    pub(super) fn asserted(&self) -> impl Iterator<Item = Expr> + '_ {
        self.order.iter().copied().filter(|e| self.asserted.contains(e))
    }

    pub(super) fn variables<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = Expr> + 'a {
        self.order.iter().copied().filter(|&e| graph.op(e) == Op::Var)
    }
}

fn assertable_tables(graph: &Graph, roots: &[Expr], order: &[Expr]) -> FxHashSet<Expr> {
    let mut table_of: FxHashMap<Expr, Expr> = FxHashMap::default();
    let mut excluded: FxHashSet<Expr> = roots.iter().copied().collect();
    for &e in order.iter().filter(|&&e| graph.op(e) == Op::Table) {
        let base = graph.kid(e, 0);
        if graph.op(base) != Op::Var || table_of.insert(base, e).is_some_and(|other| other != e) {
            excluded.insert(base);
        }
    }
    if table_of.is_empty() {
        return FxHashSet::default();
    }
    for &e in order.iter().filter(|&&e| graph.op(e) != Op::Table) {
        for kid in graph.kids(e) {
            let Some(&table) = table_of.get(&kid) else { continue };
            let beyond = graph.op(e) == Op::Read
                && element_range(graph, e)
                    .is_some_and(|(_, first, _)| first >= graph.table(table).elements.len() as u64);
            if !beyond {
                excluded.insert(kid);
            }
        }
    }
    table_of.into_iter().filter(|(base, _)| !excluded.contains(base)).map(|(_, table)| table).collect()
}
