"""Tests as one file for pytest: the program is compiled once, and every input must end as recorded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from partita import __version__, ktest
from partita.errors import UsageError
from partita.reports.folder import new_place, read_run, sources_of
from partita.reports.suites import identifier, regression_tests

_FILE = '''"""Tests of {program}, written by partita {version}.

A path that exited must exit with the same status. The input of a bug fails until the bug is fixed; it is skipped if a
native run does not detect the bug.
"""

from pathlib import Path

import pytest

from partita import ktest
from partita.replay.native import regression, replay_natively

HERE = Path(__file__).resolve().parent
PROGRAM = {paths!r}
CFLAGS = {cflags!r}
ENVIRONMENT = {environment!r}
TESTS = [
{tests}]


@pytest.fixture(scope="module")
def endings():
    programs = [str(HERE / name) for name in PROGRAM]
    found = replay_natively(programs, TESTS, cflags=CFLAGS, variables=ENVIRONMENT)
    return {{each.test.name: each for each in found}}


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_ending(test, endings):
    content, why = regression(endings[test.name])
    if content is None:
        pytest.skip(why)
    assert content, why
'''


def _row(test: ktest.Test) -> str:
    return f"    ktest.Test({test.name!r}, {test.arguments!r}, {test.objects!r}, {test.ending!r}),\n"


def export(folder: Path, out: Path, cflags: Sequence[str]) -> int:
    """Writes `test_PROGRAM.py` into a new folder. Returns the number of tests."""
    new_place(out)
    run = read_run(folder)
    paths = [os.path.relpath(path.resolve(), out.resolve()) for path in sources_of(run, "which the tests run")]
    tests = regression_tests(folder)
    text = _FILE.format(
        program=" ".join(run["program"]).replace("\\", "/").replace('"', "'"),
        version=__version__,
        paths=paths,
        cflags=list(cflags),
        environment=run["environment"],
        tests="".join(map(_row, tests)),
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"test_{identifier(run['program'][0])}.py").write_text(text)
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None
    return len(tests)
