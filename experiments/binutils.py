"""Figures 9 and 10 of the first paper: GNU Binutils, where intervals answer few queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.experiment import BASELINE, Case, Effort, Experiment, Panel, Scale, Setup, with_shorter_times
from partita.solver import DEFAULT_LAYERS

_FILE = ("--sym-files", "1", "64")
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "readelf": ("-h", "-S", "A"),
    "objdump": ("-f", "A"),
    "nm-new": ("A",),
    "size": ("A",),
    "strings": ("A",),
    "addr2line": ("-e", "A", "1"),
    "ar": ("t", "A"),
    "ranlib": ("A",),
    "cxxfilt": ("--sym-arg", "6"),
    "elfedit": ("--output-type", "exec", "A"),
    "objcopy": ("A", "B"),
    "strip-new": ("A",),
    "bfdtest1": ("A",),
    "bfdtest2": ("A",),
    "sysinfo": ("-d",),
}
"""Arguments of each tool. All have a symbolic file A of 64 bytes, a header; `sysinfo` reads symbolic input."""
_CHOSEN: dict[Scale, tuple[str, ...]] = {
    "paper": tuple(ARGUMENTS),
    "hour": ("readelf", "objdump", "nm-new", "size", "strings", "cxxfilt"),
    "quick": ("readelf", "size", "strings", "cxxfilt"),
    "smoke": ("readelf",),
}


WHOLE = "equal instructions"


def cases(scale: Scale) -> list[Case]:
    return [
        Case(series, name, name, package="binutils", only_if_built=scale == "quick", until="instructions", share=share,
             only=only, arguments=(*(("--sym-stdin", "16") if name == "sysinfo" else _FILE), *ARGUMENTS[name]))
        for series, share, only in with_shorter_times(WHOLE, scale, (BASELINE, "intervals"))
        for name in _CHOSEN[scale]
    ]  # fmt: skip


def success(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Figure 10: the share of queries that intervals answer, for each tool."""
    lines = []
    for sample in samples:
        whole = sample["case"]["series"] == WHOLE
        if whole and sample["outcome"] == "measured" and sample["configuration"] == "intervals":
            layer = next(one for one in sample["runs"][0]["solver"]["layers"] if one["name"] == "intervals:paper")
            answered = (layer["sat"] + layer["unsat"]) / max(1, layer["asked"])
            lines.append(f"{sample['case']['x']:<10} intervals answer {100 * answered:5.1f} % of {layer['asked']:,}")
    return lines


EXPERIMENT = Experiment(
    name="binutils",
    title="GNU Binutils: an equal number of instructions",
    source="PARTI (ASE 2018), Figures 9 and 10",
    reported=(
        "17 tools: no significant speed-up, never slower than 1.5 times, never faster than 3 times; the more queries"
        " a tool asks, the smaller the share that intervals answer."
    ),
    note=(
        "Binutils 2.40 of Debian's source package, built with `partita cc` (fetched and built first if it is missing:"
        " some ten minutes; without as, ld and gprof). Each tool reads a symbolic file of 64 bytes. Z3 alone runs for a"
        " time; as many instructions are then executed with each configuration."
    ),
    configurations={
        BASELINE: Setup("split z3", path_model=False),
        "intervals": Setup("split intervals:paper z3", path_model=False),
        "default": Setup(DEFAULT_LAYERS),
    },
    cases=cases,
    effort={"paper": Effort(3, 300), "hour": Effort(1, 60), "quick": Effort(2, 1), "smoke": Effort(1, 0.3)},
    panels=(
        Panel("speedup", "intervals (PARTI, Fig. 9)", "seconds of Z3 alone", "times as fast as Z3 alone",
              ("intervals",), log_y=True, kind="timeouts"),
        Panel("success", "what intervals answer (PARTI, Fig. 10)", "queries", "share answered", ("intervals",),
              kind="scatter"),
        Panel("speedup", "both, longest time", "", "times as fast as Z3 alone", ("intervals", "default"), log_y=True,
              kind="bars", series=(WHOLE,)),
    ),
    table=success,
)  # fmt: skip
