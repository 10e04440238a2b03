"""Corners of C, as a native program has them: absent functions, the environment, arguments that were not passed,
converted calls, memory of variable-length arrays, jumps."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import Run, explore
from partita.cli import main

HEAD = '#include "klee/klee.h"\n#include <stdarg.h>\n#include <stdlib.h>\n#include <string.h>\n'


def run(folder: Path, source: str, **options: object) -> Run:
    path = folder / "program.c"
    path.write_text(HEAD + source)
    return explore(path, max_time=60, **options).finish()  # type: ignore[arg-type]


def endings(folder: Path, source: str, **options: object) -> list[str]:
    """How the paths end, in order, with the line of a bug."""
    path = folder / "program.c"
    path.write_text(HEAD + source)
    found = explore(path, max_time=60, all_bugs=True, **options)  # type: ignore[arg-type]
    lines = [f"{path.ending}:{path.line}" if path.kind == "bug" else path.ending for path in found]
    assert found.summary()["incomplete"] == []
    return sorted(lines)


def test_an_undefined_weak_function_is_null(tmp_path: Path) -> None:
    source = """__attribute__((weak)) int hook(int);
int (*table[2])(int) = { hook, 0 };
int main(void) {
  if (hook || table[0]) return 1;
  int x = klee_range(0, 2, "x");
  return x ? 0 : hook(3);
}
"""
    assert endings(tmp_path, source) == ["exit 0", "null:10"]
    # A function that stands for it is there.
    assert endings(tmp_path, source, hooks={"hook": lambda call: 5}) == ["exit 1"]
    assert endings(tmp_path, "__attribute__((weak)) void *malloc(size_t); int main(void) { return !malloc; }") == [
        "exit 0"
    ]


def test_getenv_and_the_third_argument_of_main_agree(tmp_path: Path) -> None:
    source = """int main(int argc, char **argv, char **envp) {
  char *value = getenv("NAME"), *found = 0;
  for (; *envp; envp++)
    if (!strncmp(*envp, "NAME=", 5)) found = *envp + 5;
  if (getenv("NAM") || getenv("NAME=") || getenv("")) return 2;
  return value != found || !value || strcmp(value, "text");
}
"""
    for libc in ("none", "musl"):
        assert endings(tmp_path, source, libc=libc, env={"OTHER": "1", "NAME": "text"}) == ["exit 0"], libc


@pytest.mark.parametrize("arguments", [["text"], ["--sym-arg", "2"]])
def test_the_arguments_cannot_be_freed(tmp_path: Path, arguments: list[str]) -> None:
    for what in ("argv", "argv[1]"):
        source = f"int main(int argc, char **argv) {{ free({what}); return 0; }}"
        assert endings(tmp_path, source, arguments=arguments) == ["invalid-free:5"], what


VARIADIC = """static int sum(int n, ...) {
  va_list list;
  va_start(list, n);
  long total = 0;
  for (int i = 0; i < n; i++) total += va_arg(list, %s);
  va_end(list);
  return (int)total;
}
int main(void) { return sum(klee_range(0, %d, "n"), %s); }
"""


@pytest.mark.parametrize("count", [1, 3, 5, 7, 9])
@pytest.mark.parametrize(("type_", "registers"), [("int", 5), ("double", 8)])
def test_arguments_that_were_not_passed_cannot_be_read(tmp_path: Path, type_: str, registers: int, count: int) -> None:
    passed = ", ".join(f"({type_})1" for _ in range(count))
    found = endings(tmp_path, VARIADIC % (type_, count + 2, passed))
    assert found == [f"exit {n}" for n in range(count + 1)] + ["out-of-bounds-read:9"], registers


def test_system_calls_may_have_fewer_arguments(tmp_path: Path) -> None:
    source = "#include <fcntl.h>\nint main(void) { return fcntl(0, F_GETFL) & 3; }"
    assert endings(tmp_path, source, libc="musl") == ["exit 0"]
    source = "#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { return syscall(SYS_getpid) <= 0; }"
    assert endings(tmp_path, source, libc="musl") == ["exit 0"]


def test_calls_through_another_integer_type_convert(tmp_path: Path) -> None:
    source = """static int next(int x) { return x + 1; }
