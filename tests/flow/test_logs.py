"""What is logged of a call, and what never is. Every other test here is checked for secrets in its log as well: see `secrets` in conftest."""

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from mrtr import Context, Elicit, Resolve, Server, ToolError
from mrtr.testing import Client, LambdaContext, MemoryRuntime, accept, call_event, offline
from tests.flow.conftest import Stack
from tests.flow.secrecy import Secrets

CARD = {"number": "4111-1111-1111-1111 (not for the log)"}
YES = {"ask": accept(word="swordfish-not-for-the-log")}


class Word(BaseModel):
    word: str


class Bank:
    def __init__(self) -> None:
        self.inside: Callable[[str, str], None] = lambda _number, _word: None
        self.server = Server("bank")

        def ask(number: str) -> Elicit[Word]:
            return Elicit(f"The word for {number}?", Word)

        @self.server.tool()
        def pay(number: str, word: Annotated[Word, Resolve(ask)], ctx: Context) -> str:
            self.inside(number, word.word)
            return f"paid with {number} and {word.word} by {ctx.request_id}"


@pytest.fixture
def bank() -> Bank:
    return Bank()


@pytest.fixture
def runtime(bank: Bank) -> MemoryRuntime:
    return offline(bank.server)


@pytest.fixture
def client(bank: Bank, runtime: MemoryRuntime) -> Client:
    assert runtime.table.items == {}
    return Client(bank.server.lambda_handler, context=LambdaContext(aws_request_id="request-1234"))


def entries(secrets: Secrets, message: str) -> list[dict[str, Any]]:
    return [entry for entry in map(json.loads, secrets.lines) if entry["message"] == message]


def test_every_line_is_a_json_object_and_every_answer_has_one_that_names_its_request(
    client: Client, secrets: Secrets
) -> None:
    first = client.call("pay", CARD)
    client.answer(first, YES)
    client.call("no_such_tool")

    answered, rejected = entries(secrets, "answered"), entries(secrets, "rejected")
    assert [entry["status"] for entry in answered] == [200, 200]
    assert {entry["correlation_id"] for entry in answered + rejected} == {"request-1234"}
    assert {entry["method"] for entry in answered} == {"tools/call"}
    assert rejected[0]["fault"] == "invalid_params"


def test_the_legs_of_a_flow_share_an_id_in_the_log_that_is_not_the_one_in_the_seal(
    client: Client, secrets: Secrets, runtime: MemoryRuntime
) -> None:
    first = client.call("pay", CARD)
    again = client.answer(first, {})
    done = client.answer(again, YES)
    client.again(done)

    answered = entries(secrets, "answered")
    assert [entry.get("asked") for entry in answered] == [1, 1, None, None]
    assert [entry["round"] for entry in answered] == [1, 2, 2, 2]
    flows = {entry["flow"] for entry in answered}
    assert flows == {item_id.hex() for item_id in runtime.table.items}


def test_a_duplicate_says_what_it_met(client: Client, secrets: Secrets) -> None:
    done = client.answer(client.call("pay", CARD), YES)
    client.again(done)

    assert [entry.get("duplicate") for entry in entries(secrets, "answered")] == [None, None, "Replay"]


@pytest.mark.parametrize("error", [RuntimeError, ToolError, ValueError, KeyError, SystemExit])
def test_an_exception_that_quotes_everything_it_knows_leaves_nothing_of_it_in_the_log(
    client: Client, bank: Bank, secrets: Secrets, error: type[BaseException]
) -> None:
    def inside(number: str, word: str) -> None:
        try:
            raise OSError(f"inner {number} {word}")
        except OSError as cause:
            raise error(f"outer {number} {word}") from cause

    bank.inside = inside
    failed = client.answer(client.call("pay", CARD), YES)

    assert failed.is_error
    secrets.check()
    if error is not ToolError:
        (entry,) = entries(secrets, "call failed")
        assert any("inside" in place for place in entry["where"])


def test_a_refused_state_an_invalid_answer_and_a_broken_body_are_not_quoted_either(
    client: Client, secrets: Secrets
) -> None:
    first = client.call("pay", CARD)
    client.call("pay", CARD, state=first.state + "x", answers=YES)
    client.answer(first, {"ask": accept(word=["swordfish-not-for-the-log"])})
    client.call("pay", {"number": ["4111-1111-1111-1111 (not for the log)"]})
    event = call_event("pay", CARD)
    client.send({**event, "body": event["body"] + '{"4111-1111-1111-1111 (not for the log)"'})

    assert entries(secrets, "requestState refused")
    secrets.check()
    assert not any("not-for-the-log" in line or "not for the log" in line for line in secrets.lines)


def test_what_a_function_prints_as_a_process_is_looked_through_too(stack: Stack, secrets: Secrets) -> None:
    instance = stack.instance()
    instance.invoke(call_event("forge", {"what": "ceremonial sword"}))

    stack.instances.remove(instance)
    secrets.lines += instance.stop().splitlines()

    (answered,) = entries(secrets, "answered")
    assert (answered["asked"], answered["process_id"]) == (1, instance.pid)


@pytest.mark.parametrize(
    "line",
    [
        '{"token": "v1.AAAAAAAA"}',
        "what was asked: a long argument",
        'escaped: "a \\"quoted\\" answer"',
        "bytes: b'0123456789'",
    ],
)
def test_a_secret_in_a_line_is_found(line: str) -> None:
    secrets = Secrets()
    for value in ("v1.AAAAAAAA", "a long argument", 'a "quoted" answer', "0123456789"):
        secrets.add(value)
    secrets.lines.append(line)

    with pytest.raises(AssertionError, match="logged"):
        secrets.check()


def test_secrets_are_gathered_from_arguments_answers_and_both_ways_of_the_state(client: Client) -> None:
    first = client.call("pay", CARD)
    done_event = call_event("pay", CARD, state=first.state, answers=YES)

    for value in (CARD["number"], "swordfish-not-for-the-log", first.state):
        secrets = Secrets()
        secrets.add_event(done_event)
        secrets.lines.append(f"line with {value}")
        with pytest.raises(AssertionError):
            secrets.check()
    secrets = Secrets()
    secrets.add_reply(first)
    secrets.lines.append(first.state)
    with pytest.raises(AssertionError):
        secrets.check()
