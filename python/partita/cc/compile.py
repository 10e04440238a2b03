"""Compiles sources to objects: natively with the user's options, and to bitcode for `partita run`, in parallel."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from partita import folded
from partita.cc import embedded
from partita.cc.arguments import CommandLine, Item, Kind
from partita.toolchain import PLAIN, SCOPES, TO_BITCODE, cpp_flags, driver, include_flags

# Programs of configure scripts. They are never explored, and there are hundreds of them.
_CHECK_NAMES = ("conftest.", "CheckSymbolExists.", "testCCompiler.", "CMakeCCompilerId.")
_CHECK_FOLDERS = frozenset(("CMakeScratch", "CMakeTmp", "meson-private"))


# Languages whose sources are also compiled to bitcode.
_EXPLORED = ("c", "C++")


def native_command(words: Sequence[str], *, cpp: bool = False) -> list[str]:
    """The command of clang for the native target. The include folders of musl come last, as system folders do."""
    plain = [word for word in words if not word.startswith("-flto")]
    includes = _include_words(words, cpp)
    at = plain.index("--") if "--" in plain else len(plain)
    zig, clang, *target = driver()
    return [zig, clang, *_no_unused_warnings(target), *plain[:at], *_no_unused_warnings(includes), *plain[at:]]


def _include_words(words: Sequence[str], cpp: bool) -> list[str]:
    if "-nostdinc" in words:
        return []
    return [*(cpp_flags() if cpp else ()), *include_flags()]


def _no_unused_warnings(words: Sequence[str]) -> list[str]:
    """Suppresses warnings about unused options, for options that the user did not give."""
    return ["--start-no-unused-arguments", *words, "--end-no-unused-arguments"]


def without_errors(words: Sequence[str]) -> list[str]:
    """The words without `-Werror`: this compiler warns about other things than the one that the project is made for.

    Not for the programs of configure scripts, which learn from such errors.
    """
    return [word for word in words if not word.startswith("-Werror") and word != "-pedantic-errors"]


def to_objects(line: CommandLine) -> int:
    """`-c`: the native compilation has the user's command line."""
    outputs = {item: line.output or _object_name(item.words[0]) for item in line.sources}
    words = line.words if any(map(_is_check, line.sources)) else without_errors(line.words)
    # `partita c++ -c file.c` compiles C++.
    language = ["-x", "c++"] if line.cpp and any(item.words[0].endswith(".c") for item in line.sources) else []
    cpp = any(item.language == "C++" for item in line.sources)
    return _compile(line, [native_command([*language, *words], cpp=cpp)], outputs)


def to_temporary_objects(line: CommandLine, folder: str) -> tuple[int, dict[Item, str]]:
    """Compiling and linking in one command: objects replace the sources for the linker."""
    outputs = {
        item: os.path.join(folder, f"{number}-{_object_name(item.words[0])}")
        for number, item in enumerate(line.sources)
    }
    words = line.words_of(Kind.COMPILE, Kind.BOTH)
    if not any(map(_is_check, line.sources)):
        words = without_errors(words)
    commands = []
    for item, output in outputs.items():
        language = ["-x", item.dash_x] if item.dash_x else []
        dependencies = _dependency_words(line, item)
        command = [*words, *dependencies, *language, "-c", item.words[0], "-o", output]
        commands.append(native_command(command, cpp=item.language == "C++"))
    return _compile(line, commands, outputs), outputs


def _dependency_words(line: CommandLine, item: Item) -> list[str]:
    """Options that give the file of `-MD` its usual name, which clang derives from the output."""
    words = {word for word in line.words if word.startswith("-M")}
    if not words & {"-MD", "-MMD"} or any(word.startswith("-MF") for word in words):
        return []
    stem = os.path.splitext(line.output)[0] if line.output else os.path.splitext(os.path.basename(item.words[0]))[0]
    target = [] if any(word.startswith(("-MT", "-MQ")) for word in words) else ["-MT", _object_name(item.words[0])]
    return ["-MF", f"{stem}.d", *target]


