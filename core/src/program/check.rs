//! Checks a decoded program so that the executor can index without checks: ids in range, matching widths,
//! blocks that end in their only terminator. It does not check that registers are written before they are
//! read: frames start with zeros, so a damaged file could only give a wrong value, never a fault.
use super::load::invalid;
use super::{
    Address, BlockId, Callee, EdgeId, Flags, FuncId, Function, Global, GlobalId, Inst, LoadError, Loc,
    MAX_WIDTH, Operand, PointerWidth, Program, Reg, StrId, WideId,
};

/// Largest size of a global: larger ones would exceed the 47 bits of user space.
const MAX_GLOBAL_SIZE: u64 = 1 << 40;

/// Arguments end below this offset in a variadic frame.
const MAX_ARG_OFFSET: u32 = 1 << 30;

type CheckResult = Result<(), LoadError>;

pub(super) fn check(program: &Program) -> CheckResult {
    for global in &program.globals {
        program.check_string(global.name)?;
        let name = program.string(global.name);
        program.check_global(global).map_err(|e| with_context(e, || format!("global `{name}`")))?;
    }
    for function in &program.functions {
        program.check_string(function.name)?;
        let name = program.string(function.name);
        Checker { program, function }
            .function()
            .map_err(|e| with_context(e, || format!("function `{name}`")))?;
    }
    for structor in program.constructors.iter().chain(&program.destructors) {
        program.check_func(structor.function)?;
    }
    for id in 0..program.functions.len() as u32 {
        program.check_alias_chain(id)?;
    }
    Ok(())
}

fn with_context(error: LoadError, place: impl FnOnce() -> String) -> LoadError {
    match error {
        LoadError::Invalid(what) => LoadError::Invalid(format!("{}: {what}", place())),
        LoadError::NotAProgram | LoadError::Version { .. } | LoadError::Truncated | LoadError::Checksum => {
            error
        }
    }
}

fn require(holds: bool, what: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { invalid(what()) }
}

fn check_width(width: u32) -> CheckResult {
    require((1..=MAX_WIDTH).contains(&width), || format!("width {width} is not in 1..={MAX_WIDTH}"))
}

fn check_align(align: u32) -> CheckResult {
    require(align.is_power_of_two(), || format!("alignment {align} is not a power of two"))
}

impl Program {
    fn check_string(&self, id: StrId) -> CheckResult {
        require(id.index() < self.strings.len(), || format!("string {} of {}", id.0, self.strings.len()))
    }

    fn check_func(&self, id: FuncId) -> CheckResult {
        require(id.index() < self.functions.len(), || {
            format!("function {} of {}", id.0, self.functions.len())
        })
    }

    fn check_global_id(&self, id: GlobalId) -> CheckResult {
        require(id.index() < self.globals.len(), || format!("global {} of {}", id.0, self.globals.len()))
    }

    fn check_label(&self, func: FuncId, block: BlockId) -> CheckResult {
        self.check_func(func)?;
        let blocks = self.functions[func.index()].blocks.len();
        require(block.index() < blocks, || format!("label of block {} of {blocks}", block.0))
    }

    fn check_address(&self, address: Address) -> CheckResult {
        match address {
            Address::Global { global, offset: _ } => self.check_global_id(global),
            Address::Func { func, offset: _ } => self.check_func(func),
            Address::Block { func, block } => self.check_label(func, block),
        }
    }

    fn check_wide(&self, id: WideId, width: u32) -> CheckResult {
        let Some(limbs) = self.wides.get(id.index()) else {
            return invalid(format!("wide constant {} of {}", id.0, self.wides.len()));
        };
        let spare = width % 64;
        let fits = limbs.len() == width.div_ceil(64) as usize
            && (spare == 0 || limbs[limbs.len() - 1] >> spare == 0);
        require(width > 64 && fits, || format!("wide constant {} does not fit {width} bits", id.0))
    }

    fn check_loc(&self, loc: Loc) -> CheckResult {
        if loc.line == 0 { Ok(()) } else { self.check_string(loc.file) }
    }

