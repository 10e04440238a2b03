//! Code coverage: a mark for the entry of each function and for each of its edges.
//!
//! Strategies, tests and reports use the user's own code; of libraries only the total is reported. The inner
//! loop calls in here only for edges that `Code::recorded` does not exclude. With `--tests coverage` every
//! state also keeps the marks of its path that no test has yet, so that exactly those paths get a test that
//! reach something no earlier test reaches.
use crate::program::{BlockId, FuncId, Function, Inst, Loc, Program, demangled};
use std::sync::Arc;

/// Number of instructions, and of those in blocks that were entered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Covered {
    pub instructions: u64,
    pub covered: u64,
}

/// First mark and first block of a function in the lists of all.
#[derive(Clone, Copy)]
struct Start {
    mark: u32,
    block: u32,
    user: bool,
}

#[derive(Default)]
pub struct Coverage {
    /// By function; `None` for functions without a body.
    starts: Vec<Option<Start>>,
    /// For each function its entry, then its edges; the user's functions come first.
    marks: Vec<bool>,
    blocks: Vec<bool>,
    /// Number of the user's marks, and of those that are set.
    all: u64,
    found: u64,
    /// Marks that tests reach.
    tested: Marks,
    /// For each of the user's marks the least name of a path that reaches it, if tests are selected at the end.
    least: Vec<u64>,
}

/// No path reaches a mark.
const NO_PATH: u64 = u64::MAX;

/// Set of mark numbers.
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

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        self.0.iter().enumerate().flat_map(move |(at, word)| bits(*word).map(move |bit| 64 * at + bit))
    }

    fn is_within(&self, other: &Marks) -> bool {
        let theirs = other.0.iter().copied().chain(std::iter::repeat(0));
        self.0.iter().zip(theirs).all(|(mine, theirs)| mine & !theirs == 0)
    }
}

/// Coverage of one function.
#[derive(Clone, Debug)]
pub struct FunctionCoverage {
    pub name: String,
    pub file: String,
    pub line: u32,
    pub entered: bool,
    /// File, line, entered.
    pub lines: Vec<(String, u32, bool)>,
    /// File, line, entered, and for each outgoing edge whether it was taken.
    pub branches: Vec<(String, u32, bool, Vec<bool>)>,
}

impl Coverage {
    pub fn new(program: &Program) -> Coverage {
        let mut coverage = Coverage { starts: vec![None; program.functions.len()], ..Coverage::default() };
        for user in [true, false] {
            for (function, start) in program.functions.iter().zip(&mut coverage.starts) {
                if !function.is_defined() || function.library == user {
                    continue;
                }
                let (mark, block) = (coverage.marks.len(), coverage.blocks.len());
                *start = Some(Start { mark: mark as u32, block: block as u32, user });
                coverage.marks.resize(mark + 1 + function.edges.len(), false);
                coverage.blocks.resize(block + function.blocks.len(), false);
            }
            if user {
                coverage.all = coverage.marks.len() as u64;
            }
        }
        coverage
    }

    /// Number of the user's marks that are set.
    pub fn found(&self) -> u64 {
        self.found
    }

    /// Number of the user's marks.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// Is this a user block that was never entered?
    pub fn is_new(&self, func: FuncId, block: usize) -> bool {
        self.starts[func.index()]
            .is_some_and(|start| start.user && !self.blocks[start.block as usize + block])
    }

    /// Coverage of the user's own code, or of the linked libraries.
    pub fn covered(&self, program: &Program, user: bool) -> Covered {
        let mut covered = Covered::default();
        for (function, start) in program.functions.iter().zip(&self.starts) {
            let Some(start) = start.filter(|start| start.user == user) else { continue };
            let entered = &self.blocks[start.block as usize..];
            for (block, entered) in function.blocks.iter().zip(entered) {
                // Where the block of a variable begins or ends is no code of the program.
                let insts = &function.insts[block.start as usize..block.end as usize];
                let size = insts.iter().filter(|inst| !matches!(inst, Inst::Scope { .. })).count() as u64;
                covered.instructions += size;
                covered.covered += if *entered { size } else { 0 };
            }
        }
        covered
    }

    /// Coverage of each user function, for reports.
    pub fn functions(&self, program: &Program) -> Vec<FunctionCoverage> {
        let user = |start: &Option<Start>| start.filter(|start| start.user);
        let all = program.functions.iter().zip(&self.starts);
        all.filter_map(|(function, start)| Some(self.function(program, function, user(start)?))).collect()
    }

