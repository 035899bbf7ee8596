from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import botocore.session  # noqa: F401 - once it is loaded, clients are botocore's
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from mrtr import aws

PLAIN = {
    "AWS_REGION": "eu-west-1",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "made-up",
}


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    aws.client.cache_clear()
    yield
    aws.client.cache_clear()


@pytest.mark.parametrize(
    ("before", "kind", "loaded"),
    [("", "SignedClient", "False"), ("import botocore.session; ", "DynamoDB", "True")],
)
def test_a_plain_function_gets_the_small_client_and_one_that_has_botocore_gets_botocores(
    before: str, kind: str, loaded: str
) -> None:
    program = (
        f"import sys; {before}from mrtr import aws; "
        "print(type(aws.client('dynamodb')).__name__, 'botocore.session' in sys.modules)"
    )
    environment = {**PLAIN, "PYTHONPATH": "layers/mrtr"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [kind, loaded]


def test_a_client_gives_up_well_inside_a_functions_time_limit() -> None:
    config = aws.client("dynamodb").meta.config
    assert (config.connect_timeout, config.read_timeout) == (aws.CONNECT_TIMEOUT_S, aws.READ_TIMEOUT_S)
    assert config.retries == {"mode": "standard", "total_max_attempts": aws.ATTEMPTS}
    assert aws.ATTEMPTS * (aws.CONNECT_TIMEOUT_S + aws.READ_TIMEOUT_S) < 10


def test_a_client_is_made_once_for_each_service_and_patience() -> None:
    assert aws.client("dynamodb") is aws.client("dynamodb")
    patient = aws.client("lambda", read_timeout_s=60, attempts=1)
    assert patient is not aws.client("lambda")
    assert patient.meta.config.read_timeout == 60
    assert patient.meta.config.retries["total_max_attempts"] == 1


def test_a_cause_names_action_resource_and_code_and_quotes_no_message() -> None:
    refused = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "secret-1"}}, "GetItem")
    assert (
        aws.cause(refused, "dynamodb:GetItem", "claims") == "dynamodb:GetItem on claims failed: AccessDeniedException"
    )
    slow = ReadTimeoutError(endpoint_url="https://secret-1.example.com")
    assert aws.cause(slow, "dynamodb:GetItem", "claims") == "dynamodb:GetItem on claims failed: ReadTimeoutError"
