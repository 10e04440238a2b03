//! Readable inputs: printable characters and small numbers, among the inputs that take the same path.
//!
//! When a path whose test is a file of its own ends, bytes of its model are replaced where the constraints
//! that mention them allow it. The result is a model of the same path; only the constraints that mention a
//! replaced byte are evaluated again. A byte that is read without its neighbours is treated as a character,
//! others as parts of numbers. Tests in the pack are not made readable: there are too many of them to be
//! read.
use super::Decider;
use crate::exec::options::Tests;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::record::writer::SINGLE_FILES;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::walk::Atom;
use crate::expr::{Bits, Expr, Model};
use crate::query::{Answer, Path, Status};
use smallvec::SmallVec;

/// Candidates for a character, in this order.
const CHARACTERS: &[u8] = b"a0 A-./:,_~";
/// Candidates for the lowest byte of a number whose higher byte becomes zero instead.
const SMALL: &[u8] = &[1, 2, 3, 4, 5, 8, 9, 10, 12, 16, 17, 32, 64, 100, 127, 128, 255];
/// Most bytes between a byte of a number and its lowest one.
const NUMBER_BYTES: u64 = 7;
/// Messages of bugs that do not depend on values, apart from those of assertions.
const DIVISION_BY_ZERO: &str = "division or remainder by zero";
const ANY_OFFSET: &str = "at a symbolic offset can leave";
/// Number of candidates tried per test, so that a long input costs no more than a short one.
const ATTEMPTS: u32 = 256;
/// Number of bytes looked at per test.
const MAX_LOOKS: u32 = 4096;
/// Nodes evaluated per test.
const MAX_NODES: u64 = 1 << 16;
/// Inputs of a constraint that are searched for adjacent bytes.
const MAX_NEIGHBOURS: usize = 64;

/// Constraints that a byte of an input can affect.
struct Mentions {
    constraints: Vec<Expr>,
    /// Some constraint also mentions an adjacent byte.
    in_number: bool,
}

impl Decider {
    /// Makes the inputs of a path that ends normally readable. Returns the exit status under the new model.
    pub fn readable_exit_status(&mut self, state: &State, status: Value) -> u64 {
        if self.gets_test(state) {
            if self.options.reproducible {
                self.settle(state);
            } else {
                let preferred = self.prefer(state);
                self.make_readable(state, &preferred);
            }
        }
        self.evaluate_word(state, status)
    }

    /// Are the inputs of this path reported, if it ends normally now?
    fn gets_test(&self, state: &State) -> bool {
        !state.is_silent
            && self.options.tests != Tests::Bugs
            && (self.recorder.keeps_finished() || self.wants_test(state))
    }

    /// Makes the inputs of a path into a bug those that the program prefers, and readable, if the bug's message does
    /// not depend on their values.
    pub fn make_bug_readable(&mut self, state: &State, outcome: &Outcome) {
        if self.options.reproducible {
            return self.settle(state);
        }
        let preferred = self.prefer(state);
        let Outcome::Bug { class, message } = outcome else { return };
        let is_fixed = match class {
            Class::Assert | Class::Abort | Class::Unreachable => true,
            _ => message == DIVISION_BY_ZERO || message.contains(ANY_OFFSET),
        };
        if is_fixed {
            self.make_readable(state, &preferred);
        }
    }

    /// Gives the path a model that satisfies the state's preferences, each if it agrees with the earlier ones. Returns
    /// those that hold. The path keeps its constraints.
    fn prefer(&mut self, state: &State) -> Vec<Expr> {
        if state.preferences.is_empty() {
            return Vec::new();
        }
        let (path, held) = self.preferred_path(state);
        let model = self.solver.tree.model(path).expect("a path with a model").clone();
        self.solver.tree.release(path);
        self.solver.tree.set_status(state.path, Status::Feasible(model));
        held
    }

    /// The path with the state's preferences, each if it agrees with the earlier ones, and those that hold. It has a model,
    /// and the caller releases it.
    pub(super) fn preferred_path(&mut self, state: &State) -> (Path, Vec<Expr>) {
        let mut held = Vec::new();
        let mut path = self.solver.tree.retain(state.path);
        for &condition in state.preferences.iter() {
            let Answer::Sat(model) = self.ask_on(state, path, condition) else { continue };
            held.push(condition);
            let node = self.solver.tree.extend(&self.solver.graph, path, condition);
            if node != path {
                self.solver.tree.set_status(node, Status::Feasible(model));
            }
            self.solver.tree.release(path);
            path = node;
        }
        (path, held)
    }

