"""A small trained model, served."""

import pytest
from fastapi.testclient import TestClient

from heedful.training import train
from heedful.web import create_app
from heedful.web.models import served
from small_reviews import SETTINGS, write_reviews


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """dp on made-up reviews: trained in a moment, and it decides well."""
    reviews = write_reviews(tmp_path_factory.mktemp("reviews") / "reviews.csv")
    return train(str(reviews), model="dp", seed=0, **SETTINGS)


@pytest.fixture(scope="session")
def models(run):
    return [served(run)]


@pytest.fixture
def client(models):
    with TestClient(create_app(models), base_url="http://127.0.0.1:8765") as client:
        yield client


@pytest.fixture
def text():
    return "the plot is dull, but the film is gorgeous and witty"
