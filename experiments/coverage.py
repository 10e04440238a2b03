"""Line coverage of real programs over time: GNU Coreutils, tests replayed natively.

    python -m experiments coverage [--quick] [--seconds N] [--only NAME,...] [--jobs N]
                                   [--programs DIR] [--options WORDS]

Each utility is explored for a number of seconds of processor time, so that other work on the machine changes little,
with the options with which KLEE's figures were recorded, defaults otherwise. Its tests are replayed natively,
confined, on a build that marks the lines it executes, in the order in which they were written: so there is a curve
over time, and a test that does not replay as predicted does not count. Lines are those of the utility's own source
file. `coverage.json` in the output folder has the figures, the lines that no test reaches and the tests that ended
differently; `coverage.svg` has the curves. A utility whose run fails is reported and the others go on. Started again
with the same folder, seconds and options, it measures only what is missing. Targets after 60 s: median at least 94 %,
mean at least 90 %; no test that ends differently.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from experiments import sources
from experiments.coreutils import OPTIONS
from experiments.explorer import run_for, used_at
from partita import ktest
from partita.errors import UsageError
from partita.options import ENVIRONMENT
from partita.replay import Verdict
from partita.replay.coverage import LINES_VARIABLE, Instrumented, instrument
from partita.replay.program import replay_program

SECONDS, QUICK_SECONDS = 60.0, 20.0
MEDIAN_TARGET, MEAN_TARGET = 94.0, 90.0
# Parts of the time at whose end coverage is counted, for the curve.
PARTS = 10
UTILITIES = (
    "base64 basename cat cksum comm csplit cut date dd dirname echo env expand expr factor fmt fold head join"
    " ls mkdir nl numfmt od paste pathchk pr printenv printf ptx seq shuf sort split stat sum tac tail tr tsort"
).split()
QUICK = ("basename", "cat", "comm", "cut", "fold", "head", "nl", "paste", "tail", "tr")
# KLEE 3.3-pre with STP in 40 s: percent of lines, on gcov builds, one core each at the same time as ours.
KLEE = {
    "head": 31.4, "sort": 27.9, "printenv": 100.0, "cut": 48.5, "paste": 70.8, "nl": 64.9, "fold": 62.7, "tr": 50.1,
    "comm": 73.4, "seq": 64.3, "od": 39.4, "join": 30.8, "expr": 60.0, "date": 66.7, "tsort": 62.3, "numfmt": 43.5,
    "csplit": 57.5, "basename": 100.0,
}  # fmt: skip


def explore(binary: Path, folder: Path, seconds: float, options: Sequence[str]) -> list[tuple[float, ktest.Test]]:
    """The tests of a run, each with the seconds after which it was written, in this order."""
    clock = run_for(seconds, [str(binary), *options], folder)
    written = {path.name: path.stat().st_mtime for path in folder.glob("*.ktest")}
    found = [(used_at(clock, written.get(test.name, time.time())), test) for test in ktest.read_folder(str(folder))]
    return sorted(found, key=lambda item: (item[0], item[1].name))


def measure(binary: Path, seconds: float, options: Sequence[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as made:
        tests = explore(binary, Path(made) / "run", seconds, options)
        figures = _figures(json.loads((Path(made) / "run" / "run.json").read_text()))
        with instrument(binary) as marked:
            return {"tests": len(tests), **figures, **_replay(marked, binary.name, tests, seconds)}


def _figures(run: dict[str, Any]) -> dict[str, Any]:
    """Counts of a run, and the shares of its time that the solver and its last layer took."""
    seconds = max(1e-9, run["explore_s"])
    sat = sum(layer["time_s"] for layer in run["solver"]["layers"] if layer["name"] == "sat")
    return {
        "instructions": run["instructions"],
        "paths": run["paths"]["completed"],
        "solver_share": round(run["solver"]["time_s"] / seconds, 3),
        "sat_share": round(sat / seconds, 3),
    }


def _replay(
    marked: Instrumented, name: str, tests: Sequence[tuple[float, ktest.Test]], seconds: float
) -> dict[str, Any]:
    variables = {**ENVIRONMENT, LINES_VARIABLE: str(marked.reached)}
    curve: list[tuple[float, float]] = [(0.0, 0.0)]
    different: list[str] = []
    unstable = 0
    lines: dict[int, bool] = {}
    for part in range(1, PARTS + 1):
        begin, end = ((part - 1) * seconds / PARTS, part * seconds / PARTS)
        chosen = [test for at, test in tests if at > begin and (at <= end or part == PARTS)]
        before = marked.reached.read_bytes()
        results = replay_program(marked.binary, chosen, variables=variables, writable=marked.reached)
        wrong = [result for result in results if result.verdict in (Verdict.DIFFERENT, Verdict.UNSTABLE)]
        if wrong:
            # A test that cannot be replayed does not count: again, without those that ended differently.
            different += [str(result) for result in wrong if result.verdict is Verdict.DIFFERENT]
            unstable += sum(result.verdict is Verdict.UNSTABLE for result in wrong)
            marked.reached.write_bytes(before)
            bad = {result.test.name for result in wrong}
            again = [test for test in chosen if test.name not in bad]
            replay_program(marked.binary, again, variables=variables, writable=marked.reached)
        lines = next((found for file, found in marked.coverage().items() if Path(file).stem == name), {})
        curve.append((end, 100 * sum(lines.values()) / max(1, len(lines))))
    unreached = sorted(number for number, is_reached in lines.items() if not is_reached)
    not_counted = {"different": different, "unstable": unstable}
    return {"lines": len(lines), "curve": curve, "unreached": unreached, **not_counted}


def _area_above(curve: Sequence[tuple[float, float]]) -> float:
    """Mean of what is missing to 100 %, over the time."""
    missing = ((after[0] - before[0]) * (100 - before[1]) for before, after in itertools.pairwise(curve))
    return sum(missing) / max(1e-9, curve[-1][0])


def _draw(found: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9.4, 5), layout="constrained")
    for name, row in found.items():
        axes.plot(*zip(*row["curve"], strict=True), label=name, linewidth=1)
    axes.set(xlabel="seconds", ylabel="% of the utility's own lines", ylim=(0, 101))
    axes.legend(ncols=5, fontsize=7)
    figure.savefig(path)
    pyplot.close(figure)


def _kept(path: Path, head: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Rows of these utilities that an earlier start with the same conditions measured."""
    if not path.exists():
        return {}
    data = json.loads(path.read_text())
    if {key: data.get(key) for key in head} != head:
        raise UsageError(
            f"{path} has figures of other conditions: expected another folder (--out), found `{path.parent}`"
        )
    return {name: row for name, row in data["utilities"].items() if name in names}


