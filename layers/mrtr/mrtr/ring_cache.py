"""A key ring kept for a while: fetched when it is old or lacks a kid, and kept in use while its source is down."""

from __future__ import annotations

import threading
from typing import Protocol

from .errors import ConfigurationError, Unavailable
from .keyring import KeyRing, RingKey
from .log import log

HARD_LIMIT_S = 3600


class RingSource(Protocol):
    """Where a ring comes from. Raises Unavailable when it can't be had now, ConfigurationError when what is there can't be used."""

    def fetch(self, now: float) -> KeyRing: ...


class RingCache:
    """The ring of one process. Times are Unix seconds; every method takes `now`.

    max_age_s: how old a ring may get before it is fetched again.
    hard_limit_s: how old it may get while fetching fails; past that, nothing is sealed or opened.
    retry_gap_s: while there is a ring to go on with, the least time between two fetches after a failure, and between two fetches for unknown
    kids, so that neither an outage nor a flood of junk tokens turns into one fetch a request.
    """

    def __init__(
        self,
        source: RingSource,
        *,
        max_age_s: float = 300,
        hard_limit_s: float = HARD_LIMIT_S,
        retry_gap_s: float = 10,
    ) -> None:
        self._source = source
        self._max_age_s = max_age_s
        self._hard_limit_s = max(hard_limit_s, max_age_s)
        self._retry_gap_s = retry_gap_s
        self._lock = threading.Lock()
        self._ring: KeyRing | None = None
        self._fetched_at = 0.0
        self._failed_at: float | None = None  # of the latest fetch, if it failed
        self._sought_at: float | None = None

    def sealing_key(self, now: float) -> RingKey:
        """The key to seal with. Raises Unavailable or ConfigurationError when there is no usable ring."""
        return self._current(now).sealing_key(now)

    def opening_key(self, kid: str, now: float) -> RingKey | None:
        """The key named `kid`, after one fetch if the cached ring lacks it; None when it isn't in the ring or opens no more.

        Raises Unavailable when that can't be told: the cached ring lacks the kid and can't be refreshed, so the kid may be newer. The token of
        a live flow is never refused for this instance's want of a key; its client is told to come again.
        """
        ring = self._current(now)
        if kid not in ring.kids:
            ring = self._sought(now, ring)
        return ring.opening_key(kid, now)

    def _current(self, now: float) -> KeyRing:
        ring = self._ring
        # A negative age is a clock that was set back: how old the ring really is can't be known then.
        if ring is not None and 0 <= now - self._fetched_at < self._max_age_s:
            return ring
        with self._lock:
            if self._ring is not ring and self._ring is not None:
                return self._ring
            if ring is not None and _within(self._failed_at, now, self._retry_gap_s):
                return self._outlive(ring, now, None)
            return self._fetch(now, ring)

    def _sought(self, now: float, ring: KeyRing) -> KeyRing:
        """A ring that is new enough to tell that a kid which `ring` lacks does not exist.

        Within the gap after a fetch the cached one is: a key that every instance shall open is in the ring long before it seals.
        """
        with self._lock:
            if self._ring is not ring and self._ring is not None:
                return self._ring
            if not (
                _within(self._sought_at, now, self._retry_gap_s) or _within(self._failed_at, now, self._retry_gap_s)
            ):
                self._sought_at = now
                ring = self._fetch(now, ring)
            if self._failed_at is not None:
                raise Unavailable("a state's kid is not in the cached key ring, which can't be refreshed now")
            return ring

    def _fetch(self, now: float, ring: KeyRing | None) -> KeyRing:
        try:
            fresh = self._source.fetch(now)
        except (Unavailable, ConfigurationError) as error:
            self._failed_at = now
            if ring is None:
                raise
            return self._outlive(ring, now, error)
        self._ring, self._fetched_at, self._failed_at = fresh, now, None
        return fresh

    def _outlive(self, ring: KeyRing, now: float, error: Exception | None) -> KeyRing:
        age_s = now - self._fetched_at
        if age_s >= self._hard_limit_s:
            raise Unavailable("the key ring could not be refreshed within its hard limit") from error
        if error is not None:
            log().error(
                "key ring not refreshed; the cached one stays in use",
                extra={"ring_age_s": int(age_s), "cause": str(error)},
            )
        return ring


def _within(since: float | None, now: float, gap_s: float) -> bool:
    return since is not None and 0 <= now - since < gap_s
