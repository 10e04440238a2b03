//! What is executed: a `Program` is a linked, checked set of functions and globals with dense ids.
//!
//! It is made by `python/partita/llvm` (from LLVM's textual IR), stored in the format of `load.rs`, checked by `check.rs`
//! and linked by name by `link.rs`. After `Program::load` every id is in range, every width fits, every block ends in its
//! only terminator and no operand names an alias, so that whoever executes it may index without checking.
//! Values are scalars of untyped bits: aggregates and vectors were taken apart by the lowering.
mod check;
mod dump;
mod inst;
mod link;
mod load;
#[cfg(test)]
mod tests;

pub use inst::{
    Arg, BinOp, Call, Callee, CastOp, FBinOp, FCmpPred, FUnOp, Flags, FloatKind, Inst, IntPred, Operand,
    OverflowOp, Term, UnOp,
};
pub use load::LoadError;

/// Version of the serialised form; `python/partita/llvm/write.py` writes the same number.
pub const FORMAT_VERSION: u32 = 1;

/// The widest register, in bits.
pub const MAX_WIDTH: u32 = 1 << 16;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
        impl $name {
            #[inline]
            pub fn index(self) -> usize { self.0 as usize }
        }
    };
}
id!(/** A function of the program, defined or not. */ FuncId);
id!(/** A global variable of the program, defined or not. */ GlobalId);
id!(/** A block of one function; block 0 is the entry and has no predecessor. */ BlockId);
id!(/** A control-flow edge of one function, with the moves that stand for the phis of its target. */ EdgeId);
id!(/** A register of one function; the parameters are registers `0..params`. */ Reg);
id!(/** An entry of `Program::strings`. */ StrId);
id!(/** An entry of `Program::wides`: a constant of more than 64 bits. */ WideId);

/// A whole program. All vectors are indexed by the id of the same name.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    /// Names of symbols and source files, and messages of `Inst::Unsupported`.
    pub strings: Vec<Box<str>>,
    /// Constants of more than 64 bits, as little-endian limbs; bits above the width are zero.
    pub wides: Vec<Box<[u64]>>,
    /// To be called before `main` without arguments, already in order (by priority).
    pub constructors: Vec<Structor>,
    /// To be called after `main` or from `exit`, already in order.
    pub destructors: Vec<Structor>,
}

/// One entry of `llvm.global_ctors` or `llvm.global_dtors`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Structor {
    pub priority: u32,
    pub function: FuncId,
}

/// How a name behaves when programs are linked.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// Visible by name. Undefined and still so after linking: the executor has a model of it, or calls end the path.
    Strong,
    /// A definition that any strong one replaces. Undefined: its address is null if nothing defines it.
    Weak,
    /// Private to the program it came from: never matched by name.
    Internal,
}

/// A source position; `line` 0 means unknown, `column` 0 means none.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Loc {
    /// The file's path, as a string id; meaningless when `line` is 0.
    pub file: StrId,
    pub line: u32,
    pub column: u32,
}

/// A function. One without blocks is not defined here (see `Linkage`), or is an alias.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: StrId,
    pub linkage: Linkage,
    /// From a library (a later program given to `Program::load`), not from the user's own code.
    pub library: bool,
    /// Takes further arguments, which `Inst::VaStart` lays out.
    pub variadic: bool,
    /// Another name of that function. Kept for lookup by name only; no operand refers to an alias after linking.
    pub alias: Option<FuncId>,
    /// Number of parameters: registers `0..params`.
    pub params: u32,
    /// Widths of the results: empty for void, several for a structure returned by value.
    pub results: Box<[u32]>,
    /// Width in bits of every register. A frame starts with all registers zero.
    pub widths: Box<[u32]>,
    /// Where each block's instructions stand in `insts`; the last one of a block, and no other, is a terminator.
    pub blocks: Box<[Block]>,
    pub edges: Box<[Edge]>,
    /// The moves of all edges; see `Edge`.
    pub moves: Box<[Move]>,
    pub insts: Box<[Inst]>,
    /// Source position of each instruction, parallel to `insts`.
    pub locs: Box<[Loc]>,
    /// Where the function itself stands.
    pub loc: Loc,
}

/// A straight-line piece of code: `insts[start..end]`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub start: u32,
    pub end: u32,
}

