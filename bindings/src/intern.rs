//! Maps terms to nodes of a graph. One table per graph; it is swept when the graph is collected.

use crate::term::{Term, TermKind};
use partita_core::expr::{Expr, Graph, SortError};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

/// Keyed by address. The weak reference keeps the address from being reused while the entry exists.
#[derive(Default)]
pub(crate) struct Interned {
    known: HashMap<usize, (Weak<Term>, Expr)>,
}

impl Interned {
    /// The node of a term, built if needed.
    pub(crate) fn get(&mut self, graph: &mut Graph, term: &Arc<Term>) -> Result<Expr, SortError> {
        let mut stack: Vec<Arc<Term>> = vec![term.clone()];
        while let Some(top) = stack.last() {
            if self.find(top).is_some() {
                stack.pop();
                continue;
            }
            let missing: Vec<Arc<Term>> =
                top.args.iter().filter(|arg| self.find(arg).is_none()).cloned().collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let args: Vec<Expr> = top.args.iter().map(|arg| self.find(arg).expect("just made")).collect();
            let built = top.build(graph, &args)?;
            let top = stack.pop().expect("not empty");
            self.set(&top, built);
        }
        Ok(self.find(term).expect("just made"))
    }

    /// The variables of a term, except those of subterms that are in the table.
    pub(crate) fn new_variables(&self, term: &Arc<Term>) -> Vec<Arc<Term>> {
        let mut variables = Vec::new();
        let mut seen = HashSet::new();
        let mut stack = vec![term];
        while let Some(top) = stack.pop() {
            if self.find(top).is_some() || !seen.insert(Arc::as_ptr(top)) {
                continue;
            }
            if matches!(top.kind, TermKind::Var(_)) {
                variables.push(top.clone());
            }
            stack.extend(&top.args);
        }
        variables
    }

    /// Records the node of a term.
    pub(crate) fn set(&mut self, term: &Arc<Term>, e: Expr) {
        self.known.insert(Arc::as_ptr(term) as usize, (Arc::downgrade(term), e));
    }

    fn find(&self, term: &Arc<Term>) -> Option<Expr> {
        self.known.get(&(Arc::as_ptr(term) as usize)).map(|(_, e)| *e)
    }

    /// Removes terms that are not referenced any more. Returns the nodes of the others, which must stay alive.
    pub(crate) fn sweep(&mut self) -> Vec<Expr> {
        self.known.retain(|_, (term, _)| term.strong_count() > 0);
        self.known.values().map(|(_, e)| *e).collect()
    }
}
