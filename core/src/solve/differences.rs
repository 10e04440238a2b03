//! The layer `differences`: order, equality and difference constraints between words.
//!
//! Answers: unsat when the comparisons among the constraints contain a negative cycle, sat when numbers that
//! satisfy the comparisons satisfy everything.
//! Why sound: a comparison is read as an integer constraint only where bounds prove that nothing wraps and no view
//! is mixed up (`difference/read.rs`), and the reasons of those proofs are part of every core; a model is evaluated
//! on every constraint before it is given out.
//! When it helps: sorting, searching, index checks: comparisons between inputs, with constants added.
//! Cost: pushing one constraint through the variables it moves.
//! Source: "Integers instead of bit-vectors", with overflow taken seriously.

use super::{Layer, Rest};
use crate::difference::read::{Bound, Reader, Reading, View, as_integer, range, term_of, variable};
use crate::difference::{Differences, Potentials, ZERO};
use crate::expr::walk::element_range;
use crate::expr::{Bits, Evaluator, Expr, Graph, Model, Op};
use crate::persist::Map;
use crate::query::{Alive, Answer, Core, Path, PathTree, Query, Reasons};
use rustc_hash::{FxHashMap, FxHashSet};

/// How often a violated disequality is settled by an order before giving up.
const MAX_CHOICES: usize = 24;

/// What the comparisons of a path say.
#[derive(Clone, Default)]
struct Known {
    domain: Differences,
    /// Numbers that satisfy them, for paths that have no model yet.
    potentials: Map<i128>,
    /// The comparisons contradict each other, for these reasons.
    conflict: Option<Reasons>,
}

#[derive(Default)]
pub struct DifferenceLayer {
    nodes: FxHashMap<u32, Known>,
    passed: FxHashMap<&'static str, u64>,
}

impl DifferenceLayer {
    pub fn new() -> DifferenceLayer {
        DifferenceLayer::default()
    }

    fn known(&mut self, graph: &Graph, tree: &PathTree, path: Path) -> Known {
        let mut missing = Vec::new();
        let mut known = Known::default();
        for node in tree.upwards(path) {
            if let Some(found) = self.nodes.get(&node.id()) {
                known = found.clone();
                break;
            }
            missing.push(node);
        }
        for node in missing.into_iter().rev() {
            learn(graph, &mut known, tree.constraint(node));
            self.nodes.insert(node.id(), known.clone());
        }
        known
    }

    /// Tries to settle the query; `Err` names why it cannot.
    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, &'static str> {
        let known = self.known(rest.graph, rest.tree, query.path);
        let constraints = query.constraints(rest.tree);
        let unsat = |reasons: &Reasons| core(query, &constraints, reasons).ok_or("another-component");
        if let Some(reasons) = &known.conflict {
            return unsat(reasons);
        }
        let graph: &Graph = rest.graph;
        let model = rest.tree.model(query.path).cloned();
        let has_model = model.is_some();
        let start = model.unwrap_or_default();
        let mut session = rest.evaluator.under(graph, &start);
        // A feasible node's own model satisfies every comparison of its path, and little needs to move.
        let mut potentials = Potentials::new(|v| match v {
            _ if !has_model => known.potentials.get(v).copied().unwrap_or(0),
            ZERO => 0,
            _ => {
                let (slot, view) = term_of(v);
                let term = graph.at_slot(slot);
                as_integer(graph.width(term), session.word(term), view)
            }
        });
        let mut domain = known.domain.clone();
        let mut differ = Vec::new();
        for conjunct in conjuncts(graph, query.condition) {
            let mut reader = Reader::new(graph, &domain);
            let reading = reader.literal(conjunct, query.condition);
            let fresh = reader.fresh;
            let bounds = match reading {
                Reading::Bounds(bounds) => bounds,
                Reading::Differ(less, greater) => {
                    differ.push((conjunct, less, greater));
                    Vec::new()
                }
                Reading::Other => return Err(reason(graph, conjunct)),
            };
            if let Err(reasons) = add(&mut domain, width_bounds(graph, &fresh).chain(bounds), &mut potentials)
            {
                return unsat(&reasons);
            }
        }
        let mut checker = Evaluator::new();
        for choice in 0..=MAX_CHOICES {
            let model = assignment(graph, &domain, &constraints, query.condition, &start, &mut potentials);
            let mut session = checker.under(graph, &model);
            let violated = constraints.iter().chain([&query.condition]).copied().find(|e| !session.truth(*e));
            let Some(violated) = violated else { return Ok(Answer::Sat(model)) };
            let orders = if violated == query.condition {
                let at = differ.iter().find(|(conjunct, _, _)| !session.truth(*conjunct));
                at.map(|(_, less, greater)| (less.clone(), greater.clone()))
            } else {
                two_orders(graph, &domain, violated)
            };
            let Some((less, greater)) = orders else { return Err(reason(graph, violated)) };
            let Err(first) = add(&mut domain, [less], &mut potentials) else { continue };
            let Err(second) = add(&mut domain, [greater], &mut potentials) else { continue };
            // Neither order fits. If no order was chosen before, nothing can help.
            return if choice == 0 { unsat(&first.union(&second)) } else { Err("disequalities") };
        }
        Err("disequalities")
    }
}

