"""The server: it answers as the library does, and refuses what is too large, too slow or too much."""

import asyncio
import json
import re
import sys
import threading
import time
from dataclasses import replace
from html import escape

import numpy as np
import pytest
from fastapi.testclient import TestClient

from heedful import explain
from heedful.auditing.page.writing import logits_without
from heedful.errors import MissingExtra, UserError
from heedful.web import Limits, create_app
from heedful.web.guard import host_name
from heedful.web.limits import Gate, Overloaded, TooSlow
from heedful.web.names import names_for, on_this_machine
from heedful.web.reading import read_texts
from heedful.web.server import bind

HERE = "http://127.0.0.1:8765"


def ask(client, text, **more):
    return client.post("/api/read", json={"text": text, **more})


def test_a_text_is_read_as_the_library_reads_it(client, run, text):
    answer = ask(client, text)
    assert answer.status_code == 200
    found = answer.json()["text"]
    known = explain(run, text)
    assert run.model.classes[found["decided"]] == known.decision
    assert [word.word for word in known.words] == found["words"]
    np.testing.assert_allclose(found["weights"], [word.attention for word in known.words], rtol=1e-5)
    np.testing.assert_allclose(found["probabilities"], list(known.probabilities.values()), rtol=1e-3)


def test_the_smallest_set_of_an_answer_flips_its_decision(client, text):
    found = ask(client, text).json()["text"]
    assert logits_without(found, set()).argmax() == found["decided"]
    assert logits_without(found, set(found["smallest"]["words"])).argmax() == found["smallest"]["to"]
    assert set(found["rankings"]) >= {"gradient", "contribution", "leave-one-out"}


def test_hostile_text_comes_back_as_it_was_written(client):
    words = "<script>alert(1)</script> \u202eevil 😀 " + "x" * 5000
    found = ask(client, words).json()["text"]
    pairs = zip(found["gaps"], [*found["words"], ""], strict=True)
    assert "".join(gap + word for gap, word in pairs) == words


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"text": "  "}, "empty"),
        ({"text": "a b", "model": 9}, "no number 9"),
        ({"text": "a b", "model": -1}, "model"),
        ({"text": "a b", "path": "/etc/passwd"}, "path"),
        ({"text": 5}, "text"),
        ({}, "text"),
        ({"text": "y" * 10_001}, "at most 10,000 characters"),
        ({"text": "y " * 2001}, "at most 2000 words"),
    ],
)
def test_what_a_caller_can_mend_is_said_in_a_sentence(client, body, sentence):
    answer = client.post("/api/read", json=body)
    assert answer.status_code == 422
    assert sentence in answer.json()["error"]


