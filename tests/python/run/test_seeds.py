"""Seeds: inputs that a run follows first, from fuzzers and from other runs, and the exchange with AFL++."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import explore
from partita.cli.export import FORMATS
from partita.errors import UsageError
from partita.explore import Run
from partita.ktest import read_folder
from partita.replay import to_bytes

TARGET = """#include <stddef.h>
#include <stdint.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned hash = 5381;
  if (size < 4 || memcmp(data, "GIF", 3)) return 0;
  for (size_t i = 3; i < size; i++) hash = hash * 33 ^ data[i];
  if (hash % 1021 != 1) return 0;
  if (size == 7 && data[3] > 200) __builtin_trap();
  return 0;
}
"""
OBJECTS = """#include <klee/klee.h>
int main(void) {
  unsigned char a, b[3], c;
  klee_make_symbolic(&a, 1, "a");
  if (a == 77) return 9;
  klee_make_symbolic(b, 3, "b");
  klee_make_symbolic(&c, 1, "a");
  if (a < b[1]) {
    if (b[2] == 3) return 1;
    return 2;
  }
  if (c == 8) return 3;
  return 4;
}
"""
ECHO = """#include <stdio.h>
int main(int count, char **words) {
  FILE *file = count > 1 ? fopen(words[1], "r") : stdin;
  int first = getc(file), second = getc(file);
  return first == 'h' ? second == 'i' ? 3 : 2 : 1;
}
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def good_input(size: int, first: int) -> bytes:
    """An input that passes the hash of `TARGET`."""
    for rest in range(1 << 16):
        data = b"GIF" + bytes([first]) + rest.to_bytes(2, "little") + bytes(size - 6)
        found = 5381
        for byte in data[3:]:
            found = (found * 33 ^ byte) & 0xFFFFFFFF
        if found % 1021 == 1:
            return data
    raise AssertionError("no input has this hash")


def inputs(run: Run, count: int) -> list[dict[str, bytes]]:
    return [dict(path.inputs) for path, _ in zip(run, range(count), strict=False)]


def test_seeds_of_a_fuzz_target_are_the_first_paths(tmp_path: Path) -> None:
    source = write(tmp_path, "target.c", TARGET)
    seeds = [good_input(6, 9), good_input(9, 1), b"GIFx", b"other"]
    for i, seed in enumerate(seeds):
        write(tmp_path, f"seeds/{i}", seed)
    run = explore(source, seeds=tmp_path / "seeds")
    assert sorted(found.get("data", b"") for found in inputs(run, 4)) == sorted(seeds)


def test_a_bug_beside_a_seed_is_found(tmp_path: Path) -> None:
    source = write(tmp_path, "target.c", TARGET)
    write(tmp_path, "seeds/queue/id:000000", good_input(7, 200))
    run = explore(source, seeds=tmp_path / "seeds", max_time=50, tests="bugs").finish()
    assert [bug.class_ for bug in run.bugs] == ["abort"]


@pytest.mark.parametrize("search", ["mix", "dfs", "bfs"])
def test_seeds_change_the_order_and_nothing_else(search: str, tmp_path: Path) -> None:
    source = write(tmp_path, "objects.c", OBJECTS)
    # The third input has the name of the first: the second object of that name is for it.
    named = [("a", b"\7"), ("b", b"\1\2\3"), ("a", b"\10")]
    write(tmp_path, "seeds/test000001.ktest", to_bytes(named))
    write(tmp_path, "seeds/raw", bytes([5, 0, 9, 3, 0]))
    plain = sorted(path.ending for path in explore(source, search=search))
    run = explore(source, search=search, seeds=tmp_path / "seeds")
    paths = list(run)
    assert run.complete
    assert sorted(path.ending for path in paths) == plain
    assert {path.ending for path in paths[:2]} == {"exit 3", "exit 1"}
    assert tuple(named) in [path.inputs for path in paths[:2]]


def test_late_seeds_continue_open_paths(tmp_path: Path) -> None:
    source = write(tmp_path, "objects.c", OBJECTS)
    run = explore(source, search="bfs")
    assert run.add_seeds([([], bytes([77])), ([("a", b"\1")], b"")]) == 0
    first = next(iter(run))
    assert first.ending in ("exit 9", "exit 2", "exit 4")
    assert run.add_seeds([([], bytes([5, 0, 9, 3, 0]))]) in (0, 1)


def test_standard_input_and_files(tmp_path: Path) -> None:
    source = write(tmp_path, "echo.c", ECHO)
    write(tmp_path, "seeds/one", b"hi")
    run = explore(source, sym_stdin=4, seeds=tmp_path / "seeds")
    assert next(iter(run)).ending == "exit 3"
    run = explore(source, arguments=["A"], sym_files=(1, 4), seeds=tmp_path / "seeds")
    assert next(iter(run)).ending == "exit 3"


def test_the_corpus_grows_by_what_is_new(tmp_path: Path) -> None:
    source = write(tmp_path, "target.c", TARGET)
    seeds = [good_input(6, 9), b"abc"]
    for i, seed in enumerate(seeds):
        write(tmp_path, f"seeds/{i}", seed)
    out = tmp_path / "out"
    explore(source, seeds=tmp_path / "seeds", tests="coverage", max_tests=6, max_time=50, out=out).finish()
    FORMATS["seeds"].write(out, tmp_path / "new", None)  # type: ignore[arg-type]
    new = [file.read_bytes() for file in (tmp_path / "new").glob("*/*")]
    assert new
    assert not set(new) & set(seeds)
    assert all(data.startswith(b"GI") or len(data) < 17 for data in new)


def test_inputs_are_exchanged_with_afl(tmp_path: Path) -> None:
    source = write(tmp_path, "target.c", TARGET)
    theirs = good_input(6, 9)
    write(tmp_path, "sync/main/queue/id:000000,orig:x", theirs)
    run = explore(source, sync=tmp_path / "sync", tests="coverage", max_tests=4, max_time=50, out=tmp_path / "out")
    run.finish()
    queue = sorted((tmp_path / "sync/partita/queue").iterdir())
    assert [file.name[:9] for file in queue] == [f"id:{i:06}" for i in range(len(queue))]
    ours = {file.read_bytes() for file in queue}
    assert ours
    assert theirs not in ours
    data = {dict(test.objects).get("data", b"") for test in read_folder(tmp_path / "out")}
    assert theirs in data
    assert ours <= data


def test_messages(tmp_path: Path) -> None:
    source = write(tmp_path, "target.c", TARGET)
    with pytest.raises(UsageError, match=r"^expected a folder or a file of seeds, found nothing at"):
        explore(source, seeds=tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"^expected seeds in .*, found no file$"):
        explore(source, seeds=tmp_path / "empty")
    with pytest.raises(UsageError, match=r"^expected an output folder of afl-fuzz for --sync, found nothing at"):
        explore(source, sync=tmp_path / "absent")
