"""Models of library functions, compared with the native functions where possible."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.replay import Verdict, compile_native, replay
from partita.toolchain import zig_dir
from support import PATIENCE_S

INTEGERS = "0 1 -1 9 -10 123456 -2147483648 2147483647 255".split()
INTEGER_FORMATS = (
    "%d %i %5d %-5d| %05d %+d %+5d %.3d %8.3d %-8.3d| %08.3d %.0d %hhd %hd %u %x %X %#x %o %#o %5u %-6x|".split()
)
LONGS = "0L 1L -1L 9223372036854775807L (-9223372036854775807L-1)".split()
LONG_FORMATS = "%ld %lu %lx %20ld %-20ld| %020ld %+ld %#lx %#lo %jd %zu %td %lld %.25ld".split()
DOUBLES = (
    "0.0 -0.0 1.0 -1.5 0.1 1e10 123456789.0 1e-5 1e-4 9.9999995 99999.95 1e300 1e-310 2.5 3.5 (1/0.) (-1/0.)".split()
)
DOUBLE_FORMATS = (
    "%f %e %g %.0f %.1f %10.2f %-10.2f| %010.2f %+f %#.0f %#g %.3g %.10g %.0e %.15e %G %E %F %.17g %+.3e "
    "%a %A %.0a %.1a %.3a %.13a %.20a %25a %-25a| %025a %+a %#.0a".split()
)
STRINGS = ['""', '"a"', '"hello"']
STRING_FORMATS = "%s %5s %-5s| %.2s %7.3s %c".split()


def escaped(format_: str) -> str:
    return format_.replace('"', '\\"')


def printing() -> str:
    lines = ["#include <stdio.h>", "#include <string.h>", "int main(void) {", "  char b[64];"]

    def add(format_: str, *values: str) -> None:
        lines.append(f'  printf("[{escaped(format_)}]\\n", {", ".join(values)});')

    for values, formats in (
        (INTEGERS, INTEGER_FORMATS),
        (LONGS, LONG_FORMATS),
        (DOUBLES, DOUBLE_FORMATS),
    ):
        for format_ in formats:
            for value in values:
                add(format_, value)
    for format_ in STRING_FORMATS:
        for value in STRINGS:
            add(format_, f"{value}[0]" if format_ == "%c" else value)
    add("%*d|%-*d|%.*f", "6", "42", "-6", "42", "2", "3.14159")
    add("%Lf %.3Le", "1.25L", "-2.5L")
    for format_ in ("%La", "%.5La", "%.14La", "%LA"):
        for value in ("0.0L", "-1.1L", "1e4000L", "3.6e-4951L", "1.99999999999L"):
            add(format_, value)
    add("%d%%", "5")
    add("%s", "(char *)0")
    lines += [
        '  int n = snprintf(b, 4, "%d", 123456);',
        '  printf("%d %s %d\\n", n, b, snprintf(NULL, 0, "%5s|", "abc"));',
        '  sprintf(b, "%c%c", 65, 66); puts(b);',
        '  putchar(33); fputs("x\\n", stdout); fprintf(stderr, "not here"); fwrite("abc\\n", 1, 4, stdout);',
        "  return 0;\n}\n",
    ]
    return "\n".join(lines)


def native(source: Path) -> str:
    binary = source.with_suffix("")
    compiler = [str(zig_dir() / "zig"), "cc", "-target", "x86_64-linux-musl", "-O0", "-w", "-fno-sanitize=all"]
    subprocess.run([*compiler, str(source), "-o", str(binary)], check=True, capture_output=True)
    return subprocess.run([str(binary)], capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout


def test_printf_prints_as_natively(tmp_path: Path) -> None:
    source = tmp_path / "printing.c"
    source.write_text(printing())
    (path,) = explore(source)
    assert path.ending == "exit 0", path.message
    assert path.output.decode().splitlines() == native(source).splitlines()


SPELLINGS = (
    "0x1p3 0X1.8P+3 -0x.8p1 0x1.fffffffffffff8p0 0x1.00000000000008p0 0x1.00000000000018p0 0x1p-1074 0x1p-1075 "
    "0x1p-1076 0x1.8p-1074 0x1p1024 -0x1p99999 0x0p99999 0x1p-99999999999999999999 0x1.8 0x 0xg 0x.p1 0x1p 0x1p+ "
    "0x1.8q 0x10.8p4x 1.5 -2 .5 5. . - 1e 1e+ 1e400 -1e400 1e-400 4.9e-324 2.2250738585072014e-308 1e5000 1e-5000 "
    "0.1 1e23 inf -Infinity nan x +7.25e2z 0 -0 340282356779733661637539395458142568448 "
    "1.00000017881393421514957253748434595763683319091796875"
).split()


def test_numbers_are_parsed_as_natively(tmp_path: Path) -> None:
    source = tmp_path / "reading.c"
    # Three functions on the same text; the x87 number is compared by its 10 bytes.
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "int main(void) {"]
    lines += ["  char *end; float f; double d; union { long double l; unsigned long w[2]; } x;"]
    for text in SPELLINGS:
        shown = "(int)(end - s)"
        lines += [
            f'  {{ const char *s = " {text}";',
            f'  f = strtof(s, &end); printf("{text}: %.9g %d\\n", f, {shown});',
            f'  d = strtod(s, &end); printf("%a %d %a\\n", d, {shown}, atof(s));',
            "  x.w[1] = 0; x.l = strtold(s, &end);",
            f'  printf("%lx %lx %d\\n", x.w[0], x.w[1] & 65535, {shown}); }}',
        ]
    source.write_text("\n".join([*lines, "  return 0;", "}", ""]))
    (path,) = explore(source)
    assert path.ending == "exit 0", path.message
    assert path.output.decode().splitlines() == native(source).splitlines()


def write(tmp_path: Path, text: str) -> Path:
    source = tmp_path / "program.c"
    source.write_text('#include "klee/klee.h"\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n' + text)
    return source


def test_reading_printed_values_constrains_the_path(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """int main(void) {
  unsigned char x;
  klee_make_symbolic(&x, sizeof x, "x");
  printf("%d\\n", x);
  if (x > 9)
    return 0;
  char text[8];
  sprintf(text, "%d", x);
  return text[0] == '0' + x ? 1 : 2;
}
""",
    )
    run = explore(source, out=tmp_path / "out").finish()
    assert sorted(test.ending or "" for test in ktest.read_folder(tmp_path / "out")) == ["exit 0", "exit 1"]
    assert run.complete


# Printed text that is symbolic: the program, its endings with their numbers of paths, and whether all was explored.
PRINTED = {
    "a format": ("in[3] = 0; printf(in);", {"exit 0", "model-error", "unsupported"}, False),
    "a format without directives": (
        "in[3] = 0; klee_assume(in[0] != '%' & in[1] != '%' & in[2] != '%'); return printf(in);",
        {"exit 0": 1, "exit 1": 1, "exit 2": 1, "exit 3": 1},
        True,
    ),
    "an invalid directive": (
        "in[0] = 'a'; in[1] = '%'; in[2] = 0; klee_assume(x < 9);"
        ' return printf(in) == -1 && errno == EINVAL && printf("%5%") == -1;',
        {"exit 1": 1},
        True,
    ),
    "a string that may not end": ('printf("%s", in);', {"exit 0": 1, "out-of-bounds-read": 1}, True),
    "a string that may not end, of any length": (
        'return printf("%s", in);',
        {"exit 0": 1, "exit 1": 1, "exit 2": 1, "exit 3": 1, "out-of-bounds-read": 1},
        True,
    ),
    "puts": ("return puts(in);", {"exit 0": 1, "out-of-bounds-read": 1}, True),
    "fputs": ("return fputs(in, stderr);", {"exit 0": 1, "out-of-bounds-read": 1}, True),
    "perror": ("perror(in); return 0;", {"exit 0": 1, "out-of-bounds-read": 1}, True),
    "a precision": ('printf("%.*s", x, in);', {"exit 0": 6, "out-of-bounds-read": 1}, True),
    "sprintf past its buffer": (
        'char to[9]; in[3] = 0; sprintf(to, "Hello, %s", in);',
        {"exit 0": 2, "out-of-bounds-write": 2},
        True,
    ),
    "a number of three digits": ('char to[3]; sprintf(to, "%d", x);', {"exit 0": 2, "out-of-bounds-write": 1}, True),
    "a negative number": (
        "char to[5]; int n = sprintf(to, \"%d\", (signed char)x); return n == 4 && to[0] == '-' && to[3] < '0';",
        {"exit 0": 6},
        True,
    ),
    "hexadecimal digits": (
        'char to[8]; sprintf(to, "%#x", x); return strtol(to, 0, 16) == x;',
        {"exit 1": None},
        True,
    ),
    "octal digits": ('char to[8]; sprintf(to, "%#o", x); return strtol(to, 0, 8) == x;', {"exit 1": None}, True),
    "a count": ('int n; in[3] = 0; printf("%s%n", in, &n); return n;', {f"exit {n}": 1 for n in range(4)}, True),
    "a size": (
        'char to[4] = ""; int n = snprintf(to, x, "abc"); return n + to[0];',
        {"exit 100": 3, "exit 3": 2},
        True,
    ),
    "a character": ("return putchar(x) == x && fputc(x, stderr) == x;", {"exit 1": 1}, True),
    "bytes past an object": ("return fwrite(in, 1, x % 7, stdout) > 4;", {"exit 0": 5, "out-of-bounds-read": 2}, True),
    "a stream that cannot be written to": ("return fputs(in, stdin) == EOF;", None, True),
    "a descriptor": (
        "klee_assume(x < 3 | x > 99); return write(x, in, 4) == 4 ? 1 : errno;",
        {"exit 1": 2, "exit 9": 1},
        True,
    ),
    "a floating-point number": ('char to[9]; sprintf(to, "%.0f", (double)x);', {"exit 0": 1}, False),
}


@pytest.mark.parametrize("name", PRINTED)
def test_symbolic_text_is_looked_at(tmp_path: Path, name: str) -> None:
    """Every ending is found; the same program with musl's own functions has the same endings."""
    body, endings, complete = PRINTED[name]
    source = write(
        tmp_path,
        f"""#include <errno.h>
#include <unistd.h>
int main(void) {{
  char in[4];
  unsigned char x;
  klee_make_symbolic(in, sizeof in, "in");
  klee_make_symbolic(&x, sizeof x, "x");
  {body}
  return 0;
}}
""",
    )
    run = explore(source, out=tmp_path / "out", all_bugs=True).finish()
    tests = list(ktest.read_folder(tmp_path / "out"))
    found = Counter(test.ending or "" for test in tests)
    assert run.complete == complete
    if isinstance(endings, dict):
        assert found.keys() == endings.keys()
        assert {ending: number for ending, number in endings.items() if number not in (None, found[ending])} == {}
    elif endings is not None:
        assert found.keys() == endings
    with compile_native([str(source)]) as binary:
        natural = [test for test in tests if (test.ending or "").startswith("exit")]
        assert [str(r) for r in replay(binary, natural) if r.verdict is not Verdict.AS_PREDICTED] == []
    if complete:
        with_musl = explore(source, out=tmp_path / "musl", libc="musl", all_bugs=True).finish()
        kinds = {test.ending for test in ktest.read_folder(tmp_path / "musl")}
        # musl's code counts what the model need not, such as more than 64 lengths.
        assert kinds == found.keys() if with_musl.complete else kinds <= found.keys()


