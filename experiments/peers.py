"""Programs explored with other solvers below our executor, and with other executors, as far as installed."""

from __future__ import annotations

from experiments.experiment import BASELINE, Case, Effort, Experiment, Panel, Scale, Setup
from partita.solver import DEFAULT_LAYERS

CONFIGURATIONS = {
    "default": Setup(DEFAULT_LAYERS),
    BASELINE: Setup("split z3", path_model=False),
    "Bitwuzla": Setup("split bitwuzla", path_model=False, needs="bitwuzla"),
    "Yices": Setup("split yices-smt2", path_model=False, needs="yices-smt2"),
    "STP": Setup("split stp", path_model=False, needs="stp"),
    "KLEE": Setup("", tool="klee", needs="klee"),
    "angr": Setup("", tool="angr", needs="angr"),
}
_PROGRAMS: dict[str, tuple[str, dict[str, str | int]]] = {
    "foo": ("foo.c", {}),
    "worstcase": ("worstcase.c", {"N": 8, "WORST": 1}),
    "sort1": ("sorts.c", {"SORT": "merge", "LENGTH": 20, "FIRST": 7}),
    "sort2": ("sorts.c", {"SORT": "insertion", "LENGTH": 10, "FIRST": 3, "SECOND": 8}),
    "sortcheck": ("sortcheck.c", {"LENGTH": 4}),
    "BubbleSort": ("structures/BubbleSort.c", {"SIZE": 5}),
    "Median": ("structures/Median.c", {"SIZE": 4}),
    "Triangle": ("structures/Triangle.c", {"SIZE": 1}),
}
_QUICK = ("worstcase", "sort2", "sortcheck", "Median", "Triangle")


def cases(scale: Scale) -> list[Case]:
    chosen = {"smoke": ("foo",), "quick": _QUICK}.get(scale, tuple(_PROGRAMS))
    return [Case(name, name, *_PROGRAMS[name]) for name in chosen]


EXPERIMENT = Experiment(
    name="peers",
    title="Other solvers and other executors",
    source="not in the papers",
    reported="nothing: this experiment is ours.",
    note=(
        "Bitwuzla, Yices and STP answer the queries of our executor, which asks about both sides of every branch, as"
        " KLEE does; the time is that of exploring, with writing queries as text for the last two. KLEE (the command"
        " `klee`, compiled with `clang` or $PARTITA_KLEE_CLANG) and angr (in the Python $PARTITA_ANGR) explore the same"
        " sources depth first; their time includes their start."
    ),
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"paper": Effort(10, 120), "hour": Effort(3, 60), "quick": Effort(2, 12), "smoke": Effort(1, 10)},
    panels=(
        Panel("time_s", "time to explore everything", "", "seconds", tuple(CONFIGURATIONS), log_y=True, kind="bars"),
    ),
)
