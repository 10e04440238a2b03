//! Decoder of the file format that `python/partita/llvm/write.py` writes.
//!
//! A file is a header (magic, version, CRC-32 of the rest), a stream of little-endian 32-bit words and a blob
//! of bytes (names, then initial values of globals, each in order). Every count is checked against the
//! remaining size before memory is reserved, so damaged input costs no memory and gives a `LoadError`.
//! `check.rs` checks the ids.
use super::{
    Address, Arg, BinOp, Block, BlockId, Call, Callee, CastOp, Edge, EdgeId, FBinOp, FCmpPred,
    FORMAT_VERSION, FUnOp, Flags, FloatKind, FuncId, Function, Global, GlobalId, Inst, IntPred, Linkage, Loc,
    Move, Operand, OverflowOp, PointerWidth, Program, Reg, Reloc, StrId, Structor, Term, UnOp, WideId,
};
use std::fmt;

const MAGIC: &[u8; 8] = b"PARTITA\0";
const HEADER_SIZE: usize = 24;

/// Flag in the top bit of a word.
const TOP: u32 = 1 << 31;
const OTHER: u32 = 1 << 30;

/// Reason why bytes are not a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    NotAProgram,
    Version {
        found: u32,
    },
    Truncated,
    Checksum,
    /// The contents contradict the format; the text names the problem and the place.
    Invalid(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::NotAProgram => write!(f, "not a lowered program: the magic bytes are missing"),
            LoadError::Version { found } => write!(
                f,
                "a lowered program of format {found}, but this version reads format {FORMAT_VERSION}: lower it again"
            ),
            LoadError::Truncated => write!(f, "the lowered program is truncated: lower it again"),
            LoadError::Checksum => {
                write!(f, "the lowered program is damaged (wrong checksum): lower it again")
            }
            LoadError::Invalid(what) => write!(f, "the lowered program is invalid: {what}"),
        }
    }
}

impl std::error::Error for LoadError {}

pub(super) fn invalid<T>(what: impl Into<String>) -> Result<T, LoadError> {
    Err(LoadError::Invalid(what.into()))
}

pub(super) fn decode(bytes: &[u8]) -> Result<Program, LoadError> {
    if bytes.len() < 8 || &bytes[..8] != MAGIC {
        return Err(LoadError::NotAProgram);
    }
    if bytes.len() < HEADER_SIZE {
        return Err(LoadError::Truncated);
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    if word(8) != FORMAT_VERSION {
        return Err(LoadError::Version { found: word(8) });
    }
    let (words, blob) = (word(16) as usize, word(20) as usize);
    if bytes.len() != HEADER_SIZE + 4 * words + blob {
        return Err(LoadError::Truncated);
    }
    if crc32(&bytes[16..]) != word(12) {
        return Err(LoadError::Checksum);
    }
    let (words, blob) = bytes[HEADER_SIZE..].split_at(4 * words);
    let mut decoder = Decoder { words, blob };
    let program = decoder.program()?;
    if !decoder.words.is_empty() || !decoder.blob.is_empty() {
        return invalid("bytes are left over after the last section");
    }
    Ok(program)
}

/// CRC-32 (IEEE), as in zlib.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let mut c = i as u32;
            let mut k = 0;
            while k < 8 {
                c = if c & 1 != 0 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 };
                k += 1;
            }
            table[i] = c;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |c, &b| TABLE[((c ^ b as u32) & 255) as usize] ^ (c >> 8))
}

struct Decoder<'a> {
    words: &'a [u8],
    blob: &'a [u8],
}

type Decoded<T> = Result<T, LoadError>;

impl<'a> Decoder<'a> {
    fn word(&mut self) -> Decoded<u32> {
        let (first, rest) = self.words.split_first_chunk::<4>().ok_or(LoadError::Truncated)?;
        self.words = rest;
        Ok(u32::from_le_bytes(*first))
    }

    fn long(&mut self) -> Decoded<u64> {
        Ok(self.word()? as u64 | (self.word()? as u64) << 32)
    }

