//! Local search for queries over floats, and for single checks: one input is changed at a time, to the value that brings
//! the violated constraints nearest to being satisfied.
//!
//! The distance of a comparison is the number of floats between its operands, on a logarithmic scale; conjunctions add,
//! disjunctions take the least. Candidates for an input are the value that propagation finds, neighbours at growing
//! distances, and a few numbers that programs use. Values stay in the sets of the facts. If no candidate helps, the
//! violated constraints get more weight, and one input is searched at all scales (`line.rs`), at once if it is the only
//! one. An input that a constraint equates with a term follows the others (`definitions`). Sound: a model is evaluated
//! under every constraint of the query.
//! Source: XSat (Fu, Su: CAV 2016) for the distance; weights as in local search for SAT.

use super::Propagation;
use super::definitions::Definitions;
use super::line::{self, Best};
use crate::cost;
use crate::expr::bits::{mask, signed};
use crate::expr::eval::Evaluation;
use crate::expr::float::{FloatParameter, Format};
use crate::expr::walk::Atom;
use crate::expr::{Expr, Family, Graph, Model, Op};
use crate::interval::{BitRange, Facts, Set};
use crate::query::Query;
use crate::random::Random;
use crate::solve::Rest;
use crate::throttle::Throttle;
use crate::tuning::{IntervalsOptions, ThrottleOptions};
use rustc_hash::FxHashSet;
use std::time::Duration;

/// Queries with more constraints or inputs are not searched.
const MAX_CONSTRAINTS: usize = 512;
const MAX_INPUTS: usize = 128;
/// Nodes of a query that are looked at.
const MAX_NODES: usize = 4096;
/// Depth of connectives of which the distance is computed.
const MAX_DEPTH: u32 = 32;
/// Inputs of a violated constraint that are tried in one step.
const INPUTS_PER_STEP: usize = 6;
/// Changes without success after which one that does not help is made.
const PATIENCE: u32 = 16;
/// Distance of a comparison with NaN.
const NAN_DISTANCE: u64 = 1 << 62;

/// Searches of one layer.
pub struct Searches {
    throttle: Throttle,
    options: IntervalsOptions,
    pub answered: u64,
}

struct Input {
    range: BitRange,
    /// An atom of the range, for propagation.
    atom: Atom,
    /// Its values by the facts.
    set: Set,
    /// Constraints that mention it.
    users: Vec<usize>,
    /// Binary logarithm of the last change that helped, one less after each that did not.
    step: u32,
}

struct Problem {
    constraints: Vec<Expr>,
    /// Inputs of each constraint.
    inputs_of: Vec<Vec<usize>>,
    inputs: Vec<Input>,
    weights: Vec<u64>,
    effort: u64,
    /// Rounds without a smaller distance after which the search ends.
    rounds: u64,
    /// Values of one input that are looked at where no change helps.
    line: u64,
    definitions: Definitions,
}

impl Searches {
    pub fn new(options: &IntervalsOptions, throttle: &ThrottleOptions) -> Searches {
        Searches { throttle: Throttle::by_tries(throttle), options: options.clone(), answered: 0 }
    }

    /// Changes a model into one of the query. Only for queries with float operators, and for single checks.
    pub fn search(
        &mut self,
        query: &Query,
        rest: &mut Rest<'_>,
        facts: &Facts,
        start: &Model,
        propagation: &mut Propagation,
    ) -> Option<Model> {
        // Queries of a path are many, and the next one starts from the model of this one.
        let words = if rest.budget.whole_core { self.options.search_words } else { 0 };
        let is_searched = self.options.search && (words > 0 || rest.graph.has_floats());
        if !is_searched || facts.infeasible.is_some() {
            return None;
        }
        if self.throttle.skips() {
            return None;
        }
        let mut problem = Problem::of(query, rest, facts, (&self.options, words))?;
        let before = rest.effort();
        let found = problem.search(rest, start, propagation, before);
        let found = found.filter(|model| rest.satisfies(query, model).is_ok());
        self.throttle.note(1, if found.is_some() { self.options.searches } else { 0 });
        self.answered += u64::from(found.is_some());
        found
    }
}

