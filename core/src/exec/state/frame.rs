//! Activation of a function. Callers are shared, immutable frames; only the top frame changes.
use super::address::ObjectId;
use super::value::Value;
use crate::program::FuncId;
use smallvec::SmallVec;
use std::sync::Arc;

#[derive(Clone)]
pub struct Frame {
    pub func: FuncId,
    /// Next instruction; in a caller, the call.
    pub pc: u32,
    pub registers: Box<[Value]>,
    pub caller: Option<Arc<Frame>>,
    /// Objects whose life ends with the frame.
    pub locals: SmallVec<[ObjectId; 2]>,
    /// Local objects of variable size, in order of creation; `StackRestore` ends some earlier.
    pub dynamic: Vec<ObjectId>,
    /// Arguments of a variadic call, laid out by the calling convention.
    pub variadic: Option<ObjectId>,
    /// Calls of `setjmp` in this activation.
    pub jumps: Vec<Jump>,
    /// Estimated native stack size of this frame and all its callers.
    pub stack_bytes: u64,
}

/// A place that `longjmp` returns to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Jump {
    /// The value in the `jmp_buf`.
    pub token: u64,
    /// The call of `setjmp`.
    pub pc: u32,
    /// Number of objects of variable size at the last call: those made since then end with the jump.
    pub dynamic: usize,
}

/// Least stack size of a native call: return address, saved registers, alignment.
const CALL_BYTES: u64 = 48;

impl Frame {
    pub fn new(func: FuncId, registers: usize) -> Frame {
        Frame {
            func,
            pc: 0,
            registers: vec![Value::ZERO; registers].into(),
            caller: None,
            locals: SmallVec::new(),
            dynamic: Vec::new(),
            variadic: None,
            jumps: Vec::new(),
            stack_bytes: CALL_BYTES,
        }
    }

    /// Pushes `callee` on top of this frame.
    pub fn push(&mut self, mut callee: Frame) {
        callee.stack_bytes += self.stack_bytes;
        let below = std::mem::replace(self, callee);
        self.caller = Some(Arc::new(below));
    }

    /// Returns to the caller. False if there is none.
    pub fn pop(&mut self) -> bool {
        let Some(caller) = self.caller.take() else { return false };
        *self = Arc::try_unwrap(caller).unwrap_or_else(|shared| (*shared).clone());
        true
    }

    /// Do this frame and its callers equal another one and its callers? Numbers that only name objects are not compared:
    /// a call in a loop makes local variables again and again.
    pub fn is_same(&self, other: &Frame) -> bool {
        let same_frame = |a: &Frame, b: &Frame| {
            a.func == b.func
                && a.pc == b.pc
                && a.locals == b.locals
                && a.dynamic == b.dynamic
                && a.variadic == b.variadic
                && a.jumps == b.jumps
                && a.registers.iter().zip(&b.registers).all(|(x, y)| x.is_same(*y))
        };
        let (mut a, mut b) = (self, other);
        loop {
            if !same_frame(a, b) {
                return false;
            }
            match (&a.caller, &b.caller) {
                (None, None) => return true,
                (Some(x), Some(y)) if Arc::ptr_eq(x, y) => return true,
                (Some(x), Some(y)) => (a, b) = (x, y),
                (Some(_), None) | (None, Some(_)) => return false,
            }
        }
    }

    /// This frame and its callers, innermost first.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        std::iter::successors(Some(self), |frame| frame.caller.as_deref())
    }
}

/// Drops long chains of frames without recursion.
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
        assert_eq!(shared.frames().count(), 1_000_001);
        drop(shared);
    }

    #[test]
    fn a_shared_caller_is_copied_on_return() {
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
