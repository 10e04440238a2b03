"""`explore("prog.c")` returns a `Run`: an iterable of finished paths that explores while it is read."""

from __future__ import annotations

import contextlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from partita import _core, options, results
from partita.certificate import Certificate
from partita.descriptions import Descriptions
from partita.entry import FUZZ_TARGET, Entry, bounds_of, load_from
from partita.entry.assumptions import MAX_PATHS, Assumptions
from partita.errors import InternalError, UsageError
from partita.findings import Baseline, fingerprint, project_root
from partita.frontends import cache, module_with_variables
from partita.frontends.c import check_flags, names_as
from partita.frontends.java import check_arguments, is_java, load_java
from partita.frontends.targets import Targets
from partita.hooks import Hooks
from partita.hooks import check as check_hooks
from partita.hooks import install as install_hooks
from partita.journal import FOUND, Journal, discard_tests, guard
from partita.journal import read as read_journal
from partita.ktest import TestCase, read_folder
from partita.layers import Layer
from partita.repetition import REPETITION_S, Repetition, in_memory_program
from partita.reports import details, folder, lcov, notebook
from partita.reports.text import input_line
from partita.results import Bug
from partita.search import BUILT_IN, Search
from partita.search import find as find_search
from partita.seeds import LONGEST, Seed, Shape, Sync, longest
from partita.seeds import read as read_seeds
from partita.solver import DEFAULT_LAYERS, resolve, with_verify
from partita.store import choose, without_password
from partita.toolchain import is_narrow
from partita.whole import Linked, libraries

if TYPE_CHECKING:
    from partita.cluster.coordinator import Coordinator
    from partita.cluster.messages import Shipment
    from partita.cluster.processes import Pool

SCHEMA = 1
DRIVER = "driver.c"
"""File of a run that started another function than `main`: what replay compiles beside the program."""
STEP_S = 0.1
ASSUMPTIONS_SHARE, MIN_ASSUMPTIONS_S = 0.1, 0.5
"""Time for what callers must pass, as a share of `max_time`, and its least value in seconds."""
COORDINATOR_SHARE = 0.1
"""Share of `max_memory` that is kept for the process that coordinates workers, beside what it has at the beginning."""
ITERATION_S = 0.01
"""Longest time between the end of a path and its delivery by the iterator."""

