"""Parameters that a person fills: which questions travel together, which wait, and what becomes of each kind of answer."""

import json
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from mrtr import (
    AcceptedElicitation,
    CancelledElicitation,
    Context,
    DeclinedElicitation,
    Elicit,
    ElicitationResult,
    Resolve,
    Server,
    ToolError,
)
from mrtr.testing import Client, MemoryRuntime, accept, cancel, decline, offline

GUEST = {"ask_guest": accept(name="Ada Lovelace", phone="555-0199")}
MEAL = {"ask_meal": accept(dish="risotto")}


class Guest(BaseModel):
    name: str
    phone: str = Field(min_length=6)


class Meal(BaseModel):
    dish: Literal["risotto", "stew"]


class Wine(BaseModel):
    bottle: str


class Diet(Enum):
    ANYTHING = "anything"
    PLANTS = "plants"


class Everything(BaseModel):
    count: int = Field(ge=1, le=10)
    price: float
    day: date
    diet: Diet
    extras: list[Literal["salt", "oil"]] = []
    note: str | None = None
    sure: bool


class Kitchen:
    """A function's module, with what its resolvers look at."""

    def __init__(self) -> None:
        self.menu = "Risotto or stew"
        self.resolved: list[str] = []
        self.served: list[str] = []
        self.server = Server("kitchen")
        self._register()

    def _register(self) -> None:
        def ask_guest() -> Elicit[Guest]:
            self.resolved.append("guest")
            return Elicit("Who is it?", Guest)

        async def ask_meal(covers: int) -> Elicit[Meal]:
            self.resolved.append("meal")
            return Elicit(f"{self.menu}, for {covers}?", Meal)

        def cellar() -> list[str]:
            self.resolved.append("cellar")
            return ["Barolo", "Soave"]

        def ask_wine(
            meal: Annotated[Meal, Resolve(ask_meal)], bottles: Annotated[list[str], Resolve(cellar)], ctx: Context
        ) -> Elicit[Wine]:
            assert ctx.client_capabilities
            return Elicit(f"{' or '.join(bottles)} with the {meal.dish}?", Wine)

        def ask_outcome_first(
            guest: Annotated[ElicitationResult[Guest], Resolve(ask_guest)],
        ) -> Elicit[Meal] | Meal:
            if isinstance(guest, AcceptedElicitation):
                return Elicit(f"And for {guest.data.name}?", Meal)
            return Meal(dish="stew")

        def closed(covers: int) -> Meal:
            if covers > 8:
                raise ToolError("We have eight chairs.")
            if covers < 1:
                raise RuntimeError("a detail that nobody should see")
            return Meal(dish="stew")

        def ask_everything() -> Elicit[Everything]:
            return Elicit("All of it?", Everything)

        def ask_on_the_spot(ctx: Context) -> str:
            wine = ctx.elicit("Which wine?", Wine, key="wine")
            return wine.data.bottle if isinstance(wine, AcceptedElicitation) else "water"

        def serve(text: str) -> str:
            self.served.append(text)
            return text

        @self.server.tool()
        def dine(
            covers: int,
            guest: Annotated[Guest, Resolve(ask_guest)],
            meal: Annotated[Meal, Resolve(ask_meal)],
            wine: Annotated[Wine, Resolve(ask_wine)],
        ) -> str:
            return serve(f"{guest.name} and {covers - 1} more: {meal.dish}, {wine.bottle}")

        @self.server.tool()
        async def lunch(
            covers: int,
            meal: Annotated[ElicitationResult[Meal], Resolve(ask_meal)],
            guest: Annotated[ElicitationResult[Guest], Resolve(ask_guest)],
        ) -> str:
            kinds = {
                AcceptedElicitation: "accepted",
                DeclinedElicitation: "declined",
                CancelledElicitation: "cancelled",
            }
            return serve(f"{covers}: meal {kinds[type(meal)]}, guest {kinds[type(guest)]}")

        @self.server.tool()
        def snack(covers: int, meal: Annotated[Meal, Resolve(closed)]) -> str:
            return serve(f"{covers}: {meal.dish}")

        @self.server.tool()
        def surprise(meal: Annotated[Meal, Resolve(ask_outcome_first)]) -> str:
            return serve(meal.dish)

        @self.server.tool()
        def order(everything: Annotated[Everything, Resolve(ask_everything)]) -> str:
            return serve(repr(everything))

        @self.server.tool()
        def drink(bottle: Annotated[str, Resolve(ask_on_the_spot)]) -> str:
            return serve(bottle)


