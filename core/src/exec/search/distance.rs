//! How many instructions it takes at least from a place in the program to code that was never entered.
//!
//! The shortest ways to a function's return are found once, those to new code again when enough was covered meanwhile.
//! Distances only grow as code is covered, so older ones are lower bounds. Both are relaxed backwards over the blocks
//! until nothing changes; a call costs what its callee takes to return. A call through a pointer may enter any function
//! of the user's whose address is taken.
use super::View;
use crate::exec::state::State;
use crate::program::{Address, Callee, FuncId, Function, Inst, Operand, Program};
use smallvec::SmallVec;

/// No way leads there.
pub const FAR: u32 = u32::MAX;
/// Frames of a stack that are looked at.
const FRAMES: usize = 64;
/// New code is looked for again after at least one turn for so many instructions of the program.
const SHARE: u64 = 16;

/// Where a block may lead, and whom it calls: place and callee, `None` through a pointer.
struct Shape {
    next: SmallVec<[u32; 2]>,
    calls: Vec<(u32, Option<FuncId>)>,
    returns: bool,
}

impl Shape {
    fn new(function: &Function, block: crate::program::Block) -> Shape {
        let insts = block.start as usize..block.end as usize;
        let last = &function.insts[insts.end - 1];
        let start = |to: crate::program::BlockId| function.blocks[to.index()].start;
        let call = |at: usize| match &function.insts[at] {
            Inst::Call(call) => Some(match call.callee {
                Callee::Direct(func) => (at as u32, Some(func)),
                Callee::Indirect(_) => (at as u32, None),
            }),
            _ => None,
        };
        Shape {
            next: last.edges().iter().map(|edge| start(function.edges[edge.index()].to)).collect(),
            calls: insts.filter_map(call).collect(),
            returns: matches!(last, Inst::Ret { .. }),
        }
    }
}

/// One kind of distance, by function and instruction.
struct Field(Vec<Box<[u32]>>);

impl Field {
    fn new(program: &Program) -> Field {
        Field(program.functions.iter().map(|f| vec![FAR; f.insts.len()].into()).collect())
    }

    /// From the first instruction of a function; of one that has no body, `otherwise`.
    fn entry(&self, func: FuncId, otherwise: u32) -> u32 {
        self.0[func.index()].first().copied().unwrap_or(otherwise)
    }
}

pub struct Distances {
    shapes: Vec<Vec<Shape>>,
    to_return: Field,
    to_new: Field,
    /// The user's functions that a pointer may lead to.
    pointed: Vec<FuncId>,
    instructions: u64,
    /// What was covered when `to_new` was computed, and how many turns ago that was.
    known: Option<u64>,
    age: u64,
}

/// The user's functions whose address is taken.
fn pointed(program: &Program) -> Vec<FuncId> {
    let mut taken = vec![false; program.functions.len()];
    let mut look = |operand: &mut Operand| {
        if let Operand::Func(func) = operand {
            taken[func.index()] = true;
        }
    };
    for function in &program.functions {
        function.moves.iter().for_each(|m| look(&mut m.src.clone()));
        function.insts.iter().for_each(|inst| inst.clone().operands_mut(&mut look));
    }
    for reloc in program.globals.iter().flat_map(|global| &global.relocs) {
        if let Address::Func { func, .. } = reloc.target {
            taken[func.index()] = true;
        }
    }
    let user = |func: &FuncId| {
        let function = &program.functions[func.index()];
        taken[func.index()] && function.is_defined() && !function.library
    };
    (0..program.functions.len() as u32).map(FuncId).filter(user).collect()
}

impl Distances {
    pub fn new(program: &Program) -> Distances {
        let shapes = |f: &Function| f.blocks.iter().map(|block| Shape::new(f, *block)).collect();
        let mut distances = Distances {
            shapes: program.functions.iter().map(shapes).collect(),
            to_return: Field::new(program),
            to_new: Field::new(program),
            pointed: pointed(program),
            instructions: program.functions.iter().map(|f| f.insts.len() as u64).sum(),
            known: None,
            age: 0,
        };
        let mut field = Field::new(program);
        // A function without a body returns at once, as far as is known; so does whatever a pointer leads to.
        let back = |field: &Field, callee: Option<FuncId>| callee.map_or(0, |func| field.entry(func, 0));
        distances.relax(program, &mut field, 0, |_, _| false, |field, callee| (back(field, callee), FAR));
        distances.to_return = field;
        distances
    }

    /// Lowers distances until they agree with each other. `returned` is that of a return, `here` says which blocks are
    /// looked for, `call` what a call takes to return and what it takes to find something.
    fn relax(
        &self,
        program: &Program,
        field: &mut Field,
        returned: u32,
        here: impl Fn(FuncId, usize) -> bool,
        call: impl Fn(&Field, Option<FuncId>) -> (u32, u32),
    ) {
        let mut again = true;
        while again {
            again = false;
            for (i, function) in program.functions.iter().enumerate() {
                // Within a function first: most ways do not leave it.
                let mut inside = true;
                while inside {
                    inside = false;
                    for (number, block) in function.blocks.iter().enumerate().rev() {
                        let shape = &self.shapes[i][number];
                        let next = shape.next.iter().map(|at| field.0[i][*at as usize]).min().unwrap_or(FAR);
                        let mut after = if shape.returns { returned } else { next };
                        let mut calls = shape.calls.iter().rev().peekable();
                        for at in (block.start..block.end).rev() {
                            if let Some((_, callee)) = calls.next_if(|call| call.0 == at) {
                                let (back, found) = call(field, *callee);
                                after = after.saturating_add(back).min(found);
                            }
                            after = after.saturating_add(1);
                            if at == block.start && here(FuncId(i as u32), number) {
                                after = 0;
                            }
                            inside |= after < field.0[i][at as usize];
                            field.0[i][at as usize] = after;
                        }
                    }
                    again |= inside;
                }
            }
        }
    }

    /// A turn has passed. Looks for new code again if it is time.
    pub fn refresh(&mut self, view: &View<'_>) {
        self.age += 1;
        let found = view.coverage.found();
        let due = self.known.is_none() || self.age > self.instructions / SHARE;
        if self.known == Some(found) || !due {
            return;
        }
        (self.known, self.age) = (Some(found), 0);
        let mut field = Field::new(view.program);
        let here = |func: FuncId, block: usize| view.coverage.is_new(func, block);
        self.relax(view.program, &mut field, FAR, here, |field, callee| match callee {
            Some(func) => (self.to_return.entry(func, 0), field.entry(func, FAR)),
            None => (0, self.pointed.iter().map(|func| field.entry(*func, FAR)).min().unwrap_or(FAR)),
        });
        self.to_new = field;
    }

    /// From where the state stands, through returns too.
    pub fn of(&self, program: &Program, state: &State) -> u32 {
        let (mut best, mut above) = (FAR, 0u32);
        for (i, frame) in state.frame.upwards().take(FRAMES).enumerate() {
            let func = frame.func.index();
            let at = match state.edge {
                Some(edge) if i == 0 => {
                    let function = &program.functions[func];
                    function.blocks[function.edges[edge as usize].to.index()].start
                }
                // A caller goes on behind its call, which is not the last instruction of a block.
                Some(_) | None => frame.pc + u32::from(i > 0),
            } as usize;
            best = best.min(self.to_new.0[func][at].saturating_add(above));
            above = above.saturating_add(self.to_return.0[func][at]);
            if above >= best {
                break;
            }
        }
        best
    }
}