impl Problem {
    fn of(
        query: &Query,
        rest: &mut Rest<'_>,
        facts: &Facts,
        (options, words): (&IntervalsOptions, u64),
    ) -> Option<Problem> {
        let mut constraints = Vec::new();
        let mut stack = query.constraints(rest.tree).to_vec();
        stack.push(query.condition);
        while let Some(e) = stack.pop() {
            if rest.graph.op(e) == Op::And && rest.graph.is_bool(e) {
                stack.extend(rest.graph.kids(e));
            } else if !rest.graph.is_const(e) {
                constraints.push(e);
            }
            if constraints.len() + stack.len() > MAX_CONSTRAINTS {
                return None;
            }
        }
        let effort = effort(rest.graph, &constraints, options, words)?;
        let definitions = Definitions::of(rest, &constraints);
        let constraints = definitions.replace(rest.graph, constraints)?;
        let mut problem = Problem {
            weights: vec![1; constraints.len()],
            constraints,
            inputs_of: Vec::new(),
            inputs: Vec::new(),
            effort,
            rounds: options.search_rounds,
            line: options.search_line,
            definitions,
        };
        let mut numbers: Vec<u32> = Vec::new();
        for (at, &constraint) in problem.constraints.iter().enumerate() {
            let leaves = rest.learner.summary(rest.graph, constraint).leaves.clone();
            let mut mentioned = Vec::new();
            for number in leaves {
                let input = match numbers.iter().position(|&known| known == number) {
                    Some(input) => input,
                    None => {
                        let range = rest.learner.ranges.range(number);
                        let atom = if rest.graph.is_array(range.base) {
                            Atom::Element(range.base, range.low / u64::from(rest.graph.width(range.base)))
                        } else {
                            Atom::Variable(range.base)
                        };
                        let set = facts.known(&rest.learner.ranges, number).set;
                        numbers.push(number);
                        problem.inputs.push(Input { range, atom, set, users: Vec::new(), step: 0 });
                        numbers.len() - 1
                    }
                };
                problem.inputs[input].users.push(at);
                mentioned.push(input);
            }
            problem.inputs_of.push(mentioned);
        }
        (!problem.inputs.is_empty() && problem.inputs.len() <= MAX_INPUTS).then_some(problem)
    }

