"""Runs several experiments: progress with an estimate of the time left, plots, and the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments import page, plot, runner
from experiments.catalogue import EXPERIMENTS, NOT_YET
from experiments.experiment import Experiment, Scale, Setup
from experiments.rows import DIFFERENT, rows
from partita.errors import UsageError
from partita.explore import write_atomically

_START_S = 1.5
"""Processor time of starting a sample: interpreter, Z3, loading the program."""


def measure(
    experiments: Sequence[Experiment], scale: Scale, folder: Path, *, command: Sequence[str], fresh: bool = False
) -> list[str]:
    """Returns messages about rows that failed or explored other paths."""
    wrong: list[str] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    total = sum(len(runner.jobs(experiment, scale)) for experiment in experiments)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("experiments", total=total)

        def done(job: runner.Job, sample: runner.Sample, reused: bool) -> None:
            progress.advance(task)

        for experiment in experiments:
            progress.update(task, description=experiment.name)
            try:
                data = runner.run(experiment, scale, folder, command=command, fresh=fresh, done=done)
            finally:
                write_page(folder)
            found = rows(data["samples"], experiment.configurations)
            plot.draw(experiment, found, data["samples"], folder)
            wrong += [
                f"{experiment.name}: {row.series} {row.x}, {row.configuration}: {row.remark}"
                for row in found
                if row.outcome == "failed" or row.remark == DIFFERENT
            ]
            for line in (summary(experiment, folder), *(experiment.table(data["samples"]) if experiment.table else ())):
                progress.console.print(line, highlight=False, markup=False, soft_wrap=True)
    write_page(folder)
    return wrong


def estimate(experiments: Sequence[Experiment], scale: Scale) -> str:
    """Number of samples, and the processor time of those that explore for a time; others end by themselves."""
    jobs = [job for experiment in experiments for job in runner.jobs(experiment, scale)]
    timed = [job.effort.repeats * job.effort.seconds for job in jobs if job.case.until != "end"]
    ended = [job for job in jobs if job.case.until == "end"]
    parts = []
    if timed:
        parts.append(f"{len(timed)} samples for a given time, {_words(sum(timed) + _START_S * len(timed))} in all")
    if ended:
        limit = max(job.effort.seconds for job in ended)
        parts.append(f"{len(ended)} until the end, of up to {max(job.effort.repeats for job in ended)} runs of at most"
                     f" {limit:g} s")  # fmt: skip
    return "; ".join(parts)


def _words(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def redraw(folder: Path) -> list[str]:
    """Draws plots and page again from the files of a run; returns the names of the experiments found."""
    found = [name for name in EXPERIMENTS if (folder / f"{name}.json").exists()]
    if not found:
        raise UsageError(f"expected results (NAME.json) in `{folder}` to draw, found none")
    for name in found:
        data = json.loads((folder / f"{name}.json").read_text())
        setups = {configuration: Setup(**setup) for configuration, setup in data["configurations"].items()}
        plot.draw(EXPERIMENTS[name], rows(data["samples"], setups), data["samples"], folder)
    write_page(folder)
    return found


def write_page(folder: Path) -> None:
    write_atomically(folder / "index.html", page.render(EXPERIMENTS, NOT_YET, folder))


def summary(experiment: Experiment, folder: Path) -> str:
    """Number of rows by outcome, and the reasons why some were not run."""
    found = json.loads((folder / f"{experiment.name}.json").read_text())["rows"]
    outcomes = [row["outcome"] for row in found]
    counts = [f"{outcomes.count(o)} {o}" for o in ("measured", "stopped", "failed", "not run") if o in outcomes]
    why = dict.fromkeys(row["remark"] for row in found if row["outcome"] == "not run")
    return "\n  ".join([f"{experiment.name}: {', '.join(counts)}", *why])