static long same(long x) { return x; }
static signed char low(signed char x) { return x; }
static unsigned char byte(unsigned char x) { return x; }
int main(void) {
  signed char c = klee_range(0, 256, "c");
  if ((int)((long (*)(signed char))next)(c) != c + 1) return 1;
  if ((int)((long (*)(int))same)(c) != c) return 2;
  if (((int (*)(int))low)(c + 256) != c) return 3;
  if (((int (*)(int))byte)(c) != (unsigned char)c) return 4;
  ((void (*)(long))next)(1);
  return 0;
}
"""
    assert endings(tmp_path, source) == ["exit 0"]
    wrong = "static double half(double x) { return x / 2; }\n"
    assert endings(tmp_path, wrong + "int main(void) { return ((int (*)(int))half)(2); }") == ["model-error:6"]


def test_the_absolute_value_of_the_least_number_is_an_overflow(tmp_path: Path) -> None:
    for source in ("__builtin_abs(x)", "(int)__builtin_labs((long)x << 32)"):
        program = f'int main(void) {{ int x; klee_make_symbolic(&x, 4, "x"); return {source} < 0; }}'
        assert endings(tmp_path, program, check=["overflow"]) == ["exit 0", "overflow:5"]
        assert endings(tmp_path, program) in (["exit 0"], ["exit 0", "exit 1"])


def test_a_fortified_copy_past_the_known_size_aborts(tmp_path: Path) -> None:
    """As with `-D_FORTIFY_SOURCE`: the size is a part of an object, which the copy would not leave."""
    for call in ("__builtin___memcpy_chk(s.a, from, n, 4)", "__builtin___memset_chk(s.a, 1, n, 4)"):
        source = f"""struct {{ char a[4], b[4]; }} s;
int main(void) {{
  static const char from[8];
  int n = klee_range(0, 8, "n");
  {call};
  return 0;
}}
"""
        assert endings(tmp_path, source) == ["abort:9", "exit 0"]


def test_a_backward_goto_releases_variable_arrays(tmp_path: Path) -> None:
    source = """int main(void) {
  int i = 0, sum = 0;
again:;
  int n = 1000 + i % 7, v[n];
  v[0] = v[n - 1] = i & 1;
  sum += v[0];
  if (++i < 5000) goto again;
  return sum == 2500 ? 0 : 1;
}
"""
    assert endings(tmp_path, source) == ["exit 0"]


def test_builtin_jumps_and_names_of_gcc(tmp_path: Path) -> None:
    source = """static void *buffer[5];
