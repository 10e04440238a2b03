//! Summary of a condition: the facts it implies by itself, independent of any path. Cached per expression.
//!
//! A condition over one leaf of up to 8 bits is evaluated for all values of the leaf at once, in columns, which is
//! exact for every operator. For wider leaves the target `true` is propagated; where that is inexact, leaves of up
//! to 16 bits are still enumerated. A read outside a table over an unconstrained array can have any value, so such
//! indices are kept.

use super::backward;
use super::fold::{Fold, Imprecision, Unconstrained};
use super::propagate::{ImpliedSets, MAX_VISITS, propagate};
use super::range::{self, BitRanges};
use super::set::{Interval, MAX_BITMAP_WIDTH, Set};
use crate::cost;
use crate::expr::columns::{Columns, Plan};
use crate::expr::eval::Shape;
use crate::expr::walk::element_range;
use crate::expr::{Alive, Expr, Family, Graph, Op};
use crate::persist::Recent;
use crate::throttle::Throttle;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Leaves of up to this width are enumerated.
const MAX_ENUMERATED: u32 = 16;
/// Expressions with more nodes are only enumerated over one byte.
const MAX_ENUMERATED_NODES: usize = 64;
const VALUES_PER_TILE: u64 = 1024;
/// Number of recently used summaries to keep, twice over (see `Recent`): about 2 MB.
const RECENT_SUMMARIES: usize = 4096;
/// Expressions with more leaves are not analysed.
const MAX_LEAVES: usize = 1024;
/// Expressions of up to this many nodes are always folded.
const SMALL_EXPRESSION_NODES: usize = 16;
/// Cost limit of folding one expression.
const MAX_FOLD_COST: usize = 1024;
/// Visiting a kind of constraint pays if at least one visit in this many narrows a set.
pub const VISITS_PER_SUCCESS: u64 = 8;

/// Facts that a condition implies by itself.
#[derive(Debug)]
pub struct Summary {
    /// Ranges of its variables and word reads.
    pub leaves: Vec<u32>,
    /// Sets implied if the condition is true.
    pub implied: ImpliedSets,
    /// First cause of imprecision in the condition.
    pub imprecision: Option<Imprecision>,
    pub nodes: usize,
}

impl Summary {
    fn new(
        leaves: Vec<u32>,
        implied: ImpliedSets,
        imprecision: Option<Imprecision>,
        nodes: usize,
    ) -> Summary {
        Summary { leaves, implied, imprecision, nodes }
    }

    /// The set implied for a range, if any.
    pub fn set_of(&self, number: u32) -> Option<&Set> {
        self.implied.sets.iter().find(|(n, _)| *n == number).map(|(_, set)| set)
    }

    /// Reason why sets do not represent the condition exactly.
    pub fn imprecision(&self) -> Option<Imprecision> {
        self.imprecision.or(self.implied.imprecision)
    }
}

/// Summaries by expression.
pub struct Summaries {
    known: Recent<Expr, Arc<Summary>>,
    /// Folding large conditions over several leaves, by operator.
    large: FxHashMap<Op, Throttle>,
    fold: Fold,
    columns: Columns,
    /// Number of nodes of all expressions analysed.
    nodes: u64,
}

impl Default for Summaries {
    fn default() -> Summaries {
        Summaries {
            known: Recent::new(RECENT_SUMMARIES),
            large: FxHashMap::default(),
            fold: Fold::default(),
            columns: Columns::default(),
            nodes: 0,
        }
    }
}

impl Summaries {
    pub fn of(&mut self, graph: &Graph, ranges: &mut BitRanges, e: Expr) -> Arc<Summary> {
        if let Some(known) = self.known.get(e) {
            return known.clone();
        }
        let summary = Arc::new(self.compute(graph, ranges, e));
        self.nodes += summary.nodes as u64;
        self.known.insert(e, summary.clone(), 1);
        summary
    }

    /// Estimated nanoseconds spent so far.
    pub fn spent(&self) -> u64 {
        self.fold.spent + self.columns.computed() * cost::COLUMN_VALUE + self.nodes * cost::SUMMARY_NODE
    }

    pub fn sweep(&mut self, alive: &Alive) {
        self.known.retain(|e| alive.has(e));
    }