fn learn(graph: &Graph, known: &mut Known, constraint: Expr) {
    if known.conflict.is_some() {
        return;
    }
    let mut reader = Reader::new(graph, &known.domain);
    let reading = reader.literal(constraint, constraint);
    let fresh = reader.fresh;
    let bounds = match reading {
        Reading::Bounds(bounds) => bounds,
        // Its words become known, so that it can be settled when it is violated.
        Reading::Differ(..) => Vec::new(),
        Reading::Other => return,
    };
    let stored = known.potentials.clone();
    let mut potentials = Potentials::new(|v| stored.get(v).copied().unwrap_or(0));
    match add(&mut known.domain, width_bounds(graph, &fresh).chain(bounds), &mut potentials) {
        Ok(()) => {
            for (&v, &value) in potentials.changed() {
                known.potentials.insert(v, value);
            }
        }
        Err(reasons) => known.conflict = Some(reasons),
    }
}

fn add<F: FnMut(u32) -> i128>(
    domain: &mut Differences,
    bounds: impl IntoIterator<Item = Bound>,
    potentials: &mut Potentials<F>,
) -> Result<(), Reasons> {
    bounds.into_iter().try_for_each(|Bound { x, y, c, reasons }| domain.add(x, y, c, &reasons, potentials))
}

/// What their width says of new variables.
fn width_bounds<'a>(graph: &'a Graph, fresh: &'a [(Expr, View)]) -> impl Iterator<Item = Bound> + 'a {
    fresh.iter().flat_map(|&(term, view)| {
        let (least, greatest) = range(graph.width(term), view);
        let x = variable(term, view);
        let bound = |x, y, c| Bound { x, y, c, reasons: Reasons::None };
        [bound(x, ZERO, greatest), bound(ZERO, x, -least)]
    })
}

/// The two orders of a disequality of the path.
fn two_orders(graph: &Graph, domain: &Differences, violated: Expr) -> Option<(Bound, Bound)> {
    let mut reader = Reader::new(graph, domain);
    match reader.literal(violated, violated) {
        Reading::Differ(less, greater) if reader.fresh.is_empty() => Some((less, greater)),
        Reading::Differ(..) | Reading::Bounds(_) | Reading::Other => None,
    }
}

