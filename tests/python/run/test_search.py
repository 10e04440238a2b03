"""Search strategies: same results, reproducible random choices, coverage, tests by coverage."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from partita import _core, explore, ktest
from partita.errors import UsageError
from support import BENCHMARKS, PATIENCE_S, PROGRAM_FOLDER, Run

SEARCHES = [name for name, _ in _core.SEARCHES]
PROGRAMS = ["computed_goto", "function_pointers", "recursion", "string_tables", "switch_cases", "unsupported_asm"]

# A loop with 2^16 similar paths beside a chain of nested conditions: depth-first search stays in the loop.
NESTED_CONDITIONS = """#include "klee/klee.h"
#include <stdlib.h>
static int door(const unsigned char *key, int n) { return n == 0 ? 1 : key[0] == 'k' + n && door(key + 1, n - 1); }
int main(void) {
  unsigned char in[16], key[5];
  klee_make_symbolic(in, sizeof in, "in");
  klee_make_symbolic(key, sizeof key, "key");
  if (key[4] == 7) {
    volatile int n = 0;
    for (int i = 0; i < 16; i++)
      if (in[i] > 100)
        n++;
    return 1;
  }
  if (door(key, 4))
    abort();
  return 0;
}
"""

BITS = """#include "klee/klee.h"
int main(void) {
  unsigned char x;
  klee_make_symbolic(&x, sizeof x, "x");
  int n = 0;
  if (x & 1)
    n += 1;
  if (x & 2)
    n += 2;
  if (x & 4)
    n += 4;
  if (x & 8)
    n += 8;
  return n;
}
"""

LINES = """#include "klee/klee.h"
static int unused(int x) {
  return x + 1;
}
static int twice(int x) {
  return 2 * x;
}
int main(void) {
  int x = 0;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_assume(x < 5);
  if (x == 2)
    x = twice(x);
  if (x > 10)
    x = unused(x);
  return 0;
}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program.c"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_strategy_has_the_same_results(name: str) -> None:
    found = {}
    for search in SEARCHES:
        run = explore(PROGRAM_FOLDER / f"{name}.c", search=search, seed=5).finish()
        data = run.summary()
        bugs = sorted((bug.class_, bug.line, bug.paths) for bug in run.bugs)
        found[search] = (data["paths"], data["forks"], data["coverage"], data["tests"], bugs, data["incomplete"])
    assert all(result == found["dfs"] for result in found.values()), found


@pytest.mark.parametrize("search", ["mix", "random-path", "coverage"])
def test_a_seed_determines_the_order(search: str, tmp_path: Path) -> None:
    path = written(tmp_path, NESTED_CONDITIONS)

    def order(seed: int) -> list[object]:
        run = explore(path, search=search, seed=seed, max_instructions=20_000)
        return [path.inputs for path in run]

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_seeds_are_numbers_of_64_bits(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected seed to be a whole number from 0 to 2\^64 - 1, found -1"):
        explore(written(tmp_path, BITS), seed=-1)


@pytest.mark.parametrize("search", ["mix", "coverage"])
def test_new_code_is_found_beside_a_loop_with_many_paths(search: str, tmp_path: Path) -> None:
    run = explore(written(tmp_path, NESTED_CONDITIONS), search=search, max_instructions=60_000).finish()
    assert [bug.class_ for bug in run.bugs] == ["abort"]
    data = run.summary()
    assert data["stopped"] == "max-instructions"
    assert data["coverage"]["covered"] == data["coverage"]["instructions"]


def test_an_endless_loop_does_not_block_other_paths() -> None:
    """States that use up their turns without new coverage make way: batches that counted turns completed no path."""
    program = BENCHMARKS / "families" / "search" / "endless.c"
    run = explore(program, max_instructions=200_000).finish()
    data = run.summary()
    assert data["stopped"] == "max-instructions"
    assert data["paths"]["completed"] >= 5
    assert data["coverage"]["covered"] >= 0.85 * data["coverage"]["instructions"]
    points, cost = run.progress()
    assert points == sorted(points)
    assert points[-1][0] <= cost
    assert points == explore(program, max_instructions=200_000).finish().progress()[0]


def test_tests_by_coverage_are_few_and_cover_everything(tmp_path: Path) -> None:
    path = written(tmp_path, BITS)
    run = explore(path, tests="coverage", out=tmp_path / "out").finish()
    data = run.summary()
    assert data["paths"]["completed"] == 16
    inputs = [test.objects[0][1][0] for test in ktest.read_folder(tmp_path / "out")]
    assert len(inputs) == data["tests"] <= 5
    for bit in (1, 2, 4, 8):
        assert {x & bit for x in inputs} == {0, bit}


def records(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        found.setdefault(key, []).append(value)
    return found


def test_coverage_is_written_for_lcov(tmp_path: Path, partita: Run) -> None:
    path = written(tmp_path, LINES)
    out = tmp_path / "out"
    assert partita("run", str(path), "--out", str(out)).returncode == 0
    rows = records((out / "coverage.lcov").read_text())
    assert rows["SF"] == [str(path)]
    assert dict(row.split(",")[::-1] for row in rows["FN"]) == {"unused": "2", "twice": "5", "main": "8"}
    assert dict(row.split(",")[::-1] for row in rows["FNDA"]) == {"unused": "0", "twice": "1", "main": "1"}
    lines = dict(row.split(",") for row in rows["DA"])
    assert {line for line, count in lines.items() if count == "0"} == {"3", "15"}
    assert {"6", "12", "13", "14", "16"} <= {line for line, count in lines.items() if count == "1"}
    branches = [row.split(",") for row in rows["BRDA"]]
    assert sorted((line, taken) for line, _, _, taken in branches) == [
        ("12", "1"),
        ("12", "1"),
        ("14", "0"),
        ("14", "1"),
    ]
    assert (rows["FNF"], rows["FNH"], rows["BRF"], rows["BRH"]) == (["3"], ["2"], ["4"], ["3"])
    assert (rows["LF"], rows["LH"]) == ([str(len(lines))], [str(len(lines) - 2)])
    genhtml = shutil.which("genhtml")
    if genhtml is None:
        pytest.skip("genhtml (of lcov) is not installed: the file was checked by its rules only")
    command = [genhtml, "--branch-coverage", str(out / "coverage.lcov"), "-o", str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
