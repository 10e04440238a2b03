//! What a path wrote to standard output. Symbolic bytes stay symbolic until the path ends: only then is it known which
//! of their values the test has.
use crate::expr::{Evaluator, Expr, Graph, Model};

#[derive(Clone, Default, Debug)]
pub struct Output {
    bytes: Vec<u8>,
    /// Places in `bytes`, in order, that hold 8-bit expressions.
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

    /// The bytes where the inputs are those of the model.
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

    /// Expressions it needs.
    pub fn roots(&self, roots: &mut Vec<Expr>) {
        roots.extend(self.symbolic.iter().map(|(_, byte)| *byte));
    }
}
