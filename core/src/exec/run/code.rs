//! Decoded functions for the inner loop: one small instruction per program instruction, at the same index.
//!
//! Operands are indices: of registers, or with `CONSTANT` set of constants, in which addresses of globals and
//! functions are already numbers. `Op::Other` is an instruction that the inner loop does not handle: the step
//! functions execute it from the program itself. They also execute every instruction with a symbolic operand,
//! so an `Op` only defines numbers of at most 64 bits.
use crate::exec::options::Checks;
use crate::exec::state::address;
use crate::exec::state::value::Value;
use crate::expr::{Bits, Graph, Poison, Sort};
use crate::program::{self, BinOp, Callee, CastOp, FuncId, Function, Inst, IntPred, Operand, Program, Reg};
use rustc_hash::FxHashMap;

/// Flag of operands that are constants.
pub const CONSTANT: u32 = 1 << 31;

macro_rules! operations {
    ([$($sized:ident)*] [$($plain:ident)*]) => {
        /// 16 bytes. `width` is the width of the operands.
        #[derive(Clone, Copy, Debug)]
        pub enum Op {
            $($sized { width: u8, dst: u32, a: u32, b: u32 },)*
            $($plain { dst: u32, a: u32, b: u32 },)*
            /// Also zero extensions.
            Copy { dst: u32, a: u32 },
            SExt { from: u8, to: u8, dst: u32, a: u32 },
            Trunc { width: u8, dst: u32, a: u32 },
            /// The value of a byte that is 0 or 1.
            Bool { dst: u32, a: u32 },
            Select { dst: u32, at: u32 },
            /// Address computation with at most one variable part.
            Gep { dst: u32, at: u32 },
            Load8 { width: u8, dst: u32, addr: u32 },
            Load16 { width: u8, dst: u32, addr: u32 },
            Load32 { width: u8, dst: u32, addr: u32 },
            Load64 { width: u8, dst: u32, addr: u32 },
            Store8 { value: u32, addr: u32 },
            Store16 { value: u32, addr: u32 },
            Store32 { value: u32, addr: u32 },
            Store64 { value: u32, addr: u32 },
            Jump { edge: u32 },
            Branch { cond: u32, then: u32, other: u32 },
            Switch { value: u32, at: u32 },
            /// Call of a function with a body that has as many parameters, of the same widths.
            Call { at: u32 },
            /// Return of at most one value.
            Return { value: u32, width: u8 },
            Other,
        }
    };
}
operations!([Add Sub Mul Shl LShr AShr SDiv SRem Slt Sle] [And Or Xor UDiv URem Eq Ne Ult Ule]);

/// Target of an edge, and its moves `start..end`.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub pc: u32,
    pub block: u32,
    pub start: u32,
    pub end: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Gep {
    pub base: u32,
    pub index: u32,
    /// Shift that moves the sign of the index to the top bit.
    pub shift: u32,
    pub scale: i64,
    pub offset: i64,
    /// Bits that an address has.
    pub mask: u64,
}

/// Call that only copies its arguments.
#[derive(Debug)]
pub struct Call {
    pub func: FuncId,
    pub registers: u32,
    pub arguments: Box<[u32]>,
}

/// Cases in order, each with its edge.
#[derive(Debug)]
pub struct Switch {
    pub cases: Box<[(u64, u32)]>,
    pub default: u32,
}

#[derive(Debug)]
pub struct Code {
    pub ops: Box<[Op]>,
    pub constants: Box<[Value]>,
    pub edges: Box<[Edge]>,
    pub moves: Box<[(u32, u32)]>,
    pub geps: Box<[Gep]>,
    /// Condition and both values.
    pub selects: Box<[[u32; 3]]>,
    pub switches: Box<[Switch]>,
    pub calls: Box<[Call]>,
    /// True if taking the edge needs no recording any more; the last one is for the function's entry.
    pub recorded: Box<[bool]>,
}

/// Addresses of globals, by id.
pub type Globals = [u64];

