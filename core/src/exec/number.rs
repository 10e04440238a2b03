//! Numbers for symbolic values, where the engine needs one: each of a few, some of many, or one that stands for all.
//! Whatever is left out is counted.
use super::Engine;
use super::ask::Probe;
use super::outcome::Outcome;
use super::state::{Fact, State};
use super::value::Value;
use crate::expr::{Bits, Expr};
use crate::query::Answer;

impl Engine {
    /// One number for a value; other states take the other numbers it can have, up to `max_values` of them. They execute
    /// the instruction again, so nothing may have been changed before this.
    pub(super) fn each_value(
        &mut self,
        state: &mut State,
        value: Value,
        width: u32,
        why: &str,
    ) -> Result<u64, Outcome> {
        let Some(e) = value.expr() else { return Ok(value.word) };
        if let Some(Fact::Equal(word)) = state.fact(e) {
            return Ok(word);
        }
        let bits = self.evaluate(state, e);
        let word = bits.low();
        debug_assert!(width <= 64 && bits.width() == width);
        let equal = self.equals(e, bits);
        if let (_, Some(mut others)) = self.split(state, equal) {
            others.tried += 1;
            if others.tried >= self.options.max_values {
                self.incomplete(state, &format!("more than {} values for {why}", self.options.max_values));
                self.stats.limits += 1;
                self.release(others);
            } else {
                self.born.push(others);
            }
        }
        state.tried = 0;
        state.learn(e, Fact::Equal(word));
        Ok(word)
    }

    fn equals(&mut self, e: Expr, bits: Bits) -> Expr {
        let sort = self.solver.graph.sort(e);
        let constant = self.solver.graph.constant_of(sort, bits);
        self.solver.graph.eq(e, constant)
    }

    /// The size of a new object: each one that is possible if those are at most `max_values`; else the least, the
    /// greatest that an object may have, and the model's, and the exploration is incomplete.
    pub(super) fn object_size(&mut self, state: &mut State, size: Value, why: &str) -> Result<u64, Outcome> {
        let Some(e) = size.expr() else { return Ok(size.word) };
        let set = self.solver.values(state.path, e);
        if state.fact(e).is_some() || set.count() <= self.options.max_values.into() {
            return self.each_value(state, size, 64, why);
        }
        let most = self.options.max_object_bytes;
        let model = self.evaluate(state, e).low();
        let mut sizes: Vec<u64> =
            [set.min(), set.previous_from(most), Some(model)].into_iter().flatten().collect();
        sizes.retain(|&size| size <= most);
        sizes.sort_unstable();
        sizes.dedup();
        let mut own = None;
        for size in sizes {
            let equal = self.equals(e, Bits::word(64, size));
            if own.is_none() {
                if let Answer::Sat(found) = self.ask(state, equal) {
                    own = Some((size, equal, found));
                }
                continue;
            }
            match self.probe(state, equal) {
                Probe::Infeasible | Probe::Skipped => {}
                Probe::Feasible(mut child) => {
                    child.learn(e, Fact::Equal(size));
                    self.born.push(child);
                }
            }
        }
        let Some((size, equal, found)) = own else { return self.concretize(state, size, 64, why) };
        self.incomplete(state, &format!("concretised: {why}"));
        self.move_to(state, equal, found);
        state.learn(e, Fact::Equal(size));
        Ok(size)
    }

    /// One number for a value, which the path is bound to from here on. Where others were possible, the exploration is
    /// incomplete for the reason given.
    pub(super) fn concretize(
        &mut self,
        state: &mut State,
        value: Value,
        width: u32,
        why: &str,
    ) -> Result<u64, Outcome> {
        match value.expr() {
            None => Ok(value.word),
            Some(e) => Ok(self.concretize_bits(state, e, width, why)?.low()),
        }
    }

    pub(super) fn concretize_bits(
        &mut self,
        state: &mut State,
        e: Expr,
        width: u32,
        why: &str,
    ) -> Result<Bits, Outcome> {
        if let Some(bits) = self.solver.graph.const_bits(e) {
            return Ok(bits);
        }
        let bits = self.evaluate(state, e);
        debug_assert_eq!(bits.width(), width);
        let equal = self.equals(e, bits.clone());
        let differs = self.solver.graph.not(equal);
        match self.ask(state, differs) {
            Answer::Unsat(_) => {}
            Answer::Sat(_) => {
                self.incomplete(state, &format!("concretised: {why}"));
                let model = self.model(state);
                self.move_to(state, equal, model);
            }
            Answer::Unknown(unknown) => {
                self.incomplete(state, &format!("concretised: {why} (solver: {unknown})"));
                let model = self.model(state);
                self.move_to(state, equal, model);
            }
        }
        Ok(bits)
    }
}