    fn function(&self, program: &Program, function: &Function, start: Start) -> FunctionCoverage {
        let marks = &self.marks[start.mark as usize..];
        let mut lines = Vec::new();
        let mut branches = Vec::new();
        for (number, block) in function.blocks.iter().enumerate() {
            let entered = self.blocks[start.block as usize + number];
            let insts = block.start as usize..block.end as usize;
            let mut last: Option<Loc> = None;
            let code = function.locs[insts.clone()].iter().zip(&function.insts[insts.clone()]);
            let code = code.filter(|(_, inst)| !matches!(inst, Inst::Scope { .. })).map(|(loc, _)| loc);
            for loc in code.filter(|loc| loc.line != 0) {
                if last.is_none_or(|last| (last.file, last.line) != (loc.file, loc.line)) {
                    lines.push((program.string(loc.file).to_string(), loc.line, entered));
                }
                last = Some(*loc);
            }
            let terminator: &Inst = &function.insts[insts.end - 1];
            let edges = terminator.edges();
            // A call that may throw is no branch of the source.
            let is_branch = edges.len() > 1 && !matches!(terminator, Inst::Landing { .. });
            if let (Some(loc), true) = (last, is_branch) {
                let taken = edges.iter().map(|edge| marks[1 + edge.index()]).collect();
                branches.push((program.string(loc.file).to_string(), loc.line, entered, taken));
            }
        }
        let (file, line) = match function.loc.line {
            0 => (String::new(), 0),
            line => (program.string(function.loc.file).to_string(), line),
        };
        FunctionCoverage {
            name: demangled(program.string(function.name)),
            file,
            line,
            entered: marks[0],
            lines,
            branches,
        }
    }
    /// Records that a path takes an edge (`Some`) to `block`, or enters the function. `untested` are its marks
    /// without a test, if tests are written by coverage. Returns true if nothing has to be recorded for this
    /// edge any more.
    pub fn record(
        &mut self,
        func: FuncId,
        edge: Option<u32>,
        block: BlockId,
        untested: Option<&mut Arc<Marks>>,
    ) -> bool {
        let start = self.starts[func.index()].expect("a running function has a body");
        let mark = start.mark + edge.map_or(0, |edge| 1 + edge);
        if !self.marks[mark as usize] {
            self.marks[mark as usize] = true;
            self.blocks[start.block as usize + block.index()] = true;
            self.found += u64::from(start.user);
        }
        let Some(untested) = untested.filter(|_| start.user && !self.tested.has(mark)) else { return true };
        if !untested.has(mark) {
            Arc::make_mut(untested).add(mark);
        }
        false
    }

    /// Marks and blocks that were reached, and marks that tests reach, as sets of bits; and the least path of each mark.
    pub fn sets(&self) -> [Vec<u8>; 4] {
        let tested: Vec<bool> = (0..self.all as u32).map(|mark| self.tested.has(mark)).collect();
        let least = self.least.iter().flat_map(|name| name.to_be_bytes()).collect();
        [pack(&self.marks), pack(&self.blocks), pack(&tested), least]
    }

    /// Adds sets of another run of the program. False if they have other sizes: they are of another program.
    pub fn add_sets(&mut self, [marks, blocks, tested, least]: [&[u8]; 4]) -> bool {
        let sizes = [self.marks.len(), self.blocks.len(), self.all as usize];
        if [marks, blocks, tested].iter().zip(sizes).any(|(set, size)| set.len() != size.div_ceil(8)) {
            return false;
        }
        if !least.is_empty() && least.len() != 8 * self.all as usize {
            return false;
        }
        for (mark, name) in least.chunks_exact(8).enumerate() {
            self.name(mark, u64::from_be_bytes(name.try_into().expect("eight bytes")));
        }
        let all = self.all;
        for (at, mark) in self.marks.iter_mut().enumerate().filter(|(at, mark)| !**mark && has(marks, *at)) {
            *mark = true;
            self.found += u64::from((at as u64) < all);
        }
        self.blocks.iter_mut().enumerate().for_each(|(at, block)| *block |= has(blocks, at));
        (0..all as u32).filter(|mark| has(tested, *mark as usize)).for_each(|mark| self.tested.add(mark));
        true
    }

    /// Does a path with these marks reach one that no test reaches yet?
    pub fn has_untested(&self, marks: &Marks) -> bool {
        !marks.is_within(&self.tested)
    }

    /// Is a path of this name the least one that reaches one of these marks?
    pub fn is_least(&self, marks: &Marks, name: u64) -> bool {
        marks.iter().any(|mark| self.least.get(mark).is_none_or(|known| name < *known))
    }

    /// Adds the marks of a path of this name.
    pub fn add_named(&mut self, marks: &Marks, name: u64) {
        marks.iter().for_each(|mark| self.name(mark, name));
    }

    fn name(&mut self, mark: usize, name: u64) {
        if self.least.is_empty() {
            self.least = vec![NO_PATH; self.all as usize];
        }
        self.least[mark] = self.least[mark].min(name);
    }

    /// Names of the paths that are the least ones of their marks.
    pub fn names(&self) -> impl Iterator<Item = u64> + '_ {
        self.least.iter().copied().filter(|name| *name != NO_PATH)
    }

    /// Adds the marks of a path that gets a test.
    pub fn add_tested(&mut self, marks: &Marks) {
        self.tested.add_all(marks);
    }
}

fn pack(set: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at);
    set.chunks(8).map(byte).collect()
}

fn has(set: &[u8], at: usize) -> bool {
    set[at / 8] >> (at % 8) & 1 == 1
}
