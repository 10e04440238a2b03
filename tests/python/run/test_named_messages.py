"""Messages that name things: variables in bugs, inputs by their types, what confirmed a bug in replay."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from partita import explore
from partita.cli import main
from partita.entry.debug_info import Array, Member, Record, Scalar
from partita.members import place
from partita.replay.sanitized import find_compiler
from partita.reports.text import bug_lines

PROGRAM = """#include <partita.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int x; char tag[5]; } item;
static uint16_t table[7];
static item items[3];
static int put(uint8_t i) { char msg[12]; memset(msg, 0, 12); for (int k = 0; k <= i; k++) msg[k] = 1; return msg[0]; }
static int glob(uint8_t i) { return table[i]; }
static int st(uint8_t i) { return items[i & 3].x; }
static int two(uint8_t i) { int a[3][4] = {{0}}; return a[i & 3][i & 7]; }
static int one(uint8_t i) { const int v = 3; const int *p = &v; return p[i & 1]; }
static int heap(uint8_t i) { char *p = malloc(5); memset(p, 0, 5); int r = p[i & 7]; free(p); return r; }
static void fill(char *to, int n) { for (int k = 0; k < n; k++) to[k] = 1; }
static int caller(uint8_t i) { char at[3], mine[6]; at[0] = mine[0] = 1; fill(mine, i & 7); return mine[0] + at[0]; }
static int back(uint8_t i) { long words[2] = {1, 2}, *volatile p = words; return i & 1 ? p[-1] : p[1]; }
int main(void) {
  uint8_t which, i;
  partita_make_symbolic(&which, 1, "which");
  partita_make_symbolic(&i, 1, "i");
  switch (which) {
    case 0: return put(i);
    case 1: return glob(i);
    case 2: return st(i);
    case 3: return two(i);
    case 4: return one(i);
    case 5: return heap(i);
    case 6: return caller(i);
    case 7: return back(i);
  }
  return 0;
}
"""
EXPECTED = {
    8: "write of 1 byte at `msg[12]`, `char msg[12]` declared at names.c:8",
    9: "read of 2 bytes at a symbolic offset can leave `uint16_t table[7]` declared at names.c:6",
    10: "read of 4 bytes at a symbolic offset can leave `item items[3]` declared at names.c:7",
    11: "read of 4 bytes at a symbolic offset can leave `int a[3][4]` declared at names.c:11",
    12: "read of 4 bytes at a symbolic offset can leave `const int v` declared at names.c:12",
    13: "read of 1 byte at a symbolic offset can leave the heap object of 5 bytes",
    # The variable of a caller, and not another one near it.
    14: "write of 1 byte at `mine[6]`, `char mine[6]` declared at names.c:15",
    16: "read of 8 bytes at `words[-1]`, `long words[2]` declared at names.c:16",
}


MEMBERS = """#include <string.h>
struct item { int id; char tag[4]; struct { short x, y; } pos; };
static struct item table[3];
int it(struct item *it, unsigned i) { if (!it) return 0; it->tag[i] = 1; return it->pos.x; }
int symbolic(unsigned i, unsigned j) { if (i < 3 && j < 20) table[i].tag[j] = 1; return 0; }
int inside(void) { struct item here; memset(&here, 0, sizeof here); char *p = here.tag; p[13] = 1; return here.id; }
int last(void) { struct item two[2]; memset(&two, 0, sizeof two); char *p = two[1].tag; p[9] = 1; return two[0].id; }
int behind(int n) { int s = 0; for (int i = 0; i < n; i++) s += table[i].pos.y; return s; }
int text(const char *s, unsigned n) { return s && n < 12 ? s[n] : 0; }
"""


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("it", "write of 1 byte at a symbolic offset can leave `*it`, 12 bytes, here at `it->tag[8]`"),
        (
            "symbolic",
            "write of 1 byte at a symbolic offset can leave `struct item table[3]` declared at m.c:3,"
            " here at `table[2].tag[8]`",
        ),
        ("inside", "write of 1 byte at `here.tag[13]`, `struct item here` declared at m.c:6"),
        ("last", "write of 1 byte at `two[1].tag[9]`, `struct item two[2]` declared at m.c:7"),
        ("behind", "read of 2 bytes at `table[3].pos.y`, `struct item table[3]` declared at m.c:3"),
        ("text", "read of 1 byte at a symbolic offset can leave the array `s`, 9 bytes, here at `s[9]`"),
    ],
)
def test_members_are_named(function, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.c").write_text(MEMBERS)
    (bug,) = (bug for bug in explore("m.c", entry=function, out="out").finish().bugs if bug.class_ != "null")
    assert bug.message == message


PAIR = Record("pair", is_union=False, size=8)
PAIR.members += [
    Member("a", 0, Array(Scalar("char", 1, "signed"), 4)),
    Member("b", 4, Array(Scalar("unsigned char", 1, "unsigned"), 4)),
]


@pytest.mark.parametrize(
    ("offset", "source", "expected"),
    [
        (9, "", None),  # `p.a[9]` and `p.b[5]` are as far
        (9, "p.b[i] = 1;", "p.b[5]"),
        (9, "q->a[i] = 1;", "p.a[9]"),
        (9, "p.a[i] = p.b[j];", None),
        (5, "p.a[i] = 1;", "p.b[1]"),
        (-1, "p.a[i] = 1;", None),
    ],
)
def test_a_place_that_has_several_names_has_none(offset, source, expected):
    assert place("p", PAIR, offset, 1, source) == expected


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "names.c"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("options", [{}, {"cflags": ["-g"]}])
def test_variables_are_named(program, options):
    run = explore("names.c", **options).finish()
    assert {bug.line: bug.message for bug in run.bugs} == EXPECTED
    assert {row["line"]: row["message"] for row in run.summary()["bugs"]} == EXPECTED


def test_numbers_of_one_byte_are_no_text(program):
    run = explore("names.c").finish()
    (line,) = (bug_lines(bug)[1] for bug in run.bugs if bug.line == 9)
    value = line.rpartition("i = ")[2]
    assert value.isdecimal()
    assert int(value) > 6


def test_inputs_by_their_types(tmp_path):
    path = tmp_path / "typed.c"
    path.write_text(
        "#include <partita.h>\n#include <stdlib.h>\nstruct pair { short a; unsigned char b[2]; double d; };\n"
        "int main(void) {\n  struct pair p; char s[6]; float f;\n"
        '  partita_make_symbolic(&p, sizeof p, "p");\n  partita_make_symbolic(s, sizeof s, "s");\n'
        '  partita_make_symbolic(&f, sizeof f, "f");\n'
        "  if (p.a == -7 && p.b[1] == 9 && p.d == 2.5 && s[1] == 'q' && !s[0] && f == 1.5f) abort();\n  return 0;\n}\n"
    )
    (bug,) = explore(path).finish().bugs
    line = bug_lines(bug)[1]
    assert "p = {.a = -7, .b = {0, 9}, .d = 2.5}" in line
    assert 's = "\\x00q"' in line
    assert "f = 1.5" in line


def test_small_inputs_by_their_types(tmp_path):
    """Arrays and structures of 2, 4 and 8 bytes are no numbers; numbers keep their bytes."""
    path = tmp_path / "small.c"
    path.write_text(
        "#include <partita.h>\n#include <stdint.h>\n#include <stdlib.h>\nstruct s { uint8_t a, b; uint16_t c; };\n"
        "int main(void) {\n  uint8_t buf[8], two[2]; struct s s; int n; unsigned u; char t[4];\n"
        + "".join(f'  partita_make_symbolic(&{x}, sizeof {x}, "{x}");\n' for x in ("buf", "two", "s", "n", "u", "t"))
        + "  if (buf[0] == 200 && buf[1] == 97 && two[1] == 3 && s.b == 7 && n == 7 && u == 3000000000u"
        " && t[0] == 'a') abort();\n  return 0;\n}\n"
    )
    (bug,) = explore(path).finish().bugs
    assert bug_lines(bug)[1].strip() == (
        "with buf = {200, 97, 0}, two = {0, 3}, s = {.b = 7}, n = 7 (07 00 00 00), u = 3000000000,"
        ' t = "a" and 3 zero bytes'
    )


def test_numbers_in_bugs_of_floating_point(tmp_path):
    path = tmp_path / "p.c"
    path.write_text(
        "#include <partita.h>\nint main(void) {\n  double d; long double l;\n"
        '  partita_make_symbolic(&d, sizeof d, "d");\n  partita_make_symbolic(&l, sizeof l, "level");\n'
        "  if (d != 0x1p-1074 || l != -2.5L) return 0;\n  return (int)(d + 3e9);\n}\n"
    )
    run = explore(path).finish()
    assert [bug_lines(bug)[1] for bug in run.bugs] == ["    with d = 5e-324, level = -2.5L"]


def test_small_numbers_are_preferred(tmp_path):
    path = tmp_path / "small.c"
    path.write_text("int f(int n) { int a[10] = {0}; if (n < 0) return 0; return a[n]; }\n")
    (bug,) = explore(path, entry="f").finish().bugs
    assert bug.described == ("n = 10",)


def test_changed_sources_give_messages_without_names(program):
    run = explore("names.c")
    program.write_text("#error changed\n")
    run.finish()
    assert "a local variable of 12 bytes" in next(bug.message for bug in run.bugs if bug.line == 8)


@pytest.mark.skipif(find_compiler() is None, reason="no gcc or clang with AddressSanitizer")
def test_replay_says_what_confirmed_a_bug(program, tmp_path, capsys):
    explore("names.c", out=tmp_path / "out").finish()
    assert main(["replay", "names.c", "out"]) == 0
    out = capsys.readouterr().out
    assert "as predicted: AddressSanitizer: heap-buffer-overflow (predicted: out-of-bounds-read)" in out
    assert "as predicted: AddressSanitizer: stack-buffer-overflow (predicted: out-of-bounds-write)" in out
    assert "not observable" not in out


@pytest.mark.skipif(find_compiler() is None, reason="no gcc or clang with AddressSanitizer")
def test_a_sanitizer_that_reports_nothing_confirms_nothing(program, tmp_path, capsys):
    explore("names.c", out=tmp_path / "out").finish()
    program.write_text(PROGRAM.replace("malloc(5)", "malloc(50)").replace("memset(p, 0, 5)", "memset(p, 0, 50)"))
    main(["replay", "names.c", "out"])
    assert "not observable natively: exit 0 (predicted: out-of-bounds-read)" in capsys.readouterr().out


UNDEFINED = """#include <partita.h>
#include <stdlib.h>
int main(void) {
  unsigned i, shift;
  partita_make_symbolic(&i, sizeof i, "i");
  partita_make_symbolic(&shift, sizeof shift, "shift");
  int *p = malloc(16), row[4] = {1, 2, 3, 4};
  p[0] = 1;
  if (i == 500000000) return p[i] != 0;
  if (i == 7) { int big = 2147483647 - (shift & 1); return (big + 2) != 0; }
  if (i == 8) { *(int *)((char *)p + (shift & 3)) = 1; return 0; }
  if (i == 9) return (1 << shift) != 0;
  if (i == 10) return row[shift & 4] > 9;
  return 0;
}
"""


def test_replay_without_a_compiler_of_the_machine(tmp_path, monkeypatch, capsys):
    """A crash is an observation, and our own compiler has checks that trap."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("partita.replay.sanitized.find_compiler", lambda: None)
    (tmp_path / "u.c").write_text(UNDEFINED)
    run = explore("u.c", out="out", check=["overflow", "shift", "alignment"], tests="bugs").finish()
    predicted = sorted(bug.class_ for bug in run.bugs)
    assert predicted == ["alignment", "out-of-bounds-read", "out-of-bounds-read", "overflow", "shift"]
    assert main(["replay", "u.c", "out"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "5 as predicted"
    ended = sorted(line.partition("as predicted: ")[2] for line in lines[:-1])
    assert ended == [
        "UndefinedBehaviorSanitizer: a check of alignment failed (predicted: alignment)",
        "UndefinedBehaviorSanitizer: a check of array-bounds failed (predicted: out-of-bounds-read)",
        "UndefinedBehaviorSanitizer: a check of shift failed (predicted: shift)",
        "UndefinedBehaviorSanitizer: a check of signed-integer-overflow failed (predicted: overflow)",
        "signal 11 (predicted: out-of-bounds-read)",
    ]
    # Nothing confirms these inputs without the bugs.
    (tmp_path / "u.c").write_text(UNDEFINED.replace("malloc(16)", "calloc(600000000, 4)").replace("[4] = {", "[9] = {"))
    main(["replay", "u.c", "out"])
    assert "2 not observable natively" in capsys.readouterr().out


@pytest.mark.skipif(not shutil.which("cmake") or find_compiler() is None, reason="no cmake, or no sanitizers")
def test_ctest_of_a_function(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.c").write_text("struct p { int *a; };\nint get(struct p *p) { return p && p->a ? p->a[4] : 0; }\n")
    assert main(["run", "lib.c", "--entry", "get", "--out", "out", "--quiet"]) == 1
    assert main(["export", "out", "--format", "ctest", "-o", "suite"]) == 0

    def ctest() -> str:
        for command in ("cmake -S suite -B build", "cmake --build build", "ctest --test-dir build"):
            done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
            assert done.returncode == 0 or command.startswith("ctest"), done.stdout + done.stderr
        return done.stdout

    assert "1 tests failed" in ctest()
    (tmp_path / "lib.c").write_text("struct p { int *a; };\nint get(struct p *p) { return p && p->a ? p->a[3] : 0; }\n")
    assert "0 tests failed" in ctest()
