"""Whatever a body raises, and however it ends: it ran, so it does not run again."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

from mrtr import ConfigurationError, Context, InvalidSignature, Server, ToolError
from mrtr.errors import Fault, ProtocolError, StateRefused, Unavailable
from mrtr.testing import Client, Reply, accept, request_event
from tests.flow.conftest import Deployment

DETAIL = "what-went-wrong-in-detail"
YES = {"ask": accept(sure=True)}


class Sure(BaseModel):
    sure: bool


class Odd(BaseException):
    pass


FAILURES: list[Callable[[], BaseException]] = [
    lambda: RuntimeError(DETAIL),
    lambda: ConfigurationError(DETAIL),
    lambda: Unavailable(DETAIL),
    lambda: StateRefused(DETAIL),
    lambda: InvalidSignature(DETAIL),
    lambda: ProtocolError(Fault.MISSING_CAPABILITY, DETAIL),
    lambda: ProtocolError(Fault.UNAVAILABLE, DETAIL),
    lambda: SystemExit(DETAIL),
    lambda: GeneratorExit(DETAIL),
    lambda: asyncio.CancelledError(DETAIL),
    lambda: BaseExceptionGroup(DETAIL, [Odd(DETAIL)]),
    lambda: RecursionError(DETAIL),
    lambda: MemoryError(DETAIL),
]


def name_of(failure: Callable[[], BaseException]) -> str:
    error = failure()
    return type(error).__name__ + (f" {error.fault.name}" if isinstance(error, ProtocolError) else "")


class Works:
    def __init__(self) -> None:
        self.runs: list[str] = []
        self.failure: Callable[[], BaseException] = lambda: RuntimeError(DETAIL)

    def server(self) -> Server:
        server = Server("works")

        def run(ctx: Context, what: str) -> None:
            ctx.elicit("Sure?", Sure, key="ask")
            self.runs.append(what)
            raise self.failure()

        @server.tool()
        def tool(ctx: Context) -> str:
            run(ctx, "tool")
            return ""

        @server.tool()
        async def async_tool(ctx: Context) -> str:
            await asyncio.sleep(0)
            run(ctx, "async_tool")
            return ""

        @server.prompt()
        def prompt(ctx: Context) -> str:
            run(ctx, "prompt")
            return ""

        @server.resource("works://one")
        def resource(ctx: Context) -> str:
            run(ctx, "resource")
            return ""

        @server.tool()
        def wrong_type(ctx: Context) -> int:
            ctx.elicit("Sure?", Sure, key="ask")
            self.runs.append("wrong_type")
            wrong: Any = DETAIL
            return wrong  # type: ignore[no-any-return]  # what this tool is about

        @server.tool()
        async def in_tasks(ctx: Context) -> str:
            async def ask(key: str) -> bool:
                answer: Any = await ctx.elicit(f"{key}?", Sure, key=key)
                return bool(answer.data.sure)

            async with asyncio.TaskGroup() as group:
                one, two = group.create_task(ask("one")), group.create_task(ask("two"))
            self.runs.append("in_tasks")
            return f"{one.result()} {two.result()}"

        @server.tool()
        def disguised(ctx: Context) -> str:
            try:
                ctx.elicit("Sure?", Sure, key="ask")
            except BaseException as error:
                raise self.failure() from error
            self.runs.append("disguised")
            return "done"

        return server


@pytest.fixture
def works() -> Works:
    return Works()


@pytest.fixture
def client(memory: Deployment, works: Works) -> Client:
    return memory.client(works.server())


def without_id(reply: Reply) -> str:
    body: str = reply.response["body"]
    return body.replace(f'"id":{reply.message["id"]},', "", 1)


@pytest.mark.parametrize("failure", FAILURES, ids=name_of)
@pytest.mark.parametrize("tool", ["tool", "async_tool"])
def test_a_body_that_failed_after_it_acted_is_not_run_again(
    client: Client, works: Works, tool: str, failure: Callable[[], BaseException]
) -> None:
    works.failure = failure
    first = client.call(tool)

    failed = client.answer(first, YES)
    again = client.answer(first, YES)

    assert failed.status == 200
    assert failed.is_error
    assert DETAIL not in failed.response["body"]
    assert f"{tool} failed unexpectedly" in failed.text
    assert without_id(again) == without_id(failed)
    assert works.runs == [tool]


@pytest.mark.parametrize("failure", [*FAILURES[:3], lambda: ToolError("told on purpose")], ids=name_of)
@pytest.mark.parametrize(
    ("method", "params"),
    [("prompts/get", {"name": "prompt"}), ("resources/read", {"uri": "works://one"})],
    ids=["prompt", "resource"],
)
def test_a_prompt_or_a_resource_that_failed_after_it_acted_is_not_run_again_either(
    client: Client, works: Works, method: str, params: dict[str, str], failure: Callable[[], BaseException]
) -> None:
    works.failure = failure
    first = client.send(request_event(method, params))
    retry = {**params, "requestState": first.state, "inputResponses": YES}

    failed = client.send(request_event(method, retry))
    again = client.send(request_event(method, retry))

    assert "error" in failed.message
    assert DETAIL not in failed.response["body"]
    assert "nothing was done" not in failed.response["body"]
    assert again.response == failed.response
    assert len(works.runs) == 1


def test_a_result_that_is_not_what_was_promised_is_a_failure_that_stays(client: Client, works: Works) -> None:
    first = client.call("wrong_type")

    failed = client.answer(first, YES)

    assert failed.is_error
    assert DETAIL not in failed.response["body"]
    assert without_id(client.answer(first, YES)) == without_id(failed)
    assert works.runs == ["wrong_type"]


def test_questions_asked_in_tasks_of_a_group_are_questions(client: Client, works: Works) -> None:
    done = client.converse("in_tasks", {}, lambda _key, _question: accept(sure=True))

    assert done.text == "True True"
    assert works.runs == ["in_tasks"]


@pytest.mark.parametrize("failure", FAILURES, ids=name_of)
def test_a_question_that_the_body_turned_into_a_failure_is_still_a_question(
    client: Client, works: Works, failure: Callable[[], BaseException]
) -> None:
    works.failure = failure

    first = client.call("disguised")

    assert list(first.questions) == ["ask"]
    assert client.answer(first, YES).text == "done"
    assert works.runs == ["disguised"]


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"))  # raises InvalidOperation, no ValueError, where that takes over 28 digits


def test_a_validator_that_breaks_on_an_argument_is_a_failure_without_its_words(deployment: Deployment) -> None:
    server = Server("bank")

    @server.tool()
    def pay(amount: Annotated[Decimal, AfterValidator(cents)]) -> str:
        return f"paid {amount}"

    client = deployment.client(server)

    assert client.call("pay", {"amount": "1.005"}).text == "paid 1.00"
    failed = client.call("pay", {"amount": "1e40"})
    assert failed.is_error
    assert failed.text.startswith("pay failed unexpectedly; look for request ")
    assert "Decimal" not in failed.response["body"]
