//! Open states by number, for strategies that pick any of them. A number is fixed while its state is open.
use crate::exec::state::State;

#[derive(Default)]
pub struct StateTable {
    states: Vec<Option<Box<State>>>,
    free: Vec<u32>,
    len: usize,
    /// Number of the state that was taken to run and has not come back yet.
    running: Option<u32>,
}

impl StateTable {
    /// Number of open states.
    pub fn len(&self) -> usize {
        self.len
    }

    /// One more than the largest number.
    pub fn capacity(&self) -> u32 {
        self.states.len() as u32
    }

    pub fn get(&self, number: u32) -> Option<&State> {
        self.states[number as usize].as_deref()
    }

    pub fn add(&mut self, state: Box<State>) -> u32 {
        self.len += 1;
        match self.free.pop() {
            Some(number) => {
                self.states[number as usize] = Some(state);
                number
            }
            None => {
                self.states.push(Some(state));
                (self.states.len() - 1) as u32
            }
        }
    }

    /// Takes a state to run it.
    pub fn take(&mut self, number: u32) -> Box<State> {
        self.running = Some(number);
        self.len -= 1;
        self.states[number as usize].take().expect("an open state")
    }

    /// Number of the state that was taken, if it is not handled yet.
    pub fn take_running(&mut self) -> Option<u32> {
        self.running.take()
    }

    /// Puts back the state that ran.
    pub fn put_back(&mut self, number: u32, state: Box<State>) {
        self.len += 1;
        self.states[number as usize] = Some(state);
    }

    /// Frees the number of a state that has ended.
    pub fn free_number(&mut self, number: u32) {
        self.free.push(number);
    }

    pub fn drain(&mut self) -> Vec<Box<State>> {
        std::mem::take(self).states.into_iter().flatten().collect()
    }

    pub fn each_mut(&mut self, visit: &mut dyn FnMut(u32, &mut State)) {
        for (number, state) in (0..).zip(&mut self.states) {
            state.iter_mut().for_each(|state| visit(number, state));
        }
    }

    pub fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.states.iter().flatten().for_each(|state| visit(state));
    }
}
