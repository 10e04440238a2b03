"""What several test files need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("PARTITA_SHARED", REPOSITORY.parent / "shared"))
PARTITA = Path(sys.executable).with_name("partita")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def partita() -> Run:
    """Runs the command and gives what came out."""

    def run(*arguments: str, text: str = "", timeout: float = 60) -> subprocess.CompletedProcess[str]:
        command = [str(PARTITA), *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout)

    return run


@pytest.fixture
def corpus() -> Path:
    path = SHARED / "corpus"
    if not path.is_dir():
        pytest.skip(f"no query logs at {path}: set PARTITA_SHARED")
    return path
