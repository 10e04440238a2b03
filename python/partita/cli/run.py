"""Explores every feasible path of a program, reports bugs, and writes a test for each path.

PROG is a source in C, C++ or Rust (.c, .i, .cpp, .rs; several are allowed), bitcode (.bc), LLVM text (.ll), an
executable of `partita cc`, or a Java program (.java, .class and .jar files, or a folder of them).
Without PROG, program and options are those of `partita.toml`, or of `[tool.partita]` in pyproject.toml, here or in a
folder above. Words after `--` are the program's arguments. The exit status is 0 if everything was explored, 1 if a bug
was found, 2 for a usage error or a source that does not compile, 3 if the exploration is incomplete, 4 for an internal
error, a --verify mismatch, or memory that the system refuses.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from partita import journal, options
from partita.cli import klee_flags, project_file
from partita.cli.follow import follow, make_listener
from partita.errors import UsageError
from partita.explore import Run, explore, next_folder
from partita.findings import Baseline, project_root
from partita.frontends import compile_commands, module_for_types, without_bitcode
from partita.frontends.c import SOURCES
from partita.frontends.java import is_java
from partita.results import counted
from partita.seeds import longest, with_file

COMPLETE, BUG, INCOMPLETE, MISMATCH = 0, 1, 3, 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "program",
        nargs="*",
        metavar="PROG",
        help="C sources, bitcode, LLVM text, an executable, or Java; without one, the program of partita.toml",
    )
    options.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    for name in arguments.program:
        missing = without_bitcode(name)
        if missing:
            print(f"partita: note: {name} has no bitcode of {', '.join(missing)}", file=sys.stderr)
    baseline = _baseline(arguments)
    if arguments.resume is not None and arguments.out is not None:
        raise UsageError("expected --resume or --out, found both: a resumed run goes on in its folder")
    if arguments.data_model == "ILP32":
        arguments.cflags = [*arguments.cflags, "-m32"]
    if arguments.project is not None:
        given = {"cflags": arguments.cflags, "clang": arguments.clang}
        arguments.program = compile_commands.select(
            Path(arguments.project), arguments.program, arguments.entry, **given
        )
    if arguments.since is not None and not _take_changes(arguments):
        return COMPLETE
    if (arguments.seeds or arguments.sync) and "tests" not in getattr(arguments, "explicit", ()):
        arguments.tests = "coverage"  # a fuzzer needs no input that reaches nothing new
    if (seeds := arguments.seeds or arguments.sync) and "@@" in arguments.program_arguments:
        arguments.program_arguments = with_file(arguments.program_arguments)
        arguments.sym_files = arguments.sym_files or (1, max(1, longest(Path(seeds))))
    words = [*getattr(arguments, "symbolic_arguments", ()), *arguments.program_arguments]
    if arguments.entry == "all" and not is_java(arguments.program):
        from partita.cli import run_all  # few runs need it

        return run_all.run(arguments, words, baseline)
    started = process_age() if arguments.is_process else 0.0
    exploration = explore(arguments.program, arguments=words, **{**options.keywords(arguments), "out": None})
    exploration.count_time(started)
    exploration.baseline = baseline
    exploration.describe_command(sys.argv, arguments.project)
    # The folder is made only once the program has been compiled.
    if arguments.resume is None:
        exploration.write_to(Path(arguments.out) if arguments.out else next_folder(Path.cwd()))
    with ending_cleanly(exploration):
        follow(exploration, make_listener(exploration, arguments))
    _write_reports(exploration, arguments)
    exploration.abandon()
    return status(exploration)


def take_project(arguments: argparse.Namespace, parse: Callable[[list[str]], argparse.Namespace]) -> None:
    """Takes the program and its options from the run that is resumed, or else from the project: `partita.toml`, and
    `--project`, which may name it too."""
    if arguments.resume is not None:
        _repeat_command(arguments, parse)
        return
    here = Path.cwd()
    found = project_file.find(here)
    if found is not None:
        for name in ("out", "sarif", "baseline", "certificate", "project"):
            if (value := getattr(arguments, name)) is not None:
                setattr(arguments, name, os.path.abspath(value))
        os.chdir(found.path.parent)
        project_file.merged(arguments, parse, found)
        if found.path.parent != here:
            print(f"partita: options of {found.path}", file=sys.stderr)
    if not arguments.program and arguments.project is None:
        where = f"`{found.path}` has no `program`" if found else "found none, and no partita.toml here or above"
        raise UsageError(f"expected a program to explore, such as `partita run prog.c`: {where}")


def _repeat_command(arguments: argparse.Namespace, parse: Callable[[list[str]], argparse.Namespace]) -> None:
    """Takes the program and its options from the command that began a run. Files are looked for here, since the folder
    may have been copied with its program, and then where the run began."""
    folder = os.path.abspath(arguments.resume)
    head = journal.read(Path(folder)).head
    names, command, began = head["names"], head["command"], head["folder"]
    if not command:
        raise UsageError(f"expected the program of the run of `{arguments.resume}`, which Python began, found none")
    found = next((place for place in (os.getcwd(), began) if _has_files(place, names)), None)
    if found is None:
        listed = " ".join(names)
        raise UsageError(f"expected `{listed}` of the run of `{arguments.resume}` here or in `{began}`, found neither")
    words, program_arguments = split_arguments([word for word in command[1:] if word != "run"])
    for name in ("sarif", "baseline"):
        if (value := getattr(arguments, name)) is not None:
            setattr(arguments, name, os.path.abspath(value))
    os.chdir(found)
    first = parse(["run", *klee_flags.translate(words)])
    project_file.merge(arguments, first, program_arguments)
    if not first.program and first.project is None and (file := project_file.find(Path.cwd())) is not None:
        project_file.merged(arguments, parse, file)
    arguments.program, arguments.out, arguments.resume = names, None, folder


def _has_files(folder: str, names: Sequence[str]) -> bool:
    return all(os.path.exists(os.path.join(folder, name)) for name in names)


def _take_changes(arguments: argparse.Namespace) -> bool:
    """Adds the functions that changed since a commit to the targets. Returns False if there are none."""
    from partita.changes import changed_functions, changed_lines  # few runs need it

    sources = [name for name in arguments.program if name.endswith(SOURCES)]
    if not sources:
        raise UsageError("expected C sources for --since, found none")
    changes = changed_lines(arguments.since, sources)
    text = module_for_types(arguments.program, cflags=arguments.cflags, clang=arguments.clang) if changes else ""
    found = changed_functions(text, changes)
    if not found:
        print(f"partita: no function of {' '.join(sources)} changed since {arguments.since}", file=sys.stderr)
    arguments.target = (*arguments.target, *found)
    return bool(found)


def _baseline(arguments: argparse.Namespace) -> Baseline | None:
    if arguments.baseline is None:
        if arguments.update_baseline:
            raise UsageError("expected --baseline FILE with --update-baseline, found none: it names the file to write")
        return None
    return Baseline.read(Path(arguments.baseline), may_be_new=arguments.update_baseline)


def _write_reports(exploration: Run, arguments: argparse.Namespace) -> None:
    """Files for build servers, from the folder of the run."""
    assert exploration.out is not None
    if arguments.sarif is not None:
        from partita.reports import sarif  # few runs need it

        sarif.write(exploration.out, Path(arguments.sarif))
    if exploration.baseline is not None and arguments.update_baseline:
        rows = exploration.summary()["bugs"]
        count = exploration.baseline.update(rows, project_root(Path.cwd()))
        print(f"partita: {counted(count, 'bug')} added to {exploration.baseline.path}", file=sys.stderr)


def process_age() -> float:
    """Seconds since the process was started, for --max-time; 0 if the system does not tell."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0.0
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))


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
    if any(not bug.accepted for bug in exploration.bugs):
        return BUG
    return COMPLETE if exploration.complete else INCOMPLETE


def split_arguments(words: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and those after `--`, which are the program's."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
