"""Benchmark of the search alone: what each strategy has covered after a counted cost.

    python -m experiments search [--quick] [--only NAME,...] [--strategies NAME,...] [--instructions N]

The cost of a run is what strategies are fair by: instructions and the solver's effort, in estimated nanoseconds, from
counts and never from a clock. So the figures do not depend on the machine or its load, and a run with the same seed has
the same ones. For each program the best number of marks (entries of functions and edges between blocks of the program's
own code) that any strategy reaches is 100 %. Printed are the share that a strategy reaches, the cost at which it has
reached 90 % of the best, and the area above the curve of the share over the logarithm of the cost: 0 for all at once, 1
for nothing. Target: the default strategy has the least mean area, or at most a fifth more.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.locations import FAMILIES, PROGRAMS
from partita import explore
from partita.errors import UsageError

STRATEGIES = ("mix", "random-path", "coverage", "bfs", "dfs")
INSTRUCTIONS, QUICK_INSTRUCTIONS = 2_000_000, 200_000
TOLERANCE = 1.2
# Cost at which the curve begins: a microsecond, some dozen instructions.
FIRST_COST = 1_000
# Programs with so few paths that every strategy is done at once, or with one path, are left out.
_PROGRAMS = (
    "b64cmp_4 bin_heap bst_5 crc8br_4 expr_calc goto_cleanup json_6 lru_cache lz77 sort1_merge_40 sort2_quick_40"
    " sortcheck_6 strtol_6 utf8_decode"
).split()
_STRUCTURES = "BinTree BinomialHeap Dijkstra MagicIndex NanoXML Remainder SortedListInt TreeMap Operations".split()


@dataclass(frozen=True)
class Curve:
    points: tuple[tuple[int, int], ...]
    """Cost and number of marks, at each increase."""
    cost: int
    """Cost of the whole run."""

    @property
    def marks(self) -> int:
        return self.points[-1][1] if self.points else 0

    def cost_of(self, marks: float) -> int | None:
        """Cost at which this number of marks was reached."""
        return next((cost for cost, found in self.points if found >= marks), None)

    def area_above(self, best: int, end: int) -> float:
        """Area above the curve of the share of `best`, over the logarithm of the cost up to `end`."""
        width = math.log(max(end, 2 * FIRST_COST) / FIRST_COST)
        area, before, share = 0.0, FIRST_COST, 0.0
        for cost, found in (*self.points, (max(end, FIRST_COST), self.marks)):
            at = min(max(cost, FIRST_COST), max(end, FIRST_COST))
            area += (1 - share) * math.log(at / before)
            before, share = at, found / best
        return area / width


def programs(only: Sequence[str] = ()) -> list[Path]:
    found = [
        *(PROGRAMS / f"{name}.c" for name in _PROGRAMS),
        *sorted((FAMILIES / "search").glob("*.c")),
        *(FAMILIES / "structures" / f"{name}.c" for name in _STRUCTURES),
    ]
    unknown = set(only) - {path.stem for path in found}
    if unknown:
        raise UsageError(f"expected programs of the benchmark for --only, found {', '.join(sorted(unknown))}")
    return [path for path in found if not only or path.stem in only]


def measure(path: Path, strategy: str, instructions: int) -> Curve:
    run = explore(path, search=strategy, max_instructions=instructions, tests="bugs").finish()
    points, cost = run.progress()
    return Curve(tuple(points), cost)


def _row(name: str, curves: dict[str, Curve]) -> tuple[str, dict[str, float]]:
    best = max(curve.marks for curve in curves.values())
    end = max(curve.cost for curve in curves.values())
    areas = {strategy: curve.area_above(best, end) for strategy, curve in curves.items()}
    cells = []
    for strategy, curve in curves.items():
        cost = curve.cost_of(0.9 * best)
        shown = "-" if cost is None else f"{cost / 1e6:.2f}"
        cells.append(f"{100 * curve.marks / best:>6.0f} %{shown:>9}{areas[strategy]:>6.2f}")
    return f"{name:<18}{best:>6}" + "".join(cells), areas


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments search", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_INSTRUCTIONS:,} instructions per run")
    parser.add_argument("--only", default="", help="names of programs, separated by commas")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="names of strategies, separated by commas")
    parser.add_argument("--instructions", type=int, help=f"instructions per run (default {INSTRUCTIONS:,})")
    arguments = parser.parse_args()
    instructions = arguments.instructions or (QUICK_INSTRUCTIONS if arguments.quick else INSTRUCTIONS)
    strategies = arguments.strategies.split(",")
    print(f"{'program':<18}{'marks':>6}" + "".join(f"{name:>14}{'ms':>4}{'area':>6}" for name in strategies))
    areas: dict[str, list[float]] = {strategy: [] for strategy in strategies}
    for path in programs([name for name in arguments.only.split(",") if name]):
        curves = {strategy: measure(path, strategy, instructions) for strategy in strategies}
        line, found = _row(path.stem, curves)
        print(line, flush=True)
        for strategy, area in found.items():
            areas[strategy].append(area)
    means = {strategy: statistics.fmean(found) for strategy, found in areas.items()}
    print("mean area: " + ", ".join(f"{strategy} {mean:.3f}" for strategy, mean in means.items()))
    return 1 if means[strategies[0]] > TOLERANCE * min(means.values()) else 0
