"""Pages of the site that are made from the program itself: its commands, and its public names."""

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the site's files."""
    for name, text in (("commands.md", commands()), ("python.md", names())):
        files.append(File.generated(config, f"reference/{name}", content=text))
    return files


def commands() -> str:
    """Every command with its help and options, in the words of the program."""
    import typer

    from heedful.cli.app import app

    parts = ["# Commands", "Every command also has `--help`. What a user can fix ends with exit code 2."]
    _add(typer.main.get_command(app), "heedful", parts)
    return "\n\n".join(parts)


def names() -> str:
    """The public names, each with its signature and docstring."""
    import heedful

    entries = "\n\n".join(f"::: heedful.{name}" for name in sorted(heedful.__all__))
    return (
        "# Python\n\nEverything here is imported when it is first used: `import heedful` takes no time. "
        f"What is not on this page is internal and may change.\n\n{entries}\n"
    )


def _add(command: Any, name: str, parts: list[str]) -> None:
    inner = getattr(command, "commands", {})
    if not inner or name != "heedful":
        parts.append(f"## `{name}`")
        parts.append(command.help or "")
    if not inner:
        rows = [_row(one) for one in command.params if not getattr(one, "hidden", False)]
        parts.append("| option | what it does |\n|---|---|\n" + "\n".join(rows))
    for word, one in sorted(inner.items()):
        _add(one, f"{name} {word}", parts)


def _row(option: Any) -> str:
    is_argument = option.param_type_name == "argument"
    called = (option.metavar or option.name.upper()) if is_argument else ", ".join(option.opts)
    said = (option.help or "").replace("|", "\\|").replace("\n", " ")
    default = option.default
    shown = "" if default in (None, False, True, "", ()) or callable(default) else f" Default: `{default}`."
    return f"| `{called}` | {said}{shown} |"
