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
from partita.explore import SLICE_S
from partita.solver import Solver

SHORT_S = 1.0
"""A first run that is shorter is not kept: much of it is what first runs in a process take."""
CURVE_POINTS = 20
"""Of a run for a given time, how often it is noted how far it is."""


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


def explored(job: dict[str, Any]) -> dict[str, Any]:
    run = explore(
        job["files"],
        arguments=job["arguments"],
        sym_files=tuple(job["sym_files"]) if job["sym_files"] else None,
        cflags=job["flags"],
        layers=job["layers"],
        search=job["search"],
        model_in_hand=job["model_in_hand"],
        tests="bugs",
        max_time=job["seconds"],
        max_instructions=job["instructions"],
    )
    curve = []
    while run.step(job["seconds"] / CURVE_POINTS if job["until"] == "time" else SLICE_S):
        if job["until"] == "time":
            data = run.summary()
            curve.append([data["explore_s"], data["forks"] + 1])
    data = run.summary()
    bugs = sorted([bug["class"], bug["line"]] for bug in data["bugs"])
    # What is cut by a limit of time is not the same in two runs.
    found = None if data["stopped"] == "max-time" else [data["paths"], bugs, data["instructions"]]
    return {"wall_s": data["explore_s"], "stopped": unfinished(job, data), "found": found, "curve": curve,
            "instructions": data["instructions"], "states": data["forks"] + 1, "paths": data["paths"]["completed"],
            **_solver(data["explore_s"], data["solver"])}  # fmt: skip


def unfinished(job: dict[str, Any], data: dict[str, Any]) -> str | None:
    """Why the run is not what was to be measured."""
    counting = job["until"] == "instructions" and job["instructions"] is None
    expected = "max-time" if job["until"] == "time" or counting else "max-instructions" if job["instructions"] else None
    if data["stopped"] is not None:
        return None if data["stopped"] == expected else str(data["stopped"])
    return str(data["incomplete"]) if data["incomplete"] and expected is None else None


def _solver(wall_s: float, solver: dict[str, Any]) -> dict[str, Any]:
    layers = solver["layers"]
    shares = {"success": (layers[0]["sat"] + layers[0]["unsat"]) / max(1, layers[0]["asked"])}
    caches = [layer for layer in layers if layer["name"].startswith(("reuse", "solutions"))]
    if caches:
        shares["hit_rate"] = 1 - layers[-1]["asked"] / max(1, caches[0]["asked"])
        own = sum(layer["time_s"] for layer in caches if layer["name"].startswith("solutions"))
        shares["overhead"] = 100 * own / max(wall_s, 1e-9)
    return {
        "time_s": wall_s - sum(layer.get("translate_s", 0.0) for layer in layers),
        "solves": layers[-1]["asked"],
        "queries": solver["queries"],
        **shares,
        "solver": solver,
    }


def main() -> int:
    job = json.load(sys.stdin)
    warm_up(job["layers"])
    script = Path(job["files"][0])

    def once() -> dict[str, Any]:
        return answered(script, job["layers"], job["seconds"]) if script.suffix == ".smt2" else explored(job)

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
