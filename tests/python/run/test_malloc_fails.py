"""`--malloc-fails`: allocations that fail, and their replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from partita import explore
from partita.ktest import read_folder
from partita.replay import Verdict
from partita.replay.native import replay_natively

PROGRAM = """#include <stdlib.h>
#include <string.h>
#include <klee/klee.h>
int main(void) {
  char in;
  klee_make_symbolic(&in, 1, "in");
  int *first = malloc(4);
  if (!first) return 2;
  *first = in;
  int *second = calloc(2, 4);
  if (in == 'x') {
    second[1] = 1;
    free(second), free(first);
    return 3;
  }
  int *third = realloc(first, 8);
  if (!third) { free(first), free(second); return 4; }
  char *text = strdup("ab");
  int status = second ? text ? 0 : 6 : 5;
  free(third), free(second), free(text);
  return status;
}
"""


def test_every_allocation_may_fail_and_replays_so(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    run = explore(file, malloc_fails=True, check=["leak"], out=tmp_path / "out").finish()
    assert run.complete
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("null", 12)]
    tests = list(read_folder(tmp_path / "out"))
    assert {test.ending for test in tests} == {*(f"exit {n}" for n in (0, 2, 3, 4, 5, 6)), "null"}
    results = replay_natively([str(file)], tests)
    assert [str(result) for result in results if result.verdict is not Verdict.AS_PREDICTED] == []


def test_without_the_option_none_fails(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    assert {path.ending for path in explore(file)} == {"exit 0", "exit 3"}


# Programs on the kernel model, whose own memory does not fail: body, options, endings.
ON_THE_KERNEL: dict[str, tuple[str, dict[str, Any], set[str]]] = {
    "a stream": (
        'FILE *f = fopen("/dev/zero", "r"); if (!f) return 1; int c = fgetc(f); fclose(f); return c + 2;',
        {},
        {"exit 1", "exit 2"},
    ),
    "an argument": (
        "if (argc > 1 && strlen(v[1]) > 1) return 3; return 4;",
        {"arguments": ["--sym-arg", "2"]},
        {"exit 3", "exit 4"},
    ),
    "standard input": (
        "char c = 0; if (read(0, &c, 1) != 1) return 2; if (c > 3) return 1; return 0;",
        {"sym_stdin": 1},
        {"exit 0", "exit 1"},
    ),
    "a folder": ('DIR *d = opendir("/"); if (!d) return 1; closedir(d); return 2;', {}, {"exit 1", "exit 2"}),
    "a mapping": (
        "char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        " if (p == MAP_FAILED) return 1; *p = 2; return *p;",
        {},
        {"exit 2"},
    ),
    "a thread": (
        "pthread_t t; void *r; if (pthread_create(&t, 0, thread, &argc)) return 3;"
        " pthread_join(t, &r); return *(int *)r;",
        {},
        {"exit 7"},
    ),
    "a thread that cannot start": (
        "pthread_t t; pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 1ul << 47);"
        " return pthread_create(&t, &a, thread, &argc) == EAGAIN ? 5 : 6;",
        {},
        {"exit 5"},
    ),
    "aligned blocks": (
        "char *p = aligned_alloc(64, 64), *q = memalign(32, 3); void *r = 0; if (!p) return 1; if (!q) return 2;"
        " if (posix_memalign(&r, 16, 8) == ENOMEM) return 3; if ((long)p % 64 || (long)q % 32) return 8;"
        ' strcpy(q, "a");'
        " q = realloc(q, 9); free(p), free(r); if (!q) return 4; return *q == 'a' ? 5 : 6;",
        {},
        {"exit 1", "exit 2", "exit 3", "exit 4", "exit 5"},
    ),
    "too large a size": (
        "char *p = malloc((size_t)1 << 60), *q = malloc(1); if (p) return 1; if (!q) return 2; *q = 3; return *q;",
        {},
        {"exit 2", "exit 3"},
    ),
}


@pytest.mark.parametrize("name", ON_THE_KERNEL)
def test_only_allocations_of_the_program_fail(name: str, tmp_path: Path) -> None:
    body, options, expected = ON_THE_KERNEL[name]
    file = tmp_path / "program.c"
    names = "dirent errno fcntl malloc pthread stdio stdlib string sys/mman unistd".split()
    includes = "".join(f"#include <{header}.h>\n" for header in names)
    file.write_text(
        f"{includes}static void *thread(void *at) {{ *(int *)at = 7; return at; }}\n"
        f"int main(int argc, char **v) {{ {body} }}\n"
    )
    out = tmp_path / "out"
    run = explore(file, malloc_fails=True, out=out, cflags=["-w"], **options).finish()
    assert (run.complete, run.bugs) == (True, [])
    tests = list(read_folder(out))
    assert {test.ending for test in tests} == expected
    results = replay_natively([str(file)], tests)
    assert [str(result) for result in results if result.verdict is not Verdict.AS_PREDICTED] == []
