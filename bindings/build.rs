//! A hash of the sources of the core and the bindings: another build of the same version may decide differently, so that the
//! journal of a run and the workers of a cluster must be of the same one.

use std::fs;
use std::path::{Path, PathBuf};

fn files(at: &Path, found: &mut Vec<PathBuf>) {
    if at.is_dir() {
        let entries = fs::read_dir(at).unwrap_or_else(|error| panic!("{}: {error}", at.display()));
        entries.for_each(|entry| files(&entry.expect("an entry of a folder").path(), found));
    } else {
        found.push(at.to_path_buf());
    }
}

/// FNV-1a, of 128 bits.
fn hash(all: impl Iterator<Item = u8>) -> u128 {
    all.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

fn main() {
    let bindings = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let top = bindings.parent().expect("a folder of the workspace");
    let mut found = Vec::new();
    for part in ["core/src", "bindings/src", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={}", top.join(part).display());
        files(&top.join(part), &mut found);
    }
    found.sort();
    let contents = found.iter().flat_map(|path| {
        let name = path.strip_prefix(top).expect("below it").to_string_lossy().into_owned();
        let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let lengths = [name.len(), text.len()].map(|length| (length as u64).to_be_bytes()).concat();
        [lengths, name.into_bytes(), text].concat()
    });
    println!("cargo:rustc-env=PARTITA_SOURCES={:032x}", hash(contents));
}
