//! An engine as a worker: it explores open paths that a coordinator leases to it, and commits what it did.
//!
//! A commit has the results since the last one and all paths that are open now, so that it is counted as a whole or not at
//! all: if a worker dies, the open paths of its last commit are explored by others. A worker does not stop at a limit, which
//! is one of all workers together: it pauses, and the coordinator decides.
use super::Engine;
use super::outcome::Limit;
use super::record::writer::Written;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Results since the last commit, and what is open.
pub struct Commit {
    pub results: Vec<u8>,
    /// Tests, as `record::found` has them.
    pub tests: Vec<u8>,
    /// In parts.
    pub open_paths: Vec<Vec<u8>>,
}

impl Engine {
    /// Becomes a worker: nothing is explored but what is leased.
    pub fn become_worker(&mut self) {
        self.drop_start();
        self.pauses = true;
        self.decider().varies_late = false;
        self.keep_checkpoints();
        self.recorder_mut().keep_found();
    }

    /// Number of instructions and tests that may be added until the worker pauses, and the time until then; `None` for any.
    /// The time counts only if the run has a limit of time.
    pub fn allow(&mut self, instructions: Option<u64>, tests: Option<u64>, time: Option<Duration>) {
        let stats = self.stats();
        if let (Some(limit), Some(left)) = (self.machine.options().max_time, time) {
            self.time_before = limit.saturating_sub(left);
            self.time_earlier = stats.explore;
        }
        self.max_instructions = instructions.map(|count| stats.instructions.saturating_add(count));
        self.recorder_mut().max_tests = tests.map(|count| stats.tests.saturating_add(count));
    }

    /// The limit at which the worker paused.
    pub fn paused(&self) -> Option<Limit> {
        self.paused
    }

    /// Reaches a limit: a worker pauses, a run of its own stops.
    pub(super) fn reach(&mut self, limit: Limit) {
        match self.pauses {
            true => self.paused = Some(limit),
            false => self.stop(limit),
        }
    }

    /// Commits. `None` if a turn or a query was cut: then the last commit counts.
    pub fn commit(&mut self) -> Option<Commit> {
        if self.stopped.is_some() || !self.keeps_checkpoints || self.machine.decider.lost_answer() {
            return None;
        }
        let open_paths = self.open_paths();
        let (results, tests) = self.take_results();
        Some(Commit { results, tests, open_paths })
    }

    /// Results and tests since the last commit of a worker that has stopped: open paths are cut ones among them.
    pub fn take_results(&mut self) -> (Vec<u8>, Vec<u8>) {
        let mut results = self.recorder_mut().commit_results();
        self.host_committed = self.machine.encode_host_reads(self.host_committed, &mut results);
        (results, self.recorder_mut().take_found())
    }

    /// Removes all open paths and returns them, for workers.
    pub fn hand_over(&mut self) -> Vec<Vec<u8>> {
        let paths = self.open_paths();
        self.drop_start();
        paths
    }

    /// Becomes the coordinator of workers: it collects their results, and numbers their tests at the end. The first
    /// `numbered` tests have numbers, from an earlier part of the run.
    pub fn coordinate(&mut self, numbered: u64) {
        self.recorder_mut().numbered = Some(numbered);
        self.recorder_mut().keep_found();
    }

    /// Numbers the tests of workers in these files, and writes them into a folder if there is one.
    pub fn number_tests(
        &mut self,
        folder: Option<&Path>,
        files: &[PathBuf],
        is_urgent: bool,
    ) -> io::Result<Written> {
        let files = files.iter().map(File::open).collect::<io::Result<Vec<File>>>()?;
        self.recorder_mut().number_tests(folder, &files, is_urgent)
    }

    /// Names the tests of this process and numbers them at the end, in `folder` if there is one. With `found`, that many bytes
    /// of named tests and `numbered` tests are there from an earlier part of the run.
    pub fn name_tests(&mut self, folder: Option<&Path>, found: Option<u64>, numbered: u64) -> io::Result<()> {
        self.recorder_mut().name_tests(folder, found, numbered)
    }
}
