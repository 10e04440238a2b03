"""The engine of a run on several workers. It explores nothing itself: it leases open paths and collects what is
committed. `Run` uses it in the place of an engine."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from partita import _core
from partita.cluster.leases import Leases, Part
from partita.cluster.memory import SharedMemory
from partita.cluster.messages import Cut, Failure, Report, Stop, Task
from partita.cluster.processes import Lost, Pool, Ready
from partita.errors import InternalError
from partita.journal import FOUND

STOP_S = 10.0
"""Time after which a worker that does not stop is lost."""
MAX_LOST = 5
"""Number of workers that may be lost without a commit between, beside those of one node."""
WAIT_S = 0.05
CAPACITY_S = 2.0
"""Time between two looks at how many workers there is room for."""


class Coordinator:
    """Leases, workers, and the engine that has the results of all of them."""

    def __init__(
        self, engine: _core.Engine, pool: Pool, limits: dict[str, float | None], memory: int | None = None
    ) -> None:
        """`memory`: bytes that all workers share; None: each has a limit of its own."""
        self._engine = engine
        self._memory = SharedMemory(memory, pool.capacity())
        self._pool = pool
        self._workers: set[int] = set()
        self._counted = 0.0
        self._limits = limits
        self._told: dict[int, int] = {}
        """Number of reads of the host's files that each worker has."""
        self._leases: Leases | None = None
        self._restored: list[bytes] | None = None
        self._out: Path | None = None
        self._found: Any = None
        self._cut_found: Path | None = None
        self._write_error: OSError | None = None
        self._numbered = 0
        self._started = 0.0
        self._time_before = 0.0
        self._is_cancelled = False
        self._is_over = False
        self._stopped: str | None = None
        self._lost = 0
        self._last_checkpoint: bytes | None = None
        self._summaries: dict[int, dict[str, Any]] = {}
        self._peak = 0
        self._slowest: dict[int, list[dict[str, Any]]] = {}
        self._paths: list[dict[str, Any]] = []
        self._notices: list[str] = []

    def __getattr__(self, name: str) -> Any:
        # Coverage, functions, the tree of forks: what the engine has of all results.
        return getattr(self._engine, name)

    # Before the run

    def write_to(self, folder: Path, appends: bool = False) -> None:
        """Keeps tests in this folder."""
        self._out = folder
        self._found = (folder / FOUND).open("ab" if appends else "xb", buffering=0)

    def keep_checkpoints(self) -> None:
        """A checkpoint needs no preparation: the leases are one."""

    def resume(self, checkpoint: bytes | None, numbered: int, found: int) -> None:
        """Goes on from a checkpoint, whose first tests have numbers and `found` bytes of tests have none."""
        self._found.truncate(found)
        self._found.seek(found)
        self._numbered = numbered
        if checkpoint is not None:
            self._restored = self._engine.restore_results(checkpoint)

    def count_time_before(self, seconds: float) -> None:
        self._time_before = seconds

    # The run

    def _start(self) -> Leases:
        engine = self._engine
        self._started = time.monotonic()
        if self._found is None:
            self._found = tempfile.NamedTemporaryFile(buffering=0)  # noqa: SIM115 (it lives as long as the run)
        paths = engine.hand_over() if self._restored is None else self._restored
        engine.coordinate(self._numbered)
        summary = engine.summary()

        def left(name: str, used: int) -> int | None:
            limit = self._limits.get(name)
            return None if limit is None else max(0, int(limit) - used)

        parts = [Part(part, *engine.weigh(part)) for part in paths]
        self._leases = Leases(
            [part for part in parts if part.count],
            left("max_instructions", summary["instructions"]),
            left("max_tests", summary["tests"]),
        )
        return self._leases

    def _start_workers(self) -> None:
        """Starts workers for which there is room, at first and whenever a cluster grows."""
        if time.monotonic() < self._counted:
            return
        self._counted = time.monotonic() + CAPACITY_S
        while len(self._workers) < self._memory.room(self._pool.capacity()):
            self._workers.add(self._pool.start())

    def _time_left(self) -> float | None:
        limit = self._limits.get("max_time")
        return None if limit is None else max(0.0, limit - self._used_s())

    def _used_s(self) -> float:
        return self._time_before + (time.monotonic() - self._started if self._started else 0.0)

    def advance(self, seconds: float) -> bool:
        """Lets workers explore for about this time. Returns False once everything is explored or a limit is reached."""
        if self._is_over:
            return False
        leases = self._leases or self._start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._start_workers()
            limit = self._limit(leases)
            if limit is not None:
                self.stop(limit)
                return False
            for worker, task in leases.tasks(self._time_left(), self._memory.share()):
                host, self._told[worker] = self._engine.host_reads(self._told.get(worker, 0))
                self._pool.send(worker, replace(task, host=host) if host else task)
            for worker, parts in leases.cuts():
                self._pool.send(worker, Cut(parts))
            if leases.is_done():
                self._close()
                return False
            for worker, event in self._pool.wait(min(WAIT_S, max(0.0, end - time.monotonic()))):
                limit = self._handle(leases, worker, event)
                if limit is not None:
                    self.stop(limit)
                    return False
            if self._write_error is not None:
                return False
        return True

    def _limit(self, leases: Leases) -> str | None:
        if self._is_cancelled:
            return "interrupted"
        # Workers know better: they leave time for the tests of their open paths. This is for those that start.
        if self._time_left() == 0.0:
            return "max-time"
        return leases.exhausted() if leases.open else None

    def _handle(self, leases: Leases, worker: int, event: object) -> str | None:
        """Handles what a worker sent. Returns the limit that it has reached."""
        if isinstance(event, Ready):
            leases.add(worker)
        elif isinstance(event, Lost):
            self._lost += 1
            if self._lost > MAX_LOST + len(self._workers):
                raise InternalError(f"{self._lost} workers were lost one after the other without a result")
            self._notices.append("a worker was lost: others explore its paths")
            leases.lose(worker)
            self._summaries.get(worker, {}).update(memory=0, peak_memory=0)
            self._workers.discard(worker)
            self._counted = 0.0
        elif isinstance(event, Failure):
            self._close()
            raise (ValueError if event.is_usage else InternalError)(event.message)
        elif isinstance(event, Report):
            memory = event.summary["memory"]
            if event.commit is None:
                leases.pause(worker)
                self._take(worker, event)
                if event.paused == "max-memory" and self._memory.give_all():
                    self._end_workers(leases, set())
                    return None
                return event.paused or "interrupted"
            self._commit(leases, worker, event)
            if event.paused == "max-memory" and self._memory.give_all():
                self._end_workers(leases, {worker})
                return None
            if event.paused in ("max-time", "max-memory", "interrupted"):
                return event.paused
            if self._memory.is_left(memory, event.open):
                # Free memory goes back to the system with the process only.
                self._end_workers(leases, set())
        return None

    def _end_workers(self, leases: Leases, but: set[int]) -> None:
        """Ends workers: what they hold waits for others."""
        for worker in self._workers - but:
            self._pool.end(worker)
            leases.lose(worker)
            self._summaries.get(worker, {}).update(memory=0, peak_memory=0)
        self._workers &= but
        self._counted = 0.0

    def _take(self, worker: int, report: Report) -> None:
        self._summaries[worker] = report.summary
        self._peak = max(self._peak, resident_bytes() + sum(each["peak_memory"] for each in self._summaries.values()))
        self._slowest[worker] = report.slowest or self._slowest.get(worker, [])
        self._paths += report.paths
        self._notices += report.notices

    def _commit(self, leases: Leases, worker: int, report: Report) -> None:
        assert report.commit is not None
        results, tests, _ = report.commit
        self._lost = 0
        self._engine.add_results(results)
        self._write(self._found, tests)
        leases.report(worker, report, [Part(part, *self._engine.weigh(part)) for part in report.given])
        self._take(worker, report)

    def _write(self, file: Any, data: bytes) -> None:
        try:
            while data:
                data = data[file.write(data) :]
        except OSError as error:
            self._write_error = error

    def stop(self, limit: str) -> None:
        """Ends the run at this limit: open paths are cut, with tests."""
        if self._is_over:
            return
        leases = self._leases or self._start()
        waited_for = {worker for worker in leases.workers() if worker in leases.running() or leases.holds(worker)}
        running = set(leases.running())
        for worker in waited_for:
            self._pool.send(worker, Stop(limit))
            if worker not in running:
                self._pool.send(worker, Task([], 0.0, 0, 0, 0.0))
        ended: list[list[bytes]] = []
        end = time.monotonic() + STOP_S
        stopped: set[int] = set()
        while waited_for and time.monotonic() < end:
            for worker, event in self._pool.wait(WAIT_S):
                if worker not in waited_for:
                    continue
                if isinstance(event, Lost):
                    leases.lose(worker)
                    waited_for.discard(worker)
                elif isinstance(event, Report) and event.ended is None:
                    # It ended its period before it was told to stop.
                    if event.commit is not None:
                        self._commit(leases, worker, event)
                    self._pool.send(worker, Task([], 0.0, 0, 0, 0.0))
                elif isinstance(event, Report):
                    waited_for.discard(worker)
                    stopped.add(worker)
                    if event.commit is not None:
                        self._commit(leases, worker, event)
                    else:
                        self._take(worker, event)
                    ended.append(event.ended or [])
                elif isinstance(event, Failure):
                    self._close()
                    raise (ValueError if event.is_usage else InternalError)(event.message)
        self._last_checkpoint = self.checkpoint()
        self._stopped = limit
        # From here on the results are those of the report, and not of the journal.
        self._cut_found = Path(self._found.name + ".cut")
        with self._cut_found.open("wb", buffering=0) as file:
            for results, tests in ended:
                self._engine.add_results(results)
                self._write(file, tests)
            for part in leases.parts_without(stopped):
                self._engine.add_open_paths(part.paths)
            self._engine.stop(limit)
            self._write(file, self._engine.take_results()[1])
        self._close()

    def interrupt(self) -> None:
        self.stop("interrupted")

    def cancel(self) -> None:
        """May be called from a signal handler."""
        self._is_cancelled = True

    def _close(self) -> None:
        self._is_over = True
        self._pool.close()

    # Results

    def checkpoint(self) -> bytes:
        parts = self._leases.parts() if self._leases is not None else []
        found = 0 if self._numbered_all() else self._found.tell()
        return self._engine.checkpoint_of([part.paths for part in parts], self._open(), self.explored_share(), found)

    def _numbered_all(self) -> bool:
        return bool(self._found.closed)

    def last_checkpoint(self) -> bytes | None:
        last, self._last_checkpoint = self._last_checkpoint, None
        return last

    def _open(self) -> int:
        return 0 if self._stopped is not None and self._is_over else self._leases.open if self._leases else 1

    def explored_share(self) -> float:
        return 1 - self._leases.share if self._leases else 0.0

    def writing_failed(self) -> bool:
        return self._write_error is not None

    def finish_writing(self) -> float:
        """Numbers and writes the tests. Returns the seconds that it took."""
        self._close()
        self._engine.finish_writing()
        if self._write_error is not None:
            raise OSError(f"cannot write tests: {self._write_error.strerror}")
        files = [Path(self._found.name)]
        if self._cut_found is not None:
            files.append(self._cut_found)
        urgent = self._stopped in ("max-time", "max-memory", "interrupted")
        taken_s = self._engine.number_tests(self._out, files, urgent)
        if self._cut_found is not None:
            self._cut_found.unlink()
        if self._stopped is None:
            self._engine.coordinate(self._engine.summary()["tests"])
            self._found.close()
        return taken_s

    def paths(self) -> list[dict[str, Any]]:
        paths, self._paths = self._paths, []
        return paths

    def notices(self) -> list[str]:
        notices, self._notices = self._notices, []
        return notices

    def slowest(self) -> list[dict[str, Any]]:
        rows = [row for rows in self._slowest.values() for row in rows]
        most = max((len(rows) for rows in self._slowest.values()), default=0)
        return sorted(rows, key=lambda row: -float(row["time_s"]))[:most]

    def summary(self) -> dict[str, Any]:
        """Counts of the whole: those of the engine, with open paths, memory and the solvers of all workers."""
        raw = self._engine.summary()
        raw["open"] = self._open()
        raw["used_s"] = self._used_s()
        if not self._is_over:
            # Tests have names until the run ends.
            for bug in raw["bugs"]:
                if bug["test"] is not None and bug["test"] > self._numbered:
                    bug["test"] = None
            raw["targets"] = [(reached, None) for reached, _ in raw["targets"]]
        raw["memory"] = resident_bytes() + sum(each["memory"] for each in self._summaries.values())
        raw["peak_memory"] = max(self._peak, resident_bytes())
        raw["solver"] = added([each["solver"] for each in self._summaries.values()]) or raw["solver"]
        return raw


def added(solvers: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The statistics of several chains as those of one."""
    if not solvers:
        return None
    first, *others = solvers
    total: dict[str, Any] = {**first, "layers": [dict(layer) for layer in first["layers"]]}
    for other in others:
        for name in ("queries", "time_s"):
            total[name] += other[name]
        for layer, more in zip(total["layers"], other["layers"], strict=True):
            for name, value in more.items():
                if isinstance(value, (int, float)):
                    layer[name] = layer.get(name, 0) + value
    return total


def resident_bytes() -> int:
    """Resident bytes of this process."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
