"""A sealed state opens for exactly what it was sealed for; whatever is wrong with it, the client learns the same nothing."""

import base64
import itertools
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from mrtr import Elicit, Resolve, Server
from mrtr.testing import (
    SETTINGS,
    Client,
    Clock,
    MemoryRing,
    MemoryRuntime,
    Reply,
    accept,
    call_event,
    offline,
    ring_key,
    with_body,
)
from tests.flow.secrecy import Secrets

FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
ARGUMENTS = {"treasure": "the map to the island"}
YES = {"ask": accept(sure=True)}
ADA = {"iss": "https://issuer.example", "sub": "ada", "client_id": "desktop"}


class Sure(BaseModel):
    sure: bool


class Vault:
    """A function's module: two tools of one shape, and what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def server(self) -> Server:
        server = Server("vault")

        def ask(treasure: str) -> Elicit[Sure]:
            return Elicit(f"Bury {treasure}?", Sure)

        @server.tool()
        def bury(treasure: str, sure: Annotated[Sure, Resolve(ask)]) -> str:
            self.done.append(treasure)
            return f"buried: {sure.sure}"

        @server.tool()
        def burn(treasure: str, sure: Annotated[Sure, Resolve(ask)]) -> str:
            self.done.append(treasure)
            return f"burnt: {sure.sure}"

        def ask_often(treasure: str, count: int) -> Elicit[Sure]:
            return Elicit(f"Bury {treasure} {count} times?", Sure)

        @server.tool()
        def often(treasure: str, count: int, sure: Annotated[Sure, Resolve(ask_often)]) -> str:
            self.done.append(treasure)
            return f"{count}, {sure.sure}"

        return server


@pytest.fixture
def vault() -> Vault:
    return Vault()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runtime(clock: Clock) -> MemoryRuntime:
    return MemoryRuntime(clock=clock)


@pytest.fixture
def client(vault: Vault, runtime: MemoryRuntime) -> Client:
    server = vault.server()
    offline(server, runtime)
    return Client(server.lambda_handler)


def causes(secrets: Secrets) -> list[str]:
    return [json.loads(line)["cause"] for line in secrets.lines if '"requestState refused"' in line]


def refused(client: Client, states: Iterable[Any]) -> None:
    """Every one of `states` gets the one frozen answer, to the byte."""
    for state in states:
        reply = client.call("bury", ARGUMENTS, state=state, answers=YES)
        assert reply.status == 400
        assert reply.error == FROZEN, state
        assert reply.message.keys() == {"jsonrpc", "id", "error"}
        assert reply.headers == {"content-type": "application/json"}


def unsealed(token: str) -> bytes:
    body = token.removeprefix("v1.")
    return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))


def text_of(sealed: bytes) -> str:
    return "v1." + base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


def still_good(client: Client, first: Reply, vault: Vault) -> None:
    assert vault.done == []
    assert client.answer(first, YES).text == "buried: True"
    assert vault.done == ["the map to the island"]


def test_every_bit_of_the_sealed_bytes_counts(
    client: Client, vault: Vault, runtime: MemoryRuntime, secrets: Secrets
) -> None:
    first = client.call("bury", ARGUMENTS)
    sealed = unsealed(first.state)

    refused(
        client,
        (
            text_of(bytes([*sealed[:at], sealed[at] ^ 1 << bit, *sealed[at + 1 :]]))
            for at, bit in itertools.product(range(len(sealed)), range(8))
        ),
    )

    assert len(causes(secrets)) == 8 * len(sealed)
    assert "not authentic" in causes(secrets)
    assert runtime.source.fetches <= 2  # junk is not turned into calls to the ring's source
    still_good(client, first, vault)


def test_every_character_of_the_token_counts(client: Client, vault: Vault) -> None:
    first = client.call("bury", ARGUMENTS)
    state = first.state

    refused(
        client,
        (
            state[:at] + other + state[at + 1 :]
            for at in range(len(state))
            for other in "Aa0-_.=+/ é\n"
            if other != state[at]
        ),
    )

    still_good(client, first, vault)


def test_a_token_cut_off_anywhere_is_refused(client: Client, vault: Vault) -> None:
    first = client.call("bury", ARGUMENTS)

    refused(client, (first.state[:length] for length in range(len(first.state))))
    refused(client, (first.state[start:] for start in range(1, len(first.state))))
    refused(client, (text_of(unsealed(first.state)[:-1]), text_of(unsealed(first.state)[1:])))

    still_good(client, first, vault)


def test_a_token_with_anything_added_is_refused(client: Client, vault: Vault) -> None:
    first = client.call("bury", ARGUMENTS)
    state, sealed = first.state, unsealed(first.state)

    refused(client, (state + extra for extra in ("A", "AA", "AAAA", "=", "==", " ", "\n", ".", "\0", "é", state)))
    refused(client, (extra + state for extra in ("v1.", " ", "\n", "\ufeff")))
    refused(client, (text_of(sealed + b"\0"), text_of(b"\0" + sealed), text_of(sealed + sealed)))
    refused(client, ["v1." + "A" * 8190, "v1." + "A" * 100_000])

    still_good(client, first, vault)


def test_a_token_in_any_other_spelling_is_refused(client: Client, vault: Vault) -> None:
    first = client.call("bury", ARGUMENTS)
    state, sealed = first.state, unsealed(first.state)
    body = state.removeprefix("v1.")
    spellings = {0: 1, 1: 16, 2: 4}[len(sealed) % 3]  # of the last character, whose spare bits no decoder needs
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = alphabet.index(body[-1])

    refused(
        client,
        {
            "V1." + body,
            "v2." + body,
            "v1" + body,
            body,
            "v1." + base64.b64encode(sealed).decode().rstrip("=") + "=",
            "v1." + base64.urlsafe_b64encode(sealed).decode() + "=",
            "v1." + base64.b32encode(sealed).decode(),
            "v1." + sealed.hex(),
            "v1." + body[:40] + "\n" + body[40:],
            "v1." + body[:40] + "=" + body[40:],
            state.swapcase(),
            state.replace("v1.", "v1%2E"),
            *("v1." + body[:-1] + alphabet[last - last % spellings + bits] for bits in range(spellings)),
        }
        - {state},
    )

    still_good(client, first, vault)


@pytest.mark.parametrize("state", ["", 1, 0, True, False, [], {}, ["v1.AAAA"], {"v1": "AAAA"}, 1.5])
def test_a_state_that_is_no_token_at_all_is_refused_alike(client: Client, vault: Vault, state: Any) -> None:
    refused(client, [state])

    assert vault.done == []


def test_no_state_at_all_is_a_first_leg(client: Client, vault: Vault) -> None:
    event = call_event("bury", ARGUMENTS, answers=YES)
    body = json.loads(event["body"])
    body["params"]["requestState"] = None

    assert client.send(with_body(event, body)).asks
    assert vault.done == []


def test_a_token_never_opens_for_another_tool(client: Client, vault: Vault, secrets: Secrets) -> None:
    first = client.call("bury", ARGUMENTS)

    reply = client.call("burn", ARGUMENTS, state=first.state, answers=YES)

    assert reply.error == FROZEN
    assert causes(secrets) == ["request: another one"]
    still_good(client, first, vault)


def test_a_token_never_opens_for_other_arguments(client: Client, vault: Vault, secrets: Secrets) -> None:
    first = client.call("bury", ARGUMENTS)

    reply = client.call("bury", {"treasure": "the crown jewels"}, state=first.state, answers=YES)

    assert reply.error == FROZEN
    assert causes(secrets) == ["request: another one"]
    still_good(client, first, vault)


def test_a_token_of_another_deployment_with_the_same_key_is_refused(
    client: Client, vault: Vault, secrets: Secrets, clock: Clock, runtime: MemoryRuntime
) -> None:
    server = vault.server()
    settings = replace(SETTINGS, audience="another stack")
    offline(server, MemoryRuntime(settings=settings, clock=clock, source=runtime.source, table=runtime.table))
    first = Client(server.lambda_handler).call("bury", ARGUMENTS)

    refused(client, [first.state])

    assert causes(secrets) == ["not authentic"]
    assert vault.done == []


def test_a_token_under_another_key_of_the_same_name_is_refused(
    client: Client, vault: Vault, secrets: Secrets, clock: Clock
) -> None:
    server = vault.server()
    forged = replace(ring_key("test"), key=bytes(32))
    offline(server, MemoryRuntime(clock=clock, source=MemoryRing(forged)))
    first = Client(server.lambda_handler).call("bury", ARGUMENTS)

    refused(client, [first.state])

    assert causes(secrets) == ["not authentic"]


def as_somebody(vault: Vault, runtime: MemoryRuntime, claims: dict[str, str] | None) -> Client:
    server = vault.server()
    offline(server, runtime)
    return Client(server.lambda_handler, claims=claims)


@pytest.mark.parametrize(
    ("then", "cause"),
    [
        ({**ADA, "sub": "mallory"}, "principal: another one"),
        ({**ADA, "sub": "Ada"}, "principal: another one"),
        ({**ADA, "iss": "https://other.example"}, "principal: another one"),
        ({**ADA, "client_id": "phone"}, "principal: another one"),
        ({"iss": ADA["iss"], "sub": "ada"}, "principal: another one"),
        ({**ADA, "sub": "adadesktop", "client_id": ""}, "principal: another one"),
        (None, "principal: present on one side only"),
    ],
)
def test_a_token_never_opens_for_another_principal(
    vault: Vault, runtime: MemoryRuntime, secrets: Secrets, then: Any, cause: str
) -> None:
    ada, other = as_somebody(vault, runtime, ADA), as_somebody(vault, runtime, then)
    first = ada.call("bury", ARGUMENTS)

    refused(other, [first.state])

    assert causes(secrets) == [cause]
    still_good(ada, first, vault)


def test_a_token_without_a_principal_never_opens_for_one(
    client: Client, vault: Vault, runtime: MemoryRuntime, secrets: Secrets
) -> None:
    first = client.call("bury", ARGUMENTS)

    refused(as_somebody(vault, runtime, ADA), [first.state])

    assert causes(secrets) == ["principal: present on one side only"]
    still_good(client, first, vault)


def test_a_refreshed_bearer_token_of_the_same_person_is_the_same_principal(
    vault: Vault, runtime: MemoryRuntime
) -> None:
    first = as_somebody(vault, runtime, {**ADA, "exp": "1800000100", "jti": "one"}).call("bury", ARGUMENTS)

    refreshed = as_somebody(vault, runtime, {**ADA, "exp": "1800003700", "jti": "two"})

    assert refreshed.answer(first, YES).text == "buried: True"


@pytest.mark.parametrize("late_s", [600, 601, 3600, 86_400 * 365])
def test_a_round_that_has_expired_is_refused(
    client: Client, vault: Vault, clock: Clock, secrets: Secrets, late_s: int
) -> None:
    first = client.call("bury", ARGUMENTS)
    clock.advance(late_s)

    refused(client, [first.state])

    assert causes(secrets) == ["expired"]
    assert vault.done == []


def test_a_round_one_second_short_of_its_expiry_is_good(client: Client, vault: Vault, clock: Clock) -> None:
    first = client.call("bury", ARGUMENTS)
    clock.advance(599)

    still_good(client, first, vault)


@pytest.mark.parametrize(("wait_s", "good"), [(599, True), (600, False)])
def test_the_flow_as_a_whole_has_a_deadline_that_no_further_round_extends(
    client: Client, vault: Vault, clock: Clock, secrets: Secrets, wait_s: int, good: bool
) -> None:
    reply = client.call("bury", ARGUMENTS)
    for _ in range(6):
        clock.advance(500)
        reply = client.answer(reply, {})  # asked again: a new round, the same flow
    clock.advance(wait_s)

    last = client.answer(reply, YES)

    if good:
        assert last.text == "buried: True"
    else:
        assert last.error == FROZEN
        assert causes(secrets) == ["expired"]
        assert vault.done == []


@pytest.mark.parametrize(("behind_s", "good"), [(1, True), (60, True), (61, False), (3600, False)])
def test_an_instance_whose_clock_is_behind_takes_a_state_from_up_to_a_minute_ahead(
    client: Client, vault: Vault, clock: Clock, runtime: MemoryRuntime, secrets: Secrets, behind_s: int, good: bool
) -> None:
    first = client.call("bury", ARGUMENTS)
    server = vault.server()
    behind = Clock(clock.now - behind_s)
    offline(server, MemoryRuntime(clock=behind, source=runtime.source, table=runtime.table))
    other = Client(server.lambda_handler)

    if good:
        still_good(other, first, vault)
    else:
        refused(other, [first.state])
        assert causes(secrets) == ["issued in the future"]


def spelled(client: Client, arguments: str, **params: Any) -> Reply:
    """A call of `often` with the arguments' JSON exactly as it is written."""
    event = call_event("often", {"placeholder": 0}, **params)
    body = event["body"]
    assert body.count('{"placeholder":0}') == 1
    return client.send(with_body(event, body.replace('{"placeholder":0}', arguments)))


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ('{"treasure":"gold","count":1}', '{"count":1,"treasure":"gold"}'),
        ('{"treasure":"gold","count":1}', ' { "treasure" :\t"gold" ,\n"count": 1 } '),
        ('{"treasure":"gold","count":1}', '{"treasure":"gold","count":1.0}'),
        ('{"treasure":"gold","count":1.0}', '{"treasure":"gold","count":1}'),
        ('{"treasure":"gold","count":1}', '{"treasure":"gold","count":1e0}'),
        ('{"treasure":"gold","count":100}', '{"treasure":"gold","count":1E+2}'),
        ('{"treasure":"gold","count":1}', '{"treasure":"gold","count":10e-1}'),
        ('{"treasure":"gold","count":0}', '{"treasure":"gold","count":-0}'),
        ('{"treasure":"gold","count":0}', '{"treasure":"gold","count":-0.0}'),
        ('{"treasure":"g\u00f6ld","count":1}', '{"treasure":"g\\u00f6ld","count":1}'),
        ('{"treasure":"a/b","count":1}', '{"treasure":"a\\/b","count":1}'),
        (
            '{"treasure":"gold","count":123456789012345678901234567890}',
            '{"treasure":"gold","count":123456789012345678901234567890.0}',
        ),
        (
            '{"treasure":"gold","count":1,"more":[{"b":1,"a":2.50}]}',
            '{"more":[{"a":25e-1,"b":1.0}],"treasure":"gold","count":1}',
        ),
    ],
)
def test_arguments_that_say_the_same_in_another_spelling_pass(
    client: Client, vault: Vault, first: str, then: str
) -> None:
    asked = spelled(client, first)

    done = spelled(client, then, state=asked.state, answers={"ask_often": accept(sure=True)})

    assert done.text.endswith("True")
    assert len(vault.done) == 1


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ('{"treasure":"gold","count":1}', '{"treasure":"gold","count":2}'),
        ('{"treasure":"gold","count":1}', '{"treasure":"gold","count":-1}'),
        ('{"treasure":"gold","count":1}', '{"treasure":"Gold","count":1}'),
        ('{"treasure":"gold","count":1}', '{"treasure":"gold ","count":1}'),
        ('{"treasure":"gold","count":1}', '{"treasure":"gold","count":1,"more":null}'),
        ('{"treasure":"gold","count":1,"more":null}', '{"treasure":"gold","count":1}'),
        ('{"treasure":"gold","count":1,"more":1}', '{"treasure":"gold","count":1,"more":"1"}'),
        ('{"treasure":"gold","count":1,"more":1}', '{"treasure":"gold","count":1,"more":true}'),
        ('{"treasure":"gold","count":1,"more":[1,2]}', '{"treasure":"gold","count":1,"more":[2,1]}'),
        ('{"treasure":"gold","count":1,"more":0.1}', '{"treasure":"gold","count":1,"more":0.10000000000000001}'),
        ('{"treasure":"gold","count":9007199254740992}', '{"treasure":"gold","count":9007199254740993}'),
        (
            '{"treasure":"gold","count":123456789012345678901234567890}',
            '{"treasure":"gold","count":123456789012345678901234567891}',
        ),
        ('{"treasure":"caf\u00e9","count":1}', '{"treasure":"cafe\u0301","count":1}'),
        ('{"treasure":"\u1e9b\u0323","count":1}', '{"treasure":"\u1e69","count":1}'),
        ('{"treasure":"\u212b","count":1}', '{"treasure":"\u00c5","count":1}'),
        ('{"treasure":"gold","count":1}', '{"treasure":"gold","count":1,"treas":"ure"}'),
    ],
)  # fmt: skip
def test_arguments_that_say_anything_else_are_refused(
    client: Client, vault: Vault, secrets: Secrets, first: str, then: str
) -> None:
    asked = spelled(client, first)

    reply = spelled(client, then, state=asked.state, answers={"ask_often": accept(sure=True)})

    assert reply.error == FROZEN
    assert causes(secrets) == ["request: another one"]
    assert vault.done == []


