"""Measures one case in one configuration, in a process of its own: its memory is separate and it can be stopped.

    python -m experiments.sample < job.json

writes one JSON line per run. The time of a run is that of exploring (for a script: of the solver) without the
translation of queries for Z3, since the papers' executors call Z3 without Python in between.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from partita import _core, backends, bv, explore
from partita.explore import SLICE_S, Run
from partita.layers import Layer
from partita.solver import Solver

WARM_UP_S = 1.0
"""A first run that is shorter is repeated: much of it is the warm-up of the process."""
REPEAT_S, MAX_REPEATS = 1.0, 10
"""Complete runs that took less than this in total are repeated, up to this many: starting the process takes longer, and
intervals of two or three runs are wide."""
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


def answered(script: Path, layers: str, seconds: float) -> dict[str, Any]:
    session = _core.Script("smtlib", layers, layers, backends.make, seconds, None)
    lines: list[str] = []
    session.run(script.read_bytes(), True, lines.append)
    solver = session.statistics()
    unfinished = "a check exceeded its time limit" if session.unknowns() else None
    # Without parsing: an executor has its queries as expressions.
    return {"wall_s": solver["time_s"], "stopped": unfinished, "found": "".join(lines).split(),
            **_solver(solver["time_s"], solver)}  # fmt: skip


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
            max_time=seconds,
            # To be comparable, all configurations have to answer the same queries.
            max_solver_time=None if counted else seconds,
            max_instructions=instructions,
            out=folder / "out" if counted else None,
        )
        with _inside(folder / "empty"):
            curve = _follow(run, job)
        lines = _own_lines(folder / "out" / "coverage.lcov", Path(job["files"][0]).parent) if counted else {}
    data = run.summary()
    bugs = sorted([bug["class"], bug["line"]] for bug in data["bugs"])
    # Runs cut by a time limit differ from each other.
    found = None if data["stopped"] == "max-time" else [data["paths"], bugs, data["instructions"]]
    return {"wall_s": data["explore_s"], "stopped": _unfinished(job, data, limited), "found": found, "curve": curve,
            "instructions": data["instructions"], "states": data["forks"] + 1, "paths": data["paths"]["completed"],
            "complete": data["complete"],
            "reached": data["coverage"]["covered"] + data["coverage"]["library"]["covered"],
            "mismatches": run.mismatches, **lines, **_solver(data["explore_s"], data["solver"])}  # fmt: skip


def _layers(job: dict[str, Any]) -> str | list[str | Layer]:
    if not job["census"]:
        return str(job["layers"])
    from experiments.census import Census

    return [Census() if name == Census.stands_for else name for name in job["layers"].split()]


def _follow(run: Run, job: dict[str, Any]) -> list[tuple[float, int, int]]:
    """Explores to the end; for a run for a given time, returns times with states and completed paths."""
    curve: list[tuple[float, int, int]] = []
    timed = job["until"] == "time"
    while run.step(job["seconds"] / CURVE_POINTS if timed else SLICE_S):
        if timed:
            data = run.summary()
            curve.append((data["explore_s"], data["forks"] + 1, data["paths"]["completed"]))
    return curve


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


def _solver(wall_s: float, solver: dict[str, Any]) -> dict[str, Any]:
    layers = solver["layers"]
    shares = {}
    technique = next((layer for layer in layers if layer["name"].endswith(":paper")), None)
    if technique is not None:
        shares["handled"] = technique["sat"] + technique["unsat"]
        shares["success"] = shares["handled"] / max(1, technique["asked"])
        if technique.get("constructs"):
            shares["inequalities"] = technique["inequalities"] / technique["constructs"]
    translate_s = sum(layer.get("translate_s", 0.0) for layer in layers)
    time_s, solver_s = wall_s - translate_s, solver["time_s"] - translate_s
    caches = [layer for layer in layers if layer["name"].startswith(("reuse", "solutions"))]
    if caches:
        # Only what the caches themselves answer: in the default chain other layers answer most of the rest.
        hits = sum(layer["sat"] + layer["unsat"] for layer in caches)
        shares["hit_rate"] = hits / max(1, caches[0]["asked"])
        own = sum(layer["time_s"] for layer in caches if layer["name"].startswith("solutions"))
        shares["overhead"] = 100 * own / max(wall_s, 1e-9)
    return {
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
        if number == 0 and run["wall_s"] < WARM_UP_S and to_end:
            run = once()
        print(json.dumps({**run, "peak_mb": peak_mb()}), flush=True)
        if run["stopped"]:
            break
        number += 1
        spent_s += run["wall_s"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
