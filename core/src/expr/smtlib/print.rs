//! Printer of terms, values and scripts.
//!
//! Nodes that are used more than once are bound to names, by nested `let`s in a term and by `define-fun` in a
//! script, so the size of the text is linear in the number of nodes. Word reads become concatenations of
//! `select`s. The writer has an explicit stack of pending items.

use super::float::{ROUNDING_MODES, is_float_name};
use super::lexer::is_simple;
use super::symbols::is_reserved;
use super::term_sort::WordSort;
use crate::expr::builtin::Builtin;
use crate::expr::float::{FloatParameter, Format, Rounding};
use crate::expr::sharing::Sharing;
use crate::expr::{ArrayValue, Bits, Expr, Family, FloatOp, Graph, Op, Sort, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Prints a name as an SMT-LIB symbol, quoted if necessary; `None` if no symbol has this name: `|and|` is
/// still `and`.
pub fn print_symbol(name: &str) -> Option<String> {
    if matches!(name, "true" | "false") || Builtin::lookup(name).is_some() || is_float_name(name) {
        return None;
    }
    if is_simple(name) && !is_reserved(name) {
        return Some(name.to_string());
    }
    (!name.contains(['|', '\\'])).then(|| format!("|{name}|"))
}

/// Prints a value as a term; arrays are writes into a constant array.
pub fn print_value(sort: Sort, value: &Value) -> String {
    match value {
        Value::Bits(bits) => print_bits(sort, bits),
        Value::Array(array) => print_array(sort, array),
    }
}

fn print_bits(sort: Sort, bits: &Bits) -> String {
    match sort {
        Sort::Bool => (if bits.is_zero() { "false" } else { "true" }).to_string(),
        Sort::Bits(_) | Sort::Array { .. } => bits.to_smtlib(),
    }
}

/// Returns whether it is the representation of an index that reads and writes use.
pub(super) fn is_canonical(sort: WordSort, bits: &Bits) -> bool {
    match sort {
        WordSort::Bool | WordSort::Bits(_) | WordSort::Declared(_) | WordSort::Nested(_) => true,
        WordSort::Float(format) => !format.is_nan(bits) || *bits == format.nan(),
        WordSort::Rounding => (bits.low() as usize) < Rounding::ALL.len(),
    }
}

/// Prints a word whose sort needs no table.
pub(super) fn print_word(sort: WordSort, bits: &Bits) -> String {
    match sort {
        WordSort::Bool | WordSort::Bits(_) | WordSort::Declared(_) | WordSort::Nested(_) => bits.to_smtlib(),
        WordSort::Float(format) => print_number(format, bits),
        WordSort::Rounding => {
            let number = bits.low() as usize;
            ROUNDING_MODES[if number < 5 { number } else { 0 }].0.to_string()
        }
    }
}

fn print_number(format: Format, bits: &Bits) -> String {
    let (e, s) = (format.exponent(), format.significand());
    if format.is_nan(bits) {
        return format!("(_ NaN {e} {s})");
    }
    for (name, negative) in [("+", false), ("-", true)] {
        if *bits == format.infinity(negative) {
            return format!("(_ {name}oo {e} {s})");
        }
        if *bits == format.zero(negative) {
            return format!("(_ {name}zero {e} {s})");
        }
    }
    let binary = |low: u32, width: u32| -> String {
        (low..low + width).rev().map(|i| if bits.bit(i) { '1' } else { '0' }).collect()
    };
    format!("(fp #b{} #b{} #b{})", binary(e + s - 1, 1), binary(s - 1, e), binary(0, s - 1))
}

fn rounding_name(rounding: Rounding) -> &'static str {
    let mode = ROUNDING_MODES.iter().find(|(_, mode)| *mode == rounding);
    mode.expect("the table has every mode").0
}

fn print_array(sort: Sort, array: &ArrayValue) -> String {
    let entries = array.entries();
    let mut text = "(store ".repeat(entries.len());
    let _ = write!(text, "((as const {sort}) {})", array.default_element().to_smtlib());
    for (index, element) in entries {
        let _ = write!(text, " {} {})", index.to_smtlib(), element.to_smtlib());
    }
    text
}

