//! Recognition of tables: assertions that fix the elements 0..n of an array variable, one by one.
//!
//! KLEE and others write constant arrays this way. A `Table` over the variable takes one node, and a read at
//! a known index folds. The table replaces the variable in all other constraints, and the assertions about
//! its elements are removed. No verdict changes: a model of the assertions gives the table and the variable
//! the same elements, so it satisfies the query; a model of the query satisfies the assertions after the
//! first n elements of the variable are set to those of the table, which no remaining constraint reads. A
//! constraint that contains a table depends on the assertions about its elements, which are added to cores.

use super::check::{Constraint, conjuncts};
use crate::expr::{Expr, Graph, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Least number of elements of a table.
const MIN_ELEMENTS: usize = 4;

pub(super) struct ElementTable {
    pub(super) variable: Expr,
    pub(super) elements: Arc<[u64]>,
    /// Numbers of the assertions about its elements.
    pub(super) origins: Vec<usize>,
}

/// Asserted elements of an array, by index: value and position in the list of constraints.
type Elements = FxHashMap<u64, (u64, usize)>;

/// Replaces element assertions by tables.
pub(super) fn recognise(
    graph: &mut Graph,
    constraints: Vec<Constraint>,
) -> (Vec<Constraint>, Vec<ElementTable>) {
    let mut arrays: FxHashMap<Expr, Elements> = FxHashMap::default();
    // In order of occurrence, so that the result does not depend on hashing.
    let mut order = Vec::new();
    for (place, constraint) in constraints.iter().enumerate() {
        if let Some((variable, index, value)) = element(graph, constraint.expr) {
            let elements = arrays.entry(variable).or_insert_with(|| {
                order.push(variable);
                Elements::default()
            });
            // A second, different value of an element contradicts the first; it stays as a constraint.
            elements.entry(index).or_insert((value, place));
        }
    }
    let mut tables = Vec::new();
    let mut used = vec![false; constraints.len()];
    let mut replaced = FxHashMap::default();
    for variable in order {
        let elements = &arrays[&variable];
        let prefix: Vec<(u64, usize)> = (0..).map_while(|i| elements.get(&i).copied()).collect();
        if prefix.len() < MIN_ELEMENTS {
            continue;
        }
        for &(_, place) in &prefix {
            used[place] = true;
        }
        let values: Arc<[u64]> = prefix.iter().map(|&(value, _)| value).collect();
        let origins = prefix.iter().map(|&(_, place)| constraints[place].origin).collect();
        replaced.insert(variable, graph.table_over(variable, values.clone()));
        tables.push(ElementTable { variable, elements: values, origins });
    }
    if tables.is_empty() {
        return (constraints, tables);
    }
    let mentions = Mentions::of(graph, &constraints, &used, &tables);
    let mut seen = FxHashSet::default();
    let mut result = Vec::new();
    for (constraint, _) in constraints.into_iter().zip(used).filter(|(_, used)| !used) {
        let tables = mentions.of_expr(constraint.expr);
        if tables.is_empty() {
            seen.insert(constraint.expr);
            result.push(constraint);
            continue;
        }
        let expr = graph.substitute_cached(constraint.expr, &mut replaced);
        let origin = constraint.origin;
        let parts = conjuncts(graph, expr, &mut seen);
        result.extend(parts.into_iter().map(|expr| Constraint { expr, origin, tables: tables.clone() }));
    }
    (result, tables)
}

/// Matches `variable[index] = value`, both constants of at most 64 bits.
fn element(graph: &Graph, e: Expr) -> Option<(Expr, u64, u64)> {
    if graph.op(e) != Op::Eq {
        return None;
    }
    let (read, value) = (graph.kid(e, 0), graph.const_word(graph.kid(e, 1))?);
    if graph.op(read) != Op::Read || graph.read_count(read) != 1 {
        return None;
    }
    let (array, index) = (graph.kid(read, 0), graph.const_word(graph.kid(read, 1))?);
    (graph.op(array) == Op::Var).then_some((array, index, value))
}

/// The tables that expressions mention, computed for all constraints in one walk.
struct Mentions {
    /// Sets of table numbers by expression; empty sets are omitted.
    known: FxHashMap<Expr, Arc<[usize]>>,
}

impl Mentions {
    fn of(graph: &Graph, constraints: &[Constraint], used: &[bool], tables: &[ElementTable]) -> Mentions {
        let mut known: FxHashMap<Expr, Arc<[usize]>> =
            tables.iter().enumerate().map(|(i, table)| (table.variable, Arc::from([i]))).collect();
        let roots: Vec<Expr> =
            constraints.iter().zip(used).filter(|(_, used)| !**used).map(|(c, _)| c.expr).collect();
        graph.post_order(&roots, |e| {
            let kids = graph.kids(e);
            let mut sets = kids.iter().filter_map(|kid| known.get(kid));
            let Some(first) = sets.next() else { return };
            let set = if sets.clone().all(|other| other == first) {
                first.clone()
            } else {
                let mut all: Vec<usize> =
                    sets.flat_map(|set| set.iter().copied()).chain(first.iter().copied()).collect();
                all.sort_unstable();
                all.dedup();
                all.into()
            };
            known.insert(e, set);
        });
        Mentions { known }
    }

    fn of_expr(&self, e: Expr) -> Vec<usize> {
        self.known.get(&e).map_or_else(Vec::new, |set| set.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Sort;

    fn constraint(expr: Expr, origin: usize) -> Constraint {
        Constraint { expr, origin, tables: Vec::new() }
    }

    #[test]
    fn element_assertions_become_a_table_with_origins() {
        let mut g = Graph::new();
        let a = g.var("a", Sort::Array { index: 8, element: 8 }).unwrap();
        let i = g.var("i", Sort::Bits(8)).unwrap();
        let mut constraints = Vec::new();
        for k in [1, 0, 2, 3, 9] {
            let index = g.word(8, k);
            let read = g.select(a, index);
            let value = g.word(8, 10 * k);
            let e = g.eq(read, value);
            constraints.push(constraint(e, constraints.len()));
        }
        let read = g.select(a, i);
        let seven = g.word(8, 7);
        let about = g.eq(read, seven);
        let elsewhere = g.ult(i, seven);
        constraints.push(constraint(about, 5));
        constraints.push(constraint(elsewhere, 6));
        let ninth = constraints[4].expr;
        let (rest, tables) = recognise(&mut g, constraints);
        assert_eq!(*tables[0].elements, [0, 10, 20, 30]);
        assert_eq!(tables[0].origins, [1, 0, 2, 3]);
        let table = g.table_over(a, tables[0].elements.clone());
        let read = g.select(table, i);
        let expected = g.eq(read, seven);
        let found: Vec<(Expr, usize, usize)> =
            rest.iter().map(|c| (c.expr, c.origin, c.tables.len())).collect();
        assert_eq!(found, [(ninth, 4, 1), (expected, 5, 1), (elsewhere, 6, 0)]);
    }
}