/// The model in which each input that is a variable has its number, and everything else is as in `start`.
fn assignment<F: FnMut(u32) -> i128>(
    graph: &Graph,
    domain: &Differences,
    constraints: &[Expr],
    condition: Expr,
    start: &Model,
    potentials: &mut Potentials<F>,
) -> Model {
    let mut model = start.clone();
    // When zero has moved, so has everything else; then (or with no model to keep to) all words are set.
    let moved: FxHashSet<u32> = if start.is_empty() || potentials.changed().contains_key(&ZERO) {
        words_of(graph, domain, constraints, condition)
    } else {
        potentials.changed().keys().copied().filter(|v| *v != ZERO).collect()
    };
    for v in moved {
        let term = graph.at_slot(term_of(v).0);
        let bits = Bits::word(graph.width(term), potentials.value(v) as u64);
        match graph.op(term) {
            Op::Var => model.set_bits(term, bits),
            Op::Read => {
                let Some((array, first, count)) = element_range(graph, term) else { continue };
                let element = graph.width(array);
                for i in 0..count {
                    let index = Bits::word(graph.width(graph.kid(term, 1)), first + i);
                    model.set_element(graph, array, &index, bits.extract(i * u64::from(element), element));
                }
            }
            _ => {}
        }
    }
    model
}

/// The variables among the inputs that the constraints mention.
fn words_of(graph: &Graph, domain: &Differences, constraints: &[Expr], condition: Expr) -> FxHashSet<u32> {
    let mut words = FxHashSet::default();
    let mut roots = constraints.to_vec();
    roots.push(condition);
    graph.post_order(&roots, |e| {
        if matches!(graph.op(e), Op::Var | Op::Read) && !graph.is_array(e) {
            let views = [View::Unsigned, View::Signed].map(|view| variable(e, view));
            words.extend(views.into_iter().find(|v| domain.knows(*v)));
        }
    });
    words
}

fn conjuncts(graph: &Graph, condition: Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    let mut stack = vec![condition];
    while let Some(e) = stack.pop() {
        if graph.op(e) == Op::And {
            stack.extend([graph.kid(e, 1), graph.kid(e, 0)]);
        } else if !graph.is_true(e) {
            all.push(e);
        }
    }
    all
}

/// The core that the reasons make, unless one of them is not a constraint of the query.
fn core(query: &Query, constraints: &[Expr], reasons: &Reasons) -> Option<Answer> {
    let mut condition = false;
    let mut used = Vec::new();
    for &e in reasons.as_slice() {
        if constraints.contains(&e) {
            used.push(e);
        } else if e == query.condition {
            condition = true;
        } else {
            return None;
        }
    }
    Some(Answer::Unsat(Core { constraints: used.into_iter().collect(), condition }))
}

/// Why an expression is not a matter of differences: the operator nearest its root.
fn reason(graph: &Graph, e: Expr) -> &'static str {
    let mut queue = std::collections::VecDeque::from([e]);
    let mut seen = 0;
    while let Some(e) = queue.pop_front() {
        seen += 1;
        if seen > 1000 {
            break;
        }
        match graph.op(e) {
            Op::And | Op::Or | Op::Xor | Op::Not if !graph.is_bool(e) => return "bitwise",
            Op::Or | Op::Xor | Op::Ite => return "boolean",
            Op::Extract | Op::Concat => return "extract",
            Op::Shl | Op::LShr | Op::AShr => return "shift",
            Op::Mul | Op::UDiv | Op::URem | Op::SDiv | Op::SRem => return "non-linear",
            Op::Add | Op::Sub => return "may-wrap",
            Op::Table | Op::ConstArray | Op::Store => return "array",
            Op::SExt | Op::ZExt => return "type-mismatch",
            Op::Read if element_range(graph, e).is_none() => return "array",
            Op::Const | Op::Var | Op::Read => {}
            Op::And | Op::Not | Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => queue.extend(graph.kids(e)),
        }
    }
    "view"
}

impl Layer for DifferenceLayer {
    fn name(&self) -> &str {
        "differences"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        match self.decide(query, rest) {
            Ok(answer) => answer,
            Err(why) => {
                *self.passed.entry(why).or_insert(0) += 1;
                rest.check(query)
            }
        }
    }

    /// Numbers of variables are slots of expressions, some of which only this layer named.
    fn sweep(&mut self, _alive: &Alive<'_>) {
        self.forget();
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        for id in gone {
            self.nodes.remove(id);
        }
    }

    fn forget(&mut self) {
        self.nodes = FxHashMap::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let mut all: Vec<_> =
            self.passed.iter().map(|(why, n)| (format!("passed_{why}"), *n as f64)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}
