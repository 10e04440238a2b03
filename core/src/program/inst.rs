//! The instructions of a `Program`. The width of every operand follows from the instruction: the width of
//! `dst`, an explicit `width`, or fixed (64 for pointers and lengths, 1 for conditions). The semantics are
//! LLVM's (LangRef), for one thread.
use super::{BlockId, EdgeId, FuncId, GlobalId, Reg, StrId, WideId};
use smallvec::SmallVec;

/// An operand of an instruction. All but `Reg` are constants.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    Reg(Reg),
    /// A constant of at most 64 bits, zero-extended.
    Int(u64),
    /// A constant of more than 64 bits.
    Wide(WideId),
    /// The address of a global plus an offset in bytes (64 bits).
    Global {
        global: GlobalId,
        offset: i64,
    },
    /// The address of a function (64 bits).
    Func(FuncId),
    /// The address of a label (64 bits).
    Block {
        func: FuncId,
        block: BlockId,
    },
    /// Any value of the width; each use may have another one.
    Undef,
    /// The result of an erroneous operation; using it for control or memory is undefined behaviour.
    Poison,
}

/// Flags set by the compiler, kept for overflow checks: the result is poison if the property does not hold.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Flags(pub u8);

impl Flags {
    pub const NUW: u8 = 1;
    pub const NSW: u8 = 2;
    /// Divisions and right shifts: no remainder, no bit lost.
    pub const EXACT: u8 = 4;
    /// `Or`: no common bits. Shifts: the width or more gives poison. `UnOp::Abs`: the least value gives poison.
    /// `Ctlz`/`Cttz`: zero gives poison.
    pub const STRICT: u8 = 8;
    pub const ALL: u8 = 15;

    pub fn nuw(self) -> bool {
        self.0 & Flags::NUW != 0
    }
    pub fn nsw(self) -> bool {
        self.0 & Flags::NSW != 0
    }
    pub fn exact(self) -> bool {
        self.0 & Flags::EXACT != 0
    }
    pub fn strict(self) -> bool {
        self.0 & Flags::STRICT != 0
    }
}

/// Defines an enum with decoding from a number and printed names. `python/partita/llvm/write.py` has the same
/// lists in the same order.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum $name { $($variant,)* }
        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
            pub(super) fn decode(code: u32) -> Option<$name> {
                $name::ALL.get(code as usize).copied()
            }
        }
    };
}

named_enum!(/** Two operands and a result of one width. Division by zero and over-shifts are undefined behaviour. */ BinOp {
    Add "add", Sub "sub", Mul "mul", UDiv "udiv", SDiv "sdiv", URem "urem", SRem "srem",
    Shl "shl", LShr "lshr", AShr "ashr", And "and", Or "or", Xor "xor",
    UMin "umin", UMax "umax", SMin "smin", SMax "smax",
    UAddSat "uaddsat", SAddSat "saddsat", USubSat "usubsat", SSubSat "ssubsat", UShlSat "ushlsat", SShlSat "sshlsat",
});
named_enum!(/** One operand and a result of one width. */ UnOp {
    Ctpop "ctpop", Ctlz "ctlz", Cttz "cttz", Bswap "bswap", BitReverse "bitreverse", Abs "abs",
});
named_enum!(/** Arithmetic that also says whether it overflowed. */ OverflowOp {
    UAdd "uaddo", SAdd "saddo", USub "usubo", SSub "ssubo", UMul "umulo", SMul "smulo",
});
named_enum!(/** Integer comparisons. */ IntPred {
    Eq "eq", Ne "ne", Ugt "ugt", Uge "uge", Ult "ult", Ule "ule", Sgt "sgt", Sge "sge", Slt "slt", Sle "sle",
});
named_enum!(/** Changes of width. `Bool`: the value of a byte that is 0 or 1. */ CastOp {
    ZExt "zext", SExt "sext", Trunc "trunc", Bool "bool",
});
named_enum!(/** Format of a floating operation. */ FloatKind {
    Single "f32", Double "f64", X87 "f80", Half "f16", BFloat "bf16", Quad "f128",
});
named_enum!(/** Floating operations with two operands. `MinNum` ignores a NaN, `Minimum` returns it. */ FBinOp {
    Add "fadd", Sub "fsub", Mul "fmul", Div "fdiv", Rem "frem", CopySign "copysign",
    MinNum "minnum", MaxNum "maxnum", Minimum "minimum", Maximum "maximum",
});
named_enum!(/** Floating operations with one operand. `Rint` rounds in the mode of the path, `Round` to nearest, ties away
    from zero. */ FUnOp {
    Neg "fneg", Abs "fabs", Sqrt "sqrt", Floor "floor", Ceil "ceil", Trunc "trunc", Rint "rint", Round "round",
    RoundEven "roundeven",
});
named_enum!(/** Floating comparisons: `O` is false, `U` is true when an operand is NaN. */ FCmpPred {
    False "false", Oeq "oeq", Ogt "ogt", Oge "oge", Olt "olt", Ole "ole", One "one", Ord "ord",
    Ueq "ueq", Ugt "ugt", Uge "uge", Ult "ult", Ule "ule", Une "une", Uno "uno", True "true",
});

