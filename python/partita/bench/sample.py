"""Measures one case in one configuration: a process of its own, so that its memory is its own and it can be stopped.

    python -m partita.bench.sample < job.json

writes one JSON line a run. The time of a run is that of exploring, less what it takes to translate questions for Z3:
the papers' executors speak to Z3 without Python between.
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
from partita.explore import Run
from partita.solver import Solver

SHORT_S = 1.0
"""A first run that is shorter is not kept: much of it is what first runs in a process take."""


def peak_mb() -> float:
    """The most memory this process has had. (What `getrusage` says counts from before the process was its own.)"""
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert found is not None, "Linux says how much memory a process has had"
    return int(found[1]) / 1024


def warm_up(layers: str) -> None:
    """Loads what the layers need: that is no part of what is measured."""
    solver = Solver(layers=layers)
    word = bv("word", 32)
    solver.add(word * word == 49)
    solver.check()


def answered(script: Path, layers: str, seconds: float) -> dict[str, Any]:
    session = _core.Script("smtlib", layers, layers, backends.make, seconds, None)
    lines: list[str] = []
    start = time.perf_counter()
    session.run(script.read_bytes(), True, lines.append)
    wall_s = time.perf_counter() - start
    verdicts = "".join(lines).split()
    unfinished = "a check was not over in time" if session.unknowns() else None
    return {"wall_s": wall_s, "stopped": unfinished, "found": verdicts, **_solver(wall_s, session.statistics())}


def explored(program: Path, flags: list[str], layers: str, seconds: float) -> dict[str, Any]:
    run = explore(program, cflags=flags, layers=layers, search="dfs", tests="bugs", max_time=seconds).finish()
    data = run.summary()
    return _run(run, None if run.complete else str(data["stopped"] or data["incomplete"]))


def for_a_time(program: Path, whole: dict[str, Any], layers: str, seconds: float) -> dict[str, Any]:
    """What a whole program is found to do in this time; repeats need not find the same."""
    with _empty_folder() as folder:
        out = folder.parent / "out"
        options = {"search": whole["search"], "tests": "coverage", "max_time": seconds, "out": out}
        run = explore(program, arguments=whole["words"], layers=layers, **options).finish()
        reached = _lines((out / "coverage.lcov").read_text(), program.parent)
    lines = {"lines": sum(reached), "percent_lines": 100 * sum(reached) / max(1, len(reached))}
    data = run.summary()
    incomplete = [row["why"] for row in data["incomplete"] if data["stopped"] is None or data["paths"]["unsupported"]]
    return {**_run(run, "; ".join(incomplete) or None), **lines, "paths": data["paths"]["completed"], "found": None}


def for_instructions(program: Path, whole: dict[str, Any], layers: str, seconds: float, count: int) -> dict[str, Any]:
    """How long a whole program takes for so many instructions, which another run executed in these seconds."""
    with _empty_folder():
        limits = {"max_instructions": count, "max_time": 10 + 4 * seconds}
        options = {"search": whole["search"], "tests": "bugs", **limits}
        run = explore(program, arguments=whole["words"], layers=layers, **options).finish()
    stopped = run.summary()["stopped"]
    return {**_run(run, None if stopped in (None, "max-instructions") else stopped), "mismatches": run.mismatches}


@contextlib.contextmanager
def _empty_folder() -> Iterator[Path]:
    """What programs find when they list the folder they are in."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="partita-bench-") as made:
        folder = Path(made) / "work"
        folder.mkdir()
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def _lines(tracefile: str, folder: Path) -> list[bool]:
    """Of the sources beside the program, its own as opposed to those of libraries: whether each line was reached."""
    found: list[bool] = []
    for record in tracefile.split("end_of_record\n"):
        named = re.search(r"^SF:(.*)$", record, re.M)
        if named is not None and Path(named[1]).parent == folder:
            found += [count != "0" for count in re.findall(r"^DA:\d+,(\d+)", record, re.M)]
    return found


def _run(run: Run, stopped: str | None) -> dict[str, Any]:
    data = run.summary()
    bugs = sorted([bug["class"], bug["line"]] for bug in data["bugs"])
    return {
        "wall_s": data["explore_s"],
        "stopped": stopped,
        "found": [data["paths"], bugs, data["instructions"]],
        "instructions": data["instructions"],
        **_solver(data["explore_s"], data["solver"]),
    }


def _solver(wall_s: float, solver: dict[str, Any]) -> dict[str, Any]:
    layers = solver["layers"]
    return {
        "time_s": wall_s - sum(layer.get("translate_s", 0.0) for layer in layers),
        "solves": layers[-1]["asked"],
        "solver": solver,
    }


def main() -> int:
    job = json.load(sys.stdin)
    warm_up(job["layers"])
    program, layers, seconds = Path(job["program"]), job["layers"], job["seconds"]
    whole, count = job["whole"], job["instructions"]
    if whole and whole["until"] == "instructions" and count is None:
        count = for_a_time(program, whole, layers, seconds)["instructions"]

    def once() -> dict[str, Any]:
        if program.suffix == ".smt2":
            return answered(program, layers, seconds)
        if whole is None:
            return explored(program, job["flags"], layers, seconds)
        if count is None:
            return for_a_time(program, whole, layers, seconds)
        return for_instructions(program, whole, layers, seconds, count)

    for number in range(job["repeats"]):
        run = once()
        if number == 0 and run["wall_s"] < SHORT_S:
            run = once()
        print(json.dumps({**run, "peak_mb": peak_mb()}), flush=True)
        if run["stopped"]:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
