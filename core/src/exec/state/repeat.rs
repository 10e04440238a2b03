//! Recursion that provably repeats: a call with the arguments, the memory and the path condition of a call of the same function that is
//! still on the stack. What follows is a function of these, so that it leads to such a call again, without end.
//!
//! One earlier call is kept, at twice the depth each time, as in Brent's algorithm: a cycle is found at less than four times its first
//! depth. Nothing is compared on stacks below `LEAST_BYTES`.

use super::State;
use super::frame::Frame;
use super::value::Value;
use crate::program::FuncId;
use crate::query::Path;
use std::sync::Arc;

/// Stack size from which calls are compared: some hundred calls.
const LEAST_BYTES: u64 = 1 << 14;

/// A call on the stack.
pub struct Call {
    func: FuncId,
    pub arguments: Box<[Value]>,
    stack_bytes: u64,
    changes: u64,
    path: Path,
    /// Its caller: the same frame as long as it has not returned.
    caller: Arc<Frame>,
}

/// Result of comparing the newest call.
#[derive(PartialEq, Eq)]
pub enum Repetition {
    None,
    /// It is kept, to compare later ones with. The caller makes the next write of every object known to `Memory`.
    Kept,
    Found,
}

impl State {
    /// Does the call that was just made repeat one on the stack? `count` is the number of its arguments.
    pub fn repetition(&mut self, count: usize) -> Repetition {
        let bytes = self.frame.stack_bytes;
        if bytes < LEAST_BYTES {
            self.repeated = None;
            return Repetition::None;
        }
        if let Some(call) = &self.repeated {
            if self.is_same(call, count) && self.is_below(call) {
                return Repetition::Found;
            }
            if bytes < 2 * call.stack_bytes && bytes > call.stack_bytes / 2 {
                return Repetition::None;
            }
        }
        self.repeated = self.frame.caller.as_ref().map(|caller| {
            Arc::new(Call {
                func: self.frame.func,
                arguments: self.frame.registers[..count].into(),
                stack_bytes: bytes,
                changes: self.memory.changes(),
                path: self.path,
                caller: Arc::clone(caller),
            })
        });
        Repetition::Kept
    }

    fn is_same(&self, call: &Call, count: usize) -> bool {
        self.frame.func == call.func
            && self.frame.stack_bytes > call.stack_bytes
            && self.memory.changes() == call.changes
            && self.path == call.path
            && self.frame.registers[..count]
                .iter()
                .zip(&call.arguments)
                .all(|(a, b)| a.word == b.word && a.symbolic == b.symbolic)
    }

    fn is_below(&self, call: &Call) -> bool {
        self.frame
            .frames()
            .any(|frame| frame.caller.as_ref().is_some_and(|caller| Arc::ptr_eq(caller, &call.caller)))
    }
}