/// The number of x87's word `?x`, after its definition: NaN if the integer bit is missing; with an exponent of 0 and an
/// integer bit the exponent counts as 1.
const NUMBER_OF_X87: &str = ")) (let ((?e ((_ extract 78 64) ?x)) (?i ((_ extract 63 63) ?x))) \
    (ite (and (= ?i #b0) (not (= ?e (_ bv0 15)))) (_ NaN 15 64) \
    (fp ((_ extract 79 79) ?x) (ite (and (= ?i #b1) (= ?e (_ bv0 15))) (_ bv1 15) ?e) ((_ extract 62 0) ?x)))))";

/// x87's word of the bits `?b` of a number, after their definition.
const X87_OF_BITS: &str = ")))) (concat ((_ extract 78 63) ?b) \
    (ite (= ((_ extract 77 63) ?b) (_ bv0 15)) #b0 #b1) ((_ extract 62 0) ?b)))";

/// Prints expressions of one graph.
pub struct Printer<'g> {
    graph: &'g Graph,
    /// Names of variables that differ from those in the graph.
    pub renamed: FxHashMap<Expr, String>,
}

/// An item that is still to be printed.
enum Pending {
    Reference(Expr),
    Text(&'static str),
    Owned(String),
    /// `e + n`, the index of an element of a word read.
    Offset(Expr, u32),
}

struct Writer<'g> {
    graph: &'g Graph,
    names: FxHashMap<Expr, String>,
    sharing: Sharing,
    stack: Vec<Pending>,
    out: String,
}

impl<'g> Printer<'g> {
    pub fn new(graph: &'g Graph) -> Printer<'g> {
        Printer { graph, renamed: FxHashMap::default() }
    }

    fn writer(&self, roots: &[Expr], assert_tables: bool) -> Writer<'g> {
        let mut sharing = Sharing::of(self.graph, roots);
        if !assert_tables {
            sharing.assert_no_tables();
        }
        let mut used: FxHashSet<String> = FxHashSet::default();
        let mut names: FxHashMap<Expr, String> = FxHashMap::default();
        for variable in sharing.variables(self.graph) {
            let wanted = self.renamed.get(&variable).map_or(self.graph.name(variable), |name| name);
            let mut name = print_symbol(wanted).unwrap_or_else(|| format!("v!{}", variable.id()));
            while !used.insert(name.clone()) {
                name = format!("v!{}!{}", variable.id(), used.len());
            }
            names.insert(variable, name);
        }
        let mut n = 0;
        for &e in sharing.order.iter().filter(|&&e| sharing.is_shared(self.graph, e)) {
            let name = loop {
                n += 1;
                let name = format!("?{n}");
                if !used.contains(&name) {
                    break name;
                }
            };
            names.insert(e, name);
        }
        Writer { graph: self.graph, names, sharing, stack: Vec::new(), out: String::new() }
    }

    /// Prints a term; shared nodes are bound by `let`.
    pub fn term(&self, e: Expr) -> String {
        let mut writer = self.writer(&[e], false);
        let mut lets = 0;
        for shared in writer.shared() {
            let _ = write!(writer.out, "(let (({} ", writer.names[&shared]);
            writer.print_definition(shared);
            writer.out.push_str(")) ");
            lets += 1;
        }
        writer.print_reference(e);
        writer.out.push_str(&")".repeat(lets));
        writer.out
    }

    /// Prints a script that checks the conjunction of the assertions.
    pub fn script(&self, assertions: &[Expr]) -> String {
        let mut writer = self.writer(assertions, true);
        let arrays = writer.sharing.order.iter().any(|&e| self.graph.is_array(e));
        let floats = writer.sharing.order.iter().any(|&e| self.graph.float_parameter(e).is_some());
        let logic = match (arrays, floats) {
            (false, false) => "QF_BV",
            (true, false) => "QF_ABV",
            (false, true) => "QF_BVFP",
            (true, true) => "QF_ABVFP",
        };
        let _ = writeln!(writer.out, "(set-logic {logic})");
        let variables: Vec<Expr> = writer.sharing.variables(self.graph).collect();
        for variable in variables {
            let (name, sort) = (&writer.names[&variable], self.graph.sort(variable));
            let _ = writeln!(writer.out, "(declare-fun {name} () {sort})");
        }
        let tables: Vec<Expr> = writer.sharing.asserted().collect();
        for table in tables {
            writer.assert_elements(table);
        }
        for shared in writer.shared() {
            let _ =
                write!(writer.out, "(define-fun {} () {} ", writer.names[&shared], self.graph.sort(shared));
            writer.print_definition(shared);
            writer.out.push_str(")\n");
        }
        for &assertion in assertions {
            writer.out.push_str("(assert ");
            writer.print_reference(assertion);
            writer.out.push_str(")\n");
        }
        writer.out.push_str("(check-sat)\n");
        writer.out
    }
}

