//! The first state: globals with their initial values, the arguments, the first function to call.
use super::Machine;
use super::models::STREAMS;
use crate::exec::outcome::Outcome;
use crate::exec::state::address::{self, ObjectId};
use crate::exec::state::frame::Frame;
use crate::exec::state::inputs::Inputs;
use crate::exec::state::memory::Memory;
use crate::exec::state::object::{Kind, Origin};
use crate::exec::state::value::Value;
use crate::exec::state::{Stage, State};
use crate::expr::float::Rounding;
use crate::persist::Map;
use crate::program::{Address, Linkage, PointerWidth, Program};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// Memory before the first instruction.
pub(super) struct Image {
    pub memory: Memory,
    /// Address of each global.
    pub globals: Vec<u64>,
}

fn resolve(globals: &[u64], place: Address, pointers: PointerWidth) -> u64 {
    match place {
        Address::Global { global, offset } => globals[global.index()].wrapping_add_signed(offset),
        Address::Func { func, offset } => address::of_function(func, pointers).wrapping_add_signed(offset),
        Address::Block { func, block } => address::of_label(func, block, pointers),
    }
}

/// Allocates and initialises the globals.
pub(super) fn image(program: &Program) -> Result<Image, String> {
    let mut memory = Memory::new(program.pointers);
    let mut globals = Vec::with_capacity(program.globals.len());
    let mut ids: Vec<Option<ObjectId>> = Vec::new();
    for global in &program.globals {
        let absent = global.alias.is_some() || !global.defined && global.linkage == Linkage::Weak;
        let id = match absent {
            true => None,
            false => Some(
                memory.allocate_aligned(global.size, u64::from(global.align).max(16), Kind::Global).map_err(
                    |_| {
                        format!(
                            "the global variable `{}` of {} bytes does not fit",
                            program.string(global.name),
                            global.size
                        )
                    },
                )?,
            ),
        };
        globals.push(id.map_or(0, ObjectId::base));
        ids.push(id);
    }
    for (i, (global, id)) in program.globals.iter().zip(ids).enumerate() {
        let Some(id) = id else { continue };
        let object = memory.get_mut(id).expect("just allocated");
        object.origin = Some(Origin::Global(i as u32));
        object.readonly = global.readonly;
        object.unsupported = global.unsupported.map(|message| program.string(message).into());
        let name = program.string(global.name);
        if !global.defined {
            match STREAMS.iter().find(|stream| stream.0 == name) {
                Some(stream) if object.size == u64::from(program.pointers.bytes()) => {
                    object.write_bytes(0, &stream.1.to_le_bytes()[..object.size as usize]);
                }
                Some(_) | None => {
                    object.unsupported =
                        Some(format!("use of the variable `{name}`, which has no definition").into());
                }
            }
        }
        object.write_bytes(0, &global.data);
        for reloc in &global.relocs {
            let minus = reloc.minus.map_or(0, |place| resolve(&globals, place, program.pointers));
            let word = resolve(&globals, reloc.target, program.pointers).wrapping_sub(minus);
            let (at, count) = (reloc.offset, u64::from(reloc.bytes));
            object.write_concrete(at, count, object.bytes.word(at, count).wrapping_add(word));
        }
    }
    Ok(Image { memory, globals })
}

impl Machine {
    /// Creates the first state.
    pub(super) fn first_state(&mut self, memory: Memory) -> Result<Box<State>, String> {
        let path = self.decider.empty_path();
        let mut state = Box::new(State {
            id: 0,
            fork_leaf: 0,
            decision: 0,
            string: self.decider.strings.retain(0),
            executed: 0,
            frame: Frame::new(self.main, 0),
            edge: None,
            edges_taken: 0,
            memory,
            path,
            inputs: Inputs::default(),
            stage: Stage::Starting(0),
            handlers: Arc::default(),
            exit_frame: None,
            depth: 0,
            values_tried: 0,
            facts: SmallVec::new(),
            origins: Map::new(),
            setjmp_calls: 0,
            threads: None,
            rounding: Rounding::NearestEven,
            exceptions: Value::number(0),
            is_rare: false,
            variation: 0,
            may_fork: true,
            is_doomed: false,
            preferences: Arc::default(),
            is_silent: false,
            stack_is_limit: false,
            blamed: None,
            noted_stack: None,
            repetition_is_bug: false,
            repeated: None,
            output: Arc::default(),
            errno: None,
            untested: Arc::default(),
            targets: Arc::default(),
            faulty: Cell::default(),
            seeds: Arc::default(),
            allocations: 0,
            failing: None,
            births: 0,
            arguments: (0, 0),
        });
        let too_much = |_| "the program's arguments do not fit its memory".to_string();
        // Arguments and a null pointer, then the environment and a null pointer.
        let mut pointers = Vec::new();
        let width = self.program.pointers.bytes() as usize;
        for words in [self.options.argument_texts(), self.options.environment.clone()] {
            for word in words {
                let id = state.memory.allocate(word.len() as u64 + 1, Kind::Stack).map_err(too_much)?;
                let object = state.memory.get_mut(id).expect("just allocated");
                object.write_bytes(0, word.as_bytes());
                pointers.extend(&id.base().to_le_bytes()[..width]);
            }
            pointers.extend(&[0; 8][..width]);
        }
        let id = state.memory.allocate(pointers.len() as u64, Kind::Stack).map_err(too_much)?;
        state.memory.get_mut(id).expect("just allocated").write_bytes(0, &pointers);
        state.arguments = (self.options.arguments.len() as u64 + 1, id.base());
        match self.next_stage(&mut state, None) {
            Ok(_) => Ok(state),
            Err(Outcome::Unsupported { message }) => Err(message),
            Err(other) => Err(format!("the program cannot start: {other:?}")),
        }
    }
}
