//! Models of functions, by name, where the program does not define them: one table; a definition in the
//! program takes precedence. A call of a function without model ends the path as unsupported, or returns any
//! value (`--undefined havoc`).
mod alloc;
mod bytes;
mod fenv;
mod host;
mod jump;
mod klee;
mod math;
mod print;
mod process;
mod text;
mod thread;
mod ubsan;
mod unwind;
mod verifier;

pub(super) use fenv::READ_EXCEPTIONS;
pub(super) use klee::contradiction;
pub(super) use print::STREAMS;

use crate::exec::outcome::Outcome;
use crate::exec::run::Machine;
use crate::exec::run::step::Arguments;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::program::{Call, FuncId, Linkage, PointerWidth, Program, Reg};
use std::sync::Arc;

/// Result of a model.
pub(super) enum Returned {
    Nothing,
    Value(Value),
    /// The model changed the top frame.
    Frame,
}

pub(super) type ModelResult = Result<Returned, Outcome>;

/// A call of a model.
pub(super) struct CallSite<'a> {
    pub name: &'a str,
    pub call: &'a Call,
    pub arguments: &'a [Value],
    /// Width of the result; 0 for none.
    pub width: u32,
}

pub(super) type Model = fn(&mut Machine, &mut State, &CallSite<'_>) -> ModelResult;

/// How a function treats symbolic data, in the worst case of its arguments. A test calls each function and compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// One path; results are expressions.
    Exact,
    /// One path for each case that it distinguishes, none left out.
    Forks,
    /// A value is bound (perhaps one of several), and counted as incomplete.
    Binds,
    /// The path ends as unsupported.
    Unsupported,
}

impl Treatment {
    pub fn name(self) -> &'static str {
        match self {
            Treatment::Exact => "exact",
            Treatment::Forks => "forks",
            Treatment::Binds => "binds",
            Treatment::Unsupported => "unsupported",
        }
    }
}

/// A model, the number of its arguments, and how it treats symbolic ones.
#[derive(Clone, Copy)]
pub struct ModelRow {
    name: &'static str,
    arity: usize,
    treatment: Treatment,
    model: Model,
    /// Arguments with the width of `size_t`: 64 bits, as models take them.
    sizes: &'static [usize],
}

const fn row(name: &'static str, arity: usize, treatment: Treatment, model: Model) -> ModelRow {
    ModelRow { name, arity, treatment, model, sizes: &[] }
}

/// Arguments of type `size_t`, by function. A program with pointers of 32 bits passes 32 bits.
const SIZES: &[(&str, &[usize])] = &[
    ("malloc", &[0]),
    ("calloc", &[0, 1]),
    ("__partita_malloc", &[0]),
    ("__partita_calloc", &[0, 1]),
    ("realloc", &[1]),
    ("reallocarray", &[1, 2]),
    ("memalign", &[0, 1]),
    ("aligned_alloc", &[0, 1]),
    ("valloc", &[0]),
    ("posix_memalign", &[1, 2]),
    ("memcpy", &[2]),
    ("memmove", &[2]),
    ("mempcpy", &[2]),
    ("memset", &[2]),
    ("bzero", &[1]),
    ("__memcpy_chk", &[2, 3]),
    ("__memmove_chk", &[2, 3]),
    ("__memset_chk", &[2, 3]),
    ("strnlen", &[1]),
    ("memcmp", &[2]),
    ("bcmp", &[2]),
    ("strncmp", &[2]),
    ("__partita_strncasecmp", &[2]),
    ("__partita_memchr", &[2]),
    ("snprintf", &[1]),
    ("vsnprintf", &[1]),
    ("fwrite", &[1, 2]),
    ("write", &[2]),
    ("klee_make_symbolic", &[1]),
    ("klee_choose", &[0]),
    ("klee_check_memory_access", &[1]),
    ("__VERIFIER_nondet_memory", &[1]),
    ("__partita_stack_object", &[0]),
    ("__partita_output", &[1]),
    ("__partita_check_output", &[1]),
    ("__partita_stdin", &[1]),
    ("__partita_host_read", &[1, 3]),
    ("__partita_host_link", &[2]),
    ("__partita_host_change", &[3, 4]),
];

