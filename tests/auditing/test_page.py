"""The page as a file: whole, small enough, closed to all but its own script, true to the audit's numbers."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from audit_example import HOSTILE, logits_of, make_audit, write_audit
from heedful.auditing.page import write_page
from heedful.auditing.page.rendering import SCRIPTS, asset, fill, in_script, joined_script, render_page
from heedful.auditing.page.writing import logits_without, pack_text, page_content, rounded
from heedful.errors import UserError


class Parts(HTMLParser):
    """Every tag with its attributes, and the text inside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.within = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.within = tag in ("script", "style")
        if self.within:
            self.inside.append("")

    def handle_endtag(self, tag):
        self.within = False

    def handle_data(self, data):
        if self.within:
            self.inside[-1] += data


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    audit = write_audit(folder)
    return audit, write_page(folder).read_text(encoding="utf-8")


def test_the_page_is_one_file_that_asks_for_nothing_outside_itself(written):
    _, page = written
    parts = Parts(page)
    assert [tag for tag, _ in parts.tags].count("script") == 2
    for _, attributes in parts.tags:
        assert not (attributes.keys() & {"src", "style", "onclick", "onerror", "onload"})
        assert (attributes.get("href") or "#").startswith(("#", "data:"))  # the icon is an empty one
    assert "@import" not in asset("page.css")
    assert "url(" not in asset("page.css")


def test_the_policy_names_the_digests_of_what_stands_in_the_page(written):
    _, page = written
    parts = Parts(page)
    policy = next(a["content"] for tag, a in parts.tags if a.get("http-equiv") == "Content-Security-Policy")
    style, data, script = parts.inside
    for name, text in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert json.loads(data)["audit"]["schema"] == 3


def test_hostile_words_stay_inside_the_data_and_come_back_as_they_were(written):
    audit, page = written
    parts = Parts(page)
    assert "img" not in [tag for tag, _ in parts.tags]
    stored = json.loads(parts.inside[1])["audit"]["instances"]
    assert [text["words"] for text in stored] == [text["words"] for text in audit["instances"]]
    assert any(word == HOSTILE[0] for text in stored for word in text["words"])


def test_no_script_of_the_page_writes_html_or_evaluates_text():
    for name in SCRIPTS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", asset(name)
        )


def test_data_cannot_end_their_block_nor_fill_a_hole_of_the_template():
    text = in_script({"word": "</script><!--&\u2028\ud800"})
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text)["word"] == "</script><!--&\u2028?"
    assert fill("a {{one}} b", one="{{two}}") == "a {{two}} b"


def test_the_title_is_escaped(tmp_path):
    audit = write_audit(tmp_path)
    audit["subject"]["name"] = "<b>bold</b>"
    (tmp_path / "audit.json").write_text(json.dumps(audit), encoding="utf-8")
    page = write_page(tmp_path).read_text(encoding="utf-8")
    title = re.search("<title>(.*)</title>", page)[1]
    assert "<" not in title
    assert unescape(title).endswith("<b>bold</b>")


def test_a_figure_that_is_missing_is_said_and_no_path_leads_out_of_the_folder(tmp_path):
    audit = write_audit(tmp_path)
    (tmp_path / "secret.png").write_bytes(b"secret")
    audit["questions"][2]["figures"] = ["../secret"]
    content = page_content(audit, tmp_path / "figures")
    assert sorted(content["figures"]) == ["foretells", "top"]
    assert content["notes"] == ["The figure 'gone' is missing.", "The figure '../secret' is missing."]


def test_a_page_that_would_be_too_large_keeps_the_texts_that_fit_and_says_so(tmp_path):
    audit = write_audit(tmp_path)
    limit = 250_000
    content = page_content(audit, tmp_path / "figures", most_bytes=limit)
    kept = content["audit"]["instances"]
    assert 0 < len(kept) < len(audit["instances"])
    order = [text["id"] for text in audit["instances"]]
    assert [order.index(text["id"]) for text in kept] == sorted(order.index(text["id"]) for text in kept)
    assert f"room for {len(kept)} of the {len(audit['instances'])} texts" in content["notes"][-1]
    assert len(in_script(content)) + len(joined_script()) < limit


