"""Parked states: a run that parks and takes up has the result of one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import _core
from partita.explore import explore

ROOT = Path(__file__).parents[3]
TREE = """#include "klee/klee.h"
#include <assert.h>
int main(void) {
  unsigned char in[N];
  klee_make_symbolic(in, sizeof in, "in");
  int n = 0;
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 8; k++) n += i * k;
    if (in[i] > 100) n++;
  }
  assert(n != 17);
  return n;
}
"""


def parking(program: Path, most: int, search: str) -> _core.Engine:
    """Explores in slices; where more states are live than `most`, half of them are parked."""
    engine = explore(program, search=search)._engine
    assert isinstance(engine, _core.Engine)
    paths = engine.hand_over()
    engine.become_worker()
    for part in paths:
        engine.add_open_paths(part)
    while engine.pulse()[0]:
        engine.allow(100, None)
        engine.advance(10.0)
        while engine.summary()["live"] > most:
            engine.park()
    return engine


def results(engine: _core.Engine) -> dict[str, object]:
    counts = engine.summary()
    names = ("digest", "paths", "forks", "instructions", "incomplete", "coverage")
    bugs = [(bug["class"], bug["line"], bug["paths"]) for bug in counts["bugs"]]
    return {"bugs": bugs, **{name: counts[name] for name in names}}


def whole(program: Path, search: str) -> dict[str, object]:
    engine = explore(program, search=search).finish()._engine
    assert isinstance(engine, _core.Engine)
    return results(engine)


@pytest.mark.parametrize("search", ["dfs", "bfs", "random-path", "coverage", "mix"])
def test_parking_changes_no_result_and_replays_little(search: str, tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(f"#define N 12\n{TREE}")
    engine = parking(source, 200, search)
    counts = engine.summary()
    assert results(engine) == whole(source, search)
    assert counts["replayed"] < 0.2 * counts["instructions"], (counts["replayed"], counts["instructions"])
    # Depth first has never that many states.
    assert (counts["parked"] > 0) == (search != "dfs")


@pytest.mark.parametrize(
    "name",
    [
        "benchmarks/programs/bst_5.c",
        "tests/programs/objects_by_pointer.c",
        "tests/programs/threads/mutex_counter.c",
        "tests/programs/exhaustive/function_pointer.c",
        "tests/programs/exhaustive/pointer_choice.c",
        "tests/programs/exhaustive/print_text.c",
    ],
)
def test_few_states_are_enough(name: str) -> None:
    engine = parking(ROOT / name, 2, "bfs")
    assert results(engine) == whole(ROOT / name, "bfs")
    assert engine.summary()["parked"] > 0
