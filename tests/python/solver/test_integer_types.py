"""`integers:paper` takes the type of an object from where it is allocated, as the paper does: a read of another width
is a type mismatch."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("z3", reason="the layer `integers:paper` needs Z3: pip install 'partita[z3]'")

from partita import explore

PROGRAM = """
#include <klee/klee.h>
#include <stdlib.h>
int words[4];
struct { int a, b; } uniform;
struct { int a; char b; } mixed;
int main(void) {
  int word; short shorts[4]; char bytes[4]; int *heap = malloc(8); unsigned index;
  klee_make_symbolic(OBJECT, SIZE, "object");
  if (CONDITION) return 1;
  return 0;
}
"""


@pytest.mark.parametrize(
    ("thing", "condition", "passed"),
    [
        ("&word", "word > 5", ""),
        ("&word", "((char *)&word)[1] > 5", "type-mismatch"),
        ("shorts", "shorts[1] > 5", ""),
        ("shorts", "*(int *)shorts > 70000", "type-mismatch"),
        ("bytes", "bytes[2] > 'a'", ""),
        ("bytes", "*(int *)bytes > 70000", "type-mismatch"),
        ("words", "words[2] > words[1]", ""),
        ("words", "*(short *)&words[1] > 5", "type-mismatch"),
        # At the width of the elements, but between two of them.
        ("words", "*(int *)((char *)words + 2) > 5", "type-mismatch"),
        ("&uniform", "uniform.b > 3", ""),
        ("&mixed", "mixed.a > 3", "type-mismatch"),
        # The allocation has no type: the width of the reads decides.
        ("heap", "heap[1] > 3", ""),
    ],
)
def test_the_type_is_that_of_the_allocation(tmp_path: Path, thing: str, condition: str, passed: str) -> None:
    size = "8" if thing == "heap" else f"sizeof {thing.removeprefix('&')}"
    program = tmp_path / "program.c"
    program.write_text(PROGRAM.replace("OBJECT", thing).replace("SIZE", size).replace("CONDITION", condition))
    run = explore(program, layers="split integers:paper z3", path_model=False).finish()
    (layer,) = [layer for layer in run.summary()["solver"]["layers"] if layer["name"] == "integers:paper"]
    reasons = [name.removeprefix("passed_") for name, n in layer.items() if name.startswith("passed_") and n]
    assert run.summary()["paths"]["completed"] == 2
    assert layer["asked"] > 0
    assert reasons == ([passed] if passed else [])
