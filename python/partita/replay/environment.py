"""The environment of a program in a test: arguments, files and standard input, from a `.ktest`.

The words are those of the run, as KLEE writes them: `--sym-arg N` and similar options are at the positions of their
arguments, and the bytes are in objects named `arg00`, `n_args`, `A_data`, `A_data_stat`, `stdin` and so on. KLEE before
version 3 wrote `A-data`, `A-data-stat` and `model_version`. All others are the program's own, made by intrinsics.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from partita.errors import UsageError
from partita.ktest import Test

# Number of words after each flag.
_FLAGS = {"sym-arg": 1, "sym-args": 3, "sym-files": 2, "sym-stdin": 1, "sym-stdout": 0, "save-all-writes": 0}
_FLAGS |= {"max-fail": 1, "fd-fail": 0, "sym-env": 2, "vary-files": 0}
_ARGUMENT = re.compile(r"arg\d+")
_COUNT = re.compile(r"n_args(_\d+)?")
_FILE = re.compile(r"([A-Z])[-_]data(_\d+)?")
_STATUS = re.compile(r"(?P<of>.+)[-_]stat")
_IGNORED = re.compile(r"(stdin|stdout)[-_]stat|model_version")
_VARIED = re.compile(r"(?P<of>[A-Z]|stdin)_(?P<what>kind|read)|(read|close)_number|stdout_full|utf8_locale")
_EMPTY, _OTHER_KIND, _LARGE, _LARGE_PIPE = range(1, 5)
_FILL = b"abcdefg\n" * (3 * 4096 // 8)
_SHORT, _FAILING = 1, 2
_FAILURES = ("read_fail", "write_fail", "close_fail", "ftruncate_fail", "getcwd_fail")
_STAT = struct.Struct("<24xI60xQ")  # struct stat of x86-64: st_mode and the seconds of st_mtime


@dataclass(frozen=True)
class File:
    contents: bytes
    mode: int | None = None
    """Permissions; None means those of a new file."""
    modified: int | None = None
    is_folder: bool = False


@dataclass(frozen=True)
class Environment:
    arguments: tuple[bytes, ...]
    """argv, including the program's name."""
    files: dict[str, File]
    stdin: bytes
    stdout: bytes | None
    """The predicted output, cut or padded with zeros to this length; None if it was not recorded."""
    program_objects: tuple[tuple[str, bytes], ...]
    """Objects that the program makes by intrinsics."""
    failures: tuple[int, ...] = ()
    """Number of system calls that may fail, then for each kind the number of the call that fails; empty if none."""
    faults: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Number of the call that fails among those that read, of the one that is short, 1 if writes to
    standard output fail, and the number of the call that fails among those that close; 0 for none."""
    stdin_is_pipe: bool = False
    variables: tuple[tuple[str, bytes], ...] = ()
    """Name and entry of symbolic environment variables; that of an absent one matches no name."""
    has_utf8: bool = False
    """Is the locale UTF-8 instead of bytes?"""


def uses_environment(test: Test) -> bool:
    """Whether a test needs more than the program's own objects and plain arguments."""
    return any(_flag(word) is not None for word in test.arguments[1:])


