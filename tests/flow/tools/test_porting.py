"""A server written against the official SDK's names runs here when only its imports and its server object change.

The same source text is run twice, once under each header. Both runs are asked the same, answered the same, and compared
round by round.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult

from local.retry_event import JsonObject
from mrtr.testing import Client as OurClient
from mrtr.testing import accept, cancel, decline

OFFICIAL = """
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations

server = MCPServer("library")
"""

OURS = """
from mrtr import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve, Server, ToolAnnotations, ToolError

server = Server("library")
"""

SOURCE = '''
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

SHELF = {"1": "Middlemarch", "2": "Emma", "3": "Ulysses"}
LENT = {"2"}


class Sure(BaseModel):
    sure: bool = Field(description="Tick to throw the book away.")


class Reader(BaseModel):
    name: str = Field(description="Who borrows it", min_length=2)
    weeks: int = Field(default=2, ge=1, le=8)


class Pickup(BaseModel):
    desk: Literal["north", "south"]


class Wait(BaseModel):
    wait: bool


def ask_sure(book_id: str) -> Elicit[Sure]:
    if book_id not in SHELF:
        raise ToolError(f"No book {book_id}")
    return Elicit(f"Throw away {SHELF[book_id]}?", Sure)


@server.tool(annotations=ToolAnnotations(destructive_hint=True, idempotent_hint=True))
def throw_away(book_id: str, answer: Annotated[ElicitationResult[Sure], Resolve(ask_sure)]) -> str:
    """Throw one book away."""
    if isinstance(answer, AcceptedElicitation) and answer.data.sure:
        return f"{SHELF[book_id]} is gone."
    return f"{SHELF[book_id]} stays: {answer.action}."


async def ask_reader(book_id: str) -> Elicit[Reader]:
    return Elicit(f"Who borrows {SHELF[book_id]}?", Reader)


def ask_pickup() -> Elicit[Pickup]:
    return Elicit("At which desk?", Pickup)


def is_lent(book_id: str) -> bool:
    return book_id in LENT


def ask_wait(
    book_id: str, lent: Annotated[bool, Resolve(is_lent)], reader: Annotated[Reader, Resolve(ask_reader)]
) -> Elicit[Wait] | Wait:
    if not lent:
        return Wait(wait=False)
    return Elicit(f"{SHELF[book_id]} is lent. Does {reader.name} wait for it?", Wait)


@server.tool(title="Lend a book")
async def lend(
    book_id: str,
    reader: Annotated[Reader, Resolve(ask_reader)],
    pickup: Annotated[Pickup, Resolve(ask_pickup)],
    wait: Annotated[ElicitationResult[Wait], Resolve(ask_wait)],
    ctx: Context,
    until: date | None = None,
) -> dict[str, str | int | bool]:
    """Lend a book."""
    waits = isinstance(wait, AcceptedElicitation) and wait.data.wait
    return {"reader": reader.name, "weeks": reader.weeks, "desk": pickup.desk, "waits": waits}


@server.tool()
def count(shelf: Literal["a", "b"] = "a", at_least: int = 0) -> int:
    """Count the books."""
    return max(len(SHELF), at_least)
'''

Answers = Mapping[str, JsonObject]


@dataclass
class Run:
    """Everything a client could tell two servers apart by."""

    questions: list[dict[str, JsonObject]]
    texts: list[Any]
    structured: Any
    is_error: bool


_numbers = itertools.count()


@pytest.fixture
def modules(aws: Any) -> Iterator[tuple[ModuleType, ModuleType]]:  # noqa: ARG001  ours needs its secret and its table
    made = []
    for header in (OFFICIAL, OURS):
        module = ModuleType(f"ported_{next(_numbers)}")
        sys.modules[module.__name__] = module
        exec(header + SOURCE, module.__dict__)  # noqa: S102  the source is the constant above
        made.append(module)
    yield made[0], made[1]
    for module in made:
        del sys.modules[module.__name__]


def run_official(module: ModuleType, name: str, arguments: JsonObject, rounds: Sequence[Answers]) -> Run:
    async def never_asked(context: object, params: object) -> ElicitResult:  # noqa: ARG001  the SDK names them
        raise AssertionError("the rounds are driven by hand")

    async def drive() -> Run:
        asked: list[dict[str, JsonObject]] = []
        async with Client(module.server, elicitation_callback=never_asked) as client:
            result = await client.session.call_tool(name, arguments, allow_input_required=True)
            for answers in rounds:
                assert isinstance(result, InputRequiredResult), result
                requests = result.input_requests or {}
                asked.append({k.rpartition(":")[2]: _form(_dump(v.params)) for k, v in requests.items()})
                by_key = {k: ElicitResult.model_validate(answers[k.rpartition(":")[2]]) for k in requests}
                result = await client.session.call_tool(
                    name,
                    arguments,
                    input_responses=dict(by_key),
                    request_state=result.request_state,
                    allow_input_required=True,
                )
        assert isinstance(result, CallToolResult), result
        return Run(asked, _texts(_dump(result)["content"]), result.structured_content, bool(result.is_error))

    return asyncio.run(drive())


def run_ours(module: ModuleType, name: str, arguments: JsonObject, rounds: Sequence[Answers]) -> Run:
    client = OurClient(module.server.lambda_handler)
    asked: list[dict[str, JsonObject]] = []
    reply = client.call(name, arguments)
    for answers in rounds:
        asked.append({key: _form(question["params"]) for key, question in reply.questions.items()})
        reply = client.answer(reply, {key: answers[key] for key in reply.questions})
    result = reply.result
    assert result["resultType"] == "complete", result
    return Run(asked, _texts(result["content"]), result.get("structuredContent"), reply.is_error)


def _form(params: JsonObject) -> JsonObject:
    return {"message": params["message"], "schema": params["requestedSchema"]}


def _texts(content: list[JsonObject]) -> list[Any]:
    """The blocks' texts, parsed where they are JSON: how it is indented is each server's own business."""
    assert {block["type"] for block in content} == {"text"}
    texts: list[Any] = []
    for block in content:
        try:
            texts.append(json.loads(block["text"]))
        except ValueError:
            texts.append(block["text"])
    return texts


def _dump(model: Any) -> JsonObject:
    dumped: JsonObject = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    return dumped


SURE = {"ask_sure": accept(sure=True)}
FIRST_ROUND = {"ask_reader": accept(name="Ada", weeks=3), "ask_pickup": accept(desk="north")}


@pytest.mark.parametrize(
    ("name", "arguments", "rounds"),
    [
        ("throw_away", {"book_id": "1"}, [SURE]),
        ("throw_away", {"book_id": "1"}, [{"ask_sure": accept(sure=False)}]),
        ("throw_away", {"book_id": "1"}, [{"ask_sure": decline()}]),
        ("throw_away", {"book_id": "1"}, [{"ask_sure": cancel()}]),
        ("lend", {"book_id": "1"}, [FIRST_ROUND]),
        ("lend", {"book_id": "1", "until": "2026-12-24"}, [FIRST_ROUND]),
        ("lend", {"book_id": "1"}, [{**FIRST_ROUND, "ask_reader": accept(name="Ada")}]),
        ("lend", {"book_id": "2"}, [FIRST_ROUND, {"ask_wait": accept(wait=True)}]),
        ("lend", {"book_id": "2"}, [FIRST_ROUND, {"ask_wait": decline()}]),
        ("count", {}, []),
        ("count", {"shelf": "b", "at_least": 5}, []),
    ],
)
def test_the_same_source_asks_and_answers_the_same_under_both_headers(
    modules: tuple[ModuleType, ModuleType], name: str, arguments: JsonObject, rounds: Sequence[Answers]
) -> None:
    official, ours = modules

    assert run_ours(ours, name, arguments, rounds) == run_official(official, name, arguments, rounds)


@pytest.mark.parametrize(
    ("name", "arguments"), [("throw_away", {"book_id": "9"}), ("throw_away", {}), ("count", {"shelf": "z"})]
)
def test_what_one_refuses_the_other_refuses(
    modules: tuple[ModuleType, ModuleType], name: str, arguments: JsonObject
) -> None:
    official, ours = modules

    assert run_official(official, name, arguments, []).is_error is True
    assert run_ours(ours, name, arguments, []).is_error is True


def test_a_declined_plain_model_ends_the_call_without_an_error_here(modules: tuple[ModuleType, ModuleType]) -> None:
    """The one wanted difference: the official SDK reports this as an error, which makes models try again."""
    official, ours = modules
    rounds = [{**FIRST_ROUND, "ask_reader": decline()}]

    assert run_official(official, "lend", {"book_id": "1"}, rounds).is_error is True
    assert run_ours(ours, "lend", {"book_id": "1"}, rounds).is_error is False


def test_the_tools_take_the_same_arguments_under_both_headers(modules: tuple[ModuleType, ModuleType]) -> None:
    official, ours = modules

    async def listed() -> list[JsonObject]:
        async with Client(official.server) as client:
            return [_dump(tool) for tool in (await client.list_tools()).tools]

    theirs = {tool["name"]: tool for tool in asyncio.run(listed())}
    mine = {tool["name"]: tool for tool in ours.server.tool_definitions()}

    assert mine.keys() == theirs.keys()
    for name, tool in mine.items():
        assert tool["inputSchema"]["properties"].keys() == theirs[name]["inputSchema"]["properties"].keys()
        assert tool["inputSchema"].get("required", []) == theirs[name]["inputSchema"].get("required", [])
        assert tool["description"] == theirs[name]["description"]
        assert tool.get("title") == theirs[name].get("title")
    assert mine["throw_away"]["annotations"]["destructiveHint"] is True
    assert theirs["throw_away"]["annotations"]["destructiveHint"] is True
