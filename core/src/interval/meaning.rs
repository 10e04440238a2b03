//! What a condition says by itself, on no path in particular: remembered per expression.
//!
//! A condition over one leaf of up to 8 bits is evaluated over all values of the leaf at once, in columns: exact
//! whatever its operators. Wider leaves go through narrowing; where that is inexact, up to 16 bits are still all
//! evaluated. Out of a table over an unconstrained array nothing is known: such values are kept.

use super::backward;
use super::fold::{Anything, Fold, Stop};
use super::narrow::{MAX_VISITS, Narrowing, narrow};
use super::range::{self, Ranges};
use super::set::{MAP_WIDTH, Set, Span};
use crate::expr::bits::mask;
use crate::expr::columns::{Columns, Plan};
use crate::expr::eval::Shape;
use crate::expr::walk::{Atom, element_range};
use crate::expr::{Alive, Expr, Graph, Op};
use crate::persist::Recent;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Leaves of up to this width are evaluated over all their values.
const MAX_ENUMERATED: u32 = 16;
/// Expressions with more nodes are not, beyond bytes.
const MAX_ENUMERATED_NODES: usize = 64;
const LANES: u64 = 1024;
/// Meanings that are kept when others are asked for, and as many that were before them: about 2 MB.
const MAX_KNOWN: usize = 4096;
/// Expressions over more leaves than this are not looked at further.
const MAX_LEAVES: usize = 1024;
/// Expressions of up to so many nodes are folded in any case.
const FEW_NODES: usize = 16;
/// What folding one may cost.
const MAX_COST: usize = 1024;
/// So many visits in vain, and a constraint is only visited now and then.
const VAIN: u32 = 8;

/// A condition's own meaning.
#[derive(Debug)]
pub struct Meaning {
    /// The ranges of its variables and word reads.
    pub leaves: Vec<u32>,
    /// What its being true says of them.
    pub says: Narrowing,
    /// Something in it is not understood.
    pub stop: Option<Stop>,
    pub nodes: usize,
    /// How visiting it again went.
    pub luck: Luck,
}

impl Meaning {
    fn new(leaves: Vec<u32>, says: Narrowing, stop: Option<Stop>, nodes: usize) -> Meaning {
        Meaning { leaves, says, stop, nodes, luck: Luck::default() }
    }

    /// What it says of a range, if anything.
    pub fn part(&self, number: u32) -> Option<&Set> {
        self.says.parts.iter().find(|(n, _)| *n == number).map(|(_, set)| set)
    }

    /// What sets cannot hold of it.
    pub fn kind(&self) -> Option<Stop> {
        self.stop.or(self.says.stop)
    }
}

/// How often something has been visited since that last narrowed anything.
#[derive(Debug, Default)]
pub struct Luck(AtomicU32);

impl Luck {
    /// Should it be visited? Not if that has been in vain many times, but for one in so many.
    pub fn is_promising(&self) -> bool {
        let vain = self.0.load(Ordering::Relaxed);
        if vain < VAIN {
            return true;
        }
        self.0.store(vain.wrapping_add(1).max(VAIN), Ordering::Relaxed);
        vain.is_multiple_of(VAIN)
    }

    pub fn visited(&self, narrowed: bool) {
        let vain = self.0.load(Ordering::Relaxed);
        if narrowed {
            self.0.store(0, Ordering::Relaxed);
        } else if vain < VAIN {
            self.0.store(vain + 1, Ordering::Relaxed);
        }
    }
}

/// Meanings by expression.
pub struct Meanings {
    known: Recent<Expr, Arc<Meaning>>,
    /// Did long conditions over several leaves say anything, by their operator?
    luck: FxHashMap<Op, Luck>,
    fold: Fold,
    columns: Columns,
    /// Nodes of all expressions that were looked at.
    nodes: u64,
}

/// About how long it takes to look at a node.
const NODE_NS: u64 = 50;

impl Default for Meanings {
    fn default() -> Meanings {
        Meanings {
            known: Recent::new(MAX_KNOWN),
            luck: FxHashMap::default(),
            fold: Fold::default(),
            columns: Columns::default(),
            nodes: 0,
        }
    }
}

