"""Figures 3 to 6 of the third paper: the number of partial solutions taken from a solve, and kept at a node."""

from __future__ import annotations

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, Setup
from experiments.structures import SIZES, SOLVER

_VALUES = (20, 100, 500)
NONE = "none"
_CACHE = f"split {{}} {SOLVER}"
CONFIGURATIONS = {
    NONE: Setup(_CACHE.format("solutions:paper(harvest=off)"), path_model=False, compared_with=NONE),
    **{
        f"{kp} + {ks}": Setup(
            _CACHE.format(f"solutions:paper(kp={kp},ks={ks})"), path_model=False, compared_with="none"
        )
        for kp in _VALUES
        for ks in _VALUES
    },
    "adaptive": Setup(_CACHE.format("solutions"), path_model=False, compared_with=NONE),
}
_SHOWN = tuple(name for name in CONFIGURATIONS if name != NONE)
_QUICK = ("BubbleSort", "Operations", "Median")
_SEARCHES = {"dfs": "depth first", "bfs": "breadth first"}


def cases(scale: Scale) -> list[Case]:
    names = {"paper": tuple(SIZES), "hour": tuple(SIZES), "quick": _QUICK, "smoke": ("Median",)}[scale]
    return [
        Case(search, name, f"structures/{name}.c", {"SIZE": 4 if scale == "smoke" else SIZES[name]}, until="time",
             search=search)
        for search in (_SEARCHES if scale != "smoke" else ("dfs",))
        for name in names
    ]  # fmt: skip


EXPERIMENT = Experiment(
    name="params",
    title="Partial solutions taken (K_p) and kept (K_s)",
    source="Partial solutions in the cache (FSE 2024), Figures 3 to 6",
    reported=(
        "On average more states than without, in all nine settings and all searches; single programs also lose. No"
        " setting is best for all, and choosing one is left open."
    ),
    note=(
        "As in the paper, the axis has K_p + K_s; the height is the increase of states reached in equal time over the"
        " same cache without partial solutions. “Adaptive” is our layer `solutions`, which chooses both sizes while it"
        " runs. The deviation is"
        " that of one program over the nine settings, as in the paper's Figure 6. Programs that end before the time"
        " limit have no meaning here."
    ),
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"paper": Effort(5, 60), "hour": Effort(1, 2), "quick": Effort(3, 0.12), "smoke": Effort(1, 0.2)},
    panels=(
        *(Panel("increase", f"states in equal time, {words}", "K_p + K_s", "more states than without, %", _SHOWN,
                kind="spread", series=(search,)) for search, words in _SEARCHES.items()),
        *(Panel("increase", f"deviation over the nine, {words}", "", "standard deviation, %", _SHOWN[:-1],
                kind="deviation", series=(search,)) for search, words in _SEARCHES.items()),
    ),
)  # fmt: skip
