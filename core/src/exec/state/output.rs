//! Standard output of a path. Symbolic parts stay symbolic until the path ends, when its test is known.
use crate::expr::{Bits, Evaluator, Expr, Graph, Model};
use std::sync::Arc;

/// Text of values that are known when the path ends.
pub type Render = Arc<dyn Fn(&[Bits]) -> Vec<u8> + Send + Sync>;

#[derive(Clone, Default)]
pub struct Output {
    bytes: Vec<u8>,
    /// Symbolic parts between the bytes, in order, with the number of bytes before each.
    symbolic: Vec<(usize, Part)>,
}

#[derive(Clone)]
enum Part {
    /// An 8-bit expression.
    Byte(Expr),
    /// Text whose length is not known yet, because it depends on these expressions.
    Text { values: Arc<[Expr]>, render: Render },
}

impl Output {
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn push_symbolic(&mut self, byte: Expr) {
        self.symbolic.push((self.bytes.len(), Part::Byte(byte)));
    }

    /// Appends the text that `render` makes of the values of these expressions.
    pub fn push_text(&mut self, values: Arc<[Expr]>, render: Render) {
        self.symbolic.push((self.bytes.len(), Part::Text { values, render }));
    }

    /// Bytes under a model.
    pub fn under(&self, graph: &Graph, model: &Model, evaluator: &mut Evaluator) -> Vec<u8> {
        if self.symbolic.is_empty() {
            return self.bytes.clone();
        }
        let mut session = evaluator.under(graph, model);
        let mut bytes = Vec::with_capacity(self.bytes.len() + self.symbolic.len());
        let mut copied = 0;
        for (at, part) in &self.symbolic {
            bytes.extend_from_slice(&self.bytes[copied..*at]);
            copied = *at;
            match part {
                Part::Byte(e) => bytes.push(session.word(*e) as u8),
                Part::Text { values, render } => {
                    let values: Vec<Bits> = values.iter().map(|e| session.bits(*e)).collect();
                    bytes.extend(render(&values));
                }
            }
        }
        bytes.extend_from_slice(&self.bytes[copied..]);
        bytes
    }

    /// Visits the expressions it refers to.
    pub fn roots(&self, visit: &mut dyn FnMut(Expr)) {
        for (_, part) in &self.symbolic {
            match part {
                Part::Byte(e) => visit(*e),
                Part::Text { values, .. } => values.iter().copied().for_each(&mut *visit),
            }
        }
    }
}
