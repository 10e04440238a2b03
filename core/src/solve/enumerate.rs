//! The layer `enumerate`: tries all values of the inputs of a slice if they are few.
//!
//! Answers: queries for which the number of points (product of the sizes of the inputs' sets) times the number of nodes
//! is within `work`, or within `float_work` for each floating-point operation that rounds.
//! Why sound: the sets contain every solution of their reasons, and every point of their product is evaluated. The core
//! consists of constraints that exclude every point and of the reasons of the sets. Models are evaluated again.
//! When it helps: relations between a few bytes, tables, products: constraints that sets cannot represent.
//! Cost: at most this many computed values, in columns of 1024 points, cheapest constraints first.
//! Source: bit-parallel exhaustive simulation as used in equivalence checking.

use super::{Layer, Rest};
use crate::cost;
use crate::expr::bits::mask;
use crate::expr::columns::{Columns, Plan, Tile, lanes_of};
use crate::expr::{Expr, Graph};
use crate::interval::{BitRange, BitRanges, Facts, Inventory, ReasonTree};
use crate::persist::Recent;
use crate::query::{Alive, Answer, Core, Query, Reasons};
use crate::tuning::EnumerateOptions;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Points evaluated together.
const LANES: u64 = 1024;
/// Size of one generation of the cache of inventories.
const MAX_INVENTORIES: usize = 4096;

/// A range of bits, its possible values and their reasons.
struct Cell {
    range: BitRange,
    values: Vec<u64>,
    because: ReasonTree,
}

/// The points to evaluate, and constraints and condition, cheapest first.
struct Space {
    cells: Vec<Cell>,
    points: u64,
    roots: Vec<Expr>,
    /// Expressions that index tables, and the number of indices within the table.
    tables: Vec<(Expr, u64)>,
}

pub struct Enumerate {
    options: EnumerateOptions,
    inventories: Recent<Expr, Arc<Inventory>>,
    columns: Columns,
    /// Number of nodes planned so far.
    nodes: u64,
    points: u64,
    passed: BTreeMap<&'static str, u64>,
}

impl Enumerate {
    pub fn new(options: EnumerateOptions) -> Enumerate {
        Enumerate {
            options,
            inventories: Recent::new(MAX_INVENTORIES),
            columns: Columns::new(),
            nodes: 0,
            points: 0,
            passed: BTreeMap::new(),
        }
    }

    /// Effort of all queries so far.
    fn effort(&self) -> u64 {
        self.nodes * cost::PLAN_NODE + self.columns.computed() * cost::COLUMN_VALUE
    }

    fn inventory(&mut self, graph: &Graph, e: Expr) -> Arc<Inventory> {
        if let Some(known) = self.inventories.get(e) {
            return known.clone();
        }
        let inventory = Arc::new(Inventory::of(graph, e));
        self.inventories.insert(e, inventory.clone(), 1);
        inventory
    }

