"""32-bit programs: layout, calls, library, native replay, bitcode, sources that gcc has preprocessed, errors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.cc.musl import link_command
from partita.errors import UsageError
from partita.replay import Verdict
from partita.replay.native import replay_natively
from partita.toolchain import compiler

PROGRAM = r"""
#include <assert.h>
#include <klee/klee.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; long long wide; char name[3]; };
struct pair { int *at; short tag; };
int table[10], other;
int *addresses[] = {&other, table + 3};
static struct pair swap(struct pair p, double d) { p.tag += (short)d; return p; }
static long double largest(int count, ...) {
  va_list list, copy;
  va_start(list, count);
  va_copy(copy, list);
  long double best = 0;
  for (int i = 0; i < count; i++) {
    long double x = va_arg(copy, long double);
    if (x > best) best = x;
  }
  va_end(copy);
  va_end(list);
  return best;
}
int main(void) {
  assert(sizeof(long) == 4 && sizeof(void *) == 4 && sizeof(size_t) == 4 && sizeof(struct node) == 16);
  assert(sizeof(long double) == 12 && __alignof__(struct { long long x; }) == 4);
  int i;
  klee_make_symbolic(&i, sizeof i, "i");
  struct pair p = swap((struct pair){&table[i & 7], 1}, 2.5);
  *p.at = 3;
  assert(table[i & 7] == 3 && p.tag == 3 && *addresses[1] == table[3]);
  assert(largest(2, 1.5L, 2.5L) == 2.5L);
  struct node *head = calloc(1, sizeof *head);
  head->next = malloc(sizeof *head);
  head->next->next = 0;
  head->next->wide = 1LL << 40 | (unsigned)i;
  char text[40];
  snprintf(text, sizeof text, "%ld %s %lld %zu", 5L, "x", head->next->wide & ~0xffffffffLL, sizeof p);
  assert(strcmp(text, "5 x 1099511627776 8") == 0);
  puts(text);
  if (i == 77) table[i] = 1;
  return (int)head->next->wide == i ? 0 : 1;
}
"""

LIBRARY = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
  char input[4];
  if (read(0, input, 4) == 4 && input[0] == 'x') puts("x");
  FILE *file = fopen("made", "w+");
  fprintf(file, "%ld %lld %g", 5L, 1LL << 40, 2.5);
  fseek(file, 2, SEEK_SET);
  long long n;
  if (fscanf(file, "%lld", &n) == 1) printf("%lld %ld\n", n, ftell(file));
  fclose(file);
  struct stat status;
  if (!stat("made", &status)) printf("%lld %d\n", (long long)status.st_size, S_ISREG(status.st_mode));
  time_t now = time(0);
  printf("%d %zu\n", now > 1000000, sizeof now);
  int numbers[] = {5, 3, 1, 4, 2};
  qsort(numbers, 5, sizeof *numbers, less);
  for (int i = 0; i < 5; i++) printf("%d ", numbers[i]);
  printf("%s %.3Lf\n", strtok(strdup("a,b"), ","), strtold("3.25", 0));
  return 0;
}
"""

# As gcc 12 preprocesses glibc's headers.
PREPROCESSED = r"""
# 1 "task.c"
# 1 "/usr/include/stdlib.h" 1 3 4
typedef unsigned int size_t;
extern void *malloc (size_t __size) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__malloc__))
     __attribute__ ((__alloc_size__ (1))) ;
extern void *reallocarray (void *__ptr, size_t __nmemb, size_t __size)
     __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__malloc__ (__builtin_free, 1)));
extern _Float128 strtof128 (const char *__restrict __nptr, char **__restrict __endptr) __attribute__ ((__nothrow__));
__extension__ typedef struct { long long int quot; long long int rem; } lldiv_t;
extern void __assert_fail (const char *__assertion, const char *__file, unsigned int __line, const char *__function)
     __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__noreturn__));
# 2 "task.c" 2
extern int __VERIFIER_nondet_int(void);
void reach_error() { ((void) sizeof ((0) ? 1 : 0), __extension__ ({ if (0) ; else
# 3 "task.c"
__assert_fail ("0", "task.c", 3, __extension__ __PRETTY_FUNCTION__); })); }
int main(void) {
  int linux = __VERIFIER_nondet_int();
  if (__builtin_isnanf((float)linux)) return 1;
  if (linux == sizeof(long) * 1000) reach_error();
  return 0;
}
"""


