"""Files as people have them, from file to page with no option but --label."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from heedful.cli import app

pytestmark = pytest.mark.slow

HAM = (
    "see you at the café tonight",
    "I will call you later",
    "what did you say in class",
    "dinner at home, love",
)
SPAM = (
    "you have won a £900 prize, call now",
    "free entry, text WIN to 87121",
    "urgent: claim your bonus today",
)
GOOD, BAD = (
    ("这部电影非常好看", "我很喜欢这个故事", "演员的表演十分精彩"),
    ("这部电影太无聊了", "剧情混乱演技很差", "浪费时间"),
)
WHEN = ("昨天晚上", "周末下午", "和朋友一起", "一个人在家")


def rows(first, second, names, *, count=260, more=("john", "mary", "sam", "lee", "anna", "tom"), gap=" "):
    """Texts of two classes, none of them twice."""
    draw = np.random.default_rng(7)
    found = []
    for row in range(count):
        own = (first, second)[row % 2]
        words = [draw.choice(more), draw.choice(own), draw.choice(more), str(row)]
        found.append((gap.join(map(str, words)), names[row % 2]))
    return found


def write(path: Path, header, lines, *, encoding="utf-8", separator=","):
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(header)
        writer.writerows(lines)


def spam(path):
    """As published: Windows-1252, columns without names; with a smiley and an empty row among them."""
    lines = [[label, text, "", "", ""] for text, label in rows(HAM, SPAM, ("ham", "spam"))]
    lines[5][1], lines[9][1], lines[12][2] = ":-)", "", "bt not his girlfrnd"
    write(path / "spam.csv", ["v1", "v2", "", "", ""], lines, encoding="cp1252")
    return "spam.csv"


def utf_16(path):
    write(path / "texts.csv", ["message", "kind"], rows(HAM, SPAM, ("ham", "spam")), encoding="utf-16")
    return "texts.csv"


def bars(path):
    write(path / "bars.csv", ["message", "kind"], rows(HAM, SPAM, ("ham", "spam")), separator="|")
    return "bars.csv"


def excel(path):
    openpyxl = pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    book = openpyxl.Workbook()
    for line in [("message", "kind"), *rows(HAM, SPAM, ("ham", "spam"))]:
        book.active.append(line)
    book.save(path / "book.xlsx")
    return "book.xlsx"


def chinese(path):
    pytest.importorskip("icu4py", reason="the extra icu is not installed")
    lines = rows(BAD, GOOD, ("差", "好"), more=WHEN, gap="，")
    write(path / "films.csv", ["评论", "标签"], lines)
    return "films.csv"


def numbers(path):
    write(path / "numbers.csv", ["message", "kind"], rows(HAM, SPAM, (0, 1)))
    return "numbers.csv"


FILES = {
    spam: ("v1", ("Windows-1252", "1 row without words (the first is line 7)", "1 row without text")),
    utf_16: ("kind", ("UTF-16",)),
    bars: ("kind", ("vertical bars",)),
    excel: ("kind", ()),
    chinese: ("标签", ("ICU",)),
    numbers: ("kind", ()),
}


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_from_file_to_page(make, tmp_path, monkeypatch):
    label, says = FILES[make]
    file = make(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["audit", file, "--label", label])
    assert result.exit_code == 0, result.output
    for sentence in says:
        assert sentence in result.stderr
    folder = tmp_path / "audits" / file.split(".")[0]
    found = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert found["data"]["instances"] >= 100
    assert "<html" in (folder / "index.html").read_text(encoding="utf-8")
    assert found["data"]["accuracy"]["value"] > 0.8


def test_a_file_too_small_for_a_test_share_is_told_of_folds_before_the_work(tmp_path, monkeypatch):
    write(tmp_path / "few.csv", ["message", "kind"], rows(HAM, SPAM, ("ham", "spam"), count=90))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["audit", "few.csv", "--label", "kind", "--seeds", "1", "--no-uniform"])
    told, training = (result.stderr.index(part) for part in ("audit with --folds 5", "epoch 1 of"))
    assert told < training
    result = CliRunner().invoke(
        app, ["audit", "few.csv", "--label", "kind", "--folds", "5", "--out", "folds"]
    )
    assert result.exit_code == 0, result.output
    assert "a reading of the recipe" in result.stdout
    assert json.loads((tmp_path / "folds" / "audit.json").read_text())["data"]["instances"] == 90
