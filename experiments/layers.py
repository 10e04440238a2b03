"""Ablation: the default chain without each of its layers, over programs of every other experiment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from experiments import binutils, coreutils, eca, libs, sortc
from experiments.experiment import Case, Effort, Experiment, Panel, Scale, Setup
from partita.solver import DEFAULT_LAYERS

WHOLE = "whole chain"
# Without `sat` the chain would be incomplete, and `store` needs a file.
_CHAIN = [layer for layer in DEFAULT_LAYERS.split() if layer != "store"]
CONFIGURATIONS = {
    WHOLE: Setup(" ".join(_CHAIN), compared_with=WHOLE),
    **{
        f"without {one}": Setup(" ".join(layer for layer in _CHAIN if layer != one), compared_with=WHOLE)
        for one in _CHAIN
        if one != "sat"
    },
}

_ONLY_FULL = ("foo", "objres", "Dijkstra", "Operations", "Median")
_STRUCTURES = {"BinTree": 6, "Dijkstra": 4, "NanoXML": 6, "Operations": 3, "Median": 4}
_PACKAGED: dict[Scale, dict[str, tuple[str, ...]]] = {
    "paper": {
        "binutils": ("readelf", "strings"),
        "coreutils": ("cut", "head", "tr"),
        "libs": ("json-c", "cmark", "m4"),
    },
    "hour": {"binutils": ("readelf", "strings"), "coreutils": ("cut", "head", "tr"), "libs": ("json-c", "cmark", "m4")},
    "quick": {"libs": ("json-c",)},
    "smoke": {},
}
_SHARE = 0.03
"""Share of the effort's seconds for which the whole chain explores a packaged program, not to its end."""


def cases(scale: Scale) -> list[Case]:
    small = scale == "smoke"
    programs: dict[str, tuple[str, dict[str, str | int]]] = {
        "foo": ("foo.c", {}),
        "objres": ("objres.c", {"LENGTH": 64, "TYPE": "uint32_t"}),
        "worstcase": ("worstcase.c", {"N": 6 if small else 12, "WORST": 1}),
        "sort1": ("sorts.c", {"SORT": "insertion", "LENGTH": 40, "FIRST": 20}),
        "sort2": ("sorts.c", {"SORT": "selection", "LENGTH": 15 if scale == "quick" else 40, "FIRST": 3, "SECOND": 8}),
        "sortcheck": ("sortcheck.c", {"LENGTH": 5}),
        **{name: (f"structures/{name}.c", {"SIZE": size}) for name, size in _STRUCTURES.items()},
    }
    chosen = (
        ["worstcase"] if small else [name for name in programs if scale in ("paper", "hour") or name not in _ONLY_FULL]
    )
    found = [Case(name, name, *programs[name]) for name in chosen]
    if not small:
        four_lines = next(case for case in sortc.cases(scale) if case.x == 4)
        found += [_renamed("eca", eca.cases(scale)[0]), _renamed("sortC", four_lines), *_packaged(scale)]
    return found


def _packaged(scale: Scale) -> list[Case]:
    whole = {"binutils": binutils.cases("paper"), "coreutils": coreutils.cases("paper"), "libs": libs.cases("paper")}
    return [
        _renamed(name, next(case for case in whole[origin] if case.x == name), until="instructions", share=_SHARE,
                only=(), only_if_built=scale == "quick" and origin != "libs")
        for origin, names in _PACKAGED[scale].items()
        for name in names
    ]  # fmt: skip


def _renamed(name: str, case: Case, **others: Any) -> Case:
    """A case of another experiment under another name."""
    return replace(case, series=name, x=name, search="dfs", **others)


EXPERIMENT = Experiment(
    name="layers",
    title="The chain without each of its layers",
    source="not in the papers",
    reported="nothing: this experiment is ours.",
    note=(
        "Additional time of exploring without a layer, in per cent; Nx if it is more than ten times. Insignificant"
        " differences are in brackets. Programs of packages are not explored to their end: each chain executes as many"
        " instructions as the whole chain executes in a time."
    ),
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"paper": Effort(10, 120), "hour": Effort(3, 30), "quick": Effort(2, 10), "smoke": Effort(1, 20)},
    panels=(Panel("difference", "more time than with the whole chain, %", "", "", tuple(CONFIGURATIONS)[1:],
                  kind="grid"),),
)  # fmt: skip
