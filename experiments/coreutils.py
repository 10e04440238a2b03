"""GNU Coreutils with symbolic arguments, a file and stdin: compared with KLEE, and with each paper's technique.

`coreutils` explores each utility for a time. `coreutils-solvers` does as the papers did: the first configuration
explores for a time, depth first, then every other one executes as many instructions.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.experiment import BASELINE, Case, Effort, Experiment, Panel, Scale, Setup, with_shorter_times
from partita.solver import DEFAULT_LAYERS

Sample = Mapping[str, Any]


class Klee(NamedTuple):
    """KLEE's figures for 60 s of a utility: depth first, Z3, caches on."""

    instructions: float
    """Millions."""
    paths: int
    reached: int
    """Covered instructions of the program and its library, before any optimisation."""


OPTIONS = tuple("--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8 --sym-stdout".split())
# KLEE 3.3-pre with LLVM 16 and Z3 5.4, uclibc, its POSIX runtime and these options: single runs on a shared machine of
# two cores, recorded when this project began.
KLEE = {
    "echo": Klee(97.0, 65_506, 2_501),
    "printenv": Klee(102.9, 70_916, 3_179),
    "expand": Klee(120.4, 36_570, 2_807),
    "fmt": Klee(78.5, 15_722, 3_174),
    "cut": Klee(94.6, 30_865, 5_705),
    "pathchk": Klee(57.5, 11_468, 5_862),
    "dirname": Klee(38.1, 18_708, 3_645),
    "sum": Klee(42.7, 5_141, 6_651),
    "tac": Klee(39.1, 11_808, 7_492),
    "head": Klee(21.1, 9_306, 5_030),
    "sort": Klee(7.7, 2_254, 7_007),
    "paste": Klee(5.9, 1_779, 5_828),
    "tr": Klee(5.8, 1_216, 5_145),
    "basename": Klee(1.0, 441, 3_198),
    "factor": Klee(0.0, 0, 2_106),
}
KLEE_S = 60.0
UTILITIES = (
    *KLEE,
    *"tail uniq wc cat comm join fold nl od seq test expr date env touch mkdir ls".split(),
)
_CHOSEN: dict[Scale, tuple[str, ...]] = {
    "paper": UTILITIES,
    "hour": UTILITIES[:20],
    "quick": ("echo", "dirname", "cut", "head", "tr"),
    "smoke": ("echo",),
}
_SOLVED: dict[Scale, tuple[str, ...]] = {
    "paper": tuple(KLEE),
    "hour": UTILITIES[:20],
    "quick": ("dirname", "printenv", "head", "tr", "cut"),
    "smoke": ("echo",),
}
DEFAULT_SEARCH, DEPTH_FIRST = "default search", "depth first"
_SEARCHES = {DEFAULT_SEARCH: "mix", DEPTH_FIRST: "dfs"}


def cases(scale: Scale) -> list[Case]:
    return [
        _case(scale, series, name, until="time", search=search)
        for series, search in _SEARCHES.items()
        for name in _CHOSEN[scale]
        if search == "mix" or (name in KLEE and scale != "smoke")
    ]


def cases_of_solvers(scale: Scale) -> list[Case]:
    found = [
        _case(scale, series, name, until="instructions", search="dfs", share=share, only=only)
        for series, share, only in with_shorter_times(DEPTH_FIRST, scale, (BASELINE, "intervals"))
        for name in _SOLVED[scale]
    ]
    if scale != "smoke":
        # Without ratios: paths differ.
        share = 0.25 if scale == "hour" else 1.0
        found += [
            _case(scale, DEFAULT_SEARCH, name, until="time", search="mix", only=("integers", CHECKED), share=share)
            for name in _SOLVED[scale]
        ]
    return found


def _case(scale: Scale, series: str, name: str, **others: Any) -> Case:
    reported = KLEE[name]._asdict() if name in KLEE else {}
    return Case(series, name, name, package="coreutils", only_if_built=scale == "quick", arguments=OPTIONS,
                reported=reported, **others)  # fmt: skip


