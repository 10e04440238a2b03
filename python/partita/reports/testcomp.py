"""Tests in the exchange format of Test-Comp: `metadata.xml` and one XML file per test, with the inputs in order.

Each symbolic object is one input. Those of `__VERIFIER_nondet_TYPE` are written as values of that type; other objects
of 1, 2, 4 or 8 bytes as an unsigned number, and larger ones as a hexadecimal number with the bytes in memory order.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from partita import __version__, ktest
from partita.errors import UsageError
from partita.reports.folder import new_place, read_run
from partita.toolchain import is_narrow

SPECIFICATIONS = {
    "branches": "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )",
    "error": "COVER( init(main()), FQL(COVER EDGES(@CALL(reach_error))) )",
}
ERROR_ENDING = "assert"
_DOCTYPE = (
    '<!DOCTYPE {0} PUBLIC "+//IDN sosy-lab.org//DTD test-format {0} 1.1//EN" '
    '"https://sosy-lab.org/test-format/{0}-1.1.dtd">'
)
_SIGNED = {
    "char": "char",
    "short": "short",
    "int": "int",
    "long": "long",
    "longlong": "long long",
    "int128": "__int128",
    "loff_t": "loff_t",
}
_UNSIGNED = {
    "bool": "bool",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "unsigned": "unsigned int",
    "ulong": "unsigned long",
    "ulonglong": "unsigned long long",
    "uint128": "unsigned __int128",
    "size_t": "size_t",
    "sector_t": "sector_t",
    "u8": "unsigned char",
    "u16": "unsigned short",
    "u32": "unsigned int",
}
_FLOATS = {("float", 4): "<f", ("double", 8): "<d"}
_NUMBER_SIZES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}


def value(name: str, data: bytes) -> tuple[str, str]:
    """Type and value of one input."""
    if name in _SIGNED:
        return _SIGNED[name], str(int.from_bytes(data, "little", signed=True))
    if name in _UNSIGNED:
        return _UNSIGNED[name], str(int.from_bytes(data, "little"))
    if (name, len(data)) in _FLOATS:
        (number,) = struct.unpack(_FLOATS[name, len(data)], data)
        return name, repr(number)
    if len(data) in _NUMBER_SIZES:
        return _NUMBER_SIZES[len(data)], str(int.from_bytes(data, "little"))
    return f"unsigned char[{len(data)}]", "0x" + data.hex()


def document(root: str, body: str, attributes: str = "") -> str:
    """A complete XML file."""
    head = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n' + _DOCTYPE.format(root)
    return f"{head}\n<{root}{attributes}>\n{body}</{root}>\n"


def testcase(test: ktest.Test) -> str:
    covers = "true" if test.ending == ERROR_ENDING else "false"
    inputs = [value(name, data) for name, data in test.objects]
    body = "".join(f"  <input type={quoteattr(kind)}>{escape(text)}</input>\n" for kind, text in inputs)
    return document("testcase", body, f' coversError="{covers}"')


def metadata(run: dict[str, Any], specification: str) -> str:
    program = Path(run["program"][0])
    try:
        digest = hashlib.sha256(program.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(
            f"cannot read `{program}`, whose hash belongs to the tests: {error.strerror}; "
            "export in the folder where the run was started"
        ) from None
    fields = {
        "sourcecodelang": "C",
        "producer": f"partita {__version__}",
        "specification": SPECIFICATIONS[specification],
        "programfile": str(program),
        "programhash": digest,
        "entryfunction": "main",
        "architecture": "32bit" if is_narrow(run.get("cflags", ())) else "64bit",
        "creationtime": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    body = "".join(f"  <{name}>{escape(text)}</{name}>\n" for name, text in fields.items())
    return document("test-metadata", body)


def files(folder: Path, specification: str) -> Iterator[tuple[str, str]]:
    """Name and contents of every file of the suite."""
    yield "metadata.xml", metadata(read_run(folder), specification)
    for test in ktest.read_folder(folder):
        yield f"{Path(test.name).stem}.xml", testcase(test)


def export(folder: Path, out: Path, specification: str) -> int:
    """Writes the suite into a new folder, or a zip file if `out` is named so. Returns the number of tests."""
    new_place(out)
    count = -1
    try:
        if out.suffix == ".zip":
            with zipfile.ZipFile(out, "x", zipfile.ZIP_DEFLATED) as archive:
                for name, text in files(folder, specification):
                    archive.writestr(name, text)
                    count += 1
        else:
            out.mkdir(parents=True, exist_ok=True)
            for name, text in files(folder, specification):
                (out / name).write_text(text)
                count += 1
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None
    return count
