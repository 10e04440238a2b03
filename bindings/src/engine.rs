//! The Python class `_core.Engine`: the exploration of one program. Python runs it in slices of time and reads the counts.

use crate::chain;
use crate::details;
use crate::hook::PythonHooks;
use crate::layer::{Objects, interrupt};
use crate::options::RunOptions;
use crate::search::{PythonSearch, Raised};
use crate::solver::{seconds, statistics_dict};
use crate::store::detached;
use crate::worker;
use partita_core::budget::Cancel;
use partita_core::exec::{Covered, Engine as Core, Finished, Limit, Outcome, Seed, Variable, Writer};
use partita_core::program::Program;
use partita_core::solve::Solver;
use pyo3::exceptions::{PyKeyError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// File, line, entered.
type Lines = Vec<(String, u32, bool)>;
/// File, line, entered, and for each side of the branch whether it was taken.
type Branches = Vec<(String, u32, bool, Vec<bool>)>;
type FunctionRow = (String, String, u32, bool, Lines, Branches);

#[pyclass(frozen, module = "partita._core")]
pub(crate) struct Engine {
    inner: Mutex<ManuallyDrop<Core>>,
    /// The process ends soon: nothing is freed.
    is_abandoned: AtomicBool,
    cancel: Cancel,
    objects: Objects,
    /// Exception raised by a search strategy written in Python.
    raised: Raised,
}

fn path_dict<'py>(py: Python<'py>, path: &Finished) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("ending", path.outcome.ending())?;
    let (kind, class, message, status) = match &path.outcome {
        Outcome::Exit { status } => ("exit", None, None, Some(status & 0xff)),
        Outcome::Bug { class, message } => ("bug", Some(class.name()), Some(message.as_str()), None),
        Outcome::Limit { limit, message } => ("limit", Some(limit.name()), Some(message.as_str()), None),
        Outcome::Unsupported { message } => ("unsupported", None, Some(message.as_str()), None),
        Outcome::Dropped => unreachable!("dropped paths are not kept"),
    };
    dict.set_item("kind", kind)?;
    dict.set_item("class", class)?;
    dict.set_item("message", message.map(Outcome::first_line))?;
    let detail = message.and_then(|message| message.split_once('\n')).map(|(_, below)| below);
    dict.set_item("detail", detail)?;
    dict.set_item("status", status)?;
    dict.set_item("file", &path.place.file)?;
    dict.set_item("line", path.place.line)?;
    let stack: Vec<(&str, &str, u32)> =
        path.stack.iter().map(|p| (p.function.as_str(), p.file.as_str(), p.line)).collect();
    dict.set_item("stack", stack)?;
    let inputs = PyList::empty(py);
    for (name, value) in &path.test.objects {
        inputs.append((name, PyBytes::new(py, &value.to_vec())))?;
    }
    dict.set_item("inputs", inputs)?;
    dict.set_item("test", path.number)?;
    dict.set_item("first", path.first)?;
    dict.set_item("condition", path.condition.as_deref())?;
    dict.set_item("output", PyBytes::new(py, &path.output))?;
    Ok(dict)
}

fn covered_dict(py: Python<'_>, covered: Covered) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("instructions", covered.instructions)?;
    dict.set_item("covered", covered.covered)?;
    Ok(dict)
}

impl Drop for Engine {
    fn drop(&mut self) {
        if !*self.is_abandoned.get_mut() {
            let core = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(core) };
        }
    }
}

impl Engine {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, ManuallyDrop<Core>>> {
        let broken = |_| PyRuntimeError::new_err("an internal error has ended this run: it cannot go on");
        self.inner.lock_py_attached(py).map_err(broken)
    }
}

#[pymethods]
impl Engine {
    /// `programs` are the user's program and then the libraries; `layers`, `default` and `backend` are those of `Solver`;
    /// `hooked` are the names that `set_hooks` will be called with; `absent` are names that libraries do not define,
    /// because models serve.
    #[new]
    #[pyo3(signature = (programs, layers, default, backend, options, store = None, hooked = Vec::new(), absent = Vec::new()))]
    #[allow(clippy::too_many_arguments, reason = "one call, each argument has a name in Python")]
    fn new(
        programs: Vec<Vec<u8>>,
        layers: &str,
        default: &str,
        backend: &Bound<'_, PyAny>,
        options: &Bound<'_, RunOptions>,
        store: Option<chain::StorePlace>,
        hooked: Vec<String>,
        absent: Vec<String>,
    ) -> PyResult<Engine> {
        let parts: Vec<&[u8]> = programs.iter().map(Vec::as_slice).collect();
        let program = Program::load_without(&parts, &["main"], &absent)
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        let mut options = options.get().options.clone();
        options.hooked = hooked;
        let (layers, objects) = chain::build(layers, default, backend, store)?;
        let core = Core::new(program, Solver::new(layers), options).map_err(PyValueError::new_err)?;
        let cancel = core.cancel_handle();
        Ok(Engine {
            cancel,
            inner: Mutex::new(ManuallyDrop::new(core)),
            is_abandoned: AtomicBool::new(false),
            objects,
            raised: Raised::default(),
        })
    }

