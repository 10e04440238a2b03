"""Measures one case in one configuration: a process of its own, so that its memory is its own and it can be stopped.

    python -m partita.bench.sample < job.json

writes one JSON line a run. The time of a run is that of exploring, less what it takes to translate questions for Z3:
the papers' executors speak to Z3 without Python between.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from partita import _core, backends, bv, explore
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
    bugs = sorted([bug["class"], bug["line"]] for bug in data["bugs"])
    found = [data["paths"], bugs, data["instructions"]]
    stopped = None if run.complete else str(data["stopped"] or data["incomplete"])
    return {"wall_s": data["explore_s"], "stopped": stopped, "found": found,
            **_solver(data["explore_s"], data["solver"])}  # fmt: skip


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

    def once() -> dict[str, Any]:
        if program.suffix == ".smt2":
            return answered(program, layers, seconds)
        return explored(program, job["flags"], layers, seconds)

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
