"""Requests that come more than once: the answer is given again, never made again."""

import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from mrtr import Context, Elicit, ElicitationResult, Resolve, Server, ToolAnnotations, ToolError
from mrtr.testing import Client, LambdaContext, MemoryClaimTable, Reply, accept, cancel, decline
from tests.flow.conftest import Deployment
from tests.flow.secrecy import Secrets

REFUSED = {"code": -32602, "message": "Invalid or expired requestState"}
BARREL = {"what": "oak barrel"}
FINISH = {"ask_finish": accept(finish="waxed twice", coats=2)}


class Killed(KeyboardInterrupt):
    """The process ends here: the one exception that the runtime lets through, so nothing after it happens."""


class Finish(BaseModel):
    finish: str
    coats: int = 1


class Size(BaseModel):
    litres: int


class Shop:
    """The code of one function; each `server` of it is the module of one more instance. inside: what happens while a body runs."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.inside: Callable[[], None] = lambda: None

    def server(self) -> Server:
        server = Server("cooperage")

        def ask_finish(what: str) -> Elicit[Finish]:
            return Elicit(f"How shall the {what} be finished?", Finish)

        def ask_size(what: str, finish: Annotated[Finish, Resolve(ask_finish)]) -> Elicit[Size]:
            return Elicit(f"How large shall the {what} be that is {finish.finish}?", Size)

        def run(what: str) -> None:
            self.runs.append(what)
            self.inside()

        @server.tool()
        def build(what: str, finish: Annotated[Finish, Resolve(ask_finish)]) -> str:
            run(what)
            return f"{what}, {finish.finish}, run {len(self.runs)}"

        @server.tool()
        def build_or_not(what: str, finish: Annotated[ElicitationResult[Finish], Resolve(ask_finish)]) -> str:
            run(what)
            return f"{what}: {finish.action}"

        @server.tool(rerun_after_crash=True)
        def clean(what: str, finish: Annotated[Finish, Resolve(ask_finish)]) -> str:
            run(what)
            return f"{what}, {finish.finish}, run {len(self.runs)}"

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        def price(what: str, finish: Annotated[Finish, Resolve(ask_finish)]) -> str:
            run(what)
            return f"{what}, {finish.finish}, look {len(self.runs)}"

        @server.tool()
        def measure(
            what: str, finish: Annotated[Finish, Resolve(ask_finish)], size: Annotated[Size, Resolve(ask_size)]
        ) -> str:
            run(what)
            return f"{what}, {finish.finish}, {size.litres}"

        @server.tool()
        def describe(what: str, length: int, finish: Annotated[Finish, Resolve(ask_finish)]) -> str:
            run(what)
            return finish.finish[0] * length

        @server.tool()
        def fail(what: str, finish: Annotated[Finish, Resolve(ask_finish)]) -> str:
            run(what)
            if finish.coats:
                raise ToolError(f"{what}: run {len(self.runs)} found no wood")
            raise RuntimeError(what)

        @server.tool()
        def sell(what: str, ctx: Context) -> str:
            run(what)
            return f"{what} sold" if ctx.request_id else ""

        return server


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def client(deployment: Deployment, shop: Shop) -> Client:
    return deployment.client(shop.server())


@pytest.fixture
def other(deployment: Deployment, shop: Shop) -> Client:
    """Another instance of the same function."""
    return deployment.client(shop.server())


def without_id(reply: Reply) -> str:
    body: str = reply.response["body"]
    return body.replace(f'"id":{reply.message["id"]},', "", 1)


@pytest.fixture
def running(client: Client, shop: Shop) -> Iterator[Callable[[Reply], tuple[threading.Thread, threading.Event]]]:
    """Starts the answered retry of a first leg in a thread, and comes back once its body runs; the event lets the body finish."""
    begun, finish = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def start(first: Reply) -> tuple[threading.Thread, threading.Event]:
        def inside() -> None:
            shop.inside = lambda: None
            begun.set()
            finish.wait()

        shop.inside = inside
        thread = threading.Thread(target=client.answer, args=(first, FINISH))
        threads.append(thread)
        thread.start()
        begun.wait()
        return thread, finish

    yield start
    finish.set()
    for thread in threads:
        thread.join()


def test_a_repeated_retry_gets_the_first_ones_result_byte_for_byte_but_for_the_id(
    client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("build", BARREL)
    done = client.answer(first, FINISH)

    again = [client.again(done), other.again(done), other.answer(first, FINISH)]

    assert done.text == "oak barrel, waxed twice, run 1"
    assert [without_id(reply) for reply in again] == [without_id(done)] * 3
    assert shop.runs == ["oak barrel"]


@pytest.mark.parametrize(
    "spelled_otherwise",
    [
        {"ask_finish": {"content": {"coats": 2, "finish": "waxed twice"}, "action": "accept"}},
        {"ask_finish": accept(finish="waxed twice", coats=2.0)},
        {**FINISH, "nobody_asked": accept(other="thing")},
        {"nobody_asked": {"action": "perhaps"}, **FINISH},
    ],
    ids=["order", "2.0", "unknown key", "unknown key of another shape"],
)
def test_the_same_answer_spelled_otherwise_is_the_same_answer(
    client: Client, other: Client, shop: Shop, spelled_otherwise: dict[str, Any]
) -> None:
    first = client.call("build", BARREL)
    done = client.answer(first, FINISH)

    again = other.answer(first, spelled_otherwise)

    assert without_id(again) == without_id(done)
    assert len(shop.runs) == 1


@pytest.mark.parametrize(
    "answers",
    [
        {"ask_finish": accept(finish="waxed thrice", coats=2)},
        {"ask_finish": accept(finish="waxed twice", coats=3)},
        {"ask_finish": accept(finish="waxed twice")},
        {"ask_finish": accept(finish="waxed twice", coats="2")},
        {"ask_finish": decline()},
        {"ask_finish": cancel()},
        {},
        None,
    ],
    ids=["other text", "other number", "a field less", "invalid", "decline", "cancel", "empty", "none"],
)
@pytest.mark.parametrize("tool", ["build", "build_or_not"])
def test_a_used_state_takes_no_other_answer(
    client: Client, other: Client, shop: Shop, secrets: Secrets, tool: str, answers: Any
) -> None:
    first = client.call(tool, BARREL)
    done = client.answer(first, FINISH)

    refused = other.answer(first, answers)

    assert (refused.status, refused.error) == (400, REFUSED)
    assert any("used already" in line for line in secrets.lines)
    assert without_id(client.again(done)) == without_id(done)
    assert len(shop.runs) == 1


def test_an_outcome_that_the_body_saw_is_as_final_as_an_accepted_answer(
    client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("build_or_not", BARREL)

    assert client.answer(first, {"ask_finish": decline()}).text == "oak barrel: decline"
    assert other.answer(first, {"ask_finish": decline()}).text == "oak barrel: decline"
    assert other.answer(first, FINISH).error == REFUSED
    assert len(shop.runs) == 1


def test_a_decline_that_kept_the_body_from_running_may_be_thought_over(
    client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("build", BARREL)
    kept = client.answer(first, {"ask_finish": decline()})
    assert kept.text == "The person declined to answer, so build did nothing."
    assert not kept.is_error
    assert shop.runs == []

    assert other.answer(first, FINISH).text == "oak barrel, waxed twice, run 1"


def test_two_branches_forked_from_one_state_meet_at_the_claim(client: Client, other: Client, shop: Shop) -> None:
    first = client.call("measure", BARREL)
    waxed = client.answer(first, FINISH)
    raw = other.answer(first, {"ask_finish": accept(finish="left raw")})
    assert "waxed twice" in waxed.questions["ask_size"]["params"]["message"]
    assert "left raw" in raw.questions["ask_size"]["params"]["message"]

    size = {"ask_size": accept(litres=225)}
    done = client.answer(waxed, size)

    assert done.text == "oak barrel, waxed twice, 225"
    assert other.answer(raw, size).error == REFUSED
    assert other.answer(waxed, size).text == done.text
    assert len(shop.runs) == 1


def test_a_leg_that_only_asked_can_be_repeated_until_the_call_is_done(
    client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("measure", BARREL)
    second = client.answer(first, FINISH)
    same = other.answer(first, FINISH)
    assert same.questions == second.questions

    assert client.answer(second, {"ask_size": accept(litres=225)}).text == "oak barrel, waxed twice, 225"
    assert other.answer(first, FINISH).error == REFUSED
    assert other.answer(same, {"ask_size": accept(litres=225)}).text == "oak barrel, waxed twice, 225"
    assert len(shop.runs) == 1


def test_a_duplicate_is_held_while_the_first_runs_then_told_to_come_back_with_a_state_and_no_question(
    deployment: Deployment, client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("build", BARREL)
    held: list[Reply] = []
    shop.inside = lambda: held.append(other.answer(first, FINISH))

    done = client.answer(first, FINISH)

    assert held[0].result.keys() == {"resultType", "requestState", "_meta"}
    assert held[0].status == 200
    assert 4 < deployment.clock.slept_s <= 5
    assert len(shop.runs) == 1
    assert without_id(other.answer(held[0])) == without_id(done)
    assert len(shop.runs) == 1


def test_coming_back_too_early_again_and_again_uses_up_no_round(
    deployment: Deployment, client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("build", BARREL)

    def inside() -> None:
        reply = other.answer(first, FINISH)
        for _ in range(12):
            reply = other.answer(reply)
            assert reply.questions == {}

    shop.inside = inside
    context = LambdaContext(remaining_ms=900_000)
    client.context, other.context = context, context

    assert client.answer(first, FINISH).text == "oak barrel, waxed twice, run 1"
    assert deployment.clock.slept_s > 12 * 4


def test_a_state_to_come_back_with_answers_nothing_else(client: Client, other: Client, shop: Shop) -> None:
    first = client.call("build", BARREL)
    held: list[Reply] = []
    shop.inside = lambda: held.append(other.answer(first, FINISH))
    done = client.answer(first, FINISH)

    with_other_answers = other.answer(held[0], {"ask_finish": accept(finish="left raw")})

    assert with_other_answers.text == done.text  # nothing is open in that state, so nothing is answered
    assert other.call("build", {"what": "beech barrel"}, state=held[0].state).error == REFUSED
    assert len(shop.runs) == 1


def test_a_held_duplicate_gets_the_result_as_soon_as_the_first_has_it(
    deployment: Deployment,
    other: Client,
    client: Client,
    shop: Shop,
    running: Callable[[Reply], tuple[threading.Thread, threading.Event]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = client.call("build", BARREL)
    thread, finish = running(first)

    def sleep(seconds: float) -> None:
        deployment.clock.advance(seconds)
        finish.set()
        thread.join()

    monkeypatch.setattr(_runtime_of(other).single_use, "_sleep", sleep)
    done = other.answer(first, FINISH)

    assert done.text == "oak barrel, waxed twice, run 1"
    assert len(shop.runs) == 1


def _runtime_of(client: Client) -> Any:
    return client._handler.__self__._runtime  # type: ignore[attr-defined]  # a bound method of the server


@pytest.mark.parametrize(("remaining_ms", "longest_s"), [(20_000, 5.0), (4_000, 2.0), (2_200, 0.2), (900, 0.0)])
def test_a_duplicate_is_held_no_longer_than_its_own_time_allows(
    deployment: Deployment, client: Client, other: Client, shop: Shop, remaining_ms: int, longest_s: float
) -> None:
    first = client.call("build", BARREL)
    other.context = LambdaContext(remaining_ms=remaining_ms)
    held: list[Reply] = []
    shop.inside = lambda: held.append(other.answer(first, FINISH))

    client.answer(first, FINISH)

    assert held[0].questions == {}
    assert longest_s - 1 < deployment.clock.slept_s <= longest_s


def crash(client: Client, shop: Shop, first: Reply) -> None:
    def inside() -> None:
        shop.inside = lambda: None
        raise Killed

    shop.inside = inside
    with pytest.raises(Killed):
        client.answer(first, FINISH)


def test_a_run_that_never_finished_is_told_after_the_time_limit_and_not_before(
    deployment: Deployment, client: Client, other: Client, shop: Shop
) -> None:
    client.context = LambdaContext(remaining_ms=20_000)
    other.context = LambdaContext(remaining_ms=100)  # too little to be held
    first = client.call("build", BARREL)
    crash(client, shop, first)

    deployment.clock.advance(20)
    assert other.answer(first, FINISH).questions == {}
    deployment.clock.advance(2)
    told = other.answer(first, FINISH)

    assert told.is_error
    assert "started at 2027-01-15T08:00:00+00:00 and did not finish" in told.text
    assert "will not run again" in told.text
    assert other.answer(first, {"ask_finish": decline()}).error == REFUSED
    assert shop.runs == ["oak barrel"]


def test_a_tool_that_may_rerun_after_a_crash_runs_again_after_the_time_limit_and_then_no_more(
    deployment: Deployment, client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("clean", BARREL)
    crash(client, shop, first)
    assert other.answer(first, FINISH).questions == {}
    assert len(shop.runs) == 1

    deployment.clock.advance(22)
    done = other.answer(first, FINISH)

    assert done.text == "oak barrel, waxed twice, run 2"
    assert without_id(client.answer(first, FINISH)) == without_id(done)
    assert len(shop.runs) == 2


def test_of_two_that_would_rerun_a_crashed_call_one_does(
    deployment: Deployment, client: Client, other: Client, shop: Shop
) -> None:
    first = client.call("clean", BARREL)
    crash(client, shop, first)
    deployment.clock.advance(22)
    second: list[Reply] = []

    def inside() -> None:
        shop.inside = lambda: None
        second.append(other.answer(first, FINISH))

    shop.inside = inside
    done = client.answer(first, FINISH)

    assert done.text == "oak barrel, waxed twice, run 2"
    assert second[0].questions == {}
    assert len(shop.runs) == 2


def test_a_run_given_up_for_dead_does_not_overwrite_the_result_of_the_one_that_took_over(
    deployment: Deployment, client: Client, other: Client, shop: Shop, secrets: Secrets
) -> None:
    first = client.call("clean", BARREL)
    took_over: list[Reply] = []

    def inside() -> None:
        shop.inside = lambda: None
        deployment.clock.advance(22)
        took_over.append(other.answer(first, FINISH))

    shop.inside = inside
    client.answer(first, FINISH)

    assert took_over[0].text == "oak barrel, waxed twice, run 2"
    assert without_id(client.answer(first, FINISH)) == without_id(took_over[0])
    assert any("not recorded" in line for line in secrets.lines)
    assert len(shop.runs) == 2


@pytest.mark.parametrize("coats", [1, 0], ids=["ToolError", "exception"])
def test_a_failure_of_the_body_is_the_answer_of_every_duplicate_too(
    client: Client, other: Client, shop: Shop, coats: int
) -> None:
    first = client.call("fail", BARREL)
    answers = {"ask_finish": accept(finish="waxed twice", coats=coats)}
    failed = client.answer(first, answers)

    again = other.answer(first, answers)

    assert failed.is_error
    assert without_id(again) == without_id(failed)
    assert len(shop.runs) == 1


def test_a_result_too_large_to_keep_is_given_whole_once_and_named_to_duplicates(
    client: Client, other: Client, shop: Shop
) -> None:
    arguments = {**BARREL, "length": 310 * 1024}
    first = client.call("describe", arguments)
    done = client.answer(first, FINISH)

    again = other.answer(first, FINISH)

    assert done.text == "w" * 310 * 1024
    assert again.text == "describe was carried out already; its result was too large to keep."
    assert not again.is_error
    assert len(shop.runs) == 1


def test_a_large_result_within_the_limit_is_kept_whole(client: Client, other: Client) -> None:
    arguments = {**BARREL, "length": 100 * 1024}
    first = client.call("describe", arguments)
    done = client.answer(first, FINISH)

    assert without_id(other.answer(first, FINISH)) == without_id(done)


def test_a_call_that_never_asked_has_nothing_to_be_recognised_by_and_runs_each_time(
    client: Client, other: Client, shop: Shop
) -> None:
    assert [client.call("sell", BARREL).text, other.call("sell", BARREL).text] == ["oak barrel sold"] * 2
    assert len(shop.runs) == 2


def actions(client: Client) -> list[str]:
    table = _runtime_of(client).table
    assert isinstance(table, MemoryClaimTable)
    return table.actions


def test_a_tool_that_only_reads_is_not_claimed_and_reads_anew_each_time(memory: Deployment, shop: Shop) -> None:
    client = memory.client(shop.server())
    first = client.call("price", BARREL)

    assert client.answer(first, FINISH).text == "oak barrel, waxed twice, look 1"
    assert client.answer(first, FINISH).text == "oak barrel, waxed twice, look 2"
    assert client.answer(first, {"ask_finish": accept(finish="left raw")}).text == "oak barrel, left raw, look 3"
    assert actions(client) == []


def test_calls_that_are_asked_about_and_abandoned_leave_nothing_behind(memory: Deployment, shop: Shop) -> None:
    client = memory.client(shop.server())

    for number in range(20):
        assert client.call("build", {"what": f"barrel number {number}"}).asks

    assert actions(client) == []


def test_what_is_stored_shows_neither_the_result_nor_the_flow(dynamodb: Deployment, shop: Shop) -> None:
    import boto3  # noqa: PLC0415

    client = dynamodb.client(shop.server())
    first = client.call("build", BARREL)
    client.answer(first, FINISH)

    resource: Any = boto3.resource("dynamodb")
    (item,) = resource.Table("claims").scan()["Items"]
    assert item.keys() == {
        "id", "status", "answered", "answers", "owner", "started", "until", "expires", "waiting", "response",
    }  # fmt: skip
    for value in item.values():
        assert b"barrel" not in bytes(value.value if hasattr(value, "value") else str(value).encode())
    assert item["expires"] == dynamodb.clock.now + 3600 + 24 * 3600
