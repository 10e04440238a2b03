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
    assert "of 9 bytes" in run.bugs[0].message


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
