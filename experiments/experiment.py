"""Experiments as data: cases to measure, configurations to measure them in, and how the results are drawn.

Most have the configurations `paper` (the paper's technique alone before Z3, without caches and path models), `default`
(our chain and executor) and `z3` (Z3 alone, without path models). Searches are depth first unless a case says
otherwise. Every chain begins with `split`: the papers' executors remove constraints that share no input with the
condition before anything else is asked (KLEE's independence, Green's slicing), also where they switch caches off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from experiments import sources
from experiments.locations import FAMILIES
from partita.errors import UsageError
from partita.solver import DEFAULT_LAYERS

BASELINE = "z3"

Scale = Literal["paper", "hour", "quick", "smoke"]
"""The papers' sizes and times (days), an hour for each paper's experiments, minutes for all, or one run of the smallest
case of each series."""

Until = Literal["end", "time", "instructions"]
"""When exploring stops: at its end, after the time of the effort, or after as many instructions as the first
configuration executed in that time."""

Measure = Literal[
    "time_s", "peak_mb", "solves", "speedup", "difference", "paths", "percent_lines",
    "states", "increase", "hit_rate", "success", "overhead",
    "solver_percent", "solver_difference", "inequalities", "handled", "mismatches",
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One program at one size. The cases of a series are ordered by size."""

    series: str
    x: int | str
    program: str
    """A file of `FAMILIES`, or one of the user's by its absolute path: C to explore, or an SMT-LIB script to answer; or
    the name of an executable."""
    defines: Mapping[str, str | int] = field(default_factory=dict)
    package: str = ""
    """Package of the executable, a key of `sources.PACKAGES`."""
    only_if_built: bool = False
    """Whether the package is not built for this case: building takes longer than the experiment."""
    linked: str = ""
    """A file of `FAMILIES` that is linked into the executable."""
    arguments: tuple[str, ...] = ()
    """Arguments of the program, including symbolic ones."""
    until: Until = "end"
    share: float = 1.0
    """Share of the effort's seconds for this case."""
    search: str = "dfs"
    only: tuple[str, ...] = ()
    """Configurations in which it is measured; empty for all."""
    reported: Mapping[str, float] = field(default_factory=dict)
    """Figures that others measured for it."""

    def path(self) -> Path:
        """Path of the program; an executable is built if it does not exist."""
        if self.only_if_built and not sources.is_built(self.package):
            build = f"python -m experiments.sources {self.package}"
            raise UsageError(f"{self.package} is not built, which takes long: `{build}`, then this command again")
        return sources.program(self.package, self.program) if self.package else FAMILIES / self.program

    def paths(self) -> list[Path]:
        return [self.path(), *([FAMILIES / self.linked] if self.linked else [])]

    def flags(self) -> list[str]:
        """Compiler flags."""
        return [f"-D{name}={value}" for name, value in self.defines.items()]


@dataclass(frozen=True)
class Setup:
    """How a configuration explores."""

    layers: str
    path_model: bool = True
    compared_with: str = BASELINE
    """Configuration that ratios refer to."""
    needs: str = ""
    """Command or Python module that must be installed."""
    tool: Literal["partita", "klee", "angr"] = "partita"
    """The executor."""
    census: bool = False
    """Counts the constructs of queries that `integers:paper` answers, in one run whose time is not compared."""


@dataclass(frozen=True)
class Effort:
    """Runs per case, and seconds after which a run is stopped."""

    repeats: int
    seconds: float


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    measure: Measure
    title: str
    x_label: str
    y_label: str
    configurations: tuple[str, ...]
    log_x: bool = False
    log_y: bool = False
    series: tuple[str, ...] = ()
    """Series that are drawn; empty for all."""
    kind: Literal[
        "lines", "timeouts", "bars", "tools", "deviation", "ranked", "spread", "scatter", "curve", "grid", "reasons",
        "wrong",
    ] = "lines"  # fmt: skip
    """Key of `kinds.KINDS`."""


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str
    """Paper and figure."""
    reported: str
    """Figures of the paper."""
    note: str
    """Differences from the paper, and their effect on the figures."""
    configurations: Mapping[str, Setup]
    cases: Callable[[Scale], list[Case]]
    effort: Mapping[Scale, Effort]
    panels: tuple[Panel, ...]
    table: Callable[[Sequence[Mapping[str, Any]]], list[str]] | None = None
    """Makes lines of text from the samples, for figures that no panel shows."""


def against_z3(technique: str) -> dict[str, Setup]:
    """The three configurations, for a paper's technique."""
    return {
        "paper": Setup(f"split {technique} z3", path_model=False),
        "default": Setup(DEFAULT_LAYERS),
        BASELINE: Setup(f"split {BASELINE}", path_model=False),
    }


def with_effort(experiment: Experiment, scale: Scale, repeats: int | None, seconds: float | None) -> Experiment:
    """The experiment with another number of runs or another time limit, if given."""
    given = experiment.effort[scale]
    chosen = Effort(given.repeats if repeats is None else repeats, given.seconds if seconds is None else seconds)
    return replace(experiment, effort={**experiment.effort, scale: chosen})


def with_shorter_times(series: str, scale: Scale, only: tuple[str, ...]) -> list[tuple[str, float, tuple[str, ...]]]:
    """A series, and in long runs the same with less time in some configurations. Rows: name, share of the effort's
    seconds, configurations."""
    whole: list[tuple[str, float, tuple[str, ...]]] = [(series, 1.0, ())]
    return whole if scale in ("smoke", "quick") else [(f"{series}, shorter", 0.3, only), *whole]
