"""Real tasks: they are taken where their data are, kept seed by seed, and said to be generated elsewhere."""

import json
import re
from dataclasses import replace

import pytest
from made_data import write_table

from heedful.errors import UserError
from heedful.gallery import ENTRIES, Entry, Outcome, Published, RealTask, compare_entry, entry
from heedful.gallery.at_hand import at_hand, code_of
from heedful.gallery.sheet import contact_sheet, draw_comparison, found
from heedful.gallery.tables import read_table
from heedful.store import Store

HERE = "numbers.csv.gz"
trained = []


def real_train(seed, size, folder, device):
    trained.append((seed, size, device))
    base = float((folder / HERE).read_text())
    return Outcome(base + seed / 100, 0.5, 7, 7, {"other": 0.25}, {"line": [1, 2, seed]}, yardstick=0.6)


def draw_all(outcomes, figure):
    axes = figure.subplots()
    for outcome in outcomes:
        axes.plot(outcome.picture["line"])


REAL = RealTask(
    files=(HERE,),
    obtain="Write it yourself.",
    task="Real numbers.",
    without="no numbers",
    measure="hits",
    better="higher",
    yardstick="a guess",
    train=real_train,
    draw=draw_all,
    published=Published(0.95, "Somebody (2021)", "Theirs is larger."),
)
MADE = Entry(
    name="made",
    title="Made",
    source="Somebody (2020)",
    task="Generated numbers.",
    formula="a = b",
    without="nothing",
    measure="accuracy",
    better="higher",
    train=lambda seed, size: Outcome(0.7 + seed / 100, 0.5, 7, 7, picture={"line": [1, 2]}),
    draw=lambda outcome, figure: figure.subplots().plot(outcome.picture["line"]),
    aim=0.99,
    real=REAL,
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    trained.clear()
    (tmp_path / "data" / "gallery").mkdir(parents=True)
    (tmp_path / "data" / "gallery" / HERE).write_text("0.8")
    return tmp_path / "data"


def test_without_the_data_the_generated_task_is_trained_and_that_is_said(data, tmp_path):
    (data / "gallery" / HERE).unlink()
    for compared in (compare_entry(MADE), compare_entry(MADE, data_dir=data)):
        assert compared.entry.task == "Generated numbers."
        assert "Generated data" in compared.data
        assert HERE in compared.data
        assert "Write it yourself." in compared.data
        shown = compared.to_dict()
        assert (shown["is_real"], shown["yardstick"], shown["published"]) == (False, None, None)
    assert trained == []


def test_with_the_data_the_real_task_is_trained_beside_yardstick_and_published_figure(data):
    shown = compare_entry(MADE, data_dir=data, size="quick").to_dict()
    assert shown["is_real"] is True
    assert (shown["task"], shown["measure"], shown["aim"]) == ("Real numbers.", "hits", None)
    assert shown["figure"] == pytest.approx(0.81)
    assert shown["yardstick"]["figure"] == pytest.approx(0.6)
    assert shown["yardstick"]["margin"]["value"] == pytest.approx(0.21)
    assert shown["published"]["figure"] == 0.95
    assert trained == [(seed, "quick", "cpu") for seed in (0, 1, 2)]
    assert json.loads(json.dumps(shown)) == shown


def test_a_file_may_also_lie_beside_the_gallery_with_the_corpora(data):
    (data / "gallery" / HERE).rename(data / HERE)
    beside = replace(MADE, real=replace(REAL, train=lambda seed, size, folder, device: real_outcome(folder)))
    assert at_hand(beside, size="quick", data_dir=data).is_real
    assert compare_entry(beside, data_dir=data).mean("figure") == 0.25


def real_outcome(folder):
    assert folder.name == "gallery"
    return Outcome(float((folder.parent / HERE).is_file()) / 4, 0, 1, 1, yardstick=0)


def test_a_task_that_needs_no_file_is_taken_everywhere(monkeypatch, tmp_path):
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    ruled = at_hand(replace(MADE, real=replace(REAL, files=())), size="quick")
    assert (ruled.is_real, ruled.kind) == (True, "the paper's own")
    assert "paper's own rules" in ruled.data
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery" / HERE).write_text("0.8")  # a folder that nobody named is not looked into
    assert at_hand(MADE, size="quick").kind == "generated"


def test_a_generated_task_is_as_large_in_quick_as_in_full():
    sizes = []
    asked = replace(MADE, real=None, train=lambda seed, size: sizes.append(size) or Outcome(1, 0, 1, 1))
    for size in ("small", "quick", "full"):
        compare_entry(asked, seeds=(0,), size=size)
    assert sizes == ["small", "full", "full"]


def test_a_trained_seed_is_kept_and_only_what_is_missing_is_trained(data, tmp_path):
    with Store(tmp_path / "kept", {"schema": 1}).opened() as store:
        first = compare_entry(MADE, seeds=(0, 1), data_dir=data, store=store)
        again = compare_entry(MADE, seeds=(0, 1, 2), data_dir=data, store=store)
    assert [seed for seed, *_ in trained] == [0, 1, 2]
    assert again.outcomes[:2] == first.outcomes
    assert again.seconds >= 0
    assert draw_comparison(again).startswith(b"\x89PNG")


def test_other_data_another_size_and_another_device_are_trained_anew(data, tmp_path):
    with Store(tmp_path / "kept", {"schema": 1}).opened() as store:
        asked = {"seeds": (0,), "data_dir": data, "store": store}
        compare_entry(MADE, **asked)
        (data / "gallery" / HERE).write_text("0.9")
        assert compare_entry(MADE, **asked).mean("figure") == pytest.approx(0.9)
        compare_entry(MADE, size="full", **asked)
        compare_entry(MADE, device="meta", **asked)
    assert [(size, device) for _, size, device in trained] == [
        ("quick", "cpu"),
        ("quick", "cpu"),
        ("full", "cpu"),
        ("quick", "meta"),
    ]


def test_the_code_that_a_seed_is_known_by_is_that_which_trained_it():
    known = {name.removeprefix("heedful.") for name in code_of("heedful.gallery.real_gram")}
    assert {"gallery.real_gram", "gallery.hospital", "gallery.tables", "gallery.learning"} <= known
    assert {"attention.ancestors", "attention.controls", "attention.attended"} <= known  # by their lazy names
    assert not known & {"gallery.gram", "gallery.babi", "gallery.sheet", "attention", "attention.local"}


def test_what_is_chosen_by_name_belongs_to_the_code_too():
    known = code_of("heedful.attention.mechanism")
    assert {f"heedful.attention.{name}" for name in ("cosine", "sparse", "controls")} <= set(known)


def test_a_seed_is_kept_while_other_code_changes_and_trained_again_with_its_own(tmp_path, monkeypatch):
    own, other = tmp_path / "own_task.py", tmp_path / "other_task.py"
    own.write_text("def train(seed, size, folder, device): ...\n")
    other.write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = code_of("own_task")
    other.write_text("x = 2\n")
    assert code_of("own_task") == before
    own.write_text("def train(seed, size, folder, device): return 1\n")
    assert code_of("own_task") != before


def test_what_was_found_is_said_by_the_numbers(data):
    assert "better than an equal model without it" in found(compare_entry(MADE, data_dir=data))
    assert "better than the plain yardstick, a guess (0.600)" in found(compare_entry(MADE, data_dir=data))
    said = found(compare_entry(MADE, data_dir=data))
    assert "Published: 0.95, 0.810 here (Somebody (2021)). Theirs is larger." in said
    (data / "gallery" / HERE).write_text("0.55")
    said = found(compare_entry(MADE, data_dir=data))
    assert "better than an equal model" in said
    assert "worse than the plain yardstick" in said
    (data / "gallery" / HERE).write_text("0.49")
    assert "not shown to differ from an equal model" in found(compare_entry(MADE, data_dir=data))


def test_a_picture_is_also_drawn_as_svg_whose_text_stays_text(data):
    drawn = draw_comparison(compare_entry(MADE, data_dir=data), "svg")
    assert drawn.startswith(b"<?xml")
    assert drawn == draw_comparison(compare_entry(MADE, data_dir=data), "svg")


def test_a_data_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UserError, match="is not there"):
        compare_entry(MADE, data_dir=tmp_path / "nowhere")


