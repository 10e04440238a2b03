"""Runs random programs of csmith concretely, with and without `--optimize`, and compares the checksum that they print
with the natively compiled program's.

Usage: python tests/soak/csmith.py [SEEDS] [FIRST] [-m32]. Needs the package csmith.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from partita import explore
from partita.toolchain import NARROW_FLAGS, NARROW_ZIG_TARGET, TARGET, zig_dir

SIZE_FLAGS = ("--max-funcs", "4", "--max-block-depth", "3", "--no-packed-struct")
# Programs that take longer natively are skipped; the engine has a hundred times as long.
NATIVE_S = 1
OURS_S = 100


def include() -> Path:
    for folder in (Path("/usr/include/csmith"), *Path("/usr/include").glob("csmith-*")):
        if (folder / "csmith.h").exists():
            return folder
    sys.exit("expected csmith's headers under /usr/include, found none: install the package csmith")


def native(source: Path, headers: Path, narrow: bool) -> str | None:
    """Output of the native program; None if it does not end."""
    binary = source.with_suffix("")
    target = [NARROW_ZIG_TARGET, *NARROW_FLAGS] if narrow else [TARGET]
    compiler = [str(zig_dir() / "zig"), "cc", "-target", *target, "-O0", "-w", "-fno-sanitize=all"]
    subprocess.run([*compiler, "-I", str(headers), str(source), "-o", str(binary)], check=True)
    try:
        return subprocess.run([str(binary)], capture_output=True, text=True, timeout=NATIVE_S, check=True).stdout
    except subprocess.TimeoutExpired:
        return None


def compare(seed: int, folder: Path, headers: Path, *, narrow: bool = False) -> str | None:
    """A message about the difference, empty if there is none; None if the program does not end natively."""
    source = folder / f"csmith{seed}.c"
    generator = ["csmith", "--seed", str(seed), *SIZE_FLAGS]
    source.write_text(subprocess.run(generator, capture_output=True, text=True, check=True, cwd=folder).stdout)
    expected = native(source, headers, narrow)
    if expected is None:
        return None
    for optimize in (False, True):
        flags = ["-I", str(headers), *(["-m32"] if narrow else [])]
        paths = list(explore(source, max_time=OURS_S, cflags=flags, optimize=optimize))
        ending, output = paths[0].ending, paths[0].output.decode()
        if len(paths) != 1 or ending != "exit 0" or output != expected:
            flag = " with --optimize" if optimize else ""
            return f"seed {seed}{flag}: expected {expected!r}, found {output!r}, {ending}: {paths[0].message}"
    return ""


def main() -> int:
    if shutil.which("csmith") is None:
        print("csmith is not installed: nothing was compared")
        return 0
    narrow = "-m32" in sys.argv
    numbers = [int(word) for word in sys.argv[1:] if word != "-m32"]
    seeds, first = (*numbers, *(50, 1)[len(numbers) :])
    headers = include()
    same = endless = 0
    for seed in itertools.count(first):
        if same == seeds:
            break
        with tempfile.TemporaryDirectory() as folder:
            difference = compare(seed, Path(folder), headers, narrow=narrow)
        if difference is None:
            endless += 1
        elif difference:
            print(difference)
            return 1
        else:
            same += 1
    print(f"{same} programs print the native checksum; {endless} do not end natively and were skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
