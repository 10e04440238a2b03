"""Accesses outside of local variables that promotion to registers would remove are bugs; others are promoted."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from partita import explore
from partita.frontends.bitcode import module_text
from partita.toolchain import PLAIN, SCOPES, compiler

OUTSIDE = {
    # Each is executed for one input and leaves its variable.
    "a constant index": "int a[4] = {1, 2, 3, 4}; return a[4];",
    "a store": "int a[4] = {1, 2, 3, 4}; a[5] = 1; return a[0];",
    "a negative index": "int a[4] = {1, 2, 3, 4}; return a[-1];",
    "a pointer in a variable": "int a[4] = {1, 2, 3, 4}; int *p = a; return p[4];",
    "a pointer in a structure": "struct { int a[2]; int *p; } s = {{1, 2}, 0}; s.p = s.a; return s.p[5];",
    "a member past its structure": "struct { char a[4]; int b; } s = {{0}, 1}; return s.a[9];",
    "a byte of a scalar": "int x = 3; return ((char *)&x)[9];",
    "a load that is too wide": "int x = 3; return *(long *)&x != 0;",
    "a store that is too wide": "int x = 3; *(long *)&x = 1; return x;",
    "a floating-point load that is too wide": "float x = 1; return *(double *)&x > 0;",
    "a copy that is too long": "int x = 3; char b[16] = {0}; memcpy(&x, b, 8); return x;",
    "a source that is too short": "int x = 3; char b[16]; memcpy(b, &x, 8); return b[0];",
    "a fill that is too long": "int x = 3; memset(&x, 0, 5); return x;",
    "one of two pointers": "int a[2] = {1, 2}, b[2] = {3, 4}; int *p = in > 300 ? b : a + 2; return *p;",
    "the element after a scalar": "int x = 1; *(&x + 1) = 4; return x;",
    "the row after the last": "int a[2][2] = {{1, 2}, {3, 4}}; a[1][2] = 7; return a[0][0];",
    "a wide integer": "__int128 v = 1; ((long *)&v)[2] = 4; return (int)v;",
    "a union": "union { int i; char c[4]; } u = {1}; u.c[4] = 3; return u.i;",
    "there and back": "char c[2] = {1, 2}; char *p = c + 9; p -= 7; return *p;",
}


def test_an_access_outside_of_a_promotable_variable_is_a_bug(tmp_path: Path) -> None:
    functions = [f"static int f{i}(int in) {{ {body} }}" for i, body in enumerate(OUTSIDE.values())]
    cases = [f"case {i}: return f{i}(in);" for i in range(len(functions))]
    program = tmp_path / "outside.c"
    main = f'int main(void) {{ int in = klee_range(0, 100, "in"); switch (in) {{ {" ".join(cases)} }} return 0; }}'
    program.write_text("\n".join(["#include <klee/klee.h>", "#include <string.h>", *functions, main]))
    run = explore(program, all_bugs=True).finish()
    assert run.complete
    found = {bug.inputs[0][1][0] for bug in run.bugs if bug.class_.startswith("out-of-bounds")}
    assert [name for i, name in enumerate(OUTSIDE) if i not in found] == []


AFTER = {
    # Each uses a variable after the end of its block.
    "an element": 'char *p; { char a[4] = "abc"; p = a; } return p[1];',
    "a scalar": "int *p; { int x = in; p = &x; } return *p;",
    "a store": "int *p; { int x = in; p = &x; } *p = 3; return 0;",
    "a member": "struct { int a, b; } *p; { __typeof__(*p) s = {1, in}; p = (void *)&s; } return p->b;",
    "a loop": "int *p = &in; for (int i = 0; i < 2; i++) { if (i) *p = 4; int x = i; p = &x; } return in;",
    "one side": "int y = 1, *p = &y; if (in < 100) { int x = in; p = &x; } return *p;",
    "a copy": "char b[4], *p; { char a[4] = {1}; p = a; } memcpy(b, p, 4); return b[0];",
    "a statement expression": "int *p = ({ int x = in; &x; }); return *p;",
}
WITHIN = {
    "an element": 'char *p; char a[4] = "abc"; { p = a; } return p[1];',
    "a loop": "int n = 0; for (int i = 0; i < 3; i++) { int x[2] = {i, 1}, *p = x; n += p[0] + p[1]; } return n;",
    "a member": "int n; { struct { int a, b; } s = {1, in}, *p = &s; n = p->b; } return n;",
    "a jump back": "int n = 0; again: { int x[2] = {n, in}, *p = x; n = p[0] + 1; if (n < 3) goto again; } return n;",
    "early": "{ int x[2] = {1, in}, *p = x; if (p[1] == 3) return p[0]; } return 0;",
    "the next block": "int n; { int x[1] = {in}; n = x[0]; } { int y[1] = {n}; return y[0]; }",
}


def test_a_use_after_the_block_of_a_promotable_variable_is_a_bug(tmp_path: Path) -> None:
    for bodies, expected in ((AFTER, {"use-after-free"}), (WITHIN, set())):
        for name, body in bodies.items():
            program = tmp_path / "scopes.c"
            main = f'int main(void) {{ int in = klee_range(0, 100, "in"); {body} }}'
            program.write_text("\n".join(["#include <klee/klee.h>", "#include <string.h>", main]))
            run = explore(program).finish()
            assert ({bug.class_ for bug in run.bugs}, run.complete) == (expected, True), name


PROMOTED = """
#include <string.h>
struct pair { int a[2]; long b; };
int scalars(int c) { int x = 3, y = 4; int *p = &x; *p = 5; return c ? x : y; }
int structures(int c) { struct pair s; s.a[1] = c; s.b = 2; struct pair t = s; return t.a[1] + (int)t.b; }
int arrays(int c) { int a[3]; a[0] = c; a[1] = 2; a[2] = a[0]; memset(a, 0, 4); return a[0] + a[2]; }
int unions(int c) { union { float f; int i; } u; u.i = c; return u.f > 0; }
"""


def test_variables_that_are_used_inside_are_promoted(tmp_path: Path) -> None:
    source, bitcode = tmp_path / "promoted.c", tmp_path / "promoted.bc"
    source.write_text(PROMOTED)
    flags = [*PLAIN, *SCOPES, "-w", "-emit-llvm", "-c"]
    subprocess.run([*compiler(None), *flags, str(source), "-o", str(bitcode)], check=True)
    text = module_text([("promoted", bitcode.read_bytes())], entry=None)
    assert re.findall(r"alloca|partita\.pin", text) == []


def test_variables_of_functions_that_call_setjmp_stay_in_memory(tmp_path: Path) -> None:
    calls = {
        "setjmp": "setjmp(b)",
        "_setjmp": "_setjmp(b)",
        "sigsetjmp": "sigsetjmp(b, 1)",
        "a macro": "TRY",
        "a builtin function": "__builtin_setjmp(b)",
        "one with the attribute": "again(b)",
        "none": "plain(b)",
    }
    lines = ["#define _GNU_SOURCE", "#include <setjmp.h>", "#define TRY setjmp(b)", "int plain(void *);"]
    lines.append("__attribute__((returns_twice)) int again(void *);")
    source = tmp_path / "jumps.c"
    flags = [*PLAIN, *SCOPES, "-w", "-emit-llvm", "-c"]
    for name, call in calls.items():
        source.write_text(
            "\n".join([*lines, f"int f(int c, jmp_buf b) {{ int x = 1; if ({call}) x += c; return x; }}"])
        )
        bitcode = subprocess.run(
            [*compiler(None), *flags, str(source), "-o", "-"], check=True, capture_output=True
        ).stdout
        text = module_text([(name, bitcode)], entry=None)
        kept = len(re.findall(r"alloca", text))
        assert (kept > 0) == (name != "none"), name
        optimized = module_text([(name, bitcode)], entry=None, optimize=True)
        assert ("volatile" in optimized) == (name != "none"), name
