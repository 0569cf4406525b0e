"""Every block that a reader can copy from README and docs is executed, page by page, top to bottom.

Blocks in python run in one namespace, lines of sh blocks are given to the program, toml blocks that begin
with `# NAME` are written to that file. On pages of start and how-to only text blocks are not executed.
Elsewhere commands may take hours: their names and options are parsed, and toml is read as a study.
"""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
PACKAGE = ROOT / "PACKAGE.md"
GUIDES = [page for page in PAGES if page.parent.name in ("start", "how-to")]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXECUTED = ("python", "sh", "toml")


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, content and first line of the page's executed blocks, in their order."""
    text = page.read_text(encoding="utf-8").replace("hf:OWNER/NAME", "hf:my-classifier")
    found = [(one[1], one[2], text.count("\n", 0, one.start(2))) for one in BLOCK.finditer(text)]
    return [block for block in found if block[0] in (EXECUTED if page in GUIDES else ("python",))]


def execute(page: Path) -> None:
    """Every block in turn, in this folder; a traceback points into the page."""
    names = {"__name__": "__main__"}
    for language, content, line in blocks(page):
        if language == "python":
            exec(compile("\n" * line + content, str(page), "exec"), names)
        elif language == "toml":
            Path(content.splitlines()[0].removeprefix("# ")).write_text(content, encoding="utf-8")
        else:
            for command in content.splitlines():
                give(command)


def give(command: str) -> None:
    """A line to the program, as a shell would; it succeeds, or may end with 1 where the line says so."""
    from typer.testing import CliRunner

    from heedful.cli.app import app

    name, *words = shlex.split(command, comments=True)
    assert name == "heedful"
    done = CliRunner().invoke(app, words)
    allowed = (0, 1) if "# exit code 0 or 1" in command else (0,)
    assert done.exit_code in allowed, f"{command}\n{done.output}\n{done.exception!r}"


@pytest.fixture(scope="session")
def what_readers_hold(tmp_path_factory):
    """A classifier, a language model and a file of labelled texts, named as the pages name them."""
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    import pandas
    import transformers
    from tokenizers import processors

    sys.path.insert(0, str(Path(__file__).parent / "models"))
    from tiny_transformers import byte_level, classifier, learn, make_corpus, save, stirred, wordpiece

    folder = tmp_path_factory.mktemp("held")
    corpus, tokenizer = make_corpus(300), wordpiece()
    network = classifier("bert", tokenizer)
    learn(network, tokenizer, corpus)
    save(network, tokenizer, folder / "my-classifier")
    names = [corpus.label_names[label] for label in corpus.labels]
    pandas.DataFrame({"text": corpus.texts, "label": names}).to_csv(folder / "reviews.csv", index=False)

    pieces = byte_level(
        [*corpus.texts, *["Review: a film\nSentiment: bad", "Review: a film\nSentiment: good"] * 50]
    )
    pieces.backend_tokenizer.post_processor = processors.ByteLevel(
        trim_offsets=False
    )  # no marks around a text
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 23}
    config = transformers.LlamaConfig(**sizes, vocab_size=len(pieces), max_position_embeddings=96)
    save(stirred(transformers.LlamaForCausalLM(config).eval(), seed=3), pieces, folder / "my-language-model")
    return folder


PAGES_WITH_CODE = [page for page in [*PAGES, PACKAGE] if blocks(page)]
STUDIES = [
    (page, one[2])
    for page in PAGES
    if page not in GUIDES
    for one in BLOCK.finditer(page.read_text(encoding="utf-8"))
    if one[1] == "toml"
]


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if page in (ROOT / "README.md", PACKAGE, *GUIDES):
        shutil.copytree(request.getfixturevalue("what_readers_hold"), tmp_path, dirs_exist_ok=True)
    execute(page)


@pytest.mark.docs
@pytest.mark.parametrize(("page", "toml"), STUDIES, ids=lambda part: getattr(part, "name", "toml"))
def test_a_study_on_a_page_is_one(page, toml, tmp_path):
    from heedful.study.grid import load_study

    path = tmp_path / "study.toml"
    path.write_text(toml, encoding="utf-8")
    assert list(load_study(path).cells)


@pytest.mark.docs
def test_the_readme_has_an_example():
    assert ROOT / "README.md" in PAGES_WITH_CODE


@pytest.mark.docs
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_guide_is_short_and_all_of_it_is_executed(page):
    text = page.read_text(encoding="utf-8")
    assert {one[1] for one in BLOCK.finditer(text)} <= {*EXECUTED, "text"}
    assert blocks(page)
    assert len(text.splitlines()) <= (45 if page.parent.name == "how-to" else 60)


def leads_somewhere(target: Path) -> bool:
    """Whether a file is there, or the navigation names a page that is made from the program."""
    made = re.findall(
        r"(?<=[ :])(?:reference|notebooks)/\S+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    )
    return target.exists() or target in [ROOT / "docs" / name for name in made]


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not leads_somewhere((page.parent / target).resolve())] == []


@pytest.mark.docs
def test_every_picture_is_on_a_page():
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))
    }
    assert [path for path in sorted((ROOT / "docs").rglob("*.png")) if path not in shown] == []


def refused(line: str) -> str:
    """What the program would say of a command's name and options, which are parsed and not run."""
    import click
    import typer

    from heedful.cli.app import LOUDNESS, app

    line = re.sub(r"--allow-module \S+", "", re.split(r" # |;|\||…", line)[0])  # given before parsing
    words = [word for word in shlex.split(line)[1:] if word not in LOUDNESS]
    command = typer.main.get_command(app)
    while words and not words[0].startswith(("-", "[")) and not words[0].isupper():
        inner = getattr(command, "commands", None)
        if inner is None:
            break
        if words[0] not in inner:
            return f"no command {words[0]}"
        command, words = inner[words[0]], words[1:]
    try:
        command.make_parser(click.Context(command)).parse_args([word.strip("[]") for word in words])
    except Exception as error:  # noqa: BLE001 - of click, or of the copy that typer brings
        return "" if "requires an argument" in str(error) else str(error)
    return ""


@pytest.mark.docs
@pytest.mark.parametrize(
    "page",
    [*PAGES, PACKAGE, ROOT / "CONTRIBUTING.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_command_that_a_page_names_is_one_with_these_options(page):
    text = page.read_text(encoding="utf-8")
    inline = re.findall(r"(?<!`)`(heedful [^`]+)`(?!`)", text)
    fenced = "".join(block[2] for block in BLOCK.finditer(text))
    told = [
        *inline,
        *re.findall(r"^ *(heedful .+)", fenced, re.M),
        *re.findall(r"(?<=^    )heedful .+", text, re.M),
    ]
    assert {line: said for line in told if (said := refused(line))} == {}


@pytest.mark.docs
def test_a_command_that_is_none_is_noticed():
    assert refused("heedful adit reviews.csv") == "no command adit"
    assert "--sed" in refused("heedful audit reviews.csv --sed 3")
    assert refused("heedful bench truth --part held-out --seed 15") == ""


@pytest.mark.docs
def test_the_readme_names_every_command():
    import typer

    from heedful.cli.app import app

    told = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in typer.main.get_command(app).commands if f"`heedful {name}" not in told] == []
