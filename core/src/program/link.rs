//! Linker by name at load time, so that a lowered libc is stored once and not lowered with every program.
//!
//! Definitions of the first part take precedence, as those of an object file over an archive. Among libraries
//! strong definitions take precedence over weak ones, then the first one. Internal symbols are never matched.
//! An alias refers to its target in its own part, even if another part defines the target's name. Only
//! reachable library symbols are kept.
use super::{
    Address, Callee, FuncId, Function, Global, GlobalId, Inst, Linkage, Operand, PointerWidth, Program,
    StrId, Structor,
};
use rustc_hash::FxHashMap;

/// A symbol of one part: `(part, index)`.
type SymbolRef = (usize, usize);

pub(super) fn link(parts: Vec<Program>, roots: &[&str]) -> Program {
    let functions = SymbolTable::new(&parts, |p| p.functions.iter().map(LinkSymbol::of_function).collect());
    let globals = SymbolTable::new(&parts, |p| p.globals.iter().map(LinkSymbol::of_global).collect());
    let mut linker = Linker { parts, functions, globals, work: Vec::new() };
    linker.mark_roots(roots);
    linker.mark_reachable();
    linker.build()
}

/// Removes the definitions of these names from a library: others, or models of the executor, stand for them.
pub(super) fn undefine(library: &mut Program, names: &[String]) {
    let Program { functions, globals, strings, .. } = library;
    let is_named = |name: StrId| names.iter().any(|absent| *absent == *strings[name.index()]);
    for function in functions.iter_mut().filter(|f| f.linkage != Linkage::Internal && is_named(f.name)) {
        function.results = take_function(function).results;
        (function.alias, function.linkage) = (None, Linkage::Strong);
    }
    for global in globals.iter_mut().filter(|g| g.linkage != Linkage::Internal && is_named(g.name)) {
        take_global(global);
        (global.alias, global.defined, global.linkage) = (None, false, Linkage::Strong);
    }
}

/// Names of the library functions that were linked, and of globals without a definition that they refer to.
pub(super) fn library_names(program: &mut Program) -> (Vec<String>, Vec<String>) {
    let (mut linked, mut missing) = (Vec::new(), Vec::new());
    let Program { functions, globals, strings, .. } = program;
    for function in functions.iter_mut().filter(|f| f.library && f.is_defined()) {
        linked.push(strings[function.name.index()].to_string());
        each_operand(function, &mut |operand| {
            if let Operand::Global { global, .. } = *operand
                && !globals[global.index()].defined
            {
                missing.push(strings[globals[global.index()].name.index()].to_string());
            }
        });
    }
    (linked, missing)
}

/// The properties of a function or a global that matter for linking.
struct LinkSymbol {
    name: StrId,
    linkage: Linkage,
    defined: bool,
    alias: Option<(usize, i64)>,
}

impl LinkSymbol {
    fn of_function(f: &Function) -> LinkSymbol {
        let alias = f.alias.map(|target| (target.index(), 0));
        LinkSymbol { name: f.name, linkage: f.linkage, defined: f.is_defined() || alias.is_some(), alias }
    }

    fn of_global(g: &Global) -> LinkSymbol {
        let alias = g.alias.map(|(target, offset)| (target.index(), offset));
        LinkSymbol { name: g.name, linkage: g.linkage, defined: g.defined || alias.is_some(), alias }
    }

    /// Precedence among the symbols of one name.
    fn rank(&self, part: usize) -> u32 {
        match (self.defined, self.linkage) {
            (true, _) if part == 0 => 4,
            (true, Linkage::Strong) => 3,
            (true, Linkage::Weak | Linkage::Internal) => 2,
            (false, Linkage::Strong) => 1,
            (false, Linkage::Weak | Linkage::Internal) => 0,
        }
    }
}

/// All symbols of one kind: the resolution of each reference, and the new ids of kept symbols.
struct SymbolTable {
    symbols: Vec<Vec<LinkSymbol>>,
    /// For each symbol of each part the symbol it resolves to, with an offset if it is an alias.
    resolved: Vec<Vec<(SymbolRef, i64)>>,
    /// The new id of each kept symbol, otherwise `u32::MAX`.
    ids: Vec<Vec<u32>>,
    kept: Vec<SymbolRef>,
    by_name: FxHashMap<Box<str>, SymbolRef>,
}

