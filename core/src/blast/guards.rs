//! Lemmas about products, quotients and remainders that a SAT solver would not find in their circuits.
//!
//! A remainder is less than its divisor, unless that is zero, and at most the dividend; so is a quotient. A product and a
//! quotient that share an operand: `a <= n / b` implies that `a * b` fits and is at most `n`, that `(a * b) / b = a`. Quotients by the same
//! divisor are in the order of their dividends. Programs guard multiplications this way (`if (x > INT_MAX / y) return; x * y ...`). From the circuits alone a SAT
//! solver would have to find out that multiplication is monotonic. The lemmas follow from the definitions of the gates,
//! so they restrict nothing and are never part of a core; they are added to a SAT solver that has both words.

use super::circuit::{self, Word};
use super::gate::{Gate, Gates, Lit};
use super::overflow::Fits;
use crate::expr::{Alive, Expr, Graph, Op};
use rustc_hash::FxHashMap;

/// Most products and most quotients by the same word that are combined.
const MAX_PER_WORD: usize = 8;
/// Most lemmas.
const MAX_LEMMAS: usize = 512;
/// Most lemmas about one quotient or remainder.
const MAX_BOUNDS: usize = 256;

/// An operation with an operand `b` that several may share: `a * b`, whether `a * b` fits, or `a / b`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Use {
    kind: Kind,
    /// The operand `a`.
    other: Expr,
    result: Expr,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A product, perhaps of operands that were extended with zeros.
    Product,
    /// Whether the product fits (`overflow.rs`).
    Fits {
        signed: bool,
    },
    Quotient {
        signed: bool,
    },
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
    /// Products, and comparisons that say whether they fit.
    products: FxHashMap<Expr, Vec<Use>>,
    quotients: FxHashMap<Expr, Vec<Use>>,
    /// Unsigned quotients by their dividend; the other operand is the divisor.
    divided: FxHashMap<Expr, Vec<Use>>,
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
        if self.lemmas.len() >= MAX_LEMMAS {
            return;
        }
        let (kind, [x, y]) = match op {
            Op::Mul if !graph.is_const(graph.kid(e, 1)) => (Kind::Product, factors(graph, e)),
            Op::UDiv | Op::SDiv if !graph.is_const(graph.kid(e, 1)) => {
                (Kind::Quotient { signed: op == Op::SDiv }, [graph.kid(e, 0), graph.kid(e, 1)])
            }
            Op::Eq => match Fits::of(graph, e) {
                Some(fits) => (Kind::Fits { signed: fits.signed }, fits.factors),
                None => return,
            },
            _ => return,
        };
        let is_quotient = matches!(kind, Kind::Quotient { .. });
        let by_operand: &[(Expr, Expr)] = if is_quotient || x == y { &[(y, x)] } else { &[(y, x), (x, y)] };
        for &(operand, other) in by_operand {
            let this = Use { kind, other, result: e };
            self.combine(gates, words, operand, this);
            let uses = if is_quotient { &mut self.quotients } else { &mut self.products };
            let known = uses.entry(operand).or_default();
            if known.len() < MAX_PER_WORD {
                known.push(this);
            }
        }
        if kind == (Kind::Quotient { signed: false }) {
            self.add_divided(gates, words, x, y, e);
        }
    }

    /// Adds the lemmas about an operation and the earlier ones with this operand.
    fn combine(&mut self, gates: &mut Gates, words: &FxHashMap<Expr, Box<[Lit]>>, operand: Expr, this: Use) {
        let word = |e: Expr| &*words[&e];
        let known = |uses: &FxHashMap<Expr, Vec<Use>>| uses.get(&operand).cloned().unwrap_or_default();
        let (products, quotients) = (known(&self.products), known(&self.quotients));
        let b = word(operand);
        let is_unsigned = |of: &Use| of.kind == Kind::Quotient { signed: false };
        // Quotients of a product by its factor, with the other factor.
        let undone = |product: &Use, by: &Use| {
            product.kind == Kind::Product && is_unsigned(by) && by.other == product.result
        };
        if let Kind::Quotient { .. } = this.kind {
            for product in &products {
                let lit = guard(gates, word(product.other), b, product, word, &this);
                self.push(gates, lit, [word(product.result), word(this.result)]);
            }
            for other in quotients.iter().filter(|other| is_unsigned(other) && is_unsigned(&this)) {
                let lit = monotonic(gates, [this, *other].map(|q| [word(q.other), word(q.result)]));
                self.push(gates, lit, [word(this.result), word(other.result)]);
                for (q, by) in [(other, &this), (&this, other)] {
                    for product in products.iter().filter(|product| undone(product, by)) {
                        let (a, n) = (word(product.other), word(by.result));
                        let zero = is_zero(gates, b);
                        let within = circuit::less(gates, a, word(q.result), true, false);
                        let equal = circuit::equal(gates, a, n);
                        let lit = gates.all(vec![!zero, within, !equal]).flip(true);
                        self.push(gates, lit, [n, word(q.result)]);
                    }
                }
            }
        } else {
            for quotient in &quotients {
                let lit = guard(gates, word(this.other), b, &this, word, quotient);
                self.push(gates, lit, [word(this.result), word(quotient.result)]);
            }
        }
        // The product fits if and only if its quotient is the factor.
        let unsigned = Kind::Fits { signed: false };
        let all = |uses: &[Use]| uses.iter().copied().chain([this]).collect::<Vec<_>>();
        let (fits, by) = match this.kind {
            Kind::Fits { .. } => (vec![this], quotients),
            Kind::Quotient { .. } => (products.clone(), vec![this]),
            Kind::Product => return,
        };
        for fits in fits.iter().filter(|fits| fits.kind == unsigned) {
            for by in &by {
                let is_of = |product: &Use| product.other == fits.other && undone(product, by);
                if all(&products).iter().any(is_of) {
                    let (lit, quotient) = (word(fits.result)[0], word(by.result));
                    let equal = circuit::equal(gates, word(fits.other), quotient);
                    let (zero, differs) = (is_zero(gates, b), gates.xor(lit, equal));
                    let lemma = gates.or(zero, !differs);
                    self.push(gates, lemma, [word(fits.result), quotient]);
                }
            }
        }
    }

    /// Adds the lemmas about an unsigned quotient and earlier ones of the same dividend.
    fn add_divided(
        &mut self,
        gates: &mut Gates,
        words: &FxHashMap<Expr, Box<[Lit]>>,
        dividend: Expr,
        divisor: Expr,
        quotient: Expr,
    ) {
        let word = |e: Expr| &*words[&e];
        let this = Use { kind: Kind::Quotient { signed: false }, other: divisor, result: quotient };
        let known = self.divided.entry(dividend).or_default();
        let others = known.clone();
        if known.len() < MAX_PER_WORD {
            known.push(this);
        }
        for other in others {
            // A greater divisor has the smaller quotient.
            let lit =
                monotonic(gates, [[word(divisor), word(other.result)], [word(other.other), word(quotient)]]);
            self.push(gates, lit, [word(quotient), word(other.result)]);
        }
    }

    fn push(&mut self, gates: &Gates, lit: Lit, words: [&[Lit]; 2]) {
        if gates.stopped().is_none() && lit != Lit::TRUE && self.lemmas.len() < MAX_LEMMAS {
            let words = words.map(|word| {
                let mut word = word.to_vec();
                // An `and` with one use has no variable of its own (`cnf.rs`).
                if let [one] = word[..]
                    && let Gate::And(a, b) = gates.gate(one.node())
                {
                    word.extend([a, b]);
                }
                word
            });
            self.lemmas.push(GuardLemma { lit, words });
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
        for uses in [&mut self.products, &mut self.quotients, &mut self.divided] {
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

/// The operands of a product, without zeros that both are extended with.
fn factors(graph: &Graph, product: Expr) -> [Expr; 2] {
    let operands = [graph.kid(product, 0), graph.kid(product, 1)];
    let inner = operands.map(|e| if graph.op(e) == Op::ZExt { graph.kid(e, 0) } else { e });
    let is_even = graph.width(inner[0]) == graph.width(inner[1]);
    if is_even && operands.iter().all(|&e| graph.op(e) == Op::ZExt) { inner } else { operands }
}

/// The lemma about a product, or whether it fits, and a quotient.
fn guard<'a>(
    g: &mut Gates,
    a: &[Lit],
    b: &[Lit],
    product: &Use,
    word: impl Fn(Expr) -> &'a [Lit],
    quotient: &Use,
) -> Lit {
    let (p, q, n) = (word(product.result), word(quotient.result), word(quotient.other));
    match (product.kind, quotient.kind) {
        (Kind::Product, Kind::Quotient { signed }) if p.len() == a.len() => {
            if signed {
                signed_product(g, [a, b, n, p, q])
            } else {
                unsigned_product(g, [a, b, n, p, q])
            }
        }
        (Kind::Product, Kind::Quotient { signed: false }) => wide_product(g, [a, b, n, p, q]),
        (Kind::Fits { signed }, Kind::Quotient { signed: is_signed_quotient }) => {
            let (within, above) = if is_signed_quotient {
                (within_signed(g, [a, b, n, q]), Lit::FALSE)
            } else {
                let at_most = circuit::less(g, a, q, true, false);
                let above =
                    if n.iter().all(|&lit| lit == Lit::TRUE) && !signed { !at_most } else { Lit::FALSE };
                (at_most, above)
            };
            let zero = is_zero(g, b);
            // The dividend is within the bounds of the product too.
            let is_bound = if signed == is_signed_quotient {
                Lit::TRUE
            } else if signed {
                !n[n.len() - 1]
            } else {
                Lit::FALSE
            };
            let fits = p[0];
            let wrong = g.all(vec![!zero, within, is_bound, !fits]);
            let also_wrong = g.all(vec![!zero, above, fits]);
            !g.or(wrong, also_wrong)
        }
        (Kind::Product | Kind::Quotient { .. }, _) | (_, Kind::Product | Kind::Fits { .. }) => Lit::TRUE,
    }
}

/// Each of two words grows with the other: `[[m, p], [n, q]]` with `p <= q` if `m <= n`, and the other way.
fn monotonic(g: &mut Gates, [[m, p], [n, q]]: [[&[Lit]; 2]; 2]) -> Lit {
    let mut lemma = |m, p, n, q| {
        let (ordered, kept) = (circuit::less(g, m, n, true, false), circuit::less(g, p, q, true, false));
        g.or(!ordered, kept)
    };
    let (up, down) = (lemma(m, p, n, q), lemma(n, q, m, p));
    g.and(up, down)
}

/// If `b` is not zero and `a <= q` then `p <= n`, and `p` is at least `a`, and `b` unless `a` is zero.
fn unsigned_product(g: &mut Gates, [a, b, n, p, q]: [&[Lit]; 5]) -> Lit {
    let (zero, a_zero) = (is_zero(g, b), is_zero(g, a));
    let within = circuit::less(g, a, q, true, false);
    let bounded = circuit::less(g, p, n, true, false);
    let (above_a, above_b) = (circuit::less(g, a, p, true, false), circuit::less(g, b, p, true, false));
    let above_b = g.or(a_zero, above_b);
    let right = g.all(vec![bounded, above_a, above_b]);
    g.all(vec![!zero, within, !right]).flip(true)
}

/// Likewise for a product in more bits; in twice as many `p > n` if `a > q`.
fn wide_product(g: &mut Gates, [a, b, n, p, q]: [&[Lit]; 5]) -> Lit {
    let zero = is_zero(g, b);
    let within = circuit::less(g, a, q, true, false);
    let extended: Word = n.iter().copied().chain(vec![Lit::FALSE; p.len() - n.len()]).collect();
    let bounded = circuit::less(g, p, &extended, true, false);
    let right = if p.len() >= 2 * a.len() { !g.xor(within, bounded) } else { g.or(!within, bounded) };
    g.or(zero, right)
}

/// Is `a` between 0 and the quotient `q = n / b`, by the signs of `n` and `b`?
fn within_signed(g: &mut Gates, [a, b, n, q]: [&[Lit]; 4]) -> Lit {
    let top = a.len() - 1;
    let a_zero = is_zero(g, a);
    let (below_q, above_q) = (circuit::less(g, a, q, true, true), circuit::less(g, q, a, true, true));
    // The quotient is nonnegative if the signs are equal.
    let same_signs = !g.xor(n[top], b[top]);
    let a_nonpositive = g.or(a[top], a_zero);
    let from_zero = g.and(!a[top], below_q);
    let to_zero = g.and(a_nonpositive, above_q);
    g.mux(same_signs, from_zero, to_zero)
}

/// If `a` is between 0 and `q` then `p` is between 0 and `n`.
fn signed_product(g: &mut Gates, [a, b, n, p, q]: [&[Lit]; 5]) -> Lit {
    let top = a.len() - 1;
    let within = within_signed(g, [a, b, n, q]);
    let (b_zero, p_zero) = (is_zero(g, b), is_zero(g, p));
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
    use crate::expr::{Bits, Graph, Sort};
    use crate::random::Random;
    use rustc_hash::FxHashMap;

    /// Every lemma holds for all values of the operands: products, whether they fit, and quotients that share operands, in
    /// every order of a pair and in random orders of all.
    #[test]
    fn lemmas_hold_for_all_values() {
        let mut random = Random::new(5);
        for round in 0..120 {
            let width = 1 + round % 3;
            let mut g = Graph::new();
            let variables = ["a", "b", "n", "m"].map(|name| g.var(name, Sort::Bits(width)).unwrap());
            let [a, b, n, m] = variables;
            let extended = variables.map(|v| g.zext(v, 2 * width));
            let half = g.zext(a, width + 1);
            let other_half = g.zext(b, width + 1);
            let (product, wide, longer) =
                (g.mul(a, b), g.mul(extended[0], extended[1]), g.mul(half, other_half));
            let overflows = [g.umul_overflows(a, b), g.smul_overflows(a, b).unwrap()];
            let fits = overflows.map(|e| g.not(e));
            let ones = g.constant(Bits::ones(width));
            let mut terms = vec![product, wide, longer, fits[0], fits[1]];
            terms.extend([g.udiv(n, b), g.sdiv(n, b), g.urem(n, b), g.udiv(m, b), g.udiv(product, b)]);
            terms.extend([g.udiv(n, m), g.udiv(ones, b), g.udiv(n, a)]);
            let mut order = Vec::new();
            for _ in 0..if round < 60 { 2 } else { 8 } {
                order.push(terms[random.below(terms.len() as u64) as usize]);
            }
            let mut blaster = Blaster::new();
            for &e in &order {
                blaster.word(&g, e).unwrap();
            }
            let lemmas: Vec<_> = blaster.guard_lemmas().iter().map(|lemma| lemma.lit).collect();
            assert!(!lemmas.is_empty() || width == 1 || round < 60, "round {round}");
            let inputs: Vec<u32> = variables
                .iter()
                .flat_map(|&v| blaster.word(&g, v).unwrap().iter().map(|lit| lit.node()).collect::<Vec<_>>())
                .collect();
            for values in 0..1u32 << (4 * width) {
                let value = |node: u32| {
                    let at = inputs.iter().position(|&input| input == node).unwrap();
                    values >> at & 1 == 1
                };
                let holds = blaster.gates.evaluate(&lemmas, &mut FxHashMap::default(), value);
                assert!(holds.iter().all(|&h| h), "round {round}, {width} bits, values {values:b}");
            }
        }
    }
}
