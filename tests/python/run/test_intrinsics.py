"""Intrinsics of `klee/klee.h` beyond making inputs and assumptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import explore, ktest
from partita.replay import Verdict, compile_native, replay

HEAD = '#include "klee/klee.h"\n#include <stdlib.h>\n'


def write(tmp_path: Path, body: str) -> Path:
    source = tmp_path / "program.c"
    source.write_text(
        HEAD + "int main(void) {\n  unsigned char x, y;\n"
        '  klee_make_symbolic(&x, sizeof x, "x");\n  klee_make_symbolic(&y, sizeof y, "y");\n' + body + "\n}\n"
    )
    return source


def inputs(folder: Path) -> dict[str, dict[str, int]]:
    """The inputs of each test, by its ending."""
    found = {}
    for test in ktest.read_folder(folder):
        found[test.ending or ""] = {name: int.from_bytes(data, "little") for name, data in test.objects}
    return found


def test_preferences_choose_among_the_inputs_of_a_path(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """  klee_prefer_cex(&x, x == 200);
  klee_prefer_cex(&x, x == 201);  // never after the first
  klee_prefer_cex(&y, y > 230);
  if (x < 100) return 1;
  if (y < 50) abort();
  if (x != 200) return 3;
  return 2;""",
    )
    run = explore(source, out=tmp_path / "out").finish()
    assert run.complete
    found = inputs(tmp_path / "out")
    assert found["exit 1"]["x"] < 100
    assert found["exit 1"]["y"] > 230
    assert found["exit 2"]["x"] == 200
    assert found["exit 2"]["y"] > 230
    assert found["exit 3"]["y"] > 230
    assert found["abort"]["x"] == 200
    assert found["abort"]["y"] < 50
    with compile_native([str(source)]) as binary:
        results = replay(binary, list(ktest.read_folder(tmp_path / "out")))
        assert {result.verdict for result in results} == {Verdict.AS_PREDICTED}


def test_a_preference_does_not_change_the_reported_address(tmp_path: Path) -> None:
    source = write(tmp_path, "  klee_prefer_cex(&x, x == 9);\n  return *(char *)(unsigned long)(x + 1);")
    run = explore(source, out=tmp_path / "out").finish()
    (bug,) = run.bugs
    assert f"{inputs(tmp_path / 'out')[bug.class_]['x'] + 1:#x}" in bug.message


def test_messages_are_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = write(
        tmp_path,
        """  for (int i = 0; i < 2; i++) {
    klee_warning("twice");
    klee_warning_once("once");
  }
  klee_print_expr("sum", x + 1);
  klee_print_expr("number", 7);
  klee_assume(x > 5 & x < 77);
  klee_print_range("x", x);
  klee_print_range("seven", 7);
  klee_stack_trace();
  return 0;""",
    )
    explore(source).finish()
    sent = capfd.readouterr().err.splitlines()
    assert sent[:3] == [
        "partita: warning: main: twice",
        "partita: warning: main: once",
        "partita: warning: main: twice",
    ]
    assert sent[3:5] == ["sum:(Add w32 (ZExt w32 (Read w8 0 x)) 1)", "number:7"]
    assert sent[5].startswith("x:(ZExt w32 (Read w8 0 x)) ~= ")
    assert sent[5].endswith(" (in [6, 76])")
    assert sent[6:] == ["seven:7", f"  #0 main at {source}:16"]


def test_a_silent_exit_writes_no_test(tmp_path: Path) -> None:
    source = write(tmp_path, "  if (x) klee_silent_exit(3);\n  return 0;")
    run = explore(source, out=tmp_path / "out").finish()
    assert run.summary()["paths"]["completed"] == 2
    assert inputs(tmp_path / "out").keys() == {"exit 0"}


def test_an_input_without_a_name(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """  char z;
  klee_make_symbolic(&z, sizeof z, NULL);
  return klee_int("") == z;""",
    )
    explore(source, out=tmp_path / "out").finish()
    tests = list(ktest.read_folder(tmp_path / "out"))
    assert {tuple(name for name, _ in test.objects) for test in tests} == {("x", "y", "unnamed", "unnamed")}
    with compile_native([str(source)]) as binary:
        assert {result.verdict for result in replay(binary, tests)} == {Verdict.AS_PREDICTED}


def test_merging_is_noted(tmp_path: Path) -> None:
    source = write(tmp_path, "  klee_open_merge();\n  if (x) y = 1;\n  klee_close_merge();\n  return 0;")
    run = explore(source).finish()
    assert run.complete
    assert [(row["why"], row["count"]) for row in run.summary()["notes"]] == [
        ("klee_close_merge: paths are not merged", 2),
        ("klee_open_merge: paths are not merged", 1),
    ]


@pytest.mark.parametrize(("condition", "is_counted"), [("x > 5", True), ("x == 5", False)])
def test_one_of_several_values_is_counted(tmp_path: Path, condition: str, is_counted: bool) -> None:
    run = explore(write(tmp_path, f"  klee_assume({condition});\n  return klee_get_value_i32(x);")).finish()
    expected = ["one of several values: klee_get_value_i32"] if is_counted else []
    assert [row["why"] for row in run.summary()["incomplete"]] == expected
