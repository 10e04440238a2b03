"""The stubs of the extension module, compared with the module."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import partita
from partita import _core

STUBS = ast.parse((Path(partita.__file__).parent / "_core.pyi").read_text())


def parameters(node: ast.FunctionDef) -> list[str]:
    arguments = node.args
    names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        names.append(f"*{arguments.vararg.arg}")
    return names + [arg.arg for arg in arguments.kwonlyargs]


def actual(function: object) -> list[str] | None:
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]
    except ValueError:
        return None
    star = inspect.Parameter.VAR_POSITIONAL
    return [f"*{p.name}" if p.kind is star else p.name for p in signature.parameters.values()]


def public(names: object) -> set[str]:
    return {name for name in names if not name.startswith("_")}  # type: ignore[attr-defined]


def test_every_name_has_a_stub_and_every_stub_a_name() -> None:
    stubbed = {node.name for node in STUBS.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    stubbed |= {
        node.target.id for node in STUBS.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert public(stubbed) == public(vars(_core))


def test_functions_have_the_same_parameters() -> None:
    for node in STUBS.body:
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == actual(getattr(_core, node.name)), node.name


def test_classes_have_the_same_members() -> None:
    for node in STUBS.body:
        if not isinstance(node, ast.ClassDef):
            continue
        cls = getattr(_core, node.name)
        methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        assert public(methods) == public(vars(cls)), node.name
        for name, method in methods.items():
            assert hasattr(cls, name), f"{node.name}.{name}"
            is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list)
            assert is_property == inspect.isdatadescriptor(vars(cls).get(name)), f"{node.name}.{name}"
            if not name.startswith("__") and not is_property:
                assert parameters(method) == actual(vars(cls)[name]), f"{node.name}.{name}"


def test_special_methods_are_stubbed() -> None:
    ordinary = set(dir(object)) | {"__module__", "__doc__", "__weakref__"}
    for node in STUBS.body:
        if isinstance(node, ast.ClassDef):
            stubbed = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            special = {name for name in vars(getattr(_core, node.name)) if name.startswith("__")} - ordinary
            assert special <= stubbed, node.name
