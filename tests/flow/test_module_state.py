"""Nothing is remembered between invocations: what modules hold is compared, all of it, before and after calls."""

from __future__ import annotations

import json
import pkgutil
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import mrtr
from local.seed import seed
from mrtr.testing import Client, Event, LambdaContext, accept, call_event, decline, discover_event, list_event
from tests.flow.instance import load, server_of
from tests.flow.snapshot import Snapshot, changed, snapshot

CACHES = {
    # the key ring, its source's keys, and when they were fetched
    r".*\._runtime(\.|$).*",
    # the settings, and what is read once from a server's declarations
    r"app_\w+\.(server|door)\._(limits|methods|definitions)\b.*",
    # AWS clients; forms and schemas of models; ciphers of keys; the log
    r"mrtr\.\w+\.(client|form|cipher|log)",
    # what an author's function says it returns, made ready on first use
    r".*\.output\._adapter\b.*",
    # a tool's own table handle
    r"app_\w+\.(notes|databases|bookings|runs)\b.*",
}
"""What docs/architecture.md lists under 'What stays in a process': filled by the first calls, unchanged by all others."""


@pytest.fixture(params=["delete_note", "provision_database", "book_table", "front_door"])
def function(request: pytest.FixtureRequest, account: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A function's module, freshly loaded."""
    seed({"NOTES_TABLE": account["NOTES_TABLE"], "BOOKINGS_TABLE": account["BOOKINGS_TABLE"]})
    monkeypatch.setenv("MRTR_TOOL_FUNCTION_PREFIX", "askback-tool-")
    module = load(f"functions/{request.param}/app.py")
    module.__dict__["function"] = request.param
    return module


ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "delete_note": [{"note_id": "7"}, {"note_id": "12"}, {"note_id": "no such note"}, {"note_id": 7}],
    "provision_database": [{"name": "orders"}, {"name": "orders-prod"}, {"name": "Not A Name"}],
    "book_table": [{"evening": "2026-12-24", "guests": 2}, {"evening": "2026-12-31", "guests": 2}, {"guests": 0}],
}
ANSWERS: dict[str, dict[str, Any]] = {
    "ask_to_confirm": accept(confirm=True),
    "region": accept(region="eu-west-1"),
    "production": accept(name="orders-prod"),
    "ask_contact": accept(name="Ada Example", phone="555-0199"),
    "ask_seating": accept(area="inside"),
    "offer_evening": accept(take=True),
}
ADA = {"iss": "https://issuer.example", "sub": "ada", "client_id": "app"}
EVE = {"iss": "https://issuer.example", "sub": "eve", "client_id": "app"}


def others(tool: str) -> list[Event]:
    """Requests that end otherwise than in a question."""
    broken = list_event()
    broken["body"] = "{"
    return [
        discover_event(),
        list_event(),
        broken,
        call_event("no_such_tool", {}),
        call_event(tool, ARGUMENTS[tool][0], capabilities={}),
        call_event(tool, ARGUMENTS[tool][0], state="v1.forged", answers={"x": decline()}),
        {**list_event(), "requestContext": {"http": {"method": "GET", "path": "/mcp"}}},
        {"not": "an HTTP event"},
    ]


def serve(module: ModuleType) -> None:
    """Whole calls of all kinds, by several people, finished, refused, repeated and abandoned."""
    tool: str = module.function
    context = LambdaContext()
    if tool == "front_door":
        client = Client(module.handler, context=context)
        for event in others("delete_note"):
            if "tools/call" not in json.dumps(event) or "no_such_tool" in json.dumps(event):
                client.send(event)
        return
    clients = [Client(module.handler, context=context, claims=claims) for claims in (None, ADA, EVE)]
    for client in clients:
        for arguments in ARGUMENTS[tool]:
            reply = client.call(tool, arguments)
            while "inputRequests" in reply.message.get("result", {}):
                answered = client.answer(reply, {key: ANSWERS[key] for key in reply.questions})
                client.again(answered)
                client.answer(reply, {key: decline() for key in reply.questions})
                reply = answered
            client.call(tool, arguments)
    for event in others(tool):
        clients[0].send(event)


