"""What the tests of whole calls share: an AWS of their own, in this process or beside it, and an eye on every line that is logged."""

from __future__ import annotations

import functools
import logging
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.loaders import JSONFileLoader, Loader
from moto import mock_aws

import mrtr.testing
from local.seed import seed
from mrtr import Server, aws
from mrtr.log import log, request_log
from mrtr.runtime import Runtime
from mrtr.settings import read_settings
from mrtr.testing import Client, Clock, MemoryClaimTable, MemoryRing, MemoryRuntime
from tests.flow.cloud import CREDENTIALS, Cloud
from tests.flow.instance import Instance
from tests.flow.secrecy import Secrets
from tests.keyrings import KEY, make_keyring

TABLES = {
    "claims": (("id", "B"),),
    "runs": (("run", "S"),),
    "notes": (("note_id", "S"),),
    "databases": (("name", "S"),),
    "bookings": (("evening", "S"), ("table_id", "S")),
}
TOOL_TABLES = {"NOTES_TABLE": "notes", "DATABASES_TABLE": "databases", "BOOKINGS_TABLE": "bookings"}


def furnish(endpoint_url: str | None = None) -> dict[str, str]:
    """Make the key ring and the tables, as the template does; gives the environment of a function."""
    dynamodb: Any = boto3.client("dynamodb", endpoint_url=endpoint_url)
    for table, keys in TABLES.items():
        dynamodb.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in keys],
            KeySchema=[
                {"AttributeName": name, "KeyType": role}
                for (name, _), role in zip(keys, ("HASH", "RANGE"), strict=False)
            ],
        )
    return {
        **TOOL_TABLES,
        "RUNS_TABLE": "runs",
        "MRTR_KEYRING": make_keyring(endpoint_url),
        "MRTR_CLAIM_TABLE": "claims",
        "MRTR_AUDIENCE": "askback-tests",
    }


@pytest.fixture(autouse=True, scope="session")
def _service_descriptions() -> Iterator[None]:
    """Parsed once, not by every client of every test: most of the time of these tests would go there."""
    files: Any = JSONFileLoader()
    files.load_file = functools.cache(files.load_file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loader, "FILE_LOADER_CLASS", staticmethod(lambda: files))
        yield


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Secrets]:
    """Fails any test after which a token, a key, an argument or an answer stands in the log."""
    kept = Secrets()
    kept.add(KEY)
    lines = kept.lines

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    formatters = {
        logging.getLogger(log().name): log().registered_formatter,
        request_log(): request_log().handlers[0].formatter,
    }
    handlers = {logger: Kept() for logger in formatters}
    for logger, handler in handlers.items():
        handler.setFormatter(formatters[logger])
        logger.addHandler(handler)
    send = mrtr.testing.Client.send

    def watched(client: mrtr.testing.Client, event: mrtr.testing.Event) -> mrtr.testing.Reply:
        kept.add_event(event)
        reply = send(client, event)
        kept.add_reply(reply)
        return reply

    monkeypatch.setattr(mrtr.testing.Client, "send", watched)
    yield kept
    for logger, handler in handlers.items():
        logger.removeHandler(handler)
    kept.check()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """An AWS account in this process, everything deployed; the environment is a function's."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    aws.client.cache_clear()
    with mock_aws():
        environment = furnish()
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield environment
    aws.client.cache_clear()


@dataclass
class Deployment:
    """One key ring, one claim table and one clock; `runtime` makes the runtime of another instance."""

    clock: Clock
    runtime: Callable[[], Runtime]

    def client(self, server: Server, **options: Any) -> Client:
        """`server` as a new instance of this deployment; options as of `Client`."""
        server._runtime = self.runtime()
        return Client(server.lambda_handler, **options)


@pytest.fixture
def memory() -> Deployment:
    """A deployment without AWS."""
    clock, source, table = Clock(), MemoryRing(), MemoryClaimTable()
    return Deployment(clock, lambda: MemoryRuntime(clock=clock, source=source, table=table))


@pytest.fixture
def dynamodb(account: dict[str, str]) -> Deployment:
    """A deployment on DynamoDB and Secrets Manager."""
    clock = Clock()
    return Deployment(clock, lambda: Runtime(read_settings(account), clock=clock, sleep=clock.sleep))


@pytest.fixture(params=["memory", "dynamodb"])
def deployment(request: pytest.FixtureRequest) -> Deployment:
    """Either of the two: what holds for the one holds for the other."""
    deployment: Deployment = request.getfixturevalue(request.param)
    return deployment


@pytest.fixture(scope="session")
def _cloud() -> Iterator[Cloud]:
    cloud = Cloud()
    yield cloud
    cloud.stop()


@dataclass
class Stack:
    """A deployment whose functions are processes; `environment` is theirs."""

    url: str
    environment: dict[str, str]
    secrets: Secrets
    instances: list[Instance] = field(default_factory=list)

    def instance(self, app: str = "tests/flow/workshop.py", *, dies: str = "", crowd: int = 0) -> Instance:
        """A new process; it ends with the test."""
        instance = Instance(app, self.environment, self.secrets, dies=dies, crowd=crowd)
        self.instances.append(instance)
        return instance

    def items(self, table: str) -> list[dict[str, Any]]:
        dynamodb: Any = boto3.resource("dynamodb", endpoint_url=self.url)
        items: list[dict[str, Any]] = dynamodb.Table(table).scan()["Items"]
        return items


@pytest.fixture
def stack(_cloud: Cloud, monkeypatch: pytest.MonkeyPatch, secrets: Secrets) -> Iterator[Stack]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    urllib.request.urlopen(urllib.request.Request(f"{_cloud.url}/moto-api/reset", method="POST")).close()  # noqa: S310 - our own
    environment = {**CREDENTIALS, "AWS_ENDPOINT_URL": _cloud.url, **furnish(_cloud.url)}
    seed(TOOL_TABLES, _cloud.url)
    stack = Stack(_cloud.url, environment, secrets)
    yield stack
    for instance in stack.instances:
        secrets.lines += instance.stop().splitlines()
