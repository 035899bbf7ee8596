"""When what a call depends on does not answer: the call says so soon, nothing is done, and the same request works later."""

import socket
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from mrtr import Context, Elicit, Resolve, Server, ToolError, aws
from mrtr.runtime import Runtime
from mrtr.settings import read_settings
from mrtr.testing import Client, Clock, LambdaContext, Reply, accept
from tests.flow.secrecy import Secrets
from tests.flow.wire import FAULTS, Wire
from tests.keyrings import WITH_KMS

GET_RING = "GenerateMac" if WITH_KMS else "GetSecretValue"
CARGO = {"what": "forty sacks of rye"}
YES = {"ask": accept(sure=True)}
TYPICAL = ("down", "slow", "throttled")
"""Where every fault comes to the same, these stand for all."""


class Sure(BaseModel):
    sure: bool


class Mill:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.gone = False

    def server(self) -> Server:
        server = Server("mill")

        def ask(what: str) -> Elicit[Sure]:
            if self.gone:
                raise ToolError("It is gone.")
            return Elicit(f"Grind {what}?", Sure)

        @server.tool()
        def grind(what: str, sure: Annotated[Sure, Resolve(ask)]) -> str:
            self.done.append(what)
            return f"ground: {sure.sure}"

        @server.tool(rerun_after_crash=True)
        def sift(what: str, sure: Annotated[Sure, Resolve(ask)]) -> str:
            self.done.append(what)
            return f"sifted: {sure.sure}"

        @server.tool()
        def bake(what: str, ctx: Context) -> str:
            for batch in ("first", "second"):
                ctx.elicit(f"The {batch} batch?", Sure, key=batch)
            self.done.append(what)
            return "baked"

        return server


