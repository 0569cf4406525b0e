"""A page of highlighted texts: one static file without a script, which loads nothing. No torch."""

from collections.abc import Iterable, Iterator
from html import escape

from heedful.auditing.page.rendering import policy
from heedful.highlights.result import About, Highlight
from heedful.highlights.snippet import asset, shown, snippet, snippet_style

MANY = 5000  # texts of a page beyond which a browser takes long


def page_parts(about: About, items: Iterable[Highlight], count: int) -> Iterator[str]:
    """The page piece by piece, so that its length does not matter."""
    yield head_of(f"Highlights: {about.model}")
    yield f"<h1>What decides in {count:,} texts, for {shown(about.model)}</h1>\n"
    yield f'<p class="notice">Words are highlighted by {shown(about.called)}. {shown(about.why)}</p>\n'
    yield (
        f"<p><b>The number beside a word</b> is in points of probability: {shown(about.unit)} A solid line "
        "and + speak for the decision, a dashed line and − against it; the stronger the paint, the larger "
        "the change. A word is highlighted only if its change is 5 points or more and surely not noise.</p>\n"
    )
    if about.defaults:
        names = " and ".join(f"“{shown(name)}”" for name in about.defaults)
        yield f"<p>No word decides {names}: the model decides so when nothing speaks against it.</p>\n"
    holds = "these texts" if about.texts_kept else "numbers, and no text or word of yours"
    yield f'<p class="soft">This page holds {holds}, and loads nothing.</p>\n'
    for item in items:
        yield snippet(item, about.roles)
    yield foot_of(f"Made by heedful {about.heedful}, seed {about.seed}.")


def head_of(title: str) -> str:
    """A page's beginning, up to its content."""
    style = asset("page.css") + snippet_style()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(style=style, script=""))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{shown(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>heedful</header>\n<main>\n"
    )


def foot_of(words: str) -> str:
    """A page's end."""
    return f"<footer>{shown(words)}</footer>\n</main>\n</body>\n</html>\n"