Names = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def explore(
    program: Names,
    *,
    arguments: Sequence[str] = (),
    hooks: Hooks | None = None,
    symbolic_args: bool = False,
    string_length: int | None = None,
    assume: str | None = None,
    sym_size: str = "0..16",
    max_length: int = 8,
    max_elements: int = 4,
    max_made: int = 24,
    sym_files: tuple[int, int] | None = None,
    sym_stdin: int | None = None,
    sym_stdout: bool = False,
    max_fail: int = 0,
    malloc_fails: bool = False,
    uninitialized: Literal["report", "symbolic"] = "report",
    vary_files: Literal["off", "late", "on"] = "late",
    stdin: bytes = b"",
    env: Mapping[str, str] = options.ENVIRONMENT,
    write_host: bool = False,
    ambient: Literal["fixed", "symbolic"] = "fixed",
    search: str | Search = "mix",
    target: Sequence[str] = (),
    seed: int = 0,
    seeds: str | os.PathLike[str] | None = None,
    sync: str | os.PathLike[str] | None = None,
    path_model: bool = True,
    jobs: int = 1,
    cluster: str | None = None,
    max_time: float | str | None = None,
    max_solver_time: float | str | None = None,
    max_memory: int | str | None = None,
    max_instructions: int | None = None,
    max_tests: int | None = None,
    max_depth: int | None = None,
    preempt: int | None = None,
    max_objects: int = 64,
    max_values: int = 64,
    check: Sequence[str] = (),
    float_cast: bool = True,
    undefined: Literal["error", "havoc"] = "error",
    tests: Literal["all", "coverage", "bugs"] = "all",
    all_bugs: bool = False,
    reproducible: bool = False,
    layers: str | Sequence[str | Layer] | None = None,
    verify: str | None = None,
    store: str | os.PathLike[str] | None = None,
    libc: Literal["auto", "musl", "none"] = "auto",
    optimize: bool = False,
    cflags: Sequence[str] = (),
    data_model: Literal["LP64", "ILP32"] = "LP64",
    clang: str | os.PathLike[str] | None = None,
    classpath: str | None = None,
    entry: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
) -> Run:
    """Explores every feasible path of a program (.c files, .bc, .ll, an executable built with `partita cc`, or Java).

    `check` names optional checks (overflow, shift, leak); with `ambient="symbolic"` time and random numbers are inputs.
    `max_objects` limits the objects of one symbolic pointer, `max_values` the values of one symbolic length or size.

    Limits are seconds, bytes (also as text: "60s", "2GB") and counts; none is set by default except memory (half of the
    machine's). `max_time` counts compiling too, but not that of libraries which are not in the cache. With `max_time`
    one query may take a fortieth of it, at least a second; `max_solver_time` sets another limit. With `out`, tests and
    `run.json` are written into that folder, which must be new or empty. With `store`, expensive answers are kept in
    that file, or on that Redis server, for later runs ("default": the user's own file, as in `partita run`).

    With `path_model=False` the chain is asked about both sides of every branch, as by an executor that keeps no model
    of its paths: the same paths with about twice the queries, for experiments.

    In `arguments`, `--sym-arg N` is a symbolic argument of up to N bytes and `--sym-args MIN MAX N` MIN to MAX of them.
    `sym_files` is the number and the size of symbolic files A, B, ..., `sym_stdin` the size of symbolic standard input.
    Files of the machine are read, and never written without `write_host` (docs/whole-programs.md).

    `entry` starts another function than `main`, with symbolic parameters: pointers are null, lead to an object of their
    own, or share an earlier one; `assume` is a condition in C over the parameters; `max_length`, `max_elements` and
    `max_made` bound strings, arrays and objects (docs/entry.md). `sym_size` bounds the input of a fuzz target.

    `target` has lines (FILE:LINE) and functions that the search tries to reach first; `summary()["targets"]` says what
    became of them.

    `seeds` is a folder (or file) of inputs that are followed first: raw bytes as fuzzers keep them, or `.ktest`s. With
    `sync`, the output folder of afl-fuzz, inputs are exchanged with its instances while the run goes on; it needs `out`
    (docs/fuzzing.md).

    With `jobs`, that many processes explore the program together, one per core with 0; with `cluster`, the workers are
    actors of Ray ("local", or "ray://HOST:PORT"), at most `jobs` if that is more than 1 (docs/scale.md). Such a run has
    no hooks, no objects as `search` or `layers`, no seeds and no certificate, and its paths cannot be iterated over.

    `hooks` are Python functions that replace C functions (`partita.hooks`), `search` is the name of a strategy or an
    object (`partita.search`), `layers` a chain as for `Solver`. docs/python.md and docs/own-models.md have examples.

    `resume` is the folder of a run of the same program and options that goes on, here or on another machine, instead of
    a new one in `out` (docs/scale.md).

    With `certificate`, a run that explored everything writes a certificate into that file (docs/certificates.md).

    >>> run = explore("prog.c", max_time=60)
    >>> for path in run:
    ...     print(path.ending, path.inputs)
    """
    given = {name: value for name, value in locals().items() if name in options.KEYWORDS}
    names = [program] if isinstance(program, (str, os.PathLike)) else list(program)
    texts = [os.fspath(name) for name in names]
    if isinstance(arguments, str):
        raise UsageError(f"expected arguments to be a sequence of words, found {arguments!r}")
    hooks = hooks or {}
    check_hooks(hooks)
    strategy = find_search(search)
    # The core knows strategies by name, and layers when the chain is built.
    given |= {"search": strategy if isinstance(strategy, str) else BUILT_IN[0], "layers": None}
    # Programs may read their name and those of their files: those of a run that goes on stay, wherever they are now.
    began_as = texts if resume is None else read_journal(Path(resume)).head["names"]
    run_options = options.checked(given, [began_as[0], *arguments])
    spec, make = resolve(layers)
    default, file = DEFAULT_LAYERS, choose(store, spec)
    if verify is not None:
        spec, default = with_verify(spec, default, verify)
    if jobs != 1 or cluster is not None:
        refused = {
            "hooks": hooks,
            "a search of its own": not isinstance(strategy, str),
            "layers that are objects": layers is not None and not isinstance(layers, str),
            "the layer record": "record" in spec,
            "write_host": write_host,
            "certificate": certificate,
            "preempt": preempt is not None,
            "seeds": seeds,
            "sync": sync,
        }
        for what, is_given in refused.items():
            if is_given:
                found = f"jobs={jobs}" if cluster is None else "a cluster"
                raise UsageError(f"expected jobs=1 for a run with {what}, found {found}")
    in_memory = uninitialized == "symbolic"
    if optimize and in_memory:
        raise UsageError("expected no optimize with uninitialized=symbolic: LLVM chooses values of such memory itself")
    start, filling_s = time.perf_counter(), cache.filling_s
    if data_model == "ILP32" and not is_narrow(cflags):
        cflags = [*cflags, "-m32"]
    given_flags = list(cflags)
    cflags = [*cflags, *check_flags(check), *names_as(texts, began_as)]
    driven: Entry | None = None
    targets = Targets(target)
    if is_java(texts):
        if targets:
            raise UsageError("expected a C program for target, found Java")
        java: dict[str, Any] = {"classpath": classpath, "entry": entry, "string_length": string_length}
        check_arguments(arguments)
        user, parts = load_java(texts, symbolic_args=symbolic_args, **java)
        linked = Linked("none", "a Java program", parts)
    else:
        for name, value in (("classpath", classpath), ("symbolic_args", symbolic_args)):
            if value:
                raise UsageError(f"expected a Java program for {name}, found `{texts[0]}`")
        flags: dict[str, Any] = {"cflags": cflags, "clang": None if clang is None else os.fspath(clang)}
        flags |= {"optimize": optimize, "in_memory": in_memory}
        if seeds is not None and sym_size == options.KEYWORDS["sym_size"].default:
            sym_size = f"0..{min(max(16, longest(Path(seeds))), LONGEST)}"
        bounds = bounds_of(max_length, max_elements, max_made, sym_size)
        user, driven = load_from(texts, entry, bounds, assume, targets=targets, **flags)
        # A system call that may fail is one of musl's; a checker of certificates links what it is given.
        fails = max_fail > 0 or any(word.lstrip("-") == "max-fail" for word in arguments)
        models_print = certificate is None and not fails
        linked = libraries(user, texts, libc, run_options.needs_kernel, frozenset(hooks), models_print)
        parts = linked.parts
        if driven is not None:
            parts = [driven.driver, *parts]
    try:
        engine = _core.Engine([user, *parts], spec, default, make, run_options, file, list(hooks), linked.absent)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if hooks:
        install_hooks(engine, hooks, optimize)
    if not isinstance(strategy, str):
        engine.set_search(strategy)
    compile_s = time.perf_counter() - start
    world: dict[str, Any] = {
        "libc": linked.libc,
        "libc_why": linked.why,
        "environment": dict(env),
        "cflags": given_flags,
        "project": None,
        "jobs": 1,
    }
    if is_java(texts):
        world["java"] = {"classpath": classpath, "entry": entry, "arguments": list(arguments)}
    run = Run(engine, texts, compile_s, world)
    run.name = began_as[0]
    run.limits = run_options.limits
    run.reproducible = reproducible
    if jobs != 1 or cluster is not None:
        from partita.cluster.messages import Shipment  # most runs do not need it

        shipment = Shipment(
            parts=[user, *parts],
            layers=spec,
            default_layers=default,
            given=given,
            words=[began_as[0], *arguments],
            memory=options.machine_memory(),
            user=(os.getuid(), os.getgid()),
            store=None if store is None else os.fspath(store),
            absent=list(linked.absent),
            bug_conditions=0 if driven is None else MAX_PATHS,
        )
        run.share_with(shipment, jobs, cluster)
    # With `preempt`, what a path does depends on the races that others have found.
    if not hooks and isinstance(strategy, str) and not write_host and certificate is None and preempt is None:
        run.guard = guard([user, *parts], given, arguments)
    run.entry = run.descriptions.entry = driven
    run.targets = targets
    if seeds is not None or sync is not None:
        is_target = driven is not None and driven.function == FUZZ_TARGET
        shape = Shape(fuzz_target=is_target, sym_files=sym_files, sym_stdin=sym_stdin)
        if sync is not None:
            run.sync = Sync(Path(sync), shape)
        if seeds is not None:
            world["seeds"] = os.path.abspath(seeds)
            run.add_seeds(read_seeds(Path(seeds), shape))
    if not is_java(texts):
        more = [] if driven is None else ["-femit-all-decls"]
        debug = flags | {"cflags": [*cflags, *more], "entry": "main" if driven is None else driven.function}
        run.descriptions.compile = lambda: module_with_variables(texts, **debug)
        if not hooks and not write_host and not optimize:
            limits: dict[str, Any] = {"max_instructions": None, "max_tests": None, "max_depth": None, "target": ()}
            limits["max_time"] = REPETITION_S
            quiet = options.checked(given | limits, [began_as[0], *arguments])
            make_engine = lambda lowered: _core.Engine(  # noqa: E731
                [lowered, *parts], spec, default, make, quiet, None, [], linked.absent
            )
            run.descriptions.repetition = Repetition(lambda: in_memory_program(texts, debug, make_engine))
    if driven is not None:
        engine.keep_bug_conditions(MAX_PATHS)
    # Compiling libraries, which is done once, does not count.
    run.count_time(compile_s - (cache.filling_s - filling_s))
    if certificate is not None:
        if hooks:
            raise UsageError("expected no hooks with a certificate: a checker cannot follow Python functions")
        if malloc_fails:
            raise UsageError("expected no malloc_fails with a certificate: a checker cannot follow failing allocations")
        if in_memory:
            raise UsageError("expected uninitialized=report with a certificate: a checker takes such memory for zeros")
        engine.record_decisions()
        run.certificate = Certificate(Path(certificate), [user, *parts], [texts[0], *arguments], env, check, float_cast)
        run.warnings += run.certificate.doubts(engine.functions(), linked.why)
    if resume is not None:
        run.resume(Path(resume))
    elif out is not None:
        run.write_to(Path(out))
    elif reproducible and jobs == 1 and cluster is None:
        engine.name_tests(None)
    return run


