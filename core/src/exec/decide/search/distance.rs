//! Least number of instructions from a place in the program to code that was never entered, or to the targets of the search
//! (`--target`) as long as one of them was not reached.
//!
//! Distances to a function's return are computed once, those to new code again when enough was covered
//! meanwhile. Distances only grow as code is covered, so older ones are lower bounds. Both are relaxed
//! backwards over the blocks until nothing changes; a call costs its callee's distance to return. A call
//! through a pointer may enter any user function whose address is taken.
//!
//! Some code cannot be reached: the branch to it is infeasible on all paths, or on all that there are (an error of a call
//! that never fails). Every state passes near it, and would be chosen for that. So a goal that states were chosen for
//! without reaching it moves farther away each time.
use super::View;
use crate::exec::state::State;
use crate::program::{Address, Callee, FuncId, Function, Inst, Operand, Program};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Distance if there is no path.
pub const UNREACHABLE: u32 = u32::MAX;
/// Largest number of frames considered.
const MAX_FRAMES: usize = 64;
/// Cost of the run, per instruction of the program, after which distances to new code are recomputed: some percent of
/// the time goes into that.
const REFRESH_COST: u64 = 2_000;

/// Number of instructions by which a goal moves away each time that it was not reached.
const MISS_DISTANCE: u32 = 8;
/// Goal of an instruction from which none can be reached.
const NO_GOAL: u32 = u32::MAX;

/// Distance to the nearest goal, and its number: blocks are numbered over all functions.
#[derive(Clone, Copy)]
struct Reach {
    distance: u32,
    goal: u32,
}

const NOWHERE: Reach = Reach { distance: UNREACHABLE, goal: NO_GOAL };

impl Reach {
    fn at(distance: u32) -> Reach {
        Reach { distance, goal: NO_GOAL }
    }

    fn plus(self, more: u32) -> Reach {
        Reach { distance: self.distance.saturating_add(more), goal: self.goal }
    }

    fn or_nearer(self, other: Reach) -> Reach {
        if other.distance < self.distance { other } else { self }
    }
}

/// Successors and calls of a block. A call has its place and callee, `None` through a pointer.
struct BlockShape {
    next: SmallVec<[u32; 2]>,
    calls: Vec<(u32, Option<FuncId>)>,
    returns: bool,
}

impl BlockShape {
    fn new(function: &Function, block: crate::program::Block) -> BlockShape {
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
        BlockShape {
            next: last.edges().iter().map(|edge| start(function.edges[edge.index()].to)).collect(),
            calls: insts.filter_map(call).collect(),
            returns: matches!(last, Inst::Ret { .. }),
        }
    }
}

/// Distances by function and instruction.
struct DistanceMap(Vec<Box<[Reach]>>);

impl DistanceMap {
    fn new(program: &Program) -> DistanceMap {
        DistanceMap(program.functions.iter().map(|f| vec![NOWHERE; f.insts.len()].into()).collect())
    }

    /// Distance from the first instruction of a function; `otherwise` for one without a body.
    fn entry(&self, func: FuncId, otherwise: u32) -> Reach {
        self.0[func.index()].first().copied().unwrap_or(Reach::at(otherwise))
    }
}

pub struct Distances {
    shapes: Vec<Vec<BlockShape>>,
    to_return: DistanceMap,
    to_new: DistanceMap,
    /// User functions whose address is taken.
    address_taken: Vec<FuncId>,
    instructions: u64,
    /// Number of marks set when `to_new` was computed, and the cost of the run then.
    known: Option<u64>,
    computed_at: u64,
    /// Number of targets that were not reached when `to_new` was computed.
    open_targets: usize,
    /// Number of the first block of each function.
    first_blocks: Vec<u32>,
    /// For each block, the number of times that it was a goal and was not reached; and those of all blocks, now and when
    /// `to_new` was computed.
    misses: Vec<u32>,
    missed: u64,
    known_missed: u64,
}

