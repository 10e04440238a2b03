"""x86's vector and bit instructions: every row of the table on random values, against the processor."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from partita import explore
from partita.cc.musl import link_command
from support import PROGRAM_FOLDER

FEATURES = {"avx2", "bmi1", "bmi2", "sse4_2", "pclmulqdq"}
FLAGS = ["-mavx2", "-mbmi", "-mbmi2", "-msse4.2", "-mpclmul", "-DROUNDS=3"]


def features() -> set[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())


def assert_as_on_the_processor(source: Path, folder: Path, least: int) -> None:
    """Compares the lines that a program prints natively with those that it prints on its only path."""
    binary = folder / "native"
    subprocess.run(link_command([*FLAGS, "-w", str(source), "-o", str(binary)], mathematics=False), check=True)
    native = subprocess.run([binary], capture_output=True, check=True).stdout.decode().splitlines()
    (path,) = list(explore(source, cflags=FLAGS))
    assert path.ending == "exit 0", path.message
    assert len(native) > least
    assert [pair for pair in zip(native, path.output.decode().splitlines(), strict=True) if pair[0] != pair[1]] == []


@pytest.mark.skipif(not features() >= FEATURES, reason="the processor has no AVX2")
@pytest.mark.parametrize(
    ("name", "least"), [("rows.c", 700), ("assembly.c", 600), ("floats.c", 700), ("gathers.c", 80)]
)
def test_rows_compute_what_the_processor_computes(name: str, least: int, tmp_path: Path) -> None:
    assert_as_on_the_processor(PROGRAM_FOLDER / "vectors" / name, tmp_path, least)


def test_assembly_with_symbolic_operands(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(
        """#include "partita.h"
int main(void) {
  unsigned x, count, old, cell;
  partita_make_symbolic(&x, sizeof x, "x");
  partita_make_symbolic(&count, sizeof count, "count");
  unsigned rotated = x;
  __asm__("roll %%cl, %0" : "+r"(rotated) : "c"(count));
  partita_assert(rotated == ((x << (count & 31)) | (x >> (-count & 31))));
  cell = x;
  __asm__ volatile("lock; cmpxchgl %2, %1" : "=a"(old), "+m"(cell) : "r"(count), "0"(7u) : "memory", "cc");
  partita_assert(old == x && cell == (x == 7 ? count : x));
  unsigned a, b, c, d;
  __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(0), "2"(0));
  unsigned low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return 0;
}
"""
    )
    run = explore(source).finish()
    assert (run.complete, run.bugs) == (True, [])


def test_other_assembly_ends_the_path_with_its_text(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text('int main(void) { int x; __asm__("fldpi; fistpl %0" : "=m"(x)); return x; }\n')
    run = explore(source).finish()
    assert "inline assembly `fldpi; fistpl $0`" in str(run.summary()["incomplete"])


def test_other_instructions_end_the_path_with_their_name(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(
        "#include <immintrin.h>\n"
        "int main(void) { __m128 x = _mm_rsqrt_ps(_mm_set1_ps(2)); return (int)_mm_cvtss_f32(x); }\n"
    )
    run = explore(path).finish()
    assert not run.complete
    assert "intrinsic `llvm.x86.sse.rsqrt.ps`" in str(run.summary()["incomplete"])
