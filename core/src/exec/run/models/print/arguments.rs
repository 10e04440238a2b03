//! Arguments of a variadic call, by their places in the calling convention, as `va_arg` finds them.
use super::piece::Datum;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::models::CallSite;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Expr;
use crate::program::PointerWidth;

/// Ends of the general and of the vector registers; arguments on the stack follow. With pointers of 32 bits all are on
/// the stack.
const GENERAL_END: u64 = 48;
const VECTOR_END: u64 = 176;

/// Type of a variadic argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    /// With this number of bits.
    Integer(u32),
    Double,
    LongDouble,
}

pub(super) struct Arguments<'a> {
    general: u64,
    vector: u64,
    /// Next place on the stack: an offset like the others in a call, an address in a `va_list`.
    stack: u64,
    source: Source<'a>,
    pointers: PointerWidth,
}

enum Source<'a> {
    Call(&'a CallSite<'a>),
    /// Address of the saved registers.
    List {
        registers: u64,
    },
}

impl Arguments<'_> {
    /// Arguments of a call after the first `named` ones, which are all in general registers.
    pub fn of_call<'a>(machine: &Machine, site: &'a CallSite<'a>, named: usize) -> Arguments<'a> {
        let source = Source::Call(site);
        let pointers = machine.program.pointers;
        match pointers {
            PointerWidth::Bits64 => Arguments {
                general: 8 * named as u64,
                vector: GENERAL_END,
                stack: VECTOR_END,
                source,
                pointers,
            },
            PointerWidth::Bits32 => Arguments::on_stack(4 * named as u64, source),
        }
    }

    /// Arguments of a program with pointers of 32 bits, from this place on.
    fn on_stack(stack: u64, source: Source<'_>) -> Arguments<'_> {
        Arguments { general: GENERAL_END, vector: VECTOR_END, stack, source, pointers: PointerWidth::Bits32 }
    }

    /// Arguments of the `va_list` at an address. The list itself is not changed: musl copies it too.
    pub fn of_list<'a>(
        machine: &mut Machine,
        state: &mut State,
        list: u64,
    ) -> Result<Arguments<'a>, Outcome> {
        if machine.program.pointers == PointerWidth::Bits32 {
            // The list is the address of the next argument.
            return Ok(Arguments::on_stack(list, Source::List { registers: 0 }));
        }
        let mut field = |offset: u64, width: u32| {
            let value = machine.load(state, Value::number(list.wrapping_add(offset)), width)?;
            machine.decider.fork_on_value(state, value, width, "a field of a va_list")
        };
        let (general, vector, stack) = (field(0, 32)?, field(4, 32)?, field(8, 64)?);
        let source = Source::List { registers: field(16, 64)? };
        Ok(Arguments { general, vector, stack, source, pointers: PointerWidth::Bits64 })
    }

    /// Place of the next argument, and whether it is on the stack.
    fn place(&mut self, kind: ArgumentKind) -> (u64, bool) {
        let register = match kind {
            ArgumentKind::Integer(_) if self.general < GENERAL_END => Some((&mut self.general, 8)),
            ArgumentKind::Double if self.vector < VECTOR_END => Some((&mut self.vector, 16)),
            ArgumentKind::Integer(_) | ArgumentKind::Double | ArgumentKind::LongDouble => None,
        };
        if let Some((next, size)) = register {
            *next += size;
            return (*next - size, false);
        }
        let (size, align) = match (self.pointers, kind) {
            (PointerWidth::Bits64, ArgumentKind::LongDouble) => (16, 16),
            (PointerWidth::Bits64, ArgumentKind::Integer(_) | ArgumentKind::Double) => (8, 8),
            (PointerWidth::Bits32, ArgumentKind::LongDouble) => (12, 4),
            (PointerWidth::Bits32, ArgumentKind::Double | ArgumentKind::Integer(33..)) => (8, 4),
            (PointerWidth::Bits32, ArgumentKind::Integer(_)) => (4, 4),
        };
        let place = self.stack.next_multiple_of(align);
        self.stack = place + size;
        (place, true)
    }

    /// The next argument of this type.
    pub fn next(
        &mut self,
        machine: &mut Machine,
        state: &mut State,
        kind: ArgumentKind,
    ) -> Result<Datum, Outcome> {
        let width = match kind {
            ArgumentKind::Integer(bits) => bits.max(32),
            ArgumentKind::Double => 64,
            ArgumentKind::LongDouble => 80,
        };
        let (place, on_stack) = self.place(kind);
        let (value, given) = match self.source {
            Source::List { registers } => {
                let address = if on_stack { place } else { registers.wrapping_add(place) };
                (machine.load(state, Value::number(address), width)?, width)
            }
            Source::Call(site) => {
                let found = site.call.args.iter().position(|arg| u64::from(arg.place) == place);
                match found.filter(|&i| site.call.args[i].bytes == 0) {
                    Some(i) => (site.arguments[i], site.call.args[i].width),
                    None => {
                        return Err(Outcome::bug(
                            Class::ModelError,
                            "a format with more conversions than arguments of their types",
                        ));
                    }
                }
            }
        };
        let bits = match kind {
            ArgumentKind::Integer(bits) => bits,
            ArgumentKind::Double | ArgumentKind::LongDouble => width,
        };
        if !value.symbolic {
            return Ok(Datum::Number((value.word & crate::expr::bits::mask(bits.min(64))).into()));
        }
        let graph = machine.graph();
        let e = value.to_bits(graph, given);
        let e: Expr = if given >= bits { graph.extract(e, 0, bits) } else { graph.zext(e, bits) };
        Ok(Datum::of(graph, e))
    }

    /// The next integer argument, as one number; other states take the others.
    pub fn next_number(
        &mut self,
        machine: &mut Machine,
        state: &mut State,
        bits: u32,
        why: &str,
    ) -> Result<u64, Outcome> {
        match self.next(machine, state, ArgumentKind::Integer(bits))? {
            Datum::Number(number) => Ok(number as u64),
            Datum::Symbolic(e) => {
                let value = Value::of(machine.decider.graph(), e);
                machine.decider.fork_on_value(state, value, bits, why)
            }
        }
    }
}
