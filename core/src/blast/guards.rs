//! Lemmas about products, quotients and remainders that a SAT solver would not find in their circuits.
//!
//! A remainder is less than its divisor, unless that is zero, and at most the dividend; so is a quotient. A product and a
//! quotient that share an operand: `a <= n / b` implies that `a * b` does not wrap and is at most `n`. Programs guard multiplications this way (`if (x > INT_MAX / y) return; x * y ...`). From the circuits alone a SAT
//! solver would have to find out that multiplication is monotonic. The lemmas follow from the definitions of the gates,
//! so they restrict nothing and are never part of a core; they are added to a SAT solver that has both words.

use super::circuit::{self, Word};
use super::gate::{Gates, Lit};
use crate::expr::{Alive, Expr, Graph, Op};
use rustc_hash::FxHashMap;

/// Most products and most quotients by the same word that are combined.
const MAX_PER_WORD: usize = 8;
/// Most lemmas.
const MAX_LEMMAS: usize = 512;
/// Most lemmas about one quotient or remainder.
const MAX_BOUNDS: usize = 256;

/// A product `a * b` or a quotient `a / b`, by its operand `b`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Use {
    other: Expr,
    result: Expr,
    op: Op,
}

/// A lemma and the words that it is about.
pub struct GuardLemma {
    pub lit: Lit,
    words: [Word; 2],
}

impl GuardLemma {
    /// Whether some gates of both words are known.
    pub fn is_about(&self, is_known: impl Fn(u32) -> bool) -> bool {
        let some = |word: &Word| word.iter().any(|lit| !lit.is_constant() && is_known(lit.node()));
        self.words.iter().all(some)
    }
}

#[derive(Default)]
pub struct Guards {
    products: FxHashMap<Expr, Vec<Use>>,
    quotients: FxHashMap<Expr, Vec<Use>>,
    lemmas: Vec<GuardLemma>,
    /// Number of lemmas about one quotient or remainder.
    bounds: usize,
}

impl Guards {
    pub fn lemmas(&self) -> &[GuardLemma] {
        &self.lemmas
    }

    /// Adds the lemmas of a word that was built, with the earlier ones.
    pub(super) fn add(
        &mut self,
        graph: &Graph,
        gates: &mut Gates,
        words: &FxHashMap<Expr, Box<[Lit]>>,
        e: Expr,
    ) {
        let op = graph.op(e);
        if matches!(op, Op::UDiv | Op::URem) && !graph.is_const(graph.kid(e, 1)) {
            self.add_bounds(graph, gates, words, e);
        }
        if !matches!(op, Op::Mul | Op::UDiv | Op::SDiv) || graph.is_const(graph.kid(e, 1)) {
            return;
        }
        let (x, y) = (graph.kid(e, 0), graph.kid(e, 1));
        let by_operand: &[(Expr, Expr)] = if op == Op::Mul && x != y { &[(y, x), (x, y)] } else { &[(y, x)] };
        for &(operand, other) in by_operand {
            let this = Use { other, result: e, op };
            let (same, others) = if op == Op::Mul {
                (&mut self.products, &self.quotients)
            } else {
                (&mut self.quotients, &self.products)
            };
            let known = same.entry(operand).or_default();
            if known.len() < MAX_PER_WORD {
                known.push(this);
            }
            for &partner in others.get(&operand).into_iter().flatten() {
                let (product, quotient) = if op == Op::Mul { (this, partner) } else { (partner, this) };
                if self.lemmas.len() >= MAX_LEMMAS {
                    return;
                }
                let word = |e: Expr| &*words[&e];
                let (a, b, n) = (word(product.other), word(operand), word(quotient.other));
                let (p, q) = (word(product.result), word(quotient.result));
                let lit = if quotient.op == Op::UDiv {
                    unsigned(gates, [a, b, n, p, q])
                } else {
                    signed(gates, [a, b, n, p, q])
                };
                if gates.stopped().is_none() && lit != Lit::TRUE {
                    self.lemmas.push(GuardLemma { lit, words: [p.to_vec(), q.to_vec()] });
                }
            }
        }
    }

