"""Tokens of one line of textual LLVM IR, and a cursor over them."""

from __future__ import annotations

import re

# Names (also quoted), strings (also c"..."), metadata, attribute groups, words and numbers, punctuation.
_TOKEN = re.compile(r'[%@$](?:"[^"]*"|[-\w.$]+)|c?"[^"]*"|![\w.]*|#\d+|\^\d+|[-+\w.$]+|[^\s]')
# Metadata attached to an instruction is at the end of its line and is always numbered.
_TAIL = re.compile(r"(?:, ![\w.]+ !\d+)+$")
_DEBUG = re.compile(r"!dbg !(\d+)")
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})|\\\\")

_VALUE_WORDS = frozenset(
    "true false null none undef poison zeroinitializer splat getelementptr ptrtoint ptrtoaddr inttoptr bitcast"
    " addrspacecast trunc zext sext add sub mul shl lshr ashr and or xor select icmp extractelement insertelement"
    " shufflevector blockaddress dso_local_equivalent no_cfi ptrauth asm".split()
)


class UnsupportedError(Exception):
    """A construct that is not supported. It is lowered to an instruction that ends every path which reaches it."""


def split_line(line: str) -> tuple[list[str], int]:
    """The tokens of an instruction without metadata, followed by two empty ones as end marks; and its `!dbg` number."""
    debug = -1
    tail = _TAIL.search(line)
    if tail is not None:
        found = _DEBUG.search(line, tail.start())
        if found is not None:
            debug = int(found[1])
        line = line[: tail.start()]
    tokens = _TOKEN.findall(line)
    tokens += ("", "")
    return tokens, debug


def tokens_of(text: str) -> list[str]:
    """The tokens of any text, followed by two empty ones as end marks."""
    tokens = _TOKEN.findall(text)
    tokens += ("", "")
    return tokens


def unquote(name: str) -> str:
    """The name of a symbol or label: without sigil and quotes, escapes resolved."""
    if name[:1] in "%@$":
        name = name[1:]
    if name[:1] == '"':
        return string_bytes(name).decode("utf-8", "replace")
    return name


def string_bytes(token: str) -> bytes:
    """The bytes of a `"..."` or `c"..."` token."""
    start = token.index('"') + 1
    raw = token[start:-1].encode("utf-8")
    if b"\\" not in raw:
        return raw
    return _ESCAPE.sub(lambda m: b"\\" if m[1] is None else bytes((int(m[1], 16),)), raw)


class Cursor:
    """A position in a list of tokens that ends in empty ones."""

    __slots__ = ("at", "tokens")

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at]

    def next(self) -> str:
        token = self.tokens[self.at]
        if not token:
            raise UnsupportedError("unexpected end of line")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        found = self.tokens[self.at]
        if found != token:
            raise UnsupportedError(f"expected `{token}`, found `{found}`")
        self.at += 1

    def skip_words(self, words: frozenset[str]) -> list[str]:
        """Skips tokens while they are in the set; returns them."""
        start = self.at
        while self.tokens[self.at] in words:
            self.at += 1
        return self.tokens[start : self.at]

    def skip_group(self) -> None:
        """Skips a balanced `( ... )`, if there is one at the cursor."""
        if self.tokens[self.at] != "(":
            return
        depth = 0
        while True:
            token = self.next()
            if token == "(":
                depth += 1
            elif token == ")":
                depth -= 1
                if depth == 0:
                    return

    def at_value(self) -> bool:
        """Whether a value is at the cursor, not an attribute of it."""
        token = self.tokens[self.at]
        first = token[:1]
        return first in "%@-+0123456789[{<" or token in _VALUE_WORDS or token[:2] == 'c"' or first == "!"

    def number(self) -> int:
        token = self.next()
        try:
            return int(token)
        except ValueError:
            raise UnsupportedError(f"expected a number, found `{token}`") from None