def state_of(module: ModuleType) -> Snapshot:
    ours = [import_module(f"mrtr.{info.name}") for info in pkgutil.iter_modules(mrtr.__path__)]
    return snapshot({one.__name__: one for one in (mrtr, *ours, module)})


def test_a_warm_process_holds_after_a_call_what_it_held_before(function: ModuleType) -> None:
    serve(function)
    before = state_of(function)

    serve(function)

    assert changed(before, state_of(function)) == []
    assert len(before) > 1000  # the comparison looked at something


def test_a_fresh_process_fills_the_documented_caches_and_nothing_else(function: ModuleType) -> None:
    before = state_of(function)

    serve(function)

    assert changed(before, state_of(function), but=CACHES) == []


def test_the_documented_caches_are_filled_by_the_first_calls(function: ModuleType) -> None:
    """Else the test above would pass by looking at nothing."""
    before = state_of(function)

    serve(function)

    filled = changed(before, state_of(function))
    assert any("._limits" in path for path in filled)
    if function.function != "front_door":
        assert any("._runtime" in path for path in filled)
        assert server_of(function)._runtime is not None


LEAKS = {
    "a global": "seen = 0\ndef leak():\n    global seen\n    seen += 1\n",
    "a global that appears": "def leak():\n    global late\n    late = object()\n",
    "a list": "seen = []\ndef leak():\n    seen.append(1)\n",
    "a dict in a dict": "seen = {'a': {}}\ndef leak():\n    seen['a'][len(seen['a'])] = 1\n",
    "a set in a tuple": "seen = (set(),)\ndef leak():\n    seen[0].add(len(seen[0]))\n",
    "an object's attribute": "class Box: pass\nbox = Box()\nbox.n = 0\ndef leak():\n    box.n += 1\n",
    "a slot": "class Box:\n    __slots__ = ('n',)\nbox = Box()\nbox.n = 0\ndef leak():\n    box.n += 1\n",
    "a class's attribute": "class Box:\n    n = 0\ndef leak():\n    Box.n += 1\n",
    "a function's attribute": "def leak():\n    leak.n = getattr(leak, 'n', 0) + 1\n",
    "a default": "def leak(seen=[]):\n    seen.append(1)\n",
    "a closure": "def make():\n    n = 0\n    def leak():\n        nonlocal n\n        n += 1\n    return leak\nleak = make()\n",
    "a cache": "import functools\n@functools.cache\ndef f(n): return n\nn = [0]\ndef leak():\n    f(object())\n",
    "an iterator": "import itertools\nnumbers = itertools.count()\ndef leak():\n    next(numbers)\n",
    "a deque": "import collections\nlast = collections.deque(maxlen=2)\ndef leak():\n    last.append(object())\n",
    "a context variable": "import contextvars\nv = contextvars.ContextVar('v', default=0)\ndef leak():\n    v.set(v.get() + 1)\n",
    "an instance's own dict": "class D(dict): pass\nd = D()\ndef leak():\n    d.n = getattr(d, 'n', 0) + 1\n",
}  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS)
def test_a_module_that_remembers_is_found_out(leak: str) -> None:
    module = ModuleType("leaky")
    exec(LEAKS[leak], module.__dict__)  # noqa: S102 - our own text
    before = snapshot({"leaky": module})

    module.leak()

    assert changed(before, snapshot({"leaky": module})) != []


def test_a_module_that_remembers_nothing_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("honest")
    text = "import json\nTABLE = {'a': [1, {2}]}\ndef f(x=()):\n    y = [x]\n    return json.dumps(TABLE['a'][0])\n"
    exec(text, module.__dict__)  # noqa: S102 - likewise
    monkeypatch.setitem(sys.modules, "honest", module)
    before = snapshot({"honest": module})

    module.f()

    assert changed(before, snapshot({"honest": module})) == []
