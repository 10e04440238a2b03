"""Explores every feasible path of a program, reports bugs, and writes a test for each path.

PROG is a C source (several are allowed), bitcode (.bc), LLVM text (.ll) or an executable built with `partita cc`.
Words after `--` are the program's arguments. The exit status is 0 if everything was explored, 1 if a bug was found, 2
for a usage error or a source that does not compile, 3 if the exploration is incomplete, 4 for an internal error or a
--verify mismatch.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from partita import _core
from partita.cli.follow import follow, make_listener
from partita.errors import UsageError
from partita.explore import Run, explore, next_folder
from partita.frontends import without_bitcode
from partita.search import BUILT_IN, Names
from partita.solver import DEFAULT_LAYERS
from partita.store import DEFAULT
from partita.whole import ENVIRONMENT

COMPLETE, BUG, INCOMPLETE, MISMATCH = 0, 1, 3, 4
_UNITS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}
_SIZES = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("program", nargs="+", metavar="PROG", help="C sources, bitcode, LLVM text or an executable")
    about = f"search strategy: {', '.join(BUILT_IN)} (default: mix), or one of an installed package"
    parser.add_argument("--search", choices=Names(), default="mix", metavar="NAME", help=about)
    parser.add_argument("--seed", type=count, default=0, metavar="N", help="seed of random choices (default: 0)")
    parser.add_argument(
        "--sym-arg", action=Words, nargs=1, metavar="N", help="add a symbolic argument of up to N bytes"
    )
    parser.add_argument(
        "--sym-args",
        action=Words,
        nargs=3,
        metavar=("MIN", "MAX", "N"),
        help="add MIN to MAX symbolic arguments of up to N bytes",
    )
    parser.add_argument(
        "--sym-files", type=count, nargs=2, metavar=("NUM", "SIZE"), help="NUM symbolic files A, B, ... of SIZE bytes"
    )
    parser.add_argument("--sym-stdin", type=count, metavar="N", help="symbolic standard input of N bytes")
    parser.add_argument("--sym-stdout", action="store_true", help="record standard output in tests")
    parser.add_argument(
        "--max-fail", type=count, default=0, metavar="N", help="let up to N system calls fail on a path (default: 0)"
    )
    parser.add_argument("--stdin", metavar="FILE", help="contents of standard input (default: empty)")
    parser.add_argument(
        "--env", action="append", metavar="NAME=VALUE", help="set an environment variable of the program"
    )
    parser.add_argument("--write-host", action="store_true", help="let the program write to files of this machine")
    parser.add_argument(
        "--libc",
        choices=["auto", "musl", "none"],
        default="auto",
        help="C library to link (default: auto, musl if needed)",
    )
    parser.add_argument(
        "--max-time", type=duration, metavar="TIME", help="time limit of the run, such as 60s, 10m or 2h"
    )
    parser.add_argument(
        "--max-solver-time", type=duration, metavar="TIME", help="time limit of one query (default: 1/40 of --max-time)"
    )
    parser.add_argument(
        "--max-memory", type=size, metavar="SIZE", help="memory limit, such as 2GB (default: half of the RAM)"
    )
    parser.add_argument("--max-instructions", type=count, metavar="N", help="stop after N instructions")
    parser.add_argument("--max-tests", type=count, metavar="N", help="stop after N tests")
    parser.add_argument("--max-depth", type=count, metavar="N", help="limit the decisions on one path")
    parser.add_argument(
        "--no-path-model", action="store_true", help="ask about both sides of every branch (for experiments)"
    )
    parser.add_argument(
        "--layers", metavar="SPEC", help=f"chain of layers, or edits of the default, {DEFAULT_LAYERS!r}"
    )
    parser.add_argument("--verify", metavar="SOLVER", help="check every answer with a second solver")
    parser.add_argument(
        "--tests",
        choices=["all", "coverage", "bugs"],
        default="all",
        help="write tests for all paths (default), paths with new coverage, or new bugs only",
    )
    parser.add_argument(
        "--all-bugs", action="store_true", help="write a test for every path into a bug, not only the first"
    )
    checks = ", ".join(name for name, _ in _core.CHECKS)
    parser.add_argument("--check", metavar="LIST", default="", help=f"additional checks, separated by commas: {checks}")
    parser.add_argument(
        "--ambient",
        choices=["fixed", "symbolic"],
        default="fixed",
        help="values of time and random numbers (default: fixed)",
    )
    parser.add_argument(
        "--max-objects",
        type=count,
        metavar="N",
        default=64,
        help="limit the objects of one symbolic pointer (default: 64)",
    )
    parser.add_argument(
        "--max-values", type=count, metavar="N", default=64, help="limit the values of one length or size (default: 64)"
    )
    parser.add_argument(
        "--undefined",
        choices=["error", "havoc"],
        default="error",
        help="calls of undefined functions: error (default), or havoc: any result",
    )
    parser.add_argument("--optimize", action="store_true", help="optimise the program with LLVM first")
    parser.add_argument("--cflags", metavar="FLAGS", default="", help="flags for the compiler, as one argument")
    parser.add_argument("--clang", metavar="PATH", help="compile with this clang instead of the installed one")
    parser.add_argument(
        "--store",
        metavar="PATH|none",
        default=DEFAULT,
        help="file with answers of earlier runs (default: the user's own)",
    )
    parser.add_argument("--out", metavar="DIR", help="folder to write (default: the next free partita-out-N)")
    parser.add_argument("--json", action="store_true", help="print JSON lines, one per event; the last one is run.json")
    parser.add_argument("--quiet", action="store_true", help="print only bugs and errors")


class Words(argparse.Action):
    """Collects `--sym-arg` and `--sym-args` in order, to be put before the program's arguments."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        numbers = [str(value) for value in values or ()]
        for number in numbers:
            if not number.isdecimal():
                parser.error(f"argument {self.option_strings[0]}: expected a whole number, found {number!r}")
        words = [*getattr(namespace, "symbolic_arguments", ()), self.option_strings[0], *numbers]
        namespace.symbolic_arguments = words


