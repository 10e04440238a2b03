//! The layer `verify`: checks the answers of the layers below with a second solver, the reference.
//!
//! Answers: nothing by itself; returns `Unknown` with the mismatch in place of an answer that fails the check. With
//! `mismatch=continue` it counts the mismatch and returns the answer of the reference, as the second paper's crosscheck does.
//! Why sound: models are evaluated; the reference must find the core of an unsat answer unsatisfiable, and must not find
//! a query with a model unsatisfiable.
//! When it helps: tests, and runs with `--verify`.
//! Cost: one query to the reference per answer.
//! Source: KLEE's `ValidatingSolver`, with cores.

use super::{Layer, Rest};
use crate::budget::Why;
use crate::query::{Alive, Answer, Query};

pub struct Verify {
    reference: Box<dyn Layer>,
    /// Whether a mismatch is answered by the reference instead of ending the query.
    goes_on: bool,
    name: String,
    checked: u64,
    mismatches: u64,
    /// Mismatches that are wrong models of satisfiable queries.
    wrong_models: u64,
    /// Answers for which the reference had none.
    unconfirmed: u64,
}

impl Verify {
    pub fn new(reference: Box<dyn Layer>, goes_on: bool) -> Verify {
        let name = "verify".to_string();
        Verify { reference, goes_on, name, checked: 0, mismatches: 0, wrong_models: 0, unconfirmed: 0 }
    }

    fn ask(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        rest.ask_alone(&mut *self.reference, query)
    }

    fn mismatch(&mut self, query: &Query, rest: &mut Rest<'_>, message: String) -> Answer {
        self.mismatches += 1;
        if self.goes_on {
            return self.ask(query, rest);
        }
        Answer::Unknown(Why::Layer { name: self.name.clone(), message: format!("mismatch: {message}") })
    }
}

impl Layer for Verify {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let answer = rest.check(query).answer;
        let reference = self.reference.name().to_string();
        match &answer {
            // A layer below has found its own model to be wrong.
            Answer::Unknown(Why::WrongModel { name, message }) => {
                self.checked += 1;
                self.wrong_models += u64::from(matches!(self.ask(query, rest), Answer::Sat(_)));
                let message = format!("{name}: {message}");
                return self.mismatch(query, rest, message);
            }
            Answer::Unknown(_) => return answer,
            Answer::Sat(model) => {
                self.checked += 1;
                if let Err(violated) = rest.satisfies(query, model) {
                    self.wrong_models += u64::from(matches!(self.ask(query, rest), Answer::Sat(_)));
                    let message = format!("the model of a sat answer violates constraint {violated:?}");
                    return self.mismatch(query, rest, message);
                }
                match self.ask(query, rest) {
                    Answer::Sat(_) => {}
                    Answer::Unknown(_) => self.unconfirmed += 1,
                    // The model was evaluated above, so the reference is wrong.
                    Answer::Unsat(_) => {
                        let message = format!("{reference} answers unsat to a query that has a model");
                        return self.mismatch(query, rest, message);
                    }
                }
            }
            Answer::Unsat(core) => {
                self.checked += 1;
                let constraints = query.constraints(rest.tree);
                if let Some(foreign) = core.constraints.as_slice().iter().find(|e| !constraints.contains(e)) {
                    let message = format!("the core has {foreign:?}, which is not in the query");
                    return self.mismatch(query, rest, message);
                }
                let condition = if core.condition { query.condition } else { rest.graph.boolean(true) };
                let slice = constraints.iter().copied().filter(|&e| core.constraints.contains(e)).collect();
                let alone = Query { path: query.path, condition, slice: Some(slice) };
                match self.ask(&alone, rest) {
                    Answer::Unsat(_) => {}
                    Answer::Unknown(_) => self.unconfirmed += 1,
                    Answer::Sat(_) => {
                        let message = format!("{reference} finds a model of an unsat core");
                        return self.mismatch(query, rest, message);
                    }
                }
            }
        }
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.reference.sweep(alive);
    }

    fn drop_paths(&mut self, gone: &[u32]) {
        self.reference.drop_paths(gone);
    }

    fn forget(&mut self) {
        self.reference.forget();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        let counters = [
            ("checked", self.checked),
            ("mismatches", self.mismatches),
            ("wrong_models", self.wrong_models),
            ("unconfirmed", self.unconfirmed),
        ];
        counters.map(|(name, count)| (name.to_string(), count as f64)).to_vec()
    }
}
