"""Runs experiments: every case in every configuration. Samples are kept in DIR/NAME.json, so that a run can be resumed.

A sample of an interrupted run is reused only if everything it depends on is the same: program, configuration, effort,
machine, Partita (by the content of its package) and Z3.
"""

from __future__ import annotations

import contextlib
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
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.experiment import Case, Effort, Experiment, Scale, Setup
from experiments.locations import REPOSITORY
from experiments.rows import Outcome, rows
from partita import _core
from partita.errors import UsageError
from partita.explore import write_atomically
from partita.frontends import load_program
from partita.frontends.java import load_java

SCHEMA = 3
_START_S = 60.0
"""Time for starting, compiling and loading, in addition to the runs."""
_WRITE_INTERVAL = 20
"""Results are written after each sample, but at most every this many times the duration of a write."""

# Modules that only show results: samples do not depend on them.
_SHOWN = ("__main__.py", "catalogue.py", "kinds.py", "page.py", "plot.py", "publish.py", "rows.py", "suite.py")

Sample = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One case in one configuration."""

    case: Case
    configuration: str
    setup: Setup
    effort: Effort
    instructions: int | None = None
    """Limit on instructions; None if there is none, or if it is not known yet."""

    def key(self) -> str:
        programs = [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.case.paths()]
        request = [SCHEMA, programs, asdict(self), machine(), versions()]
        return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()

    def request(self) -> dict[str, Any]:
        """The input of `sample`."""
        return {"files": [str(path) for path in self.case.paths()], "flags": self.case.flags(),
                **{name: getattr(self.case, name) for name in ("package", "arguments", "until", "search")},
                **asdict(self.setup), **asdict(self.effort), "instructions": self.instructions}  # fmt: skip


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
    content = hashlib.sha256(Path(_core.__file__).read_bytes())
    ours = Path(__file__).resolve().parent
    shown = {ours / name for name in _SHOWN}
    for file in (*sorted(package.rglob("*.*")), *sorted(ours.glob("*.py"))):
        if file.suffix in (".py", ".c", ".h") and file not in shown and file.parent.name not in ("cli", "reports"):
            content.update(file.read_bytes())
    found["content"] = content.hexdigest()[:16]
    for name in ("z3-solver", "matplotlib"):
        found[name] = importlib.metadata.version(name)
    return found | _other_versions()


def _other_versions() -> dict[str, str]:
    """Versions of optional packages and commands that are installed."""
    found = {}
    for name in ("bitwuzla", "angr"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    commands = [[name, "--version"] for name in ("yices-smt2", "stp", "klee") if shutil.which(name)]
    if Path(os.environ.get("PARTITA_ANGR", "")).is_file():
        commands.append([os.environ["PARTITA_ANGR"], "-c", "import angr; print('angr', angr.__version__)"])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        found[command[0]] = next((line.strip() for line in done.stdout.splitlines() if line.strip()), "unknown")
    return found


def jobs(experiment: Experiment, scale: Scale) -> list[Job]:
    effort = experiment.effort[scale]
    setups = list(experiment.configurations.items())
    if scale == "smoke":
        setups = setups[:3] + setups[3:][-2:]
    return [
        Job(case, name, setup, Effort(1 if setup.census else effort.repeats, case.share * effort.seconds))
        for case in experiment.cases(scale)
        for name, setup in setups
        if not case.only or name in case.only
    ]


def run(
    experiment: Experiment,
    scale: Scale,
    folder: Path,
    *,
    command: Sequence[str],
    fresh: bool = False,
    done: Callable[[Job, Sample, bool], None],
) -> dict[str, Any]:
    """Measures jobs without a sample; calls `done` for each job, with whether its sample was reused."""
    file = folder / f"{experiment.name}.json"
    kept = {} if fresh else _kept(file)
    data = {
        "schema": SCHEMA,
        "name": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "scale": scale,
        "date": time.strftime("%d %B %Y").lstrip("0"),
        "command": list(command),
        "machine": machine(),
        "versions": versions(),
        "configurations": {name: asdict(setup) for name, setup in experiment.configurations.items()},
        "effort": asdict(experiment.effort[scale]),
    }
    samples: list[Sample] = []
    todo = jobs(experiment, scale)
    start = time.monotonic(), _processor_s()

    def write() -> float:
        """Returns the time of the next write: for some runs writing takes longer than measuring."""
        began = time.monotonic()
        data.update(complete=len(samples) == len(todo), samples=samples)
        data.update(elapsed_s=time.monotonic() - start[0], processor_s=_processor_s() - start[1])
        data["rows"] = [row.as_json() for row in rows(samples, experiment.configurations)]
        # Samples of an interrupted run for later jobs stay in the file.
        ahead = [] if data["complete"] else list(kept.values())
        write_atomically(file, json.dumps({**data, "samples": samples + ahead}, indent=1) + "\n")
        return time.monotonic() + _WRITE_INTERVAL * (time.monotonic() - began)

    due = 0.0
    try:
        for job in todo:
            counted = replace(job, instructions=_instructions(job, samples))
            key, missing = _key(counted)
            reused = key in kept
            if reused:
                sample = kept.pop(key)
            else:
                sample = _sample(job, key, "not run", missing) if missing else _measured(counted, key, samples)
            samples.append(sample)
            if time.monotonic() >= due:
                due = write()
            done(job, sample, reused)
    finally:
        write()
    return data


def _processor_s() -> float:
    """Processor time of this process and of those that it waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _key(job: Job) -> tuple[str, str]:
    """Key of a sample of this job; or an empty key and the reason why it cannot be measured on this machine."""
    if job.setup.needs and not _is_installed(job.setup.needs):
        return "", f"not run: `{job.setup.needs}` is not installed"
    try:
        return job.key(), ""
    except UsageError as error:
        return "", f"not run: {str(error).partition(chr(10))[0]}"


