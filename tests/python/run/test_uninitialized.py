"""Memory that was never written: a bug where it decides something; counted in any case."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from partita import UsageError, explore

HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <klee/klee.h>
struct bits { unsigned a : 3, b : 5; int c; };
struct padded { char c; int n; };
int get(const int *p) { return *p; }
"""
USES = {
    "a register": ("int x; if (x) return 1; return 0;", "a branch"),
    "two registers": ("int x, y; if (x == y) return 1; return 0;", "a branch"),
    "one branch sets it": ("int x[2]; if (in == 7) x[1] = 1; if (x[in & 1]) return 1; return 0;", "a branch"),
    "a variable set on one path": ("int x; if (in == 7) x = 1; if (x) return 1; return 0;", "a branch"),
    "a pointer set on one path": ("char *p; if (in == 7) p = (char *)&in; if (!p) return 1; return 0;", "a branch"),
    "a number set on one path": ("double x; if (in == 7) x = 1; if (x > 0.5) return 1; return 0;", "a branch"),
    "a variable set by one case": (
        "int x; switch (in) { case 1: case 5: x = 3; } switch (x) { case 3: return 1; } return 0;",
        "a switch",
    ),
    "a member set on one path": (
        "struct padded p; p.c = 1; if (in == 7) p.n = 1; if (p.n) return 1; return 0;",
        "a branch",
    ),
    "the only member set on one path": (
        "struct { int n; } p; if (in == 7) p.n = 1; if (p.n) return 1; return 0;",
        "a branch",
    ),
    "an element set on one path": (
        "int a[3]; a[0] = 1; if (in == 7) a[2] = 1; if (a[2]) return 1; return 0;",
        "a branch",
    ),
    "a copied member set on one path": (
        "struct padded p, q; if (in == 7) p.n = 1; q = p; if (q.n) return 1; return 0;",
        "a branch",
    ),
    "a structure assigned on one path": (
        "struct padded p, q = {1, 2}; if (in == 7) p = q; if (p.n) return 1; return 0;",
        "a branch",
    ),
    "a part of what is set on one path": (
        "union { int n; char c[4]; } u; if (in == 7) u.n = 1; if (u.c[0]) return 1; return 0;",
        "a branch",
    ),
    "a local array": ("int a[4]; a[0] = 1; if (a[2] > 3) return 1; return 0;", "a branch"),
    "a large local array": ("char a[9000]; memset(a, 1, 5000); if (a[5000]) return 1; return 0;", "a branch"),
    "behind a pointer": ("int x; if (get(&x)) return 1; return 0;", "a branch"),
    "malloc": ("char *p = malloc(4); p[0] = 1; if (p[1]) return 1; return 0;", "a branch"),
    "growth": ("char *p = calloc(4, 1); p = realloc(p, 8); if (p[5]) return 1; return 0;", "a branch"),
    "a symbolic offset": ("char a[8] = {0}, b[8]; memcpy(b, a, 4); if (b[in & 7]) return 1; return 0;", "a branch"),
    "after a symbolic write": ("int a[40]; a[in & 31] = 1; if (a[35]) return 1; return 0;", "a branch"),
    "a copy": ("char a[8], b[8]; a[0] = 1; memcpy(b, a, 8); if (b[3]) return 1; return 0;", "a branch"),
    "a copied structure": ("struct padded p, q; p.c = 1; q = p; if (q.n) return 1; return 0;", "a branch"),
    "one of two bytes": ("unsigned char a[2]; a[0] = 1; if (*(short *)a & 0x100) return 1; return 0;", "a branch"),
    "a bit field": ("struct bits f; f.a = 3; if (f.b == 7) return 1; return 0;", "a branch"),
    "strlen": ("char *p = malloc(4); p[3] = 0; if (strlen(p) == 2) return 1; return 0;", "a branch"),
    "a switch": ("int x; switch (x) { case 1: return 1; case 5: return 2; } return 0;", "a switch"),
    "an address": ("int a[4] = {0}, b[4]; b[0] = 1; return a[b[1] & 3];", "an address"),
    "a callee": ("int (**f)(const int *) = malloc(16); int n = 0; if (in < 9) return f[1](&n); return 0;", "a callee"),
    "a length": ("char a[4] = {0}, b[4]; size_t n; memcpy(b, a, *(&n) & 3); return 0;", "the length of a copy"),
    "printf": ('char *p = malloc(4); printf("%c", p[0]); return 0;', "output"),
    "write": ("struct padded p; p.c = 1; p.n = 2; write(1, &p, sizeof p); return 0;", "output"),
    "standard error": ("char a[4]; a[0] = 1; write(2, a, 2); return 0;", "output"),
    "a string on standard error": ("char a[4]; a[0] = 1; a[3] = 0; fputs(a, stderr); return 0;", "output"),
    "a number on standard error": ('int n; fprintf(stderr, "%d", n); return 0;', "output"),
    "a printed text whose length is used": (
        'char a[4]; a[0] = 1; return fprintf(stderr, "%.2s", a) == 3;',
        "a branch",
    ),
    "bytes on standard error": (
        "struct padded p; p.c = 1; p.n = 2; fwrite(&p, sizeof p, 1, stderr); return 0;",
        "output",
    ),
    "a character on standard error": ("char c; fputc(c, stderr); return 0;", "output"),
    "a message on standard error": ("char a[4]; a[0] = 1; a[3] = 0; perror(a); return 0;", "output"),
    "the exit status": ("char *p = malloc(4); return p[0];", "the exit status"),
}
FINE = {
    "all fields": "struct bits f; f.a = 3; f.b = 7; f.c = 2; return f.a == 3 && f.b == 7 && f.c == 2;",
    "padding": "struct padded p, q; p.c = 1; p.n = 5; q = p; memcpy(&p, &q, sizeof p); return p.n == 5 && q.c == 1;",
    "copies only": "char a[8], b[8]; memcpy(b, a, 8); memmove(a + 1, b, 7); return 0;",
    "no effect": "int *a = malloc(16); int x = a[1] ^ a[1]; x += a[2] * 0; x += a[3] & 0; return x;",
    "a loop": "int a[9]; for (int i = 0; i < 9; i++) a[i] = i; return a[in % 9] == 3;",
    "a string": 'char *p = malloc(100); strcpy(p, "hello"); puts(p); return strlen(p) == 5;',
    "inside": "char *p = malloc(100); memset(p, 1, 50); return p[in % 50];",
    "a buffer": "char a[9000]; for (int i = 0; i < 5000; i++) a[i] = 1; int n = 0;"
    " for (int i = 0; i < 5000; i++) n += a[i]; return n == 5000;",
    "calloc": "int *p = calloc(4, 4); return p[2];",
    "globals": "static int n[4]; return n[2];",
    "unused": "int x; if (in == 7) x = 1; if (in == 7) return x; return 0;",
    "set in a loop": "int x, n = in & 3; for (int i = 0; i < 4; i++) { if (i == n) x = i; } return x == n;",
    "correlated": "int x; if (in == 7) x = 1; int y = in == 7 ? x : 2; return y == 1;",
    "a string of symbolic length": 'char b[8], t[5]; klee_make_symbolic(t, 5, "t"); t[4] = 0; strcpy(b, t); puts(b);'
    ' printf("%s|%.3s|%9s", b, b, b); return 0;',
    "backwards": "char a[200]; for (int i = 199; i >= 0; i -= 2) a[i] = 1; return a[in | 1 ? 1 : 0] == 1;",
}


