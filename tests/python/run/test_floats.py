"""Symbolic floating point in programs: nothing is concretised."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Literal

import pytest

from partita import Run, explore, ktest
from partita.replay import Verdict
from partita.replay.native import replay_natively
from support import PATIENCE_S, REPOSITORY

HEAD = '#include "klee/klee.h"\n#include <fenv.h>\n#include <math.h>\n#include <stdint.h>\n'


def explored(tmp_path: Path, body: str, *, head: str = HEAD, **options: object) -> Run:
    path = tmp_path / "p.c"
    path.write_text(head + body)
    return explore(path, **options).finish()  # type: ignore[arg-type]


def statuses(tmp_path: Path, body: str, **options: object) -> dict[str, dict[str, bytes]]:
    """Inputs of one path for each ending. The run must be complete."""
    path = tmp_path / "p.c"
    path.write_text(HEAD + body)
    run = explore(path, **options)  # type: ignore[arg-type]
    found = {each.ending: dict(each.inputs) for each in run}
    assert run.complete, run.summary()["incomplete"]
    return found


def double(data: bytes) -> float:
    return float(struct.unpack("<d", data)[0])


def single(data: bytes) -> float:
    return float(struct.unpack("<f", data)[0])


def test_comparisons_and_arithmetic(tmp_path: Path) -> None:
    found = statuses(
        tmp_path,
        """int main(void) {
          double x;
          klee_make_symbolic(&x, sizeof x, "x");
          if (x * 2 + 1 == 7.25) return 1;
          if (x != x) return 2;
          if (x - 1 == x && x < 0 && x > -INFINITY) return 3;
          return 0;
        }""",
    )
    assert set(found) == {"exit 0", "exit 1", "exit 2", "exit 3"}
    assert double(found["exit 1"]["x"]) == 3.125
    assert math.isnan(double(found["exit 2"]["x"]))
    huge = double(found["exit 3"]["x"])
    assert huge - 1 == huge < 0


def test_conversions_that_do_not_fit_are_bugs(tmp_path: Path) -> None:
    body = """int main(void) {
      float x;
      klee_make_symbolic(&x, sizeof x, "x");
      return (signed char)x == 5;
    }"""
    run = explored(tmp_path, body)
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("float-cast", 8)]
    assert run.complete
    assert not explored(tmp_path, body, float_cast=False).bugs


def test_results_of_libm_that_are_operators_do_not_fork(tmp_path: Path) -> None:
    body = """int main(void) {
      float x, y;
      klee_make_symbolic(&x, sizeof x, "x");
      klee_make_symbolic(&y, sizeof y, "y");
      klee_assume(x == 4.0f & y == 2.5f);
      float all = floorf(y) + ceilf(y) + truncf(y) + roundf(y) + rintf(y) + sqrtf(x) + fminf(x, y) + fmaxf(x, y)
        + fmaf(x, y, 1) + fmodf(x, y) + remainderf(x, y) + fabsf(-y) + copysignf(x, -1) + lrintf(y) + lroundf(y);
      return all == 2 + 3 + 2 + 3 + 2 + 2 + 2.5f + 4 + 11 + 1.5f + -1 + 2.5f + -4 + 2 + 3 ? 7 : 8;
    }"""
    assert set(statuses(tmp_path, body)) == {"exit 7"}


def test_rounding_modes(tmp_path: Path) -> None:
    found = statuses(
        tmp_path,
        """int main(void) {
          float x;
          klee_make_symbolic(&x, sizeof x, "x");
          klee_assume(x == 1.0f);
          float nearest = x / 3;
          if (fegetround() != FE_TONEAREST || fesetround(FE_UPWARD) != 0) return 1;
          float up = x / 3;
          if (fesetround(0x123) == 0 || fegetround() != FE_UPWARD) return 2;
          fesetround(FE_DOWNWARD);
          float down = x / 3;
          fenv_t saved;
          fegetenv(&saved);
          fesetround(FE_TOWARDZERO);
          float zero = -x / 3;
          fesetenv(&saved);
          if (fegetround() != FE_DOWNWARD) return 3;
          return down < up && nearest == up && zero == -down ? 9 : 4;
        }""",
    )
    assert set(found) == {"exit 9"}


def test_exception_flags_of_symbolic_operands(tmp_path: Path) -> None:
    found = statuses(
        tmp_path,
        """int main(void) {
          double x;
          klee_make_symbolic(&x, sizeof x, "x");
          klee_assume(x >= 1);
          feclearexcept(FE_ALL_EXCEPT);
          volatile double y = x * 0x1p1000;
          if (fetestexcept(FE_OVERFLOW)) return 1;
          if (fetestexcept(FE_INEXACT)) return 2;
          y = x - 2;
          y = 1 / y;
          if (fetestexcept(FE_DIVBYZERO)) return 3;
          return 0;
        }""",
    )
    assert set(found) == {"exit 0", "exit 1", "exit 3"}, "a product with a power of two is exact"
    assert double(found["exit 1"]["x"]) >= 2.0**24
    assert double(found["exit 3"]["x"]) == 2


def test_exception_flags_that_are_not_tracked_are_counted(tmp_path: Path) -> None:
    body = "int main(void) { volatile double x = 1.5; x = floor(x); return fetestexcept(FE_INEXACT) != 0; }"
    run = explored(tmp_path, body)
    assert [row["why"] for row in run.summary()["incomplete"]] == ["exception flags of `floor` are not tracked"]


def test_check_float(tmp_path: Path) -> None:
    body = """int main(void) {
      float x;
      klee_make_symbolic(&x, sizeof x, "x");
      klee_assume(!isnan(x) & !isinf(x));
      float y = x * x;
      return y > 1;
    }"""
    assert not explored(tmp_path, body).bugs
    run = explored(tmp_path, body, check=["float"])
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("float", 9)]


FAST = """int main(void) {
  %s
  double z = sqrt(x * 2) - 1;
  if (z > 3) return 1;
  return 0;
}"""


def test_fast_math_makes_numbers_poison_that_it_excludes(tmp_path: Path) -> None:
    anything = 'double x; klee_make_symbolic(&x, sizeof x, "x");'
    assert set(statuses(tmp_path, FAST % anything)) == {"exit 0", "exit 1"}
    # NaN or an infinity decides a branch.
    run = explored(tmp_path, FAST % anything, cflags=["-ffast-math"])
    why = [row["why"] for row in run.summary()["incomplete"]]
    assert why == ["the result of an operation that is poison decides a branch"]
    finite = 'double x = klee_range(0, 100, "n");'
    assert set(statuses(tmp_path, FAST % finite, cflags=["-ffast-math"])) == {"exit 0", "exit 1"}


@pytest.mark.parametrize(("type_", "size"), [("_Float16", 2), ("__float128", 16), ("long double", 16)])
def test_other_formats(tmp_path: Path, type_: str, size: int) -> None:
    found = statuses(
        tmp_path,
        f"""int main(void) {{
          {type_} x;
          klee_make_symbolic(&x, sizeof x, "x");
          if (x + ({type_})1 == ({type_})3.5) return 1;
          if (x > ({type_})100) return 2;
          return 0;
        }}""",
    )
    assert set(found) == {"exit 0", "exit 1", "exit 2"}
    assert len(found["exit 1"]["x"]) == size


@pytest.mark.parametrize(
    ("name", "libc", "class_", "line"),
    [("quadratic", "auto", "assert", 20), ("pid", "auto", "float-cast", 17), ("number", "musl", "float-cast", 10)],
)
def test_examples_have_their_bugs(
    name: str, libc: Literal["auto", "musl"], class_: str, line: int, tmp_path: Path
) -> None:
    source = REPOSITORY / "examples" / f"{name}.c"
    run = explore(source, libc=libc, max_time=PATIENCE_S, out=tmp_path / "out")
    assert any(path.ending == class_ for path in run)  # leaving the loop ends the run
    run.stop()
    assert [(bug.class_, bug.line) for bug in run.bugs] == [(class_, line)]
    tests = [test for test in ktest.read_folder(tmp_path / "out") if test.ending == class_]
    replayed = replay_natively([str(source)], tests)
    assert [result.verdict for result in replayed] == [Verdict.AS_PREDICTED]
    assert not [row for row in run.summary()["incomplete"] if "concretised" in row["why"]]
