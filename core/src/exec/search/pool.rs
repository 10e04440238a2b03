//! The open states of a strategy that picks any of them, by numbers that stay while a state is open.
use crate::exec::state::State;

#[derive(Default)]
pub struct Pool {
    states: Vec<Option<Box<State>>>,
    free: Vec<u32>,
    len: usize,
    /// The number of the state that was taken to run, until it is known what became of it.
    running: Option<u32>,
}

impl Pool {
    /// States that wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// One more than the largest number.
    pub fn numbers(&self) -> u32 {
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

    /// Takes the state to run.
    pub fn run(&mut self, number: u32) -> Box<State> {
        self.running = Some(number);
        self.len -= 1;
        self.states[number as usize].take().expect("a state that waits")
    }

    /// The number of the state that ran, if it has not been seen to.
    pub fn ran(&mut self) -> Option<u32> {
        self.running.take()
    }

    /// The state that ran waits again.
    pub fn back(&mut self, number: u32, state: Box<State>) {
        self.len += 1;
        self.states[number as usize] = Some(state);
    }

    /// The state that ran has ended.
    pub fn end(&mut self, number: u32) {
        self.free.push(number);
    }

    pub fn drain(&mut self) -> Vec<Box<State>> {
        std::mem::take(self).states.into_iter().flatten().collect()
    }

    pub fn each(&self, visit: &mut dyn FnMut(&State)) {
        self.states.iter().flatten().for_each(|state| visit(state));
    }
}
