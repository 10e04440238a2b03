//! Expressions as Python holds them: immutable terms that belong to no solver.
//!
//! A `Graph` belongs to one solver: it gives every name one sort, reuses its nodes and is not shared between threads.
//! So Python does not hold nodes of a graph but terms, with their sorts checked, and each solver interns the terms it
//! receives (`intern.rs`). That needs no global state, and one expression can go to any number of solvers.

use partita_core::expr::float::FloatParameter;
use partita_core::expr::{Bits, Builtin, Expr, FloatOp, Graph, Op, Sort, SortError};
use smallvec::SmallVec;
use std::sync::Arc;

pub(crate) enum TermKind {
    /// A boolean or bit-vector constant.
    Const(Bits),
    Var(Arc<str>),
    /// The array that has its argument at every index.
    ConstArray,
    /// The argument, an array, with its first elements replaced by constants.
    Table(Arc<[u64]>),
    Apply(Builtin, SmallVec<[u64; 2]>),
    /// A float operator.
    Float(FloatOp, FloatParameter),
}

pub(crate) struct Term {
    pub(crate) sort: Sort,
    pub(crate) kind: TermKind,
    pub(crate) args: SmallVec<[Arc<Term>; 2]>,
}

impl Term {
    pub(crate) fn leaf(sort: Sort, kind: TermKind) -> Arc<Term> {
        Arc::new(Term { sort, kind, args: SmallVec::new() })
    }

    pub(crate) fn apply(f: Builtin, params: &[u64], args: &[Arc<Term>]) -> Result<Arc<Term>, SortError> {
        let sorts: SmallVec<[Sort; 4]> = args.iter().map(|arg| arg.sort).collect();
        let sort = f.result(params, &sorts)?;
        Ok(Arc::new(Term { sort, kind: TermKind::Apply(f, params.into()), args: args.into() }))
    }

    /// Builds the node for this term in a graph, given the nodes of its arguments.
    pub(crate) fn build(&self, graph: &mut Graph, args: &[Expr]) -> Result<Expr, SortError> {
        match &self.kind {
            TermKind::Const(bits) => Ok(graph.constant_of(self.sort, bits.clone())),
            TermKind::Var(name) => graph.var(name, self.sort),
            TermKind::ConstArray => {
                let Sort::Array { index, .. } = self.sort else { unreachable!("an array") };
                Ok(graph.const_array(index, args[0]))
            }
            TermKind::Table(elements) => Ok(graph.table_over(args[0], elements.clone())),
            TermKind::Apply(f, params) => graph.apply(*f, params, args),
            TermKind::Float(op, parameter) => {
                let width = match self.sort {
                    Sort::Bits(width) => width,
                    Sort::Bool | Sort::Array { .. } => 1,
                };
                Ok(graph.float(*op, *parameter, width, args))
            }
        }
    }

    /// The term as SMT-LIB text, cut after about `limit` characters.
    pub(crate) fn text(&self, limit: usize) -> String {
        enum Step<'a> {
            Term(&'a Term),
            Text(&'static str),
        }
        let mut out = String::new();
        let mut stack = vec![Step::Term(self)];
        while let Some(step) = stack.pop() {
            if out.len() > limit {
                out.push_str(" ...");
                return out;
            }
            let term = match step {
                Step::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Step::Term(term) => term,
            };
            match &term.kind {
                TermKind::Const(bits) if term.sort == Sort::Bool => {
                    out.push_str(if bits.is_zero() { "false" } else { "true" });
                }
                TermKind::Const(bits) => out.push_str(&bits.to_smtlib()),
                TermKind::Var(name) => out.push_str(name),
                TermKind::ConstArray => out.push_str(&format!("((as const {})", term.sort)),
                TermKind::Table(elements) => out.push_str(&format!("(table[{}]", elements.len())),
                TermKind::Apply(f, params) if params.is_empty() => out.push_str(&format!("({}", f.name())),
                TermKind::Float(op, parameter) => {
                    let (name, format) = (Op::from(*op).smtlib(), parameter.format);
                    let bits = (format.exponent(), format.significand());
                    out.push_str(&format!("((_ {name} {:?} {} {})", parameter.rounding, bits.0, bits.1));
                }
                TermKind::Apply(f, params) => {
                    let params: Vec<String> = params.iter().map(u64::to_string).collect();
                    out.push_str(&format!("((_ {} {})", f.name(), params.join(" ")));
                }
            }
            if !term.args.is_empty() {
                stack.push(Step::Text(")"));
                for arg in term.args.iter().rev() {
                    stack.push(Step::Term(arg));
                    stack.push(Step::Text(" "));
                }
            }
        }
        out
    }
}

/// Terms may be nested millions deep, so they are dropped in a loop instead of recursively.
impl Drop for Term {
    fn drop(&mut self) {
        let mut stack: SmallVec<[Arc<Term>; 2]> = std::mem::take(&mut self.args);
        while let Some(term) = stack.pop() {
            if let Some(mut last) = Arc::into_inner(term) {
                stack.extend(std::mem::take(&mut last.args));
            }
        }
    }
}
