"""`-fsanitize=undefined` and `-fsanitize=integer`: what their handlers get is a bug with class, place and types."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from partita import Run, explore
from support import PROGRAM_FOLDER

PROGRAM = PROGRAM_FOLDER / "sanitizers" / "checks.c"
FLAGS = "-fsanitize=undefined,integer,local-bounds,nullability"
# The variants of the handlers: that return, that do not, without data, and instructions that trap.
VARIANTS = {
    "recover": [],
    "abort": ["-fno-sanitize-recover=all"],
    "minimal": ["-fsanitize-minimal-runtime"],
    "minimal abort": ["-fsanitize-minimal-runtime", "-fno-sanitize-recover=all"],
    "trap": ["-fsanitize-trap=all"],
}


def marked() -> dict[int, tuple[str, str]]:
    """The class of the bug in each marked line, and its message."""
    found = {}
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1):
        if mark := re.search(r"// BUG ([-a-z]+): (.*)$", line):
            found[number] = mark[1], mark[2]
    return found


def run(*flags: str) -> Run:
    return explore(PROGRAM, cflags=[FLAGS, *flags], max_time=60).finish()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_failed_check_is_a_bug_of_its_class(variant: str) -> None:
    found = run(*VARIANTS[variant])
    expected = {line: class_ for line, (class_, _) in marked().items()}
    if variant != "recover":
        # Without data the reason is not known: a division or an access has the class of its check.
        classes = {bug.line: bug.class_ for bug in found.bugs}
        by_reason = {line for line, class_ in expected.items() if class_ in ("division-by-zero", "null")}
        assert {line: classes[line] for line in classes if line not in by_reason} == {
            line: class_ for line, class_ in expected.items() if line not in by_reason
        }
        assert by_reason <= classes.keys()
        return
    assert {bug.line: bug.class_ for bug in found.bugs} == expected


def test_messages_have_types_values_and_the_column() -> None:
    messages = {bug.line: bug.message for bug in run().bugs}
    for line, (_, message) in marked().items():
        assert re.fullmatch(f"{re.escape(message)}( \\(checked at checks\\.c:{line}:\\d+\\))?", messages[line])


def test_checks_and_sanitizers_agree() -> None:
    program = PROGRAM_FOLDER / "bugs" / "arithmetic.c"
    ours = explore(program, check=["overflow", "shift"], max_time=60).finish()
    theirs = explore(program, cflags=["-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero"], max_time=60)
    classes = [{(bug.line, bug.class_) for bug in found.bugs} for found in (ours, theirs.finish())]
    assert classes[0] == classes[1]
    assert len(classes[0]) > 10


def test_a_signed_shift_is_checked_in_sources_only_by_request(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(
        '#include "klee/klee.h"\nint main(void) {\n  int x = klee_range(0, 256, "x");\n  return (x << 24) == 3;\n}\n'
    )
    assert explore(path).finish().bugs == []
    (bug,) = explore(path, check=["shift"]).finish().bugs
    assert (bug.class_, bug.line) == ("shift", 4)
    assert re.fullmatch(r"shift of `int` by `int` is undefined: \d+ by 24 \(checked at program\.c:4:13\)", bug.message)
