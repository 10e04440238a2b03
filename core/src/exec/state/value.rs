//! Value of a register: a number of at most 64 bits, or an expression.
//!
//! Expressions of one bit are booleans, wider ones bit-vectors; a value of more than 64 bits is an expression
//! even if it is constant. Concrete code therefore never uses the graph.
use crate::expr::{Bits, Expr, Graph};

#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub word: u64,
    pub symbolic: bool,
}

impl Value {
    pub const ZERO: Value = Value { word: 0, symbolic: false };

    #[inline(always)]
    pub fn number(word: u64) -> Value {
        Value { word, symbolic: false }
    }

    #[inline]
    pub fn truth(value: bool) -> Value {
        Value::number(value.into())
    }

    pub fn is_same(self, other: Value) -> bool {
        self.word == other.word && self.symbolic == other.symbolic
    }

    /// Register value of an expression: a number if it is constant.
    pub fn of(graph: &Graph, e: Expr) -> Value {
        match graph.const_word(e) {
            Some(word) => Value::number(word),
            None => Value { word: e.to_word(), symbolic: true },
        }
    }

    /// The expression of a symbolic value.
    #[inline]
    pub fn expr(self) -> Option<Expr> {
        self.symbolic.then(|| Expr::from_word(self.word))
    }

    /// Converts to an expression: a boolean for one bit, a bit-vector otherwise.
    pub fn to_expr(self, graph: &mut Graph, width: u32) -> Expr {
        match self.expr() {
            Some(e) => e,
            None if width == 1 => graph.boolean(self.word & 1 == 1),
            None if width > 64 => graph.constant(Bits::word(width, self.word)),
            None => graph.word(width, self.word),
        }
    }

    /// Converts to a bit-vector, also for one bit.
    pub fn to_bits(self, graph: &mut Graph, width: u32) -> Expr {
        let e = self.to_expr(graph, width);
        if width == 1 { graph.bool_to_bit(e) } else { e }
    }

    /// Register value of a bit-vector, of one bit too.
    pub fn of_bits(graph: &mut Graph, e: Expr) -> Value {
        let e = if graph.width(e) == 1 && !graph.is_bool(e) { graph.bit_to_bool(e) } else { e };
        Value::of(graph, e)
    }
}
