//! Expressions as Python holds them: immutable terms that belong to no solver.
//!
//! A `Graph` is one solver's: it gives every name one sort, reuses its nodes and is not shared between threads.
//! So Python does not hold nodes of a graph but terms, with their sorts checked, and each solver interns what it
//! is given (`intern.rs`). That needs no global state, and one expression can go to any number of solvers.

use partita_core::expr::{Bits, Builtin, Expr, Graph, Sort, SortError};
use smallvec::SmallVec;
use std::sync::Arc;

pub(crate) enum Node {
    /// A boolean or bit-vector constant.
    Const(Bits),
    Var(Arc<str>),
    /// The array that holds its argument everywhere.
    ConstArray,
    /// Constant elements 0.. over the argument, an array.
    Table(Arc<[u64]>),
    Apply(Builtin, SmallVec<[u64; 2]>),
}

pub(crate) struct Term {
    pub(crate) sort: Sort,
    pub(crate) node: Node,
    pub(crate) args: SmallVec<[Arc<Term>; 2]>,
}

impl Term {
    pub(crate) fn leaf(sort: Sort, node: Node) -> Arc<Term> {
        Arc::new(Term { sort, node, args: SmallVec::new() })
    }

    pub(crate) fn apply(f: Builtin, params: &[u64], args: &[Arc<Term>]) -> Result<Arc<Term>, SortError> {
        let sorts: SmallVec<[Sort; 4]> = args.iter().map(|arg| arg.sort).collect();
        let sort = f.result(params, &sorts)?;
        Ok(Arc::new(Term { sort, node: Node::Apply(f, params.into()), args: args.into() }))
    }

    /// The node of a graph for this term, its arguments' nodes being at hand.
    pub(crate) fn build(&self, graph: &mut Graph, args: &[Expr]) -> Result<Expr, SortError> {
        match &self.node {
            Node::Const(bits) => Ok(graph.constant_of(self.sort, bits.clone())),
            Node::Var(name) => graph.var(name, self.sort),
            Node::ConstArray => {
                let Sort::Array { index, .. } = self.sort else { unreachable!("an array") };
                Ok(graph.const_array(index, args[0]))
            }
            Node::Table(elements) => Ok(graph.table_over(args[0], elements.clone())),
            Node::Apply(f, params) => graph.apply(*f, params, args),
        }
    }

    /// As SMT-LIB, at most about `limit` characters of it.
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
            match &term.node {
                Node::Const(bits) if term.sort == Sort::Bool => {
                    out.push_str(if bits.is_zero() { "false" } else { "true" });
                }
                Node::Const(bits) => out.push_str(&bits.to_smtlib()),
                Node::Var(name) => out.push_str(name),
                Node::ConstArray => out.push_str(&format!("((as const {})", term.sort)),
                Node::Table(elements) => out.push_str(&format!("(table[{}]", elements.len())),
                Node::Apply(f, params) if params.is_empty() => out.push_str(&format!("({}", f.name())),
                Node::Apply(f, params) => {
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

/// Terms may be nested millions deep: they are taken apart in a loop.
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
