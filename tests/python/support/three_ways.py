"""A program with three paths per byte of input, one bug among them: its number of paths is chosen by its size."""

from __future__ import annotations

from pathlib import Path

SOURCE = """
#include <klee/klee.h>
#include <assert.h>
int main(void) {
    unsigned char x[N];
    unsigned sum = 0;
    klee_make_symbolic(x, sizeof x, "x");
    for (unsigned i = 0; i < N; i++) {
        if (x[i] > 200) sum += i + 1;
        else if (x[i] < 10) sum += 2;
    }
    assert(sum != 7);
    return 0;
}
"""


def program(folder: Path, size: int) -> Path:
    path = folder / "prog.c"
    path.write_text(f"#define N {size}\n{SOURCE}")
    return path
