"""`--entry FUNC`: functions started with symbolic parameters, and fuzz targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import UsageError, explore
from partita.cli import main

SHAPES = Path(__file__).parents[2] / "programs" / "entry" / "shapes.c"


def started(function, tmp_path, **options):
    return explore(SHAPES, entry=function, max_time=30, out=tmp_path / "out", **options).finish()


def replayed(program, tmp_path, capsys):
    assert main(["replay", str(program), str(tmp_path / "out"), "--quiet"]) == 0
    return capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("function", "described"),
    [
        ("third", "*list->next->next = {.value = 7}"),
        ("cycle", "list->next = list"),
        ("nephew", "*tree->left->right = {.key = 77}"),
        ("alias", "b = a"),
        ("unused", "*buffer.data ="),
        ("callback", "f = a function"),
    ],
)
def test_a_shape_is_found_and_replays(function, described, tmp_path, capsys):
    run = started(function, tmp_path)
    found = [bug for bug in run.bugs if bug.class_ == "abort"]
    assert len(found) == 1
    assert any(line.startswith(described) for line in found[0].described), found[0].described
    assert "different" not in replayed(SHAPES, tmp_path, capsys)


def test_arrays_without_a_terminator_end_with_their_objects(tmp_path, capsys):
    (bug,) = started("trailing", tmp_path).bugs
    assert bug.class_ == "out-of-bounds-read"
    assert any(line.endswith(" without a terminator") for line in bug.described)
    assert "different" not in replayed(SHAPES, tmp_path, capsys)


def test_inputs_are_shown_by_their_types(tmp_path):
    run = started("typed", tmp_path)
    (bug,) = run.bugs
    value = next(line for line in bug.described if line.startswith("*f = "))
    assert ".on = true" in value
    assert ".weight = 2.5" in value
    assert ".row = {0, 0, -4}" in value
    assert "color = 5" in bug.described
    assert any(line.startswith("x = -") for line in bug.described)


def test_an_index_must_stay_in_the_object_of_its_pointer(tmp_path):
    run = started("append", tmp_path)
    assert [bug.class_ for bug in run.bugs] == ["out-of-bounds-write"]
    assert "9 bytes" in run.bugs[0].message


def test_assumptions_are_c_over_the_parameters(tmp_path):
    assumed = "!buffer || (buffer->capacity <= 8 && buffer->length <= buffer->capacity)"
    assert started("append", tmp_path, assume=assumed).bugs == []


def test_an_assumption_that_is_not_c(tmp_path):
    with pytest.raises(UsageError, match="--assume `nothing < 3` does not compile"):
        started("append", tmp_path, assume="nothing < 3")


def test_bounds_are_counted_where_they_matter(tmp_path):
    run = started("deep", tmp_path, max_made=3)
    assert not run.complete
    summary = run.summary()
    assert summary["paths"]["unsupported"] > 0
    assert any("more are needed than --max-made" in row["why"] for row in summary["incomplete"])
    reasons = [row["why"] for row in started("words", tmp_path / "more").summary()["incomplete"]]
    assert any("strings of more than 8 bytes" in why for why in reasons)
    assert any("elements (--max-elements)" in why for why in reasons)


def test_a_function_of_numbers_is_explored_completely(tmp_path):
    run = started("harmless", tmp_path)
    assert run.complete
    assert run.summary()["paths"]["completed"] == 2
    assert run.summary()["entry"]["function"] == "harmless"


def test_an_unknown_function():
    with pytest.raises(UsageError, match="expected --entry to be a function of the program, found `nowhere`"):
        explore(SHAPES, entry="nowhere")


def test_a_file_without_main_says_what_can_be_started():
    with pytest.raises(UsageError, match=r"found third, cycle, .* more:\n  start one of them .* --entry third"):
        explore(SHAPES)


FUZZ = """
#include <stddef.h>
#include <stdint.h>
static int ready;
int LLVMFuzzerInitialize(int *argc, char ***argv) { ready = *argc == 1 && (*argv)[0] != 0; return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (ready && size >= 3 && data[0] == 'F' && data[1] == 'U' && data[2] == 'Z') return data[3] == 'Z';
  return 0;
}
"""


def test_a_fuzz_target_needs_no_main(tmp_path, capsys):
    program = tmp_path / "fuzz.c"
    program.write_text(FUZZ)
    run = explore(program, sym_size="2..5", out=tmp_path / "out").finish()
    (bug,) = run.bugs
    assert bug.class_ == "out-of-bounds-read"
    assert dict(bug.inputs)["data"] == b"FUZ"
    assert run.complete
    assert "different" not in replayed(program, tmp_path, capsys)


@pytest.mark.parametrize("sizes", ["5", "9..2", "0..99999999", "a..b"])
def test_sizes_that_are_none(sizes, tmp_path):
    program = tmp_path / "fuzz.c"
    program.write_text(FUZZ)
    with pytest.raises(UsageError, match=r"expected --sym-size to be MIN\.\.MAX"):
        explore(program, sym_size=sizes)


BASES = """
#include <partita.h>
int main(void) {
  char a[8] = {0}, b[8] = {0};
  unsigned which, i;
  partita_make_symbolic(&which, sizeof which, "which");
  partita_make_symbolic(&i, sizeof i, "i");
  char *table[2] = {a, b};
  char *p = table[which & 1];
  return p[i];
}
"""


def test_an_address_cannot_leave_one_object_into_another(tmp_path):
    program = tmp_path / "bases.c"
    program.write_text(BASES)
    run = explore(program).finish()
    assert run.summary()["paths"]["completed"] == 2
    assert [bug.class_ for bug in run.bugs] == ["out-of-bounds-read"]
    assert run.bugs[0].paths == 2


def test_characters_after_a_zero_are_shown(tmp_path):
    program = tmp_path / "zero.c"
    program.write_text("#include <stdlib.h>\nint f(char *s) { if (s && !s[0] && s[1] == 'q') abort(); return 0; }\n")
    (bug,) = explore(program, entry="f").finish().bugs
    assert bug.described == ('*s = "\\x00q"',)


SHAPES_OF_INPUT = """#include <stdlib.h>
struct item { int id; struct item *next; };
union either { int number; char *text; };
struct tagged { int kind; union either value; };
int sum(struct item *items, int n) { int s = 0; for (int i = 0; i < n; i++) s += items[i].id; return s; }
int third(struct item *items, unsigned n) {
  if (items && n == 3 && items[2].next && items[2].next->id == 5 && items[1].id == 6) abort();
  return 0;
}
int fifth(struct item *items, unsigned n) { return items && n == 5 ? items[4].id : 0; }
int rows(int (*m)[3], int n) { return m && n == 2 && m[1][2] == 8 ? m[2][0] : 0; }
int only(struct item *items) { return items ? items->id : 0; }
int number(int *p) { return p ? *p : 0; }
int text(const char *s) { return s ? *s : 0; }
int wide(const wchar_t *s) { return s ? *s : 0; }
int inside(struct tagged *t) { return t ? t->kind : 0; }
int by_value(struct tagged t) { return t.kind; }
int values(int n, ...) { return n; }
int back(const int *p) { return p ? p[-1] : 0; }
int nothing(void) { return 1; }
int real(double d) { return d > 1; }
int called(int (*f)(int)) { return f ? 1 : 0; }
"""


@pytest.fixture
def inputs(tmp_path):
    program = tmp_path / "inputs.c"
    program.write_text(SHAPES_OF_INPUT)
    return program


MIDDLE = "pointers into the middle of objects"


@pytest.mark.parametrize(
    ("function", "reasons"),
    [
        ("sum", ["arrays of more than 4 structures (--max-elements)", MIDDLE]),
        ("rows", ["arrays of more than 4 structures (--max-elements)", MIDDLE]),
        ("only", ["arrays of structures behind a pointer that comes without a number", MIDDLE]),
        ("number", ["arrays of more or less than 4 elements (--max-elements)", MIDDLE]),
        ("back", [MIDDLE]),
        ("text", ["strings of more than 8 bytes (--max-length)", MIDDLE]),
        ("wide", ["strings of more than 8 bytes (--max-length)", MIDDLE]),
        ("inside", ["pointers inside of unions", MIDDLE]),
        ("by_value", ["pointers inside of unions"]),
        ("values", ["arguments behind the last parameter"]),
        ("called", ["effects of functions that a parameter points to"]),
        ("nothing", []),
        ("real", []),
    ],
)
def test_only_functions_whose_inputs_are_all_made_are_explored_completely(function, reasons, inputs):
    run = explore(inputs, entry=function).finish()
    assert run.complete == (not reasons)
    found = [row["why"] for row in run.summary()["incomplete"]]
    for reason in reasons:
        assert any(reason in why for why in found), (reason, found)


def test_structures_beside_a_number_are_an_array(inputs, tmp_path, capsys):
    run = explore(inputs, entry="third", out=tmp_path / "out").finish()
    (bug,) = (bug for bug in run.bugs if bug.class_ == "abort")
    # No shorter array has a third element; the pointers inside the array lead to objects too.
    assert bug.described[0] == "n = 3"
    assert bug.described[1].startswith("items = {{0}, {.id = 6}, {0}")
    assert bug.described[1].endswith((", 3 elements", ", 4 elements"))
    assert any(line.startswith("*items[") and line.endswith("next = {.id = 5}") for line in bug.described)
    assert "different" not in replayed(inputs, tmp_path, capsys)
    (found,) = (bug for bug in explore(inputs, entry="sum").finish().bugs if bug.class_ == "out-of-bounds-read")
    assert str(found.assumes) == "whenever items has fewer than n elements"


def test_the_bound_of_an_array_of_structures(inputs):
    assert explore(inputs, entry="fifth").finish().bugs
    assumed = "n == 5 && items && items[4].id"
    # The condition itself reads the fifth element: with as many elements it holds for some input.
    run = explore(inputs, entry="fifth", max_elements=5, assume=assumed).finish()
    assert run.summary()["paths"]["completed"] > 0
    run = explore(inputs, entry="fifth", max_elements=4, assume=assumed).finish()
    assert run.summary()["paths"]["completed"] == 0


def test_rows_of_an_array_with_two_dimensions(inputs, tmp_path, capsys):
    run = explore(inputs, entry="rows", out=tmp_path / "out").finish()
    assert {bug.class_ for bug in run.bugs} == {"out-of-bounds-read"}
    assert "different" not in replayed(inputs, tmp_path, capsys)


def test_references_of_cpp_are_refused(tmp_path):
    program = tmp_path / "r.cpp"
    program.write_text("int f(int &x, int i) { return x + i; }\nint g(int i) { return i; }\n")
    with pytest.raises(UsageError, match="found `x` of `_Z1fRii`, which is a reference"):
        explore(program, entry="_Z1fRii")
    assert explore(program, entry="_Z1gi").finish().complete


REQUIRES = """#include <partita.h>
int f(int *a, int n) { partita_requires(a && n >= 0 && n < SIZE); return a[n]; }
"""


@pytest.mark.parametrize(("size", "bugs"), [("4", []), ("5", ["out-of-bounds-read"])])
def test_preconditions_in_the_source(size, bugs, tmp_path):
    program = tmp_path / "requires.c"
    program.write_text(REQUIRES)
    run = explore(program, entry="f", cflags=[f"-DSIZE={size}"]).finish()
    assert [bug.class_ for bug in run.bugs] == bugs
    assert all(0 <= int.from_bytes(dict(bug.inputs)["n"], "little") < 5 for bug in run.bugs)
