"""AWS for the tools' own tests: moto, with the tables and the secret that the template makes, seeded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from local.seed import seed
from tests.keyrings import make_keyring

TABLES = {"NOTES_TABLE": "notes", "DATABASES_TABLE": "databases", "BOOKINGS_TABLE": "bookings"}
KEYS = {
    "notes": (("note_id", "S"),),
    "databases": (("name", "S"),),
    "bookings": (("evening", "S"), ("table_id", "S")),
    "claims": (("id", "B"),),
}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The DynamoDB resource of an account where everything is deployed and seeded."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        dynamodb: Any = boto3.resource("dynamodb")
        for table, keys in KEYS.items():
            dynamodb.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in keys],
                KeySchema=[
                    {"AttributeName": name, "KeyType": role}
                    for (name, _), role in zip(keys, ("HASH", "RANGE"), strict=False)
                ],
            )
        monkeypatch.setenv("MRTR_KEYRING", make_keyring())
        monkeypatch.setenv("MRTR_CLAIM_TABLE", "claims")
        monkeypatch.setenv("MRTR_AUDIENCE", "askback-tests")
        monkeypatch.setenv("MRTR_ALLOWED_ORIGINS", "")
        for variable, table in TABLES.items():
            monkeypatch.setenv(variable, table)
        seed(TABLES)
        yield dynamodb


@pytest.fixture
def notes(aws: Any) -> Any:
    return aws.Table("notes")


@pytest.fixture
def databases(aws: Any) -> Any:
    return aws.Table("databases")


@pytest.fixture
def bookings(aws: Any) -> Any:
    return aws.Table("bookings")
