//! Allowed dependencies between the parts of the core. They are acyclic: expressions do not use paths, layers do
//! not use program state.

use std::fs;
use std::path::Path;

/// A part, and the parts it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("budget", &[]),
    ("cost", &[]),
    // Limits of effort that are the cost of an operation.
    ("tuning", &["cost"]),
    ("throttle", &["tuning"]),
    ("persist", &[]),
    ("random", &[]),
    ("expr", &["budget", "persist"]),
    ("encoding", &["expr"]),
    ("query", &["expr", "budget", "persist"]),
    ("interval", &["expr", "query", "budget", "persist", "cost", "throttle"]),
    ("difference", &["expr", "query", "budget", "persist"]),
    // Sets give the elements of an array that an index can refer to.
    ("blast", &["expr", "query", "budget", "persist", "random", "interval"]),
    (
        "solve",
        &[
            "expr",
            "encoding",
            "query",
            "budget",
            "persist",
            "random",
            "cost",
            "tuning",
            "throttle",
            "interval",
            "difference",
            "blast",
        ],
    ),
    ("script", &["expr", "query", "budget", "persist", "random", "cost", "solve"]),
    ("program", &[]),
    ("exec", &["expr", "encoding", "query", "budget", "persist", "random", "solve", "interval", "program"]),
];

/// A part of `exec`, and the parts of `exec` it may mention. What records knows nothing of what decides or runs,
/// what decides nothing of what runs.
const EXEC_MAY_USE: &[(&str, &[&str])] = &[
    ("outcome", &[]),
    ("options", &[]),
    ("record", &["outcome", "options"]),
    // A state keeps its marks of coverage, and the place of an exception that was thrown.
    ("state", &["outcome", "record"]),
    ("decide", &["outcome", "options", "record", "state"]),
    ("run", &["outcome", "options", "record", "state", "decide"]),
];

/// Files of `Engine`, which composes the parts of `exec`.
const ENGINE: &[&str] =
    &["mod", "checkpoint", "lease", "memory_limit", "parking", "races", "repetition", "take_up", "watchdog"];

fn sources(path: &Path, found: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|e| e == "rs") {
        found.push((path.display().to_string(), fs::read_to_string(path).unwrap()));
    }
}

#[test]
fn parts_use_only_lower_parts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut parts = 0;
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        let part = path.file_stem().unwrap().to_str().unwrap().to_string();
        if part == "lib" {
            continue;
        }
        let allowed = MAY_USE.iter().find(|(name, _)| *name == part);
        let (_, allowed) =
            allowed.unwrap_or_else(|| panic!("expected a row for the part `{part}`, found none"));
        parts += 1;
        let mut files = Vec::new();
        sources(&path, &mut files);
        for (file, text) in files {
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for (_, rest) in line.match_indices("crate::").map(|(i, m)| line.split_at(i + m.len())) {
                    let used: String =
                        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let known = MAY_USE.iter().any(|(name, _)| *name == used);
                    let fits = !known || used == part || allowed.contains(&used.as_str());
                    assert!(fits, "{file}: `{part}` may not use `{used}`: {line}");
                }
            }
        }
    }
    assert_eq!(parts, MAY_USE.len(), "a row for a part that does not exist");
}

/// A file that `main.rs` does not name would not be compiled, and its tests would not run.
#[test]
fn every_file_of_tests_is_run() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = fs::read_to_string(core.join("tests/main.rs")).unwrap();
    let manifest = fs::read_to_string(core.join("Cargo.toml")).unwrap();
    for entry in fs::read_dir(core.join("tests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let is_module = modules.lines().any(|line| line == format!("mod {name};"));
        let is_target = manifest.contains(&format!("[[test]]\nname = \"{name}\""));
        assert!(name == "main" || is_module || is_target, "expected `mod {name};` in tests/main.rs");
    }
}

/// The head of a layer says the same things in the same order.
#[test]
fn heads_of_layers() {
    const HEADINGS: [&str; 5] = ["Answers:", "Why sound:", "When it helps:", "Cost:", "Source:"];
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/solve"), &mut files);
    let mut layers = 0;
    for (file, text) in files {
        let code = text.split("#[cfg(test)]").next().unwrap();
        let is_test = file.ends_with("conformance.rs") || file.ends_with("tests.rs");
        if is_test || !code.contains("\nimpl Layer for ") {
            continue;
        }
        layers += 1;
        let head: Vec<&str> = code
            .lines()
            .map_while(|line| line.strip_prefix("//! ").or((line == "//!").then_some("")))
            .collect();
        let found: Vec<&str> = HEADINGS
            .into_iter()
            .filter(|heading| head.iter().any(|line| line.starts_with(heading)))
            .collect();
        assert_eq!(found, HEADINGS, "{file}");
    }
    assert!(layers > 12, "{layers}");
}

fn is_code(line: &str) -> bool {
    !line.trim_start().starts_with("//")
}

/// Parts of `exec` mention each other as `crate::exec::PART`, so that this test sees it.
#[test]
fn parts_of_exec_use_only_what_is_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/exec");
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        let part = path.file_stem().unwrap().to_str().unwrap().to_string();
        let known = ENGINE.contains(&part.as_str()) || EXEC_MAY_USE.iter().any(|(name, _)| *name == part);
        assert!(known, "expected a row for the part `exec::{part}`, found none");
    }
    for (part, allowed) in EXEC_MAY_USE {
        let (folder, file) = (root.join(part), root.join(format!("{part}.rs")));
        let path = if folder.is_dir() { folder } else { file };
        let mut files = Vec::new();
        sources(&path, &mut files);
        assert!(!files.is_empty(), "a row for the part `{part}`, which is gone");
        for (file, text) in files {
            let top = path.is_file() || file == path.join("mod.rs").display().to_string();
            for line in text.lines().filter(|line| is_code(line)) {
                for (at, _) in line.match_indices("crate::exec::") {
                    let rest = &line[at + "crate::exec::".len()..];
                    let used: String =
                        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let fits = used == *part || allowed.contains(&used.as_str());
                    assert!(fits, "{file}: `exec::{part}` may not use `exec::{used}`: {line}");
                }
                let leaves = line.contains("super::super::")
                    || top && line.contains("super::") && line.trim() != "use super::*;";
                assert!(!leaves, "{file}: expected `crate::exec::PART`, found `super`: {line}");
            }
        }
    }
}
