//! Prints a program, one line per instruction: for tests of the lowering and for debugging.
use super::{
    Address, BinOp, Callee, EdgeId, Flags, Function, Global, Inst, Linkage, Operand, PointerWidth, Program,
    Reg, UnOp, WideId,
};
use std::fmt::{self, Write};

pub(super) fn dump(program: &Program) -> String {
    let mut out = String::new();
    Dumper { program, out: &mut out }.program().expect("writing to a string does not fail");
    out
}

struct Dumper<'a> {
    program: &'a Program,
    out: &'a mut String,
}

impl Dumper<'_> {
    fn program(&mut self) -> fmt::Result {
        if self.program.pointers != PointerWidth::default() {
            writeln!(self.out, "pointers of {} bits", self.program.pointers.bits())?;
        }
        for global in &self.program.globals {
            self.global(global)?;
        }
        for (what, list) in
            [("constructor", &self.program.constructors), ("destructor", &self.program.destructors)]
        {
            for s in list {
                let name = self.program.string(self.program.functions[s.function.index()].name);
                writeln!(self.out, "{what} {} {name}", s.priority)?;
            }
        }
        for function in &self.program.functions {
            self.function(function)?;
        }
        Ok(())
    }

    fn linkage(&self, linkage: Linkage) -> &'static str {
        match linkage {
            Linkage::Strong => "",
            Linkage::Weak => "weak ",
            Linkage::Internal => "internal ",
        }
    }

    fn global(&mut self, g: &Global) -> fmt::Result {
        write!(self.out, "{}global {}", self.linkage(g.linkage), self.program.string(g.name))?;
        if let Some((target, offset)) = g.alias {
            return writeln!(self.out, " = {}", self.address(Address::Global { global: target, offset }));
        }
        write!(self.out, " size {} align {}", g.size, g.align)?;
        for (holds, text) in
            [(g.readonly, " readonly"), (g.thread_local, " thread_local"), (!g.defined, " undefined")]
        {
            if holds {
                self.out.push_str(text);
            }
        }
        if !g.data.is_empty() {
            self.out.push_str(" data ");
            for byte in &g.data {
                write!(self.out, "{byte:02x}")?;
            }
        }
        for r in &g.relocs {
            write!(self.out, " [{}:{}]={}", r.offset, r.bytes, self.address(r.target))?;
            if let Some(minus) = r.minus {
                write!(self.out, "-{}", self.address(minus))?;
            }
        }
        if let Some(message) = g.unsupported {
            write!(self.out, " unsupported {:?}", self.program.string(message))?;
        }
        self.out.push('\n');
        Ok(())
    }

    fn address(&self, address: Address) -> String {
        match address {
            Address::Global { global, offset } => self.operand(Operand::Global { global, offset }),
            Address::Func { func, offset: 0 } => self.operand(Operand::Func(func)),
            Address::Func { func, offset } => format!("{}{offset:+}", self.operand(Operand::Func(func))),
            Address::Block { func, block } => self.operand(Operand::Block { func, block }),
        }
    }

    fn operand(&self, operand: Operand) -> String {
        let function = |id: super::FuncId| self.program.string(self.program.functions[id.index()].name);
        match operand {
            Operand::Reg(reg) => format!("r{}", reg.0),
            Operand::Int(value) => format!("{value}"),
            Operand::Wide(id) => self.wide(id),
            Operand::Global { global, offset } => {
                let name = self.program.string(self.program.globals[global.index()].name);
                if offset == 0 { format!("@{name}") } else { format!("@{name}{offset:+}") }
            }
            Operand::Func(id) => format!("&{}", function(id)),
            Operand::Block { func, block } => format!("&{}:b{}", function(func), block.0),
            Operand::Undef => "undef".into(),
            Operand::Poison => "poison".into(),
        }
    }

    fn wide(&self, id: WideId) -> String {
        let limbs = &self.program.wides[id.index()];
        limbs.iter().rev().fold("0x".to_string(), |text, limb| format!("{text}{limb:016x}"))
    }

    fn function(&mut self, f: &Function) -> fmt::Result {
        let name = self.program.string(f.name);
        write!(self.out, "{}function {name}", self.linkage(f.linkage))?;
        if let Some(target) = f.alias {
            return writeln!(self.out, " = {}", self.operand(Operand::Func(target)));
        }
        let params: Vec<String> = f.widths[..f.params as usize].iter().map(|w| w.to_string()).collect();
        let results: Vec<String> = f.results.iter().map(|w| w.to_string()).collect();
        let dots = if f.variadic { " ..." } else { "" };
        write!(self.out, "({}{dots}) -> ({})", params.join(" "), results.join(" "))?;
        if !f.is_defined() {
            return writeln!(self.out, " undefined");
        }
        self.out.push('\n');
        for (number, block) in f.blocks.iter().enumerate() {
            writeln!(self.out, "b{number}:")?;
            for at in block.start..block.end {
                let text = self.inst(f, &f.insts[at as usize]);
                let loc = f.locs[at as usize];
                match loc.line {
                    0 => writeln!(self.out, "  {text}")?,
                    line => writeln!(
                        self.out,
                        "  {text} ; {}:{line}:{}",
                        self.program.string(loc.file),
                        loc.column
                    )?,
                }
            }
        }
        Ok(())
    }

    fn edge(&self, f: &Function, id: EdgeId) -> String {
        let edge = f.edges[id.index()];
        let moves: Vec<String> =
            f.edge_moves(id).iter().map(|m| format!("r{}={}", m.dst.0, self.operand(m.src))).collect();
        if moves.is_empty() {
            format!("b{}", edge.to.0)
        } else {
            format!("b{}[{}]", edge.to.0, moves.join(" "))
        }
    }

    fn inst(&self, f: &Function, inst: &Inst) -> String {
        let o = |operand: Operand| self.operand(operand);
        let d = |reg: Reg| format!("r{}:{}", reg.0, f.width(reg));
        match *inst {
            Inst::Bin { op, flags, dst, a, b } => {
                format!("{} = {}{} {} {}", d(dst), op.name(), flag_names(op, flags), o(a), o(b))
            }
            Inst::Un { op, flags, dst, a } => {
                format!("{} = {}{} {}", d(dst), op.name(), unary_flag_names(op, flags), o(a))
            }
            Inst::Overflow { op, dst, overflow, a, b } => {
                format!("{} {} = {} {} {}", d(dst), d(overflow), op.name(), o(a), o(b))
            }
            Inst::Funnel { left, dst, a, b, c } => {
                format!("{} = {} {} {} {}", d(dst), if left { "fshl" } else { "fshr" }, o(a), o(b), o(c))
            }
            Inst::Cmp { pred, width, dst, a, b } => {
                format!("{} = cmp {} {width} {} {}", d(dst), pred.name(), o(a), o(b))
            }
            Inst::Cast { op, width, dst, a } => format!("{} = {} {width} {}", d(dst), op.name(), o(a)),
            Inst::Select { dst, cond, a, b } => format!("{} = select {} {} {}", d(dst), o(cond), o(a), o(b)),
            Inst::Copy { dst, a } => format!("{} = {}", d(dst), o(a)),
            Inst::Freeze { dst, a } => format!("{} = freeze {}", d(dst), o(a)),
            Inst::Load { dst, addr, align } => format!("{} = load {} align {align}", d(dst), o(addr)),
            Inst::Store { width, value, addr, align } => {
                format!("store {width} {} to {} align {align}", o(value), o(addr))
            }
            Inst::Alloca { dst, size, align, fixed, element_bytes: _ } => {
                format!(
                    "{} = alloca{} {} align {align}",
                    d(dst),
                    if fixed { "" } else { " dynamic" },
                    o(size)
                )
            }
            Inst::Gep { inbounds, dst, base, offset, ref terms } => {
                let mut text =
                    format!("{} = gep{} {}", d(dst), if inbounds { " inbounds" } else { "" }, o(base));
                if offset != 0 || terms.is_empty() {
                    write!(text, " {offset:+}").expect("writing to a string does not fail");
                }
                for t in terms {
                    write!(text, " + {}:{}*{}", o(t.index), t.width, t.scale)
                        .expect("writing to a string does not fail");
                }
                text
            }
            Inst::Call(ref call) => {
                let callee = match call.callee {
                    Callee::Direct(func) => {
                        self.program.string(self.program.functions[func.index()].name).to_string()
                    }
                    Callee::Indirect(operand) => format!("*{}", o(operand)),
                };
                let args: Vec<String> = call
                    .args
                    .iter()
                    .map(|a| match a.bytes {
                        0 => format!("{}:{}@{}", o(a.value), a.width, a.place),
                        bytes => format!("{}:bytes {bytes}@{}", o(a.value), a.place),
                    })
                    .collect();
                let results: Vec<String> = (0..call.results).map(|i| d(Reg(call.first.0 + i))).collect();
                let equals = if results.is_empty() { "" } else { " = " };
                format!("{}{equals}call {callee}({})", results.join(" "), args.join(", "))
            }
            Inst::MemCopy { overlap, dst, src, len } => {
                format!(
                    "{} {} from {} len {}",
                    if overlap { "memmove" } else { "memcpy" },
                    o(dst),
                    o(src),
                    o(len)
                )
            }
            Inst::MemSet { dst, value, len } => format!("memset {} to {} len {}", o(dst), o(value), o(len)),
            Inst::VaStart { list, gp, fp, stack } => format!("va_start {} {gp} {fp} {stack}", o(list)),
            Inst::StackSave { dst } => format!("{} = stacksave", d(dst)),
            Inst::StackRestore { mark } => format!("stackrestore {}", o(mark)),
            Inst::Scope { begins, addr } => {
                format!("scope {} {}", if begins { "begins" } else { "ends" }, o(addr))
            }
            Inst::Assume { cond } => format!("assume {}", o(cond)),
            Inst::FBin { op, kind, dst, a, b } => {
                format!("{} = {} {} {} {}", d(dst), op.name(), kind.name(), o(a), o(b))
            }
            Inst::FUn { op, kind, dst, a } => format!("{} = {} {} {}", d(dst), op.name(), kind.name(), o(a)),
            Inst::Fma { kind, dst, a, b, c } => {
                format!("{} = fma {} {} {} {}", d(dst), kind.name(), o(a), o(b), o(c))
            }
            Inst::FCmp { pred, signals, kind, dst, a, b } => {
                let name = if signals { "fcmps" } else { "fcmp" };
                format!("{} = {name} {} {} {} {}", d(dst), pred.name(), kind.name(), o(a), o(b))
            }
            Inst::FClass { kind, mask, dst, a } => {
                format!("{} = fclass {} {} {mask:#x}", d(dst), kind.name(), o(a))
            }
            Inst::FToInt { signed, saturate, kind, dst, a } => {
                let sat = if saturate { " saturate" } else { "" };
                format!(
                    "{} = {}{sat} {} {}",
                    d(dst),
                    if signed { "fptosi" } else { "fptoui" },
                    kind.name(),
                    o(a)
                )
            }
            Inst::IntToF { signed, width, kind, dst, a } => {
                format!(
                    "{} = {} {} {width} {}",
                    d(dst),
                    if signed { "sitofp" } else { "uitofp" },
                    kind.name(),
                    o(a)
                )
            }
            Inst::FCast { from, to, dst, a } => {
                format!("{} = {} to {} {}", d(dst), from.name(), to.name(), o(a))
            }
            Inst::Trap => "trap".into(),
            Inst::Unsupported { message } => format!("unsupported {:?}", self.program.string(message)),
            Inst::Jump { edge } => format!("jump {}", self.edge(f, edge)),
            Inst::Branch { cond, then, other } => {
                format!("branch {} {} {}", o(cond), self.edge(f, then), self.edge(f, other))
            }
            Inst::Switch { width, value, ref cases, default } => {
                let cases: Vec<String> =
                    cases.iter().map(|&(v, e)| format!("{v}:{}", self.edge(f, e))).collect();
                format!("switch {width} {} {} else {}", o(value), cases.join(" "), self.edge(f, default))
            }
            Inst::IndirectBr { addr, ref edges } => {
                let edges: Vec<String> = edges.iter().map(|&e| self.edge(f, e)).collect();
                format!("indirectbr {} {}", o(addr), edges.join(" "))
            }
            Inst::Landing { normal, unwind, first, clauses } => {
                let (normal, unwind) = (self.edge(f, normal), self.edge(f, unwind));
                format!("landing {normal} unwind {unwind} {} {}", d(first), o(clauses))
            }
            Inst::Ret { ref values } => {
                values.iter().fold("ret".to_string(), |text, &value| format!("{text} {}", o(value)))
            }
            Inst::Unreachable => "unreachable".into(),
        }
    }
}

fn flag_names(op: BinOp, flags: Flags) -> String {
    let mut text = String::new();
    let all = [
        (flags.nuw(), " nuw"),
        (flags.nsw(), " nsw"),
        (flags.exact(), " exact"),
        // Every shift of LLVM has the flag.
        (flags.strict() && op == BinOp::Or, " disjoint"),
    ];
    all.iter().filter(|(set, _)| *set).for_each(|(_, name)| text.push_str(name));
    text
}

fn unary_flag_names(op: UnOp, flags: Flags) -> &'static str {
    match op {
        UnOp::Abs if flags.strict() => " min_poison",
        UnOp::Ctlz | UnOp::Cttz if flags.strict() => " zero_poison",
        UnOp::Ctpop | UnOp::Ctlz | UnOp::Cttz | UnOp::Bswap | UnOp::BitReverse | UnOp::Abs => "",
    }
}
