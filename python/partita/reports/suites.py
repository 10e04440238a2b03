"""Selects the tests of a regression suite, and names its file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from partita import ktest


def regression_tests(folder: Path, without: Sequence[str] = ()) -> list[ktest.Test]:
    """The tests of paths that ended in an exit or a bug. The ending of a path that a limit cut is unknown."""
    unknown = ("limit", "unsupported")
    return [
        replace(test, name=Path(test.name).stem)
        for test in ktest.read_folder(folder)
        if test.ending and not test.ending.startswith(unknown) and test.ending not in without
    ]


def identifier(program: str) -> str:
    """The program's name, reduced to letters, digits and underscores."""
    return re.sub(r"\W", "_", Path(program).stem, flags=re.ASCII) or "program"
