"""Variables of type `_Bool` that are made symbolic are 0 or 1; other bytes are not assumed to be anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import explore

# Declarations and a statement, and the endings of its paths.
PROGRAMS = {
    "a local variable": (
        "",
        'bool b; klee_make_symbolic(&b, sizeof b, "b"); if (b) return 3; return 4;',
        ["exit 3", "exit 4"],
    ),
    "a global variable": (
        "bool b;",
        'klee_make_symbolic(&b, 1, "b"); if (b) return 4; return 3;',
        ["exit 3", "exit 4"],
    ),
    "by Partita's name": (
        "#include <partita.h>",
        'bool b; partita_make_symbolic(&b, sizeof b, "b"); if (b) return 0; return 1;',
        ["exit 0", "exit 1"],
    ),
    "two of them": (
        "static bool a;",
        'bool b; klee_make_symbolic(&a, 1, "a"); klee_make_symbolic(&b, 1, "b"); if (a) return 3; if (b) return 1; return 0;',
        ["exit 0", "exit 1", "exit 3"],
    ),
    "a character": (
        "",
        'char c; klee_make_symbolic(&c, 1, "c"); if (c > 1) return 5; if (c) return 3; return 4;',
        ["exit 3", "exit 4", "exit 5"],
    ),
    "a character that is converted": (
        "",
        'unsigned char c; klee_make_symbolic(&c, 1, "c"); if ((bool)c) return 3; return 4;',
        ["exit 3", "exit 4"],
    ),
    "a member": (
        "struct { int n; bool b; } s;",
        'klee_make_symbolic(&s, sizeof s, "s"); if (s.b) return 3; return 4;',
        ["exit 3", "exit 4", "sanitizer:5"],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_symbolic_bool_is_0_or_1(name: str, tmp_path: Path) -> None:
    declarations, statement, expected = PROGRAMS[name]
    path = tmp_path / "bool.c"
    path.write_text(
        f"#include <klee/klee.h>\n#include <stdbool.h>\n{declarations}\nint main(void) {{\n  {statement}\n}}\n"
    )
    run = explore(path, all_bugs=True)
    assert sorted({f"{p.ending}:{p.line}" if p.kind == "bug" else p.ending for p in run}) == expected
    assert run.complete
    values = {data for p in explore(path, optimize=True) for input_, data in p.inputs if input_ == "b"}
    assert values <= {b"\0", b"\1"}
