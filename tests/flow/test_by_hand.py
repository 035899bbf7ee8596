"""Bodies that build their results themselves, and states and results at the limits of size."""

import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from mrtr import Context, Elicit, InputRequiredResult, Resolve, Server
from mrtr.testing import Client, Reply, accept, request_event
from tests.flow.conftest import Deployment

REFUSED = {"code": -32602, "message": "Invalid or expired requestState"}


class Line(BaseModel):
    text: str


def question(message: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }


class Potter:
    def __init__(self) -> None:
        self.starts: list[str] = []
        self.inside: Callable[[], None] = lambda: None

    def server(self) -> Server:
        server = Server("potter")

        @server.tool()
        def turn(what: str, ctx: Context) -> str | InputRequiredResult:
            self.starts.append(what)
            self.inside()
            if ctx.request_state is None:
                return InputRequiredResult(
                    input_requests={"glaze": question(f"The glaze of {what}?")}, request_state=f"clay for {what}"
                )
            answer = ctx.input_responses.get("glaze", {})
            return f"{ctx.request_state}, {answer.get('action')}, {answer.get('content', {}).get('text')}"

        @server.tool()
        def wait(ctx: Context) -> str | InputRequiredResult:
            turns = int(ctx.request_state or "0")
            self.starts.append(str(turns))
            if turns < 3:
                return InputRequiredResult(request_state=str(turns + 1))
            return f"fired after {turns}"

        def ask() -> Elicit[Line]:
            return Elicit("Which?", Line)

        @server.tool()
        def carry(line: Annotated[Line, Resolve(ask)], ctx: Context) -> str:
            self.inside()
            again = ctx.elicit("And?", Line, key="again")
            return f"{len(line.text)} {again.action}"

        @server.prompt()
        def heavy(ctx: Context) -> str:
            self.starts.append("heavy")
            line: Any = ctx.elicit("Which?", Line, key="line")
            ctx.elicit("And?", Line, key="again")
            return str(line.data.text)

        return server


@pytest.fixture
def potter() -> Potter:
    return Potter()


@pytest.fixture
def client(deployment: Deployment, potter: Potter) -> Client:
    return deployment.client(potter.server())


@pytest.fixture
def other(deployment: Deployment, potter: Potter) -> Client:
    return deployment.client(potter.server())


def without_id(reply: Reply) -> str:
    body: str = reply.response["body"]
    return body.replace(f'"id":{reply.message["id"]},', "", 1)


GLAZE = {"glaze": accept(text="celadon")}


def test_a_body_that_asks_by_hand_gets_its_own_state_back_and_the_answer_as_it_came(
    client: Client, other: Client
) -> None:
    first = client.call("turn", {"what": "a bowl"})
    assert first.questions["glaze"]["params"]["message"] == "The glaze of a bowl?"
    assert "clay" not in first.state

    assert other.answer(first, GLAZE).text == "clay for a bowl, accept, celadon"


def test_a_call_asked_about_by_hand_is_single_use_like_any_other(client: Client, other: Client, potter: Potter) -> None:
    first = client.call("turn", {"what": "a bowl"})
    done = client.answer(first, GLAZE)

    assert without_id(other.answer(first, GLAZE)) == without_id(done)
    assert other.answer(first, {"glaze": accept(text="salt")}).error == REFUSED
    assert other.call("turn", {"what": "a jug"}, state=first.state, answers=GLAZE).error == REFUSED
    assert len(potter.starts) == 2


def test_a_body_may_ask_for_time_with_a_state_alone(client: Client, other: Client, potter: Potter) -> None:
    reply = client.call("wait")
    while reply.asks:
        assert "inputRequests" not in reply.result
        answered = other.answer(reply)
        assert without_id(client.answer(reply)) == without_id(answered)
        reply = answered

    assert reply.text == "fired after 3"
    assert potter.starts == ["0", "1", "2", "3"]


def test_a_state_over_the_limit_asks_for_shorter_answers_and_runs_nothing(client: Client, other: Client) -> None:
    first = client.call("carry")
    long = {"ask": accept(text="x" * 9000)}

    failed = client.answer(first, long)

    assert failed.is_error
    assert "answer more briefly" in failed.text
    assert without_id(other.answer(first, long)) == without_id(failed)


def test_a_long_answer_within_the_limit_travels_on(client: Client) -> None:
    second = client.answer(client.call("carry"), {"ask": accept(text="x" * 5000)})

    assert len(second.state) < 8192
    assert client.answer(second, {"again": accept(text="y")}).text == "5000 accept"


def test_a_duplicate_too_large_to_carry_on_is_sent_away_for_a_moment(
    client: Client, other: Client, potter: Potter
) -> None:
    first = client.call("carry")
    long = {"ask": accept(text="x" * 9000)}
    held: list[Reply] = []

    def inside() -> None:
        potter.inside = lambda: None
        held.append(other.answer(first, long))

    potter.inside = inside
    client.answer(first, long)

    assert held[0].status == 503
    assert "retry-after" in held[0].headers
    assert held[0].error["message"] == (
        "Another request carries this call out; send the same request again to learn its result"
    )


def test_a_prompt_whose_state_would_be_too_large_gives_its_claim_back(client: Client, potter: Potter) -> None:
    first = client.send(request_event("prompts/get", {"name": "heavy"}))
    long = {"name": "heavy", "requestState": first.state, "inputResponses": {"line": accept(text="x" * 9000)}}

    failed = [client.send(request_event("prompts/get", long)).error for _ in range(2)]

    assert failed[0] == failed[1]
    assert "answer more briefly" in failed[0]["message"]
    assert potter.starts == ["heavy"] * 3


def test_a_duplicate_held_while_a_first_claim_is_given_back_is_told_to_come_back(
    deployment: Deployment, potter: Potter, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = potter.server()
    able, unable = deployment.client(server), Client(server.lambda_handler, capabilities={})
    first = able.call("carry")
    answers = {"ask": accept(text="this")}
    begun, let_go = threading.Event(), threading.Event()

    def inside() -> None:
        potter.inside = lambda: None
        begun.set()
        let_go.wait()

    potter.inside = inside
    refused = threading.Thread(target=unable.answer, args=(first, answers))
    refused.start()
    begun.wait()

    def sleep(seconds: float) -> None:
        deployment.clock.advance(seconds)
        let_go.set()
        refused.join()

    assert server._runtime is not None
    monkeypatch.setattr(server._runtime.single_use, "_sleep", sleep)
    held = able.answer(first, answers)

    assert held.questions == {}
    assert list(able.answer(held).questions) == ["again"]


def test_a_claim_taken_over_while_its_body_asked_is_not_asked_twice(deployment: Deployment, potter: Potter) -> None:
    server = Server("slow")

    @server.tool(rerun_after_crash=True)
    def slow(ctx: Context) -> str:
        ctx.elicit("One?", Line, key="one")
        potter.inside()
        return str(ctx.elicit("Two?", Line, key="two").action)

    client = deployment.client(server)
    first = client.call("slow")
    one = {"one": accept(text="1")}
    took_over: list[Reply] = []

    def inside() -> None:
        potter.inside = lambda: None
        deployment.clock.advance(22)
        took_over.append(client.answer(first, one))

    potter.inside = inside
    late = client.answer(first, one)

    assert list(took_over[0].questions) == ["two"]
    assert late.status == 503
    assert without_id(client.answer(first, one)) == without_id(took_over[0])
    assert client.answer(took_over[0], {"two": accept(text="2")}).text == "accept"
