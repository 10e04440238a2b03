"""Figure 11 of the first paper: GNU sort checks whether a file of symbolic and concrete lines is sorted."""

from __future__ import annotations

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, Setup, against_z3

_WIDTHS: dict[Scale, tuple[int, ...]] = {"paper": (4, 8, 12, 16), "hour": (4, 16), "quick": (4, 8), "smoke": (4,)}
_LINES: dict[Scale, tuple[int, ...]] = {
    "paper": tuple(range(1, 9)),
    "hour": (1, 2, 4, 6, 8),
    "quick": (1, 2, 4),
    "smoke": (2,),
}
_STP = {
    "paper, STP": Setup("split intervals:paper stp", path_model=False, compared_with="STP", needs="stp"),
    "STP": Setup("split stp", path_model=False, compared_with="STP", needs="stp"),
}


def cases(scale: Scale) -> list[Case]:
    return [
        Case(f"{width} characters", lines, "sort", {"LINES": lines, "WIDTH": width},
             package="coreutils", only_if_built=scale == "quick", linked="sortC.c", arguments=("-C", "lines"))
        for width in _WIDTHS[scale]
        for lines in _LINES[scale]
    ]  # fmt: skip


EXPERIMENT = Experiment(
    name="sortC",
    title="Is a file sorted? GNU sort -C",
    source="PARTI (ASE 2018), Figure 11",
    reported=(
        "Intervals answer all queries; the speed-up over Z3 or STP alone grows with the number of lines and their"
        " length, to about 20 for eight lines of 16 characters. No difference between Z3 and STP."
    ),
    note=(
        "sort of Coreutils 9.1, with a `memcmp` that compares byte by byte, as KLEE's does (ours makes one expression"
        " for each line). The symbolic characters are printable, so that a line stays one. STP is used if installed."
    ),
    configurations={**against_z3("intervals:paper"), **_STP},
    cases=cases,
    effort={"paper": Effort(10, 600), "hour": Effort(3, 30), "quick": Effort(2, 10), "smoke": Effort(1, 10)},
    panels=tuple(
        Panel("speedup", name, "lines of the file", "times as fast as Z3 (STP) alone", (name,), log_y=True)
        for name in ("paper", "paper, STP", "default")
    ),
)
