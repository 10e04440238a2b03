//! The program to execute: a linked, checked set of functions and globals with dense ids.
//!
//! `python/partita/llvm` creates it from LLVM's textual IR, `load.rs` defines the file format, `check.rs`
//! checks it and `link.rs` links it by name. After `Program::load` every id is in range, every width matches,
//! every block ends in its only terminator and no operand refers to an alias, so the executor can index
//! without checks. Values are scalars of untyped bits: the lowering has split aggregates and vectors.
mod absent;
mod check;
mod demangle;
mod dump;
mod inst;
mod link;
mod load;
#[cfg(test)]
mod tests;

pub use demangle::demangled;
pub use inst::{
    Arg, BinOp, Call, Callee, CastOp, FBinOp, FCmpPred, FUnOp, Flags, FloatKind, Inst, IntPred, Operand,
    OverflowOp, Term, UnOp,
};
pub use load::LoadError;

/// Version of the serialised form; `python/partita/llvm/write.py` writes the same number.
pub const FORMAT_VERSION: u32 = 4;

/// In place of the bytes of the scalars of an object: they have several sizes.
pub const SEVERAL_SIZES: u8 = u8::MAX;

/// Largest width of a register in bits.
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
    /// Constants of more than 64 bits as little-endian limbs; bits above the width are zero.
    pub wides: Vec<Box<[u64]>>,
    /// Functions to call before `main` without arguments, sorted by priority.
    pub constructors: Vec<Structor>,
    /// Functions to call after `main` or from `exit`, in order.
    pub destructors: Vec<Structor>,
    /// Part and index of each function before linking, and of each global.
    pub origins: Origins,
    pub pointers: PointerWidth,
}

/// Width of a pointer in memory. Registers hold every pointer as 64 bits, a narrow one zero-extended.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum PointerWidth {
    #[default]
    Bits64,
    Bits32,
}

impl PointerWidth {
    pub fn bytes(self) -> u32 {
        match self {
            PointerWidth::Bits64 => 8,
            PointerWidth::Bits32 => 4,
        }
    }

    pub fn bits(self) -> u32 {
        8 * self.bytes()
    }
}

/// Where the symbols of a linked program come from: part and index, in the order of their new ids.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    pub functions: Vec<(usize, usize)>,
    pub globals: Vec<(usize, usize)>,
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
    /// Visible by name. If it is still undefined after linking, the executor has a model of it, or calls end
    /// the path.
    Strong,
    /// A strong definition replaces it. If it is undefined after linking, its address is null.
    Weak,
    /// Private to its program: never matched by name.
    Internal,
}

/// A source position; `line` 0 means unknown, `column` 0 means none.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Loc {
    /// Path of the file; meaningless if `line` is 0.
    pub file: StrId,
    pub line: u32,
    pub column: u32,
}

/// A function. A function without blocks is undefined (see `Linkage`) or an alias.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: StrId,
    pub linkage: Linkage,
    /// Whether it comes from a library (a later program given to `Program::load`), not from user code.
    pub library: bool,
    /// Whether it has variadic arguments, which `Inst::VaStart` lays out.
    pub variadic: bool,
    /// Whether parameters and result are integers of at most 64 bits, or pointers: a call through a pointer of
    /// another such type converts them.
    pub integers: bool,
    /// Whether the result is sign-extended where the caller expects a wider one; otherwise zero-extended.
    pub signed_result: bool,
    /// The function that it is an alias of. Only used for lookup by name; after linking no operand refers to
    /// an alias.
    pub alias: Option<FuncId>,
    /// Number of parameters: registers `0..params`.
    pub params: u32,
    /// Widths of the results: empty for void, several for a structure returned by value.
    pub results: Box<[u32]>,
    /// Width in bits of every register. A frame starts with all registers zero.
    pub widths: Box<[u32]>,
    /// The range of each block in `insts`. Exactly the last instruction of each block is a terminator.
    pub blocks: Box<[Block]>,
    pub edges: Box<[Edge]>,
    /// The moves of all edges; see `Edge`.
    pub moves: Box<[Move]>,
    pub insts: Box<[Inst]>,
    /// Source position of each instruction, parallel to `insts`.
    pub locs: Box<[Loc]>,
    /// Source position of the function.
    pub loc: Loc,
}

impl Function {
    /// Can control come back to this instruction without leaving the function?
    pub fn is_in_loop(&self, pc: u32) -> bool {
        let block_of = |pc: u32| self.blocks.iter().position(|b| (b.start..b.end).contains(&pc));
        let Some(start) = block_of(pc) else { return false };
        let mut reached = vec![false; self.blocks.len()];
        let mut open = vec![start];
        while let Some(block) = open.pop() {
            let Some(last) = self.insts[..self.blocks[block].end as usize].last() else { continue };
            for edge in last.edges() {
                let next = self.edges[edge.index()].to.index();
                if next == start {
                    return true;
                }
                if !std::mem::replace(&mut reached[next], true) {
                    open.push(next);
                }
            }
        }
        false
    }
}

/// A basic block: `insts[start..end]`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub start: u32,
    pub end: u32,
}

