"""Coverage as an lcov tracefile, which `genhtml` and most coverage tools read.

A count is 1 if some path reached the line or side, otherwise 0. A line is reached when a block with one of its
instructions was entered; a branch has one row per side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from partita.findings import is_system_header

Line = tuple[str, int, bool]
Branch = tuple[str, int, bool, list[bool]]
Function = tuple[str, str, int, bool, list[Line], list[Branch]]


@dataclass
class File:
    functions: list[tuple[int, str, bool]] = field(default_factory=list)
    branches: list[tuple[int, bool, list[bool]]] = field(default_factory=list)
    lines: dict[int, bool] = field(default_factory=dict)

    def render(self, name: str) -> str:
        functions = sorted(self.functions)
        rows = ["TN:", f"SF:{name}"]
        rows += [f"FN:{line},{function}" for line, function, _ in functions]
        rows += [f"FNDA:{int(entered)},{function}" for _, function, entered in functions]
        rows += [f"FNF:{len(functions)}", f"FNH:{sum(entered for _, _, entered in functions)}"]
        branches = sorted(self.branches, key=lambda branch: branch[0])
        for block, (line, entered, sides) in enumerate(branches):
            for side, taken in enumerate(sides):
                rows.append(f"BRDA:{line},{block},{side},{int(taken) if entered else '-'}")
        found, hit = (sum(count(sides) for _, _, sides in branches) for count in (len, sum))
        rows += [f"BRF:{found}", f"BRH:{hit}"]
        rows += [f"DA:{line},{int(entered)}" for line, entered in sorted(self.lines.items())]
        rows += [f"LF:{len(self.lines)}", f"LH:{sum(self.lines.values())}", "end_of_record"]
        return "".join(row + "\n" for row in rows)


def render(functions: Iterable[Function]) -> str:
    """The tracefile of the program: headers of the system, whose inline functions it calls, are left out."""
    files: dict[str, File] = {}
    for name, file, line, entered, lines, branches in functions:
        lines = [row for row in lines if not is_system_header(row[0])]
        branches = [row for row in branches if not is_system_header(row[0])]
        if line and not is_system_header(file):
            files.setdefault(file, File()).functions.append((line, name, entered))
        for place, number, reached in lines:
            known = files.setdefault(place, File()).lines
            known[number] = known.get(number, False) or reached
        for place, number, reached, sides in branches:
            files.setdefault(place, File()).branches.append((number, reached, sides))
    return "".join(files[name].render(name) for name in sorted(files))
