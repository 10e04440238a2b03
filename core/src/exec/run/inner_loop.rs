//! The inner loop: executes one state until a decision is needed.
//!
//! Only numbers are handled here. An instruction is passed to `step/` if an operand is symbolic, an address
//! is not in the cache, or the operation could be an error. Indices are not checked: `Program::load` has
//! checked that every register, edge and block exists, and `code.rs` created the constants.
use super::Machine;
use super::code::{Code, NOTHING, Op};
use super::step::{Flow, StepResult};
use crate::exec::options::Tests;
use crate::exec::outcome::Outcome;
use crate::exec::state::State;
use crate::exec::state::frame::Frame;
use crate::exec::state::value::Value;
use crate::program::{BlockId, Inst, Reg};

/// Why the loop stopped.
#[derive(Debug)]
pub enum Stop {
    /// All instructions of the turn are executed.
    Fuel,
    /// Other states were forked, or the run is over.
    Forked,
    End(Outcome),
}

/// Registers and constants: the top bit of an operand selects.
struct Bank {
    base: [*mut Value; 2],
}

impl Bank {
    #[inline(always)]
    fn get(&self, operand: u32) -> Value {
        // SAFETY: see the head of the file.
        unsafe { *self.base[(operand >> 31) as usize].add((operand & !super::code::CONSTANT) as usize) }
    }

    #[inline(always)]
    fn set(&self, register: u32, word: u64) {
        // SAFETY: as above; destinations are registers.
        unsafe { *self.base[0].add(register as usize) = Value::number(word) }
    }
}

#[inline(always)]
fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width))
}

#[inline(always)]
fn signed(width: u8, word: u64) -> i64 {
    let shift = 64 - u32::from(width);
    ((word << shift) as i64) >> shift
}

impl Machine {
    /// Runs `state` for at most `fuel` instructions.
    pub fn run(&mut self, state: &mut State, fuel: u64) -> Stop {
        self.cache.clear();
        self.decider.take_shares_objects();
        let mut left = fuel;
        self.decider.begin_turn(state.executed, fuel);
        let stop = loop {
            match self.run_frames(state, &mut left) {
                Stop::End(outcome) if state.threads.is_some() => match self.end_of_threads(state, outcome) {
                    Some(outcome) => break Stop::End(outcome),
                    None if self.decider.is_interrupted() => break Stop::Forked,
                    None => {}
                },
                stop => break stop,
            }
        };
        self.decider.recorder.stats.instructions += fuel - left;
        state.executed += fuel - left;
        stop
    }

