//! Memory at the end of a path whose inputs are given: the values of variables at a bug.
//!
//! A run with given inputs executes one path, without queries: each input is a constant. At its first bug, the local
//! variables of the innermost frames of the user, the user's global variables and heap objects are copied.
use super::Decider;
use crate::exec::outcome::{Class, Outcome, Place};
use crate::exec::state::State;
use crate::exec::state::contents::{Contents, Grain};
use crate::exec::state::object::{Kind, Object, Origin};
use crate::expr::Expr;
use crate::program::{FuncId, Inst, Program};

/// Innermost frames whose variables are copied.
const MAX_FRAMES: usize = 8;
/// Objects of one snapshot.
const MAX_OBJECTS: usize = 4096;
/// Bytes of one object.
const MAX_BYTES: u64 = 256;

/// The inputs of a run that executes one path.
#[derive(Default)]
pub struct Given {
    /// Values by name, as in a test; the n-th of a name is for the n-th input of that name.
    objects: Vec<(String, Vec<u8>)>,
    /// Names of the inputs made so far, and the address of the object that has their bytes.
    made: Vec<(String, Option<u64>)>,
    snapshot: Option<Snapshot>,
}

/// Memory at a bug.
#[derive(Default)]
pub struct Snapshot {
    pub bug: Option<(Class, Place, String)>,
    /// Functions of the user's frames, innermost first, and their lines.
    pub frames: Vec<(String, u32)>,
    pub objects: Vec<Copied>,
}

/// An object at a bug.
pub struct Copied {
    pub address: u64,
    pub size: u64,
    pub owner: Owner,
    /// Its first bytes; `None` is not known: it was never written.
    pub bytes: Vec<Option<u8>>,
}

pub enum Owner {
    /// Number of the frame, and of the variable in its function.
    Local(usize, u64),
    Global(String),
    /// Name of the input that it was made.
    Input(String),
    Heap,
}

/// The number of a local variable of a function, which its debug information has too.
pub(super) fn number_of_local(program: &Program, func: FuncId, pc: u32) -> Option<u64> {
    let insts = &program.functions[func.index()].insts;
    let is_variable = |inst: &&Inst| matches!(inst, Inst::Alloca { .. });
    is_variable(&&insts[pc as usize]).then(|| insts[..pc as usize].iter().filter(is_variable).count() as u64)
}

impl Decider {
    /// Gives the inputs of the only path. To be called before the first state runs.
    pub fn give(&mut self, objects: Vec<(String, Vec<u8>)>) {
        self.given = Some(Box::new(Given { objects, ..Given::default() }));
    }

    /// Are inputs given, and constants?
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// Memory at the first bug of a run with given inputs.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.given.as_ref()?.snapshot.as_ref()
    }

    /// Bytes of an input that is made now, if inputs are given: missing ones are zero.
    pub fn given_bytes(&mut self, name: &str, size: u64, address: Option<u64>) -> Option<Vec<u8>> {
        let given = self.given.as_mut()?;
        let before = given.made.iter().filter(|(known, _)| known == name).count();
        given.made.push((name.to_string(), address));
        let object = given.objects.iter().filter(|(known, _)| known == name).nth(before);
        let mut bytes = object.map_or_else(Vec::new, |(_, bytes)| bytes.clone());
        bytes.resize(usize::try_from(size).expect("an object in memory"), 0);
        Some(bytes)
    }

    /// The given bytes of an input as a constant array.
    pub fn given_array(&mut self, name: &str, size: u64) -> Option<Expr> {
        let bytes = self.given_bytes(name, size, None)?;
        Some(Contents::of_constants(&mut self.solver.graph, Grain::BYTE, &bytes).array)
    }

    /// Copies memory at the first bug, if inputs are given.
    pub(super) fn take_snapshot(&mut self, state: &State, outcome: &Outcome) {
        let (Some(given), Outcome::Bug { class, message }) = (&self.given, outcome) else { return };
        if given.snapshot.is_some() {
            return;
        }
        let mut found =
            Snapshot { bug: Some((*class, self.place(state), message.clone())), ..Snapshot::default() };
        let users = state.frame.frames().filter(|frame| !self.program.functions[frame.func.index()].library);
        for (number, frame) in users.take(MAX_FRAMES).enumerate() {
            let place = crate::exec::record::place_at(&self.program, frame.func, frame.pc);
            found.frames.push((place.function, place.line));
            for object in frame.locals.iter().filter_map(|id| state.memory.get(*id)) {
                let Some(Origin::Instruction(func, pc)) = object.origin else { continue };
                if let Some(local) = number_of_local(&self.program, func, pc) {
                    found.objects.push(copied(object, Owner::Local(number, local)));
                }
            }
        }
        for (_, object) in state.memory.objects() {
            if found.objects.len() >= MAX_OBJECTS {
                break;
            }
            let owner = match (object.origin, object.kind) {
                (Some(Origin::Global(number)), _) => {
                    let global = &self.program.globals[number as usize];
                    let name = self.program.string(global.name).to_string();
                    (!global.library).then_some(Owner::Global(name))
                }
                (_, Kind::Heap) => {
                    let name = given.made.iter().find(|(_, address)| *address == Some(object.base));
                    Some(name.map_or(Owner::Heap, |(name, _)| Owner::Input(name.clone())))
                }
                _ => None,
            };
            found.objects.extend(owner.map(|owner| copied(object, owner)));
        }
        self.given.as_mut().expect("inputs are given").snapshot = Some(found);
    }
}

fn copied(object: &Object, owner: Owner) -> Copied {
    let known = if object.is_out_of_scope || object.symbolic_size.is_some() { 0 } else { object.size };
    let byte = |at: u64| object.read_concrete(at, 1).map(|byte| byte as u8);
    Copied {
        address: object.base,
        size: object.size,
        owner,
        bytes: (0..known.min(MAX_BYTES)).map(byte).collect(),
    }
}