/// A control-flow edge. There is one edge per pair of blocks, so distinct edges of a switch are distinct
/// successors. When it is taken, `moves[start..end]` are executed in order; the lowering has ordered them
/// (with a temporary if phis swap values), so sequential execution equals the parallel assignment of the
/// phis.
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
    /// Whether it has a definition (`data` and `relocs`) in this program.
    pub defined: bool,
    /// Whether it is constant: writes are errors.
    pub readonly: bool,
    pub thread_local: bool,
    /// The global and offset that it is an alias of; like `Function::alias`.
    pub alias: Option<(GlobalId, i64)>,
    pub size: u64,
    pub align: u32,
    /// Bytes of its scalars, by its type; 0 if unknown, `SEVERAL_SIZES` if they differ.
    pub element_bytes: u8,
    /// The first bytes of the initial value; the other bytes up to `size` are zero.
    pub data: Box<[u8]>,
    /// Addresses in the initial value, sorted by offset, not overlapping.
    pub relocs: Box<[Reloc]>,
    /// A message if the lowering does not support part of the initial value: reading the object ends the path
    /// with it.
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
    /// Reads, checks and links programs: the first of `parts` is the user's program, the others are libraries
    /// that define undefined symbols. Library symbols are kept only if they are reachable from the first part
    /// or from `roots` (names).
    pub fn load(parts: &[&[u8]], roots: &[&str]) -> Result<Program, LoadError> {
        let programs = parts.iter().map(|bytes| Program::from_bytes(bytes)).collect::<Result<Vec<_>, _>>()?;
        if let Some(other) = programs.iter().find(|part| part.pointers != programs[0].pointers) {
            let [first, other] = [programs[0].pointers, other.pointers].map(PointerWidth::bits);
            return load::invalid(format!("it has pointers of {first} bits, and a library of it {other}"));
        }
        Ok(link::link(programs, roots))
    }

    /// Like `load`; libraries do not define these names.
    pub fn load_without(parts: &[&[u8]], roots: &[&str], absent: &[String]) -> Result<Program, LoadError> {
        let mut programs =
            parts.iter().map(|bytes| Program::from_bytes(bytes)).collect::<Result<Vec<_>, _>>()?;
        programs.iter_mut().skip(1).for_each(|library| link::undefine(library, absent));
        Ok(link::link(programs, roots))
    }

    /// Names of the library functions that were linked, and of globals without a definition that they refer to.
    pub fn library_names(&mut self) -> (Vec<String>, Vec<String>) {
        link::library_names(self)
    }

    /// Reads and checks one serialised program without resolving aliases (see `load`).
    pub fn from_bytes(bytes: &[u8]) -> Result<Program, LoadError> {
        let program = load::decode(bytes)?;
        check::check(&program)?;
        Ok(program)
    }

    /// Prints the program, one line per instruction, for tests and debugging.
    pub fn dump(&self) -> String {
        dump::dump(self)
    }

    pub fn string(&self, id: StrId) -> &str {
        &self.strings[id.index()]
    }

    /// The name of a function for messages and reports.
    pub fn shown_name(&self, id: FuncId) -> String {
        demangle::demangled(self.string(self.functions[id.index()].name))
    }

    /// Returns the function of that name, resolving aliases; an internal function only if no other has the
    /// name.
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

    /// Iterates over functions that are referred to but not defined: the executor must know them by name.
    pub fn undefined(&self) -> impl Iterator<Item = FuncId> + '_ {
        let open = |f: &Function| !f.is_defined() && f.alias.is_none();
        self.functions.iter().enumerate().filter(move |(_, f)| open(f)).map(|(i, _)| FuncId(i as u32))
    }
}

impl Function {
    /// Function without parameters, results and a body.
    pub fn declared(name: StrId) -> Function {
        Function {
            name,
            linkage: Linkage::Strong,
            library: false,
            variadic: false,
            integers: false,
            signed_result: false,
            alias: None,
            params: 0,
            results: Box::default(),
            widths: Box::default(),
            blocks: Box::default(),
            edges: Box::default(),
            moves: Box::default(),
            insts: Box::default(),
            locs: Box::default(),
            loc: Loc { file: StrId(0), line: 0, column: 0 },
        }
    }

    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    #[inline]
    pub fn width(&self, reg: Reg) -> u32 {
        self.widths[reg.index()]
    }

    /// Returns whether an instruction or edge uses the register.
    pub fn reads(&self, reg: Reg) -> bool {
        let mut found = self.moves.iter().any(|m| m.src == Operand::Reg(reg));
        for inst in &self.insts {
            inst.clone().operands_mut(&mut |operand| found |= *operand == Operand::Reg(reg));
        }
        found
    }

    /// Returns the instructions of a block.
    pub fn block(&self, id: BlockId) -> &[Inst] {
        let b = self.blocks[id.index()];
        &self.insts[b.start as usize..b.end as usize]
    }

    /// Returns the moves of an edge, to be executed in order.
    pub fn edge_moves(&self, id: EdgeId) -> &[Move] {
        let e = self.edges[id.index()];
        &self.moves[e.start as usize..e.end as usize]
    }
}
