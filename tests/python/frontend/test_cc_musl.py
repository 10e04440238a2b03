"""Native programs are linked with musl's mathematics only if they can call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.cc.musl import names_mathematics

TEXTS = {
    '#include <stdio.h>\n#include <klee/klee.h>\nint main(void) { return printf("%f", 1.5); }\n': False,
    "#include <math.h>\nint main(void) { return 0; }\n": True,
    "double sin(double);\nint main(void) { return sin(1) > 0; }\n": True,
    "int main(void) { return __builtin_powf(2, 3) > 0; }\n": True,
    "#define CALL(name) name(1)\ndouble pow10(double);\nint main(void) { return CALL(pow10) > 0; }\n": True,
    "#ifdef EXACT\n#include <math.h>\n#endif\nint main(void) { return 0; }\n": False,
    "#include <no_such_header.h>\nint main(void) { return 0; }\n": True,
}


@pytest.mark.parametrize("text", TEXTS)
def test_names_in_the_preprocessed_text(tmp_path: Path, text: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(text)
    assert names_mathematics([str(source)], []) == TEXTS[text]
    if "EXACT" in text:
        assert names_mathematics([str(source)], ["-DEXACT"])


def test_other_files_are_taken_to_call_it(tmp_path: Path) -> None:
    assert names_mathematics([str(tmp_path / "program.bc")], [])
    assert names_mathematics([str(tmp_path / "program.cpp")], [])
