"""One audit as the section of a model card: Markdown under the YAML that model hubs read (`model-index`).

Every value is written as JSON, which is YAML too, so that no name of a model or class can become anything
else. The reading stands with how often such readings are wrong.
"""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from heedful import __version__
from heedful.auditing.names import named
from heedful.auditing.result import Audit
from heedful.auditing.rule import ClassReading
from heedful.records import Finding
from heedful.records.wording import in_percent

SKILL = "heat_map_skill"


def model_card(audit: "Audit | str | Path", *, front_matter: bool = True) -> str:
    """The section for a model card; with `front_matter` the hub's YAML stands before it.

    Example: `heedful.model_card("audits/reviews")`
    """
    found = audit if isinstance(audit, Audit) else Audit.load(audit)
    section = "\n".join(_section(found))
    return f"{yaml_of(found)}\n{section}" if front_matter else section


def yaml_of(audit: Audit) -> str:
    """The front matter: accuracy and how well highlights predict, as results of one task on one dataset."""
    verdict, content = audit.verdict, audit.content
    data, subject = content["data"], content["subject"]
    metrics = [("accuracy", "Accuracy", round(data["accuracy"]["value"], 4))]
    if verdict.skill is not None:
        metrics.append((SKILL, f"Heat-map skill of {named(verdict.shown)}", round(verdict.skill.value, 4)))
    better = verdict.instead
    if better is not None:
        metrics.append((SKILL, f"Heat-map skill of {named(better.ranking)}", round(better.skill.value, 4)))
    lines = [
        "---",
        "model-index:",
        f"- name: {_quoted(subject['model'])}",
        "  results:",
        "  - task:",
        "      type: text-classification",
        "      name: Text Classification",
        "    dataset:",
        f"      type: {_quoted(data['name'])}",
        f"      name: {_quoted(data['name'])}",
        f"      split: {_quoted(data['split'])}",
        "    metrics:",
    ]
    for kind, name, value in metrics:
        lines += [f"    - type: {kind}", f"      name: {_quoted(name)}", f"      value: {value}"]
    return "\n".join([*lines, "tags:", "- text-classification", "- heedful", "---", ""])


@cache
def rates() -> dict[str, Any]:
    """How often readings were right on models whose deciding words are known (docs/verdict.md)."""
    found: dict[str, Any] = json.loads(
        files("heedful.comparing").joinpath("rates.json").read_text(encoding="utf-8")
    )
    return found


def _section(audit: Audit) -> list[str]:
    verdict, content = audit.verdict, audit.content
    data = content["data"]
    shown, accuracy = named(verdict.shown), data["accuracy"]
    lines = [
        "## May its highlights be read as explanations?",
        "",
        f"**{verdict.reading[0].upper()}{verdict.reading[1:]}.** {_plain(verdict.sentence)}",
        "",
        *(f"- {_plain(reason)}" for reason in verdict.reasons),
        "",
        "| | value | interval | texts |",
        "|---|---|---|---|",
        f"| accuracy | {accuracy['value']:.3f} | {_ends(accuracy['interval'])} | {accuracy['count']:,} |",
    ]
    numbers = (
        (f"{_plain(shown)} predicts, as a share of the best map", verdict.skill),
        ("share of its paint on words that matter", verdict.paint),
        ("share of texts whose strongest word matters", verdict.first),
        ("share of its paint on words that speak against the decision", verdict.against),
    )
    lines += [_row(name, finding) for name, finding in numbers if finding is not None]
    better = verdict.instead
    if better is not None:
        name = f"to show instead: {_plain(named(better.ranking))} predicts"
        lines.append(_row(name, better.skill))
    if verdict.linear_share is not None:
        name = "share of the model's behaviour that any map of words can show"
        lines.append(f"| {name} | {verdict.linear_share:.3f} | | |")
    if verdict.classes:
        lines += ["", "| decided class | texts | reading |", "|---|---|---|"]
        lines += [f"| {_plain(one.name)} | {one.texts:,} | {_class(one)} |" for one in verdict.classes]
    return [*lines, "", *_small_print(audit), ""]


def _small_print(audit: Audit) -> list[str]:
    known, data = rates(), audit.content["data"]
    methods = audit.content["methods"]
    return [
        f"Measured on {methods['texts_read_many_times']:,} texts of {_plain(data['name'])} "
        f"({data['split']}), with {methods['changed_texts_read']:,} changed texts read, by heedful "
        f"{__version__} (seed {methods['seed']}). Intervals of the highlights are at "
        f"{in_percent(audit.verdict.level, 1)}, so that all looks together keep 95 %; that of the accuracy "
        "is at 95 %.",
        "",
        f"**How often such readings are wrong.** On {known['models']} models whose deciding words are known, "
        f"{known['wrong_faithful']} of {known['wrong']} wrong highlights were read “faithful” (at most "
        f"{in_percent(known['wrong_faithful_most'], 1)}, one-sided 95 %) and {known['wrong_not_shown']} "
        f"“do not show”; of {known['right']} right ones {known['right_faithful']} were read “faithful” "
        f"and {known['right_not_shown']} “do not show”.",
    ]


def _row(name: str, finding: Finding) -> str:
    ends = finding.interval
    between = "" if ends is None or not ends.bounded else f"{ends.low:.3f} to {ends.high:.3f}"
    return f"| {name} | {finding.value:.3f} | {between} | {finding.count:,} |"


def _ends(interval: "dict[str, Any] | None") -> str:
    return "" if interval is None else f"{interval['low']:.3f} to {interval['high']:.3f}"


def _class(one: ClassReading) -> str:
    return "no word decides it: highlight nothing there" if one.default else one.reading


def _quoted(text: str) -> str:
    return json.dumps(str(text))


def _plain(text: str) -> str:
    """A text in which Markdown and HTML find nothing to act on."""
    escaped = "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|!" else sign for sign in str(text))
    return " ".join(escaped.split())
