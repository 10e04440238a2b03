"""The limit of one query: queries without an answer are counted, and the run continues."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from partita import explore
from support import Run

# Factoring a product of two primes of 40 bits: no solver decides the query within a second.
HARD = """#include "klee/klee.h"
int main(void) {
  unsigned long a, b;
  unsigned char c;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  klee_make_symbolic(&c, sizeof c, "c");
  a &= (1UL << 40) - 1, b &= (1UL << 40) - 1;
  if (a > 1 && a <= b)
    if ((unsigned __int128)a * b == ((unsigned __int128)20396UL << 64 | 11116558053779039525UL))
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


@pytest.mark.parametrize(("layers", "limit_s"), [(None, 0.3), ("z3", 2.0), ("bitwuzla", 2.0)])
def test_unanswered_queries_do_not_end_the_run(hard: str, layers: str | None, limit_s: float) -> None:
    """The other solvers have a clock, in which a busy machine must answer the queries that are easy."""
    run = explore(hard, layers=layers, max_solver_time=limit_s)
    started = time.process_time()
    data = run.finish().summary()
    assert (data["stopped"], data["complete"]) == (None, False)
    assert time.process_time() - started < 5
    # The side that the path model takes continues: both sides of the last branch, from each of three places.
    assert (data["paths"]["completed"], data["paths"]["limits"]) == (6, 1)
    assert data["incomplete"] == [{"why": WHY, "where": f"{hard}:10", "count": 1}]


def test_default_limit_depends_on_max_time(hard: str) -> None:
    assert explore(hard, max_time=80).limits["max_solver_time"] == 2
    assert explore(hard, max_time=3).limits["max_solver_time"] == 1
    assert explore(hard).limits["max_solver_time"] is None


def test_summary_names_the_option(partita: Run, hard: str, tmp_path: Path) -> None:
    done = partita("run", hard, "--max-solver-time", "200ms", "--out", str(tmp_path / "out"))
    assert done.returncode == 3
    assert f"hard.c:10: incomplete: {WHY}\n" in done.stdout
    assert "next          raise --max-solver-time to explore more\n" in done.stdout


def test_no_unanswered_queries_after_max_time(tmp_path: Path) -> None:
    """At the limit the current state stops; it does not continue with unanswered queries."""
    path = tmp_path / "loop.c"
    path.write_text(
        '#include "klee/klee.h"\nint main(void) {\n  unsigned n = 0;\n  for (;;)\n'
        '    if (klee_int("x") > 5)\n      n++;\n}\n'
    )
    data = explore(path, search="dfs", max_time=0.5, tests="bugs").finish().summary()
    assert data["stopped"] == "max-time"
    assert sum(row["count"] for row in data["incomplete"] if row["why"].startswith("solver")) <= 1
    assert data["explore_s"] < 15


def test_the_limit_of_a_query_is_no_clock(hard: str) -> None:
    """Only the run's own end is a clock: what a query may spend is counted, and the same each time."""

    def spent() -> list[dict[str, float]]:
        data = explore(hard, max_solver_time=0.3, store=None).finish().summary()
        assert data["incomplete"][0]["why"] == WHY
        names = ("asked", "effort_s", "conflicts", "gates")
        return [{name: layer[name] for name in names if name in layer} for layer in data["solver"]["layers"]]

    first = spent()
    # Far less than what a core may take for the same count, and far more.
    assert 0.2 < sum(layer["effort_s"] for layer in first) < 1.5
    assert spent() == first
