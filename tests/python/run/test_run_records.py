"""Records of a run for reports: the tree of forks, the path to each bug, the slowest queries."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import partita
from partita import ktest
from support import Run

# Line 8 has three successors and two branches; line 12 forks in a library function.
PROGRAM = """#include "klee/klee.h"
#include <string.h>
int main(void) {
  unsigned char a, b, word[3];
  klee_make_symbolic(&a, 1, "a");
  klee_make_symbolic(&b, 1, "b");
  klee_make_symbolic(word, sizeof word, "word");
  switch (a) { case 1: case 2: break; case 9: return 9; default: if (b > 3 && b < 7) return 1; }
  if (a == 1)
    return b / (b - 5);
  word[2] = 0;
  return strchr((char *)word, 'x') != 0 ? 3 : 4;
}
"""


def recorded(tmp_path: Path, name: str = "tree.json", **options: Any) -> dict[str, Any]:
    program, out = tmp_path / "p.c", tmp_path / "out"
    program.write_text(PROGRAM)
    partita.explore(program, out=out, **options).finish()
    data: dict[str, Any] = json.loads((out / name).read_text())
    return data


@pytest.mark.parametrize(("search", "path_model"), [("dfs", True), ("bfs", True), ("mix", True), ("dfs", False)])
def test_tree_has_every_path(search: str, path_model: bool, tmp_path: Path) -> None:
    tree = recorded(tmp_path, search=search, path_model=path_model)
    nodes = tree["nodes"]
    count = len(nodes["parent"])
    assert all(len(column) == count for column in nodes.values())
    assert nodes["parent"][0] is None
    assert all(parent < node for node, parent in enumerate(nodes["parent"]) if node)
    inner = set(nodes["parent"][1:])
    leaves = [node for node in range(count) if node not in inner]
    # Each test's ending is that of one leaf; inner nodes have a place, two or more children, and no ending.
    endings = {int(Path(test.name).stem[4:]): test.ending for test in ktest.read_folder(tmp_path / "out")}
    tested = [node for node in leaves if nodes["test"][node] is not None]
    assert {nodes["test"][node]: tree["endings"][nodes["ending"][node]] for node in tested} == endings
    assert len(tested) == len(endings) == len(leaves)
    sides = Counter(nodes["parent"][1:])
    for node in inner:
        assert nodes["ending"][node] is None
        assert nodes["place"][node] is not None
        assert sides[node] >= 2
    assert sum(nodes["left_out"]) == 0
    # The switch is one fork with three children, which have their target lines.
    places = [(row["line"], row["inside"]) for row in tree["places"]]
    assert len(set(places)) == len(places)
    (switch,) = (node for node in inner if places[nodes["place"][node]][0] == 8 and sides[node] == 3)
    kids = [node for node in range(count) if nodes["parent"][node] == switch]
    assert sorted(tree["sides"][nodes["side"][node]] for node in kids) == [
        "case 1, 2, line 9",
        "case 9, line 13",
        "default, line 8",
    ]
    (nine,) = (node for node in leaves if tree["endings"][nodes["ending"][node]] == "exit 9")
    assert tree["sides"][nodes["side"][nine]] == "case 9, line 13"
    assert {row["line"]: row["inside"] for row in tree["places"]}[12] == "strchr"


def test_path_to_a_bug(tmp_path: Path) -> None:
    tree = recorded(tmp_path)
    (bug,) = tree["bugs"]
    assert (bug["class"], bug["line"], bug["left_out"]) == ("division-by-zero", 10, 0)
    steps = [(tree["places"][step["place"]]["line"], step["side"]) for step in bug["decisions"]]
    assert steps == [(8, "case 1, 2, line 9"), (9, "line 10"), (10, None)]


def test_path_to_a_bug_beyond_the_limits_of_the_tree(tmp_path: Path) -> None:
    """The bug is found after the last recorded node, on a path longer than the recorded part."""
    program, out = tmp_path / "long.c", tmp_path / "long"
    program.write_text("""#include "klee/klee.h"
#include <assert.h>
int main(void) {
  unsigned char b[1200], n = 0;
  klee_make_symbolic(b, sizeof b, "b");
  if (b[0] > 7) {
    for (int i = 1; i < 15; i++)
      if (b[i] > 7)
        n++;
    return n;
  }
  for (int i = 1; i < 1200; i++)
    if (b[i] != 'a')
      return 1;
  assert(0);
}
""")
    run = partita.explore(program, out=out, search="bfs", tests="bugs", max_time=60).finish()
    assert run.complete
    tree = json.loads((out / "tree.json").read_text())
    paths = sum(run.summary()["paths"].values())
    leaves = sum(ending is not None for ending in tree["nodes"]["ending"])
    assert len(tree["nodes"]["parent"]) == 30_001
    assert sum(tree["nodes"]["left_out"]) == paths - leaves > 1000
    (bug,) = tree["bugs"]
    assert (len(bug["decisions"]), bug["left_out"]) == (1000, 200)
    steps = [(tree["places"][step["place"]]["line"], step["side"]) for step in bug["decisions"]]
    assert steps == [(6, "line 12"), *[(13, "line 12")] * 999]


def test_slow_queries_can_be_rerun(tmp_path: Path, partita: Run) -> None:
    program, out = tmp_path / "p.c", tmp_path / "out"
    program.write_text("""#include "klee/klee.h"
int main(void) {
  unsigned a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  if (a > 1 && b > 1 && a < 32768 && b < 32768 && a * b == 32749 * 32719)
    return 1;
  return 0;
}
""")
    assert partita("run", str(program), "--out", str(out), "--store", "none").returncode == 0
    data = json.loads((out / "slowest.json").read_text())
    rows = data["queries"]
    assert data["schema"] == 1
    assert [row["time_s"] for row in rows] == sorted((row["time_s"] for row in rows), reverse=True)
    (slowest,) = (row for row in rows if row["text"] and "bvmul" in row["text"])
    assert slowest == rows[0]
    assert (slowest["answer"], slowest["layer"], slowest["place"]) == ("sat", "sat", f"{program}:6")
    assert 0 < slowest["layer_s"] <= slowest["time_s"]
    assert slowest["bytes"] == len(slowest["text"])
    assert partita("smt", "-", text=slowest["text"]).stdout == "sat\n"
