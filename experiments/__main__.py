"""Runs experiments and benchmarks from a clone of the repository.

    python -m experiments [NAME...] [--scale SCALE] [--out DIR]   experiments: NAME.json, plots, index.html in DIR
    python -m experiments --paper parti|integers|solutions    the experiments of one paper
    python -m experiments publish --from DIR NAME...          results, plots and figures of the text for the page
    python -m experiments BENCHMARK [OPTIONS]                 a benchmark: a table; exit status 1 if a target is missed
    python -m experiments --list                              all names

Without names, all experiments. An interrupted run continues where it stopped: existing samples are not measured again.
The packages of requirements/experiments.txt must be installed.
"""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.experiment import Scale
from partita.errors import UsageError
from partita.options import type_of

DEFAULT_OUT = "partita-bench"
BENCHMARKS = {
    "engine": "exploration of whole programs, compared with KLEE's recorded times and our targets",
    "control": "solves and hit rates with and without partial solutions, in counts of complete explorations",
    "search": "what each search strategy has covered after a counted cost",
    "coverage": "lines of real programs over time, by tests that are replayed natively",
    "text": "functions of libraries that parse text, reached with eight symbolic bytes",
    "fuzzing": "edges that AFL++, Partita, and both together reach at equal processor time",
    "store": "cost of filling the store, and time saved by a filled one",
    "workers": "two workers of one run against two independent runs side by side",
    "open_paths": "what the journal costs, what an open path takes, and what parking it takes",
    "shared_store": "time in sat that a second client of a store on a server saves",
    "backends": "translation and solving times of the complete solvers on query logs",
    "intervals": "the layers `intervals` and `enumerate`, compared with complete solvers on query logs",
    "families": "scalable families of SMT-LIB scripts, compared with Bitwuzla",
    "floats": "floating-point queries, compared with Bitwuzla",
    "integers": "words as integers: `differences` and both readings, compared with Z3",
}
"""Modules of this package with a `main`: they print tables and have targets instead of plots."""
COMMANDS = {"publish": "takes results into docs/experiments.md: plots, data, and the figures of the text"}
"""Modules with a `main` that measure nothing."""


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="*", metavar="NAME", help="an experiment (docs/experiments.md; default: all)")
    parser.add_argument(
        "--list", action="store_true", help="list experiments, with their time at --scale, and benchmarks"
    )
    parser.add_argument(
        "--paper", choices=("parti", "integers", "solutions"), help="the experiments of one paper, in place of names"
    )
    parser.add_argument(
        "--scale",
        choices=("quick", "hour", "paper"),
        default="paper",
        help="quick: all in about 17 minutes; hour: an hour for each paper's; paper: their sizes and times (default)",
    )
    parser.add_argument("--out", metavar="DIR", default=DEFAULT_OUT, help=f"output folder (default: {DEFAULT_OUT})")
    parser.add_argument("--programs", metavar="DIR", help="for eca: the C programs of this folder, not generated ones")
    parser.add_argument(
        "--repeats",
        type=type_of("max-tests", "--repeats"),
        metavar="N",
        help="runs of each case (default: by experiment)",
    )
    parser.add_argument(
        "--max-time",
        type=type_of("max-time", "--max-time"),
        metavar="TIME",
        help="limit of a run (default: by experiment)",
    )
    parser.add_argument("--fresh", action="store_true", help="measure again what is measured already")
    parser.add_argument("--redraw", action="store_true", help="measure nothing: draw the results in DIR again")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else list(words)
    if words and words[0] in {**BENCHMARKS, **COMMANDS}:
        return _benchmark(words[0], words[1:])
    arguments = make_parser().parse_args(words)
    try:
        return _list(arguments.scale) if arguments.list else run(arguments, words)
    except UsageError as error:
        print(f"experiments: error: {error}", file=sys.stderr)
        return 2


def _benchmark(name: str, words: Sequence[str]) -> int:
    # The module parses its own options.
    sys.argv = [f"python -m experiments {name}", *words]
    status: int = importlib.import_module(f"experiments.{name}").main()
    return status


def _list(scale: Scale) -> int:
    from experiments.catalogue import EXPERIMENTS, NOT_YET, PAPERS
    from experiments.suite import estimate

    for experiment in EXPERIMENTS.values():
        print(f"{experiment.name:18} {experiment.title} ({experiment.source})")
        print(f"{'':18} {estimate([experiment], scale)}")
    for paper, names in PAPERS.items():
        print(f"{f'--paper {paper}':18} {estimate([EXPERIMENTS[name] for name in names], scale)}")
    for name, title in COMMANDS.items():
        print(f"{name:18} {title}")
    for name, title in BENCHMARKS.items():
        print(f"{name:18} {title} (benchmark)")
    for name, reason in NOT_YET.items():
        print(f"{name:18} not available: {reason}")
    return 0


def _named(name: str, known: Iterable[str]) -> list[str]:
    """The experiment of this name, and those whose names begin with it: `coreutils` is two."""
    return [other for other in known if other == name or other.startswith(f"{name}-")]


def run(arguments: argparse.Namespace, words: Sequence[str]) -> int:
    from experiments import plot

    plot.check_installed()
    from experiments import eca
    from experiments.catalogue import EXPERIMENTS, NOT_YET, PAPERS
    from experiments.experiment import Experiment, with_effort
    from experiments.suite import estimate, measure, redraw

    for name in arguments.name:
        if name in BENCHMARKS:
            raise UsageError(f"`{name}` is a benchmark: run it alone, `python -m experiments {name}`")
        if name in NOT_YET:
            raise UsageError(f"`{name}` is not available: {NOT_YET[name]}")
        if not _named(name, EXPERIMENTS):
            known = ", ".join([*EXPERIMENTS, *BENCHMARKS])
            raise UsageError(f"expected an experiment ({known}), found `{name}`")
    if arguments.paper is not None and arguments.name:
        raise UsageError("expected names of experiments or --paper, found both")
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
    scale: Scale = arguments.scale
    named = PAPERS[arguments.paper] if arguments.paper is not None else names or EXPERIMENTS
    chosen: list[Experiment] = [EXPERIMENTS[name] for name in named]
    if arguments.programs is not None:
        given = eca.of_folder(Path(arguments.programs))
        chosen = [given if experiment.name == given.name else experiment for experiment in chosen]
    chosen = [with_effort(one, scale, arguments.repeats, arguments.max_time) for one in chosen]
    command = ["python", "-m", "experiments", *words]
    print(f"experiments: {estimate(chosen, scale)}", file=sys.stderr)
    failed = measure(chosen, scale, folder, command=command, fresh=arguments.fresh)
    for line in failed:
        print(f"experiments: warning: {line}", file=sys.stderr)
    print(f"{folder / 'index.html'}: {shlex.join(experiment.name for experiment in chosen)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
