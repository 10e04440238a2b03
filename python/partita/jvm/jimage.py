"""Reads `lib/modules` of a JDK, the container of its classes: a hash table of locations, then their contents.

The format is that of jdk.internal.jimage: a header of seven words, a table of redirects and one of offsets (a perfect
hash), location attributes, strings, and the contents. Compressed resources are not read (`jlink --compress`).
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from partita.errors import UsageError

_MAGIC = 0xCAFEDADA
_MULTIPLIER = 0x01000193
_MODULE, _PARENT, _BASE, _EXTENSION, _OFFSET, _COMPRESSED, _UNCOMPRESSED = range(1, 8)


def _hash(text: bytes, seed: int = _MULTIPLIER) -> int:
    for byte in text:
        seed = (seed * _MULTIPLIER ^ byte) & 0xFFFFFFFF
    return seed & 0x7FFFFFFF


class Image:
    """An image of modules, mapped into memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        for order in "<>":
            magic, version, _flags, _count, length, locations, strings = struct.unpack_from(order + "7I", self._map)
            if magic == _MAGIC:
                break
        else:
            raise UsageError(f"expected an image of modules in `{path}`, found something else")
        if version >> 16 != 1:
            raise UsageError(f"`{path}` has version {version >> 16} of its format, which is not known")
        self._order = order
        self._length = length
        redirects = 28
        offsets = redirects + 4 * length
        self._locations = offsets + 4 * length
        self._strings = self._locations + locations
        self._contents = self._strings + strings
        self._redirects = struct.unpack_from(f"{order}{length}i", self._map, redirects)
        self._offsets = struct.unpack_from(f"{order}{length}I", self._map, offsets)
        self._modules: dict[str, str | None] = {}

    def read(self, module: str, name: str) -> bytes | None:
        """Contents of `/module/name`, such as `/java.base/java/lang/String.class`."""
        full = f"/{module}/{name}".encode()
        value = self._redirects[_hash(full) % self._length]
        if value > 0:
            index = _hash(full, value) % self._length
        elif value < 0:
            index = -1 - value
        else:
            return None
        attributes = self._attributes(self._offsets[index])
        if self._name(attributes) != full:
            return None
        size = attributes[_UNCOMPRESSED]
        if attributes[_COMPRESSED]:
            raise UsageError(f"`{self.path}` is compressed: use a JDK whose image is not, or one with `jmods`")
        start = self._contents + attributes[_OFFSET]
        return self._map[start : start + size]

    def module_of(self, package: str) -> str | None:
        """Module that has a package."""
        if package not in self._modules:
            found = self.read("packages", package.replace("/", "."))
            self._modules[package] = None
            if found is not None:
                # Pairs of a flag (is it empty there?) and the offset of the module's name.
                for at in range(0, len(found), 8):
                    empty, name = struct.unpack_from(self._order + "2I", found, at)
                    if not empty:
                        self._modules[package] = self._string(name).decode()
        return self._modules[package]

    def _attributes(self, at: int) -> list[int]:
        values = [0] * 8
        at += self._locations
        while True:
            byte = self._map[at]
            kind = byte >> 3
            if kind == 0:
                return values
            length = (byte & 7) + 1
            values[kind] = int.from_bytes(self._map[at + 1 : at + 1 + length], "big")
            at += 1 + length

    def _string(self, offset: int) -> bytes:
        start = self._strings + offset
        return self._map[start : self._map.find(b"\0", start)]

    def _name(self, attributes: list[int]) -> bytes:
        module, parent, base, extension = (self._string(attributes[kind]) for kind in range(1, 5))
        name = b"/" + module + b"/" if module else b""
        name += parent + b"/" if parent else b""
        return name + base + (b"." + extension if extension else b"")
