"""Columns that are no class by themselves: one of several labels, or a number at a threshold."""

import json

import pytest

from heedful.data.label_rules import above, among, labels_in, marked, rule_for
from heedful.data.named import load_data
from heedful.data.tables import open_table
from heedful.errors import UserError

WHERE = {"source": "a.csv", "place": "line", "number": 2}
LABELS = ("toxic", "insult", "threat")


def test_a_label_has_a_column_of_its_own_or_stands_in_a_list():
    assert [marked("toxic")(cell, **WHERE) for cell in (1, "0", "yes", False, "1.0")] == [
        "toxic",
        "not toxic",
        "toxic",
        "not toxic",
        "toxic",
    ]
    rule = among("toxic")
    assert [rule(cell, **WHERE) for cell in ("toxic;insult", "insult", "", '["Toxic"]', ["toxic"])] == [
        "toxic",
        "not toxic",
        "not toxic",
        "toxic",
        "toxic",
    ]
    assert labels_in("['a', 'b c']") == ["a", "b c"]
    assert marked("toxic")(None, **WHERE) == marked("toxic")("", **WHERE) == ""


def test_a_number_is_decided_at_the_threshold_and_anything_else_is_refused():
    rule = above(3.5)
    assert rule.classes == ("up to 3.5", "above 3.5")
    assert [rule(cell, **WHERE) for cell in (3.5, "3.6", 5)] == ["up to 3.5", "above 3.5", "above 3.5"]
    with pytest.raises(UserError, match="must have numbers for labels, but line 2 has 'five'"):
        rule("five", **WHERE)
    with pytest.raises(UserError, match="0 or 1 in the column 'toxic', but line 2 has 'maybe'"):
        marked("toxic")("maybe", **WHERE)


def _file(folder, rows, name="a.jsonl"):
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_what_a_column_holds_is_told_by_the_file(tmp_path):
    own = _file(tmp_path, [{"text": "a b", "Toxic": 1, "insult": 0}])
    assert rule_for(open_table(own), LABELS, "toxic")[1] == "Toxic"
    lists = _file(tmp_path, [{"text": "a b", "tags": ["toxic"]}, {"text": "c", "tags": []}], "b.jsonl")
    rule, column = rule_for(open_table(lists), LABELS, "toxic", column="tags")
    assert (rule(["toxic", "threat"], **WHERE), column) == ("toxic", "tags")
    numbers = _file(tmp_path, [{"text": "a b", "tags": [0, 2]}, {"text": "c", "tags": [1]}], "c.jsonl")
    rule, _ = rule_for(open_table(numbers), LABELS, "threat", column="tags")
    assert [rule(cell, **WHERE) for cell in ([0, 2], [1])] == ["threat", "not threat"]
    plain = _file(tmp_path, [{"text": "a b", "y": 0}, {"text": "c", "y": 1}], "d.jsonl")
    rule, _ = rule_for(open_table(plain), LABELS, "threat", column="y")
    assert [rule(cell, **WHERE) for cell in (0, 1)] == ["not threat", "threat"]


def test_a_corpus_is_read_by_a_rule_and_has_the_models_classes(tmp_path):
    rows = [{"text": f"text {number} here", "score": number / 7} for number in range(60)]
    corpus = load_data(_file(tmp_path, rows), label="score", rule=above(4), learn=False)
    assert corpus.label_names == ("up to 4", "above 4")
    assert corpus.labels.sum() == sum(number / 7 > 4 for number in range(60))


def test_the_texts_of_a_pair_keep_what_their_columns_are_called(tmp_path):
    rows = [{"premise": f"a {n}", "hypothesis": f"b {n}", "label": n % 2} for n in range(30)]
    corpus = load_data(_file(tmp_path, rows), text="premise", text_pair="hypothesis", learn=False)
    assert corpus.roles == ("premise", "hypothesis")
    assert corpus.split("test").roles == corpus.roles
