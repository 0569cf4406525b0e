"""The page in a real browser, part by part: what is seen first, what folds, filters, sorts and is saved."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from overlaps import overlapping_texts
from playwright.sync_api import expect

from audit_example import write_audit
from heedful.auditing.page import write_page

pytestmark = pytest.mark.browser
NARROW = {"width": 390, "height": 844}


def written(folder, audit):
    """The address of the page of a changed audit."""
    (folder / "audit.json").write_text(json.dumps(audit), encoding="utf-8")
    return write_page(folder).as_uri()


def stored(audit_folder):
    return json.loads((audit_folder / "audit.json").read_text(encoding="utf-8"))["instances"]


def go_to(page, part):
    page.locator("#contents").get_by_role("link", name=part).click()


def test_a_ranking_that_stands_in_for_what_measured_best_is_said_to(visit, tmp_path):
    audit = write_audit(tmp_path, count=5)
    page = visit(write_page(tmp_path).as_uri())
    assert "stands in" not in page.locator("#verdict").inner_text()
    audit["verdict"]["instead"] |= {"ranking": "rollout", "called": "attention rollout"}
    page = visit(written(tmp_path, audit))
    said = "Scores by attention rollout are not kept for single texts; leave-one-out stands in."
    assert said in page.locator("#verdict").inner_text()


def test_each_reason_is_said_once_in_words_with_its_term_after_it(visit, tmp_path):
    audit = write_audit(tmp_path, count=5)
    audit["verdict"]["reasons"] = [
        "51 % [47, 56] of its paint lies on words that matter, not surely 75 %.",
        "For texts decided “negative”: 55 % [48, 62] of its paint lies on words that matter.",
        "For texts decided “positive”: its strongest word is one that matters in 9 % of texts.",
    ]
    page = visit(written(tmp_path, audit), reduced_motion="reduce")
    said = [" ".join(line.split()) for line in page.locator(".reasons li").all_inner_texts()]
    assert said == [
        "It predicts 18 % [14, 22] of what the best map could. heat-map skill",
        f"{audit['verdict']['reasons'][0]} paint on words that matter",
        f"{audit['verdict']['reasons'][2]} strongest word matters",  # all texts together do not fail by it
        "How each class reads stands below.",
    ]
    page.locator(".reasons .term").first.click()
    expect(page.locator("#term-skill")).to_be_in_viewport()
    expect(page.locator("#term-skill")).to_be_focused()
    for word in ("Comprehensiveness", "AOPC", "rationale", "Erasure"):
        assert word in page.locator("#terms").inner_text()


def test_a_class_that_no_word_decides_is_named(visit, tmp_path):
    write_audit(tmp_path, count=11, classes=("HAM", "SPAM"), default=0)
    page = visit(write_page(tmp_path).as_uri())
    assert "No word decides “\u2068HAM\u2069”: show nothing there." in page.locator("#verdict").inner_text()
    rows = page.get_by_role("region", name="Reading by decided class").locator("tbody tr")
    assert "no word decides it" in rows.nth(0).inner_text()
    assert "✗ do not show as an explanation" in rows.nth(1).inner_text()
    assert "18\u00a0% [14, 22]" in rows.nth(1).inner_text()
    # Its texts say so, and the paint is not taken for a reason.
    page.locator("#texts-decided").select_option("0")
    page.locator("#text-list button.row").first.click()
    assert "no word decides" in page.locator("#text-list button.row").first.inner_text()
    notice = page.locator("#open-text .notice").inner_text()
    assert notice.startswith("No word decides “HAM”")
    assert notice.endswith("and is no reason.")
    page.locator("#texts-decided").select_option("1")
    page.locator("#text-list button.row").first.click()
    assert page.locator("#open-text .notice").count() == 0
    # The example is not one of that class, and words are told by the classes' own names.
    assert "Decided \u2068SPAM\u2069" in page.locator("#verdict .card").inner_text()
    assert page.locator("#words select option").all_inner_texts() == ["all", "HAM", "SPAM", "neutral"]


def test_paint_against_the_decision_of_one_class_is_said_and_stands_in_its_table(visit, tmp_path):
    audit = write_audit(tmp_path)
    verdict, said = (
        audit["verdict"],
        "56 % [52, 60] of its paint lies on words that speak against the decision.",
    )
    verdict["reasons"] = [
        "44 % [41, 47] of its paint lies on words that matter; …",
        f"For texts decided “positive”: {said}",
    ]
    page = visit(written(tmp_path, audit))
    # No class has the number here, so there is no column for it.
    table = page.get_by_role("region", name="Reading by decided class")
    assert table.get_by_role("button", name="against").count() == 0
    # It is another reason than that of all texts, which is about paint too.
    reasons = page.locator("#verdict .reasons").inner_text()
    assert said in reasons
    assert "paint against the decision" in reasons
    verdict["classes"][1]["against"] = {**verdict["classes"][1]["paint"], "value": 0.5623}
    page = visit(written(tmp_path, audit))
    table = page.get_by_role("region", name="Reading by decided class")
    assert table.get_by_role("button", name="paint against the decision").count() == 1
    rows = table.locator("tbody tr")
    assert "56\u00a0%" in rows.nth(1).locator("td").last.inner_text()
    assert rows.nth(0).locator("td").last.inner_text() == ""


def test_the_example_is_the_stored_text_whose_maps_differ_most(visit, tmp_path):
    audit = write_audit(tmp_path)
    page = visit(write_page(tmp_path).as_uri())

    def apart(text):
        first, second = (np.abs(scores) for scores in (text["weights"], text["rankings"]["gradient"]))
        return np.abs(first / first.sum() - second / second.sum()).sum() / 2

    short = [text for text in audit["instances"] if 6 <= len(text["words"]) <= 40]
    most = max(short, key=apart)
    said = page.locator("#verdict .card").inner_text()
    assert f"Text {most['id']}, one of {len(audit['instances'])} stored texts" in said
    assert f"{100 * apart(most):.0f}\u00a0% of the paint lies elsewhere" in said


def test_what_was_judged_is_painted_first_also_where_it_is_not_attention(visit, tmp_path):
    write_audit(tmp_path, count=7, shown="leave-one-out")
    page = visit(write_page(tmp_path).as_uri())
    assert page.locator("h1").inner_text() == "May highlights by leave-one-out be shown as an explanation?"
    assert "What leave-one-out highlights" in page.locator("#verdict .card").inner_text()
    choices = page.locator("#open-text").get_by_role("group", name="Paint the text by").locator("button")
    assert choices.first.inner_text() == "leave-one-out"
    assert choices.first.get_attribute("aria-pressed") == "true"


def test_a_model_without_attention_is_painted_by_what_there_is(visit, tmp_path, size):
    audit = write_audit(tmp_path, count=7, linear=False, shown="leave-one-out")
    audit["subject"] |= {"way": "black box", "cannot": {"attention": "only its probabilities can be asked"}}
    for text in audit["instances"]:
        text |= {"weights": None, "paths": None, "smallest": None, "smallest_kind": None, "adversary": None}
    page = visit(written(tmp_path, audit), viewport=size)
    go_to(page, "Texts")
    choices = page.locator("#open-text").get_by_role("group", name="Paint the text by").locator("button")
    assert choices.all_inner_texts()[:2] == ["leave-one-out", "gradient × input"]
    assert "attention" not in choices.all_inner_texts()
    assert "Nothing inside this model can be erased" in page.locator("#open-text .note").inner_text()
    go_to(page, "Methods")
    told = page.locator("#methods").inner_text()
    assert "black box" in told
    assert "only its probabilities can be asked" in told
    assert overlapping_texts(page) == []


def test_where_there_is_one_map_the_example_has_one(visit, tmp_path):
    audit = write_audit(tmp_path, count=7, linear=False, shown="leave-one-out", reading="faithful")
    for text in audit["instances"]:
        text |= {"weights": None, "paths": None, "smallest": None, "adversary": None}
        text["rankings"] = {"leave-one-out": text["rankings"]["leave-one-out"]}
    page = visit(written(tmp_path, audit))
    assert page.locator("#verdict .card h2").inner_text() == "One text, painted"
    assert page.locator("#verdict .card .painted").count() == 1


def test_the_confusion_table_says_what_is_taken_for_what(visit, page_file):
    page = visit(page_file)
    table = page.get_by_role("region", name="What is taken for what")
    assert table.locator("tbody tr").first.inner_text().split() == ["negative", "500", "469", "52", "%"]
    said = "82\u00a0% [80, 84] of 1,821 texts are decided as labelled"
    assert said in page.locator("#accuracy").inner_text()


def test_on_a_telephone_the_parts_are_folded_and_open_where_one_goes(visit, page_file):
    page = visit(page_file, viewport=NARROW, reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    assert page.locator("details.part[open]").count() == 0
    go_to(page, "Words")
    expect(page.locator("#find-word")).to_be_visible()
    assert page.locator("details.part[open]").count() == 1
    page.get_by_role("button", name="Work with this text").click()
    expect(page.locator("#find-text")).to_be_in_viewport()
    for hash, there in (("question=top", "#question-top .evidence"), ("search=gorg", "#word-table")):
        assert visit(f"{page_file}#{hash}", viewport=NARROW).locator(there).is_visible()


def test_the_page_says_what_it_carries(visit, page_file, tmp_path, audit_folder):
    count = len(stored(audit_folder))
    assert (
        f"This page carries {count} texts and a table of" in visit(page_file).locator("#holds").inner_text()
    )
    write_audit(tmp_path, texts=False)
    page = visit(write_page(tmp_path).as_uri())
    assert "no text and no word of the data, only numbers" in page.locator("#holds").inner_text()


def test_tables_are_sorted_by_any_column(visit, page_file):
    page = visit(page_file)
    table = page.get_by_role("region", name="Reading by decided class")
    first = table.locator("tbody tr td:first-child").first
    assert first.inner_text() == "negative"
    heading = table.get_by_role("button", name="texts")
    heading.click()
    assert first.inner_text() == "negative"  # 101 texts, and the other class has 102
    heading.click()
    assert first.inner_text() == "positive"
    assert table.locator("th[aria-sort=descending]").inner_text() == "texts"
    table.get_by_role("button", name="decided").click()
    assert first.inner_text() == "negative"


def test_numbers_are_sorted_as_numbers_and_empty_cells_come_last(visit, tmp_path):
    audit = write_audit(tmp_path, count=3, classes=("one", "two", "three"), default=1)
    for one, texts in zip(audit["verdict"]["classes"], (9, 1010, 97), strict=True):
        one["texts"] = texts
    page = visit(written(tmp_path, audit))
    table = page.get_by_role("region", name="Reading by decided class")
    names = table.locator("tbody tr td:first-child")
    table.get_by_role("button", name="texts").click()
    assert names.all_inner_texts() == ["one", "three", "two"]
    for _ in ("rising", "falling"):
        table.get_by_role("button", name="heat-map skill").click()
        assert names.last.inner_text() == "two"


def test_texts_are_filtered_sorted_and_saved(visit, page_file, audit_folder):
    page = visit(page_file)
    rows = page.locator("#text-list button.row")
    every = stored(audit_folder)
    page.locator("#texts-right").select_option("wrong")
    page.locator("#texts-decided").select_option("0")
    wanted = [text for text in every if text["gold"] != text["decided"] and text["decided"] == 0]
    assert rows.count() == len(wanted) > 1
    page.locator("#texts-by_text").select_option("length")
    lengths = {text["id"]: len(text["words"]) for text in every}

    def shown():
        return [lengths[int(row.get_attribute("data-text"))] for row in rows.all()]

    assert shown() == sorted(shown())
    page.get_by_role("button", name="Turn round").click()
    assert shown() == sorted(shown(), reverse=True)
    again = visit(page.evaluate("location.href"))
    assert again.locator("#text-count").inner_text() == page.locator("#text-count").inner_text()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as CSV").click()
    assert saving.value.suggested_filename == "texts.csv"
    with Path(saving.value.path()).open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    assert head[:4] == ["number", "text", "decided", "probability"]
    assert [lengths[int(line[0])] for line in lines] == shown()
    assert {line[2] for line in lines} == {"negative"}
    page.locator("#texts-right").select_option("")
    page.locator("#texts-length").select_option(index=1)
    low, high = map(int, page.locator("#texts-length").input_value().split("-"))
    assert 0 < len(shown()) < sum(text["decided"] == 0 for text in every)
    assert all(low <= length <= high for length in shown())
