"""Files as people have them, from the file to a corpus with nothing said but, at most, the label column."""

import gzip
import io
import tracemalloc
import zipfile
from itertools import pairwise

import numpy as np
import openpyxl
import pytest

from heedful.data.dealing import TO_JUDGE
from heedful.data.named import load_data
from heedful.data.reading import read_corpus
from heedful.data.words import rules_for, split_texts
from heedful.errors import UserError

HAM = [
    "Ok lar... Joking wif u oni",
    "U dun say so early hor",
    "I'm at café “Zoë”, back soon",
    "Go until jurong point, crazy",
]
SPAM = [
    "WINNER!! You have won a £900 prize",
    "Free entry in 2 a wkly comp: text FA to 87121",
    "URGENT! Call now – it’s free",
    "Had your mobile 11 months or more?",
]


def as_published(rows: int = 1200) -> str:
    """The SMS spam collection as it is passed around: v1,v2,,, and a field that ran over into the third."""
    lines = ["v1,v2,,,"]
    for number in range(rows):
        kind, texts = ("spam", SPAM) if number % 7 == 0 else ("ham", HAM)
        lines.append(f'{kind},"{texts[number % 4]} {number}",{" more" if number == 5 else ""},,')
    lines[3] = "ham,:-) :-),,,"
    return "\r\n".join(lines) + "\r\n"


def said(corpus) -> str:
    return " ".join(corpus.notes)


def test_the_spam_file_as_published_is_read_with_nothing_said(tmp_path):
    path = tmp_path / "spam.csv"
    path.write_bytes(as_published().encode("cp1252"))
    for options in ({}, {"label": "v1"}):
        corpus = load_data(path, **options)
        assert corpus.label_names == ("ham", "spam")
        assert len(corpus) == 1199
        assert corpus.texts[0] == "WINNER!! You have won a £900 prize 0"
        assert corpus.texts[1].startswith("U dun")
        assert "“Zoë”" in next(text for text in corpus.texts if "caf" in text)
        assert "Read as Windows-1252, not UTF-8 (say otherwise with --encoding)." in corpus.notes
        assert "Dropped 1 row without words (the first is line 4)." in corpus.notes
        assert len(corpus.split("test")) >= TO_JUDGE
    assert "text from column 'v2', label from column 'v1'" in said(load_data(path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_encodings_and_separators_are_recognised_and_said(tmp_path, encoding, separator):
    rows = [
        f'"{text}, or not; so | it\tgoes {number}"{separator}{number % 2}'
        for number, text in enumerate(HAM * 5)
    ]
    content = "\n".join([f"text{separator}label", *rows]).encode(encoding)
    for name in ("a.csv", "a.csv.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        corpus = load_data(path)
        assert corpus.texts[2] == f"{HAM[2]}, or not; so | it\tgoes 2"
        assert ("Read as" in said(corpus)) == (not encoding.startswith("utf-8"))
        assert ("separated by" in said(corpus)) == (separator != ",")
    assert load_data(path, encoding=encoding).texts == corpus.texts


def test_an_encoding_can_be_said_and_a_wrong_one_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    lines = ["text,label", *[f"всё хорошо {n},{n % 2}" for n in range(30)]]
    path.write_bytes("\n".join(lines).encode("cp1251"))
    with pytest.raises(UserError, match=r"not UTF-8 in line 2, and no Western encoding either: name its"):
        load_data(path)
    assert load_data(path, encoding="windows-1251").texts[3] == "всё хорошо 3"
    with pytest.raises(UserError, match=r"is not UTF-8 in line \d"):
        load_data(path, encoding="utf-8")
    for name in ("klingon", "base64"):
        with pytest.raises(UserError, match=f"There is no encoding '{name}'"):
            load_data(path, encoding=name)


def test_a_damaged_byte_in_a_utf8_file_is_not_taken_for_another_encoding(tmp_path):
    path = tmp_path / "a.csv"
    lines = ["text,label", *[f"tout est très bien là {n},{n % 2}" for n in range(5000)]]
    path.write_bytes("\n".join(lines).encode().replace("bien là 4000".encode(), b"bien l\xe0 4000"))
    with pytest.raises(UserError, match="is not UTF-8 in line 4,002, and is elsewhere: mend that line"):
        load_data(path)


def test_bytes_that_windows_has_no_sign_for_are_latin(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"caf\xe9 \x81 good,1\nbad caf\xe9,0\n" * 5)
    corpus = load_data(path)
    assert "Read as Latin-1" in said(corpus)
    assert corpus.texts[0] == "café \x81 good"


def workbook(path, rows, *, sheets=()):
    book = openpyxl.Workbook()
    for title in sheets:
        book.create_sheet(title, 0)
    sheet = book[book.sheetnames[-1]]
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_is_read_as_it_is_shown(tmp_path):
    rows = [
        ["message", "stars"],
        *[[text, number % 2] for number, text in enumerate(HAM * 3)],
        [10, 1.0],
        [None, None],
    ]
    corpus = load_data(workbook(tmp_path / "a.xlsx", [*rows, [":)", 0]], sheets=["empty"]))
    assert list(corpus.texts) == [*HAM * 3, "10"]
    assert corpus.label_names == ("0", "1")
    assert "Read from the sheet 'Sheet'; 1 other left alone." in corpus.notes
    assert "Dropped 1 row without words (the first is row 16)." in corpus.notes
    packed = tmp_path / "b.xlsx.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.xlsx").read_bytes()))
    assert load_data(packed).texts == corpus.texts


