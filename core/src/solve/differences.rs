//! The layer `differences`: order, equality and difference constraints between words.
//!
//! Answers: unsat when the comparisons among the constraints contain a negative cycle, sat when numbers that
//! satisfy the comparisons satisfy everything.
//! Why sound: a comparison is read as an integer constraint only where bounds, its own or those of the sets of the
//! path, prove that nothing wraps and no view is mixed up (`difference/read.rs`), and the reasons of those proofs are
//! part of every core; a model is evaluated on every constraint before it is given out.
//! When it helps: sorting, searching, index checks: comparisons between inputs, with constants added.
//! Cost: pushing one constraint through the variables it moves.
//! Source: "Integers instead of bit-vectors", with overflow taken seriously.

use super::{Layer, Rest};
use crate::difference::read::{Bound, Reader, Reading, Sets, View, as_integer, range, term_of, variable};
use crate::difference::why::why_not;
use crate::difference::{Differences, Potentials, ZERO};
use crate::expr::walk::element_range;
use crate::expr::{Bits, Evaluator, Expr, Graph, Model, Op};
use crate::interval::{Facts, Learner, Set};
use crate::persist::Map;
use crate::query::{Alive, Answer, Core, Path, PathTree, Query, Reasons};
use rustc_hash::{FxHashMap, FxHashSet};

/// How often a violated disequality is settled by an order before giving up.
const MAX_CHOICES: usize = 64;
/// Of nodes learnt on the way to one that is asked about, one in so many is kept for others that branch off there.
const KEPT: usize = 8;
/// Sets that follow from more constraints than this are not taken over: long cores cost more than they tell.
const MAX_REASONS: u32 = 64;

/// What the comparisons of a path say.
#[derive(Clone, Default)]
struct Known {
    domain: Differences,
    /// Numbers that satisfy them, for paths that have no model yet.
    potentials: Map<i128>,
    /// The comparisons contradict each other, for these reasons.
    conflict: Option<Reasons>,
}

/// The sets that a path's constraints leave terms.
struct PathSets<'a> {
    graph: &'a Graph,
    learner: &'a mut Learner,
    facts: &'a Facts,
}

impl Sets for PathSets<'_> {
    fn bounds(&mut self, e: Expr, view: View) -> (i128, i128) {
        // Folding a long expression takes longer than its bounds are worth here.
        let plain = |e| is_input(self.graph, e) || self.graph.is_const(e);
        if !plain(e) && !self.graph.kids(e).into_iter().all(plain) {
            return range(self.graph.width(e), view);
        }
        let found = self.learner.values(self.graph, self.facts, e);
        let bounds = match view {
            _ if found.because.size() > MAX_REASONS => None,
            View::Signed => found.set.signed_bounds(),
            View::Unsigned => found.set.min().zip(found.set.max()).map(|(l, g)| (l.into(), g.into())),
        };
        bounds.unwrap_or_else(|| range(self.graph.width(e), view))
    }

    fn reasons(&mut self, e: Expr) -> Reasons {
        self.learner.values(self.graph, self.facts, e).because.reasons()
    }
}

/// A disequality settled one way for now: what was known before, and the other way.
struct Choice {
    domain: Differences,
    moved: FxHashMap<u32, i128>,
    other: Bound,
}

#[derive(Default)]
pub struct DifferenceLayer {
    nodes: FxHashMap<u32, Known>,
    /// For candidates, beside the one that reads the path's model.
    evaluator: Evaluator,
    passed: FxHashMap<&'static str, u64>,
    /// Sets that became smaller.
    tightened: u64,
}

impl DifferenceLayer {
    pub fn new() -> DifferenceLayer {
        DifferenceLayer::default()
    }

    fn known(&mut self, graph: &Graph, tree: &PathTree, learner: &mut Learner, path: Path) -> Known {
        let mut missing = Vec::new();
        let mut known = Known::default();
        for node in tree.upwards(path) {
            if let Some(found) = self.nodes.get(&node.id()) {
                known = found.clone();
                break;
            }
            missing.push(node);
        }
        for (left, node) in missing.into_iter().enumerate().rev() {
            let facts = learner.facts(graph, tree, node);
            let mut sets = PathSets { graph, learner, facts: &facts };
            for v in learn(graph, &mut known, &mut sets, tree.constraint(node)) {
                self.tightened += u64::from(tell(graph, &known.domain, learner, node, v));
            }
            // What nobody shares is changed in place, which is several times quicker.
            if left % KEPT == 0 {
                self.nodes.insert(node.id(), known.clone());
            }
        }
        known
    }

