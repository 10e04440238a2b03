//! Values of expressions under many models, remembered from question to question: asking for a new expression costs
//! its new nodes alone, and only in the lanes asked about.
//!
//! A lane is one model. Operators on words go through `eval::word`; a word that is computed from arrays or wide values
//! is left to the evaluator as a whole, once for each lane. What is remembered is bounded: past that it starts afresh.

use super::lanes;
use crate::expr::eval::{self, Evaluator};
use crate::expr::walk::element_range;
use crate::expr::{Alive, Expr, Graph, Model, Op};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Values kept at most, 8 bytes each.
const MOST: usize = 1 << 21;

/// Beside its values a node takes about as long as so many of them.
const NODE: u64 = 4;
/// So many missing values of 64 are as dear one by one as all at once.
const MANY: u32 = 6;

/// Which lanes: 64 a word, and which of them.
type Wanted = SmallVec<[(usize, u64); 4]>;

/// The values of one expression, as far as they are known.
#[derive(Default)]
struct Kept {
    values: Vec<u64>,
    known: Vec<u64>,
}

impl Kept {
    fn has(&self, wanted: &[(usize, u64)]) -> bool {
        wanted.iter().all(|&(at, lanes)| self.known.get(at).is_some_and(|known| known & lanes == lanes))
    }
}

#[derive(Default)]
pub struct Memo {
    places: FxHashMap<Expr, u32>,
    kept: Vec<Kept>,
    free: Vec<u32>,
    size: usize,
    computed: u64,
    stack: Vec<Expr>,
}

/// How a node gets its values.
enum Source {
    /// From its operands' values.
    Words,
    /// A variable, or adjacent elements of an array variable from the first on.
    Variable,
    Elements(Expr, u64, u32),
    Evaluator,
}

fn source(graph: &Graph, e: Expr) -> Source {
    match graph.op(e) {
        Op::Var => return Source::Variable,
        Op::Read => {
            return match element_range(graph, e) {
                Some((array, first, count)) => Source::Elements(array, first, count as u32),
                None => Source::Evaluator,
            };
        }
        _ => {}
    }
    let is_word = |kid: Expr| !graph.is_array(kid) && graph.width(kid) <= 64;
    if graph.kids(e).into_iter().all(is_word) { Source::Words } else { Source::Evaluator }
}

impl Memo {
    /// Values computed so far, and as many as what is done beside that takes: what it has cost.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// Is the boolean `e` true in each of the lanes? `models` has the model of every lane.
    pub fn truths(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        models: &[Model],
        lanes: &[u32],
        e: Expr,
    ) -> SmallVec<[bool; 8]> {
        debug_assert!(graph.is_bool(e));
        if graph.is_const(e) {
            return SmallVec::from_elem(graph.is_true(e), lanes.len());
        }
        let wanted = masks(lanes);
        if self.size > MOST {
            self.forget();
        }
        self.fill(graph, evaluator, models, &wanted, e);
        let kept = &self.kept[self.places[&e] as usize];
        lanes.iter().map(|&lane| kept.values[lane as usize] != 0).collect()
    }

    fn has(&self, graph: &Graph, e: Expr, wanted: &[(usize, u64)]) -> bool {
        self.places.get(&e).is_some_and(|&at| self.kept[at as usize].has(wanted)) || graph.is_const(e)
    }

    fn fill(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        models: &[Model],
        wanted: &[(usize, u64)],
        root: Expr,
    ) {
        self.stack.push(root);
        while let Some(&e) = self.stack.last() {
            if self.has(graph, e, wanted) {
                self.stack.pop();
                continue;
            }
            let source = source(graph, e);
            if matches!(source, Source::Words) {
                let before = self.stack.len();
                for kid in graph.kids(e) {
                    if !self.has(graph, kid, wanted) {
                        self.stack.push(kid);
                    }
                }
                if self.stack.len() > before {
                    continue;
                }
            }
            self.compute(graph, evaluator, models, wanted, e, source);
            self.stack.pop();
        }
    }