def test_output_is_that_of_the_test(tmp_path: Path) -> None:
    """Text is printed before the path decides what it is."""
    source = write(
        tmp_path,
        """int main(void) {
  char in[3];
  int x;
  klee_make_symbolic(in, sizeof in, "in");
  klee_make_symbolic(&x, sizeof x, "x");
  in[2] = 0;
  printf("[%4s|%d|%#x]", in, x, x);
  puts(in);
  if (x == -77 && in[0] == 'o' && in[1] == 'k')
    return 1;
  return 0;
}
""",
    )
    outputs = {path.ending: path.output.decode() for path in explore(source)}
    assert outputs["exit 1"] == "[  ok|-77|0xffffffb3]ok\n"


AMBIENT = """#include <time.h>
int main(void) {
  srand(7);
  int dice = rand() % 6;
  if (dice == 4)
    return 4;
  if (time(NULL) % 60 == 59)
    return random() == 11 ? 1 : 2;
  return 0;
}
"""


@pytest.mark.parametrize(("ambient", "endings"), [("fixed", 1), ("symbolic", 3)])
def test_time_and_random_numbers_are_fixed_or_inputs(tmp_path: Path, ambient: str, endings: int) -> None:
    source = write(tmp_path, AMBIENT)
    run = explore(source, ambient=ambient, out=tmp_path / "out").finish()  # type: ignore[arg-type]
    assert run.complete
    tests = list(ktest.read_folder(tmp_path / "out"))
    assert len(tests) == endings
    with compile_native([str(source)]) as binary:
        assert [result.verdict for result in replay(binary, tests)] == [Verdict.AS_PREDICTED] * endings


