"""Flags made from the fields of settings, so that Python, TOML and the command line cannot disagree."""

import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer

from heedful.settings import Choice, choices

LEFT_OUT = {"seed"}  # every command has its own --seed


def takes_settings(*classes: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option for each field of these settings; it gets those used, as `changes`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command)

        def run(**arguments: Any) -> None:
            given = {name: arguments.pop(name) for name in list(arguments) if name not in own.parameters}
            changes = {name: value for name, value in given.items() if value is not None and value != []}
            command(**arguments, changes=changes)

        kept = [parameter for parameter in own.parameters.values() if parameter.name != "changes"]
        made = [
            _option(choice, panel=f"{cls.__name__.removesuffix('Settings')} settings (default: the preset's)")
            for cls in classes
            for choice in choices(cls)
            if choice.name not in LEFT_OUT | own.parameters.keys()
        ]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature([*kept, *made])  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*kept, *made]}
        return run

    return decorate


def _option(choice: Choice, *, panel: str) -> inspect.Parameter:
    flag = "--" + choice.name.replace("_", "-")
    kind = _kind(choice.kind)
    if kind is bool:
        flag = f"{flag}/--no-{flag[2:]}"
    option = typer.Option(flag, help=choice.help, rich_help_panel=panel, show_default=False)
    return inspect.Parameter(
        choice.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
    )


def _kind(kind: Any) -> Any:
    """The type an option is read as: of `int | None` the int, of a tuple of ints a list of ints."""
    if isinstance(kind, types.UnionType):
        kind = next(part for part in typing.get_args(kind) if part is not type(None))
    if typing.get_origin(kind) is tuple:
        return list[typing.get_args(kind)[0]]  # type: ignore[misc]
    return kind