    fn compute(&mut self, graph: &Graph, ranges: &mut BitRanges, e: Expr) -> Summary {
        if let Some(summary) = comparison(graph, ranges, e) {
            return summary;
        }
        let Inventory { leaves, tables, complete, nodes, .. } = Inventory::of(graph, e);
        if leaves.len() > MAX_LEAVES {
            let implied = ImpliedSets::unknown(Imprecision::Size);
            return Summary::new(Vec::new(), implied, Some(Imprecision::Size), nodes);
        }
        let leaves: Vec<u32> = leaves.into_iter().map(|leaf| ranges.number(leaf)).collect();
        let single = match leaves[..] {
            [one] if complete => Some(one),
            _ => None,
        };
        if let Some(leaf) = single
            && ranges.range(leaf).width <= MAX_BITMAP_WIDTH
        {
            let implied = self.enumerate(graph, ranges, e, leaf, &tables);
            return Summary::new(leaves, implied, None, nodes);
        }
        // Large conditions over several leaves seldom imply anything by themselves; parities never do.
        let op = graph.op(if graph.op(e) == Op::Not { graph.kid(e, 0) } else { e });
        let is_large = leaves.len() > 1 && nodes > SMALL_EXPRESSION_NODES;
        if is_large && self.large.entry(op).or_default().skips() {
            let implied = ImpliedSets::unknown(Imprecision::Several(op));
            return Summary::new(leaves, implied, Some(Imprecision::Several(op)), nodes);
        }
        if !self.fold.run(graph, ranges, e, &mut Unconstrained, MAX_FOLD_COST) {
            let implied = ImpliedSets::unknown(Imprecision::Size);
            return Summary::new(leaves, implied, Some(Imprecision::Size), nodes);
        }
        let mut visits = MAX_VISITS;
        let mut implied = propagate(graph, ranges, &self.fold, e, Set::truth(true), &mut visits);
        if is_large {
            let implies = implied.impossible || !implied.sets.is_empty();
            let throttle = self.large.get_mut(&op).expect("inserted above");
            throttle.note(1, if implies { VISITS_PER_SUCCESS } else { 0 });
        }
        if let Some(leaf) = single
            && !implied.exact
            && ranges.range(leaf).width <= MAX_ENUMERATED
            && nodes <= MAX_ENUMERATED_NODES
        {
            implied = self.enumerate(graph, ranges, e, leaf, &tables);
        }
        Summary::new(leaves, implied, self.fold.imprecision, nodes)
    }

    /// The values of the only leaf for which `e` is true, by enumeration.
    fn enumerate(
        &mut self,
        graph: &Graph,
        ranges: &BitRanges,
        e: Expr,
        leaf: u32,
        tables: &[(Expr, u64)],
    ) -> ImpliedSets {
        let range = ranges.range(leaf);
        let mut roots = vec![e];
        roots.extend(tables.iter().map(|(index, _)| *index));
        let plan = Plan::new(graph, &roots);
        let (total, mut outside_table) = (1u64 << range.width, false);
        let mut intervals: Vec<Interval> = Vec::new();
        for start in (0..total).step_by(VALUES_PER_TILE as usize) {
            let values: Vec<u64> = (start..total.min(start + VALUES_PER_TILE)).collect();
            let mut tile = self.columns.tile(&plan, values.len());
            range.bind(graph, &mut tile, &values);
            let mut keep: Vec<bool> = tile.words(0).iter().map(|truth| *truth != 0).collect();
            for (i, (_, length)) in tables.iter().enumerate() {
                for (keep, at) in keep.iter_mut().zip(tile.words(i + 1)) {
                    if at >= length {
                        outside_table = true;
                        *keep = true;
                    }
                }
            }
            for (value, _) in values.iter().zip(&keep).filter(|(_, keep)| **keep) {
                match intervals.last_mut() {
                    Some(last) if last.1 + 1 == *value => last.1 = *value,
                    _ => intervals.push((*value, *value)),
                }
            }
        }
        let set = Set::from_intervals(range.width, intervals);
        let mut implied =
            if set.set.is_full() { ImpliedSets::unrestricted() } else { ImpliedSets::single(leaf, set.set) };
        if !implied.impossible && (outside_table || !set.exact) {
            implied.exact = false;
            implied.imprecision = Some(if outside_table { Imprecision::Array } else { Imprecision::Size });
        }
        implied
    }
}