/// Value of a constant operand.
pub fn constant(
    program: &Program,
    globals: &Globals,
    graph: &mut Graph,
    operand: Operand,
    width: u32,
) -> Value {
    let number = match operand {
        Operand::Reg(_) => unreachable!("a register is not a constant"),
        Operand::Int(word) => word,
        Operand::Wide(id) => {
            let e = graph.constant(Bits::from_words(width, &program.wides[id.index()]));
            return Value { word: e.to_word(), symbolic: true };
        }
        Operand::Global { global, offset } => globals[global.index()].wrapping_add_signed(offset),
        Operand::Func(func) => address::of_function(func, program.pointers),
        Operand::Block { func, block } => address::of_label(func, block, program.pointers),
        Operand::Undef | Operand::Poison => {
            let sort = if width == 1 { Sort::Bool } else { Sort::Bits(width) };
            let is_poison = operand == Operand::Poison;
            let e = if is_poison {
                graph.fresh_poison(Poison::Flags, sort)
            } else {
                graph.fresh_placeholder(sort)
            };
            return Value { word: e.to_word(), symbolic: true };
        }
    };
    if width > 64 {
        let e = graph.constant(Bits::word(width, number));
        return Value { word: e.to_word(), symbolic: true };
    }
    Value::number(number)
}

/// Operand of a return without a value.
pub const NOTHING: u32 = u32::MAX;

/// Each use of such an operand is a value of its own.
fn is_undefined(operand: Operand) -> bool {
    matches!(operand, Operand::Undef | Operand::Poison)
}

struct Decoder<'a> {
    program: &'a Program,
    function: &'a Function,
    globals: &'a Globals,
    graph: &'a mut Graph,
    checks: Checks,
    constants: Vec<Value>,
    known: FxHashMap<(u64, bool), u32>,
    geps: Vec<Gep>,
    selects: Vec<[u32; 3]>,
    switches: Vec<Switch>,
    calls: Vec<Call>,
}

pub fn decode(program: &Program, func: FuncId, globals: &Globals, checks: Checks, graph: &mut Graph) -> Code {
    let function = &program.functions[func.index()];
    let mut decoder = Decoder {
        program,
        function,
        globals,
        graph,
        checks: if function.library { Checks::default() } else { checks },
        constants: Vec::new(),
        known: FxHashMap::default(),
        geps: Vec::new(),
        selects: Vec::new(),
        switches: Vec::new(),
        calls: Vec::new(),
    };
    let ops = function.insts.iter().map(|inst| decoder.inst(inst)).collect();
    let moves =
        function.moves.iter().map(|m| (m.dst.0, decoder.operand(m.src, function.width(m.dst)))).collect();
    let edge = |e: &crate::program::Edge| Edge {
        pc: function.blocks[e.to.index()].start,
        block: e.to.0,
        start: e.start,
        end: e.end,
    };
    let edges = function.edges.iter().map(edge).collect();
    Code {
        ops,
        constants: decoder.constants.into(),
        edges,
        moves,
        geps: decoder.geps.into(),
        selects: decoder.selects.into(),
        switches: decoder.switches.into(),
        calls: decoder.calls.into(),
        recorded: vec![false; function.edges.len() + 1].into(),
    }
}

