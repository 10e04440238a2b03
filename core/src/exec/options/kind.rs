//! Types of run options: how a value is parsed, which values are allowed, and how a message describes them.
//!
//! Units (60s, 2GB) and ranges are handled here only: the command line, Python and the program's own arguments all
//! come through `Kind::parse` or `Kind::check`.
use std::sync::Arc;
use std::time::Duration;

/// Units of a time in milliseconds. The first one is the default.
const TIME_UNITS: &[(&str, f64)] =
    &[("s", 1e3), ("", 1e3), ("ms", 1.0), ("m", 60e3), ("min", 60e3), ("h", 3_600e3)];
const SIZE_UNITS: &[(&str, u64)] =
    &[("", 1), ("b", 1), ("kb", 1 << 10), ("mb", 1 << 20), ("gb", 1 << 30), ("tb", 1 << 40)];
/// Longest time, in seconds: `Duration` and the clock can add it.
const MAX_SECONDS: f64 = (1u64 << 62) as f64;

/// Type of an option's value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// On or off. On the command line `--name`, or `--no-name` if the default is on.
    Flag,
    /// A whole number in a range.
    Count { min: u64, max: u64 },
    /// Several whole numbers, each with a placeholder and its largest value.
    Counts(&'static [(&'static str, u64)]),
    /// A time in seconds.
    Seconds,
    /// A size in bytes.
    Bytes,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Names from a table, separated by commas.
    Names(fn() -> Vec<&'static str>),
    /// Text, with its placeholder.
    Text(&'static str),
    /// Words separated by blanks, with the placeholder of all of them.
    Words(&'static str),
    /// Path of a file or folder, with its placeholder.
    Path(&'static str),
    /// Bytes; on the command line the file that has them.
    Contents,
    /// A name and the number of bytes that belong to it, at most `max`.
    SizedName { max: u64 },
    /// Variables `NAME=VALUE`; on the command line the option is repeated.
    Variables,
    /// Name of a search strategy, which the search checks; in Python also an object.
    Search,
    /// Chain of layers; in Python also a sequence with objects.
    Layers,
}

/// Value of an option.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Flag(bool),
    Count(u64),
    Counts(Vec<u64>),
    Seconds(Duration),
    Text(String),
    Words(Vec<String>),
    Contents(Arc<[u8]>),
    Variables(Vec<(String, String)>),
}

impl Kind {
    /// Name of the type, for the tables that other languages read.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Flag => "flag",
            Kind::Count { .. } => "count",
            Kind::Counts(_) => "counts",
            Kind::Seconds => "seconds",
            Kind::Bytes => "bytes",
            Kind::Choice(_) => "choice",
            Kind::Names(_) => "names",
            Kind::Text(_) => "text",
            Kind::Words(_) => "words",
            Kind::Path(_) => "path",
            Kind::Contents => "contents",
            Kind::SizedName { .. } => "sized name",
            Kind::Variables => "variables",
            Kind::Search => "search",
            Kind::Layers => "layers",
        }
    }

    /// Placeholders of the values in help texts, one for each word that follows the option.
    pub fn placeholders(&self) -> Vec<String> {
        let one = |text: &str| vec![text.to_string()];
        match self {
            Kind::Flag => Vec::new(),
            Kind::Count { .. } => one("N"),
            Kind::Counts(parts) => parts.iter().map(|(name, _)| (*name).to_string()).collect(),
            Kind::Seconds => one("TIME"),
            Kind::Bytes => one("SIZE"),
            Kind::Choice(words) => one(&format!("{{{}}}", words.join(","))),
            Kind::Names(_) => one("LIST"),
            Kind::Text(name) | Kind::Words(name) | Kind::Path(name) => one(name),
            Kind::Contents => one("FILE"),
            Kind::SizedName { .. } => vec!["NAME".to_string(), "N".to_string()],
            Kind::Variables => one("NAME=VALUE"),
            Kind::Search => one("NAME"),
            Kind::Layers => one("SPEC"),
        }
    }

    /// The words of which a value consists, if they are few.
    pub fn choices(&self) -> Vec<&'static str> {
        match self {
            Kind::Choice(words) => words.to_vec(),
            Kind::Names(names) => names(),
            Kind::Flag
            | Kind::Count { .. }
            | Kind::Counts(_)
            | Kind::Seconds
            | Kind::Bytes
            | Kind::Text(_)
            | Kind::Words(_)
            | Kind::Path(_)
            | Kind::Contents
            | Kind::SizedName { .. }
            | Kind::Variables
            | Kind::Search
            | Kind::Layers => Vec::new(),
        }
    }

    /// Allowed values of a typed API, as the end of "expected NAME to be".
    pub fn expected_value(&self) -> String {
        match self {
            Kind::Seconds => "seconds as a number of at least 0, or text such as 60s, 10m or 2h".to_string(),
            Kind::Bytes => "bytes as a whole number, or text such as 500MB or 2GB".to_string(),
            Kind::Counts(parts) => {
                let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
                format!("a tuple ({}), {}", names.join(", "), self.expected())
            }
            Kind::Words("FLAGS") => "a sequence of words such as [\"-DX\", \"-O1\"]".to_string(),
            Kind::Words(_) => "a sequence of lines and functions such as [\"a.c:12\", \"main\"]".to_string(),
            Kind::Variables => "a mapping of texts to texts".to_string(),
            _ => self.expected(),
        }
    }

    /// Allowed values of a command line, as the end of "expected NAME to be".
    pub fn expected(&self) -> String {
        match self {
            Kind::Flag => "True or False".to_string(),
            Kind::Count { min, max } => format!("a whole number from {min} to {}", bound(*max)),
            Kind::Counts(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|(name, max)| format!("{name} from 0 to {}", bound(*max))).collect();
                listed(&parts, "and")
            }
            Kind::Seconds => "a time such as 60s, 10m or 2h".to_string(),
            Kind::Bytes => "a size such as 500MB or 2GB".to_string(),
            Kind::Choice(_) => listed(&self.choices(), "or"),
            Kind::Names(_) => format!("names from {}", self.choices().join(", ")),
            Kind::Text(_) | Kind::Search | Kind::Layers => "text".to_string(),
            Kind::Words(_) => "words".to_string(),
            Kind::Path(_) => "a path".to_string(),
            Kind::Contents => "bytes".to_string(),
            Kind::SizedName { max } => format!("NAME and N from 0 to {}", bound(*max)),
            Kind::Variables => "NAME=VALUE".to_string(),
        }
    }

    /// The value of the words that follow the option on a command line; `None` if they are not allowed.
    pub fn parse(&self, words: &[&str]) -> Option<Value> {
        let numbers = || words.iter().map(|word| whole(word)).collect::<Option<Vec<u64>>>();
        let value = match self {
            Kind::Flag => match *words {
                [] | ["on"] => Value::Flag(true),
                ["off"] => Value::Flag(false),
                _ => return None,
            },
            Kind::Count { .. } => Value::Count(*numbers()?.first()?),
            Kind::Counts(_) => Value::Counts(numbers()?),
            Kind::Seconds => Value::Seconds(seconds(one(words)?)?),
            Kind::Bytes => Value::Count(bytes(one(words)?)?),
            Kind::Names(_) => Value::Words(separated(one(words)?, |c| c == ',')),
            Kind::Words(_) => Value::Words(separated(one(words)?, char::is_whitespace)),
            Kind::Variables => {
                let (name, value) = one(words)?.split_once('=')?;
                Value::Variables(vec![(name.to_string(), value.to_string())])
            }
            Kind::SizedName { .. } => match *words {
                [name, size] => Value::Variables(vec![(name.to_string(), whole(size)?.to_string())]),
                _ => return None,
            },
            Kind::Contents => Value::Contents(one(words)?.as_bytes().into()),
            Kind::Choice(_) | Kind::Text(_) | Kind::Path(_) | Kind::Search | Kind::Layers => {
                Value::Text(one(words)?.to_string())
            }
        };
        self.check(&value).then_some(value)
    }

    /// Is the value of this type and in its range?
    pub fn check(&self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Flag, Value::Flag(_))
            | (Kind::Bytes, Value::Count(_))
            | (Kind::Seconds, Value::Seconds(_))
            | (Kind::Text(_) | Kind::Path(_) | Kind::Search | Kind::Layers, Value::Text(_))
            | (Kind::Words(_), Value::Words(_))
            | (Kind::Contents, Value::Contents(_)) => true,
            (Kind::Count { min, max }, Value::Count(number)) => (min..=max).contains(&number),
            (Kind::Counts(parts), Value::Counts(numbers)) => {
                parts.len() == numbers.len()
                    && parts.iter().zip(numbers).all(|((_, max), number)| number <= max)
            }
            (Kind::Choice(_), Value::Text(word)) => self.choices().contains(&word.as_str()),
            (Kind::Names(names), Value::Words(words)) => {
                let known = names();
                words.iter().all(|word| known.contains(&word.as_str()))
            }
            (Kind::Variables, Value::Variables(variables)) => {
                variables.iter().all(|(name, _)| !name.is_empty() && !name.contains('='))
            }
            (Kind::SizedName { max }, Value::Variables(variables)) => variables.iter().all(|(name, size)| {
                !name.is_empty() && !name.contains('=') && whole(size).is_some_and(|size| size <= *max)
            }),
            (_, _) => false,
        }
    }
}