@pytest.mark.parametrize("name", ENTRIES)
def test_a_real_task_says_what_it_reads_and_where_it_is_from(name):
    real = entry(name).real
    if real is not None:
        assert real.files or name == "pointer"  # whose puzzles the paper's rules make
        assert f"docs/gallery/{name}.md" in real.obtain
        assert real.yardstick
        if real.published is not None:  # who published it, where a reader can look
            assert re.search(r"et al\. \(\d{4}\)|tutorial [\w-]+, no\. \d", real.published.source)
            assert real.published.difference


def test_a_table_keeps_words_that_look_like_gaps_and_reads_whole_numbers(tmp_path):
    write_table(tmp_path / "a.tsv.gz", ("word", "count"), [("null", 3), ("", 4)], separator="\t")
    table = read_table(tmp_path / "a.tsv.gz", ("count", "word"), whole=("count",))
    assert table.to_dict("list") == {"count": [3, 4], "word": ["null", ""]}


def test_a_damaged_table_gets_one_sentence(tmp_path):
    write_table(tmp_path / "a.csv.gz", ("word", "count"), [("x", "many")])
    whole = (tmp_path / "a.csv.gz").read_bytes()
    with pytest.raises(UserError, match=r"a\.csv\.gz has no column other: its columns are word, count"):
        read_table(tmp_path / "a.csv.gz", ("word", "other"))
    with pytest.raises(UserError, match=r"needs whole numbers in count"):
        read_table(tmp_path / "a.csv.gz", ("count",), whole=("count",))
    for content in (whole[:-9], b"no gzip", b""):
        (tmp_path / "a.csv.gz").write_bytes(content)
        with pytest.raises(UserError, match="cannot be read as a table"):
            read_table(tmp_path / "a.csv.gz", ("word",))


