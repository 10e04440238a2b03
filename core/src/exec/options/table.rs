//! The table of run options: one row per option.
//!
//! `partita run`, `explore()`, the conversion of Python values, the reference page and shell completion derive from
//! these rows. A row whose value the executor does not need has the setter `elsewhere`: the front end uses it.
use super::arguments::Argument;
use super::kind::{Kind, Value};
use super::{Ambient, Checks, MAX_SYMBOLIC_ARGUMENTS, Options, Tests, Vary};

/// The default chain: the cheapest layers first, the SAT solver last. Without a store the layer `store` is left out.
pub const DEFAULT_LAYERS: &str = "simplify split solutions reuse intervals enumerate differences store sat";

/// Largest number of symbolic files: they are named A to Z.
const MAX_FILES: u64 = 26;
/// Largest size of a symbolic file or argument.
const MAX_SYMBOLIC_BYTES: u64 = 1 << 24;
/// Largest length of a symbolic string.
const MAX_STRING_LENGTH: u64 = 1 << 10;
const ANY_COUNT: Kind = Kind::Count { min: 0, max: i64::MAX as u64 };
const POSITIVE_32: Kind = Kind::Count { min: 1, max: u32::MAX as u64 };
const SYMBOLIC_BYTES: Kind = Kind::Count { min: 0, max: MAX_SYMBOLIC_BYTES };

/// Heading of options in help texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    Inputs,
    Search,
    Limits,
    Checks,
    Tests,
    Solver,
    Compiling,
    Output,
}

impl Group {
    pub fn name(self) -> &'static str {
        match self {
            Group::Inputs => "inputs and environment",
            Group::Search => "search",
            Group::Limits => "limits",
            Group::Checks => "checks",
            Group::Tests => "tests",
            Group::Solver => "solver",
            Group::Compiling => "compiling and linking",
            Group::Output => "output",
        }
    }
}

/// Where an option can be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// `partita run` and `explore()`.
    Both,
    /// `partita run` only.
    Command,
    /// Among the program's arguments, in their order; on the command line also as an option.
    Arguments,
}

/// An option of a run.
pub struct OptionRow {
    /// Spelling on the command line without dashes; in Python with underscores.
    pub name: &'static str,
    pub kind: Kind,
    /// Default as one would type it; `None` if there is none.
    pub default: Option<&'static str>,
    pub group: Group,
    pub surface: Surface,
    /// Description in one line.
    pub about: &'static str,
    set: fn(&mut Options, Value),
}

impl OptionRow {
    /// Sets the option in the options of the executor. The value must have been checked.
    pub fn set(&self, options: &mut Options, value: Value) {
        (self.set)(options, value);
    }

    /// Message for a value that is not allowed. `name` is the option as the user wrote it.
    pub fn error(&self, name: &str, found: &str) -> String {
        format!("expected {name} to be {}, found `{found}`", self.kind.expected())
    }

    /// The parsed default.
    pub fn default_value(&self) -> Option<Value> {
        let words: Vec<&str> = self.default.into_iter().collect();
        self.default.map(|_| self.kind.parse(&words).expect("the test of the table parses all defaults"))
    }

    const fn surface(mut self, surface: Surface) -> OptionRow {
        self.surface = surface;
        self
    }
}

const fn row(
    group: Group,
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    about: &'static str,
    set: fn(&mut Options, Value),
) -> OptionRow {
    OptionRow { name, kind, default, group, surface: Surface::Both, about, set }
}

/// Setter of options that the executor does not use.
fn elsewhere(_options: &mut Options, _value: Value) {}

/// The row of an option by its command-line name.
pub fn find(name: &str) -> Option<&'static OptionRow> {
    OPTIONS.iter().find(|row| row.name == name)
}

