"""The deployed stack, once for all end-to-end tests; every test starts with the data of a fresh one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from local import stack
from tests.e2e.remote import Remote, Tables


@pytest.fixture(scope="session")
def deployed() -> Iterator[stack.Stack]:
    with stack.running() as askback:
        yield askback


@pytest.fixture
def askback(deployed: stack.Stack) -> stack.Stack:
    deployed.reset()
    return deployed


@pytest.fixture
def tables(askback: stack.Stack) -> Tables:
    return Tables(askback)


@pytest.fixture(params=["through the front door", "directly"])
def delete_note(request: pytest.FixtureRequest, askback: stack.Stack) -> Remote:
    return Remote(askback, "delete_note", direct=request.param == "directly")


@pytest.fixture
def provision_database(askback: stack.Stack) -> Remote:
    return Remote(askback, "provision_database")


@pytest.fixture
def book_table(askback: stack.Stack) -> Remote:
    return Remote(askback, "book_table")
