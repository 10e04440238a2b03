//! Which parts of the user's own code were reached: a mark for the entry of each function and for each of its edges.
//!
//! Code of libraries has no marks. The inner loop asks `Code::quiet` whether there is anything to note and comes here
//! only if there is. With `--tests coverage` every state also keeps the marks on its way that no test has yet, so that
//! exactly those paths get a test which reach something that no earlier test reaches.
use super::Engine;
use super::code::Code;
use super::options::Tests;
use super::state::State;
use crate::program::{BlockId, FuncId, Function, Inst, Loc, Program};
use std::sync::Arc;

/// Instructions of the user's own code, and how many of them stand in blocks that were entered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Covered {
    pub instructions: u64,
    pub covered: u64,
}

/// Where the marks and blocks of a function start in the lists of all.
#[derive(Clone, Copy)]
struct Start {
    mark: u32,
    block: u32,
}

#[derive(Default)]
pub struct Coverage {
    /// By function; `None` for what is not the user's.
    starts: Vec<Option<Start>>,
    /// For each function its entry, then its edges.
    marks: Vec<bool>,
    blocks: Vec<bool>,
    /// Marks that are set.
    found: u64,
    /// Marks on the way of a test.
    tested: Marks,
}

/// A set of marks, by number.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Marks(Vec<u64>);

impl Marks {
    fn has(&self, mark: u32) -> bool {
        self.0.get(mark as usize / 64).is_some_and(|word| word >> (mark % 64) & 1 == 1)
    }

    fn add(&mut self, mark: u32) {
        let at = mark as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (mark % 64);
    }

    fn add_all(&mut self, other: &Marks) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    fn is_within(&self, other: &Marks) -> bool {
        let theirs = other.0.iter().copied().chain(std::iter::repeat(0));
        self.0.iter().zip(theirs).all(|(mine, theirs)| mine & !theirs == 0)
    }
}

/// What was reached of one function.
#[derive(Clone, Debug)]
pub struct FunctionCoverage {
    pub name: String,
    pub file: String,
    pub line: u32,
    pub entered: bool,
    /// File, line, entered.
    pub lines: Vec<(String, u32, bool)>,
    /// File, line, entered, and for each way out whether it was taken.
    pub branches: Vec<(String, u32, bool, Vec<bool>)>,
}

impl Coverage {
    pub fn new(program: &Program) -> Coverage {
        let mut coverage = Coverage::default();
        for function in &program.functions {
            let start = Start { mark: coverage.marks.len() as u32, block: coverage.blocks.len() as u32 };
            let user = function.is_defined() && !function.library;
            coverage.starts.push(user.then_some(start));
            if user {
                coverage.marks.resize(coverage.marks.len() + 1 + function.edges.len(), false);
                coverage.blocks.resize(coverage.blocks.len() + function.blocks.len(), false);
            }
        }
        coverage
    }

    /// How much was reached: grows whenever something is reached for the first time.
    pub fn found(&self) -> u64 {
        self.found
    }

    /// How much of the user's own code there is to be reached, counted as `found` is.
    pub fn all(&self) -> u64 {
        self.marks.len() as u64
    }

    /// Is this a block of the user's that was never entered?
    pub fn is_new(&self, func: FuncId, block: usize) -> bool {
        self.starts[func.index()].is_some_and(|start| !self.blocks[start.block as usize + block])
    }

    /// What the inner loop need not note, by edge and then for the entry.
    pub fn quiet(&self, func: FuncId, edges: usize) -> Box<[bool]> {
        vec![self.starts[func.index()].is_none(); edges + 1].into()
    }

    pub fn covered(&self, program: &Program) -> Covered {
        let mut covered = Covered::default();
        for (function, start) in program.functions.iter().zip(&self.starts) {
            let Some(start) = start else { continue };
            covered.instructions += function.insts.len() as u64;
            let entered = &self.blocks[start.block as usize..];
            let size = |(block, entered): (&crate::program::Block, &bool)| {
                if *entered { u64::from(block.end - block.start) } else { 0 }
            };
            covered.covered += function.blocks.iter().zip(entered).map(size).sum::<u64>();
        }
        covered
    }

    /// Line by line and branch by branch, for reports.
    pub fn functions(&self, program: &Program) -> Vec<FunctionCoverage> {
        let user = program.functions.iter().zip(&self.starts);
        user.filter_map(|(function, start)| Some(self.function(program, function, (*start)?))).collect()
    }

    fn function(&self, program: &Program, function: &Function, start: Start) -> FunctionCoverage {
        let marks = &self.marks[start.mark as usize..];
        let mut lines = Vec::new();
        let mut branches = Vec::new();
        for (number, block) in function.blocks.iter().enumerate() {
            let entered = self.blocks[start.block as usize + number];
            let insts = block.start as usize..block.end as usize;
            let mut last: Option<Loc> = None;
            for loc in function.locs[insts.clone()].iter().filter(|loc| loc.line != 0) {
                if last.is_none_or(|last| (last.file, last.line) != (loc.file, loc.line)) {
                    lines.push((program.string(loc.file).to_string(), loc.line, entered));
                }
                last = Some(*loc);
            }
            let terminator: &Inst = &function.insts[insts.end - 1];
            let edges = terminator.edges();
            if let (Some(loc), true) = (last, edges.len() > 1) {
                let taken = edges.iter().map(|edge| marks[1 + edge.index()]).collect();
                branches.push((program.string(loc.file).to_string(), loc.line, entered, taken));
            }
        }
        let (file, line) = match function.loc.line {
            0 => (String::new(), 0),
            line => (program.string(function.loc.file).to_string(), line),
        };
        FunctionCoverage {
            name: program.string(function.name).to_string(),
            file,
            line,
            entered: marks[0],
            lines,
            branches,
        }
    }
}

impl Engine {
    /// The state takes an edge that is not quiet (`Some`), or enters the function.
    #[cold]
    pub(super) fn note(&mut self, state: &mut State, code: &mut Code, edge: Option<u32>) {
        let coverage = &mut self.coverage;
        let start = coverage.starts[state.frame.func.index()].expect("the user's code is not quiet");
        let (at, block) = match edge {
            Some(edge) => (edge as usize, BlockId(code.edges[edge as usize].block)),
            None => (code.edges.len(), BlockId(0)),
        };
        let mark = start.mark + edge.map_or(0, |edge| 1 + edge);
        if !coverage.marks[mark as usize] {
            coverage.marks[mark as usize] = true;
            coverage.blocks[start.block as usize + block.index()] = true;
            coverage.found += 1;
        }
        match self.options.tests {
            Tests::All | Tests::Bugs => code.quiet[at] = true,
            Tests::Coverage if coverage.tested.has(mark) => code.quiet[at] = true,
            Tests::Coverage if state.untested.has(mark) => {}
            Tests::Coverage => Arc::make_mut(&mut state.untested).add(mark),
        }
    }

    /// Does the state reach what no test reaches yet?
    pub(super) fn reaches_new(&self, state: &State) -> bool {
        !state.untested.is_within(&self.coverage.tested)
    }

    /// A test of this state is written.
    pub(super) fn note_tested(&mut self, state: &State) {
        self.coverage.tested.add_all(&state.untested);
    }
}
