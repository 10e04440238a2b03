"""Benchmark of the complete solvers: times of translation and solving on query logs, all in one run.

The median of the rounds counts, after one warm-up; ratios are to the first solver. Then `sat` alone is compared with
each on every log, by own solver time. Targets: at least 3 times as fast as Z3 and as fast as Bitwuzla in geometric
mean; else the exit status is 1. The logs are those of ../shared/corpus ($PARTITA_SHARED/corpus) if it exists, else of
benchmarks/queries.
"""

from __future__ import annotations

import gzip
import math
import statistics
import sys
import time
from pathlib import Path

from experiments.locations import corpus
from partita import _core, backends

LOGS = ["crc8br_4.kquery", "b64tab_4.kquery", "cu_factor.kquery", "bst_5.kquery", "maze.kquery", "objres_u32_64.kquery"]
ROUNDS = 3
SAT_TARGETS = {"z3": 3.0, "bitwuzla": 1.0}


def measure(log: str, solver: str) -> tuple[float, float, float]:
    """Seconds in total, of translating and of solving."""
    text = gzip.decompress((corpus() / f"{log}.gz").read_bytes())
    chain = f"simplify split {solver}"
    script = _core.Script("kquery", chain, chain, backends.make, None, None)
    start = time.monotonic()
    script.run(text, True, lambda lines: None)
    layer = script.statistics()["layers"][-1]
    return time.monotonic() - start, layer["translate_s"], layer["solve_s"]


def own_time(log: Path, solver: str) -> float:
    """Seconds that a solver alone takes for a log, without translating: the faster of two runs."""
    text = gzip.decompress(log.read_bytes())
    best = math.inf
    for _ in range(2):
        script = _core.Script("kquery", solver, solver, backends.make, None, None)
        script.run(text, True, lambda lines: None)
        layer = script.statistics()["layers"][-1]
        best = min(best, layer.get("solve_s", layer["time_s"]))
    return best


def sat_alone(solvers: list[str]) -> bool:
    """Prints the table of `sat` and the others. True if the targets are met."""
    others = [solver for solver in solvers if solver in SAT_TARGETS]
    print(f"\n{'log, own solver time in ms':28} {'sat':>9}" + "".join(f" {name:>9} {'ratio':>6}" for name in others))
    ratios: dict[str, list[float]] = {name: [] for name in others}
    for log in sorted(corpus().glob("*.kquery.gz")):
        ours = own_time(log, "sat")
        row = f"{log.name.removesuffix('.kquery.gz'):28} {1e3 * ours:9.2f}"
        for name in others:
            theirs = own_time(log, name)
            ratios[name].append(theirs / ours)
            row += f" {1e3 * theirs:9.2f} {theirs / ours:6.1f}"
        print(row, flush=True)
    met = True
    for name in others:
        mean = math.exp(statistics.fmean(map(math.log, ratios[name])))
        met &= mean >= SAT_TARGETS[name]
        verdict = "met" if mean >= SAT_TARGETS[name] else "MISSED"
        print(f"sat is {mean:.2f} times as fast as {name} (at least {SAT_TARGETS[name]}): {verdict}")
    return met


def main() -> int:
    solvers = backends.installed()
    print(f"{'log':24} {'solver':9} {'seconds':>8} {'transl.':>8} {'solver':>8} {'ratio':>6}")
    for log in (log for log in LOGS if (corpus() / f"{log}.gz").exists()):
        first = None
        for solver in solvers:
            measure(log, solver)
            rounds = [measure(log, solver) for _ in range(ROUNDS)]
            total, translate, solve = (statistics.median(column) for column in zip(*rounds, strict=True))
            first = first or total
            print(f"{log:24} {solver:9} {total:8.3f} {translate:8.3f} {solve:8.3f} {total / first:6.2f}", flush=True)
    return 0 if sat_alone(solvers) else 1


if __name__ == "__main__":
    sys.exit(main())