const TABLES: [&[ModelRow]; 13] = [
    klee::MODELS,
    verifier::MODELS,
    alloc::MODELS,
    bytes::MODELS,
    text::MODELS,
    fenv::MODELS,
    math::MODELS,
    jump::MODELS,
    unwind::MODELS,
    thread::MODELS,
    process::MODELS,
    print::MODELS,
    host::MODELS,
];

/// Name and treatment of every model, and of the families that are models by prefix.
pub fn models() -> impl Iterator<Item = (&'static str, Treatment)> {
    let families = [verifier::NONDET, ubsan::HANDLER];
    let rows = TABLES.into_iter().flatten().copied().chain(families);
    rows.map(|row| (row.name, row.treatment))
}

/// Model of each function that has one, by function.
pub(super) fn bind(program: &Program) -> Vec<Option<ModelRow>> {
    let find = |name: &str| TABLES.into_iter().flatten().find(|row| row.name == name).copied();
    let one = |f: &crate::program::Function| {
        if f.is_defined() {
            return None;
        }
        let name = program.string(f.name);
        // Intrinsics have a second name with our own prefix.
        match name.strip_prefix("partita_") {
            Some(rest) => find(&format!("klee_{rest}")),
            None => find(name).or_else(|| verifier::nondet(name)).or_else(|| ubsan::handler(name)),
        }
    };
    let sized = |mut row: ModelRow| {
        if let Some((_, sizes)) = SIZES.iter().find(|(name, _)| *name == row.name) {
            row.sizes = sizes;
        }
        row
    };
    program.functions.iter().map(one).map(|row| row.map(sized)).collect()
}

/// Names that a program uses and that neither it nor a model defines.
pub fn unknown(program: &Program) -> Vec<&str> {
    let functions = program.functions.iter().zip(bind(program)).filter(|(f, model)| {
        !f.is_defined() && f.alias.is_none() && f.linkage != Linkage::Weak && model.is_none()
    });
    let globals = program.globals.iter().filter(|g| {
        !g.defined
            && g.alias.is_none()
            && g.linkage != Linkage::Weak
            && STREAMS.iter().all(|stream| stream.0 != program.string(g.name))
    });
    functions.map(|(f, _)| f.name).chain(globals.map(|g| g.name)).map(|name| program.string(name)).collect()
}

/// Names that a program uses and does not define, those of models too.
pub fn undefined(program: &Program) -> Vec<&str> {
    let functions = program.functions.iter().filter(|f| !f.is_defined() && f.alias.is_none()).map(|f| f.name);
    let globals = program.globals.iter().filter(|g| !g.defined && g.alias.is_none()).map(|g| g.name);
    functions.chain(globals).map(|name| program.string(name)).collect()
}

/// Name of an input: names that the engine uses itself are changed.
fn name_of_input(name: &str) -> &str {
    let name = if name.is_empty() { "unnamed" } else { name };
    let is_reserved = name.starts_with(crate::expr::PLACEHOLDER) || name.starts_with(crate::expr::UNWRITTEN);
    if is_reserved { name.trim_start_matches('?') } else { name }
}

impl Machine {
    /// Calls a function without a definition.
    pub(super) fn call_model(
        &mut self,
        func: FuncId,
        state: &mut State,
        call: &Call,
        arguments: &Arguments,
    ) -> ModelResult {
        let program = Arc::clone(&self.program);
        let name = program.string(program.functions[func.index()].name);
        let caller = &program.functions[state.frame.func.index()];
        let width = if call.results == 0 { 0 } else { caller.width(Reg(call.first.0)) };
        let site = CallSite { name, call, arguments, width };
        match self.models[func.index()] {
            Some(row) if arguments.len() < row.arity => Err(Outcome::bug(
                crate::exec::outcome::Class::ModelError,
                format!("`{name}` expects {} arguments and is called with {}", row.arity, arguments.len()),
            )),
            Some(row) if program.pointers == PointerWidth::Bits32 => self.call_narrow(row, state, &site),
            Some(row) => (row.model)(self, state, &site),
            None if self.options.havoc => self.havoc(state, &site),
            None => Err(Outcome::unsupported(format!(
                "call of `{name}`, which has no definition: link it, or let it return any value with `--undefined havoc`"
            ))),
        }
    }

