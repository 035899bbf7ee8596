"""A small world for the model: time, instances with clocks of their own, one key source, one claim table, and deaths at any point."""

from __future__ import annotations

import hashlib
import hmac
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel

from mrtr import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve, Server
from mrtr.claim_table import Claim, Item
from mrtr.errors import Unavailable
from mrtr.keyring import KeyRing, read_ring
from mrtr.kms import KmsRing
from mrtr.ring_cache import RingCache, RingSource
from mrtr.rotation import Timing
from mrtr.rotator import Rotator
from mrtr.runtime import Runtime
from mrtr.secretsmanager import CURRENT, PENDING, Labels, RingSecret, Version
from mrtr.single_use import SingleUse
from mrtr.testing import SETTINGS, Client, Clock, LambdaContext, MemoryClaimTable, Reply

T0 = 1_800_000_000.0
TIMING = Timing(ring_cache_s=300, ring_limit_s=3600, flow_ttl_s=3600, clock_skew_s=60)
EPOCH_S = 7200
RETRY_GAP_S = 10
DEATHS = ("before the claim", "after the claim", "in the body", "before the record", "after the record")


class Killed(BaseException):
    """The process died here."""


class Secret(RingSecret):
    """The key ring's secret as Secrets Manager keeps it, in memory. dies_at: how many more calls until the rotation function dies."""

    def __init__(self) -> None:
        super().__init__("memory")
        self._texts: dict[str, str | None] = {"first": '{"kid": "k1", "key": "' + "s" * 64 + '"}'}
        self._labels = {CURRENT: "first"}
        self.dies_at: int | None = None

    def begin(self) -> str:
        version = str(uuid.UUID(int=len(self._texts)))
        self._texts[version] = None
        self._labels[PENDING] = version
        return version

    def read(self) -> Version:
        self._pass()
        return Version(self._labels[CURRENT], self._texts[self._labels[CURRENT]] or "")

    def read_version(self, version: str) -> str | None:
        self._pass()
        return self._texts[version]

    def labels(self) -> Labels:
        self._pass()
        stages: dict[str, list[str]] = {}
        for label, version in self._labels.items():
            stages.setdefault(version, []).append(label)
        return Labels(stages, rotation_enabled=True)

    def put_pending(self, version: str, text: str) -> None:
        self._pass()
        assert self._texts[version] in (None, text), "Secrets Manager refuses another value"
        self._texts[version] = text
        self._pass()

    def promote(self, version: str, over: str) -> None:
        self._pass()
        assert self._labels[CURRENT] == over
        self._labels[CURRENT] = version
        self._pass()

    def replace(self, text: str, over: str) -> str:
        self._pass()
        version = str(uuid.UUID(int=len(self._texts)))
        self._texts[version] = text
        self.promote(version, over)
        return version

    def settle(self, pending: str, current: str) -> None:
        self._pass()
        assert self._labels[PENDING] == pending
        self._labels[PENDING] = current
        self._pass()

    def _pass(self) -> None:
        if self.dies_at is not None:
            self.dies_at -= 1
            if self.dies_at < 0:
                self.dies_at = None
                raise Killed


class SecretSource:
    """The ring as a function reads it."""

    def __init__(self, secret: Secret) -> None:
        self._secret = secret

    def fetch(self, now: float) -> KeyRing:  # noqa: ARG002 - RingSource's signature
        return read_ring(self._secret.read().text)


class LocalKms(KmsRing):
    """KMS with a key of this test's."""

    def _mac(self, message: bytes) -> bytes:
        return hmac.digest(b"a key that never leaves", message, hashlib.sha256)


class Reachable:
    """A source that this instance can be cut off from. failed_at: when that last made a fetch fail, by the instance's clock."""

    def __init__(self, source: RingSource) -> None:
        self._source = source
        self.cut = False
        self.failed_at = 0.0

    def fetch(self, now: float) -> KeyRing:
        if self.cut:
            self.failed_at = now
            raise Unavailable("cut off")
        return self._source.fetch(now)


