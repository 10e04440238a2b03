"""Values in tests are readable where the path allows it; shared expressions are processed once."""

from __future__ import annotations

from pathlib import Path

from partita import explore, ktest
from support import PROGRAM_FOLDER

READABLE = """#include "klee/klee.h"
#include <stdlib.h>
int main(void) {
  unsigned char s[6];
  int number;
  klee_make_symbolic(s, sizeof s, "s");
  klee_make_symbolic(&number, sizeof number, "number");
  if (s[0] == 0 || s[1] < 128 || s[2] == 0 || s[2] >= ' ' || s[3] <= '5')
    return 0;
  if (number > -70000)
    return 1;
  if (s[4] + s[0] == 'b' + 'a')
    abort();
  return s[0];
}
"""


def printable(byte: int) -> bool:
    return 32 <= byte < 127


def test_values_are_readable_where_the_path_allows_it(tmp_path: Path) -> None:
    program, out = tmp_path / "readable.c", tmp_path / "out"
    program.write_text(READABLE)
    explore(program, out=out).finish()
    tests = list(ktest.read_folder(out))
    last = [test for test in tests if test.ending not in ("exit 0", "exit 1", "abort")]
    assert len(last) == 1
    s, number = (data for _, data in last[0].objects)
    assert printable(s[0])
    assert last[0].ending == f"exit {s[0]}", "the exit status belongs to the values of the test"
    assert s[1] >= 128
    assert 0 < s[2] < 32
    assert printable(s[3])
    assert s[5] == 0, "bytes that the path does not constrain are zero"
    assert int.from_bytes(number, "little", signed=True) <= -70000
    (bug,) = (test for test in tests if test.ending == "abort")
    s = bug.objects[0][1]
    assert s[4] + s[0] == ord("b") + ord("a")
    assert printable(s[3])


def test_cost_is_linear_in_distinct_expressions() -> None:
    run = explore(PROGRAM_FOLDER / "scale" / "rounds.c", max_time=120).finish()
    assert run.complete
    assert run.summary()["paths"]["completed"] == 1