impl FloatKind {
    pub fn width(self) -> u32 {
        match self {
            FloatKind::Half | FloatKind::BFloat => 16,
            FloatKind::Single => 32,
            FloatKind::Double => 64,
            FloatKind::X87 => 80,
            FloatKind::Quad => 128,
        }
    }
}

impl CastOp {
    /// Returns whether the cast is valid between these widths, which must differ.
    pub fn fits(self, from: u32, to: u32) -> bool {
        match self {
            CastOp::ZExt | CastOp::SExt => from < to,
            CastOp::Trunc => from > to,
            CastOp::Bool => (from, to) == (8, 1),
        }
    }
}

/// A variable part of an address: `index`, sign-extended or truncated from `width` to 64 bits, times `scale`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Term {
    pub index: Operand,
    pub width: u32,
    pub scale: i64,
}

/// An argument of a call. Arguments are bound to parameters by position; `VaStart` needs their offsets.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Arg {
    pub value: Operand,
    pub width: u32,
    /// Offset in the frame that `VaStart` creates, as in the System V x86-64 calling convention: general
    /// registers in 0..48, vector registers in 48..176, the stack from 176 on. With pointers of 32 bits all are on the
    /// stack, from 0 on.
    pub place: u32,
    /// 0, or the number of bytes that `value` points to and that are passed at `place` (a structure by
    /// value).
    pub bytes: u32,
    /// Whether it is sign-extended where the callee expects a wider one; otherwise zero-extended.
    pub signed: bool,
    /// Whether it is an integer of at most the width of a pointer, or a pointer. Always true with pointers of 64 bits, for
    /// which `place` says it.
    pub is_word: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    Direct(FuncId),
    Indirect(Operand),
}

