"""Tests as a JUnit report for build servers: a bug is a failure, a path that a limit cut is skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from partita import _core, ktest
from partita.errors import UsageError
from partita.reports.folder import new_place, number_of, read_errors, read_run
from partita.results import as_text

# Characters that XML cannot represent.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _case(suite: str, name: str, inside: str) -> str:
    return f"    <testcase classname={_attribute(suite)} name={_attribute(name)}>\n{inside}    </testcase>\n"


def _failure(kind: str, message: str, text: str) -> str:
    body = escape(_clean(text))
    return f"      <failure type={_attribute(kind)} message={_attribute(message)}>{body}</failure>\n"


def _inputs(test: ktest.Test) -> str:
    lines = "".join(f"{name}: {data.hex()} ({as_text(data)})\n" for name, data in test.objects)
    return f"      <system-out>{escape(_clean(lines))}</system-out>\n" if lines else ""


def cases(folder: Path, run: dict[str, Any], suite: str) -> Iterator[str]:
    errors = read_errors(folder)
    classes = {name for name, _ in _core.BUG_CLASSES}
    for test in ktest.read_folder(folder):
        ending = test.ending or "ending not recorded"
        result = ""
        if ending in classes:
            text = errors.get(number_of(test) or 0, ending)
            result = _failure(ending, text.splitlines()[0], text)
        elif not ending.startswith("exit"):
            result = f"      <skipped message={_attribute(ending)}/>\n"
        yield _case(suite, f"{Path(test.name).stem} {ending}", result + _inputs(test))
    for bug in run["bugs"]:
        if bug["test"] is None:
            message = f"{bug['file']}:{bug['line']}: error: {bug['message']}"
            yield _case(suite, f"{bug['class']} without a test", _failure(bug["class"], message, message))


def export(folder: Path, out: Path) -> int:
    """Writes the report. Returns the number of tests."""
    new_place(out)
    run = read_run(folder)
    suite = " ".join(run["program"])
    found = list(cases(folder, run, suite))
    failures, skipped = (sum(f"      <{word}" in case for case in found) for word in ("failure", "skipped"))
    values = {"complete": str(run["complete"]).lower(), "stopped": run["stopped"] or "", "version": run["version"]}
    properties = "".join(
        f"      <property name={_attribute(name)} value={_attribute(value)}/>\n" for name, value in values.items()
    )
    counts = f'tests="{len(found)}" failures="{failures}" errors="0" skipped="{skipped}" time="{run["wall_s"]:.3f}"'
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n'
        f"  <testsuite name={_attribute(suite)} {counts}>\n"
        f"    <properties>\n{properties}    </properties>\n{''.join(found)}  </testsuite>\n</testsuites>\n"
    )
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None
    return len(found)
