//! Handlers of UndefinedBehaviorSanitizer (`-fsanitize=undefined`, `-fsanitize=integer`): what a program calls when one
//! of its checks fails is a bug. The first argument points to data that the compiler made: a source position, then
//! descriptions of types, as compiler-rt's `ubsan_handlers.h` lays them out. Handlers of the minimal runtime have none.
use super::{CallSite, ModelResult, ModelRow, Returned, Treatment, row};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Bits;

const PREFIX: &str = "__ubsan_handle_";

/// A failed check: its handler, class and text. The text names the types of the data in order (`{0}`, `{1}`) and the
/// other arguments as values of a type (`{a0}`: the first as a value of the first type; `{p}` as an address).
struct Check {
    name: &'static str,
    class: Class,
    types: usize,
    text: &'static str,
}

const fn check(name: &'static str, class: Class, types: usize, text: &'static str) -> Check {
    Check { name, class, types, text }
}

const CHECKS: &[Check] = &[
    check("add_overflow", Class::Overflow, 1, "addition of {0} overflows: {a0} + {b0}"),
    check("sub_overflow", Class::Overflow, 1, "subtraction of {0} overflows: {a0} - {b0}"),
    check("mul_overflow", Class::Overflow, 1, "multiplication of {0} overflows: {a0} * {b0}"),
    check("negate_overflow", Class::Overflow, 1, "negation of {0} overflows: {a0}"),
    check("divrem_overflow", Class::Overflow, 1, "division of {0} overflows: {a0} / {b0}"),
    check("shift_out_of_bounds", Class::Shift, 2, "shift of {0} by {1} is undefined: {a0} by {b1}"),
    check("out_of_bounds", Class::Bounds, 2, "index {a1} is outside of {0}"),
    check("local_out_of_bounds", Class::Bounds, 0, "an access is outside of its object"),
    check("builtin_unreachable", Class::Unreachable, 0, "code that the compiler assumed unreachable"),
    check("missing_return", Class::Unreachable, 0, "the end of a function that must return a value"),
    check("vla_bound_not_positive", Class::Sanitizer, 1, "length of a variable-length array is {a0}"),
    check("float_cast_overflow", Class::FloatCast, 2, "value {a0} of {0} is outside of {1}"),
    check("load_invalid_value", Class::Sanitizer, 1, "load of {a0}, which is no value of {0}"),
    check(
        "implicit_conversion",
        Class::Sanitizer,
        2,
        "conversion of {a0} from {0} to {1} changes it to {b1}",
    ),
    check(
        "invalid_builtin",
        Class::Sanitizer,
        0,
        "a builtin function gets 0, or an assumption does not hold",
    ),
    check(
        "type_mismatch",
        Class::Sanitizer,
        1,
        "address {p} is not aligned for {0}, or its object is too small",
    ),
    check("alignment_assumption", Class::Sanitizer, 0, "an address is not aligned as assumed"),
    check("pointer_overflow", Class::Sanitizer, 0, "pointer arithmetic overflows"),
    check("nonnull_return", Class::Null, 0, "null is returned where it must not be"),
    check("nullability_return", Class::Null, 0, "null is returned where it must not be"),
    check("nonnull_arg", Class::Null, 0, "null is passed where it must not be"),
    check("nullability_arg", Class::Null, 0, "null is passed where it must not be"),
    check("function_type_mismatch", Class::ModelError, 1, "a function is called through the wrong type {0}"),
    check("cfi_check_fail", Class::ModelError, 0, "a check of control flow integrity fails"),
    check("dynamic_type_cache_miss", Class::ModelError, 1, "an object does not have the type {0}"),
];

/// Checks whose data starts with something else than the position of the code.
const WITHOUT_POSITION: [&str; 3] = ["cfi_check_fail", "nonnull_return", "nullability_return"];

/// Model of a handler.
pub(super) const HANDLER: ModelRow = row(PREFIX, 0, Treatment::Exact, report);

pub(super) fn handler(name: &str) -> Option<ModelRow> {
    name.starts_with(PREFIX).then_some(HANDLER)
}

/// Name of the check, without the suffixes of its variants.
fn stem(name: &str) -> &str {
    let name = name.trim_start_matches(PREFIX).trim_end_matches("_abort").trim_end_matches("_minimal");
    name.trim_end_matches("_v1").trim_end_matches("_v2")
}

