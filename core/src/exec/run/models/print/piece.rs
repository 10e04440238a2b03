//! Parts of a printed text, before it is known how long each is.
use super::float;
use super::number::{self, Notation};
use crate::exec::outcome::Outcome;
use crate::expr::{Bits, Expr, Graph};

/// Largest number of characters of a printed text.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// A value that is printed: a number, or an expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Datum {
    Number(u128),
    Symbolic(Expr),
}

impl Datum {
    pub fn of_byte(byte: u8) -> Datum {
        Datum::Number(byte.into())
    }

    pub fn of(graph: &Graph, e: Expr) -> Datum {
        graph.const_bits(e).map_or(Datum::Symbolic(e), |bits| Datum::Number(number(&bits)))
    }
}

/// Low 128 bits.
pub(super) fn number(bits: &Bits) -> u128 {
    let high = bits.words().get(1).copied().unwrap_or(0);
    u128::from(bits.low()) | u128::from(high) << 64
}

/// Flags, width and precision of a conversion.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Spec {
    pub left: bool,
    pub zero: bool,
    pub plus: bool,
    pub space: bool,
    pub alternate: bool,
    pub width: usize,
    pub precision: Option<usize>,
    /// Bits of an integer argument.
    pub bits: u32,
}

impl Spec {
    /// The text with blanks up to the width.
    pub fn padded(&self, text: Vec<Datum>) -> Vec<Datum> {
        let blanks = std::iter::repeat_n(Datum::of_byte(b' '), self.width.saturating_sub(text.len()));
        if self.left { text.into_iter().chain(blanks).collect() } else { blanks.chain(text).collect() }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Bytes(Vec<Datum>),
    /// Bytes up to the first zero, or all of them.
    Text {
        spec: Spec,
        bytes: Vec<Datum>,
    },
    Integer {
        spec: Spec,
        notation: Notation,
        value: Datum,
    },
    Float {
        spec: Spec,
        kind: u8,
        long: bool,
        value: Datum,
    },
}

impl Piece {
    /// Text without flags.
    pub fn plain(bytes: Vec<Datum>) -> Piece {
        Piece::Text { spec: Spec::default(), bytes }
    }

    fn data(&self) -> &[Datum] {
        match self {
            Piece::Bytes(bytes) | Piece::Text { bytes, .. } => bytes,
            Piece::Integer { value, .. } | Piece::Float { value, .. } => std::slice::from_ref(value),
        }
    }

    /// Expressions that it depends on, in order.
    pub fn values(&self) -> impl Iterator<Item = Expr> {
        self.data().iter().filter_map(|datum| match datum {
            Datum::Number(_) => None,
            Datum::Symbolic(e) => Some(*e),
        })
    }

    /// Replaces expressions by values, in the order of `values`.
    pub fn with_values<'a>(mut self, values: &mut impl Iterator<Item = &'a Bits>) -> Piece {
        let data = match &mut self {
            Piece::Bytes(bytes) | Piece::Text { bytes, .. } => bytes.as_mut_slice(),
            Piece::Integer { value, .. } | Piece::Float { value, .. } => std::slice::from_mut(value),
        };
        for datum in data {
            if let Datum::Symbolic(_) = datum {
                *datum = Datum::Number(number(values.next().expect("one value per expression")));
            }
        }
        self
    }

    /// Text of a piece whose length does not depend on expressions; `None` for others.
    pub fn known_text(&self) -> Result<Option<Vec<Datum>>, Outcome> {
        Ok(Some(match self {
            Piece::Bytes(bytes) => bytes.clone(),
            Piece::Text { spec, bytes } => {
                let mut text = Vec::new();
                for byte in bytes {
                    match byte {
                        Datum::Number(0) => break,
                        Datum::Number(_) => text.push(*byte),
                        Datum::Symbolic(_) => return Ok(None),
                    }
                }
                spec.padded(text)
            }
            &Piece::Integer { ref spec, notation, value: Datum::Number(value) } => {
                number::text(spec, notation, value as u64)
            }
            &Piece::Float { ref spec, kind, long, value: Datum::Number(bits) } => {
                float::text(spec, kind, long, bits)?
            }
            Piece::Integer { value: Datum::Symbolic(_), .. }
            | Piece::Float { value: Datum::Symbolic(_), .. } => {
                return Ok(None);
            }
        }))
    }
}