/// Fast path for the most frequent condition: a leaf, or bits of one, compared with a constant.
fn comparison(graph: &Graph, ranges: &mut BitRanges, e: Expr) -> Option<Summary> {
    let Comparison { op, shape, holds, which, varying, constant, bits } = Comparison::of(graph, e)?;
    let word = if graph.op(varying) == Op::Extract { graph.kid(varying, 0) } else { varying };
    let leaf = ranges.number(range::leaf(graph, word)?);
    let (own, other) = (Set::full(bits.width), Set::single(bits.width, constant));
    let before = backward::by_intervals(op, shape, &Set::truth(holds), &own, &other, which);
    let implied = if before.set.is_full() {
        ImpliedSets::unrestricted()
    } else {
        ImpliedSets::single(ranges.number(bits), before.set)
    };
    before.exact.then(|| Summary::new(vec![leaf], implied, None, 3))
}

/// A comparison of bits of a leaf with a constant, or its negation.
pub struct Comparison {
    op: Op,
    shape: Shape,
    holds: bool,
    /// Index of the operand that is not constant.
    which: usize,
    varying: Expr,
    constant: u64,
    bits: range::BitRange,
}

impl Comparison {
    pub fn of(graph: &Graph, e: Expr) -> Option<Comparison> {
        let (compared, holds) = if graph.op(e) == Op::Not { (graph.kid(e, 0), false) } else { (e, true) };
        let op = graph.op(compared);
        if !op.is_comparison() && !matches!(op, Op::FLt | Op::FLe | Op::FEq) {
            return None;
        }
        let (a, b) = (graph.kid(compared, 0), graph.kid(compared, 1));
        let (which, varying, constant) = match (graph.const_word(a), graph.const_word(b)) {
            (None, Some(c)) => (0, a, c),
            (Some(c), None) => (1, b, c),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let bits = range::leaf_bits(graph, varying)?;
        Some(Comparison { op, shape: graph.shape(compared), holds, which, varying, constant, bits })
    }
}

/// Leaves and table reads of an expression.
pub struct Inventory {
    /// Variables and reads of array variables at constant indices, as bit ranges.
    pub leaves: Vec<range::BitRange>,
    /// Reads of tables over array variables: the index, and the number of indices inside the table.
    pub tables: Vec<(Expr, u64)>,
    /// The expression depends on nothing else, and the number of leaves is within the limit.
    pub complete: bool,
    pub nodes: usize,
    /// Floating-point operations that round: their circuits make a solve expensive.
    pub rounded: usize,
}

impl Inventory {
    pub fn of(graph: &Graph, e: Expr) -> Inventory {
        let mut all =
            Inventory { leaves: Vec::new(), tables: Vec::new(), complete: true, nodes: 0, rounded: 0 };
        let mut seen = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            all.nodes += 1;
            all.rounded += usize::from(matches!(graph.op(e).family(), Family::Float(op) if op.rounds()));
            let is_leaf = match graph.op(e) {
                Op::Var => true,
                Op::Read => element_range(graph, e).is_some(),
                _ => false,
            };
            if is_leaf {
                match range::leaf(graph, e) {
                    Some(leaf) => all.leaves.push(leaf),
                    None => all.complete = false,
                }
                if all.leaves.len() > MAX_LEAVES {
                    all.complete = false;
                    return all;
                }
            } else if graph.op(e) == Op::Read {
                let (array, index) = (graph.kid(e, 0), graph.kid(e, 1));
                stack.push(index);
                let over_variable = graph.op(array) == Op::Table && graph.op(graph.kid(array, 0)) == Op::Var;
                if over_variable && graph.width(index) <= 64 {
                    let (length, count) = (graph.table(array).elements.len() as u64, graph.read_count(e));
                    all.tables.push((index, (length + 1).saturating_sub(count.into())));
                } else {
                    stack.push(array);
                }
            } else {
                stack.extend(graph.kids(e));
            }
        }
        all
    }
}