def run_of(
    body: str,
    folder: Path,
    check: tuple[str, ...] = (),
    head: str = "",
    uninitialized: Literal["report", "symbolic"] = "report",
    libc: Literal["auto", "musl"] = "auto",
) -> tuple[list[str], list[str]]:
    """The counted reasons and the bugs."""
    file = folder / "program.c"
    file.write_text(f'{HEAD}{head}int main(void) {{ unsigned char in; klee_make_symbolic(&in, 1, "in"); {body} }}\n')
    run = explore(file, check=check, cflags=["-w"], uninitialized=uninitialized, libc=libc)
    bugs = [path.class_ or "" for path in run if path.kind == "bug"]
    return [row["why"] for row in run.summary()["incomplete"]], bugs


@pytest.mark.parametrize("name", USES)
def test_a_use_is_counted(name: str, tmp_path: Path) -> None:
    body, what = USES[name]
    bugs = ["null"] if what == "a callee" else []
    assert run_of(body, tmp_path, ("no-uninitialized",)) == ([f"uninitialised memory decides {what}"], bugs)


@pytest.mark.parametrize("name", list(USES)[::4])
def test_a_use_is_a_bug(name: str, tmp_path: Path) -> None:
    assert run_of(USES[name][0], tmp_path)[1] == ["uninitialized-read"]


