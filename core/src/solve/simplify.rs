//! The layer `simplify`: rewrites the condition with the equalities of the path.
//!
//! Answers: conditions that become constant when subexpressions are replaced by what path constraints equate them to;
//! every query on a path that is known to be infeasible.
//! Why sound: every replacement is an equality among the path's constraints, and the constraints of the replacements
//! used are part of the core. The path itself is never changed.
//! When it helps: branches repeated along a path, values fixed by an earlier comparison.
//! Cost: one walk over the nodes of the condition that the last query of the same path did not visit. The facts of a
//! path node are those of its parent and one constraint.
//! Source: constant propagation and rewriting of equalities as in KLEE's `ConstraintManager`.

use super::{Layer, Rest};
use crate::expr::walk::element_range;
use crate::expr::{Expr, Graph, Op};
use crate::persist::Map;
use crate::query::{Alive, Answer, Core, Path, PathTree, Query, Reasons, Status};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Conditions with more nodes than this are passed on unchanged.
const MAX_NODES: usize = 4096;

/// Equalities of a path: expression to the expression it equals and the constraint that states this.
type Facts = Map<(Expr, Expr)>;

#[derive(Default)]
pub struct Simplify {
    facts: FxHashMap<u32, Facts>,
    rewriting: Rewritten,
    rewritten: u64,
}

impl Simplify {
    pub fn new() -> Simplify {
        Simplify::default()
    }

    /// Facts of a path, computed from those of the nearest ancestor that has them.
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

/// Adds the facts of a constraint: that it holds, and which word equals which constant or older leaf.
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
        // Newer is replaced by older, so that replacing terminates.
        let (older, newer) = if a < b { (a, b) } else { (b, a) };
        if facts.get(newer.id()).is_none() {
            facts.insert(newer.id(), (older, constraint));
        }
    }
}

/// Adds the value of each element of a multi-element read that equals a constant.
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

/// Memo of rewritten nodes under the facts of one path, by slot of the graph. Clearing increments `epoch`, so a query
/// allocates nothing. The memo is kept for further queries of the same path: a program that searches a table written at
/// symbolic indices makes thousands of queries about the same long chain of stores.
#[derive(Default)]
struct Rewritten {
    stamps: Vec<u32>,
    epoch: u32,
    values: Vec<Option<Expr>>,
    /// Index into `sets`: the constraints used.
    because: Vec<u32>,
    /// The first set is empty.
    sets: Vec<Reasons>,
    /// Path node whose facts were used.
    path: Option<u32>,
    /// Number of nodes rewritten for the current query.
    count: usize,
    /// Nodes to rewrite, and whether their operands have been pushed.
    stack: Vec<(Expr, bool)>,
}

/// Index of the empty set in `Rewritten::sets`.
const NO_REASON: u32 = 0;

impl Rewritten {
    /// Starts a query about this path; `None` if the query has a slice.
    fn begin(&mut self, graph: &Graph, path: Option<u32>) {
        if path.is_none() || path != self.path {
            self.clear();
            self.path = path;
        }
        let slots = self.stamps.len().max(graph.slots());
        self.stamps.resize(slots, 0);
        self.values.resize(slots, None);
        self.because.resize(slots, NO_REASON);
        self.count = 0;
        self.stack.clear();
    }

    /// Drops the memo. Required when expressions or paths are dropped, as their numbers are reused.
    fn clear(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamps.fill(0);
            self.epoch = 1;
        }
        self.sets.clear();
        self.sets.push(Reasons::None);
        self.path = None;
    }

    fn get(&self, e: Expr) -> Option<Expr> {
        let slot = e.id() as usize;
        if self.stamps[slot] == self.epoch { self.values[slot] } else { None }
    }

    fn set(&mut self, e: Expr, value: Expr, because: u32) {
        let slot = e.id() as usize;
        (self.stamps[slot], self.values[slot], self.because[slot]) = (self.epoch, Some(value), because);
        self.count += 1;
    }

    /// Set of the constraints behind rewritten operands and of those in `used`, which is emptied.
    fn reasons(&mut self, kids: &[Expr], used: &mut Vec<Expr>) -> u32 {
        let mut all = NO_REASON;
        for kid in kids {
            let of_kid = self.because[kid.id() as usize];
            if all == NO_REASON {
                all = of_kid;
            } else if of_kid != NO_REASON && of_kid != all {
                let both = self.sets[all as usize].union(&self.sets[of_kid as usize]);
                all = self.add(both);
            }
        }
        if !used.is_empty() {
            let own: Reasons = used.drain(..).collect();
            let both = self.sets[all as usize].union(&own);
            all = self.add(both);
        }
        all
    }

    fn add(&mut self, reasons: Reasons) -> u32 {
        self.sets.push(reasons);
        (self.sets.len() - 1) as u32
    }

    /// Returns the condition rewritten under the facts, and the constraints used.
    fn run(
        &mut self,
        graph: &mut Graph,
        facts: &Facts,
        path: Option<u32>,
        condition: Expr,
    ) -> (Expr, Reasons) {
        if facts.is_empty() {
            return (condition, Reasons::None);
        }
        self.begin(graph, path);
        let mut used = Vec::new();
        self.stack.push((condition, false));
        while let Some((e, opened)) = self.stack.pop() {
            if self.get(e).is_some() {
                continue;
            }
            if self.count > MAX_NODES {
                return (condition, Reasons::None);
            }
            if !opened && let Some(value) = known(graph, facts, e, &mut used) {
                let because = self.reasons(&[], &mut used);
                self.set(e, value, because);
                continue;
            }
            let kids = graph.kids(e);
            let before = self.stack.len();
            if !opened {
                self.stack.push((e, true));
                for &kid in &kids {
                    if graph.is_const(kid) {
                        self.set(kid, kid, NO_REASON);
                    } else if self.get(kid).is_none() {
                        self.stack.push((kid, false));
                    }
                }
                if self.stack.len() > before + 1 {
                    continue;
                }
                self.stack.pop();
            }
            let new: SmallVec<[Expr; 3]> =
                kids.iter().map(|kid| self.get(*kid).expect("operands come first")).collect();
            if new == kids {
                self.set(e, e, NO_REASON);
                continue;
            }
            let built = graph.rebuild(e, &new);
            // The new node may be a fact itself: `x + y = 3` with y known.
            let value = if built == e { e } else { known(graph, facts, built, &mut used).unwrap_or(built) };
            let because = self.reasons(&kids, &mut used);
            self.set(e, value, because);
        }
        let because = self.because[condition.id() as usize];
        (self.get(condition).expect("just computed"), self.sets[because as usize].clone())
    }
}

