//! The layer `differences`: order, equality and difference constraints between words.
//!
//! Answers: unsat if the comparisons among the constraints contain a negative cycle; sat if a solution of the
//! comparisons satisfies all constraints.
//! Why sound: a comparison is read as an integer constraint only if its own bounds or the sets of the path prove that
//! nothing wraps and that signed and unsigned order agree (`difference/translate.rs`). The reasons of the proofs are part
//! of every core. Models are evaluated on every constraint.
//! When it helps: sorting, searching, index checks: comparisons between inputs with added constants.
//! Cost: propagation of one constraint through the variables whose values it changes.
//! Source: incremental negative cycle detection (Cotton and Maler, SAT 2006); "Integers instead of bit-vectors", with
//! proofs that nothing overflows.

use super::{Layer, Rest};
use crate::difference::active_path::{ActivePath, Edges};
use crate::difference::assignment::Assignment;
use crate::difference::translate::{Translation, Translator, as_integer};
use crate::difference::unsupported::unsupported_reason;
use crate::difference::{Bound, Differences, ExternalBounds, IntegerTerm, Signedness, ZERO};
use crate::expr::eval::Evaluation;
use crate::expr::walk::element_range;
use crate::expr::{Bits, Evaluator, Expr, Graph, Model, Op};
use crate::interval::{Facts, Learner, Set};
use crate::query::{Alive, Answer, Core, Path, PathTree, Query, Reasons};
use crate::tuning::DifferencesOptions;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Sets and values of words on a path: its facts, and the model of the nearest feasible node.
struct OnPath<'a> {
    graph: &'a Graph,
    tree: &'a PathTree,
    learner: &'a mut Learner,
    model: Evaluation<'a>,
    path: Path,
    /// Sets with more reasons are not used.
    max_reasons: u64,
    /// Facts of `path`; computed on first use.
    facts: Option<Facts>,
}

impl OnPath<'_> {
    /// Switches to the sets of another path.
    fn go_to(&mut self, path: Path) {
        if self.path != path {
            (self.path, self.facts) = (path, None);
        }
    }

    /// Calls `found` with the set of a term, unless it is unrestricted or has too many reasons.
    fn with_set<T>(
        &mut self,
        e: Expr,
        found: impl FnOnce(&Set, &mut dyn FnMut() -> Reasons) -> T,
    ) -> Option<T> {
        let OnPath { graph, tree, learner, path, max_reasons, .. } = self;
        let facts = self.facts.get_or_insert_with(|| learner.facts(graph, tree, *path));
        let view = match learner.leaf_values(graph, facts, e) {
            Some(view) => view?,
            None => {
                // Folding a long expression costs more than its bounds are worth here.
                let plain = |e| is_input(graph, e) || graph.is_const(e);
                if !graph.kids(e).into_iter().all(plain) {
                    return None;
                }
                Cow::Owned(learner.values(graph, facts, e))
            }
        };
        let mut reasons = || view.reasons.flatten();
        (u64::from(view.reasons.size()) <= *max_reasons).then(|| found(&view.set, &mut reasons))
    }
}

impl ExternalBounds for OnPath<'_> {
    fn initial_value(&mut self, IntegerTerm { expr, signedness }: IntegerTerm) -> i128 {
        as_integer(self.graph.width(expr), self.model.word(expr), signedness)
    }

    fn bounds(&mut self, IntegerTerm { expr, signedness }: IntegerTerm) -> Option<(i128, i128)> {
        self.with_set(expr, |set, _| match signedness {
            Signedness::Signed => set.signed_bounds(),
            Signedness::Unsigned => set.min().zip(set.max()).map(|(l, g)| (l.into(), g.into())),
        })?
    }

    fn reasons(&mut self, word: IntegerTerm) -> Reasons {
        self.with_set(word.expr, |_, reasons| reasons()).expect("a set that was used")
    }
}

/// A disequality replaced by one of the two strict orders: state to backtrack to, and the other order.
struct Choice {
    assumed: usize,
    moves: usize,
    other: Bound,
}

