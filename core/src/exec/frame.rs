//! An activation of a function. Callers hang below as shared, immutable frames; only the top one is changed.
use super::address::ObjectId;
use super::value::Value;
use crate::program::FuncId;
use std::sync::Arc;

#[derive(Clone)]
pub struct Frame {
    pub func: FuncId,
    /// The instruction to execute next; in a caller, the call itself.
    pub pc: u32,
    pub registers: Box<[Value]>,
    pub caller: Option<Arc<Frame>>,
    /// Objects that end with the frame.
    pub locals: Vec<ObjectId>,
    /// Those of variable size, in order of creation; `StackRestore` ends some earlier.
    pub dynamic: Vec<ObjectId>,
    /// All arguments of a variadic call, where the calling convention puts them.
    pub variadic: Option<ObjectId>,
    /// Calls of `setjmp` in this activation: what their `jmp_buf` holds, and where they are.
    pub jumps: Vec<(u64, u32)>,
    /// What this frame and all below it take on the stack, estimated as a native frame.
    pub stack: u64,
}

/// What a native call costs at least: return address, saved registers, alignment.
const CALL_BYTES: u64 = 48;

impl Frame {
    pub fn new(func: FuncId, registers: usize) -> Frame {
        Frame {
            func,
            pc: 0,
            registers: vec![Value::ZERO; registers].into(),
            caller: None,
            locals: Vec::new(),
            dynamic: Vec::new(),
            variadic: None,
            jumps: Vec::new(),
            stack: CALL_BYTES,
        }
    }

    /// Puts `callee` on top of this frame.
    pub fn push(&mut self, mut callee: Frame) {
        callee.stack += self.stack;
        let below = std::mem::replace(self, callee);
        self.caller = Some(Arc::new(below));
    }

    /// Goes back to the caller, if there is one.
    pub fn pop(&mut self) -> bool {
        let Some(caller) = self.caller.take() else { return false };
        *self = Arc::try_unwrap(caller).unwrap_or_else(|shared| (*shared).clone());
        true
    }

    /// This frame and those below it, innermost first.
    pub fn upwards(&self) -> impl Iterator<Item = &Frame> {
        std::iter::successors(Some(self), |frame| frame.caller.as_deref())
    }
}

/// Deep recursion makes long chains of frames: they are taken apart one by one.
impl Drop for Frame {
    fn drop(&mut self) {
        let mut next = self.caller.take();
        while let Some(Ok(mut frame)) = next.map(Arc::try_unwrap) {
            next = frame.caller.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_frames_are_dropped_without_recursion() {
        let mut top = Frame::new(FuncId(0), 1);
        for _ in 0..1_000_000 {
            top.push(Frame::new(FuncId(0), 1));
        }
        let shared = top.clone();
        drop(top);
        assert_eq!(shared.upwards().count(), 1_000_001);
        drop(shared);
    }

    #[test]
    fn a_shared_caller_is_copied_when_it_comes_back() {
        let mut top = Frame::new(FuncId(0), 2);
        top.registers[1] = Value::number(5);
        top.push(Frame::new(FuncId(1), 1));
        let mut other = top.clone();
        assert!(top.pop() && other.pop());
        top.registers[1] = Value::number(6);
        assert_eq!((top.registers[1].word, other.registers[1].word), (6, 5));
        assert!(!top.pop());
    }
}
