"""What is imported when it is first used, so that what needs no torch does not wait for it.

A package writes each public name once, as an import that only a type checker executes:

    if TYPE_CHECKING:
        from heedful.data.corpus import Corpus as Corpus

    __getattr__, __dir__, __all__ = lazily(__name__)
"""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Get = Callable[[str], Any]
Dir = Callable[[], list[str]]


def lazily(package: str) -> tuple[Get, Dir, list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package; its modules are found by name, but not listed."""
    module = sys.modules[package]
    homes = homes_in(module.__spec__.loader.get_source(package))  # type: ignore[union-attr]  # it is being loaded

    def inside() -> list[str]:
        return [part.name for part in pkgutil.iter_modules(module.__path__) if not part.name.startswith("_")]

    def get(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        if name in inside():
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*homes, *(name for name in vars(module) if name.startswith("__"))})

    return get, names, list(homes)


class Choices(dict[str, Any], Generic[T]):
    """What can be chosen by name, in a literal dictionary; values "module:name" are imported when chosen.

    Settings take their choices from the keys, so what is added can be named there: `choices["mine"] = x`.
    """

    def __getitem__(self, name: str) -> T:
        value = super().__getitem__(name)
        if isinstance(value, str):
            module, _, inside = value.partition(":")
            value = self[name] = getattr(importlib.import_module(module), inside)
        chosen: T = value
        return chosen

    def values(self) -> list[T]:  # type: ignore[override]  # a list, of what the names stand for
        return [self[name] for name in self]

    def items(self) -> list[tuple[str, T]]:  # type: ignore[override]
        return [(name, self[name]) for name in self]


def homes_in(source: str) -> dict[str, str]:
    """The module of each name that the source imports under `if TYPE_CHECKING`."""
    blocks = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]
    return {
        alias.name: node.module
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
