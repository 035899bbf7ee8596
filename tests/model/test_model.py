"""A model of a deployment under everything that happens to one: Hypothesis looks for an order of events that breaks a promise.

The promises. A body runs at most once for a call. The token of a live flow opens on every instance that can reach the key source, and an
instance that can't never refuses it but says to come again. A refused token runs nothing. A duplicate gets what the first one got. Nobody
else's token, and no token with other arguments or other answers, gets anywhere.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mrtr import rotation, token
from mrtr.errors import MrtrError
from mrtr.kms import KmsRing
from mrtr.rotation import Timing
from mrtr.testing import Client, MemoryClaimTable, Reply, accept
from tests.flow.rotations import STEPS
from tests.model.world import DEATHS, TIMING, Claims, Instance, Killed, World

ROUND_S, FLOW_S, SKEW_S = 600, 3600, 60
PEOPLE = ("ann", "bob")

instances = st.integers(0, 99)
flows = st.integers(0, 99)


@dataclasses.dataclass
class Flow:
    """A call, its latest question and what became of it. leg: the latest answer that was sent, with the reply of whoever got one."""

    reference: str
    tool: str
    person: str
    asked: Reply
    issued: float
    deadline: float
    leg: Callable[[Client], Reply] | None = None
    replied: Reply | None = None
    died: bool = False
    over: bool = False

    def is_live(self, now: float) -> bool:
        return self.issued - SKEW_S <= now < min(self.issued + ROUND_S, self.deadline)


class Deployment(RuleBasedStateMachine):
    """Rules are what clients, operators and bad luck do; checks stand where an answer comes in."""

    kms = False
    timing = TIMING

    def __init__(self) -> None:
        super().__init__()
        self.world = World(kms=self.kms, timing=self.timing)
        self.flows: list[Flow] = []
        self.pending = ""

    @initialize()
    def start(self) -> None:
        self.instances = [Instance(self.world, skew_s) for skew_s in (-30, 0, 30)]

    # Clients

    @rule(where=instances, tool=st.sampled_from(["resolved", "imperative"]), person=st.sampled_from(PEOPLE))
    def call(self, where: int, tool: str, person: str) -> None:
        reference = f"call-{len(self.flows)}"
        instance = self._instance(where)
        reply = self._serve(instance, person, lambda client: client.call(tool, {"reference": reference}))
        assert reply is not None
        if reply.status == 503:
            assert instance.may_be_cut_off
            return
        issued = float(int(instance.now))
        self.flows.append(Flow(reference, tool, person, reply, issued, issued + FLOW_S))

    @precondition(lambda self: self.flows)
    @rule(which=flows, where=instances, death=st.sampled_from(("", "", "", *DEATHS)))
    def answer(self, which: int, where: int, death: str) -> None:
        flow, instance = self._flow(which), self._instance(where)
        if flow.over or flow.died or flow.replied is not None:
            return
        live, before = flow.is_live(instance.now), self.world.executions.copy()
        key = next(iter(flow.asked.questions))
        flow.leg = lambda client, asked=flow.asked: client.answer(asked, {key: accept(sure=True)})
        self.world.claims.death = death
        reply = self._serve(instance, flow.person, flow.leg)
        self.world.claims.death = ""
        if reply is None:
            flow.died = True
            self._dies(where)
            if death == "before the claim":
                flow.died, flow.leg = False, None
            return
        self._must_be_fair(reply, instance, live, before)
        if reply.status != 200:
            flow.leg = None
        elif reply.asks and not reply.questions:
            pass  # come back: nothing new is known
        elif reply.asks:
            flow.asked, flow.issued, flow.leg = reply, float(int(instance.now)), None
        else:
            flow.replied = reply
            if not reply.is_error:
                assert self.world.executions[flow.reference] == 1, reply.text

    @precondition(lambda self: any(flow.leg for flow in self.flows))
    @rule(which=flows, where=instances)
    def repeat(self, which: int, where: int) -> None:
        """The latest answer of a flow once more, whether its first sending was answered or died."""
        flow, instance = self._flow(which, lambda flow: flow.leg is not None), self._instance(where)
        assert flow.leg is not None
        live, before = flow.is_live(instance.now), self.world.executions.copy()
        reply = self._serve(instance, flow.person, flow.leg)
        assert reply is not None
        self._must_be_fair(reply, instance, live, before)
        if reply.status != 200:
            return
        assert self.world.executions == before, "a duplicate ran the body"
        if flow.replied is not None:
            assert reply.result == flow.replied.result
        elif flow.died and not reply.asks:
            recorded = f"{flow.reference} carried out" in reply.text
            assert recorded or "did not finish" in reply.text

    @precondition(lambda self: any(flow.leg for flow in self.flows))
    @rule(which=flows, where=instances, how=st.sampled_from(["answer", "person", "arguments", "tool", "token"]))
    def abuse(self, which: int, where: int, how: str) -> None:
        """A state that was used, or another's, with something changed."""
        flow, instance = self._flow(which, lambda flow: flow.leg is not None), self._instance(where)
        before = self.world.executions.copy()
        person = next(one for one in PEOPLE if one != flow.person) if how == "person" else flow.person
        arguments = {"reference": "another" if how == "arguments" else flow.reference}
        tool = {"resolved": "imperative", "imperative": "resolved"}[flow.tool] if how == "tool" else flow.tool
        key = next(iter(flow.asked.questions))
        answers = {key: accept(sure=how != "answer")}
        state = flow.asked.state
        if how == "token":
            state = state[:40] + ("A" if state[40] != "A" else "B") + state[41:]
        reply = self._serve(instance, person, lambda client: client.call(tool, arguments, state=state, answers=answers))
        assert reply is not None
        assert self.world.executions == before
        assert reply.status in ((400, 503) if instance.may_be_cut_off else (400,))

    @rule(where=instances)
    def junk(self, where: int) -> None:
        """A token that no key of this deployment sealed."""
        instance = self._instance(where)
        sealed = bytes([2]) + b"zz" + bytes(80)
        reply = self._serve(
            instance,
            "ann",
            lambda client: client.call("resolved", {"reference": "junk"}, state=token.to_text(sealed), answers={}),
        )
        assert reply is not None
        assert reply.status in ((400, 503) if instance.may_be_cut_off else (400,))

    # Time, instances, rotations

    @rule(seconds=st.sampled_from([1, 1, 9, 60, 299, 300, 420, 599, 1800, 3600]))
    def wait(self, seconds: int) -> None:
        self.world.now += seconds

    @rule(where=instances, what=st.sampled_from(["cut off", "connected", "restarted"]))
    def an_instance_is(self, where: int, what: str) -> None:
        if what == "restarted":
            self._dies(where)
        else:
            self._instance(where).source.cut = what == "cut off"

    @precondition(lambda self: not self.kms)
    @rule()
    def rotate(self) -> None:
        self.pending = self.world.secret.begin()
        for step in STEPS:
            self._step(step)

    @precondition(lambda self: not self.kms)
    @rule(dies_at=st.integers(0, 9), late_s=st.sampled_from([0, 5, 300, 7200]))
    def rotate_with_a_crash_and_a_retry(self, dies_at: int, late_s: int) -> None:
        self.pending = self.world.secret.begin()
        self.world.secret.dies_at = dies_at
        for step in STEPS:
            self._step(step)
        self.world.secret.dies_at = None
        self.world.now += late_s
        for step in STEPS:
            self._step(step)

    @precondition(lambda self: not self.kms)
    @rule(where=instances)
    def rotate_while_one_instance_is_cut_off(self, where: int) -> None:
        self._instance(where).source.cut = True
        self.rotate()
        self.world.now += TIMING.lead_s

    @precondition(lambda self: not self.kms)
    @rule(where=instances, late_s=st.sampled_from([60, 1800]))
    def finish_a_rotation_late_under_a_flood(self, where: int, late_s: int) -> None:
        """While every instance but one has just looked for kids that do not exist, and will not look again for some seconds."""
        self.pending = self.world.secret.begin()
        for step in STEPS[:3]:
            self._step(step)
        self.world.now += late_s
        for number in range(len(self.instances)):
            self.junk(number)
        self._step(STEPS[3])
        self._dies(where)

    @precondition(lambda self: self.pending)
    @rule(step=st.sampled_from(STEPS))
    def repeat_a_step(self, step: str) -> None:
        self._step(step)

    @invariant()
    def a_body_runs_at_most_once(self) -> None:
        assert all(count <= 1 for count in self.world.executions.values())

    # Helpers

    def _step(self, step: str) -> None:
        try:
            self.world.rotator.run(step, self.pending)
        except (Killed, MrtrError):
            return

    def _serve(self, instance: Instance, person: str, use: Callable[[Client], Reply]) -> Reply | None:
        return instance.serve(use, {"iss": "https://issuer.example", "sub": person})

    def _must_be_fair(self, reply: Reply, instance: Instance, live: bool, before: Any) -> None:
        if reply.status == 503:
            assert instance.may_be_cut_off, "an instance that reaches the source must serve"
        elif reply.status != 200:
            assert reply.status == 400
            assert not live, "a live flow was refused"
        if reply.status != 200:
            assert self.world.executions == before, "a refused request ran the body"

    def _dies(self, where: int) -> None:
        number = where % len(self.instances)
        self.instances[number] = Instance(self.world, self.instances[number].skew_s)

    def _instance(self, where: int) -> Instance:
        return self.instances[where % len(self.instances)]

    def _flow(self, which: int, condition: Callable[[Flow], bool] = lambda flow: True) -> Flow:  # noqa: ARG005
        fitting = [flow for flow in self.flows if condition(flow)]
        return fitting[-1 - which % len(fitting)]


