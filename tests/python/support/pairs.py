"""Pairs of functions in C, one with a bug that is just present and one in which it is just absent.

`x` is 0, which the compiler does not know. Each function has a line of its own, so that bugs are distinct.
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    name: str
    class_: str
    bad: str
    good: str


PAIRS = (
    Pair(
        "heap_write",
        "out-of-bounds-write",
        "int *p = made(4); p[x + 4] = 1; free(p);",
        "int *p = made(4); p[x + 3] = 1; free(p);",
    ),
    Pair(
        "heap_read",
        "out-of-bounds-read",
        "int *p = made(4); sink = p[x + 4]; free(p);",
        "int *p = made(4); sink = p[x + 3]; free(p);",
    ),
    Pair(
        "heap_before",
        "out-of-bounds-write",
        "int *p = made(4); p[x - 1] = 1; free(p);",
        "int *p = made(4); p[x] = 1; free(p);",
    ),
    Pair(
        "heap_odd_end",
        "out-of-bounds-write",
        "char *p = malloc(5); escape(p)[x + 5] = 1; free(p);",
        "char *p = malloc(5); escape(p)[x + 4] = 1; free(p);",
    ),
    Pair(
        "stack_write",
        "out-of-bounds-write",
        "char a[8]; escape(a)[x + 8] = 1;",
        "char a[8]; escape(a)[x + 7] = 1;",
    ),
    Pair(
        "stack_read",
        "out-of-bounds-read",
        'char a[8] = "abc"; sink = escape(a)[x + 8];',
        'char a[8] = "abc"; sink = escape(a)[x + 7];',
    ),
    Pair(
        "stack_loop",
        "out-of-bounds-write",
        "int a[6]; for (int i = 0; i <= 6 + x; i++) ((int *)escape(a))[i] = i;",
        "int a[6]; for (int i = 0; i < 6 + x; i++) ((int *)escape(a))[i] = i;",
    ),
    Pair(
        "global_write",
        "out-of-bounds-write",
        "((int *)escape(global))[x + 5] = 1;",
        "((int *)escape(global))[x + 4] = 1;",
    ),
    Pair(
        "global_read",
        "out-of-bounds-read",
        "sink = ((int *)escape(global))[x + 5];",
        "sink = ((int *)escape(global))[x + 4];",
    ),
    Pair(
        "variable_length",
        "out-of-bounds-write",
        "char a[x + 3]; escape(a)[3] = 1;",
        "char a[x + 3]; escape(a)[2] = 1;",
    ),
    Pair(
        "structure_end",
        "out-of-bounds-write",
        "struct item *p = malloc(sizeof *p - 4); p->last = x; free(p);",
        "struct item *p = malloc(sizeof *p); p->last = x; free(p);",
    ),
    Pair(
        "copy_past_end",
        "out-of-bounds-write",
        'char *p = malloc(4); memcpy(p, "abcdef", x + 5); free(p);',
        'char *p = malloc(4); memcpy(p, "abcdef", x + 4); free(p);',
    ),
    Pair(
        "copy_from_past_end",
        "out-of-bounds-read",
        'char *p = malloc(9); memcpy(p, "abcdef", x + 8); free(p);',
        'char *p = malloc(9); memcpy(p, "abcdef", x + 7); free(p);',
    ),
    Pair(
        "set_past_end",
        "out-of-bounds-write",
        "char *p = malloc(4); memset(p, 0, x + 5); free(p);",
        "char *p = malloc(4); memset(p, 0, x + 4); free(p);",
    ),
    Pair(
        "compare_past_end",
        "out-of-bounds-read",
        'char *p = malloc(3); memcpy(p, "abc", 3); sink = memcmp(p, "abcd", x + 4); free(p);',
        'char *p = malloc(3); memcpy(p, "abc", 3); sink = memcmp(p, "abcd", x + 3); free(p);',
    ),
    Pair(
        "string_copy",
        "out-of-bounds-write",
        'char *p = malloc(3); strcpy(p, x ? "" : "abc"); free(p);',
        'char *p = malloc(4); strcpy(p, x ? "" : "abc"); free(p);',
    ),
    Pair(
        "string_without_end",
        "out-of-bounds-read",
        'char *p = malloc(3); strncpy(p, "abc", 3); sink = strlen(p); free(p);',
        'char *p = malloc(4); strncpy(p, "abc", 4); sink = strlen(p); free(p);',
    ),
    Pair(
        "string_joined",
        "out-of-bounds-write",
        'char *p = malloc(6); strcpy(p, "abc"); strcat(p, "def"); free(p);',
        'char *p = malloc(7); strcpy(p, "abc"); strcat(p, "def"); free(p);',
    ),
    Pair(
        "printed",
        "out-of-bounds-write",
        'char *p = malloc(4); sprintf(p, "%d", 1000 + x); free(p);',
        'char *p = malloc(5); sprintf(p, "%d", 1000 + x); free(p);',
    ),
    Pair(
        "freed_read",
        "use-after-free",
        "int *p = made(2); free(p); sink = p[x];",
        "int *p = made(2); sink = p[x]; free(p);",
    ),
    Pair(
        "freed_write",
        "use-after-free",
        "int *p = made(2); free(p); p[x] = 1;",
        "int *p = made(2); p[x] = 1; free(p);",
    ),
    Pair(
        "moved",
        "use-after-free",
        "int *p = made(2), *q = realloc(p, 400); p[x] = 1; free(q);",
        "int *p = made(2), *q = realloc(p, 400); q[x] = 1; free(q);",
    ),
    Pair(
        "shrunk",
        "out-of-bounds-write",
        "char *p = malloc(9), *q = realloc(p, 4); escape(q)[x + 4] = 1; free(q);",
        "char *p = malloc(9), *q = realloc(p, 4); escape(q)[x + 3] = 1; free(q);",
    ),
    Pair(
        "freed_twice",
        "double-free",
        "char *p = malloc(2); free(p); free(escape(p));",
        "char *p = malloc(2); free(p); p = 0; free(p);",
    ),
    Pair(
        "freed_inside",
        "invalid-free",
        "char *p = malloc(2); free(escape(p) + x + 1);",
        "char *p = malloc(2); free(escape(p) + x);",
    ),
    Pair(
        "freed_local",
        "invalid-free",
        "char a[4]; free(escape(a));",
        "char *a = malloc(4); free(escape(a));",
    ),
    Pair(
        "returned_local",
        "use-after-free",
        "local(x)[0] = 1;",
        "local(x + 1)[0] = 1;",
    ),
    Pair(
        "null_pointer",
        "null",
        "int *p = x ? &sink : 0; *p = 1;",
        "int *p = x ? 0 : &sink; *p = 1;",
    ),
    Pair(
        "divided",
        "division-by-zero",
        "sink = 1 / x;",
        "sink = 1 / (x + 1);",
    ),
    Pair(
        "remainder",
        "division-by-zero",
        "sink = 1 % x;",
        "sink = 1 % (x + 1);",
    ),
    Pair(
        "divided_overflow",
        "overflow",
        "sink = INT_MIN / (x - 1);",
        "sink = -INT_MAX / (x - 1);",
    ),
    Pair(
        "added",
        "overflow",
        "sink = INT_MAX + (x + 1);",
        "sink = INT_MAX + x;",
    ),
    Pair(
        "subtracted",
        "overflow",
        "sink = INT_MIN - (x + 1);",
        "sink = INT_MIN - x;",
    ),
    Pair(
        "multiplied",
        "overflow",
        "sink = (x + 65536) * 32768;",
        "sink = (x + 65535) * 32768;",
    ),
    Pair(
        "negated",
        "overflow",
        "sink = -(x + INT_MIN);",
        "sink = -(x + INT_MIN + 1);",
    ),
    Pair(
        "shifted_far",
        "shift",
        "sink = 1u << (x + 32);",
        "sink = 1u << (x + 31);",
    ),
    Pair(
        "shifted_negative",
        "shift",
        "sink = 1u >> (x - 1);",
        "sink = 1u >> x;",
    ),
    Pair(
        "float_cast",
        "float-cast",
        "sink = (int)(x + 2147483648.0);",
        "sink = (int)(x + 2147483647.0);",
    ),
    Pair(
        "not_a_number_cast",
        "float-cast",
        "sink = (int)((x + 0.0) / (x + 0.0));",
        "sink = (int)((x + 1.0) / (x + 1.0));",
    ),
    Pair(
        "constant",
        "read-only-write",
        "escape(\"abc\")[x] = 'x';",
        "char a[] = \"abc\"; escape(a)[x] = 'x';",
    ),
    Pair(
        "aborted",
        "abort",
        "if (!x) abort();",
        "if (x) abort();",
    ),
    Pair(
        "not_reached",
        "unreachable",
        "if (!x) __builtin_unreachable();",
        "if (x) __builtin_unreachable();",
    ),
    Pair(
        "arguments",
        "out-of-bounds-read",
        "sink = sum(x + 3, 1, 2);",
        "sink = sum(x + 2, 1, 2);",
    ),
    Pair(
        "endless_calls",
        "stack-overflow",
        "keep = 0; sink = (int)deep(x + 10000000);",
        "keep = 0; sink = (int)deep(x + 100);",
    ),
    Pair(
        "unset_local",
        "uninitialized-read",
        "int a[2]; a[0] = x; if (((int *)escape(a))[x + 1]) sink = 1;",
        "int a[2]; a[0] = x; if (((int *)escape(a))[x]) sink = 1;",
    ),
    Pair(
        "unset_heap",
        "uninitialized-read",
        "int *p = malloc(8); p[0] = x; if (p[x + 1]) sink = 1; free(p);",
        "int *p = malloc(8); p[0] = x; if (p[x]) sink = 1; free(p);",
    ),
    Pair(
        "unset_output",
        "uninitialized-read",
        "char a[4]; escape(a)[0] = 1; fwrite(a, 1, x + 2, stdout);",
        "char a[4]; escape(a)[0] = 1; fwrite(a, 1, x + 1, stdout);",
    ),
    Pair(
        "unset_address",
        "uninitialized-read",
        "int a[2]; a[0] = x; global[((int *)escape(a))[x + 1] & 3] = 1;",
        "int a[2]; a[0] = x; global[((int *)escape(a))[x] & 3] = 1;",
    ),
    Pair(
        "unset_copied",
        "uninitialized-read",
        "struct item a, b; a.size = x; memcpy(&b, &a, sizeof a); if (b.last) sink = 1;",
        "struct item a, b; a.size = x; memcpy(&b, &a, sizeof a); if (b.size) sink = 1;",
    ),
    Pair(
        "unset_grown",
        "uninitialized-read",
        "int *p = realloc(made(2), 16); if (p[x + 2]) sink = 1; free(p);",
        "int *p = realloc(made(2), 16); if (p[x + 1]) sink = 1; free(p);",
    ),
    Pair(
        "unset_variable",
        "uninitialized-read",
        "int v; if (x) v = 1; if (v) sink = 1;",
        "int v; if (!x) v = 1; if (v) sink = 1;",
    ),
    Pair(
        "unset_bit",
        "uninitialized-read",
        "struct { unsigned a : 1, b : 1; } s; s.a = x; if (s.b) sink = 1;",
        "struct { unsigned a : 1, b : 1; } s; s.a = x; if (s.a) sink = 1;",
    ),
    Pair(
        "scope_read",
        "use-after-free",
        "int *p; { int y = x; p = (int *)escape(&y); } sink = *p;",
        "int *p; int y = x; { p = (int *)escape(&y); } sink = *p;",
    ),
    Pair(
        "scope_constant_place",
        "use-after-free",
        'char *p; { char a[4] = "abc"; p = a; } sink = p[1];',
        'char *p, a[4] = "abc"; { p = a; } sink = p[1];',
    ),
    Pair(
        "scope_write",
        "use-after-free",
        "char *p = keep; if (!x) { char a[4]; p = escape(a); } p[0] = 1;",
        "char *p = keep, a[4]; if (!x) { p = escape(a); } p[0] = 1;",
    ),
    Pair(
        "scope_loop",
        "use-after-free",
        "int *p = 0; for (int i = 0; i < 2; i++) { int y = i; p = (int *)escape(&y); } sink = *p;",
        "int *p = 0, y; for (int i = 0; i < 2; i++) { y = i; p = (int *)escape(&y); } sink = *p;",
    ),
    Pair(
        "overlapping_copy",
        "overlap",
        'char a[8] = "abcdefg"; memcpy(escape(a) + 3, escape(a), x + 4);',
        'char a[8] = "abcdefg"; memcpy(escape(a) + 4, escape(a), x + 4);',
    ),
    Pair(
        "overlapping_string",
        "overlap",
        'char a[9] = "abc"; strcpy(escape(a) + x + 3, escape(a));',
        'char a[9] = "abc"; strcpy(escape(a) + x + 4, escape(a));',
    ),
    Pair(
        "member_index",
        "bounds",
        "struct item s; s.text[x + 6] = 1; escape(&s);",
        "struct item s; s.text[x + 5] = 1; escape(&s);",
    ),
    Pair(
        "member_copy",
        "bounds",
        'struct item s; memcpy(s.text, "abcdefg", x + 7); escape(&s);',
        'struct item s; memcpy(s.text, "abcdefg", x + 6); escape(&s);',
    ),
    Pair(
        "member_string",
        "bounds",
        'struct item s; strcpy(s.text, x ? "" : "abcdef"); escape(&s);',
        'struct item s; strcpy(s.text, x ? "" : "abcde"); escape(&s);',
    ),
    Pair(
        "aligned_read",
        "alignment",
        "long a[2] = {0}; sink = *(int *)(escape(a) + x + 2);",
        "long a[2] = {0}; sink = *(int *)(escape(a) + x + 4);",
    ),
    Pair(
        "aligned_write",
        "alignment",
        "char *p = malloc(16); *(long *)(escape(p) + x + 4) = 1; free(p);",
        "char *p = malloc(16); *(long *)(escape(p) + x + 8) = 1; free(p);",
    ),
    Pair(
        "endless_numbers",
        "non-termination",
        "int i = x + 4; while (i != 1) i = i * 2 % 6;",
        "int i = x + 4; while (i != 1) i = i * 2 % 7;",
    ),
    Pair(
        "endless_memory",
        "non-termination",
        "int *p = made(1); while (p[x] != 3) p[x] ^= 1; free(p);",
        "int *p = made(1); while (p[x] != 1) p[x] ^= 1; free(p);",
    ),
)

HEAD = r"""#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef NATIVE
static int number_of(int count, char **words) { return count > 1 ? atoi(words[1]) : -1; }
#else
#include <partita.h>
static int number_of(int count, char **words) {
  unsigned char number;
  (void)count, (void)words;
  partita_make_symbolic(&number, sizeof number, "number");
  return number;
}
#endif

