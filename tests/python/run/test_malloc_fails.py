"""`--malloc-fails`: allocations that fail, and their replay."""

from __future__ import annotations

from pathlib import Path

from partita import explore
from partita.ktest import read_folder
from partita.replay import Verdict
from partita.replay.native import replay_natively

PROGRAM = """#include <stdlib.h>
#include <string.h>
#include <klee/klee.h>
int main(void) {
  char in;
  klee_make_symbolic(&in, 1, "in");
  int *first = malloc(4);
  if (!first) return 2;
  *first = in;
  int *second = calloc(2, 4);
  if (in == 'x') {
    second[1] = 1;
    free(second), free(first);
    return 3;
  }
  int *third = realloc(first, 8);
  if (!third) { free(first), free(second); return 4; }
  char *text = strdup("ab");
  int status = second ? text ? 0 : 6 : 5;
  free(third), free(second), free(text);
  return status;
}
"""


def test_every_allocation_may_fail_and_replays_so(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    run = explore(file, malloc_fails=True, check=["leak"], out=tmp_path / "out").finish()
    assert run.complete
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("null", 12)]
    tests = list(read_folder(tmp_path / "out"))
    assert {test.ending for test in tests} == {*(f"exit {n}" for n in (0, 2, 3, 4, 5, 6)), "null"}
    results = replay_natively([str(file)], tests)
    assert [str(result) for result in results if result.verdict is not Verdict.AS_PREDICTED] == []


def test_without_the_option_none_fails(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    assert {path.ending for path in explore(file)} == {"exit 0", "exit 3"}
