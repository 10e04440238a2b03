//! Expressions, path tree and solver layers of Partita. No Python, no printing, no globals.

pub mod budget;
pub mod expr;
pub mod persist;
pub mod query;
pub mod solve;
