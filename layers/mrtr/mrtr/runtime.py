"""What a function needs of AWS to ask and to act: the key ring and the claim table, put together from its settings."""

from __future__ import annotations

import time
from collections.abc import Callable

from .claim_table import ClaimTable
from .ring_cache import RingCache
from .settings import Settings
from .single_use import SingleUse
from .sources import read_sources


class Runtime:
    """Kept for the life of the process: one of the documented caches. Nothing in it depends on a request."""

    def __init__(
        self, settings: Settings, *, clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.ring = RingCache(
            read_sources(settings), max_age_s=settings.ring_cache_s, hard_limit_s=settings.ring_limit_s
        )
        self.single_use = SingleUse(
            ClaimTable(settings.claim_table), self.ring, settings.audience, clock=clock, sleep=sleep
        )
