"""x86's vector and bit instructions: every row of the table on random values, against the processor."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from partita import explore
from partita.cc.musl import link_command
from support import PROGRAM_FOLDER

SOURCE = PROGRAM_FOLDER / "vectors" / "rows.c"
FEATURES = {"avx2", "bmi1", "bmi2", "sse4_2", "pclmulqdq"}
FLAGS = ["-mavx2", "-mbmi", "-mbmi2", "-msse4.2", "-mpclmul", "-DROUNDS=3"]


def features() -> set[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())


@pytest.mark.skipif(not features() >= FEATURES, reason="the processor has no AVX2")
def test_rows_compute_what_the_processor_computes(tmp_path: Path) -> None:
    binary = tmp_path / "native"
    subprocess.run(link_command([*FLAGS, "-w", str(SOURCE), "-o", str(binary)], mathematics=False), check=True)
    native = subprocess.run([binary], capture_output=True, check=True).stdout.decode().splitlines()
    (path,) = list(explore(SOURCE, cflags=FLAGS))
    assert path.ending == "exit 0", path.message
    assert len(native) > 700
    assert [pair for pair in zip(native, path.output.decode().splitlines(), strict=True) if pair[0] != pair[1]] == []


def test_other_instructions_end_the_path_with_their_name(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(
        "#include <immintrin.h>\n"
        "int main(void) { __m128 x = _mm_rsqrt_ps(_mm_set1_ps(2)); return (int)_mm_cvtss_f32(x); }\n"
    )
    run = explore(path).finish()
    assert not run.complete
    assert "intrinsic `llvm.x86.sse.rsqrt.ps`" in str(run.summary()["incomplete"])
