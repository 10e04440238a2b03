"""A limit for one question: what has no answer in time is counted, and the run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run

from partita import explore

# The product of two primes: nobody finds them in a second, and no solver shows that there are none.
HARD = """#include "klee/klee.h"
int main(void) {
  unsigned a, b;
  unsigned char c;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  klee_make_symbolic(&c, sizeof c, "c");
  if (a > 1 && a <= b)
    if (1UL * a * b == 4611685975477714963)
      return 1;
  if (c == 7)
    return 2;
  return 3;
}
"""
WHY = "solver: no answer within max-solver-time"


@pytest.fixture
def hard(tmp_path: Path) -> str:
    path = tmp_path / "hard.c"
    path.write_text(HARD)
    return str(path)


@pytest.mark.parametrize("layers", [None, "z3", "bitwuzla"])
def test_a_question_without_an_answer_ends_no_run(hard: str, layers: str | None) -> None:
    data = explore(hard, layers=layers, max_solver_time=0.3).finish().summary()
    assert (data["stopped"], data["complete"]) == (None, False)
    assert data["explore_s"] < 5
    # The side that the path's own values take goes on: both ways of the last branch, from each of three places.
    assert (data["paths"]["completed"], data["paths"]["limits"]) == (6, 1)
    assert data["incomplete"] == [{"why": WHY, "where": f"{hard}:9", "count": 1}]


def test_the_limit_follows_that_of_the_run(hard: str) -> None:
    assert explore(hard, max_time=80).limits["max_solver_time"] == 2
    assert explore(hard, max_time=3).limits["max_solver_time"] == 1
    assert explore(hard).limits["max_solver_time"] is None


def test_the_end_says_what_to_do(partita: Run, hard: str, tmp_path: Path) -> None:
    done = partita("run", hard, "--max-solver-time", "200ms", "--out", str(tmp_path / "out"))
    assert done.returncode == 3
    assert f"hard.c:9: incomplete: {WHY}\n" in done.stdout
    assert "next          raise --max-solver-time to explore more\n" in done.stdout


def test_nothing_is_undecided_once_the_time_is_up(tmp_path: Path) -> None:
    """The state under way then stops: it does not go on with all its questions unanswered."""
    path = tmp_path / "loop.c"
    path.write_text(
        '#include "klee/klee.h"\nint main(void) {\n  unsigned n = 0;\n  for (;;)\n'
        '    if (klee_int("x") > 5)\n      n++;\n}\n'
    )
    data = explore(path, search="dfs", max_time=0.5, tests="bugs").finish().summary()
    assert data["stopped"] == "max-time"
    assert sum(row["count"] for row in data["incomplete"] if row["why"].startswith("solver")) <= 1
    assert data["explore_s"] < 3
