"""What each layer is worth: the default chain without it, over one program of each other experiment."""

from __future__ import annotations

from partita.bench.experiment import Case, Effort, Experiment, Panel, Scale, Setup
from partita.solver import DEFAULT_LAYERS

# `sat` decides what is left, and without a file for it there is no `store`.
_CHAIN = [layer for layer in DEFAULT_LAYERS.split() if layer != "store"]
CONFIGURATIONS = {
    "whole chain": Setup(" ".join(_CHAIN)),
    **{f"without {one}": Setup(" ".join(layer for layer in _CHAIN if layer != one)) for one in _CHAIN if one != "sat"},
}

_ONLY_FULL = ("objres", "Dijkstra", "Operations", "Median")
_STRUCTURES = {"BinTree": 6, "Dijkstra": 4, "NanoXML": 6, "Operations": 3, "Median": 4}


def cases(scale: Scale) -> list[Case]:
    small = scale == "smoke"
    programs: dict[str, tuple[str, dict[str, str | int]]] = {
        "worstcase": ("worstcase.c", {"N": 6 if small else 12, "WORST": 1}),
        "sort1": ("sorts.c", {"SORT": "insertion", "LENGTH": 40, "FIRST": 20}),
        "sort2": ("sorts.c", {"SORT": "selection", "LENGTH": 15 if scale == "quick" else 40, "FIRST": 3, "SECOND": 8}),
        "sortcheck": ("sortcheck.c", {"LENGTH": 5}),
        "objres": ("objres.c", {"LENGTH": 64, "TYPE": "uint32_t"}),
        **{name: (f"structures/{name}.c", {"SIZE": size}) for name, size in _STRUCTURES.items()},
    }
    chosen = ["worstcase"] if small else [name for name in programs if scale == "full" or name not in _ONLY_FULL]
    return [Case(name, name, *programs[name]) for name in chosen]


EXPERIMENT = Experiment(
    name="layers",
    title="The chain without each of its layers",
    source="not in the papers",
    reported="nothing: this one is ours.",
    note="A layer whose bars are no higher than those of the whole chain does not pay on these programs.",
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"full": Effort(10, 120), "quick": Effort(2, 10), "smoke": Effort(1, 20)},
    panels=(Panel("time_s", "time", "", "seconds", tuple(CONFIGURATIONS), log_y=True, kind="bars"),),
)