    fn check_global(&self, global: &Global) -> CheckResult {
        check_align(global.align)?;
        require(global.size <= MAX_GLOBAL_SIZE, || {
            format!("size {} is larger than {MAX_GLOBAL_SIZE}", global.size)
        })?;
        require(global.data.len() as u64 <= global.size, || "more initial bytes than its size".into())?;
        let bare = global.data.is_empty() && global.relocs.is_empty();
        require(global.defined || bare, || "an initial value without a definition".into())?;
        if let Some(message) = global.unsupported {
            self.check_string(message)?;
        }
        if let Some((target, _)) = global.alias {
            self.check_global_id(target)?;
            let target = &self.globals[target.index()];
            require(!global.defined && target.alias.is_none(), || {
                "an alias of an alias, or with a value".into()
            })?;
        }
        let mut end = 0u64;
        for reloc in &global.relocs {
            require((1..=8).contains(&reloc.bytes), || format!("an address of {} bytes", reloc.bytes))?;
            require(reloc.offset >= end, || "its addresses overlap or are out of order".into())?;
            let last = reloc.offset.checked_add(reloc.bytes as u64);
            end = last.filter(|&e| e <= global.size).ok_or_else(|| {
                LoadError::Invalid(format!("an address at {} beyond its size {}", reloc.offset, global.size))
            })?;
            self.check_address(reloc.target)?;
            if let Some(minus) = reloc.minus {
                self.check_address(minus)?;
            }
        }
        Ok(())
    }

    fn check_alias_chain(&self, id: u32) -> CheckResult {
        let function = &self.functions[id as usize];
        let Some(target) = function.alias else { return Ok(()) };
        self.check_func(target)?;
        let plain = self.functions[target.index()].alias.is_none() && !function.is_defined();
        require(plain, || format!("alias `{}` of an alias, or with a body", self.string(function.name)))
    }
}

struct Checker<'a> {
    program: &'a Program,
    function: &'a Function,
}