impl Meanings {
    pub fn of(&mut self, graph: &Graph, ranges: &mut Ranges, e: Expr) -> Arc<Meaning> {
        if let Some(known) = self.known.get(e) {
            return known.clone();
        }
        let meaning = Arc::new(self.compute(graph, ranges, e));
        self.nodes += meaning.nodes as u64;
        self.known.insert(e, meaning.clone(), 1);
        meaning
    }

    /// Nanoseconds spent so far, about.
    pub fn spent(&self) -> u64 {
        self.fold.spent + self.columns.computed() + self.nodes * NODE_NS
    }

    pub fn sweep(&mut self, alive: &Alive) {
        self.known.retain(|e| alive.has(e));
    }

    fn compute(&mut self, graph: &Graph, ranges: &mut Ranges, e: Expr) -> Meaning {
        if let Some(meaning) = comparison(graph, ranges, e) {
            return meaning;
        }
        let Inventory { leaves, tables, plain, nodes } = Inventory::of(graph, e);
        if leaves.len() > MAX_LEAVES {
            let says = Narrowing::unknown(Stop::Size);
            return Meaning::new(Vec::new(), says, Some(Stop::Size), nodes);
        }
        let leaves: Vec<u32> = leaves.into_iter().map(|leaf| ranges.number(leaf)).collect();
        let single = match leaves[..] {
            [one] if plain => Some(one),
            _ => None,
        };
        if let Some(leaf) = single
            && ranges.range(leaf).width <= MAP_WIDTH
        {
            let says = self.enumerated(graph, ranges, e, leaf, &tables);
            return Meaning::new(leaves, says, None, nodes);
        }
        // By themselves, long conditions over several leaves seldom say anything: parities never do.
        let op = graph.op(if graph.op(e) == Op::Not { graph.kid(e, 0) } else { e });
        let doubtful = leaves.len() > 1 && nodes > FEW_NODES;
        if doubtful && !self.luck.entry(op).or_default().is_promising() {
            let says = Narrowing::unknown(Stop::Several(op));
            return Meaning::new(leaves, says, Some(Stop::Several(op)), nodes);
        }
        if !self.fold.run(graph, ranges, e, &mut Anything, MAX_COST) {
            let says = Narrowing::unknown(Stop::Size);
            return Meaning::new(leaves, says, Some(Stop::Size), nodes);
        }
        let mut visits = MAX_VISITS;
        let mut says = narrow(graph, ranges, &self.fold, e, Set::truth(true), &mut visits);
        if doubtful {
            self.luck.entry(op).or_default().visited(says.never || !says.parts.is_empty());
        }
        if let Some(leaf) = single
            && !says.exact
            && ranges.range(leaf).width <= MAX_ENUMERATED
            && nodes <= MAX_ENUMERATED_NODES
        {
            says = self.enumerated(graph, ranges, e, leaf, &tables);
        }
        Meaning::new(leaves, says, self.fold.stop, nodes)
    }

