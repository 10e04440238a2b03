"""Takes results into the documentation: plots, the data behind them, and the figures in the text, all of one run.

    python -m experiments publish --from DIR [--counts] NAME...     copies NAME.json and NAME.svg, then fills the page
    python -m experiments publish --fill                            fills the page from what is there
    python -m experiments publish --check                           exit status 1 if the page differs from the data

The page has places that are filled, `<!-- NAME VIEW ARGUMENTS -->` to `<!-- end -->`:

    NAME rows MEASURE...   a table of the rows: a line per case, a column per configuration
    NAME lines             the lines that the experiment prints
    NAME run               scale, number of runs, date, machine
    control table          the table of `python -m experiments control --json`

With `--counts` nothing that depends on the speed of the machine is taken, for a run beside which something else ran.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments import control
from experiments.catalogue import EXPERIMENTS
from experiments.locations import REPOSITORY
from partita.errors import UsageError
from partita.explore import write_atomically

PAGE = REPOSITORY / "docs" / "experiments.md"
RESULTS = REPOSITORY / "docs" / "experiments"
_PLACE = re.compile(
    r"(<!-- (?P<name>[\w-]+) (?P<view>rows|lines|run|table)(?P<words>[^>]*?) -->\n)(.*?)(<!-- end -->)", re.S
)
_COUNTS = (
    "solves", "queries", "instructions", "states", "paths", "hit_rate", "success", "inequalities", "handled",
    "mismatches",
)  # fmt: skip
"""Measures that do not depend on the speed of the machine if as much was explored."""
_KEPT = (*_COUNTS, "stopped", "found", "complete")
_TIMES = (
    "time_s", "wall_s", "cpu_s", "share", "solver_s", "solver_percent", "overhead", "peak_mb", "curve", "lines",
    "percent_lines", "reached",
)  # fmt: skip
_LAYER = ("name", "asked", "sat", "unsat", "inequalities", "constructs")


def without_places(value: Any) -> Any:
    """A result without folders of the machine: an absolute path becomes its name."""
    if isinstance(value, Mapping):
        return {key: without_places(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_places(one) for one in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def _command(words: Sequence[str]) -> list[str]:
    """The command that repeats a run, without the folder of its results."""
    left_out = {at + extra for at, word in enumerate(words) if word == "--out" for extra in (0, 1)}
    return [word for at, word in enumerate(words) if at not in left_out and not word.startswith("--out=")]


def reduced(data: Mapping[str, Any], counts: bool) -> dict[str, Any]:
    """A result with what plots and text need: without statistics of the solver, except for numbers of queries."""
    kept = (*_KEPT, *(() if counts else _TIMES))
    samples = []
    for sample in data["samples"]:
        runs = []
        for run in sample["runs"]:
            layers = [
                {key: layer[key] for key in layer if key in _LAYER or key.startswith("passed_")}
                for layer in run["solver"]["layers"]
            ]
            runs.append({**{key: run[key] for key in kept if key in run}, "solver": {"layers": layers}})
        # Runs with the same counts are one run.
        distinct = [one for at, one in enumerate(runs) if not counts or one not in runs[:at]]
        samples.append({**sample, "n": len(runs), "runs": distinct})
    rows = [dict(row) for row in data["rows"]]
    for row in rows if counts else ():
        row["estimates"] = {name: value for name, value in row["estimates"].items() if name in _COUNTS}
    left_out = ("elapsed_s", "processor_s") if counts else ()
    found = {
        **{key: data[key] for key in data if key not in left_out},
        "command": _command(data["command"]),
        "counts": counts,
        "samples": samples,
        "rows": rows,
    }
    return dict(without_places(found))


def take(folder: Path, names: Sequence[str], counts: bool, into: Path = RESULTS) -> None:
    for name in names:
        try:
            data = json.loads((folder / f"{name}.json").read_text())
        except FileNotFoundError:
            raise UsageError(f"expected the result `{name}.json` in `{folder}`, found none") from None
        if not data["complete"]:
            raise UsageError(f"expected a result of all rows, found an interrupted one: `{folder / name}.json`")
        write_atomically(into / f"{name}.json", json.dumps(reduced(data, counts), separators=(",", ":")) + "\n")
        measures = {panel.measure for panel in EXPERIMENTS[name].panels}
        if not counts or measures <= set(_COUNTS):
            shutil.copyfile(folder / f"{name}.svg", into / f"{name}.svg")


def _cell(row: Mapping[str, Any] | None, measure: str) -> str:
    if row is None or measure not in row["estimates"]:
        return "-" if row is None or row["outcome"] == "measured" else str(row["outcome"])
    value = row["estimates"][measure]
    mean, within = value["mean"], value["within"]
    shown = f"{mean:,.0f}" if abs(mean) >= 100 or mean == int(mean) else f"{mean:.3g}"
    return shown if within is None or within == 0 else f"{shown} ± {within:.2g}"


def rows(data: Mapping[str, Any], words: Sequence[str]) -> list[str]:
    """A line for each case, a column for each configuration and measure."""
    names = list(data["configurations"])
    measured = {(row["configuration"], measure) for row in data["rows"] for measure in row["estimates"]}
    columns = [(name, measure) for name in names for measure in words if (name, measure) in measured]
    head = [name if len(words) == 1 else f"{name}: {measure.replace('_', ' ')}" for name, measure in columns]
    cases: dict[tuple[str, str], dict[str, Any]] = {}
    for row in data["rows"]:
        cases.setdefault((row["series"], str(row["x"])), {})[row["configuration"]] = row
    lines = [f"| | {' | '.join(head)} |", f"|---|{'--:|' * len(columns)}"]
    for (series, x), mine in cases.items():
        cells = [_cell(mine.get(name), measure) for name, measure in columns]
        lines.append(f"| {x if series == x else f'{series}, {x}'} | {' | '.join(cells)} |")
    return lines


def lines(data: Mapping[str, Any], words: Sequence[str]) -> list[str]:
    table = EXPERIMENTS[data["name"]].table
    if table is None:
        raise UsageError(f"expected an experiment that prints lines, found `{data['name']}`")
    try:
        return ["```", *table(data["samples"]), "```"]
    except KeyError as missing:
        raise UsageError(f"expected {missing} in `{data['name']}.json`: the lines need a run with times") from None


def run(data: Mapping[str, Any], words: Sequence[str]) -> list[str]:
    runs = [sample["n"] for sample in data["samples"] if sample["outcome"] == "measured"]
    machine, versions = data["machine"], data["versions"]
    said = (
        f"`--scale {data['scale']}`, {data.get('date', 'date not recorded')}, n = {min(runs, default=0)} to"
        f" {max(runs, default=0)} runs, at most {data['effort']['seconds']:g} s each; {machine['processor']},"
        f" {machine['processors']} processors, Partita {versions['partita']} ({versions['content']}), Z3"
        f" {versions['z3-solver']}."
    )
    if data.get("counts"):
        said += " Other work ran beside it: counts only."
    else:
        shares = [one["share"] for sample in data["samples"] for one in sample["runs"] if "share" in one]
        said += f" Share of the processor: {statistics.fmean(shares):.2f} on average." if shares else ""
    return [said]


VIEWS: dict[str, Callable[[Any, Sequence[str]], list[str]]] = {
    "rows": rows,
    "lines": lines,
    "run": run,
    "table": lambda data, words: control.table(data),
}


def filled(text: str, folder: Path = RESULTS) -> str:
    """The page with all places filled from the data."""

    def fill(place: re.Match[str]) -> str:
        data = json.loads((folder / f"{place['name']}.json").read_text())
        found = VIEWS[place["view"]](data, place["words"].split())
        return "\n".join([place[1].rstrip("\n"), "", *found, "", place[6]])

    return _PLACE.sub(fill, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--from", dest="folder", metavar="DIR", type=Path, help="results of `python -m experiments`")
    parser.add_argument("--counts", action="store_true", help="take only what does not depend on the machine's speed")
    parser.add_argument("--fill", action="store_true", help="fill the page from the data that it has")
    parser.add_argument("--check", action="store_true", help="compare the page with the data that it has")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.name if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"expected experiments of {', '.join(EXPERIMENTS)}, found `{unknown[0]}`")
    if (arguments.folder is None) != (not arguments.name):
        parser.error("expected --from DIR with names of experiments")
    try:
        if arguments.folder is not None:
            take(arguments.folder, arguments.name, arguments.counts)
        text = PAGE.read_text()
        new = filled(text)
    except UsageError as error:
        print(f"experiments: error: {error}", file=sys.stderr)
        return 2
    if arguments.check:
        print(f"{PAGE}: {'agrees with the data' if new == text else 'differs from the data: run publish --fill'}")
        return 0 if new == text else 1
    if new != text:
        write_atomically(PAGE, new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
