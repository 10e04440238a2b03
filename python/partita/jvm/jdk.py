"""Finds the JDK of the machine: `JAVA_HOME`, or the one that `java` or `javac` on PATH belongs to."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

from partita.errors import UsageError
from partita.jvm.jimage import Image


def home() -> Path:
    """Folder of the JDK."""
    candidates = []
    if given := os.environ.get("JAVA_HOME"):
        candidates.append(Path(given))
    for name in ("javac", "java"):
        if found := shutil.which(name):
            candidates.append(Path(os.path.realpath(found)).parent.parent)
    for candidate in candidates:
        if (candidate / "lib" / "modules").is_file() or (candidate / "jmods").is_dir():
            return candidate
    where = f" in {', '.join(map(str, candidates))}" if candidates else ""
    raise UsageError(
        f"expected a JDK (Java 9 to 17) for the classes of the Java library, found none{where}: install one"
        " (Debian: `apt install default-jdk-headless`) or set JAVA_HOME"
    )


def identity(folder: Path) -> list[object]:
    """Folder of a JDK, with the size and time of its classes."""
    found: list[object] = [str(folder)]
    for name in ("lib/modules", "jmods/java.base.jmod"):
        file = folder / name
        if file.is_file():
            status = file.stat()
            found += [name, status.st_size, status.st_mtime_ns]
    return found


def javac() -> str:
    """The Java compiler."""
    if given := os.environ.get("JAVA_HOME"):
        found = Path(given) / "bin" / "javac"
        if found.is_file():
            return str(found)
    name = shutil.which("javac")
    if name is None:
        raise UsageError(
            "expected `javac` on PATH for a .java file, found none: install a JDK (Debian: `apt install"
            " default-jdk-headless`), or compile it elsewhere and give the .class files"
        )
    return name


def java() -> str | None:
    """The Java virtual machine, if there is one."""
    if given := os.environ.get("JAVA_HOME"):
        found = Path(given) / "bin" / "java"
        if found.is_file():
            return str(found)
    return shutil.which("java")


class Library:
    """Classes of a JDK."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        modules = folder / "lib" / "modules"
        self._image = Image(modules) if modules.is_file() else None
        self._base: zipfile.ZipFile | None = None

    def read(self, name: str) -> bytes | None:
        """Contents of the class file of a class, such as `java/lang/String`."""
        package = name.rpartition("/")[0]
        if self._image is not None:
            module = self._image.module_of(package)
            return None if module is None else self._image.read(module, name + ".class")
        if self._base is None:
            try:
                # A jmod is a zip file after four bytes.
                self._base = zipfile.ZipFile(self.folder / "jmods" / "java.base.jmod")
            except (OSError, zipfile.BadZipFile) as error:
                raise UsageError(f"cannot read the classes of the JDK in `{self.folder}`: {error}") from None
        try:
            return self._base.read(f"classes/{name}.class")
        except KeyError:
            return None