static void deep(int n) { if (n == 0) __builtin_longjmp(buffer, 1); deep(n - 1); }
int main(void) {
  volatile int before = 0;
  if (__builtin_setjmp(buffer)) return before + __builtin_isinff(1.0f) + __builtin_isnanf(1.0f);
  before = 5;
  deep(3);
  return 1;
}
"""
    assert endings(tmp_path, source) == ["exit 5"]


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ("(void)(1 / 0); return 0;", ["division-by-zero:6"]),
        ("int unused = (1 % 0) & 3; (void)unused; return 0;", ["division-by-zero:6"]),
        ("char s[] = {1 / 0}; (void)s; return 0;", ["division-by-zero:6"]),
        ("(void)(1u / (sizeof(int) - 4)); return 0;", ["division-by-zero:6"]),
        ("(void)(MIN / -1); return 0;", ["overflow:6"]),
        ("(void)(MIN % -1); return 0;", ["overflow:6"]),
        ("(void)(int)1e30; return 0;", ["float-cast:6"]),
        ("(void)(MIN - 1); (void)(1 << 40); return 0;", ["exit 0"]),  # not checked unless asked
        ("return argc > 9 ? 1 / 0 : 0;", ["exit 0"]),
        ("return argc > 9 ? (int)1e30 : argc + 2147483647 < 0;", ["exit 1"]),
        ("return sizeof(1 / 0) - 4;", ["exit 0"]),
    ],
)
def test_undefined_operations_on_constants_are_executed(body: str, ending: list[str], tmp_path: Path) -> None:
    """The compiler folds them, and leaves nothing to check unless it is asked to."""
    source = f"enum {{ MIN = -2147483647 - 1 }}; int main(int argc, char **argv) {{ (void)argv;\n  {body}\n}}\n"
    assert endings(tmp_path, source) == ending
    # With any options of the project about warnings, and with sanitizers of its own.
    assert endings(tmp_path, source, cflags=["-w", "-Wall", "-Werror"]) == ending
    assert endings(tmp_path, source, cflags=["-fsanitize=bounds", "-fwrapv"]) == ending


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ("(void)(MAX + 1);", ["overflow:6"]),
        ("g = MAX * 2;", ["overflow:6"]),
        ("(void)-(-MAX - 1);", ["overflow:6"]),
        ("(void)(1 << 40);", ["shift:6"]),
        ("g = MAX << 4;", ["shift:6"]),
        ("(void)(1u >> 32);", ["shift:6"]),
        ("g = MAX + argc;", ["overflow:6"]),
        ("g = MAX - argc * 2; g = 1u + MAX; g = (int)(1u << 31);", ["exit 0"]),
    ],
)
def test_undefined_operations_on_constants_that_are_checked_by_request(
    body: str, ending: list[str], tmp_path: Path
) -> None:
    source = f"int g; enum {{ MAX = 2147483647 }}; int main(int argc, char **argv) {{ (void)argv;\n  {body}\n}}\n"
    assert endings(tmp_path, source, check=["overflow", "shift"]) == ending
    # The file has an operation that is folded: what depends on values is checked as before.
    folded = source.replace("\n}", " if (argc > 9) (void)(MAX + 1 + 1 / 0);\n}")
    assert endings(tmp_path, folded, check=["overflow", "shift"]) == ending
    assert endings(tmp_path, folded) == ["exit 0"]


def test_a_checked_constant_adds_no_paths(tmp_path: Path) -> None:
    source = """int main(void) {
  int x = klee_range(0, 4, "x"), y = klee_range(-1, 3, "y"), z = 0;
  for (int i = 0; i < x; i++) z += i * y;
  if (x > 9) (void)(1 / 0);
  return 100 / (x + 1) + (int)(y * 1.5) + z / (y + 2);
}
"""
    plain = endings(tmp_path, source.replace("  if (x > 9) (void)(1 / 0);\n", "  if (x > 9) (void)(1 / 1);\n"))
    assert endings(tmp_path, source) == plain


UNDEFINED_RESULTS = [
    ("1u << n", "shift", "the result of a shift by the width or more decides a branch"),
    ("-1 >> n", "shift", "the result of a shift by the width or more decides a branch"),
    ("0x8000000000000000ul >> (n + 32)", "shift", "the result of a shift by the width or more decides a branch"),
    ("__builtin_clz(n)", "uninitialized-read", "the number of leading or trailing zeros of 0 decides a branch"),
    ("__builtin_ctzl(n)", "uninitialized-read", "the number of leading or trailing zeros of 0 decides a branch"),
]


@pytest.mark.parametrize(("expression", "class_", "why"), UNDEFINED_RESULTS)
def test_results_that_differ_between_processors_decide_nothing_unseen(
    expression: str, class_: str, why: str, tmp_path: Path
) -> None:
    source = """int main(void) {
  unsigned n = klee_range(0, 40, "n");
  long x = %s;
  if (%s) return 1;
  return 0;
}
"""
    found = run(tmp_path, source % (expression, "x == 2"))
    assert [row["why"] for row in found.summary()["incomplete"]] == [why]
    assert [(bug.class_, bug.line) for bug in found.bugs] == [(class_, 8)]
    # Where the result is not used it may be anything; an optimiser may compute it before it asks.
    is_fine = "n && n < 32"
    for flags in ("-O0", "-O2"):
        used = source % (f"({is_fine}) ? ({expression}) : 7", "x == 2")
        assert set(endings(tmp_path, used, cflags=[flags])) <= {"exit 0", "exit 1"}
    assert set(endings(tmp_path, source % (expression, f"{is_fine} && x == 2"))) <= {"exit 0", "exit 1"}
    constant = source.replace('klee_range(0, 40, "n")', "argc * 0 + 32").replace("main(void)", "main(int argc)")
    if class_ == "shift":
        assert run(tmp_path, constant % (expression, "x == 2")).bugs


OLDER = """
#include <partita.h>
int main(void) {
  char c;
  partita_make_symbolic(&c, 1, "c");
  if (toupper(c) == 'Q') return strlen("four");
  return 0;
}
"""


def test_older_c_is_compiled_as_compilers_of_its_time_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "older.c"
    path.write_text(OLDER)
    run = explore(path, out=tmp_path / "out").finish()
    assert run.complete
    assert {test.ending for test in run.tests()} == {"exit 0", "exit 4"}
    assert main(["replay", str(path), str(tmp_path / "out"), "--quiet"]) == 0
    assert "different" not in capsys.readouterr().out


# A call that prints over its own arguments, and one that just does not.
OVERLAPS = {
    "the first string": ('sprintf(b, "%s%s", b, "q");', 'sprintf(b + 4, "%s%s", b, "q");'),
    "a later string": ('sprintf(b, "%d%s", 7, b + 1);', 'sprintf(b, "%d", b[1]);'),
    "one character": ('sprintf(b + 3, "%s", b);', 'sprintf(b + 3, "%.3s", b);'),
    "with a size": ('snprintf(b, 16, "x%s", b);', 'snprintf(b, 0, "x%s", b);'),
    "the format": ("sprintf(b, b);", "sprintf(b + 4, b);"),
    "from a list": ('print(b, "%s.%s", "a", b + 2);', 'print(b + 4, "%s.%s", "a", b + 2);'),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_text_is_not_printed_over_its_own_parts(name: str, tmp_path: Path) -> None:
    source = """#include <stdio.h>
