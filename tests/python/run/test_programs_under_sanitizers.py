"""Every input of random programs, under sanitizers and in the reported paths. `make random-programs` has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import exhaustive, sanitizers
from support.programgen import Program

WHY = sanitizers.missing()
pytestmark = pytest.mark.skipif(WHY is not None, reason=str(WHY))


@pytest.mark.parametrize("seed", range(1, 6))
def test_every_input_is_on_one_path_and_ends_as_sanitizers_say(seed: int, tmp_path: Path) -> None:
    program = tmp_path / "random.c"
    program.write_text(Program(seed).text())
    assert exhaustive.problems(program, tmp_path, sanitized=True) == []


HIDDEN = """#include "exhaustive.h"
static long test(const unsigned char *in) {
  int x = in[0];
  return (signed char)(x * -2147483647);
}
"""


def test_an_overflow_that_gcc_folds_is_reported_by_clang(tmp_path: Path) -> None:
    program = tmp_path / "hidden.c"
    program.write_text(HIDDEN)
    endings = exhaustive.sanitized_endings(program, tmp_path, 256)
    assert endings == [0, 1, *[exhaustive.REPORTED] * 254]
    assert exhaustive.problems(program, tmp_path, sanitized=True) == []


def test_a_report_that_is_not_predicted_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "hidden.c"
    program.write_text(HIDDEN)
    endings = exhaustive.sanitized_endings(program, tmp_path, 256)
    endings[0], endings[7] = exhaustive.REPORTED, 0
    monkeypatch.setattr(exhaustive, "sanitized_endings", lambda *_: endings)
    problems = exhaustive.problems(program, tmp_path, sanitized=True)
    assert sorted(problem.split()[1] for problem in problems) == ["0x0", "0x7"]
