"""Helpers of the tests: paths, the type of the `partita` fixture, and the modules of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAM_FOLDER = REPOSITORY / "tests" / "programs"
BENCHMARKS = REPOSITORY / "benchmarks"
SHARED = Path(os.environ.get("PARTITA_SHARED", REPOSITORY.parent / "shared"))
CACHE = REPOSITORY / "build" / "test-cache"
PARTITA = Path(sys.executable).with_name("partita")

PATIENCE_S = 300.0
"""Time after which a process or a condition counts as stuck: long, since a machine may be busy."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]
