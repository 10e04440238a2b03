"""What an experiment is: cases to measure, configurations to measure them in, and how the result is drawn.

The configurations of most are `paper` (the paper's technique alone before Z3, no caches, no model in hand), `default`
(our chain and our executor) and `z3` (Z3 alone, no model in hand). All search depth first unless they say otherwise.
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

Scale = Literal["full", "quick", "smoke"]
"""As the papers have it where that ends in hours, in minutes, or the smallest case of each series once."""

Until = Literal["end", "time", "instructions"]
"""Explored to its end; for the time of the effort; or for as many instructions as the first configuration managed in
that time."""

Measure = Literal[
    "time_s", "peak_mb", "solves", "speedup", "difference", "paths", "percent_lines",
    "states", "increase", "hit_rate", "success", "overhead",
    "solver_percent", "solver_difference", "inequalities", "handled", "mismatches",
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One program at one size. Of a series, the cases come smallest first."""

    series: str
    x: int | str
    program: str
    """A file of `FAMILIES`, or one of the user's by its absolute path: C to explore, or an SMT-LIB script to answer; or
    the name of an executable."""
    defines: Mapping[str, str | int] = field(default_factory=dict)
    package: str = ""
    """Of `sources.PACKAGES`: where the executable is from."""
    built: bool = False
    """Not built for this, only used if it is there: building takes longer than the experiment."""
    linked: str = ""
    """A file of `FAMILIES` that is linked into the executable."""
    words: tuple[str, ...] = ()
    """The program's arguments, symbolic ones among them."""
    until: Until = "end"
    share: float = 1.0
    """Of the seconds of the effort, what this case has."""
    search: str = "dfs"
    only: tuple[str, ...] = ()
    """The configurations that it is measured in, if not all."""
    reported: Mapping[str, float] = field(default_factory=dict)
    """What others measured of it."""

    def path(self) -> Path:
        """Where the program is; an executable is built if it is not there yet."""
        if self.built and not sources.is_built(self.package):
            build = f"python -m experiments.sources {self.package}"
            raise UsageError(f"{self.package} is not built, which takes long: `{build}`, then this command again")
        return sources.program(self.package, self.program) if self.package else FAMILIES / self.program

    def paths(self) -> list[Path]:
        return [self.path(), *([FAMILIES / self.linked] if self.linked else [])]

    def flags(self) -> list[str]:
        """What the compiler is told."""
        return [f"-D{name}={value}" for name, value in self.defines.items()]


@dataclass(frozen=True)
class Setup:
    """How a configuration explores."""

    layers: str
    path_model: bool = True
    beside: str = BASELINE
    """The configuration that it is compared with."""
    needs: str = ""
    """A command or a Python module that must be installed for it."""
    tool: Literal["partita", "klee", "angr"] = "partita"
    """Who explores."""
    census: bool = False
    """Counts what the questions are made of that `integers:paper` answers, once: of its time nothing is said."""


@dataclass(frozen=True)
class Effort:
    """How often each case is measured, and after how many seconds a run is stopped."""

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
    """Of these only."""
    kind: Literal[
        "lines", "timeouts", "bars", "tools", "deviation", "ranked", "spread", "scatter", "curve", "grid", "reasons",
        "wrong",
    ] = "lines"  # fmt: skip
    """A function of `kinds`."""


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str
    """Paper and figure."""
    reported: str
    """What the paper reports, in numbers."""
    note: str
    """What differs here, and what that means for the numbers."""
    configurations: Mapping[str, Setup]
    cases: Callable[[Scale], list[Case]]
    effort: Mapping[Scale, Effort]
    panels: tuple[Panel, ...]
    table: Callable[[Sequence[Mapping[str, Any]]], list[str]] | None = None
    """Lines that say what no panel shows, from the samples."""


def against_z3(technique: str, alone: str = "z3") -> dict[str, Setup]:
    """The three configurations, for a paper's technique."""
    return {
        "paper": Setup(f"{technique} z3", path_model=False),
        "default": Setup(DEFAULT_LAYERS),
        BASELINE: Setup(alone, path_model=False),
    }


def with_effort(experiment: Experiment, scale: Scale, repeats: int | None, seconds: float | None) -> Experiment:
    """The same with another number of runs or another time, where one is given."""
    given = experiment.effort[scale]
    chosen = Effort(given.repeats if repeats is None else repeats, given.seconds if seconds is None else seconds)
    return replace(experiment, effort={**experiment.effort, scale: chosen})


def with_shorter_times(series: str, scale: Scale, only: tuple[str, ...]) -> list[tuple[str, float, tuple[str, ...]]]:
    """A series, and where time is an axis the same with less of it in some configurations: names, shares of the
    effort's seconds, configurations."""
    whole: list[tuple[str, float, tuple[str, ...]]] = [(series, 1.0, ())]
    return whole if scale == "smoke" else [(f"{series}, shorter", 0.3, only), *whole]
