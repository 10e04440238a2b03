//! Converts nodes of a run's graph to terms for Python, and terms back to nodes.
//!
//! A term that Python returns unchanged becomes the same node again. Only names connect a term with a path, so a term may
//! mention nothing but inputs of the path that it is used on.

use crate::intern::Interned;
use crate::term::{Term, TermKind};
use partita_core::exec::Caller;
use partita_core::expr::{Bits, Builtin, Expr, Family, Graph, Op, Sort};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct TermMap {
    terms: HashMap<Expr, Arc<Term>>,
    interned: Interned,
}

impl TermMap {
    /// Drops everything, before nodes are reused.
    pub(crate) fn forget(&mut self) {
        *self = TermMap::default();
    }

    /// The term for a node.
    pub(crate) fn term_of(&mut self, graph: &Graph, e: Expr) -> Arc<Term> {
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            let kids = graph.kids(top);
            let missing = kids.iter().filter(|kid| !self.terms.contains_key(kid));
            let before = stack.len();
            if !self.terms.contains_key(&top) {
                stack.extend(missing.copied());
                if stack.len() > before {
                    continue;
                }
                let args: Vec<Arc<Term>> = kids.iter().map(|kid| self.terms[kid].clone()).collect();
                let term = make_term(graph, top, &args);
                self.interned.set(&term, top);
                self.terms.insert(top, term);
            }
            stack.pop();
        }
        self.terms[&e].clone()
    }

    /// The node for a term from Python, on the path of `caller`. Fails if the term mentions other inputs.
    pub(crate) fn node_of(&mut self, caller: &mut Caller<'_>, term: &Arc<Term>) -> Result<Expr, String> {
        let not_an_input = |name: &str| {
            format!(
                "expected inputs of this path, found `{name}`: make it one with state.symbolic(name, width)"
            )
        };
        for variable in self.interned.new_variables(term) {
            let TermKind::Var(name) = &variable.kind else { unreachable!("a variable") };
            let graph = caller.graph();
            match graph.lookup(name).filter(|known| graph.sort(*known) == variable.sort) {
                Some(known) if caller.foreign_variable(known).is_none() => {}
                Some(_) | None => return Err(not_an_input(name)),
            }
        }
        let e = self.interned.get(caller.graph(), term).map_err(|error| error.0)?;
        match caller.foreign_variable(e) {
            Some(variable) => Err(not_an_input(caller.graph().name(variable))),
            None => Ok(e),
        }
    }
}

fn make_term(graph: &Graph, e: Expr, args: &[Arc<Term>]) -> Arc<Term> {
    let sort = graph.sort(e);
    let with = |kind: TermKind| Arc::new(Term { sort, kind, args: args.iter().cloned().collect() });
    match graph.op(e) {
        Op::Const => with(TermKind::Const(graph.const_bits(e).expect("a constant"))),
        Op::Var => with(TermKind::Var(graph.name(e).into())),
        Op::Table => with(TermKind::Table(graph.table(e).elements.clone())),
        Op::ConstArray => with(TermKind::ConstArray),
        Op::Read => read(graph.read_count(e), &args[0], &args[1]),
        op => {
            if let (Family::Float(op), Some(parameter)) = (op.family(), graph.float_parameter(e)) {
                return with(TermKind::Float(op, parameter));
            }
            let name = if sort == Sort::Bool { op.smtlib_on_bools() } else { op.smtlib() };
            let f = Builtin::lookup(name).expect("every operator on words is a function of SMT-LIB");
            let operand = graph.width(graph.kid(e, 0));
            let indices = op.smtlib_indices(graph.width(e), operand, graph.parameter(e));
            fits(Term::apply(f, &indices, args))
        }
    }
}

/// `count` adjacent elements as one word, the first one lowest.
fn read(count: u32, array: &Arc<Term>, index: &Arc<Term>) -> Arc<Term> {
    let Sort::Bits(width) = index.sort else { unreachable!("an index") };
    let element = |i: u32| {
        let at = match i {
            0 => index.clone(),
            _ => {
                let step = Term::leaf(index.sort, TermKind::Const(Bits::word(width, i.into())));
                fits(Term::apply(Builtin::BvAdd, &[], &[index.clone(), step]))
            }
        };
        fits(Term::apply(Builtin::Select, &[], &[array.clone(), at]))
    };
    let parts: Vec<Arc<Term>> = (0..count).rev().map(element).collect();
    match parts.as_slice() {
        [one] => one.clone(),
        several => fits(Term::apply(Builtin::Concat, &[], several)),
    }
}

fn fits(term: Result<Arc<Term>, partita_core::expr::SortError>) -> Arc<Term> {
    term.expect("operands of a node fit it")
}
