"""Compares all answers for every program with Z3, and replays its tests natively.

Usage: python tests/soak/predictions.py [SECONDS]: exploration stops after this time (default: 60). If a program has
more than 2,000 tests, a sample is replayed. The exit status is 1 if Z3 contradicts an answer or a test does not end as
predicted.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ablation import programs

from partita import explore, ktest
from partita.replay import Verdict, compile_native, replay

MAX_REPLAYED = 2000


def wrong_answers(program: Path, seconds: float) -> Iterator[str]:
    report = explore(program, verify="z3", tests="bugs", max_time=seconds).finish().summary()
    counted = report["solver"]["verify"]
    stopped = f", until {report['stopped']}" if report["stopped"] else ""
    print(f"{program.stem}: {counted['checked']:,} answers verified{stopped}", flush=True)
    if counted["mismatches"]:
        yield f"{program.stem}: z3 contradicts {counted['mismatches']} answers"


def wrong_tests(program: Path, seconds: float) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as scratch, compile_native([str(program)]) as binary:
        explore(program, all_bugs=True, max_time=seconds, out=Path(scratch) / "out").finish()
        # Paths cut by a limit have no predicted ending.
        tests = [test for test in ktest.read_folder(Path(scratch) / "out") if test.ending is not None]
        if len(tests) > MAX_REPLAYED:
            tests = random.Random(1).sample(tests, MAX_REPLAYED)
        results = replay(binary, tests)
    counts = {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}
    print(f"{program.stem}: " + ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items()), flush=True)
    for result in results:
        if result.verdict is Verdict.DIFFERENT:
            yield f"{program.stem}: {result}"


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    wrong: list[str] = []
    for program in programs():
        wrong += wrong_answers(program, seconds)
        wrong += wrong_tests(program, seconds)
    print("\n".join(wrong) or "every answer verified and every test as predicted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
