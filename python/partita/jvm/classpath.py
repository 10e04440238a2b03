"""Where classes come from: the user's folders, `.class` files and `.jar` files first, then the JDK."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from partita.errors import UsageError
from partita.jvm.classfile import ClassFile, read_class
from partita.jvm.jdk import Library


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> tuple[bytes, str] | None:
        file = self.path / f"{name}.class"
        try:
            return file.read_bytes(), str(file)
        except (OSError, ValueError):
            # A name with a NUL is that of no file.
            return None

    def names(self) -> list[str]:
        return sorted(str(file.relative_to(self.path))[: -len(".class")] for file in self.path.rglob("*.class"))


class Jar:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            raise UsageError(f"cannot read `{path}`: {error}") from None
        self._names = frozenset(self.zip.namelist())

    def read(self, name: str) -> tuple[bytes, str] | None:
        member = f"{name}.class"
        if member not in self._names:
            return None
        try:
            return self.zip.read(member), f"{self.path}({member})"
        except (zipfile.BadZipFile, EOFError, OSError) as error:
            raise UsageError(f"cannot read `{member}` in `{self.path}`: {error}") from None

    def names(self) -> list[str]:
        return sorted(name[: -len(".class")] for name in self._names if name.endswith(".class"))

    def main_class(self) -> str | None:
        """`Main-Class` of the manifest."""
        if "META-INF/MANIFEST.MF" not in self._names:
            return None
        for line in self.zip.read("META-INF/MANIFEST.MF").decode("utf-8", "replace").splitlines():
            key, _, value = line.partition(":")
            if key == "Main-Class":
                return value.strip().replace(".", "/")
        return None


Place = Folder | Jar


class ClassPath:
    def __init__(self, places: Sequence[Place], library: Library) -> None:
        self.places = list(places)
        self.library = library
        self.read_files: list[str] = []
        """Class files of the user that were read."""

    def find(self, name: str) -> tuple[ClassFile, bool] | None:
        """A class by name, and whether it is one of the user's. None if there is none."""
        for place in self.places:
            found = place.read(name)
            if found is not None:
                data, where = found
                if isinstance(place, Folder):
                    self.read_files.append(where)
                parsed = read_class(data, where)
                if parsed.name != name:
                    raise UsageError(f"{where}: expected the class `{name}`, found `{parsed.name}`")
                return parsed, True
        data_of_jdk = self.library.read(name)
        if data_of_jdk is None:
            return None
        return read_class(data_of_jdk, f"{self.library.folder}({name}.class)"), False


def place_of(path: Path) -> Place:
    """A folder or jar of a class path."""
    if path.is_dir():
        return Folder(path)
    if path.is_file():
        return Jar(path)
    raise UsageError(f"expected a folder or a .jar file in the class path, found `{path}`")
