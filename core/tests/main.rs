//! Tests of the core from outside, one module per file: one binary is linked once. `cargo test -p partita-core --test
//! integration rewrite::` runs those of `rewrite.rs`. `interval_memory.rs` is a binary of its own.

mod chain;
mod corpus;
mod random;
mod terms;

mod blast_arrays;
mod blast_circuit;
mod blast_conformance;
mod blast_corpus;
mod blast_float;
mod blast_limits;
mod collect;
mod columns;
mod deep;
mod differences;
mod eval;
mod float;
mod interval_ops;
mod interval_paths;
mod interval_queries;
mod kquery;
mod layout;
mod long_paths;
mod parti;
mod partial_solutions;
mod rewrite;
mod script;
mod script_float;
mod shared_store;
mod smtlib;
mod solutions;
mod store;
mod throttle;
