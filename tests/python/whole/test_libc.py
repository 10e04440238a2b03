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
    # Keys are the lowest three bits: the order of equal ones and the number of comparisons show.
    "qsort": "(strcpy(buffer, a), qsort(buffer, strlen(buffer), 1, order), text(buffer) + calls)",
    "qsort_r": "(strcpy(buffer, a), qsort_r(buffer, strlen(buffer), 1, order_of, &calls), text(buffer) + calls)",
    "bsearch": "(qsort(a, strlen(a), 1, order), at(bsearch(&c, a, strlen(a), 1, order), a) + calls)",
    "abs": "abs(c - 100) + labs(n - 5L) + llabs(n - 6LL)",
    "strtok": "tokens(strtok(strcpy(buffer, a), b), b)",
    "strtok_r": "(next_token = strtok_r(strcpy(buffer, a), b, &end), text(buffer) + at(next_token, buffer))",
    "strdup": "copied(strdup(a))",
    "strndup": "copied(strndup(a, n))",
    "stpcpy": "at(stpcpy(buffer, a), buffer)",
    "mempcpy": "at(mempcpy(buffer, a, n), buffer)",
    "memrchr": "at(memrchr(a, c, n), a)",
    "memset": "(memset(buffer, c, n), text(buffer))",
    "memcpy": "(memcpy(buffer, a, n), text(buffer))",
    "bcmp": "!!bcmp(a, b, n)",
    "strtoull": "strtoull(a, &end, 0) + (end - a) * 7 + errno",
    "strtoimax": "strtoimax(a, &end, 10) + strtoumax(b, &end, 7) + errno",
}
# Functions that are musl's in any case.
MUSL_CALLS = {
    "memccpy": CALLS.pop("memccpy"),
    "strtod": CALLS.pop("strtod"),
    "strtof": CALLS.pop("strtof"),
    "div": "div(c - 99, n + 1).quot * 3 + ldiv(c - 99, n + 1).rem + lldiv(c, n + 1).quot",
    "strsep": "(end = strcpy(buffer, a), at(strsep(&end, b), buffer) + text(buffer))",
    "strlcpy": "strlcpy(buffer, a, n) + text(buffer)",
    "strlcat": "(strcpy(buffer, b), strlcat(buffer, a, n * 4) + text(buffer))",
    "stpncpy": "at(stpncpy(buffer, a, n), buffer) + text(buffer)",
    "strchrnul": "at(strchrnul(a, c), a)",
    "memmem": "at(memmem(a, strlen(a), b, n % 3), a)",
    "strcasestr": "at(strcasestr(a, b), a)",
    "strverscmp": "sign(strverscmp(a, b))",
    "strcoll": "sign(strcoll(a, b))",
    "strxfrm": "strxfrm(buffer, a, n) + text(buffer)",
    "swab": "(swab(a, buffer, n), text(buffer))",
    "ffs": "ffs(c) + ffsl(n) + ffsll((long long)c << n)",
    "a64l": "a64l(a) + text(strncpy(buffer, l64a(c * 77L + n), 9))",
    "getsubopt": "getsubopt(&(char *){strcpy(buffer, a)}, (char *[]){a, b, 0}, &end)",
    "ecvt": "text(strcpy(buffer, ecvt(c * 1e3 / (n + 1), n, &calls, &calls)))",
    "gcvt": "text(gcvt(c * 1e3 / (n + 1), n + 1, buffer))",
    "basename": "text(strcpy(buffer, basename(strcpy(buffer, a))))",
    "dirname": "text(strcpy(buffer, dirname(strcpy(buffer, b))))",
    "fnmatch": "fnmatch(b, a, n & 7)",
    "inet_pton": "inet_pton(AF_INET, a, buffer) + inet_addr(b) + text(buffer)",
    "mbtowc": "mbtowc(wide, a, n) + wide[0]",
    "mbstowcs": "mbstowcs(wide, a, n) * 7 + wide[0] + wide[2]",
    "mbrtowc": "mbrtowc(wide, a, n, &(mbstate_t){0}) * 7 + wide[0]",
    "mblen": "mblen(a, n)",
    "wctomb": "wctomb(buffer, c * 300 + n) + text(buffer)",
    "wcstombs": "wcstombs(buffer, widened(a), n) + text(buffer)",
    "btowc": "btowc(c) + wctob(c)",
    "wcslen": "wcslen(widened(a)) + wcsnlen(wide, n)",
    "wcscmp": 'sign(wcscmp(widened(a), L"ab")) + sign(wcsncmp(wide, L"aab", n)) + sign(wcscasecmp(wide, L"AB"))',
    "wcscat": '(wcscpy(other, L"x"), wcslen(wcscat(other, widened(a))) + other[n])',
    "wcschr": "(wcschr(widened(a), c) ? wcschr(wide, c) - wide : -1) + (wcsrchr(wide, c) ? wcsrchr(wide"
    ", c) - wide : -1)",
    "wcsspn": 'wcsspn(widened(a), L"ab1") + wcscspn(wide, L"9") + (wcspbrk(wide, L"z.") != 0)',
    "wcsstr": '(wcsstr(widened(a), L"ab") ? wcsstr(wide, L"ab") - wide : -1)',
    "wcstol": "wcstol(widened(a), &wide_end, n == 1 ? 0 : n) + (wide_end - wide) * 7 + errno",
    "wcstod": "bits(wcstod(widened(a), &wide_end)) + (wide_end - wide) * 7 + errno",
    "wmem": "wmemcmp(wmemset(other, c, 4), widened(a), n % 4) + (wmemchr(wide, c, n) != 0) + wmemmove(other"
    ", wide, 3)[n % 3]",
    "iswctype": "!!iswalpha(c * n) + !!iswspace(c * n) * 2 + !!iswpunct(c * n) * 4 + !!iswctype(c"
    ', wctype("digit")) * 8',
    "towupper": 'towupper(c * n) + towlower(c * 5) * 3 + towctrans(c, wctrans("toupper"))',
    "wcwidth": "wcwidth(c * n)",
    "rand": "(srand(c), rand() + rand_r(&(unsigned){n}))",
    "random": "(srandom(c), random())",
    "drand48": "(srand48(c), lrand48() + mrand48() + bits(drand48()))",
    "gmtime": "(moment = (c - 128) * 7654321l * n, fields(gmtime(&moment)))",
    "mktime": "mktime(&(struct tm){.tm_year = c, .tm_mon = n * 3, .tm_mday = c - 100, .tm_hour = n * 9})",
    "timegm": "timegm(&(struct tm){.tm_year = c, .tm_mon = -n, .tm_mday = c - 100, .tm_sec = n * 9999})",
    "strftime": '(moment = c * 7654321l, strftime(buffer, 48, "%a %b %C %d %H %j %U %V %y", gmtime(&moment)))'
    " + text(buffer)",
    "asctime": "(moment = c * 7654321l * n, text(strcpy(buffer, asctime(gmtime(&moment)))))",
    "strptime": '(now = (struct tm){0}, at(strptime(a, n & 1 ? "%d %m" : "%H%n%S", &now), a) + fields(&now))',
    "difftime": "bits(difftime(c, n))",
    "lfind": "(count = strlen(a), at(lfind(&c, a, &count, 1, order), a) + calls)",
    "lsearch": "(strcpy(buffer, a), count = strlen(a), at(lsearch(&c, buffer, &count, 1, order), buffer) + count)",
    "tsearch": "in_tree(a, c)",
    "strerror": "text(strncpy(buffer, strerror(c), 40)) + text(strncpy(buffer, strsignal(c), 40))",
}
CALLS |= MUSL_CALLS
HEAD = """
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <libgen.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

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
static int calls;
static int order(const void *x, const void *y) {
  calls++;
  return (*(const unsigned char *)x & 7) - (*(const unsigned char *)y & 7);
}
static int order_of(const void *x, const void *y, void *count) { return ++*(int *)count, order(x, y); }
static char *next_token;
static wchar_t wide[64], other[96], *wide_end;
static time_t moment;
static struct tm now;
static size_t count;
static wchar_t *widened(const char *s) {
  size_t i = 0;
  for (; s[i]; i++) wide[i] = (unsigned char)s[i];
  wide[i] = 0;
  return wide;
}
static uint64_t tokens(char *token, const char *separators) {
  uint64_t h = 7;
  for (; token; token = strtok(0, separators)) h = h * 31 + strlen(token) + (unsigned char)*token;
  return h;
}
static uint64_t copied(char *s) {
  uint64_t h = strlen(s) * 31 + (unsigned char)*s;
  free(s);
  return h;
}
static long fields(const struct tm *t) {
  return t ? (((t->tm_year * 12L + t->tm_mon) * 31 + t->tm_mday) * 24 + t->tm_hour) * 3600 + t->tm_min * 60 + t->tm_sec
    + t->tm_wday * 3 + t->tm_yday * 5 : -1;
}
static int in_tree(const char *s, int c) {
  void *root = 0;
  int n = 0;
  for (; *s; s++) n += *(const char **)tsearch(s, &root, order) == s;
  char key = (char)c;
  n = n * 3 + (tfind(&key, &root, order) != 0);
  while (root) tdelete(*(void **)root, &root, order);
  return n;
}
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
            " calls = 0; memset(buffer, 0, sizeof buffer);"
            " memset(wide, 0, sizeof wide); memset(other, 0, sizeof other);"
            " int c = (int)(next() % 256), n = (int)(next() % 9);"
            f" hash = hash * 1099511628211u + (uint64_t)({call}); }}"
            f' printf("{name} %llx\\n", (unsigned long long)hash); }}'
        )
    return "\n".join([*lines, "  return 0;", "}", ""])


@pytest.mark.parametrize("libc", ["none", "musl"])
def test_results_are_the_native_ones(libc: Literal["none", "musl"], tmp_path: Path) -> None:
    source, binary = tmp_path / "calls.c", tmp_path / "calls"
    left_out = frozenset(MUSL_CALLS) if libc == "none" else frozenset()
    source.write_text(program(VALUES, left_out))
    subprocess.run(link_command(["-w", str(source), "-o", str(binary)]), check=True, capture_output=True)
    expected = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.splitlines()
    (path,) = explore(source, libc=libc)
    assert path.ending == "exit 0", path.message
    found = path.output.decode().splitlines()
    assert [line for line, right in zip(found, expected, strict=True) if line != right] == []
    assert len(found) == len(CALLS) - len(left_out)