class DeploymentWithKms(Deployment):
    kms = True


SETTINGS = settings(
    max_examples=150,
    stateful_step_count=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("machine", [Deployment, DeploymentWithKms], ids=["secret", "kms"])
def test_no_order_of_events_breaks_a_promise(machine: type[Deployment]) -> None:
    run_state_machine_as_test(machine, settings=SETTINGS)


def seals_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Timing, "lead_s", 0)
    patch.setattr(Timing, "least_lead_s", -math.inf)


def drops_old_keys_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Timing, "keep_s", 0)


def takes_up_any_pending_ring(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rotation, "follows", lambda *_: True)


def forgets_the_previous_epoch(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(KmsRing, "_behind_s", 0, raising=False)
    patch.setattr(KmsRing, "__setattr__", lambda ring, name, value: _set_but(ring, name, value, "_behind_s"))


def wins_every_claim(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Claims, "create", lambda self, claim: MemoryClaimTable.create(self, claim) and None)


def _set_but(ring: KmsRing, name: str, value: object, but: str) -> None:
    if name != but:
        object.__setattr__(ring, name, value)


@pytest.mark.parametrize(
    ("defect", "machine"),
    [
        (seals_at_once, Deployment),
        (drops_old_keys_at_once, Deployment),
        (takes_up_any_pending_ring, Deployment),
        (forgets_the_previous_epoch, DeploymentWithKms),
        (wins_every_claim, Deployment),
    ],
)
def test_the_model_notices_a_deployment_that(
    monkeypatch: pytest.MonkeyPatch, defect: Callable[[pytest.MonkeyPatch], None], machine: type[Deployment]
) -> None:
    defect(monkeypatch)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=settings(SETTINGS, max_examples=600, phases=[Phase.generate]))
