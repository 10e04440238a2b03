"""Fixtures and paths that several test files use."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import BENCHMARKS, CACHE, PARTITA, PATIENCE_S, SHARED, Run


def pytest_configure(config: pytest.Config) -> None:
    """Empties the store of answers before any worker starts, so that no session reuses old answers.

    A process that a shell starts in the background ignores SIGINT, and so do its children: tests of Ctrl-C need it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        for left in CACHE.glob("partita/answers.sqlite*"):
            if left.is_dir():  # journals of a session that was killed
                shutil.rmtree(left)
            else:
                left.unlink()


@pytest.fixture(scope="session", autouse=True)
def cache() -> Iterator[Path]:
    """Gives the session a cache of its own: no test touches the user's. Compiled libraries are kept for the next
    session because compiling them takes a minute. The compiler of replayed programs keeps its own cache."""
    before = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIG_GLOBAL_CACHE_DIR", os.environ.get("ZIG_GLOBAL_CACHE_DIR", str(before / "zig")))
        patch.setenv("XDG_CACHE_HOME", str(CACHE))
        yield CACHE


@pytest.fixture
def partita() -> Run:
    """Runs the command and returns the finished process. The first run on a machine compiles the C library."""

    def run(*arguments: str, text: str = "", timeout: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
        command = [str(PARTITA), *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout)

    return run


@pytest.fixture(params=["benchmarks/queries", "shared/corpus"])
def corpus(request: pytest.FixtureRequest) -> Path:
    """A folder of query logs: our own, and the larger corpus of $PARTITA_SHARED if it exists."""
    if request.param == "benchmarks/queries":
        return BENCHMARKS / "queries"
    path = SHARED / "corpus"
    if not path.is_dir():
        pytest.skip(f"no query logs at {path}: set PARTITA_SHARED")
    return path
