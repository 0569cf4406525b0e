"""Take the pictures of docs/screenshots: `python tests/browser/take_screenshots.py AUDIT SERVED [FOLDER]`.

AUDIT is an audit's folder, SERVED the address of a running `heedful serve`. Look at them
before they are kept.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

WIDE, NARROW = {"width": 1280, "height": 850}, {"width": 390, "height": 844}
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


def erase(page: Page) -> None:
    page.get_by_role("button", name="Erase the smallest set").first.click()
    page.locator("#texts").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('open-text').scrollIntoView()")


def take(audit: Path, served: str, folder: Path) -> None:
    """Every state once, each at most 250 kB."""
    page_file = (audit / "index.html").resolve().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def keep(page: Page, name: str) -> None:
            page.wait_for_timeout(200)
            path = folder / f"{name}.png"
            page.screenshot(path=path)
            assert path.stat().st_size <= 250_000, f"{path} is too large"

        page = open_page(browser, page_file, viewport=WIDE)
        keep(page, "first-screen")
        page.evaluate("document.getElementById('questions').scrollIntoView()")
        keep(page, "questions")
        page.locator("#question-decides summary").click()
        page.evaluate("document.getElementById('question-decides').scrollIntoView()")
        keep(page, "evidence")
        page = open_page(browser, f"{page_file}#text={telling_text(audit)}", viewport=WIDE)
        erase(page)
        keep(page, "erased")
        page.get_by_role("button", name="attention score").click()
        page.evaluate("document.getElementById('words').scrollIntoView()")
        keep(page, "words")
        keep(open_page(browser, page_file, viewport=WIDE, color_scheme="dark"), "first-screen-dark")
        narrow = open_page(browser, page_file, viewport=NARROW)
        keep(narrow, "narrow")
        erase(narrow)
        keep(narrow, "narrow-erased")
        live = open_page(browser, served, viewport=WIDE)
        live.locator("#own-text").fill(TEXT)
        live.get_by_role("button", name="Read it").click()
        live.locator("#answer .decision").wait_for()
        keep(live, "live")
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3] if len(sys.argv) > 3 else "docs/screenshots"))
