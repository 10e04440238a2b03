"""Messages between coordinator and workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Shipment:
    """Program and options, from which a worker builds its engine."""

    parts: list[bytes]
    layers: str
    default_layers: str
    given: dict[str, Any]
    """Options as `explore()` has them; `max_memory` is the worker's share."""
    words: list[str]
    """The program's name and its arguments."""
    memory: int
    user: tuple[int, int]
    store: str | None
    absent: list[str]
    bug_conditions: int
    """Number of paths into each bug that are kept with their conditions."""
    keeps_paths: bool = False
    keeps_conditions: bool = False


@dataclass(frozen=True)
class Task:
    """Work for a period: explore what was leased before, and these parts."""

    parts: list[bytes]
    period_s: float
    instructions: int | None
    """Number of instructions and of tests that may be added; None: any."""
    tests: int | None
    time_s: float | None
    """Time that is left of the run."""
    memory: int | None = None
    """The worker's limit of memory from now on; None: as it is."""
    host: bytes = b""
    """Answers about the host's files that others had since the last task."""


@dataclass(frozen=True)
class Cut:
    """End the period now and give this number of parts away."""

    parts: int


@dataclass(frozen=True)
class Stop:
    """End the period now, and the run: open paths end at this limit."""

    limit: str


@dataclass(frozen=True)
class Alive:
    """A heartbeat."""


@dataclass(frozen=True)
class Failure:
    """A worker's engine has failed: the run fails too."""

    message: str
    is_usage: bool


@dataclass
class Report:
    """End of a period."""

    commit: tuple[bytes, bytes, list[bytes]] | None
    """Results and tests since the last commit, and all open paths in parts; None: a turn was cut, the last commit
    counts."""
    given: list[bytes]
    """Parts for other workers."""
    open: int
    share: float
    """Number of open paths of the commit, and their share of the tree."""
    instructions: int
    tests: int
    """Number of instructions and tests since the task began."""
    paused: str | None
    """The limit at which the worker paused."""
    commit_s: float
    """Time that the commit took."""
    summary: dict[str, Any]
    """`solver`, `memory` and `peak_memory` of the engine's summary."""
    waited_s: float = 0.0
    """Time between the last report and this task, if it goes on with what the worker held: a commit costs that too."""
    paths: list[dict[str, Any]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    ended: list[bytes] | None = None
    """After `Stop`: results and tests since the commit, of paths that the limit has cut."""
    slowest: list[dict[str, Any]] = field(default_factory=list)
    """After `Stop`, or when nothing is open: the slowest queries."""


Request = Task | Cut | Stop
Reply = Report | Failure | Alive
