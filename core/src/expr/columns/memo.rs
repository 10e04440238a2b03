//! Cached values of expressions under many models: a new expression costs only its new nodes, and only in the
//! requested lanes.
//!
//! A lane is one model. Operators on words use `eval::word`; words computed from arrays or wide values are
//! computed by the evaluator, once per lane. The cache is bounded: it is cleared when it is full.

use super::{Assignment, lanes};
use crate::expr::eval::{self, Evaluator, Shape};
use crate::expr::walk::{Atom, element_range};
use crate::expr::{Alive, Expr, Graph, Op};
use smallvec::SmallVec;

/// Number of adjacent lanes whose values share one cell.
const LANES_PER_CELL: usize = 16;
/// Initial and largest number of cells before the cache is cleared. It starts with what fits in the
/// processor's cache and grows if clearing happens too often.
const CELL_LIMITS: std::ops::RangeInclusive<usize> = 1 << 13..=1 << 17;
/// Fewer queries than this between two clearings make the cache grow.
const MIN_QUERIES_PER_CLEARING: u32 = 256;
const NO_POSITION: u32 = u32::MAX;

/// Effort of a node and of each of its cells beside computing values, in values.
const NODE_EFFORT: u64 = 4;
const CELL_EFFORT: u64 = 3;
/// Batches of forgotten lanes that are applied to nodes lazily; when there are more, they are applied to all
/// nodes.
const MAX_FORGOTTEN_BATCHES: usize = 64;
/// Number of missing values from which computing the whole cell is cheaper.
const MIN_MISSING_FOR_LOOP: u32 = 3;

/// A set of lanes: cell positions, each with a mask of its lanes.
type LaneSet = SmallVec<[(usize, u16); 8]>;

/// An operand: a constant, or the node at a position.
#[derive(Clone, Copy)]
enum OperandRef {
    Same(u64),
    Node(u32),
}

/// How the values of a node are computed.
#[derive(Clone, Copy)]
enum Source {
    /// An operator on the values of operands.
    Words(Op, Shape, [OperandRef; 3]),
    /// A variable.
    Variable,
    /// Adjacent elements of an array variable: variable, first element, number of elements.
    Elements(Expr, u64, u32),
    /// Anything else.
    Evaluator,
}

/// Some lanes of one expression: the cell with their values, and the lanes whose values are known.
#[derive(Clone, Copy)]
struct CellRef {
    cell: u32,
    known: u16,
}

const NO_CELL: CellRef = CellRef { cell: NO_POSITION, known: 0 };

/// The known values of one expression.
struct Row {
    e: Expr,
    source: Source,
    cells: SmallVec<[CellRef; 4]>,
    /// Number of batches in `Memo::forgotten` that were applied to it.
    forgotten: usize,
}

impl Row {
    fn forget(&mut self, batches: &[LaneSet]) {
        for &(at, lanes) in batches[self.forgotten..].iter().flatten() {
            if let Some(cell_ref) = self.cells.get_mut(at) {
                cell_ref.known &= !lanes;
            }
        }
        self.forgotten = batches.len();
    }

    fn has(&self, wanted: &[(usize, u16)]) -> bool {
        wanted.iter().all(|&(at, lanes)| self.cells.get(at).is_some_and(|cell| cell.known & lanes == lanes))
    }
}

pub struct Memo {
    /// For each expression its position in `rows`, or `NO_POSITION`.
    positions: Vec<u32>,
    rows: Vec<Row>,
    free: Vec<u32>,
    cells: Vec<[u64; LANES_PER_CELL]>,
    free_cells: Vec<u32>,
    /// Number of cells at which the cache is cleared.
    cell_limit: usize,
    queries: u32,
    computed: u64,
    /// Lanes whose models changed: each row drops them when it is used next.
    forgotten: Vec<LaneSet>,
    /// Stacks of nodes to add and of rows to compute; true if the operands are done.
    pending_nodes: Vec<(Expr, bool)>,
    pending_rows: Vec<(u32, bool)>,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo {
            positions: Vec::new(),
            rows: Vec::new(),
            free: Vec::new(),
            cells: Vec::new(),
            free_cells: Vec::new(),
            cell_limit: *CELL_LIMITS.start(),
            queries: 0,
            computed: 0,
            forgotten: Vec::new(),
            pending_nodes: Vec::new(),
            pending_rows: Vec::new(),
        }
    }
}

/// Returns whether a node is an operator on words.
fn is_of_words(graph: &Graph, e: Expr) -> bool {
    let is_word = |kid: Expr| !graph.is_array(kid) && graph.width(kid) <= 64;
    !matches!(graph.op(e), Op::Var | Op::Read) && graph.kids(e).into_iter().all(is_word)
}