    /// Returns the points of a query under given facts, or why it is not tried.
    fn space(
        &mut self,
        graph: &Graph,
        ranges: &mut BitRanges,
        constraints: &[Expr],
        condition: Expr,
        facts: &Facts,
    ) -> Result<Space, &'static str> {
        let mut leaves: Vec<BitRange> = Vec::new();
        let mut tables: Vec<(Expr, u64)> = Vec::new();
        let mut roots: Vec<(usize, Expr)> = Vec::new();
        let (mut nodes, mut rounded) = (0u64, 0u64);
        for &e in constraints.iter().chain([&condition]).filter(|e| !graph.is_true(**e)) {
            let inventory = self.inventory(graph, e);
            if !inventory.complete {
                return Err("array");
            }
            leaves.extend(&inventory.leaves);
            tables.extend(&inventory.tables);
            nodes += inventory.nodes as u64;
            rounded += inventory.rounded as u64;
            self.nodes += 1;
            roots.push((inventory.nodes, e));
        }
        let work = self.options.work.max(rounded.saturating_mul(self.options.float_work));
        roots.sort_unstable();
        roots.dedup();
        tables.sort_unstable();
        tables.dedup();
        let mut cells: Vec<Cell> = Vec::new();
        let mut points = 1u64;
        for range in merged(leaves) {
            let range = range.ok_or("width")?;
            let number = ranges.number(range);
            let view = facts.known(ranges, number);
            let count = u64::try_from(view.set.count()).unwrap_or(u64::MAX);
            points = points.saturating_mul(count);
            let because = if view.set.is_full() { ReasonTree::default() } else { view.reasons };
            if points == 0 {
                // The other cells do not matter: there is no point.
                cells = vec![Cell { range, values: Vec::new(), because }];
                break;
            }
            if points.saturating_mul(nodes) > work {
                return Err("work");
            }
            cells.push(Cell { range, values: view.set.values().collect(), because });
        }
        let roots = roots.into_iter().map(|(_, e)| e).collect();
        Ok(Space { cells, points, roots, tables })
    }

    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>, space: Space) -> Result<Answer, &'static str> {
        self.nodes += space.roots.iter().map(|&e| self.inventory(rest.graph, e).nodes as u64).sum::<u64>();
        // Tiles of `plan` drop lanes where a root is false, so table indices need their own plan.
        let plan = Plan::new(rest.graph, &space.roots);
        let indices: Vec<Expr> = space.tables.iter().map(|(index, _)| *index).collect();
        let index_plan = Plan::new(rest.graph, &indices);
        for start in (0..space.points).step_by(LANES as usize) {
            let lanes = LANES.min(space.points - start) as usize;
            self.points += lanes as u64;
            if !indices.is_empty() {
                let mut tile = self.columns.tile(&index_plan, lanes);
                space.bind(rest.graph, &mut tile, start);
                for (i, (_, inside)) in space.tables.iter().enumerate() {
                    if tile.words(i).iter().any(|at| at >= inside) {
                        return Err("table");
                    }
                }
            }
            let mut tile = self.columns.tile(&plan, lanes);
            space.bind(rest.graph, &mut tile, start);
            if let Some(lane) = lanes_of(tile.satisfying()).next() {
                let ancestor = rest.tree.feasible_ancestor(query.path);
                let mut model = rest.tree.model(ancestor).expect("a feasible node").clone();
                for (cell, value) in space.cells.iter().zip(space.point(start + lane as u64)) {
                    cell.range.assign(rest.graph, &mut model, value);
                }
                return match rest.satisfies(query, &model) {
                    Ok(()) => Ok(Answer::Sat(model)),
                    Err(_) => Err("model"),
                };
            }
        }
        let chosen = self.cover(rest.graph, &space, &plan).expect("no point satisfies all");
        let of_cells = self.reasons_of_cells(rest.graph, space, &chosen);
        let constraints: Reasons = chosen.iter().copied().filter(|&e| e != query.condition).collect();
        let condition = chosen.contains(&query.condition);
        Ok(Answer::Unsat(Core { constraints: constraints.union(&of_cells), condition }))
    }

    /// Returns reasons of the cells' sets that the chosen constraints need to exclude every point. Each cell in turn is
    /// given all values of its range, if that is within `work`. Values with which there is then a model must be
    /// excluded by few of the cell's reasons.
    fn reasons_of_cells(&mut self, graph: &Graph, mut space: Space, chosen: &[Expr]) -> Reasons {
        // Outside its bounds a table has unknown elements, so the sets that bound the indices are needed.
        if !space.tables.is_empty() || chosen.is_empty() {
            return space.cells.iter().fold(Reasons::None, |all, cell| all.union(&cell.because.flatten()));
        }
        let parts: Vec<Arc<Inventory>> = chosen.iter().map(|&e| self.inventory(graph, e)).collect();
        let nodes: u64 = parts.iter().map(|part| part.nodes as u64).sum();
        // One value suffices for cells that the chosen constraints do not mention.
        for cell in &mut space.cells {
            if !parts.iter().flat_map(|part| &part.leaves).any(|leaf| cell.range.covers(leaf)) {
                cell.values.truncate(1);
                cell.because = ReasonTree::default();
            }
        }
        space.points = space.cells.iter().map(|cell| cell.values.len() as u64).product();
        let plan = Plan::new(graph, chosen);
        let mut left = self.options.work;
        let mut needed = Reasons::None;
        for at in 0..space.cells.len() {
            let Cell { range, values, because } = &space.cells[at];
            let (range, others) = (*range, space.points / values.len().max(1) as u64);
            let every = 1u64.checked_shl(range.width).unwrap_or(u64::MAX);
            let work = others.saturating_mul(every).saturating_mul(nodes);
            let reasons = because.flatten();
            if reasons == Reasons::None || work > left {
                needed = needed.union(&reasons);
                continue;
            }
            left -= work;
            let narrow = std::mem::replace(&mut space.cells[at].values, (0..every).collect());
            space.points = others * every;
            let open = self.satisfying_values(graph, &space, &plan, at);
            match self.excluding(graph, range, open, &reasons, &mut left) {
                Some(few) if few.is_empty() => {}
                Some(few) => {
                    let alone = Space::of(range, (0..every).collect(), few);
                    let plan = Plan::new(graph, &alone.roots);
                    space.cells[at].values = self.satisfying_values(graph, &alone, &plan, 0);
                    needed = needed.union(&alone.roots.into_iter().collect());
                }
                None => {
                    space.cells[at].values = narrow;
                    needed = needed.union(&reasons);
                }
            }
            space.points = others * space.cells[at].values.len() as u64;
        }
        needed
    }

    /// Values of a cell with which a point satisfies the plan, ascending.
    fn satisfying_values(&mut self, graph: &Graph, space: &Space, plan: &Plan, at: usize) -> Vec<u64> {
        let stride: u64 = space.cells[..at].iter().map(|cell| cell.values.len() as u64).product();
        let values = &space.cells[at].values;
        let mut found = vec![false; values.len()];
        for start in (0..space.points).step_by(LANES as usize) {
            let mut tile = self.columns.tile(plan, LANES.min(space.points - start) as usize);
            space.bind(graph, &mut tile, start);
            for lane in lanes_of(tile.satisfying()) {
                found[((start + lane as u64) / stride) as usize % values.len()] = true;
            }
        }
        values.iter().zip(found).filter(|(_, found)| *found).map(|(value, _)| *value).collect()
    }

    /// Few of the reasons that mention only these bits and together exclude the values.
    fn excluding(
        &mut self,
        graph: &Graph,
        range: BitRange,
        values: Vec<u64>,
        reasons: &Reasons,
        left: &mut u64,
    ) -> Option<Vec<Expr>> {
        if values.is_empty() {
            return Some(Vec::new());
        }
        let (mut roots, mut nodes) = (Vec::new(), 0);
        for &e in reasons.as_slice() {
            let inventory = self.inventory(graph, e);
            if inventory.leaves.iter().all(|leaf| range.covers(leaf)) {
                nodes += inventory.nodes as u64;
                roots.push(e);
            }
        }
        *left = left.checked_sub(values.len() as u64 * nodes)?;
        let plan = Plan::new(graph, &roots);
        self.cover(graph, &Space::of(range, values, roots), &plan)
    }

    /// Constraints that together exclude every point, if all do. Greedy: takes the one that excludes most remaining
    /// points, then removes redundant ones.
    fn cover(&mut self, graph: &Graph, space: &Space, plan: &Plan) -> Option<Vec<Expr>> {
        let words = space.points.div_ceil(64) as usize;
        let mut excluded: Vec<Vec<u64>> = vec![Vec::with_capacity(words); space.roots.len()];
        for start in (0..space.points).step_by(LANES as usize) {
            let lanes = LANES.min(space.points - start) as usize;
            let mut tile = self.columns.tile(plan, lanes);
            space.bind(graph, &mut tile, start);
            for (i, excluded) in excluded.iter_mut().enumerate() {
                excluded.extend(tile.truth(i).iter().map(|truth| !truth));
            }
        }
        let mut all = vec![u64::MAX; words];
        if !space.points.is_multiple_of(64) {
            all[words - 1] = mask((space.points % 64) as u32);
        }
        let mut left = all.clone();
        let mut chosen: Vec<usize> = Vec::new();
        while left.iter().any(|word| *word != 0) {
            let gain = |excluded: &Vec<u64>| -> u64 {
                left.iter().zip(excluded).map(|(l, x)| u64::from((l & x).count_ones())).sum()
            };
            let best = (0..excluded.len()).max_by_key(|&i| gain(&excluded[i]))?;
            if gain(&excluded[best]) == 0 {
                return None;
            }
            left.iter_mut().zip(&excluded[best]).for_each(|(l, x)| *l &= !x);
            chosen.push(best);
        }
        for redundant in chosen.clone() {
            let others = chosen.iter().filter(|&&i| i != redundant);
            let covers =
                |at: usize| others.clone().fold(0, |word, &i| word | excluded[i][at]) & all[at] == all[at];
            if (0..words).all(covers) {
                chosen.retain(|&i| i != redundant);
            }
        }
        Some(chosen.into_iter().map(|i| space.roots[i]).collect())
    }
}