impl Value {
    /// A time from seconds; `None` if it is negative, not finite or too long.
    pub fn seconds(seconds: f64) -> Option<Value> {
        let fits = (0.0..MAX_SECONDS).contains(&seconds);
        fits.then(|| Value::Seconds(Duration::from_secs_f64(seconds)))
    }
}

/// An upper bound, large powers of two as such.
fn bound(max: u64) -> String {
    let bits = max.trailing_ones();
    if bits >= 32 && max.count_ones() == bits { format!("2^{bits} - 1") } else { max.to_string() }
}

/// `a, b or c`.
fn listed(words: &[impl AsRef<str>], joined_by: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_string(),
        [others @ .., last] => format!("{} {joined_by} {last}", others.join(", ")),
    }
}

fn one<'a>(words: &[&'a str]) -> Option<&'a str> {
    match words {
        [word] => Some(word),
        _ => None,
    }
}

fn separated(text: &str, by: fn(char) -> bool) -> Vec<String> {
    text.split(by).filter(|word| !word.is_empty()).map(str::to_string).collect()
}

/// A whole number in decimal digits.
fn whole(text: &str) -> Option<u64> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_decimal.then(|| text.parse().ok()).flatten()
}

/// A decimal number, and the unit after it.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let is_decimal = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    Some((is_decimal.then(|| number.parse().ok()).flatten()?, unit))
}