static volatile int zero = 0;
static int global[5];
static int sink;
static char *keep;
struct item { int size; char text[6]; int last; };

static int *made(int count) {
  int *p = calloc(count, sizeof *p);
  if (!p) exit(9);
  return p;
}
static char *escape(void *p) { char *volatile q = p; return q; }
static int sum(int count, ...) {
  va_list list;
  va_start(list, count);
  int total = 0;
  for (int i = 0; i < count; i++) total += va_arg(list, int);
  va_end(list);
  return total;
}
static char *local(int outlives) {
  static char kept[4];
  char gone[4];
  gone[0] = 1;
  return outlives ? kept : escape(gone);
}
static long deep(int n) { volatile char room[64]; room[0] = (char)n; return n ? deep(n - 1) + room[0] : 0; }
"""


def program() -> str:
    """A program that calls the function of a number: 2 i is the bad one of a pair, 2 i + 1 the good one."""
    lines = [HEAD]
    cases = []
    for i, pair in enumerate(PAIRS):
        for number, (kind, body) in enumerate((("bad", pair.bad), ("good", pair.good)), 2 * i):
            lines.append(f"static void {kind}_{pair.name}(int x) {{ (void)x; {body} }}")
            cases.append(f"    case {number}: {kind}_{pair.name}(x); break;")
    lines += ["int main(int count, char **words) {", "  int x = zero;", "  switch (number_of(count, words)) {", *cases]
    lines += ["    default: return 1;", "  }", "  return 0;", "}"]
    return "\n".join(lines) + "\n"