    /// Calls a model from a program with pointers of 32 bits: sizes become 64 bits wide, and the result has the width
    /// that the caller expects.
    fn call_narrow(&mut self, row: ModelRow, state: &mut State, site: &CallSite<'_>) -> ModelResult {
        let mut call = site.call.clone();
        let mut arguments: Arguments = site.arguments.into();
        for &i in row.sizes {
            let from = call.args[i].width;
            call.args[i].width = 64;
            if from < 64
                && let Some(e) = arguments[i].expr()
            {
                let graph = self.graph();
                let wide = graph.zext(e, 64);
                arguments[i] = Value::of(graph, wide);
            }
        }
        let wide = CallSite { name: site.name, call: &call, arguments: &arguments, width: site.width };
        let returned = (row.model)(self, state, &wide)?;
        Ok(match returned {
            Returned::Value(value) if (1..=64).contains(&site.width) => {
                let graph = self.graph();
                Returned::Value(match value.expr() {
                    None => Value::number(value.word & crate::expr::bits::mask(site.width)),
                    Some(e) if !graph.is_bool(e) && graph.width(e) > site.width => {
                        let narrow = graph.extract(e, 0, site.width);
                        Value::of(graph, narrow)
                    }
                    Some(_) => value,
                })
            }
            Returned::Value(_) | Returned::Nothing | Returned::Frame => returned,
        })
    }

    /// Returns any value.
    fn havoc(&mut self, state: &mut State, site: &CallSite<'_>) -> ModelResult {
        if site.width == 0 {
            return Ok(Returned::Nothing);
        }
        if site.call.results > 1 {
            return Err(Outcome::unsupported(format!(
                "`{}` returns a structure and has no definition",
                site.name
            )));
        }
        let value = self.fresh(state, site.name, site.width);
        Ok(Returned::Value(value))
    }

    /// Creates an input of `width` bits.
    pub(super) fn fresh(&mut self, state: &mut State, name: &str, width: u32) -> Value {
        let size = u64::from(width.div_ceil(8));
        let array = self.new_input(state, name, size);
        let is_variable = !self.decider.is_given();
        let graph = self.graph();
        if is_variable {
            // One scalar.
            graph.set_allocated(array, u8::try_from(size).unwrap_or(0));
        }
        let zero = graph.word(crate::exec::state::contents::INDEX_WIDTH, 0);
        let bits = graph.read(array, zero, size as u32);
        let bits = graph.extract(bits, 0, width);
        Value::of_bits(graph, bits)
    }

    /// Creates an input of the path: an array of `size` bytes. It is a constant if inputs are given.
    pub(super) fn new_input(&mut self, state: &mut State, name: &str, size: u64) -> crate::expr::Expr {
        let name = name_of_input(name);
        if let Some(array) = self.decider.given_array(name, size) {
            return array;
        }
        let variable = state.inputs.add(self.graph(), name, size);
        self.decider.seed_input(state, variable, name, size);
        variable
    }

    /// Bytes of an input whose object is at `address`, if inputs are given.
    pub(super) fn given_bytes(&mut self, name: &str, size: u64, address: u64) -> Option<Vec<u8>> {
        self.decider.given_bytes(name_of_input(name), size, Some(address))
    }

    /// Binds an argument of a model to a number. Nothing may have been changed before this call.
    pub(super) fn argument(
        &mut self,
        state: &mut State,
        site: &CallSite<'_>,
        i: usize,
    ) -> Result<u64, Outcome> {
        let why = format!("argument {} of `{}`", i + 1, site.name);
        self.decider.fork_on_value(state, site.arguments[i], site.call.args[i].width, &why)
    }
}

#[cfg(test)]
mod tests {
    use super::{SIZES, TABLES};

    #[test]
    fn sizes_are_arguments_of_models() {
        for (name, sizes) in SIZES {
            let row = TABLES.into_iter().flatten().find(|row| row.name == *name).expect(name);
            assert!(sizes.iter().all(|&i| i < row.arity), "{name}");
        }
    }
}
