//! Files of the host, as all paths see them: each is read once, when it is first used, and then stays the
//! same. Nothing is changed unless `--write-host` allows it.
use rustc_hash::FxHashMap;
use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Linux error numbers, for errors without their own.
const EIO: i64 = 5;
const EFBIG: i64 = 27;
const EROFS: i64 = 30;
/// Largest file that is read.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// Fields of `stat`, in the order of `struct stat` on x86-64, without nanoseconds.
pub type Status = [i64; 13];

/// A result, or an error number.
type HostResult<T> = Result<T, i64>;

#[derive(Default)]
pub struct Host {
    statuses: FxHashMap<(PathBuf, bool), HostResult<Status>>,
    contents: FxHashMap<PathBuf, HostResult<Arc<[u8]>>>,
    may_write: bool,
}

/// A change of the host's files.
pub enum Change<'a> {
    /// Writes bytes at an offset; creates the file if it does not exist.
    Write {
        at: u64,
        bytes: &'a [u8],
        mode: u32,
    },
    Truncate {
        size: u64,
    },
    MakeFolder {
        mode: u32,
    },
    Remove,
    RemoveFolder,
    Rename {
        to: &'a Path,
    },
    Mode {
        mode: u32,
    },
}

fn errno_of(error: &io::Error) -> i64 {
    error.raw_os_error().map_or(EIO, i64::from)
}

impl Host {
    pub fn new(may_write: bool) -> Host {
        Host { may_write, ..Host::default() }
    }

    pub fn status(&mut self, path: &Path, follow: bool) -> HostResult<Status> {
        if let Some(seen) = self.statuses.get(&(path.to_path_buf(), follow)) {
            return *seen;
        }
        let seen = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
        let seen = seen.map_err(|e| errno_of(&e)).map(|m| {
            let [dev, ino, nlink, rdev] = [m.dev(), m.ino(), m.nlink(), m.rdev()].map(|word| word as i64);
            let [mode, uid, gid] = [m.mode(), m.uid(), m.gid()].map(i64::from);
            let [size, blksize, blocks] = [m.size(), m.blksize(), m.blocks()].map(|word| word as i64);
            [dev, ino, nlink, mode, uid, gid, rdev, size, blksize, blocks, m.atime(), m.mtime(), m.ctime()]
        });
        self.statuses.insert((path.to_path_buf(), follow), seen);
        seen
    }

    /// Bytes of a regular file, or entries of a folder: for each the letter of its type and its name, ended
    /// by a zero byte. The flag is true if the file existed when it was first used, and has vanished since.
    pub fn contents(&mut self, path: &Path) -> (HostResult<Arc<[u8]>>, bool) {
        if let Some(seen) = self.contents.get(path) {
            return (seen.clone(), false);
        }
        let seen = read(path);
        let known = |follow| matches!(self.statuses.get(&(path.to_path_buf(), follow)), Some(Ok(_)));
        let known = known(true) || known(false);
        let vanished = known && matches!(&seen, Err(e) if e.kind() == io::ErrorKind::NotFound);
        let seen = seen.map(Arc::from).map_err(|e| if vanished { EIO } else { errno_of(&e) });
        self.contents.insert(path.to_path_buf(), seen.clone());
        (seen, vanished)
    }

    pub fn link(&self, path: &Path) -> HostResult<Vec<u8>> {
        fs::read_link(path).map(|to| to.into_os_string().into_vec()).map_err(|e| errno_of(&e))
    }

    /// Applies a change, and drops everything that was read before.
    pub fn change(&mut self, path: &Path, change: &Change<'_>) -> HostResult<()> {
        if !self.may_write {
            return Err(EROFS);
        }
        self.statuses.clear();
        self.contents.clear();
        apply(path, change).map_err(|e| errno_of(&e))
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let letter = match () {
                () if kind.is_dir() => b'd',
                () if kind.is_symlink() => b'l',
                () if kind.is_char_device() => b'c',
                () if kind.is_block_device() => b'b',
                () if kind.is_fifo() => b'p',
                () if kind.is_socket() => b's',
                () => b'f',
            };
            entries.push([&[letter], entry.file_name().as_bytes(), &[0]].concat());
        }
        // The order must not depend on the file system.
        entries.sort_by(|a, b| a[1..].cmp(&b[1..]));
        return Ok(entries.concat());
    }
    if kind.len() > MAX_FILE_BYTES || !kind.is_file() {
        return Err(io::Error::from_raw_os_error(EFBIG as i32));
    }
    fs::read(path)
}

fn apply(path: &Path, change: &Change<'_>) -> io::Result<()> {
    match *change {
        Change::Write { at, bytes, mode } => {
            let is_new = !path.exists();
            let mut file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            if is_new {
                file.set_permissions(fs::Permissions::from_mode(mode))?;
            }
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)
        }
        Change::Truncate { size } => fs::OpenOptions::new().write(true).open(path)?.set_len(size),
        Change::MakeFolder { mode } => {
            fs::create_dir(path)?;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        }
        Change::Remove => fs::remove_file(path),
        Change::RemoveFolder => fs::remove_dir(path),
        Change::Rename { to } => fs::rename(path, to),
        Change::Mode { mode } => fs::set_permissions(path, fs::Permissions::from_mode(mode)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_unless_allowed_and_files_are_read_once() {
        let folder = std::env::temp_dir().join(format!("partita-host-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("file");
        fs::write(&file, b"abc").unwrap();
        let mut host = Host::new(false);
        assert_eq!(host.status(&file, true).unwrap()[7], 3);
        assert_eq!(host.change(&file, &Change::Remove), Err(EROFS));
        assert_eq!(&*host.contents(&file).0.unwrap(), b"abc");
        assert_eq!(&*host.contents(&folder).0.unwrap(), b"ffile\0");
        let second = folder.join("second");
        fs::write(&second, b"").unwrap();
        assert!(host.status(&second, true).is_ok());
        let mut host_that_writes = Host::new(true);
        let write = Change::Write { at: 1, bytes: b"XY", mode: 0o644 };
        assert_eq!(host_that_writes.change(&file, &write), Ok(()));
        assert_eq!(&*host_that_writes.contents(&file).0.unwrap(), b"aXY");
        assert_eq!(&*host.contents(&file).0.unwrap(), b"abc", "as it was when first read");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(host.contents(&second), (Err(EIO), true), "the file has vanished");
    }
}
