//! Leaks: heap objects that nothing points to when the program ends, as LeakSanitizer defines it.
//!
//! Live are globals, the local variables of functions that have not returned, and every heap object that an
//! aligned word of a live object points into. Symbolic words have the values of the path model: the path's
//! test then leaks as reported.
use super::Machine;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::record::place_at;
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::frame::Frame;
use crate::exec::state::object::{Kind, Origin};
use rustc_hash::FxHashSet;

impl Machine {
    /// Outcome of a path that exits: a leak if leaks are checked and there is one. The state's frame then is
    /// where the object was allocated.
    pub(super) fn exit_or_leak(&mut self, state: &mut State, status: u64) -> Outcome {
        if !self.options.checks.leak {
            return Outcome::Exit { status };
        }
        let lost = self.unreachable_objects(state);
        let origin = |id: ObjectId| match state.memory.get(id)?.origin? {
            Origin::Instruction(func, pc) => Some((func, pc)),
            Origin::Global(_) => None,
        };
        let mut sites: Vec<_> = lost.iter().filter_map(|&id| origin(id)).collect();
        sites.dedup();
        let bugs = &self.decider.recorder.bugs;
        // Several leaks are several bugs; a path reports one that is not known yet.
        let is_new = |&(func, pc): &(_, u32)| !bugs.is_known(Class::Leak, &place_at(&self.program, func, pc));
        let Some(&site) = sites.iter().find(|site| is_new(site)).or(sites.first()) else {
            return Outcome::Exit { status };
        };
        let here = lost.iter().filter(|&&id| origin(id) == Some(site));
        let (mut count, mut bytes) = (0, 0);
        for &id in here {
            count += 1;
            bytes += state.memory.get(id).expect("a live object").size;
        }
        let objects = if count == 1 { "a heap object".to_string() } else { format!("{count} heap objects") };
        let noun = if bytes == 1 { "byte" } else { "bytes" };
        let mut frame = Frame::new(site.0, 0);
        frame.pc = site.1;
        state.frame = frame;
        Outcome::bug(
            Class::Leak,
            format!("{objects} ({bytes} {noun}) allocated here cannot be reached at exit"),
        )
    }

    /// Heap objects that no live object points to, in order of allocation.
    fn unreachable_objects(&mut self, state: &State) -> Vec<ObjectId> {
        self.decider.settle(state);
        let mut reached: FxHashSet<ObjectId> = FxHashSet::default();
        let mut open = Vec::new();
        for (id, object) in state.memory.objects() {
            if object.kind != Kind::Heap {
                open.push(id);
            }
        }
        let frames = state.stacks().flat_map(|top| top.frames());
        let values = frames.flat_map(|frame| frame.registers.iter());
        for &value in values.collect::<Vec<_>>() {
            let word = self.decider.evaluate_word(state, value);
            self.reach(state, word, &mut reached, &mut open);
        }
        while let Some(id) = open.pop() {
            let object = state.memory.get(id).expect("a live object").clone();
            for at in (0..object.size / 8).map(|i| 8 * i) {
                let word = match object.read_concrete(at, 8) {
                    Some(word) => word,
                    None => {
                        let e = object.read(self.graph(), at, 8);
                        self.decider.evaluate(state, e).low()
                    }
                };
                self.reach(state, word, &mut reached, &mut open);
            }
        }
        let lost = |id: &ObjectId| !reached.contains(id);
        state.memory.objects().filter(|(_, o)| o.kind == Kind::Heap).map(|(id, _)| id).filter(lost).collect()
    }

    fn reach(&self, state: &State, word: u64, reached: &mut FxHashSet<ObjectId>, open: &mut Vec<ObjectId>) {
        let Some(id) = ObjectId::of_address(word) else { return };
        let Some(object) = state.memory.get(id).filter(|object| object.kind == Kind::Heap) else { return };
        let offset = word.wrapping_sub(object.base);
        // A pointer one past the end refers to the object in C.
        if offset <= object.size && reached.insert(id) {
            open.push(id);
        }
    }
}
