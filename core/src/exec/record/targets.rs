//! Targets of the search (`--target`): which were reached, and the first test whose path reaches each.
//!
//! A target is a call of `__partita_target(number)` that the front end inserts before the code of a line or function.
use crate::program::{Callee, FuncId, Inst, Operand, Program};

/// Name of the function whose calls are targets.
pub const FUNCTION: &str = "__partita_target";

/// A block with a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Goal {
    pub func: FuncId,
    pub block: usize,
    pub number: u32,
}

#[derive(Default)]
pub struct Targets {
    goals: Vec<Goal>,
    /// By number.
    reached: Vec<bool>,
    tests: Vec<Option<u64>>,
    /// Is the test of a target the least one, and not the first?
    picks_least: bool,
}

/// The test that stays of two.
fn chosen(picks_least: bool, known: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (known, other) {
        (Some(known), Some(other)) if picks_least => Some(known.min(other)),
        _ => known.or(other),
    }
}

impl Targets {
    pub fn new(program: &Program) -> Targets {
        let mut goals = Vec::new();
        for (i, function) in program.functions.iter().enumerate() {
            for (block, range) in function.blocks.iter().enumerate() {
                let insts = &function.insts[range.start as usize..range.end as usize];
                let numbers = insts.iter().filter_map(|inst| target_of(program, inst));
                goals.extend(numbers.map(|number| Goal { func: FuncId(i as u32), block, number }));
            }
        }
        let count = goals.iter().map(|goal| goal.number as usize + 1).max().unwrap_or(0);
        Targets { goals, reached: vec![false; count], tests: vec![None; count], picks_least: false }
    }

    /// Records that a path reached a target.
    pub fn reach(&mut self, number: u32) {
        if let Some(reached) = self.reached.get_mut(number as usize) {
            *reached = true;
        }
    }

    /// Number of targets that no path has reached.
    pub fn open(&self) -> usize {
        self.reached.iter().filter(|reached| !**reached).count()
    }

    /// Blocks of targets that no path has reached.
    pub fn open_goals(&self) -> impl Iterator<Item = Goal> + '_ {
        self.goals.iter().copied().filter(|goal| !self.reached[goal.number as usize])
    }

    /// Takes the test of the least name for each target from now on: which one does not depend on the order of paths.
    pub fn pick_least(&mut self) {
        self.picks_least = true;
    }

    /// Does one of these targets need a test of this name?
    pub fn lacks_test(&self, numbers: &[u32], name: u64) -> bool {
        let lacks = |known: Option<u64>| known.is_none_or(|known| self.picks_least && name < known);
        numbers.iter().any(|number| lacks(self.tests[*number as usize]))
    }

    /// Sets the test of these targets, where they need one.
    pub fn set_test(&mut self, numbers: &[u32], test: u64) {
        for number in numbers {
            let known = &mut self.tests[*number as usize];
            *known = chosen(self.picks_least, *known, Some(test));
        }
    }

    /// The tests of targets.
    pub fn tests(&self) -> impl Iterator<Item = u64> + '_ {
        self.tests.iter().copied().flatten()
    }

    /// Adds what another run of the program reached. False if it has another number of targets.
    pub fn add_rows(&mut self, rows: &[(bool, Option<u64>)]) -> bool {
        for ((reached, test), row) in self.reached.iter_mut().zip(&mut self.tests).zip(rows) {
            *reached |= row.0;
            *test = chosen(self.picks_least, *test, row.1);
        }
        rows.len() == self.reached.len()
    }

    /// Gives tests other numbers.
    pub fn renumber(&mut self, number: impl Fn(u64) -> Option<u64>) {
        self.tests.iter_mut().for_each(|test| *test = test.and_then(&number));
    }

    /// Has the search targets?
    pub fn is_empty(&self) -> bool {
        self.reached.is_empty()
    }

    /// Whether each target was reached, and its test.
    pub fn rows(&self) -> Vec<(bool, Option<u64>)> {
        self.reached.iter().copied().zip(self.tests.iter().copied()).collect()
    }
}

fn target_of(program: &Program, inst: &Inst) -> Option<u32> {
    let Inst::Call(call) = inst else { return None };
    let Callee::Direct(func) = call.callee else { return None };
    if program.string(program.functions[func.index()].name) != FUNCTION {
        return None;
    }
    match call.args.first()?.value {
        Operand::Int(number) => u32::try_from(number).ok(),
        Operand::Reg(_)
        | Operand::Wide(_)
        | Operand::Global { .. }
        | Operand::Func(_)
        | Operand::Block { .. }
        | Operand::Undef
        | Operand::Poison => None,
    }
}