class Run:
    """An exploration. Iterate over it to get paths as they finish, or call `finish()`; then read the results."""

    def __init__(self, engine: _core.Engine, program: list[str], compile_s: float, world: dict[str, Any]) -> None:
        self._engine: _core.Engine | Coordinator = engine
        self._coordinator: Coordinator | None = None
        """The engine, if workers explore."""
        self._world = world
        self._started = time.perf_counter()
        self._more = True
        self._closed = False
        self._write_s = 0.0
        self._interrupted = False
        self._wall_s = 0.0
        self._time_before = 0.0
        self._command: list[str] | None = None
        self.program = program
        self.name = program[0]
        """The name that the program is told."""
        self.compile_s = compile_s
        self.out: Path | None = None
        self.certificate: Certificate | None = None
        self.guard: dict[str, str] | None = None
        """Identifies program and options for the journal; None: the run cannot be resumed."""
        self.journal: Journal | None = None
        self.reproducible = False
        """Are tests numbered by their decisions, at the end?"""
        self.limits: dict[str, float | None] = {}
        """Limits by the names of `explore`'s options; None: not set."""
        self.entry: Entry | None = None
        """The function that was started with a driver instead of `main`."""
        self.targets = Targets(())
        self.sync: Sync | None = None
        """The exchange with fuzzers that run beside."""
        self.descriptions = Descriptions()
        self.baseline: Baseline | None = None
        """Accepted bugs."""
        self._root = project_root(Path.cwd())
        self._ended: list[results.Path] = []
        self._conditions: dict[tuple[str, str, int], list[str]] = {}
        self._assumptions: dict[tuple[str, str, int], Assumptions] = {}
        self.warnings: list[str] = []
        """Warnings from before the run goes on."""
        self.warn: Callable[[str], object] = lambda line: warnings.warn(line, RuntimeWarning, stacklevel=4)
        """Called with each warning for the user; by default it issues a Python warning."""

    def share_with(self, shipment: Shipment, jobs: int, cluster: str | None) -> None:
        """Explores with workers: processes of this machine, or actors of a cluster."""
        from partita.cluster.coordinator import Coordinator, resident_bytes  # most runs do not need it

        assert isinstance(self._engine, _core.Engine)
        pool: Pool
        memory: int | None = None
        if cluster is not None:
            from partita.cluster.actors import Actors

            pool = Actors(shipment, cluster, jobs if jobs > 1 else None)
        else:
            from partita.cluster.processes import Processes

            count, limit = jobs or os.cpu_count() or 1, self.limits["max_memory"]
            if limit is not None:
                # This process needs memory too, and what it has now is the least.
                memory = max(1, int(limit * (1 - COORDINATOR_SHARE) - resident_bytes()))
            pool = Processes(shipment, count)
        self._engine = self._coordinator = Coordinator(self._engine, pool, self.limits, memory)
        self._world["jobs"] = pool.capacity()

    def write_to(self, folder: Path) -> None:
        """Writes tests and `run.json` into this folder, which must be new or empty."""
        prepare_folder(folder)
        try:
            if self.reproducible and self._coordinator is None:
                self._engine.name_tests(folder)
            else:
                self._engine.write_to(folder)
        except OSError as error:
            raise UsageError(f"cannot write tests into `{folder}`: {error.strerror or error}") from None
        if self.entry is not None:
            write_atomically(folder / DRIVER, self.entry.source)
        self.out = folder
        if self.guard is not None:
            head = {"guard": self.guard, "names": self.program, "command": self._command, "folder": os.getcwd()}
            self.journal = Journal(folder, head, None)
            self._engine.keep_checkpoints()

    def resume(self, folder: Path) -> None:
        """Goes on with the run of this folder: nothing that it has finished is explored again."""
        contents = read_journal(folder)
        if self.guard is None:
            raise UsageError(
                "a run with hooks, a strategy of its own, --write-host, --preempt or --certificate cannot be resumed"
            )
        written, ours = contents.head["guard"].get("version"), self.guard["version"]
        if written != ours:
            found = f"the run of `{folder}` was written by Partita {written}, this is {ours}"
            raise UsageError(f"{found}: resume it with the same one, or start a new run")
        for name, what in (("program", "another program"), ("options", "other options")):
            if contents.head["guard"].get(name) != self.guard[name]:
                raise UsageError(f"the run of `{folder}` has {what}: resume it with the same ones, or start a new run")
        if contents.head["names"][0] != self.name:
            found = f"expected the program as `{contents.head['names'][0]}`, which it may read, found `{self.name}`"
            raise UsageError(f"{found}: use explore(..., resume={str(folder)!r})")
        self.out = folder
        self.journal = Journal(folder, contents.head, contents.size)
        self._engine.keep_checkpoints()
        if contents.damaged:
            self.warnings.append(f"a part of the journal of `{folder}` is damaged: what is intact is used")
        discard_tests(folder, contents.counts.numbered)
        if self._coordinator is None and (self.reproducible or contents.counts.found):
            self._engine.name_tests(folder, contents.counts.found, contents.counts.numbered)
        else:
            self._engine.write_to(folder, appends=True)
        if contents.checkpoint is not None:
            try:
                if self._coordinator is not None:
                    self._coordinator.resume(contents.checkpoint, contents.counts.numbered, contents.counts.found)
                else:
                    self._engine.restore(contents.checkpoint)
            except ValueError as error:
                raise InternalError(f"`{folder}`: {error}") from None

    def _checkpoint(self, last: bytes | None = None) -> None:
        """Writes a checkpoint into the journal: this one, or a new one."""
        assert self.journal is not None
        started = time.monotonic()
        checkpoint = self._engine.checkpoint() if last is None else last
        if self._engine.writing_failed():
            return  # it counts tests that are not on the disk
        self.journal.write(checkpoint, self.complete, started)
        self.count_time(time.monotonic() - started)

    def keep_conditions(self) -> None:
        """Gives each path its `condition`. To be called before the first path ends."""
        if self._coordinator is not None:
            raise UsageError("expected jobs=1 for a run whose paths are kept")
        self._engine.keep_conditions()

    def __iter__(self) -> Iterator[results.Path]:
        """Explores and yields each path as it ends. Leaving the loop early ends the run."""
        if self._coordinator is not None:
            raise UsageError("expected jobs=1 for a run whose paths are iterated over: call finish() instead")
        self._engine.keep_paths()
        try:
            while not self._closed:
                self.step(ITERATION_S)
                self._take_paths()
                ended, self._ended = self._ended, []
                yield from ended
        finally:
            self.stop()

    def _take_paths(self) -> None:
        """Takes the paths that ended since the last call, and the conditions of paths into bugs for `entry`."""
        for path in map(results.Path.of, self._engine.paths()):
            self._ended.append(path)
            if self.entry is not None and path.kind == "bug" and path.condition is not None:
                key = (path.class_ or "", path.file, path.line)
                self._conditions.setdefault(key, []).append(path.condition)

    def _find_assumptions(self) -> None:
        """Derives what callers must pass for each bug, once the run has ended."""
        if self.entry is None:
            return
        self._take_paths()
        limit = self.limits.get("max_time")
        deadline = None if limit is None else time.monotonic() + max(MIN_ASSUMPTIONS_S, ASSUMPTIONS_SHARE * limit)
        for bug in map(Bug.of, self._engine.summary()["bugs"]):
            key = (bug.class_, bug.file, bug.line)
            found = self.entry.assumptions(bug.inputs, self._conditions.get(key, [])[:MAX_PATHS], deadline)
            if found is not None and bug.paths > MAX_PATHS:
                found = replace(found, others=True)
            if found is not None:
                self._assumptions[key] = found

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def step(self, seconds: float = STEP_S) -> bool:
        """Explores for about this time. Returns False once the run has ended and its files are written."""
        if self._closed:
            return False
        if self.sync is not None and self.sync.is_due():
            self._exchange(self.sync)
        try:
            self._more = self._more and self._engine.advance(seconds)
        except KeyboardInterrupt:
            self._interrupted = True
        except RuntimeError as error:
            raise InternalError(str(error)) from None
        except ValueError as error:
            self.stop()
            raise UsageError(str(error)) from error.__cause__
        if self._interrupted and self._more:
            self._engine.interrupt()
            self._more = False
        if self.journal is not None and self._more and self.journal.is_due() and self._engine.is_checkpoint_quick():
            self._checkpoint()
        if not self._more or self._engine.writing_failed():
            self._close()
        for line in (*self.warnings, *self._engine.notices()):
            self.warn(line)
        self.warnings.clear()
        return not self._closed

    def add_seeds(self, seeds: Sequence[Seed]) -> int:
        """Adds inputs to follow next. Returns the number of those whose paths have ended or were cut before."""
        return self._engine.add_seeds([(list(objects), stream) for objects, stream in seeds])

    def _exchange(self, sync: Sync) -> None:
        if self.out is None:
            raise UsageError("expected a run with a folder for sync, found one without: use explore(..., out=folder)")
        if received := sync.received():
            self.add_seeds(received)
        sync.send(self.out)

    def count_time(self, seconds: float) -> None:
        """Counts time that was spent before exploring for `max_time`."""
        self._time_before += seconds
        self._engine.count_time_before(max(0.0, self._time_before))

    def abandon(self) -> None:
        """Frees nothing of the exploration when it is no longer used: the process ends soon."""
        self._engine.abandon()

    def interrupt(self) -> None:
        """Makes the run end soon, with tests for the open paths. May be called from a signal handler."""
        self._interrupted = True
        self._engine.cancel()

    def stop(self) -> None:
        """Ends the run as `interrupt` does and writes its files. No effect on a run that has ended."""
        if not self._closed:
            self.interrupt()
            self.step()

    def finish(self) -> Run:
        """Explores until the run has ended: everything is explored, or a limit was reached."""
        while self.step():
            pass
        return self

    def _close(self) -> None:
        self._closed = True
        try:
            self._write_s = self._engine.finish_writing()
        except OSError as error:
            raise UsageError(f"{error}: free some space or choose another folder with --out") from None
        if self.sync is not None and self.out is not None:
            self.sync.send(self.out)
        if self.journal is not None:
            last = self._engine.last_checkpoint()
            # A run that stopped in the middle of a turn goes on from an earlier checkpoint.
            if last is not None or self._engine.summary()["stopped"] is None:
                self._checkpoint(last)
        self._find_assumptions()
        if self.out is not None:
            ended = self._engine.summary()
            bugs = [Bug.of(raw) for raw in ended["bugs"]]
            self.descriptions.repeat(bugs, self.limits["max_time"], ended["stopped"])
        self._wall_s = time.perf_counter() - self._started + self.compile_s
        if self.out is not None:
            folder.add_values(self.out, self.bugs)
            write_atomically(self.out / "coverage.lcov", lcov.render(self._engine.coverage()))
            write_atomically(self.out / "tree.json", json.dumps(details.tree(self._engine)) + "\n")
            write_atomically(self.out / "slowest.json", json.dumps(details.slowest(self._engine), indent=1) + "\n")
            write_atomically(self.out / "run.json", json.dumps(self.summary(), indent=2) + "\n")
        if self.journal is not None:
            self.journal.close()
            self.journal = None
        if self.out is not None and self._engine.summary()["stopped"] is None:
            (self.out / FOUND).unlink(missing_ok=True)
        if self.certificate is not None:
            if self.complete and self.certificate.is_possible:
                write_atomically(self.certificate.path, self.certificate.text(self._engine.decisions()))
            elif not self.complete:
                self.warn(f"no certificate in `{self.certificate.path}`: the exploration is incomplete")

    def tests(self) -> Iterator[TestCase]:
        """Reads the tests written so far from the folder of the run."""
        if self.out is None:
            raise UsageError("expected a run with a folder, found one without: use explore(..., out=folder)")
        return read_folder(self.out)

    @property
    def is_writing(self) -> bool:
        """Has the exploration ended, with files still to be written?"""
        return self._closed and not self._wall_s

    @property
    def bugs(self) -> list[Bug]:
        """The distinct bugs found so far."""
        return self.described(self._engine.summary()["bugs"])

    def described(self, rows: Sequence[dict[str, Any]]) -> list[Bug]:
        """Bugs from the engine's rows, with inputs as C writes them where their types are known."""
        accepted = self.baseline.accepted if self.baseline else frozenset()
        found = []
        for raw in rows:
            bug = self.descriptions.described(Bug.of(raw), raw["variable"])
            mark = fingerprint(bug.class_, bug.file, bug.line, self._root)
            assumes = self._assumptions.get((bug.class_, bug.file, bug.line))
            found.append(replace(bug, fingerprint=mark, accepted=mark in accepted, assumes=assumes))
        return found

    @property
    def complete(self) -> bool:
        """Was every feasible path explored? A bug ends its path and does not make a run incomplete."""
        raw = self._engine.summary()
        return self._closed and raw["stopped"] is None and not raw["incomplete"] and not raw["open"]

    @property
    def mismatches(self) -> int:
        """Number of answers of the chain that `verify` contradicted."""
        return int(sum(layer.get("mismatches", 0) for layer in self._engine.summary()["solver"]["layers"]))

    def __repr__(self) -> str:
        raw = self._engine.summary()
        state = "running" if not self._closed else "complete" if self.complete else raw["stopped"] or "incomplete"
        paths, bugs = raw["paths"]["completed"], len(raw["bugs"])
        names = " ".join(self.program)
        return f"<Run of {names}: {state}, {results.counted(paths, 'path')} completed, {results.counted(bugs, 'bug')}>"

    def _repr_html_(self) -> str:
        """The results so far as HTML for notebooks."""
        return notebook.run(self.summary(), self.bugs, self._closed)

    def describe_command(self, command: Sequence[str], project: str | None = None) -> None:
        """Sets the command line for `run.json`, and the folder whose compile_commands.json has the flags."""
        self._command = [without_password(word) for word in command]
        self._world["project"] = project

    def counts(self) -> dict[str, Any]:
        """The counts so far, for displays of progress."""
        return self._engine.summary()

    def explored_share(self) -> float:
        """Share of the tree of decisions that is explored: Knuth's estimate, each side of a fork being half."""
        return self._engine.explored_share()

    def progress(self) -> tuple[list[tuple[int, int]], int]:
        """The curve of coverage, and the cost of the run so far.

        Points are the cost and the number of function entries and edges of the user's code that were reached, wherever
        that number grew. Costs are counts, in estimated nanoseconds: instructions and the solver's effort.
        """
        return self._engine.progress()

    def summary(self) -> dict[str, Any]:
        """The contents of `run.json`."""
        raw = self._engine.summary()
        layers = raw["solver"]["layers"]
        checked = int(sum(layer.get("checked", 0) for layer in layers))
        bugs = [
            bug.as_row() | {"inputs": input_line(bug.inputs, bug.typed, bug.sizes)}
            for bug in self.described(raw["bugs"])
        ]
        return {
            "schema": SCHEMA,
            "program": self.program,
            "entry": None if self.entry is None else {"function": self.entry.function, "file": self.entry.file},
            "command": self._command,
            "version": _core.__version__,
            **self._world,
            "stopped": raw["stopped"],
            "complete": self.complete,
            "wall_s": round(self._wall_s or time.perf_counter() - self._started + self.compile_s, 6),
            "compile_s": round(self.compile_s, 6),
            "explore_s": round(raw["explore_s"], 6),
            "write_s": round(self._write_s, 6),
            "instructions": raw["instructions"],
            "replayed": raw["replayed"],
            "parked": raw["parked"],
            "varied": raw["varied"],
            "forks": raw["forks"],
            "paths": raw["paths"],
            "bugs": bugs,
            "tests": raw["tests"],
            "targets": self._target_rows(raw["targets"]),
            "coverage": raw["coverage"],
            "incomplete": raw["incomplete"],
            "notes": raw["notes"],
            "solver": {**raw["solver"], "verify": {"checked": checked, "mismatches": self.mismatches}},
            "memory_peak_mb": round(raw["peak_memory"] / 2**20, 1),
        }

    def _target_rows(self, reached: Sequence[tuple[bool, int | None]]) -> list[dict[str, Any]]:
        """Status of each target: `reached` with its test, `unreachable`, or `not reached`."""
        rows = []
        for i, target in enumerate(self.targets.all):
            was_reached, test = reached[i] if i < len(reached) else (False, None)
            impossible = self.complete or not self.targets.has_code[i]
            status = "reached" if was_reached else "unreachable" if impossible else "not reached"
            rows.append({"target": target.text, "status": status, "test": test})
        return rows