impl Decoder<'_> {
    fn operand(&mut self, operand: Operand, width: u32) -> u32 {
        let value = match operand {
            Operand::Reg(reg) => return reg.0,
            Operand::Int(_)
            | Operand::Wide(_)
            | Operand::Global { .. }
            | Operand::Func(_)
            | Operand::Block { .. }
            | Operand::Undef
            | Operand::Poison => constant(self.program, self.globals, self.graph, operand, width),
        };
        let next = self.constants.len() as u32;
        let place = *self.known.entry((value.word, value.symbolic)).or_insert(next);
        if place == next {
            self.constants.push(value);
        }
        CONSTANT | place
    }

    fn inst(&mut self, inst: &Inst) -> Op {
        match *inst {
            // The step functions check over-shifts, which the inner loop never handles.
            Inst::Bin { flags, .. } if self.checks.overflow && flags.nsw() => Op::Other,
            Inst::Bin { op, dst, a, b, .. } => self.bin(op, dst, a, b),
            Inst::Cmp { pred, width, dst, a, b } if width <= 64 => self.cmp(pred, width, dst, a, b),
            Inst::Cast { op, width, dst, a } if width <= 64 && self.function.width(dst) <= 64 => {
                let to = self.function.width(dst) as u8;
                let (dst, a) = (dst.0, self.operand(a, width));
                match op {
                    CastOp::ZExt => Op::Copy { dst, a },
                    CastOp::SExt => Op::SExt { from: width as u8, to, dst, a },
                    CastOp::Bool if !self.function.library => Op::Bool { dst, a },
                    CastOp::Trunc | CastOp::Bool => Op::Trunc { width: to, dst, a },
                }
            }
            Inst::Copy { dst, a } | Inst::Freeze { dst, a } => {
                Op::Copy { dst: dst.0, a: self.operand(a, self.function.width(dst)) }
            }
            Inst::Select { dst, cond, a, b } => {
                let width = self.function.width(dst);
                let parts = [self.operand(cond, 1), self.operand(a, width), self.operand(b, width)];
                self.selects.push(parts);
                Op::Select { dst: dst.0, at: self.selects.len() as u32 - 1 }
            }
            Inst::Gep { dst, base, offset, ref terms, .. } if terms.len() <= 1 => {
                let base = self.operand(base, 64);
                let (index, width, scale) = match terms.first() {
                    Some(term) if term.width > 64 => return Op::Other,
                    Some(term) => (self.operand(term.index, term.width), term.width, term.scale),
                    None => (self.operand(Operand::Int(0), 64), 64, 0),
                };
                let mask = crate::expr::bits::mask(self.program.pointers.bits());
                self.geps.push(Gep { base, index, shift: 64 - width, scale, offset, mask });
                Op::Gep { dst: dst.0, at: self.geps.len() as u32 - 1 }
            }
            Inst::Load { align, .. } | Inst::Store { align, .. } if self.checks.alignment && align > 1 => {
                Op::Other
            }
            Inst::Load { dst, addr, .. } => {
                let (width, addr) = (self.function.width(dst), self.operand(addr, 64));
                let (w, dst) = (width.min(64) as u8, dst.0);
                match width {
                    1..=8 => Op::Load8 { width: w, dst, addr },
                    9..=16 => Op::Load16 { width: w, dst, addr },
                    25..=32 => Op::Load32 { width: w, dst, addr },
                    57..=64 => Op::Load64 { width: w, dst, addr },
                    0 | 17..=24 | 33..=56 | 65.. => Op::Other,
                }
            }
            Inst::Store { width, value, addr, .. } => {
                let (value, addr) = (self.operand(value, width), self.operand(addr, 64));
                match width {
                    1..=8 => Op::Store8 { value, addr },
                    9..=16 => Op::Store16 { value, addr },
                    25..=32 => Op::Store32 { value, addr },
                    57..=64 => Op::Store64 { value, addr },
                    0 | 17..=24 | 33..=56 | 65.. => Op::Other,
                }
            }
            Inst::Jump { edge } | Inst::Landing { normal: edge, .. } => Op::Jump { edge: edge.0 },
            Inst::Branch { cond, then, other } => {
                Op::Branch { cond: self.operand(cond, 1), then: then.0, other: other.0 }
            }
            Inst::Switch { width, value, ref cases, default } if width <= 64 && !is_undefined(value) => {
                let cases = cases.iter().map(|(case, edge)| (*case, edge.0)).collect();
                self.switches.push(Switch { cases, default: default.0 });
                Op::Switch { value: self.operand(value, width), at: self.switches.len() as u32 - 1 }
            }
            Inst::Call(ref call) => self.call(call),
            Inst::Ret { ref values } => match **values {
                [] => Op::Return { value: NOTHING, width: 0 },
                [value] if !is_undefined(value) && matches!(*self.function.results, [..=64]) => {
                    let width = self.function.results[0];
                    Op::Return { value: self.operand(value, width), width: width as u8 }
                }
                _ => Op::Other,
            },
            Inst::Cmp { .. }
            | Inst::Cast { .. }
            | Inst::Gep { .. }
            | Inst::Un { .. }
            | Inst::Overflow { .. }
            | Inst::Funnel { .. }
            | Inst::Alloca { .. }
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::VaStart { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. }
            | Inst::Scope { .. }
            | Inst::Assume { .. }
            | Inst::FBin { .. }
            | Inst::FUn { .. }
            | Inst::Fma { .. }
            | Inst::FCmp { .. }
            | Inst::FClass { .. }
            | Inst::FToInt { .. }
            | Inst::IntToF { .. }
            | Inst::FCast { .. }
            | Inst::Trap
            | Inst::Unsupported { .. }
            | Inst::Switch { .. }
            | Inst::IndirectBr { .. }
            | Inst::Unreachable => Op::Other,
        }
    }

    /// The function is entered by copying operands if nothing is converted and no memory is needed.
    fn call(&mut self, call: &program::Call) -> Op {
        let Callee::Direct(func) = call.callee else { return Op::Other };
        let callee = &self.program.functions[func.index()];
        let is_plain = callee.is_defined()
            && !callee.variadic
            && call.args.len() == callee.params as usize
            && call.args.iter().zip(&callee.widths).all(|(arg, width)| arg.width == *width)
            && call.args.iter().all(|arg| !is_undefined(arg.value))
            && (call.results == 0
                || call.results as usize == callee.results.len()
                    && (call.first.0..)
                        .zip(&callee.results)
                        .all(|(register, width)| self.function.width(Reg(register)) == *width));
        if !is_plain {
            return Op::Other;
        }
        let arguments = call.args.iter().map(|arg| self.operand(arg.value, arg.width)).collect();
        self.calls.push(Call { func, registers: callee.widths.len() as u32, arguments });
        Op::Call { at: self.calls.len() as u32 - 1 }
    }

    fn bin(&mut self, op: BinOp, dst: Reg, a: Operand, b: Operand) -> Op {
        let width = self.function.width(dst);
        if width > 64 {
            return Op::Other;
        }
        let (a, b) = (self.operand(a, width), self.operand(b, width));
        let (width, dst) = (width as u8, dst.0);
        match op {
            BinOp::Add => Op::Add { width, dst, a, b },
            BinOp::Sub => Op::Sub { width, dst, a, b },
            BinOp::Mul => Op::Mul { width, dst, a, b },
            BinOp::And => Op::And { dst, a, b },
            BinOp::Or => Op::Or { dst, a, b },
            BinOp::Xor => Op::Xor { dst, a, b },
            BinOp::Shl => Op::Shl { width, dst, a, b },
            BinOp::LShr => Op::LShr { width, dst, a, b },
            BinOp::AShr => Op::AShr { width, dst, a, b },
            BinOp::UDiv => Op::UDiv { dst, a, b },
            BinOp::URem => Op::URem { dst, a, b },
            BinOp::SDiv => Op::SDiv { width, dst, a, b },
            BinOp::SRem => Op::SRem { width, dst, a, b },
            BinOp::UMin
            | BinOp::UMax
            | BinOp::SMin
            | BinOp::SMax
            | BinOp::UAddSat
            | BinOp::SAddSat
            | BinOp::USubSat
            | BinOp::SSubSat
            | BinOp::UShlSat
            | BinOp::SShlSat => Op::Other,
        }
    }

    fn cmp(&mut self, pred: IntPred, width: u32, dst: Reg, a: Operand, b: Operand) -> Op {
        let (a, b) = (self.operand(a, width), self.operand(b, width));
        let (width, dst) = (width as u8, dst.0);
        match pred {
            IntPred::Eq => Op::Eq { dst, a, b },
            IntPred::Ne => Op::Ne { dst, a, b },
            IntPred::Ult => Op::Ult { dst, a, b },
            IntPred::Ule => Op::Ule { dst, a, b },
            IntPred::Slt => Op::Slt { width, dst, a, b },
            IntPred::Sle => Op::Sle { width, dst, a, b },
            IntPred::Ugt => Op::Ult { dst, a: b, b: a },
            IntPred::Uge => Op::Ule { dst, a: b, b: a },
            IntPred::Sgt => Op::Slt { width, dst, a: b, b: a },
            IntPred::Sge => Op::Sle { width, dst, a: b, b: a },
        }
    }
}