/// A call. Results are the registers `first .. first + results` (none for void or unused). If the callee has
/// other result widths or more parameters than there are arguments, it was called through a wrong type:
/// undefined behaviour, which the executor reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub callee: Callee,
    pub args: Box<[Arg]>,
    pub first: Reg,
    pub results: u32,
    /// Whether the result is an integer of at most 64 bits, a pointer, or none.
    pub integer: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inst {
    Bin {
        op: BinOp,
        flags: Flags,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Un {
        op: UnOp,
        flags: Flags,
        dst: Reg,
        a: Operand,
    },
    /// `dst` gets the wrapped result, `overflow` (1 bit) whether it differs from the exact result.
    Overflow {
        op: OverflowOp,
        dst: Reg,
        overflow: Reg,
        a: Operand,
        b: Operand,
    },
    /// Shifts the concatenation `a:b` by `c` modulo the width; the result is the upper (`left`) or lower
    /// half.
    Funnel {
        left: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `width` is that of the operands; `dst` has 1 bit.
    Cmp {
        pred: IntPred,
        width: u32,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `width` is that of the operand.
    Cast {
        op: CastOp,
        width: u32,
        dst: Reg,
        a: Operand,
    },
    Select {
        dst: Reg,
        cond: Operand,
        a: Operand,
        b: Operand,
    },
    Copy {
        dst: Reg,
        a: Operand,
    },
    /// Like `Copy`, but an undefined operand becomes one arbitrary, fixed value.
    Freeze {
        dst: Reg,
        a: Operand,
    },
    /// Reads `ceil(width(dst) / 8)` bytes, little-endian; surplus high bits are dropped.
    Load {
        dst: Reg,
        addr: Operand,
        align: u32,
    },
    /// Writes `ceil(width / 8)` bytes, little-endian; surplus high bits are written as zero.
    Store {
        width: u32,
        value: Operand,
        addr: Operand,
        align: u32,
    },
    /// Creates an object of the frame. `fixed`: in the entry block and of constant size, so it is created
    /// once per call and `StackRestore` does not free it.
    Alloca {
        dst: Reg,
        size: Operand,
        align: u32,
        fixed: bool,
        /// As in `Global`.
        element_bytes: u8,
    },
    /// `base + offset + sum of terms`, modulo 2^64. `inbounds`: leaving the object of `base` is undefined behaviour.
    Gep {
        inbounds: bool,
        dst: Reg,
        base: Operand,
        offset: i64,
        terms: Box<[Term]>,
    },
    Call(Box<Call>),
    /// Copies `len` (64 bits) bytes; `overlap` says whether the two may overlap (memmove).
    MemCopy {
        overlap: bool,
        dst: Operand,
        src: Operand,
        len: Operand,
    },
    /// Sets `len` (64 bits) bytes to `value` (8 bits).
    MemSet {
        dst: Operand,
        value: Operand,
        len: Operand,
    },
    /// Creates an object (once per call, aligned to 16) with every argument of the call at its `Arg::place`,
    /// as large as needed and at least 176 bytes, and writes a `va_list` (24 bytes) to `list`: `gp` and `fp`
    /// (4 bytes each), the object's address plus `stack`, the object's address. clang expands `va_arg`
    /// itself.
    VaStart {
        list: Operand,
        gp: u32,
        fp: u32,
        stack: u32,
    },
    /// Stores a mark (64 bits) of the current non-`fixed` allocas.
    StackSave {
        dst: Reg,
    },
    /// Frees the non-`fixed` allocas created since `mark`.
    StackRestore {
        mark: Operand,
    },
    /// The scope of the local variable at `addr` begins, with undefined contents, or ends: it must not be accessed
    /// until it begins again.
    Scope {
        begins: bool,
        addr: Operand,
    },
    /// Undefined behaviour if `cond` (1 bit) is false.
    Assume {
        cond: Operand,
    },
    FBin {
        op: FBinOp,
        kind: FloatKind,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    FUn {
        op: FUnOp,
        kind: FloatKind,
        dst: Reg,
        a: Operand,
    },
    /// `a * b + c`, rounded once.
    Fma {
        kind: FloatKind,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    FCmp {
        pred: FCmpPred,
        /// A quiet NaN raises the exception flag of an invalid operation too.
        signals: bool,
        kind: FloatKind,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// Tests `a` for the classes of `mask`, as `llvm.is.fpclass` numbers them; `dst` has 1 bit.
    FClass {
        kind: FloatKind,
        mask: u32,
        dst: Reg,
        a: Operand,
    },
    /// Converts to an integer of the width of `dst`, towards zero. Out of range: with `saturate` the nearest
    /// value and 0 for NaN, otherwise poison.
    FToInt {
        signed: bool,
        saturate: bool,
        kind: FloatKind,
        dst: Reg,
        a: Operand,
    },
    /// Converts from an integer of `width` bits, to nearest even.
    IntToF {
        signed: bool,
        width: u32,
        kind: FloatKind,
        dst: Reg,
        a: Operand,
    },
    /// Converts between floating-point formats.
    FCast {
        from: FloatKind,
        to: FloatKind,
        dst: Reg,
        a: Operand,
    },
    /// `__builtin_trap` and similar: abnormal end of the program. Not a terminator, but nothing is executed
    /// after it.
    Trap,
    /// An unsupported construct: ends the path with the message, which names it. Not a terminator.
    Unsupported {
        message: StrId,
    },

    // Terminators.
    Jump {
        edge: EdgeId,
    },
    Branch {
        cond: Operand,
        then: EdgeId,
        other: EdgeId,
    },
    /// `width` is at most 64. `cases` ascend by value and have no duplicates.
    Switch {
        width: u32,
        value: Operand,
        cases: Box<[(u64, EdgeId)]>,
        default: EdgeId,
    },
    /// Jumps to the block with address `addr`, which is a target of `edges`.
    IndirectBr {
        addr: Operand,
        edges: Box<[EdgeId]>,
    },
    /// Follows a call that may throw: jumps to `normal`. If an exception leaves the call, `first` gets the exception,
    /// the next register the selector, and `unwind` is taken. `clauses` is the address of the landing pad's table
    /// (`runtime/cpp/unwind.cpp`).
    Landing {
        normal: EdgeId,
        unwind: EdgeId,
        first: Reg,
        clauses: Operand,
    },
    Ret {
        values: Box<[Operand]>,
    },
    Unreachable,
}

impl Inst {
    pub fn is_terminator(&self) -> bool {
        match self {
            Inst::Jump { .. }
            | Inst::Branch { .. }
            | Inst::Switch { .. }
            | Inst::IndirectBr { .. }
            | Inst::Landing { .. }
            | Inst::Ret { .. }
            | Inst::Unreachable => true,
            Inst::Bin { .. }
            | Inst::Un { .. }
            | Inst::Overflow { .. }
            | Inst::Funnel { .. }
            | Inst::Cmp { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Copy { .. }
            | Inst::Freeze { .. }
            | Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Alloca { .. }
            | Inst::Gep { .. }
            | Inst::Call(_)
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
            | Inst::Unsupported { .. } => false,
        }
    }

    /// Returns the possible successors of a terminator, each edge once.
    pub fn edges(&self) -> SmallVec<[EdgeId; 2]> {
        let mut all = SmallVec::new();
        if let Inst::Jump { edge } = self {
            all.push(*edge);
        } else if let Inst::Branch { then, other, .. } = self {
            all.extend([*then, *other]);
        } else if let Inst::Switch { cases, default, .. } = self {
            all.push(*default);
            all.extend(cases.iter().map(|case| case.1));
        } else if let Inst::IndirectBr { edges, .. } = self {
            all.extend(edges.iter().copied());
        } else if let Inst::Landing { normal, unwind, .. } = self {
            all.extend([*normal, *unwind]);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Visits every operand, including an indirect callee, in no particular order.
    pub fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Operand)) {
        match self {
            Inst::Bin { a, b, .. }
            | Inst::Overflow { a, b, .. }
            | Inst::Cmp { a, b, .. }
            | Inst::FBin { a, b, .. }
            | Inst::FCmp { a, b, .. } => [a, b].into_iter().for_each(visit),
            Inst::Un { a, .. }
            | Inst::Cast { a, .. }
            | Inst::Copy { a, .. }
            | Inst::Freeze { a, .. }
            | Inst::FUn { a, .. }
            | Inst::FClass { a, .. }
            | Inst::FToInt { a, .. }
            | Inst::IntToF { a, .. }
            | Inst::FCast { a, .. } => visit(a),
            Inst::Funnel { a, b, c, .. } | Inst::Fma { a, b, c, .. } => [a, b, c].into_iter().for_each(visit),
            Inst::Select { cond, a, b, .. } => [cond, a, b].into_iter().for_each(visit),
            Inst::Load { addr, .. } => visit(addr),
            Inst::Store { value, addr, .. } => [value, addr].into_iter().for_each(visit),
            Inst::Alloca { size, .. } => visit(size),
            Inst::Gep { base, terms, .. } => {
                visit(base);
                terms.iter_mut().for_each(|t| visit(&mut t.index));
            }
            Inst::Call(call) => {
                match &mut call.callee {
                    Callee::Direct(_) => {}
                    Callee::Indirect(operand) => visit(operand),
                }
                call.args.iter_mut().for_each(|arg| visit(&mut arg.value));
            }
            Inst::MemCopy { dst, src, len, .. } => [dst, src, len].into_iter().for_each(visit),
            Inst::MemSet { dst, value, len } => [dst, value, len].into_iter().for_each(visit),
            Inst::VaStart { list, .. } => visit(list),
            Inst::StackRestore { mark } => visit(mark),
            Inst::Scope { addr, .. } => visit(addr),
            Inst::Assume { cond } | Inst::Branch { cond, .. } => visit(cond),
            Inst::Switch { value, .. } => visit(value),
            Inst::IndirectBr { addr, .. } => visit(addr),
            Inst::Landing { clauses, .. } => visit(clauses),
            Inst::Ret { values } => values.iter_mut().for_each(visit),
            Inst::StackSave { .. }
            | Inst::Trap
            | Inst::Unsupported { .. }
            | Inst::Jump { .. }
            | Inst::Unreachable => {}
        }
    }
}