@pytest.fixture
def wire(account: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Wire:
    assert account
    return Wire(monkeypatch)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def mill() -> Mill:
    return Mill()


@pytest.fixture
def instances(wire: Wire, clock: Clock, mill: Mill, account: dict[str, str]) -> Any:
    """Makes cold instances of the function."""
    assert wire.calls == []

    def instance() -> Client:
        server = mill.server()
        server._runtime = Runtime(read_settings(account), clock=clock, sleep=clock.sleep)
        return Client(server.lambda_handler, context=LambdaContext(remaining_ms=20_000))

    return instance


@pytest.fixture
def client(instances: Any) -> Client:
    client: Client = instances()
    return client


def unavailable(reply: Reply) -> None:
    assert reply.status == 503
    assert reply.error["code"] == -32603
    assert int(reply.headers["retry-after"]) >= 1
    assert "quoting the request" not in reply.response["body"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_first_leg_without_a_ring_is_unavailable_and_works_once_there_is_one(
    client: Client, wire: Wire, mill: Mill, fault: str
) -> None:
    wire.breaks(GET_RING, FAULTS[fault])

    unavailable(client.call("grind", CARGO))

    assert set(wire.attempts) == {GET_RING}
    assert 1 <= len(wire.attempts) <= aws.ATTEMPTS
    assert mill.done == []
    wire.mends()
    assert client.call("grind", CARGO).asks


@pytest.mark.parametrize("fault", TYPICAL)
def test_a_retry_on_an_instance_without_a_ring_is_unavailable_and_the_same_retry_works_later(
    instances: Any, wire: Wire, mill: Mill, fault: str
) -> None:
    first = instances().call("grind", CARGO)
    cold = instances()
    wire.forget()
    wire.breaks(GET_RING, FAULTS[fault])

    unavailable(cold.answer(first, YES))

    assert set(wire.attempts) == {GET_RING}
    assert len(wire.attempts) <= aws.ATTEMPTS
    assert mill.done == []
    wire.mends()
    assert cold.answer(first, YES).text == "ground: True"
    assert len(mill.done) == 1


@pytest.mark.skipif(WITH_KMS, reason="a derived ring needs its source no more until the next epoch")
def test_an_instance_with_a_ring_goes_on_for_an_hour_without_its_source(
    client: Client, wire: Wire, clock: Clock, mill: Mill
) -> None:
    client.call("grind", CARGO)
    wire.breaks(GET_RING, FAULTS["down"])

    clock.advance(3000)
    first = client.call("grind", CARGO)
    assert client.answer(first, YES).text == "ground: True"
    clock.advance(700)
    unavailable(client.call("grind", CARGO))

    wire.mends()
    clock.advance(20)
    assert client.call("grind", CARGO).asks
    assert len(mill.done) == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_a_claim_that_does_not_arrive_runs_nothing_and_the_same_retry_works_later(
    client: Client, wire: Wire, mill: Mill, fault: str
) -> None:
    first = client.call("grind", CARGO)
    wire.forget()
    wire.breaks("PutItem", FAULTS[fault])

    unavailable(client.answer(first, YES))
    unavailable(client.answer(first, YES))

    assert mill.done == []
    assert wire.attempts.count("PutItem") <= 2 * aws.ATTEMPTS
    wire.mends()
    assert client.answer(first, YES).text == "ground: True"
    assert client.answer(first, YES).text == "ground: True"
    assert len(mill.done) == 1


@pytest.mark.parametrize("fault", TYPICAL)
def test_a_table_that_is_wholly_down_runs_nothing_and_the_same_retry_works_later(
    client: Client, wire: Wire, mill: Mill, fault: str
) -> None:
    first = client.call("grind", CARGO)
    for operation in ("PutItem", "UpdateItem", "GetItem", "DeleteItem"):
        wire.breaks(operation, FAULTS[fault])
    wire.forget()

    unavailable(client.answer(first, YES))

    assert mill.done == []
    assert len(wire.attempts) <= 2 * aws.ATTEMPTS  # the claim, and giving it back
    wire.mends()
    assert client.answer(first, YES).text == "ground: True"
    assert len(mill.done) == 1


def test_a_claim_whose_answer_was_lost_once_is_recognised_as_ones_own(client: Client, wire: Wire, mill: Mill) -> None:
    first = client.call("grind", CARGO)
    wire.forget()
    wire.loses_answers("PutItem", 1)

    assert client.answer(first, YES).text == "ground: True"

    assert wire.attempts == ["PutItem", "PutItem", "UpdateItem"]
    assert len(mill.done) == 1


def test_a_claim_that_arrived_though_every_answer_was_lost_is_given_back_and_the_same_retry_works(
    client: Client, wire: Wire, mill: Mill
) -> None:
    first = client.call("grind", CARGO)
    wire.forget()
    wire.loses_answers("PutItem", aws.ATTEMPTS)

    unavailable(client.answer(first, YES))

    assert wire.attempts == ["PutItem", "PutItem", "DeleteItem"]
    assert mill.done == []
    assert client.answer(first, YES).text == "ground: True"
    assert len(mill.done) == 1


def test_a_claim_that_arrived_and_could_not_be_given_back_never_runs_twice_and_is_told_after_the_time_limit(
    client: Client, wire: Wire, mill: Mill, clock: Clock
) -> None:
    first = client.call("grind", CARGO)
    wire.loses_answers("PutItem", aws.ATTEMPTS)
    wire.breaks("DeleteItem", FAULTS["down"])

    unavailable(client.answer(first, YES))

    wire.mends()
    assert client.answer(first, YES).questions == {}
    clock.advance(22)
    told = client.answer(first, YES)
    assert told.is_error
    assert "will not run again" in told.text
    assert mill.done == []


def test_such_a_claim_of_a_tool_that_may_rerun_is_taken_up_after_the_time_limit(
    client: Client, wire: Wire, mill: Mill, clock: Clock
) -> None:
    first = client.call("sift", CARGO)
    wire.loses_answers("PutItem", aws.ATTEMPTS)
    wire.breaks("DeleteItem", FAULTS["down"])
    unavailable(client.answer(first, YES))
    wire.mends()
    clock.advance(22)

    assert client.answer(first, YES).text == "sifted: True"
    assert len(mill.done) == 1


@pytest.mark.parametrize("lost", [1, aws.ATTEMPTS])
def test_taking_over_a_crashed_run_survives_lost_answers_too(
    client: Client, wire: Wire, mill: Mill, clock: Clock, lost: int
) -> None:
    first = client.call("sift", CARGO)
    wire.loses_answers("PutItem", aws.ATTEMPTS)
    wire.breaks("DeleteItem", FAULTS["down"])
    unavailable(client.answer(first, YES))
    wire.mends()
    clock.advance(22)
    wire.loses_answers("UpdateItem", lost)

    taken = client.answer(first, YES)

    if lost == aws.ATTEMPTS:
        unavailable(taken)
        assert mill.done == []
        taken = client.answer(first, YES)
    assert taken.text == "sifted: True"
    assert len(mill.done) == 1


@pytest.mark.parametrize("fault", TYPICAL)
def test_a_result_that_could_not_be_recorded_is_still_the_callers_and_never_made_twice(
    client: Client, wire: Wire, mill: Mill, clock: Clock, secrets: Secrets, fault: str
) -> None:
    first = client.call("grind", CARGO)
    wire.forget()
    wire.breaks("UpdateItem", FAULTS[fault])

    done = client.answer(first, YES)

    assert done.text == "ground: True"
    assert wire.attempts.count("UpdateItem") <= aws.ATTEMPTS
    assert any("result not recorded" in line for line in secrets.lines)
    wire.mends()
    assert client.answer(first, YES).questions == {}
    clock.advance(22)
    assert client.answer(first, YES).is_error
    assert len(mill.done) == 1


@pytest.mark.parametrize("lost", [1, aws.ATTEMPTS])
def test_a_record_whose_answer_was_lost_is_there_for_the_duplicate(
    client: Client, wire: Wire, mill: Mill, lost: int
) -> None:
    first = client.call("grind", CARGO)
    wire.loses_answers("UpdateItem", lost)

    assert client.answer(first, YES).text == "ground: True"

    assert client.answer(first, YES).text == "ground: True"
    assert len(mill.done) == 1


FIRST, SECOND = {"first": accept(sure=True)}, {"second": accept(sure=True)}


@pytest.mark.parametrize("fault", TYPICAL)
def test_a_question_of_a_body_that_could_not_be_recorded_is_asked_by_the_same_retry_later(
    client: Client, wire: Wire, mill: Mill, fault: str
) -> None:
    first = client.call("bake", CARGO)
    wire.breaks("UpdateItem", FAULTS[fault])

    unavailable(client.answer(first, FIRST))

    wire.mends()
    second = client.answer(first, FIRST)
    assert list(second.questions) == ["second"]
    assert client.answer(second, SECOND).text == "baked"
    assert len(mill.done) == 1


def test_a_recorded_question_whose_answer_was_lost_once_is_asked(client: Client, wire: Wire, mill: Mill) -> None:
    first = client.call("bake", CARGO)
    wire.loses_answers("UpdateItem", 1)

    second = client.answer(first, FIRST)

    assert list(second.questions) == ["second"]
    assert client.answer(second, SECOND).text == "baked"
    assert len(mill.done) == 1


def test_a_recorded_question_whose_every_answer_was_lost_is_asked_by_the_same_retry(
    client: Client, wire: Wire, mill: Mill
) -> None:
    first = client.call("bake", CARGO)
    wire.loses_answers("UpdateItem", aws.ATTEMPTS)

    unavailable(client.answer(first, FIRST))

    second = client.answer(first, FIRST)
    assert list(second.questions) == ["second"]
    assert client.answer(second, SECOND).text == "baked"
    assert len(mill.done) == 1


@pytest.mark.parametrize("fault", TYPICAL)
def test_a_question_that_could_not_be_taken_up_is_taken_up_by_the_same_retry_later(
    client: Client, wire: Wire, mill: Mill, fault: str
) -> None:
    second = client.answer(client.call("bake", CARGO), FIRST)
    wire.breaks("UpdateItem", FAULTS[fault])

    unavailable(client.answer(second, SECOND))

    assert mill.done == []
    wire.mends()
    assert client.answer(second, SECOND).text == "baked"
    assert len(mill.done) == 1


@pytest.mark.parametrize("lost", [1, aws.ATTEMPTS])
def test_a_question_taken_up_though_the_answer_was_lost_is_ones_own_or_given_back(
    client: Client, wire: Wire, mill: Mill, lost: int
) -> None:
    second = client.answer(client.call("bake", CARGO), FIRST)
    wire.loses_answers("UpdateItem", lost)

    done = client.answer(second, SECOND)

    if lost == aws.ATTEMPTS:
        unavailable(done)
        assert mill.done == []
        done = client.answer(second, SECOND)
    assert done.text == "baked"
    assert len(mill.done) == 1


@pytest.mark.parametrize("fault", TYPICAL)
def test_a_retry_whose_resolver_fails_is_unavailable_while_the_table_cannot_say_if_it_was_done(
    client: Client, wire: Wire, mill: Mill, fault: str
) -> None:
    first = client.call("grind", CARGO)
    done = client.answer(first, YES)
    mill.gone = True
    wire.forget()
    wire.breaks("GetItem", FAULTS[fault])

    unavailable(client.answer(first, YES))

    assert len(wire.attempts) <= aws.ATTEMPTS
    wire.mends()
    assert client.answer(first, YES).result == done.result
    assert len(mill.done) == 1


def test_a_port_that_nobody_listens_on_is_an_outage_like_any_other(
    account: dict[str, str], mill: Mill, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
        server = mill.server()
        server._runtime = Runtime(read_settings(account))

        unavailable(Client(server.lambda_handler).call("grind", CARGO))

    assert set(wire.attempts) == {GET_RING}


def test_settings_that_are_missing_are_an_outage_too_and_say_in_the_log_what_to_do(
    mill: Mill, secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MRTR_KEYRING", "MRTR_CLAIM_TABLE", "MRTR_AUDIENCE"):
        monkeypatch.delenv(name, raising=False)

    reply = Client(mill.server().lambda_handler).call("grind", CARGO)

    unavailable(reply)
    assert "MRTR_KEYRING" not in reply.response["body"]
    assert any("MRTR_KEYRING is not set" in line for line in secrets.lines)


def test_every_attempt_together_ends_well_inside_the_functions_time_limit() -> None:
    template_timeout_s = 25
    an_attempt_s = aws.CONNECT_TIMEOUT_S + aws.READ_TIMEOUT_S
    waiting_s = aws.ATTEMPTS - 1  # botocore waits at most 1 s before the second attempt
    a_call_s = aws.ATTEMPTS * an_attempt_s + waiting_s

    # the ring, the claim, and giving the claim back
    assert 3 * a_call_s < template_timeout_s
