//! Values of expressions under many models, remembered from question to question: asking for a new expression costs
//! its new nodes alone, and only in the lanes asked about.
//!
//! A lane is one model. Operators on words go through `eval::word`; a word that is computed from arrays or wide values
//! is left to the evaluator as a whole, once for each lane. What is remembered is bounded: past that it starts afresh.

use super::{Assignment, lanes};
use crate::expr::eval::{self, Evaluator, Shape};
use crate::expr::walk::{Atom, element_range};
use crate::expr::{Alive, Expr, Graph, Op};
use smallvec::SmallVec;

/// Lanes side by side have their values in one cell.
const CELL: usize = 16;
/// Cells, before it starts afresh: as few as stay in the processor's cache, but more if it should start afresh before so
/// many questions, and so many at most.
const CELLS: std::ops::RangeInclusive<usize> = 1 << 13..=1 << 17;
const SOON: u32 = 256;
const NOWHERE: u32 = u32::MAX;

/// Beside its values a node, and each of its cells, takes about as long as so many of them.
const NODE: u64 = 4;
const PART: u64 = 3;
/// So many lots of lanes are forgotten node by node, as they are met; then everywhere.
const LOTS: usize = 64;
/// So many missing values of a cell are as dear one by one as all at once.
const MANY: u32 = 3;

/// Which lanes: the number of a cell, and which of its lanes.
type Wanted = SmallVec<[(usize, u16); 8]>;

/// An operand: a constant, or the node at a place.
#[derive(Clone, Copy)]
enum Operand {
    Same(u64),
    At(u32),
}

/// How a node gets its values.
#[derive(Clone, Copy)]
enum Source {
    /// From its operands' values.
    Words(Op, Shape, [Operand; 3]),
    /// A variable, or so many adjacent elements of an array variable from the first on.
    Variable,
    Elements(Expr, u64, u32),
    Evaluator,
}

/// Some lanes of one expression: where their values are, and which of them are known.
#[derive(Clone, Copy)]
struct Part {
    cell: u32,
    known: u16,
}

const NOTHING: Part = Part { cell: NOWHERE, known: 0 };

/// The values of one expression, as far as they are known.
struct Kept {
    e: Expr,
    source: Source,
    parts: SmallVec<[Part; 4]>,
    /// How many of the forgotten lots of lanes it has forgotten.
    forgotten: usize,
}

impl Kept {
    fn forget(&mut self, lots: &[Wanted]) {
        for &(at, lanes) in lots[self.forgotten..].iter().flatten() {
            if let Some(part) = self.parts.get_mut(at) {
                part.known &= !lanes;
            }
        }
        self.forgotten = lots.len();
    }

    fn has(&self, wanted: &[(usize, u16)]) -> bool {
        wanted.iter().all(|&(at, lanes)| self.parts.get(at).is_some_and(|part| part.known & lanes == lanes))
    }
}

pub struct Memo {
    /// By expression: where its values are, `NOWHERE` if it has not been met.
    places: Vec<u32>,
    kept: Vec<Kept>,
    free: Vec<u32>,
    cells: Vec<[u64; CELL]>,
    free_cells: Vec<u32>,
    /// Of cells, before it starts afresh; and the questions since then.
    limit: usize,
    questions: u32,
    computed: u64,
    /// Lanes that got other models: each node forgets them when it is met next.
    forgotten: Vec<Wanted>,
    /// What is to be met, or computed, and whether its operands have been.
    new: Vec<(Expr, bool)>,
    stack: Vec<(u32, bool)>,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo {
            places: Vec::new(),
            kept: Vec::new(),
            free: Vec::new(),
            cells: Vec::new(),
            free_cells: Vec::new(),
            limit: *CELLS.start(),
            questions: 0,
            computed: 0,
            forgotten: Vec::new(),
            new: Vec::new(),
            stack: Vec::new(),
        }
    }
}