#[derive(Default)]
pub struct DifferenceLayer {
    options: DifferencesOptions,
    active_path: ActivePath,
    assignment: Assignment,
    /// Edges of the current query, on top of those of the path.
    assumed: Vec<u32>,
    /// For candidates; the shared one is in use for the path model.
    evaluator: Evaluator,
    passed: FxHashMap<&'static str, u64>,
    /// Number of sets that the bounds made smaller.
    tightened: u64,
}

impl DifferenceLayer {
    pub fn new(options: DifferencesOptions) -> DifferenceLayer {
        DifferenceLayer { options, ..DifferenceLayer::default() }
    }

    /// Makes `line` the edges of the path. For nodes below the one that has the model, changes the numbers so that they
    /// satisfy the edges.
    ///
    /// # Errors
    /// The reasons of a contradiction.
    fn follow(&mut self, path: Path, modelled: u32, on: &mut OnPath<'_>) -> Result<(), Reasons> {
        let missing = self.active_path.backtrack_to(on.tree, path, modelled);
        // The sets of nodes below that node may exclude the numbers.
        self.assignment.within_external_bounds = false;
        for node in missing.into_iter().rev() {
            on.go_to(node);
            let satisfied = on.tree.depth(node) <= modelled;
            let numbers = (!satisfied).then_some(&mut self.assignment);
            match self.active_path.enter_known(node, numbers, on) {
                Some(done) => done?,
                None => self.learn(node, satisfied, on)?,
            }
        }
        on.go_to(path);
        if on.tree.depth(path) > modelled {
            self.obey_sets(on)?;
        }
        self.assignment.within_external_bounds = true;
        Ok(())
    }

    /// Changes the numbers so that they are in the sets of their words.
    fn obey_sets(&mut self, on: &mut OnPath<'_>) -> Result<(), Reasons> {
        for at in 0..self.active_path.domain.present().len() {
            let v = self.active_path.domain.present()[at];
            let word = self.active_path.domain.term(v);
            let Some((least, greatest)) = on.bounds(word) else { continue };
            let value = self.assignment.value(&self.active_path.domain, v, on);
            if value < least {
                self.assume(Bound { x: ZERO, y: v, c: -least, reasons: on.reasons(word) }, on)?;
            }
            if value > greatest {
                self.assume(Bound { x: v, y: ZERO, c: greatest, reasons: on.reasons(word) }, on)?;
            }
        }
        Ok(())
    }

    /// Adds the edges of a node's constraint, and intersects sets with the bounds that follow.
    fn learn(&mut self, node: Path, satisfied: bool, on: &mut OnPath<'_>) -> Result<(), Reasons> {
        let constraint = on.tree.constraint(node);
        let domain = &mut self.active_path.domain;
        let mut edges = Edges::new();
        if let Translation::Bounds(bounds) = read(domain, on, constraint, constraint) {
            let mut about: SmallVec<[u32; 4]> = SmallVec::new();
            for bound in bounds {
                about.extend([bound.x, bound.y]);
                let added = if satisfied {
                    Ok(domain.add(bound))
                } else {
                    domain.assume(bound, &mut self.assignment, on)
                };
                match added {
                    Ok(edge) => edges.extend(edge),
                    Err(reasons) => {
                        domain.retract(edges.into_iter());
                        return Err(reasons);
                    }
                }
            }
            for v in domain.propagate_bounds(about, &mut edges) {
                self.tightened += u64::from(tighten(domain, on, v));
            }
        }
        self.active_path.enter(on.tree, node, edges);
        Ok(())
    }

