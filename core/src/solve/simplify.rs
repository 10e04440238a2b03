//! The layer `simplify`: rewrites the condition with what the path already says.
//!
//! Answers: conditions that the path's own constraints, or equalities with constants among them, make true or
//! false outright; everything on a path already known to be infeasible.
//! Why sound: a replacement is an equality that is a constraint of the path; the constraints behind every
//! replacement used join the core. The path itself is never changed.
//! When it helps: branches repeated along a path, values pinned by an earlier comparison.
//! Cost: one walk over the condition; facts are derived from the parent node's by one constraint.

use super::{Layer, Rest};
use crate::expr::walk::element_range;
use crate::expr::{Expr, Graph, Op};
use crate::persist::Map;
use crate::query::{Alive, Answer, Core, Path, PathTree, Query, Reasons, Status};
use rustc_hash::FxHashMap;

/// Conditions with more nodes than this are passed on as they are.
const MAX_NODES: usize = 4096;

/// What a path says outright, by expression: the expression it equals, and the constraint that says so.
type Facts = Map<(Expr, Expr)>;

#[derive(Default)]
pub struct Simplify {
    facts: FxHashMap<u32, Facts>,
    rewritten: u64,
}

impl Simplify {
    pub fn new() -> Simplify {
        Simplify::default()
    }

    /// The facts of a path: from the nearest node above that has them, one constraint at a time.
    fn facts(&mut self, graph: &mut Graph, tree: &PathTree, path: Path) -> Facts {
        let mut missing = Vec::new();
        let mut facts = Facts::new();
        for node in tree.upwards(path) {
            if let Some(known) = self.facts.get(&node.id()) {
                facts = known.clone();
                break;
            }
            missing.push(node);
        }
        for node in missing.into_iter().rev() {
            learn(graph, &mut facts, tree.constraint(node));
            self.facts.insert(node.id(), facts.clone());
        }
        facts
    }
}

/// Adds what a constraint says: that it holds, and which word equals which constant or older leaf.
fn learn(graph: &mut Graph, facts: &mut Facts, constraint: Expr) {
    let holds = graph.boolean(true);
    facts.insert(constraint.id(), (holds, constraint));
    if graph.op(constraint) == Op::Not {
        let fails = graph.boolean(false);
        facts.insert(graph.kid(constraint, 0).id(), (fails, constraint));
    }
    if graph.op(constraint) != Op::Eq {
        return;
    }
    let (a, b) = (graph.kid(constraint, 0), graph.kid(constraint, 1));
    if graph.is_const(b) {
        facts.insert(a.id(), (b, constraint));
        learn_elements(graph, facts, a, b, constraint);
    } else if is_leaf(graph, a) && is_leaf(graph, b) {
        // Towards the older one, so that replacing ends.
        let (older, newer) = if a < b { (a, b) } else { (b, a) };
        if facts.get(newer.id()).is_none() {
            facts.insert(newer.id(), (older, constraint));
        }
    }
}

/// A word read that is known makes each of its elements known.
fn learn_elements(graph: &mut Graph, facts: &mut Facts, word: Expr, value: Expr, constraint: Expr) {
    if graph.op(word) != Op::Read || graph.read_count(word) == 1 || element_range(graph, word).is_none() {
        return;
    }
    let element = graph.width(graph.kid(word, 0));
    for i in 0..graph.read_count(word) {
        let (part, known) =
            (graph.extract(word, i * element, element), graph.extract(value, i * element, element));
        facts.insert(part.id(), (known, constraint));
    }
}

fn is_leaf(graph: &Graph, e: Expr) -> bool {
    match graph.op(e) {
        Op::Var => !graph.is_array(e),
        Op::Read => element_range(graph, e).is_some(),
        _ => false,
    }
}

