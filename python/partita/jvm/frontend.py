"""From what the user names (.java, .class, .jar, a folder) to the parts of a Program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.errors import UsageError
from partita.jvm.classfile import ClassFile, read_class
from partita.jvm.classpath import ClassPath, Folder, Jar, Place, place_of
from partita.jvm.compile import STUBS, compile_java
from partita.jvm.entry import MAIN, build_main, find_entry
from partita.jvm.jdk import Library, home
from partita.jvm.program import Lowering
from partita.jvm.world import World

JAVA_INPUTS = (".java", ".class", ".jar")


def is_java(name: str) -> bool:
    """Is it a Java program: a source, a class file, a jar, or a folder with some?"""
    path = Path(name)
    if path.is_dir():
        return any(next(path.rglob(f"*{suffix}"), None) is not None for suffix in (".java", ".class"))
    return name.endswith(JAVA_INPUTS)


@dataclass
class Inputs:
    """Inputs of the command, resolved: where classes are, the class to start from, and the sources."""

    places: list[Place]
    candidates: list[str]
    sources: dict[str, str]
    """Paths of sources, by the ends of their names: `p/Main.java`."""
    roots: list[Path]
    """Folders in which the compiler looks for sources."""
    read: list[str]
    """Files that were given."""


@dataclass
class Lowered:
    """A lowered program."""

    user: bytes
    library: bytes
    needs_mathematics: bool
    """Does it need functions of mathematics in C?"""
    files: list[str]
    """Files of the user that it was made from."""
    is_complete: bool
    """Were all classes found?"""


@dataclass
class Entry:
    """The entry method, and the places of classes, for the virtual machine."""

    places: list[Place]
    owner: str
    method: str
    descriptor: str
    is_static: bool


def find_start(names: Sequence[str], classpath: str | None, entry: str | None, output: Path) -> Entry:
    """Compiles a program into a folder and finds its entry method."""
    output.mkdir(parents=True, exist_ok=True)
    inputs = resolve([Path(name) for name in names], _paths(classpath), output)
    world = World(ClassPath(inputs.places, Library(home())))
    owner, method = _entry(world, inputs, entry)
    found = find_entry(world, owner, method)
    return Entry(inputs.places, found.owner.name, found.name, found.descriptor, found.is_static)


def _paths(classpath: str | None) -> list[Path]:
    return [Path(each) for each in (classpath or "").split(":") if each]


def lower_java(
    names: Sequence[str],
    *,
    classpath: str | None = None,
    entry: str | None = None,
    symbolic_args: bool = False,
    string_length: int | None = None,
) -> Lowered:
    """The serialised parts of a Java program: the user's classes, and the library's that it can reach."""
    extra = _paths(classpath)
    with tempfile.TemporaryDirectory(prefix="partita-java-") as folder:
        library = Library(home())
        inputs = resolve([Path(name) for name in names], extra, Path(folder))
        world = World(ClassPath(inputs.places, library))
        owner, method = _entry(world, inputs, entry)
        start = find_entry(world, owner, method)
        lowering = Lowering(world, lambda file: _source(inputs, file), string_length)
        build_main(lowering, start, symbolic_args)
        lowering.run()
        files = [*inputs.read, *_compiled_from(inputs, Path(folder)), *_class_files(world.path)]
        kept = [file for file in dict.fromkeys(files) if not file.startswith(f"{folder}/")]
        return Lowered(*lowering.finish(), lowering.needs_mathematics, kept, not world.misses)


def _compiled_from(inputs: Inputs, output: Path) -> list[str]:
    """Sources of the classes in a folder, also those that the compiler found itself."""
    found = []
    for name in Folder(output).names():
        data = Folder(output).read(name)
        assert data is not None
        file = read_class(*data)
        relative = Path(name).parent / (file.source or "")
        found += [str(path) for root in inputs.roots if (path := root / relative).is_file()]
    return found


def _class_files(path: ClassPath) -> list[str]:
    """Files of the user's classes that were read; a jar as a whole."""
    return [str(place.path) for place in path.places if isinstance(place, Jar)] + path.read_files


def resolve(paths: Sequence[Path], extra: Sequence[Path], output: Path) -> Inputs:
    """Compiles sources into a folder; the class path and the classes that may have the entry."""
    sources: list[Path] = []
    places: list[Place] = []
    candidates: list[str] = []
    known: dict[str, str] = {}
    roots: list[Path] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"cannot read `{path}`: No such file or directory")
        if path.is_dir():
            found = sorted(path.rglob("*.java"))
            roots.append(path)
            if found:
                sources += found
            else:
                places.append(Folder(path))
                candidates += Folder(path).names()
        elif path.suffix == ".java":
            sources.append(path)
        elif path.suffix == ".jar":
            jar = Jar(path)
            main = jar.main_class()
            places.append(jar)
            candidates += [main] if main else jar.names()
        else:
            parsed = read_class(path.read_bytes(), str(path))
            depth = parsed.name.count("/") + 1
            root = path.resolve().parents[depth - 1]
            if (root / f"{parsed.name}.class").resolve() != path.resolve():
                raise UsageError(f"{path}: expected the class `{path.stem}`, found `{parsed.name}`: keep its folders")
            places.append(Folder(root))
            candidates.append(parsed.name)
    if sources:
        compile_java(sources, [*roots, *extra], output)
        made = Folder(output)
        places.insert(0, made)
        stubs = {str(each.relative_to(STUBS))[: -len(".java")] for each in STUBS.rglob("*.java")}
        named = {source.stem for source in sources}
        candidates += sorted(
            (name for name in made.names() if name not in stubs),
            key=lambda name: (name.rpartition("/")[2] not in named, name),
        )
    for source in sources:
        parts = source.resolve().parts
        for length in range(1, len(parts) + 1):
            known.setdefault("/".join(parts[-length:]), str(source))
    places += [place_of(path) for path in extra]
    roots += [*dict.fromkeys(source.parent for source in sources), *(path for path in extra if path.is_dir())]
    given = [str(path) for path in (*paths, *sources) if path.is_file()]
    return Inputs(places, candidates, known, roots, given)


def _entry(world: World, inputs: Inputs, entry: str | None) -> tuple[str, str]:
    """Class and method to start from."""
    if entry is not None:
        head, paren, tail = entry.partition("(")
        owner, dot, method = head.rpartition(".")
        if not dot:
            raise UsageError(f"expected --entry as Class.method, found `{entry}`")
        return owner.replace(".", "/"), method + paren + tail
    mains = [name for name in inputs.candidates if ("main", MAIN) in world.load(name).methods]
    if not inputs.candidates:
        raise UsageError("expected .java, .class or .jar files, found none")
    if not mains:
        names = ", ".join(name.replace("/", ".") for name in inputs.candidates[:5])
        raise UsageError(
            f"expected a method `public static void main(String[])`, found none in {names}:"
            " name another method with --entry Class.method"
        )
    preferred = [name for name in mains if name.rpartition("/")[2] == "Main"]
    return (preferred or mains)[0], "main"


def _source(inputs: Inputs, file: ClassFile) -> str:
    """Path of a source in positions: the file that was compiled, or the name that the class file has."""
    name = file.source or f"{file.name.rpartition('/')[2].partition('$')[0]}.java"
    package = file.name.rpartition("/")[0]
    full = f"{package}/{name}" if package else name
    found = inputs.sources.get(full)
    if found is not None:
        return os.path.abspath(found)
    for place in inputs.places:
        if isinstance(place, Folder) and (place.path / full).is_file():
            return os.path.abspath(place.path / full)
    return full