@pytest.mark.parametrize("body", [r'{"text": "\ud800 abc"}', r'{"text": "a b", "\ud800": 1}'])
def test_half_a_character_is_refused_in_a_sentence(client, body):
    answer = client.post("/api/read", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert "\n" not in answer.json()["error"]


def test_as_many_characters_as_are_promised_are_read_however_they_are_escaped(client):
    body = json.dumps({"text": "𝐚" * 10_000})  # one word, 12 bytes a letter
    answer = client.post("/api/read", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 200


def test_a_mistake_of_ours_is_answered_without_details(models):
    def broken(model, texts):
        raise RuntimeError("secret detail")

    app = create_app(models, reader=broken)
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
        answer = ask(client, "a b")
    assert answer.status_code == 500
    assert "mistake" in answer.json()["error"]
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_body_that_is_not_declared_as_json_is_not_read(client):
    # A form of somebody else's page can send this kind without asking; JSON it cannot.
    answer = client.post("/api/read", content=b'{"text": "a b"}', headers={"content-type": "text/plain"})
    assert answer.status_code == 422


def test_a_request_that_is_too_large_is_refused_before_it_is_read(models):
    read = []
    app = create_app(models, limits=Limits(body=1000), reader=lambda model, texts: read.extend(texts) or [{}])
    with TestClient(app, base_url=HERE) as client:
        assert ask(client, "x" * 2000).status_code == 413

        def parts():  # without a length said beforehand
            for _ in range(100):
                yield b"x" * 100

        assert client.post("/api/read", content=parts()).status_code == 413
        assert client.post("/api/read", content=b"{", headers={"content-length": "x"}).status_code == 413
    assert read == []


def test_a_reading_that_takes_too_long_is_given_up(models):
    stop = threading.Event()
    app = create_app(models, limits=Limits(reading=0.05), reader=lambda model, texts: [stop.wait(5) and {}])
    with TestClient(app, base_url=HERE) as client:
        answer = ask(client, "a b")
        stop.set()
    assert answer.status_code == 504
    assert "0.05 s" in answer.json()["error"]


def test_more_texts_than_may_wait_are_refused_with_503(models):
    stop = threading.Event()
    limits = Limits(workers=1, waiting=1, reading=30)
    limits = replace(limits, together=1)
    app = create_app(models, limits=limits, reader=lambda model, texts: [{"waited": stop.wait(20)}])
    answers = []
    with TestClient(app, base_url=HERE) as client:
        threads = [threading.Thread(target=lambda: answers.append(ask(client, "a b"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        while not answers:  # the one for which there is no place comes back at once
            stop.wait(0.01)
        first = answers[0]
        stop.set()
        for thread in threads:
            thread.join()
    assert first.status_code == 503
    assert first.headers["retry-after"] == "2"
    assert sorted(answer.status_code for answer in answers) == [200, 200, 503]


def test_texts_that_wait_for_one_model_are_read_together():
    batches, begin = [], threading.Event()

    def work(whom, texts):
        begin.wait(5)
        batches.append((whom, list(texts)))
        if len(texts) > 1 and "bad" in texts:
            raise RuntimeError("one of them")
        return [UserError("refused") if text == "wrong" else (whom, text) for text in texts]

    async def story():
        gate = Gate(Limits(waiting=9, together=3, characters=30), work)
        asked = [
            ("x", "first"),
            ("x", "a"),
            ("y", "b"),
            ("x", "wrong"),
            ("x", "c"),
            ("x", "d" * 29),
            ("y", "bad"),
        ]
        waiting = [asyncio.ensure_future(gate.run(whom, text)) for whom, text in asked]
        await asyncio.sleep(0.05)
        begin.set()
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        gate.close()
        return asked, answers

    asked, answers = asyncio.run(story())
    assert batches == [
        ("x", ["first"]),
        ("x", ["a", "wrong", "c"]),
        ("y", ["b", "bad"]),
        ("y", ["b"]),
        ("y", ["bad"]),
        ("x", ["d" * 29]),
    ]
    for pair, answer in zip(asked, answers, strict=True):
        assert answer == pair or (pair[1] == "wrong" and isinstance(answer, UserError)), pair


def test_those_who_ask_again_at_once_are_read_together_and_one_alone_never_waits(monkeypatch):
    batches = []

    def work(whom, texts):
        batches.append(len(texts))
        time.sleep(0.01)
        return texts

    async def story(askers):
        gate = Gate(Limits(), work)

        async def asker():
            for _ in range(9):
                await gate.run("x", "text")

        await asyncio.gather(*(asker() for _ in range(askers)))
        gate.close()

    asyncio.run(story(8))
    assert len(batches) <= 9 + 4  # and not twice nine: one, and the seven others meanwhile
    batches.clear()
    monkeypatch.setattr("heedful.web.limits.AGAIN", 60)
    asyncio.run(asyncio.wait_for(story(1), 30))
    assert batches == [1] * 9


def test_places_are_kept_for_those_who_were_let_in():
    async def story():
        gate = Gate(Limits(waiting=1), lambda whom, texts: list(texts))
        assert [gate.admit() for _ in range(3)] == [True, True, False]
        await asyncio.gather(gate.run("x", "a"), gate.run("x", "b"))
        gate.close()
        return [gate.admit() for _ in range(3)]

    assert asyncio.run(story()) == [True, True, False]


def test_a_text_is_read_alike_alone_and_with_others(models):
    texts = ["a good film", "bad, bad and long: " + "word " * 23, "", "good"]
    together = read_texts(models[0], texts)
    assert isinstance(together[2], UserError)
    for row in (0, 1, 3):
        (alone,) = read_texts(models[0], [texts[row]])
        for name in ("words", "gaps", "known", "decided", "smallest", "read", "unread"):
            assert together[row][name] == alone[name], name
        for name in ("weights", "probabilities"):
            assert together[row][name] == pytest.approx(alone[name], abs=1e-5), name


def test_a_slow_reader_keeps_its_place_until_it_ends():
    async def story():
        stop = threading.Event()

        def work(whom, texts):
            return [stop.wait(5) if text == "slow" else 7 for text in texts]

        gate = Gate(Limits(workers=1, waiting=0, reading=0.02), work)
        with pytest.raises(TooSlow):
            await gate.run("model", "slow")
        with pytest.raises(Overloaded):
            await gate.run("model", "quick")
        stop.set()
        for _ in range(100):
            await asyncio.sleep(0.01)
            try:
                answer = await gate.run("model", "quick")
                break
            except Overloaded:
                continue
        gate.close()
        return answer

    assert asyncio.run(story()) == 7


def test_a_request_that_does_not_arrive_is_given_up(models):
    app = create_app(models, limits=Limits(sending=0.05))
    sent = []

    async def receive():
        await asyncio.sleep(5)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "headers": [(b"host", b"localhost")], "method": "POST", "path": "/api/read"}
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 408


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_another_host_name_is_refused(client, host):
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    ("host", "answered", "refused"),
    [
        ("127.0.0.2", ("127.0.0.2", "localhost"), ("evil.example", "10.0.0.7")),
        ("Box.lan", ("box.lan", "localhost"), ("evil.example", "10.0.0.7")),
        ("0.0.0.0", ("10.0.0.7", "::1", "localhost"), ("evil.example", "10.0.0.7.evil.example", "")),
        ("::", ("10.0.0.7", "fd00::7", "localhost"), ("evil.example",)),
    ],
)
def test_a_server_answers_to_its_own_address_and_to_no_name_of_somebody_else(host, answered, refused):
    names = names_for(host)
    assert all(name in names for name in answered)
    assert not any(name in names for name in refused)


def test_an_empty_address_is_refused_and_does_not_mean_every_address_of_the_machine():
    with pytest.raises(UserError, match="is empty"):
        bind("", 0)


def test_only_loopback_addresses_are_on_this_machine_alone():
    hosts = ("127.0.0.1", "127.8.9.1", "::1", "0:0:0:0:0:0:0:1", "localhost", "0.0.0.0", "::", "10.0.0.7", "")
    assert [on_this_machine(host) for host in hosts] == [True] * 5 + [False] * 4


@pytest.mark.parametrize(
    ("header", "name"), [("LocalHost:80", "localhost"), ("[::1]:80", "::1"), ("127.0.0.1", "127.0.0.1")]
)
def test_the_port_is_no_part_of_a_host_name(header, name):
    assert host_name(header) == name


def test_every_answer_has_its_headers_and_the_page_its_policy(client):
    for path in ("/", "/docs", "/api/models", "/nowhere"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    for path in ("/", "/docs"):
        answer = client.get(path)
        own, _, framed = answer.headers["content-security-policy"].rpartition("; ")
        assert framed == "frame-ancestors 'none'"
        assert escape(own) in answer.text
    page = client.get("/").text
    assert "connect-src &#x27;self&#x27;" in page
    assert "Try a text" in page


def test_the_api_is_described_for_people_and_machines(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/api/models", "/api/read"}
    page = client.get("/docs").text
    assert "POST /api/read" in page
    for field in ("test_accuracy", "most_words", "token_logits"):  # also what lists hold
        assert field in page
    assert "curl http://127.0.0.1:8765/api/read" in page
    assert not re.search(r"<script|https?://(?!127\.0\.0\.1)", page)


def test_models_are_listed_by_number(client, run):
    listed = client.get("/api/models").json()
    assert listed["schema_version"] == 1
    assert [model["classes"] for model in listed["models"]] == [list(run.model.classes)]


OPENED: list[str] = []
WATCHING = threading.Event()


def _watch(event, arguments):
    if event == "open" and WATCHING.is_set():
        OPENED.append(str(arguments[0]))


def test_no_path_of_a_request_reaches_the_disk(client, text):
    sys.addaudithook(_watch)  # hears of every file that Python opens
    ask(client, text)  # what is imported late is imported now
    client.get("/docs")
    WATCHING.set()
    try:
        open(__file__).close()
        assert [__file__] == OPENED  # the watch works
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/figures/a.png", "/audit.json"):
            assert client.get(path).status_code in (404, 405)
        for body in ({"text": "../../etc/passwd"}, {"text": "a b", "model": "../x"}, {"text": text}):
            client.post("/api/read", json=body)
        client.get("/?file=/etc/passwd")
    finally:
        WATCHING.clear()
    assert [__file__] == OPENED


def test_a_server_without_a_model_is_refused():
    with pytest.raises(UserError, match="at least one model"):
        create_app([])


def test_the_audit_is_shown_below_the_box(models, tmp_path):
    from audit_example import write_audit
    from heedful.auditing.page.writing import page_content

    content = page_content(write_audit(tmp_path), tmp_path / "figures")
    with TestClient(create_app(models, audit=content), base_url=HERE) as client:
        page = client.get("/").text
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["audit"]["verdict"]["reading"] == "do not show as an explanation"
    assert data["live"]["models"][0]["classes"]


def test_without_the_extra_the_install_command_is_said(models, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtra, match=r"pip install 'heedful\[web\]'"):
        create_app(models)