    /// Adds the bounds of a quotient or remainder.
    fn add_bounds(&mut self, graph: &Graph, gates: &mut Gates, words: &FxHashMap<Expr, Box<[Lit]>>, e: Expr) {
        if self.bounds >= MAX_BOUNDS {
            return;
        }
        let [a, b, result] = [graph.kid(e, 0), graph.kid(e, 1), e].map(|e| &*words[&e]);
        let by_zero = is_zero(gates, b);
        let below_dividend = circuit::less(gates, result, a, true, false);
        let lit = if graph.op(e) == Op::URem {
            let below_divisor = circuit::less(gates, result, b, false, false);
            let below_divisor = gates.or(by_zero, below_divisor);
            gates.and(below_divisor, below_dividend)
        } else {
            gates.or(by_zero, below_dividend)
        };
        if gates.stopped().is_none() && lit != Lit::TRUE {
            self.bounds += 1;
            self.lemmas.push(GuardLemma { lit, words: [b.to_vec(), result.to_vec()] });
        }
    }

    pub(super) fn sweep(&mut self, alive: &Alive) {
        for uses in [&mut self.products, &mut self.quotients] {
            uses.retain(|operand, _| alive.has(*operand));
            for list in uses.values_mut() {
                list.retain(|used| alive.has(used.other) && alive.has(used.result));
            }
        }
    }
}

fn is_zero(g: &mut Gates, word: &[Lit]) -> Lit {
    g.all(word.iter().map(|&lit| !lit).collect())
}

/// If `b` is not zero and `a <= q` then `p <= n`.
fn unsigned(g: &mut Gates, [a, b, n, p, q]: [&[Lit]; 5]) -> Lit {
    let zero = is_zero(g, b);
    let within = circuit::less(g, a, q, true, false);
    let bounded = circuit::less(g, p, n, true, false);
    g.all(vec![!zero, within, !bounded]).flip(true)
}

/// If `a` is between 0 and `q` then `p` is between 0 and `n`, by the signs of `n` and `b`.
fn signed(g: &mut Gates, [a, b, n, p, q]: [&[Lit]; 5]) -> Lit {
    let top = a.len() - 1;
    let (b_zero, a_zero, p_zero) = (is_zero(g, b), is_zero(g, a), is_zero(g, p));
    let (below_q, above_q) = (circuit::less(g, a, q, true, true), circuit::less(g, q, a, true, true));
    // The quotient is nonnegative if the signs are equal.
    let same_signs = !g.xor(n[top], b[top]);
    let a_nonpositive = g.or(a[top], a_zero);
    let from_zero = g.and(!a[top], below_q);
    let to_zero = g.and(a_nonpositive, above_q);
    let within = g.mux(same_signs, from_zero, to_zero);
    let small = circuit::less(g, p, n, true, false);
    let above_n = circuit::less(g, n, p, true, true);
    let p_nonpositive = g.or(p[top], p_zero);
    let negative = g.and(above_n, p_nonpositive);
    let bounded = g.mux(n[top], negative, small);
    g.all(vec![!b_zero, within, !bounded]).flip(true)
}

#[cfg(test)]
mod tests {
    use crate::blast::Blaster;
    use crate::expr::{Graph, Op, Sort};
    use rustc_hash::FxHashMap;

    /// Every lemma holds for all values of the operands, and is not trivial.
    #[test]
    fn lemmas_hold_for_all_values() {
        for width in 1..=4u32 {
            for op in [Op::UDiv, Op::SDiv, Op::URem] {
                for product_first in [false, true] {
                    let mut g = Graph::new();
                    let [a, b, n] = ["a", "b", "n"].map(|name| g.var(name, Sort::Bits(width)).unwrap());
                    let product = g.mul(a, b);
                    let quotient = match op {
                        Op::UDiv => g.udiv(n, b),
                        Op::SDiv => g.sdiv(n, b),
                        _ => g.urem(n, b),
                    };
                    let mut blaster = Blaster::new();
                    let order = if product_first { [product, quotient] } else { [quotient, product] };
                    for e in order {
                        blaster.word(&g, e).unwrap();
                    }
                    let lemmas: Vec<_> = blaster.guard_lemmas().iter().map(|lemma| lemma.lit).collect();
                    assert!(!lemmas.is_empty() || width == 1, "{op:?} at {width} bits");
                    let inputs: Vec<u32> = [a, b, n]
                        .iter()
                        .flat_map(|&v| {
                            blaster.word(&g, v).unwrap().iter().map(|lit| lit.node()).collect::<Vec<_>>()
                        })
                        .collect();
                    for values in 0..1u32 << (3 * width) {
                        let value = |node: u32| {
                            let at = inputs.iter().position(|&input| input == node).unwrap();
                            values >> at & 1 == 1
                        };
                        let holds = blaster.gates.evaluate(&lemmas, &mut FxHashMap::default(), value);
                        assert!(holds.iter().all(|&h| h), "{op:?} at {width} bits, values {values:b}");
                    }
                }
            }
        }
    }
}
