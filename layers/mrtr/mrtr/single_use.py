"""Single use: at most one execution of a flow, and its answer again for every duplicate.

absent → running → done, or for a body that asks: running → asked → running → … → done; moved by conditional writes alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from . import tags, token
from .claim_table import ASKED, DONE, RUNNING, Claim, ClaimTable, Item
from .errors import StateRefused, Unavailable
from .keyring import RingKey
from .log import log
from .ring_cache import RingCache
from .state import FlowState

HOLD_S = 5.0
"""How long a duplicate waits for the leg that runs: the official client gives up after 10 rounds, so coming back must not be quick."""
MAX_RECORD_BYTES = 300 * 1024
"""Largest response that is kept; a DynamoDB item holds 400 KB in all."""

_PURPOSE = "record"
_POLL_S = 0.1
_KEEP_S = 24 * 3600
_MARGIN_MS = 1000


@dataclass(frozen=True, slots=True)
class Won:
    """The flow is this leg's: run the body, then `finish`, `ask` or `release`."""

    claim: Claim
    waiting: int
    key: RingKey = field(repr=False)


@dataclass(frozen=True, slots=True)
class Replay:
    """This leg was answered before: `response` is that answer's result, JSON; None when it was too large to keep."""

    response: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class StillRunning:
    """Another request with these answers runs the flow right now."""


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """A request with these answers, `owner`, started at `started` (Unix milliseconds) and never finished."""

    started: int
    owner: bytes


Verdict = Won | Replay | StillRunning | OutcomeUnknown


class SingleUse:
    """The state machine over a claim table. clock: Unix seconds; sleep: waits between polls of a held duplicate."""

    def __init__(
        self,
        table: ClaimTable,
        ring: RingCache,
        audience: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._ring = ring
        self._audience = audience
        self._clock = clock
        self._sleep = sleep

    def claim(self, state: FlowState, answers: bytes, *, remaining_ms: int, rerun_after_crash: bool) -> Verdict:
        """Claim the flow for a leg with these answers, or say what became of it.

        Raises StateRefused when the state was used with other answers or out of turn, and Unavailable when the table or the ring is;
        then nothing is claimed.
        """
        now = self._clock()
        key = self._ring.sealing_key(now)  # before the claim: without a key the response could not be recorded
        claim = self._new_claim(state, answers, now, remaining_ms)
        waiting = state.claimed_round
        won = Won(claim, waiting, key)
        table = self._table
        item = self._attempt(won, lambda: table.take(claim, waiting) if waiting else table.create(claim))
        if item is None:
            return won
        verdict = self._judge(item, state, answers, remaining_ms)
        if isinstance(verdict, OutcomeUnknown) and rerun_after_crash:
            item = self._attempt(won, lambda: table.take_over(claim, verdict.owner))
            return won if item is None else StillRunning()
        return verdict

    def look(
        self, state: FlowState, answers: bytes, *, remaining_ms: int
    ) -> Replay | StillRunning | OutcomeUnknown | None:
        """What became of this leg if it was carried out before; None if the flow is still open to it. Claims nothing."""
        item = self._table.read(tags.item_id(state.flow))
        if item is None or (item.status == ASKED and item.waiting == state.claimed_round):
            return None
        return self._judge(item, state, answers, remaining_ms)

    def finish(self, won: Won, response: str) -> None:
        """Record the result. If that fails the result is still the caller's: the body has run, and only its replay is lost."""
        try:
            if not self._table.record(won.claim, DONE, 0, self._sealed(won, response)):
                log().error("result not recorded: the claim was taken over", extra={"flow": won.claim.id.hex()})
        except Unavailable as error:
            log().error("result not recorded", extra={"flow": won.claim.id.hex(), "cause": str(error)})

    def ask(self, won: Won, response: str, round_: int) -> None:
        """Record that the body asked, and waits for the answers of `round_`. Raises Unavailable when that can't be recorded."""
        if not self._table.record(won.claim, ASKED, round_, self._sealed(won, response)):
            raise Unavailable("the claim was taken over while its body asked")

    def release(self, won: Won) -> None:
        """Give back a claim whose body did nothing, so that the same retry can run. Best effort: the caller is reporting another failure."""
        try:
            self._table.release(won.claim, won.waiting)
        except Unavailable as error:
            log().error("claim not released", extra={"flow": won.claim.id.hex(), "cause": str(error)})

    def _attempt(self, won: Won, write: Callable[[], Item | None]) -> Item | None:
        """Write a claim. None: it is ours; else the item that is in its way."""
        try:
            item = write()
        except Unavailable:
            # The write may have arrived and only its response been lost: then nobody would ever run this flow.
            self.release(won)
            raise
        # Our own item: a lost response to a write that succeeded, and its repetition.
        return None if item is not None and item.owner == won.claim.owner else item

    def _judge(
        self, item: Item, state: FlowState, answers: bytes, remaining_ms: int
    ) -> Replay | StillRunning | OutcomeUnknown:
        hold_until = self._clock() + min(HOLD_S, remaining_ms / 1000 - 2)
        pause_s = _POLL_S
        item_id = tags.item_id(state.flow)
        while True:
            if item.status == ASKED and item.waiting == state.claimed_round:
                return StillRunning()  # its owner gave the claim back to its question: the next try gets it
            if item.answered != state.round or item.answers != answers:
                raise StateRefused("used already: with other answers or out of turn")
            if item.status != RUNNING:
                return Replay(self._opened(item, item_id))
            now = self._clock()
            if now * 1000 > item.until + _MARGIN_MS:
                return OutcomeUnknown(item.started, item.owner)
            if now + pause_s > hold_until:
                return StillRunning()
            self._sleep(pause_s)
            pause_s = min(2 * pause_s, 0.8)
            fresh = self._table.read(item_id)
            if fresh is None:
                return StillRunning()  # its owner gave the claim back: the next try gets it
            item = fresh

    def _new_claim(self, state: FlowState, answers: bytes, now: float, remaining_ms: int) -> Claim:
        started = int(now * 1000)
        return Claim(
            id=tags.item_id(state.flow),
            answered=state.round,
            answers=answers,
            owner=os.urandom(8),
            started=started,
            until=started + remaining_ms,
            expires=state.deadline + _KEEP_S,
        )

    def _sealed(self, won: Won, response: str) -> bytes:
        sealed = token.seal(response.encode(), won.key, purpose=self._purpose(won.claim.id), audience=self._audience)
        return sealed if len(sealed) <= MAX_RECORD_BYTES else b""

    def _opened(self, item: Item, item_id: bytes) -> str | None:
        if not item.response:
            return None
        now = self._clock()
        plain = token.unseal(
            item.response,
            lambda kid: self._ring.opening_key(kid, now),
            purpose=self._purpose(item_id),
            audience=self._audience,
        )
        return plain.decode()

    @staticmethod
    def _purpose(item_id: bytes) -> str:
        return f"{_PURPOSE} {item_id.hex()}"  # so that one flow's response does not open in another's item