/// The condition under the facts, and the constraints used.
fn rewrite(graph: &mut Graph, facts: &Facts, condition: Expr) -> (Expr, Reasons) {
    if facts.is_empty() {
        return (condition, Reasons::None);
    }
    let mut used = Vec::new();
    // Most often a path repeats a condition, or says its opposite.
    if let Some(value) = known(graph, facts, condition, &mut used)
        && graph.is_const(value)
    {
        return (value, used.into_iter().collect());
    }
    used.clear();
    let mut done: FxHashMap<Expr, Expr> = FxHashMap::default();
    let mut stack = vec![condition];
    while let Some(&e) = stack.last() {
        if done.contains_key(&e) {
            stack.pop();
            continue;
        }
        if done.len() > MAX_NODES {
            return (condition, Reasons::None);
        }
        if let Some(value) = known(graph, facts, e, &mut used) {
            done.insert(e, value);
            continue;
        }
        let kids = graph.kids(e);
        let before = stack.len();
        stack.extend(kids.iter().filter(|kid| !done.contains_key(kid)));
        if stack.len() > before {
            continue;
        }
        let new: Vec<Expr> = kids.iter().map(|kid| done[kid]).collect();
        let built = if new[..] == kids[..] { e } else { graph.rebuild(e, &new) };
        // What was built may be known in its turn: `x + y = 3` with y known.
        let value = if built == e { e } else { known(graph, facts, built, &mut used).unwrap_or(built) };
        done.insert(e, value);
    }
    (done[&condition], used.into_iter().collect())
}

/// What the facts say of `e`, following equalities between leaves to the end.
fn known(graph: &mut Graph, facts: &Facts, e: Expr, used: &mut Vec<Expr>) -> Option<Expr> {
    if graph.is_const(e) {
        return None;
    }
    let mut current = e;
    while let Some(&(value, reason)) = facts.get(current.id()) {
        used.push(reason);
        current = value;
    }
    if current != e {
        return Some(current);
    }
    // `y <= x` is known when its negation `x < y` is.
    if matches!(graph.op(e), Op::Ult | Op::Ule | Op::Slt | Op::Sle) {
        let negation = graph.not(e);
        if let Some(&(value, reason)) = facts.get(negation.id())
            && graph.is_const(value)
        {
            used.push(reason);
            return Some(graph.not(value));
        }
    }
    known_elements(graph, facts, e, used)
}

/// A word read all of whose elements are known.
fn known_elements(graph: &mut Graph, facts: &Facts, e: Expr, used: &mut Vec<Expr>) -> Option<Expr> {
    if graph.op(e) != Op::Read || graph.read_count(e) == 1 || element_range(graph, e).is_none() {
        return None;
    }
    let element = graph.width(graph.kid(e, 0));
    let mut reasons = Vec::new();
    let mut word: Option<Expr> = None;
    for i in 0..graph.read_count(e) {
        let part = graph.extract(e, i * element, element);
        let &(value, reason) = facts.get(part.id())?;
        if !graph.is_const(value) {
            return None;
        }
        reasons.push(reason);
        word = Some(word.map_or(value, |low| graph.concat(value, low)));
    }
    used.extend(reasons);
    word
}

impl Layer for Simplify {
    fn name(&self) -> &str {
        "simplify"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if query.slice.is_none()
            && let Status::Infeasible(core) = rest.tree.status(query.path)
        {
            return Answer::Unsat(Core { constraints: core.iter().copied().collect(), condition: false });
        }
        let facts = match &query.slice {
            None => self.facts(rest.graph, rest.tree, query.path),
            // What a slice leaves out may not be used: it could not be part of the core.
            Some(slice) => {
                let mut facts = Facts::new();
                slice.iter().for_each(|&constraint| learn(rest.graph, &mut facts, constraint));
                facts
            }
        };
        let (condition, reasons) = rewrite(rest.graph, &facts, query.condition);
        if rest.graph.is_false(condition) {
            return Answer::Unsat(Core { constraints: reasons, condition: true });
        }
        if rest.graph.is_true(condition)
            && let Some(model) = rest.tree.model(query.path)
        {
            return Answer::Sat(model.clone());
        }
        if condition == query.condition {
            return rest.check(query);
        }
        self.rewritten += 1;
        match rest.check(&query.with_condition(condition)) {
            Answer::Unsat(core) if core.condition => {
                let constraints = core.constraints.union(&reasons);
                Answer::Unsat(Core { constraints, condition: true })
            }
            answer => answer,
        }
    }

    /// Facts mention expressions that only this layer made: they are derived again when needed.
    fn sweep(&mut self, _alive: &Alive<'_>) {
        self.facts.clear();
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        for id in gone {
            self.facts.remove(id);
        }
    }

    fn forget(&mut self) {
        self.facts = FxHashMap::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        vec![("rewritten".to_string(), self.rewritten as f64)]
    }
}
