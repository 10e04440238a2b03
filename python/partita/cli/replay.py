"""Runs tests natively and compares how they end with what the exploration said.

Compiles PROG with the replay runtime and runs it on each test. The exit status is 0 when every test ended as
recorded, 1 when one did not, 2 for a usage error.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from partita import ktest
from partita.errors import UsageError
from partita.replay import Verdict, compile_native, replay


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("program", nargs="+", metavar="PROG TEST", help="the program, then tests or a run's folder")
    parser.add_argument("--cflags", metavar="FLAGS", default="", help="flags for the compiler, in one word")
    parser.add_argument("--timeout", type=int, default=10, metavar="SECONDS", help="for each test (default: 10)")
    parser.add_argument("--quiet", action="store_true", help="only tests that ended otherwise")


def run(arguments: argparse.Namespace) -> int:
    programs = [name for name in arguments.program if name.endswith((".c", ".bc", ".ll"))]
    names = [name for name in arguments.program if name not in programs]
    if not programs or not names:
        raise UsageError("expected a program (.c, .bc or .ll) and tests (.ktest files or a run's folder)")
    if arguments.timeout < 1:
        raise UsageError(f"expected --timeout of at least 1 second, found {arguments.timeout}")
    tests: list[ktest.Test] = []
    for name in names:
        tests += ktest.read_folder(name) if Path(name).is_dir() else [ktest.read(name)]
    with compile_native(programs, cflags=arguments.cflags.split()) as binary:
        results = replay(binary, tests, timeout=arguments.timeout)
    for result in results:
        if result.verdict is Verdict.DIFFERENT or not arguments.quiet:
            print(result)
    counts = Counter(result.verdict for result in results)
    print(", ".join(f"{counts[verdict]:,} {verdict.value}" for verdict in Verdict if counts[verdict]))
    return 1 if counts[Verdict.DIFFERENT] else 0
