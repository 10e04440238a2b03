"""Figures 3 to 6 of the third paper: how many partial solutions to take from a solve and to keep at a place."""

from __future__ import annotations

from partita.bench.experiment import Case, Effort, Experiment, Panel, Scale, Setup
from partita.bench.structures import GRULIA, SIZES

_VALUES = (20, 100, 500)
_CACHE = "split reuse:grulia {} sat"
CONFIGURATIONS = {
    "none": Setup(GRULIA, model_in_hand=False, beside="none"),
    **{
        f"{kp} + {ks}": Setup(_CACHE.format(f"solutions:paper(kp={kp},ks={ks})"), model_in_hand=False, beside="none")
        for kp in _VALUES
        for ks in _VALUES
    },
    "adaptive": Setup(_CACHE.format("solutions"), model_in_hand=False, beside="none"),
}
_SHOWN = tuple(name for name in CONFIGURATIONS if name != "none")
_QUICK = ("BubbleSort", "Dijkstra", "Operations", "Median")


def cases(scale: Scale) -> list[Case]:
    names = {"full": tuple(SIZES), "quick": _QUICK, "smoke": ("Median",)}[scale]
    return [
        Case(name, name, f"structures/{name}.c", {"SIZE": 4 if scale == "smoke" else SIZES[name]}, until="time")
        for name in names
    ]


EXPERIMENT = Experiment(
    name="params",
    title="Partial solutions taken (K_p) and kept (K_s)",
    source="Partial solutions in the cache (FSE 2024), Figures 3 to 6",
    reported=(
        "On average more states than without, in all nine settings and all searches; single programs also lose. No"
        " setting is best for all, and choosing one is left open."
    ),
    note=(
        "As in the paper, the axis has K_p + K_s and the height is how many more states than with Grulia alone are"
        " reached in equal time. “Adaptive” is our layer `solutions`, which chooses both sizes while it runs. The"
        " spread of one column is the paper's Figure 6. Programs that end in the time given say nothing here."
    ),
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"full": Effort(5, 60), "quick": Effort(2, 0.3), "smoke": Effort(1, 0.2)},
    panels=(Panel("increase", "states in equal time", "K_p + K_s", "more states than without, %", _SHOWN,
                  kind="spread"),),
)  # fmt: skip
