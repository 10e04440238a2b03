"""Who explores what: the coordinator's decisions, without any input or output.

A *part* is a number of open paths. What a worker holds is its lease: the open paths of its last commit, and the parts
assigned since. If the worker is lost, its lease waits for another one. An idle worker gets a part that waits; if there
is none, workers with the largest share of the tree are asked to give their shallowest open paths away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from partita.cluster.messages import Report, Task

PERIOD_S = 0.2
"""Time between two commits of a worker."""
SHORT_PERIOD_S = 0.02
"""Time between two commits while others are idle and it has nothing to give."""
COMMIT_SHARE = 0.02
"""Largest share of the time that commits take, and that workers wait for their next task."""
LONG_PERIOD_S = 2.0
"""Time between two commits of a worker whose tasks take long to arrive: a killed run loses no more."""
MAX_COMMITS_PER_S = 500
"""Commits of all workers together: with many of them periods are longer."""
MAX_PARTS = 32
"""Most parts that a worker is asked to give at a time."""
MIN_INSTRUCTIONS, MIN_TESTS = 100_000, 100
"""Least number of instructions and tests that a period is allowed, as far as the limits of the run leave them."""


@dataclass(frozen=True)
class Part:
    """Open paths as bytes, their number, and their share of the tree."""

    paths: bytes
    count: int
    share: float


@dataclass
class Lease:
    """The state of a worker."""

    parts: list[Part] = field(default_factory=list)
    assigned: list[bytes] = field(default_factory=list)
    """Parts that the worker gets with its next task."""
    is_running: bool = False
    asked: int = 0
    """Number of parts that the worker was asked to give at the end of the period."""
    period_s: float = PERIOD_S
    instructions: int = 0
    tests: int = 0
    """Allowed for the current period."""

    open: int = 0
    share: float = 0.0
    """Number of open paths of `parts`, and their share of the tree."""

    def hold(self, parts: list[Part]) -> None:
        self.parts = parts
        self.open = sum(part.count for part in parts)
        self.share = sum(part.share for part in parts)


@dataclass
class Allowance:
    """Rest of a limit that all workers share."""

    left: int | None

    def take(self, workers: int, least: int) -> int:
        """Takes a period's share; all that is left if it is little. 0 if there is no limit."""
        if self.left is None:
            return 0
        taken = min(self.left, max(self.left // (2 * workers), least))
        self.left -= taken
        return taken

    def put_back(self, count: int) -> None:
        if self.left is not None:
            self.left += count

    def allowed(self, taken: int) -> int | None:
        return None if self.left is None else taken


class Leases:
    """The leases of all workers, and the parts that wait."""

    def __init__(self, waiting: list[Part], max_instructions: int | None, max_tests: int | None) -> None:
        self.waiting = waiting
        self.instructions = Allowance(max_instructions)
        self.tests = Allowance(max_tests)
        self._leases: dict[int, Lease] = {}
        self._free: dict[int, Lease] = {}
        """Workers that do not run: few of many."""
        self._asked = 0
        """Number of parts that workers were asked for and have not given yet."""

    def add(self, worker: int) -> None:
        """Adds a worker that is ready."""
        self._leases[worker] = self._free[worker] = Lease()

    def lose(self, worker: int) -> None:
        """A worker is lost: others explore what it held."""
        lease = self._leases.pop(worker, Lease())
        self._free.pop(worker, None)
        self._asked -= lease.asked
        self.waiting += lease.parts
        if lease.is_running:
            self.instructions.put_back(lease.instructions)
            self.tests.put_back(lease.tests)

    def workers(self) -> list[int]:
        return list(self._leases)

    def running(self) -> list[int]:
        return [worker for worker in self._leases if worker not in self._free]

    def is_done(self) -> bool:
        """Is nothing open, and no worker running?"""
        return not self.waiting and len(self._free) == len(self._leases) and not self.open

    @property
    def open(self) -> int:
        """Number of open paths, as of the last commits."""
        return sum(lease.open for lease in self._leases.values()) + sum(part.count for part in self.waiting)

    @property
    def share(self) -> float:
        """Their share of the tree."""
        return sum(lease.share for lease in self._leases.values()) + sum(part.share for part in self.waiting)

    def parts(self) -> list[Part]:
        """All open paths."""
        return self.parts_without(set())

    def parts_without(self, workers: set[int]) -> list[Part]:
        """All open paths but those of these workers."""
        rest = [part for worker, lease in self._leases.items() if worker not in workers for part in lease.parts]
        return rest + self.waiting

    def pause(self, worker: int) -> None:
        """A worker has ended its period without a commit: its last one counts."""
        self._free[worker] = lease = self._leases[worker]
        self._asked -= lease.asked
        lease.is_running, lease.asked = False, 0

    def holds(self, worker: int) -> bool:
        """Has this worker open paths?"""
        return bool(self._leases[worker].parts)

    def exhausted(self) -> str | None:
        """The shared limit that nothing is left of, once no worker runs."""
        if len(self._free) < len(self._leases):
            return None
        if self.instructions.left == 0:
            return "max-instructions"
        return "max-tests" if self.tests.left == 0 else None

    def tasks(self, time_s: float | None, memory: int | None = None) -> Iterator[tuple[int, Task]]:
        """Tasks for workers that do not run and have, or get, something to explore; `memory` is the limit of each."""
        is_short = self._idle() > len(self.waiting)
        least_s = max(PERIOD_S, len(self._leases) / MAX_COMMITS_PER_S)
        for worker, lease in list(self._free.items()):
            if self.instructions.left == 0 or self.tests.left == 0:
                return
            if not lease.parts:
                if not self.waiting:
                    continue
                part = self.waiting.pop()
                lease.hold([part])
                lease.assigned.append(part.paths)
            lease.instructions = self.instructions.take(len(self._leases), MIN_INSTRUCTIONS)
            lease.tests = self.tests.take(len(self._leases), MIN_TESTS)
            lease.is_running, lease.asked = True, 0
            del self._free[worker]
            assigned, lease.assigned = lease.assigned, []
            period_s = SHORT_PERIOD_S if is_short and lease.open <= 1 else max(lease.period_s, least_s)
            allowed = self.instructions.allowed(lease.instructions), self.tests.allowed(lease.tests)
            yield worker, Task(assigned, period_s, *allowed, time_s, memory)

    def cuts(self) -> Iterator[tuple[int, int]]:
        """Workers to be cut, and the number of parts that each is asked for: as many as workers are idle."""
        wanted = self._idle() - len(self.waiting)
        wanted -= self._asked
        if wanted <= 0:
            return
        able = [row for row in self._leases.items() if row[1].open > 1 and row[1].is_running and not row[1].asked]
        for worker, lease in sorted(able, key=lambda row: -row[1].share):
            if wanted <= 0:
                return
            lease.asked = min(wanted, MAX_PARTS, lease.open - 1)
            self._asked += lease.asked
            wanted -= lease.asked
            yield worker, lease.asked

    def _idle(self) -> int:
        return sum(not lease.parts for lease in self._free.values())

    def report(self, worker: int, report: Report, given: list[Part]) -> None:
        """Counts the end of a period, whose commit must be intact."""
        assert report.commit is not None
        self.pause(worker)
        lease = self._leases[worker]
        self.instructions.put_back(lease.instructions - report.instructions)
        self.tests.put_back(lease.tests - report.tests)
        parts = report.commit[2] if report.open else []
        # Their counts are known together.
        lease.hold([Part(part, report.open * (not i), report.share * (not i)) for i, part in enumerate(parts)])
        lease.period_s = max(
            PERIOD_S, report.commit_s / COMMIT_SHARE, min(report.waited_s / COMMIT_SHARE, LONG_PERIOD_S)
        )
        self.waiting += given
