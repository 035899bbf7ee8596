"""A function whose tools leave a trace of every run of their bodies: one item each in a table, so that runs can be counted from outside."""

from __future__ import annotations

import os
import signal
import uuid
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel

from mrtr import AcceptedElicitation, Context, Elicit, Resolve, Server

server = Server("workshop")


class Finish(BaseModel):
    finish: str


class Colour(BaseModel):
    colour: str


@cache
def runs() -> Any:
    import boto3  # noqa: PLC0415 - as the functions do, on first use

    return boto3.resource("dynamodb").Table(os.environ["RUNS_TABLE"])


def leave_a_trace(tool: str) -> None:
    runs().put_item(Item={"run": str(uuid.uuid4()), "tool": tool, "process": os.getpid()})
    die_at("in the body")


def die_at(point: str) -> None:
    if os.environ.get("INSTANCE_DIES") == point:
        os.kill(os.getpid(), signal.SIGKILL)


def ask_finish(what: str) -> Elicit[Finish]:
    die_at("in the resolver")
    return Elicit(f"How shall the {what} be finished?", Finish)


@server.tool()
def forge(what: str, finish: Annotated[Finish, Resolve(ask_finish)]) -> str:
    """Forge one thing, finished as the person likes it."""
    leave_a_trace("forge")
    return f"A {what}, {finish.finish}."


@server.tool(rerun_after_crash=True)
def polish(what: str, finish: Annotated[Finish, Resolve(ask_finish)]) -> str:
    """Polish one thing; doing so twice does no harm."""
    leave_a_trace("polish")
    return f"The {what} is {finish.finish}."


@server.tool()
def paint(what: str, ctx: Context) -> str:
    """Paint one thing in two coats."""
    first = ctx.elicit(f"First coat of the {what}?", Colour, key="first")
    second = ctx.elicit(f"Second coat of the {what}?", Colour, key="second")
    if not isinstance(first, AcceptedElicitation) or not isinstance(second, AcceptedElicitation):
        return f"The {what} stays bare."
    leave_a_trace("paint")
    return f"The {what} is {first.data.colour}, then {second.data.colour}."


handler = server.lambda_handler
