"""A sample of the random incremental scripts of `tests/soak/fuzz_scripts.py`."""

from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="Z3 is what answers are compared with: pip install z3-solver")
pytest.importorskip("bitwuzla", reason="Bitwuzla is what answers are compared with: pip install bitwuzla")

from support.scripts import Counts, differences


@pytest.mark.parametrize("part", range(3))
def test_random_incremental_scripts(part: int) -> None:
    total = Counts()
    for number in range(25):
        counts, wrong = differences(f"sample/{part}/{number}")
        assert not wrong, f"tests/soak/fuzz_scripts.py --only sample/{part}/{number}: {wrong}"
        total.add(counts)
    assert total.models > 15, total
    assert total.cores > 10, total