def test_a_giant_text_that_comes_first_does_not_keep_the_others_out(tmp_path):
    audit = write_audit(tmp_path, count=5)
    first, *others = audit["instances"]
    audit["instances"] = [{**first, "words": ["x" * 6_000_000, *first["words"][1:]]}, *others]
    content = page_content(audit, tmp_path / "figures")
    assert [text["id"] for text in content["audit"]["instances"]] == [text["id"] for text in others]
    assert f"room for {len(others)} of the {len(others) + 1} texts" in content["notes"][-1]


def test_huge_words_in_the_table_of_words_do_not_break_the_limit(tmp_path):
    audit = write_audit(tmp_path, count=3)
    pattern = audit["words"][0]
    audit["words"] = [{**pattern, "word": f"{row}{'😀' * 50_000}"} for row in range(97)]
    (tmp_path / "audit.json").write_text(json.dumps(audit), encoding="utf-8")
    assert write_page(tmp_path).stat().st_size <= 5_000_000
    content = page_content(audit, tmp_path / "figures", most_bytes=150_000)
    kept = content["audit"]["words"]
    assert all(len(word["word"]) == 201 and word["word"].endswith("…") for word in kept)
    assert 0 < len(kept) < 97
    assert f"first {len(kept)} of the 97 words" in " ".join(content["notes"])
    page = render_page(content, title="a")
    assert len(page.encode()) <= 150_000


def test_figures_give_way_before_the_verdict_does(tmp_path):
    audit = write_audit(tmp_path, texts=False)
    content = page_content(audit, tmp_path / "figures", most_bytes=80_000)
    assert content["figures"] == {}
    assert "beside it" in content["notes"][-1]


@pytest.mark.parametrize("classes", [("negative", "positive"), ("one", "two", "three")])
def test_shortened_numbers_decide_as_the_full_ones_do(classes):
    for text in make_audit(classes=classes)["instances"]:
        packed = pack_text(text)
        for erased in (set(), {0, 2}, set(range(len(text["words"])))):
            kept = np.array([place not in erased for place in range(len(text["words"]))])
            oracle = logits_of(*(np.array(text[key]) for key in ("weights", "token_logits", "bias")), kept)
            np.testing.assert_allclose(logits_without(packed, erased), oracle, atol=1e-4)
        if text["smallest"]:
            after = logits_without(packed, set(text["smallest"]["words"]))
            assert after.argmax() == text["smallest"]["to"]


def test_a_text_on_the_edge_keeps_all_its_digits():
    text = make_audit(count=3)["instances"][0]
    text |= {
        "words": ["a", "b"],
        "read": [True] * 2,
        "known": [True] * 2,
        "weights": [0.5, 0.5],
        "bias": [0.0],
    }
    text |= {"token_logits": [[1.00000004], [-1.0]], "smallest": None, "adversary": None, "rankings": {}}
    assert pack_text(text)["token_logits"] == [[1.00000004], [-1.0]]
    text["token_logits"] = [[1.00000004], [-0.5]]
    assert pack_text(text)["token_logits"] == [[1], [-0.5]]


def test_rounding_keeps_significant_digits_and_leaves_other_values_alone():
    assert rounded([0.123456, [2.0, 1e-9]], 3) == [0.123, [2, 1e-09]]
    assert rounded("0.5", 3) == "0.5"
    assert rounded(True, 3) is True


def test_another_schema_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "audit.json").write_text('{"schema": 1}', encoding="utf-8")
    with pytest.raises(UserError, match="schema 1 and 3 is read here"):
        write_page(tmp_path)


def test_an_audit_without_a_part_is_refused_by_name(tmp_path):
    audit = make_audit(texts=False)
    del audit["sampling"]
    (tmp_path / "audit.json").write_text(json.dumps(audit), encoding="utf-8")
    with pytest.raises(UserError, match="lacks 'sampling'"):
        write_page(tmp_path)


def test_making_the_page_does_not_load_torch():
    probe = "import heedful.auditing.page, sys\nprint('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