def compared_with_klee(samples: Sequence[Sample]) -> list[str]:
    """One row per utility, and the mean of the ratios."""
    head = f"{'utility':<10}{'search':<16}{'M instr':>9}{'paths':>11}{'own lines':>11}{'':>8}{'reached':>9}"
    lines = [f"{head}{'KLEE M instr':>13}{'reached':>9}{'paths':>9}{'ratio':>7}"]
    ratios: dict[str, list[float]] = {}
    for sample in samples:
        if sample["outcome"] != "measured":
            continue
        case, runs = sample["case"], sample["runs"]
        paths, executed = (statistics.fmean(run[name] for run in runs) for name in ("paths", "instructions"))
        line = f"{case['x']:<10}{case['series']:<16}{executed / 1e6:>9.1f}{paths:>11,.0f}"
        if "lines" in runs[0]:
            covered, share = (statistics.fmean(run[name] for run in runs) for name in ("lines", "percent_lines"))
            line += f"{covered:>11,.0f} {f'({share:.0f} %)':>7}"
        else:
            line += f"{'-':>11}{'':>8}"
        line += _reached(runs[0])
        theirs = case["reported"]
        if theirs:
            line += f"{theirs['instructions']:>13.1f}{_reached(theirs)}{theirs['paths']:>9,}"
        if theirs.get("paths"):
            in_this_time = theirs["paths"] * statistics.fmean(run["cpu_s"] for run in runs) / KLEE_S
            ratios.setdefault(case["series"], []).append(max(1.0, paths) / in_this_time)
            line += f"{ratios[case['series']][-1]:>7.1f}"
        lines.append(line)
    lines += [
        f"{series}: {_geometric_mean(found):.1f} times KLEE's paths in as much time, geometric mean over {len(found)}"
        for series, found in ratios.items()
    ]
    return lines


def _reached(figures: Mapping[str, Any]) -> str:
    """Covered instructions; results of earlier versions lack them."""
    return f"{figures['reached']:>9,}" if "reached" in figures else f"{'-':>9}"


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def delegation(samples: Sequence[Sample]) -> list[str]:
    """The share that each layer answers, the reasons why it passes queries on, and its wrong answers."""
    return [*_answered(samples), *_reasons(samples), *_mismatches(samples)]