/// A node whose values come from those of other nodes.
fn is_of_words(graph: &Graph, e: Expr) -> bool {
    let is_word = |kid: Expr| !graph.is_array(kid) && graph.width(kid) <= 64;
    !matches!(graph.op(e), Op::Var | Op::Read) && graph.kids(e).into_iter().all(is_word)
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
        models: &mut [Assignment],
        lanes: &[u32],
        e: Expr,
    ) -> SmallVec<[bool; 8]> {
        debug_assert!(graph.is_bool(e));
        if graph.is_const(e) {
            return SmallVec::from_elem(graph.is_true(e), lanes.len());
        }
        self.questions = self.questions.saturating_add(1);
        if self.cells.len() - self.free_cells.len() > self.limit {
            self.start_afresh();
        }
        let place = self.place(graph, e);
        self.fill(graph, evaluator, models, &masks(lanes), place);
        let parts = &self.kept[place as usize].parts;
        let value = |lane: usize| self.cells[parts[lane / CELL].cell as usize][lane % CELL];
        lanes.iter().map(|&lane| value(lane as usize) != 0).collect()
    }

    /// The place of `e`, which it gets, after its operands, when it is met first.
    fn place(&mut self, graph: &Graph, e: Expr) -> u32 {
        self.places.resize(self.places.len().max(graph.slots()), NOWHERE);
        self.new.push((e, false));
        while let Some((e, ready)) = self.new.pop() {
            if self.places[e.id() as usize] != NOWHERE {
                continue;
            }
            if !ready && is_of_words(graph, e) {
                self.new.push((e, true));
                let kids = graph.kids(e).into_iter().filter(|&kid| !graph.is_const(kid));
                self.new.extend(kids.map(|kid| (kid, false)));
                continue;
            }
            let source = if ready { self.words(graph, e) } else { source(graph, e) };
            let kept = Kept { e, source, parts: SmallVec::new(), forgotten: self.forgotten.len() };
            self.places[e.id() as usize] = match self.free.pop() {
                Some(place) => {
                    self.kept[place as usize] = kept;
                    place
                }
                None => {
                    self.kept.push(kept);
                    self.kept.len() as u32 - 1
                }
            };
        }
        self.places[e.id() as usize]
    }

    fn words(&self, graph: &Graph, e: Expr) -> Source {
        let mut operands = [Operand::Same(0); 3];
        for (operand, kid) in operands.iter_mut().zip(graph.kids(e)) {
            *operand = match graph.const_word(kid) {
                Some(word) => Operand::Same(word),
                None => Operand::At(self.places[kid.id() as usize]),
            };
        }
        Source::Words(graph.op(e), eval::shape(graph, graph.node(e)), operands)
    }

    fn has(&mut self, place: u32, wanted: &[(usize, u16)]) -> bool {
        let kept = &mut self.kept[place as usize];
        if kept.forgotten < self.forgotten.len() {
            kept.forget(&self.forgotten);
        }
        kept.has(wanted)
    }

    fn fill(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        models: &mut [Assignment],
        wanted: &[(usize, u16)],
        root: u32,
    ) {
        self.stack.push((root, false));
        while let Some((place, ready)) = self.stack.pop() {
            if !ready && self.has(place, wanted) {
                continue;
            }
            if !ready && let Source::Words(_, _, operands) = self.kept[place as usize].source {
                self.stack.push((place, true));
                for operand in operands {
                    if let Operand::At(kid) = operand
                        && !self.has(kid, wanted)
                    {
                        self.stack.push((kid, false));
                    }
                }
                // Nothing is missing: no need to come back.
                if self.stack.last() != Some(&(place, true)) {
                    continue;
                }
                self.stack.pop();
            }
            self.compute(graph, evaluator, models, wanted, place);
        }
    }

    fn compute(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        models: &mut [Assignment],
        wanted: &[(usize, u16)],
        place: u32,
    ) {
        self.computed += NODE;
        let Kept { e, source, .. } = self.kept[place as usize];
        for &(at, lanes) in wanted {
            let (cell, missing) = self.missing(place, at, lanes);
            if missing == 0 {
                continue;
            }
            let mut out = [0; CELL];
            let before = evaluator.work;
            match source {
                Source::Words(op, shape, operands) => {
                    let operands = operands.map(|operand| match operand {
                        Operand::Same(word) => lanes::Operand::Same(word),
                        Operand::At(kid) => {
                            let part = self.kept[kid as usize].parts[at];
                            lanes::Operand::Each(&self.cells[part.cell as usize])
                        }
                    });
                    if missing.count_ones() >= MANY {
                        lanes::words(op, shape, operands, &mut out);
                    } else {
                        each(missing, &mut out, |lane| {
                            let [a, b, c] = operands.map(|operand| operand.word(lane));
                            eval::word(op, shape, a, b, c)
                        });
                    }
                }
                Source::Variable => {
                    each(missing, &mut out, |lane| models[at * CELL + lane].word(Atom::Variable(e)))
                }
                Source::Elements(array, first, count) => {
                    let width = graph.width(array);
                    each(missing, &mut out, |lane| {
                        let model = &models[at * CELL + lane];
                        let element =
                            |i: u32| model.word(Atom::Element(array, first + u64::from(i))) << (i * width);
                        (0..count).fold(0, |word, i| word | element(i))
                    });
                }
                Source::Evaluator => {
                    each(missing, &mut out, |lane| {
                        evaluator.under(graph, models[at * CELL + lane].model(graph)).word(e)
                    });
                    // Counted here, and not there as well.
                    self.computed += evaluator.work - before;
                    evaluator.work = before;
                }
            }
            self.computed += PART + u64::from(missing.count_ones());
            let values = &mut self.cells[cell as usize];
            each(missing, values, |lane| out[lane]);
        }
    }

    /// The cell for some lanes of a node, and which of their values are missing, which are about to be known.
    fn missing(&mut self, place: u32, at: usize, lanes: u16) -> (u32, u16) {
        let parts = &mut self.kept[place as usize].parts;
        if parts.len() <= at {
            parts.resize(at + 1, NOTHING);
        }
        let part = &mut parts[at];
        if part.cell == NOWHERE {
            part.cell = self.free_cells.pop().unwrap_or_else(|| {
                self.cells.push([0; CELL]);
                self.cells.len() as u32 - 1
            });
        }
        let missing = lanes & !part.known;
        part.known |= lanes;
        (part.cell, missing)
    }

    /// These lanes get other models.
    pub fn forget_lanes(&mut self, lanes: &[u32]) {
        self.forgotten.push(masks(lanes));
        if self.forgotten.len() >= LOTS {
            for kept in &mut self.kept {
                kept.forget(&self.forgotten);
                kept.forgotten = 0;
            }
            self.forgotten.clear();
        }
    }

    pub fn sweep(&mut self, alive: &Alive) {
        for (id, place) in self.places.iter_mut().enumerate() {
            if *place != NOWHERE && !alive.has_id(id as u32) {
                let parts = std::mem::take(&mut self.kept[*place as usize].parts);
                self.free_cells.extend(parts.iter().map(|part| part.cell).filter(|&cell| cell != NOWHERE));
                self.free.push(std::mem::replace(place, NOWHERE));
            }
        }
    }

    /// Makes room, by more memory if that is needed too often.
    fn start_afresh(&mut self) {
        let soon = std::mem::take(&mut self.questions) < SOON;
        if soon && self.limit < *CELLS.end() {
            self.limit *= 2;
            return;
        }
        self.places.fill(NOWHERE);
        self.kept.clear();
        self.free.clear();
        self.cells.clear();
        self.free_cells.clear();
        self.forgotten.clear();
    }

    pub fn forget(&mut self) {
        *self = Memo { computed: self.computed, ..Memo::default() };
    }
}

/// Of a node that is not of words.
fn source(graph: &Graph, e: Expr) -> Source {
    match graph.op(e) {
        Op::Var => Source::Variable,
        Op::Read => match element_range(graph, e) {
            Some((array, first, count)) => Source::Elements(array, first, count as u32),
            None => Source::Evaluator,
        },
        _ => Source::Evaluator,
    }
}

fn masks(lanes: &[u32]) -> Wanted {
    let mut masks = Wanted::new();
    for &lane in lanes {
        let (at, bit) = (lane as usize / CELL, 1 << (lane as usize % CELL));
        // Lanes that come after one another are often side by side.
        match masks.iter_mut().rev().find(|(other, _)| *other == at) {
            Some((_, lanes)) => *lanes |= bit,
            None => masks.push((at, bit)),
        }
    }
    masks
}

/// Sets some lanes of a cell.
fn each(lanes: u16, cell: &mut [u64; CELL], mut value: impl FnMut(usize) -> u64) {
    let mut left = lanes;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        cell[lane] = value(lane);
        left &= left - 1;
    }
}