def write(folder: Path, text: str, name: str = "p.c") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_program_runs_and_replays_as_predicted(tmp_path: Path) -> None:
    path = write(tmp_path, PROGRAM)
    run = explore(path, data_model="ILP32", out=tmp_path / "out").finish()
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("out-of-bounds-write", 44)]
    assert run.complete
    results = replay_natively([str(path)], list(ktest.read_folder(tmp_path / "out")), cflags=["-m32"])
    assert [str(result) for result in results if result.verdict is Verdict.DIFFERENT] == []
    assert [result.ending for result in results if result.test.ending == "exit 0"] == ["exit 0"]


def test_bitcode_of_32_bits(tmp_path: Path) -> None:
    path, bitcode = write(tmp_path, PROGRAM), tmp_path / "p.bc"
    command = [*compiler(None, narrow=True), "-m32", "-emit-llvm", "-c", "-g", "-w"]
    subprocess.run([*command, "-o", str(bitcode), str(path)], check=True)
    assert [bug.class_ for bug in explore(bitcode).finish().bugs] == ["out-of-bounds-write"]
    with pytest.raises(UsageError, match=r"is code of 32 bits, and `.*` of 64: compile both alike"):
        explore([write(tmp_path, "int f(void) { return 0; }", "f.c"), bitcode])


def test_library_prints_what_it_prints_natively(tmp_path: Path) -> None:
    path = write(tmp_path, LIBRARY)
    run = explore(path, data_model="ILP32", sym_stdin=4)
    paths = list(run)
    assert run.complete
    binary = tmp_path / "native"
    subprocess.run(link_command([str(path), "-w", "-o", str(binary)], narrow=True), check=True)
    native = [
        subprocess.run([binary], input=given, capture_output=True, check=True, cwd=tmp_path).stdout
        for given in (b"xyz\n", b"abc\n")
    ]
    assert sorted(path.output for path in paths) == sorted(native)


def test_objects_of_all_sizes_have_red_zones(tmp_path: Path) -> None:
    text = """
    #include <klee/klee.h>
    #include <stdlib.h>
    static const size_t sizes[] = {0, 1, 31, 32, 33, 256, 257, 4096, 5000, 65536, 70000, 4194304, 5000000};
    int main(void) {
      unsigned which = klee_range(0, 13, "which"), after = klee_range(0, 2, "after");
      for (int i = 0; i < 3; i++) malloc(sizes[which]);
      unsigned char *p = malloc(sizes[which]);
      if ((unsigned long)p % 16) return 1;
      if (sizes[which]) p[0] = p[sizes[which] - 1] = 1;
      return after ? p[sizes[which]] : p[-1];
    }
    """
    run = explore(write(tmp_path, text), data_model="ILP32").finish()
    assert run.summary()["paths"] == {"completed": 0, "bugs": 26, "limits": 0, "unsupported": 0}
    assert {bug.class_ for bug in run.bugs} == {"out-of-bounds-read"}


def test_source_that_gcc_preprocessed(tmp_path: Path) -> None:
    path = write(tmp_path, PREPROCESSED, "task.i")
    run = explore(path, data_model="ILP32", out=tmp_path / "out").finish()
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("assert", 7)], "the call of reach_error"
    results = replay_natively([str(path)], list(ktest.read_folder(tmp_path / "out")), cflags=["-m32"])
    assert {result.verdict for result in results} == {Verdict.AS_PREDICTED}


def test_pointers_wrap_around_only_outside_of_objects(tmp_path: Path) -> None:
    text = """
    #include <assert.h>
    #include <klee/klee.h>
    struct item { int a; struct item *link; };
    struct item *kept;
    int main(void) {
      int i = klee_int("i");
      /* The item before a null pointer, through memory and back. */
      kept = (struct item *)((char *)0 - __builtin_offsetof(struct item, link));
      assert((char *)&kept->link == (char *)0);
      char *p = (char *)0 + i;
      assert((unsigned long)p == (unsigned)i);
      return 0;
    }
    """
    run = explore(write(tmp_path, text), data_model="ILP32").finish()
    assert (run.bugs, run.complete) == ([], True)


def test_cpp_of_32_bits_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "int main() { return 0; }\n", "p.cpp")
    with pytest.raises(UsageError, match="expected C for a 32-bit program, found C\\+\\+"):
        explore(path, data_model="ILP32")