def _compile(line: CommandLine, native_commands: list[list[str]], outputs: dict[Item, str]) -> int:
    text = None
    if any(item.words[0] == "-" for item in outputs):
        import sys

        text = sys.stdin.buffer.read()
    wanted = [item for item, output in outputs.items() if item.language in _EXPLORED and _embeds_bitcode(item, output)]
    status = 0
    # Only the first source is compiled in parallel to the native compilation: make already runs several processes.
    bitcode = {item: _Bitcode(line, item) for item in wanted[:1]}
    for command in native_commands:
        native = subprocess.Popen(command, stdin=None if text is None else subprocess.PIPE)
        native.communicate(text)
        status = status or native.returncode
    for item in wanted:
        record = (bitcode.get(item) or _Bitcode(line, item)).finish(text)
        if status == 0:
            embedded.add(outputs[item], embedded.pack(record))
    if status == 0:
        for item, output in outputs.items():
            if item.language not in _EXPLORED and _embeds_bitcode(item, output):
                embedded.add(
                    output, embedded.pack(embedded.BitcodeRecord(item.words[0], os.getcwd(), b"", item.language))
                )
    return status if status >= 0 else 128 - status


class _Bitcode:
    """A compilation to bitcode, and one that shows whether operations on constants were folded (`folded.py`)."""

    def __init__(self, line: CommandLine, item: Item) -> None:
        self._source = item.words[0]
        self._words = line.bitcode_words()
        self._options = [
            *driver(),
            *self._words,
            *_include_words(line.words, item.language == "C++"),
            *PLAIN,
            *SCOPES,
            *TO_BITCODE,
            *(["-x", item.dash_x] if item.dash_x else []),
        ]
        self._plain = _Compilation(self._options, self._source)
        self._checked = _Compilation([*self._options, *folded.flags(self._words), "-S"], self._source)

    def finish(self, text: bytes | None) -> embedded.BitcodeRecord:
        bitcode, why = self._plain.finish(text)
        checked, why_not = self._checked.finish(text)
        if not why and not why_not and folded.has_checks(checked.decode("utf-8", "replace")):
            from partita.frontends.bitcode import bitcode_of, linked_text

            found, why = _Compilation([*self._options, *folded.flags(self._words)], self._source).finish(text)
            if not why:
                module = linked_text([(self._source, found)])
                bitcode = bitcode_of(folded.without_other_checks(module, self._words))
        return embedded.BitcodeRecord(self._source, os.getcwd(), b"" if why or why_not else bitcode, why or why_not)


class _Compilation:
    """A process of the compiler. It writes to memory; it would block on a pipe that is not read."""

    def __init__(self, options: Sequence[str], source: str) -> None:
        self._from_input = source == "-"
        self._output = os.memfd_create("bitcode")
        self._process = subprocess.Popen(
            [*options, "-o", "-", source],
            stdin=subprocess.PIPE if self._from_input else subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.PIPE,
        )

    def finish(self, text: bytes | None) -> tuple[bytes, str]:
        """The output, and why there is none."""
        _, messages = self._process.communicate(text if self._from_input else None)
        with open(self._output, "rb") as file:
            file.seek(0)
            output = file.read()
        if self._process.returncode == 0:
            return output, ""
        why = messages.decode("utf-8", "replace").strip().partition("\n")[0]
        return b"", why or f"status {self._process.returncode}"


def _embeds_bitcode(item: Item, output: str) -> bool:
    """Whether the source is part of a program, not a configure check, and its object is a regular file."""
    if _is_check(item) or os.environ.get("PARTITA_CC_BITCODE") == "0":
        return False
    return not os.path.exists(output) or os.path.isfile(output)


def _is_check(item: Item) -> bool:
    """Is the source a program of a configure script?"""
    source = item.words[0]
    if os.path.basename(source).startswith(_CHECK_NAMES):
        return True
    return not _CHECK_FOLDERS.isdisjoint(os.path.abspath(source).split(os.sep))


def _object_name(source: str) -> str:
    return os.path.splitext(os.path.basename(source))[0] + ".o"
