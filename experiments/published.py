"""Comparisons as the papers' headlines make them: per program beside the published rows, and over all programs.

The published rows are copied from the papers' tables.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

Sample = Mapping[str, Any]
Pair = tuple[float, float]
"""With partial solutions, and without."""

TABLE_2: dict[str, tuple[Pair, Pair, Pair, Pair, Pair, Pair]] = {
    "apr": ((107, 80), (0.847, 0.793), (84, 76), (0.703, 0.671), (87, 67), (0.765, 0.721)),
    "cmark": ((1790, 1931), (0.485, 0.463), (1569, 1511), (0.528, 0.502), (2569, 2425), (0.576, 0.546)),
    "fribidi": ((336, 273), (0.924, 0.909), (8427, 6782), (0.975, 0.966), (6925, 6773), (0.971, 0.966)),
    "gas": ((312, 305), (0.888, 0.876), (1541, 1373), (0.895, 0.87), (2563, 2955), (0.906, 0.906)),
    "json-c": ((409, 397), (0.565, 0.35), (569, 442), (0.557, 0.236), (492, 347), (0.556, 0.209)),
    "libinjection": ((1007, 1194), (0.936, 0.946), (27373, 26918), (0.936, 0.939), (16088, 15856), (0.928, 0.924)),
    "libtommath": ((38006, 36151), (0.933, 0.915), (27214, 20347), (0.923, 0.917), (42238, 21260), (0.96, 0.964)),
    "m4": ((14938, 20304), (0.965, 0.969), (75509, 74645), (0.996, 0.995), (44140, 33586), (0.99, 0.983)),
    "discount": ((86474, 69764), (0.974, 0.972), (222984, 203125), (0.999, 0.998), (274828, 263373), (0.998, 0.997)),
    "pacparser": ((36, 35), (0.663, 0.641), (3668, 3465), (0.96, 0.95), (5655, 5145), (0.971, 0.96)),
    "ptx": ((3312, 2579), (0.985, 0.982), (151, 159), (0.696, 0.682), (446, 476), (0.778, 0.779)),
    "sha1-cd": ((80, 73), (0.596, 0.52), (1772, 1055), (0.591, 0.525), (3180, 2367), (0.568, 0.52)),
    "smaz": ((52, 41), (0.622, 0.601), (154, 102), (0.628, 0.564), (106, 56), (0.619, 0.58)),
    "sqlite3": ((42, 47), (0.85, 0.839), (225, 240), (0.823, 0.801), (173, 159), (0.685, 0.581)),
    "sundown": ((1524, 1430), (0.792, 0.723), (16244, 16241), (0.84, 0.831), (26906, 24929), (0.883, 0.87)),
}
"""Table 2 of the third paper: paths and hit rates, depth first, breadth first, random with coverage."""


def paired_t(differences: Sequence[float]) -> tuple[float, float]:
    """Student's paired test: the statistic, and the two-sided probability of one at least as large."""
    n = len(differences)
    if n < 2:
        return 0.0, 1.0
    mean, deviation = statistics.fmean(differences), statistics.stdev(differences)
    if deviation == 0:
        return (0.0, 1.0) if mean == 0 else (math.copysign(math.inf, mean), 0.0)
    t = mean / (deviation / math.sqrt(n))
    return t, student_tail(t, n - 1)


def student_tail(t: float, degrees: int) -> float:
    """Probability that |T| is at least |t|, by Simpson's rule over the angle whose tangent is x / sqrt(degrees)."""
    # With x = sqrt(degrees) tan(a) the density is proportional to cos(a) ** (degrees - 1).
    end, steps = math.atan(abs(t) / math.sqrt(degrees)), 2000

    def integral(to: float) -> float:
        width = to / steps
        inner = sum((4 if i % 2 else 2) * math.cos(i * width) ** (degrees - 1) for i in range(1, steps))
        return width / 3 * (1 + inner + math.cos(to) ** (degrees - 1))

    return max(0.0, 1 - integral(end) / integral(math.pi / 2))


