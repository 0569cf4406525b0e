"""Requests made up from the server's own OpenAPI description: nothing but answers that it describes."""

from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from heedful.web import create_app

EXAMPLES = 150


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "mode"),
    [
        ("POST /api/read", GenerationMode.POSITIVE),
        ("POST /api/read", GenerationMode.NEGATIVE),
        ("GET /api/models", GenerationMode.POSITIVE),
    ],
)
def test_made_up_requests_are_answered_as_described(models, place, mode):
    described = schemathesis.openapi.from_asgi("/openapi.json", create_app(models, hosts={"testserver"}))
    method, path = place.split()
    statuses: Counter[int] = Counter()

    @given(described[path][method].as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES if method == "POST" else 3,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def check(case):
        answer = case.call()
        statuses[answer.status_code] += 1
        case.validate_response(
            answer, checks=[not_a_server_error, status_code_conformance, response_schema_conformance]
        )

    check()
    assert statuses[422 if mode == GenerationMode.NEGATIVE else 200] > 0
