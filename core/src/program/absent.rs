//! Functions that are declared weak and defined nowhere: their address is null, as a linker makes it.
use super::{Address, Callee, FuncId, Function, Inst, Linkage, Operand, Program};

impl Program {
    /// Makes the addresses of undefined weak functions null, except of those that something else stands for.
    pub fn nullify_absent_functions(&mut self, has_model: impl Fn(FuncId) -> bool) {
        let is_absent = |(i, f): (usize, &Function)| {
            f.linkage == Linkage::Weak && !f.is_defined() && f.alias.is_none() && !has_model(FuncId(i as u32))
        };
        let absent: Vec<bool> = self.functions.iter().enumerate().map(is_absent).collect();
        if !absent.contains(&true) {
            return;
        }
        let nullify = |operand: &mut Operand| {
            if matches!(operand, Operand::Func(func) if absent[func.index()]) {
                *operand = Operand::Int(0);
            }
        };
        for function in &mut self.functions {
            function.moves.iter_mut().for_each(|m| nullify(&mut m.src));
            for inst in &mut function.insts {
                inst.operands_mut(&mut |operand| nullify(operand));
                if let Inst::Call(call) = inst
                    && matches!(call.callee, Callee::Direct(func) if absent[func.index()])
                {
                    call.callee = Callee::Indirect(Operand::Int(0));
                }
            }
        }
        let is_null = |address: &Address| match address {
            Address::Func { func, .. } => absent[func.index()],
            Address::Global { .. } | Address::Block { .. } => false,
        };
        for global in &mut self.globals {
            let kept = global.relocs.iter().filter(|reloc| !is_null(&reloc.target)).copied();
            global.relocs = kept.collect();
        }
    }
}
