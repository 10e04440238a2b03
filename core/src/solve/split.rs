//! The layer `split`: passes on only the constraints that share inputs with the condition (the slice).
//!
//! Answers: components whose model it has kept. Otherwise it partitions path and condition into components that share
//! no input, and passes each one on.
//! Why sound: components are independent, so models of all of them form a model of the query. A component that is left
//! out is satisfied by the model of the nearest feasible node. Components with newer constraints are passed on too: no
//! path is ever assumed to be satisfiable.
//! When it helps: nearly always; a branch depends on few of a program's inputs.
//! Cost: what the condition mentions and the inputs that an answer changes, at any depth. The components of a path node
//! are those of its parent and one constraint (`query::PathIndex`).
//! Source: constraint independence (EXE, KLEE).

use super::{Layer, Rest};
use crate::expr::Model;
use crate::query::{Alive, Answer, Query};
use rustc_hash::FxHashMap;

/// Limit of kept models of components; all are dropped when it is reached.
const MAX_MODELS: usize = 4096;

#[derive(Default)]
pub struct Split {
    /// Models of components that were passed on, by identity; other paths contain the same components.
    models: FxHashMap<u64, Model>,
    dropped_constraints: u64,
    known_components: u64,
}

impl Split {
    pub fn new() -> Split {
        Split::default()
    }
}

impl Layer for Split {
    fn name(&self) -> &str {
        "split"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        if query.slice.is_some() {
            return rest.check(query).answer;
        }
        let components = rest.index.components(rest.graph, rest.tree, query.path);
        let (keys, touched) = rest.index.touched(rest.graph, &components, query.condition);
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let covered_depth = rest.tree.depth(ancestor);
        let mut model = rest.tree.model(ancestor).expect("a feasible node").clone();

        let slice = rest.index.slice(&components, touched.clone());
        self.dropped_constraints += u64::from(rest.tree.depth(query.path)) - slice.len() as u64;
        // With a constant condition only the components below are passed on.
        if !rest.graph.is_true(query.condition) {
            let about = Query { path: query.path, condition: query.condition, slice: Some(slice) };
            match rest.check(&about).answer {
                Answer::Sat(found) => {
                    rest.index.copy_inputs(rest.graph, &components, (&touched, &keys), &mut model, &found);
                }
                answer => return answer,
            }
        }
        if ancestor == query.path {
            return Answer::Sat(model);
        }
        let yes = rest.graph.boolean(true);
        for (number, component) in components.iter() {
            if component.newest() <= covered_depth || touched.binary_search(&number).is_ok() {
                continue;
            }
            let found = match self.models.get(&component.identity()) {
                Some(known) => {
                    self.known_components += 1;
                    known.clone()
                }
                None => {
                    let slice = rest.index.slice(&components, [number].into_iter().collect());
                    let about = Query { path: query.path, condition: yes, slice: Some(slice) };
                    match rest.check(&about).answer {
                        Answer::Sat(found) => {
                            if self.models.len() >= MAX_MODELS {
                                self.models.clear();
                            }
                            self.models.insert(component.identity(), found.clone());
                            found
                        }
                        answer => return answer,
                    }
                }
            };
            rest.index.copy_inputs(rest.graph, &components, (&[number], &[]), &mut model, &found);
        }
        Answer::Sat(model)
    }

    /// Identities are not reused, so those of components with dead constraints are not asked for again.
    fn sweep(&mut self, alive: &Alive<'_>) {
        self.models.values_mut().for_each(|model| model.retain(|variable| alive.expr(variable)));
    }

    /// The components of paths belong to the shared index.
    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        self.models = FxHashMap::default();
    }

    fn counters(&self) -> Vec<(String, f64)> {
        [("dropped_constraints", self.dropped_constraints), ("known_components", self.known_components)]
            .map(|(name, count)| (name.to_string(), count as f64))
            .to_vec()
    }
}
