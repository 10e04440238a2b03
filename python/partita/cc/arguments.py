"""Parses a compiler's command line as far as embedding bitcode needs it: which words are sources, which are for the
compiler, which for the linker. Clang checks the rest."""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from typing import NamedTuple

_WITH_ARGUMENT = frozenset(
    """-o -I -D -U -A -F -L -l -T -u -z -e -x -B -include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix
    -iwithprefixbefore -isysroot -cxx-isystem -MF -MT -MQ -MJ -Xclang -Xlinker -Xassembler -Xpreprocessor -mllvm -target
    -arch --param -h -rpath -soname -framework --sysroot -aux-info -wrapper -dumpdir -dumpbase -V -b -G""".split()
)
# The argument may be in the same word or the next one.
_LINK_PREFIXES = ("-l", "-L", "-Wl,", "-T", "-u", "-z", "-fuse-ld=", "-static-", "-shared-", "-rpath", "-soname")
_LINK_WORDS = frozenset(
    """-static -shared -pie -no-pie -nopie -rdynamic -s -r -e -h -nostdlib -nostartfiles -nodefaultlibs -Xlinker
    -symbolic""".split()
)
_BOTH_WORDS = frozenset("-pthread -v -###".split())
# Options that request an output other than an object or an executable: only the native compiler is called.
_OTHER_OUTPUT = frozenset(
    """-E -S -M -MM -fsyntax-only -emit-llvm --version --help -help --analyze -###
    -dumpmachine -dumpversion -dumpfullversion -dumpspecs""".split()
)
_OTHER_PREFIXES = ("-print-", "--print-", "--help", "-emit-")
_NO_BITCODE_WORDS = frozenset("-MD -MMD -MP -MG -MV -pipe -c --coverage -ftest-coverage".split())
_NO_BITCODE_PREFIXES = (
    *("-O", "-g", "-MF", "-MT", "-MQ", "-MJ", "-W", "-flto", "-fno-lto", "-fsanitize", "-fno-sanitize", "-fprofile"),
    *("-fcoverage", "-fstack-protector", "-save-temps", "--save-temps", "-ftime-", "-fdiagnostics", "-fcolor"),
    *("-fno-color", "-Xassembler"),
)
_LANGUAGES = {
    **dict.fromkeys((".c", ".i", ".ll", ".bc"), "c"),
    **dict.fromkeys((".s", ".S", ".sx", ".asm"), "assembly"),
    **dict.fromkeys((".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".ii"), "C++"),
    **dict.fromkeys((".m", ".mi", ".mm", ".M", ".mii"), "Objective-C"),
    **dict.fromkeys((".f", ".F", ".f77", ".f90", ".F90", ".f95"), "Fortran"),
}
_DASH_X = {
    **dict.fromkeys(("c", "cpp-output", "ir"), "c"),
    **dict.fromkeys(("c++", "c++-cpp-output"), "C++"),
    **dict.fromkeys(("assembler", "assembler-with-cpp"), "assembly"),
}


class Kind(enum.Enum):
    COMPILE = "compile"
    LINK = "link"
    BOTH = "both"
    SOURCE = "source"
    INPUT = "input"
    """An input of the linker: an object, an archive, a script."""
    OUTPUT = "output"


class Item(NamedTuple):
    kind: Kind
    words: tuple[str, ...]
    language: str = ""
    """Language of a source: `c`, or the name of a language that is compiled natively only."""
    dash_x: str = ""
    """The current `-x`, if any."""


class CommandLine(NamedTuple):
    words: tuple[str, ...]
    """The arguments, with response files expanded."""
    items: tuple[Item, ...]
    output: str | None
    compile_only: bool
    other_output: bool
    """Whether the command makes neither an object nor an executable."""
    cpp: bool = False
    """Whether it is the command of the C++ compiler: C sources are C++, and libc++ is linked."""

    @property
    def sources(self) -> list[Item]:
        return [item for item in self.items if item.kind is Kind.SOURCE]

    def words_of(self, *kinds: Kind) -> list[str]:
        """The words of these kinds, in order."""
        return [word for item in self.items if item.kind in kinds for word in item.words]

    def bitcode_words(self) -> list[str]:
        """Options that affect bitcode: language and preprocessor, not optimisation, warnings or dependencies."""
        return [
            word
            for item in self.items
            if item.kind is Kind.COMPILE and _affects_bitcode(item.words)
            for word in item.words
        ]


def parse(arguments: Sequence[str], *, cpp: bool = False) -> CommandLine:
    words = expand(arguments)
    items: list[Item] = []
    output, compile_only, other_output, dash_x = None, False, False, ""
    at, only_inputs = 0, False
    while at < len(words):
        word = words[at]
        if word == "--" and not only_inputs:
            only_inputs, at = True, at + 1
            continue
        count = 2 if word in _WITH_ARGUMENT and not only_inputs and at + 1 < len(words) else 1
        group = tuple(words[at : at + count])
        at += count
        if only_inputs or not word.startswith("-") or word == "-":
            items.append(_input(word, dash_x, cpp))
        elif word == "-x" or word.startswith("-x"):
            dash_x = "".join(group)[2:]
            dash_x = "" if dash_x == "none" else dash_x
        elif word.startswith("-o") and not word.startswith("-objc"):
            output = "".join(group)[2:]
            items.append(Item(Kind.OUTPUT, group))
        else:
            compile_only = compile_only or word == "-c"
            other_output = other_output or word in _OTHER_OUTPUT or word.startswith(_OTHER_PREFIXES)
            items.append(Item(_kind(word), group))
    inputs = any(item.kind in (Kind.SOURCE, Kind.INPUT) for item in items)
    return CommandLine(tuple(words), tuple(items), output, compile_only, other_output or not inputs, cpp)


def _input(word: str, dash_x: str, cpp: bool) -> Item:
    if dash_x:
        return Item(Kind.SOURCE, (word,), _DASH_X.get(dash_x, dash_x), dash_x)
    suffix = os.path.splitext(word)[1]
    if cpp and suffix == ".c":
        return Item(Kind.SOURCE, (word,), "C++", "c++")
    language = _LANGUAGES.get(suffix)
    return Item(Kind.INPUT if language is None else Kind.SOURCE, (word,), language or "")


def _kind(word: str) -> Kind:
    if word in _BOTH_WORDS or word.startswith("-fsanitize"):
        return Kind.BOTH
    if word in _LINK_WORDS or (word.startswith(_LINK_PREFIXES) and word != "-undef"):
        return Kind.LINK
    return Kind.COMPILE


def _affects_bitcode(words: tuple[str, ...]) -> bool:
    first = words[0]
    if first.startswith("-Wp,"):
        return "-M" not in first
    if first.startswith("-Wno-"):
        return True  # some warnings are errors unless turned off
    return first not in _NO_BITCODE_WORDS and not first.startswith(_NO_BITCODE_PREFIXES)


def expand(arguments: Sequence[str], depth: int = 0) -> list[str]:
    """The words with every `@file` replaced by its contents. If it cannot be read the word stays, as in compilers."""
    words: list[str] = []
    for word in arguments:
        if not word.startswith("@") or depth > 9:
            words.append(word)
            continue
        try:
            with open(word[1:], encoding="utf-8", errors="surrogateescape") as file:
                text = file.read()
        except OSError:
            words.append(word)
        else:
            words += expand(split_words(text), depth + 1)
    return words


def split_words(text: str) -> list[str]:
    """Splits by GNU's rules: white space separates, quotes of either kind join, a backslash escapes one character."""
    words: list[str] = []
    current: str | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            current = (current or "") + next(characters, "")
        elif character == quote:
            quote = ""
        elif quote:
            current = (current or "") + character
        elif character in "'\"":
            quote, current = character, current or ""
        elif not character.isspace():
            current = (current or "") + character
        elif current is not None:
            words.append(current)
            current = None
    return words if current is None else [*words, current]
