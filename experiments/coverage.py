"""Line coverage of real programs over time: GNU Coreutils, tests replayed natively.

    python -m experiments coverage [--quick] [--seconds N] [--only NAME,...] [--programs DIR] [--options WORDS]

Each utility is explored for a number of seconds of processor time, so that other work on the machine changes little,
with the options with which KLEE's figures were recorded, defaults otherwise. Its tests are replayed natively,
confined, on a build that marks the lines it executes, in the order in which they were written: so there is a curve
over time, and a test that does not replay as predicted does not count. Lines are those of the utility's own source
file. `coverage.json` in the output folder has the figures, the lines that no test reaches and the tests that ended
differently; `coverage.svg` has the curves. Targets after 60 s: median at least 94 %, mean at least 90 %; no test that
ends differently.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments import sources
from experiments.coreutils import OPTIONS
from partita import ktest
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
    command = [sys.executable, "-m", "partita", "run", str(binary), *options, "--quiet", "--tests", "coverage"]
    limit = ["--max-solver-time", f"{max(1.0, seconds / 40)}s", "--out", str(folder)]
    # Names in arguments refer to no file of this machine.
    with tempfile.TemporaryDirectory() as elsewhere, tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen([*command, *limit], cwd=elsewhere, stdout=messages, stderr=messages)
        clock = _follow(process, seconds)
        messages.seek(0)
        said = messages.read()
    if process.returncode not in (0, 1, 3):
        raise RuntimeError(f"{binary.name}: exit status {process.returncode}: {said[-500:]}")
    written = {path.name: path.stat().st_mtime for path in folder.glob("*.ktest")}
    found = [(_used(clock, written.get(test.name, time.time())), test) for test in ktest.read_folder(str(folder))]
    return sorted(found, key=lambda item: (item[0], item[1].name))


Clock = list[tuple[float, float]]
"""Times of day with the seconds of processor time that a process had used then."""


def _follow(process: subprocess.Popen[bytes], seconds: float) -> Clock:
    """Asks the process to stop once it has used this processor time, and waits for its end."""
    clock, is_stopped = [(time.time(), 0.0)], False
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        clock.append((time.time(), used))
        if used >= seconds and not is_stopped:
            process.terminate()
            is_stopped = True
        time.sleep(0.05)
    return clock


def _used(clock: Clock, moment: float) -> float:
    """Processor time that had been used at a time of day."""
    return next((used for at, used in clock if at >= moment), clock[-1][1])


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
    lines: dict[int, bool] = {}
    for part in range(1, PARTS + 1):
        begin, end = ((part - 1) * seconds / PARTS, part * seconds / PARTS)
        chosen = [test for at, test in tests if at > begin and (at <= end or part == PARTS)]
        before = marked.reached.read_bytes()
        results = replay_program(marked.binary, chosen, variables=variables, writable=marked.reached)
        wrong = [result for result in results if result.verdict is Verdict.DIFFERENT]
        if wrong:
            # A test that cannot be replayed does not count: again, without those that ended differently.
            different += map(str, wrong)
            marked.reached.write_bytes(before)
            bad = {result.test.name for result in wrong}
            again = [test for test in chosen if test.name not in bad]
            replay_program(marked.binary, again, variables=variables, writable=marked.reached)
        lines = next((found for file, found in marked.coverage().items() if Path(file).stem == name), {})
        curve.append((end, 100 * sum(lines.values()) / max(1, len(lines))))
    unreached = sorted(number for number, is_reached in lines.items() if not is_reached)
    return {"lines": len(lines), "curve": curve, "unreached": unreached, "different": different}


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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments coverage", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{len(QUICK)} utilities, {QUICK_SECONDS:.0f} s each")
    parser.add_argument("--seconds", type=float, help=f"seconds for each utility (default {SECONDS:.0f})")
    parser.add_argument("--only", default="", help="names of utilities, separated by commas")
    parser.add_argument("--programs", metavar="DIR", help="folder with the executables, built with `partita cc`")
    parser.add_argument("--out", metavar="DIR", default="partita-coverage", help="folder for the results")
    parser.add_argument("--options", default=" ".join(OPTIONS), help="options of `partita run`")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (QUICK_SECONDS if arguments.quick else SECONDS)
    names = [name for name in arguments.only.split(",") if name] or (QUICK if arguments.quick else UTILITIES)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    widths = {"lines": 6, "tests": 7, "%": 8, "area above": 12, "different": 11, "sat %": 7, "KLEE %, 40 s": 14}
    print(f"{'utility':<12}" + "".join(f"{title:>{width}}" for title, width in widths.items()))
    for name in names:
        folder = arguments.programs
        binary = Path(folder) / name if folder else sources.program("coreutils", name)
        row = found[name] = measure(binary.resolve(), seconds, arguments.options.split())
        percent, area = row["curve"][-1][1], _area_above(row["curve"])
        theirs = f"{KLEE[name]:.1f}" if name in KLEE else "-"
        figures = f"{row['lines']:>6}{row['tests']:>7}{percent:>8.1f}{area:>12.1f}{len(row['different']):>11}"
        figures += f"{100 * row['sat_share']:>7.0f}"
        print(f"{name:<12}{figures}{theirs:>14}", flush=True)
        (out / "coverage.json").write_text(json.dumps({"schema": 1, "seconds": seconds, "utilities": found}, indent=1))
    shares = [row["curve"][-1][1] for row in found.values()]
    different = sum(len(row["different"]) for row in found.values())
    median, mean = statistics.median(shares), statistics.fmean(shares)
    areas = statistics.fmean(_area_above(row["curve"]) for row in found.values())
    print(f"median {median:.1f} %, mean {mean:.1f} %, area above {areas:.1f}, {different} tests ended differently")
    _draw(found, out / "coverage.svg")
    return 1 if different or median < MEDIAN_TARGET or mean < MEAN_TARGET else 0
