//! Chains of layers from their specs, for tests and benchmarks.

// Each file uses only a part of this.
#![allow(dead_code)]

use partita_core::solve::{Layer, Solver, Spec, SpecError, build_chain};

fn build(spec: &str) -> Result<Vec<Box<dyn Layer>>, SpecError> {
    build_chain(&Spec::parse(spec, &Spec(Vec::new()))?, &mut |_| Ok(None))
}

pub(crate) fn layers(spec: &str) -> Vec<Box<dyn Layer>> {
    build(spec).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

pub(crate) fn solver(spec: &str) -> Solver {
    Solver::new(layers(spec))
}

/// The message for a spec that is rejected.
pub(crate) fn error(spec: &str) -> String {
    build(spec).err().unwrap_or_else(|| panic!("{spec}: expected an error")).to_string()
}
