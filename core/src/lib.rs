//! Expressions, path tree and solver layers of Partita. No Python, no printing, no globals.
pub mod program;
