"""Figures 4 and 5 of the first paper: sums whose sets of values explode, in time and memory."""

from __future__ import annotations

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, against_z3

_WORDS: dict[Scale, range] = {
    "paper": range(6, 25),
    "hour": range(6, 23, 2),
    "quick": range(6, 17, 3),
    "smoke": range(6, 7),
}
_ALL = ("paper", "default", "z3")


def cases(scale: Scale) -> list[Case]:
    variants: dict[str, dict[str, str | int]] = {"control": {}, "worst case": {"WORST": 1}}
    return [
        Case(series, words, "worstcase.c", {"N": words, **extra})
        for series, extra in variants.items()
        for words in _WORDS[scale]
    ]


EXPERIMENT = Experiment(
    name="worstcase",
    title="Sums with exponentially many values",
    source="PARTI (ASE 2018), Figures 4 and 5",
    reported=(
        "Faster than Z3 alone up to about 16 variables; from 17 on the explosion dominates time (beyond 2^5 s) and"
        " memory (beyond 2^10 MB), in the control as in the worst case."
    ),
    note=(
        "`intervals:paper` has no limit of intervals, so it explodes as in the paper; with the multiplication its work"
        " is without use, since that is passed on. Sets of `default` have at most 64 spans: queries that need more are"
        " passed on."
        " Memory is that of the whole process, most of it Python and Z3."
    ),
    configurations=against_z3("intervals:paper"),
    cases=cases,
    effort={"paper": Effort(10, 300), "hour": Effort(3, 60), "quick": Effort(2, 5), "smoke": Effort(1, 20)},
    panels=(
        Panel("time_s", "time", "symbolic words", "seconds", _ALL, log_y=True),
        Panel("peak_mb", "peak memory", "symbolic words", "MB", _ALL),
    ),
)