def test_strlen_and_strcmp_do_not_fork(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """int main(void) {
  char a[9], b[9];
  klee_make_symbolic(a, sizeof a, "a");
  klee_make_symbolic(b, sizeof b, "b");
  a[8] = b[8] = 0;
  if (strcmp(a, "--verbose") == 0)
    return 9;
  if (strcmp(a, "--quiet") == 0)
    return 1;
  if (memcmp(a, b, 8) == 0)
    return 2;
  if (strlen(a) == 5)
    return strncmp(a, b, 3) < 0 ? 3 : 4;
  return 0;
}
""",
    )
    run = explore(source, out=tmp_path / "out").finish()
    tests = list(ktest.read_folder(tmp_path / "out"))
    assert run.complete
    # "--verbose" has nine characters, `a` has space for eight.
    assert {test.ending for test in tests} <= {"exit 0", "exit 1", "exit 2", "exit 3", "exit 4"}
    assert len(tests) == 4
    with compile_native([str(source)]) as binary:
        assert [str(r) for r in replay(binary, tests) if r.verdict is not Verdict.AS_PREDICTED] == []


def test_symbolic_sizes_are_limited_and_counted(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """int main(void) {
  unsigned n;
  klee_make_symbolic(&n, sizeof n, "n");
  if (n < 5 || n > 100000)
    return 1;
  char *p = malloc(n);
  p[n - 1] = 1;
  return 0;
}
""",
    )
    run = explore(source, out=tmp_path / "out").finish()
    assert [row["why"] for row in run.summary()["incomplete"]] == ["concretised: the size for `malloc`"]
    sizes = {int.from_bytes(dict(test.objects)["n"], "little") for test in ktest.read_folder(tmp_path / "out")}
    assert {5, 100000} <= sizes
    assert run.bugs == []


