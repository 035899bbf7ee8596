"""`python -m bench.simulate_fleet`: a million flows over 200 simulated instances, with three rotations, outages and deaths.

Everything that decides whether a state opens and whether a body runs is the runtime's own code: sealing, ring cache, rotation steps, claims.
What is simulated is time, the clocks, the key ring's secret, and the claim table (in memory). Exits with 1 if a live flow was refused, a body
ran twice or a result was lost.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import logging
import random
import sys
import time
from collections import deque
from dataclasses import dataclass, field, replace

from mrtr import rotation, state
from mrtr.errors import StateRefused, Unavailable
from mrtr.keyring import KeyRing, read_ring
from mrtr.log import log
from mrtr.ring_cache import RingCache
from mrtr.rotation import Timing
from mrtr.rotator import fresh_secret
from mrtr.single_use import OutcomeUnknown, Replay, SingleUse, StillRunning, Won
from mrtr.state import FlowState
from mrtr.tags import item_id
from mrtr.testing import MemoryClaimTable

START = 1_800_000_000.0
HOURS = 4
ROTATIONS_S = (3600, 7200, 8400)
"""The last two fall within one flow's life."""
ROUND_S, FLOW_S = 600, 3600
LIFE_S = 2700
TIMING = Timing(ring_cache_s=300, ring_limit_s=3600, flow_ttl_s=FLOW_S, clock_skew_s=60)
AUDIENCE = "simulated"
REMAINING_MS = 25_000
ANSWERS = b"yes"


class Secret:
    """The key ring's secret. fetches: how often it was read."""

    def __init__(self) -> None:
        self.text = '{"kid": "k1", "key": "' + fresh_secret() + '"}'
        self.version = 0
        self.fetches = 0
        self.most_keys = 1

    def rotate(self, now: float) -> None:
        made = rotation.rotate(self.text, str(self.version), fresh_secret(), now, TIMING)
        if not rotation.follows(made, str(self.version), now, TIMING):
            raise AssertionError("a rotation that is finished at once is not accepted")
        self.text, self.version = made, self.version + 1
        self.most_keys = max(self.most_keys, len(read_ring(made).keys))


class Clock:
    """One for all; an instance's own is off by its skew."""

    now = START


class Instance:
    """One process, which lives for a while. cut_until: it can't read the secret until then."""

    def __init__(self, secret: Secret, table: MemoryClaimTable, skew_s: float, cut_until: float) -> None:
        self.skew_s = skew_s
        self.dies_at = Clock.now + LIFE_S * random.uniform(0.5, 1.5)  # noqa: S311  a simulation, not a key
        self._secret = secret
        self._cut_until = cut_until
        self.ring = RingCache(self, max_age_s=TIMING.ring_cache_s, hard_limit_s=TIMING.ring_limit_s)
        self._held_s = 0.0  # how long it has slept over the duplicate at hand
        self.single_use = SingleUse(table, self.ring, AUDIENCE, clock=lambda: self.now, sleep=self._sleep)

    @property
    def now(self) -> float:
        return Clock.now + self.skew_s + self._held_s

    def _sleep(self, seconds: float) -> None:
        self._held_s += seconds

    def fetch(self, now: float) -> KeyRing:
        del now
        if Clock.now < self._cut_until:
            raise Unavailable("cut off")
        self._secret.fetches += 1
        return read_ring(self._secret.text)

    def ask(self, number: int) -> str:
        asking = replace(state.new_flow(self.now, FLOW_S), round=1)
        asking = replace(asking, expires=asking.issued + ROUND_S)
        bound = state.bind(asking, "tools/call", "act", f'{{"number":{number}}}', None)
        return state.seal(bound, self.ring.sealing_key(self.now), AUDIENCE)

    def open(self, text: str, number: int) -> FlowState:
        self._held_s = 0
        now = self.now
        opened = state.unseal(text, lambda kid: self.ring.opening_key(kid, now), AUDIENCE)
        return state.check(
            opened, now=now, method="tools/call", name="act", arguments=f'{{"number":{number}}}', principal=None
        )


@dataclass
class Counts:
    """What came of the flows."""

    asked: int = 0
    executed: int = 0
    died: int = 0
    replayed: int = 0
    told_unknown: int = 0
    came_again: int = 0
    rings_without_source: int = 0
    refused: int = 0
    twice: int = 0
    lost: int = 0
    expired: int = 0


@dataclass(order=True)
class Leg:
    """An answer on its way. repeats: how often it is still sent again after it was carried out."""

    at: float
    number: int
    text: str = field(compare=False)
    repeats: int = field(compare=False, default=0)
    result: str = field(compare=False, default="")
    died: bool = field(compare=False, default=False)


