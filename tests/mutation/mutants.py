"""Mutants: small mistakes put into the arithmetic that decides, one at a time.

A mutant is a file with one node changed: a comparison, a number, an operator, min for max, and for or, a
`not` gone, a value not returned. Texts, annotations, drawing and the measuring of rows are left alone.
"""

import ast
import copy
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
OTHER_NAME = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any",
    "mean": "sum", "sum": "mean", "median": "max", "floor": "ceil", "ceil": "floor", "argmax": "argmin",
    "argmin": "argmax", "low": "high", "high": "low", "notna": "isna", "isna": "notna",
}  # fmt: skip
DRAWING = re.compile(r"figure|bars|whisker|draw|_repr_|panel|__str__|__repr__")


@dataclass(frozen=True)
class Mutant:
    """One mistake: where it is, what it is, and what writes the whole file with it."""

    file: str  # from src on
    line: int
    lines: range  # from the beginning of its statement to its own end: a test that runs one of them runs it
    what: str
    function: str  # that it is in, as "name" or "Class.name"; "" outside of functions
    key: str  # of the file as it is and the mistake
    write: Callable[[], str]

    @property
    def source(self) -> str:
        return self.write()


def mutants_of(root: Path, file: str, functions: str = "") -> list[Mutant]:
    """All mutants of a file, or of its functions that return what the pattern `functions` names."""
    text = (root / file).read_text(encoding="utf-8")
    tree = ast.parse(text)
    digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    found = []
    for line, what, path, change in _places(tree, functions):
        way = list(_way(tree, path))
        begun = [node.lineno for node in way if isinstance(node, ast.stmt)][-1]
        lines = range(begun, (way[-1].end_lineno or line) + 1)
        write = partial(_written, tree, path, change)
        key = f"{digest}-{line}-{way[-1].col_offset}-{way[-1].end_lineno}-{way[-1].end_col_offset}-{what}"
        found.append(Mutant(file, line, lines, what, _function(way), key, write))
    return found


def _way(tree: ast.AST, path: list) -> Iterator[ast.AST]:
    """The nodes from the whole file down to the one that is changed."""
    node = tree
    yield node
    for name, index in path:
        value = getattr(node, name)
        node = value if index is None else value[index]
        yield node


def _written(tree: ast.AST, path: list, change: Callable[[ast.AST], None]) -> str:
    other = copy.deepcopy(tree)
    *_, node = _way(other, path)
    change(node)
    return ast.unparse(ast.fix_missing_locations(other))


def _function(way: list[ast.AST]) -> str:
    """The outermost function on the way, with its class."""
    names = []
    for node in way:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.append(node.name)
        if isinstance(node, ast.FunctionDef):
            return ".".join(names)
    return ""


def _places(tree: ast.Module, functions: str) -> Iterator[tuple]:
    """Each node that can be changed: its line, what is done, the way to it, and a function that does it."""

    def walk(node: ast.AST, path: list, inside: bool) -> Iterator[tuple]:
        if _left_alone(node):
            return
        if isinstance(node, ast.FunctionDef):
            returns = "" if node.returns is None else ast.unparse(node.returns)
            if DRAWING.search(node.name) or "DataFrame" in returns:
                return  # pictures, and rows that are measured: those have tests with models of their own
            if functions and not inside:
                inside = re.search(functions, returns) is not None
        if inside or not functions:
            for what, change in _changes(node):
                yield node.lineno, what, list(path), change
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            if isinstance(value, list):
                for index, child in enumerate(value):
                    if isinstance(child, ast.AST):
                        yield from walk(child, [*path, (name, index)], inside)
            elif isinstance(value, ast.AST):
                yield from walk(value, [*path, (name, None)], inside)

    yield from walk(tree, [], False)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.arguments):
        return True  # sentences, our own doubts, and defaults that callers give
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True  # a doubt too: that two lists are of one length
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _changes(node: ast.AST) -> Iterator[tuple]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        other = COMPARED[type(node.ops[0])]
        yield f"{_sign(node.ops[0])} becomes {_sign(other())}", lambda one: one.ops.__setitem__(0, other())
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATED and not _textual(node):
        sign = OPERATED[type(node.op)]
        yield f"{_sign(node.op)} becomes {_sign(sign())}", lambda one: setattr(one, "op", sign())
    elif isinstance(node, ast.BoolOp):
        joint = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{_sign(node.op)} becomes {_sign(joint())}", lambda one: setattr(one, "op", joint())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield f"{_sign(node.op)} is gone", lambda one: _become(one, one.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} becomes {not node.value}", lambda one: setattr(one, "value", not one.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        moved = node.value + 1 if isinstance(node.value, int) else node.value * 1.25 + (node.value == 0)
        yield f"{node.value} becomes {moved:g}", lambda one: setattr(one, "value", moved)
    elif isinstance(node, ast.Name) and node.id in OTHER_NAME and isinstance(node.ctx, ast.Load):
        yield f"{node.id} becomes {OTHER_NAME[node.id]}", lambda one: setattr(one, "id", OTHER_NAME[one.id])
    elif isinstance(node, ast.Attribute) and node.attr in OTHER_NAME:
        name = OTHER_NAME[node.attr]
        yield f".{node.attr} becomes .{name}", lambda one: setattr(one, "attr", OTHER_NAME[one.attr])
    elif isinstance(node, ast.Return) and node.value is not None and not _is_false(node.value):
        yield "returns None", lambda one: setattr(one, "value", ast.Constant(None))


def _become(node: ast.AST, other: ast.AST) -> None:
    node.__class__ = other.__class__
    node.__dict__.clear()
    node.__dict__.update(other.__dict__)


def _textual(node: ast.AST) -> bool:
    """Whether an operator joins texts or sets of names: `"a" + b`, `f"…" + b`."""
    sides = [node.target, node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for side in sides
        for part in ast.walk(side)
    )


def _is_false(node: ast.AST) -> bool:
    """Nothing and False, instead of which to return None would change nothing."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def _sign(operator: ast.AST) -> str:
    signs = {
        "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "In": "in",
        "NotIn": "not in", "Is": "is", "IsNot": "is not", "Add": "+", "Sub": "-", "Mult": "*", "Div": "/",
        "FloorDiv": "//", "Mod": "%", "Pow": "**", "BitAnd": "&", "BitOr": "|", "And": "and", "Or": "or",
        "Not": "not", "Invert": "~", "USub": "-",
    }  # fmt: skip
    return signs[type(operator).__name__]