impl Memo {
    /// Effort: number of values computed, plus the overhead of nodes and cells in values.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// Returns the value of the boolean `e` in each of the lanes. `models` has the model of every lane.
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
        self.queries = self.queries.saturating_add(1);
        if self.cells.len() - self.free_cells.len() > self.cell_limit {
            self.clear_or_grow();
        }
        let position = self.position(graph, e);
        self.fill(graph, evaluator, models, &lane_set(lanes), position);
        let cells = &self.rows[position as usize].cells;
        let value =
            |lane: usize| self.cells[cells[lane / LANES_PER_CELL].cell as usize][lane % LANES_PER_CELL];
        lanes.iter().map(|&lane| value(lane as usize) != 0).collect()
    }

    /// Returns the position of `e`; adds it and its operands if necessary.
    fn position(&mut self, graph: &Graph, e: Expr) -> u32 {
        self.positions.resize(self.positions.len().max(graph.slots()), NO_POSITION);
        self.pending_nodes.push((e, false));
        while let Some((e, ready)) = self.pending_nodes.pop() {
            if self.positions[e.id() as usize] != NO_POSITION {
                continue;
            }
            if !ready && is_of_words(graph, e) {
                self.pending_nodes.push((e, true));
                let kids = graph.kids(e).into_iter().filter(|&kid| !graph.is_const(kid));
                self.pending_nodes.extend(kids.map(|kid| (kid, false)));
                continue;
            }
            let source = if ready { self.words(graph, e) } else { source(graph, e) };
            let row = Row { e, source, cells: SmallVec::new(), forgotten: self.forgotten.len() };
            self.positions[e.id() as usize] = match self.free.pop() {
                Some(position) => {
                    self.rows[position as usize] = row;
                    position
                }
                None => {
                    self.rows.push(row);
                    self.rows.len() as u32 - 1
                }
            };
        }
        self.positions[e.id() as usize]
    }

    fn words(&self, graph: &Graph, e: Expr) -> Source {
        let mut operands = [OperandRef::Same(0); 3];
        for (operand, kid) in operands.iter_mut().zip(graph.kids(e)) {
            *operand = match graph.const_word(kid) {
                Some(word) => OperandRef::Same(word),
                None => OperandRef::Node(self.positions[kid.id() as usize]),
            };
        }
        Source::Words(graph.op(e), eval::shape(graph, graph.node(e)), operands)
    }

    fn has(&mut self, position: u32, wanted: &[(usize, u16)]) -> bool {
        let row = &mut self.rows[position as usize];
        if row.forgotten < self.forgotten.len() {
            row.forget(&self.forgotten);
        }
        row.has(wanted)
    }

    fn fill(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        models: &mut [Assignment],
        wanted: &[(usize, u16)],
        root: u32,
    ) {
        self.pending_rows.push((root, false));
        while let Some((position, ready)) = self.pending_rows.pop() {
            if !ready && self.has(position, wanted) {
                continue;
            }
            if !ready && let Source::Words(_, _, operands) = self.rows[position as usize].source {
                self.pending_rows.push((position, true));
                for operand in operands {
                    if let OperandRef::Node(kid) = operand
                        && !self.has(kid, wanted)
                    {
                        self.pending_rows.push((kid, false));
                    }
                }
                // All operands are known: compute the row without revisiting it.
                if self.pending_rows.last() != Some(&(position, true)) {
                    continue;
                }
                self.pending_rows.pop();
            }
            self.compute(graph, evaluator, models, wanted, position);
        }
    }

    fn compute(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        models: &mut [Assignment],
        wanted: &[(usize, u16)],
        position: u32,
    ) {
        self.computed += NODE_EFFORT;
        let Row { e, source, .. } = self.rows[position as usize];
        for &(at, lanes) in wanted {
            let (cell, missing) = self.missing(position, at, lanes);
            if missing == 0 {
                continue;
            }
            let mut out = [0; LANES_PER_CELL];
            let before = evaluator.work;
            match source {
                Source::Words(op, shape, operands) => {
                    let operands = operands.map(|operand| match operand {
                        OperandRef::Same(word) => lanes::LaneOperand::Same(word),
                        OperandRef::Node(kid) => {
                            let cell_ref = self.rows[kid as usize].cells[at];
                            lanes::LaneOperand::Each(&self.cells[cell_ref.cell as usize])
                        }
                    });
                    if missing.count_ones() >= MIN_MISSING_FOR_LOOP {
                        lanes::words(op, shape, operands, &mut out);
                    } else {
                        set_lanes(missing, &mut out, |lane| {
                            let [a, b, c] = operands.map(|operand| operand.word(lane));
                            eval::word(op, shape, a, b, c)
                        });
                    }
                }
                Source::Variable => set_lanes(missing, &mut out, |lane| {
                    models[at * LANES_PER_CELL + lane].word(Atom::Variable(e))
                }),
                Source::Elements(array, first, count) => {
                    let width = graph.width(array);
                    set_lanes(missing, &mut out, |lane| {
                        let model = &models[at * LANES_PER_CELL + lane];
                        let element =
                            |i: u32| model.word(Atom::Element(array, first + u64::from(i))) << (i * width);
                        (0..count).fold(0, |word, i| word | element(i))
                    });
                }
                Source::Evaluator => {
                    set_lanes(missing, &mut out, |lane| {
                        evaluator.under(graph, models[at * LANES_PER_CELL + lane].model(graph)).word(e)
                    });
                    // This effort is counted here only.
                    self.computed += evaluator.work - before;
                    evaluator.work = before;
                }
            }
            self.computed += CELL_EFFORT + u64::from(missing.count_ones());
            let values = &mut self.cells[cell as usize];
            set_lanes(missing, values, |lane| out[lane]);
        }
    }

    /// Returns the cell for some lanes of a row and the lanes whose values are missing; marks them as known.
    fn missing(&mut self, position: u32, at: usize, lanes: u16) -> (u32, u16) {
        let cells = &mut self.rows[position as usize].cells;
        if cells.len() <= at {
            cells.resize(at + 1, NO_CELL);
        }
        let cell_ref = &mut cells[at];
        if cell_ref.cell == NO_POSITION {
            cell_ref.cell = self.free_cells.pop().unwrap_or_else(|| {
                self.cells.push([0; LANES_PER_CELL]);
                self.cells.len() as u32 - 1
            });
        }
        let missing = lanes & !cell_ref.known;
        cell_ref.known |= lanes;
        (cell_ref.cell, missing)
    }

    /// Drops the values of lanes whose models changed.
    pub fn forget_lanes(&mut self, lanes: &[u32]) {
        self.forgotten.push(lane_set(lanes));
        if self.forgotten.len() >= MAX_FORGOTTEN_BATCHES {
            for row in &mut self.rows {
                row.forget(&self.forgotten);
                row.forgotten = 0;
            }
            self.forgotten.clear();
        }
    }

    pub fn sweep(&mut self, alive: &Alive) {
        for (id, position) in self.positions.iter_mut().enumerate() {
            if *position != NO_POSITION && !alive.has_id(id as u32) {
                let cells = std::mem::take(&mut self.rows[*position as usize].cells);
                self.free_cells
                    .extend(cells.iter().map(|cell| cell.cell).filter(|&cell| cell != NO_POSITION));
                self.free.push(std::mem::replace(position, NO_POSITION));
            }
        }
    }

    /// Clears the cache, or raises its limit if it was cleared too recently.
    fn clear_or_grow(&mut self) {
        let too_recent = std::mem::take(&mut self.queries) < MIN_QUERIES_PER_CLEARING;
        if too_recent && self.cell_limit < *CELL_LIMITS.end() {
            self.cell_limit *= 2;
            return;
        }
        self.positions.fill(NO_POSITION);
        self.rows.clear();
        self.free.clear();
        self.cells.clear();
        self.free_cells.clear();
        self.forgotten.clear();
    }

    pub fn forget(&mut self) {
        *self = Memo { computed: self.computed, ..Memo::default() };
    }
}

/// Returns the source of a node that is not an operator on words.
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

fn lane_set(lanes: &[u32]) -> LaneSet {
    let mut lane_set = LaneSet::new();
    for &lane in lanes {
        let (at, bit) = (lane as usize / LANES_PER_CELL, 1 << (lane as usize % LANES_PER_CELL));
        // Adjacent lanes are often adjacent in the list.
        match lane_set.iter_mut().rev().find(|(other, _)| *other == at) {
            Some((_, lanes)) => *lanes |= bit,
            None => lane_set.push((at, bit)),
        }
    }
    lane_set
}

/// Sets some lanes of a cell.
fn set_lanes(lanes: u16, cell: &mut [u64; LANES_PER_CELL], mut value: impl FnMut(usize) -> u64) {
    let mut left = lanes;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        cell[lane] = value(lane);
        left &= left - 1;
    }
}