    /// Tries to settle the query; `Err` names why it cannot.
    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, &'static str> {
        let known = self.known(rest.graph, rest.tree, rest.learner, query.path);
        let constraints = query.constraints(rest.tree);
        let unsat = |reasons: &Reasons| core(query, &constraints, reasons).ok_or("another-component");
        if let Some(reasons) = &known.conflict {
            return unsat(reasons);
        }
        let graph: &Graph = rest.graph;
        let facts = rest.learner.facts(graph, rest.tree, query.path);
        let mut sets = PathSets { graph, learner: rest.learner, facts: &facts };
        let model = rest.tree.model(query.path).cloned();
        let has_model = model.is_some();
        let start = model.unwrap_or_default();
        let mut session = rest.evaluator.under(graph, &start);
        if has_model && session.truth(query.condition) {
            return Ok(Answer::Sat(start));
        }
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
            let read = Read::literal(graph, &domain, &mut sets, conjunct, query.condition);
            let Some(mut read) = read else { return Err(why_not(graph, conjunct, &constraints)) };
            let settable = read.is_about_inputs(graph);
            if let Err(reasons) = add(&mut domain, read.bounds.drain(..), &mut potentials) {
                return unsat(&reasons);
            }
            // No number that an expression is given here makes its inputs agree.
            let moved = |v: &u32| *v == ZERO || is_input(graph, graph.at_slot(term_of(*v).0));
            if !settable && has_model && !potentials.changed().keys().any(moved) {
                return Err(why_not(graph, conjunct, &constraints));
            }
            if let Some((less, greater)) = read.orders {
                differ.push((conjunct, less, greater));
            }
        }
        let mut choices: Vec<Choice> = Vec::new();
        let mut settled: FxHashSet<Expr> = FxHashSet::default();
        for _ in 0..=MAX_CHOICES {
            let model = assignment(graph, &domain, &constraints, query.condition, &start, &mut potentials);
            let mut session = self.evaluator.under(graph, &model);
            let violated = constraints.iter().chain([&query.condition]).copied().find(|e| !session.truth(*e));
            let Some(violated) = violated else { return Ok(Answer::Sat(model)) };
            let at = if violated == query.condition {
                let at = differ.iter().find(|(conjunct, _, _)| !session.truth(*conjunct));
                at.map(|(conjunct, less, greater)| (*conjunct, (less.clone(), greater.clone())))
            } else {
                let read = Read::literal(graph, &domain, &mut sets, violated, violated);
                read.filter(|read| read.is_about_inputs(graph))
                    .and_then(|read| Some((violated, read.orders?)))
            };
            // What was settled and still is violated is about more than the numbers here.
            let Some((_, (less, other))) = at.filter(|(literal, _)| settled.insert(*literal)) else {
                return Err(why_not(graph, violated, &constraints));
            };
            let choice = Choice { domain: domain.clone(), moved: potentials.changed().clone(), other };
            let refuted = add(&mut domain, [less], &mut potentials).err();
            let before = choices.len();
            choices.push(choice);
            if let Some(reasons) = refuted {
                if let Err(reasons) = turn(&mut choices, &mut domain, &mut potentials, reasons) {
                    return unsat(&reasons);
                }
                if choices.len() < before {
                    settled.clear();
                }
            }
        }
        Err("disequalities")
    }
}

/// Goes back to the last choice that can still be made otherwise, now that `reasons` refute what was chosen: they
/// imply the other way, unless they are enough to refute everything.
fn turn<F: FnMut(u32) -> i128>(
    choices: &mut Vec<Choice>,
    domain: &mut Differences,
    potentials: &mut Potentials<F>,
    mut reasons: Reasons,
) -> Result<(), Reasons> {
    while let Some(choice) = choices.pop() {
        *domain = choice.domain;
        potentials.move_to(choice.moved);
        let mut other = choice.other;
        other.reasons = other.reasons.union(&reasons);
        match add(domain, [other], potentials) {
            Ok(()) => return Ok(()),
            Err(both) => reasons = both,
        }
    }
    Err(reasons)
}

/// A literal as what to add to the domain.
struct Read {
    /// What it says, with what is known of its terms.
    bounds: Vec<Bound>,
    /// A disequality's two orders.
    orders: Option<(Bound, Bound)>,
}