fn report(machine: &mut Machine, state: &mut State, site: &CallSite<'_>) -> ModelResult {
    let Some(check) = CHECKS.iter().find(|check| check.name == stem(site.name)) else {
        return Err(Outcome::bug(Class::Sanitizer, format!("the check of `{}` fails", site.name)));
    };
    if check.class == Class::FloatCast && !machine.options.float_cast {
        return Ok(Returned::Nothing);
    }
    let class = class_of(machine, state, check, site);
    let Some((&data, values)) = site.arguments.split_first() else {
        return Err(Outcome::bug(class, format!("the check of {} fails", check.name.replace('_', " "))));
    };
    let data = machine.decider.concretise(state, data, 64, "the data of a sanitizer's check")?;
    let has_position = !WITHOUT_POSITION.contains(&check.name);
    let pointers = machine.program.pointers;
    // The name of the file, line and column.
    let position_bytes = u64::from(pointers.bytes()) + 8;
    let first_type = data + if has_position { position_bytes } else { 0 };
    let mut types = Vec::new();
    for i in 0..check.types as u64 {
        types.push(Type::read(machine, state, first_type + u64::from(pointers.bytes()) * i)?);
    }
    machine.decider.settle(state);
    let mut text = check.text.to_string();
    for (i, type_) in types.iter().enumerate() {
        text = text.replace(&format!("{{{i}}}"), &type_.name);
        for (letter, &value) in ['a', 'b'].into_iter().zip(values) {
            let pattern = format!("{{{letter}{i}}}");
            if text.contains(&pattern) {
                text = text.replace(&pattern, &type_.value(machine, state, value)?);
            }
        }
    }
    if let Some(&address) = values.first() {
        let word = machine.decider.evaluate_word(state, address);
        text = text.replace("{p}", &format!("{word:#x}"));
    }
    match class {
        Class::DivisionByZero => text = "division or remainder by zero".to_string(),
        Class::Null if check.name == "type_mismatch" => {
            text = format!("access through a null pointer to {}", types[0].name);
        }
        _ => {}
    }
    let place = if has_position { position(machine, state, data)? } else { String::new() };
    Err(Outcome::bug(class, format!("{text}{place}")))
}

/// Class of the failure. Some checks fail for more than one reason; other states have the other ones.
fn class_of(machine: &mut Machine, state: &mut State, check: &Check, site: &CallSite<'_>) -> Class {
    let (argument, class) = match (check.name, site.arguments.len()) {
        ("divrem_overflow", 3) => (2, Class::DivisionByZero),
        ("type_mismatch", 2) => (1, Class::Null),
        _ => return check.class,
    };
    let value = site.arguments[argument];
    let is_zero = match value.expr() {
        None => value.word == 0,
        Some(e) => {
            let graph = machine.graph();
            let zero = graph.word(graph.width(e), 0);
            let is_zero = graph.eq(e, zero);
            machine.decider.decide(state, is_zero)
        }
    };
    if is_zero { class } else { check.class }
}

fn word(machine: &mut Machine, state: &mut State, address: u64, width: u32) -> Result<u64, Outcome> {
    let value = machine.load(state, Value::number(address), width)?;
    machine.decider.concretise(state, value, width, "the data of a sanitizer's check")
}

/// " (checked at FILE:LINE:COLUMN)", empty if the compiler gave none.
fn position(machine: &mut Machine, state: &mut State, data: u64) -> Result<String, Outcome> {
    let pointers = machine.program.pointers;
    let name = word(machine, state, data, pointers.bits())?;
    if name == 0 {
        return Ok(String::new());
    }
    let name = machine.message_at(state, name)?;
    let at = data + u64::from(pointers.bytes());
    let (line, column) = (word(machine, state, at, 32)?, word(machine, state, at + 4, 32)?);
    let base = name.rsplit('/').next().unwrap_or(&name);
    Ok(format!(" (checked at {base}:{line}:{column})"))
}

/// A type as the compiler describes it: kind, size and sign, name in quotes.
struct Type {
    name: String,
    kind: u64,
    info: u64,
}

impl Type {
    fn read(machine: &mut Machine, state: &mut State, at: u64) -> Result<Type, Outcome> {
        let width = machine.program.pointers.bits();
        let address = word(machine, state, at, width)?;
        let (kind, info) = (word(machine, state, address, 16)?, word(machine, state, address + 2, 16)?);
        let name = machine.message_at(state, address + 4)?;
        Ok(Type { name: name.replace('\'', "`"), kind, info })
    }

    /// A value of the type under the path's model: up to the width of a pointer passed as it is, others by address.
    fn value(&self, machine: &mut Machine, state: &mut State, value: Value) -> Result<String, Outcome> {
        let width = match self.kind {
            0 => 1u32 << (self.info >> 1).min(16),
            1 => self.info as u32,
            _ => return Ok("a value".to_string()),
        };
        let by_value = width <= machine.program.pointers.bits();
        let value = if by_value { value } else { machine.load(state, value, width)? };
        let bits = match value.expr() {
            Some(e) => machine.decider.evaluate(state, e),
            None => Bits::word(64, value.word),
        };
        let bits = bits.extract(0, width);
        Ok(match (self.kind, width) {
            (0, _) if self.info & 1 == 1 && bits.bit(width - 1) => format!("-{}", bits.neg().to_decimal()),
            (0, _) => bits.to_decimal(),
            (_, 32) => f32::from_bits(bits.low() as u32).to_string(),
            (_, 64) => f64::from_bits(bits.low()).to_string(),
            (_, _) => "a value".to_string(),
        })
    }
}