    fn run_frames(&mut self, state: &mut State, left: &mut u64) -> Stop {
        loop {
            let func = state.frame.func;
            self.decode(func);
            // Taken out so that it can be borrowed beside the machine; a nested call of the function returns
            // here first.
            let mut code = self.code[func.index()].take().expect("just decoded");
            let stop = self.run_function(state, &mut code, left);
            self.code[func.index()] = Some(code);
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    /// Executes an instruction, and drops the cache if the state now shares its objects with a fork. Only the
    /// loop below reads the cache. Not inlined: the loop keeps its registers.
    #[inline(never)]
    fn checked_step(&mut self, state: &mut State, left: u64) -> StepResult {
        self.decider.set_left(left);
        let result = self.step(state);
        if self.decider.take_shares_objects() {
            self.cache.clear();
        }
        result
    }

    /// Records that the state takes an edge (`Some`) or enters the function.
    #[cold]
    fn record_edge(&mut self, state: &mut State, code: &mut Code, edge: Option<u32>) {
        let (at, block) = match edge {
            Some(edge) => (edge as usize, BlockId(code.edges[edge as usize].block)),
            None => (code.edges.len(), BlockId(0)),
        };
        let untested = (self.options.tests == Tests::Coverage).then_some(&mut state.untested);
        let coverage = &mut self.decider.recorder.coverage;
        code.recorded[at] = coverage.record(state.frame.func, edge, block, untested);
    }

    /// Register of the caller that a result goes to, and its width: 0 if it takes none. `None` if there is no caller.
    #[inline]
    fn return_to(&self, state: &State) -> Option<(Reg, u32)> {
        let caller = state.frame.caller.as_deref()?;
        let function = &self.program.functions[caller.func.index()];
        let Inst::Call(call) = &function.insts[caller.pc as usize] else {
            unreachable!("the pc of a caller is its call")
        };
        Some((call.first, if call.results == 0 { 0 } else { function.width(call.first) }))
    }

    /// Returns `None` if another function is on top now.
    fn run_function(&mut self, state: &mut State, code: &mut Code, left: &mut u64) -> Option<Stop> {
        let bank = Bank { base: [state.frame.registers.as_mut_ptr(), code.constants.as_ptr().cast_mut()] };
        let mut pc = state.frame.pc as usize;
        if pc == 0 && !code.recorded[code.edges.len()] {
            self.record_edge(state, code, None);
        }
        macro_rules! other {
            () => {{
                state.frame.pc = pc as u32;
                match self.checked_step(state, *left) {
                    Ok(Flow::Next) => {
                        pc += 1;
                        if self.decider.is_interrupted() {
                            state.frame.pc = pc as u32;
                            return Some(Stop::Forked);
                        }
                    }
                    Ok(Flow::Edge(edge)) => {
                        state.note_edge(edge);
                        take!(edge);
                        if self.decider.is_interrupted() {
                            state.frame.pc = pc as u32;
                            return Some(Stop::Forked);
                        }
                    }
                    Ok(Flow::Frame) => {
                        return self.decider.is_interrupted().then_some(Stop::Forked);
                    }
                    Err(outcome) => return Some(Stop::End(outcome)),
                }
            }};
        }
        macro_rules! take {
            ($edge:expr) => {{
                let number = $edge;
                // SAFETY: edges, their moves and their blocks were checked on load.
                let edge = unsafe { *code.edges.get_unchecked(number as usize) };
                for i in edge.start..edge.end {
                    let (dst, src) = unsafe { *code.moves.get_unchecked(i as usize) };
                    let value = bank.get(src);
                    unsafe { *bank.base[0].add(dst as usize) = value };
                }
                if !unsafe { *code.recorded.get_unchecked(number as usize) } {
                    self.record_edge(state, code, Some(number));
                }
                pc = edge.pc as usize;
            }};
        }
        if let Some(edge) = state.edge.take() {
            state.note_edge(edge);
            take!(edge);
        }
        macro_rules! binary {
            ($dst:ident, $a:ident, $b:ident, |$x:ident, $y:ident| $result:expr) => {{
                let (a, b) = (bank.get($a), bank.get($b));
                if a.symbolic | b.symbolic {
                    other!();
                } else {
                    let ($x, $y) = (a.word, b.word);
                    bank.set($dst, $result);
                    pc += 1;
                }
            }};
        }
        // `step` handles division by zero, overflowing division and over-shifts.
        macro_rules! partial {
            ($dst:ident, $a:ident, $b:ident, |$x:ident, $y:ident| $fine:expr, $result:expr) => {{
                let (a, b) = (bank.get($a), bank.get($b));
                let ($x, $y) = (a.word, b.word);
                if a.symbolic | b.symbolic || !$fine {
                    other!();
                } else {
                    bank.set($dst, $result);
                    pc += 1;
                }
            }};
        }
        macro_rules! load {
            ($type:ty, $width:ident, $dst:ident, $addr:ident) => {{
                let address = bank.get($addr);
                match self.cache.readable(address.word, size_of::<$type>() as u64) {
                    Some(place) if !address.symbolic => {
                        // SAFETY: the cache entry covers these bytes.
                        let word = unsafe { place.cast::<$type>().read_unaligned() };
                        bank.set($dst, u64::from(<$type>::from_le(word)) & mask($width));
                        pc += 1;
                    }
                    Some(_) => other!(),
                    None => match self.cache.readable_in_page(address.word, size_of::<$type>() as u64) {
                        Some(place) if !address.symbolic => {
                            // SAFETY: as above.
                            let word = unsafe { place.cast::<$type>().read_unaligned() };
                            bank.set($dst, u64::from(<$type>::from_le(word)) & mask($width));
                            pc += 1;
                        }
                        Some(_) | None => other!(),
                    },
                }
            }};
        }
        macro_rules! store {
            ($type:ty, $value:ident, $addr:ident) => {{
                let (value, address) = (bank.get($value), bank.get($addr));
                match self.cache.writable(address.word, size_of::<$type>() as u64) {
                    Some(place) if !(address.symbolic | value.symbolic) => {
                        // SAFETY: the cache entry covers these bytes, and no other state shares them.
                        unsafe { place.cast::<$type>().write_unaligned((value.word as $type).to_le()) };
                        pc += 1;
                    }
                    Some(_) => other!(),
                    None => match self.cache.writable_in_page(address.word, size_of::<$type>() as u64) {
                        Some(place) if !(address.symbolic | value.symbolic) => {
                            // SAFETY: as above.
                            unsafe { place.cast::<$type>().write_unaligned((value.word as $type).to_le()) };
                            pc += 1;
                        }
                        Some(_) | None => other!(),
                    },
                }
            }};
        }
        loop {
            if *left == 0 {
                state.frame.pc = pc as u32;
                return Some(Stop::Fuel);
            }
            *left -= 1;
            debug_assert!(pc < code.ops.len());
            // SAFETY: a block ends in a terminator, so `pc` never runs past the function's instructions.
            match *unsafe { code.ops.get_unchecked(pc) } {
                Op::Add { width, dst, a, b } => binary!(dst, a, b, |x, y| x.wrapping_add(y) & mask(width)),
                Op::Sub { width, dst, a, b } => binary!(dst, a, b, |x, y| x.wrapping_sub(y) & mask(width)),
                Op::Mul { width, dst, a, b } => binary!(dst, a, b, |x, y| x.wrapping_mul(y) & mask(width)),
                Op::And { dst, a, b } => binary!(dst, a, b, |x, y| x & y),
                Op::Or { dst, a, b } => binary!(dst, a, b, |x, y| x | y),
                Op::Xor { dst, a, b } => binary!(dst, a, b, |x, y| x ^ y),
                Op::Shl { width, dst, a, b } => {
                    partial!(dst, a, b, |x, y| y < u64::from(width), x << y & mask(width))
                }
                Op::LShr { width, dst, a, b } => partial!(dst, a, b, |x, y| y < u64::from(width), x >> y),
                Op::AShr { width, dst, a, b } => partial!(
                    dst,
                    a,
                    b,
                    |x, y| y < u64::from(width),
                    (signed(width, x) >> y) as u64 & mask(width)
                ),
                Op::UDiv { dst, a, b } => partial!(dst, a, b, |x, y| y != 0, x / y),
                Op::URem { dst, a, b } => partial!(dst, a, b, |x, y| y != 0, x % y),
                Op::SDiv { width, dst, a, b } => partial!(
                    dst,
                    a,
                    b,
                    |x, y| y != 0 && y != mask(width),
                    (signed(width, x) / signed(width, y)) as u64 & mask(width)
                ),
                Op::SRem { width, dst, a, b } => partial!(
                    dst,
                    a,
                    b,
                    |x, y| y != 0 && y != mask(width),
                    (signed(width, x) % signed(width, y)) as u64 & mask(width)
                ),
                Op::Eq { dst, a, b } => binary!(dst, a, b, |x, y| (x == y).into()),
                Op::Ne { dst, a, b } => binary!(dst, a, b, |x, y| (x != y).into()),
                Op::Ult { dst, a, b } => binary!(dst, a, b, |x, y| (x < y).into()),
                Op::Ule { dst, a, b } => binary!(dst, a, b, |x, y| (x <= y).into()),
                Op::Slt { width, dst, a, b } => {
                    binary!(dst, a, b, |x, y| (signed(width, x) < signed(width, y)).into())
                }
                Op::Sle { width, dst, a, b } => {
                    binary!(dst, a, b, |x, y| (signed(width, x) <= signed(width, y)).into())
                }
                Op::Copy { dst, a } => {
                    let value = bank.get(a);
                    if value.symbolic {
                        other!();
                    } else {
                        bank.set(dst, value.word);
                        pc += 1;
                    }
                }
                Op::SExt { from, to, dst, a } => {
                    let value = bank.get(a);
                    if value.symbolic {
                        other!();
                    } else {
                        bank.set(dst, signed(from, value.word) as u64 & mask(to));
                        pc += 1;
                    }
                }
                Op::Trunc { width, dst, a } => {
                    let value = bank.get(a);
                    if value.symbolic {
                        other!();
                    } else {
                        bank.set(dst, value.word & mask(width));
                        pc += 1;
                    }
                }
                Op::Bool { dst, a } => {
                    let value = bank.get(a);
                    if value.symbolic || value.word > 1 {
                        other!();
                    } else {
                        bank.set(dst, value.word);
                        pc += 1;
                    }
                }
                Op::Select { dst, at } => {
                    // SAFETY: decoded together with the instruction.
                    let [cond, a, b] = unsafe { *code.selects.get_unchecked(at as usize) };
                    let cond = bank.get(cond);
                    if cond.symbolic {
                        other!();
                    } else {
                        let value = bank.get(if cond.word != 0 { a } else { b });
                        unsafe { *bank.base[0].add(dst as usize) = value };
                        pc += 1;
                    }
                }
                Op::Gep { dst, at } => {
                    // SAFETY: decoded together with the instruction.
                    let gep = unsafe { code.geps.get_unchecked(at as usize) };
                    let (base, index) = (bank.get(gep.base), bank.get(gep.index));
                    if base.symbolic | index.symbolic {
                        other!();
                    } else {
                        let index = ((index.word << gep.shift) as i64) >> gep.shift;
                        let distance = index.wrapping_mul(gep.scale).wrapping_add(gep.offset);
                        bank.set(dst, base.word.wrapping_add_signed(distance) & gep.mask);
                        pc += 1;
                    }
                }
                Op::Load8 { width, dst, addr } => load!(u8, width, dst, addr),
                Op::Load16 { width, dst, addr } => load!(u16, width, dst, addr),
                Op::Load32 { width, dst, addr } => load!(u32, width, dst, addr),
                Op::Load64 { width, dst, addr } => load!(u64, width, dst, addr),
                Op::Store8 { value, addr } => store!(u8, value, addr),
                Op::Store16 { value, addr } => store!(u16, value, addr),
                Op::Store32 { value, addr } => store!(u32, value, addr),
                Op::Store64 { value, addr } => store!(u64, value, addr),
                Op::Jump { edge } => take!(edge),
                Op::Branch { cond, then, other } => {
                    let cond = bank.get(cond);
                    if cond.symbolic {
                        other!();
                    } else {
                        let edge = if cond.word != 0 { then } else { other };
                        state.note_edge(edge);
                        take!(edge);
                    }
                }
                Op::Switch { value, at } => {
                    let value = bank.get(value);
                    if value.symbolic {
                        other!();
                    } else {
                        // SAFETY: decoded together with the instruction.
                        let switch = unsafe { code.switches.get_unchecked(at as usize) };
                        let found = switch.cases.binary_search_by_key(&value.word, |case| case.0);
                        let edge = found.map_or(switch.default, |i| switch.cases[i].1);
                        state.note_edge(edge);
                        take!(edge);
                    }
                }
                Op::Call { at } => {
                    if state.threads.is_some() || state.repetition_is_bug || self.hooks.is_some() {
                        other!();
                    } else {
                        // SAFETY: decoded together with the instruction.
                        let call = unsafe { code.calls.get_unchecked(at as usize) };
                        let mut frame = Frame::new(call.func, call.registers as usize);
                        for (register, operand) in frame.registers.iter_mut().zip(&call.arguments) {
                            *register = bank.get(*operand);
                        }
                        state.frame.pc = pc as u32;
                        state.frame.push(frame);
                        return match self.check_stack(state) {
                            Ok(()) => self.decider.is_interrupted().then_some(Stop::Forked),
                            Err(outcome) => Some(Stop::End(outcome)),
                        };
                    }
                }
                Op::Return { value, width } => {
                    let value = (value != NOTHING).then(|| bank.get(value));
                    match self.return_to(state) {
                        _ if state.threads.is_some() => other!(),
                        None => other!(),
                        // Also a function without a result that is called for one.
                        Some((_, to)) if to != 0 && to != u32::from(width) => other!(),
                        Some((register, to)) => {
                            self.end_locals(state);
                            state.frame.pop();
                            if let Some(value) = value
                                && to != 0
                            {
                                state.frame.registers[register.index()] = value;
                            }
                            state.frame.pc += 1;
                            return self.decider.is_interrupted().then_some(Stop::Forked);
                        }
                    }
                }
                Op::Other => other!(),
            }
        }
    }
}
