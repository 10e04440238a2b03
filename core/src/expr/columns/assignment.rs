//! A model, or one that differs from it in one atom: many of those that share a model cost little more than one.

use crate::expr::bits::mask;
use crate::expr::walk::Atom;
use crate::expr::{Expr, Graph, Model};

#[derive(Clone, Default)]
pub struct Assignment {
    model: Model,
    /// The value of at most 64 bits that a variable or an element has instead.
    change: Option<(Atom, u64)>,
}

impl From<Model> for Assignment {
    fn from(model: Model) -> Assignment {
        Assignment { model, change: None }
    }
}

impl Assignment {
    /// The model with another value for an atom, if that is a word.
    pub fn changed(graph: &Graph, model: &Model, atom: Atom, word: u64) -> Option<Assignment> {
        let width = graph.width(atom.variable());
        let is_word = width <= 64 && !matches!(atom, Atom::Array(_));
        is_word.then(|| Assignment { model: model.clone(), change: Some((atom, word & mask(width))) })
    }

    /// Does it have the values of its model for all of these atoms, which are in order?
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

    /// The model that it is, made once.
    pub fn model(&mut self, graph: &Graph) -> &Model {
        if let Some((atom, word)) = self.change.take() {
            self.model.set_atom(graph, atom, word);
        }
        &self.model
    }

    /// Bytes taken, about, as if nothing were shared.
    pub fn footprint(&self) -> usize {
        self.model.footprint()
    }

    /// Keeps only what `keep` says; used when variables are collected.
    pub fn retain(&mut self, keep: impl Fn(Expr) -> bool) {
        self.change = self.change.filter(|(atom, _)| keep(atom.variable()));
        self.model.retain(keep);
    }
}