pub const OPTIONS: &[OptionRow] = &[
    row(
        Group::Inputs,
        "sym-arg",
        SYMBOLIC_BYTES,
        None,
        "add a symbolic argument of up to N bytes",
        |options, value| options.arguments.push(Argument::Symbolic { bytes: count(&value) }),
    )
    .surface(Surface::Arguments),
    row(
        Group::Inputs,
        "sym-args",
        Kind::Counts(&[
            ("MIN", MAX_SYMBOLIC_ARGUMENTS),
            ("MAX", MAX_SYMBOLIC_ARGUMENTS),
            ("N", MAX_SYMBOLIC_BYTES),
        ]),
        None,
        "add MIN to MAX symbolic arguments of up to N bytes",
        |options, value| {
            let [min, max, bytes] = counts(&value);
            options.arguments.push(Argument::Several { min, max, bytes });
        },
    )
    .surface(Surface::Arguments),
    row(
        Group::Inputs,
        "sym-env",
        Kind::SizedName { max: MAX_SYMBOLIC_BYTES },
        None,
        "environment variable NAME that is absent, or has up to N symbolic bytes",
        |options, value| {
            if let Value::Variables(variables) = value {
                let sized = |(name, size): (String, String)| (name, size.parse().unwrap_or_default());
                options.sym_env.extend(variables.into_iter().map(sized));
            }
        },
    )
    .surface(Surface::Arguments),
    row(
        Group::Inputs,
        "symbolic-args",
        Kind::Flag,
        Some("off"),
        "Java: the parameters of the entry method are symbolic",
        elsewhere,
    ),
    row(
        Group::Inputs,
        "string-length",
        Kind::Count { min: 0, max: MAX_STRING_LENGTH },
        None,
        "Java: symbolic strings have up to N Latin-1 characters",
        elsewhere,
    ),
    row(
        Group::Inputs,
        "assume",
        Kind::Text("CONDITION"),
        None,
        "C condition over the parameters of --entry that callers guarantee",
        elsewhere,
    ),
    row(
        Group::Inputs,
        "sym-size",
        Kind::Text("MIN..MAX"),
        Some("0..16"),
        "sizes of the input of a fuzz target",
        elsewhere,
    ),
    row(
        Group::Inputs,
        "max-length",
        Kind::Count { min: 0, max: 4096 },
        Some("8"),
        "longest string behind a parameter of --entry",
        elsewhere,
    ),
    row(
        Group::Inputs,
        "max-elements",
        Kind::Count { min: 1, max: 4096 },
        Some("4"),
        "numbers behind a pointer parameter of --entry",
        elsewhere,
    ),
    row(
        Group::Inputs,
        "max-made",
        Kind::Count { min: 1, max: 1024 },
        Some("24"),
        "objects made for the pointers of --entry",
        elsewhere,
    ),
    row(
        Group::Inputs,
        "sym-files",
        Kind::Counts(&[("NUM", MAX_FILES), ("SIZE", MAX_SYMBOLIC_BYTES)]),
        None,
        "NUM symbolic files A, B, ... of SIZE bytes",
        |options, value| options.sym_files = Some(counts(&value)),
    ),
    row(
        Group::Inputs,
        "sym-stdin",
        SYMBOLIC_BYTES,
        None,
        "symbolic standard input of N bytes",
        |options, value| options.sym_stdin = Some(count(&value)),
    ),
    row(
        Group::Inputs,
        "sym-stdout",
        Kind::Flag,
        Some("off"),
        "record standard output in tests",
        |options, value| options.sym_stdout = flag(&value),
    ),
    row(
        Group::Inputs,
        "max-fail",
        SYMBOLIC_BYTES,
        Some("0"),
        "let up to N system calls fail on a path",
        |options, value| options.max_fail = count(&value),
    ),
    row(
        Group::Inputs,
        "malloc-fails",
        Kind::Flag,
        Some("off"),
        "let each of the first 64 allocations of a path fail",
        |options, value| options.malloc_fails = flag(&value),
    ),
    row(
        Group::Inputs,
        "uninitialized",
        Kind::Choice(&["report", "symbolic"]),
        Some("report"),
        "what was never written: uses of it are reported, or it is any value",
        |options, value| options.symbolic_unwritten = text(&value) == "symbolic",
    ),
    row(
        Group::Inputs,
        "vary-files",
        Kind::Choice(&["off", "late", "on"]),
        Some("late"),
        "symbolic files also empty, folders or pipes, and calls that are short or fail",
        |options, value| {
            options.vary_files = match text(&value) {
                "off" => Vary::Off,
                "on" => Vary::On,
                _ => Vary::Late,
            };
        },
    ),
    row(Group::Inputs, "stdin", Kind::Contents, Some(""), "contents of standard input", |options, value| {
        if let Value::Contents(bytes) = value {
            options.stdin = bytes;
        }
    }),
    row(
        Group::Inputs,
        "env",
        Kind::Variables,
        None,
        "set an environment variable of the program",
        |options, value| {
            if let Value::Variables(variables) = value {
                options.environment =
                    variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
            }
        },
    ),
    row(
        Group::Inputs,
        "write-host",
        Kind::Flag,
        Some("off"),
        "let the program write to files of this machine",
        |options, value| options.write_host = flag(&value),
    ),
    row(
        Group::Inputs,
        "ambient",
        Kind::Choice(&["fixed", "symbolic"]),
        Some("fixed"),
        "values of time and random numbers",
        |options, value| {
            options.ambient = if text(&value) == "symbolic" { Ambient::Symbolic } else { Ambient::Fixed };
        },
    ),
    row(
        Group::Search,
        "search",
        Kind::Search,
        Some("mix"),
        "search strategy, also of installed packages",
        |options, value| options.search = text(&value).to_string(),
    ),
    row(
        Group::Search,
        "target",
        Kind::Words("PLACES"),
        Some(""),
        "search for paths to these lines (FILE:LINE) and functions first",
        elsewhere,
    ),
    row(
        Group::Search,
        "since",
        Kind::Text("REV"),
        None,
        "the functions that changed since this commit of git are targets",
        elsewhere,
    )
    .surface(Surface::Command),
    row(
        Group::Search,
        "seed",
        Kind::Count { min: 0, max: u64::MAX },
        Some("0"),
        "seed of random choices",
        |options, value| options.seed = count(&value),
    ),
    row(
        Group::Search,
        "seeds",
        Kind::Path("DIR"),
        None,
        "first follow these inputs: a corpus of a fuzzer, or .ktest files",
        elsewhere,
    ),
    row(
        Group::Search,
        "sync",
        Kind::Path("DIR"),
        None,
        "exchange inputs with the instances of AFL++ in this output folder",
        elsewhere,
    ),
    row(
        Group::Search,
        "path-model",
        Kind::Flag,
        Some("on"),
        "ask about both sides of every branch (for experiments)",
        |options, value| options.path_model = flag(&value),
    ),
    row(
        Group::Search,
        "jobs",
        Kind::Count { min: 0, max: 4096 },
        Some("1"),
        "explore with N processes, 0 for one per core",
        elsewhere,
    ),
    row(
        Group::Search,
        "cluster",
        Kind::Text("ADDRESS"),
        None,
        "explore on a cluster of Ray: ray://HOST:PORT, or local",
        elsewhere,
    ),
    row(
        Group::Limits,
        "max-time",
        Kind::Seconds,
        None,
        "time limit of the run, such as 60s, 10m or 2h",
        |options, value| {
            options.max_time = seconds(&value);
        },
    ),
    row(
        Group::Limits,
        "max-solver-time",
        Kind::Seconds,
        None,
        "counted time of one query (default: 1/40 of --max-time, at least 1s)",
        |options, value| options.max_solver_time = seconds(&value),
    ),
    row(
        Group::Limits,
        "max-memory",
        Kind::Bytes,
        None,
        "memory limit, such as 2GB (default: half of the RAM)",
        |options, value| options.max_memory = Some(count(&value)),
    ),
    row(Group::Limits, "max-instructions", ANY_COUNT, None, "stop after N instructions", |options, value| {
        options.max_instructions = Some(count(&value));
    }),
    row(Group::Limits, "max-tests", ANY_COUNT, None, "stop after N tests", |options, value| {
        options.max_tests = Some(count(&value));
    }),
    row(
        Group::Limits,
        "max-depth",
        Kind::Count { min: 0, max: u32::MAX as u64 },
        None,
        "limit the decisions on one path",
        |options, value| options.max_depth = Some(count(&value) as u32),
    ),
    row(
        Group::Limits,
        "preempt",
        Kind::Count { min: 0, max: u32::MAX as u64 },
        None,
        "explore data races: at most N switches of threads before racing accesses",
        |options, value| options.preempt = Some(count(&value) as u32),
    ),
    row(
        Group::Limits,
        "max-objects",
        POSITIVE_32,
        Some("64"),
        "limit the objects of one symbolic pointer",
        |options, value| options.max_objects = count(&value) as u32,
    ),
    row(
        Group::Limits,
        "max-values",
        POSITIVE_32,
        Some("64"),
        "limit the values of one symbolic length or size",
        |options, value| options.max_values = count(&value) as u32,
    ),
    row(
        Group::Checks,
        "check",
        Kind::Names(Checks::names),
        Some(""),
        "more checks, separated by commas; all: every check",
        |options, value| {
            if let Value::Words(names) = value {
                options.checks = Checks::named(names.iter().map(String::as_str)).expect("checked names");
            }
        },
    ),
    row(
        Group::Checks,
        "float-cast",
        Kind::Flag,
        Some("on"),
        "accept floating-point numbers that do not fit their integer type",
        |options, value| options.float_cast = flag(&value),
    ),
    row(
        Group::Checks,
        "undefined",
        Kind::Choice(&["error", "havoc"]),
        Some("error"),
        "calls of undefined functions end the path, or return any value",
        |options, value| options.havoc = text(&value) == "havoc",
    ),
    row(
        Group::Tests,
        "tests",
        Kind::Choice(&["all", "coverage", "bugs"]),
        Some("all"),
        "write tests for all paths, paths with new coverage, or new bugs only",
        |options, value| {
            options.tests = match text(&value) {
                "coverage" => Tests::Coverage,
                "bugs" => Tests::Bugs,
                _ => Tests::All,
            };
        },
    ),
    row(
        Group::Tests,
        "all-bugs",
        Kind::Flag,
        Some("off"),
        "write a test for every path into a bug, not only the first",
        |options, value| options.all_bugs = flag(&value),
    ),
    row(
        Group::Tests,
        "reproducible",
        Kind::Flag,
        Some("off"),
        "the same tests for every search, chain and number of processes: least inputs",
        |options, value| options.reproducible = flag(&value),
    ),
    row(
        Group::Solver,
        "layers",
        Kind::Layers,
        Some(DEFAULT_LAYERS),
        "chain of layers, or edits of the default",
        elsewhere,
    ),
    row(
        Group::Solver,
        "verify",
        Kind::Text("SOLVER"),
        None,
        "check every answer with a second solver",
        elsewhere,
    ),
    row(
        Group::Solver,
        "store",
        Kind::Path("PATH|URL|none"),
        Some("default"),
        "file or Redis server (redis://...) with answers of earlier runs",
        elsewhere,
    ),
    row(
        Group::Compiling,
        "libc",
        Kind::Choice(&["auto", "musl", "none"]),
        Some("auto"),
        "C library to link; auto: musl if needed",
        elsewhere,
    ),
    row(
        Group::Compiling,
        "optimize",
        Kind::Flag,
        Some("off"),
        "optimise the program with LLVM first",
        elsewhere,
    ),
    row(
        Group::Compiling,
        "cflags",
        Kind::Words("FLAGS"),
        Some(""),
        "flags for the compiler, as one argument",
        elsewhere,
    ),
    row(
        Group::Compiling,
        "data-model",
        Kind::Choice(&["LP64", "ILP32"]),
        Some("LP64"),
        "sizes of types in C sources; ILP32: a 32-bit program",
        elsewhere,
    ),
    row(
        Group::Compiling,
        "clang",
        Kind::Path("PATH"),
        None,
        "compile with this clang instead of the installed one",
        elsewhere,
    ),
    row(
        Group::Compiling,
        "classpath",
        Kind::Text("PATHS"),
        None,
        "Java: folders and .jar files with classes, separated by colons",
        elsewhere,
    ),
    row(
        Group::Compiling,
        "project",
        Kind::Path("DIR"),
        None,
        "take sources and their flags from compile_commands.json in DIR",
        elsewhere,
    )
    .surface(Surface::Command),
    row(
        Group::Compiling,
        "entry",
        Kind::Text("FUNC"),
        None,
        "start this function with symbolic parameters; Java: this Class.method",
        elsewhere,
    ),
    row(
        Group::Output,
        "out",
        Kind::Path("DIR"),
        None,
        "folder to write (default: the next free partita-out-N)",
        elsewhere,
    ),
    row(
        Group::Output,
        "resume",
        Kind::Path("DIR"),
        None,
        "go on with the run of this folder: after Ctrl-C, a limit, or a kill",
        elsewhere,
    ),
    row(
        Group::Output,
        "certificate",
        Kind::Path("FILE"),
        None,
        "write a certificate of a complete run, for `partita check`",
        elsewhere,
    ),
    row(
        Group::Output,
        "sarif",
        Kind::Path("FILE"),
        None,
        "write bugs in the format SARIF 2.1.0, for code scanning and editors",
        elsewhere,
    )
    .surface(Surface::Command),
    row(
        Group::Output,
        "baseline",
        Kind::Path("FILE"),
        None,
        "accepted bugs: those in this file are counted and are no errors",
        elsewhere,
    )
    .surface(Surface::Command),
    row(
        Group::Output,
        "update-baseline",
        Kind::Flag,
        Some("off"),
        "write the bugs of this run into the file of --baseline",
        elsewhere,
    )
    .surface(Surface::Command),
    row(
        Group::Output,
        "annotations",
        Kind::Choice(&["auto", "github", "none"]),
        Some("auto"),
        "bugs as annotations of a build; auto: where GitHub Actions runs",
        elsewhere,
    )
    .surface(Surface::Command),
    row(
        Group::Output,
        "json",
        Kind::Flag,
        Some("off"),
        "print JSON lines, one per event; the last one is run.json",
        elsewhere,
    )
    .surface(Surface::Command),
    row(Group::Output, "quiet", Kind::Flag, Some("off"), "print only bugs and errors", elsewhere)
        .surface(Surface::Command),
];

