"""Runs experiments: every case in every configuration, kept in DIR/NAME.json after each, so that a run can go on.

A sample is taken over from an interrupted run only if everything it depends on is the same: program, configuration,
effort, the machine, Partita (by the content of its package) and Z3.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from partita import _core
from partita.bench import packages
from partita.bench.experiment import BASELINE, PROGRAMS, Case, Effort, Experiment, Scale, Setup, Until
from partita.bench.rows import CALIBRATION, Outcome, rows
from partita.errors import UsageError
from partita.explore import write_whole
from partita.frontends import load_program

SCHEMA = 1
_START_S = 60.0
"""What starting, compiling and loading may take beside the runs themselves."""
_SLOWER = 4
"""With equal instructions, how many times the baseline's time a configuration may take."""

Sample = dict[str, Any]


class NotInstalledError(Exception):
    """Something that a job needs is not on this machine."""


@dataclass(frozen=True)
class Job:
    """One case in one configuration."""

    case: Case
    configuration: str
    setup: Setup
    effort: Effort
    until: Until = "end"
    instructions: int | None = None
    """How many to execute, with `until` instructions; none where they are still to be counted."""

    def key(self) -> str:
        program = PROGRAMS / self.case.program
        text = program.read_text() if self.case.program else packages.recipe(self.case.package)
        request = [SCHEMA, text, asdict(self), machine(), versions()]
        return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()

    def request(self) -> dict[str, Any]:
        """What `sample` reads."""
        limit = self.effort.seconds * (_SLOWER if self.instructions else 1)
        files = [str(PROGRAMS / self.case.program)] if self.case.program else []
        if self.case.package:
            files.insert(0, str(packages.executable(self.case.package, self.case.executable)))
        return {"files": files, "flags": self.case.flags(), "arguments": self.case.arguments,
                "sym_files": self.case.files, **asdict(self.setup), "repeats": self.effort.repeats, "seconds": limit,
                "until": self.until, "instructions": self.instructions}  # fmt: skip


@functools.cache
def machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"processor": model, "processors": os.cpu_count(), "memory_gb": round(memory / 2**30, 1),
            "system": f"{platform.system()} {platform.machine()}"}  # fmt: skip


@functools.cache
def versions() -> dict[str, str]:
    found = {"partita": _core.__version__, "python": platform.python_version()}
    package = Path(_core.__file__).parent
    content = hashlib.sha256()
    for file in (Path(_core.__file__), *(f for f in sorted(package.rglob("*.*")) if f.suffix in (".py", ".c", ".h"))):
        content.update(file.read_bytes())
    found["content"] = content.hexdigest()[:16]
    for name in ("z3-solver", "matplotlib"):
        found[name] = importlib.metadata.version(name)
    return found


def jobs(experiment: Experiment, scale: Scale) -> list[Job]:
    """All of them, the counting of instructions first in its case."""
    effort, until = experiment.effort[scale], experiment.until
    found = []
    for case in experiment.cases(scale):
        if until == "instructions":
            found.append(Job(case, CALIBRATION, experiment.configurations[BASELINE], replace(effort, repeats=1), until))
        found += [Job(case, name, setup, effort, until) for name, setup in experiment.configurations.items()]
    return found


def run(
    experiment: Experiment,
    scale: Scale,
    folder: Path,
    *,
    command: Sequence[str],
    fresh: bool = False,
    done: Callable[[Job, Sample, bool], None],
) -> dict[str, Any]:
    """Measures what is not measured yet; `done` hears of each job, and whether it was taken over."""
    file = folder / f"{experiment.name}.json"
    kept = {} if fresh else _kept(file)
    data = {
        "schema": SCHEMA,
        "name": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "scale": scale,
        "command": list(command),
        "machine": machine(),
        "versions": versions(),
        "configurations": {name: asdict(setup) for name, setup in experiment.configurations.items()},
        "effort": asdict(experiment.effort[scale]),
        "until": experiment.until,
    }
    samples: list[Sample] = []
    todo = jobs(experiment, scale)
    for job in todo:
        counted = _counted(job, samples)
        key = counted.key()
        taken_over = key in kept
        sample = kept.pop(key) if taken_over else _measured(counted, key, samples)
        samples.append(sample)
        data |= {"complete": len(samples) == len(todo), "samples": samples}
        data["rows"] = [row.as_json() for row in rows(samples, experiment.configurations)]
        # Samples of an interrupted run that this one has not come to yet stay in the file.
        ahead = [] if data["complete"] else list(kept.values())
        write_whole(file, json.dumps({**data, "samples": samples + ahead}, indent=1) + "\n")
        done(job, sample, taken_over)
    return data


