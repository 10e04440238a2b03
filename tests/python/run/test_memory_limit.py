"""`--max-memory` holds within 10 %, for objects and expressions; `tests/soak/memory.py` has a table of all kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import memory


@pytest.mark.parametrize(("kind", "max_mb"), [("objects", 250), ("expressions", 150)])
def test_memory_stays_within_its_limit(kind: str, max_mb: int, tmp_path: Path) -> None:
    grown = memory.grow(kind, tmp_path, max_mb, 30)
    assert grown.status == 3, grown.message
    assert grown.stopped in ("max-memory", "max-time")
    assert grown.peak_mb <= 1.1 * max_mb
    if grown.stopped == "max-memory":
        assert grown.peak_mb > 0.8 * max_mb