    /// Decides the query.
    ///
    /// # Errors
    /// The reason for passing it on.
    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, &'static str> {
        let (graph, tree): (&Graph, &PathTree) = (rest.graph, rest.tree);
        let modelled = tree.feasible_ancestor(query.path);
        let start = tree.model(modelled).cloned().expect("a feasible node has a model");
        let mut model = rest.evaluator.under(graph, &start);
        if modelled == query.path && model.truth(query.condition) {
            return Ok(Answer::Sat(start));
        }
        let constraints = query.constraints(tree);
        let mut on = OnPath {
            graph,
            tree,
            learner: rest.learner,
            model,
            path: query.path,
            max_reasons: self.options.reasons,
            facts: None,
        };
        self.assignment.restart();
        let answer = match self.follow(query.path, tree.depth(modelled), &mut on) {
            Ok(()) => self.settle(query, &constraints, &start, modelled == query.path, &mut on),
            Err(reasons) => unsat(query, &constraints, &reasons),
        };
        self.retract(0);
        answer
    }

    fn settle(
        &mut self,
        query: &Query,
        constraints: &[Expr],
        start: &Model,
        has_model: bool,
        on: &mut OnPath<'_>,
    ) -> Result<Answer, &'static str> {
        let graph = on.graph;
        let mut differ = Vec::new();
        for conjunct in conjuncts(graph, query.condition) {
            let reading = read(&mut self.active_path.domain, on, conjunct, query.condition);
            let settable = is_about_inputs(graph, &self.active_path.domain, &reading);
            match reading {
                Translation::Bounds(bounds) => {
                    for bound in bounds {
                        if let Err(reasons) = self.assume(bound, on) {
                            return unsat(query, constraints, &reasons);
                        }
                    }
                }
                Translation::Disequality(less, greater) => differ.push((conjunct, less, greater)),
                Translation::Unsupported => return Err(unsupported_reason(graph, conjunct, constraints)),
            }
            // A number for an expression says nothing about the values of its inputs.
            let domain = &self.active_path.domain;
            let moves_input = |v| v == ZERO || is_input(graph, domain.term(v).expr);
            if !settable && has_model && !self.assignment.moved().any(moves_input) {
                return Err(unsupported_reason(graph, conjunct, constraints));
            }
        }
        let mut choices: Vec<Choice> = Vec::new();
        let mut settled: FxHashSet<Expr> = FxHashSet::default();
        for _ in 0..=self.options.choices {
            let model = assignment(&self.active_path.domain, start, &mut self.assignment, on);
            let mut session = self.evaluator.under(graph, &model);
            let violated = constraints.iter().chain([&query.condition]).copied().find(|e| !session.truth(*e));
            let Some(violated) = violated else { return Ok(Answer::Sat(model)) };
            let at = if violated == query.condition {
                let at = differ.iter().find(|(conjunct, _, _)| !session.truth(*conjunct));
                at.map(|(conjunct, less, greater)| (*conjunct, less.clone(), greater.clone()))
            } else {
                let reading = read(&mut self.active_path.domain, on, violated, violated);
                match reading {
                    _ if !is_about_inputs(graph, &self.active_path.domain, &reading) => None,
                    Translation::Disequality(less, greater) => Some((violated, less, greater)),
                    Translation::Bounds(_) | Translation::Unsupported => None,
                }
            };
            // A constraint that is still violated after its choice involves more than these numbers.
            let Some((_, less, other)) = at.filter(|(literal, _, _)| settled.insert(*literal)) else {
                return Err(unsupported_reason(graph, violated, constraints));
            };
            let before = choices.len();
            choices.push(Choice { assumed: self.assumed.len(), moves: self.assignment.moves(), other });
            if let Err(reasons) = self.assume(less, on) {
                if let Err(reasons) = self.backtrack(&mut choices, reasons, on) {
                    return unsat(query, constraints, &reasons);
                }
                if choices.len() < before {
                    settled.clear();
                }
            }
        }
        Err("disequalities")
    }

    /// Backtracks to the last choice whose other order is consistent, given that `reasons` refute the current one. Those
    /// reasons imply the other order.
    ///
    /// # Errors
    /// The reasons of the contradiction, if no choice is left.
    fn backtrack(
        &mut self,
        choices: &mut Vec<Choice>,
        mut reasons: Reasons,
        on: &mut OnPath<'_>,
    ) -> Result<(), Reasons> {
        while let Some(Choice { assumed, moves, mut other }) = choices.pop() {
            self.retract(assumed);
            self.assignment.undo_to(moves);
            other.reasons = other.reasons.union(&reasons);
            match self.assume(other, on) {
                Ok(()) => return Ok(()),
                Err(both) => reasons = both,
            }
        }
        Err(reasons)
    }

    fn assume(&mut self, bound: Bound, on: &mut OnPath<'_>) -> Result<(), Reasons> {
        self.assumed.extend(self.active_path.domain.assume(bound, &mut self.assignment, on)?);
        Ok(())
    }

    /// Removes the edges assumed after the first `assumed` ones.
    fn retract(&mut self, assumed: usize) {
        self.active_path.domain.retract(self.assumed.drain(assumed..));
    }
}