impl Space {
    /// The values of one range.
    fn of(range: BitRange, values: Vec<u64>, roots: Vec<Expr>) -> Space {
        let points = values.len() as u64;
        let cells = vec![Cell { range, values, because: ReasonTree::default() }];
        Space { cells, points, roots, tables: Vec::new() }
    }

    /// Values of the cells at a point.
    fn point(&self, number: u64) -> Vec<u64> {
        let mut left = number;
        let digit = |cell: &Cell| {
            let count = cell.values.len() as u64;
            let value = cell.values[(left % count) as usize];
            left /= count;
            value
        };
        self.cells.iter().map(digit).collect()
    }

    /// Binds the points from `start` on, one per lane.
    fn bind(&self, graph: &Graph, tile: &mut Tile<'_>, start: u64) {
        let mut stride = 1;
        for cell in &self.cells {
            let count = cell.values.len() as u64;
            let at = |lane: u64| cell.values[((start + lane) / stride % count) as usize];
            let column: Vec<u64> = (0..tile.lanes() as u64).map(at).collect();
            stride *= count;
            cell.range.bind(graph, tile, &column);
        }
    }
}

/// Merges overlapping leaves; `None` for a result of more than 64 bits.
fn merged(mut leaves: Vec<BitRange>) -> Vec<Option<BitRange>> {
    leaves.sort_unstable_by_key(|r| (r.base, r.low, r.width));
    let mut all: Vec<(Expr, u64, u64)> = Vec::new();
    for r in leaves {
        match all.last_mut() {
            Some(last) if last.0 == r.base && r.low < last.2 => last.2 = last.2.max(r.end()),
            _ => all.push((r.base, r.low, r.end())),
        }
    }
    let range = |(base, low, end): (Expr, u64, u64)| {
        (end - low <= 64).then(|| BitRange { base, low, width: (end - low) as u32 })
    };
    all.into_iter().map(range).collect()
}

