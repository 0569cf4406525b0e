"""Debian's Chromium, driven by Playwright; a page that writes an error to its console fails its test."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_example import write_audit
from heedful.auditing.page import write_page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 60_000  # milliseconds that a state is waited for: a busy machine is slow, not wrong
SIZES = {"wide": (1280, 850), "narrow": (390, 844)}


# For one module only: while Playwright is open its event loop runs in this thread, and no other loop could.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser; where no Chromium is installed its tests are skipped, and counted."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: install Debian's chromium, or set CHROMIUM to its path")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)

    with sync_playwright() as playwright:
        # A container has no user namespaces for the sandbox; the only pages opened here are our own.
        # Longer than a page: it has to be read from the disk first. Older versions of Playwright wait 30 s.
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=3 * PATIENCE
        )
        yield opened
        opened.close()


@pytest.fixture(params=list(SIZES))
def size(request: pytest.FixtureRequest) -> dict[str, int]:
    """A desk's width, and a telephone's."""
    width, height = SIZES[request.param]
    return {"width": width, "height": height}


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """`visit(address, **options)` opens a page; at the end none may have written an error to its console."""
    contexts, errors = [], []

    def open_page(address: str, **options: Any) -> Any:
        options.setdefault("viewport", {"width": 1280, "height": 850})
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def audit_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of the example, hostile texts and all."""
    folder = tmp_path_factory.mktemp("audit")
    write_audit(folder, long=True)
    write_page(folder)
    return folder


@pytest.fixture(scope="session")
def page_file(audit_folder: Path) -> str:
    """The address of the page on disk."""
    return (audit_folder / "index.html").as_uri()