@pytest.fixture
def kitchen() -> Kitchen:
    return Kitchen()


@pytest.fixture
def runtime(kitchen: Kitchen) -> MemoryRuntime:
    return offline(kitchen.server)


@pytest.fixture
def client(kitchen: Kitchen, runtime: MemoryRuntime) -> Client:
    assert runtime.table.actions == []
    return Client(kitchen.server.lambda_handler)


def test_independent_questions_travel_in_one_round_and_a_dependent_one_in_the_next(
    client: Client, kitchen: Kitchen
) -> None:
    first = client.call("dine", {"covers": 2})
    assert list(first.questions) == ["ask_guest", "ask_meal"]
    assert first.questions["ask_meal"]["params"]["message"] == "Risotto or stew, for 2?"

    second = client.answer(first, {**GUEST, **MEAL})
    assert list(second.questions) == ["ask_wine"]
    assert second.questions["ask_wine"]["params"]["message"] == "Barolo or Soave with the risotto?"

    done = client.answer(second, {"ask_wine": accept(bottle="Soave")})
    assert done.text == "Ada Lovelace and 1 more: risotto, Soave"
    assert kitchen.served == [done.text]


def test_a_resolver_that_two_parameters_need_runs_once_a_leg(client: Client, kitchen: Kitchen) -> None:
    first = client.call("dine", {"covers": 2})
    assert sorted(kitchen.resolved) == ["cellar", "guest", "meal"]
    kitchen.resolved.clear()

    client.answer(first, {**GUEST, **MEAL})
    assert sorted(kitchen.resolved) == ["cellar", "guest", "meal"]


def test_legs_in_which_only_resolvers_ran_write_nothing(client: Client, runtime: MemoryRuntime) -> None:
    second = client.answer(client.call("dine", {"covers": 2}), {**GUEST, **MEAL})
    assert {"PutItem", "UpdateItem", "DeleteItem"}.isdisjoint(runtime.table.actions)

    client.answer(second, {"ask_wine": accept(bottle="Soave")})
    assert runtime.table.actions[-2:] == ["PutItem", "UpdateItem"]


def test_an_answer_that_is_missing_is_asked_for_again_and_the_other_is_kept(client: Client) -> None:
    first = client.call("dine", {"covers": 2})

    half = client.answer(first, GUEST)
    assert list(half.questions) == ["ask_meal"]
    second = client.answer(half, MEAL)
    assert list(second.questions) == ["ask_wine"]

    assert client.answer(second, {"ask_wine": accept(bottle="Soave")}).text.startswith("Ada Lovelace")


def test_an_answer_to_a_dependent_question_alone_leaves_the_other_open(client: Client) -> None:
    first = client.call("dine", {"covers": 2})

    reply = client.answer(first, MEAL)
    assert list(reply.questions) == ["ask_guest", "ask_wine"]
    done = client.answer(reply, {**GUEST, "ask_wine": accept(bottle="Soave")})

    assert done.text == "Ada Lovelace and 1 more: risotto, Soave"


@pytest.mark.parametrize("answers", [{}, None, {"ask_wine": accept(bottle="Soave")}, {"covers": accept(covers=3)}])
def test_keys_that_were_not_asked_are_ignored_and_the_questions_stand(client: Client, answers: Any) -> None:
    first = client.call("dine", {"covers": 2})

    again = client.answer(first, answers)

    assert again.questions == first.questions


def test_an_answer_on_the_first_leg_answers_nothing(client: Client) -> None:
    reply = client.call("dine", {"covers": 2}, answers={**GUEST, **MEAL})

    assert list(reply.questions) == ["ask_guest", "ask_meal"]


def test_an_answer_to_a_later_question_sent_ahead_is_not_kept_for_it(client: Client) -> None:
    first = client.call("dine", {"covers": 2})

    second = client.answer(first, {**GUEST, **MEAL, "ask_wine": accept(bottle="poison")})

    assert list(second.questions) == ["ask_wine"]


def test_a_client_cannot_answer_for_a_resolver_that_computes(client: Client) -> None:
    second = client.answer(client.call("dine", {"covers": 2}), {**GUEST, **MEAL, "cellar": accept(result=["Water"])})

    assert "Barolo or Soave" in second.questions["ask_wine"]["params"]["message"]


