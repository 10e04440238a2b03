"""Runs GNU Coreutils on concrete command lines in the engine and natively, and compares output and exit status.

    python tests/soak/coreutils.py FOLDER [UTILITY...]

FOLDER has executables built with `partita cc` (`python -m experiments.sources coreutils --into DIR` builds them in
DIR/coreutils/coreutils-9.1/src). The command lines are in coreutils.txt.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import partita
from partita.options import ENVIRONMENT

TABLE = Path(__file__).with_suffix(".txt")
LIMIT_S = 60.0
_INPUT = re.compile(r"(?:^| )< (\w+)$")
FILES = {
    "fruit": "apple\nbanana\ncherry\ndate\nelderberry\nfig\n",
    "numbers": "10\n9\n-3\n007\n2.5\n9\n",
    "table": "ann,30,4\nbob,5,17\ncarl,30,2\n",
    "tabs": "a\tb\tc\n\tindent\n  two\tx\n\x01\x7f\xe9\n",
    "long": "The quick brown fox jumps over the lazy dog.\n\n\n> quoted text that goes on for quite a while\n  last\n",
    "words": "tree\nTree\ntree\nbee\nbee\nseen\n",
    "left": "a 1\nb 2\nd 4\n",
    "right": "b two\nc three\nd four\n",
    "empty": "",
    "folder/inner": "inside\n",
}


class Command(NamedTuple):
    utility: str
    text: str

    @property
    def words(self) -> list[str]:
        return shlex.split(_INPUT.sub("", self.text))

    @property
    def stdin(self) -> str:
        """Name of the file used as standard input."""
        found = _INPUT.search(self.text)
        return found[1] if found else "empty"

    def __str__(self) -> str:
        return f"{self.utility} {self.text}"


def commands() -> Iterator[Command]:
    utility = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("["):
            utility = line.strip("[]")
        elif line and not line.startswith("#"):
            yield Command(utility, line)


class Ending(NamedTuple):
    status: str
    output: bytes


def make_files(folder: Path) -> None:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("latin-1"))


def natively(program: Path, command: Command) -> Ending:
    """Runs natively in the current folder."""
    with open(command.stdin, "rb") as given:
        words = [str(program), *command.words]
        done = subprocess.run(words, stdin=given, capture_output=True, env=ENVIRONMENT, timeout=LIMIT_S, check=False)
    return Ending(f"exit {done.returncode}", done.stdout)


def in_the_engine(program: Path, command: Command) -> Ending:
    """Runs in the engine in the current folder. A concrete run has one path."""
    stdin = Path(command.stdin).read_bytes()
    run = partita.explore(program, arguments=command.words, stdin=stdin, max_time=LIMIT_S, tests="bugs")
    paths = list(run)
    if len(paths) != 1:
        return Ending(f"{len(paths)} paths", b"")
    (path,) = paths
    why = "" if path.kind == "exit" else f": {path.message} at {path.file}:{path.line}"
    return Ending(path.ending + why, path.output)


def compare(folder: Path, chosen: Sequence[Command]) -> list[str]:
    """One message per difference."""
    different = []
    for command in chosen:
        program = folder / command.utility
        expected, found = natively(program, command), in_the_engine(program, command)
        if found != expected:
            different.append(f"{command}\n  native: {expected}\n  engine: {found}")
    return different


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("utility", nargs="*")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    chosen = [c for c in commands() if not arguments.utility or c.utility in arguments.utility]
    start = time.process_time()
    with tempfile.TemporaryDirectory(prefix="partita-coreutils-") as work:
        os.chdir(work)
        make_files(Path(work))
        different = compare(folder, chosen)
        os.chdir(folder)
    for text in different:
        print(text)
    utilities = len({command.utility for command in chosen})
    seconds = time.process_time() - start
    print(f"{len(chosen)} command lines of {utilities} utilities: {len(different)} differ ({seconds:.1f} s)")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