def measured(samples: Sequence[Sample], series: str) -> dict[str, dict[str, list[Mapping[str, Any]]]]:
    """Runs by configuration and program."""
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for sample in samples:
        if sample["outcome"] == "measured" and sample["case"]["series"] == series:
            found.setdefault(sample["configuration"], {})[str(sample["case"]["x"])] = sample["runs"]
    return found


def time_to_reach(run: Mapping[str, Any], count: float, column: int) -> float | None:
    """When a run had this many states (column 1) or paths (column 2), interpolated; None if it never had."""
    before = (0.0, 0.0)
    end = run["paths"] if column == 2 else run["states"]
    for at, reached in (*((row[0], row[column]) for row in run["curve"]), (run["cpu_s"], end)):
        if reached >= count:
            share = (count - before[1]) / max(reached - before[1], 1e-9)
            return float(before[0] + share * (at - before[0]))
        before = (at, reached)
    return None


def summaries(samples: Sequence[Sample], base: str, measure: str) -> list[str]:
    """For each configuration and search: more paths or states, speed-up to the same number, a paired test, memory."""
    column = 2 if measure == "paths" else 1
    lines = []
    for series in dict.fromkeys(sample["case"]["series"] for sample in samples):
        found = measured(samples, series)
        for name, programs in found.items():
            both = [x for x in programs if x in found.get(base, {})]
            if name == base or not both:
                continue
            more, times, megabytes = [], [], []
            for x in both:
                mine, theirs = programs[x], found[base][x]
                wanted = statistics.fmean(run[measure] for run in theirs)
                if wanted and all(run["found"] is None for run in (*mine, *theirs)):
                    more.append(100 * (statistics.fmean(run[measure] for run in mine) / wanted - 1))
                    reached = [time_to_reach(run, wanted, column) for run in mine]
                    if None not in reached:
                        spent = statistics.fmean(run["cpu_s"] for run in theirs)
                        times.append(spent / max(1e-9, statistics.fmean(t for t in reached if t is not None)))
                peaks = [statistics.fmean(run["peak_mb"] for run in runs) for runs in (mine, theirs)]
                megabytes.append(100 * (peaks[0] / peaks[1] - 1))
            line = f"{series}, {name} compared with {base}: n = {len(both)}"
            if more:
                t, probability = paired_t(more)
                line += f", {measure} {statistics.fmean(more):+.0f} % (paired t = {t:.2f}, p = {probability:.3f})"
                mean = f", {statistics.geometric_mean(times):.2f} times as fast" if times else ""
                line += f", as many {measure} reached by {len(times)} of {len(more)}{mean}"
            lines.append(f"{line}, memory {statistics.fmean(megabytes):+.1f} %, at most {max(megabytes):+.1f} %")
    return lines


def controls(samples: Sequence[Sample], reported: Mapping[str, tuple[float, ...]]) -> list[str]:
    """Contribution of partial solutions themselves: hit rates and states of each program in each configuration."""
    lines = []
    for series in dict.fromkeys(sample["case"]["series"] for sample in samples):
        found = measured(samples, series)
        names = list(found)
        lines.append(f"{series + ': hit rate / states':<26}" + "".join(f"{name:>20}" for name in names))
        for x in dict.fromkeys(x for programs in found.values() for x in programs):
            cells = []
            for name in names:
                runs = found[name].get(x)
                rate = statistics.fmean(run.get("hit_rate", 0.0) for run in runs) if runs else 0.0
                states = statistics.fmean(run["states"] for run in runs) if runs else 0.0
                cells.append(f"{f'{rate:.3f} / {states:,.0f}':>20}" if runs else f"{'-':>20}")
            line = f"{x:<26}" + "".join(cells)
            if series == "dfs" and x in reported:
                line += f"   reported: {reported[x][4]} with partial solutions, {reported[x][5]} with Grulia"
            lines.append(line)
    return lines