def _runs(samples: Sequence[Sample]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Search, configuration, utility and first run of each sample that was measured for the whole time."""
    for sample in samples:
        if sample["outcome"] == "measured" and sample["case"]["series"] in _SEARCHES:
            yield sample["case"]["series"], sample["configuration"], sample["case"]["x"], sample["runs"][0]


def _answered(samples: Sequence[Sample]) -> list[str]:
    asked: Counter[tuple[str, str, str]] = Counter()
    answered: Counter[tuple[str, str, str]] = Counter()
    for search, configuration, _, run in _runs(samples):
        for layer in run["solver"]["layers"]:
            if layer["asked"] and layer["name"] not in ("verify", "split"):  # these answer nothing
                asked[search, configuration, layer["name"]] += layer["asked"]
                answered[search, configuration, layer["name"]] += layer["sat"] + layer["unsat"]
    return [
        f"{search}, {configuration}: {layer} answers {100 * answered[key] / count:.1f} % of {count:,}"
        for key, count in asked.items()
        for search, configuration, layer in [key]
    ]


def _reasons(samples: Sequence[Sample]) -> list[str]:
    """The first construct of a query that a partial layer does not know, by the layer's counters."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for search, _, _, run in _runs(samples):
        for layer in run["solver"]["layers"]:
            if layer["name"].endswith(":paper"):
                reasons = found.setdefault((search, layer["name"]), Counter())
                reasons.update({key[7:]: int(n) for key, n in layer.items() if key.startswith("passed_") and n})
    return [
        f"{search}, {layer} passes on: "
        + ", ".join(f"{name} {100 * count / reasons.total():.0f} %" for name, count in reasons.most_common())
        for (search, layer), reasons in found.items()
        if reasons
    ]


def _mismatches(samples: Sequence[Sample]) -> list[str]:
    checked = [(name, run["mismatches"]) for _, c, name, run in _runs(samples) if c == CHECKED and "mismatches" in run]
    wrong = sorted({name for name, count in checked if count})
    if not checked:
        return []
    where = f": {', '.join(wrong)}" if wrong else ""
    return [f"integers:paper contradicts Z3's bit-vectors on {len(wrong)} of {len(checked)} utilities{where}"]


CHECKED = "integers, checked"
_NOTE = (
    "Coreutils 9.1 of Debian's source package, built with `partita cc` (fetched and built first if it is missing: three"
    " minutes). Options are KLEE's usual ones for Coreutils, shortened: " + " ".join(OPTIONS) + "."
)

EXPERIMENT = Experiment(
    name="coreutils",
    title="GNU Coreutils for a time, compared with KLEE",
    source="ours, in the setup of all three papers",
    reported="see KLEE's columns: recorded on another machine of two cores, in 60 s, depth first.",
    note=_NOTE
    + " KLEE's library is another (uclibc) and forks elsewhere, so read paths and lines together. Lines are those of"
    " the utility's own sources, not gnulib's. `reached` are covered instructions of the utility and its libraries:"
    " ours after allocas have become registers, KLEE's before. Single runs; shorter ones are compared with that share"
    " of KLEE's 60 s.",
    configurations={"default": Setup(DEFAULT_LAYERS)},
    cases=cases,
    effort={"paper": Effort(1, 60), "hour": Effort(1, 60), "quick": Effort(1, 2), "smoke": Effort(1, 0.5)},
    panels=(
        Panel("paths", "paths", "", "completed paths", ("default",), log_y=True, kind="bars"),
        Panel("percent_lines", "lines of the utility's own sources", "", "% reached", ("default",), kind="bars"),
    ),
    table=compared_with_klee,
)

SOLVERS = Experiment(
    name="coreutils-solvers",
    title="GNU Coreutils: an equal number of instructions with each technique",
    source="PARTI (ASE 2018), Figures 8 and 10; Integers instead of bit-vectors, Figures 4 to 11",
    reported=(
        "Intervals: up to 20 times as fast as Z3 alone (dirname, printenv), about ten of 98 tools at least twice."
        " Integers: 15 % slower to 40 % faster, 37 % of the queries handled, 79 % of the others passed on because of an"
        " extract, wrong answers on 34 of 105 utilities."
    ),
    note=_NOTE
    + " Z3 alone runs for a time; as many instructions are then executed with each configuration. With the default"
    " search integers run for that time, with and without a check by Z3, whose answer is used after a mismatch. As in"
    " the papers' executor, every chain first removes constraints that share no input with the condition (`split`). The"
    " second paper leaves out utilities that spend little time in the solver; here all are kept, since without caches"
    " all spend most of their time there.",
    configurations={
        BASELINE: Setup("split z3", path_model=False),
        "intervals": Setup("split intervals:paper z3", path_model=False),
        "integers": Setup("split integers:paper z3", path_model=False),
        CHECKED: Setup("verify(z3,mismatch=continue) split integers:paper z3", path_model=False, census=True),
        "default": Setup(DEFAULT_LAYERS),
    },
    cases=cases_of_solvers,
    effort={"paper": Effort(3, 60), "hour": Effort(1, 60), "quick": Effort(2, 1), "smoke": Effort(1, 0.3)},
    panels=(
        Panel("speedup", "intervals (PARTI, Fig. 8)", "seconds of Z3 alone", "times as fast as Z3 alone",
              ("intervals",), log_y=True, kind="timeouts", series=(DEPTH_FIRST,)),
        Panel("success", "what intervals answer (PARTI, Fig. 10)", "queries", "share answered", ("intervals",),
              kind="scatter", series=(DEPTH_FIRST,)),
        Panel("solver_percent", "Z3 alone (Integers, Fig. 4)", "", "% of the time in the solver", (BASELINE,),
              kind="tools", series=(DEPTH_FIRST,)),
        Panel("difference", "integers, all (Integers, Fig. 5)", "", "more time than Z3 alone, %", ("integers",),
              kind="tools", series=(DEPTH_FIRST,)),
        Panel("solver_difference", "integers, in the solver (Integers, Fig. 6)", "", "more time than Z3 alone, %",
              ("integers",), kind="tools", series=(DEPTH_FIRST,)),
        Panel("inequalities", "inequalities (Integers, Fig. 7)", "", "share of all constructs", (CHECKED,),
              kind="tools", series=(DEPTH_FIRST,)),
        Panel("success", "integers, default search (Integers, Fig. 8)", "", "share answered", ("integers",),
              kind="tools", series=(DEFAULT_SEARCH,)),
        Panel("success", "integers, depth first (Integers, Fig. 10)", "", "share answered", ("integers",),
              kind="tools", series=(DEPTH_FIRST,)),
        Panel("success", "why integers pass on (Integers, Fig. 9)", "% of what is passed on", "", ("integers",),
              kind="reasons", series=tuple(_SEARCHES)),
        Panel("mismatches", "wrong answers (Integers, Fig. 11)", "", "queries", (CHECKED,), kind="wrong",
              series=tuple(_SEARCHES)),
        Panel("speedup", "all techniques, longest time", "", "times as fast as Z3 alone",
              ("intervals", "integers", "default"), log_y=True, kind="bars", series=(DEPTH_FIRST,)),
    ),
    table=delegation,
)  # fmt: skip