    fn search(
        &mut self,
        rest: &mut Rest<'_>,
        start: &Model,
        propagation: &mut Propagation,
        before: u64,
    ) -> Option<Model> {
        let mut model = start.clone();
        for input in &self.inputs {
            let now = input.range.value(rest.graph, &model);
            if !input.set.contains(now) {
                input.range.assign(rest.graph, &mut model, nearest(&input.set, now)?);
            }
        }
        // The layers below get half of the time of the query.
        let share = rest.budget.left().unwrap_or_default() / 2;
        // One fixed sequence, so that equal queries have equal searches.
        let mut random = Random::default();
        let mut distances = self.distances(rest, &model, 0..self.constraints.len());
        if self.inputs.len() == 1 && self.line > 0 {
            let most = (before + self.effort / 2, share, u64::MAX);
            if let Some(found) = self.along(rest, &model, 0, most)
                && found.distance < self.total(&distances, 0)
            {
                self.inputs[0].range.assign(rest.graph, &mut model, found.value);
                distances = self.distances(rest, &model, 0..self.constraints.len());
            }
        }
        let (mut least, mut rounds, mut idle) = (u64::MAX, 0, 0);
        loop {
            let violated: Vec<usize> = (0..distances.len()).filter(|&at| distances[at] > 0).collect();
            if violated.is_empty() {
                self.definitions.assign(rest, &mut model);
                return Some(model);
            }
            let distance = distances.iter().sum();
            rounds += 1;
            if distance < least {
                (least, rounds) = (distance, 0);
            }
            let is_over =
                rounds > self.rounds || rest.effort() - before > self.effort || rest.effort_left() == 0;
            if is_over || rest.budget.left().is_some_and(|left| left <= share) {
                return None;
            }
            rest.spend(cost::REPAIR_ROUND);
            let constraint = violated[random.index(violated.len())];
            let inputs = &self.inputs_of[constraint];
            if inputs.is_empty() {
                return None;
            }
            let first = random.index(inputs.len());
            let tried: Vec<usize> =
                (0..inputs.len().min(INPUTS_PER_STEP)).map(|i| inputs[(first + i) % inputs.len()]).collect();
            let mut best: Option<(i64, Model, usize)> = None;
            let mut forced: Option<(Model, usize)> = None;
            for &input in &tried {
                let (candidates, propagated) =
                    self.candidates(rest, &model, constraint, input, propagation, &mut random);
                for (i, candidate) in candidates.into_iter().enumerate() {
                    let change = self.change(rest, &candidate, input, &distances);
                    if i == 0 && propagated && forced.is_none() {
                        forced = Some((candidate.clone(), input));
                    }
                    if best.as_ref().is_none_or(|(least, ..)| change < *least) {
                        best = Some((change, candidate, input));
                    }
                }
            }
            let (change, candidate, input) = best?;
            let (candidate, input) = if change < 0 {
                let range = &self.inputs[input].range;
                let (new, old) = (range.value(rest.graph, &candidate), range.value(rest.graph, &model));
                self.inputs[input].step = new.abs_diff(old).max(1).ilog2();
                idle = 0;
                (candidate, input)
            } else {
                for &input in &tried {
                    let input = &mut self.inputs[input];
                    let largest = u64::from(input.range.width);
                    input.step = input.step.checked_sub(1).unwrap_or_else(|| random.below(largest) as u32);
                }
                for &at in &violated {
                    self.weights[at] += 1;
                }
                // Before it goes elsewhere, the search looks for the next step from here.
                idle += 1;
                let input_of_line = tried[0];
                let is_stuck = idle == PATIENCE && self.inputs.len() > 1 && self.line > 0;
                let most = (before + self.effort, share, self.line);
                match forced {
                    _ if is_stuck
                        && let Some(found) = self.along(rest, &model, input_of_line, most)
                        && found.distance < self.total(&distances, input_of_line) =>
                    {
                        idle = 0;
                        let mut changed = model.clone();
                        self.inputs[input_of_line].range.assign(rest.graph, &mut changed, found.value);
                        (changed, input_of_line)
                    }
                    Some(forced) if idle > PATIENCE && random.below(4) == 0 => {
                        idle = 0;
                        forced
                    }
                    _ if change == 0 => (candidate, input),
                    _ if idle > PATIENCE && random.below(8) == 0 => {
                        idle = 0;
                        (candidate, input)
                    }
                    _ => continue,
                }
            };
            model = candidate;
            let users = self.inputs[input].users.clone();
            let changed = self.distances(rest, &model, users.iter().copied());
            users.into_iter().zip(changed).for_each(|(at, distance)| distances[at] = distance);
        }
    }

    /// The best value of one input, the others fixed, by weighted distance. Limits: effort of the query, time that must be
    /// left, number of values.
    fn along(
        &self,
        rest: &mut Rest<'_>,
        model: &Model,
        input: usize,
        (effort, share, values): (u64, Duration, u64),
    ) -> Option<Best> {
        let Input { range, set, users, .. } = &self.inputs[input];
        let mut changed = model.clone();
        let mut count = 0;
        line::search(set, range.width, |value| {
            let is_over = count == values || rest.effort() > effort || rest.effort_left() == 0;
            if is_over || rest.budget.left().is_some_and(|left| left <= share) {
                return None;
            }
            count += 1;
            rest.spend(cost::SET_INPUT);
            range.assign(rest.graph, &mut changed, value);
            let new = self.distances(rest, &changed, users.iter().copied());
            Some(users.iter().zip(new).map(|(&at, new)| new * self.weights[at]).sum())
        })
    }

