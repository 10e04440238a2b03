//! Query logs: a larger corpus if it exists, else those of `benchmarks/queries`.

use std::path::PathBuf;
use std::process::Command;

/// `$PARTITA_SHARED/corpus` (default: `../shared/corpus`) if it exists, else `benchmarks/queries`.
pub fn directory() -> PathBuf {
    let core = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("PARTITA_SHARED").map_or_else(|| core.join("../../shared"), PathBuf::from);
    let larger = shared.join("corpus");
    if larger.is_dir() { larger } else { core.join("../benchmarks/queries") }
}

/// Names and texts of all files with a suffix, `.smt2.gz` or `.kquery.gz`.
pub fn texts(kind: &str) -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory())
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
