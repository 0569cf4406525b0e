"""Every Python block that a reader can copy from README and docs is executed, page by page, top to bottom."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> str:
    """The page's blocks joined, each at its own line, so that a traceback points into the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for found in BLOCK.finditer(text):
        first = text.count("\n", 0, found.start(1))
        for place, line in enumerate(found[1].splitlines()):
            lines[first + place] = line
    return "\n".join(lines)


def hold_what_the_readme_holds(folder: Path) -> None:
    """A fine-tuned classifier and a file of labelled texts, under the names that README gives them."""
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    import pandas

    sys.path.insert(0, str(Path(__file__).parent / "models"))
    from tiny_transformers import classifier, learn, make_corpus, save, wordpiece

    corpus, tokenizer = make_corpus(300), wordpiece()
    network = classifier("bert", tokenizer)
    learn(network, tokenizer, corpus)
    save(network, tokenizer, folder / "my-classifier")
    names = [corpus.label_names[label] for label in corpus.labels]
    pandas.DataFrame({"text": corpus.texts, "label": names}).to_csv(folder / "reviews.csv", index=False)


PAGES_WITH_CODE = [page for page in PAGES if blocks(page).strip()]


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page.name == "README.md":
        hold_what_the_readme_holds(tmp_path)
    exec(compile(blocks(page), str(page), "exec"), {"__name__": "__main__"})


@pytest.mark.docs
def test_the_readme_has_an_example():
    assert ROOT / "README.md" in PAGES_WITH_CODE


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []
