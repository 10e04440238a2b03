//! Preprocessing of a check whose core may be all assertions: rounds of the boolean skeleton, of elimination of variables, of
//! equal polynomials and of unconstrained terms, until nothing changes. Each step has an option and a counter.

use super::check::conjuncts;
use super::eliminate::{Eliminated, Floats};
use super::options::Options;
use super::polynomials;
use super::skeleton::Skeleton;
use super::unconstrained;
use crate::expr::{Expr, Graph, Model};
use rustc_hash::FxHashSet;

/// Limit of rounds: each finds what the last one made visible.
const MAX_ROUNDS: usize = 8;

/// Numbers of rewrites so far.
#[derive(Default)]
pub(super) struct PreprocessCounts {
    pub(super) eliminated: u64,
    pub(super) booleans: u64,
    pub(super) facts: u64,
    pub(super) unconstrained: u64,
    /// Terms replaced by terms with an equal polynomial.
    pub(super) polynomials: u64,
    /// Checks that were preprocessed after a brief attempt without it.
    pub(super) late: u64,
    /// Queries without some products, quotients or remainders.
    pub(super) attempts: u64,
}

/// Constraints that are satisfiable if the given ones are.
pub(super) struct Preprocessed {
    pub(super) rest: Vec<Expr>,
    eliminated: Eliminated,
}

impl Preprocessed {
    /// Extends a model of the rest to a model of the constraints.
    pub(super) fn extend(&self, graph: &Graph, model: Model) -> Model {
        self.eliminated.extend(graph, model)
    }
}

pub(super) fn preprocess(
    graph: &mut Graph,
    constraints: &[Expr],
    floats: &Floats,
    options: &Options,
    counts: &mut PreprocessCounts,
) -> Preprocessed {
    let mut found = Preprocessed { rest: constraints.to_vec(), eliminated: Eliminated::default() };
    let mut skeleton = Skeleton::default();
    let mut unconstrained = 0;
    for _ in 0..MAX_ROUNDS {
        let before = found.rest.clone();
        if options.skeleton {
            let rest = skeleton.with_booleans(graph, &found.rest);
            found.rest = split(graph, &rest);
        }
        if options.eliminate_variables
            && let Some(rest) = found.eliminated.round(graph, &found.rest, floats)
        {
            found.rest = split(graph, &rest);
        }
        if options.skeleton {
            let rest = skeleton.with_facts(graph, &found.rest);
            found.rest = split(graph, &rest);
        }
        if options.equal_polynomials
            && let Some(rest) = polynomials::unite(graph, &found.rest, &mut counts.polynomials)
        {
            found.rest = split(graph, &rest);
        }
        if options.unconstrained_terms
            && let Some((rest, definitions)) = unconstrained::replace(graph, &found.rest)
        {
            found.rest = split(graph, &rest);
            found.eliminated.define(graph, &definitions);
            unconstrained += definitions.len();
        }
        if found.rest == before {
            break;
        }
    }
    counts.eliminated += (found.eliminated.count() - unconstrained) as u64;
    counts.unconstrained += unconstrained as u64;
    counts.booleans += skeleton.booleans;
    counts.facts += skeleton.facts;
    found
}

/// The conjuncts of constraints, as assertions are split.
fn split(graph: &mut Graph, constraints: &[Expr]) -> Vec<Expr> {
    let mut seen = FxHashSet::default();
    constraints.iter().flat_map(|&constraint| conjuncts(graph, constraint, &mut seen)).collect()
}