@functools.cache
def _is_installed(name: str) -> bool:
    """Whether a command or module exists. angr may be in another Python, since it needs another Z3."""
    if name == "angr" and "PARTITA_ANGR" in os.environ:
        return Path(os.environ["PARTITA_ANGR"]).exists()
    return shutil.which(name) is not None or importlib.util.find_spec(name) is not None


def _kept(file: Path) -> dict[str, Sample]:
    """Samples of an earlier run, by key. Failures and jobs that were not run because of them are tried again."""
    try:
        data = json.loads(file.read_text())
        if data["schema"] != SCHEMA:
            return {}
        return {s["key"]: s for s in data["samples"] if s["outcome"] in ("measured", "stopped")}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}


def _instructions(job: Job, before: Sequence[Sample]) -> int | None:
    """Instructions that the first configuration executed on this case, if the limit is that number."""
    if job.case.until == "instructions":
        for sample in before:
            if sample["runs"] and (sample["case"]["series"], sample["case"]["x"]) == (job.case.series, job.case.x):
                found: int = sample["runs"][0]["instructions"]
                return found
    return None


def _sample(job: Job, key: str, outcome: Outcome, reason: str, runs: Sequence[dict[str, Any]] = ()) -> Sample:
    return {"key": key, "case": asdict(job.case), "configuration": job.configuration, "outcome": outcome,
            "reason": reason, "seconds": job.effort.seconds, "runs": list(runs)}  # fmt: skip


def _measured(job: Job, key: str, before: Sequence[Sample]) -> Sample:
    sample = functools.partial(_sample, job, key)
    for smaller in before:
        same_series = (smaller["case"]["series"], smaller["configuration"]) == (job.case.series, job.configuration)
        if same_series and smaller["outcome"] == "stopped" and job.case.until == "end":
            return sample("not run", f"not run: {smaller['case']['x']} was not over in {job.effort.seconds:g} s")
    try:
        if job.setup.tool == "partita":
            _compile(job.case)
        child = subprocess.run(
            [sys.executable, "-m", f"experiments.{_MEASURER[job.setup.tool]}"],
            input=json.dumps(job.request()),
            capture_output=True,
            text=True,
            env=_environment(),
            # Runs stop themselves; this is for one that does not.
            timeout=_START_S + 60 * job.effort.repeats * job.effort.seconds,
        )
    except subprocess.TimeoutExpired:
        return sample("failed", f"did not stop after {job.effort.seconds:g} s")
    except UsageError as error:
        return sample("failed", str(error))
    runs = list(_lines(child.stdout))
    if child.returncode != 0:
        last = child.stderr.strip().splitlines()[-1:] or ["nothing on standard error"]
        return sample("failed", f"ended with status {child.returncode}: {last[0]}", runs)
    stopped = next((run["stopped"] for run in runs if run["stopped"]), None)
    if stopped is not None:
        return sample("stopped", f"not over in {job.effort.seconds:g} s ({stopped})", runs)
    return sample("measured", "", runs)


def _environment() -> dict[str, str]:
    """Makes this package importable in the child, whatever the current folder."""
    paths = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


_MEASURER = {"partita": "sample", "klee": "other_tools", "angr": "other_tools"}


def _compile(case: Case) -> None:
    """Compiles into the cache, so that the first configuration is not charged with the memory."""
    if case.program.endswith(".java"):
        load_java(case.paths(), classpath=None, entry=None, symbolic_args=False, string_length=None)
    elif not case.program.endswith(".smt2"):
        load_program(case.paths(), cflags=case.flags())


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            yield json.loads(line)
