//! Expressions of a run as Python holds them, and back: nodes of its graph become terms, which belong to no graph.
//!
//! What Python is given and hands back unchanged is the same node again. Names are the only thing that ties a term to a
//! path, so a term from outside may mention nothing but inputs of the path it comes to.

use crate::intern::Interned;
use crate::term::{Node, Term};
use partita_core::exec::Caller;
use partita_core::expr::{Bits, Builtin, Expr, Graph, Op, Sort};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Terms {
    given: HashMap<Expr, Arc<Term>>,
    interned: Interned,
}

impl Terms {
    /// Nodes are about to be reused.
    pub(crate) fn forget(&mut self) {
        *self = Terms::default();
    }

    /// The node as a term.
    pub(crate) fn give(&mut self, graph: &Graph, e: Expr) -> Arc<Term> {
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            let kids = graph.kids(top);
            let missing = kids.iter().filter(|kid| !self.given.contains_key(kid));
            let before = stack.len();
            if !self.given.contains_key(&top) {
                stack.extend(missing.copied());
                if stack.len() > before {
                    continue;
                }
                let args: Vec<Arc<Term>> = kids.iter().map(|kid| self.given[kid].clone()).collect();
                let term = term_of(graph, top, &args);
                self.interned.set(&term, top);
                self.given.insert(top, term);
            }
            stack.pop();
        }
        self.given[&e].clone()
    }

    /// The node for a term from Python, on the path of `caller`; or what is wrong with it.
    pub(crate) fn take(&mut self, caller: &mut Caller<'_>, term: &Arc<Term>) -> Result<Expr, String> {
        let stranger = |name: &str| {
            format!(
                "expected inputs of this path, found `{name}`: make it one with state.symbolic(name, width)"
            )
        };
        for variable in self.interned.new_variables(term) {
            let Node::Var(name) = &variable.node else { unreachable!("a variable") };
            let graph = caller.graph();
            match graph.lookup(name).filter(|known| graph.sort(*known) == variable.sort) {
                Some(known) if caller.stranger(known).is_none() => {}
                Some(_) | None => return Err(stranger(name)),
            }
        }
        let e = self.interned.get(caller.graph(), term).map_err(|error| error.0)?;
        match caller.stranger(e) {
            Some(variable) => Err(stranger(caller.graph().name(variable))),
            None => Ok(e),
        }
    }
}

fn term_of(graph: &Graph, e: Expr, args: &[Arc<Term>]) -> Arc<Term> {
    let sort = graph.sort(e);
    let with = |node: Node| Arc::new(Term { sort, node, args: args.iter().cloned().collect() });
    let apply = |f: Builtin, params: &[u64]| fits(Term::apply(f, params, args));
    let width = |e: Expr| u64::from(graph.width(e));
    let either =
        |on_bool: Builtin, on_bits: Builtin| apply(if sort == Sort::Bool { on_bool } else { on_bits }, &[]);
    match graph.op(e) {
        Op::Const => with(Node::Const(graph.const_bits(e).expect("a constant"))),
        Op::Var => with(Node::Var(graph.name(e).into())),
        Op::Table => with(Node::Table(graph.table(e).elements.clone())),
        Op::ConstArray => with(Node::ConstArray),
        Op::Read => read(graph.read_count(e), &args[0], &args[1]),
        Op::Store => apply(Builtin::Store, &[]),
        Op::Not => either(Builtin::Not, Builtin::BvNot),
        Op::And => either(Builtin::And, Builtin::BvAnd),
        Op::Or => either(Builtin::Or, Builtin::BvOr),
        Op::Xor => either(Builtin::Xor, Builtin::BvXor),
        Op::Add => apply(Builtin::BvAdd, &[]),
        Op::Sub => apply(Builtin::BvSub, &[]),
        Op::Mul => apply(Builtin::BvMul, &[]),
        Op::UDiv => apply(Builtin::BvUdiv, &[]),
        Op::URem => apply(Builtin::BvUrem, &[]),
        Op::SDiv => apply(Builtin::BvSdiv, &[]),
        Op::SRem => apply(Builtin::BvSrem, &[]),
        Op::Shl => apply(Builtin::BvShl, &[]),
        Op::LShr => apply(Builtin::BvLshr, &[]),
        Op::AShr => apply(Builtin::BvAshr, &[]),
        Op::Eq => apply(Builtin::Equal, &[]),
        Op::Ult => apply(Builtin::BvUlt, &[]),
        Op::Ule => apply(Builtin::BvUle, &[]),
        Op::Slt => apply(Builtin::BvSlt, &[]),
        Op::Sle => apply(Builtin::BvSle, &[]),
        Op::Concat => apply(Builtin::Concat, &[]),
        Op::Extract => {
            let low = u64::from(graph.extract_low(e));
            apply(Builtin::Extract, &[low + width(e) - 1, low])
        }
        Op::ZExt => apply(Builtin::ZeroExtend, &[width(e) - width(graph.kid(e, 0))]),
        Op::SExt => apply(Builtin::SignExtend, &[width(e) - width(graph.kid(e, 0))]),
        Op::Ite => apply(Builtin::Ite, &[]),
    }
}

/// `count` adjacent elements as one word, the first one lowest.
fn read(count: u32, array: &Arc<Term>, index: &Arc<Term>) -> Arc<Term> {
    let Sort::Bits(width) = index.sort else { unreachable!("an index") };
    let element = |i: u32| {
        let at = match i {
            0 => index.clone(),
            _ => {
                let step = Term::leaf(index.sort, Node::Const(Bits::word(width, i.into())));
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