def test_a_client_that_sends_a_resolved_parameter_as_an_argument_is_ignored(client: Client) -> None:
    arguments = {"covers": 2, "guest": {"name": "Mallory", "phone": "555-0100"}, "meal": {"dish": "stew"}}

    first = client.call("dine", arguments)

    assert list(first.questions) == ["ask_guest", "ask_meal"]
    (tool,) = [tool for tool in client.list_tools().result["tools"] if tool["name"] == "dine"]
    assert tool["inputSchema"]["properties"].keys() == {"covers"}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (decline(), "The person declined to answer, so dine did nothing."),
        (cancel(), "The person closed the question without an answer, so dine did nothing."),
        ({"action": "decline", "content": {"name": "ignored"}}, "The person declined to answer, so dine did nothing."),
    ],
)
def test_a_question_that_needs_an_answer_and_is_turned_down_ends_the_call_as_a_normal_result(
    client: Client, kitchen: Kitchen, answer: Any, text: str
) -> None:
    done = client.answer(client.call("dine", {"covers": 2}), {"ask_guest": answer, **MEAL})

    assert not done.is_error
    assert done.text == text
    assert kitchen.served == []


def test_one_question_turned_down_ends_the_call_though_another_is_still_open(client: Client, kitchen: Kitchen) -> None:
    done = client.answer(client.call("dine", {"covers": 2}), {"ask_guest": decline()})

    assert done.text == "The person declined to answer, so dine did nothing."
    assert kitchen.served == []


@pytest.mark.parametrize(
    ("meal", "guest", "text"),
    [
        (MEAL["ask_meal"], GUEST["ask_guest"], "2: meal accepted, guest accepted"),
        (decline(), GUEST["ask_guest"], "2: meal declined, guest accepted"),
        (cancel(), decline(), "2: meal cancelled, guest declined"),
    ],
)
def test_a_parameter_that_takes_the_outcome_gets_every_kind_of_it(
    client: Client, meal: Any, guest: Any, text: str
) -> None:
    first = client.call("lunch", {"covers": 2})
    assert list(first.questions) == ["ask_meal", "ask_guest"]

    assert client.answer(first, {"ask_meal": meal, "ask_guest": guest}).text == text


def test_a_resolver_may_use_the_outcome_of_another_and_ask_or_not(client: Client) -> None:
    first = client.call("surprise")
    asked = client.answer(first, GUEST)
    assert asked.questions["ask_outcome_first"]["params"]["message"] == "And for Ada Lovelace?"
    assert client.answer(asked, {"ask_outcome_first": accept(dish="risotto")}).text == "risotto"

    assert client.answer(client.call("surprise"), {"ask_guest": decline()}).text == "stew"


def test_a_resolver_may_refuse_before_anyone_is_asked(client: Client, kitchen: Kitchen) -> None:
    refused = client.call("snack", {"covers": 9})

    assert refused.is_error
    assert refused.text == "We have eight chairs."
    assert client.call("snack", {"covers": 8}).text == "8: stew"
    assert kitchen.served == ["8: stew"]


def test_an_exception_in_a_resolver_is_a_result_that_names_the_request_and_no_detail(client: Client) -> None:
    failed = client.call("snack", {"covers": 0})

    assert failed.is_error
    assert "a detail that nobody should see" not in failed.response["body"]
    assert client.context.aws_request_id in failed.text


def test_a_resolver_may_ask_in_the_midst_of_its_work(client: Client) -> None:
    first = client.call("drink")
    assert list(first.questions) == ["wine"]

    assert client.answer(first, {"wine": accept(bottle="Barolo")}).text == "Barolo"


def test_a_question_worded_otherwise_meanwhile_is_asked_again_and_its_old_answer_does_not_count(
    client: Client, kitchen: Kitchen
) -> None:
    first = client.call("dine", {"covers": 2})
    kitchen.menu = "Liver or stew"

    again = client.answer(first, {**GUEST, **MEAL})
    assert list(again.questions) == ["ask_meal"]
    assert again.questions["ask_meal"]["params"]["message"] == "Liver or stew, for 2?"

    second = client.answer(again, {"ask_meal": accept(dish="stew")})
    assert "with the stew" in second.questions["ask_wine"]["params"]["message"]


def test_a_question_worded_otherwise_after_it_was_recorded_is_asked_again_too(client: Client, kitchen: Kitchen) -> None:
    second = client.answer(client.call("dine", {"covers": 2}), {**GUEST, **MEAL})
    kitchen.menu = "Liver or stew"

    again = client.answer(second, {"ask_wine": accept(bottle="Soave")})

    assert list(again.questions) == ["ask_meal"]
    assert kitchen.served == []