def environment(given: Sequence[str] | None) -> dict[str, str]:
    variables = dict(ENVIRONMENT)
    for word in given or ():
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise UsageError(f"expected --env NAME=VALUE, found `{word}`")
        variables[name] = value
    return variables


def contents(name: str | None) -> bytes:
    if name is None:
        return b""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read `{name}` for --stdin: {error.strerror}") from None


def duration(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|min|h|)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a time such as 60s, 10m or 2h, found {text!r}")
    return float(found[1]) * _UNITS[found[2]]


def size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB|)", text, re.IGNORECASE)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a size such as 500MB or 2GB, found {text!r}")
    return int(float(found[1]) * _SIZES[found[2].upper()])


def count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, found {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    for name in arguments.program:
        missing = without_bitcode(name)
        if missing:
            print(f"partita: note: {name} has no bitcode of {', '.join(missing)}", file=sys.stderr)
    exploration = explore(
        arguments.program,
        arguments=[*getattr(arguments, "symbolic_arguments", ()), *arguments.program_arguments],
        sym_files=tuple(arguments.sym_files) if arguments.sym_files else None,
        sym_stdin=arguments.sym_stdin,
        sym_stdout=arguments.sym_stdout,
        max_fail=arguments.max_fail,
        stdin=contents(arguments.stdin),
        environment=environment(arguments.env),
        write_host=arguments.write_host,
        libc=arguments.libc,
        search=arguments.search,
        seed=arguments.seed,
        layers=arguments.layers,
        verify=arguments.verify,
        max_time=arguments.max_time,
        max_solver_time=arguments.max_solver_time,
        max_memory=arguments.max_memory,
        max_instructions=arguments.max_instructions,
        max_tests=arguments.max_tests,
        max_depth=arguments.max_depth,
        path_model=not arguments.no_path_model,
        tests=arguments.tests,
        all_bugs=arguments.all_bugs,
        check=[name for name in arguments.check.split(",") if name],
        ambient=arguments.ambient,
        max_objects=arguments.max_objects,
        max_values=arguments.max_values,
        undefined=arguments.undefined,
        optimize=arguments.optimize,
        cflags=arguments.cflags.split(),
        clang=arguments.clang,
        store=arguments.store,
    )
    exploration.write_to(Path(arguments.out) if arguments.out else next_folder(Path.cwd()))
    exploration.describe_command(sys.argv)
    with ending_cleanly(exploration):
        follow(exploration, make_listener(exploration, arguments.json, arguments.quiet))
    return status(exploration)


@contextmanager
def ending_cleanly(exploration: Run) -> Iterator[None]:
    """Makes Ctrl-C and SIGTERM end the exploration, whose results are then written; a second one ends the process."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, before[each])
        exploration.interrupt()

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, handle) for number in signals}
    try:
        yield
    finally:
        for number in signals:
            signal.signal(number, before[number])


def status(exploration: Run) -> int:
    """The exit status. If several apply: mismatch, bug, incomplete."""
    if exploration.mismatches:
        print("partita: error: --verify found a mismatch", file=sys.stderr)
        return MISMATCH
    if exploration.bugs:
        return BUG
    return COMPLETE if exploration.complete else INCOMPLETE


def split_arguments(words: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and those after `--`, which are the program's."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