impl Read {
    fn literal(
        graph: &Graph,
        domain: &Differences,
        sets: &mut PathSets<'_>,
        e: Expr,
        because: Expr,
    ) -> Option<Read> {
        let mut reader = Reader::new(graph, domain, sets);
        let reading = reader.literal(e, because);
        let fresh = std::mem::take(&mut reader.fresh);
        let (said, orders) = match reading {
            Reading::Bounds(said) => (said, None),
            Reading::Differ(less, greater) => (Vec::new(), Some((less, greater))),
            Reading::Other => return None,
        };
        let mut about: Vec<u32> = Vec::new();
        for bound in said.iter().chain(orders.iter().map(|(less, _)| less)) {
            about.extend([bound.x, bound.y].into_iter().filter(|v| *v != ZERO));
        }
        about.dedup();
        let mut bounds: Vec<Bound> = width_bounds(graph, &fresh).collect();
        bounds.extend(about.into_iter().flat_map(|v| set_bounds(graph, domain, sets, v)));
        bounds.extend(said);
        Some(Read { bounds, orders })
    }

    fn is_about_inputs(&self, graph: &Graph) -> bool {
        let bounds = self.bounds.iter().chain(self.orders.iter().map(|(less, _)| less));
        let mut variables = bounds.flat_map(|bound| [bound.x, bound.y]).filter(|v| *v != ZERO);
        variables.all(|v| is_input(graph, graph.at_slot(term_of(v).0)))
    }
}

/// Can the value of a term be chosen?
fn is_input(graph: &Graph, e: Expr) -> bool {
    match graph.op(e) {
        Op::Var => true,
        Op::Read => element_range(graph, e).is_some(),
        _ => false,
    }
}

/// Learns a constraint; gives the variables that have tighter bounds by it.
fn learn(graph: &Graph, known: &mut Known, sets: &mut PathSets<'_>, constraint: Expr) -> Vec<u32> {
    if known.conflict.is_some() {
        return Vec::new();
    }
    // The words of a disequality become known, so that it can be settled when it is violated.
    let Some(read) = Read::literal(graph, &known.domain, sets, constraint, constraint) else {
        return Vec::new();
    };
    let about: Vec<u32> = read.bounds.iter().flat_map(|bound| [bound.x, bound.y]).collect();
    let stored = known.potentials.clone();
    let mut potentials = Potentials::new(|v| stored.get(v).copied().unwrap_or(0));
    match add(&mut known.domain, read.bounds, &mut potentials) {
        Ok(()) => {
            for (&v, &value) in potentials.changed() {
                known.potentials.insert(v, value);
            }
            known.domain.spread(&about)
        }
        Err(reasons) => {
            known.conflict = Some(reasons);
            Vec::new()
        }
    }
}

/// Gives the sets of a path the bounds of a variable. True if they did not know.
fn tell(graph: &Graph, domain: &Differences, learner: &mut Learner, path: Path, v: u32) -> bool {
    let (slot, view) = term_of(v);
    let e = graph.at_slot(slot);
    let width = graph.width(e);
    let (least, greatest) = range(width, view);
    let bounds = domain.bounds(v);
    let (least, because_least) = bounds.0.map_or((least, Reasons::None), |(v, r)| (v, r.clone()));
    let (greatest, because_greatest) = bounds.1.map_or((greatest, Reasons::None), |(v, r)| (v, r.clone()));
    let set = Set::from_integers(width, least, greatest);
    learner.note(graph, path, e, &set, &because_least.union(&because_greatest))
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

/// What the sets say of a variable beyond the domain.
fn set_bounds(graph: &Graph, domain: &Differences, sets: &mut PathSets<'_>, v: u32) -> Vec<Bound> {
    let (slot, view) = term_of(v);
    let e = graph.at_slot(slot);
    let (least, greatest) = sets.bounds(e, view);
    let ends = range(graph.width(e), view);
    let (own_least, own_greatest) = domain.bounds(v);
    let mut found = Vec::new();
    if least > own_least.map_or(ends.0, |(known, _)| known) {
        found.push(Bound { x: ZERO, y: v, c: -least, reasons: sets.reasons(e) });
    }
    if greatest < own_greatest.map_or(ends.1, |(known, _)| known) {
        found.push(Bound { x: v, y: ZERO, c: greatest, reasons: sets.reasons(e) });
    }
    found
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
        all.push(("tightened".to_string(), self.tightened as f64));
        all
    }
}
