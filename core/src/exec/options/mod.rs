//! Options of a run: the table of all options (`table.rs`), their types (`kind.rs`), the arguments of the program, and
//! `Options`, the values that the executor reads.
mod arguments;
mod kind;
mod table;

pub use arguments::Argument;
pub use kind::{Kind, Value};
pub use table::{DEFAULT_LAYERS, Group, OPTIONS, OptionRow, Surface, find};

use std::sync::Arc;
use std::time::Duration;

/// Largest number of symbolic arguments: they are named arg00 to arg99.
const MAX_SYMBOLIC_ARGUMENTS: u64 = 100;
/// Time limit of one query if only `max_time` is set: this share of it, and at least this time.
const SOLVER_SHARE: u32 = 40;
const MIN_SOLVER_TIME: Duration = Duration::from_secs(1);

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

/// A check that can be turned on or off.
pub struct CheckRow {
    pub name: &'static str,
    /// Reported bugs, in one line.
    pub about: &'static str,
    /// Name that turns it off, if it is on by default.
    pub off: Option<&'static str>,
    switch: fn(&mut Checks) -> &mut bool,
}

/// Name that stands for all checks.
const ALL_CHECKS: &str = "all";

pub const CHECKS: &[CheckRow] = &[
    CheckRow {
        name: "uninitialized",
        about: "branches, addresses and output that depend on memory that was never written",
        off: Some("no-uninitialized"),
        switch: |checks| &mut checks.uninitialized,
    },
    CheckRow {
        name: "non-termination",
        about: "loops that repeat their state exactly, so that they never end",
        off: Some("no-non-termination"),
        switch: |checks| &mut checks.non_termination,
    },
    CheckRow {
        name: "race",
        about: "accesses of several threads to the same memory that nothing orders",
        off: Some("no-race"),
        switch: |checks| &mut checks.race,
    },
    CheckRow {
        name: "overflow",
        about: "signed addition, subtraction, multiplication and negation that overflow",
        off: None,
        switch: |checks| &mut checks.overflow,
    },
    CheckRow {
        name: "shift",
        about: "shifts by the width of the operand or more",
        off: None,
        switch: |checks| &mut checks.shift,
    },
    CheckRow {
        name: "float",
        about: "floating-point operations that make NaN or an infinity from finite numbers",
        off: None,
        switch: |checks| &mut checks.float,
    },
    CheckRow {
        name: "alignment",
        about: "accesses at addresses that the alignment of their type does not divide",
        off: None,
        switch: |checks| &mut checks.alignment,
    },
    CheckRow {
        name: "member",
        about: "accesses past the end of an array inside of a structure",
        off: None,
        switch: |checks| &mut checks.member,
    },
    CheckRow {
        name: "leak",
        about: "heap objects that nothing points to when the program ends",
        off: None,
        switch: |checks| &mut checks.leak,
    },
];

/// Enabled checks of `CHECKS`. They apply to the user's own code. `Checks::default()` has none.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Checks {
    pub non_termination: bool,
    pub alignment: bool,
    pub member: bool,
    pub overflow: bool,
    pub shift: bool,
    pub float: bool,
    pub uninitialized: bool,
    pub leak: bool,
    pub race: bool,
}

impl Checks {
    /// The checks that are on by default.
    pub fn usual() -> Checks {
        let mut checks = Checks::default();
        CHECKS.iter().for_each(|row| *(row.switch)(&mut checks) = row.off.is_some());
        checks
    }