def _kept(file: Path) -> dict[str, Sample]:
    """What an earlier run has measured, by key. Failures and what followed from them are tried again."""
    try:
        data = json.loads(file.read_text())
        if data["schema"] != SCHEMA:
            return {}
        return {s["key"]: s for s in data["samples"] if s["outcome"] in ("measured", "stopped")}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}


def _counted(job: Job, before: Sequence[Sample]) -> Job:
    """With the number of instructions that the baseline executed in the time given."""
    if job.until != "instructions" or job.configuration == CALIBRATION:
        return job
    calibration = next(s for s in reversed(before) if s["configuration"] == CALIBRATION)
    count = calibration["runs"][0]["instructions"] if calibration["outcome"] == "measured" else None
    return replace(job, instructions=count)


def _measured(job: Job, key: str, before: Sequence[Sample]) -> Sample:
    def sample(outcome: Outcome, reason: str, runs: list[dict[str, Any]]) -> Sample:
        return {"key": key, "case": asdict(job.case), "configuration": job.configuration, "outcome": outcome,
                "reason": reason, "runs": runs}  # fmt: skip

    for smaller in before:
        alike = (smaller["case"]["series"], smaller["configuration"]) == (job.case.series, job.configuration)
        if alike and smaller["outcome"] == "stopped" and job.until == "end":
            return sample("not run", f"not run: {smaller['case']['x']} was not over in {job.effort.seconds:g} s", [])
    if job.until == "instructions" and job.configuration != CALIBRATION and job.instructions is None:
        last = next(s for s in reversed(before) if s["configuration"] == CALIBRATION)
        return sample("not run", last["reason"] if last["outcome"] == "not run" else f"not run: {last['reason']}", [])
    try:
        _check_installed(job.setup)
        request = job.request()
        if job.setup.tool == "partita":
            _compile(request)
        child = subprocess.run(
            [sys.executable, "-m", _MEASURER[job.setup.tool]],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            # A run stops itself; this is for one that does not come back.
            timeout=_START_S + 2 * job.effort.repeats * request["seconds"],
        )
    except (NotInstalledError, packages.NotBuiltError) as error:
        return sample("not run", f"not run: {error}", [])
    except subprocess.TimeoutExpired:
        return sample("failed", f"did not stop after {job.effort.seconds:g} s", [])
    except UsageError as error:
        return sample("failed", str(error), [])
    runs = list(_lines(child.stdout))
    if child.returncode != 0:
        last_words = child.stderr.strip().splitlines()[-1:] or ["nothing on standard error"]
        return sample("failed", f"ended with status {child.returncode}: {last_words[0]}", runs)
    stopped = next((run["stopped"] for run in runs if run["stopped"]), None)
    if stopped is not None:
        return sample("stopped", f"not over in {request['seconds']:g} s ({stopped})", runs)
    return sample("measured", "", runs)


_MEASURER = {"partita": "partita.bench.sample", "klee": "partita.bench.klee", "angr": "partita.bench.with_angr"}


def _check_installed(setup: Setup) -> None:
    if setup.needs and shutil.which(setup.needs) is None and importlib.util.find_spec(setup.needs) is None:
        raise NotInstalledError(f"`{setup.needs}` is not installed")


def _compile(request: dict[str, Any]) -> None:
    """Into the cache, so that the memory this takes is not counted with the first configuration."""
    if not request["files"][0].endswith(".smt2"):
        load_program(request["files"], cflags=request["flags"])


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            yield json.loads(line)
