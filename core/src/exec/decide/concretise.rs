//! Concrete values for symbolic ones, where the engine needs them: all of a few, some of many, or one. Values
//! that are not explored are counted as incomplete.
use super::Decider;
use super::certificate_tree::{Kind, Subject};
use super::queries::{Side, closed_row, swap_sides};
use super::replay::Next;
use super::strings::Choice;
use crate::exec::outcome::Outcome;
use crate::exec::state::value::Value;
use crate::exec::state::{Fact, State};
use crate::expr::{Bits, Expr};
use crate::query::{Answer, Status};

impl Decider {
    /// Binds a value to one number; other states take its other numbers, up to `max_values`. They execute the
    /// instruction again, so nothing may have been changed before this call.
    pub fn fork_on_value(
        &mut self,
        state: &mut State,
        value: Value,
        width: u32,
        why: &str,
    ) -> Result<u64, Outcome> {
        let point = self.next_point();
        self.fork_on_value_at(state, value, width, why, point)
    }

    /// As `fork_on_value`, at a point that was counted.
    fn fork_on_value_at(
        &mut self,
        state: &mut State,
        value: Value,
        width: u32,
        why: &str,
        point: u32,
    ) -> Result<u64, Outcome> {
        let value = self.defined_value(state, value, why);
        let Some(e) = value.expr() else { return Ok(value.word) };
        if let Some(Fact::Equal(word)) = state.fact(e) {
            return Ok(word);
        }
        loop {
            let number = match self.next_decision(state, point) {
                Next::Live => break,
                Next::OneSided => self.evaluate(state, e).low(),
                Next::Decided(choice @ (Choice::Equal(number) | Choice::Only(number))) => {
                    self.follow_value(state, point, e, choice, number);
                    number
                }
                Next::Decided(choice @ Choice::Differs(number)) => {
                    self.follow_value(state, point, e, choice, number);
                    state.values_tried += 1;
                    continue;
                }
                Next::Decided(other) => self.diverge(state, &format!("a value instead of {other:?}")),
            };
            state.values_tried = 0;
            state.learn(e, Fact::Equal(number));
            return Ok(number);
        }
        // Where not all values may be explored, the least ones are.
        let bits = match self.solver.values(state.path, e).count() > self.options.max_values.into() {
            true => self.least(state, e),
            false => self.evaluate(state, e),
        };
        let word = bits.low();
        debug_assert!(width <= 64 && bits.width() == width);
        let equal = self.equals(e, bits);
        let subject = Subject { kind: Kind::Value, purpose: why, number: word };
        let (is_equal, mut others) = self.fork_on_point(state, equal, subject, point);
        if !is_equal {
            let Some(others) = &mut others else {
                // The solver does not know whether it has this value.
                return Ok(self.concretise_at(state, e, why, point)?.low());
            };
            swap_sides(state, others);
        }
        if let Some(mut others) = others {
            others.values_tried += 1;
            if others.values_tried >= self.options.max_values {
                self.incomplete(state, &format!("more than {} values for {why}", self.options.max_values));
                self.recorder.stats.limits += 1;
                self.release(others);
            } else {
                self.forked.push(others);
            }
        }
        state.values_tried = 0;
        state.learn(e, Fact::Equal(word));
        Ok(word)
    }

    /// Follows the choice of a value of at most 64 bits.
    fn follow_value(&mut self, state: &mut State, point: u32, e: Expr, choice: Choice, number: u64) {
        let bits = Bits::word(self.solver.graph.width(e), number);
        let equal = self.equals(e, bits);
        let condition = match choice {
            Choice::Differs(_) => self.solver.graph.not(equal),
            _ => equal,
        };
        self.follow(state, point, condition, choice);
    }

    pub(super) fn equals(&mut self, e: Expr, bits: Bits) -> Expr {
        let sort = self.solver.graph.sort(e);
        let constant = self.solver.graph.constant_of(sort, bits);
        self.solver.graph.eq(e, constant)
    }

