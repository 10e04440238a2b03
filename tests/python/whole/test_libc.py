"""Functions of <ctype.h>, <string.h> and <stdlib.h> have the same results as in the natively replayed program.

A program prints a hash per function over random texts; `PARTITA_LIBC_VALUES` is their number (100,000 in `make soak`).
Both our own functions and musl's are compared with what replay links.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from partita import explore
from partita.cc.musl import link_command

VALUES = int(os.environ.get("PARTITA_LIBC_VALUES", "150"))
# Expressions over random texts `a` and `b`, a character `c` and a number `n` below 9.
CALLS = {
    **{
        name: f"!!{name}(c)"
        for name in "alnum alpha blank cntrl digit graph lower print punct space upper xdigit".split()
    },
    "toupper": "toupper(c)",
    "tolower": "tolower(c)",
    "strlen": "strlen(a)",
    "strnlen": "strnlen(a, n)",
    "strcmp": "sign(strcmp(a, b))",
    "strncmp": "sign(strncmp(a, b, n))",
    "strcasecmp": "sign(strcasecmp(a, b))",
    "strncasecmp": "sign(strncasecmp(a, b, n))",
    "memcmp": "sign(memcmp(a, b, n))",
    "strchr": "at(strchr(a, c), a)",
    "strrchr": "at(strrchr(a, c), a)",
    "memchr": "at(memchr(a, c, n), a)",
    "strspn": "strspn(a, b)",
    "strcspn": "strcspn(a, b)",
    "strpbrk": "at(strpbrk(a, b), a)",
    "strstr": "at(strstr(a, b), a)",
    "strcpy": "text(strcpy(buffer, a))",
    "strncpy": "text(strncpy(buffer, a, n))",
    "strcat": "(strcpy(buffer, b), text(strcat(buffer, a)))",
    "strncat": "(strcpy(buffer, b), text(strncat(buffer, a, n)))",
    "memccpy": "at(memccpy(buffer, a, c, n), buffer)",
    "memmove": "(strcpy(buffer, a), memmove(buffer + n, buffer, 9), text(buffer))",
    "atoi": "atoi(a) + errno",
    "atol": "atol(a) + errno",
    "strtol": "strtol(a, &end, n == 1 ? 10 : n) + (end - a) * 7 + errno",
    "strtoul": "strtoul(a, &end, n == 1 ? 16 : n * 4) + (end - a) * 7 + errno",
    "strtoll": "strtoll(a, &end, 36) + (end - a) * 7 + errno",
    "strtod": "bits(strtod(a, &end)) + (end - a) * 7 + errno",
    "strtof": "bits(strtof(a, &end)) + (end - a) * 7 + errno",
    "qsort": "(strcpy(buffer, a), qsort(buffer, strlen(buffer), 1, order), text(buffer))",
    "abs": "abs(c - 100) + labs(n - 5L)",
}
ONLY_MUSL = frozenset({"memccpy", "strtod", "strtof"})
HEAD = """
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static uint64_t seed = 88172645463325252;
static unsigned next(void) { seed ^= seed << 13; seed ^= seed >> 7; return (unsigned)((seed ^= seed << 17) >> 20); }
static char a[32], b[32], buffer[64], *end;
static int sign(int n) { return n < 0 ? -1 : n > 0; }
static long at(const void *p, const void *base) { return p ? (const char *)p - (const char *)base : -1; }
static uint64_t text(const char *s) {
  uint64_t h = 7;
  for (int i = 0; i < 48; i++) h = h * 31 + (unsigned char)s[i];
  return h;
}
static uint64_t bits(double d) { uint64_t u; memcpy(&u, &d, 8); return u; }
static int order(const void *x, const void *y) { return *(const unsigned char *)x - *(const unsigned char *)y; }
/* A text of one of several alphabets: numbers, few letters, any byte. */
static void fill(char *s) {
  static const char *const alphabets[] = {"0123456789", "ab", "+-0x19aAfFzZ. eE\\t", "0189.e-", ""};
  const char *alphabet = alphabets[next() % 5];
  unsigned count = next() % 24, size = (unsigned)strlen(alphabet);
  for (unsigned i = 0; i < count; i++) s[i] = size ? alphabet[next() % size] : (char)(1 + next() % 255);
  s[count] = 0;
}
"""


def program(values: int, left_out: frozenset[str]) -> str:
    lines = [HEAD, "int main(void) {"]
    for name, call in CALLS.items():
        if name in left_out:
            continue
        call = call.replace(f"{name}(c)", f"is{name}(c)") if call.startswith("!!") else call
        lines.append(
            f"  {{ uint64_t hash = 0; for (int i = 0; i < {values}; i++) {{ fill(a); fill(b); errno = 0;"
            " memset(buffer, 0, sizeof buffer); int c = (int)(next() % 256), n = (int)(next() % 9);"
            f" hash = hash * 1099511628211u + (uint64_t)({call}); }}"
            f' printf("{name} %llx\\n", (unsigned long long)hash); }}'
        )
    return "\n".join([*lines, "  return 0;", "}", ""])


@pytest.mark.parametrize("libc", ["none", "musl"])
def test_results_are_the_native_ones(libc: Literal["none", "musl"], tmp_path: Path) -> None:
    source, binary = tmp_path / "calls.c", tmp_path / "calls"
    left_out = ONLY_MUSL if libc == "none" else frozenset()
    source.write_text(program(VALUES, left_out))
    subprocess.run(link_command(["-w", str(source), "-o", str(binary)]), check=True, capture_output=True)
    expected = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.splitlines()
    (path,) = explore(source, libc=libc)
    assert path.ending == "exit 0", path.message
    found = path.output.decode().splitlines()
    assert [line for line, right in zip(found, expected, strict=True) if line != right] == []
    assert len(found) == len(CALLS) - len(left_out)
