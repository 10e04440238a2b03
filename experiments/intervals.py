"""Part of `make bench`: the layers `intervals` and `enumerate` against the solvers that would otherwise answer.

Every query log is asked twice, with and without the two layers before Z3 (and before Bitwuzla). Compared is, query by
query, the time in the two layers with the solver's own time, without translation, for what the layers answer (the
geometric mean of the ratios counts), and for what they pass on their time as a share of what the solver then takes.
PARTITA_SHARED says where the logs are. Names of logs or of solvers as arguments: only those.
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
FASTER, SHARE = 100.0, 0.05
"""What is asked: so many times faster on what is answered, at most this share of the solver's time when passing on."""


@dataclass(frozen=True)
class Cost:
    """Seconds that one query took, and how often each layer was asked."""

    own: float
    solver: float
    asked_own: int
    asked_solver: int


@dataclass
class Tally:
    ratios: list[float] = field(default_factory=list)
    own_in_vain: float = 0.0
    solver_after: float = 0.0

    def add(self, other: Tally) -> None:
        self.ratios += other.ratios
        self.own_in_vain += other.own_in_vain
        self.solver_after += other.solver_after

    def row(self) -> str:
        mean = exp(sum(map(log, self.ratios)) / len(self.ratios)) if self.ratios else float("nan")
        share = 100 * self.own_in_vain / self.solver_after if self.solver_after else 0.0
        return f"{len(self.ratios):8} {mean:8.0f}x {share:9.2f} %"


class Timed:
    """A solver's layer that remembers its own time of every check."""

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
    """The costs of each query of a log, all asked in one run: our layers and the solver as warm as they are in one."""
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
            tally.own_in_vain += ours.own
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
        print(f"{'all':20} {solver:9} {total.row()}   (wanted: {FASTER:.0f}x, {100 * SHARE:.0f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
