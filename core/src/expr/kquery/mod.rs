//! KQuery, the query language of KLEE: reading and printing.
//!
//! A query asks whether its constraints entail an expression, and for values where they do not. Values of one
//! bit are conditions there: they become booleans here, and one-bit vectors where arithmetic is done on them.
//! Arrays go from 32 bits to 8. One with constant elements is a table over an unconstrained array of its name,
//! since what lies beyond its size is not said.

mod expressions;
mod lexer;
mod operators;
mod print;
mod read;

pub use print::print;
pub use read::Reader;

use super::Expr;
use std::sync::Arc;

/// An array as declared.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: Arc<str>,
    pub size: u64,
    pub expr: Expr,
}

/// `(query [constraints] expr [values] [arrays])`
#[derive(Clone, Debug)]
pub struct Query {
    pub constraints: Vec<Expr>,
    pub expr: Expr,
    /// Expressions whose values are asked for where the answer is no.
    pub values: Vec<Expr>,
    /// Arrays whose contents are asked for where the answer is no.
    pub arrays: Vec<Array>,
}

const INDEX: u32 = 32;
const ELEMENT: u32 = 8;
