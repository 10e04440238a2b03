//! Files without a name, for what does not fit into memory.
use std::fs::{File, OpenOptions};
use std::io;

/// New file in the folder for temporary files, without a name. It is gone with the process.
pub fn unnamed_file(purpose: &str) -> io::Result<File> {
    let folder = std::env::temp_dir();
    for number in 0.. {
        let path = folder.join(format!("partita-{purpose}-{}-{number}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("a number is free")
}
