"""Figures 6 and 7 of the first paper: six sorting algorithms with one and with two symbolic entries."""

from __future__ import annotations

import random

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, against_z3

ALGORITHMS = ("bubble", "heap", "insertion", "merge", "quick", "selection")
_LENGTHS: dict[Scale, tuple[int, ...]] = {
    "paper": (40, 45, 50, 55, 60),
    "hour": (40, 50, 60),
    "quick": (40, 60),
    "smoke": (8,),
}
_LENGTHS_OF_TWO: dict[Scale, tuple[int, ...]] = {**_LENGTHS, "quick": (8, 12), "smoke": (5,)}
_LABELS = ("length of the array", "times as fast as Z3 alone")
_PANELS = tuple(
    Panel("speedup", configuration, *_LABELS, (configuration,), log_y=True) for configuration in ("paper", "default")
)


def _cases(scale: Scale, symbolic: int) -> list[Case]:
    found = []
    for algorithm in ALGORITHMS if scale != "smoke" else ALGORITHMS[:2]:
        for length in (_LENGTHS if symbolic == 1 else _LENGTHS_OF_TWO)[scale]:
            # Equal positions for all algorithms, so that they can be compared.
            positions = random.Random(f"places {symbolic} {length}").sample(range(length), symbolic)
            entries = dict(zip(("FIRST", "SECOND"), positions, strict=False))
            found.append(Case(algorithm, length, "sorts.c", {"SORT": algorithm, "LENGTH": length, **entries}))
    return found


SORT1 = Experiment(
    name="sort1",
    title="Sorting with one symbolic entry",
    source="PARTI (ASE 2018), Figure 6",
    reported="10 to 50 times as fast as Z3 alone: merge and heap sort about 10, selection sort above 40.",
    note="The symbolic entry has a random position for each length, the same for all algorithms and repeats.",
    configurations=against_z3("intervals:paper"),
    cases=lambda scale: _cases(scale, 1),
    effort={"paper": Effort(20, 300), "hour": Effort(5, 60), "quick": Effort(2, 20), "smoke": Effort(1, 20)},
    panels=_PANELS,
)

SORT2 = Experiment(
    name="sort2",
    title="Sorting with two symbolic entries",
    source="PARTI (ASE 2018), Figure 7",
    reported="1.5 to 10 times as fast as Z3 alone.",
    note=(
        "The symbolic entries have random positions for each length, the same for all algorithms and repeats. With"
        " `--scale quick` the arrays have 8 and 12 entries, not 40 to 60."
    ),
    configurations=against_z3("intervals:paper"),
    cases=lambda scale: _cases(scale, 2),
    effort={"paper": Effort(5, 900), "hour": Effort(2, 60), "quick": Effort(2, 20), "smoke": Effort(1, 20)},
    panels=_PANELS,
)