impl Checker<'_> {
    fn function(&self) -> CheckResult {
        let f = self.function;
        self.program.check_loc(f.loc)?;
        f.results.iter().chain(&f.widths).try_for_each(|&w| check_width(w))?;
        require(f.params as usize <= f.widths.len(), || "more parameters than registers".into())?;
        for edge in &f.edges {
            self.target(edge.to)?;
            require(edge.to.0 != 0, || "an edge to the entry block".into())?;
        }
        for m in &f.moves {
            self.operand(m.src, self.width_of(m.dst)?)?;
        }
        for (number, block) in f.blocks.iter().enumerate() {
            let insts = &f.insts[block.start as usize..block.end as usize];
            let Some((last, before)) = insts.split_last() else {
                return invalid(format!("block {number} is empty"));
            };
            let ends = last.is_terminator() && !before.iter().any(Inst::is_terminator);
            require(ends, || format!("block {number} does not end in its only terminator"))?;
            for (at, inst) in insts.iter().enumerate() {
                self.inst(inst)
                    .map_err(|e| with_context(e, || format!("block {number}, instruction {at}")))?;
            }
        }
        f.locs.iter().try_for_each(|&loc| self.program.check_loc(loc))
    }

    fn target(&self, block: BlockId) -> CheckResult {
        let blocks = self.function.blocks.len();
        require(block.index() < blocks, || format!("block {} of {blocks}", block.0))
    }

    fn edge(&self, edge: EdgeId) -> CheckResult {
        let edges = self.function.edges.len();
        require(edge.index() < edges, || format!("edge {} of {edges}", edge.0))
    }

    fn width_of(&self, reg: Reg) -> Result<u32, LoadError> {
        match self.function.widths.get(reg.index()) {
            Some(&width) => Ok(width),
            None => invalid(format!("register {} of {}", reg.0, self.function.widths.len())),
        }
    }

    fn dst(&self, reg: Reg, width: u32) -> CheckResult {
        let found = self.width_of(reg)?;
        require(found == width, || format!("register {} has {found} bits where {width} are expected", reg.0))
    }

    fn operand(&self, operand: Operand, width: u32) -> CheckResult {
        match operand {
            Operand::Reg(reg) => self.dst(reg, width),
            Operand::Int(value) => {
                let fits = width == 64 || (width < 64 && value >> width == 0);
                require(fits, || format!("constant {value} does not fit {width} bits"))
            }
            Operand::Wide(id) => self.program.check_wide(id, width),
            Operand::Global { global, offset: _ } => {
                self.pointer(width, self.program.check_global_id(global))
            }
            Operand::Func(func) => self.pointer(width, self.program.check_func(func)),
            Operand::Block { func, block } => self.pointer(width, self.program.check_label(func, block)),
            Operand::Undef | Operand::Poison => Ok(()),
        }
    }

    fn pointer(&self, width: u32, id: CheckResult) -> CheckResult {
        require(width == 64, || format!("an address where {width} bits are expected"))?;
        id
    }

    /// Checks that all `operands` have the width of `dst`; returns the width.
    fn same(&self, dst: Reg, operands: &[Operand]) -> Result<u32, LoadError> {
        let width = self.width_of(dst)?;
        operands.iter().try_for_each(|&o| self.operand(o, width))?;
        Ok(width)
    }

    fn all(&self, width: u32, operands: &[Operand]) -> CheckResult {
        operands.iter().try_for_each(|&o| self.operand(o, width))
    }

    fn inst(&self, inst: &Inst) -> CheckResult {
        match *inst {
            Inst::Bin { op: _, flags, dst, a, b } => {
                require(flags.0 & !Flags::ALL == 0, || format!("unknown flags {}", flags.0))?;
                self.same(dst, &[a, b]).map(drop)
            }
            Inst::Un { op: _, flags, dst, a } => {
                require(flags.0 & !Flags::ALL == 0, || format!("unknown flags {}", flags.0))?;
                self.same(dst, &[a]).map(drop)
            }
            Inst::Overflow { op: _, dst, overflow, a, b } => {
                self.same(dst, &[a, b])?;
                self.dst(overflow, 1)
            }
            Inst::Funnel { left: _, dst, a, b, c } => self.same(dst, &[a, b, c]).map(drop),
            Inst::Cmp { pred: _, width, dst, a, b } => {
                check_width(width)?;
                self.dst(dst, 1)?;
                self.all(width, &[a, b])
            }
            Inst::Cast { op, width, dst, a } => {
                check_width(width)?;
                let to = self.width_of(dst)?;
                require(op.fits(width, to), || format!("{} from {width} to {to} bits", op.name()))?;
                self.operand(a, width)
            }
            Inst::Select { dst, cond, a, b } => {
                self.operand(cond, 1)?;
                self.same(dst, &[a, b]).map(drop)
            }
            Inst::Copy { dst, a } | Inst::Freeze { dst, a } => self.same(dst, &[a]).map(drop),
            Inst::Load { dst, addr, align } => {
                check_align(align)?;
                self.width_of(dst)?;
                self.operand(addr, 64)
            }
            Inst::Store { width, value, addr, align } => {
                check_align(align)?;
                check_width(width)?;
                self.operand(value, width)?;
                self.operand(addr, 64)
            }
            Inst::Alloca { dst, size, align, fixed, element_bytes: _ } => {
                check_align(align)?;
                let constant = matches!(size, Operand::Int(_));
                require(!fixed || constant, || "a fixed alloca of variable size".into())?;
                self.dst(dst, 64)?;
                self.operand(size, 64)
            }
            Inst::Gep { inbounds: _, dst, base, offset: _, ref terms } => {
                self.dst(dst, 64)?;
                self.operand(base, 64)?;
                terms.iter().try_for_each(|t| check_width(t.width).and(self.operand(t.index, t.width)))
            }
            Inst::Call(ref call) => {
                match call.callee {
                    Callee::Direct(func) => self.program.check_func(func)?,
                    Callee::Indirect(operand) => self.operand(operand, 64)?,
                }
                for arg in &call.args {
                    check_width(arg.width)?;
                    require(arg.place < MAX_ARG_OFFSET, || format!("an argument at offset {}", arg.place))?;
                    require(arg.bytes < MAX_ARG_OFFSET, || format!("an argument of {} bytes", arg.bytes))?;
                    require(arg.bytes == 0 || arg.width == 64, || "bytes by value without a pointer".into())?;
                    self.operand(arg.value, arg.width)?;
                }
                let end = call.first.0 as u64 + call.results as u64;
                let known = call.results == 0 || end <= self.function.widths.len() as u64;
                require(known, || format!("result register {end} of {}", self.function.widths.len()))
            }
            Inst::MemCopy { overlap: _, dst, src, len } => self.all(64, &[dst, src, len]),
            Inst::MemSet { dst, value, len } => {
                self.operand(value, 8)?;
                self.all(64, &[dst, len])
            }
            Inst::VaStart { list, gp, fp, stack } => {
                let first = if self.program.pointers == PointerWidth::Bits64 { 176 } else { 0 };
                let on_stack = (first..MAX_ARG_OFFSET).contains(&stack);
                let inside = gp <= 48 && (48..=176).contains(&fp) && on_stack;
                require(inside, || format!("a variadic frame at {gp}, {fp}, {stack}"))?;
                self.operand(list, 64)
            }
            Inst::StackRestore { mark } => self.operand(mark, 64),
            Inst::Scope { begins: _, addr } => self.operand(addr, 64),
            Inst::StackSave { dst } => self.dst(dst, 64),
            Inst::Assume { cond } => self.operand(cond, 1),
            Inst::FBin { op: _, kind, dst, a, b } => {
                self.dst(dst, kind.width())?;
                self.all(kind.width(), &[a, b])
            }
            Inst::FUn { op: _, kind, dst, a } => {
                self.dst(dst, kind.width())?;
                self.operand(a, kind.width())
            }
            Inst::Fma { kind, dst, a, b, c } => {
                self.dst(dst, kind.width())?;
                self.all(kind.width(), &[a, b, c])
            }
            Inst::FCmp { pred: _, signals: _, kind, dst, a, b } => {
                self.dst(dst, 1)?;
                self.all(kind.width(), &[a, b])
            }
            Inst::FClass { kind, mask, dst, a } => {
                require(mask < 1 << 10, || format!("unknown floating classes {mask:#x}"))?;
                self.dst(dst, 1)?;
                self.operand(a, kind.width())
            }
            Inst::FToInt { signed: _, saturate: _, kind, dst, a } => {
                self.width_of(dst)?;
                self.operand(a, kind.width())
            }
            Inst::IntToF { signed: _, width, kind, dst, a } => {
                check_width(width)?;
                self.dst(dst, kind.width())?;
                self.operand(a, width)
            }
            Inst::FCast { from, to, dst, a } => {
                require(from != to, || "a floating cast to the same format".into())?;
                self.dst(dst, to.width())?;
                self.operand(a, from.width())
            }
            Inst::Trap | Inst::Unreachable => Ok(()),
            Inst::Unsupported { message } => self.program.check_string(message),
            Inst::Jump { edge } => self.edge(edge),
            Inst::Branch { cond, then, other } => {
                self.operand(cond, 1)?;
                self.edge(then)?;
                self.edge(other)
            }
            Inst::Switch { width, value, ref cases, default } => {
                require((1..=64).contains(&width), || format!("a switch over {width} bits"))?;
                self.operand(value, width)?;
                self.edge(default)?;
                let ascending = cases.windows(2).all(|pair| pair[0].0 < pair[1].0);
                require(ascending, || "cases out of order".into())?;
                cases.iter().try_for_each(|&(v, e)| self.operand(Operand::Int(v), width).and(self.edge(e)))
            }
            Inst::IndirectBr { addr, ref edges } => {
                self.operand(addr, 64)?;
                edges.iter().try_for_each(|&e| self.edge(e))
            }
            Inst::Landing { normal, unwind, first, clauses } => {
                self.dst(first, 64)?;
                self.dst(Reg(first.0 + 1), 32)?;
                self.operand(clauses, 64)?;
                self.edge(normal)?;
                self.edge(unwind)
            }
            Inst::Ret { ref values } => {
                let results = &self.function.results;
                require(values.len() == results.len(), || {
                    format!("returns {} values where {} are declared", values.len(), results.len())
                })?;
                values.iter().zip(results).try_for_each(|(&v, &w)| self.operand(v, w))
            }
        }
    }
}
