"""`path_model=False`: the same paths from an executor that asks about both sides of every branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import explore
from support import Run

PROGRAM = """#include "klee/klee.h"
int table[4] = {3, 1, 4, 1};
int main(void) {
  unsigned char x, y;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&y, sizeof y, "y");
  klee_assume(x < 200);
  klee_assume(y != x);
  if (x > 100 && x > 99)
    return y == 7;
  if (x + y == 300)
    return 5;
  if (table[y & 7] > 2)
    return 6;
  if (x % 3 == 1)
    return 7;
  return 8;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "sides.c"
    path.write_text(PROGRAM)
    return path


def found(program: Path, **options: object) -> tuple[list[str], dict[str, object], int]:
    run = explore(program, search="dfs", **options)  # type: ignore[arg-type]
    endings = [path.ending for path in run]
    data = run.summary()
    assert data["complete"]
    kept = {key: data[key] for key in ("paths", "instructions", "forks")}
    return endings, kept | {"bugs": [(bug["class"], bug["line"]) for bug in data["bugs"]]}, data["solver"]["queries"]


def test_the_same_paths_and_more_queries(program: Path) -> None:
    with_model, without = found(program), found(program, path_model=False)
    assert with_model[1] == without[1]
    assert sorted(with_model[0]) == sorted(without[0])
    assert without[1]["bugs"] == [("out-of-bounds-read", 13)]
    assert without[2] > with_model[2]


def test_queries_of_each_kind(tmp_path: Path) -> None:
    """An assumption is one query, an always true condition one, any other two."""
    path = tmp_path / "count.c"
    path.write_text("""#include "klee/klee.h"
int main(void) {
  unsigned char x;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_assume(x < 200);
  if (x < 201) x = x;
  if (x > 220) return 1;
  return x > 50 ? 2 : 3;
}
""")
    counts = {}
    for path_model in (True, False):
        run = explore(path, layers="sat", search="dfs", path_model=path_model, cflags=["-Xclang", "-O0"]).finish()
        counts[path_model] = run.summary()["solver"]["queries"]
    assert counts == {True: 2, False: 4}


def test_the_order_of_paths_does_not_depend_on_the_layers(program: Path) -> None:
    orders = {tuple(found(program, path_model=False, layers=layers)[0]) for layers in ("sat", "z3", None)}
    assert len(orders) == 1


def test_from_the_command_line(program: Path, tmp_path: Path, partita: Run) -> None:
    done = partita("run", str(program), "--no-path-model", "--out", str(tmp_path / "out"))
    assert done.returncode == 1
