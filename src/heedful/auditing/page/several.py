"""One page for several audits of one model: a reading for each label, each with a link to its own page.

It is drawn here and needs no script; whatever comes from data is escaped.
"""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from heedful.auditing.names import named
from heedful.auditing.page.rendering import STYLE, asset, policy
from heedful.auditing.result import PAGE
from heedful.files import write_atomically
from heedful.records.wording import in_percent

MARKS = {
    "faithful": ("✓", "good"),
    "use with care": ("!", "care"),
    "do not show as an explanation": ("✗", "bad"),
    "cannot say": ("?", "open"),
}
COLUMNS = (
    "label",
    "may it be shown?",
    "heat-map skill",
    "show instead",
    "texts with it",
    "accuracy",
    "always “no”",
    "why",
)
PAGE_OF_SEVERAL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header class="top"><span class="brand">heedful</span></header>
<main id="main">
<section>
<p class="facts"><bdi>{title}</bdi></p>
<h1>May {shown} be shown as an explanation? One reading for each label</h1>
<p class="reading {kind}"><span class="mark" aria-hidden="true">{mark}</span><span>{summary}</span></p>
<p>This model may give several labels to a text, and each is a decision of its own: has the text the label, or
not? A text without a label is decided “no” for it, often because no word speaks for “yes”.</p>
<div class="scroll table"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
{left_out}
<p class="faint">Heat-map skill: how well this map predicts random deletions, as a share of the best map of
words, with its interval. Always “no”: the accuracy of never giving the label.</p>
</section>
</main>
</body>
</html>
"""


def write_several(
    folder: Path, title: str, labels: Sequence[tuple[str, Mapping[str, Any]]], left_out: Mapping[str, str]
) -> Path:
    """Write the page of these labels, each with what `by_label` keeps of its audit."""
    style = asset(STYLE)
    with write_atomically(folder / PAGE) as file:
        file.write(
            PAGE_OF_SEVERAL.format(
                policy=escape(policy(style=style, script="")),
                title=escape(title),
                style=style,
                shown=escape(_shown(labels)),
                head="".join(f'<th scope="col">{escape(name)}</th>' for name in COLUMNS),
                rows="\n".join(_row(label, found) for label, found in labels),
                left_out="".join(
                    f'<p class="notice"><bdi>{escape(label)}</bdi> was left out: {escape(why)}</p>'
                    for label, why in left_out.items()
                ),
                **_summary(labels),
            )
        )
    return folder / PAGE


def _shown(labels: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    names = {str(found["shown"]) for _, found in labels}
    return "this attention" if names == {"attention"} else "these highlights"


def _summary(labels: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """The readings counted, under the mark of the worst."""
    readings = [str(found["reading"]) for _, found in labels]
    counted = [f"{name} for {readings.count(name)} of {len(readings)}" for name in MARKS if name in readings]
    mark, kind = MARKS[max(readings, key=list(MARKS).index)]
    words = ", ".join(counted)
    return {"mark": mark, "kind": kind, "summary": escape(words[:1].upper() + words[1:])}


def _row(label: str, found: Mapping[str, Any]) -> str:
    mark, kind = MARKS[found["reading"]]
    link = f'<a href="{escape(found["folder"])}/{PAGE}"><bdi>{escape(label)}</bdi></a>'
    reading = f'<span class="{kind}">{mark} {escape(found["reading"])}</span>'
    skill = "" if found["skill"] is None else in_percent(found["skill"])
    if skill and found["low"] is not None and found["high"] is not None:
        skill += f" [{100 * found['low']:z.0f}, {100 * found['high']:z.0f}]"
    better = "" if found["instead"] is None else named(found["instead"])
    cells = [
        link,
        reading,
        f'<span class="whole">{skill}</span>',
        escape(better),
        f"{found['with_label']:,} of {found['texts']:,}",
        f"{in_percent(found['accuracy'], 1)}",
        f"{in_percent(1 - found['with_label'] / max(1, found['texts']), 1)}",
        escape(found["why"]),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
