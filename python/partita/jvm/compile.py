"""Java sources to class files, with the `javac` of the machine."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from partita.errors import UsageError
from partita.jvm.jdk import javac

STUBS = Path(__file__).resolve().parent / "stubs"
"""Sources of the classes that programs call for symbolic input."""


def compile_java(sources: Sequence[Path], classpath: Sequence[Path], output: Path) -> None:
    """Compiles sources with debug information.

    Errors: `UsageError` with the compiler's messages as printed.
    """
    paths = [str(path) for path in classpath]
    roots = [str(source.parent) for source in sources]
    command = [javac(), "-g", "-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", str(output)]
    command += ["-implicit:class", "-Xlint:none", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]
    command += ["-cp", ":".join(paths) or ".", "-sourcepath", ":".join([*dict.fromkeys(roots), *paths, str(STUBS)])]
    done = subprocess.run([*command, *map(str, sources)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(done.stderr.rstrip() or f"javac ended with status {done.returncode} without a message")