def test_an_integer_of_any_size_reaches_the_tool_exactly(client: Client) -> None:
    number = 3**2000
    asked = client.call("often", {"treasure": "gold", "count": number})
    assert f"gold {number} times" in asked.questions["ask_often"]["params"]["message"]

    assert client.answer(asked, {"ask_often": accept(sure=True)}).text == f"{number}, True"


def test_what_the_client_says_of_itself_is_not_part_of_the_request(client: Client, vault: Vault) -> None:
    first = client.call("bury", ARGUMENTS)
    event = call_event("bury", ARGUMENTS, state=first.state, answers=YES, id="another id")
    body = json.loads(event["body"])
    body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = {"name": "renamed", "version": "2"}
    body["params"]["_meta"]["progressToken"] = 7

    client.send(with_body(event, body))

    assert vault.done == ["the map to the island"]


def test_two_first_legs_of_one_call_are_two_flows_with_nothing_alike_in_their_tokens(
    client: Client, vault: Vault
) -> None:
    one, two = client.call("bury", ARGUMENTS), client.call("bury", ARGUMENTS)
    kid = unsealed(one.state)[: 1 + unsealed(one.state)[0]]

    assert unsealed(two.state).startswith(kid)
    rest = [unsealed(reply.state)[len(kid) :] for reply in (one, two)]
    assert sum(a == b for a, b in zip(*rest, strict=True)) < len(rest[0]) / 4
    assert client.answer(one, YES).text == client.answer(two, YES).text == "buried: True"
    assert len(vault.done) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token + "A",
        lambda token: token[:-1],
        lambda token: "v1." + token[4:],
        lambda _token: "forged",
    ],
)
def test_a_refusal_says_why_in_the_log_alone(client: Client, secrets: Secrets, change: Any) -> None:
    first = client.call("bury", ARGUMENTS)

    reply = client.call("bury", ARGUMENTS, state=change(first.state), answers=YES)

    (cause,) = causes(secrets)
    assert cause
    assert cause not in reply.response["body"]
    assert reply.error == FROZEN