    /// The values of the one leaf for which `e` is true, by trying all.
    fn enumerated(
        &mut self,
        graph: &Graph,
        ranges: &Ranges,
        e: Expr,
        leaf: u32,
        tables: &[(Expr, u64)],
    ) -> Narrowing {
        let range = ranges.range(leaf);
        let mut roots = vec![e];
        roots.extend(tables.iter().map(|(index, _)| *index));
        let plan = Plan::new(graph, &roots);
        let element = graph.width(range.base);
        let (total, mut doubtful) = (1u64 << range.width, false);
        let mut spans: Vec<Span> = Vec::new();
        for start in (0..total).step_by(LANES as usize) {
            let values: Vec<u64> = (start..total.min(start + LANES)).collect();
            let mut tile = self.columns.tile(&plan, values.len());
            if graph.is_array(range.base) {
                for i in 0..u64::from(range.width / element) {
                    let part: Vec<u64> =
                        values.iter().map(|v| v >> (i * u64::from(element)) & mask(element)).collect();
                    tile.bind(Atom::Element(range.base, range.low / u64::from(element) + i), &part);
                }
            } else {
                tile.bind(Atom::Variable(range.base), &values);
            }
            let mut keep: Vec<bool> = tile.words(0).iter().map(|truth| *truth != 0).collect();
            for (i, (_, length)) in tables.iter().enumerate() {
                for (keep, at) in keep.iter_mut().zip(tile.words(i + 1)) {
                    if at >= length {
                        doubtful = true;
                        *keep = true;
                    }
                }
            }
            for (value, _) in values.iter().zip(&keep).filter(|(_, keep)| **keep) {
                match spans.last_mut() {
                    Some(last) if last.1 + 1 == *value => last.1 = *value,
                    _ => spans.push((*value, *value)),
                }
            }
        }
        let set = Set::from_spans(range.width, spans);
        let mut says = if set.set.is_full() { Narrowing::nothing() } else { Narrowing::part(leaf, set.set) };
        if !says.never && (doubtful || !set.exact) {
            says.exact = false;
            says.stop = Some(if doubtful { Stop::Array } else { Stop::Size });
        }
        says
    }
}

/// The commonest condition, a leaf (or bits of one) against a constant, without all the machinery.
fn comparison(graph: &Graph, ranges: &mut Ranges, e: Expr) -> Option<Meaning> {
    let Comparison { op, holds, which, varies, constant, bits } = Comparison::of(graph, e)?;
    let word = if graph.op(varies) == Op::Extract { graph.kid(varies, 0) } else { varies };
    let leaf = ranges.number(range::leaf(graph, word)?);
    let shape = Shape { width: 1, operand: bits.width, low: 0 };
    let (own, other) = (Set::full(bits.width), Set::single(bits.width, constant));
    let before = backward::by_spans(op, shape, &Set::truth(holds), &own, &other, which);
    let says = if before.set.is_full() {
        Narrowing::nothing()
    } else {
        Narrowing::part(ranges.number(bits), before.set)
    };
    before.exact.then(|| Meaning::new(vec![leaf], says, None, 3))
}

/// A comparison, or its negation, of bits of a leaf with a constant.
pub struct Comparison {
    op: Op,
    holds: bool,
    /// The operand that varies, and its place.
    which: usize,
    varies: Expr,
    constant: u64,
    bits: range::Range,
}

impl Comparison {
    pub fn of(graph: &Graph, e: Expr) -> Option<Comparison> {
        let (compared, holds) = if graph.op(e) == Op::Not { (graph.kid(e, 0), false) } else { (e, true) };
        let op = graph.op(compared);
        if !matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle) {
            return None;
        }
        let (a, b) = (graph.kid(compared, 0), graph.kid(compared, 1));
        let (which, varies, constant) = match (graph.const_word(a), graph.const_word(b)) {
            (None, Some(c)) => (0, a, c),
            (Some(c), None) => (1, b, c),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some(Comparison { op, holds, which, varies, constant, bits: range::leaf_bits(graph, varies)? })
    }
}

/// What an expression is made of.
pub struct Inventory {
    /// Variables and reads of array variables at constant indices, as bits.
    pub leaves: Vec<range::Range>,
    /// Reads of tables over array variables: the index, and how many indices are inside.
    pub tables: Vec<(Expr, u64)>,
    /// There is nothing else that a value could depend on, and they are not too many.
    pub plain: bool,
    pub nodes: usize,
}

impl Inventory {
    pub fn of(graph: &Graph, e: Expr) -> Inventory {
        let mut all = Inventory { leaves: Vec::new(), tables: Vec::new(), plain: true, nodes: 0 };
        let mut seen = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            all.nodes += 1;
            let is_leaf = match graph.op(e) {
                Op::Var => true,
                Op::Read => element_range(graph, e).is_some(),
                _ => false,
            };
            if is_leaf {
                match range::leaf(graph, e) {
                    Some(leaf) => all.leaves.push(leaf),
                    None => all.plain = false,
                }
                if all.leaves.len() > MAX_LEAVES {
                    all.plain = false;
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
