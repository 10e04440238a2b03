//! How a path can end, as data: one row per class of bug, one per limit.

macro_rules! classes {
    ($($name:ident $text:literal $about:literal,)*) => {
        /// A class of bug.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Class { $($name,)* }
        impl Class {
            pub const ALL: &'static [Class] = &[$(Class::$name,)*];
            /// Name in files and reports.
            pub fn name(self) -> &'static str { match self { $(Class::$name => $text,)* } }
            /// The class of that name.
            pub fn named(name: &str) -> Option<Class> {
                Class::ALL.iter().copied().find(|class| class.name() == name)
            }
            /// Description in one line.
            pub fn about(self) -> &'static str { match self { $(Class::$name => $about,)* } }
        }
    };
}

classes! {
    OutOfBoundsRead "out-of-bounds-read" "a read outside of any object",
    OutOfBoundsWrite "out-of-bounds-write" "a write outside of any object",
    Null "null" "an access through a null pointer",
    UseAfterFree "use-after-free" "an access to an object whose life has ended",
    DoubleFree "double-free" "free of a pointer that was freed before",
    InvalidFree "invalid-free" "free of something that malloc did not return",
    MismatchedFree "mismatched-free" "memory that is released by another function than the one that belongs to its allocation",
    ReadOnlyWrite "read-only-write" "a write to a constant",
    DivisionByZero "division-by-zero" "a division or remainder by zero, or one that overflows",
    Assert "assert" "a failed assertion",
    Abort "abort" "abort was called",
    Unreachable "unreachable" "code the compiler was promised is never reached",
    StackOverflow "stack-overflow" "calls nested too deeply",
    Overflow "overflow" "signed overflow",
    Shift "shift" "a shift by the width or more, or a signed one to the left that leaves its type",
    Bounds "bounds" "an index outside of its array, found by -fsanitize=bounds",
    Sanitizer "sanitizer" "another failed check of -fsanitize",
    Float "float" "NaN or an infinity, computed from finite numbers",
    FloatCast "float-cast" "a floating-point number that does not fit the integer type it is converted to",
    ClassCast "class-cast" "a cast to a class that the object does not have",
    NegativeSize "negative-size" "an array of negative size",
    NumberFormat "number-format" "text that is not a number where one is expected",
    Arithmetic "arithmetic" "an arithmetic exception, such as a division by zero",
    Exception "exception" "another exception that nothing catches",
    Panic "panic" "a panic of a Rust program",
    Overlap "overlap" "a copy between ranges that overlap, by a function that does not allow it",
    Alignment "alignment" "an access at an address that its type's alignment does not divide",
    NonTermination "non-termination" "a loop that repeats its state exactly, so that it never ends",
    UninitializedRead "uninitialized-read" "memory that was never written decides a branch, an address or output",
    DataRace "data-race" "two threads access the same memory, one of them writes, and nothing orders them",
    Deadlock "deadlock" "threads wait for each other, and none can continue",
    LostWakeup "lost-wakeup" "a thread waits for a signal that was sent before it waited, and none can continue",
    Leak "leak" "a heap object that nothing points to at exit",
    ModelError "model-error" "a wrong use of an intrinsic or library function",
}

/// A limit that cut a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limit {
    Time,
    Instructions,
    Memory,
    Tests,
    Depth,
    Solver,
    AddressSpace,
    Interrupted,
}

impl Limit {
    /// Message of a path that is open when the run stops.
    pub fn stop_message(self) -> String {
        if self == Limit::Interrupted {
            return self.name().to_string();
        }
        format!("stopped by {}", self.name())
    }

    pub fn name(self) -> &'static str {
        match self {
            Limit::Time => "max-time",
            Limit::Instructions => "max-instructions",
            Limit::Memory => "max-memory",
            Limit::Tests => "max-tests",
            Limit::Depth => "max-depth",
            Limit::Solver => "solver",
            Limit::AddressSpace => "address-space",
            Limit::Interrupted => "interrupted",
        }
    }

    /// The limit of that name.
    pub fn named(name: &str) -> Option<Limit> {
        let all = [
            Limit::Time,
            Limit::Instructions,
            Limit::Memory,
            Limit::Tests,
            Limit::Depth,
            Limit::Solver,
            Limit::AddressSpace,
            Limit::Interrupted,
        ];
        all.into_iter().find(|limit| limit.name() == name)
    }
}

/// How a path ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// `exit`, or return from `main`.
    Exit {
        status: u64,
    },
    Bug {
        class: Class,
        message: String,
    },
    Limit {
        limit: Limit,
        message: String,
    },
    Unsupported {
        message: String,
    },
    /// The path's own assumptions exclude it (`__VERIFIER_assume`): not counted as a path.
    Dropped,
}

impl Outcome {
    pub fn bug(class: Class, message: impl Into<String>) -> Outcome {
        Outcome::Bug { class, message: message.into() }
    }

    pub fn unsupported(message: impl Into<String>) -> Outcome {
        Outcome::Unsupported { message: message.into() }
    }

    /// Kind of the ending, in a word: a class, or another ending.
    pub fn kind(&self) -> &'static str {
        match self {
            Outcome::Exit { .. } => "exit",
            Outcome::Bug { class, .. } => class.name(),
            Outcome::Limit { limit, .. } => limit.name(),
            Outcome::Unsupported { .. } => "unsupported",
            Outcome::Dropped => "dropped",
        }
    }

    /// First line of a message. Only messages of failed hooks have more.
    pub fn first_line(message: &str) -> &str {
        message.lines().next().unwrap_or_default()
    }

    /// Ending of a path in test lists: `exit N`, a class, or the limit.
    pub fn ending(&self) -> String {
        match self {
            Outcome::Exit { status } => format!("exit {}", status & 0xff),
            Outcome::Bug { class, .. } => class.name().to_string(),
            Outcome::Limit { limit, .. } => format!("limit {}", limit.name()),
            Outcome::Unsupported { .. } => "unsupported".to_string(),
            Outcome::Dropped => "dropped".to_string(),
        }
    }
}

/// A source position, as reports print it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    /// Empty if unknown.
    pub file: String,
    pub line: u32,
    pub function: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 { write!(f, "{}", self.function) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}