/// The expression that `e` equals under the facts, following equalities between leaves to the end.
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
    if graph.op(e).is_order() {
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

/// The value of a multi-element read all of whose elements are known.
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
            // Constraints outside the slice may not be used: they could not be part of the core.
            Some(slice) => {
                let mut facts = Facts::new();
                slice.list().iter().for_each(|&constraint| learn(rest.graph, &mut facts, constraint));
                facts
            }
        };
        let path = query.slice.is_none().then(|| query.path.id());
        let (condition, reasons) = self.rewriting.run(rest.graph, &facts, path, query.condition);
        if rest.graph.is_false(condition) {
            return Answer::Unsat(Core { constraints: reasons, condition: true });
        }
        if rest.graph.is_true(condition)
            && let Some(model) = rest.tree.model(query.path)
        {
            return Answer::Sat(model.clone());
        }
        if condition == query.condition {
            return rest.check(query).answer;
        }
        self.rewritten += 1;
        match rest.check(&query.with_condition(condition)).answer {
            Answer::Unsat(core) if core.condition => {
                let constraints = core.constraints.union(&reasons);
                Answer::Unsat(Core { constraints, condition: true })
            }
            answer => answer,
        }
    }

    /// Facts mention expressions that only this layer refers to; they are derived again when needed.
    fn sweep(&mut self, _alive: &Alive<'_>) {
        self.facts.clear();
        self.rewriting.clear();
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        for id in gone {
            self.facts.remove(id);
        }
        self.rewriting.clear();
    }

    fn forget(&mut self) {
        self.facts = FxHashMap::default();
        self.rewriting = Rewritten::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        vec![("rewritten".to_string(), self.rewritten as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expr::Sort;
    use crate::solve::Solver;

    /// The memo of one query is used by the next one of the same path, with the reasons of that one.
    #[test]
    fn cores_of_queries_that_share_subexpressions() {
        let mut solver = Solver::new(vec![Box::new(Simplify::new())]);
        let [x, y] = ["x", "y"].map(|name| solver.graph.var(name, Sort::Bits(8)).unwrap());
        let [three, four] = [3, 4].map(|n| solver.graph.word(8, n));
        let (x_is, y_is) = (solver.graph.eq(x, three), solver.graph.eq(y, four));
        let root = solver.tree.root();
        let first = solver.tree.extend(&solver.graph, root, x_is);
        let both = solver.tree.extend(&solver.graph, first, y_is);
        let (product, sum) = (solver.graph.mul(x, x), solver.graph.add(x, y));
        let mixed = solver.graph.mul(product, sum);
        let ask = |solver: &mut Solver, path: Path, e: Expr, value: u64| {
            let constant = solver.graph.word(8, value);
            let condition = solver.graph.eq(e, constant);
            match solver.check(&Query::new(path, condition), &Budget::unlimited()) {
                Answer::Unsat(core) => core.constraints.as_slice().to_vec(),
                other => panic!("{other:?}"),
            }
        };
        let mut all = vec![x_is, y_is];
        all.sort_unstable();
        assert_eq!(ask(&mut solver, both, product, 8), [x_is]);
        assert_eq!(ask(&mut solver, both, mixed, 62), all);
        assert_eq!(ask(&mut solver, both, product, 10), [x_is]);
        assert_eq!(ask(&mut solver, both, y, 5), [y_is]);
        // On the shorter path `y` is free: the memo of the longer one must not be used.
        assert_eq!(ask(&mut solver, first, product, 8), [x_is]);
        let constant = solver.graph.word(8, 62);
        let open = solver.graph.eq(mixed, constant);
        let answer = solver.check(&Query::new(first, open), &Budget::unlimited());
        assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
    }
}