def test_an_invalid_answer_is_asked_again_with_the_reason_and_the_valid_one_beside_it_is_kept(
    client: Client, kitchen: Kitchen
) -> None:
    first = client.call("dine", {"covers": 2})
    short = {"ask_guest": accept(name="Ada Lovelace", phone="55501")}

    again = client.answer(first, {**short, **MEAL})

    message = again.questions["ask_guest"]["params"]["message"]
    assert message.startswith("Who is it?\n\nPlease answer again: phone: ")
    assert "55501" not in again.response["body"]
    assert "ask_meal" not in again.questions
    done = client.answer(again, {**GUEST, "ask_wine": accept(bottle="Soave")})
    assert done.text == "Ada Lovelace and 1 more: risotto, Soave"
    assert len(kitchen.served) == 1


VALID = {"count": 3, "price": 12.5, "day": "2026-12-24", "diet": "plants", "sure": True}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("count", "3", "count"),
        ("count", True, "count"),
        ("count", 3.5, "count"),
        ("count", 0, "count"),
        ("count", 11, "count"),
        ("count", None, "count"),
        ("price", "cheap", "price"),
        ("day", "24.12.2026", "day"),
        ("day", "2026-02-30", "day"),
        ("diet", "meat", "diet"),
        ("diet", "PLANTS", "diet"),
        ("extras", ["pepper"], "extras"),
        ("extras", "salt", "extras"),
        ("note", 7, "note"),
        ("sure", 1, "sure"),
        ("sure", "true", "sure"),
        ("sure", None, "sure"),
    ],
)
def test_an_answer_is_taken_strictly_as_json_says_it(client: Client, field: str, value: Any, problem: str) -> None:
    first = client.call("order")

    again = client.answer(first, {"ask_everything": accept(**{**VALID, field: value})})

    message = again.questions["ask_everything"]["params"]["message"]
    assert message.startswith(f"All of it?\n\nPlease answer again: {problem}")


@pytest.mark.parametrize(
    "content",
    [
        VALID,
        {**VALID, "count": 3.0},
        {**VALID, "extras": ["salt", "oil"], "note": "knock twice"},
        {**VALID, "unknown": "field"},
    ],
)
def test_an_answer_that_fits_is_taken(client: Client, kitchen: Kitchen, content: dict[str, Any]) -> None:
    done = client.answer(client.call("order"), {"ask_everything": accept(**content)})

    assert not done.asks
    assert "count=3, " in kitchen.served[0]


def test_an_accepted_answer_without_content_is_asked_again(client: Client) -> None:
    again = client.answer(client.call("order"), {"ask_everything": {"action": "accept"}})

    assert "Please answer again" in again.questions["ask_everything"]["params"]["message"]


@pytest.mark.parametrize(
    "responses",
    [
        [],
        "accept",
        7,
        {"ask_everything": "accept"},
        {"ask_everything": None},
        {"ask_everything": [accept()]},
        {"ask_everything": {"action": "maybe"}},
        {"ask_everything": {"content": {}}},
        {"ask_everything": {"action": "accept", "content": [1]}},
        {"ask_everything": {"action": "accept", "content": "yes"}},
    ],
)
def test_answers_of_a_wrong_shape_are_refused_and_the_state_stays_good(client: Client, responses: Any) -> None:
    first = client.call("order")
    event = client.answer(first, {}).event
    body = event["body"].replace('"inputResponses":{}', '"inputResponses":' + json.dumps(responses))

    refused = client.send({**event, "body": body})

    assert (refused.status, refused.error["code"]) == (400, -32602)
    assert not client.answer(first, {"ask_everything": accept(**VALID)}).asks


def test_after_ten_rounds_a_question_is_given_up_with_a_normal_result(
    client: Client, kitchen: Kitchen, runtime: MemoryRuntime
) -> None:
    reply = client.call("order")
    rounds = 0
    while reply.asks:
        rounds += 1
        reply = client.answer(reply, {"ask_everything": accept(**{**VALID, "count": 99})})

    assert rounds == 10
    assert not reply.is_error
    assert reply.text == "order was given up: it asked 10 times without getting what it needs."
    assert kitchen.served == []
    assert "PutItem" not in runtime.table.actions


def test_the_tenth_round_can_still_be_answered(client: Client) -> None:
    reply = client.call("order")
    for _ in range(9):
        reply = client.answer(reply, {"ask_everything": accept(**{**VALID, "count": 99})})

    assert not client.answer(reply, {"ask_everything": accept(**VALID)}).asks