/// A control-flow edge. One edge per pair of blocks, so distinct edges of a switch are distinct successors.
/// `moves[start..end]` are executed one after the other when it is taken; the lowering has ordered them (with a
/// temporary where phis swap values), so plain sequential execution is the parallel assignment meant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    pub to: BlockId,
    pub start: u32,
    pub end: u32,
}

/// `dst := src`, both of the width of `dst`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Move {
    pub dst: Reg,
    pub src: Operand,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    pub name: StrId,
    pub linkage: Linkage,
    pub library: bool,
    /// Has a definition (`data` and `relocs`) in this program.
    pub defined: bool,
    /// Declared constant: writes are errors.
    pub readonly: bool,
    pub thread_local: bool,
    /// Another name of a place in that global; like `Function::alias`.
    pub alias: Option<(GlobalId, i64)>,
    pub size: u64,
    pub align: u32,
    /// The first bytes of the initial value; the rest up to `size` is zero.
    pub data: Box<[u8]>,
    /// Addresses to be added into the initial value, by ascending offset, not overlapping.
    pub relocs: Box<[Reloc]>,
    /// Some part of the initial value was not understood: reading the object ends the path with this message.
    pub unsupported: Option<StrId>,
}

/// The `bytes` bytes at `offset` hold `target - minus`, little-endian and truncated.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Reloc {
    pub offset: u64,
    pub bytes: u8,
    pub target: Address,
    pub minus: Option<Address>,
}

/// A constant address.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Address {
    Global {
        global: GlobalId,
        offset: i64,
    },
    Func {
        func: FuncId,
        offset: i64,
    },
    /// The address of a label (`&&label`), for `Inst::IndirectBr`.
    Block {
        func: FuncId,
        block: BlockId,
    },
}

impl Program {
    /// Reads, checks and links: the first of `parts` is the user's program, the others are libraries that only fill what
    /// is undefined. Of libraries only what is reachable from the first part and from `roots` (names) is kept.
    pub fn load(parts: &[&[u8]], roots: &[&str]) -> Result<Program, LoadError> {
        let programs = parts.iter().map(|bytes| Program::from_bytes(bytes)).collect::<Result<Vec<_>, _>>()?;
        Ok(link::link(programs, roots))
    }

    /// Reads and checks one serialised program, without resolving aliases (see `load`).
    pub fn from_bytes(bytes: &[u8]) -> Result<Program, LoadError> {
        let program = load::decode(bytes)?;
        check::check(&program)?;
        Ok(program)
    }

    /// The whole program as text, one line an instruction, for tests and for people.
    pub fn dump(&self) -> String {
        dump::dump(self)
    }

    pub fn string(&self, id: StrId) -> &str {
        &self.strings[id.index()]
    }

    /// The function of that name, through aliases; internal functions are found too when no other has the name.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        let mut found = None;
        for (i, f) in self.functions.iter().enumerate() {
            if self.string(f.name) == name {
                let id = FuncId(i as u32);
                if f.linkage != Linkage::Internal {
                    return Some(f.alias.unwrap_or(id));
                }
                found.get_or_insert(f.alias.unwrap_or(id));
            }
        }
        found
    }

    /// Functions that are called or referred to but not defined: those the executor must know by name.
    pub fn undefined(&self) -> impl Iterator<Item = FuncId> + '_ {
        let open = |f: &Function| !f.is_defined() && f.alias.is_none();
        self.functions.iter().enumerate().filter(move |(_, f)| open(f)).map(|(i, _)| FuncId(i as u32))
    }
}

impl Function {
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    #[inline]
    pub fn width(&self, reg: Reg) -> u32 {
        self.widths[reg.index()]
    }

    /// Does any instruction or edge use the register?
    pub fn reads(&self, reg: Reg) -> bool {
        let mut found = self.moves.iter().any(|m| m.src == Operand::Reg(reg));
        for inst in &self.insts {
            inst.clone().operands_mut(&mut |operand| found |= *operand == Operand::Reg(reg));
        }
        found
    }

    /// The instructions of a block.
    pub fn block(&self, id: BlockId) -> &[Inst] {
        let b = self.blocks[id.index()];
        &self.insts[b.start as usize..b.end as usize]
    }

    /// The moves of an edge, to be executed in order.
    pub fn edge_moves(&self, id: EdgeId) -> &[Move] {
        let e = self.edges[id.index()];
        &self.moves[e.start as usize..e.end as usize]
    }
}