@pytest.mark.parametrize("name", FINE)
def test_memory_that_decides_nothing_is_not_counted(name: str, tmp_path: Path) -> None:
    assert run_of(FINE[name], tmp_path) == ([], [])


SAVE = 'FILE *f = fopen("made", "w"); if (f) {{ fwrite({0}, 1, sizeof p, f); fclose(f); }} return f == 0;'
# Output of the kernel model: what is counted, and whether it is a bug.
DESCRIPTORS = {
    "standard output": ("struct padded p; p.c = 1; p.n = 2; write(1, &p, sizeof p); return 0;", "output", True),
    "standard error": ("char *p = malloc(4); p[0] = 1; write(2, p, 3); return 0;", "output", True),
    "a copy of standard error": ("char p[4]; p[0] = 1; write(dup(2), p, 3); return 0;", "output", True),
    "the stream of standard error": ("char p[4]; p[0] = 1; fwrite(p, 1, 3, stderr); return 0;", "output", True),
    "a structure with padding in a file": (
        f"struct padded p; p.c = 1; p.n = 2; {SAVE.format('&p')}",
        "the contents of a file",
        False,
    ),
    "an array in a file": (
        'int f = open("made", O_CREAT | O_RDWR, 0600); char p[9]; pwrite(f, p, 9, 5); return f < 0;',
        "the contents of a file",
        False,
    ),
    "all of a file": (f"char p[9] = {{1}}; {SAVE.format('p')}", None, False),
    "a pipe": (
        "int ends[2]; char p[4], q[4]; pipe(ends); write(ends[1], p, 4); read(ends[0], q, 4); return 0;",
        None,
        False,
    ),
    "nowhere": ('char p[4]; write(open("/dev/null", O_WRONLY), p, 4); return 0;', None, False),
}


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_output_of_the_kernel_model_is_counted(name: str, tmp_path: Path) -> None:
    body, what, is_bug = DESCRIPTORS[name]
    found = run_of(body, tmp_path, head="#include <fcntl.h>\n", libc="musl")
    counted = [] if what is None else [f"uninitialised memory decides {what}"]
    assert found == (counted, ["uninitialized-read"] if is_bug else [])


# A call through any number is one path per number.
@pytest.mark.parametrize("name", [name for name in USES if name != "a callee"])
def test_with_symbolic_memory_a_use_is_explored(name: str, tmp_path: Path) -> None:
    incomplete, bugs = run_of(USES[name][0], tmp_path, uninitialized="symbolic")
    assert incomplete == []
    assert "uninitialized-read" not in bugs


