//! Files of the host, as all paths see them: each is read once, when it is first used, and then stays the
//! same. Nothing is changed unless `--write-host` allows it. What was read is a list, which checkpoints and
//! workers have too: a run that is resumed, and all of its processes, see the same files.
use crate::encoding::{Decoder, put, put_bytes};
use rustc_hash::FxHashMap;
use std::ffi::OsString;
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
const ACCESS_TIME: usize = 10;

/// A result, or an error number.
type HostResult<T> = Result<T, i64>;
/// Bytes that a call has read.
type HostRead = HostResult<Arc<[u8]>>;

#[derive(Default)]
pub struct Host {
    statuses: FxHashMap<(PathBuf, bool), HostResult<Status>>,
    contents: FxHashMap<PathBuf, HostRead>,
    links: FxHashMap<PathBuf, HostResult<Vec<u8>>>,
    /// Everything that was read, in this order. A run that may write has no journal and no workers.
    reads: Vec<(Call, PathBuf)>,
    may_write: bool,
}

/// A call about a file; its number is the first byte of an encoded read.
#[derive(Clone, Copy)]
enum Call {
    Status,
    OwnStatus,
    Contents,
    Link,
}

const CALLS: [Call; 4] = [Call::Status, Call::OwnStatus, Call::Contents, Call::Link];

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
        self.reads.push((if follow { Call::Status } else { Call::OwnStatus }, path.to_path_buf()));
        seen
    }

    /// Bytes of a regular file, or entries of a folder: for each the letter of its type and its name, ended
    /// by a zero byte. The flag is true if the file existed when it was first used, and has vanished since.
    pub fn contents(&mut self, path: &Path) -> (HostRead, bool) {
        if let Some(seen) = self.contents.get(path) {
            return (seen.clone(), false);
        }
        let seen = read(path);
        let is_known = |follow| matches!(self.statuses.get(&(path.to_path_buf(), follow)), Some(Ok(_)));
        let is_known = is_known(true) || is_known(false);
        let vanished = is_known && matches!(&seen, Err(e) if e.kind() == io::ErrorKind::NotFound);
        let seen = seen.map(Arc::from).map_err(|e| if vanished { EIO } else { errno_of(&e) });
        self.contents.insert(path.to_path_buf(), seen.clone());
        self.reads.push((Call::Contents, path.to_path_buf()));
        (seen, vanished)
    }

    pub fn link(&mut self, path: &Path) -> HostResult<Vec<u8>> {
        if let Some(seen) = self.links.get(path) {
            return seen.clone();
        }
        let seen = fs::read_link(path).map(|to| to.into_os_string().into_vec()).map_err(|e| errno_of(&e));
        self.links.insert(path.to_path_buf(), seen.clone());
        self.reads.push((Call::Link, path.to_path_buf()));
        seen
    }

    /// Number of reads so far.
    pub fn read_count(&self) -> usize {
        self.reads.len()
    }

    /// Encodes the reads from this one on.
    pub fn encode_reads(&self, first: usize, out: &mut Vec<u8>) {
        for (call, path) in &self.reads[first..] {
            out.push(*call as u8);
            put_bytes(out, path.as_os_str().as_bytes());
            match self.known(*call, path) {
                Some(Ok(bytes)) => {
                    put(out, 0);
                    put_bytes(out, &bytes);
                }
                Some(Err(error)) => put(out, error as u64),
                None => unreachable!("a read that was noted"),
            }
        }
    }

    /// Result of an earlier read, as bytes.
    fn known(&self, call: Call, path: &Path) -> Option<HostRead> {
        let status = |follow| {
            let seen = self.statuses.get(&(path.to_path_buf(), follow))?;
            Some(seen.map(|fields| fields.iter().flat_map(|field| field.to_le_bytes()).collect()))
        };
        match call {
            Call::Status => status(true),
            Call::OwnStatus => status(false),
            Call::Contents => self.contents.get(path).cloned(),
            Call::Link => self.links.get(path).map(|seen| seen.clone().map(Arc::from)),
        }
    }

    /// Adds reads that another process, or an earlier part of the run, had first. Errors: they are damaged, or one is
    /// not that which was had here.
    pub fn add_reads(&mut self, from: &mut Decoder<'_>) -> Result<(), String> {
        while !from.is_at_end() {
            let (call, path, read) = decode_read(from).ok_or("what was read of files is damaged")?;
            match self.known(call, &path) {
                Some(known) if is_same(call, &known, &read) => {}
                Some(_) => {
                    let name = path.display();
                    return Err(format!(
                        "the file `{name}` changed while the run read it: start the run again"
                    ));
                }
                None => self.learn(call, path, read).ok_or("what was read of files is damaged")?,
            }
        }
        Ok(())
    }

    fn learn(&mut self, call: Call, path: PathBuf, read: HostRead) -> Option<()> {
        match call {
            Call::Status | Call::OwnStatus => {
                let follow = matches!(call, Call::Status);
                let fields = match read {
                    Err(error) => Err(error),
                    Ok(bytes) => {
                        let words = bytes.chunks_exact(8).map(|word| word.try_into().map(i64::from_le_bytes));
                        let words: Vec<i64> = words.collect::<Result<_, _>>().ok()?;
                        Ok(words.try_into().ok()?)
                    }
                };
                self.statuses.insert((path.clone(), follow), fields);
            }
            Call::Contents => {
                self.contents.insert(path.clone(), read);
            }
            Call::Link => {
                self.links.insert(path.clone(), read.map(|bytes| bytes.to_vec()));
            }
        }
        self.reads.push((call, path));
        Some(())
    }

    /// Applies a change, and drops everything that was read before.
    pub fn change(&mut self, path: &Path, change: &Change<'_>) -> HostResult<()> {
        if !self.may_write {
            return Err(EROFS);
        }
        self.statuses.clear();
        self.contents.clear();
        self.links.clear();
        self.reads.clear();
        apply(path, change).map_err(|e| errno_of(&e))
    }
}

