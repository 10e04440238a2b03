//! Inputs that constraints equate with terms: equal words, equal numbers, or SMT-LIB's equality of numbers.
//!
//! Tools that print queries name subterms this way, and a local search over all names would have to change them
//! together. So the terms replace the inputs, and the inputs get the values of their terms at the end. This only guides
//! the search: the model is evaluated under the constraints as they are.

use crate::expr::{Bits, Expr, Graph, Model, Op};
use crate::solve::Rest;
use rustc_hash::FxHashMap;

/// Inputs that are replaced.
const MAX_DEFINITIONS: usize = 64;

#[derive(Default)]
pub struct Definitions {
    /// Inputs and their terms, which contain none of these inputs.
    terms: Vec<(Expr, Expr)>,
}

impl Definitions {
    pub fn of(rest: &mut Rest<'_>, constraints: &[Expr]) -> Definitions {
        let mut found = Definitions::default();
        for &constraint in constraints {
            if found.terms.len() < MAX_DEFINITIONS
                && matches!(rest.graph.op(constraint), Op::Eq | Op::FEq)
                && !rest.graph.is_const(rest.graph.kid(constraint, 1))
            {
                let (a, b) = (rest.graph.kid(constraint, 0), rest.graph.kid(constraint, 1));
                let _ = found.add(rest, a, b) || found.add(rest, b, a);
            }
        }
        found
    }

    /// Adds a definition if the left side is an input that the right side does not depend on.
    fn add(&mut self, rest: &mut Rest<'_>, left: Expr, term: Expr) -> bool {
        let Some(input) =
            input(rest.graph, left).filter(|&input| self.terms.iter().all(|known| known.0 != input))
        else {
            return false;
        };
        let term = rest.graph.substitute(term, &self.map());
        let depends = |rest: &mut Rest<'_>, e: Expr| {
            rest.supports.of(rest.graph, e).iter().any(|atom| atom.variable() == input)
        };
        if depends(rest, term) {
            return false;
        }
        let new = FxHashMap::from_iter([(input, term)]);
        for (_, known) in &mut self.terms {
            *known = rest.graph.substitute(*known, &new);
        }
        self.terms.push((input, term));
        true
    }

    fn map(&self) -> FxHashMap<Expr, Expr> {
        self.terms.iter().copied().collect()
    }

    /// The constraints with the terms in place of the inputs; `None` if one is false then.
    pub fn replace(&self, graph: &mut Graph, constraints: Vec<Expr>) -> Option<Vec<Expr>> {
        if self.terms.is_empty() {
            return Some(constraints);
        }
        let mut done = self.map();
        let replaced: Vec<Expr> =
            constraints.iter().map(|&e| graph.substitute_cached(e, &mut done)).collect();
        if replaced.iter().any(|&e| graph.is_false(e)) {
            return None;
        }
        Some(replaced.into_iter().filter(|&e| !graph.is_const(e)).collect())
    }

    /// Sets the inputs to the values of their terms.
    pub fn assign(&self, rest: &mut Rest<'_>, model: &mut Model) {
        for &(input, term) in &self.terms {
            let value = rest.evaluator.under(rest.graph, model).word(term);
            model.set_bits(input, Bits::word(rest.graph.width(input), value));
        }
    }
}

/// The variable of one side of an equality: itself, or `ite(x is NaN, NaN, x)`.
fn input(graph: &Graph, e: Expr) -> Option<Expr> {
    let is_canonical = graph.op(e) == Op::Ite && graph.is_const(graph.kid(e, 1));
    let x = if is_canonical { graph.kid(e, 2) } else { e };
    (graph.op(x) == Op::Var && !graph.is_array(x) && !graph.is_bool(x) && graph.width(x) <= 64).then_some(x)
}