SAME = {
    "a scalar": "int x, y = x; assert(x == y);",
    "a structure": "struct padded p, q = p; assert(p.n == q.n && p.c == q.c);",
    "a copy": "char a[40], b[50]; a[3] = 1; memcpy(b + 5, a, 40); assert(!memcmp(a, b + 5, 40));",
    "a move": "char a[40], c; a[3] = 1; c = a[20]; memmove(a + 2, a, 38); assert(a[22] == c && a[5] == 1);",
    "growth": "char *p = malloc(9), c = p[7]; p = realloc(p, 90); assert(p[7] == c);",
    "an index": "unsigned char i = in & 7, a[9]; int b[9]; assert(a[i] == a[in & 7] && b[i] == b[in & 7]);",
    "a part": "union { int n; char c[4]; } u; assert((u.n & 0xff) == (u.c[0] & 0xff));",
    "after a symbolic write": "int a[40], x = a[35]; a[in & 31] = 1; assert(a[35] == x);",
    "many bytes": "char *p = malloc(9000), c = p[8999]; memset(p, 0, 5000); assert(p[8999] == c && p[7] == 0);",
}
DIFFERENT = {
    "each time that a block begins": "int n = 0; for (int i = 0; i < 2; i++) { int x; n += x == 7; } assert(n != 1);",
    "each call": "assert(fresh() == fresh());",
    "two variables": "int x, y; assert(x == y);",
    "an address that is used again": "int *p = malloc(4), x = *p; free(p); p = malloc(4); assert(*p == x);",
    "what was added": "char *p = malloc(4); p = realloc(p, 8); assert(p[5] != 17);",
    "the rest of a large array": "char *p = malloc(9000); memset(p, 0, 5000); assert(p[8999] != 17);",
    "a symbolic place": "unsigned char a[9]; assert(a[in & 7] != 17);",
    "the value of a loop": "int i, n; for (i = 0; i < n && i < 9; i++); assert(i != 5);",
}


@pytest.mark.parametrize("name", [*SAME, *DIFFERENT])
def test_symbolic_memory_has_one_value_each_time_it_begins(name: str, tmp_path: Path) -> None:
    head = "#include <assert.h>\nint fresh(void) { int x; return x; }\n"
    body = {**SAME, **DIFFERENT}[name]
    assert run_of(body, tmp_path, head=head, uninitialized="symbolic") == ([], ["assert"] if name in DIFFERENT else [])


def test_symbolic_memory_is_an_input_that_is_shown(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("#include <assert.h>\nint main(void) { int x, y[2]; y[1] = 1; assert(y[0] != 5 || x != 7); }\n")
    run = explore(source, uninitialized="symbolic")
    (found,) = [path for path in run if path.kind == "bug"]
    assert run.summary()["complete"]
    assert found.class_ == "assert"
    assert [(name, int.from_bytes(value[:4], "little")) for name, value in found.inputs] == [
        ("uninitialized", 5),
        ("uninitialized", 7),
    ]


def test_symbolic_memory_is_taken_up(tmp_path: Path) -> None:
    """Paths that were kept know which of their inputs were memory."""
    source = tmp_path / "program.c"
    source.write_text(
        "#include <klee/klee.h>\nint main(void) { int a[6], n = 0; char uninitialized;"
        ' for (int i = 0; i < 6; i++) { if (i == 3) klee_make_symbolic(&uninitialized, 1, "uninitialized");'
        " if (a[i] > 9) n++; } if (uninitialized == 3) n++; return n; }\n"
    )
    options: dict[str, object] = {"uninitialized": "symbolic", "max_memory": "2GB"}
    whole = explore(source, **options).finish()  # type: ignore[arg-type]
    assert whole.summary()["complete"]
    assert whole.summary()["paths"]["completed"] == 2**7
    explore(source, out=tmp_path / "out", max_tests=20, **options).finish()  # type: ignore[arg-type]
    rest = explore(source, resume=tmp_path / "out", **options).finish()  # type: ignore[arg-type]
    assert rest.summary()["complete"]
    assert rest.summary()["paths"]["completed"] == 2**7


def test_symbolic_memory_is_refused_where_others_choose_it(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    with pytest.raises(UsageError, match="expected no optimize with uninitialized=symbolic"):
        explore(source, uninitialized="symbolic", optimize=True)
    with pytest.raises(UsageError, match="expected uninitialized=report with a certificate"):
        explore(source, uninitialized="symbolic", certificate=tmp_path / "c")


def test_symbolic_memory_of_a_function(tmp_path: Path) -> None:
    source = tmp_path / "library.c"
    source.write_text(
        "#include <assert.h>\nvoid f(int n) { int x; if (n == 3) x = 7; assert(n != 3 || x == 7); assert(x != 5); }\n"
    )
    run = explore(source, entry="f", uninitialized="symbolic")
    assert [path.class_ for path in run if path.kind == "bug"] == ["assert"]
    assert run.summary()["complete"]