    fn make_readable(&mut self, state: &State, preferred: &[Expr]) {
        // The test of a seed is the seed.
        if !state.seeds.is_empty() {
            return;
        }
        if self.recorder.stats.tests >= SINGLE_FILES || state.inputs.is_empty() {
            return;
        }
        let mut model = self.model(state).clone();
        let (mut attempts, mut looks, work) = (ATTEMPTS, MAX_LOOKS, self.solver.evaluator.work());
        for input in state.inputs.in_order() {
            let Some(array) = model.array(input.array).cloned() else { continue };
            // The others are zero.
            for (at, now) in array.set_bytes().filter(|(at, byte)| *at < input.size && *byte != 0) {
                if attempts == 0 || looks == 0 || self.solver.evaluator.work() - work > MAX_NODES {
                    break;
                }
                looks -= 1;
                let Some(mentions) = self.mentions(state, preferred, input.array, at) else { break };
                if mentions.constraints.is_empty() {
                    continue;
                }
                let candidates: &[u8] = match (now, mentions.in_number) {
                    (b' '..=b'~', false) => continue,
                    (_, true) => &[0],
                    (_, false) => CHARACTERS,
                };
                for &candidate in candidates {
                    if attempts == 0 {
                        break;
                    }
                    attempts -= 1;
                    if self.try_bytes(&mut model, input.array, &[(at, candidate)], &mentions.constraints) {
                        break;
                    }
                }
                let is_left = model.array(input.array).map_or(0, |array| array.get_word(at)) as u8 == now;
                if !mentions.in_number || !is_left {
                    continue;
                }
                // The byte is needed for a large number, where a small one may do.
                let below = (at.saturating_sub(NUMBER_BYTES)..at).rev().map_while(|at| {
                    let other = self.mentions(state, preferred, input.array, at)?;
                    other.in_number.then_some((at, other))
                });
                let Some((lowest, others)) = below.last() else { continue };
                let concerned: Vec<Expr> =
                    mentions.constraints.iter().chain(&others.constraints).copied().collect();
                for &candidate in SMALL {
                    if attempts == 0 {
                        break;
                    }
                    attempts -= 1;
                    if self.try_bytes(&mut model, input.array, &[(at, 0), (lowest, candidate)], &concerned) {
                        break;
                    }
                }
            }
        }
        self.solver.tree.set_status(state.path, Status::Feasible(model));
    }

    /// Sets bytes of an array in the model, if these constraints then hold. Returns whether they do.
    fn try_bytes(
        &mut self,
        model: &mut Model,
        array: Expr,
        bytes: &[(u64, u8)],
        constraints: &[Expr],
    ) -> bool {
        let graph = &self.solver.graph;
        let index = |at: u64| Bits::word(crate::exec::state::contents::INDEX_WIDTH, at);
        let before: SmallVec<[u64; 2]> =
            bytes.iter().map(|(at, _)| model.array(array).map_or(0, |known| known.get_word(*at))).collect();
        for &(at, byte) in bytes {
            model.set_element(graph, array, &index(at), Bits::word(8, byte.into()));
        }
        let mut session = self.solver.evaluator.under(graph, model);
        let holds = constraints.iter().all(|e| session.truth(*e));
        if !holds {
            // Most attempts fail: taking one back costs less than a copy of the model for each.
            for (&(at, _), byte) in bytes.iter().zip(before) {
                model.set_element(graph, array, &index(at), Bits::word(8, byte));
            }
        }
        holds
    }

    /// Constraints and preferences that a byte can affect; `None` if the path uses its array as a whole.
    fn mentions(&mut self, state: &State, preferred: &[Expr], array: Expr, at: u64) -> Option<Mentions> {
        let mut constraints = self.solver.mentioning(state.path, Atom::Element(array, at))?;
        let is_adjacent = |atom: &Atom| match *atom {
            Atom::Element(other, place) => other == array && place.abs_diff(at) == 1,
            Atom::Variable(_) | Atom::Array(_) => false,
        };
        let in_number = constraints.iter().chain(preferred).any(|&e| {
            let atoms =
                self.solver.supports.nearest(&self.solver.graph, e, MAX_NEIGHBOURS, 4 * MAX_NEIGHBOURS);
            atoms.contains(&Atom::Element(array, at)) && atoms.iter().any(is_adjacent)
        });
        constraints.extend(preferred);
        Some(Mentions { constraints, in_number })
    }
}
