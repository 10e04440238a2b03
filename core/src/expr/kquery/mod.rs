//! KQuery, the query language of KLEE: parser and printer.
//!
//! A query asks whether its constraints entail an expression, and for values if they do not. One-bit values
//! are conditions in KQuery: they become booleans, and one-bit vectors where they are operands of arithmetic.
//! Arrays map 32 bits to 8 bits. An array with constant elements is a table over an unconstrained array,
//! because KQuery does not define elements beyond its size.

mod expressions;
mod lexer;
mod operators;
mod print;
mod read;

pub use print::{print, print_expression};
pub use read::KQueryParser;

use super::Expr;
use std::sync::Arc;

/// A declared array.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: Arc<str>,
    pub size: u64,
    pub expr: Expr,
}

/// `(query [constraints] expr [values] [arrays])`
#[derive(Clone, Debug)]
pub struct ParsedQuery {
    pub constraints: Vec<Expr>,
    pub expr: Expr,
    /// Expressions whose values are requested if the query is not valid.
    pub values: Vec<Expr>,
    /// Arrays whose contents are requested if the query is not valid.
    pub arrays: Vec<Array>,
}

const INDEX_WIDTH: u32 = 32;
const ELEMENT_WIDTH: u32 = 8;
