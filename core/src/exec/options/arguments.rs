//! Arguments of the analysed program, some of them symbolic, from words in KLEE's spelling.
//!
//! `--sym-arg N` and `--sym-args MIN MAX N` may be anywhere among the words; `--sym-env`, `--sym-files`, `--sym-stdin`,
//! `--sym-stdout` and `--max-fail` are accepted there too, with one dash or two.
use super::table::{OptionRow, find};
use super::{MAX_SYMBOLIC_ARGUMENTS, Options};

/// Options that are accepted among the program's arguments.
const IN_ARGUMENTS: &[&str] =
    &["sym-arg", "sym-args", "sym-env", "sym-files", "sym-stdin", "sym-stdout", "max-fail"];

/// An argument of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    Text(String),
    /// A symbolic argument of up to this number of bytes.
    Symbolic {
        bytes: u64,
    },
    /// A symbolic number of symbolic arguments.
    Several {
        min: u64,
        max: u64,
        bytes: u64,
    },
}

/// The option that this word is, if it is accepted among the arguments.
fn option_of(word: &str) -> Option<&'static OptionRow> {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    find(name).filter(|row| IN_ARGUMENTS.contains(&row.name))
}

impl Options {
    /// Appends arguments of the program.
    ///
    /// # Errors
    /// The value of an option among them is missing or out of range.
    pub fn add_arguments(&mut self, words: &[String]) -> Result<(), String> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(row) = option_of(word) else {
                self.arguments.push(Argument::Text(word.clone()));
                continue;
            };
            self.needs_kernel = true;
            let count = row.kind.placeholders().len();
            let values: Vec<&str> = words[at..].iter().take(count).map(String::as_str).collect();
            at += values.len();
            let value = row.kind.parse(&values).ok_or_else(|| row.error(word, &values.join(" ")))?;
            row.set(self, value);
        }
        self.words.extend_from_slice(words);
        self.check_symbolic()
    }

    fn check_symbolic(&self) -> Result<(), String> {
        let mut total = 0;
        for argument in &self.arguments {
            total += match argument {
                Argument::Text(_) => 0,
                Argument::Symbolic { .. } => 1,
                Argument::Several { min, max, bytes } => {
                    if min > max {
                        return Err(format!(
                            "expected MIN MAX N after --sym-args, MIN at most MAX, found `{min} {max} {bytes}`"
                        ));
                    }
                    *max
                }
            };
        }
        if total > MAX_SYMBOLIC_ARGUMENTS {
            return Err(format!(
                "expected at most {MAX_SYMBOLIC_ARGUMENTS} symbolic arguments, found {total}"
            ));
        }
        Ok(())
    }

    /// The strings of `argv`. Symbolic arguments are empty: the kernel model replaces them.
    pub(in crate::exec) fn argument_texts(&self) -> Vec<String> {
        let text = |argument: &Argument| match argument {
            Argument::Text(text) => text.clone(),
            Argument::Symbolic { .. } | Argument::Several { .. } => String::new(),
        };
        std::iter::once(self.name.clone()).chain(self.arguments.iter().map(text)).collect()
    }

    /// The arguments as `.ktest` files have them: options of the kernel model in KLEE's spelling, then the words
    /// that were given.
    pub(in crate::exec) fn test_words(&self) -> Vec<String> {
        let mut all = vec![self.name.clone()];
        all.extend(self.kernel_words.iter().cloned());
        all.extend(self.words.iter().cloned());
        all
    }

    /// Notes the options of the kernel model that were not given among the arguments.
    pub(super) fn note_kernel_options(&mut self) {
        let mut words: Vec<String> = Vec::new();
        let mut add = |name: &str, values: &[u64]| {
            words.push(format!("--{name}"));
            words.extend(values.iter().map(u64::to_string));
        };
        if let Some(files) = self.sym_files {
            add("sym-files", &files);
        }
        if let Some(bytes) = self.sym_stdin {
            add("sym-stdin", &[bytes]);
        }
        if self.sym_stdout {
            add("sym-stdout", &[]);
        }
        if self.max_fail > 0 {
            add("max-fail", &[self.max_fail]);
        }
        self.needs_kernel |= !words.is_empty() || !self.stdin.is_empty() || self.write_host;
        self.kernel_words = words;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &str) -> Result<Options, String> {
        let mut options = Options::default();
        let words: Vec<String> = words.split_whitespace().map(str::to_string).collect();
        options.add_arguments(&words)?;
        Ok(options)
    }

    #[test]
    fn symbolic_arguments_are_where_their_options_are() {
        let found = options("first --sym-arg 3 -sym-args 0 2 4 last --sym-stdin 8").expect("valid");
        let expected = [
            Argument::Text("first".to_string()),
            Argument::Symbolic { bytes: 3 },
            Argument::Several { min: 0, max: 2, bytes: 4 },
            Argument::Text("last".to_string()),
        ];
        assert_eq!(found.arguments, expected);
        assert_eq!(found.sym_stdin, Some(8));
        assert_eq!(
            found.test_words().join(" "),
            "program first --sym-arg 3 -sym-args 0 2 4 last --sym-stdin 8"
        );
        assert!(found.needs_kernel && !options("a --layers b").expect("valid").needs_kernel);
    }

    #[test]
    fn symbolic_variables_have_a_name_and_a_size() {
        let found = options("--sym-env HOME 4 x").expect("valid");
        assert_eq!(found.sym_env, [("HOME".to_string(), 4)]);
        assert_eq!(found.arguments, [Argument::Text("x".to_string())]);
        let message = "expected --sym-env to be NAME and N from 0 to 16777216, found `A=B 4`";
        assert_eq!(options("--sym-env A=B 4").err().as_deref(), Some(message));
    }

    #[test]
    fn wrong_values_are_refused() {
        for (words, message) in [
            ("--sym-stdin x", "expected --sym-stdin to be a whole number from 0 to 16777216, found `x`"),
            (
                "-sym-files 27 8",
                "expected -sym-files to be NUM from 0 to 26 and SIZE from 0 to 16777216, found `27 8`",
            ),
            ("--sym-args 2 1 1", "expected MIN MAX N after --sym-args, MIN at most MAX, found `2 1 1`"),
            ("--sym-args 0 99 1 --sym-args 0 2 1", "expected at most 100 symbolic arguments, found 101"),
        ] {
            assert_eq!(options(words).err().as_deref(), Some(message));
        }
    }
}
