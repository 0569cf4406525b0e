"""The live page in a real browser: a text is typed, read, erased from, read again, and read at another λ."""

import re
import threading
import time
from contextlib import contextmanager

import pytest
from overlaps import overlapping_texts
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@contextmanager
def running(models, audit=None):
    """The address of a server of these models."""
    import uvicorn

    from heedful.web import create_app
    from heedful.web.server import bind

    listening = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(models, audit=audit), log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A running server with three models, of which each stands for another λ."""
    from audit_example import write_audit
    from heedful.auditing.page.writing import page_content
    from heedful.training import train
    from heedful.web.models import served
    from small_reviews import SETTINGS, write_reviews

    folder = tmp_path_factory.mktemp("audit")
    reviews = str(write_reviews(folder / "reviews.csv"))
    scales = (1.0, 10.0, 100.0)
    models = [served(train(reviews, model="dp", seed=0, scale=scale, **SETTINGS)) for scale in scales]
    with running(models, page_content(write_audit(folder, count=5), folder / "figures")) as found:
        yield found


@pytest.fixture(scope="module")
def box_address():
    """A running server of a black box, which decides by one word."""
    from heedful.models.black_box import BlackBox
    from heedful.web.models import ServedModel

    box = BlackBox(
        lambda texts: [0.9 if "gorgeous" in text else 0.2 for text in texts], classes=("bad", "fine")
    )
    with running([ServedModel("box", box)]) as found:
        yield found


TEXT = "the plot is dull but the film is gorgeous and witty <b>bold</b>"


def test_a_typed_text_is_read_and_painted(visit, address, size):
    page = visit(address, viewport=size)
    page.locator("#own-text").fill(TEXT)
    page.get_by_role("button", name="Read it").click()
    answer = page.locator("#answer")
    answer.locator(".decision").wait_for()
    assert "<b>bold</b>" in answer.locator(".painted").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert overlapping_texts(page, "#try") == []


def test_erasing_and_reading_again_are_two_things(visit, address):
    page = visit(address)
    page.locator("#own-text").fill(TEXT)
    page.get_by_role("button", name="Read it").click()
    answer = page.locator("#answer")
    again = answer.get_by_role("button", name=re.compile("Read the text again"))
    answer.locator(".decision").wait_for()
    assert again.is_hidden()
    answer.locator("button.word").first.click()
    expect(answer.locator(".decision")).to_contain_text("Without 1 word")
    again.click()
    expect(answer.locator(".erased")).to_have_count(0)
    assert "Read again without: the" in answer.locator(".notice").inner_text()
    assert answer.locator(".painted").first.inner_text().startswith("plot is dull")
    assert page.locator("#own-text").input_value() == TEXT


def test_ctrl_and_enter_read_the_text(visit, address):
    page = visit(address)
    page.locator("#own-text").fill(TEXT)
    page.locator("#own-text").press("Enter")
    expect(page.locator("#answer .decision")).to_have_count(0)
    page.locator("#own-text").press("Control+Enter")
    expect(page.locator("#answer .decision")).to_contain_text("Decision:")


def test_words_of_a_black_box_are_marked_and_the_text_is_read_again_without_them(visit, box_address, size):
    page = visit(box_address, viewport=size)
    page.locator("#own-text").fill("a gorgeous film")
    page.locator("#own-text").press("Control+Enter")
    answer = page.locator("#answer")
    expect(answer.locator(".decision")).to_contain_text("fine")
    assert answer.get_by_role("group", name="Paint the text by").locator("button").all_inner_texts() == [
        "leave-one-out"
    ]
    assert "step-5" in answer.locator("button.word", has_text="gorgeous").get_attribute("class")
    answer.locator("button.word", has_text="gorgeous").click()
    expect(answer.locator(".decision")).to_contain_text("1 word marked")
    assert overlapping_texts(page, "#try") == []
    answer.get_by_role("button", name=re.compile("Read the text again")).click()
    expect(answer.locator(".decision")).to_contain_text("bad")
    assert "Read again without: gorgeous" in answer.locator(".notice").inner_text()


def test_the_slider_moves_between_trained_models(visit, address):
    page = visit(address)
    page.locator("#own-text").fill(TEXT)
    page.get_by_role("button", name="Read it").click()
    page.locator("#answer .decision").wait_for()
    assert "λ = 10 " in page.locator("#model-name").inner_text()
    before = page.locator("#answer .decision").inner_text()
    page.locator("#scale").press("ArrowRight")
    assert "λ = 100 " in page.locator("#model-name").inner_text()
    expect(page.locator("#answer .decision")).not_to_have_text(before)
    page.locator("#own-text").fill("another text altogether")
    page.locator("#scale").press("ArrowLeft")
    expect(page.locator("#answer .painted").first).to_contain_text("altogether")


HOSTILE_LIVE = (
    "<script>alert('one')</script> </script><img src=x onerror=alert(2)> \u202eevil\u202d 😀 {{script}} "
    "=1+1 &lt; \u2028 a witty film " + "x" * 9_000
)


def test_hostile_text_that_is_typed_is_shown_as_text(visit, address, size):
    """A script would be stopped by the policy, which is an error in the console: `visit` then fails."""
    page = visit(address, viewport=size)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.locator("#own-text").fill(HOSTILE_LIVE)
    page.get_by_role("button", name="Read it").click()
    answer = page.locator("#answer")
    answer.locator(".decision").wait_for()
    shown = answer.locator(".painted").first.inner_text()
    pieces = ("<script>alert('one')</script>", "<img src=x onerror=alert(2)>", "😀", "{{script}}", "⟨U+202E⟩")
    for piece in pieces:
        assert piece in shown
    assert "(9,000 characters)" in shown
    assert page.locator("#answer script, #answer img").count() == 0
    # What turns the writing direction ends with its word: "witty" still stands left of "film".
    places = [answer.locator("button.word", has_text=word).first.bounding_box() for word in ("witty", "film")]
    assert places[0]["y"] != places[1]["y"] or places[0]["x"] < places[1]["x"]
    answer.locator("button.word").first.click()
    assert "Without 1 word" in answer.locator(".decision").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert overlapping_texts(page, "#try") == []


def test_a_word_of_100_kb_is_refused_before_it_is_sent(visit, address):
    page = visit(address)
    page.on("request", lambda request: pytest.fail(request.url))
    page.locator("#own-text").fill("x" * 100_000)
    page.get_by_role("button", name="Read it").click()
    said = "A text may have at most 10,000 characters, and this one has 100,000: shorten it."
    expect(page.get_by_role("alert")).to_have_text(said)


def test_an_overload_is_told_as_one_and_a_long_text_is_not_cut(visit, browser, address):
    context = browser.new_context()  # the browser itself notes the 503 in its console
    page = context.new_page()
    page.goto(address)
    page.locator("#own-text").fill("y" * 9_973)
    assert len(page.locator("#own-text").input_value()) == 9_973
    page.route("**/api/read", lambda route: route.fulfill(status=503, body="Service Unavailable"))
    page.get_by_role("button", name="Read it").click()
    assert "too much to do" in page.get_by_role("alert").inner_text()
    context.close()


def test_an_empty_text_gets_a_sentence(visit, address):
    page = visit(address)
    page.get_by_role("button", name="Read it").click()
    assert "The text is empty" in page.get_by_role("alert").inner_text()


def test_the_audit_stands_below(visit, address):
    page = visit(address)
    assert page.locator("#verdict .reading").is_visible()
    assert page.locator("#contents a").all_inner_texts()[0] == "Try a text"
    page.locator("#find-word").fill("GORGE")
    assert page.locator("#word-table tbody tr").count() == 1


def test_erasing_the_underlined_words_flips_what_was_decided(visit, address):
    page = visit(address)
    page.locator("#own-text").fill(TEXT)
    page.get_by_role("button", name="Read it").click()
    answer = page.locator("#answer")
    answer.locator(".decision").wait_for()
    underlined = answer.locator("button.word.smallest")
    assert underlined.count() > 0
    for place in range(underlined.count()):
        underlined.nth(place).click()
    assert "the decision has changed" in answer.locator(".decision").inner_text()
