//! A model, or a model with one changed atom: assignments that share a model use little memory.

use crate::expr::bits::mask;
use crate::expr::walk::Atom;
use crate::expr::{Expr, Graph, Model};

#[derive(Clone, Default)]
pub struct Assignment {
    model: Model,
    /// The changed variable or element of at most 64 bits, and its value.
    change: Option<(Atom, u64)>,
}

impl From<Model> for Assignment {
    fn from(model: Model) -> Assignment {
        Assignment { model, change: None }
    }
}

impl Assignment {
    /// Returns the model with another value for an atom, if the atom has at most 64 bits.
    pub fn changed(graph: &Graph, model: &Model, atom: Atom, word: u64) -> Option<Assignment> {
        let width = graph.width(atom.variable());
        let is_word = width <= 64 && !matches!(atom, Atom::Array(_));
        is_word.then(|| Assignment { model: model.clone(), change: Some((atom, word & mask(width))) })
    }

    /// Returns whether the change affects none of these atoms, which are sorted.
    pub fn shares(&self, atoms: &[Atom]) -> bool {
        let has = |atom: Atom| atoms.binary_search(&atom).is_ok();
        self.change.is_some_and(|(atom, _)| !has(atom) && !has(Atom::Array(atom.variable())))
    }

    pub(super) fn word(&self, atom: Atom) -> u64 {
        match self.change {
            Some((changed, word)) if changed == atom => word,
            _ => self.model.atom(atom),
        }
    }

    /// Returns the model with the change applied.
    pub fn model(&mut self, graph: &Graph) -> &Model {
        if let Some((atom, word)) = self.change.take() {
            self.model.set_atom(graph, atom, word);
        }
        &self.model
    }

    /// Approximate size in bytes, counting shared memory.
    pub fn footprint(&self) -> usize {
        self.model.footprint()
    }

    /// Keeps only the variables that `keep` accepts; used when variables are collected.
    pub fn retain(&mut self, keep: impl Fn(Expr) -> bool) {
        self.change = self.change.filter(|(atom, _)| keep(atom.variable()));
        self.model.retain(keep);
    }
}