/// User functions whose address is taken.
fn address_taken(program: &Program) -> Vec<FuncId> {
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
        let shapes = |f: &Function| f.blocks.iter().map(|block| BlockShape::new(f, *block)).collect();
        let mut blocks = 0;
        let first_blocks = program.functions.iter().map(|f| {
            blocks += f.blocks.len();
            (blocks - f.blocks.len()) as u32
        });
        let first_blocks = first_blocks.collect();
        let mut distances = Distances {
            shapes: program.functions.iter().map(shapes).collect(),
            to_return: DistanceMap::new(program),
            to_new: DistanceMap::new(program),
            address_taken: address_taken(program),
            instructions: program.functions.iter().map(|f| f.insts.len() as u64).sum(),
            known: None,
            computed_at: 0,
            open_targets: 0,
            first_blocks,
            misses: vec![0; blocks],
            missed: 0,
            known_missed: 0,
        };
        let mut field = DistanceMap::new(program);
        // A function without a body, or called through a pointer, is assumed to return at once.
        let back = |field: &DistanceMap, callee: Option<FuncId>| {
            callee.map_or(0, |func| field.entry(func, 0).distance)
        };
        distances.relax(
            program,
            &mut field,
            Reach::at(0),
            |_, _| None,
            |field, callee| (back(field, callee), NOWHERE),
        );
        distances.to_return = field;
        distances
    }

    /// Lowers distances to a fixed point. `returned` is the distance of a return, `here` selects the goals and says how far
    /// away they are, `call` gives the distances from a call to its return and to a goal inside of it.
    fn relax(
        &self,
        program: &Program,
        field: &mut DistanceMap,
        returned: Reach,
        here: impl Fn(FuncId, usize) -> Option<Reach>,
        call: impl Fn(&DistanceMap, Option<FuncId>) -> (u32, Reach),
    ) {
        let mut again = true;
        while again {
            again = false;
            for (i, function) in program.functions.iter().enumerate() {
                // Within a function first: most shortest paths do not leave it.
                let mut inside = true;
                while inside {
                    inside = false;
                    for (number, block) in function.blocks.iter().enumerate().rev() {
                        let shape = &self.shapes[i][number];
                        let next = shape.next.iter().map(|at| field.0[i][*at as usize]);
                        let next = next.fold(NOWHERE, Reach::or_nearer);
                        let mut after = if shape.returns { returned } else { next };
                        let mut calls = shape.calls.iter().rev().peekable();
                        for at in (block.start..block.end).rev() {
                            if let Some((_, callee)) = calls.next_if(|call| call.0 == at) {
                                let (back, found) = call(field, *callee);
                                after = after.plus(back).or_nearer(found);
                            }
                            after = after.plus(1);
                            if at == block.start
                                && let Some(goal) = here(FuncId(i as u32), number)
                            {
                                after = after.or_nearer(goal);
                            }
                            inside |= after.distance < field.0[i][at as usize].distance;
                            field.0[i][at as usize] = after;
                        }
                    }
                    again |= inside;
                }
            }
        }
    }

    /// Recomputes the distances if it is time to. Returns true if they are distances to other goals than
    /// before, and may have become smaller.
    pub fn refresh(&mut self, view: &View<'_>) -> bool {
        let (found, open) = (view.coverage.found(), view.targets.open());
        let age = view.cost() - self.computed_at;
        let due = self.known.is_none() || age > self.instructions * REFRESH_COST;
        let is_other = open != self.open_targets;
        let is_same = self.known == Some(found) && self.known_missed == self.missed;
        if !is_other && (is_same || !due) {
            return false;
        }
        (self.known, self.computed_at, self.open_targets) = (Some(found), view.cost(), open);
        self.known_missed = self.missed;
        let mut field = DistanceMap::new(view.program);
        let goals: FxHashSet<(FuncId, usize)> =
            view.targets.open_goals().map(|goal| (goal.func, goal.block)).collect();
        let here = |func: FuncId, block: usize| {
            let is_goal = match open {
                0 => view.coverage.is_new(func, block),
                _ => goals.contains(&(func, block)),
            };
            let goal = self.first_blocks[func.index()] + block as u32;
            let distance = self.misses[goal as usize].saturating_mul(MISS_DISTANCE);
            is_goal.then_some(Reach { distance, goal })
        };
        self.relax(view.program, &mut field, NOWHERE, here, |field, callee| match callee {
            Some(func) => (self.to_return.entry(func, 0).distance, field.entry(func, UNREACHABLE)),
            None => {
                let all = self.address_taken.iter().map(|func| field.entry(*func, UNREACHABLE));
                (0, all.fold(NOWHERE, Reach::or_nearer))
            }
        });
        self.to_new = field;
        is_other
    }

    /// Distance from the state's next instruction, through returns too.
    pub fn of(&self, program: &Program, state: &State) -> u32 {
        self.reach(program, state).distance
    }

    /// Number of the goal that the state is nearest to.
    pub fn goal_of(&self, program: &Program, state: &State) -> Option<u32> {
        Some(self.reach(program, state).goal).filter(|goal| *goal != NO_GOAL)
    }

    /// Counts that states were chosen for this goal, and did not reach it.
    pub fn miss(&mut self, goal: u32) {
        self.misses[goal as usize] = self.misses[goal as usize].saturating_add(1);
        self.missed += 1;
    }

    fn reach(&self, program: &Program, state: &State) -> Reach {
        let (mut best, mut above) = (NOWHERE, 0u32);
        for (i, frame) in state.frame.frames().take(MAX_FRAMES).enumerate() {
            let func = frame.func.index();
            let at = match state.edge {
                Some(edge) if i == 0 => {
                    let function = &program.functions[func];
                    function.blocks[function.edges[edge as usize].to.index()].start
                }
                // A caller continues after its call, which is not the last instruction of a block.
                Some(_) | None => frame.pc + u32::from(i > 0),
            } as usize;
            best = best.or_nearer(self.to_new.0[func][at].plus(above));
            above = above.saturating_add(self.to_return.0[func][at].distance);
            if above >= best.distance {
                break;
            }
        }
        best
    }
}
