//! Standard output of a path. Symbolic bytes stay symbolic until the path ends, when its test is known.
use crate::expr::{Evaluator, Expr, Graph, Model};

#[derive(Clone, Default, Debug)]
pub struct Output {
    bytes: Vec<u8>,
    /// Indices in `bytes`, in order, that hold 8-bit expressions.
    symbolic: Vec<(usize, Expr)>,
}

impl Output {
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn push_symbolic(&mut self, byte: Expr) {
        self.symbolic.push((self.bytes.len(), byte));
        self.bytes.push(0);
    }

    /// Bytes under a model.
    pub fn under(&self, graph: &Graph, model: &Model, evaluator: &mut Evaluator) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if !self.symbolic.is_empty() {
            let mut session = evaluator.under(graph, model);
            for &(at, byte) in &self.symbolic {
                bytes[at] = session.word(byte) as u8;
            }
        }
        bytes
    }

    /// Adds the expressions it refers to.
    pub fn roots(&self, roots: &mut Vec<Expr>) {
        roots.extend(self.symbolic.iter().map(|(_, byte)| *byte));
    }
}
