"""From samples to rows: means with 99 % confidence intervals, and whether the configurations did the same work.

Intervals are Student's; that of a ratio of means adds the two relative variances (the delta method).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from partita.bench.experiment import BASELINE

DIFFERENT = "explored other paths: not comparable"
MEASURES = ("time_s", "peak_mb", "solves", "instructions", "paths", "lines", "percent_lines")
# Two-sided 99 % points of Student's distribution, for 1 to 30 degrees of freedom.
_STUDENT = (
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947,
    2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
)  # fmt: skip

Outcome = Literal["measured", "stopped", "failed", "not run"]


@dataclass(frozen=True)
class Estimate:
    """A mean and how far the true one may be from it; none for a single run."""

    mean: float
    within: float | None


@dataclass(frozen=True)
class Row:
    series: str
    x: int | str
    configuration: str
    outcome: Outcome
    remark: str
    """Why it was not measured, or that it explored other paths than the baseline."""
    estimates: dict[str, Estimate]
    """By measure; `speedup` where the same case was measured with Z3 alone and explored the same paths."""

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
    degrees = min(len(above), len(below)) - 1
    return Estimate(mean, mean * student(degrees) * math.sqrt(sum(relative)))


def rows(samples: Iterable[dict[str, Any]]) -> list[Row]:
    """One for each sample, beside the others of its case."""
    cases: dict[tuple[str, Any], list[dict[str, Any]]] = {}
    for sample in samples:
        cases.setdefault((sample["case"]["series"], sample["case"]["x"]), []).append(sample)
    return [row for group in cases.values() for row in _case(group)]


def _case(group: list[dict[str, Any]]) -> list[Row]:
    measured = {s["configuration"]: s["runs"] for s in group if s["outcome"] == "measured"}
    reference: list[dict[str, Any]] = measured.get(BASELINE) or next(iter(measured.values()), [])
    found = []
    for sample in group:
        runs, remark = sample["runs"], sample["reason"]
        values: dict[str, Estimate] = {}
        if sample["outcome"] == "measured":
            same = all(run["found"] == reference[0]["found"] for run in runs)
            values = {name: estimate([run[name] for run in runs]) for name in MEASURES if name in runs[0]}
            comparable = same and reference[0]["found"] is not None
            if not same and sample["case"].get("whole"):
                # Whichever paths were open at the end, the instructions are as many.
                comparable, remark = True, "as many instructions, not all on the same paths"
            elif not same:
                remark = DIFFERENT
            if BASELINE in measured and comparable:
                values["speedup"] = ratio([r["time_s"] for r in reference], [r["time_s"] for r in runs])
        case = sample["case"]
        found.append(Row(case["series"], case["x"], sample["configuration"], sample["outcome"], remark, values))
    return found
