"""Take the pictures of docs/screenshots.

    python tests/browser/take_screenshots.py AUDIT SERVED CLASSIFIER NO_TEXTS [FOLDER]
    python tests/browser/take_screenshots.py --static NAME PAGE [FOLDER]

AUDIT is an audit's folder, SERVED the address of a running `heedful serve` of a run or a sweep, CLASSIFIER
the audit of a Hugging Face classifier, NO_TEXTS one made with --no-texts. Hostile words come from the tests'
example. Pictures are 1280 pixels wide, but for the narrow one, 390, and the printed one. All are shown by a
page of the docs.
PAGE is what `heedful highlight` or `heedful compare` wrote, and NAME is highlights or comparison.
Look at the pictures before they are kept.
"""

import json
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from audit_example import HOSTILE, write_audit
from heedful.auditing.page import write_page

WIDE, NARROW = {"width": 1280, "height": 850}, {"width": 390, "height": 844}
PAPER = {"width": 794, "height": 1123}  # A4 at 96 dots an inch
TEXT = "a gorgeous, witty film that drags only a little, though the ending is dull"


def open_page(browser: Any, address: str, **options: Any) -> Page:
    page: Page = browser.new_context(reduced_motion="reduce", **options).new_page()
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    return page


def telling_text(audit: Path) -> int:
    """A text of one or two lines that takes two words to flip, and several more in the order of attention."""
    texts = json.loads((audit / "audit.json").read_text(encoding="utf-8"))["instances"]
    for text in texts:
        small, weights = text["smallest"], text["weights"]
        if small and len(small["words"]) == 2 and 14 <= len(weights) <= 24 and "typical" in text["tags"]:
            top = sorted(range(len(weights)), key=lambda place: -weights[place])[:3]
            if not set(small["words"]) <= set(top):
                return int(text["id"])
    return int(texts[0]["id"])


def flippable_text(audit: Path) -> int:
    """A short text for which a set was found that flips it."""
    texts = json.loads((audit / "audit.json").read_text(encoding="utf-8"))["instances"]
    short = [text for text in texts if text["smallest"] and 8 <= len(text["words"]) <= 26]
    return int((short or texts)[0]["id"])


def erase(page: Page) -> None:
    page.get_by_role("link", name="Texts").click()
    page.get_by_role("button", name="Erase the smallest set").first.click()
    show(page, "#open-text")


def show(page: Page, selector: str) -> None:
    page.evaluate("(selector) => document.querySelector(selector).scrollIntoView()", selector)


def hostile_page(folder: Path) -> str:
    """The address of a text of hostile words."""
    audit = write_audit(folder, count=3)
    number = next(text["id"] for text in audit["instances"] if HOSTILE[0] in text["words"])
    return f"{write_page(folder).as_uri()}#text={number}"


def keep_in(folder: Path, page: Page, name: str, *, whole: bool = False, colours: int = 48) -> None:
    page.wait_for_timeout(200)
    path = folder / f"{name}.png"
    page.screenshot(path=path, full_page=whole)
    with Image.open(path) as picture:
        fewer = picture.convert("RGB").quantize(colours)
    fewer.save(path, optimize=True)
    assert path.stat().st_size <= 100_000, f"{path} is too large"


def take_static(name: str, path: Path, folder: Path) -> None:
    """The top of a page that has no script and so says nothing when it is ready."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=WIDE)
        page.goto(path.resolve().as_uri())
        keep_in(folder, page, name, colours=192)  # thin lines keep their own
        browser.close()


def take(audit: Path, served: str, classifier: Path, no_texts: Path, folder: Path) -> None:
    """Every state once, each at most 100 kB."""
    page_file = (audit / "index.html").resolve().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        keep = partial(keep_in, folder)
        page = open_page(browser, page_file, viewport=WIDE)
        keep(page, "first-screen")
        show(page, "#accuracy")
        keep(page, "accuracy")
        page.locator("#question-foretells summary").click()
        show(page, "#question-foretells")
        keep(page, "evidence")
        page = open_page(browser, f"{page_file}#text={telling_text(audit)}", viewport=WIDE)
        erase(page)
        keep(page, "erased")
        keep(open_page(browser, page_file, viewport=NARROW), "narrow-whole", whole=True)
        live = open_page(browser, served, viewport=WIDE)
        live.locator("#own-text").fill(TEXT)
        live.get_by_role("button", name="Read it").click()
        live.locator("#answer .decision").wait_for()
        keep(live, "live")
        page = open_page(browser, f"{page_file}#text={telling_text(audit)}", viewport=WIDE)
        show(page, ".adversary")
        keep(page, "adversary")
        other = f"{(classifier / 'index.html').resolve().as_uri()}#text={flippable_text(classifier)}"
        page = open_page(browser, other, viewport=WIDE)
        show(page, "#open-text")
        keep(page, "not-linear")
        page = open_page(browser, (no_texts / "index.html").resolve().as_uri(), viewport=WIDE)
        keep(page, "no-texts")
        with tempfile.TemporaryDirectory() as place:
            page = open_page(browser, hostile_page(Path(place)), viewport=WIDE)
            show(page, "#open-text")
            keep(page, "hostile")
        page = open_page(browser, page_file, viewport=PAPER)
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        keep(page, "print")
        browser.close()


if __name__ == "__main__":
    if sys.argv[1] == "--static":
        name, path, *place = sys.argv[2:]
        take_static(name, Path(path), Path(place[0] if place else "docs/screenshots"))
    else:
        audit, served, classifier, no_texts, *place = sys.argv[1:]
        take(
            Path(audit),
            served,
            Path(classifier),
            Path(no_texts),
            Path(place[0] if place else "docs/screenshots"),
        )
