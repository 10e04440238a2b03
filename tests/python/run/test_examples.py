"""The examples with planted bugs, one for each language."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from partita import explore
from support import REPOSITORY
from support.java import needs_jdk

FOLDER = REPOSITORY / "examples"
needs_rust = pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc on the PATH")
# Classes of the bugs, and the ends of the lines that they are at.
PLANTED = {
    "rle.c": [("out-of-bounds-write", "")],
    "transfer.c": [("deadlock", "")],
    "inventory.cpp": [("exception", ""), ("use-after-free", "")],
    "ledger.rs": [
        ("panic", "// overflows"),
        ("panic", "// no such account"),
        ("panic", "// more than there are"),
    ],
    "Account.java": [("assert", "")],
}
MARKS = {"ledger.rs": [needs_rust], "Account.java": [needs_jdk]}


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, [])) for name in PLANTED])
def test_the_planted_bugs_are_found(name: str, tmp_path: Path) -> None:
    run = explore(FOLDER / name, max_time=120, out=tmp_path / "out").finish()
    lines = (FOLDER / name).read_text().splitlines()
    found = [(bug.class_, lines[bug.line - 1]) for bug in run.bugs]
    assert len(found) == len(PLANTED[name])
    for class_, end in PLANTED[name]:
        assert any(bug == class_ and line.endswith(end) for bug, line in found), found