/// Are all of these reasons part of the query?
fn are_inside(query: &Query, rest: &mut Rest<'_>, because: &ReasonTree) -> bool {
    query.slice.is_none() || because.flatten().as_slice().iter().all(|e| rest.is_inside(query, *e))
}

impl Layer for Enumerate {
    fn name(&self) -> &str {
        "enumerate"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let constraints = query.constraints(rest.tree);
        let facts = rest.learner.facts(rest.graph, rest.tree, query.path);
        // Sets with reasons outside the slice may not be used: these could not be part of the core.
        if let Some(because) = facts.infeasible.as_ref().filter(|because| are_inside(query, rest, because)) {
            return Answer::Unsat(Core { constraints: because.flatten(), condition: false });
        }
        let before = self.effort();
        let mut space =
            self.space(rest.graph, &mut rest.learner.ranges, &constraints, query.condition, &facts);
        if space
            .as_ref()
            .is_ok_and(|space| !space.cells.iter().all(|cell| are_inside(query, rest, &cell.because)))
        {
            let facts = rest.learner.facts_of(rest.graph, &constraints);
            space = self.space(rest.graph, &mut rest.learner.ranges, &constraints, query.condition, &facts);
        }
        let decided = space.and_then(|space| self.decide(query, rest, space));
        rest.spend(self.effort() - before);
        match decided {
            Ok(answer) => answer,
            Err(why) => {
                *self.passed.entry(why).or_default() += 1;
                rest.check(query).answer
            }
        }
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.inventories.retain(|e| alive.expr(e));
    }

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.inventories = Recent::new(MAX_INVENTORIES);
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let passed = self.passed.iter().map(|(why, count)| (format!("passed_{why}"), *count as f64));
        passed.chain([("points".to_string(), self.points as f64)]).collect()
    }
}
