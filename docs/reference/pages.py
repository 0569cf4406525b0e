"""Pages of the site that are made: commands, public names and settings from the program, and notebooks."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from heedful.settings import choices

SETTINGS = {
    "ModelSettings": "what a model is",
    "TrainingSettings": "how it learns",
    "AuditSettings": "what an audit asks",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the site's files."""
    made = {
        "reference/commands.md": commands(),
        "reference/python.md": names(),
        "reference/settings.md": settings(),
    }
    for path in sorted((Path(config.docs_dir) / "notebooks").glob("*.ipynb")):
        made[f"notebooks/{path.stem}.md"] = notebook(path)
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_content(html: str, **_: Any) -> str:
    """For narrow screens: names, options and numbers stay whole; a picture opens at its own size."""
    parts = re.split(r"(<pre\b.*?</pre>|<code\b.*?</code>)", html, flags=re.DOTALL)
    parts[::2] = [re.sub(r"(?<=\d) (?=[%×])|(?<=[≤≥ρ]) (?=[\d−])", "\u00a0", text) for text in parts[::2]]
    parts[1::2] = [_unbroken(code) for code in parts[1::2]]
    html = "".join(parts)
    return re.sub(r'<img [^>]*?src="(?!data:)([^"]+)"[^>]*>', r'<a href="\1">\g<0></a>', html)


def _unbroken(code: str) -> str:
    if re.fullmatch(r"<code>[^<\n]{1,24}</code>", code):
        return code.replace("<code>", '<code class="short">')
    if code.startswith("<pre"):  # a telephone puts what a command is for below it
        code = re.sub(r"(?<=[\s>])--[a-z][\w-]*(?=[\s<])", r'<span class="short">\g<0></span>', code)
        return re.sub(
            r'(<span class="w"> {2,}</span>| {2,})(<span class="c1">#|# )',
            r'<span class="gap">\1</span>\2',
            code,
        )
    return re.sub(r"(?<![\w-])--?[a-z][\w-]*", r'<span class="short">\g<0></span>', code)


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that would fetch something, or whose links lead nowhere in its folder."""
    site = Path(config.site_dir)
    wrong = []
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = re.sub(r"<(code|pre)\b.*?</\1>", "", text, flags=re.DOTALL)
        for tag, place in re.findall(r'<(script|link|img|iframe|a)\b[^>]*?(?:src|href)="([^"]*)"', text):
            where = f"{page.relative_to(site)}: {place}"
            if "://" in place or place.startswith("//"):
                if tag != "a" and 'rel="canonical"' not in text:
                    wrong.append(f"{where} would be fetched")
            elif not place.startswith(("#", "data:", "mailto:")) and page.name != "404.html":
                target = page.parent / unquote(place.split("#")[0].split("?")[0])
                if not target.is_file():
                    wrong.append(f"{where} leads nowhere")
    if wrong:
        raise PluginError("The site is not whole:\n" + "\n".join(sorted(wrong)))


def notebook(path: Path) -> str:
    """A notebook's cells and outputs as a page."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_shown(output) for output in cell.get("outputs", ())]
        if len(parts) == 1:  # under its heading
            parts.append(f"[Download the notebook]({path.name}); its cells are run by the tests.")
    return "\n\n".join(parts)


def _shown(output: dict[str, Any]) -> str:
    content = output.get("data", {})
    if "image/png" in content:
        picture = "".join(content["image/png"]).strip()
        return f'<img alt="What the cell draws" src="data:image/png;base64,{picture}">'
    if "text/html" in content:
        table = re.sub(r"<style.*?</style>|\n", "", "".join(content["text/html"]), flags=re.DOTALL)
        return re.sub(r"<table[^>]*>", "<table>", table)  # without a class the theme lets it scroll
    plain = "".join(output.get("text", content.get("text/plain", "")))
    return f"```text\n{plain.rstrip()}\n```" if plain.strip() else ""


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

    unsigned = "\n    options: {show_signature: false}\n\nEach field is on the page [Settings](settings.md)."
    entries = "\n\n".join(
        f"::: heedful.{name}{unsigned if name in SETTINGS else ''}" for name in sorted(heedful.__all__)
    )
    return (
        "# Python\n\nEverything here is imported when it is first used: `import heedful` takes no time. "
        f"What is not on this page is internal and may change.\n\n{entries}\n"
    )


def settings() -> str:
    """Every field of every settings dataclass: its default, and its line of help."""
    import heedful

    parts = [
        "# Settings",
        "In Python they are keywords, in a study or a run TOML, on the command line options: `epochs`, "
        "`epochs = 5`, `--epochs 5`. An unknown name is refused, with the nearest that is known.",
    ]
    for name, told in SETTINGS.items():
        fields = choices(getattr(heedful, name))
        rows = [f"| `{one.name}` | {_default(one.default)} | {_cell(one.help)} |" for one in fields]
        parts += [
            f"## `{name}`: {told}",
            "| setting | default | |\n|---|---|---|\n" + "\n".join(rows),
        ]
    return "\n\n".join(parts)


def _default(value: Any) -> str:
    return "" if value in ("", None) else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


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
    said = _cell(option.help or "")
    default = option.default
    shown = "" if default in (None, False, True, "", ()) or callable(default) else f" Default: `{default}`."
    if default is True and option.secondary_opts:
        shown = f" Default; `{option.secondary_opts[0]}` turns it off."
    return f"| `{called}` | {said}{shown} |"
