"""Sources to objects: natively as the user asks, and to bitcode as `partita run` wants it, at the same time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from partita.cc import kept
from partita.cc.arguments import CommandLine, Item, Kind
from partita.toolchain import PLAIN, TO_BITCODE, driver, include_flags

# Programs of configure scripts: nobody explores them, and there are hundreds.
_CHECK_NAMES = ("conftest.", "CheckSymbolExists.", "testCCompiler.", "CMakeCCompilerId.")
_CHECK_FOLDERS = frozenset(("CMakeScratch", "CMakeTmp", "meson-private"))


def native_command(words: Sequence[str]) -> list[str]:
    """clang for the native target. The include folders of its libc come last, as a compiler's own do."""
    plain = [word for word in words if not word.startswith("-flto")]
    includes = [] if "-nostdinc" in words else include_flags()
    at = plain.index("--") if "--" in plain else len(plain)
    zig, clang, *target = driver()
    return [zig, clang, *_unasked(target), *plain[:at], *_unasked(includes), *plain[at:]]


def _unasked(words: Sequence[str]) -> list[str]:
    """Words that are not the user's: where they do nothing (assembly, linking) that is nothing to warn of."""
    return ["--start-no-unused-arguments", *words, "--end-no-unused-arguments"]


def to_objects(line: CommandLine) -> int:
    """`-c`: the native compilation is the user's command line itself."""
    outputs = {item: line.output or _object_name(item.words[0]) for item in line.sources}
    return _compile(line, [native_command(line.words)], outputs)


def to_temporary_objects(line: CommandLine, folder: str) -> tuple[int, dict[Item, str]]:
    """Compiling and linking in one command: the objects stand where the sources stood."""
    outputs = {
        item: os.path.join(folder, f"{number}-{_object_name(item.words[0])}")
        for number, item in enumerate(line.sources)
    }
    words = line.of(Kind.COMPILE, Kind.BOTH)
    commands = []
    for item, output in outputs.items():
        language = ["-x", item.dash_x] if item.dash_x else []
        dependencies = _dependency_words(line, item)
        commands.append(native_command([*words, *dependencies, *language, "-c", item.words[0], "-o", output]))
    return _compile(line, commands, outputs), outputs


def _dependency_words(line: CommandLine, item: Item) -> list[str]:
    """-MD names its file after the output, which here is not the object's."""
    words = {word for word in line.words if word.startswith("-M")}
    if not words & {"-MD", "-MMD"} or any(word.startswith("-MF") for word in words):
        return []
    stem = os.path.splitext(line.output)[0] if line.output else os.path.splitext(os.path.basename(item.words[0]))[0]
    target = [] if any(word.startswith(("-MT", "-MQ")) for word in words) else ["-MT", _object_name(item.words[0])]
    return ["-MF", f"{stem}.d", *target]


def _compile(line: CommandLine, natives: list[list[str]], outputs: dict[Item, str]) -> int:
    text = None
    if any(item.words[0] == "-" for item in outputs):
        import sys

        text = sys.stdin.buffer.read()
    wanted = [item for item, output in outputs.items() if item.language == "c" and _is_kept(item, output)]
    status = 0
    # A source at a time beside its native compilation; further sources wait, since make runs many of us at once.
    bitcode = {item: _Bitcode(line, item) for item in wanted[:1]}
    for command in natives:
        native = subprocess.Popen(command, stdin=None if text is None else subprocess.PIPE)
        native.communicate(text)
        status = status or native.returncode
    for item in wanted:
        record = (bitcode.get(item) or _Bitcode(line, item)).finish(text)
        if status == 0:
            kept.add(outputs[item], kept.pack(record))
    if status == 0:
        for item, output in outputs.items():
            if item.language != "c" and _is_kept(item, output):
                kept.add(output, kept.pack(kept.Record(item.words[0], os.getcwd(), b"", item.language)))
    return status if status >= 0 else 128 - status


class _Bitcode:
    """A compilation to bitcode. Its output goes to memory: a pipe would make it wait until somebody reads."""

    def __init__(self, line: CommandLine, item: Item) -> None:
        self._source = item.words[0]
        self._output = os.memfd_create("bitcode")
        includes = [] if "-nostdinc" in line.words else include_flags()
        language = ["-x", item.dash_x] if item.dash_x else []
        self._process = subprocess.Popen(
            [*driver(), *line.bitcode_words(), *includes, *PLAIN, *TO_BITCODE, *language, "-o", "-", self._source],
            stdin=subprocess.PIPE if self._source == "-" else subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.PIPE,
        )

    def finish(self, text: bytes | None) -> kept.Record:
        _, said = self._process.communicate(text if self._source == "-" else None)
        with open(self._output, "rb") as file:
            file.seek(0)
            bitcode = file.read()
        if self._process.returncode == 0:
            return kept.Record(self._source, os.getcwd(), bitcode)
        why = said.decode("utf-8", "replace").strip().partition("\n")[0]
        return kept.Record(self._source, os.getcwd(), b"", why or f"status {self._process.returncode}")


def _is_kept(item: Item, output: str) -> bool:
    """Is this a program's own source, with an object to keep its bitcode in?"""
    source = item.words[0]
    if os.path.basename(source).startswith(_CHECK_NAMES) or os.environ.get("PARTITA_CC_BITCODE") == "0":
        return False
    if not _CHECK_FOLDERS.isdisjoint(os.path.abspath(source).split(os.sep)):
        return False
    return not os.path.exists(output) or os.path.isfile(output)


def _object_name(source: str) -> str:
    return os.path.splitext(os.path.basename(source))[0] + ".o"
