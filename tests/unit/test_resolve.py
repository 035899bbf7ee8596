# Annotations are evaluated as they stand: functions within tests name other functions within tests.
import asyncio
import inspect
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from mrtr import state as states
from mrtr.context import Context
from mrtr.dialogue import Dialogue, Paused
from mrtr.errors import ToolError
from mrtr.outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, ElicitationResult
from mrtr.questions import Elicit, ElicitUrl
from mrtr.resolve import NotAccepted, fill
from mrtr.signature import Resolve, analyse
from mrtr.state import FlowState

FORMS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
YES = {"action": "accept", "content": {"confirm": True}}
DECLINE, CANCEL = {"action": "decline"}, {"action": "cancel"}
CONTEXT: Any = object()
"""Resolvers only pass it on."""


class Confirm(BaseModel):
    confirm: bool


class Flow:
    """A call of `fn`, leg by leg."""

    def __init__(self, fn: Callable[..., Any], **arguments: Any) -> None:
        self._plan = analyse(fn)
        self._arguments = arguments
        self._state: FlowState = states.new_flow(1_800_000_000, 3600)
        self.asked: list[str] = []

    def leg(self, **answers: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the body. Raises Paused, with the questions in `asked`."""
        dialogue = Dialogue(self._state, answers, FORMS)
        try:
            return asyncio.run(fill(self._plan, self._arguments, CONTEXT, dialogue))
        finally:
            self.asked = list(dialogue.pending)
            self._state = dialogue.advance(self._state)

    def pauses(self, **answers: dict[str, Any]) -> list[str]:
        """The questions at which the leg pauses."""
        with pytest.raises(Paused):
            self.leg(**answers)
        return self.asked


def ask() -> Elicit[Confirm]:
    return Elicit("Sure?", Confirm)


def ask_too() -> Elicit[Confirm]:
    return Elicit("Sure as well?", Confirm)


def test_arguments_and_the_context_reach_body_and_resolvers() -> None:
    def size(note_id: str, ctx: Context) -> tuple[int, Any]:
        return len(note_id), ctx

    def tool(ctx: Context, note_id: str, measured: Annotated[tuple[int, Any], Resolve(size)]) -> None: ...

    assert Flow(tool, note_id="abc").leg() == {"ctx": CONTEXT, "note_id": "abc", "measured": (3, CONTEXT)}


def test_a_resolver_that_asks_pauses_until_its_answer_is_there() -> None:
    def tool(note_id: str, sure: Annotated[Confirm, Resolve(ask)]) -> None: ...

    flow = Flow(tool, note_id="7")
    assert flow.pauses() == ["ask"]
    assert flow.leg(ask=YES) == {"note_id": "7", "sure": Confirm(confirm=True)}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (YES, AcceptedElicitation(Confirm(confirm=True))),
        (DECLINE, DeclinedElicitation()),
        (CANCEL, CancelledElicitation()),
    ],
)
def test_a_parameter_that_wants_the_outcome_gets_whichever_it_is(answer: dict[str, Any], outcome: object) -> None:
    def tool(sure: Annotated[ElicitationResult[Confirm], Resolve(ask)]) -> None: ...

    flow = Flow(tool)
    flow.pauses()
    assert flow.leg(ask=answer) == {"sure": outcome}


@pytest.mark.parametrize(("answer", "action"), [(DECLINE, "decline"), (CANCEL, "cancel")])
def test_a_parameter_that_wants_the_data_ends_the_call_when_there_is_none(answer: dict[str, Any], action: str) -> None:
    def through(sure: Annotated[Confirm, Resolve(ask)]) -> bool:
        return sure.confirm

    def direct(x: Annotated[Confirm, Resolve(ask)]) -> None: ...

    def nested(x: Annotated[bool, Resolve(through)]) -> None: ...

    for fn in (direct, nested):
        flow = Flow(fn)
        flow.pauses()
        with pytest.raises(NotAccepted) as turned_down:
            flow.leg(ask=answer)
        assert turned_down.value.action == action


def test_a_resolver_that_computes_gives_its_value_or_an_accepted_outcome_of_it() -> None:
    def compute() -> int:
        return 41

    def tool(
        value: Annotated[int, Resolve(compute)], outcome: Annotated[ElicitationResult[Confirm], Resolve(compute)]
    ) -> None: ...

    assert Flow(tool).leg() == {"value": 41, "outcome": AcceptedElicitation(41)}


def test_a_client_cannot_answer_for_a_resolver_that_computes() -> None:
    def compute() -> Confirm:
        return Confirm(confirm=False)

    def tool(a: Annotated[Confirm, Resolve(ask)], b: Annotated[Confirm, Resolve(compute)]) -> None: ...

    flow = Flow(tool)
    flow.pauses(compute=YES)
    assert flow.leg(ask=YES, compute=YES) == {"a": Confirm(confirm=True), "b": Confirm(confirm=False)}


def test_a_resolver_may_ask_or_not_as_its_arguments_have_it() -> None:
    def maybe(count: int) -> Elicit[Confirm] | Confirm:
        return Elicit("That many?", Confirm) if count > 3 else Confirm(confirm=True)

    def tool(count: int, sure: Annotated[Confirm, Resolve(maybe)]) -> None: ...

    assert Flow(tool, count=3).leg()["sure"] == Confirm(confirm=True)
    assert Flow(tool, count=4).pauses() == ["maybe"]


def test_independent_questions_travel_in_one_round_and_dependent_ones_in_the_next() -> None:
    def ask_after(sure: Annotated[Confirm, Resolve(ask)]) -> Elicit[Confirm]:
        return Elicit(f"So {sure.confirm}?", Confirm)

    def tool(
        last: Annotated[Confirm, Resolve(ask_after)],
        sure: Annotated[Confirm, Resolve(ask)],
        too: Annotated[Confirm, Resolve(ask_too)],
    ) -> None: ...

    flow = Flow(tool)
    assert flow.pauses() == ["ask", "ask_too"]
    assert flow.pauses(ask=YES, ask_too=YES) == ["ask_after"]
    assert flow.leg(ask_after=YES) == dict.fromkeys(("last", "sure", "too"), Confirm(confirm=True))


def test_a_dependent_question_is_asked_anew_when_what_it_depends_on_reads_differently() -> None:
    notes = ["old text"]

    def ask_about() -> Elicit[Confirm]:
        return Elicit(f"Delete {notes[0]}?", Confirm)

    def tool(sure: Annotated[Confirm, Resolve(ask_about)]) -> None: ...

    flow = Flow(tool)
    assert flow.pauses() == ["ask_about"]
    notes[0] = "new text"
    assert flow.pauses(ask_about=YES) == ["ask_about"]
    assert flow.leg(ask_about=YES)["sure"] == Confirm(confirm=True)


def test_a_page_that_a_person_agreed_to_open_is_asked_for_until_the_resolver_finds_it_done() -> None:
    done = [False]

    def sign_in() -> ElicitUrl | str:
        return "signed in" if done[0] else ElicitUrl("Sign in, please.", "https://example.com/sign-in")

    def tool(
        who: Annotated[str, Resolve(sign_in)], outcome: Annotated[ElicitationResult[Confirm], Resolve(sign_in)]
    ) -> None: ...

    flow = Flow(tool)
    assert flow.pauses() == ["sign_in"]
    assert flow.pauses(sign_in={"action": "accept"}) == ["sign_in"]
    assert flow.pauses(sign_in={"action": "accept"}) == ["sign_in"]
    done[0] = True
    assert flow.leg(sign_in={"action": "accept"})["who"] == "signed in"


def test_a_page_that_a_person_did_not_want_to_open_ends_the_call() -> None:
    def sign_in() -> ElicitUrl:
        return ElicitUrl("Sign in, please.", "https://example.com/sign-in")

    def tool(who: Annotated[str, Resolve(sign_in)]) -> None: ...

    flow = Flow(tool)
    flow.pauses()
    with pytest.raises(NotAccepted):
        flow.leg(sign_in=DECLINE)


def test_a_shared_resolver_runs_once_a_leg() -> None:
    runs: list[str] = []

    def load(note_id: str) -> str:
        runs.append(note_id)
        return note_id.upper()

    def ask_about(note: Annotated[str, Resolve(load)]) -> Elicit[Confirm]:
        runs.append("ask")
        return Elicit(note, Confirm)

    def tool(
        note_id: str,
        note: Annotated[str, Resolve(load)],
        sure: Annotated[Confirm, Resolve(ask_about)],
        outcome: Annotated[ElicitationResult[Confirm], Resolve(ask_about)],
    ) -> None: ...

    flow = Flow(tool, note_id="a")
    flow.pauses()
    assert runs == ["a", "ask"]
    flow.leg(ask_about=YES)
    assert runs == ["a", "ask"] * 2


def test_sync_and_async_resolvers_mix() -> None:
    async def later(note_id: str) -> int:
        await asyncio.sleep(0)
        return len(note_id)

    async def ask_later(count: Annotated[int, Resolve(later)]) -> Elicit[Confirm]:
        await asyncio.sleep(0)
        return Elicit(f"{count}?", Confirm)

    def tool(
        note_id: str, sure: Annotated[Confirm, Resolve(ask_later)], count: Annotated[int, Resolve(later)]
    ) -> None: ...

    flow = Flow(tool, note_id="abc")
    assert flow.pauses() == ["ask_later"]
    assert flow.leg(ask_later=YES)["count"] == 3


def test_what_a_resolver_raises_comes_through_even_beside_an_open_question() -> None:
    def refuse() -> NoReturn:
        raise ToolError("There is no such note.")

    def tool(sure: Annotated[Confirm, Resolve(ask)], x: Annotated[int, Resolve(refuse)]) -> None: ...

    with pytest.raises(ToolError, match="no such note"):
        Flow(tool).leg()


def test_a_declined_parameter_ends_the_call_even_beside_an_open_question() -> None:
    def tool(sure: Annotated[Confirm, Resolve(ask)], too: Annotated[Confirm, Resolve(ask_too)]) -> None: ...

    flow = Flow(tool)
    assert flow.pauses() == ["ask", "ask_too"]
    with pytest.raises(NotAccepted):
        flow.leg(ask_too=DECLINE)


# Any graph

NODES = range(7)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[int, list[int]], set[int]]:
    """A graph without cycles, by node the nodes it needs, and which nodes ask."""
    needs = {
        node: draw(st.lists(st.integers(node + 1, 6), unique=True, max_size=3)) if node < 6 else [] for node in NODES
    }
    return needs, draw(st.sets(st.sampled_from(NODES)))


def tool_of(needs: dict[int, list[int]], asking: set[int], runs: list[int]) -> Callable[..., Any]:
    """A tool that needs node 0; every run of a node is written down."""
    made: dict[int, Any] = {}
    for node in reversed(NODES):

        def resolver(node: int = node, **_: Any) -> Any:
            runs.append(node)
            return Elicit(f"{node}?", Confirm) if node in asking else node

        resolver.__name__ = f"r{node}"
        names = {f"p{need}": Annotated[Any, Resolve(made[need])] for need in needs[node]}
        resolver.__annotations__ = names
        resolver.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
        )
        made[node] = resolver

    def tool(x: Annotated[Any, Resolve(made[0])]) -> None: ...

    return tool


def reached(node: int, needs: dict[int, list[int]]) -> set[int]:
    return {node}.union(*(reached(need, needs) for need in needs[node]))


@given(graphs())
@settings(derandomize=True, deadline=None)
def test_in_any_graph_each_round_asks_all_it_can_and_runs_each_resolver_at_most_once(
    graph: tuple[dict[int, list[int]], set[int]],
) -> None:
    needs, asking = graph
    runs: list[int] = []
    flow = Flow(tool_of(needs, asking, runs))
    nodes = reached(0, needs)
    answered: set[int] = set()
    while open_ := {
        node for node in (nodes & asking) - answered if not (reached(node, needs) - {node}) & asking - answered
    }:
        assert set(flow.pauses(**{f"r{node}": YES for node in answered})) == {f"r{node}" for node in open_}
        assert len(runs) == len(set(runs))
        runs.clear()
        answered |= open_
    flow.leg(**{f"r{node}": YES for node in answered})
    assert sorted(runs) == sorted(nodes)
    assert answered == nodes & asking
