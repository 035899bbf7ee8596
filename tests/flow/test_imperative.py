"""Bodies that ask in the midst of their work: `ctx.elicit` reads as if it waited, and the body starts anew on every leg."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from mrtr import AcceptedElicitation, Context, Server, ToolError
from mrtr.testing import Client, Reply, accept, cancel, decline
from tests.flow.conftest import Deployment

REFUSED = {"code": -32602, "message": "Invalid or expired requestState"}


class Line(BaseModel):
    text: str


class Number(BaseModel):
    number: int


FIRST = {"first": accept(text="roses are red")}
SECOND = {"second": accept(text="violets are blue")}
THIRD = {"third": accept(text="and so are you")}


class Poets:
    """starts: how often a body began; ends: what bodies did after their last question."""

    def __init__(self) -> None:
        self.starts = 0
        self.ends: list[str] = []
        self.inside: Callable[[], None] = lambda: None

    def server(self) -> Server:
        server = Server("poets")

        def line(ctx: Context, key: str) -> str:
            answer = ctx.elicit(f"The {key} line?", Line, key=key)
            return answer.data.text if isinstance(answer, AcceptedElicitation) else f"({answer.action})"

        @server.tool()
        def rhyme(ctx: Context) -> str:
            self.starts += 1
            lines = [line(ctx, key) for key in ("first", "second", "third")]
            self.inside()
            self.ends.append("\n".join(lines))
            return self.ends[-1]

        @server.tool()
        def careless(ctx: Context) -> str:
            self.starts += 1
            try:
                lines = [line(ctx, key) for key in ("first", "second")]
            except Exception as error:  # noqa: BLE001 - what this tool is about
                return f"swallowed {type(error).__name__}"
            self.ends.append("\n".join(lines))
            return self.ends[-1]

        @server.tool()
        def ruthless(ctx: Context) -> str:
            lines = []
            for key in ("first", "second"):
                try:
                    lines.append(line(ctx, key))
                except:  # noqa: E722 - what this tool is about
                    lines.append("(lost)")
            self.ends.append("\n".join(lines))
            return self.ends[-1]

        @server.tool()
        def tidy(ctx: Context) -> str:
            try:
                return line(ctx, "first")
            finally:
                self.ends.append("tidied")

        @server.tool()
        async def gentle(ctx: Context) -> str:
            self.starts += 1
            await asyncio.sleep(0)
            first = await ctx.elicit("The first line?", Line, key="first")
            second = await ctx.elicit("The second line?", Line, key="second")
            assert isinstance(first, AcceptedElicitation)
            assert isinstance(second, AcceptedElicitation)
            self.ends.append(f"{first.data.text}\n{second.data.text}")
            return self.ends[-1]

        @server.tool()
        async def together(ctx: Context) -> str:
            async def ask(key: str) -> str:
                answer = await ctx.elicit(f"The {key} line?", Line, key=key)
                return answer.data.text if isinstance(answer, AcceptedElicitation) else ""

            return "\n".join(await asyncio.gather(ask("first"), ask("second")))

        @server.tool()
        def unnamed(ctx: Context) -> int:
            answers = [ctx.elicit(f"Number {n}?", Number) for n in (1, 2)]
            return sum(answer.data.number for answer in answers if isinstance(answer, AcceptedElicitation))

        @server.tool()
        def endless(ctx: Context) -> str:
            self.starts += 1
            for number in range(50):
                ctx.elicit(f"Line {number}?", Line, key=f"line {number}")
            self.ends.append("never")
            return "never"

        @server.tool()
        def fussy(ctx: Context) -> str:
            answer = ctx.elicit("A line?", Line, key="first")
            raise ToolError(f"{answer.action}, but it does not rhyme")

        return server


@pytest.fixture
def poets() -> Poets:
    return Poets()


@pytest.fixture
def client(deployment: Deployment, poets: Poets) -> Client:
    return deployment.client(poets.server())


@pytest.fixture
def other(deployment: Deployment, poets: Poets) -> Client:
    return deployment.client(poets.server())


def without_id(reply: Reply) -> str:
    body: str = reply.response["body"]
    return body.replace(f'"id":{reply.message["id"]},', "", 1)


def test_each_question_of_a_body_is_a_round_and_the_body_starts_anew_in_each(
    client: Client, other: Client, poets: Poets
) -> None:
    first = client.call("rhyme")
    second = other.answer(first, FIRST)
    third = client.answer(second, SECOND)
    done = other.answer(third, THIRD)

    assert [list(reply.questions) for reply in (first, second, third)] == [["first"], ["second"], ["third"]]
    assert done.text == "roses are red\nviolets are blue\nand so are you"
    assert poets.starts == 4
    assert poets.ends == [done.text]


def test_each_leg_can_be_repeated_right_away_and_gets_the_same_bytes_but_for_the_id(
    client: Client, other: Client, poets: Poets
) -> None:
    first = client.call("rhyme")
    reply = first
    for answers in (FIRST, SECOND, THIRD):
        asked = reply
        reply = client.answer(asked, answers)
        starts = poets.starts
        assert without_id(other.answer(asked, answers)) == without_id(reply)
        assert without_id(client.again(reply)) == without_id(reply)
        assert poets.starts == starts

    assert len(poets.ends) == 1


def test_a_state_repeated_to_a_duplicate_is_as_good_as_the_first_copy(client: Client, other: Client) -> None:
    first = client.call("rhyme")
    client.answer(first, FIRST)
    copy = other.answer(first, FIRST)
    third = other.answer(copy, SECOND)

    assert client.answer(third, THIRD).text == "roses are red\nviolets are blue\nand so are you"


@pytest.mark.parametrize("used", [1, 2, 3])
@pytest.mark.parametrize(
    "answer",
    [accept(text="something else"), decline(), cancel(), None],
    ids=["other text", "decline", "cancel", "none"],
)
def test_a_question_of_a_body_that_was_answered_takes_no_other_answer(
    client: Client, other: Client, poets: Poets, used: int, answer: Any
) -> None:
    rounds = [FIRST, SECOND, THIRD]
    reply = client.call("rhyme")
    for answers in rounds[: used - 1]:
        reply = client.answer(reply, answers)
    then = client.answer(reply, rounds[used - 1])
    starts = poets.starts
    (key,) = rounds[used - 1]

    refused = other.answer(reply, None if answer is None else {key: answer})

    assert refused.error == REFUSED
    assert poets.starts == starts
    for answers in rounds[used:]:
        then = client.answer(then, answers)
    assert then.text == "roses are red\nviolets are blue\nand so are you"


def test_a_state_of_an_earlier_round_does_not_bring_the_call_back_there(
    client: Client, other: Client, poets: Poets
) -> None:
    first = client.call("rhyme")
    second = client.answer(first, FIRST)
    third = client.answer(second, SECOND)

    assert other.answer(first, FIRST).error == REFUSED
    assert client.answer(third, THIRD).text.startswith("roses")
    assert other.answer(second, SECOND).error == REFUSED
    assert other.answer(first, FIRST).error == REFUSED
    assert len(poets.ends) == 1


def test_two_answers_to_one_question_make_no_two_branches(client: Client, other: Client, poets: Poets) -> None:
    first = client.call("rhyme")
    second = client.answer(first, FIRST)

    assert other.answer(first, {"first": accept(text="lilies are white")}).error == REFUSED

    third = client.answer(second, SECOND)
    assert other.answer(second, {"second": accept(text="pansies are blue")}).error == REFUSED
    assert client.answer(third, THIRD).text == "roses are red\nviolets are blue\nand so are you"
    assert len(poets.ends) == 1


def test_a_duplicate_of_a_later_leg_is_held_and_told_to_come_back_while_the_body_runs(
    client: Client, other: Client, poets: Poets
) -> None:
    second = client.answer(client.call("rhyme"), FIRST)
    third = client.answer(second, SECOND)
    held: list[Reply] = []

    def inside() -> None:
        poets.inside = lambda: None
        held.append(other.answer(third, THIRD))

    poets.inside = inside
    done = client.answer(third, THIRD)

    assert held[0].questions == {}
    assert without_id(other.answer(held[0])) == without_id(done)
    assert len(poets.ends) == 1


def test_declining_a_question_is_an_outcome_that_the_body_sees(client: Client) -> None:
    second = client.answer(client.call("rhyme"), {"first": decline()})
    third = client.answer(second, {"second": cancel()})

    assert client.answer(third, THIRD).text == "(decline)\n(cancel)\nand so are you"


@pytest.mark.parametrize("tool", ["careless", "ruthless"])
def test_a_broad_except_in_the_body_does_not_swallow_the_question(client: Client, tool: str) -> None:
    first = client.call(tool)
    assert "first" in first.questions
    assert "complete" not in first.response["body"]

    reply = first
    while reply.asks:
        reply = client.answer(reply, {key: {**FIRST, **SECOND}[key] for key in reply.questions})

    assert reply.text == "roses are red\nviolets are blue"


def test_a_finally_in_the_body_runs_on_every_leg(client: Client, poets: Poets) -> None:
    assert client.answer(client.call("tidy"), FIRST).text == "roses are red"
    assert poets.ends == ["tidied", "tidied"]


def test_an_async_body_asks_one_question_after_another_too(client: Client, other: Client, poets: Poets) -> None:
    first = client.call("gentle")
    second = other.answer(first, FIRST)
    done = client.answer(second, SECOND)

    assert [list(first.questions), list(second.questions)] == [["first"], ["second"]]
    assert done.text == "roses are red\nviolets are blue"
    assert without_id(other.again(done)) == without_id(done)
    assert poets.starts == 3
    assert len(poets.ends) == 1


def test_questions_that_an_async_body_asks_at_once_are_all_answered_in_the_end(client: Client) -> None:
    answers = {**FIRST, **SECOND}

    done = client.converse("together", {}, lambda key, _question: answers[key])

    assert done.text == "roses are red\nviolets are blue"


def test_questions_without_a_key_are_numbered_in_the_order_they_are_asked(client: Client) -> None:
    first = client.call("unnamed")
    assert list(first.questions) == ["question_1"]
    second = client.answer(first, {"question_1": accept(number=40)})
    assert list(second.questions) == ["question_2"]

    assert client.answer(second, {"question_2": accept(number=2)}).result["structuredContent"] == {"result": 42}


def test_an_invalid_answer_is_asked_again_with_the_reason_and_without_what_was_sent(
    client: Client, poets: Poets
) -> None:
    first = client.call("rhyme")
    again = client.answer(first, {"first": accept(text=["not", "one", "line-that-nobody-should-see"])})
    message = again.questions["first"]["params"]["message"]
    assert message.startswith("The first line?\n\nPlease answer again: text: ")
    assert "line-that-nobody-should-see" not in again.response["body"]

    second = client.answer(again, FIRST)
    assert list(second.questions) == ["second"]
    third = client.answer(second, SECOND)
    assert client.answer(third, THIRD).text.startswith("roses are red")
    assert len(poets.ends) == 1


def test_a_missing_answer_is_asked_for_again(client: Client) -> None:
    first = client.call("rhyme")
    for answers in ({}, None, {"nobody_asked": accept(text="roses are red")}):
        reply = client.answer(first, answers)
        assert reply.questions == first.questions
        first = reply
    assert list(client.answer(first, FIRST).questions) == ["second"]


def test_a_round_without_an_answer_is_a_round_of_its_own_and_is_not_taken_for_a_later_one(
    client: Client, other: Client, poets: Poets
) -> None:
    first = client.call("rhyme")
    second = client.answer(first, {})
    third = client.answer(second, {})
    starts = poets.starts

    assert without_id(other.answer(second, {})) == without_id(third)
    assert other.answer(first, {}).error == REFUSED
    assert poets.starts == starts
    assert list(client.answer(third, FIRST).questions) == ["second"]


def test_after_ten_rounds_a_body_is_given_up_with_a_normal_result(client: Client, other: Client, poets: Poets) -> None:
    legs = [client.call("endless")]
    answers: dict[str, Any] = {}
    while legs[-1].asks:
        (key,) = legs[-1].questions
        answers = {key: accept(text=f"verse {len(legs)}")}
        legs.append(client.answer(legs[-1], answers))

    last, reply = legs[-2:]
    assert len(legs) == 11
    assert not reply.is_error
    assert reply.text == "endless was given up: it asked 10 times without getting what it needs."
    assert poets.ends == []
    assert without_id(other.answer(last, answers)) == without_id(reply)


def test_a_tool_error_after_a_question_is_a_result_that_duplicates_share(client: Client, other: Client) -> None:
    first = client.call("fussy")
    failed = client.answer(first, FIRST)

    assert failed.is_error
    assert failed.text == "accept, but it does not rhyme"
    assert without_id(other.answer(first, FIRST)) == without_id(failed)


def test_a_body_that_asks_first_writes_nothing_until_it_is_answered(memory: Deployment, poets: Poets) -> None:
    client = memory.client(poets.server())
    table = client._handler.__self__._runtime.table  # type: ignore[attr-defined]  # a bound method of the server

    first = client.call("rhyme")
    assert table.actions == []
    second = client.answer(first, FIRST)
    assert table.actions == ["PutItem", "UpdateItem"]
    third = client.answer(second, SECOND)
    assert table.actions == ["PutItem", "UpdateItem", "UpdateItem", "UpdateItem"]
    client.answer(third, THIRD)

    assert len(table.actions) == 6
    assert {(item.status, item.answered) for item in table.items.values()} == {("done", 3)}


def test_the_item_of_an_asking_body_says_which_round_it_waits_for(memory: Deployment, poets: Poets) -> None:
    client = memory.client(poets.server())
    table = client._handler.__self__._runtime.table  # type: ignore[attr-defined]  # a bound method of the server
    seen: list[tuple[str, int, int]] = []

    def look() -> None:
        seen.extend((item.status, item.answered, item.waiting) for item in table.items.values())

    first = client.call("rhyme")
    second = client.answer(first, FIRST)
    look()
    third = client.answer(second, SECOND)
    look()
    poets.inside = look
    client.answer(third, THIRD)
    look()

    assert seen == [("asked", 1, 2), ("asked", 2, 3), ("running", 3, 3), ("done", 3, 0)]
