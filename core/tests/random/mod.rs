//! Random expressions and models for tests that compare values.

use partita_core::expr::{Builtin, Expr, Graph, Model, Sort};
use partita_core::random::Random;

/// Parameters of random expressions.
pub struct Leaves {
    pub variables: Vec<Expr>,
    pub widths: Vec<u32>,
    pub array: Sort,
    /// Also make tables.
    pub tables: bool,
}

/// A pool of expressions, extended by applying random operators to random members: a DAG with much sharing.
pub fn pool(g: &mut Graph, r: &mut Random, leaves: &Leaves, steps: usize) -> Vec<Expr> {
    let mut pool = leaves.variables.clone();
    let Sort::Array { index, element } = leaves.array else { panic!("an array sort") };
    pool.push(g.boolean(true));
    for &width in &leaves.widths {
        pool.push(g.word(width, r.word()));
    }
    for _ in 0..steps {
        let f = Builtin::ALL[r.below(Builtin::ALL.len() as u64) as usize];
        let count = 1 + r.below(3) as usize;
        // Rejected combinations are part of the test: they must return errors, not panic.
        let params: Vec<u64> = (0..f.params()).map(|_| r.below(12)).collect();
        let args: Vec<Expr> = (0..count).map(|_| pool[r.below(pool.len() as u64) as usize]).collect();
        if let Ok(e) = g.apply(f, &params, &args)
            && g.width(e) <= 130
        {
            pool.push(e);
        }
        // Array expressions and pairs of the same sort are rare by chance.
        let arrays: Vec<Expr> = pool.iter().copied().filter(|&e| g.sort(e) == leaves.array).collect();
        let array = arrays[r.below(arrays.len() as u64) as usize];
        let same = |g: &Graph, r: &mut Random, sort: Sort| {
            let all: Vec<Expr> = pool.iter().copied().filter(|&e| g.sort(e) == sort).collect();
            (!all.is_empty()).then(|| all[r.below(all.len() as u64) as usize])
        };
        let (at, value) = (same(g, r, Sort::Bits(index)), same(g, r, Sort::Bits(element)));
        if let (Some(at), Some(value)) = (at, value) {
            let new = match r.below(5) {
                0 => g.store(array, at, value),
                1 => g.read(array, at, 2 + r.below(3) as u32),
                2 if leaves.tables => {
                    let elements: Vec<u64> =
                        (0..1 + r.below(6)).map(|_| r.below(1 << element.min(8))).collect();
                    g.table_over(array, elements.into())
                }
                _ => g.select(array, at),
            };
            pool.push(new);
        }
    }
    pool
}

/// A random model of the variables.
pub fn model(g: &Graph, r: &mut Random, variables: &[Expr]) -> Model {
    let mut model = Model::new();
    for &v in variables {
        match g.sort(v) {
            Sort::Bool | Sort::Bits(_) => {
                model.set_bits(v, random_bits(r, g.width(v)));
            }
            Sort::Array { index, element } => {
                for i in 0..8 {
                    let at = partita_core::expr::Bits::word(index, i);
                    model.set_element(g, v, &at, random_bits(r, element));
                }
            }
        }
    }
    model
}

fn random_bits(r: &mut Random, width: u32) -> partita_core::expr::Bits {
    let words: Vec<u64> =
        (0..width.div_ceil(64)).map(|_| if r.below(4) == 0 { r.below(4) } else { r.word() }).collect();
    partita_core::expr::Bits::from_words(width, &words)
}
