"""Cases for the register of models: every function is called with each of its arguments symbolic in turn.

A probe is one such call. It gets two bytes of input and writes what the call did (result, memory, errno) to `out`. Each
probe runs natively for all inputs, and in the engine twice: as it is, which shows how many paths the call makes and
what is counted; and with a fork for every input after the call, so that each input has a path with the output that the
engine computes for it.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import partita
from partita import Run, explore
from partita.cc.musl import link_command
from partita.options import ENVIRONMENT
from partita.register import KINDS, Kind

OUT_BYTES = 48

# Types of arguments, with a C expression for a known and for a symbolic value. `T` and `U` are texts of the two input
# bytes; `N` is the number that they form.
ARGUMENTS = {
    "string": ('copy("ab")', "T"),
    "other": ('copy("b")', "T"),
    "number": ('copy("-12")', "U"),
    "memory": ('copy("abc")', "T"),
    "buffer": ("buffer", "buffer + (in[0] & 3)"),
    "char": ("'b'", "in[0]"),
    "wide": ("300", "(short)N"),
    "size": ("2", "in[0] % 4"),
    "large": ("2", "(size_t)in[0] << 40 | 3"),
    "base": ("10", "in[0] % 40 - 2"),
    "int": ("5", "(short)N"),
    "long": ("5", "(short)N * 70000L"),
    "end": ("&end", "(char **[]){0, &end}[in[0] & 1]"),
    "float": ("2.5f", "(float)(short)N / 8"),
    "double": ("2.5", "(double)(short)N / 8"),
    "quad": ("2.5L", "(long double)(short)N / 8"),
    "out": ("(void **)&end", "(void **)(char **[]){&other_end, &end}[in[0] & 1]"),
    "stream": ("stdout", "(FILE *[]){stderr, stdout}[in[0] & 1]"),
    "heap": ("heap(4)", "(void *[]){heap(4), heap(8)}[in[0] & 1]"),
    "format": ('"<%d %s %c>"', "T"),
    "order": ("order", "(int (*[])(const void *, const void *)){reverse, order}[in[0] & 1]"),
    "order_of": (
        "order_of",
        "(int (*[])(const void *, const void *, void *)){reverse_of, order_of}[in[0] & 1]",
    ),
    "argument": ("&comparisons", "&(&comparisons)[0 * in[0]]"),
    "ints": ("ints", "(ints[1] = in[0], ints[2] = in[1], ints)"),
}

# Kept part of a result, as a C statement. `R` is the result, `A` the first argument.
RESULTS = {
    "void": "",
    "int": "put(&(int){R}, 4);",
    "sign": "{ int r = R; put(&(int){(r > 0) - (r < 0)}, 4); }",
    "truth": "put(&(int){(R) != 0}, 4);",
    "long": "put(&(long){R}, 8);",
    "place": "put(&(long){place(R, A)}, 8);",
    "text": '{ char *r = R; put(r ? r : "", r ? strlen(r) + 1 : 1); }',
    "given": "put(&(int){(R) != 0}, 4);",
    "float": "put(&(float){R}, 4);",
    "double": "put(&(double){R}, 8);",
    "quad": "put(&(long double){R}, 10);",
    "bytes": "{ char *r = R; put(&(int){r != 0}, 4); if (r) put(r, 4); }",
}


def _family(names: str, signature: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), signature)


def _floats(names: str, signature: str) -> dict[str, str]:
    """The three formats of functions of mathematics."""
    rows = {}
    for suffix, type_ in (("f", "float"), ("", "double"), ("l", "quad")):
        rows.update({f"{name}{suffix}": signature.replace("real", type_) for name in names.split()})
    return rows


# Result and arguments of each function. A function without a signature has a statement in `STATEMENTS`.
SIGNATURES: dict[str, str] = {
    **_family("isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper", "truth char"),
    **_family("isxdigit isascii", "truth char"),
    **_family("tolower toupper toascii", "int char"),
    "strlen": "long string",
    "strnlen": "long string size",
    **_family("strcmp strcoll strcasecmp", "sign string other"),
    **_family("strncmp strncasecmp", "sign string other size"),
    **_family("memcmp bcmp", "sign memory string size"),
    **_family("strchr strrchr", "place string char"),
    **_family("memchr memrchr", "place memory char size"),
    **_family("strspn strcspn", "long string other"),
    **_family("strpbrk strstr", "place string other"),
    **_family("strcpy stpcpy strcat", "place buffer string"),
    **_family("strncpy strncat", "place buffer string size"),
    **_family("memcpy memmove mempcpy", "place buffer memory size"),
    **_family("__memcpy_chk __memmove_chk", "place buffer memory size room"),
    "memset": "place buffer char size",
    "__memset_chk": "place buffer char size room",
    "bzero": "void buffer size",
    "strdup": "text string",
    "strndup": "text string size",
    "strtok": "place string other",
    "strtok_r": "place string other end",
    **_family("strtol strtoul strtoll strtoull strtoimax strtoumax", "long number end base"),
    **_family("atoi", "int number"),
    **_family("atol atoll", "long number"),
    "abs": "int int",
    **_family("labs llabs", "long long"),
    "qsort": "void ints length width order",
    "qsort_r": "void ints length width order_of argument",
    "bsearch": "given ints ints length width order",
    "getenv": "given string",
    **_family("malloc valloc", "given large"),
    "calloc": "given large size",
    "realloc": "given heap size",
    "reallocarray": "given heap size large",
    "free": "void heap",
    **_family("memalign aligned_alloc", "given align large"),
    "posix_memalign": "int out align size",
    "malloc_usable_size": "given heap",
    **_floats("fabs sqrt floor ceil trunc rint nearbyint round", "real real"),
    **_floats("lrint llrint lround llround", "long real"),
    **_floats("fmod copysign fmin fmax remainder drem", "real real real"),
    **_floats("fma", "real real real real"),
    **_floats("__isnan isnan __finite", "truth real"),
    **_floats("__isinf isinf", "int real"),
    "fesetround": "int mode",
    "srand": "void int",
    "srandom": "void int",
    "sprintf": "int buffer format int string char",
    "snprintf": "int buffer size format int string char",
    "putchar": "int char",
    **_family("fputc putc", "int char stream"),
    "puts": "truth string",
    "fputs": "truth string stream",
    "printf": "int format int string char",
    "fprintf": "int stream format int string char",
    "dprintf": "int descriptor format int string char",
    "write": "long descriptor memory size",
    "fwrite": "long memory size size stream",
    "fflush": "int stream",
}
ARGUMENTS.update(
    {
        "length": ("4", "in[0] % 5"),
        "width": ("4", "4"),
        "align": ("16", "16 << (in[0] & 1)"),
        "mode": ("0x400", "in[0] << 8"),
        "room": ("16", "in[0] % 8 + 3L"),  # a smaller one ends the program
        "descriptor": ("1", "in[0] % 2 + 1"),
    }
)

# Further statements: arguments with more values than `--max-values`, sizes beyond an object of symbolic size, keys that
# compare equal, whose order and number of comparisons replay shows.
MORE_STATEMENTS = {
    "qsort": "qsort(keyed(), 4, 4, by_key); put(ints, 16); put(&comparisons, 4);",
    "qsort_r": "qsort_r(keyed(), 4, 4, by_key_of, &comparisons); put(ints, 16); put(&comparisons, 4);",
    "bsearch": "int *at = bsearch((int[]){in[0]}, (int[]){1, 18, 34, 50, 67}, 5, 4, by_key);"
    " put(at ? at : &comparisons, 4); put(&comparisons, 4);",
    "strnlen": 'put(&(long){strnlen(copy("ab"), N)}, 8);',
    "strncmp": 'put(&(int){strncmp(copy("ab"), copy("ac"), N) < 0}, 4);',
    "strncasecmp": 'put(&(int){strncasecmp(copy("ab"), copy("ac"), N) < 0}, 4);',
    "malloc": "put(&(int){malloc(N * 64L) != 0}, 4);",
    "valloc": "put(&(int){valloc(N * 64L) != 0}, 4);",
    "calloc": "put(&(int){calloc(1, N * 64L) != 0}, 4);",
    "realloc": "put(&(int){realloc(heap(4), N + 1) != 0}, 4);",
    "reallocarray": "put(&(int){reallocarray(heap(4), 1, N + 1) != 0}, 4);",
    "memalign": "put(&(int){memalign(16, N * 64L) != 0}, 4);",
    "aligned_alloc": "put(&(int){aligned_alloc(16, N * 64L) != 0}, 4);",
    "posix_memalign": "put(&(int){posix_memalign((void **)&end, 16, N * 64L)}, 4);",
    "strndup": 'put(strndup(copy("ab"), N), 3);',
    "snprintf": 'put(&(int){snprintf(buffer, N % 100, "%d", 7)}, 4);',
    "vsnprintf": 'limit = N % 100; put(&(int){variadic(1, "%d", 7)}, 4);',
}

# Statements for functions whose calls do not look like `put(f(...))`.
STATEMENTS: dict[str, list[str]] = {
    "vsprintf": ['put(&(int){variadic(0, "<%d>", in[0])}, 4);', "put(&(int){variadic(0, T, 7)}, 4);"],
    "vsnprintf": ['put(&(int){variadic(1, "<%d>", in[0])}, 4);', "put(&(int){variadic(1, T, 7)}, 4);"],
    "vprintf": ['put(&(int){variadic(2, "<%d>", in[0])}, 4);', "put(&(int){variadic(2, T, 7)}, 4);"],
    "vfprintf": ['put(&(int){variadic(3, "<%d>", in[0])}, 4);', "put(&(int){variadic(3, T, 7)}, 4);"],
    "vdprintf": ['put(&(int){variadic(4, "<%d>", in[0])}, 4);', "put(&(int){variadic(4, T, 7)}, 4);"],
    "setjmp": ["jump(in[0]);"],
    "longjmp": ["jump(in[0]);"],
    "_setjmp": ["jump(in[0]);"],
    "_longjmp": ["jump(in[0]);"],
    "sigsetjmp": ["signal_jump(in[0]);"],
    "siglongjmp": ["signal_jump(in[0]);"],
    "rand": ["srand(in[0] & 1); put(&(int){rand()}, 4);"],
    "random": ["srandom(in[0] & 1); put(&(long){random()}, 8);"],
    "fegetround": ["fesetround((in[0] & 1) << 11); put(&(int){fegetround()}, 4); fesetround(0);"],
    "fegetenv": ["fenv_t e; put(&(int){fegetenv((fenv_t *[]){&environment, &e}[in[0] & 1])}, 4);"],
    "fesetenv": [
        "fegetenv(&environment); put(&(int){fesetenv((const fenv_t *[]){FE_DFL_ENV, &environment}[in[0] & 1])}, 4);"
    ],
    "__flt_rounds": ["put(&(int){__flt_rounds() + in[0]}, 4);"],
    "feholdexcept": ["put(&(int){feholdexcept(&environment)}, 4);"],
    "feupdateenv": ["fegetenv(&environment); put(&(int){feupdateenv(&environment)}, 4);"],
    "feclearexcept": ["put(&(int){feclearexcept(in[0] & FE_ALL_EXCEPT)}, 4);"],
    "__powisf2": ["put(&(float){__powisf2((float)(short)N / 8, 3)}, 4);"],
    "__powidf2": ["put(&(double){__powidf2((double)(short)N / 8, -3)}, 8);"],
    "__powixf2": ["put(&(long double){__powixf2((long double)(short)N / 8, 2)}, 10);"],
    "__errno_location": ["errno = in[0]; put(&(int){errno}, 4); errno = 0;"],
    "atexit": ["put(&(int){atexit((void (*[])(void)){nothing_else, nothing}[in[0] & 1])}, 4);"],
    "perror": ["errno = in[0] & 1; perror(T); errno = 0;"],
}

# Functions that exist only in the engine, or end the program: no native result to compare with.
ENGINE: dict[str, str] = {
    "klee_make_symbolic": 'klee_make_symbolic(ints, sizeof ints, "ints");',
    "klee_int": 'put(&(int){klee_int("n")}, 4);',
    "klee_range": 'put(&(int){klee_range(in[0], 300, "n")}, 4);',
    "klee_choose": "put(&(long){klee_choose(in[0] + 1)}, 8);",
    "klee_assume": "klee_assume(in[0] < 7);",
    "klee_is_symbolic": "put(&(int){klee_is_symbolic(in[0])}, 4);",
    "klee_is_replay": "put(&(int){klee_is_replay()}, 4);",
    "klee_prefer_cex": "klee_prefer_cex(in, in[0] == 'a');",
    "klee_posix_prefer_cex": "klee_posix_prefer_cex(in, in[0] == 'a');",
    "klee_mark_global": "klee_mark_global((void *[]){in, out}[in[0] & 1]);",
    "klee_open_merge": "klee_open_merge();",
    "klee_close_merge": "klee_close_merge();",
    "klee_warning": 'klee_warning("w");',
    "klee_warning_once": 'klee_warning_once("w");',
    "klee_stack_trace": "klee_stack_trace();",
    "klee_print_expr": 'klee_print_expr("e", in[0]);',
    "klee_print_range": 'klee_print_range("e", in[0]);',
    "klee_set_forking": "klee_set_forking(0); if (in[0] == 3) splits++; klee_set_forking(1);",
    "klee_silent_exit": "klee_silent_exit(in[0]);",
    "klee_abort": "klee_abort();",
    "klee_assert_fail": 'klee_assert_fail("e", "f", 1, "g");',
    "klee_report_error": 'klee_report_error("f", 1, "m", "s");',
    "klee_report_bug": 'klee_report_bug("overflow", "f", in[0], "m");',
    "klee_beyond": 'put(&(int){klee_beyond("m") != 0}, 4);',
    "klee_left_out": 'klee_left_out("m");',
    "klee_landing_pad": "put(&(int){klee_landing_pad(in[0]) != 0}, 4);",
    "klee_land": "klee_land(0, 0, in[0]);",
    "klee_get_valuef": "put(&(float){klee_get_valuef(in[0])}, 4);",
    "klee_get_valued": "put(&(double){klee_get_valued(in[0])}, 8);",
    "klee_get_valuel": "put(&(long){klee_get_valuel(in[0])}, 8);",
    "klee_get_valuell": "put(&(long long){klee_get_valuell(in[0])}, 8);",
    "klee_get_value_i32": "put(&(int){klee_get_value_i32(in[0])}, 4);",
    "klee_get_value_i64": "put(&(long){klee_get_value_i64(in[0])}, 8);",
    "klee_check_memory_access": "klee_check_memory_access(buffer, in[0] & 3);",
    "klee_get_obj_size": "put(&(long){klee_get_obj_size((void *[]){in, out}[in[0] & 1])}, 8);",
    "klee_get_errno": "errno = in[0]; put(&(int){klee_get_errno()}, 4);",
    "klee_define_fixed_object": "klee_define_fixed_object((void *)0x12340000, 8);",
    "klee_ambient": 'put(&(long){klee_ambient("n", in[0])}, 8);',
    "__VERIFIER_assume": "__VERIFIER_assume(in[0] < 7);",
    "__VERIFIER_error": "__VERIFIER_error();",
    "reach_error": "reach_error();",
    "__VERIFIER_assert": "__VERIFIER_assert(in[0] < 7);",
    "__VERIFIER_atomic_begin": "__VERIFIER_atomic_begin();",
    "__VERIFIER_atomic_end": "__VERIFIER_atomic_end();",
    "__VERIFIER_nondet_memory": "__VERIFIER_nondet_memory(buffer, in[0] % 4);",
    "exit": "exit(in[0]);",
    "_exit": "_exit(in[0]);",
    "_Exit": "_Exit(in[0]);",
    "quick_exit": "quick_exit(in[0]);",
    "abort": "abort();",
    "__assert_fail": '__assert_fail("e", "f", 1, "g");',
    "__assert_rtn": '__assert_rtn("f", "g", 1, "e");',
    "__cxa_finalize": "__cxa_finalize(0);",
    "__cxa_atexit": "put(&(int){__cxa_atexit((void *[]){nothing_else, nothing}[in[0] & 1], 0, 0)}, 4);",
    "__sigsetjmp": "put(&(int){__sigsetjmp(signal_place, in[0])}, 4);",
    "fetestexcept": "put(&(int){fetestexcept(in[0] & FE_ALL_EXCEPT)}, 4);",
    "fegetexceptflag": "fexcept_t f; put(&(int){fegetexceptflag(&f, FE_ALL_EXCEPT)}, 4);",
    "feraiseexcept": "put(&(int){feraiseexcept(in[0] & FE_ALL_EXCEPT)}, 4);",
    "fesetexceptflag": "fexcept_t f = 0; put(&(int){fesetexceptflag(&f, in[0] & FE_ALL_EXCEPT)}, 4);",
    "time": "time_t t; time((time_t *[]){0, &t}[in[0] & 1]);",
    "clock": "put(&(long){clock()}, 8);",
    "gettimeofday": "struct timeval t; gettimeofday((struct timeval *[]){0, &t}[in[0] & 1], 0);",
    "clock_gettime": "struct timespec t; clock_gettime(in[0], &t);",
    "__mulsc3": "put(&(_Complex float){__mulsc3(in[0], 1, in[1], 2)}, 8);",
    "__muldc3": "put(&(_Complex double){__muldc3(in[0], 1, 3, 2)}, 8);",
    "__mulxc3": "put(&(_Complex long double){__mulxc3(in[0], 1, 3, 2)}, 8);",
    "__divsc3": "put(&(_Complex float){__divsc3(in[0], 1, in[1] & 1, 0)}, 8);",
    "__divdc3": "put(&(_Complex double){__divdc3(in[0], 1, in[1] & 1, 0)}, 8);",
    "__divxc3": "put(&(_Complex long double){__divxc3(in[0], 1, in[1] & 1, 0)}, 8);",
}

ENGINE_DECLARATIONS = r"""
#include <complex.h>
#include <sys/time.h>
#include <klee/klee.h>
void klee_posix_prefer_cex(void *, uintptr_t);
void klee_mark_global(void *);
void *klee_beyond(const char *);
void klee_left_out(const char *);
void klee_report_bug(const char *, const char *, int, const char *);
long klee_ambient(const char *, long);
int klee_get_errno(void);
void klee_print_range(const char *, int);
void __VERIFIER_assume(int);
void __VERIFIER_error(void);
void reach_error(void);
void __VERIFIER_assert(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_nondet_memory(void *, size_t);
void __assert_rtn(const char *, const char *, int, const char *);
void __assert_fail(const char *, const char *, int, const char *);
void __cxa_finalize(void *);
int __cxa_atexit(void *, void *, void *);
long *klee_landing_pad(long);
void klee_land(long, void *, int);
int __sigsetjmp(sigjmp_buf, int);
_Complex float __mulsc3(float, float, float, float);
_Complex double __muldc3(double, double, double, double);
_Complex long double __mulxc3(long double, long double, long double, long double);
_Complex float __divsc3(float, float, float, float);
_Complex double __divdc3(double, double, double, double);
_Complex long double __divxc3(long double, long double, long double, long double);
"""

HEAD = r"""
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
void *memrchr(const void *, int, size_t);
void *mempcpy(void *, const void *, size_t);
int __flt_rounds(void);
float __powisf2(float, int);
double __powidf2(double, int);
long double __powixf2(long double, int);
double drem(double, double);
float dremf(float, float);
long double dreml(long double, long double);
#undef isnan
#undef isinf
int __isnan(double), __isnanf(float), __isnanl(long double), isnan(double), isnanf(float), isnanl(long double);
int __isinf(double), __isinff(float), __isinfl(long double), isinf(double), isinff(float), isinfl(long double);
int __finite(double), __finitef(float), __finitel(long double);
void klee_make_symbolic(void *, size_t, const char *);
#define OUT 48
static unsigned char in[2], out[OUT];
static unsigned filled;
static char buffer[16], texts[4][8], *end, *other_end;
static int ints[4], splits, text_count;
static size_t limit = 9;
static fenv_t environment;
static jmp_buf place_to_return;
static sigjmp_buf signal_place;
#define T text_of_input()
#define U number_of_input()
#define N (in[0] | in[1] << 8)
static void put(const void *bytes, size_t count) {
  for (size_t i = 0; i < count && filled < 24; i++) out[filled++] = ((const unsigned char *)bytes)[i];
}
static char *copy(const char *text) {
  char *to = texts[text_count++ % 4];
  for (int i = 0; i < 7; i++) to[i] = 0;
  for (int i = 0; text[i]; i++) to[i] = text[i];
  return to;
}
static char *text_of_input(void) {
  char *to = copy("");
  to[0] = (char)in[0], to[1] = (char)in[1];
  return to;
}
/* A number in the middle: "1" and the two bytes. */
static char *number_of_input(void) {
  char *to = copy("");
  to[0] = (char)in[0], to[1] = '1', to[2] = (char)in[1];
  return to;
}
/* Without a branch, which would be a path. */
static long place(const void *p, const void *base) { return (p != 0) * ((long)p - (long)base + 1) - 1; }
static void *heap(size_t size) { return calloc(1, size); }
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int reverse(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
static int comparisons;
static int order_of(const void *a, const void *b, void *count) { return ++*(int *)count, order(a, b); }
static int reverse_of(const void *a, const void *b, void *count) { return ++*(int *)count, order(b, a); }
/* Keys are the lowest four bits. */
static int by_key(const void *a, const void *b) {
  comparisons++;
  return (*(const int *)a & 15) - (*(const int *)b & 15);
}
static int by_key_of(const void *a, const void *b, void *count) { return *(int *)count += 16, by_key(a, b); }
static int *keyed(void) {
  ints[0] = 0x12, ints[1] = in[0], ints[2] = 0x22, ints[3] = in[1];
  return ints;
}
static void nothing(void) {}
static void nothing_else(void) {}
static int variadic(int which, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = which == 0   ? vsprintf(buffer, format, list)
          : which == 1 ? vsnprintf(buffer, limit, format, list)
          : which == 2 ? vprintf(format, list)
          : which == 3 ? vfprintf(stderr, format, list)
                       : vdprintf(2, format, list);
  va_end(list);
  return n;
}
static void jump(int value) {
  volatile int again = 0;
  int got = setjmp(place_to_return);
  if (!again++) longjmp(place_to_return, value);
  put(&got, 4);
}
static void signal_jump(int value) {
  volatile int again = 0;
  int got = sigsetjmp(signal_place, 1);
  if (!again++) siglongjmp(signal_place, value);
  put(&got, 4);
}
static void reset(void) {
  filled = 0, comparisons = 0, text_count = 0, end = other_end = 0, limit = 9, errno = 0;
  for (int i = 0; i < OUT; i++) out[i] = 0;
  for (int i = 0; i < 16; i++) buffer[i] = 0;
  buffer[0] = 'x', buffer[1] = 'y';
  ints[0] = 3, ints[1] = 1, ints[2] = 2, ints[3] = 9;
}
static void keep(void) {
  for (int i = 0; i < 8; i++) out[40 + i] = (unsigned char)buffer[i];
  for (int i = 0; i < 4; i++) out[24 + i] ^= (unsigned char)ints[i];
  out[39] = (unsigned char)errno;
}
static void split(unsigned char byte) {
  for (int bit = 7; bit >= 0; bit--)
    if (byte >> bit & 1) splits++;
}
"""


# Uses of the second byte of the input in a probe.
_SECOND_BYTE = re.compile(r"\b[TUN]\b|\bin\[1\]|\bin\b(?!\[)")


@dataclass(frozen=True)
class Probe:
    function: str
    number: int
    body: str
    needs_musl: bool = False

    @property
    def name(self) -> str:
        return f"{self.function}_{self.number}"

    @property
    def of_one_byte(self) -> bool:
        """Is only its first byte varied? It uses no other, or two bytes are directives that no argument fits."""
        return "printf" in self.function or "variadic" in self.body or not _SECOND_BYTE.search(self.body)


def _calls(function: str, signature: str) -> Iterator[str]:
    result, *types = signature.split()
    for chosen, name in enumerate(types):
        if ARGUMENTS[name][0] == ARGUMENTS[name][1]:
            continue
        values = [ARGUMENTS[type_][i == chosen] for i, type_ in enumerate(types)]
        first = values[0]
        setup = ""
        if result == "place":
            setup, values[0] = f"char *first = (char *)({first}); ", "first"
        if function == "strtok_r" and chosen == 2:
            values[2] = "&end"
        call = f"{function}({', '.join(values)})"
        kept = RESULTS[result].replace("A", "first").replace("R", call) if result != "void" else f"{call};"
        if {"end", "out"} & {*types}:
            kept += " put(&(int){end != 0}, 4);"
        yield setup + kept


def probes() -> list[Probe]:
    found = []
    for function, signature in SIGNATURES.items():
        found += [Probe(function, i, body) for i, body in enumerate(_calls(function, signature))]
    found += [Probe(function, 9, body) for function, body in MORE_STATEMENTS.items()]
    for function, bodies in STATEMENTS.items():
        found += [Probe(function, i, body) for i, body in enumerate(bodies)]
    return found


def engine_probes() -> list[Probe]:
    return [Probe(function, 0, body) for function, body in ENGINE.items()]


def source(selected: list[Probe], declarations: str = "") -> str:
    """The program: the first argument is the number of the probe; the second is `plain`, or how many bytes fork."""
    functions = [f"static void probe_{probe.name}(void) {{ {probe.body} keep(); }}" for probe in selected]
    table = ", ".join(f"probe_{probe.name}" for probe in selected)
    if any(probe.function in ENGINE for probe in selected):
        declarations += ENGINE_DECLARATIONS
    return "\n".join([HEAD, declarations, *functions, f"static void (*const all[])(void) = {{{table}}};", MAIN])


MAIN = r"""
#ifdef NATIVE
void klee_make_symbolic(void *object, size_t size, const char *name) {}
/* glibc has it, musl does not. */
long double dreml(long double x, long double y) { return remainderl(x, y); }

int main(int argc, char **argv) {
  FILE *to = fopen(argv[1], "wb");
  int two = argc > 2;
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return 1;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int input = 0; input < (two ? 65536 : 256); input++) {
      in[0] = input & 255, in[1] = two ? input >> 8 : 'b';
      reset();
      all[i]();
      fesetround(0);
      fwrite(out, 1, OUT, to);
    }
  return fclose(to);
}
#else
int main(int argc, char **argv) {
  int number = 0, forks = argv[2][0] - '0';
  for (char *digit = argv[1]; *digit; digit++) number = 10 * number + *digit - '0';
  klee_make_symbolic(in, 2, "in");
  if (forks == 1) in[1] = 'b';
  reset();
  all[number]();
  for (int i = 0; i < forks; i++) split(in[i]);
  if (forks) write(1, out, OUT);
  return 0;
}
#endif
"""


# Names of glibc's <math.h> that musl does not have: replay links this file.
CLASSIFY = Path(partita.__file__).parent / "runtime" / "lib" / "classify.c"


def native_outputs(
    selected: list[Probe], folder: Path, *, two: bool, declarations: str = "", others: Sequence[Path] = ()
) -> dict[str, list[bytes]]:
    """Native output of each probe, by input."""
    code, binary, found = folder / "native.c", folder / "native", folder / "found"
    code.write_text(source(selected, declarations))
    files = [str(file) for file in (code, CLASSIFY, *others)]
    command = link_command(["-w", "-fno-builtin", "-DNATIVE", *files, "-o", str(binary)])
    subprocess.run(command, check=True, capture_output=True)
    subprocess.run([str(binary), str(found), *(["two"] if two else [])], check=True, env=ENVIRONMENT)
    data, inputs = found.read_bytes(), 65536 if two else 256
    rows = [data[i : i + OUT_BYTES] for i in range(0, len(data), OUT_BYTES)]
    assert len(rows) == inputs * len(selected)
    return {probe.name: rows[i * inputs : (i + 1) * inputs] for i, probe in enumerate(selected)}


# These call functions that only musl has.
WITH_MUSL = frozenset("__mulxc3 __divsc3 __divdc3 __divxc3".split())


def _run(files: Sequence[Path], number: int, probe: Probe, forks: int) -> Run:
    return explore(
        files,
        arguments=[str(number), str(forks)],
        cflags=["-fno-builtin"],
        libc="musl" if probe.needs_musl or probe.function in WITH_MUSL else "none",
        max_time=300,
    )


def observed_kind(files: Sequence[Path], number: int, probe: Probe) -> Kind:
    """How the call of a probe of the file treats symbolic data, as a run shows."""
    run = _run(files, number, probe, 0)
    endings = [path.kind for path in run]
    if "unsupported" in endings:
        return "unsupported"
    if not run.complete:
        return "binds"
    return "exact" if len(endings) == 1 else "forks"


def problems(files: Sequence[Path], number: int, probe: Probe, native: list[bytes], kind: Kind) -> list[str]:
    """Inputs that are on several paths, or on none, or have another output than natively."""
    two = len(native) > 256
    seen: Counter[int] = Counter()
    found = []
    for path in _run(files, number, probe, 2 if two else 1):
        (data,) = (data for name, data in path.inputs if name == "in")
        value = int.from_bytes(data[: 2 if two else 1], "little")
        seen[value] += 1
        if path.kind != "exit":
            if kind in ("exact", "forks"):
                found.append(f"{probe.name}: input {value:#x} ends as {path.ending}: {path.message}")
        elif not path.output.endswith(native[value]):
            right, wrong = native[value].hex(), path.output[-OUT_BYTES:].hex()
            found.append(f"{probe.name}: input {value:#x}: natively {right}, found {wrong}")
    wanted = range(len(native))
    if kind in ("exact", "forks"):
        found += [f"{probe.name}: input {value:#x} is on {seen[value]} paths" for value in wanted if seen[value] != 1]
    else:
        found += [f"{probe.name}: input {v:#x} is on {seen[v]} paths" for v in wanted if seen[v] > 1]
    return found


def worst(kinds: list[Kind]) -> Kind:
    return max(kinds, key=KINDS.index)
