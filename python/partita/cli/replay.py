"""Runs tests natively and compares their endings with those that the exploration recorded.

PROG is an executable built with `partita cc`, or sources, which are compiled with the replay runtime, or a Java
program, which runs in the machine's `java`. Each test of a whole program runs in a new folder with its arguments, files
and standard input, and cannot write anywhere else. The exit status is 0 if every test ended as recorded, 1 if one did
not, 2 for a usage error.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from partita import ktest
from partita.errors import UsageError
from partita.explore import DRIVER
from partita.frontends import compile_commands
from partita.frontends.c import C_SOURCES
from partita.frontends.c import SOURCES as COMPILED
from partita.frontends.rust import RUST_SOURCES
from partita.options import ENVIRONMENT
from partita.replay import ReplayResult, Verdict
from partita.replay.native import is_executable_file, replay_natively, with_driver
from partita.replay.program import replay_program
from partita.replay.sanitized import confirm
from partita.results import shown

SOURCES = (*COMPILED, *RUST_SOURCES, ".bc", ".ll")
JAVA = (".java", ".class", ".jar")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "program", nargs="+", metavar="PROG TEST", help="the program, then tests or the folder of a run"
    )
    parser.add_argument("--cflags", metavar="FLAGS", default="", help="flags for the compiler, as one argument")
    parser.add_argument("--project", metavar="DIR", help="take the flags of sources from compile_commands.json in DIR")
    parser.add_argument(
        "--timeout", type=int, default=10, metavar="SECONDS", help="time limit of each test (default: 10)"
    )
    parser.add_argument("--gcov", action="store_true", help="print the line coverage of the tests (executables only)")
    parser.add_argument("--lcov", metavar="FILE", help="write the line coverage to FILE, for lcov and genhtml")
    parser.add_argument("--unconfined", action="store_true", help="let tests of whole programs write to your files")
    parser.add_argument("--quiet", action="store_true", help="print only tests that ended differently")


def run(arguments: argparse.Namespace) -> int:
    if any(_is_java(name) for name in arguments.program):
        return _run_java(arguments)
    programs = [name for name in arguments.program if name.endswith(SOURCES) or is_executable_file(name)]
    names = [name for name in arguments.program if name not in programs]
    executable = Path(programs[0]) if len(programs) == 1 and is_executable_file(programs[0]) else None
    if not names or (executable is None and not all(name.endswith(SOURCES) for name in programs or [""])):
        raise UsageError(
            "expected a program (.c, .cpp, .rs, .bc, .ll or an executable) and tests (.ktest files or the folder of a"
            " run)"
        )
    if arguments.timeout < 1:
        raise UsageError(f"expected --timeout of at least 1 second, found {arguments.timeout}")
    if (arguments.gcov or arguments.lcov) and executable is None:
        raise UsageError("expected an executable built with `partita cc` for --gcov, found sources")
    tests: list[ktest.Test] = []
    for name in names:
        tests += ktest.read_folder(name) if Path(name).is_dir() else [ktest.read(name)]
    if not tests:
        raise UsageError(f"expected tests, found none in `{names[0]}`")
    options: dict[str, Any] = {
        "timeout": arguments.timeout,
        "variables": _variables(names) or ENVIRONMENT,
        "confined": not arguments.unconfined,
    }
    flags = arguments.cflags.split()
    if arguments.project is not None:
        sources = compile_commands.read(Path(arguments.project))
        programs = [sources.get(os.path.abspath(name), name) for name in programs]
    if (driver := _driver(names)) is not None:
        programs, flags = with_driver(programs, driver, flags)
    results = replay_natively(programs, tests, cflags=flags, **options)
    if executable is None and all(name.endswith(C_SOURCES) for name in programs):
        results = confirm(programs, results, cflags=flags, timeout=arguments.timeout)
    results = [_with_schedule(result, names) for result in results]
    counts = _show(results, arguments.quiet)
    if executable is not None and (arguments.gcov or arguments.lcov):
        _count_lines(executable, tests, options, arguments.lcov)
    return 1 if counts[Verdict.DIFFERENT] else 0


def _with_schedule(result: ReplayResult, names: Sequence[str]) -> ReplayResult:
    """The result; a bug of a schedule that did not show under the machine's own schedule is not observable."""
    if result.verdict is not Verdict.DIFFERENT:
        return result
    stem = result.test.name.removesuffix(".ktest")
    folders = [Path(name) if Path(name).is_dir() else Path(name).parent for name in names]
    reports = [path for folder in folders for path in folder.glob(f"{stem}.*.err")]
    if not any("\nschedule (" in path.read_text() for path in reports):
        return result
    return replace(result, verdict=Verdict.UNDEFINED, ending=f"{result.ending} under another schedule")


