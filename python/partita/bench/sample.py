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
from partita.explore import SLICE_S, Run
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


def explored(job: dict[str, Any], instructions: int | None) -> dict[str, Any]:
    limited = instructions is not None
    counted = bool(job["package"]) and job["until"] == "time"
    # As many instructions may take longer than they took the first configuration.
    seconds = 10 + 4 * job["seconds"] if limited else job["seconds"]
    with _empty_folder() as folder:
        run = explore(
            job["files"],
            arguments=job["words"],
            cflags=job["flags"],
            layers=job["layers"],
            search=job["search"],
            model_in_hand=job["model_in_hand"],
            tests="coverage" if counted else "bugs",
            max_time=seconds,
            # Where configurations are compared, all have to answer the same questions.
            max_solver_time=None if counted else seconds,
            max_instructions=instructions,
            out=folder.parent / "out" if counted else None,
        )
        curve = _follow(run, job)
        lines = _own_lines(folder.parent / "out" / "coverage.lcov", Path(job["files"][0]).parent) if counted else {}
    data = run.summary()
    bugs = sorted([bug["class"], bug["line"]] for bug in data["bugs"])
    # What is cut by a limit of time is not the same in two runs.
    found = None if data["stopped"] == "max-time" else [data["paths"], bugs, data["instructions"]]
    return {"wall_s": data["explore_s"], "stopped": _unfinished(job, data, limited), "found": found, "curve": curve,
            "instructions": data["instructions"], "states": data["forks"] + 1, "paths": data["paths"]["completed"],
            "mismatches": run.mismatches, **lines, **_solver(data["explore_s"], data["solver"])}  # fmt: skip


def _follow(run: Run, job: dict[str, Any]) -> list[tuple[float, int]]:
    """To its end; of a run for a given time, how many states there were when."""
    curve: list[tuple[float, int]] = []
    timed = job["until"] == "time"
    while run.step(job["seconds"] / CURVE_POINTS if timed else SLICE_S):
        if timed:
            data = run.summary()
            curve.append((data["explore_s"], data["forks"] + 1))
    return curve


def _unfinished(job: dict[str, Any], data: dict[str, Any], limited: bool) -> str | None:
    """Why the run is not what was to be measured."""
    wanted = {"end": None, "time": "max-time", "instructions": "max-instructions" if limited else "max-time"}
    if data["stopped"] not in (None, wanted[job["until"]]):
        return str(data["stopped"])
    if data["stopped"] is None or data["paths"]["unsupported"]:
        return "; ".join(sorted({row["why"] for row in data["incomplete"]})) or None
    return None


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


def _own_lines(tracefile: Path, folder: Path) -> dict[str, float]:
    """Of the sources beside the program, its own as opposed to those of libraries: how many lines were reached."""
    found: list[bool] = []
    for record in tracefile.read_text().split("end_of_record\n"):
        named = re.search(r"^SF:(.*)$", record, re.M)
        if named is not None and Path(named[1]).parent == folder:
            found += [count != "0" for count in re.findall(r"^DA:\d+,(\d+)", record, re.M)]
    return {"lines": sum(found), "percent_lines": 100 * sum(found) / max(1, len(found))}


def _solver(wall_s: float, solver: dict[str, Any]) -> dict[str, Any]:
    layers = solver["layers"]
    technique = next((layer for layer in layers if layer["name"] not in ("verify", "simplify", "split")), layers[0])
    shares = {"success": (technique["sat"] + technique["unsat"]) / max(1, technique["asked"])}
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

    count = job["instructions"]
    if job["until"] == "instructions" and count is None:
        count = explored(job, None)["instructions"]

    def once() -> dict[str, Any]:
        return answered(script, job["layers"], job["seconds"]) if script.suffix == ".smt2" else explored(job, count)

    for number in range(job["repeats"]):
        run = once()
        if number == 0 and run["wall_s"] < SHORT_S and job["until"] == "end":
            run = once()
        print(json.dumps({**run, "peak_mb": peak_mb()}), flush=True)
        if run["stopped"]:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