// Values of checked types. Another type is a mistake in the table.

fn flag(value: &Value) -> bool {
    matches!(value, Value::Flag(true))
}

fn count(value: &Value) -> u64 {
    let Value::Count(number) = value else { unreachable!("a count") };
    *number
}

fn counts<const N: usize>(value: &Value) -> [u64; N] {
    let Value::Counts(numbers) = value else { unreachable!("counts") };
    numbers.as_slice().try_into().expect("as many as the kind has")
}

fn seconds(value: &Value) -> Option<std::time::Duration> {
    let Value::Seconds(time) = value else { unreachable!("a time") };
    Some(*time)
}

fn text(value: &Value) -> &str {
    let Value::Text(text) = value else { unreachable!("text") };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn defaults_parse_and_are_those_of_the_executor() {
        let mut options = Options::default();
        for row in OPTIONS {
            if let Some(value) = row.default_value() {
                row.set(&mut options, value);
            }
        }
        assert_eq!(format!("{options:?}"), format!("{:?}", Options::default()));
    }

    #[test]
    fn rows_are_uniform() {
        let mut names = HashSet::new();
        let mut groups = Vec::new();
        for row in OPTIONS {
            assert!(names.insert(row.name), "{} twice", row.name);
            let spelled = row.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(spelled, "expected a-z and dashes, found {}", row.name);
            assert!(!row.about.ends_with('.') && row.about.len() < 80, "{}: {}", row.name, row.about);
            if groups.last() != Some(&row.group) {
                assert!(!groups.contains(&row.group), "{}: rows of a group belong together", row.name);
                groups.push(row.group);
            }
        }
    }
}