def test_the_sheet_has_the_plain_method_the_published_figure_and_intervals(data):
    compared = compare_entry(MADE, data_dir=data)
    page = contact_sheet([compared], {"made": draw_comparison(compared)})
    assert '<td class="number">0.600<td class="number">0.95' in page
    assert '<tr><td>other<td class="number">0.250<td class="number">0.250 to 0.250</tr>' in page


def test_beside_a_published_figure_stands_our_own_of_the_same_measure(data):
    of_another = replace(MADE, real=replace(REAL, published=replace(REAL.published, ours="other")))
    compared = compare_entry(of_another, data_dir=data)
    assert compared.to_dict()["published"]["here"] == 0.25
    assert "Published: 0.95, 0.250 here" in found(compared)
    page = contact_sheet([compared], {"made": draw_comparison(compared)})
    assert '<td class="number">0.95 (here 0.250)<' in page


def test_counts_among_further_figures_are_whole(data):
    compared = compare_entry(replace(MADE, real=replace(REAL, train=counting)), data_dir=data)
    page = contact_sheet([compared], {"made": b""})
    assert '<tr><td>parameters<td class="number">863,088<td class="number">863,088 to 863,088</tr>' in page


def counting(seed, size, folder, device):
    return Outcome(0.5, 0.5, 7, 7, {"parameters": 863_088.0}, {"line": [1]}, yardstick=0.6)


def refusing(seed, size, folder, device):
    raise UserError("The numbers are odd.")


def test_seeds_side_by_side_are_those_one_by_one_and_are_kept(data, tmp_path):
    alone = compare_entry(MADE, data_dir=data, seeds=(0, 1, 2))
    trained.clear()
    heard = []
    with Store(tmp_path / "kept", {"schema": 1}, what="seeds").opened() as store:
        asked = {"data_dir": data, "store": store, "done": heard.append, "workers": 2}
        together = compare_entry(MADE, seeds=(0, 1), **asked)
        assert sorted(heard) == [0, 1]
        assert trained == []  # by others
        compared = compare_entry(MADE, seeds=(0, 1, 2), **asked)
        assert trained == [(2, "quick", "cpu")]  # one that is left needs no process of its own
    assert together.outcomes == alone.outcomes[:2]
    assert compared.outcomes == alone.outcomes
    assert sorted(heard) == [0, 0, 1, 1, 2]


def test_a_seed_that_fails_in_its_process_says_which_and_why(data):
    with pytest.raises(UserError, match=r"Seed [01] of made could not be trained: The numbers are odd\."):
        compare_entry(
            replace(MADE, real=replace(REAL, train=refusing)), data_dir=data, seeds=(0, 1), workers=2
        )