def _measured(
    binaries: dict[str, Path], seconds: float, options: Sequence[str], jobs: int
) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """The row of each utility as it is measured, or what went wrong."""
    with ThreadPoolExecutor(jobs) as pool:
        running: dict[Future[dict[str, Any]], str] = {
            pool.submit(measure, binary, seconds, options): name for name, binary in binaries.items()
        }
        try:
            for done in as_completed(running):
                error = done.exception()
                yield running[done], str(error) or type(error).__name__ if error else done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_WIDTHS = {"lines": 6, "tests": 7, "%": 8, "area above": 12, "different": 11, "sat %": 7, "KLEE %, 40 s": 14}


def _line(name: str, row: dict[str, Any]) -> str:
    theirs = f"{KLEE[name]:.1f}" if name in KLEE else "-"
    figures = f"{row['lines']:>6}{row['tests']:>7}{row['curve'][-1][1]:>8.1f}{_area_above(row['curve']):>12.1f}"
    return f"{name:<12}{figures}{len(row['different']):>11}{100 * row['sat_share']:>7.0f}{theirs:>14}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments coverage", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{len(QUICK)} utilities, {QUICK_SECONDS:.0f} s each")
    parser.add_argument("--seconds", type=float, help=f"seconds for each utility (default {SECONDS:.0f})")
    parser.add_argument("--only", default="", help="names of utilities, separated by commas")
    parser.add_argument("--jobs", type=int, default=1, help="utilities that are explored at the same time (default 1)")
    parser.add_argument("--programs", metavar="DIR", help="folder with the executables, built with `partita cc`")
    parser.add_argument("--out", metavar="DIR", default="partita-coverage", help="folder for the results")
    parser.add_argument("--options", default=" ".join(OPTIONS), help="options of `partita run`")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (QUICK_SECONDS if arguments.quick else SECONDS)
    names = [name for name in arguments.only.split(",") if name] or (QUICK if arguments.quick else UTILITIES)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    head = {"schema": 2, "seconds": seconds, "options": arguments.options}
    found = _kept(out / "coverage.json", head, names)
    print(f"{'utility':<12}" + "".join(f"{title:>{width}}" for title, width in _WIDTHS.items()))
    for name, row in found.items():
        print(_line(name, row))
    folder, missing = arguments.programs, [name for name in names if name not in found]
    binaries = {n: (Path(folder) / n if folder else sources.program("coreutils", n)).resolve() for n in missing}
    failed = 0
    for name, result in _measured(binaries, seconds, arguments.options.split(), max(1, arguments.jobs)):
        if isinstance(result, str):
            failed += 1
            print(f"{name:<12} failed: {result}", flush=True)
            continue
        found[name] = result
        print(_line(name, result), flush=True)
        # Complete at any moment: an experiment that is killed goes on from here.
        fresh = out / "coverage.json.new"
        fresh.write_text(json.dumps({**head, "utilities": found}, indent=1))
        fresh.replace(out / "coverage.json")
    if not found:
        return 1
    shares = [row["curve"][-1][1] for row in found.values()]
    different = sum(len(row["different"]) for row in found.values())
    median, mean = statistics.median(shares), statistics.fmean(shares)
    areas = statistics.fmean(_area_above(row["curve"]) for row in found.values())
    print(f"median {median:.1f} %, mean {mean:.1f} %, area above {areas:.1f}, {different} tests ended differently")
    _draw(found, out / "coverage.svg")
    return 1 if failed or different or median < MEDIAN_TARGET or mean < MEAN_TARGET else 0