def test_an_object_of_symbolic_size_is_one_for_all_sizes(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """int main(void) {
  unsigned short n;
  klee_make_symbolic(&n, sizeof n, "n");
  if (n < 1 || n > 1000)
    return 1;
  char *p = malloc(n);
  char local[n];
  memset(p, 7, n);
  local[n - 1] = p[n - 1];
  return local[n - 1];
}
""",
    )
    run = explore(source, out=tmp_path / "out").finish()
    assert run.complete
    assert run.bugs == []
    assert sorted(test.ending for test in ktest.read_folder(tmp_path / "out")) == ["exit 1", "exit 1", "exit 7"]


def test_a_local_array_of_the_greatest_size_is_no_overflow_of_its_own(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """int main(void) {
  unsigned n;
  klee_make_symbolic(&n, sizeof n, "n");
  if (n == 0)
    return 1;
  char local[n];
  local[n - 1] = 0;
  return local[n - 1];
}
""",
    )
    run = explore(source, out=tmp_path / "out").finish()
    assert run.bugs == []
    assert [row["why"] for row in run.summary()["incomplete"]] == ["concretised: the size of a local array"]


def test_pointers_to_many_objects_are_limited_and_counted(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        """int main(void) {
  int *all[40];
  unsigned char i;
  klee_make_symbolic(&i, sizeof i, "i");
  for (int k = 0; k < 40; k++)
    *(all[k] = malloc(4)) = k;
  if (i >= 40)
    return 1;
  klee_assert(*all[i] == i);
  return 0;
}
""",
    )
    data = explore(source).finish().summary()
    assert (data["paths"]["completed"], data["complete"]) == (41, True)
    data = explore(source, max_objects=7).finish().summary()
    assert data["paths"]["completed"] == 8
    assert [row["why"] for row in data["incomplete"]] == ["a symbolic pointer with more than 7 targets"]