def test_a_workbook_that_is_none_is_refused(tmp_path):
    whole = workbook(tmp_path / "a.xlsx", [["text", "label"], ["a", "b"]]).read_bytes()
    path = tmp_path / "b.xlsx"
    for content in (b"", b"text,label\na,b\n", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(UserError, match="is not a whole Excel workbook"):
            load_data(path)
    with pytest.raises(UserError, match="is empty"):
        load_data(workbook(tmp_path / "c.xlsx", []))
    with pytest.raises(UserError, match="leave out --encoding"):
        load_data(tmp_path / "a.xlsx", encoding="utf-8")


def test_chinese_thai_and_japanese_words_are_found(tmp_path):
    pairs = {
        "这部电影真的非常好看": ("电影", "非常", "好看"),
        "ภาพยนตร์เรื่องนี้ดีมาก": ("ภาพยนตร์", "เรื่อง", "ดี"),
        "この映画は本当に面白い": ("映画", "本当に", "面白い"),
        "我的iPhone手机坏了": ("iphone", "手机"),
    }
    path = tmp_path / "a.csv"
    path.write_text("text,label\n" + "".join(f"{text},{n % 2}\n" for n, text in enumerate([*pairs] * 5)))
    corpus = load_data(path)
    assert "their words are found by ICU's dictionaries" in said(corpus)
    rules = rules_for(corpus.texts)
    assert rules.segment
    for row, (text, words) in enumerate(pairs.items()):
        alone, company = split_texts([text], rules)[0], split_texts(corpus.texts, rules)[row]
        assert set(words) <= set(alone.forms)
        assert alone.forms == company.forms
        assert [text[a:b].lower() for a, b in zip(alone.starts, alone.ends, strict=True)] == alone.forms
    assert not rules_for(HAM).segment


def test_segmenting_leaves_other_words_alone_and_goes_with_the_other_rules():
    from heedful.data.words import WordRules

    texts = ["don't panic, 1,000 times 😀 naïve", "电影，好看！ 3,5", "\ud83d电影"]
    for options in ({}, {"apostrophes": True}, {"punctuation": "keep"}, {"numbers": "one"}):
        plain, cut = (split_texts(texts, WordRules(segment=on, **options)) for on in (False, True))
        assert plain[0].forms == cut[0].forms
        assert len(cut[2].forms) >= len(plain[2].forms)
        for text, words in zip(texts, cut, strict=True):
            spans = list(zip(words.starts, words.ends, strict=True))
            assert all(a < b <= c for (a, b), (c, _) in pairwise(spans))
            assert all(text[a:b].strip() for a, b in spans)


# Warnings


def corpus_of(tmp_path, rows):
    path = tmp_path / "doubts.csv"
    path.write_text("text,label\n" + "".join(f'"{text}","{label}"\n' for text, label in rows))
    return read_corpus(path)


def test_what_cannot_be_meant_is_warned_of(tmp_path):
    one_word = corpus_of(tmp_path, [(f"id{n}", n % 2) for n in range(40)])
    assert "hardly more than one word a text, such as 'id0'" in said(one_word)
    fractions = corpus_of(tmp_path, [(f"a text {n}", (n % 12) / 7) for n in range(60)])
    assert "labels are fractions such as 0.142" in said(fractions)
    many = corpus_of(tmp_path, [(f"a text {n}", f"c{n % 130}") for n in range(520)])
    assert "there are 130 classes" in said(many)
    several = corpus_of(tmp_path, [(f"a text {n}", ["sad", "fun", "sad, fun"][n % 3]) for n in range(60)])
    assert "1 labels are several in one cell, such as 'sad, fun'" in said(several)
    listed = corpus_of(
        tmp_path, [(f"a text {n}", ["['a']", "['b']", "['a', 'b']"][n % 3]) for n in range(60)]
    )
    assert "several in one cell" in said(listed)
    conflict = corpus_of(tmp_path, [*[(f"a text {n}", n % 2) for n in range(40)], ("a text 7", 0)])
    assert "1 text has more than one label, such as 'a text 7', which is '1' and '0'" in said(conflict)
    fine = corpus_of(tmp_path, [(f"a text {n}", n % 2) for n in range(40)])
    assert "Warning" not in said(fine)


# Enough to judge by


@pytest.mark.parametrize(("rows", "test"), [(300, 120), (500, 200), (999, 250), (5000, 500)])
def test_a_file_to_train_on_gets_a_test_split_that_can_be_judged_by(tmp_path, rows, test):
    corpus = corpus_of(tmp_path, [(f"a text {n}", n % 2) for n in range(rows)])
    assert len(corpus.split("test")) == pytest.approx(test, abs=2)
    assert ("Only" in said(corpus)) == (test < TO_JUDGE)


def test_the_share_of_test_can_be_said(tmp_path):
    corpus_of(tmp_path, [(f"a text {n}", n % 2) for n in range(300)])
    path = tmp_path / "doubts.csv"
    assert len(load_data(path, test_share=0.7).split("test")) == 210
    assert len(load_data(path, test_share=0).split("test")) == 0
    for wrong in (1, -0.1, float("nan")):
        with pytest.raises(UserError, match="from 0 to below 1"):
            load_data(path, test_share=wrong)
    with pytest.raises(UserError, match="leave out --test-share"):
        load_data("data-2", test_share=0.2)


def test_texts_that_are_only_judged_are_all_test(tmp_path):
    corpus_of(tmp_path, [(f"a text {n}", n % 2) for n in range(999)])
    path = tmp_path / "doubts.csv"
    corpus = load_data(path, learn=False)
    assert len(corpus.split("test")) == 999
    assert "all 999 rows are there to judge by" in said(corpus)
    split = tmp_path / "split.csv"
    split.write_text(
        "text,label,split\n" + "".join(f"text {n},{n % 2},{['train', 'test'][n // 9]}\n" for n in range(18))
    )
    assert len(load_data(split, learn=False).split("test")) == 9
    split.write_text(split.read_text().replace("test", "train"))
    assert "(marked train)" in said(load_data(split, learn=False))


# Small files that exhaust


def peak_of(path) -> int:
    tracemalloc.start()
    try:
        with pytest.raises(UserError) as caught:
            load_data(path)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len(str(caught.value)) < 400
    return peak


@pytest.mark.parametrize(
    "content", [b" ", b"text,label\n,", b"\n", b'text,label\n"', b'text,label\n"a""', b"a,"]
)
@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
def test_a_small_file_that_unpacks_without_end_is_refused_at_once(tmp_path, content, name):
    path = tmp_path / name
    head = content[: content.rfind(b"\n") + 1]
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        block = (content[len(head) :] or content) * 2**20
        for _ in range(max(1, 2**28 // len(block))):
            file.write(block)
    assert peak_of(path) < 2**29


def test_a_workbook_that_unpacks_without_end_is_refused(tmp_path):
    path = workbook(tmp_path / "a.xlsx", [["text", "label"], ["a", "b"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as book, book.open("xl/media/a.bin", "w") as part:
        for _ in range(160):
            part.write(bytes(2**20))
    assert peak_of(path) < 2**26


def test_an_open_quote_in_a_long_file_is_found_quickly(tmp_path):
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'text,label\na,x\n"open,y\n')
        file.write(b"all good here,x\n" * 3_000_000)
    with pytest.raises(UserError, match="quote that opens in line 3 and is not closed"):
        load_data(path)


def test_reading_keeps_little_more_than_the_texts(tmp_path):
    path = tmp_path / "a.csv"
    rows = 20_000
    text = "a film of some length, " * 5
    path.write_text("text,label\n" + "".join(f'"{text}{n}",{n % 2}\n' for n in range(rows)))
    load_data(path)
    tracemalloc.start()
    corpus = load_data(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * path.stat().st_size
    assert np.bincount(corpus.labels).tolist() == [rows // 2] * 2


def test_names_that_no_file_can_have_are_refused():
    for name in ("a" * 5000 + ".csv", "a/" * 3000 + "b.csv", "a\0b.csv", "a" * 5000):
        with pytest.raises(UserError) as caught:
            load_data(name)
        assert len(str(caught.value)) < 500


def test_a_column_whose_name_is_no_text_is_refused(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.table({"text_with_a_name": ["a"], "label": ["b"]}), buffer)
    path = tmp_path / "a.parquet"
    path.write_bytes(buffer.getvalue().replace(b"text_with_a_name", b"text_with_a_n\xff\xfe\xff"))
    with pytest.raises(UserError, match="names a column in bytes that are not UTF-8"):
        load_data(path)


def test_a_class_that_is_rare_in_test_is_said_before_the_work_with_the_remedy(tmp_path):
    lines = [f"{'spam' if row % 10 == 0 else 'ham'},a message of number {row}" for row in range(1200)]
    (tmp_path / "spam.csv").write_text("\n".join(["label,text", *lines]))
    corpus = read_corpus(tmp_path / "spam.csv")
    assert corpus.class_sizes("test")["spam"] == 25
    note = "Only 25 texts of class 'spam' are in test, and about 40 are needed to read a class by itself"
    assert any(said.startswith(note) and "--folds 5, which judges all 120" in said for said in corpus.notes)
    judged = read_corpus(tmp_path / "spam.csv", learn=False)
    assert not any("by itself" in said for said in judged.notes)
