"""Options that a command does not list itself: of functions, and of the fields of settings."""

import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer

from heedful.settings import Choice, choices

Command = Callable[..., None]
LEFT_OUT = {"seed"}  # every command has its own --seed


def gathers(**makers: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command the options that are arguments of these functions, each in the place of one argument.

    With `gathers(asked=how_to_decide)` the command's `asked` is what `how_to_decide` returns.
    """
    options = {into: inspect.signature(make).parameters for into, make in makers.items()}

    def decorate(command: Command) -> Command:
        own = inspect.signature(command).parameters

        def run(**given: Any) -> None:
            made = {
                into: make(**{name: given.pop(name) for name in options[into]})
                for into, make in makers.items()
            }
            command(**given, **made)

        all_of_it = [
            option.replace(kind=option.KEYWORD_ONLY)
            for name, parameter in own.items()
            for option in (options[name].values() if name in makers else [parameter])
        ]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature(all_of_it)  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in all_of_it}
        return run

    return decorate


def fields_of(*classes: type) -> Callable[..., dict[str, Any]]:
    """A function with one option for each field of these settings, which gives those that were used.

    So Python, TOML and the command line cannot disagree.
    """

    def used(**given: Any) -> dict[str, Any]:
        return {name: value for name, value in given.items() if value is not None and value != []}

    used.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            _option(choice, panel=f"{cls.__name__.removesuffix('Settings')} settings (default: the preset's)")
            for cls in classes
            for choice in choices(cls)
            if choice.name not in LEFT_OUT
        ]
    )
    return used


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
