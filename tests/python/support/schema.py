"""The parts of SARIF 2.1.0 that Partita writes, from the text of the standard, and a checker for them.

A schema is a type, `[element]` for a list, a set of allowed values, a compiled pattern, or a dictionary of properties.
A name with `!` in front is required; a property that the schema does not have is an error, as in the standard's
`additionalProperties: false`.
"""

from __future__ import annotations

import re
from typing import Any

MESSAGE = {"text": str, "markdown": str, "id": str, "arguments": [str]}
ARTIFACT = {"uri": re.compile(r"[A-Za-z0-9._~/:%+@-]+"), "uriBaseId": str, "index": int, "description": MESSAGE}
REGION = {"startLine": range(1, 1 << 31), "startColumn": range(1, 1 << 31), "endLine": range(1, 1 << 31)}
LOCATION = {
    "id": int,
    "physicalLocation": {"!artifactLocation": ARTIFACT, "region": REGION},
    "message": MESSAGE,
}
STEP = {
    "location": LOCATION,
    "importance": {"important", "essential", "unimportant"},
    "nestingLevel": int,
    "state": dict,
}
RULE = {
    "!id": str,
    "name": str,
    "shortDescription": {"!text": str},
    "fullDescription": {"!text": str},
    "helpUri": str,
    "defaultConfiguration": {"level": {"none", "note", "warning", "error"}},
    "properties": dict,
}
RESULT = {
    "ruleId": str,
    "ruleIndex": range(-1, 1 << 31),
    "kind": {"notApplicable", "pass", "fail", "review", "open", "informational"},
    "level": {"none", "note", "warning", "error"},
    "!message": MESSAGE,
    "locations": [LOCATION],
    "partialFingerprints": dict,
    "codeFlows": [{"!threadFlows": [{"!locations": [STEP]}]}],
    "stacks": [{"message": MESSAGE, "!frames": [{"location": LOCATION}]}],
    "suppressions": [{"!kind": {"inSource", "external"}, "justification": str}],
    "properties": dict,
}
RUN = {
    "!tool": {"!driver": {"!name": str, "version": str, "semanticVersion": str, "rules": [RULE]}},
    "invocations": [
        {
            "!executionSuccessful": bool,
            "arguments": [str],
            "toolExecutionNotifications": [{"level": {"none", "note", "warning", "error"}, "!message": MESSAGE}],
        }
    ],
    "columnKind": {"utf16CodeUnits", "unicodeCodePoints"},
    "originalUriBaseIds": {"SRCROOT": {"uri": re.compile("file:///.*/")}},
    "results": [RESULT],
    "properties": dict,
}
SARIF = {"$schema": str, "!version": {"2.1.0"}, "!runs": [RUN]}


def check(data: Any, schema: Any, at: str = "") -> None:
    """Raises AssertionError with the place of the first difference."""
    if isinstance(schema, type):
        assert isinstance(data, schema), f"{at}: expected {schema.__name__}, found {data!r}"
    elif isinstance(schema, re.Pattern):
        assert isinstance(data, str), at
        assert schema.fullmatch(data), f"{at}: {data!r}"
    elif isinstance(schema, set | range):
        assert data in schema, f"{at}: expected one of {schema}, found {data!r}"
    elif isinstance(schema, list):
        assert isinstance(data, list), at
        for i, each in enumerate(data):
            check(each, schema[0], f"{at}[{i}]")
    else:
        assert isinstance(data, dict), at
        known = {name.removeprefix("!"): each for name, each in schema.items()}
        for name in schema:
            assert not name.startswith("!") or name[1:] in data, f"{at}: expected {name[1:]}"
        for name, value in data.items():
            assert name in known, f"{at}: {name} is not a property"
            check(value, known[name], f"{at}.{name}")
