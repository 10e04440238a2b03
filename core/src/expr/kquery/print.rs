//! Printer of KQuery, with labels for nodes that are used more than once.
//!
//! KQuery only has arrays of bytes. A variable that is not an array is printed as bytes of an array, lowest
//! first. Arrays with other sorts, constant arrays and comparisons of arrays cannot be printed; the error
//! names the obstacle.

use super::lexer::type_width;
use super::{Array, ELEMENT_WIDTH, INDEX_WIDTH};
use crate::expr::sharing::Sharing;
use crate::expr::walk::ArrayForm;
use crate::expr::{ArrayOp, BitsOp, Expr, Family, Graph, LeafOp, Op, ResultSort, ShapeOp, Sort};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// An item that is still to be printed.
enum Pending {
    /// An operand; `typed` constants are printed with their width.
    Mention {
        e: Expr,
        typed: bool,
    },
    /// An operand that is printed again: with a label.
    Labelled(Expr),
    Number(u32),
    Version(Expr),
    Text(&'static str),
}

struct Writer<'g> {
    graph: &'g Graph,
    sharing: Sharing,
    names: FxHashMap<Expr, String>,
    /// Labels defined so far.
    labels: FxHashMap<Expr, String>,
    stack: Vec<Pending>,
    out: String,
}

/// Prints a query with the declarations it needs.
///
/// # Errors
///
/// Fails if the query contains something that KQuery cannot express.
pub fn print(
    graph: &Graph,
    constraints: &[Expr],
    expr: Expr,
    values: &[Expr],
    arrays: &[Array],
) -> Result<String, String> {
    let mut roots = constraints.to_vec();
    roots.push(expr);
    roots.extend(values);
    roots.extend(arrays.iter().map(|array| array.expr));
    let sharing = Sharing::of(graph, &roots);
    let names = names(graph, &sharing);
    let labels = FxHashMap::default();
    let mut writer = Writer { graph, sharing, names, labels, stack: Vec::new(), out: String::new() };
    writer.declarations(arrays)?;
    writer.out.push_str("(query [");
    for (i, &constraint) in constraints.iter().enumerate() {
        if i > 0 {
            writer.out.push_str("\n        ");
        }
        writer.write(constraint)?;
    }
    writer.out.push_str("]\n       ");
    writer.write(expr)?;
    if !values.is_empty() || !arrays.is_empty() {
        writer.out.push_str(" [");
        for (i, &value) in values.iter().enumerate() {
            writer.out.push_str(if i > 0 { " " } else { "" });
            writer.write(value)?;
        }
        writer.out.push(']');
    }
    if !arrays.is_empty() {
        let names: Vec<&str> =
            arrays.iter().map(|array| writer.names[&variable(graph, array.expr)].as_str()).collect();
        let _ = write!(writer.out, " [{}]", names.join(" "));
    }
    writer.out.push_str(")\n");
    Ok(writer.out)
}

/// Prints one expression, without declarations.
///
/// # Errors
///
/// Fails if it contains something that KQuery cannot express.
pub fn print_expression(graph: &Graph, e: Expr) -> Result<String, String> {
    let sharing = Sharing::of(graph, &[e]);
    let names = names(graph, &sharing);
    let labels = FxHashMap::default();
    let mut writer = Writer { graph, sharing, names, labels, stack: Vec::new(), out: String::new() };
    writer.write_as(e, false)?;
    Ok(writer.out)
}

/// Returns the variable of a declared array.
fn variable(graph: &Graph, array: Expr) -> Expr {
    if graph.op(array) == Op::Table { graph.kid(array, 0) } else { array }
}

fn names(graph: &Graph, sharing: &Sharing) -> FxHashMap<Expr, String> {
    let mut used = FxHashSet::default();
    let mut names = FxHashMap::default();
    for variable in sharing.variables(graph) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let mut name = graph.name(variable).replace(|c| !plain(c), "_");
        let first = name.chars().next();
        if first.is_none_or(|c| c.is_ascii_digit()) || type_width(&name).is_some() {
            name.insert(0, '_');
        }
        while !used.insert(name.clone()) {
            name = format!("{name}_{}", variable.id());
        }
        names.insert(variable, name);
    }
    names
}

