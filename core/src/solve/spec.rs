//! The text of a chain of layers: the `--layers` option.
//!
//! A whole chain is a list of items separated by spaces, `NAME[:VARIANT][(key=value,...)]`. An edit of the default chain
//! is a list of `-NAME` and `+ITEM[@before=NAME]`. The two forms do not mix. The item `throttle(...)` is no layer: it sets
//! numbers of the throttle for the whole chain.

use std::fmt;

/// One layer with its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    pub name: String,
    pub variant: Option<String>,
    pub options: Vec<(String, String)>,
}

impl Item {
    pub fn plain(name: &str) -> Item {
        Item { name: name.to_string(), variant: None, options: Vec::new() }
    }

    pub fn option(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(variant) = &self.variant {
            write!(f, ":{variant}")?;
        }
        if !self.options.is_empty() {
            let options: Vec<String> = self.options.iter().map(|(k, v)| option_text(k, v)).collect();
            write!(f, "({})", options.join(","))?;
        }
        Ok(())
    }
}

/// A word without `=` in the parentheses has the key `arg`: `verify(z3)`.
fn option_text(key: &str, value: &str) -> String {
    if key == "arg" { value.to_string() } else { format!("{key}={value}") }
}

/// A chain, first layer first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec(pub Vec<Item>);

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.0.iter().map(Item::to_string).collect();
        f.write_str(&items.join(" "))
    }
}

/// Message about a wrong spec, for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError(pub String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

impl From<String> for SpecError {
    fn from(message: String) -> SpecError {
        SpecError(message)
    }
}

impl Spec {
    /// Parses a chain, or an edit of `default`.
    pub fn parse(text: &str, default: &Spec) -> Result<Spec, SpecError> {
        let words = words(text)?;
        if words.is_empty() {
            return Err(SpecError("expected at least one layer, found an empty list".into()));
        }
        let edits = words.iter().filter(|w| w.starts_with(['-', '+'])).count();
        if edits == 0 {
            return Ok(Spec(words.iter().map(|w| item(w)).collect::<Result<_, _>>()?));
        }
        if edits != words.len() {
            let plain = words.iter().find(|w| !w.starts_with(['-', '+'])).expect("not all are edits");
            return Err(SpecError(format!(
                "expected either a whole chain or only edits (`-NAME`, `+NAME`), found `{plain}` beside an edit"
            )));
        }
        let mut chain = default.clone();
        for word in &words {
            chain.edit(word)?;
        }
        Ok(chain)
    }

    fn edit(&mut self, word: &str) -> Result<(), SpecError> {
        if let Some(name) = word.strip_prefix('-') {
            let before = self.0.len();
            self.0.retain(|item| item.name != name);
            if self.0.len() == before {
                return Err(SpecError(format!(
                    "expected a layer of the chain `{self}` to remove, found `{name}`"
                )));
            }
            return Ok(());
        }
        let word = &word[1..];
        let (text, before) = match word.split_once("@before=") {
            Some((text, before)) => (text, Some(before)),
            None => (word, None),
        };
        let at = match before {
            None => self.0.len(),
            Some(name) => self.0.iter().position(|item| item.name == name).ok_or_else(|| {
                SpecError(format!("expected a layer of the chain `{self}` after `@before=`, found `{name}`"))
            })?,
        };
        self.0.insert(at, item(text)?);
        Ok(())
    }
}

/// Splits at white space outside parentheses.
fn words(text: &str) -> Result<Vec<String>, SpecError> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut open = false;
    for c in text.chars() {
        match c {
            '(' if open => return Err(SpecError(format!("expected `)` in `{text}`, found a second `(`"))),
            ')' if !open => return Err(SpecError(format!("expected `(` before `)` in `{text}`"))),
            '(' => open = true,
            ')' => open = false,
            c if c.is_whitespace() && !open => {
                if !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    if open {
        return Err(SpecError(format!("expected `)` at the end of `{text}`")));
    }
    if !word.is_empty() {
        all.push(word);
    }
    Ok(all)
}

fn item(word: &str) -> Result<Item, SpecError> {
    let (head, inside) = match word.split_once('(') {
        Some((head, tail)) => {
            let inside = tail.strip_suffix(')').ok_or_else(|| {
                SpecError(format!("expected `NAME[:VARIANT][(key=value,...)]`, found `{word}`"))
            })?;
            (head, Some(inside))
        }
        None => (word, None),
    };
    let (name, variant) = match head.split_once(':') {
        Some((name, variant)) => (name, Some(variant)),
        None => (head, None),
    };
    let is_name =
        |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !is_name(name) || variant.is_some_and(|v| !is_name(v)) {
        return Err(SpecError(format!("expected `NAME[:VARIANT][(key=value,...)]`, found `{word}`")));
    }
    let mut options = Vec::new();
    for part in inside.unwrap_or("").split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or(("arg", part));
        options.push((key.trim().to_string(), value.trim().to_string()));
    }
    Ok(Item { name: name.to_string(), variant: variant.map(str::to_string), options })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default() -> Spec {
        Spec(["simplify", "split", "z3"].map(Item::plain).to_vec())
    }

    #[test]
    fn whole_chains_and_edits() {
        let chain = |text: &str| Spec::parse(text, &default()).unwrap().to_string();
        assert_eq!(chain("split  z3"), "split z3");
        assert_eq!(chain("-split"), "simplify z3");
        assert_eq!(chain("+record(dir=q)@before=z3 -simplify"), "split record(dir=q) z3");
        assert_eq!(chain("verify(z3) reuse:klee(size=5, x=y) sat"), "verify(z3) reuse:klee(size=5,x=y) sat");
    }

    #[test]
    fn messages() {
        let error = |text: &str| Spec::parse(text, &default()).unwrap_err().to_string();
        assert_eq!(error(" "), "expected at least one layer, found an empty list");
        assert_eq!(
            error("split -z3"),
            "expected either a whole chain or only edits (`-NAME`, `+NAME`), found `split` beside an edit"
        );
        assert_eq!(error("-sat"), "expected a layer of the chain `simplify split z3` to remove, found `sat`");
        assert_eq!(error("z3(a"), "expected `)` at the end of `z3(a`");
        assert_eq!(error("z3:"), "expected `NAME[:VARIANT][(key=value,...)]`, found `z3:`");
    }
}
