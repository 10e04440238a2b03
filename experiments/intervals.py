"""Benchmark of the layers `intervals` and `enumerate`, compared with the solvers that would otherwise answer.

    python -m experiments intervals [LOG...] [SOLVER...]

Every query log is asked twice, with and without the two layers before Z3 (and before Bitwuzla). For queries that the
layers answer, their time is compared with the solver's own time without translation (geometric mean of the ratios); for
queries that they pass on, their time is given as a share of the solver's. The logs are those of ../shared/corpus
($PARTITA_SHARED/corpus) if it exists, else of benchmarks/queries.
"""

from __future__ import annotations

import gzip
import importlib
import sys
from dataclasses import dataclass, field
from itertools import islice
from math import exp, log

from experiments.locations import corpus
from partita import _core, backends
from partita.backends.incremental import Backend
from partita.layers import Answer

OWN = ("intervals", "enumerate")
TARGET_RATIO, TARGET_SHARE = 100.0, 0.05
"""Targets: times as fast as the solver on answered queries; share of the solver's time on queries passed on."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one query in the two layers and in the solver, and how often each was asked."""

    own: float
    solver: float
    asked_own: int
    asked_solver: int


@dataclass
class Tally:
    ratios: list[float] = field(default_factory=list)
    own_unanswered: float = 0.0
    solver_after: float = 0.0

    def add(self, other: Tally) -> None:
        self.ratios += other.ratios
        self.own_unanswered += other.own_unanswered
        self.solver_after += other.solver_after

    def row(self) -> str:
        mean = exp(sum(map(log, self.ratios)) / len(self.ratios)) if self.ratios else float("nan")
        share = 100 * self.own_unanswered / self.solver_after if self.solver_after else 0.0
        return f"{len(self.ratios):8} {mean:8.0f}x {share:9.2f} %"


class Timed:
    """A solver's layer that records its own time of every check."""

    def __init__(self, layer: Backend) -> None:
        self.layer = layer
        self.name, self.complete, self.counters = layer.name, layer.complete, layer.counters
        self.times: list[float] = []

    def check(self, query: _core.QueryView, rest: _core.RestView) -> Answer:
        before = self.counters["solve_s"]
        answer = self.layer.check(query, rest)
        self.times.append(self.counters["solve_s"] - before)
        return answer

    def forget(self) -> None:
        self.layer.forget()


def costs(text: bytes, solver: str, chain: str) -> list[Cost]:
    """Costs of each query of a log, all asked in one run."""
    module = importlib.import_module(f"partita.backends.{solver}")
    timed = Timed(module.make())
    script = _core.Script("kquery", chain, chain, lambda *_: timed, None, None)
    names = chain.split()
    own, last = [names.index(name) for name in OWN if name in names], names.index(solver)
    found = script.costs(text)
    times = iter(timed.times)
    return [
        Cost(
            sum(layers[i][1] for i in own),
            sum(islice(times, layers[last][0])),
            sum(layers[i][0] for i in own),
            layers[last][0],
        )
        for layers in found
    ]


def compare(text: bytes, solver: str) -> Tally:
    tally = Tally()
    layered = costs(text, solver, f"simplify split {' '.join(OWN)} {solver}")
    alone = costs(text, solver, f"simplify split {solver}")
    for ours, theirs in zip(layered, alone, strict=True):
        if ours.asked_solver:
            tally.own_unanswered += ours.own
            tally.solver_after += ours.solver
        elif ours.asked_own and theirs.asked_solver and ours.own > 0 and theirs.solver > 0:
            tally.ratios.append(theirs.solver / ours.own)
    return tally


def main() -> int:
    logs = sorted(corpus().glob("*.kquery.gz"))
    known = [solver for solver in ("z3", "bitwuzla") if solver in backends.installed()]
    solvers = [solver for solver in known if solver in sys.argv[1:]] or known
    names = set(sys.argv[1:]) - set(known)
    wanted = [path for path in logs if not names or path.name.split(".")[0] in names]
    totals = {solver: Tally() for solver in solvers}
    print(f"{'log':20} {'solver':9} {'answered':>8} {'faster':>9} {'passing on':>11}")
    for path in wanted:
        text = gzip.decompress(path.read_bytes())
        for solver in solvers:
            tally = compare(text, solver)
            totals[solver].add(tally)
            print(f"{path.name.split('.')[0]:20} {solver:9} {tally.row()}", flush=True)
    for solver, total in totals.items():
        print(f"{'all':20} {solver:9} {total.row()}   (target: {TARGET_RATIO:.0f}x, {100 * TARGET_SHARE:.0f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