impl SymbolTable {
    fn new(parts: &[Program], symbols: impl Fn(&Program) -> Vec<LinkSymbol>) -> SymbolTable {
        let symbols: Vec<Vec<LinkSymbol>> = parts.iter().map(symbols).collect();
        let mut by_name: FxHashMap<Box<str>, SymbolRef> = FxHashMap::default();
        for (part, list) in symbols.iter().enumerate() {
            for (index, symbol) in list.iter().enumerate() {
                if symbol.linkage != Linkage::Internal {
                    let best = by_name.entry(parts[part].string(symbol.name).into()).or_insert((part, index));
                    if symbol.rank(part) > symbols[best.0][best.1].rank(best.0) {
                        *best = (part, index);
                    }
                }
            }
        }
        let resolved = |part: usize, index: usize| {
            let symbol = &symbols[part][index];
            let chosen = match symbol.linkage {
                Linkage::Internal => (part, index),
                Linkage::Strong | Linkage::Weak => by_name[parts[part].string(symbol.name)],
            };
            match symbols[chosen.0][chosen.1].alias {
                Some((target, offset)) => ((chosen.0, target), offset),
                None => (chosen, 0),
            }
        };
        let each = symbols.iter().enumerate();
        let resolved =
            each.map(|(part, list)| (0..list.len()).map(|index| resolved(part, index)).collect()).collect();
        let ids = symbols.iter().map(|list| vec![u32::MAX; list.len()]).collect();
        SymbolTable { symbols, resolved, ids, kept: Vec::new(), by_name }
    }

    /// Keeps the symbol that `at` resolves to; returns it if it was not kept before.
    fn keep(&mut self, at: SymbolRef) -> Option<SymbolRef> {
        let (target, _) = self.resolved[at.0][at.1];
        let id = &mut self.ids[target.0][target.1];
        if *id != u32::MAX {
            return None;
        }
        *id = self.kept.len() as u32;
        self.kept.push(target);
        Some(target)
    }

    fn new_id(&self, at: SymbolRef) -> (u32, i64) {
        let (target, offset) = self.resolved[at.0][at.1];
        (self.ids[target.0][target.1], offset)
    }

    /// Returns the aliases that define their names and whose targets are kept, as `(alias, target id,
    /// offset)`.
    fn kept_aliases(&self) -> Vec<(SymbolRef, u32, i64)> {
        let mut found = Vec::new();
        for (part, list) in self.symbols.iter().enumerate() {
            for (index, symbol) in list.iter().enumerate() {
                let Some((target, offset)) = symbol.alias else { continue };
                let ours = self.resolved[part][index].0 == (part, target);
                let id = self.ids[part][target];
                if ours && symbol.linkage != Linkage::Internal && id != u32::MAX {
                    found.push(((part, index), id, offset));
                }
            }
        }
        found
    }
}

#[derive(Copy, Clone)]
enum WorkItem {
    Function(SymbolRef),
    Global(SymbolRef),
}

struct Linker {
    parts: Vec<Program>,
    functions: SymbolTable,
    globals: SymbolTable,
    work: Vec<WorkItem>,
}

impl Linker {
    fn need_function(&mut self, at: SymbolRef) {
        self.work.extend(self.functions.keep(at).map(WorkItem::Function));
    }

    fn need_global(&mut self, at: SymbolRef) {
        self.work.extend(self.globals.keep(at).map(WorkItem::Global));
    }

    fn mark_roots(&mut self, roots: &[&str]) {
        if let Some(first) = self.parts.first() {
            let (functions, globals) = (first.functions.len(), first.globals.len());
            (0..functions).for_each(|index| self.need_function((0, index)));
            (0..globals).for_each(|index| self.need_global((0, index)));
        }
        for part in 0..self.parts.len() {
            let program = &self.parts[part];
            let structors: Vec<Structor> =
                program.constructors.iter().chain(&program.destructors).copied().collect();
            structors.iter().for_each(|s| self.need_function((part, s.function.index())));
        }
        for &root in roots {
            if let Some(&at) = self.functions.by_name.get(root) {
                self.need_function(at);
            }
            if let Some(&at) = self.globals.by_name.get(root) {
                self.need_global(at);
            }
        }
    }

    fn mark_reachable(&mut self) {
        while let Some(work) = self.work.pop() {
            let (mut functions, mut globals) = (Vec::new(), Vec::new());
            let part = match work {
                WorkItem::Function((part, index)) => {
                    let function = &mut self.parts[part].functions[index];
                    each_operand(function, &mut |operand| match *operand {
                        Operand::Global { global, offset: _ } => globals.push(global),
                        Operand::Func(func) | Operand::Block { func, block: _ } => functions.push(func),
                        Operand::Reg(_)
                        | Operand::Int(_)
                        | Operand::Wide(_)
                        | Operand::Undef
                        | Operand::Poison => {}
                    });
                    each_callee(function, &mut |func| functions.push(*func));
                    part
                }
                WorkItem::Global((part, index)) => {
                    each_address(&mut self.parts[part].globals[index], &mut |address| match *address {
                        Address::Global { global, offset: _ } => globals.push(global),
                        Address::Func { func, offset: _ } | Address::Block { func, block: _ } => {
                            functions.push(func)
                        }
                    });
                    part
                }
            };
            functions.iter().for_each(|f| self.need_function((part, f.index())));
            globals.iter().for_each(|g| self.need_global((part, g.index())));
        }
    }