fn read(domain: &mut Differences, on: &mut OnPath<'_>, e: Expr, because: Expr) -> Translation {
    Translator { graph: on.graph, known: domain, external: on }.literal(e, because)
}

fn is_about_inputs(graph: &Graph, domain: &Differences, reading: &Translation) -> bool {
    let bounds = match reading {
        Translation::Bounds(bounds) => &bounds[..],
        Translation::Disequality(less, _) => std::slice::from_ref(less),
        Translation::Unsupported => &[],
    };
    let mut variables = bounds.iter().flat_map(|bound| [bound.x, bound.y]).filter(|v| *v != ZERO);
    variables.all(|v| is_input(graph, domain.term(v).expr))
}

/// Is the term an input, so that its value can be chosen?
fn is_input(graph: &Graph, e: Expr) -> bool {
    match graph.op(e) {
        Op::Var => true,
        Op::Read => element_range(graph, e).is_some(),
        _ => false,
    }
}

/// Intersects the path's set of a variable's word with its bounds. True if the set became smaller.
fn tighten(domain: &Differences, on: &mut OnPath<'_>, v: u32) -> bool {
    let term = domain.term(v).expr;
    let ((least, because_least), (greatest, because_greatest)) = (domain.least(v), domain.greatest(v));
    let set = Set::from_integers(on.graph.width(term), least, greatest);
    // `note` requires that the facts of the path exist.
    on.learner.facts(on.graph, on.tree, on.path);
    let news = on.learner.add_fact(on.graph, on.path, term, &set, &because_least.union(because_greatest));
    if news {
        on.facts = None;
    }
    news
}

/// The model `start` with the changed numbers as values of their inputs.
fn assignment(domain: &Differences, start: &Model, numbers: &mut Assignment, on: &mut OnPath<'_>) -> Model {
    let graph = on.graph;
    let mut model = start.clone();
    // If zero has moved, so has every variable connected with one that moved.
    let moved: Vec<u32> = if numbers.moved().any(|v| v == ZERO) {
        domain.connected(numbers.moved())
    } else {
        numbers.moved().collect()
    };
    for v in moved {
        let term = domain.term(v).expr;
        let bits = Bits::word(graph.width(term), numbers.value(domain, v, on) as u64);
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

/// The unsat answer with these reasons as core.
///
/// # Errors
/// One of the reasons is not a constraint of the query.
fn unsat(query: &Query, constraints: &[Expr], reasons: &Reasons) -> Result<Answer, &'static str> {
    let mut condition = false;
    let mut used = Vec::new();
    for &e in reasons.as_slice() {
        if constraints.contains(&e) {
            used.push(e);
        } else if e == query.condition {
            condition = true;
        } else {
            return Err("another-component");
        }
    }
    Ok(Answer::Unsat(Core { constraints: used.into_iter().collect(), condition }))
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
                rest.check(query).answer
            }
        }
    }

    /// Variables represent expressions, some of which only this layer refers to.
    fn sweep(&mut self, _alive: &Alive<'_>) {
        self.forget();
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        self.active_path.drop_paths(gone);
    }

    fn forget(&mut self) {
        (self.active_path, self.assignment) = Default::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let mut all: Vec<_> =
            self.passed.iter().map(|(why, n)| (format!("passed_{why}"), *n as f64)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.push(("tightened".to_string(), self.tightened as f64));
        all
    }
}
