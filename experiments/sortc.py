"""Figure 11 of the first paper: does GNU sort find a file of symbolic and concrete lines sorted?"""

from __future__ import annotations

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, Setup, against_z3

_WIDTHS: dict[Scale, tuple[int, ...]] = {"full": (4, 8, 12, 16), "quick": (4, 8), "smoke": (4,)}
_LINES: dict[Scale, tuple[int, ...]] = {"full": tuple(range(1, 9)), "quick": (1, 2, 3, 4), "smoke": (2,)}
_STP = {
    "paper, STP": Setup("split intervals:paper stp", path_model=False, beside="STP", needs="stp"),
    "STP": Setup("split stp", path_model=False, beside="STP", needs="stp"),
}


def cases(scale: Scale) -> list[Case]:
    return [
        Case(f"{width} characters", lines, "sort", {"LINES": lines, "WIDTH": width},
             package="coreutils", built=scale == "quick", linked="sortC.c", words=("-C", "lines"))
        for width in _WIDTHS[scale]
        for lines in _LINES[scale]
    ]  # fmt: skip


EXPERIMENT = Experiment(
    name="sortC",
    title="Is a file sorted? GNU sort -C",
    source="PARTI (ASE 2018), Figure 11",
    reported=(
        "All questions answered by intervals; times as fast as Z3 or STP alone grows with lines and their length, to"
        " about 20 for eight lines of 16 characters. No difference between Z3 and STP."
    ),
    note=(
        "sort of Coreutils 9.1, with a `memcmp` that goes byte by byte, as KLEE's does (ours is one expression a line)."
        " The symbolic characters are printable, so that a line stays one. STP stands beside Z3 where it is installed."
    ),
    configurations={**against_z3("split intervals:paper", "split z3"), **_STP},
    cases=cases,
    effort={"full": Effort(10, 600), "quick": Effort(3, 10), "smoke": Effort(1, 10)},
    panels=tuple(
        Panel("speedup", name, "lines of the file", "times as fast as Z3 (STP) alone", (name,), log_y=True)
        for name in ("paper", "paper, STP", "default")
    ),
)
