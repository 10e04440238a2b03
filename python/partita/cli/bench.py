"""Runs the papers' experiments and ours: NAME.json, plots and an index.html in a folder.

Without names, all of them. An interrupted run goes on where it was; what is measured already is not measured again.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from partita.errors import UsageError

DEFAULT_OUT = "partita-bench"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", nargs="*", metavar="NAME", help="an experiment (docs/experiments.md; default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller cases, fewer repeats: all in under ten minutes")
    parser.add_argument("--out", metavar="DIR", default=DEFAULT_OUT, help=f"where to (default: {DEFAULT_OUT})")
    parser.add_argument("--programs", metavar="DIR", help="for eca: the C programs of this folder, not generated ones")
    parser.add_argument("--fresh", action="store_true", help="measure again what is measured already")


def _named(name: str, known: Iterable[str]) -> list[str]:
    """The experiment of this name, and those whose names begin with it: `coreutils` is two."""
    return [other for other in known if other == name or other.startswith(f"{name}-")]


def run(arguments: argparse.Namespace) -> int:
    from partita.bench import plot

    plot.check_installed()
    from partita.bench import eca
    from partita.bench.catalogue import EXPERIMENTS, NOT_YET
    from partita.bench.suite import measure

    for name in arguments.name:
        if name in NOT_YET:
            raise UsageError(f"`{name}` is not there yet: {NOT_YET[name]}")
        if not _named(name, EXPERIMENTS):
            raise UsageError(f"expected an experiment ({', '.join(EXPERIMENTS)}), found `{name}`")
    folder = Path(arguments.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into `{folder}`: {error.strerror}; choose another folder with --out") from None
    names = dict.fromkeys(one for name in arguments.name for one in _named(name, EXPERIMENTS))
    chosen = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
    if arguments.programs is not None:
        given = eca.of_folder(Path(arguments.programs))
        chosen = [given if experiment.name == given.name else experiment for experiment in chosen]
    command = ["partita", *sys.argv[1:]]
    failed = measure(chosen, "quick" if arguments.quick else "full", folder, command=command, fresh=arguments.fresh)
    for line in failed:
        print(f"partita: warning: {line}", file=sys.stderr)
    print(f"{folder / 'index.html'}: {shlex.join(experiment.name for experiment in chosen)}")
    return 1 if failed else 0
