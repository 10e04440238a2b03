"""Java programs in tests: compiled together, since each start of the compiler takes a second."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

needs_jdk = pytest.mark.skipif(
    shutil.which("javac") is None or shutil.which("java") is None, reason="no JDK: `javac` and `java` are not on PATH"
)


def compile_all(sources: list[Path], folder: Path) -> Path:
    """The folder with the class files of all sources."""
    from partita.jvm.compile import compile_java

    folder.mkdir(parents=True, exist_ok=True)
    compile_java(sources, [], folder)
    return folder
