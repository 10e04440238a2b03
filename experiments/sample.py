"""Measures one case in one configuration, in a process of its own: its memory is separate and it can be stopped.

    python -m experiments.sample < job.json

writes one JSON line per run. The time of a run (`time_s`) is the processor time of exploring (for a script: of the
solver) without the translation of queries for Z3, since the papers' executors call Z3 without Python in between. With a
solver in a process of its own it is the elapsed time. `share` is processor time over elapsed time: what is reached in a
given time means little if it is far below 1, because the machine did other work. Limits are processor time too.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from partita import _core, backends, bv, explore
from partita.backends.process import ALIASES
from partita.explore import STEP_S, Run
from partita.layers import Layer
from partita.solver import Solver

WARM_UP_S = 1.0
"""A first run that is shorter is repeated: much of it is the warm-up of the process."""
REPEAT_S, MAX_REPEATS = 0.6, 8
"""Complete runs that took less than this in total are repeated, up to this many: starting the process takes longer, and
intervals of two or three runs are wide."""
_WAITING_S, _WAITING = 10.0, 30.0
"""Seconds and times the limit of processor time after which a run ends that does not get the processor."""
CURVE_POINTS = 20
"""Number of points at which the progress of a run for a given time is recorded."""


def peak_mb() -> float:
    """Peak memory of this process. (The maximum of `getrusage` includes the parent's before `exec`.)"""
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert found is not None, "Linux reports the peak memory of a process"
    return int(found[1]) / 1024


def warm_up(layers: str) -> None:
    """Loads what the layers need, so that it is not measured."""
    solver = Solver(layers=layers)
    word = bv("word", 32)
    solver.add(word * word == 49)
    solver.check()


class Clock:
    """Elapsed and processor time since it was made."""

    def __init__(self, layers: str) -> None:
        self._wall_s, self._cpu_s = time.perf_counter(), time.process_time()
        # A solver in another process is not part of this one's processor time.
        self._outside = any(layer in ALIASES or layer.startswith("process") for layer in layers.split())

    def spent_s(self) -> float:
        """Processor time, or elapsed time if a solver runs in another process."""
        return self._elapsed_s() if self._outside else time.process_time() - self._cpu_s

    def _elapsed_s(self) -> float:
        return time.perf_counter() - self._wall_s

    def read(self) -> dict[str, float]:
        """`wall_s`, `cpu_s` and their ratio `share`."""
        wall_s, cpu_s = self._elapsed_s(), self.spent_s()
        return {"wall_s": wall_s, "cpu_s": cpu_s, "share": min(1.0, cpu_s / max(wall_s, 1e-9))}


def answered(script: Path, layers: str, seconds: float) -> dict[str, Any]:
    session = _core.Script("smtlib", layers, layers, backends.make, seconds, None)
    lines: list[str] = []
    clock = Clock(layers)
    session.run(script.read_bytes(), True, lines.append)
    times = clock.read()
    solver = session.statistics()
    unfinished = "a check exceeded its time limit" if session.unknowns() else None
    # Without parsing: an executor has its queries as expressions.
    times = {**times, "wall_s": solver["time_s"], "cpu_s": solver["time_s"] * times["share"]}
    return {"stopped": unfinished, "found": "".join(lines).split(), **_solver(times, solver)}


def explored(job: dict[str, Any], instructions: int | None) -> dict[str, Any]:
    limited = instructions is not None
    counted = bool(job["package"]) and job["until"] == "time"
    # An equal number of instructions may take longer than in the first configuration.
    seconds = 10 + 4 * job["seconds"] if limited else job["seconds"]
    with tempfile.TemporaryDirectory(prefix="partita-bench-") as made:
        folder = Path(made)
        # Before the current folder changes: the key of the compiler cache includes it.
        run = explore(
            job["files"],
            arguments=job["arguments"],
            cflags=job["flags"],
            layers=_layers(job),
            search=job["search"],
            path_model=job["path_model"],
            tests="coverage" if counted else "bugs",
            # Processor time ends the run; this is for one that waits for the processor.
            max_time=_WAITING_S + _WAITING * seconds,
            # To be comparable, all configurations have to answer the same queries.
            max_solver_time=_solver_limit(job, seconds, counted),
            max_instructions=instructions,
            out=folder / "out" if counted else None,
        )
        with _inside(folder / "empty"):
            curve, times = _follow(run, job, seconds)
        lines = _own_lines(folder / "out" / "coverage.lcov", Path(job["files"][0]).parent) if counted else {}
    data = run.summary()
    bugs = sorted([bug["class"], bug["line"]] for bug in data["bugs"])
    # Runs cut by a time limit differ from each other.
    if data["stopped"] == "interrupted":
        data["stopped"] = "max-time"
    found = None if data["stopped"] == "max-time" else [data["paths"], bugs, data["instructions"]]
    return {"stopped": _unfinished(job, data, limited), "found": found, "curve": curve,
            "instructions": data["instructions"], "states": data["forks"] + 1, "paths": data["paths"]["completed"],
            "complete": data["complete"],
            "reached": data["coverage"]["covered"] + data["coverage"]["library"]["covered"],
            "mismatches": run.mismatches, **lines, **_solver(times, data["solver"])}  # fmt: skip


def _solver_limit(job: dict[str, Any], seconds: float, counted: bool) -> float:
    """Seconds for one query. If a run has to reach its end, only a query that never ends is cut."""
    if counted:
        return max(1.0, seconds / 40)
    return seconds if job["until"] == "time" else _WAITING * seconds


def _layers(job: dict[str, Any]) -> str | list[str | Layer]:
    if not job["census"]:
        return str(job["layers"])
    from experiments.census import Census

    return [Census() if name == Census.stands_for else name for name in job["layers"].split()]


def _follow(run: Run, job: dict[str, Any], seconds: float) -> tuple[list[tuple[float, int, int]], dict[str, float]]:
    """Explores to the end, or for this much processor time.

    Returns times with states and completed paths, for a run for a given time, and the time spent.
    """
    curve: list[tuple[float, int, int]] = []
    timed = job["until"] == "time"
    clock = Clock(job["layers"])
    while run.step(min(STEP_S, seconds / CURVE_POINTS)):
        spent_s = clock.spent_s()
        if timed and spent_s >= (len(curve) + 1) * seconds / CURVE_POINTS:
            data = run.summary()
            curve.append((spent_s, data["forks"] + 1, data["paths"]["completed"]))
        if spent_s >= seconds:
            run.stop()
    return curve, clock.read()


def _unfinished(job: dict[str, Any], data: dict[str, Any], limited: bool) -> str | None:
    """The reason why the run does not count; None if it does."""
    wanted = {"end": None, "time": "max-time", "instructions": "max-instructions" if limited else "max-time"}
    if data["stopped"] not in (None, wanted[job["until"]]):
        return str(data["stopped"])
    if data["stopped"] is None or data["paths"]["unsupported"]:
        # A run for a time may end early because all that is left are branches that the solver did not answer.
        timed = job["until"] == "time" and not data["paths"]["unsupported"]
        reasons = {row["why"] for row in data["incomplete"] if not (timed and row["why"].startswith("solver:"))}
        return "; ".join(sorted(reasons)) or None
    return None


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Changes to a new, empty folder: programs that list the current folder find nothing."""
    before = Path.cwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _own_lines(tracefile: Path, folder: Path) -> dict[str, float]:
    """Covered lines of the sources in the program's folder, not of libraries. Empty if there are none."""
    found: list[bool] = []
    for record in tracefile.read_text().split("end_of_record\n"):
        named = re.search(r"^SF:(.*)$", record, re.M)
        if named is not None and Path(named[1]).parent.resolve() == folder.resolve():
            found += [count != "0" for count in re.findall(r"^DA:\d+,(\d+)", record, re.M)]
    return {"lines": sum(found), "percent_lines": 100 * sum(found) / len(found)} if found else {}


def _solver(times: dict[str, float], solver: dict[str, Any]) -> dict[str, Any]:
    layers = solver["layers"]
    shares = {}
    technique = next((layer for layer in layers if layer["name"].endswith(":paper")), None)
    if technique is not None:
        shares["handled"] = technique["sat"] + technique["unsat"]
        shares["success"] = shares["handled"] / max(1, technique["asked"])
        if technique.get("constructs"):
            shares["inequalities"] = technique["inequalities"] / technique["constructs"]
    translate_s = sum(layer.get("translate_s", 0.0) for layer in layers)
    time_s, solver_s = times["cpu_s"] - translate_s, solver["time_s"] * times["share"] - translate_s
    caches = [layer for layer in layers if layer["name"].startswith(("reuse", "solutions"))]
    if caches:
        # Only what the caches themselves answer: in the default chain other layers answer most of the rest.
        hits = sum(layer["sat"] + layer["unsat"] for layer in caches)
        shares["hit_rate"] = hits / max(1, caches[0]["asked"])
        own = sum(layer["time_s"] for layer in caches if layer["name"].startswith("solutions"))
        shares["overhead"] = 100 * own / max(times["wall_s"], 1e-9)
    return {
        **times,
        "time_s": time_s,
        "solver_s": solver_s,
        "solver_percent": 100 * solver_s / max(time_s, 1e-9),
        "solves": layers[-1]["asked"],
        "queries": solver["queries"],
        **shares,
        "solver": solver,
    }


def main() -> int:
    job = json.load(sys.stdin)
    warm_up(job["layers"])
    script = Path(job["files"][0])

    count = job["instructions"]
    if job["until"] == "instructions" and count is None:
        count = explored(job, None)["instructions"]

    def once() -> dict[str, Any]:
        return answered(script, job["layers"], job["seconds"]) if script.suffix == ".smt2" else explored(job, count)

    to_end = job["until"] == "end"
    number, spent_s = 0, 0.0
    while number < job["repeats"] or (to_end and job["repeats"] > 1 and number < MAX_REPEATS and spent_s < REPEAT_S):
        run = once()
        if number == 0 and run["cpu_s"] < WARM_UP_S and to_end:
            run = once()
        print(json.dumps({**run, "peak_mb": peak_mb()}), flush=True)
        if run["stopped"]:
            break
        number += 1
        spent_s += run["cpu_s"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
