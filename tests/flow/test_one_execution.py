"""A confirmed call runs once: whatever is repeated at the same moment, and wherever a process is killed."""

from __future__ import annotations

import pytest

from mrtr.testing import Reply, accept, call_event
from tests.flow.conftest import Stack
from tests.flow.instance import NOW, Died, Instance

SWORD = {"what": "ceremonial sword"}
FINISH = {"ask_finish": accept(finish="blued and oiled")}
DONE = "A ceremonial sword, blued and oiled."
LIMIT_S = 20
"""The time limit of the function whose process is killed."""
UNKNOWN = (
    "forge started at 2027-01-15T08:00:00+00:00 and did not finish; whether it took effect is unknown. "
    "It will not run again for this confirmation: check before asking anew."
)


def asked(instance: Instance, tool: str = "forge") -> Reply:
    return instance.invoke(call_event(tool, SWORD))


def killed(stack: Stack, first: Reply, dies: str, tool: str = "forge") -> None:
    """The retry, in a process that kills itself at the point `dies`."""
    with pytest.raises(Died):
        stack.instance(dies=dies).invoke(
            call_event(tool, SWORD, state=first.state, answers=FINISH), remaining_ms=LIMIT_S * 1000
        )


def retried(instance: Instance, first: Reply, *, later_s: float = 0, tool: str = "forge") -> Reply:
    """The retry in a process that lives; `later_s` after the first."""
    return instance.invoke(call_event(tool, SWORD, state=first.state, answers=FINISH), now=NOW + later_s)


def test_fifty_processes_that_get_the_same_retry_at_once_run_the_body_once(stack: Stack) -> None:
    later = stack.instance()
    first = asked(later)
    retry = call_event("forge", SWORD, state=first.state, answers=FINISH)

    replies = stack.instance(crowd=50).invoke_at_once(retry)

    assert len(replies) == 50
    assert len(stack.items("runs")) == 1
    done = [reply for reply in replies if not reply.asks]
    come_back = [reply for reply in replies if reply.asks]
    assert {reply.response["body"] for reply in done} == {done[0].response["body"]}
    assert done[0].text == DONE
    for reply in come_back:
        assert reply.questions == {}
        again = later.invoke(call_event("forge", SWORD, state=reply.state))
        assert again.response["body"] == done[0].response["body"]
    assert len(stack.items("runs")) == 1


def test_fifty_processes_that_get_the_same_answer_to_a_body_at_once_ask_one_second_question(stack: Stack) -> None:
    arguments = {"what": "garden gate"}
    later = stack.instance()
    first = later.invoke(call_event("paint", arguments))
    red = {"first": accept(colour="oxide red")}
    retry = call_event("paint", arguments, state=first.state, answers=red)

    replies = stack.instance(crowd=50).invoke_at_once(retry)

    bodies = {
        reply.response["body"]
        if reply.questions
        else later.invoke(call_event("paint", arguments, state=reply.state)).response["body"]
        for reply in replies
    }
    assert len(bodies) == 1
    assert len(stack.items("claims")) == 1


@pytest.mark.parametrize("dies", ["in the resolver", "before the claim arrives"])
def test_a_process_killed_before_its_claim_leaves_the_call_to_the_retry(stack: Stack, dies: str) -> None:
    lives = stack.instance()
    first = asked(lives)
    killed(stack, first, dies)
    assert stack.items("claims") == []

    assert retried(lives, first).text == DONE

    assert len(stack.items("runs")) == 1


@pytest.mark.parametrize(
    ("dies", "runs"),
    [("after the claim", 0), ("in the body", 1), ("before the record arrives", 1)],
)
def test_a_process_killed_between_claim_and_result_never_leads_to_a_second_run(
    stack: Stack, dies: str, runs: int
) -> None:
    lives = stack.instance()
    first = asked(lives)
    killed(stack, first, dies)

    soon = retried(lives, first)
    sooner_than_the_limit = retried(lives, first, later_s=LIMIT_S - 6)
    told = retried(lives, first, later_s=LIMIT_S + 2)
    told_again = lives.invoke(call_event("forge", SWORD, state=soon.state), now=NOW + 500)

    assert soon.questions == sooner_than_the_limit.questions == {}
    assert told.is_error
    assert told.text == told_again.text == UNKNOWN
    assert len(stack.items("runs")) == runs


def test_a_process_killed_after_the_record_leaves_its_answer_to_the_retry(stack: Stack) -> None:
    lives = stack.instance()
    first = asked(lives)
    killed(stack, first, "after the record")

    done = retried(lives, first)

    assert done.text == DONE
    assert not done.is_error
    assert len(stack.items("runs")) == 1


@pytest.mark.parametrize("dies", ["after the claim", "in the body"])
def test_a_tool_that_may_rerun_after_a_crash_does_so_once_the_limit_has_passed_and_no_sooner(
    stack: Stack, dies: str
) -> None:
    lives = stack.instance()
    first = asked(lives, "polish")
    killed(stack, first, dies, "polish")
    runs = len(stack.items("runs"))

    soon = retried(lives, first, later_s=LIMIT_S - 6, tool="polish")
    assert soon.questions == {}
    assert len(stack.items("runs")) == runs

    done = retried(lives, first, later_s=LIMIT_S + 2, tool="polish")
    assert done.text == "The ceremonial sword is blued and oiled."
    assert retried(lives, first, later_s=LIMIT_S + 3, tool="polish").text == done.text
    assert len(stack.items("runs")) == runs + 1


def test_a_crash_after_the_second_question_is_as_final_as_one_after_the_first(stack: Stack) -> None:
    arguments = {"what": "garden gate"}
    lives = stack.instance()
    first = lives.invoke(call_event("paint", arguments))
    second = lives.invoke(
        call_event("paint", arguments, state=first.state, answers={"first": accept(colour="oxide red")})
    )
    last = call_event("paint", arguments, state=second.state, answers={"second": accept(colour="iron black")})

    with pytest.raises(Died):
        stack.instance(dies="in the body").invoke(last, remaining_ms=LIMIT_S * 1000)

    assert lives.invoke(last).questions == {}
    assert lives.invoke(last, now=NOW + LIMIT_S + 2).is_error
    assert len(stack.items("runs")) == 1
