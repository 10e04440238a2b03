"""Says where the experiments are: in the repository, not in the installed package."""

from __future__ import annotations

import argparse

from partita.errors import UsageError

TEXT = """\
Experiments and benchmarks are part of Partita's repository, not of the installed package. In a clone:

    pip install -r requirements/experiments.txt
    python -m experiments --list
    python -m experiments foo --scale quick

docs/experiments.md describes them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    if arguments.words:
        raise UsageError(f"nothing was run. {TEXT}")
    print(TEXT)
    return 0