impl Writer<'_> {
    /// Returns the nodes that are bound to names, operands before their users.
    fn shared(&self) -> Vec<Expr> {
        let order = self.sharing.order.iter().copied();
        order.filter(|&e| self.sharing.is_shared(self.graph, e)).collect()
    }

    fn print_reference(&mut self, e: Expr) {
        self.stack.push(Pending::Reference(e));
        self.print_pending();
    }

    /// Prints `e` itself, even if it has a name.
    fn print_definition(&mut self, e: Expr) {
        self.expand(e);
        self.print_pending();
    }

    fn print_pending(&mut self) {
        while let Some(item) = self.stack.pop() {
            match item {
                Pending::Text(text) => self.out.push_str(text),
                Pending::Owned(text) => self.out.push_str(&text),
                Pending::Offset(e, n) => self.offset(e, n),
                Pending::Reference(e) => match self.names.get(&e) {
                    Some(name) => self.out.push_str(name),
                    None => self.expand(e),
                },
            }
        }
    }

    fn offset(&mut self, e: Expr, n: u32) {
        let width = self.graph.width(e);
        let skip = Bits::word(width, n.into());
        match self.graph.const_bits(e) {
            _ if skip.is_zero() => self.stack.push(Pending::Reference(e)),
            Some(index) => self.out.push_str(&index.add(&skip).to_smtlib()),
            None => {
                let _ = write!(self.out, "(bvadd {} ", skip.to_smtlib());
                self.stack.extend([Pending::Text(")"), Pending::Reference(e)]);
            }
        }
    }

    /// Prints one assertion per element: the base of the table has its constants.
    fn assert_elements(&mut self, table: Expr) {
        let base = self.graph.kid(table, 0);
        let Sort::Array { index, element } = self.graph.sort(table) else { unreachable!("an array") };
        for (i, &value) in self.graph.table(table).elements.iter().enumerate() {
            let (i, value) = (Bits::word(index, i as u64), Bits::word(element, value));
            let name = &self.names[&base];
            let _ =
                writeln!(self.out, "(assert (= (select {name} {}) {}))", i.to_smtlib(), value.to_smtlib());
        }
    }

    /// Prints the operator and pushes its operands.
    fn expand(&mut self, e: Expr) {
        let graph = self.graph;
        let op = graph.op(e);
        if let Family::Float(float) = op.family()
            && let Some(parameter) = graph.float_parameter(e)
        {
            return self.float(e, float, parameter);
        }
        match op {
            Op::Const => {
                let bits = graph.const_bits(e).expect("a constant");
                self.out.push_str(&print_bits(graph.sort(e), &bits));
                return;
            }
            // Variables have names and are not defined, so they are never expanded.
            Op::Var => unreachable!("a variable is named"),
            Op::Table => return self.table(e),
            Op::ConstArray => {
                let _ = write!(self.out, "((as const {}) ", graph.sort(e));
            }
            Op::Read if graph.read_count(e) > 1 => return self.word_read(e),
            op => {
                let name = if graph.is_bool(e) { op.smtlib_on_bools() } else { op.smtlib() };
                let operand = graph.width(graph.kid(e, 0));
                let indices = op.smtlib_indices(graph.width(e), operand, graph.parameter(e));
                let _ = match *indices {
                    [] => write!(self.out, "({name} "),
                    [i] => write!(self.out, "((_ {name} {i}) "),
                    _ => write!(self.out, "((_ {name} {} {}) ", indices[0], indices[1]),
                };
            }
        }
        self.stack.push(Pending::Text(")"));
        for (i, kid) in graph.kids(e).into_iter().enumerate().rev() {
            self.stack.push(Pending::Reference(kid));
            if i > 0 {
                self.stack.push(Pending::Text(" "));
            }
        }
    }

    /// Prints a float operator over bits as SMT-LIB has it over numbers: operands are converted from bits, and a number is
    /// converted back. SMT-LIB leaves the bits of NaN open. x87's numbers have no sort there: they are numbers of 15 and 64
    /// bits, and the stored integer bit is taken out and put in.
    fn float(&mut self, e: Expr, op: FloatOp, parameter: FloatParameter) {
        let (format, source) = (parameter.format, parameter.source);
        let indices = |f: Format| format!("{} {}", f.exponent(), f.significand());
        let (function, is_number) = match op {
            FloatOp::FLt | FloatOp::FLe | FloatOp::FEq => (Op::from(op).smtlib().to_string(), false),
            FloatOp::FToUInt | FloatOp::FToSInt => {
                (format!("(_ {} {})", Op::from(op).smtlib(), self.graph.width(e)), false)
            }
            FloatOp::FToF | FloatOp::FFromSInt => (format!("(_ to_fp {})", indices(format)), true),
            FloatOp::FFromUInt => (format!("(_ to_fp_unsigned {})", indices(format)), true),
            FloatOp::FAdd | FloatOp::FMul | FloatOp::FDiv | FloatOp::FMulAdd => {
                (Op::from(op).smtlib().to_string(), true)
            }
            FloatOp::FSqrt | FloatOp::FRound | FloatOp::FRem => (Op::from(op).smtlib().to_string(), true),
        };
        let from_bits = !matches!(op, FloatOp::FFromSInt | FloatOp::FFromUInt);
        let (before, after) = match (is_number, format.is_explicit()) {
            (true, true) => ("(let ((?b (fp.to_ieee_bv (", X87_OF_BITS),
            (true, false) => ("(fp.to_ieee_bv (", "))"),
            (false, _) => ("(", ")"),
        };
        self.out.push_str(before);
        self.out.push_str(&function);
        if op.rounds() {
            self.out.push(' ');
            self.out.push_str(rounding_name(parameter.rounding));
        }
        self.stack.push(Pending::Text(after));
        for kid in self.graph.kids(e).into_iter().rev() {
            if from_bits && source.is_explicit() {
                self.stack.extend([Pending::Text(NUMBER_OF_X87), Pending::Reference(kid)]);
                self.stack.push(Pending::Text(" (let ((?x "));
            } else if from_bits {
                self.stack.extend([Pending::Text(")"), Pending::Reference(kid)]);
                self.stack.push(Pending::Owned(format!(" ((_ to_fp {}) ", indices(source))));
            } else {
                self.stack.extend([Pending::Reference(kid), Pending::Text(" ")]);
            }
        }
    }

    /// Prints a table as its base if its elements are asserted, otherwise as a chain of writes.
    fn table(&mut self, e: Expr) {
        let base = self.graph.kid(e, 0);
        if self.sharing.is_asserted(e) {
            self.out.push_str(&self.names[&base]);
            return;
        }
        let Sort::Array { index, element } = self.graph.sort(e) else { unreachable!("an array") };
        let elements = &self.graph.table(e).elements;
        for _ in 0..elements.len() {
            self.out.push_str("(store ");
        }
        let mut tail = String::new();
        for (i, &value) in elements.iter().enumerate() {
            let (i, value) = (Bits::word(index, i as u64), Bits::word(element, value));
            let _ = write!(tail, " {} {})", i.to_smtlib(), value.to_smtlib());
        }
        self.stack.push(Pending::Owned(tail));
        self.stack.push(Pending::Reference(base));
    }

    /// Prints the elements of a word read, highest first.
    fn word_read(&mut self, e: Expr) {
        let (array, index, count) = (self.graph.kid(e, 0), self.graph.kid(e, 1), self.graph.read_count(e));
        self.out.push_str("(concat");
        self.stack.push(Pending::Text(")"));
        for n in 0..count {
            self.stack.extend([
                Pending::Text(")"),
                Pending::Offset(index, n),
                Pending::Text(" "),
                Pending::Reference(array),
                Pending::Text(" (select "),
            ]);
        }
    }
}
