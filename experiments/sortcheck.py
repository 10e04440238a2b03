"""Figure 2 of the second paper: insertion sort against bubble sort, all entries symbolic."""

from __future__ import annotations

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, against_z3

_LENGTHS: dict[Scale, tuple[int, ...]] = {
    "paper": (4, 5, 6, 7, 8),
    "hour": (4, 5, 6, 7),
    "quick": (3, 4, 5),
    "smoke": (3,),
}


def cases(scale: Scale) -> list[Case]:
    return [Case("crosscheck", length, "sortcheck.c", {"LENGTH": length}) for length in _LENGTHS[scale]]


EXPERIMENT = Experiment(
    name="sortcheck",
    title="Insertion sort against bubble sort",
    source="Integers instead of bit-vectors (2019), Figure 2",
    reported="49 % to 90 % less time with integers (median 77 %) for lengths 5 to 8.",
    note=(
        "“paper” reads words as signed integers that never wrap, which is right for this program and wrong in general"
        " (docs/integers.md). A run that exceeds the time limit is stopped and not drawn; longer ones are not started."
    ),
    configurations=against_z3("integers:paper"),
    cases=cases,
    effort={"paper": Effort(4, 1800), "hour": Effort(2, 300), "quick": Effort(2, 30), "smoke": Effort(1, 20)},
    panels=(Panel("time_s", "time", "length of the arrays", "seconds", ("paper", "default", "z3"), log_y=True),),
)