class Claims(MemoryClaimTable):
    """The claim table; `death` says at which point the process that claims next dies."""

    death = ""

    def create(self, claim: Claim) -> Item | None:
        return self._claim(lambda: super(Claims, self).create(claim))

    def take(self, claim: Claim, waiting: int) -> Item | None:
        return self._claim(lambda: super(Claims, self).take(claim, waiting))

    def record(self, claim: Claim, status: str, waiting: int, response: bytes) -> bool:
        self.die("before the record")
        recorded = super().record(claim, status, waiting, response)
        self.die("after the record")
        return recorded

    def die(self, point: str) -> None:
        if self.death == point:
            self.death = ""
            raise Killed

    def _claim(self, claim: Callable[[], Item | None]) -> Item | None:
        self.die("before the claim")
        item = claim()
        if item is None:
            self.die("after the claim")
        return item


class Instance:
    """One process: its clock is off by `skew_s`."""

    def __init__(self, world: World, skew_s: int) -> None:
        self.world = world
        self.skew_s = skew_s
        self.source = Reachable(world.source())
        self._clock = Clock()
        self._runtime = Runtime(SETTINGS, clock=self._clock, sleep=self._clock.sleep)
        self._runtime.ring = RingCache(
            self.source, max_age_s=TIMING.ring_cache_s, hard_limit_s=TIMING.ring_limit_s, retry_gap_s=RETRY_GAP_S
        )
        self._runtime.single_use = SingleUse(
            world.claims, self._runtime.ring, SETTINGS.audience, clock=self._clock, sleep=self._clock.sleep
        )

    @property
    def now(self) -> float:
        return self.world.now + self.skew_s

    @property
    def may_be_cut_off(self) -> bool:
        """Whether it can't reach the source, or could not a moment ago and does not try again yet."""
        return self.source.cut or self.now - self.source.failed_at < RETRY_GAP_S

    def serve(self, use: Callable[[Client], Reply], claims: dict[str, str]) -> Reply | None:
        """What this instance answers; None when it died instead."""
        self._clock.now = self.now
        SERVER._runtime = self._runtime
        Here.world = self.world
        client = Client(SERVER.lambda_handler, context=LambdaContext(remaining_ms=20_000), claims=claims)
        try:
            return use(client)
        except Killed:
            return None


class World:
    """kms: whether the ring comes from KMS rather than from a secret. executions: how often the body of each call ran."""

    def __init__(self, *, kms: bool, timing: Timing = TIMING) -> None:
        self.now = T0
        self.secret = Secret()
        self.kms = kms
        self.rotator = Rotator(self.secret, timing, lambda: self.now)
        self.claims = Claims()
        self.executions: Counter[str] = Counter()

    def source(self) -> RingSource:
        if self.kms:
            return LocalKms("memory", epoch_s=EPOCH_S, flow_ttl_s=TIMING.flow_ttl_s, ring_limit_s=TIMING.ring_limit_s)
        return SecretSource(self.secret)


class Here:
    """Where the tools below run."""

    world: World


class Yes(BaseModel):
    sure: bool


SERVER = Server("model")


def ask(reference: str) -> Elicit[Yes]:
    return Elicit(f"Carry out {reference}?", Yes)


def executed(reference: str) -> str:
    Here.world.executions[reference] += 1
    Here.world.claims.die("in the body")
    return f"{reference} carried out, number {sum(Here.world.executions.values())}"


@SERVER.tool()
def resolved(reference: str, answer: Annotated[ElicitationResult[Yes], Resolve(ask)]) -> str:
    """Asks through a resolver."""
    if isinstance(answer, AcceptedElicitation) and answer.data.sure:
        return executed(reference)
    return f"{reference} left alone"


@SERVER.tool()
def imperative(reference: str, ctx: Context) -> str:
    """Asks twice from inside its body."""
    for number in ("first", "second"):
        answer = ctx.elicit(f"The {number} time: carry out {reference}?", Yes, key=number)
        if not (isinstance(answer, AcceptedElicitation) and answer.data.sure):
            return f"{reference} left alone"
    return executed(reference)
