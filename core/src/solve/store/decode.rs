//! Decodes canonical bytes to expressions, for people and other solvers. Variables are called `v0`, `v1`, ...

use super::canonical::{ELEMENTS, semantics};
use crate::encoding::Decoder;
use crate::expr::bits::mask;
use crate::expr::float::FloatParameter;
use crate::expr::smtlib::Printer;
use crate::expr::{Builtin, Expr, Family, Graph, Op, Sort};

/// The query as an SMT-LIB script; `None` if this version cannot have written the bytes.
pub fn script(bytes: &[u8]) -> Option<String> {
    let mut graph = Graph::new();
    let constraints = constraints(&mut graph, bytes)?;
    Some(Printer::new(&graph).script(&constraints))
}

/// Rebuilds the constraints of a canonical query.
pub fn constraints(graph: &mut Graph, bytes: &[u8]) -> Option<Vec<Expr>> {
    let (version, rest) = bytes.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*version) != semantics() {
        return None;
    }
    let mut decoder = Decoder::new(rest);
    let mut nodes = Vec::new();
    for _ in 0..decoder.count()? {
        let node = node(graph, &mut decoder, &nodes)?;
        nodes.push(node);
    }
    let count = decoder.count()?;
    let root = |_| nodes.get(usize::try_from(decoder.number()?).ok()?).copied();
    let roots: Vec<Expr> = (0..count).map(root).collect::<Option<_>>()?;
    (decoder.is_at_end() && roots.iter().all(|e| graph.is_bool(*e))).then_some(roots)
}

fn variable(graph: &mut Graph, decoder: &mut Decoder<'_>, sort: Sort) -> Option<Expr> {
    graph.var(&format!("v{}", decoder.number()?), sort).ok()
}

fn node(graph: &mut Graph, decoder: &mut Decoder<'_>, before: &[Expr]) -> Option<Expr> {
    let code = decoder.byte()?;
    if code == ELEMENTS {
        return elements(graph, decoder);
    }
    let op = *Op::ALL.get(usize::from(code))?;
    let sort = decoder.sort()?;
    let width = match sort {
        Sort::Bool => 1,
        Sort::Bits(width) | Sort::Array { element: width, .. } => width,
    };
    // Written before the operands.
    let mut parameters = Vec::new();
    match op {
        Op::Const if matches!(sort, Sort::Array { .. }) => return None,
        Op::Const => return decoder.bits(width).map(|bits| graph.constant_of(sort, bits)),
        Op::Var => return variable(graph, decoder, sort),
        Op::Table => {
            parameters = (0..decoder.count()?).map(|_| decoder.number()).collect::<Option<_>>()?;
        }
        op if op.has_parameter() => parameters.push(decoder.number()?),
        _ => {}
    }
    let mut kids = Vec::with_capacity(op.arity());
    for _ in 0..op.arity() {
        let back = usize::try_from(decoder.number()?).ok()?;
        kids.push(*before.get(before.len().checked_sub(back)?)?);
    }
    let built = build(graph, op, sort, width, &parameters, &kids)?;
    (graph.sort(built) == sort).then_some(built)
}

/// Array elements that are encoded as variables, as one word, the first one lowest.
fn elements(graph: &mut Graph, decoder: &mut Decoder<'_>) -> Option<Expr> {
    let count = decoder.number()?;
    let sort = Sort::bits(decoder.number()?).ok()?;
    let mut word = variable(graph, decoder, sort)?;
    for _ in 1..count {
        let higher = variable(graph, decoder, sort)?;
        word = graph.apply(Builtin::Concat, &[], &[higher, word]).ok()?;
    }
    Some(word)
}

/// Builds a node. `apply` checks the sorts for operators of SMT-LIB; they are checked here for the others.
fn build(
    graph: &mut Graph,
    op: Op,
    sort: Sort,
    width: u32,
    parameters: &[u64],
    kids: &[Expr],
) -> Option<Expr> {
    let first = kids[0];
    let parameters = match op {
        Op::Table => {
            let Sort::Array { index, element } = graph.sort(first) else { return None };
            let fits = element <= 64 && parameters.iter().all(|p| *p <= mask(element));
            let few = index >= 64 || parameters.len() as u64 <= 1 << index;
            return (fits && few).then(|| graph.table_over(first, parameters.into()));
        }
        Op::ConstArray => {
            let Sort::Array { index, .. } = sort else { return None };
            let is_word = matches!(graph.sort(first), Sort::Bits(_));
            return is_word.then(|| graph.const_array(index, first));
        }
        Op::Read => {
            let Sort::Array { index, element } = graph.sort(first) else { return None };
            let fits = graph.sort(kids[1]) == Sort::Bits(index) && width.is_multiple_of(element);
            return fits.then(|| graph.read(first, kids[1], width / element));
        }
        Op::Extract => {
            let low = parameters[0];
            vec![low.checked_add(u64::from(width) - 1)?, low]
        }
        Op::ZExt | Op::SExt => vec![u64::from(width.checked_sub(graph.width(first))?)],
        _ => parameters.to_vec(),
    };
    if let Family::Float(float) = op.family() {
        let packed = u32::try_from(parameters[0]).ok()?;
        let operand = graph.width(first);
        let parameter = FloatParameter::decode(float, packed, width, operand)?;
        let fits = kids.iter().all(|&kid| graph.sort(kid) == Sort::Bits(operand));
        return fits.then(|| graph.float(float, parameter, width, kids));
    }
    let name = if graph.is_bool(first) { op.smtlib_on_bools() } else { op.smtlib() };
    graph.apply(Builtin::lookup(name)?, &parameters, kids).ok()
}
