//! Uses of values that nothing defined: memory that was never written, variables that were never set, and poison.
//!
//! These values are expressions with placeholders (`state/unwritten.rs`). They may be copied and computed with; a use is a
//! decision, an address, a length or output that depends on one. A use has the value that zeros give, on the same paths
//! as if memory started as zeros, and is counted, because other values are not explored. Whether it depends on a
//! placeholder is a query: is there a value that makes a difference? So path conditions never mention placeholders.
//!
//! With `--uninitialized symbolic` memory that was never written is made of inputs instead, which become inputs of a
//! path at the first use.
use super::Decider;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::state::State;
use crate::exec::state::inputs::UNWRITTEN_INPUT;
use crate::exec::state::value::Value;
use crate::expr::{Bits, Expr, Poison, Sort};
use crate::query::Answer;

impl Decider {
    /// Expression without placeholders for a use that `what` describes. Counts the use if it depends on one.
    #[inline]
    pub fn defined(&mut self, state: &mut State, e: Expr, what: &str) -> Expr {
        if self.solver.graph.has_placeholders() { self.without_placeholders(state, e, what, true) } else { e }
    }

    /// As `defined`, of a register value.
    #[inline]
    pub fn defined_value(&mut self, state: &mut State, value: Value, what: &str) -> Value {
        match value.expr() {
            Some(e) if self.solver.graph.has_placeholders() => {
                let e = self.without_placeholders(state, e, what, true);
                Value::of(&self.solver.graph, e)
            }
            Some(_) | None => value,
        }
    }

    /// Counts a use of a value that is no bug: padding of a structure that is written to a file.
    pub fn count_undefined(&mut self, state: &mut State, value: Value, what: &str) {
        if let Some(e) = value.expr()
            && self.solver.graph.has_placeholders()
        {
            self.without_placeholders(state, e, what, false);
        }
    }

    #[cold]
    fn without_placeholders(&mut self, state: &mut State, e: Expr, what: &str, is_bug: bool) -> Expr {
        let (mut mentions, mut poison) = (false, None);
        for atom in self.support(e).iter() {
            let variable = atom.variable();
            if let Some(size) = self.solver.graph.unwritten_size(variable) {
                if !state.inputs.contains(variable) {
                    state.inputs.add_unwritten(variable, size);
                    self.seed_input(state, variable, UNWRITTEN_INPUT, size);
                }
                continue;
            }
            if self.solver.graph.is_placeholder(variable) {
                mentions = true;
                poison = poison.or(self.solver.graph.poison(variable));
                self.zero(variable);
            }
        }
        if !mentions {
            return e;
        }
        let graph = &mut self.solver.graph;
        let defined = graph.substitute_cached(e, &mut self.zeroed);
        let differs = graph.ne(e, defined);
        if graph.is_false(differs) {
            return defined;
        }
        if self.is_replaying() {
            return defined;
        }
        let (cause, class) = match poison {
            None => ("uninitialised memory", Class::UninitializedRead),
            Some(Poison::Flags) => ("the result of an operation that is poison", Class::UninitializedRead),
            Some(Poison::Shift) => ("the result of a shift by the width or more", Class::Shift),
            Some(Poison::Count) => ("the number of leading or trailing zeros of 0", Class::UninitializedRead),
        };
        let why = format!("{cause} decides {what}");
        let user = state.user_frame(&self.program);
        let (func, pc) = (user.func, user.pc);
        // A second use at the same place needs no proof.
        let is_known = self.recorder.has_incomplete(&why, func, pc);
        if !is_known {
            match self.ask(state, differs) {
                Answer::Sat(_) => {}
                Answer::Unsat(_) => return defined,
                Answer::Unknown(_) => {
                    let why = format!("{cause} may decide {what}: the solver has no answer");
                    self.recorder.add_incomplete(&why, func, pc);
                    return defined;
                }
            }
        }
        self.recorder.add_incomplete(&why, func, pc);
        if is_bug && self.options.checks.uninitialized && !is_known {
            self.report_use(state, differs, class, why);
        }
        defined
    }

    /// Makes a placeholder zero where `zeroed` is substituted.
    fn zero(&mut self, variable: Expr) {
        if self.zeroed.contains_key(&variable) {
            return;
        }
        let graph = &mut self.solver.graph;
        let zero = match graph.sort(variable) {
            Sort::Bool => graph.boolean(false),
            Sort::Bits(width) => graph.constant(Bits::zero(width)),
            Sort::Array { index, element } => {
                let zero = graph.constant(Bits::zero(element));
                graph.const_array(index, zero)
            }
        };
        self.zeroed.insert(variable, zero);
    }

    /// The value that the expression has if what was never written is zero, for something that is no use of it.
    pub fn with_unwritten_zeros(&mut self, e: Expr) -> Expr {
        if !self.solver.graph.has_placeholders() {
            return e;
        }
        for atom in self.support(e).iter() {
            let variable = atom.variable();
            if self.solver.graph.is_placeholder(variable) {
                self.zero(variable);
            }
        }
        self.solver.graph.substitute_cached(e, &mut self.zeroed)
    }

    /// The value, or poison of this kind where `is_bad` holds. What depends on it is counted once it decides something.
    #[cold]
    pub fn poisoned(
        &mut self,
        state: &State,
        value: Value,
        width: u32,
        cause: Poison,
        is_bad: Expr,
    ) -> Value {
        let graph = &mut self.solver.graph;
        if graph.is_false(is_bad) {
            return value;
        }
        let is_possible = graph.is_true(is_bad)
            || self.is_replaying()
            || !matches!(self.ask(state, is_bad), Answer::Unsat(_));
        if !is_possible {
            return value;
        }
        let graph = &mut self.solver.graph;
        let sort = if width == 1 { Sort::Bool } else { Sort::Bits(width) };
        let (value, poison) = (value.to_bits(graph, width), graph.fresh_poison(cause, sort));
        let poison = Value::of(graph, poison).to_bits(graph, width);
        let zero = graph.constant(Bits::zero(width));
        let unknown = graph.ite(is_bad, poison, zero);
        let result = graph.xor(value, unknown);
        Value::of_bits(graph, result)
    }

    /// Ends a copy of the state in the bug, with inputs that lead to it. The state itself goes on.
    fn report_use(&mut self, state: &mut State, differs: Expr, class: Class, message: String) {
        if self.recorder.bugs.is_known(class, &self.place(state)) {
            return;
        }
        if let super::queries::Side::Feasible(copy) = self.fork_side(state, differs) {
            self.end_path(copy, Outcome::bug(class, message));
        }
    }
}