impl Writer<'_> {
    fn declarations(&mut self, arrays: &[Array]) -> Result<(), String> {
        let graph = self.graph;
        let sizes: FxHashMap<Expr, u64> =
            arrays.iter().map(|array| (variable(graph, array.expr), array.size)).collect();
        let tables: FxHashMap<Expr, Expr> =
            self.sharing.asserted().map(|table| (graph.kid(table, 0), table)).collect();
        let variables: Vec<Expr> = self.sharing.variables(graph).collect();
        for variable in variables {
            let name = &self.names[&variable];
            let size = match graph.sort(variable) {
                Sort::Array { index: INDEX_WIDTH, element: ELEMENT_WIDTH } => {
                    sizes.get(&variable).copied().unwrap_or(0)
                }
                sort @ Sort::Array { .. } => {
                    return Err(format!("expected arrays from w32 to w8, found `{name}` of sort {sort}"));
                }
                Sort::Bool | Sort::Bits(_) => u64::from(graph.width(variable).div_ceil(ELEMENT_WIDTH)),
            };
            match tables.get(&variable) {
                Some(&table) => {
                    let elements = &graph.table(table).elements;
                    let list: Vec<String> = elements.iter().map(u64::to_string).collect();
                    let (size, list) = (elements.len(), list.join(" "));
                    let _ = writeln!(self.out, "array {name}[{size}] : w32 -> w8 = [{list}]");
                }
                None => {
                    let size = if size == 0 { String::new() } else { size.to_string() };
                    let _ = writeln!(self.out, "array {name}[{size}] : w32 -> w8 = symbolic");
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, e: Expr) -> Result<(), String> {
        self.write_as(e, true)
    }

    fn write_as(&mut self, e: Expr, typed: bool) -> Result<(), String> {
        self.stack.push(Pending::Mention { e, typed });
        while let Some(item) = self.stack.pop() {
            match item {
                Pending::Text(text) => self.out.push_str(text),
                Pending::Version(array) => self.version(array)?,
                Pending::Mention { e, typed } => self.mention(e, typed, false)?,
                Pending::Labelled(e) => self.mention(e, false, true)?,
                Pending::Number(number) => self.out.push_str(&number.to_string()),
            }
        }
        Ok(())
    }

    /// Prints the label of `e` if it has one; otherwise defines a label if `e` is shared or
    /// printed again. Returns whether the label was printed.
    fn by_label(&mut self, e: Expr, prefix: &str, again: bool) -> bool {
        if let Some(label) = self.labels.get(&e) {
            self.out.push_str(label);
            return true;
        }
        if again || self.sharing.is_shared(self.graph, e) {
            let label = format!("{prefix}{}", self.labels.len());
            let _ = write!(self.out, "{label}:");
            self.labels.insert(e, label);
        }
        false
    }

    fn mention(&mut self, e: Expr, typed: bool, again: bool) -> Result<(), String> {
        let graph = self.graph;
        if let Some(bits) = graph.const_bits(e) {
            let _ = match (bits.width(), typed) {
                (1, _) => write!(self.out, "{}", !bits.is_zero()),
                (width, true) => write!(self.out, "(w{width} {})", bits.to_decimal()),
                (_, false) => write!(self.out, "{}", bits.to_decimal()),
            };
            return Ok(());
        }
        if self.by_label(e, "N", again) {
            return Ok(());
        }
        let op = graph.op(e);
        let width = graph.width(e);
        let kids = graph.kids(e);
        match op.family() {
            Family::Leaf(LeafOp::Const) => unreachable!("written above"),
            Family::Leaf(LeafOp::Var) if !graph.is_array(e) => {
                self.bytes(e);
                return Ok(());
            }
            Family::Array(ArrayOp::Read) => {
                let name = if graph.read_count(e) > 1 { "ReadLSB" } else { "Read" };
                let _ = write!(self.out, "({name} w{width} ");
                self.stack.extend([
                    Pending::Text(")"),
                    Pending::Version(kids[0]),
                    Pending::Text(" "),
                    Pending::Mention { e: kids[1], typed: false },
                ]);
                return Ok(());
            }
            Family::Leaf(LeafOp::Var) | Family::Array(_) => {
                return Err("expected no comparison of arrays, found one".into());
            }
            Family::Compare(_) if graph.is_array(kids[0]) => {
                return Err("expected no comparison of arrays, found one".into());
            }
            Family::Shape(ShapeOp::Extract) => {
                let _ = write!(self.out, "(Extract w{width} {} ", graph.extract_low(e));
                self.stack.extend([Pending::Text(")"), Pending::Mention { e: kids[0], typed: true }]);
                return Ok(());
            }
            // In KLEE an amount of the width or more gives 0, here the sign in all bits.
            Family::Shift(_) if op == Op::AShr && width > 1 => {
                let (amount, last) = (kids[1], width - 1);
                let _ = write!(self.out, "(AShr w{width} ");
                match graph.const_word(amount) {
                    Some(word) if word < width.into() => {
                        self.stack.extend([Pending::Text(")"), Pending::Number(word as u32)]);
                    }
                    Some(_) => self.stack.extend([Pending::Text(")"), Pending::Number(last)]),
                    None if graph.is_const(amount) => {
                        self.stack.extend([Pending::Text(")"), Pending::Number(last)]);
                    }
                    None => self.stack.extend([
                        Pending::Text("))"),
                        Pending::Number(last),
                        Pending::Text(" "),
                        Pending::Labelled(amount),
                        Pending::Text(") "),
                        Pending::Number(width),
                        Pending::Text(" "),
                        Pending::Labelled(amount),
                        Pending::Text("(Select (Ult "),
                    ]),
                }
                self.stack.extend([Pending::Text(" "), Pending::Mention { e: kids[0], typed: true }]);
                return Ok(());
            }
            Family::Bits(BitsOp::Not) if graph.is_bool(e) => {
                self.out.push_str("(Eq false ");
                self.stack.extend([Pending::Text(")"), Pending::Mention { e: kids[0], typed: true }]);
                return Ok(());
            }
            Family::Shape(ShapeOp::Ite) if graph.is_array(e) => {
                return Err("expected no choice between arrays, found one".into());
            }
            Family::Float(_) => {
                return Err(format!("expected no floating-point operator, found {}", op.smtlib()));
            }
            Family::Bits(_) | Family::Arith(_) | Family::Shift(_) | Family::Compare(_) | Family::Shape(_) => {
            }
        }
        let name = op.kquery();
        if name.is_empty() {
            return Err(format!("expected an operator of KQuery, found {op:?}"));
        }
        // Constant operands are typed unless the printed width or another operand gives their width.
        let typed_kids =
            matches!(op.family(), Family::Shape(ShapeOp::Concat | ShapeOp::ZExt | ShapeOp::SExt));
        let _ = match op.result() {
            ResultSort::Bool => write!(self.out, "({name}"),
            ResultSort::Operand | ResultSort::Node => write!(self.out, "({name} w{width}"),
        };
        self.stack.push(Pending::Text(")"));
        for kid in kids.into_iter().rev() {
            self.stack.extend([Pending::Mention { e: kid, typed: typed_kids }, Pending::Text(" ")]);
        }
        Ok(())
    }

    /// Prints a variable that is not an array as bytes of the array of its name.
    fn bytes(&mut self, variable: Expr) {
        let width = self.graph.width(variable);
        let whole = width.next_multiple_of(ELEMENT_WIDTH);
        let name = &self.names[&variable];
        let read = if whole == ELEMENT_WIDTH { "Read" } else { "ReadLSB" };
        let _ = if whole == width {
            write!(self.out, "({read} w{whole} 0 {name})")
        } else {
            write!(self.out, "(Extract w{width} 0 ({read} w{whole} 0 {name}))")
        };
    }

    /// Prints an array: writes, newest first, followed by a declared array.
    fn version(&mut self, array: Expr) -> Result<(), String> {
        let graph = self.graph;
        match graph.array_form(array) {
            ArrayForm::Variable => self.out.push_str(&self.names[&array]),
            ArrayForm::Table { base } if self.sharing.is_asserted(array) => {
                self.out.push_str(&self.names[&base]);
            }
            ArrayForm::Table { base } => {
                if self.by_label(array, "U", false) {
                    return Ok(());
                }
                let writes: Vec<String> =
                    graph.table(array).elements.iter().enumerate().map(|(i, e)| format!("{i}={e}")).collect();
                let _ = write!(self.out, "[{}] @ ", writes.join(", "));
                self.stack.push(Pending::Version(base));
            }
            ArrayForm::Store { .. } => {
                if self.by_label(array, "U", false) {
                    return Ok(());
                }
                self.out.push('[');
                let mut items = Vec::new();
                let mut below = array;
                // One list for all writes up to one that is used elsewhere too.
                while graph.op(below) == Op::Store
                    && (below == array || !self.sharing.is_shared(graph, below))
                {
                    if below != array {
                        items.push(Pending::Text(", "));
                    }
                    items.push(Pending::Mention { e: graph.kid(below, 1), typed: false });
                    items.push(Pending::Text("="));
                    items.push(Pending::Mention { e: graph.kid(below, 2), typed: false });
                    below = graph.kid(below, 0);
                }
                items.extend([Pending::Text("] @ "), Pending::Version(below)]);
                self.stack.extend(items.into_iter().rev());
            }
            ArrayForm::Constant { .. } => return Err("expected no constant array, found one".into()),
            ArrayForm::Ite { .. } => return Err("expected no choice between arrays, found one".into()),
        }
        Ok(())
    }
}
