"""Runs the papers' experiments and ours: NAME.json, plots and an index.html in a folder.

Without names, all of them. An interrupted run goes on where it was; what is measured already is not measured again.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from partita.cli.run import count, duration
from partita.errors import UsageError

DEFAULT_OUT = "partita-bench"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", nargs="*", metavar="NAME", help="an experiment (docs/experiments.md; default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller cases, fewer repeats: all in under ten minutes")
    parser.add_argument("--out", metavar="DIR", default=DEFAULT_OUT, help=f"where to (default: {DEFAULT_OUT})")
    parser.add_argument("--programs", metavar="DIR", help="for eca: the C programs of this folder, not generated ones")
    parser.add_argument("--repeats", type=count, metavar="N", help="runs of each case (default: by experiment)")
    parser.add_argument("--max-time", type=duration, metavar="TIME", help="of a run (default: by experiment)")
    parser.add_argument("--fresh", action="store_true", help="measure again what is measured already")
    parser.add_argument("--redraw", action="store_true", help="measure nothing: draw what is in DIR again")


def _named(name: str, known: Iterable[str]) -> list[str]:
    """The experiment of this name, and those whose names begin with it: `coreutils` is two."""
    return [other for other in known if other == name or other.startswith(f"{name}-")]


def run(arguments: argparse.Namespace) -> int:
    from partita.bench import plot

    plot.check_installed()
    from partita.bench import eca
    from partita.bench.catalogue import EXPERIMENTS, NOT_YET
    from partita.bench.experiment import Experiment, Scale, with_effort
    from partita.bench.suite import measure, redraw

    for name in arguments.name:
        if name in NOT_YET:
            raise UsageError(f"`{name}` is not there yet: {NOT_YET[name]}")
        if not _named(name, EXPERIMENTS):
            raise UsageError(f"expected an experiment ({', '.join(EXPERIMENTS)}), found `{name}`")
    if 0 in (arguments.repeats, arguments.max_time):
        raise UsageError("expected --repeats and --max-time above 0, found 0")
    folder = Path(arguments.out)
    if arguments.redraw:
        print(f"{folder / 'index.html'}: {shlex.join(redraw(folder))}")
        return 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into `{folder}`: {error.strerror}; choose another folder with --out") from None
    names = dict.fromkeys(one for name in arguments.name for one in _named(name, EXPERIMENTS))
    scale: Scale = "quick" if arguments.quick else "full"
    chosen: list[Experiment] = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
    if arguments.programs is not None:
        given = eca.of_folder(Path(arguments.programs))
        chosen = [given if experiment.name == given.name else experiment for experiment in chosen]
    chosen = [with_effort(one, scale, arguments.repeats, arguments.max_time) for one in chosen]
    command = ["partita", *sys.argv[1:]]
    failed = measure(chosen, scale, folder, command=command, fresh=arguments.fresh)
    for line in failed:
        print(f"partita: warning: {line}", file=sys.stderr)
    print(f"{folder / 'index.html'}: {shlex.join(experiment.name for experiment in chosen)}")
    return 1 if failed else 0