/// Reading a file may change the time of its last access.
fn is_same(call: Call, known: &HostRead, read: &HostRead) -> bool {
    match (call, known, read) {
        (Call::Status | Call::OwnStatus, Ok(known), Ok(read)) => {
            let times = 8 * ACCESS_TIME..8 * (ACCESS_TIME + 1);
            let differs = |at: usize| known[at] != read[at] && !times.contains(&at);
            known.len() == read.len() && !(0..known.len()).any(differs)
        }
        _ => known == read,
    }
}

fn decode_read(from: &mut Decoder<'_>) -> Option<(Call, PathBuf, HostRead)> {
    let call = *CALLS.get(usize::from(from.byte()?))?;
    let count = from.count()?;
    let path = PathBuf::from(OsString::from_vec(from.bytes(count)?.to_vec()));
    let read = match from.number()? {
        0 => {
            let count = from.count()?;
            Ok(from.bytes(count)?.into())
        }
        error => Err(error as i64),
    };
    Some((call, path, read))
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
        let _ = (host.status(&file, false), host.link(&second), host.link(&file));
        let mut reads = Vec::new();
        host.encode_reads(0, &mut reads);
        let mut other = Host::new(false);
        other.add_reads(&mut Decoder::new(&reads)).unwrap();
        assert_eq!(other.read_count(), host.read_count());
        assert_eq!(&*other.contents(&file).0.unwrap(), b"abc", "as the first process read it");
        assert_eq!(other.status(&file, true), host.status(&file, true));
        assert_eq!(other.status(&second, false), host.status(&second, false));
        let mut again = Vec::new();
        other.encode_reads(0, &mut again);
        assert!(again.starts_with(&reads));
        for cut in 0..reads.len() {
            let _ = Host::new(false).add_reads(&mut Decoder::new(&reads[..cut]));
        }
        let mut third = Host::new(false);
        assert_eq!(third.contents(&file).0, Err(2));
        let message = third.add_reads(&mut Decoder::new(&reads)).unwrap_err();
        assert!(message.contains("changed while the run read it"), "{message}");
    }
}
