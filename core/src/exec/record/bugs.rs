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
    /// Inputs of the first path into it.
    pub inputs: Vec<(String, InputValue)>,
    /// Decisions of that path.
    pub trail: Trail,
    /// Variable that an access was to stay in, if it is known.
    pub variable: Option<Variable>,
    /// Number of paths that ended in it.
    pub paths: u64,
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
}

#[derive(Default)]
pub struct Bugs(Vec<Bug>);

impl Bugs {
    pub fn all(&self) -> &[Bug] {
        &self.0
    }

    /// Has an earlier path ended in this bug?
    pub fn is_known(&self, class: Class, place: &Place) -> bool {
        let same =
            |bug: &Bug| bug.class == class && bug.place.file == place.file && bug.place.line == place.line;
        self.0.iter().any(same)
    }

    fn find(&mut self, class: Class, place: &Place) -> Option<&mut Bug> {
        let place = Place { function: String::new(), ..place.clone() };
        self.0.iter_mut().find(|bug| bug.class == class && bug.place == place)
    }

    /// Number of paths into a bug; 0 if it is not known.
    pub fn paths(&self, class: Class, place: &Place) -> u64 {
        let same =
            |bug: &&Bug| bug.class == class && bug.place.file == place.file && bug.place.line == place.line;
        self.0.iter().find(same).map_or(0, |bug| bug.paths)
    }

    /// Counts a path into a bug. Returns true for the first one.
    pub fn add(&mut self, class: Class, place: &Place, message: &str) -> bool {
        if let Some(bug) = self.find(class, place) {
            bug.paths += 1;
            return false;
        }
        self.0.push(Bug {
            class,
            place: Place { function: String::new(), ..place.clone() },
            message: message.to_string(),
            test: None,
            inputs: Vec::new(),
            trail: Trail::default(),
            variable: None,
            paths: 1,
        });
        true
    }

    /// Sets inputs, decisions and variable of the bug added last.
    pub fn describe_last(
        &mut self,
        inputs: Vec<(String, InputValue)>,
        trail: Trail,
        variable: Option<Variable>,
    ) {
        let bug = self.0.last_mut().expect("a bug was added");
        (bug.inputs, bug.trail, bug.variable) = (inputs, trail, variable);
    }

    /// Sets the test of a bug, if it has none yet.
    pub fn set_test(&mut self, class: Class, place: &Place, test: u64) {
        if let Some(bug) = self.find(class, place) {
            bug.test.get_or_insert(test);
        }
    }
}
