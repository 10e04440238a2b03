//! The shared corpus of query logs, if present.

use std::path::PathBuf;
use std::process::Command;

/// The corpus directory: under `PARTITA_SHARED`, or next to the repository. `None`, with a message, if it is
/// missing.
pub fn directory() -> Option<PathBuf> {
    let shared = std::env::var_os("PARTITA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let corpus = shared.join("corpus");
    if corpus.is_dir() {
        return Some(corpus);
    }
    eprintln!("skipped: no corpus in {}; set PARTITA_SHARED to where it is", corpus.display());
    None
}

/// Names and texts of all files with a suffix, `.smt2.gz` or `.kquery.gz`.
pub fn texts(kind: &str) -> Vec<(String, Vec<u8>)> {
    let Some(directory) = directory() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("a readable directory")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.to_string_lossy().ends_with(kind))
        .collect();
    paths.sort();
    let text = |path: PathBuf| {
        let output = Command::new("gzip").arg("-dc").arg(&path).output().expect("gzip runs");
        assert!(output.status.success(), "gzip -dc {}", path.display());
        (path.file_name().expect("a file").to_string_lossy().into_owned(), output.stdout)
    };
    paths.into_iter().map(text).collect()
}
