//! A path that is executed again from its decisions, without a solver.
//!
//! The state has the model that its path had when it was given up, or a model of the path's end: it satisfies every
//! constraint of the path, and wherever the path had one continuation it gives the same one. Where the path decided, the
//! recorded choice is taken and its condition is added, after the model was evaluated. The last instruction of a path may
//! have been cut in the middle: what it decides after the last recorded decision is new, and decided as always.
//!
//! The past is compared with what was recorded at each decision, and last of all: number of instructions, place, and a rolling
//! hash of the edges that branches and switches took, so that a detour of as many instructions is seen too.
use super::Decider;
use super::strings::{Choice, Decision};
use crate::exec::record::place_at;
use crate::exec::state::State;
use crate::expr::Expr;
use std::collections::VecDeque;
use std::panic::resume_unwind;

/// A path to be executed again.
pub struct Replay {
    /// Decisions that are left.
    pub left: VecDeque<Decision>,
    /// Number of instructions that the path has executed.
    pub until: u64,
}

/// Payload of the unwinding where a path takes another course: a defect, with its message.
pub struct Divergence(pub String);

/// Role of a point on a path that is executed again.
pub(super) enum Next {
    /// A new one: the path is not executed again, or this is its end.
    Live,
    /// It has one continuation, that of the model.
    OneSided,
    Decided(Choice),
}

impl Decider {
    /// Is the current point one of the past of the path?
    #[inline]
    pub fn is_replaying(&self) -> bool {
        match &self.replay {
            None => false,
            Some(replay) => !replay.left.is_empty() || self.step() < replay.until,
        }
    }

    /// The path's decision at this point.
    #[inline]
    pub(super) fn next_decision(&mut self, state: &State, point: u32) -> Next {
        if self.replay.is_none() { Next::Live } else { self.next_recorded(state, point) }
    }

    #[cold]
    fn next_recorded(&mut self, state: &State, point: u32) -> Next {
        let at = (self.step(), point);
        let replay = self.replay.as_mut().expect("asked by the caller");
        let Some(&next) = replay.left.front() else {
            return if at.0 < replay.until { Next::OneSided } else { Next::Live };
        };
        if (next.step, next.point) > at {
            return Next::OneSided;
        }
        if (next.step, next.point, next.func, next.pc) != (at.0, at.1, state.frame.func, state.frame.pc) {
            self.diverge(state, "another point");
        }
        if next.course != (state.edges_taken >> 56) as u8 {
            self.diverge(state, "other edges on the way");
        }
        replay.left.pop_front();
        Next::Decided(next.choice)
    }

    /// Is a condition true under the path's model?
    pub(super) fn holds(&mut self, state: &State, condition: Expr) -> bool {
        let model = self.solver.tree.model(state.path).expect("a live state has a feasible path");
        self.solver.evaluator.under(&self.solver.graph, model).truth(condition)
    }

    /// Makes a recorded choice, whose condition the model must satisfy.
    pub(super) fn follow(&mut self, state: &mut State, point: u32, condition: Expr, choice: Choice) {
        if !self.holds(state, condition) {
            self.diverge(state, &format!("inputs that contradict {choice:?}"));
        }
        self.decided(state, point, choice);
        // Implied by the path condition, so it was no constraint either.
        if !matches!(choice, Choice::Only(_)) {
            self.add_constraint(state, condition);
        }
    }

    /// A path that is executed again takes another course. This is an error of ours: execution is not a function of the
    /// decisions, or the recorded ones are of another program.
    #[cold]
    pub fn diverge(&self, state: &State, found: &str) -> ! {
        let place = |func, pc| place_at(&self.program, func, pc);
        let expected = match self.replay.as_ref().and_then(|replay| replay.left.front()) {
            Some(next) => {
                format!("{:?} at {} after {} instructions", next.choice, place(next.func, next.pc), next.step)
            }
            None => {
                let until = self.replay.as_ref().map_or(0, |replay| replay.until);
                format!("the end of the recorded path after {until} instructions")
            }
        };
        let here = place(state.frame.func, state.frame.pc);
        let message = format!(
            "a path that was executed again took another course: expected {expected}, found {found} at {here} after {} instructions",
            self.step()
        );
        resume_unwind(Box::new(Divergence(message)))
    }
}
