//! An answer to a canonical question as bytes: the values of its variables, or which of its constraints are the core.

use super::bytes::{Reader, put, put_bits};
use super::canonical::{Canonical, sort_of};
use crate::expr::walk::Atom;
use crate::expr::{ArrayValue, Bits, Expr, Graph, Model, Sort, Value};
use crate::query::{Answer, Core};
use std::sync::Arc;

/// Models with more array elements than this are not kept.
const MAX_ELEMENTS: usize = 4096;

/// What a row says; equal numbers are equal rows in the file.
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

/// The bytes for an answer, if it can be kept. `condition` is the query's.
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
            let places: Vec<usize> =
                form.constraints.iter().enumerate().filter(|(_, e)| used(e)).map(|(i, _)| i).collect();
            if places.is_empty() {
                return None;
            }
            put(&mut out, places.len() as u64);
            places.iter().for_each(|place| put(&mut out, *place as u64));
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

/// The answer in the words of the question at hand; `None` if the bytes are no such answer.
pub fn decode(
    graph: &Graph,
    form: &Canonical,
    path: &[Expr],
    verdict: Verdict,
    bytes: &[u8],
) -> Option<Answer> {
    let mut reader = Reader::new(bytes);
    let answer = match verdict {
        Verdict::Unsat => {
            let count = reader.count().filter(|count| *count > 0)?;
            let place = |_| form.constraints.get(usize::try_from(reader.number()?).ok()?).copied();
            let used: Vec<Expr> = (0..count).map(place).collect::<Option<_>>()?;
            // Whatever is not a constraint of the path is the condition.
            let condition = used.iter().any(|e| !path.contains(e));
            let constraints = used.into_iter().filter(|e| path.contains(e)).collect();
            Answer::Unsat(Core { constraints, condition })
        }
        Verdict::Sat => {
            let mut model = Model::new();
            for &atom in &form.variables {
                take_value(graph, &mut model, atom, &mut reader)?;
            }
            Answer::Sat(model)
        }
    };
    reader.is_at_end().then_some(answer)
}

fn take_value(graph: &Graph, model: &mut Model, atom: Atom, reader: &mut Reader<'_>) -> Option<()> {
    match (atom, sort_of(graph, atom)) {
        (Atom::Variable(v), _) => model.set_bits(v, reader.bits(graph.width(v))?),
        (Atom::Element(array, index), _) => {
            let Sort::Array { index: width, element } = graph.sort(array) else { return None };
            model.set_element(graph, array, &Bits::word(width, index), reader.bits(element)?);
        }
        (Atom::Array(array), Sort::Array { index, element }) => {
            let mut value = ArrayValue::new(index, reader.bits(element)?);
            for _ in 0..reader.count()? {
                let at = reader.bits(index)?;
                value.set(&at, reader.bits(element)?);
            }
            model.set(array, Value::Array(Arc::new(value)));
        }
        (Atom::Array(_), Sort::Bool | Sort::Bits(_)) => return None,
    }
    Some(())
}
