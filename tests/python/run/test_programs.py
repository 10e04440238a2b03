"""The programs of tests/programs and benchmarks/programs: paths, bugs, and all tests replayed natively."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from partita import _core, explore, ktest
from partita.replay import Verdict, compile_native, replay
from support import BENCHMARKS, PROGRAM_FOLDER

SAMPLE = 200
LIMIT_S = 60

# Counts that differ from KLEE's: KLEE runs LLVM's simplifycfg on every program, which folds `a || b` into one branch;
# here a path is one sequence of decisions of the unoptimised program. (After simplifycfg, triangle and json_6 have
# KLEE's 10 and 293 paths here too.) The objres programs depend on the other objects in memory.
OTHER_COUNTS = {"triangle": 15, "json_6": 453, "strtol_6": 214_275}
BY_MEMORY = {"objres_u8_64", "objres_u32_64", "objres_u64_512"}
VERIFIED = ["foo", "json_6", "objin_u8_512", "sortcheck_4", "goto_cleanup", "worst_8", "symstore_64"]
# These take ten seconds or more; `make bench` explores them.
SLOW = {"strtol_6", "triangle"}


@dataclass(frozen=True)
class Expectation:
    path: Path
    completed: int | None
    bugs: tuple[str, ...]
    unsupported: int = 0


def own() -> list[Expectation]:
    found = []
    for path in sorted(PROGRAM_FOLDER.glob("*.c")):
        text = path.read_text()
        head = re.search(r"// EXPECT: paths=(\d+) bug=(none|[-a-z]+:\d+)(?: unsupported=(\d+))?$", text, re.M)
        assert head is not None, f"{path}: expected a line `// EXPECT: paths=N bug=CLASS:LINE|none`"
        bugs = () if head[2] == "none" else (head[2],)
        # The head counts all paths, including those that end in the bug or as unsupported.
        found.append(Expectation(path, None, bugs, int(head[3] or 0)))
    return found


def benchmarks() -> list[Expectation]:
    found = []
    for name, row in json.loads((BENCHMARKS / "programs" / "expected.json").read_text()).items():
        if name not in SLOW:
            count = None if name in BY_MEMORY else OTHER_COUNTS.get(name, row["paths"])
            found.append(Expectation(BENCHMARKS / "programs" / f"{name}.c", count, tuple(row["bugs"])))
    return found


def check(expected: Expectation, out: Path) -> None:
    run = explore(expected.path, max_time=LIMIT_S, out=out).finish()
    data = run.summary()
    assert data["stopped"] is None
    assert tuple(f"{bug.class_}:{bug.line}" for bug in run.bugs) == expected.bugs
    assert data["paths"]["unsupported"] == expected.unsupported
    assert run.complete == (expected.unsupported == 0), data["incomplete"]
    if expected.completed is not None:
        assert data["paths"]["completed"] == expected.completed
    tests = list(ktest.read_folder(out))
    assert len(tests) == data["tests"] == data["paths"]["completed"] + len(run.bugs) + expected.unsupported
    assert len({test.objects for test in tests}) == len(tests), "two paths with the same inputs"
    if len(tests) > SAMPLE:
        tests = random.Random(1).sample(tests, SAMPLE)
    with compile_native([str(expected.path)]) as binary:
        results = replay(binary, tests)
    assert [str(result) for result in results if result.verdict is Verdict.DIFFERENT] == []


@pytest.mark.parametrize("expected", own(), ids=lambda e: e.path.stem)
def test_own_program(expected: Expectation, tmp_path: Path) -> None:
    check(expected, tmp_path / "out")


@pytest.mark.parametrize("expected", benchmarks(), ids=lambda e: e.path.stem)
def test_benchmark(expected: Expectation, tmp_path: Path) -> None:
    check(expected, tmp_path / "out")


@pytest.mark.parametrize("name", VERIFIED)
def test_answers_agree_with_z3(name: str) -> None:
    pytest.importorskip("z3")
    run = explore(BENCHMARKS / "programs" / f"{name}.c", verify="z3", max_time=LIMIT_S).finish()
    data = run.summary()
    assert run.complete
    assert data["solver"]["verify"]["checked"] > 0
    assert run.mismatches == 0


@pytest.mark.parametrize("name", ["json_6", "lz77", "goto_cleanup", "objres_u8_64"])
def test_search_order_does_not_change_the_results(name: str) -> None:
    found = []
    for search, _ in _core.SEARCHES:
        run = explore(BENCHMARKS / "programs" / f"{name}.c", search=search, max_time=LIMIT_S).finish()
        data = run.summary()
        found.append((data["paths"], {(bug.class_, bug.line) for bug in run.bugs}, data["coverage"]))
    assert all(result == found[0] for result in found)
