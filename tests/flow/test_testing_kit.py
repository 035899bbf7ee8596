"""What `mrtr.testing` gives the authors of tools, used the way they would use it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from mrtr import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve, Server
from mrtr.claim_table import ASKED, DONE, RUNNING, Claim
from mrtr.errors import Unavailable
from mrtr.http import Kind, read_event
from mrtr.protocol import Limits, Request, read_request
from mrtr.testing import (
    Client,
    Clock,
    LambdaContext,
    MemoryClaimTable,
    MemoryRing,
    MemoryRuntime,
    accept,
    call_event,
    cancel,
    decline,
    discover_event,
    list_event,
    offline,
    request_event,
    ring_key,
    with_body,
)

JWT_KINDS = [Kind.HTTP_API, Kind.REST_API]


class Sure(BaseModel):
    sure: bool


def ask(what: str) -> Elicit[Sure]:
    return Elicit(f"Paint {what}?", Sure)


def new_server() -> Server:
    server = Server("painter")

    @server.tool()
    def paint(what: str, ctx: Context, answer: Annotated[ElicitationResult[Sure], Resolve(ask)]) -> str:
        """Paint something."""
        who = ctx.principal.subject if ctx.principal else "somebody"
        if isinstance(answer, AcceptedElicitation) and answer.data.sure:
            return f"{who} painted {what}"
        return f"{who} left {what}: {answer.action}"

    return server


def client_of(server: Server, **options: Any) -> Client:
    offline(server)
    return Client(server.lambda_handler, **options)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_event_is_read_as_the_request_it_was_made_of(kind: Kind) -> None:
    event = call_event("café 🎨", {"what": "Zaun"}, state="v1.abc", answers={"ask": decline()}, id="seven", kind=kind)

    http = read_event(event)
    request = read_request(http, ["tools/call"], Limits())

    assert isinstance(request, Request)
    assert http.kind is kind
    assert http.path == "/mcp"
    assert (request.id, request.name) == ("seven", "café 🎨")
    assert request.params["arguments"] == {"what": "Zaun"}
    assert request.params["requestState"] == "v1.abc"
    assert request.params["inputResponses"] == {"ask": {"action": "decline"}}
    assert request.capabilities == {"elicitation": {"form": {}}}


@pytest.mark.parametrize("kind", JWT_KINDS)
def test_claims_of_an_authorizer_become_the_principal(kind: Kind) -> None:
    claims = {"iss": "https://issuer.example", "sub": "ada", "client_id": "app"}
    client = client_of(new_server(), kind=kind, claims=claims)

    first = client.call("paint", {"what": "the fence"})

    assert client.answer(first, {"ask": accept(sure=True)}).text == "ada painted the fence"


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in JWT_KINDS])
def test_claims_are_refused_where_no_jwt_authorizer_can_stand(kind: Kind) -> None:
    with pytest.raises(ValueError, match="no JWT authorizer"):
        request_event("tools/list", kind=kind, claims={"sub": "ada"})


@pytest.mark.parametrize("kind", Kind)
def test_a_client_asks_answers_and_reads_the_result_behind_every_kind_of_event(kind: Kind) -> None:
    client = client_of(new_server(), kind=kind)

    first = client.call("paint", {"what": "the fence"})
    done = client.answer(first, {"ask": accept(sure=True)})

    assert first.asks
    assert first.questions["ask"]["params"]["message"] == "Paint the fence?"
    assert not done.asks
    assert (done.status, done.text, done.is_error) == (200, "somebody painted the fence", False)
    assert done.headers["content-type"] == "application/json"


def test_the_three_things_a_person_can_do_have_their_own_answers() -> None:
    client = client_of(new_server())
    first = client.call("paint", {"what": "the fence"})

    assert client.answer(first, {"ask": decline()}).text == "somebody left the fence: decline"
    closed = client.answer(client.call("paint", {"what": "the gate"}), {"ask": cancel()})
    assert closed.text == "somebody left the gate: cancel"


def test_the_automatic_loop_answers_each_question_until_the_call_is_complete() -> None:
    client = client_of(new_server())
    seen: list[str] = []

    def answer(key: str, question: Any) -> dict[str, Any]:
        seen.append(f"{key}: {question['params']['message']}")
        return accept(sure=True)

    assert client.converse("paint", {"what": "the fence"}, answer).text == "somebody painted the fence"
    assert seen == ["ask: Paint the fence?"]


def test_the_automatic_loop_fails_loudly_when_it_gets_no_further() -> None:
    result = {"resultType": "input_required", "requestState": "v1.x", "inputRequests": {"ask": {}}}
    calls: list[str] = []

    def endless(event: Any, _context: object) -> dict[str, Any]:
        calls.append(event["body"])
        return {"statusCode": 200, "headers": {}, "body": json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})}

    with pytest.raises(AssertionError, match="still asks after 10 rounds"):
        Client(endless).converse("stubborn", {}, lambda _key, _question: accept(sure=True))
    assert len(calls) == 11


def test_sending_a_request_again_changes_its_id_alone() -> None:
    client = client_of(new_server())
    done = client.answer(client.call("paint", {"what": "the fence"}), {"ask": accept(sure=True)})

    again = client.again(done)

    assert again.message["id"] != done.message["id"]
    assert again.result == done.result


@pytest.mark.parametrize("kind", Kind)
def test_a_body_can_be_replaced_by_any_text(kind: Kind) -> None:
    event = with_body(list_event(kind=kind), "not JSON")

    reply = client_of(new_server(), kind=kind).send(event)

    assert reply.status == 400
    assert reply.error["code"] == -32700


def test_discovery_and_the_list_of_tools_are_events_too() -> None:
    client = client_of(new_server())

    assert client.discover().result["supportedVersions"] == ["2026-07-28"]
    assert [tool["name"] for tool in client.list_tools().result["tools"]] == ["paint"]
    assert json.loads(discover_event(id=3)["body"])["id"] == 3


def test_reading_the_wrong_half_of_a_reply_shows_what_came_instead() -> None:
    client = client_of(new_server())
    asked, refused = client.call("paint", {"what": "x"}), client.call("no_such_tool")

    with pytest.raises(AssertionError, match="Unknown tool"):
        _ = refused.result
    with pytest.raises(AssertionError, match="input_required"):
        _ = asked.error
    with pytest.raises(AssertionError, match="inputRequests"):
        _ = asked.text
    done = client.answer(asked, {"ask": decline()})
    with pytest.raises(AssertionError, match="complete"):
        _ = done.state
    with pytest.raises(AssertionError, match="complete"):
        _ = done.questions


def test_a_clock_moves_when_told_or_slept_on_and_not_by_itself() -> None:
    clock = Clock(100.0)
    assert clock() == clock() == 100.0

    clock.advance(5)
    clock.sleep(2)

    assert (clock(), clock.slept_s) == (107.0, 2.0)


def test_a_state_expires_on_the_clock_of_the_test() -> None:
    server = new_server()
    runtime = offline(server)
    client = Client(server.lambda_handler)
    first = client.call("paint", {"what": "the fence"})

    runtime.time.advance(600)

    assert client.answer(first, {"ask": accept(sure=True)}).error["message"] == "Invalid or expired requestState"


def test_two_servers_on_one_table_and_one_ring_are_two_instances_of_a_deployment() -> None:
    one, two = new_server(), new_server()
    here = offline(one)
    offline(two, MemoryRuntime(source=here.source, table=here.table, clock=here.time))
    asking, acting = Client(one.lambda_handler), Client(two.lambda_handler)
    first = asking.call("paint", {"what": "the fence"})

    done = acting.answer(first, {"ask": accept(sure=True)})

    assert done.text == "somebody painted the fence"
    assert asking.answer(first, {"ask": accept(sure=True)}).text == done.text
    assert here.table.actions == ["PutItem", "UpdateItem", "PutItem"]


def test_a_server_with_another_ring_refuses_the_state() -> None:
    one, two = new_server(), new_server()
    offline(one)
    offline(two, MemoryRuntime(source=MemoryRing(ring_key("another"))))
    first = Client(one.lambda_handler).call("paint", {"what": "the fence"})

    reply = Client(two.lambda_handler).answer(first, {"ask": accept(sure=True)})

    assert reply.error["code"] == -32602


def test_a_ring_or_a_table_that_is_down_makes_the_call_unavailable() -> None:
    server = new_server()
    runtime = offline(server)
    client = Client(server.lambda_handler)

    runtime.source.down = True
    assert client.call("paint", {"what": "the fence"}).status == 503
    runtime.source.down = False
    first = client.call("paint", {"what": "the fence"})
    runtime.table.down = True
    assert client.answer(first, {"ask": accept(sure=True)}).status == 503
    runtime.table.down = False
    assert client.answer(first, {"ask": accept(sure=True)}).text == "somebody painted the fence"
    assert runtime.source.fetches == 2


def test_the_time_left_is_the_tests_to_set() -> None:
    server = Server("watch")

    @server.tool()
    def left(ctx: Context) -> int:
        return ctx.remaining_ms

    context = LambdaContext(remaining_ms=1234)
    client = client_of(server, context=context)

    assert client.call("left").result["structuredContent"] == {"result": 1234}
    context.remaining_ms = 99
    assert client.call("left").result["structuredContent"] == {"result": 99}


def claim(owner: bytes, answered: int = 1) -> Claim:
    return Claim(b"flow", answered, b"answers", owner, started=1, until=2, expires=3)


def test_the_table_in_memory_gives_a_flow_to_the_first_claim_alone() -> None:
    table = MemoryClaimTable()

    assert table.create(claim(b"one")) is None
    second = table.create(claim(b"two"))

    assert second is not None
    assert (second.status, second.owner) == (RUNNING, b"one")
    assert not table.record(claim(b"two"), DONE, 0, b"theirs")
    assert table.record(claim(b"one"), DONE, 0, b"ours")
    done = table.read(b"flow")
    assert done is not None
    assert (done.status, done.response) == (DONE, b"ours")


def test_the_table_in_memory_takes_a_waiting_flow_on_its_own_round_alone() -> None:
    table = MemoryClaimTable()
    missing = table.take(claim(b"one"), 2)
    assert missing is not None
    assert missing.status == ""

    table.create(claim(b"one"))
    table.record(claim(b"one"), ASKED, 2, b"question")
    early = table.take(claim(b"two", answered=3), 3)
    assert early is not None
    assert (early.status, early.waiting) == (ASKED, 2)
    assert table.take(claim(b"two", answered=2), 2) is None
    late = table.take(claim(b"three", answered=2), 2)
    assert late is not None
    assert (late.status, late.owner) == (RUNNING, b"two")


def test_the_table_in_memory_lets_go_of_a_claim_for_its_owner_alone() -> None:
    table = MemoryClaimTable()
    table.create(claim(b"one"))

    table.release(claim(b"two"), 0)
    assert table.read(b"flow") is not None
    table.release(claim(b"one"), 0)
    assert table.read(b"flow") is None

    table.create(claim(b"one"))
    table.record(claim(b"one"), ASKED, 2, b"question")
    asked = table.read(b"flow")
    assert asked is not None
    table.take(claim(b"two", answered=2), 2)
    table.release(claim(b"two"), 2)
    waiting = table.read(b"flow")
    assert waiting is not None
    assert (waiting.status, waiting.waiting, waiting.answered) == (ASKED, 2, 1)
    assert (waiting.answers, waiting.response) == (asked.answers, b"question")


def test_the_table_in_memory_is_taken_over_from_a_dead_owner_alone() -> None:
    table = MemoryClaimTable()
    table.create(claim(b"dead"))

    other = table.take_over(claim(b"new"), b"somebody else")
    assert other is not None
    assert other.owner == b"dead"
    assert table.take_over(claim(b"new"), b"dead") is None
    assert not table.record(claim(b"dead"), DONE, 0, b"late")


def test_a_table_in_memory_that_is_down_says_which_action_failed() -> None:
    table = MemoryClaimTable()
    table.down = True

    with pytest.raises(Unavailable, match="PutItem"):
        table.create(claim(b"one"))
    assert table.items == {}