    /// Curve of coverage: cost in estimated nanoseconds and marks set, and the cost of the whole run.
    fn progress(&self, py: Python<'_>) -> PyResult<(Vec<(u64, u64)>, u64)> {
        let core = self.lock(py)?;
        let (points, cost) = core.progress();
        Ok((points.to_vec(), cost))
    }

    /// Counts seconds that the run took before exploring for `max_time`.
    fn count_time_before(&self, py: Python<'_>, time: f64) -> PyResult<()> {
        let time = seconds("time", time)?;
        self.lock(py)?.count_time_before(time);
        Ok(())
    }

    /// Adds seeds: named objects, and bytes for other inputs. Returns the number of those that no open path has.
    #[allow(clippy::type_complexity)]
    fn add_seeds(&self, py: Python<'_>, seeds: Vec<(Vec<(String, Vec<u8>)>, Vec<u8>)>) -> PyResult<usize> {
        let seeds = seeds.into_iter().map(|(objects, stream)| Seed { objects, stream }).collect();
        Ok(self.lock(py)?.add_seeds(seeds))
    }

    /// Executes only the path of these inputs.
    fn follow_inputs(&self, py: Python<'_>, inputs: Vec<(String, Vec<u8>)>) -> PyResult<()> {
        self.lock(py)?.follow_inputs(inputs);
        Ok(())
    }

