"""What an experiment is: cases to measure, configurations to measure them in, and how the result is drawn.

The configurations of most are `paper` (the paper's technique alone before Z3, no caches), `default` (our chain) and
`z3` (Z3 alone). All search depth first, and all have the executor's model of each path in hand: an executor that asks
about both sides of every branch, as the papers' do, is not available, so fewer questions reach every configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from partita.bench import sources
from partita.solver import DEFAULT_LAYERS

PROGRAMS = Path(__file__).resolve().parent / "programs"
BASELINE = "z3"

Scale = Literal["full", "quick", "smoke"]
"""As the papers have it where that ends in hours, in minutes, or the smallest case of each series once."""


@dataclass(frozen=True)
class Whole:
    """How a program of a source package is explored: never to its end."""

    package: str
    """Of `sources.PACKAGES`."""
    words: tuple[str, ...]
    """Its arguments, symbolic ones among them."""
    until: Literal["time", "instructions"]
    """For the time of the effort; or for as many instructions as the first configuration managed in that time."""
    search: str = "dfs"


@dataclass(frozen=True)
class Case:
    """One program at one size. Of a series, the cases come smallest first."""

    series: str
    x: int | str
    program: str
    """A file of `programs`: C that is explored, or an SMT-LIB script that is answered; or the name of an executable."""
    defines: Mapping[str, str | int] = field(default_factory=dict)
    whole: Whole | None = None
    reported: Mapping[str, float] = field(default_factory=dict)
    """What others measured of it."""

    def path(self) -> Path:
        """Where the program is; an executable is built if it is not there yet."""
        return PROGRAMS / self.program if self.whole is None else sources.program(self.whole.package, self.program)

    def flags(self) -> list[str]:
        """What the compiler is told."""
        return [f"-D{name}={value}" for name, value in self.defines.items()]


@dataclass(frozen=True)
class Effort:
    """How often each case is measured, and after how many seconds a run is stopped."""

    repeats: int
    seconds: float


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    measure: Literal["time_s", "peak_mb", "solves", "speedup", "paths", "percent_lines"]
    title: str
    x_label: str
    y_label: str
    configurations: tuple[str, ...]
    log_x: bool = False
    log_y: bool = False
    bars: bool = False


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
    configurations: Mapping[str, str]
    cases: Callable[[Scale], list[Case]]
    effort: Mapping[Scale, Effort]
    panels: tuple[Panel, ...]
    table: Callable[[Sequence[Mapping[str, Any]]], list[str]] | None = None
    """Lines that say what no panel shows, from the samples."""


def against_z3(technique: str) -> dict[str, str]:
    """The three configurations, for a paper's technique."""
    return {"paper": f"{technique} z3", "default": DEFAULT_LAYERS, BASELINE: "z3"}
