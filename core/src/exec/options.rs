//! Options of a run. `Options::check` validates them before anything starts.
use std::sync::Arc;
use std::time::Duration;

/// Which paths get a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tests {
    /// Every completed path, and the first path into each bug.
    All,
    /// Paths that reach code no earlier test reaches, and the first path into each bug.
    Coverage,
    /// The first path into each bug.
    Bugs,
}

/// A check that is off by default.
pub struct CheckRow {
    pub name: &'static str,
    /// Reported bugs, in one line.
    pub about: &'static str,
    switch: fn(&mut Checks) -> &mut bool,
}

pub const CHECKS: &[CheckRow] = &[
    CheckRow {
        name: "overflow",
        about: "signed addition, subtraction, multiplication and negation that overflow",
        switch: |checks| &mut checks.overflow,
    },
    CheckRow {
        name: "shift",
        about: "shifts by the width of the operand or more",
        switch: |checks| &mut checks.shift,
    },
    CheckRow {
        name: "leak",
        about: "heap objects that nothing points to when the program ends",
        switch: |checks| &mut checks.leak,
    },
];

/// Enabled checks of `CHECKS`. They apply to the user's own code.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Checks {
    pub overflow: bool,
    pub shift: bool,
    pub leak: bool,
}

impl Checks {
    /// Enables checks by name. The error lists the known ones.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Checks, String> {
        let mut checks = Checks::default();
        for name in names {
            let row = CHECKS.iter().find(|row| row.name == name).ok_or_else(|| {
                let known: Vec<&str> = CHECKS.iter().map(|row| row.name).collect();
                format!("expected checks ({}), found `{name}`", known.join(", "))
            })?;
            *(row.switch)(&mut checks) = true;
        }
        Ok(checks)
    }
}

/// Source of the program's time and random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ambient {
    /// Equal on every path and in every run.
    Fixed,
    /// Inputs of the path.
    Symbolic,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub search: String,
    /// Seed of the random choices of search strategies.
    pub seed: u64,
    pub max_time: Option<Duration>,
    /// Limit of one query.
    pub max_solver_time: Option<Duration>,
    pub max_instructions: Option<u64>,
    /// Bytes of the whole process.
    pub max_memory: Option<u64>,
    /// Returns free memory of the allocator to the system, if the allocator is not the C library's.
    pub release_memory: fn(),
    pub max_tests: Option<u64>,
    pub max_depth: Option<u32>,
    /// Does not query the side of a branch that the path model takes.
    pub path_model: bool,
    /// Largest number of objects that one symbolic access may reach.
    pub max_objects: u32,
    /// Largest number of values that one symbolic size or length may take.
    pub max_values: u32,
    /// Largest size of an object.
    pub max_object_bytes: u64,
    /// Size of the stack.
    pub max_stack: u64,
    pub tests: Tests,
    /// Writes a test for every path into a bug.
    pub all_bugs: bool,
    pub checks: Checks,
    pub ambient: Ambient,
    /// Functions without a definition return any value.
    pub havoc: bool,
    /// `argv`, the program's name first.
    pub arguments: Vec<String>,
    /// Strings `NAME=value`.
    pub environment: Vec<String>,
    /// Contents of the kernel model's standard input.
    pub stdin: Arc<[u8]>,
    /// Tests contain the standard output.
    pub keep_stdout: bool,
    /// May files of the host be changed?
    pub write_host: bool,
    /// Settings of the kernel model, by name.
    pub settings: Vec<(String, i64)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            search: "mix".to_string(),
            seed: 0,
            max_time: None,
            max_solver_time: None,
            max_instructions: None,
            max_memory: None,
            release_memory: || (),
            max_tests: None,
            max_depth: None,
            path_model: true,
            max_objects: 64,
            max_values: 64,
            max_object_bytes: 1 << 29,
            max_stack: 8 << 20,
            tests: Tests::All,
            all_bugs: false,
            checks: Checks::default(),
            ambient: Ambient::Fixed,
            havoc: false,
            arguments: vec!["program".to_string()],
            environment: Vec::new(),
            stdin: Arc::default(),
            keep_stdout: false,
            write_host: false,
            settings: Vec::new(),
        }
    }
}

impl Options {
    pub fn check(&self) -> Result<(), String> {
        if self.arguments.iter().chain(&self.environment).any(|a| a.contains('\0')) {
            return Err("expected program arguments and environment without zero bytes".to_string());
        }
        Ok(())
    }
}
