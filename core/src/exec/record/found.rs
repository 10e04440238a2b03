//! Tests of workers as bytes, named by the hash of their decisions, and their numbers at the end of the run.
//!
//! Workers hand their tests over with the results that they belong to; the process that collects them appends them to a
//! file. A run of one process whose tests are to be those of any number of processes appends its own. After a kill some are there whose paths are explored again: they get the same names. Numbers are given at the end,
//! in the order of the names, so that they do not depend on who explored what.
use super::input_value::{Piece, SparseBytes};
use super::writer::{QueuedTest, SINGLE_FILES, Writer, Written};
use super::{Recorder, unnamed_file};
use crate::encoding::{Decoder, put, put_bytes};
use crate::exec::options::Tests;
use crate::exec::outcome::Class;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// File of tests that have no number yet, in the folder of the run.
const FOUND: &str = "tests.found";
/// Bytes before each test: its length, then its name.
const HEAD: usize = 12;

/// Appends a test.
pub fn put_test(out: &mut Vec<u8>, test: &QueuedTest) {
    let start = out.len();
    out.extend([0; 4]);
    out.extend(test.number.to_be_bytes());
    out.push(u8::from(test.is_file) | u8::from(test.error.is_some()) << 1);
    put_bytes(out, test.ending.as_bytes());
    if let Some((class, text)) = &test.error {
        put_bytes(out, class.as_bytes());
        put_bytes(out, text.as_bytes());
    }
    for piece in test.ktest.pieces() {
        match piece {
            Piece::Bytes(bytes) => put_bytes(out, bytes),
            Piece::Repeated(byte, count) => {
                out.push(byte);
                put(out, count);
            }
        }
    }
    let length = u32::try_from(out.len() - start - HEAD).expect("a test has less than 4 GB");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Decodes a test of this name. `None` if it is damaged.
fn get_test(number: u64, bytes: &[u8]) -> Option<QueuedTest> {
    let mut from = Decoder::new(bytes);
    let flags = from.byte()?;
    let ending = get_text(&mut from)?;
    let error = match flags & 2 {
        0 => None,
        _ => Some((Class::named(&get_text(&mut from)?)?.name(), get_text(&mut from)?)),
    };
    let mut ktest = SparseBytes::default();
    loop {
        let count = from.count()?;
        ktest.bytes.extend_from_slice(from.bytes(count)?);
        if from.is_at_end() {
            break;
        }
        let byte = from.byte()?;
        ktest.add_hole(byte, from.number()?);
    }
    Some(QueuedTest { number, is_file: flags & 1 == 1, ktest, ending, error })
}

fn get_text(from: &mut Decoder<'_>) -> Option<String> {
    let count = from.count()?;
    String::from_utf8(from.bytes(count)?.to_vec()).ok()
}

/// Place of a test in a file.
#[derive(Clone, Copy)]
struct Found {
    name: u64,
    file: usize,
    at: u64,
    length: u32,
    is_bug: bool,
}

/// Finds the tests of a file, up to one that a kill has cut.
fn find(tests: &File, file: usize, found: &mut Vec<Found>) -> io::Result<()> {
    let size = tests.metadata()?.len();
    let mut from = BufReader::with_capacity(1 << 18, tests);
    from.rewind()?;
    let mut at = 0;
    loop {
        // The head, and the flags.
        let mut head = [0; HEAD + 1];
        match from.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let length = u32::from_be_bytes(head[..4].try_into().expect("four bytes"));
        let name = u64::from_be_bytes(head[4..HEAD].try_into().expect("eight bytes"));
        let next = at + HEAD as u64 + u64::from(length);
        if next > size {
            return Ok(());
        }
        found.push(Found { name, file, at: at + HEAD as u64, length, is_bug: head[HEAD] & 2 != 0 });
        from.seek_relative(i64::from(length) - 1)?;
        at = next;
    }
}

/// File of the tests of this process that have no number yet.
pub struct FoundFile {
    file: File,
    folder: Option<PathBuf>,
    /// Bytes that are tests.
    written: u64,
    error: Option<io::Error>,
}

/// Bytes of tests that wait in memory.
const MAX_WAITING: usize = 1 << 18;

impl Recorder {
    /// Names tests, which get numbers when the run is over. They go to `tests.found` in a folder, or to a file without a name. With
    /// `found`, that many bytes of an earlier part of the run are there, and `numbered` tests have numbers.
    pub fn name_tests(&mut self, folder: Option<&Path>, found: Option<u64>, numbered: u64) -> io::Result<()> {
        let file = match folder {
            Some(folder) => File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(found.is_none())
                .open(folder.join(FOUND))?,
            None => unnamed_file("tests")?,
        };
        let written = found.unwrap_or(0);
        file.set_len(written)?;
        self.numbered = Some(numbered);
        self.keep_found();
        self.is_named = true;
        let folder = folder.map(Path::to_path_buf);
        self.found_file = Some(FoundFile { file, folder, written, error: None });
        Ok(())
    }

    /// Number of bytes of named tests that are on the disk or wait.
    pub fn found_bytes(&self) -> u64 {
        match (&self.found_file, &self.found) {
            (Some(file), Some(waiting)) => file.written + waiting.len() as u64,
            _ => 0,
        }
    }

    /// Writes the named tests that wait, if this process writes them itself.
    pub fn write_found(&mut self) {
        let (Some(to), Some(waiting)) = (&mut self.found_file, &mut self.found) else { return };
        match to.file.write_all_at(waiting, to.written) {
            Ok(()) => to.written += waiting.len() as u64,
            Err(error) => {
                to.error.get_or_insert(error);
                self.writer_failed = true;
            }
        }
        waiting.clear();
    }

    /// Writes the named tests if many wait.
    pub(super) fn write_found_if_many(&mut self) {
        if self.found_file.is_some() && self.found.as_ref().is_some_and(|waiting| waiting.len() > MAX_WAITING)
        {
            self.write_found();
        }
    }

    /// Numbers the tests of this process. If the run is `over`, they have no names any more.
    pub(super) fn number_own(&mut self, over: bool, is_urgent: bool) -> io::Result<Written> {
        self.write_found();
        let Some(mut own) = self.found_file.take() else { return Ok(Written::default()) };
        if let Some(error) = own.error.take() {
            return Err(error);
        }
        let files = [own.file];
        let written = self.number_tests(own.folder.as_deref(), &files, is_urgent)?;
        self.is_named = false;
        match over {
            true => self.numbered = Some(self.stats.tests),
            false => {
                let [file] = files;
                self.found_file = Some(FoundFile { file, ..own });
            }
        }
        Ok(written)
    }

    /// Numbers the tests of these files in the order of their names, after those that have numbers, and writes them into a
    /// folder if there is one. Of a bug the test of its least path stays, as if it had been found first.
    pub fn number_tests(
        &mut self,
        folder: Option<&Path>,
        files: &[File],
        is_urgent: bool,
    ) -> io::Result<Written> {
        let before = self.numbered.unwrap_or(0);
        let mut found = Vec::new();
        for (number, file) in files.iter().enumerate() {
            find(file, number, &mut found)?;
        }
        let bugs: FxHashSet<u64> = self.bugs.all().iter().filter_map(|bug| bug.test).collect();
        let mut chosen: FxHashSet<u64> = self.targets.tests().collect();
        let is_kept = |test: &Found, chosen: &FxHashSet<u64>| match (test.is_bug, self.options.tests) {
            (true, _) => self.options.all_bugs || bugs.contains(&test.name) || chosen.contains(&test.name),
            (false, Tests::All) => true,
            (false, Tests::Coverage | Tests::Bugs) => chosen.contains(&test.name),
        };
        chosen.extend(self.coverage.names());
        found.retain(|test| is_kept(test, &chosen));
        found.sort_by_key(|test| test.name);
        found.dedup_by_key(|test| test.name);
        if let Some(limit) = self.options.max_tests {
            let limit = usize::try_from(limit.saturating_sub(before)).unwrap_or(usize::MAX);
            let mut excess = found.len().saturating_sub(limit);
            found.retain(|test| {
                let goes = excess > 0 && !test.is_bug;
                excess -= usize::from(goes);
                !goes
            });
        }
        let mut writer = folder.map(|folder| Writer::new(folder, before > 0)).transpose()?;
        if let (true, Some(writer)) = (is_urgent, &writer) {
            writer.hurry();
        }
        let mut numbers: FxHashMap<u64, u64> = (1..=before).map(|number| (number, number)).collect();
        for (test, number) in found.iter().zip(before + 1..) {
            numbers.insert(test.name, number);
            let Some(writer) = &writer else { continue };
            let mut bytes = vec![0; test.length as usize];
            files[test.file].read_exact_at(&mut bytes, test.at)?;
            let damaged = || io::Error::other("a test of a worker is damaged");
            let mut queued = get_test(number, &bytes).ok_or_else(damaged)?;
            queued.is_file |= number <= SINGLE_FILES;
            if !writer.write(queued) {
                break;
            }
        }
        self.stats.tests = before + found.len() as u64;
        self.bugs.sort();
        self.bugs.renumber(|name| numbers.get(&name).copied());
        self.targets.renumber(|name| numbers.get(&name).copied());
        self.forks.renumber(|name| numbers.get(&name).copied());
        writer.as_mut().map_or(Ok(Written::default()), Writer::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::record::input_value::InputValue;

    #[test]
    fn tests_are_encoded() {
        let mut ktest = SparseBytes::from(b"head".to_vec());
        ktest.append(&InputValue::new(None, 1 << 20));
        for (error, is_file) in [(None, false), (Some(("null", "text".to_string())), true)] {
            let test =
                QueuedTest { number: 7, is_file, ktest: ktest.clone(), ending: "exit 0".into(), error };
            let mut out = Vec::new();
            put_test(&mut out, &test);
            let again = get_test(7, &out[HEAD..]).expect("intact");
            assert_eq!((again.ktest, again.ending), (test.ktest, test.ending));
            assert_eq!((again.error, again.is_file), (test.error, test.is_file));
            for cut in HEAD..out.len() {
                assert!(get_test(7, &out[HEAD..cut]).is_none_or(|test| test.ktest != ktest), "{cut}");
            }
        }
    }
}
