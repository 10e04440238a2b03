"""Computes rows from samples: means with 99 % confidence intervals, and whether the configurations did the same work.

Intervals are Student's. The interval of a ratio of means adds the two relative variances (delta method), with Welch's
degrees of freedom.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from experiments.experiment import Setup

DIFFERENT = "explored other paths: not comparable"
MEASURES = (
    "time_s", "peak_mb", "solves", "queries", "instructions", "states", "paths", "lines", "percent_lines",
    "hit_rate", "success", "overhead", "solver_s", "solver_percent", "inequalities", "handled", "mismatches",
)  # fmt: skip
# Two-sided 99 % points of Student's distribution, for 1 to 30 degrees of freedom.
_STUDENT = (
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947,
    2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
)  # fmt: skip

Outcome = Literal["measured", "stopped", "failed", "not run"]


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its confidence interval; None for a single run."""

    mean: float
    within: float | None


@dataclass(frozen=True)
class Row:
    series: str
    x: int | str
    configuration: str
    outcome: Outcome
    remark: str
    """The reason why it was not measured, or that it explored other paths than the baseline."""
    estimates: dict[str, Estimate]
    """By measure. `speedup`, and in per cent `difference` of time, `solver_difference` and `increase` of states, if the
    configuration to compare with was measured too, and explored the same paths if both explored all."""
    seconds: float
    """Time limit of the runs."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def student(degrees: int) -> float:
    return _STUDENT[min(degrees, len(_STUDENT)) - 1]


def estimate(values: Sequence[float]) -> Estimate:
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean, None)
    return Estimate(mean, student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values)))


def ratio(above: Sequence[float], below: Sequence[float]) -> Estimate:
    mean = statistics.fmean(above) / statistics.fmean(below)
    if min(len(above), len(below)) < 2:
        return Estimate(mean, None)
    relative = [statistics.variance(v) / len(v) / statistics.fmean(v) ** 2 for v in (above, below)]
    return Estimate(mean, mean * student(_welch(relative, above, below)) * math.sqrt(sum(relative)))


def _welch(relative: Sequence[float], above: Sequence[float], below: Sequence[float]) -> int:
    """Degrees of freedom: those of the side that varies count most (Welch and Satterthwaite)."""
    if not sum(relative):
        return min(len(above), len(below)) - 1
    shares = ((one / sum(relative)) ** 2 / (len(v) - 1) for one, v in zip(relative, (above, below), strict=True))
    return int(1 / sum(shares))


def rows(samples: Iterable[dict[str, Any]], setups: Mapping[str, Setup]) -> list[Row]:
    """One row per sample, with ratios to other samples of its case."""
    cases: dict[tuple[str, Any], list[dict[str, Any]]] = {}
    for sample in samples:
        cases.setdefault((sample["case"]["series"], sample["case"]["x"]), []).append(sample)
    return [row for group in cases.values() for row in _case(group, setups)]


def _case(group: list[dict[str, Any]], setups: Mapping[str, Setup]) -> list[Row]:
    measured = {s["configuration"]: s["runs"] for s in group if s["outcome"] == "measured"}
    first: list[dict[str, Any]] = next(iter(measured.values()), [])
    found = []
    for sample in group:
        runs, remark, name = sample["runs"], sample["reason"], sample["configuration"]
        values: dict[str, Estimate] = {}
        if sample["outcome"] == "measured":
            reference = measured.get(setups[name].compared_with)
            values = {m: estimate([run[m] for run in runs]) for m in MEASURES if all(m in run for run in runs)}
            same = _same(runs, reference or first)
            if not same:
                # Another search order: as many instructions, but perhaps on other paths.
                equal = sample["case"].get("until") == "instructions"
                remark = "as many instructions, not all on the same paths" if equal else DIFFERENT
            elif reference and sample["case"].get("until") == "end" and _paths(runs) != _paths(reference):
                # Other executors report only the number of paths.
                remark = f"{_paths(runs)} paths, not {_paths(reference)}"
            if reference and remark != DIFFERENT:
                values |= _ratios(runs, reference, sample["case"].get("until") == "time")
        case, seconds = sample["case"], sample["seconds"]
        found.append(Row(case["series"], case["x"], name, sample["outcome"], remark, values, seconds))
    return found


def _same(runs: list[dict[str, Any]], reference: list[dict[str, Any]]) -> bool:
    """Whether all runs explored the same. Runs cut by a time limit are not compared."""
    found = [run["found"] for run in (*runs, *reference) if run["found"] is not None]
    return all(one == found[0] for one in found)


def _paths(runs: list[dict[str, Any]]) -> int | None:
    found: int | None = runs[0].get("paths")
    return found


def _ratios(runs: list[dict[str, Any]], reference: list[dict[str, Any]], timed: bool) -> dict[str, Estimate]:
    def of(which: list[dict[str, Any]], name: str) -> list[float]:
        return [run[name] for run in which]

    values = {}
    # The duration of a run for a given time has no meaning unless it ended before.
    if not timed or all(run["found"] is not None for run in (*runs, *reference)):
        values["speedup"] = ratio(of(reference, "time_s"), of(runs, "time_s"))
        values["difference"] = _per_cent(ratio(of(runs, "time_s"), of(reference, "time_s")))
        if all(run.get("solver_s") for run in (*runs, *reference)):
            values["solver_difference"] = _per_cent(ratio(of(runs, "solver_s"), of(reference, "solver_s")))
    if all("states" in run for run in (*runs, *reference)):
        values["increase"] = _per_cent(ratio(of(runs, "states"), of(reference, "states")))
    return values


def _per_cent(value: Estimate) -> Estimate:
    return Estimate(100 * (value.mean - 1), None if value.within is None else 100 * value.within)