    fn compute(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        models: &[Model],
        wanted: &[(usize, u64)],
        e: Expr,
        source: Source,
    ) {
        let place = *self.places.entry(e).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.kept.push(Kept::default());
                self.kept.len() as u32 - 1
            })
        });
        self.computed += NODE;
        let mut kept = std::mem::take(&mut self.kept[place as usize]);
        let words = wanted.iter().map(|(at, _)| at + 1).max().unwrap_or(0);
        if kept.known.len() < words {
            self.size += (words - kept.known.len()) * 64;
            kept.known.resize(words, 0);
            kept.values.resize(words * 64, 0);
        }
        match source {
            Source::Words => {
                let (op, shape, kids) = (graph.op(e), eval::shape(graph, graph.node(e)), graph.kids(e));
                let operand = |i: usize| match kids.get(i).map(|&kid| (kid, graph.const_word(kid))) {
                    None => (&[][..], 0),
                    Some((_, Some(word))) => (&[][..], word),
                    Some((kid, None)) => (&self.kept[self.places[&kid] as usize].values[..], 0),
                };
                let operands = [operand(0), operand(1), operand(2)];
                self.computed += many(&mut kept, wanted, |from, out| {
                    let part = |i: usize| match operands[i].0.get(from..from + out.len()) {
                        Some(values) => lanes::Operand::Each(values),
                        None => lanes::Operand::Same(operands[i].1),
                    };
                    lanes::words(op, shape, [part(0), part(1), part(2)], out);
                });
                let value = |i: usize, lane: usize| operands[i].0.get(lane).copied().unwrap_or(operands[i].1);
                self.computed += each(&mut kept, wanted, |lane| {
                    eval::word(op, shape, value(0, lane), value(1, lane), value(2, lane))
                });
            }
            Source::Variable => {
                self.computed += each(&mut kept, wanted, |lane| models[lane].word(e));
            }
            Source::Elements(array, first, count) => {
                let width = graph.width(array);
                self.computed += each(&mut kept, wanted, |lane| {
                    let Some(value) = models[lane].array(array) else { return 0 };
                    let element = |i: u32| value.get_word(first + u64::from(i)) << (i * width);
                    (0..count).fold(0, |word, i| word | element(i))
                });
            }
            Source::Evaluator => {
                let before = evaluator.work;
                each(&mut kept, wanted, |lane| evaluator.under(graph, &models[lane]).word(e));
                // Counted here, and not there as well.
                self.computed += evaluator.work - before;
                evaluator.work = before;
            }
        }
        self.kept[place as usize] = kept;
    }

    /// These lanes get other models.
    pub fn forget_lanes(&mut self, lanes: &[u32]) {
        let gone = masks(lanes);
        for kept in &mut self.kept {
            for &(at, lanes) in &gone {
                if let Some(known) = kept.known.get_mut(at) {
                    *known &= !lanes;
                }
            }
        }
    }

    pub fn sweep(&mut self, alive: &Alive) {
        let Memo { places, kept, free, size, .. } = self;
        places.retain(|&e, place| {
            let lives = alive.has(e);
            if !lives {
                *size -= std::mem::take(&mut kept[*place as usize]).values.len();
                free.push(*place);
            }
            lives
        });
    }

    pub fn forget(&mut self) {
        *self = Memo { computed: self.computed, ..Memo::default() };
    }
}

fn masks(lanes: &[u32]) -> Wanted {
    let mut masks = Wanted::new();
    for &lane in lanes {
        let (at, bit) = (lane as usize / 64, 1 << (lane % 64));
        match masks.iter_mut().find(|(word, _)| *word == at) {
            Some((_, lanes)) => *lanes |= bit,
            None => masks.push((at, bit)),
        }
    }
    masks
}

/// Computes whole words of lanes where many of the wanted values are not known; how many those were. Operators are
/// functions: those that are known get the same value again, and what the others get means nothing.
fn many(kept: &mut Kept, wanted: &[(usize, u64)], mut values: impl FnMut(usize, &mut [u64])) -> u64 {
    let mut count = 0;
    for &(at, lanes) in wanted {
        let missing = lanes & !kept.known[at];
        if missing.count_ones() >= MANY {
            kept.known[at] |= missing;
            count += u64::from(missing.count_ones());
            values(at * 64, &mut kept.values[at * 64..at * 64 + 64]);
        }
    }
    count
}

/// Computes the wanted values that are not known; how many those were.
fn each(kept: &mut Kept, wanted: &[(usize, u64)], mut value: impl FnMut(usize) -> u64) -> u64 {
    let mut count = 0;
    for &(at, lanes) in wanted {
        let mut missing = lanes & !kept.known[at];
        kept.known[at] |= missing;
        count += u64::from(missing.count_ones());
        while missing != 0 {
            let lane = at * 64 + missing.trailing_zeros() as usize;
            kept.values[lane] = value(lane);
            missing &= missing - 1;
        }
    }
    count
}