    fn bytes(&mut self, len: usize) -> Decoded<&'a [u8]> {
        if len > self.blob.len() {
            return Err(LoadError::Truncated);
        }
        let (first, rest) = self.blob.split_at(len);
        self.blob = rest;
        Ok(first)
    }

    /// Reads a count and that many items of at least one word each.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Decoded<T>) -> Decoded<Vec<T>> {
        let count = self.word()? as usize;
        self.items(count, &mut item)
    }

    fn items<T>(&mut self, count: usize, item: &mut impl FnMut(&mut Self) -> Decoded<T>) -> Decoded<Vec<T>> {
        if count > self.words.len() / 4 {
            return Err(LoadError::Truncated);
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn boxed<T>(&mut self, item: impl FnMut(&mut Self) -> Decoded<T>) -> Decoded<Box<[T]>> {
        self.list(item).map(Vec::into_boxed_slice)
    }

    fn program(&mut self) -> Decoded<Program> {
        let strings = self.list(|r| {
            let len = r.word()? as usize;
            match std::str::from_utf8(r.bytes(len)?) {
                Ok(text) => Ok(text.into()),
                Err(_) => invalid("a string is not UTF-8"),
            }
        })?;
        let wides = self.list(|r| r.boxed(Decoder::long))?;
        let globals = self.list(Decoder::global)?;
        let locs = self.list(|r| Ok(Loc { file: StrId(r.word()?), line: r.word()?, column: r.word()? }))?;
        let functions = self.list(|r| r.function(&locs))?;
        let structor = |r: &mut Self| Ok(Structor { priority: r.word()?, function: FuncId(r.word()?) });
        let constructors = self.list(structor)?;
        let destructors = self.list(structor)?;
        let origins = super::Origins::default();
        let pointers = match self.word()? {
            8 => PointerWidth::Bits64,
            4 => PointerWidth::Bits32,
            other => return invalid(format!("pointers of {other} bytes")),
        };
        Ok(Program { functions, globals, strings, wides, constructors, destructors, origins, pointers })
    }

    fn global(&mut self) -> Decoded<Global> {
        let name = StrId(self.word()?);
        let bits = self.word()?;
        let size = self.long()?;
        let align = self.word()?;
        let alias = if bits & 32 != 0 { Some((GlobalId(self.word()?), self.long()? as i64)) } else { None };
        let unsupported = if bits & 64 != 0 { Some(StrId(self.word()?)) } else { None };
        let len = self.word()? as usize;
        let data = self.bytes(len)?.into();
        let relocs = self.boxed(|r| {
            let offset = r.long()?;
            let shape = r.word()?;
            let target = r.address()?;
            let minus = if shape & 256 != 0 { Some(r.address()?) } else { None };
            Ok(Reloc { offset, bytes: shape as u8, target, minus })
        })?;
        Ok(Global {
            name,
            linkage: linkage(bits & 3)?,
            library: false,
            defined: bits & 4 != 0,
            readonly: bits & 8 != 0,
            thread_local: bits & 16 != 0,
            alias,
            size,
            align,
            element_bytes: (bits >> 8) as u8,
            data,
            relocs,
            unsupported,
        })
    }

    fn address(&mut self) -> Decoded<Address> {
        let (kind, id, offset) = (self.word()?, self.word()?, self.long()?);
        match kind {
            0 => Ok(Address::Global { global: GlobalId(id), offset: offset as i64 }),
            1 => Ok(Address::Func { func: FuncId(id), offset: offset as i64 }),
            2 => Ok(Address::Block { func: FuncId(id), block: BlockId(offset as u32) }),
            _ => invalid(format!("unknown kind of address {kind}")),
        }
    }

    fn function(&mut self, locs: &[Loc]) -> Decoded<Function> {
        let place = |index: u32| match locs.get(index as usize) {
            Some(&loc) => Ok(loc),
            None => invalid(format!("source position {index} of {}", locs.len())),
        };
        let name = StrId(self.word()?);
        let bits = self.word()?;
        let loc = place(self.word()?)?;
        let alias = if bits & 8 != 0 { Some(FuncId(self.word()?)) } else { None };
        let params = self.word()?;
        let results = self.boxed(Decoder::word)?;
        let widths = self.boxed(Decoder::word)?;
        let mut end = 0u32;
        let blocks = self.boxed(|r| {
            let start = end;
            end = start.checked_add(r.word()?).ok_or(LoadError::Truncated)?;
            Ok(Block { start, end })
        })?;
        let mut moves = Vec::new();
        let edges = self.boxed(|r| {
            let to = BlockId(r.word()?);
            let start = moves.len() as u32;
            moves.extend(r.list(|r| Ok(Move { dst: Reg(r.word()?), src: r.operand()? }))?);
            Ok(Edge { to, start, end: moves.len() as u32 })
        })?;
        let insts = self.items(end as usize, &mut Decoder::inst)?.into();
        let locs = self.items(end as usize, &mut |r| place(r.word()?))?.into();
        Ok(Function {
            name,
            linkage: linkage(bits & 3)?,
            library: bits & 64 != 0,
            variadic: bits & 4 != 0,
            integers: bits & 16 != 0,
            signed_result: bits & 32 != 0,
            alias,
            params,
            results,
            widths,
            blocks,
            edges,
            moves: moves.into(),
            insts,
            locs,
            loc,
        })
    }

    /// Reads an argument: the top bit of its width says that it is signed, the next one that it is no word of a program
    /// with pointers of 32 bits.
    fn argument(&mut self) -> Decoded<Arg> {
        let width = self.word()?;
        Ok(Arg {
            width: width & !(TOP | OTHER),
            signed: width & TOP != 0,
            is_word: width & OTHER == 0,
            place: self.word()?,
            bytes: self.word()?,
            value: self.operand()?,
        })
    }

    /// Reads an operand: the low three bits are its kind, the others an id or a small number.
    fn operand(&mut self) -> Decoded<Operand> {
        let word = self.word()?;
        let id = word >> 3;
        Ok(match word & 7 {
            0 => Operand::Reg(Reg(id)),
            1 => Operand::Int(id as u64),
            2 => Operand::Int(self.long()?),
            3 => Operand::Global { global: GlobalId(id), offset: self.long()? as i64 },
            4 => Operand::Func(FuncId(id)),
            5 => Operand::Block { func: FuncId(id), block: BlockId(self.word()?) },
            6 if id == 0 => Operand::Undef,
            6 => Operand::Poison,
            _ => Operand::Wide(WideId(id)),
        })
    }

    fn reg(&mut self) -> Decoded<Reg> {
        self.word().map(Reg)
    }

    fn edge(&mut self) -> Decoded<EdgeId> {
        self.word().map(EdgeId)
    }

    /// Reads an instruction. One word has its number, operator (bits 8 to 15) and flags (16 to 23); the
    /// fields follow in the order of their declaration in `inst.rs`, numbers before registers before
    /// operands.
    fn inst(&mut self) -> Decoded<Inst> {
        let word = self.word()?;
        let (op, more) = ((word >> 8) & 255, (word >> 16) & 255);
        let flags = Flags(more as u8);
        let flag_set = more != 0;
        Ok(match word & 255 {
            0 => Inst::Bin {
                op: known_code(BinOp::decode(op))?,
                flags,
                dst: self.reg()?,
                a: self.operand()?,
                b: self.operand()?,
            },
            1 => Inst::Un { op: known_code(UnOp::decode(op))?, flags, dst: self.reg()?, a: self.operand()? },
            2 => Inst::Overflow {
                op: known_code(OverflowOp::decode(op))?,
                dst: self.reg()?,
                overflow: self.reg()?,
                a: self.operand()?,
                b: self.operand()?,
            },
            3 => Inst::Funnel {
                left: flag_set,
                dst: self.reg()?,
                a: self.operand()?,
                b: self.operand()?,
                c: self.operand()?,
            },
            4 => Inst::Cmp {
                pred: known_code(IntPred::decode(op))?,
                width: self.word()?,
                dst: self.reg()?,
                a: self.operand()?,
                b: self.operand()?,
            },
            5 => Inst::Cast {
                op: known_code(CastOp::decode(op))?,
                width: self.word()?,
                dst: self.reg()?,
                a: self.operand()?,
            },
            6 => Inst::Select {
                dst: self.reg()?,
                cond: self.operand()?,
                a: self.operand()?,
                b: self.operand()?,
            },
            7 => Inst::Copy { dst: self.reg()?, a: self.operand()? },
            8 => Inst::Freeze { dst: self.reg()?, a: self.operand()? },
            9 => Inst::Load { align: self.word()?, dst: self.reg()?, addr: self.operand()? },
            10 => Inst::Store {
                width: self.word()?,
                align: self.word()?,
                value: self.operand()?,
                addr: self.operand()?,
            },
            11 => Inst::Alloca {
                element_bytes: op as u8,
                fixed: flag_set,
                align: self.word()?,
                dst: self.reg()?,
                size: self.operand()?,
            },
            12 => Inst::Gep {
                inbounds: flag_set,
                offset: self.long()? as i64,
                dst: self.reg()?,
                base: self.operand()?,
                terms: self
                    .boxed(|r| Ok(Term { width: r.word()?, scale: r.long()? as i64, index: r.operand()? }))?,
            },
            13 => {
                let results = self.word()?;
                Inst::Call(Box::new(Call {
                    results: results & !TOP,
                    integer: results & TOP != 0,
                    first: self.reg()?,
                    callee: if flag_set {
                        Callee::Indirect(self.operand()?)
                    } else {
                        Callee::Direct(FuncId(self.word()?))
                    },
                    args: self.boxed(Decoder::argument)?,
                }))
            }
            14 => Inst::MemCopy {
                overlap: flag_set,
                dst: self.operand()?,
                src: self.operand()?,
                len: self.operand()?,
            },
            15 => Inst::MemSet { dst: self.operand()?, value: self.operand()?, len: self.operand()? },
            16 => Inst::VaStart {
                gp: self.word()?,
                fp: self.word()?,
                stack: self.word()?,
                list: self.operand()?,
            },
            17 => Inst::StackSave { dst: self.reg()? },
            18 => Inst::StackRestore { mark: self.operand()? },
            19 => Inst::Assume { cond: self.operand()? },
            20 => Inst::FBin {
                op: known_code(FBinOp::decode(op))?,
                kind: known_code(FloatKind::decode(more))?,
                dst: self.reg()?,
                a: self.operand()?,
                b: self.operand()?,
            },
            21 => Inst::FUn {
                op: known_code(FUnOp::decode(op))?,
                kind: known_code(FloatKind::decode(more))?,
                dst: self.reg()?,
                a: self.operand()?,
            },
            22 => Inst::Fma {
                kind: known_code(FloatKind::decode(more))?,
                dst: self.reg()?,
                a: self.operand()?,
                b: self.operand()?,
                c: self.operand()?,
            },
            23 => Inst::FCmp {
                pred: known_code(FCmpPred::decode(op & 0x7f))?,
                signals: op & 0x80 != 0,
                kind: known_code(FloatKind::decode(more))?,
                dst: self.reg()?,
                a: self.operand()?,
                b: self.operand()?,
            },
            24 => Inst::FClass {
                kind: known_code(FloatKind::decode(more))?,
                mask: self.word()?,
                dst: self.reg()?,
                a: self.operand()?,
            },
            25 => Inst::FToInt {
                signed: op & 1 != 0,
                saturate: op & 2 != 0,
                kind: known_code(FloatKind::decode(more))?,
                dst: self.reg()?,
                a: self.operand()?,
            },
            26 => Inst::IntToF {
                signed: op & 1 != 0,
                kind: known_code(FloatKind::decode(more))?,
                width: self.word()?,
                dst: self.reg()?,
                a: self.operand()?,
            },
            27 => Inst::FCast {
                from: known_code(FloatKind::decode(op))?,
                to: known_code(FloatKind::decode(more))?,
                dst: self.reg()?,
                a: self.operand()?,
            },
            28 => Inst::Trap,
            29 => Inst::Unsupported { message: StrId(self.word()?) },
            30 => Inst::Jump { edge: self.edge()? },
            31 => Inst::Branch { then: self.edge()?, other: self.edge()?, cond: self.operand()? },
            32 => Inst::Switch {
                width: self.word()?,
                default: self.edge()?,
                value: self.operand()?,
                cases: self.boxed(|r| Ok((r.long()?, r.edge()?)))?,
            },
            33 => Inst::IndirectBr { addr: self.operand()?, edges: self.boxed(Decoder::edge)? },
            34 => Inst::Ret { values: self.boxed(Decoder::operand)? },
            35 => Inst::Unreachable,
            36 => Inst::Landing {
                normal: self.edge()?,
                unwind: self.edge()?,
                first: self.reg()?,
                clauses: self.operand()?,
            },
            37 => Inst::Scope { begins: flag_set, addr: self.operand()? },
            code => return invalid(format!("unknown instruction {code}")),
        })
    }
}

fn known_code<T>(found: Option<T>) -> Decoded<T> {
    found.map_or_else(|| invalid("an operator has an unknown number"), Ok)
}

fn linkage(code: u32) -> Decoded<Linkage> {
    match code {
        0 => Ok(Linkage::Strong),
        1 => Ok(Linkage::Weak),
        2 => Ok(Linkage::Internal),
        _ => invalid(format!("unknown linkage {code}")),
    }
}
