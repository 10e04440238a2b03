"""Table 2 and Figure 2a of the third paper: C libraries explored for a given time, by the caches before the solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from experiments.experiment import Case, Effort, Experiment, Panel, Scale, Setup
from experiments.published import TABLE_2, summaries
from experiments.structures import SOLVER
from partita.solver import DEFAULT_LAYERS

BASE = "KLEE's cache"
CONFIGURATIONS = {
    BASE: Setup("split reuse:klee sat(engine=conflicts,harvest=off)", path_model=False, compared_with=BASE),
    "paper": Setup(f"split solutions:paper(kp=250,ks=50) {SOLVER}", path_model=False, compared_with=BASE),
    "control": Setup(f"split solutions:paper(kp=250,ks=50,harvest=off) {SOLVER}", path_model=False, compared_with=BASE),
    "default": Setup(DEFAULT_LAYERS, compared_with=BASE),
}
PROGRAMS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "json-c": ("json-c", "json-c", ()),
    "cmark": ("cmark", "cmark", ()),
    "fribidi": ("fribidi", "fribidi", ()),
    "libtommath": ("libtommath", "libtommath", ()),
    "discount": ("discount", "markdown", ("--sym-stdin", "8")),
    "m4": ("m4", "m4", ("--sym-stdin", "8")),
    "ptx": ("coreutils", "ptx", ("--sym-stdin", "8")),
    "gas": ("gas", "as-new", ("--sym-stdin", "8")),
    "libinjection": ("libinjection", "libinjection", ()),
    "sha1-cd": ("sha1-cd", "sha1-cd", ()),
    "smaz": ("smaz", "smaz", ()),
    "sqlite3": ("sqlite3", "sqlite3", ()),
    "sundown": ("sundown", "sundown", ()),
}
"""Package, executable and arguments of each program."""
_CHOSEN: dict[Scale, tuple[str, ...]] = {
    "paper": tuple(PROGRAMS),
    "hour": tuple(PROGRAMS),
    "quick": ("json-c", "cmark", "smaz"),
    "smoke": ("json-c",),
}
_WORDS = {"dfs": "depth first", "bfs": "breadth first", "mix": "mixed search"}
_KINDS: dict[Literal["curve", "bars"], tuple[str, str]] = {
    "curve": ("seconds", "completed paths, mean"),
    "bars": ("", "completed paths"),
}
_SEARCHES: dict[Scale, tuple[str, ...]] = {
    "paper": ("dfs", "bfs", "mix"),
    "hour": ("dfs", "bfs"),
    "quick": ("dfs",),
    "smoke": ("dfs",),
}


def cases(scale: Scale) -> list[Case]:
    return [
        Case(search, name, PROGRAMS[name][1], package=PROGRAMS[name][0], arguments=PROGRAMS[name][2], until="time",
             search=search)
        for search in _SEARCHES[scale]
        for name in _CHOSEN[scale]
    ]  # fmt: skip


def overheads(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows of Table 2: paths, hit rate, and the share of time spent on partial solutions."""
    lines = [f"{'library':<12}{'search':<8}{'configuration':<16}{'paths':>9}{'hit rate':>10}{'overhead':>10}"]
    for sample in samples:
        if sample["outcome"] == "measured":
            run, case = sample["runs"][0], sample["case"]
            lines.append(
                f"{case['x']:<12}{case['series']:<8}{sample['configuration']:<16}{run['paths']:>9,}"
                f"{run['hit_rate']:>10.3f}{run['overhead']:>8.1f} %"
            )
    for search, column in (("dfs", 0), ("bfs", 2), ("mix", 4)):
        for name in dict.fromkeys(sample["case"]["x"] for sample in samples if sample["case"]["series"] == search):
            paths, rates = TABLE_2[name][column : column + 2]
            lines.append(
                f"{name:<12}{search:<8}reported: {paths[0]:,} paths, hit rate {rates[0]};"
                f" without {paths[1]:,}, {rates[1]}"
            )
    return [*lines, *summaries(samples, BASE, "paths")]


EXPERIMENT = Experiment(
    name="libs",
    title="C libraries for a time",
    source="Partial solutions in the cache (FSE 2024), Table 2 and Figure 2a",
    reported=(
        "15 programs for 30 minutes: 7 %, 16 % and 23 % more paths than with KLEE's cache (depth first, breadth first,"
        " random with coverage), 1.07, 1.11 and 1.15 times as fast; overhead typically below 5.6 % of the time, 31 % at"
        " most."
    ),
    note=(
        "13 of the 15, from Debian's source packages, built with `partita cc`, nine of them with drivers of ours, most"
        " on six symbolic characters; libinjection, sha1-cd, smaz and sundown are copies inside of other packages."
        " pacparser is missing because it brings its own JavaScript engine, apr because its functions need the whole"
        " library. gas and sqlite3 complete no path in five seconds. The third search is `mix`. Solves go to our SAT"
        " solver."
    ),
    configurations=CONFIGURATIONS,
    cases=cases,
    effort={"paper": Effort(5, 300), "hour": Effort(1, 30), "quick": Effort(2, 0.7), "smoke": Effort(1, 0.3)},
    panels=tuple(
        Panel("paths", words, *labels, tuple(CONFIGURATIONS), log_y=kind == "bars", kind=kind, series=(search,))
        for search, words in _WORDS.items()
        for kind, labels in _KINDS.items()
    ),
    table=overheads,
)  # fmt: skip
