//! Distinct bugs of a run, by class and place.
use super::fork_tree::Trail;
use super::input_value::InputValue;
use crate::exec::outcome::{Class, Place};

/// A distinct bug, by class and place.
#[derive(Clone, Debug)]
pub struct Bug {
    pub class: Class,
    /// Without the function.
    pub place: Place,
    pub message: String,
    pub test: Option<u64>,
    /// Inputs of the path that it is reported with: the first one, or that of the least decision string (`pick_least`).
    pub inputs: Vec<(String, InputValue)>,
    /// Decisions of that path.
    pub trail: Trail,
    /// Variable that an access was to stay in, if it is known.
    pub variable: Option<Variable>,
    /// Number of paths that ended in it.
    pub paths: u64,
    /// Its decision string, in bytes whose order is that of strings (`decide::strings::sortable`).
    pub string: Vec<u8>,
}

/// A variable of the program, for its name in debug information.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Variable {
    Global {
        name: String,
    },
    /// The variable of an `alloca`, by its number in the function.
    Local {
        function: String,
        number: u64,
    },
    /// The heap object that an input was made of, by the input's name.
    Input {
        name: String,
    },
}

#[derive(Default)]
pub struct Bugs {
    all: Vec<Bug>,
    picks_least: bool,
}

impl Bugs {
    pub fn all(&self) -> &[Bug] {
        &self.all
    }

    /// Reports each bug with its path of the least decision string from now on, so that the result of workers does not depend
    /// on the order in which they explore paths.
    pub fn pick_least(&mut self) {
        self.picks_least = true;
    }

    /// Has an earlier path ended in this bug?
    pub fn is_known(&self, class: Class, place: &Place) -> bool {
        let same =
            |bug: &Bug| bug.class == class && bug.place.file == place.file && bug.place.line == place.line;
        self.all.iter().any(same)
    }

    fn find(&mut self, class: Class, place: &Place) -> Option<&mut Bug> {
        let place = Place { function: String::new(), ..place.clone() };
        self.all.iter_mut().find(|bug| bug.class == class && bug.place == place)
    }

    /// Number of paths into a bug; 0 if it is not known.
    pub fn paths(&self, class: Class, place: &Place) -> u64 {
        let same =
            |bug: &&Bug| bug.class == class && bug.place.file == place.file && bug.place.line == place.line;
        self.all.iter().find(same).map_or(0, |bug| bug.paths)
    }

    /// Counts a path into a bug, by its decision string as sortable bytes. Returns true if the bug is now reported with this
    /// path.
    pub fn add(
        &mut self,
        class: Class,
        place: &Place,
        message: &str,
        string: impl FnOnce() -> Vec<u8>,
    ) -> bool {
        let picks_least = self.picks_least;
        if let Some(bug) = self.find(class, place) {
            bug.paths += 1;
            // Only workers need the string of each path: to make it takes as long as the path has decisions.
            let lesser = picks_least.then(string).filter(|string| *string < bug.string);
            let is_lesser = lesser.is_some();
            if let Some(string) = lesser {
                (bug.message, bug.string) = (message.to_string(), string);
            }
            return is_lesser;
        }
        self.all.push(Bug {
            class,
            place: Place { function: String::new(), ..place.clone() },
            message: message.to_string(),
            test: None,
            inputs: Vec::new(),
            trail: Trail::default(),
            variable: None,
            paths: 1,
            string: string(),
        });
        true
    }

    /// Sets inputs, decisions and variable of the path that a bug is now reported with.
    pub fn describe(
        &mut self,
        class: Class,
        place: &Place,
        inputs: Vec<(String, InputValue)>,
        trail: Trail,
        variable: Option<Variable>,
    ) {
        let bug = self.find(class, place).expect("a bug that was added");
        (bug.inputs, bug.trail, bug.variable) = (inputs, trail, variable);
    }

    /// Sorts bugs by their decision strings: their order does not depend on who found them.
    pub fn sort(&mut self) {
        self.all.sort_by(|a, b| a.string.cmp(&b.string));
    }

    /// Gives tests other numbers.
    pub fn renumber(&mut self, number: impl Fn(u64) -> Option<u64>) {
        self.all.iter_mut().for_each(|bug| bug.test = bug.test.and_then(&number));
    }

    /// Adds a bug of another run of the program. The description is that of the least decision string, or the one whose test
    /// is among the first `numbered`: it is written.
    pub fn merge(&mut self, other: Bug, numbered: u64) {
        let Some(known) =
            self.all.iter_mut().find(|bug| bug.class == other.class && bug.place == other.place)
        else {
            return self.all.push(other);
        };
        let paths = known.paths + other.paths;
        let is_written = known.test.is_some_and(|test| test <= numbered);
        if other.string < known.string && !is_written {
            *known = Bug { test: other.test.or(known.test), ..other };
        }
        known.paths = paths;
    }

    /// Sets the test of a bug, if it has none yet or is reported with the path of this one.
    pub fn set_test(&mut self, class: Class, place: &Place, test: u64, is_reported: bool) {
        if let Some(bug) = self.find(class, place)
            && (is_reported || bug.test.is_none())
        {
            bug.test = Some(test);
        }
    }
}
