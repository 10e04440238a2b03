"""`--since REV`: the functions that changed in git, as targets of the search."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence

from partita.errors import UsageError

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def changed_lines(revision: str, files: Sequence[str]) -> dict[str, list[range]]:
    """Lines of each file that are new or changed since the revision, in the working tree."""
    found: dict[str, list[range]] = {}
    for file in files:
        folder, name = os.path.split(os.path.abspath(file))
        command = ["git", "diff", "--unified=0", "--no-color", "--no-ext-diff", revision, "--", name]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise UsageError(f"--since needs git: {error.strerror}") from None
        if done.returncode != 0:
            why = done.stderr.strip().splitlines()
            raise UsageError(f"cannot compare `{file}` with `{revision}`: {why[0] if why else 'git failed'}")
        hunks = (_HUNK.match(line) for line in done.stdout.splitlines())
        ranges = [range(int(hunk[1]), int(hunk[1]) + max(1, int(hunk[2] or 1))) for hunk in hunks if hunk]
        if ranges:
            found[os.path.abspath(file)] = ranges
    return found


def changed_functions(text: str, changes: dict[str, list[range]]) -> list[str]:
    """Functions of a module with debug information that have code on a changed line."""
    from partita.frontends.targets import Positions, code_of

    positions = Positions(text)
    names: list[str] = []
    for function, number in code_of(text):
        file, line = positions.of(number)
        if any(line in lines for lines in changes.get(os.path.normpath(file), ())) and function not in names:
            names.append(function)
    return names