def _show(results: Sequence[ReplayResult], quiet: bool) -> Counter[Verdict]:
    for result in results:
        if result.verdict is Verdict.DIFFERENT or not quiet:
            print(result)
    counts = Counter(result.verdict for result in results)
    print(", ".join(f"{counts[verdict]:,} {verdict.value}" for verdict in Verdict if counts[verdict]))
    return counts


def _is_java(name: str) -> bool:
    """Is it a Java program? The folder of a run has `run.json`, that of a program has not."""
    path = Path(name)
    return name.endswith(JAVA) or (path.is_dir() and any(next(path.rglob(f"*{end}"), None) for end in JAVA))


def _run_java(arguments: argparse.Namespace) -> int:
    """Replays tests in the Java virtual machine, from the entry method of the run."""
    programs = [name for name in arguments.program if _is_java(name)]
    names = [name for name in arguments.program if name not in programs]
    if not names:
        raise UsageError("expected a Java program and tests (.ktest files or the folder of a run), found no tests")
    if arguments.timeout < 1:
        raise UsageError(f"expected --timeout of at least 1 second, found {arguments.timeout}")
    if arguments.gcov or arguments.lcov:
        raise UsageError("expected an executable built with `partita cc` for --gcov, found a Java program")
    tests: list[ktest.Test] = []
    for name in names:
        tests += ktest.read_folder(name) if Path(name).is_dir() else [ktest.read(name)]
    if not tests:
        raise UsageError(f"expected tests, found none in `{names[0]}`")
    folder = Path(names[0]) if Path(names[0]).is_dir() else Path(names[0]).parent
    try:
        given = json.loads((folder / "run.json").read_text()).get("java") or {}
    except (OSError, ValueError):
        given = {}
    from partita.replay.java import replay_java  # not needed for other programs

    given = {name: given[name] for name in ("classpath", "entry", "arguments") if name in given}
    found = replay_java(programs, tests, timeout=arguments.timeout, **given)
    return 1 if _show(found, arguments.quiet)[Verdict.DIFFERENT] else 0


def _driver(names: Sequence[str]) -> Path | None:
    """The driver of the runs of these tests, which started another function than `main`; None without one."""
    folders = {Path(name) if Path(name).is_dir() else Path(name).parent for name in names}
    found = [folder / DRIVER for folder in sorted(folders) if (folder / DRIVER).is_file()]
    if len(found) > 1 or (found and len(folders) > 1):
        raise UsageError("expected tests of one run with --entry: replay them separately")
    return found[0] if found else None


def _variables(names: Sequence[str]) -> dict[str, str] | None:
    """Environment variables recorded by the runs of these tests; None without any. All runs must have the same."""
    found: list[dict[str, str]] = []
    for name in names:
        folder = Path(name) if Path(name).is_dir() else Path(name).parent
        try:
            data = json.loads((folder / "run.json").read_text())
        except (OSError, ValueError):
            continue
        if isinstance(data.get("environment"), dict):
            found.append(data["environment"])
    if any(other != found[0] for other in found[1:]):
        raise UsageError("expected tests of runs with the same environment: replay them separately")
    return found[0] if found else None


def _count_lines(executable: Path, tests: Sequence[ktest.Test], options: dict[str, Any], file: str | None) -> None:
    from partita.replay.coverage import LINES_VARIABLE, instrument, lcov

    with instrument(executable) as marked:
        variables = {**options["variables"], LINES_VARIABLE: str(marked.reached)}
        replay_program(marked.binary, tests, **{**options, "variables": variables, "writable": marked.reached})
        coverage = marked.coverage()
    for name, lines in sorted(coverage.items()):
        reached = sum(lines.values())
        if reached:
            print(f"{100 * reached / len(lines):6.1f} % of {len(lines):5,} lines  {shown(name)}")
    total, reached = sum(map(len, coverage.values())), sum(sum(lines.values()) for lines in coverage.values())
    print(f"{100 * reached / max(1, total):6.1f} % of {total:5,} lines  total")
    if file is not None:
        try:
            Path(file).write_text(lcov(coverage))
        except OSError as error:
            raise UsageError(f"cannot write `{file}`: {error.strerror}") from None
