"""C that gcc accepts and clang does not, and functions that SV-COMP's tasks define: explored, and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from partita import explore
from partita.frontends.musl import stdio_names
from partita.ktest import read_folder
from partita.replay import Verdict, compile_native, replay
from support import PROGRAM_FOLDER
from support.certificates import certified, checked

CASES: list[tuple[str, Any]] = [("older_c_false_64", "LP64"), ("own_builtin_false_64", "LP64")]
CASES.append(("error_defined_false_32", "ILP32"))


@pytest.mark.parametrize(("name", "model"), CASES, ids=[name for name, _ in CASES])
def test_error_is_found_and_confirmed_natively(name: str, model: Any, tmp_path: Path) -> None:
    path = PROGRAM_FOLDER / "tasks" / f"{name}.c"
    run = explore(path, data_model=model, out=tmp_path / "out").finish()
    assert [bug.class_ for bug in run.bugs] == ["assert"]
    assert run.complete
    tests = list(read_folder(tmp_path / "out"))
    with compile_native([str(path)], cflags=["-m32"] if model == "ILP32" else []) as binary:
        assert {result.verdict for result in replay(binary, tests)} == {Verdict.AS_PREDICTED}


CLASSIFIES = """extern int __isnan(double x), __isinff(float x), __finite(double x);
extern double __VERIFIER_nondet_double(void);
extern void reach_error(void);
int main(void) {
  double x = __VERIFIER_nondet_double();
  if (__isnan(x) && x == x) reach_error();
  if (!__isnan(x) && !__finite(x) && __isinff((float)x) == -1) reach_error();
  return 0;
}
"""


def test_names_of_glibc_for_classification(tmp_path: Path) -> None:
    path = tmp_path / "floats.i"
    path.write_text(CLASSIFIES)
    run = explore(path, out=tmp_path / "out").finish()
    assert [bug.line for bug in run.bugs] == [7]
    assert run.complete
    with compile_native([str(path)]) as binary:
        assert {result.verdict for result in replay(binary, list(read_folder(tmp_path / "out")))} == {
            Verdict.AS_PREDICTED
        }


def test_undeclared_nondet_has_the_values_of_its_type(tmp_path: Path) -> None:
    run = explore(PROGRAM_FOLDER / "tasks" / "older_c_true_32.c", data_model="ILP32", out=tmp_path / "out").finish()
    assert run.bugs == []
    assert run.complete
    sizes = {name: len(data) for test in read_folder(tmp_path / "out") for name, data in test.objects}
    assert sizes == {"bool": 1, "char": 1, "ushort": 2}


WITHOUT_RESULT = """int count;
void step(void) { count++; }
int main(void) {
  int x = __VERIFIER_nondet_int(), flag = __VERIFIER_nondet_bool();
  int (*call)(int) = (int (*)(int))step;
  int result = call(x);
  if (flag > 1 || (x > 5 && count != 1)) reach_error();
  return DECIDES;
}
"""


def test_function_without_a_result_returns_an_unknown_one(tmp_path: Path) -> None:
    path = tmp_path / "prog.c"
    path.write_text(WITHOUT_RESULT.replace("DECIDES", "0"))
    found = certified(path, tmp_path)
    assert found is not None
    assert checked(found).leaves == 2
    path.write_text(WITHOUT_RESULT.replace("DECIDES", "result == 3 ? 1 : 0"))
    run = explore(path, out=tmp_path / "out").finish()
    assert {bug.class_ for bug in run.bugs} == {"uninitialized-read"}
    assert not run.complete


def test_streams_have_all_their_names() -> None:
    assert stdio_names() >= {"fscanf", "__isoc99_fscanf", "getc_unlocked", "_IO_getc", "fseeko", "stdin", "stdout"}