    /// Moves the kept symbols into one program with new ids.
    fn build(mut self) -> Program {
        let pointers = self.parts.first().map_or(PointerWidth::default(), |part| part.pointers);
        let mut out = Program { pointers, ..Program::default() };
        let mut bases = Vec::new();
        for part in &mut self.parts {
            bases.push((out.strings.len() as u32, out.wides.len() as u32));
            out.strings.append(&mut part.strings);
            out.wides.append(&mut part.wides);
        }
        for &at in &self.functions.kept {
            let mut function = take_function(&mut self.parts[at.0].functions[at.1]);
            self.renumber_function(at.0, bases[at.0], &mut function);
            out.functions.push(function);
            out.origins.functions.push(at);
        }
        for &at in &self.globals.kept {
            let mut global = take_global(&mut self.parts[at.0].globals[at.1]);
            self.renumber_global(at.0, bases[at.0], &mut global);
            out.globals.push(global);
            out.origins.globals.push(at);
        }
        for (at, target, _) in self.functions.kept_aliases() {
            let mut alias = take_function(&mut self.parts[at.0].functions[at.1]);
            self.renumber_function(at.0, bases[at.0], &mut alias);
            alias.alias = Some(FuncId(target));
            out.origins.functions.push(at);
            out.functions.push(alias);
        }
        for (at, target, offset) in self.globals.kept_aliases() {
            let mut alias = take_global(&mut self.parts[at.0].globals[at.1]);
            self.renumber_global(at.0, bases[at.0], &mut alias);
            alias.alias = Some((GlobalId(target), offset));
            out.origins.globals.push(at);
            out.globals.push(alias);
        }
        for (part, program) in self.parts.iter().enumerate() {
            let renumber = |s: &Structor| Structor { function: self.func(part, s.function), ..*s };
            out.constructors.extend(program.constructors.iter().map(renumber));
            out.destructors.extend(program.destructors.iter().map(renumber));
        }
        out.constructors.sort_by_key(|s| s.priority);
        out.destructors.sort_by_key(|s| std::cmp::Reverse(s.priority));
        out
    }

    fn func(&self, part: usize, id: FuncId) -> FuncId {
        FuncId(self.functions.new_id((part, id.index())).0)
    }

    fn global(&self, part: usize, id: GlobalId, offset: i64) -> (GlobalId, i64) {
        let (id, more) = self.globals.new_id((part, id.index()));
        (GlobalId(id), offset.wrapping_add(more))
    }

    fn renumber_function(&self, part: usize, (strings, wides): (u32, u32), function: &mut Function) {
        function.library |= part > 0;
        function.name.0 += strings;
        for loc in function.locs.iter_mut().chain([&mut function.loc]).filter(|loc| loc.line != 0) {
            loc.file.0 += strings;
        }
        each_operand(function, &mut |operand| match operand {
            Operand::Global { global, offset } => (*global, *offset) = self.global(part, *global, *offset),
            Operand::Func(func) | Operand::Block { func, block: _ } => *func = self.func(part, *func),
            Operand::Wide(id) => id.0 += wides,
            Operand::Reg(_) | Operand::Int(_) | Operand::Undef | Operand::Poison => {}
        });
        each_callee(function, &mut |func| *func = self.func(part, *func));
        for inst in &mut function.insts {
            if let Inst::Unsupported { message } = inst {
                message.0 += strings;
            }
        }
    }

    fn renumber_global(&self, part: usize, (strings, _): (u32, u32), global: &mut Global) {
        global.library = part > 0;
        global.name.0 += strings;
        if let Some(message) = &mut global.unsupported {
            message.0 += strings;
        }
        each_address(global, &mut |address| match address {
            Address::Global { global, offset } => (*global, *offset) = self.global(part, *global, *offset),
            Address::Func { func, offset: _ } | Address::Block { func, block: _ } => {
                *func = self.func(part, *func)
            }
        });
    }
}

fn each_operand(function: &mut Function, visit: &mut impl FnMut(&mut Operand)) {
    function.insts.iter_mut().for_each(|inst| inst.operands_mut(visit));
    function.moves.iter_mut().for_each(|m| visit(&mut m.src));
}

fn each_callee(function: &mut Function, visit: &mut impl FnMut(&mut FuncId)) {
    for inst in &mut function.insts {
        if let Inst::Call(call) = inst {
            match &mut call.callee {
                Callee::Direct(func) => visit(func),
                Callee::Indirect(_) => {}
            }
        }
    }
}

fn each_address(global: &mut Global, visit: &mut impl FnMut(&mut Address)) {
    for reloc in &mut global.relocs {
        visit(&mut reloc.target);
        reloc.minus.iter_mut().for_each(&mut *visit);
    }
}

/// Moves a function out of its part and leaves an empty one.
fn take_function(from: &mut Function) -> Function {
    let empty = Function {
        results: Box::default(),
        widths: Box::default(),
        blocks: Box::default(),
        edges: Box::default(),
        moves: Box::default(),
        insts: Box::default(),
        locs: Box::default(),
        ..*from
    };
    std::mem::replace(from, empty)
}

fn take_global(from: &mut Global) -> Global {
    let empty = Global { data: Box::default(), relocs: Box::default(), ..*from };
    std::mem::replace(from, empty)
}