    /// Names that `--check` takes: those of the checks, `all`, and those that turn one off.
    pub fn names() -> Vec<&'static str> {
        let off = CHECKS.iter().filter_map(|row| row.off);
        CHECKS.iter().map(|row| row.name).chain([ALL_CHECKS]).chain(off).collect()
    }

    /// Turns checks on and off by name, after the usual ones. The error lists the known names.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Checks, String> {
        let mut checks = Checks::usual();
        for name in names {
            let is_meant = |row: &&CheckRow| name == ALL_CHECKS || row.name == name || row.off == Some(name);
            let mut meant = CHECKS.iter().filter(is_meant).peekable();
            if meant.peek().is_none() {
                return Err(format!("expected checks ({}), found `{name}`", Checks::names().join(", ")));
            }
            meant.for_each(|row| *(row.switch)(&mut checks) = row.off != Some(name));
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

/// When symbolic files and the calls on them vary (`decide::variation`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vary {
    Off,
    /// Beside an exploration that takes long, counted apart.
    Late,
    /// On all paths.
    On,
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
    /// Number of switches before racing accesses, if they are explored.
    pub preempt: Option<u32>,
    /// Does not query the side of a branch that the path model takes.
    pub path_model: bool,
    /// Largest number of objects that one symbolic access may reach.
    pub max_objects: u32,
    /// Largest number of values that one symbolic size or length may take.
    pub max_values: u32,
    /// Size of the stack.
    pub max_stack: u64,
    pub tests: Tests,
    /// Writes a test for every path into a bug.
    pub all_bugs: bool,
    /// Makes tests a function of program and options: least inputs, numbered by decisions at the end.
    pub reproducible: bool,
    pub checks: Checks,
    /// Each of the first allocations of a path may fail.
    pub malloc_fails: bool,
    /// Memory that was never written is an input.
    pub symbolic_unwritten: bool,
    /// Conversion of a floating-point number that does not fit the integer type is a bug in user code.
    pub float_cast: bool,
    pub ambient: Ambient,
    /// Functions without a definition return any value.
    pub havoc: bool,
    /// Name of the program, `argv[0]`.
    pub name: String,
    /// Further arguments of the program.
    pub arguments: Vec<Argument>,
    /// The arguments as they were given, for tests.
    words: Vec<String>,
    /// Options of the kernel model in KLEE's spelling, for tests.
    kernel_words: Vec<String>,
    /// Does the program need the kernel model, that is, the C library?
    pub needs_kernel: bool,
    /// Functions that hooks stand for.
    pub hooked: Vec<String>,
    /// Strings `NAME=value`.
    pub environment: Vec<String>,
    /// Contents of the kernel model's standard input.
    pub stdin: Arc<[u8]>,
    /// Environment variables that are absent or symbolic: their names and sizes.
    pub sym_env: Vec<(String, u64)>,
    /// Number and size of symbolic files.
    pub sym_files: Option<[u64; 2]>,
    /// Size of symbolic standard input.
    pub sym_stdin: Option<u64>,
    /// Tests contain the standard output.
    pub sym_stdout: bool,
    /// Number of system calls that may fail on a path.
    pub max_fail: u64,
    /// May symbolic files have other kinds and sizes, and calls be short or fail?
    pub vary_files: Vary,
    /// May files of the host be changed?
    pub write_host: bool,
    /// User and group that the kernel model reports.
    pub user: u32,
    pub group: u32,
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
            preempt: None,
            path_model: true,
            max_objects: 64,
            max_values: 64,
            max_stack: 8 << 20,
            tests: Tests::All,
            all_bugs: false,
            reproducible: false,
            checks: Checks::usual(),
            malloc_fails: false,
            symbolic_unwritten: false,
            float_cast: true,
            ambient: Ambient::Fixed,
            havoc: false,
            name: "program".to_string(),
            arguments: Vec::new(),
            words: Vec::new(),
            kernel_words: Vec::new(),
            needs_kernel: false,
            hooked: Vec::new(),
            environment: Vec::new(),
            stdin: Arc::default(),
            sym_env: Vec::new(),
            sym_files: None,
            sym_stdin: None,
            sym_stdout: false,
            max_fail: 0,
            vary_files: Vary::Late,
            write_host: false,
            user: 0,
            group: 0,
        }
    }
}

impl Options {
    /// Options from typed values, which must be allowed by their rows, and the words of the command line: the
    /// program's name and its arguments.
    ///
    /// # Errors
    /// An option among the arguments is wrong, or a string has a zero byte.
    pub fn new(values: Vec<(&OptionRow, Value)>, words: &[String]) -> Result<Options, String> {
        let mut options = Options::default();
        for (row, value) in values {
            row.set(&mut options, value);
        }
        options.note_kernel_options();
        if let [name, arguments @ ..] = words {
            options.name.clone_from(name);
            options.add_arguments(arguments)?;
        }
        options.check()?;
        Ok(options)
    }

    /// Sets the limits that depend on others or on the machine, unless they are set.
    pub fn set_derived_limits(&mut self, machine_memory: u64) {
        self.max_memory.get_or_insert(machine_memory / 2);
        if let (None, Some(limit)) = (self.max_solver_time, self.max_time) {
            self.max_solver_time = Some(MIN_SOLVER_TIME.max(limit / SOLVER_SHARE));
        }
    }

    /// Setting that the kernel model asks for by name; 0 if unknown.
    pub(in crate::exec) fn setting(&self, name: &[u8]) -> u64 {
        let [files, file_size] = self.sym_files.unwrap_or_default();
        match name {
            b"uid" => self.user.into(),
            b"gid" => self.group.into(),
            b"write-host" => self.write_host.into(),
            b"sym-files" => files,
            b"sym-file-size" => file_size,
            b"sym-stdin" => self.sym_stdin.unwrap_or_default(),
            b"sym-stdout" => self.sym_stdout.into(),
            b"max-fail" => self.max_fail,
            b"vary-files" => u64::from(self.vary_files != Vary::Off),
            _ => 0,
        }
    }

    /// Fails if the executor cannot run with these options.
    pub fn check(&self) -> Result<(), String> {
        let words = self.words.iter().chain(&self.environment).chain([&self.name]);
        if words.into_iter().any(|word| word.contains('\0')) {
            return Err("expected program arguments and environment without zero bytes".to_string());
        }
        Ok(())
    }
}