def environment(test: Test) -> Environment:
    left = list(test.objects)

    def take(pattern: re.Pattern[str], what: str) -> bytes:
        for at, (name, data) in enumerate(left):
            if pattern.fullmatch(name):
                del left[at]
                return data
        raise UsageError(f"{test.name}: expected an object for {what}, found none")

    def argument(flag: str) -> bytes:
        return take(_ARGUMENT, flag).split(b"\0", 1)[0]

    # A fixed number of arguments has no object, except in tests of older versions of Partita, which have one per flag.
    flags = sum(_flag(word) == "sym-args" for word in test.arguments[1:])
    all_counted = sum(bool(_COUNT.fullmatch(name)) for name, _ in left) == flags
    arguments: list[bytes] = [os.fsencode(word) for word in test.arguments[:1]]
    failures: tuple[int, ...] = ()
    variables: list[tuple[str, bytes]] = []
    words = iter(test.arguments[1:])
    for word in words:
        flag = _flag(word)
        if flag is None:
            arguments.append(os.fsencode(word))
            continue
        values = [next(words, "") for _ in range(_FLAGS[flag])]
        if not all(value.isdecimal() for value in values[flag == "sym-env" :]):
            raise UsageError(f"{test.name}: expected {len(values)} numbers after {word}, found `{' '.join(values)}`")
        if flag == "sym-arg":
            arguments.append(argument(f"--sym-arg {values[0]}"))
        elif flag == "sym-args":
            what = f"--sym-args {' '.join(values)}"
            fixed = values[0] == values[1] and not all_counted
            count = int(values[0]) if fixed else int.from_bytes(take(_COUNT, what), "little")
            if count > int(values[1]):
                raise UsageError(f"{test.name}: expected at most {values[1]} arguments for {what}, found {count}")
            arguments += [argument(what) for _ in range(count)]
        elif flag == "sym-env":
            variables.append((values[0], _entry(test, values[0], dict(left))))
        elif flag == "max-fail" and int(values[0]):
            numbers = [take(re.compile(name), f"{word} {values[0]}") for name in _FAILURES]
            failures = (int(values[0]), *(int.from_bytes(number, "little") for number in numbers))
    objects = dict(left)
    statuses = {found["of"]: data for name, data in left if (found := _STATUS.fullmatch(name))}
    varied = {name: int.from_bytes(data, "little") for name, data in left if _VARIED.fullmatch(name)}
    files = {
        found[1]: _file(data, statuses.get(name), varied.get(f"{found[1]}_kind", 0))
        for name, data in left
        if (found := _FILE.fullmatch(name))
    }
    number = varied.get("read_number", 0)
    reads = [value for name, value in varied.items() if name.endswith("_read")]
    stdin_kind = varied.get("stdin_kind", 0)
    owned = {"stdin", "stdout"} | {name for name in objects if _FILE.fullmatch(_STATUS.sub(r"\g<of>", name))}
    owned |= {*varied, *(f"env_{name}{end}" for name, _ in variables for end in ("", "_set"))}
    program_objects = tuple((name, data) for name, data in left if name not in owned and not _IGNORED.fullmatch(name))
    return Environment(
        tuple(arguments),
        files,
        _contents(objects.get("stdin", b""), stdin_kind),
        objects.get("stdout"),
        program_objects,
        failures,
        (
            number if _FAILING in reads else 0,
            number if _SHORT in reads else 0,
            varied.get("stdout_full", 0),
            varied.get("close_number", 0),
        ),
        stdin_kind in (_OTHER_KIND, _LARGE_PIPE),
        tuple(variables),
        "utf8_locale" in varied,
    )


def _entry(test: Test, name: str, objects: dict[str, bytes]) -> bytes:
    """The entry of a symbolic variable, as `posix/start.c` makes it."""
    try:
        value, is_set = objects[f"env_{name}"], objects[f"env_{name}_set"]
    except KeyError as error:
        raise UsageError(f"{test.name}: expected an object {error} for --sym-env {name}, found none") from None
    encoded = os.fsencode(name)
    first = encoded[:1] if is_set != b"\0" else b"="
    return first + encoded[1:] + b"=" + value.split(b"\0", 1)[0]


def _flag(word: str) -> str | None:
    name = word.removeprefix("-").removeprefix("-")
    return name if word.startswith("-") and name in _FLAGS else None


def _contents(data: bytes, kind: int) -> bytes:
    """The bytes of a file of this kind, as `posix/vary.c` makes them."""
    half = len(data) // 2
    is_large = kind in (_LARGE, _LARGE_PIPE)
    return b"" if kind == _EMPTY else data[:half] + _FILL + data[half:] if is_large else data


def _file(contents: bytes, status: bytes | None, kind: int) -> File:
    contents = _contents(contents, kind)
    if status is None or len(status) < _STAT.size:
        return File(contents, is_folder=kind == _OTHER_KIND)
    mode, modified = _STAT.unpack_from(status)
    return File(contents, mode & 0o7777, modified, kind == _OTHER_KIND)


def create(files: dict[str, File], folder: Path) -> None:
    """Creates the files of a test in a folder."""
    for name, file in files.items():
        path = folder / name
        if file.is_folder:
            path.mkdir()
        else:
            path.write_bytes(file.contents)
        if file.modified is not None:
            _set_time(path, file.modified)
        if file.mode is not None:
            path.chmod(file.mode)


def _set_time(path: Path, seconds: int) -> None:
    """Sets the time, clamped to the range of common file systems (34 bits)."""
    signed = seconds - (1 << 64) if seconds >> 63 else seconds
    nearest = max(-(1 << 31), min(signed, (1 << 34) - (1 << 31) - 1))
    os.utime(path, (nearest, nearest))
