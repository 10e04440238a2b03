"""Figure 3 of the first paper: an unconstrained index into arrays of growing length, by element type."""

from __future__ import annotations

from partita.bench.experiment import Case, Effort, Experiment, Panel, Scale, against_z3

_POWERS: dict[Scale, tuple[int, ...]] = {"full": (3, 4, 5, 6, 7, 8, 9), "quick": (3, 5, 7, 9), "smoke": (3,)}
_BITS: dict[Scale, tuple[int, ...]] = {"full": (8, 16, 32, 64), "quick": (8, 16, 32, 64), "smoke": (32,)}
_LABELS = ("elements of the array", "times as fast as Z3 alone")


def cases(scale: Scale) -> list[Case]:
    return [
        Case(f"{bits} bit", 2**power, "objres.c", {"LENGTH": 2**power, "TYPE": f"uint{bits}_t"})
        for bits in _BITS[scale]
        for power in _POWERS[scale]
    ]


EXPERIMENT = Experiment(
    name="objres",
    title="Which objects can a symbolic address be in?",
    source="PARTI (ASE 2018), Figure 3",
    reported="Well above 200 times as fast as Z3 alone for all four element types, whatever the length.",
    note=(
        "KLEE asks about each object in memory in turn, about a hundred questions; here the objects are found by the"
        " set of the address in all configurations, and few questions are left. The ratio is that of these, start of"
        " the program included."
    ),
    configurations=against_z3("intervals:paper"),
    cases=cases,
    effort={"full": Effort(200, 60), "quick": Effort(40, 20), "smoke": Effort(1, 20)},
    panels=tuple(
        Panel("speedup", configuration, *_LABELS, (configuration,), log_x=True, log_y=True)
        for configuration in ("paper", "default")
    ),
)
