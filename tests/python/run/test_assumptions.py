"""Assumptions about the caller: under which inputs of a function a bug happens."""

from __future__ import annotations

import pytest

from partita import explore

PROGRAM = """#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
struct buf { char *data; unsigned len, cap; };
int always(int x) { int *p = 0; return *p + x; }
int null_only(struct buf *b) { return b->len; }
int range(int n) { int a[10]; memset(a, 0, sizeof a); if (n < 0) return 0; return a[n]; }
int relation(unsigned a, unsigned b) { if (a < b) abort(); return 0; }
int odd(unsigned a) { if (a % 3 == 1) abort(); return 0; }
int text(const char *s) { if (s && s[0] == 'a' && s[1] == 'b') abort(); return 0; }
void put(struct buf *b, char c) { if (b && b->data && b->len < b->cap) b->data[b->len++] = c; }
int either(int a) { if (a == 1) abort(); else if (a == 2) abort(); return 0; }
int many(unsigned char a) { if (a > 9) abort(); return 0; }
int flag(bool on, int unused) { if (on) abort(); return unused; }
int same(struct buf *a, struct buf *b) { if (a && a == b) abort(); return 0; }
int length(const char *s, int n) { return s ? strlen(s) + n : 0; }
int sum(const char *s, size_t n) { int all = 0;
  if (s && n < 9) for (size_t i = 0; i < n; i++) all += s[i]; return all; }
int last(const wchar_t *s, size_t n) {
  if (!s || n < 1 || n > 8 || s[n - 1] != '.') return 0;
  return s[n];
}
int both(int n) { int a[10] = {0}; return a[n]; }
int masked(int n, int other) { int a[5] = {0}; return a[n & 7] + other; }
int loop(unsigned char n) { int s = 0; for (int i = 0; i < n; i++) s += i; if (s > 40) abort(); return s; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("callers") / "e.c"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("always", "certain: every call ends there"),
        ("null_only", "whenever b == NULL"),
        ("range", "whenever n >= 10"),
        ("relation", "whenever a < b"),
        ("odd", "whenever a == 1, and on other inputs"),
        ("text", "whenever s != NULL && s[0] == 'a' && s[1] == 'b'"),
        ("put", "whenever b != NULL && b->data != NULL && b->len >= 9 && b->len < b->cap"),
        ("many", "whenever a >= 10"),
        ("length", "on every path found: s has no terminator"),
        ("sum", "whenever n <= 8 && s has fewer than n elements and no terminator"),
        ("same", "whenever b == a && a != NULL"),
    ],
)
def test_assumptions(program, function, expected):
    run = explore(program, entry=function).finish()
    (bug,) = run.bugs
    found = str(bug.assumes)
    if function == "same":
        assert set(found.removeprefix("whenever ").split(" && ")) == {"b == a", "a != NULL"}
    else:
        assert found == expected
    (row,) = run.summary()["bugs"]
    assert row["certain"] == (function == "always")
    assert row["assumes"] == list(bug.assumes.conditions)


def test_more_paths_than_are_looked_at(program):
    (bug,) = explore(program, entry="loop").finish().bugs
    assert bug.assumes.others
    assert not bug.assumes.certain
    # The other paths may contradict what is said.
    assert bug.assumes.suffices or str(bug.assumes).startswith("on the first 32 paths found: ")


def test_an_array_that_ends_without_a_terminator(program):
    fewer, bug = sorted(explore(program, entry="last").finish().bugs, key=lambda bug: bug.line)
    assert fewer.class_ == bug.class_ == "out-of-bounds-read"
    assert "s has fewer than n elements and no terminator" in fewer.assumes.conditions
    assert "s has n elements and no terminator" in bug.assumes.conditions
    (shown,) = [line for line in bug.described if line.startswith("s = ")]
    assert shown.endswith("46}, 1 without a terminator")


def test_a_disjunction_is_not_sufficient(program):
    run = explore(program, entry="either").finish()
    (bug,) = run.bugs  # one line, two paths
    assert bug.assumes.conditions == ("a >= 1", "a <= 2")
    assert bug.assumes.suffices


def test_inputs_that_do_not_matter_are_not_mentioned(program):
    (bug,) = explore(program, entry="flag").finish().bugs
    assert not any("unused" in each for each in bug.assumes.conditions)


def test_iterating_keeps_the_conditions(program):
    run = explore(program, entry="relation")
    assert sum(path.kind == "bug" for path in run) == 1
    assert str(run.bugs[0].assumes) == "whenever a < b"


@pytest.mark.parametrize("function", ["both", "masked"])
def test_a_bug_without_one_condition_is_described_by_one_of_its_inputs(program, function):
    (bug,) = explore(program, entry=function).finish().bugs
    n = int.from_bytes(dict(bug.inputs)["n"], "little", signed=True)
    operator = "==" if function == "masked" else ">=" if n > 0 else "<="
    assert str(bug.assumes) == f"whenever n {operator} {n}, and on other inputs"
    assert not bug.assumes.certain
    # It is sufficient: with these inputs every call ends there.
    again = explore(program, entry=function, assume=" && ".join(bug.assumes.conditions)).finish()
    assert again.summary()["paths"]["completed"] == 0
    assert len(again.bugs) == 1