static int print(char *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(to, 12, format, list);
  va_end(list);
  return n;
}
int main(void) {
  char b[16] = "abc";
  if (klee_range(0, 2, "x")) b[1] = 0;
  %s
  return print(b + 8, "") + b[0] == 0;
}
"""
    lines = {line.partition(":")[0] for line in endings(tmp_path, source % OVERLAPS[name][0])}
    assert "overlap" in lines
    assert set(endings(tmp_path, source % OVERLAPS[name][1])) == {"exit 0"}


# Programs with a `bool` made of a byte, and their endings.
BOOLS = {
    "a copied byte": ("bool b; memcpy(&b, &c, 1); if (b) return 3; return 4;", ["exit 3", "exit 4", "sanitizer:7"]),
    "a byte through a pointer": (
        "bool b; *(unsigned char *)&b = c; if (b) return 3; return 4;",
        ["exit 3", "exit 4", "sanitizer:7"],
    ),
    "a union": (
        "union { unsigned char c; bool b; } u; u.c = c; if (!u.b) return 3; return 4;",
        ["exit 3", "exit 4", "sanitizer:7"],
    ),
    "a member": (
        "struct { int n; bool b; } s; memset(&s, c, sizeof s); if (s.b) return 3; return 4;",
        ["exit 3", "exit 4", "sanitizer:7"],
    ),
    "a known byte": ("union { char c; bool b; } u; u.c = 2; return u.b;", ["sanitizer:7"]),
    "a byte that is 0 or 1": ("bool b; c &= 1; memcpy(&b, &c, 1); if (b) return 3; return 4;", ["exit 3", "exit 4"]),
    "a converted number": ("bool b = c; bool a[2] = {b, !b}; if (a[c & 1]) return 3; return 4;", ["exit 3", "exit 4"]),
    "a bit field": (
        "struct { bool a : 1, b : 1; } s; memset(&s, c, 1); if (s.b) return 3; return 4;",
        ["exit 3", "exit 4"],
    ),
    "an atomic one": ("_Atomic bool b = c > 3; b ^= 1; if (b) return 3; return 4;", ["exit 3", "exit 4"]),
    "members that are not set": ("struct { bool a, b; } s, t; t.a = s.a; t.b = s.b; return 5;", ["exit 5"]),
    "a copied structure": (
        "struct { bool a, b; } s, t; s.a = c; t = s; if (t.a) return 3; return 4;",
        ["exit 3", "exit 4"],
    ),
}


@pytest.mark.parametrize("name", BOOLS)
def test_a_bool_is_0_or_1(name: str, tmp_path: Path) -> None:
    """Compilers rely on it: of a byte of 2 some look at a bit, others at all."""
    body, expected = BOOLS[name]
    source = f"""#include <stdbool.h>
int main(void) {{ unsigned char c; klee_make_symbolic(&c, 1, "c");
  {body}
}}
"""
    assert sorted(set(endings(tmp_path, source))) == expected


def test_an_assumption_of_the_program_holds(tmp_path: Path) -> None:
    source = """int main(void) { unsigned char c; klee_make_symbolic(&c, 1, "c");
  %s
  if (c > 100) return 1;
  return 0;
}
"""
    for what in ("__builtin_assume(c < 200);", "if (c >= 200) __builtin_assume(0);"):
        assert endings(tmp_path, source % what) == ["exit 0", "exit 1", "unreachable:6"], what
    for what in ("__builtin_assume(c < 256);", "int *p = __builtin_assume_aligned(&c, 1); (void)p;"):
        assert endings(tmp_path, source % what) == ["exit 0", "exit 1"], what


def test_null_where_an_attribute_excludes_it_is_a_bug_on_request(tmp_path: Path) -> None:
    source = """__attribute__((nonnull)) static int is_null(const char *p) { return p == 0; }
__attribute__((returns_nonnull)) static char *text(int x) { return x == 3 ? 0 : "a"; }
int main(void) { unsigned char c; klee_make_symbolic(&c, 1, "c");
  c += is_null(c == 9 ? 0 : "x");
  return !text(c);
}
"""
    cflags = ["-fsanitize=nonnull-attribute,returns-nonnull-attribute"]
    assert endings(tmp_path, source, cflags=cflags) == ["exit 0", "null:6", "null:8"]


@pytest.mark.parametrize("optimize", [False, True])
def test_variables_that_change_after_setjmp_keep_the_change(optimize: bool, tmp_path: Path) -> None:
    source = """#include <setjmp.h>
static jmp_buf place;
static void back(int n) { if (n > 2) longjmp(place, n); }
int main(void) {
  int n = klee_range(0, 3, "x");
  if (setjmp(place) > 3) return n;
  back(++n + 1);
  return 9;
}
"""
    assert set(endings(tmp_path, source, optimize=optimize)) == {"exit 3", "exit 9"}
