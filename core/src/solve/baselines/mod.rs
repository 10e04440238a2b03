//! Baselines: published techniques as published, and caches of other tools, to measure our layers against. They are in no
//! default chain; a spec names them as variants of the layer that they are compared with.

pub mod grulia;
pub mod klee_cache;
pub mod parti;
pub mod partial_solutions;
