//! Expressions, path tree, solver layers and programs of Partita. No Python, no printing, no globals.

pub mod blast;
pub mod budget;
pub mod cost;
pub mod difference;
mod encoding;
pub mod exec;
pub mod expr;
pub mod interval;
pub mod persist;
pub mod program;
pub mod query;
pub mod random;
pub mod script;
pub mod solve;
pub mod throttle;
pub mod tuning;
