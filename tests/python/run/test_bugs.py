"""Every class of bug, just reachable and just unreachable; the tests replayed under gcc's sanitizers."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.errors import UsageError
from partita.replay import Verdict, compile_native, replay
from support import PROGRAM_FOLDER, sanitizers

FOLDER = PROGRAM_FOLDER / "bugs"
PROGRAMS = sorted(FOLDER.glob("*.c"))
WITHOUT_SANITIZERS = sanitizers.missing()
# Number of bug-free paths that are replayed under the sanitizers; of each bug the first test is replayed.
SAMPLE = 10
# test_sanitizers.py has the classes of -fsanitize, test_floats.py those of floating point, test_java.py Java's,
# test_cpp.py those of C++, test_uninitialized.py and test_endless.py the last ones.
CLASSES_WITHOUT_PROGRAM = {"model-error", "bounds", "sanitizer", "float", "float-cast"}
CLASSES_WITHOUT_PROGRAM |= {"arithmetic", "class-cast", "negative-size", "number-format", "exception"}
CLASSES_WITHOUT_PROGRAM |= {"uninitialized-read", "non-termination", "panic", "mismatched-free"}
CLASSES_WITHOUT_PROGRAM |= {"data-race", "deadlock", "lost-wakeup"}


def marked(program: Path) -> set[tuple[str, int]]:
    lines = enumerate(program.read_text().splitlines(), 1)
    return {(found[1], n) for n, line in lines if (found := re.search(r"// BUG ([-a-z]+)$", line))}


def checks(program: Path) -> list[str]:
    found = re.search(r"^// CHECK: ([a-z,]+)$", program.read_text(), re.M)
    return found[1].split(",") if found else []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_exactly_the_marked_bugs_are_found(program: Path, tmp_path: Path) -> None:
    run = explore(program, check=checks(program), all_bugs=True, max_time=60, out=tmp_path / "out").finish()
    data = run.summary()
    assert {(bug.class_, bug.line) for bug in run.bugs} == marked(program)
    assert data["incomplete"] == []
    assert run.complete
    tests = list(ktest.read_folder(tmp_path / "out"))
    assert len(tests) == data["paths"]["completed"] + data["paths"]["bugs"]
    for test in tests:
        if not (test.ending or "").startswith("exit"):
            assert dict(test.objects)["edge"] != b"\0", f"{test.name}: {test.ending} where it should be unreachable"
    with compile_native([str(program)]) as binary:
        different = [str(r) for r in replay(binary, tests) if r.verdict is Verdict.DIFFERENT]
    assert different == []
    if WITHOUT_SANITIZERS:
        pytest.skip(f"not compared with sanitizers: {WITHOUT_SANITIZERS}")
    lines = {f"test{bug.test:06}.ktest": bug.line for bug in run.bugs}
    bugs = [test for test in tests if test.name in lines]
    clean = [test for test in tests if (test.ending or "").startswith("exit")]
    sample = bugs + random.Random(1).sample(clean, min(SAMPLE, len(clean)))
    binary = sanitizers.build(program, tmp_path)
    reports = sanitizers.run(binary, sample, tmp_path / "out", leaks="leak" in checks(program))
    wrong = [str(report) for report in reports if not report.matches_prediction(lines.get(report.test.name))]
    assert wrong == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_answers_agree_with_z3(program: Path) -> None:
    pytest.importorskip("z3")
    run = explore(program, check=checks(program), verify="z3", tests="bugs", max_time=60).finish()
    assert run.complete
    assert run.summary()["solver"]["verify"]["checked"] > 0
    assert run.mismatches == 0


def test_every_class_has_a_program() -> None:
    from partita._core import BUG_CLASSES

    shown = {class_ for program in PROGRAMS for class_, _ in marked(program)}
    assert shown | CLASSES_WITHOUT_PROGRAM == {name for name, _ in BUG_CLASSES}


def test_an_unknown_check_is_a_usage_error() -> None:
    names = "uninitialized, non-termination, race, overflow, shift, float, alignment, member, leak"
    names += ", all, no-uninitialized, no-non-termination, no-race"
    with pytest.raises(UsageError, match=rf"^expected check to be names from {names}, found \['shift', 'overflows'\]$"):
        explore(PROGRAMS[0], check=["shift", "overflows"])


def test_optional_checks_are_off_by_default() -> None:
    classes = {bug.class_ for name in ("arithmetic", "leaks") for bug in explore(FOLDER / f"{name}.c").finish().bugs}
    assert classes == {"division-by-zero", "overflow"}
    lines = {bug.line for bug in explore(FOLDER / "arithmetic.c").finish().bugs if bug.class_ == "overflow"}
    source = (FOLDER / "arithmetic.c").read_text().splitlines()
    assert [source[line - 1].split(";")[0].strip() for line in lines] == ["sink = x / -1"]
