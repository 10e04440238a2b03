//! Encodes the answer to a canonical query: the values of its variables, or the positions of the constraints in its core.

use super::canonical::{Canonical, sort_of};
use crate::encoding::{Decoder, put, put_bits};
use crate::expr::walk::Atom;
use crate::expr::{ArrayValue, Bits, Expr, Graph, Model, Sort, Value};
use crate::query::{Answer, Core};
use std::sync::Arc;

/// Models with more array elements than this are not kept.
const MAX_ELEMENTS: usize = 4096;

/// The verdict of a row. The numbers are part of the file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Unsat = 0,
    Sat = 1,
}

impl Verdict {
    pub fn of(number: u8) -> Option<Verdict> {
        [Verdict::Unsat, Verdict::Sat].into_iter().find(|verdict| *verdict as u8 == number)
    }

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Unsat => "unsat",
            Verdict::Sat => "sat",
        }
    }
}

/// Encodes an answer; `None` if it cannot be kept. `condition` is the query's.
pub fn encode(
    graph: &Graph,
    form: &Canonical,
    condition: Expr,
    answer: &Answer,
) -> Option<(Verdict, Vec<u8>)> {
    let mut out = Vec::new();
    match answer {
        Answer::Unknown(_) => None,
        Answer::Unsat(core) => {
            let used = |e: &Expr| core.constraints.contains(*e) || (core.condition && *e == condition);
            let positions: Vec<usize> =
                form.constraints.iter().enumerate().filter(|(_, e)| used(e)).map(|(i, _)| i).collect();
            if positions.is_empty() {
                return None;
            }
            put(&mut out, positions.len() as u64);
            positions.iter().for_each(|position| put(&mut out, *position as u64));
            Some((Verdict::Unsat, out))
        }
        Answer::Sat(model) => {
            for &atom in &form.variables {
                put_value(graph, model, atom, &mut out)?;
            }
            Some((Verdict::Sat, out))
        }
    }
}

fn put_value(graph: &Graph, model: &Model, atom: Atom, out: &mut Vec<u8>) -> Option<()> {
    match atom {
        Atom::Variable(v) => put_bits(out, &model.bits(v, graph.width(v))),
        Atom::Element(array, index) => {
            let element = match model.array(array) {
                Some(value) => value.get(&Bits::word(value.index_width(), index)),
                None => Bits::zero(graph.width(array)),
            };
            put_bits(out, &element);
        }
        Atom::Array(array) => {
            let zero = Bits::zero(graph.width(array));
            let value = model.array(array);
            put_bits(out, value.map_or(&zero, |value| value.default_element()));
            let entries = value.map_or_else(Vec::new, |value| value.entries());
            if entries.len() > MAX_ELEMENTS {
                return None;
            }
            put(out, entries.len() as u64);
            for (index, element) in &entries {
                put_bits(out, index);
                put_bits(out, element);
            }
        }
    }
    Some(())
}

/// Decodes an answer for the current query, whose canonical form is `form`; `None` if the bytes are malformed.
pub fn decode(
    graph: &Graph,
    form: &Canonical,
    path: &[Expr],
    verdict: Verdict,
    bytes: &[u8],
) -> Option<Answer> {
    let mut decoder = Decoder::new(bytes);
    let answer = match verdict {
        Verdict::Unsat => {
            let count = decoder.count().filter(|count| *count > 0)?;
            let constraint = |_| form.constraints.get(usize::try_from(decoder.number()?).ok()?).copied();
            let used: Vec<Expr> = (0..count).map(constraint).collect::<Option<_>>()?;
            // A constraint that is not on the path is the condition.
            let condition = used.iter().any(|e| !path.contains(e));
            let constraints = used.into_iter().filter(|e| path.contains(e)).collect();
            Answer::Unsat(Core { constraints, condition })
        }
        Verdict::Sat => {
            let mut model = Model::new();
            for &atom in &form.variables {
                take_value(graph, &mut model, atom, &mut decoder)?;
            }
            Answer::Sat(model)
        }
    };
    decoder.is_at_end().then_some(answer)
}

fn take_value(graph: &Graph, model: &mut Model, atom: Atom, decoder: &mut Decoder<'_>) -> Option<()> {
    match (atom, sort_of(graph, atom)) {
        (Atom::Variable(v), _) => model.set_bits(v, decoder.bits(graph.width(v))?),
        (Atom::Element(array, index), _) => {
            let Sort::Array { index: width, element } = graph.sort(array) else { return None };
            model.set_element(graph, array, &Bits::word(width, index), decoder.bits(element)?);
        }
        (Atom::Array(array), Sort::Array { index, element }) => {
            let mut value = ArrayValue::new(index, decoder.bits(element)?);
            for _ in 0..decoder.count()? {
                let at = decoder.bits(index)?;
                value.set(&at, decoder.bits(element)?);
            }
            model.set(array, Value::Array(Arc::new(value)));
        }
        (Atom::Array(_), Sort::Bool | Sort::Bits(_)) => return None,
    }
    Some(())
}
