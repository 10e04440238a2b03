//! Which node of a graph each term is. One table per graph; it is swept when the graph is collected.

use crate::term::Term;
use partita_core::expr::{Expr, Graph, SortError};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Keyed by address. The weak reference keeps the address from being used again while the entry is here.
#[derive(Default)]
pub(crate) struct Interned {
    known: HashMap<usize, (Weak<Term>, Expr)>,
}

impl Interned {
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
            self.known.insert(Arc::as_ptr(top) as usize, (Arc::downgrade(top), built));
            stack.pop();
        }
        Ok(self.find(term).expect("just made"))
    }

    fn find(&self, term: &Arc<Term>) -> Option<Expr> {
        self.known.get(&(Arc::as_ptr(term) as usize)).map(|(_, e)| *e)
    }

    /// Forgets terms that nobody holds; gives the nodes of the others, which must live.
    pub(crate) fn sweep(&mut self) -> Vec<Expr> {
        self.known.retain(|_, (term, _)| term.strong_count() > 0);
        self.known.values().map(|(_, e)| *e).collect()
    }
}