# Programs that copy, join and search strings, with the number of paths that their own branches make.
WITHOUT_FORKS = {
    "copied": (
        """char from[6], to[8];
  klee_make_symbolic(from, sizeof from, "from");
  from[5] = 0;
  memset(to, 'x', sizeof to);
  char *end = stpcpy(to, from);
  if (end - to == 3) return to[3] == 0 && to[4] == 'x' ? 1 : 9;
  strncpy(to, from, 7);
  if (strlen(to) == 2) return to[6] == 0 ? 2 : 9;
  return strcmp(strcpy(to, from), from) == 0 ? 0 : 9;""",
        3,
    ),
    "joined": (
        """char a[4], b[4], to[12];
  klee_make_symbolic(a, sizeof a, "a");
  klee_make_symbolic(b, sizeof b, "b");
  a[3] = b[3] = 0;
  memset(to, 'x', sizeof to);
  strcpy(to, a);
  strcat(to, b);
  if (strlen(to) != strlen(a) + strlen(b)) return 9;
  if (strcmp(to, "path/") == 0) return 1;
  strncat(to, "abcdef", 2);
  return to[strlen(to) - 1] == 'b' ? 0 : 9;""",
        2,
    ),
    "looked up": (
        """static const char digits[] = "0123456789abcdef";
  unsigned char c;
  klee_make_symbolic(&c, sizeof c, "c");
  char *at = strchr(digits, c);
  if (!at) return memchr(digits, c, 16) ? 9 : 1;
  if (!c) return at - digits == 16 ? 2 : 9;
  if (strrchr("aabbc", c)) return strrchr("aabbc", c)[1] == c ? 9 : 3;
  return *at == c && memchr(digits, c, 16) == at ? 4 : 9;""",
        4,
    ),
    "in either case": (
        """char s[6];
  klee_make_symbolic(s, sizeof s, "s");
  s[5] = 0;
  if (strcasecmp(s, "Hello") == 0) return (s[1] | 32) == 'e' ? 1 : 9;
  if (strncasecmp(s, "@[`{", 4) == 0) return memcmp(s, "@[`{", 4) == 0 ? 2 : 9;
  return strcasecmp(s, "Z") > 0 ? 3 : 4;""",
        3,
    ),
}


@pytest.mark.parametrize("name", WITHOUT_FORKS)
def test_copying_and_searching_strings_does_not_fork_per_byte(tmp_path: Path, name: str) -> None:
    body, paths = WITHOUT_FORKS[name]
    source = write(tmp_path, f"#include <strings.h>\nint main(void) {{\n  {body}\n}}\n")
    run = explore(source, out=tmp_path / "out").finish()
    tests = list(ktest.read_folder(tmp_path / "out"))
    assert run.complete
    assert not run.bugs
    assert "exit 9" not in {test.ending for test in tests}
    assert len(tests) == paths
    with compile_native([str(source)]) as binary:
        assert [str(r) for r in replay(binary, tests) if r.verdict is not Verdict.AS_PREDICTED] == []


@pytest.mark.parametrize(("room", "line"), [(9, 0), (8, 9)])
def test_overflowing_strcat_is_found_at_its_first_line(tmp_path: Path, room: int, line: int) -> None:
    source = tmp_path / "program.c"
    source.write_text(f"""#include "klee/klee.h"
#include <string.h>
int main(void) {{
  char a[5], b[5], to[{room}];
  klee_make_symbolic(a, sizeof a, "a");
  klee_make_symbolic(b, sizeof b, "b");
  a[4] = b[4] = 0;
  strcpy(to, a);
  strcat(to, b);
  return 0;
}}
""")
    run = explore(source, out=tmp_path / "out").finish()
    found = [(bug.class_, bug.line) for bug in run.bugs]
    assert found == ([("out-of-bounds-write", line)] if line else [])
    if line:
        (test,) = [test for test in ktest.read_folder(tmp_path / "out") if test.ending and "exit" not in test.ending]
        longest = {name: data.index(0) for name, data in test.objects}
        assert longest["a"] + longest["b"] + 1 > room