    /// Weighted distance of the constraints that mention an input.
    fn total(&self, distances: &[u64], input: usize) -> u64 {
        self.inputs[input].users.iter().map(|&at| distances[at] * self.weights[at]).sum()
    }

    /// Distances of constraints under a model.
    fn distances(&self, rest: &mut Rest<'_>, model: &Model, which: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut session = rest.evaluator.under(rest.graph, model);
        which.map(|at| distance(rest.graph, &mut session, self.constraints[at], true, MAX_DEPTH)).collect()
    }

    /// Weighted change of the distances if an input changes.
    fn change(&self, rest: &mut Rest<'_>, model: &Model, input: usize, distances: &[u64]) -> i64 {
        let users = &self.inputs[input].users;
        let new = self.distances(rest, model, users.iter().copied());
        users
            .iter()
            .zip(new)
            .map(|(&at, new)| (new as i64 - distances[at] as i64) * self.weights[at] as i64)
            .sum()
    }

    /// Models with another value of an input; whether the first comes from propagation.
    fn candidates(
        &self,
        rest: &mut Rest<'_>,
        model: &Model,
        constraint: usize,
        input: usize,
        propagation: &mut Propagation,
        random: &mut Random,
    ) -> (Vec<Model>, bool) {
        let Input { range, atom, set, step: last, .. } = &self.inputs[input];
        let now = range.value(rest.graph, model);
        let mut values: Vec<u64> = Vec::new();
        let session = rest.evaluator.under(rest.graph, model);
        let changes = propagation.propagate(rest.graph, session, self.constraints[constraint], *atom);
        let mut propagated = false;
        if let Some(changes) = changes {
            let mut changed = model.clone();
            changes.iter().for_each(|&(atom, value)| changed.set_atom(rest.graph, atom, value));
            let value = range.value(rest.graph, &changed);
            if value != now {
                values.push(value);
                propagated = true;
            }
        }
        let mut spent = cost::FLOAT_NODE * propagation.route_length() as u64;
        let all = mask(range.width);
        let far = 1u64 << random.below(u64::from(range.width));
        let step = 1 + random.below(4);
        values.extend([now.wrapping_add(step), now.wrapping_sub(step)]);
        values.extend([now.wrapping_add(far), now.wrapping_sub(far), now ^ 1 << (range.width - 1)]);
        // Changes of a size that helped before, doubled and halved.
        let near = 1u64 << last;
        values.extend(
            [near << 1, near, near >> 1].iter().flat_map(|&d| [now.wrapping_add(d), now.wrapping_sub(d)]),
        );
        values.push(match random.below(4) {
            0 => 0,
            1 => one(range.width),
            _ => member(set, random),
        });
        let mut models = Vec::new();
        let mut seen = vec![now];
        for value in values {
            let Some(value) = nearest(set, value & all) else { continue };
            if seen.contains(&value) {
                continue;
            }
            seen.push(value);
            let mut changed = model.clone();
            range.assign(rest.graph, &mut changed, value);
            models.push(changed);
        }
        spent += (cost::COPY_MODEL + cost::SET_INPUT) * models.len() as u64;
        rest.spend(spent);
        (models, propagated)
    }
}

/// Effort that a query is worth: by the operations that round, or `words` for each node if it has no float operator.
fn effort(graph: &Graph, constraints: &[Expr], options: &IntervalsOptions, words: u64) -> Option<u64> {
    let mut seen: FxHashSet<Expr> = constraints.iter().copied().collect();
    let mut stack = constraints.to_vec();
    let (mut is_float, mut operations) = (false, 0);
    while let Some(e) = stack.pop() {
        if let Family::Float(op) = graph.op(e).family() {
            is_float = true;
            operations += u64::from(op.rounds());
        }
        stack.extend(graph.kids(e).into_iter().filter(|&kid| seen.insert(kid)));
        if seen.len() > MAX_NODES {
            return None;
        }
    }
    if !is_float {
        return (words > 0).then(|| words * seen.len() as u64);
    }
    // As much as half an operation without any.
    Some(((2 * operations + 1) * options.search_effort / 2).min(options.search_limit))
}