fn seconds(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let (_, milliseconds) = TIME_UNITS.iter().find(|(name, _)| *name == unit)?;
    match Value::seconds(number * milliseconds / 1e3)? {
        Value::Seconds(time) => Some(time),
        _ => None,
    }
}

fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let unit = unit.trim_start().to_ascii_lowercase();
    let (_, size) = SIZE_UNITS.iter().find(|(name, _)| *name == unit)?;
    match whole(text.get(..text.len() - unit.len())?.trim_end()) {
        Some(number) => number.checked_mul(*size),
        None => Some(number * *size as f64).filter(|size| *size < u64::MAX as f64).map(|size| size as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(kind: Kind, text: &str) -> Option<Value> {
        kind.parse(&[text])
    }

    #[test]
    fn times_and_sizes_have_units() {
        let milliseconds = |number| Some(Value::Seconds(Duration::from_millis(number)));
        for (text, time) in [("60s", 60_000), ("1.5", 1_500), ("10m", 600_000), ("2h", 7_200_000), ("5ms", 5)]
        {
            assert_eq!(parsed(Kind::Seconds, text), milliseconds(time), "{text}");
        }
        for (text, size) in [("2GB", 2 << 30), ("500 mb", 500 << 20), ("1.5KB", 1536), ("7", 7)] {
            assert_eq!(parsed(Kind::Bytes, text), Some(Value::Count(size)), "{text}");
        }
        for text in ["", "-1s", "1.", ".5", "x", "1e3", "99999999999999999999h"] {
            assert_eq!(parsed(Kind::Seconds, text), None, "{text}");
        }
        for text in ["", "-1", "huge", "2GBs", "99999999999999999999999"] {
            assert_eq!(parsed(Kind::Bytes, text), None, "{text}");
        }
    }

    #[test]
    fn ranges_are_checked() {
        let kind = Kind::Count { min: 1, max: 9 };
        assert_eq!(
            ["0", "1", "9", "10", "+1", " 1"].map(|text| parsed(kind, text).is_some()),
            [false, true, true, false, false, false]
        );
        assert_eq!(kind.expected(), "a whole number from 1 to 9");
        let pair = Kind::Counts(&[("NUM", 26), ("SIZE", 99)]);
        assert_eq!(pair.parse(&["26", "99"]), Some(Value::Counts(vec![26, 99])));
        assert_eq!([pair.parse(&["27", "1"]), pair.parse(&["1"])], [None, None]);
        assert_eq!(pair.expected(), "NUM from 0 to 26 and SIZE from 0 to 99");
    }

    #[test]
    fn lists_are_split() {
        let names = Kind::Names(|| vec!["leak", "shift"]);
        assert_eq!(parsed(names, "leak,,shift"), Some(Value::Words(vec!["leak".into(), "shift".into()])));
        assert_eq!(parsed(names, "leaks"), None);
        assert_eq!(
            parsed(Kind::Words("FLAGS"), " -O1  -g"),
            Some(Value::Words(vec!["-O1".into(), "-g".into()]))
        );
        assert_eq!([parsed(Kind::Variables, "nonsense"), parsed(Kind::Variables, "=x")], [None, None]);
    }
}