    /// Memory at the first bug of a run with `follow_inputs`.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.lock(py)?.snapshot().map(|found| details::snapshot(py, found)).transpose()
    }

    /// Does not free this exploration later: the process ends soon, and freeing millions of objects takes seconds.
    fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }

    /// The functions of the program and its libraries by name; true for one that the user's code defines.
    fn functions(&self, py: Python<'_>) -> PyResult<HashMap<String, bool>> {
        let core = self.lock(py)?;
        let mut found = HashMap::new();
        for (name, own) in core.functions() {
            *found.entry(name.to_string()).or_default() |= own;
        }
        Ok(found)
    }

    /// Sets the Python functions that model functions of the program, by name. Raises KeyError for an unknown function.
    fn set_hooks(&self, py: Python<'_>, hooks: &Bound<'_, PyDict>) -> PyResult<()> {
        let (mut names, mut functions) = (Vec::new(), Vec::new());
        for (name, function) in hooks {
            names.push(name.extract::<String>()?);
            functions.push(function.unbind());
        }
        let hooks = Box::new(PythonHooks::new(functions));
        self.lock(py)?.set_hooks(&names, hooks).map_err(PyKeyError::new_err)
    }

    /// Sets a Python object as the search strategy. To be called before exploring starts.
    fn set_search(&self, py: Python<'_>, search: Py<PyAny>) -> PyResult<()> {
        let chooser = PythonSearch::new(search, self.cancel.clone(), self.raised.clone());
        self.lock(py)?.set_chooser(Box::new(chooser));
        Ok(())
    }

    /// Writes tests into this folder, which must exist; `appends` to those of an earlier part of the run.
    #[pyo3(signature = (folder, appends = false))]
    fn write_to(&self, py: Python<'_>, folder: PathBuf, appends: bool) -> PyResult<()> {
        let writer = Writer::new(&folder, appends)?;
        self.lock(py)?.set_writer(writer);
        Ok(())
    }

    /// Names tests while the run goes on and numbers them at the end, in this folder if there is one. With `found`, that many
    /// bytes of named tests and `numbered` tests are there from an earlier part of the run.
    #[pyo3(signature = (folder, found = None, numbered = 0))]
    fn name_tests(
        &self,
        py: Python<'_>,
        folder: Option<PathBuf>,
        found: Option<u64>,
        numbered: u64,
    ) -> PyResult<()> {
        Ok(self.lock(py)?.name_tests(folder.as_deref(), found, numbered)?)
    }

    /// Sets the limit of memory in bytes.
    fn set_max_memory(&self, py: Python<'_>, bytes: u64) -> PyResult<()> {
        self.lock(py)?.set_max_memory(bytes);
        Ok(())
    }

    /// Keeps finished paths for `paths`.
    fn keep_conditions(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.keep_conditions();
        Ok(())
    }

    /// Keeps the first `count` paths into each bug with their conditions, for `paths`.
    fn keep_bug_conditions(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        self.lock(py)?.keep_bug_conditions(count);
        Ok(())
    }

    /// Records the decisions of all paths. To be called before exploring starts.
    fn record_decisions(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.record_decisions();
        Ok(())
    }

    /// The recorded decisions as rows, the ends of paths, and the origins of functions and globals in the parts.
    fn decisions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        details::decisions(py, &*self.lock(py)?)
    }

    fn keep_paths(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.keep_paths();
        Ok(())
    }

    /// Explores for about `slice` seconds. Returns false when everything is explored or a limit was reached.
    fn advance(&self, py: Python<'_>, slice: f64) -> PyResult<bool> {
        let slice = seconds("slice", slice)?;
        drop(self.lock(py)?);
        let more = worker::run(
            py,
            &self.cancel,
            |py| interrupt(py, &self.objects),
            |_, _| Ok(()),
            |_| self.inner.lock().expect("not poisoned a moment ago").advance(slice),
        )?;
        match self.raised.take(py) {
            Some(error) => Err(error),
            None => Ok(more),
        }
    }

    /// Keeps a checkpoint from before the run stops, for `last_checkpoint`.
    fn keep_checkpoints(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.keep_checkpoints();
        Ok(())
    }

    /// Is a checkpoint quick, because few tests wait to be written?
    fn is_checkpoint_quick(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.is_checkpoint_quick())
    }

    /// Checkpoint of the run: results so far and open paths.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let checkpoint = self.lock(py)?.checkpoint();
        Ok(PyBytes::new(py, &checkpoint))
    }

    /// The checkpoint from before the run stopped; None if a turn was cut then.
    fn last_checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let checkpoint = self.lock(py)?.take_last_checkpoint();
        Ok(checkpoint.map(|checkpoint| PyBytes::new(py, &checkpoint)))
    }

    /// Goes on from a checkpoint of the same program and options. Raises ValueError if it is damaged.
    fn restore(&self, py: Python<'_>, checkpoint: &[u8]) -> PyResult<()> {
        self.lock(py)?.restore(checkpoint).map_err(PyValueError::new_err)
    }

    /// Explores nothing but what `add_open_paths` adds.
    fn drop_start(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.drop_start();
        Ok(())
    }

    /// Removes up to `count` open paths for another worker, those with the fewest forks first. At least one stays.
    fn give<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let paths = self.lock(py)?.give(count);
        Ok(PyBytes::new(py, &paths))
    }

    /// Parks about half of the states, as if memory were short. Returns the number of those that stay.
    fn park(&self, py: Python<'_>) -> PyResult<usize> {
        let mut core = self.lock(py)?;
        core.park_states();
        Ok(core.live_states())
    }

    /// Adds open paths of another worker. Raises ValueError if they are damaged.
    fn add_open_paths(&self, py: Python<'_>, paths: &[u8]) -> PyResult<()> {
        self.lock(py)?.add_open_paths(paths).map_err(PyValueError::new_err)
    }

    /// Becomes a worker of a coordinator: explores nothing but what `add_open_paths` adds, and pauses at limits.
    fn become_worker(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.become_worker();
        Ok(())
    }

    /// Number of instructions and tests that may be added until the worker pauses, and the seconds until then.
    #[pyo3(signature = (instructions, tests, time = None))]
    fn allow(
        &self,
        py: Python<'_>,
        instructions: Option<u64>,
        tests: Option<u64>,
        time: Option<f64>,
    ) -> PyResult<()> {
        let time = time.map(|time| seconds("time", time)).transpose()?;
        self.lock(py)?.allow(instructions, tests, time);
        Ok(())
    }

    /// Results and tests since the last commit, and all open paths. None if a turn was cut: then the last one counts.
    #[allow(clippy::type_complexity)]
    fn commit<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<Bound<'py, PyBytes>>)>> {
        let commit = self.lock(py)?.commit();
        Ok(commit.map(|commit| {
            let parts = commit.open_paths.iter().map(|part| PyBytes::new(py, part)).collect();
            (PyBytes::new(py, &commit.results), PyBytes::new(py, &commit.tests), parts)
        }))
    }

    /// Results and tests since the last commit, of a worker that has stopped.
    fn take_results<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let (results, tests) = self.lock(py)?.take_results();
        Ok([results, tests].map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Ends the run at the limit of this name.
    fn stop(&self, py: Python<'_>, limit: &str) -> PyResult<()> {
        let limit =
            Limit::named(limit).ok_or_else(|| PyValueError::new_err("expected the name of a limit"))?;
        self.lock(py)?.stop(limit);
        Ok(())
    }

    /// Counts for a coordinator: open paths, share of the tree explored, instructions, tests, and the name of the limit at
    /// which the worker paused.
    fn pulse(&self, py: Python<'_>) -> PyResult<(usize, f64, u64, u64, Option<&'static str>)> {
        let core = self.lock(py)?;
        let (stats, paused) = (core.stats(), core.paused().or(core.stopped()).map(Limit::name));
        Ok((core.open_states(), core.explored_share(), stats.instructions, stats.tests, paused))
    }

    /// Adds the results of a worker's commit. Raises ValueError if they are damaged.
    fn add_results(&self, py: Python<'_>, results: &[u8]) -> PyResult<()> {
        self.lock(py)?.add_results(results).map_err(PyValueError::new_err)
    }

    /// Reads of the host's files from this one on, and the number of all.
    fn host_reads<'py>(&self, py: Python<'py>, first: usize) -> PyResult<(Bound<'py, PyBytes>, usize)> {
        let (reads, count) = self.lock(py)?.host_reads(first);
        Ok((PyBytes::new(py, &reads), count))
    }

    /// Adds what other processes read of the host's files. Raises ValueError if a file has changed.
    fn add_host_reads(&self, py: Python<'_>, reads: &[u8]) -> PyResult<()> {
        self.lock(py)?.add_host_reads(reads).map_err(PyValueError::new_err)
    }

    /// Removes all open paths and returns them, in parts.
    fn hand_over<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let parts = self.lock(py)?.hand_over();
        Ok(parts.iter().map(|part| PyBytes::new(py, part)).collect())
    }

    /// Becomes the coordinator of workers; the first `numbered` tests have numbers.
    fn coordinate(&self, py: Python<'_>, numbered: u64) -> PyResult<()> {
        self.lock(py)?.coordinate(numbered);
        Ok(())
    }

    /// Number of open paths in these bytes, and their share of the decision tree. Raises ValueError if they are damaged.
    fn weigh(&self, py: Python<'_>, paths: &[u8]) -> PyResult<(usize, f64)> {
        self.lock(py)?.weigh(paths).map_err(PyValueError::new_err)
    }

    /// Checkpoint of the results so far and these open paths; `open` is their number, `found` the bytes of tests without a
    /// number.
    fn checkpoint_of<'py>(
        &self,
        py: Python<'py>,
        paths: Vec<Vec<u8>>,
        open: u64,
        explored: f64,
        found: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let parts: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        let checkpoint = self.lock(py)?.checkpoint_of(&parts, open, explored, found);
        Ok(PyBytes::new(py, &checkpoint))
    }

    /// Adds the results of a checkpoint and returns its open paths in parts. Raises ValueError if it is damaged.
    fn restore_results<'py>(&self, py: Python<'py>, checkpoint: &[u8]) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let parts = self.lock(py)?.restore_results(checkpoint);
        let parts = parts.ok_or_else(|| PyValueError::new_err("the checkpoint is damaged"))?;
        Ok(parts.iter().map(|part| PyBytes::new(py, part)).collect())
    }

    /// Numbers the tests of workers in these files, and writes them into a folder if there is one. Returns the seconds that
    /// writing took.
    fn number_tests(
        &self,
        py: Python<'_>,
        folder: Option<PathBuf>,
        files: Vec<PathBuf>,
        is_urgent: bool,
    ) -> PyResult<f64> {
        let mut core = self.lock(py)?;
        let written = core
            .number_tests(folder.as_deref(), &files, is_urgent)
            .map_err(|e| PyOSError::new_err(format!("cannot write tests: {e}")))?;
        Ok(written.time.as_secs_f64())
    }

    /// Share of the decision tree that is explored, as Knuth estimates it.
    fn explored_share(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.explored_share())
    }

    /// Cancels the current query and then the run, from any thread: `advance` returns soon.
    fn cancel(&self, py: Python<'_>) {
        self.cancel.cancel();
        interrupt(py, &self.objects);
    }

    /// Ends the run. Open paths get their tests.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.stop(Limit::Interrupted);
        Ok(())
    }

    /// Paths finished since the last call.
    fn paths<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let finished = self.lock(py)?.take_finished();
        finished.iter().map(|path| path_dict(py, path)).collect()
    }

    /// Waits until all tests and the layers' files are written. Returns the seconds that writing tests took.
    fn finish_writing(&self, py: Python<'_>) -> PyResult<f64> {
        drop(self.lock(py)?);
        detached(py, &self.inner, |core| core.solver_mut().flush());
        let mut core = self.lock(py)?;
        let written =
            core.finish_writing().map_err(|e| PyOSError::new_err(format!("cannot write tests: {e}")))?;
        Ok(written.time.as_secs_f64())
    }

    /// New warnings of the layers for the user.
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.solver_mut().notices())
    }

    fn writing_failed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.writing_failed())
    }

    /// Coverage of each of the user's functions: name, file, line, entered, lines, branches.
    fn coverage(&self, py: Python<'_>) -> PyResult<Vec<FunctionRow>> {
        let functions = self.lock(py)?.coverage();
        Ok(functions.into_iter().map(|f| (f.name, f.file, f.line, f.entered, f.lines, f.branches)).collect())
    }

    /// The tree of forks as columns.
    fn tree<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        details::tree(py, &*self.lock(py)?)
    }

    /// The decisions of the path into each bug, and the number of decisions left out.
    fn trails(&self, py: Python<'_>) -> PyResult<Vec<details::Trail>> {
        let core = self.lock(py)?;
        Ok(core.bugs().iter().map(|bug| details::trail(&core, bug)).collect())
    }

    /// The queries that took longest, the slowest first.
    fn slowest<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.lock(py)?.solver().slowest.rows().iter().map(|row| details::slow(py, row)).collect()
    }

    /// All counts of the run.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let core = self.lock(py)?;
        let stats = core.stats();
        let has_numbers = core.has_numbers();
        let dict = PyDict::new(py);
        dict.set_item("stopped", core.stopped().map(Limit::name))?;
        dict.set_item("explore_s", stats.explore.as_secs_f64())?;
        dict.set_item("instructions", stats.instructions)?;
        dict.set_item("replayed", stats.replayed)?;
        dict.set_item("parked", stats.parked)?;
        dict.set_item("varied", stats.varied)?;
        dict.set_item("digest", format!("{:016x}", stats.digest))?;
        dict.set_item("forks", stats.forks)?;
        dict.set_item("open", core.open_states())?;
        dict.set_item("live", core.live_states())?;
        dict.set_item("memory", stats.memory)?;
        dict.set_item("peak_memory", stats.peak_memory)?;
        let paths = PyDict::new(py);
        paths.set_item("completed", stats.completed)?;
        paths.set_item("bugs", stats.bugs)?;
        paths.set_item("limits", stats.limits)?;
        paths.set_item("unsupported", stats.unsupported)?;
        dict.set_item("paths", paths)?;
        let bugs = PyList::empty(py);
        for bug in core.bugs() {
            let row = PyDict::new(py);
            row.set_item("class", bug.class.name())?;
            row.set_item("file", &bug.place.file)?;
            row.set_item("line", bug.place.line)?;
            row.set_item("message", &bug.message)?;
            row.set_item("test", bug.test.filter(|_| has_numbers))?;
            row.set_item("paths", bug.paths)?;
            row.set_item("inputs", details::inputs(py, bug)?)?;
            let variable = bug.variable.as_ref().map(|variable| match variable {
                Variable::Global { name } => (None, name.as_str(), 0),
                Variable::Local { function, number } => (Some(function.as_str()), "", *number),
                Variable::Input { name } => (Some(""), name.as_str(), 0),
            });
            row.set_item("variable", variable)?;
            row.set_item("sizes", bug.inputs.iter().map(|(_, value)| value.len()).collect::<Vec<_>>())?;
            bugs.append(row)?;
        }
        dict.set_item("bugs", bugs)?;
        dict.set_item("tests", stats.tests)?;
        let number = |test: Option<u64>| test.filter(|_| has_numbers);
        let targets: Vec<_> =
            core.targets().into_iter().map(|(reached, test)| (reached, number(test))).collect();
        dict.set_item("targets", targets)?;
        let [own, library] = core.covered();
        let coverage = covered_dict(py, own)?;
        coverage.set_item("library", covered_dict(py, library)?)?;
        dict.set_item("coverage", coverage)?;
        for (key, counted) in [("incomplete", core.incompleteness()), ("notes", core.notes())] {
            let rows = PyList::empty(py);
            for (why, place, count) in counted {
                let row = PyDict::new(py);
                row.set_item("why", why)?;
                row.set_item("where", place)?;
                row.set_item("count", count)?;
                rows.append(row)?;
            }
            dict.set_item(key, rows)?;
        }
        let solver = core.solver();
        let statistics = statistics_dict(py, solver.queries(), solver.time(), &solver.statistics())?;
        dict.set_item("solver", statistics)?;
        Ok(dict)
    }
}