/// The value itself if it is in the set, otherwise one of the next members.
fn nearest(set: &Set, value: u64) -> Option<u64> {
    let above = set.next_from(value);
    let below = set.previous_from(value);
    match (above, below) {
        (Some(a), Some(b)) => Some(if a - value <= value - b { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// A value of one of the intervals of a set.
fn member(set: &Set, random: &mut Random) -> u64 {
    let intervals = set.intervals();
    match intervals.get(random.index(intervals.len().max(1))) {
        Some(&(low, high)) if high - low < u64::MAX => low + random.below(high - low + 1),
        _ => random.word(),
    }
}

/// The number one in the usual format of this width.
fn one(width: u32) -> u64 {
    match width {
        16 => 0x3c00,
        32 => 0x3f80_0000,
        64 => 0x3ff0_0000_0000_0000,
        _ => 1,
    }
}

/// Number of bits of a gap, with eight more bits of it: a logarithm in parts of 256. A gap of numbers is a logarithm
/// already, so coarser steps would hide that the operands have come nearer.
fn scaled(gap: u64) -> u64 {
    if gap < 256 {
        return gap;
    }
    let bits = 64 - u64::from(gap.leading_zeros());
    256 * (bits - 8) + (gap >> (bits - 9) & 255)
}

/// How far an expression is from the wanted truth: 0 if it has it.
fn distance(graph: &Graph, session: &mut Evaluation<'_>, e: Expr, wanted: bool, depth: u32) -> u64 {
    if session.truth(e) == wanted {
        return 0;
    }
    let op = graph.op(e);
    if depth > 0 {
        let kid = |i: usize| graph.kid(e, i);
        match op {
            Op::Not => return distance(graph, session, kid(0), !wanted, depth - 1),
            Op::And | Op::Or => {
                let [a, b] = [0, 1].map(|i| distance(graph, session, kid(i), wanted, depth - 1));
                return if (op == Op::And) == wanted { a + b } else { a.min(b) };
            }
            Op::Ite if graph.is_bool(kid(1)) => {
                let taken = if session.truth(kid(0)) { kid(1) } else { kid(2) };
                return distance(graph, session, taken, wanted, depth - 1);
            }
            _ => {}
        }
    }
    if !graph.op(e).is_comparison() && !matches!(op, Op::FLt | Op::FLe | Op::FEq) {
        return 1;
    }
    let (a, b) = (graph.kid(e, 0), graph.kid(e, 1));
    if graph.is_array(a) || graph.width(a) > 64 {
        return 1;
    }
    let width = graph.width(a);
    let (x, y) = (session.word(a), session.word(b));
    let gap = match op.family() {
        Family::Float(float) => {
            let format = FloatParameter::unpack(float, graph.shape(e).low, width).format;
            match (value(format, x), value(format, y)) {
                (Some(x), Some(y)) => x.abs_diff(y),
                _ => NAN_DISTANCE,
            }
        }
        _ if op.is_signed() => signed(width, x).abs_diff(signed(width, y)),
        _ => x.abs_diff(y),
    };
    1 + scaled(gap)
}

/// Position of a number in the order of numbers, with equal zeros.
fn value(format: Format, word: u64) -> Option<i64> {
    let sign = 1 << (format.width() - 1);
    let magnitude = (word & (sign - 1)) as i64;
    let infinity = ((1i64 << format.exponent()) - 1) << format.stored();
    (magnitude <= infinity).then_some(if word & sign == 0 { magnitude } else { -magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expr::Sort;
    use crate::expr::float::Rounding;
    use crate::query::Answer;
    use crate::solve::{Solver, Spec, build_chain};

    const DOUBLE: Format = Format::DOUBLE;
    const EVEN: Rounding = Rounding::NearestEven;

    /// Asks `intervals` alone for a model of all constraints over five doubles. Returns whether it has one, and the
    /// number of queries that were searched.
    fn ask(build: impl Fn(&mut Graph, [Expr; 5]) -> Vec<Expr>) -> (bool, f64) {
        let spec = Spec::parse("intervals", &Spec(Vec::new())).unwrap();
        let mut solver = Solver::new(build_chain(&spec, &mut |_| Ok(None)).unwrap());
        let inputs = [0, 1, 2, 3, 4].map(|i| solver.graph.var(&format!("x{i}"), Sort::Bits(64)).unwrap());
        let mut all = build(&mut solver.graph, inputs);
        let condition = all.pop().expect("a condition");
        let path = all
            .into_iter()
            .fold(solver.tree.root(), |path, constraint| solver.tree.extend(&solver.graph, path, constraint));
        let answer = solver.check(&Query::new(path, condition), &Budget::unlimited());
        let counters = solver.statistics()[0].counters.clone();
        let searched = counters.iter().find(|(name, _)| name == "searched").map_or(0.0, |(_, n)| *n);
        (matches!(answer, Answer::Sat(_)), searched)
    }

    fn number(g: &mut Graph, x: f64) -> Expr {
        g.word(64, x.to_bits())
    }

    #[test]
    fn one_input_through_ten_operations_needs_no_search() {
        let found = ask(|g, [x, ..]| {
            let mut y = x;
            for (i, c) in [1.5, 3.0, -0.25, 7.0, 1e10].into_iter().enumerate() {
                let c = number(g, c);
                y = if i % 2 == 0 { g.f_add(DOUBLE, EVEN, y, c) } else { g.f_mul(DOUBLE, EVEN, y, c) };
                y = g.f_div(DOUBLE, EVEN, y, c);
            }
            let (low, high) = (number(g, 1000.0), number(g, 1000.5));
            vec![g.f_lt(DOUBLE, low, y), g.f_lt(DOUBLE, y, high)]
        });
        assert_eq!(found, (true, 0.0));
    }

    #[test]
    fn orders_of_several_inputs_are_found() {
        let (found, _) = ask(|g, [a, b, c, d, e]| {
            let one = number(g, 1.0);
            vec![
                g.f_lt(DOUBLE, a, b),
                g.f_lt(DOUBLE, b, c),
                g.f_lt(DOUBLE, d, a),
                g.f_lt(DOUBLE, e, d),
                g.f_lt(DOUBLE, one, e),
            ]
        });
        assert!(found);
    }

    #[test]
    fn sums_and_products_are_searched() {
        let (found, searched) = ask(|g, [a, b, c, ..]| {
            let (two, limit) = (number(g, 2.0), number(g, 1e6));
            let product = g.f_mul(DOUBLE, EVEN, a, b);
            let sum = g.f_add(DOUBLE, EVEN, product, c);
            let square = g.f_mul(DOUBLE, EVEN, c, c);
            let difference = g.f_sub(DOUBLE, EVEN, a, c);
            vec![
                g.f_lt(DOUBLE, two, difference),
                g.f_lt(DOUBLE, square, sum),
                g.f_lt(DOUBLE, sum, limit),
                g.f_lt(DOUBLE, two, b),
                g.f_lt(DOUBLE, two, c),
            ]
        });
        assert!(found && searched <= 1.0);
    }

    #[test]
    fn distances_grow_with_the_gap() {
        let gaps = [0, 1, 2, 15, 16, 255, 256, 257, 511, 512, 514, 1 << 20, (1 << 20) + (1 << 12), u64::MAX];
        assert!(gaps.windows(2).all(|pair| scaled(pair[0]) < scaled(pair[1])));
    }
}
