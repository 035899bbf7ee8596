"""Questions that the client did not declare it can ask: refused, with nothing done and nothing used up."""

import asyncio
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from mrtr import AcceptedElicitation, Context, Elicit, Resolve, Server
from mrtr.testing import Client, Reply, accept
from tests.flow.conftest import Deployment

REQUIRED: dict[str, Any] = {"elicitation": {"form": {}}}
FORM: list[dict[str, Any]] = [
    {"elicitation": {}},
    {"elicitation": {"form": {}}},
    {"elicitation": {"form": {}, "url": {}}, "sampling": {}},
]
NO_FORM: list[dict[str, Any]] = [
    {},
    {"sampling": {}},
    {"elicitation": {"url": {}}},
    {"elicitation": None},
    {"elicitation": True},
    {"elicitation": []},
    {"elicitation": {"form": None, "url": {}}},
    {"experimental": {"elicitation": {"form": {}}}},
]


class Sure(BaseModel):
    sure: bool


class Shed:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.inside: Callable[[], None] = lambda: None

    def server(self) -> Server:
        server = Server("shed")

        def ask() -> Elicit[Sure]:
            return Elicit("Sure?", Sure)

        @server.tool()
        def mow(sure: Annotated[Sure, Resolve(ask)]) -> str:
            self.done.append("mow")
            return f"mown: {sure.sure}"

        @server.tool()
        def dig(ctx: Context) -> str:
            for depth in ("first", "second"):
                self.inside()
                if not isinstance(ctx.elicit(f"The {depth} foot?", Sure, key=depth), AcceptedElicitation):
                    return "not dug"
            self.done.append("dig")
            return "dug"

        @server.tool()
        def careless(ctx: Context) -> str:
            try:
                ctx.elicit("Sure?", Sure, key="ask")
            except Exception:  # noqa: BLE001 - what this tool is about
                self.done.append("careless")
                return "swallowed"
            self.done.append("careless")
            return "done"

        @server.tool()
        async def hasty(ctx: Context) -> str:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.ask_in_a_task(ctx))
            return "done"

        @server.tool()
        def plain() -> str:
            return "nothing to ask"

        return server

    async def ask_in_a_task(self, ctx: Context) -> None:
        await ctx.elicit("Sure?", Sure, key="ask")


@pytest.fixture
def shed() -> Shed:
    return Shed()


def refusal(reply: Reply) -> dict[str, Any]:
    assert reply.status == 400
    assert reply.error["code"] == -32021
    data: dict[str, Any] = reply.error["data"]
    return data


@pytest.mark.parametrize("capabilities", FORM)
def test_a_client_that_shows_forms_is_asked(memory: Deployment, shed: Shed, capabilities: Any) -> None:
    client = memory.client(shed.server(), capabilities=capabilities)

    assert list(client.call("mow").questions) == ["ask"]


@pytest.mark.parametrize("tool", ["mow", "dig", "careless", "hasty"])
@pytest.mark.parametrize("capabilities", NO_FORM)
def test_a_client_that_shows_no_forms_is_told_what_it_would_need(
    memory: Deployment, shed: Shed, capabilities: Any, tool: str
) -> None:
    client = memory.client(shed.server(), capabilities=capabilities)

    assert refusal(client.call(tool)) == {"requiredCapabilities": REQUIRED}
    assert shed.done == []


def test_a_tool_that_asks_nothing_needs_no_capability(memory: Deployment, shed: Shed) -> None:
    assert memory.client(shed.server(), capabilities={}).call("plain").text == "nothing to ask"


def test_capabilities_are_those_of_the_request_at_hand_and_not_of_the_one_before(
    memory: Deployment, shed: Shed
) -> None:
    server = shed.server()
    able, unable = memory.client(server), Client(server.lambda_handler, capabilities={})
    first = able.call("mow")

    refusal(unable.call("mow"))
    done = unable.answer(first, {"ask": accept(sure=True)})  # it answers: nothing is left to ask

    assert done.text == "mown: True"


def test_a_capability_lost_before_the_claim_leaves_no_claim(deployment: Deployment, shed: Shed) -> None:
    server = shed.server()
    able, unable = deployment.client(server), Client(server.lambda_handler, capabilities={})
    first = able.call("mow")

    assert refusal(unable.answer(first, {})) == {"requiredCapabilities": REQUIRED}

    assert able.answer(first, {"ask": accept(sure=True)}).text == "mown: True"
    assert shed.done == ["mow"]


def test_a_capability_lost_between_two_questions_of_a_body_gives_the_claim_back(
    deployment: Deployment, shed: Shed
) -> None:
    server = shed.server()
    able, unable = deployment.client(server), Client(server.lambda_handler, capabilities={})
    first = able.call("dig")
    answer = {"first": accept(sure=True)}

    assert refusal(unable.answer(first, answer)) == {"requiredCapabilities": REQUIRED}

    second = able.answer(first, answer)
    assert list(second.questions) == ["second"]
    assert able.answer(second, {"second": accept(sure=True)}).text == "dug"
    assert shed.done == ["dig"]


@pytest.fixture
def thrice(shed: Shed) -> Server:
    """A server whose tool asks three times, so that its second answered leg has an item to go back to."""
    server = Server("shed")

    @server.tool()
    def dig(ctx: Context) -> str:
        for depth in ("first", "second", "third"):
            ctx.elicit(f"The {depth} foot?", Sure, key=depth)
            if depth == "second":
                shed.inside()
        shed.done.append("dig")
        return "dug"

    return server


def test_a_claim_given_back_to_its_question_leaves_every_leg_as_it_was(
    deployment: Deployment, shed: Shed, thrice: Server
) -> None:
    able, unable = deployment.client(thrice), Client(thrice.lambda_handler, capabilities={})
    first = able.call("dig")
    second = able.answer(first, {"first": accept(sure=True)})
    refusal(unable.answer(second, {"second": accept(sure=True)}))

    repeated = able.answer(first, {"first": accept(sure=True)})
    third = able.answer(second, {"second": accept(sure=True)})

    assert repeated.result == second.result
    assert list(third.questions) == ["third"]
    assert able.answer(third, {"third": accept(sure=True)}).text == "dug"
    assert shed.done == ["dig"]


def test_a_duplicate_held_while_a_claim_is_given_back_is_told_to_come_back_and_not_refused(
    deployment: Deployment, shed: Shed, thrice: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    able, unable = deployment.client(thrice), Client(thrice.lambda_handler, capabilities={})
    second = able.answer(able.call("dig"), {"first": accept(sure=True)})
    answer = {"second": accept(sure=True)}
    begun, let_go = threading.Event(), threading.Event()

    def inside() -> None:
        shed.inside = lambda: None
        begun.set()
        let_go.wait()

    shed.inside = inside
    refused = threading.Thread(target=unable.answer, args=(second, answer))
    refused.start()
    begun.wait()

    def sleep(seconds: float) -> None:
        deployment.clock.advance(seconds)
        let_go.set()
        refused.join()

    assert thrice._runtime is not None
    monkeypatch.setattr(thrice._runtime.single_use, "_sleep", sleep)
    held = able.answer(second, answer)

    assert held.questions == {}
    assert list(able.answer(held).questions) == ["third"]