def prepare_folder(folder: Path) -> None:
    """Makes the folder of a run. Fails if it has files, so that no run is overwritten."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        has_files = any(folder.iterdir())
    except OSError as error:
        raise UsageError(f"cannot write into `{folder}`: {error.strerror}; choose another folder with --out") from None
    if has_files:
        raise UsageError(f"expected a new or empty folder, found `{folder}` with files in it: choose another --out")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write into `{folder}`: permission denied; choose another folder with --out")


def next_folder(parent: Path) -> Path:
    """Makes `partita-out-N` with the first free N, and the link `partita-last` to it."""
    number = 0
    while True:
        folder = parent / f"partita-out-{number}"
        try:
            folder.mkdir()
            break
        except FileExistsError:
            number += 1
        except OSError as error:
            raise UsageError(
                f"cannot write into `{parent}`: {error.strerror}; choose another folder with --out"
            ) from None
    link = parent / "partita-last"
    # The link is a convenience: if it cannot be made (the name is taken), the run goes on without it.
    with contextlib.suppress(OSError):
        if link.is_symlink():
            link.unlink()
        link.symlink_to(folder.name)
    return folder


def write_atomically(path: Path, text: str) -> None:
    """Writes a file atomically."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text)
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise UsageError(
            f"cannot write `{path}`: {error.strerror}: free some space or choose another folder with --out"
        ) from None