class Fleet:
    """instances: how many at a time. chance: of random numbers alone, so that a run can be repeated."""

    def __init__(self, flows: int, instances: int, crash_rate: float) -> None:
        self.flows = flows
        self.crash_rate = crash_rate
        self.secret = Secret()
        self.table = MemoryClaimTable()
        self.table.actions = deque(maxlen=1)  # type: ignore[assignment]  # else it remembers every one of millions
        self.counts = Counts()
        self.instances = [self._started() for _ in range(instances)]
        self._numbers = itertools.count()
        self._legs: list[Leg] = []
        self._rotations = [START + at for at in ROTATIONS_S]

    def run(self) -> None:
        step_s = HOURS * 3600 / self.flows
        for number in range(self.flows):
            self._go_to(START + number * step_s)
            self._ask(number)
        self._go_to(Clock.now + 2 * FLOW_S)

    def _go_to(self, moment: float) -> None:
        """Answer what is due until then."""
        while self._legs and self._legs[0].at <= moment:
            leg = heapq.heappop(self._legs)
            self._set(leg.at)
            self._answer(leg)
        self._set(moment)

    def _set(self, now: float) -> None:
        Clock.now = now
        if self._rotations and now >= self._rotations[0]:
            self._rotations.pop(0)
            self.secret.rotate(now + random.uniform(-TIMING.clock_skew_s, TIMING.clock_skew_s) / 2)  # noqa: S311

    def _started(self) -> Instance:
        # One in fifty is cut off a little after its start, for up to half an hour.
        instance = Instance(self.secret, self.table, random.uniform(-30, 30), 0)  # noqa: S311
        instance.ring.sealing_key(instance.now)
        if random.random() < 0.02:  # noqa: S311
            instance._cut_until = Clock.now + random.uniform(600, 1800)  # noqa: S311, SLF001
        return instance

    def _any(self) -> Instance:
        place = random.randrange(len(self.instances))  # noqa: S311
        instance = self.instances[place]
        if Clock.now >= instance.dies_at:
            instance = self.instances[place] = self._started()
        return instance

    def _ask(self, number: int) -> None:
        text = self._any().ask(number)
        self.counts.asked += 1
        think_s = min(random.expovariate(1 / 90), ROUND_S - 100)
        repeats = random.choices((0, 1, 2), (90, 8, 2))[0]  # noqa: S311
        heapq.heappush(self._legs, Leg(Clock.now + think_s, number, text, repeats))

    def _answer(self, leg: Leg) -> None:
        instance = self._any()
        try:
            opened = instance.open(leg.text, leg.number)
            verdict = instance.single_use.claim(opened, ANSWERS, remaining_ms=REMAINING_MS, rerun_after_crash=False)
        except Unavailable:
            self.counts.rings_without_source += 1
            heapq.heappush(self._legs, replace(leg, at=Clock.now + 2))
            return
        except StateRefused as refusal:
            if refusal.cause == "expired":
                self.counts.expired += 1  # a repetition that came after its round's end
            else:
                self.counts.refused += 1
            return
        self._take(instance, leg, opened, verdict)

    def _take(
        self, instance: Instance, leg: Leg, opened: FlowState, verdict: Won | Replay | StillRunning | OutcomeUnknown
    ) -> None:
        match verdict:
            case Won():
                self.counts.twice += bool(leg.result) or leg.died
                self.counts.executed += 1
                if random.random() < self.crash_rate:  # noqa: S311
                    self.counts.died += 1
                    instance.dies_at = Clock.now
                    leg = replace(leg, died=True, repeats=max(leg.repeats, 1))
                else:
                    leg = replace(leg, result=f"done, number {next(self._numbers)}")
                    instance.single_use.finish(verdict, leg.result)
            case Replay(response=response):
                self.counts.replayed += 1
                self.counts.lost += response != leg.result
            case OutcomeUnknown():
                self.counts.told_unknown += 1
                self.counts.lost += not leg.died
            case StillRunning():
                self.counts.came_again += 1
                heapq.heappush(self._legs, replace(leg, at=Clock.now + 5))
                return
        if leg.repeats:
            heapq.heappush(self._legs, replace(leg, at=Clock.now + random.uniform(0.1, 40), repeats=leg.repeats - 1))  # noqa: S311
        else:
            self.table.items.pop(
                item_id(opened.flow), None
            )  # as its TTL would remove it: nothing of the flow is to come


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.simulate_fleet", description=__doc__)
    parser.add_argument("--flows", type=int, default=1_000_000)
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--crash-rate", type=float, default=0.01, help="how many of the runs die before their result")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    random.seed(options.seed)
    Clock.now = START
    logging.getLogger(log().name).disabled = True  # an outage is logged at every fetch that fails
    started = time.process_time()
    fleet = Fleet(options.flows, options.instances, options.crash_rate)
    try:
        fleet.run()
    finally:
        logging.getLogger(log().name).disabled = False
    spent_s = time.process_time() - started
    for name, value in vars(fleet.counts).items():
        print(f"{name.replace('_', ' '):24} {value:>10,}")
    print(f"{'reads of the secret':24} {fleet.secret.fetches:>10,}")
    print(f"{'keys in the ring, at most':24} {fleet.secret.most_keys:>9,}")
    print(f"{'CPU, microseconds a flow':24} {spent_s / options.flows * 1e6:>10,.0f}")
    counts = fleet.counts
    good = not (counts.refused or counts.twice or counts.lost) and counts.executed == counts.asked
    print("no live flow refused, nothing run twice, no result lost" if good else "NOT AS IT MUST BE")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
