"""`--max-memory` holds within 10 %, for memory of objects; `tests/soak/memory.py` has other kinds, with a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import memory

MAX_MB = 250


@pytest.mark.parametrize("kind", ["objects"])
def test_memory_stays_within_its_limit(kind: str, tmp_path: Path) -> None:
    grown = memory.grow(kind, tmp_path, MAX_MB, 30)
    assert grown.status == 3, grown.message
    assert grown.stopped in ("max-memory", "max-time")
    assert grown.peak_mb <= 1.1 * MAX_MB
    if grown.stopped == "max-memory":
        assert grown.peak_mb > 0.8 * MAX_MB
