from __future__ import annotations

from typing import Any

import pytest

from mrtr.principal import Principal, read_principal

JWT = {"iss": "https://issuer.example.com", "sub": "alice", "client_id": "app", "exp": "1800000000", "jti": "a"}
ALICE = Principal("https://issuer.example.com", "alice", "app")


@pytest.mark.parametrize(
    ("authorizer", "principal"),
    [
        pytest.param({"jwt": {"claims": JWT, "scopes": ["notes"]}}, ALICE, id="JWT authorizer of an HTTP API"),
        pytest.param({"claims": JWT}, ALICE, id="Cognito authorizer of a REST API"),
        pytest.param({"lambda": JWT}, ALICE, id="Lambda authorizer of an HTTP API with a subject"),
        pytest.param({**JWT, "principalId": "someone"}, ALICE, id="Lambda authorizer of a REST API with a subject"),
        pytest.param(
            {"principalId": "someone", "integrationLatency": 3},
            Principal("", "someone"),
            id="Lambda authorizer of a REST API",
        ),
        pytest.param(
            {"lambda": {"principalId": "someone"}}, Principal("", "someone"), id="Lambda authorizer of an HTTP API"
        ),
        pytest.param(
            {"iam": {"userArn": "arn:aws:iam::111122223333:user/alice", "userId": "AIDA"}},
            Principal("iam", "arn:aws:iam::111122223333:user/alice"),
            id="IAM",
        ),
        pytest.param({"iam": {"userId": "AIDA"}}, Principal("iam", "AIDA"), id="IAM without an ARN"),
    ],
)
def test_the_caller_is_read_from_every_kind_of_authorizer(authorizer: dict[str, Any], principal: Principal) -> None:
    assert read_principal(authorizer) == principal


@pytest.mark.parametrize(
    "authorizer",
    [
        {},
        {"jwt": None},
        {"jwt": {"claims": {}}},
        {"jwt": "no mapping", "lambda": ["nor", "this"]},
        {"claims": {"iss": "https://issuer.example.com"}},
        {"iam": {"userArn": ""}},
        {"lambda": None, "principalId": ""},
    ],
)
def test_without_a_subject_there_is_no_principal(authorizer: dict[str, Any]) -> None:
    assert read_principal(authorizer) is None


@pytest.mark.parametrize("name", ["client_id", "azp", "cid"])
def test_the_client_id_is_found_under_the_names_that_issuers_use(name: str) -> None:
    found = read_principal({"claims": {"iss": "i", "sub": "s", name: "app"}})
    assert found == Principal("i", "s", "app")


def test_a_machine_without_a_subject_is_its_client_id() -> None:
    assert read_principal({"claims": {"iss": "i", "client_id": "robot"}}) == Principal("i", "robot", "robot")


def test_a_refreshed_token_of_the_same_person_is_the_same_principal() -> None:
    refreshed = {**JWT, "exp": "1900000000", "jti": "b", "iat": "1899990000", "scope": "more"}
    assert read_principal({"claims": refreshed}) == read_principal({"claims": JWT})


@pytest.mark.parametrize("part", ["iss", "sub", "client_id"])
def test_another_issuer_subject_or_client_is_another_principal(part: str) -> None:
    assert read_principal({"claims": {**JWT, part: "other"}}) != ALICE


def test_parts_that_are_not_text_become_text() -> None:
    assert read_principal({"lambda": {"sub": 42, "iss": None, "client_id": 7}}) == Principal("", "42", "7")


def test_the_parts_come_in_a_fixed_order() -> None:
    assert ALICE.parts == ("https://issuer.example.com", "alice", "app")
