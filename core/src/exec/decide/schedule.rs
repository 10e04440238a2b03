//! Choices between threads, and what a report says of them.
use super::certificate_tree::{Kind, Subject};
use super::queries::forked_row;
use super::replay::Next;
use super::strings::Choice;
use super::{Decider, MAX_STACK_PLACES};
use crate::exec::outcome::Outcome;
use crate::exec::record::place_at;
use crate::exec::record::testcase::Section;
use crate::exec::state::State;
use crate::exec::state::frame::Frame;
use crate::exec::state::threads::{Record, Status, ThreadId, Threads};

/// Largest number of turns that a report lists.
const MAX_TURNS: usize = 200;

impl Decider {
    /// Chooses between threads. `state` is to take the choice of the returned number, and the forked states, in order, those
    /// after it. The caller lets each take its choice and passes the forked states to `add_forked`.
    pub fn fork_on_schedule(&mut self, state: &mut State, choices: &[ThreadId]) -> (usize, Vec<Box<State>>) {
        let point = self.next_point();
        match self.next_decision(state, point) {
            Next::Live => {}
            Next::OneSided => return (0, Vec::new()),
            Next::Decided(choice) => {
                let is_taken = |thread: &ThreadId| Choice::Thread(*thread as u32) == choice;
                let Some(taken) = choices.iter().position(is_taken) else {
                    self.diverge(state, &format!("threads without {choice:?}"))
                };
                self.decided(state, point, choice);
                return (taken, Vec::new());
            }
        }
        let more = choices.len().saturating_sub(1);
        let is_too_deep = self.options.max_depth.is_some_and(|limit| state.depth >= limit);
        if more > 0 && (is_too_deep || !state.may_fork) {
            self.incomplete(
                state,
                "other schedules are not explored: no more forks are allowed on this path",
            );
            return (0, Vec::new());
        }
        let mut forked: Vec<Box<State>> = (0..more).map(|_| self.fork(state)).collect();
        if more > 0 {
            let rows = choices[1..].iter().zip(&forked);
            let rows = rows.map(|(&thread, child)| forked_row(thread as u64, child)).collect();
            let subject = Subject::new(Kind::Schedule, "");
            self.record_point(state, subject, None, choices[0] as u64, |_, _| rows);
            for (child, &thread) in forked.iter_mut().zip(&choices[1..]) {
                self.decided(child, point, Choice::Thread(thread as u32));
                // It goes on in another thread, so the instruction counts.
                child.executed += 1;
            }
            self.decided(state, point, Choice::Thread(choices[0] as u32));
        }
        (0, forked)
    }

    /// A copy of the first state, to explore everything once more.
    pub fn fork_first(&mut self, first: &mut State) -> Box<State> {
        self.begin_turn(first.executed, 1);
        self.set_left(0);
        self.fork(first)
    }

    pub fn add_forked(&mut self, state: Box<State>) {
        self.forked.push(state);
    }

    /// Reports a bug at which the path does not end.
    pub fn report(&mut self, state: &mut State, outcome: Outcome) {
        if self.is_replaying() {
            return; // reported when the path was executed first
        }
        let copy = self.fork(state);
        self.end_path(copy, outcome);
    }

    /// The stacks of the other threads, and the schedule.
    pub(super) fn thread_sections(&self, state: &State) -> Vec<Section> {
        let Some(threads) = &state.threads else { return Vec::new() };
        let mut sections: Vec<Section> =
            threads.racing.iter().map(|record| self.access_section(record)).collect();
        let current = threads.current;
        let others = threads.list.iter().enumerate().filter(|(i, thread)| *i != current && thread.is_live());
        for (i, thread) in others {
            let Some(frame) = &thread.frame else { continue };
            let doing = match thread.status {
                Status::Waiting { .. } => "waits",
                Status::Ready | Status::Woken | Status::Exited | Status::Excluded => "can be at",
            };
            let stack = self.stack_lines(frame);
            sections.push(Section { title: format!("stack of thread {i}, which {doing}"), lines: stack });
        }
        sections.push(Section {
            title: format!("schedule (this is thread {current})"),
            lines: self.turns(threads),
        });
        sections
    }

    fn access_section(&self, record: &Record) -> Section {
        let verb = if record.is_write { "write" } else { "read" };
        let mut lines = vec![self.line(0, record.func, record.pc)];
        let callers = record.caller.iter().flat_map(|caller| caller.frames());
        lines.extend(callers.take(MAX_STACK_PLACES).zip(1..).map(|(f, i)| self.line(i, f.func, f.pc)));
        Section { title: format!("stack of the earlier {verb}, by thread {}", record.thread), lines }
    }

    fn line(&self, number: usize, func: crate::program::FuncId, pc: u32) -> String {
        let place = place_at(&self.program, func, pc);
        format!("#{number} {} at {place}", place.function)
    }

    fn stack_lines(&self, top: &Frame) -> Vec<String> {
        let frames = top.frames().take(MAX_STACK_PLACES).enumerate();
        frames.map(|(i, frame)| self.line(i, frame.func, frame.pc)).collect()
    }

    fn turns(&self, threads: &Threads) -> Vec<String> {
        let mut lines: Vec<String> = threads
            .turns
            .iter()
            .take(MAX_TURNS)
            .map(|turn| {
                let place = place_at(&self.program, turn.func, turn.pc);
                format!("thread {} from {} at {place}", turn.thread, place.function)
            })
            .collect();
        if threads.turns.len() > MAX_TURNS {
            lines.push(format!("({} earlier turns)", threads.turns.len() - MAX_TURNS));
        }
        lines.reverse();
        lines
    }
}