    /// Binds the size of a new object. Explores every possible size if there are at most `max_values`;
    /// otherwise the least and the greatest up to `most`, and counts the rest as incomplete.
    pub fn fork_on_size(
        &mut self,
        state: &mut State,
        size: Value,
        most: u64,
        why: &str,
    ) -> Result<u64, Outcome> {
        let point = self.next_point();
        let size = self.defined_value(state, size, why);
        let Some(e) = size.expr() else { return Ok(size.word) };
        let set = self.values(state, e);
        if state.fact(e).is_some() || set.count() <= self.options.max_values.into() {
            return self.fork_on_value_at(state, size, 64, why, point);
        }
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => return Ok(self.evaluate(state, e).low()),
            Next::Decided(choice @ Choice::Equal(number)) => {
                self.follow_value(state, point, e, choice, number);
                state.learn(e, Fact::Equal(number));
                return Ok(number);
            }
            Next::Decided(other) => self.diverge(state, &format!("a size instead of {other:?}")),
        }
        let least = self.least(state, e).low();
        let sizes = match self.greatest_up_to(state, e, most) {
            Some(greatest) if greatest != least => vec![least, greatest],
            _ => vec![least],
        };
        let mut own = None;
        for size in sizes {
            let equal = self.equals(e, Bits::word(64, size));
            if own.is_none() {
                if let Answer::Sat(found) = self.ask(state, equal) {
                    own = Some((size, equal, found));
                }
                continue;
            }
            match self.fork_side(state, equal) {
                Side::Infeasible(_) | Side::Skipped => {}
                Side::Feasible(mut child) => {
                    self.decided(&mut child, point, Choice::Equal(size));
                    child.learn(e, Fact::Equal(size));
                    self.forked.push(child);
                }
            }
        }
        let Some((size, equal, found)) = own else {
            return Ok(self.concretise_at(state, e, why, point)?.low());
        };
        self.incomplete(state, &format!("concretised: {why}"));
        self.decided(state, point, Choice::Equal(size));
        self.extend_path(state, equal, found);
        state.learn(e, Fact::Equal(size));
        Ok(size)
    }

    /// Greatest value of an expression up to `most` on the state's path, if there is one and the solver finds it.
    fn greatest_up_to(&mut self, state: &State, e: Expr, most: u64) -> Option<u64> {
        let graph = &mut self.solver.graph;
        let most = graph.word(graph.width(e), most);
        let is_small = graph.ule(e, most);
        let Answer::Sat(model) = self.ask(state, is_small) else { return None };
        let node = self.solver.tree.extend(&self.solver.graph, state.path, is_small);
        if node != state.path {
            self.solver.tree.set_status(node, Status::Feasible(model));
        }
        let found = self.extreme(state, node, e, true);
        self.solver.tree.release(node);
        found.map(|bits| bits.low())
    }

    /// Has the expression only one value on the state's path?
    pub fn has_one_value(&mut self, state: &State, e: Expr) -> bool {
        if self.is_replaying() {
            return true;
        }
        let bits = self.evaluate(state, e);
        let equal = self.equals(e, bits);
        let differs = self.solver.graph.not(equal);
        matches!(self.ask(state, differs), Answer::Unsat(_))
    }

    /// Least and greatest value of an expression on the state's path, as unsigned numbers of at most 64 bits. Where the
    /// solver does not answer, the range is larger.
    pub fn range(&mut self, state: &State, e: Expr) -> (u64, u64) {
        let set = self.values(state, e);
        let known = self.evaluate(state, e).low();
        if self.is_replaying() {
            return (known, known);
        }
        let (mut low, mut high) = (set.min().unwrap_or(known), known);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.may_be_in(state, e, low, middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let least = low;
        (low, high) = (known, set.max().unwrap_or(known));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.may_be_in(state, e, middle + 1, high) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (least, high)
    }

    fn may_be_in(&mut self, state: &State, e: Expr, low: u64, high: u64) -> bool {
        let graph = &mut self.solver.graph;
        let width = graph.width(e);
        let (low, high) = (graph.word(width, low), graph.word(width, high));
        let (above, below) = (graph.ule(low, e), graph.ule(e, high));
        let inside = graph.and(above, below);
        !matches!(self.ask(state, inside), Answer::Unsat(_))
    }

    /// The least number of a value, which does not constrain the path: it stands for all the others. Counted as incomplete for
    /// the reason `why` if there are others. It is a decision, since paths that go on from it know more of the value.
    pub fn representative(&mut self, state: &mut State, value: Value, why: &str) -> u64 {
        let point = self.next_point();
        let Some(e) = value.expr() else { return value.word };
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => return self.evaluate(state, e).low(),
            Next::Decided(choice @ Choice::Equal(number)) => {
                self.decided(state, point, choice);
                return number;
            }
            Next::Decided(other) => self.diverge(state, &format!("a value instead of {other:?}")),
        }
        if self.has_one_value(state, e) {
            return self.evaluate(state, e).low();
        }
        self.incomplete(state, why);
        let least = self.least(state, e).low();
        self.decided(state, point, Choice::Equal(least));
        least
    }

    /// Binds a value to its least number. Counted as incomplete for the reason `why` if other
    /// numbers are possible.
    pub fn concretise(
        &mut self,
        state: &mut State,
        value: Value,
        width: u32,
        why: &str,
    ) -> Result<u64, Outcome> {
        match value.expr() {
            None => Ok(value.word),
            Some(e) => Ok(self.concretise_bits(state, e, width, why)?.low()),
        }
    }

    pub fn concretise_bits(
        &mut self,
        state: &mut State,
        e: Expr,
        width: u32,
        why: &str,
    ) -> Result<Bits, Outcome> {
        debug_assert_eq!(self.solver.graph.width(e), width);
        let point = self.next_point();
        self.concretise_at(state, e, why, point)
    }

    /// As `concretise_bits`, at a point that was counted.
    fn concretise_at(&mut self, state: &mut State, e: Expr, why: &str, point: u32) -> Result<Bits, Outcome> {
        let e = self.defined(state, e, why);
        if let Some(bits) = self.solver.graph.const_bits(e) {
            return Ok(bits);
        }
        let bits = self.evaluate(state, e);
        let equal = self.equals(e, bits.clone());
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => return Ok(bits),
            Next::Decided(choice) if choice == Choice::Equal(bits.low()) => {
                self.follow(state, point, equal, choice);
                return Ok(bits);
            }
            Next::Decided(other) => self.diverge(state, &format!("the value {bits:?} instead of {other:?}")),
        }
        let differs = self.solver.graph.not(equal);
        match self.ask(state, differs) {
            Answer::Unsat(core) => {
                let subject = Subject { kind: Kind::Value, purpose: why, number: bits.low() };
                let closed = closed_row(0, core.constraints);
                self.record_point(state, subject, Some(equal), 1, |d, path| vec![closed(d, path)]);
            }
            Answer::Sat(_) => {
                self.incomplete(state, &format!("concretised: {why}"));
                let least = self.least(state, e);
                let is_least = self.equals(e, least.clone());
                // Without an answer it is the model's.
                let (bits, equal, model) = match self.ask(state, is_least) {
                    Answer::Sat(model) => (least, is_least, model),
                    Answer::Unsat(_) | Answer::Unknown(_) => (bits, equal, self.model(state).clone()),
                };
                self.decided(state, point, Choice::Equal(bits.low()));
                self.extend_path(state, equal, model);
                return Ok(bits);
            }
            Answer::Unknown(unknown) => {
                self.incomplete(state, &format!("concretised: {why} (solver: {unknown})"));
                self.decided(state, point, Choice::Equal(bits.low()));
                self.add_constraint(state, equal);
            }
        }
        Ok(bits)
    }
}
