"""A model of a hub that cannot be reached: one sentence, at once, and no retries on the terminal."""

import socket
import time

import pytest

from heedful.data import huggingface
from heedful.data.huggingface import hub_is_known
from heedful.errors import UserError
from heedful.models.pretrained import quietly
from heedful.models.transformers import load_transformer

pytest.importorskip("transformers", reason="the extra hf is not installed")
pytestmark = pytest.mark.slow  # importing transformers alone takes seconds


@pytest.fixture
def no_network(monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setattr(huggingface, "getproxies", dict)


def test_without_a_network_a_missing_model_is_refused_at_once(no_network, monkeypatch, capfd):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("It waits before it tries again."))
    with pytest.raises(UserError, match="could be loaded from 'nope/nope'"):
        load_transformer("nope/nope")
    assert "Retry" not in capfd.readouterr().err


def test_a_folder_and_a_proxy_need_no_name_service(no_network, tmp_path, monkeypatch):
    assert not hub_is_known("nope/nope")
    assert hub_is_known(tmp_path)
    monkeypatch.setattr(huggingface, "getproxies", lambda: {"https": "http://proxy:3128"})
    assert hub_is_known("nope/nope")


def test_the_hubs_retries_are_silent_and_its_level_is_put_back():
    from huggingface_hub.utils import logging

    before = logging.get_verbosity()
    with quietly():
        assert logging.get_verbosity() == logging.ERROR
    assert logging.get_verbosity() == before
