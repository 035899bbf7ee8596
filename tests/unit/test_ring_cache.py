from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from mrtr.errors import ConfigurationError, Unavailable
from mrtr.keyring import KeyRing, RingKey, derive_key
from mrtr.ring_cache import RingCache
from tests.unit.conftest import Logged

T0 = 1_800_000_000.0
MAX_AGE_S, HARD_LIMIT_S, RETRY_GAP_S = 300, 3600, 10


def ring(*kids: str) -> KeyRing:
    return KeyRing(RingKey(kid, derive_key(kid, b"s" * 64), float(number)) for number, kid in enumerate(kids))


class Source:
    """Gives `ring`, or fails with `failure` while there is one."""

    def __init__(self, *kids: str) -> None:
        self.ring = ring(*kids)
        self.failure: Exception | None = None
        self.fetched_at: list[float] = []

    def fetch(self, now: float) -> KeyRing:
        self.fetched_at.append(now - T0)
        if self.failure is not None:
            raise self.failure
        return self.ring


@pytest.fixture
def source() -> Source:
    return Source("k1")


@pytest.fixture
def cache(source: Source) -> RingCache:
    return RingCache(source, max_age_s=MAX_AGE_S, hard_limit_s=HARD_LIMIT_S, retry_gap_s=RETRY_GAP_S)


down = pytest.mark.parametrize(
    "failure",
    [Unavailable("the source is down"), ConfigurationError("what is there can't be used")],
    ids=["down", "unusable"],
)


def test_nothing_is_fetched_before_a_key_is_needed(source: Source, cache: RingCache) -> None:
    assert source.fetched_at == []
    assert cache.sealing_key(T0).kid == "k1"
    assert source.fetched_at == [0]


def test_a_ring_is_kept_until_it_has_its_full_age(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    cache.opening_key("k1", T0 + MAX_AGE_S - 0.001)
    assert source.fetched_at == [0]
    source.ring = ring("k1", "k2")
    assert cache.sealing_key(T0 + MAX_AGE_S).kid == "k2"
    assert source.fetched_at == [0, MAX_AGE_S]


def test_a_clock_that_was_set_back_makes_one_fetch_since_the_age_of_the_ring_is_unknown(
    source: Source, cache: RingCache
) -> None:
    cache.sealing_key(T0)
    cache.sealing_key(T0 - 1000)
    cache.sealing_key(T0 - 999)
    assert source.fetched_at == [0, -1000]


@down
def test_without_any_ring_a_failing_source_is_passed_on(source: Source, cache: RingCache, failure: Exception) -> None:
    source.failure = failure
    with pytest.raises(type(failure)) as raised:
        cache.sealing_key(T0)
    assert raised.value is failure


def test_the_first_ring_is_there_as_soon_as_the_source_is_back_and_tried_again(
    source: Source, cache: RingCache
) -> None:
    source.failure = Unavailable("down")
    with pytest.raises(Unavailable):
        cache.sealing_key(T0)
    source.failure = None
    assert cache.sealing_key(T0 + RETRY_GAP_S).kid == "k1"


@down
def test_while_the_source_fails_the_cached_ring_stays_in_use_and_the_log_says_so(
    source: Source, cache: RingCache, failure: Exception, logged: Logged
) -> None:
    cache.sealing_key(T0)
    source.failure = failure
    assert cache.sealing_key(T0 + MAX_AGE_S).kid == "k1"
    assert cache.opening_key("k1", T0 + HARD_LIMIT_S - 1) is not None
    first, second = logged.lines
    assert first["level"] == "ERROR"
    assert first["message"] == "key ring not refreshed; the cached one stays in use"
    assert first["cause"] == str(failure)
    assert (first["ring_age_s"], second["ring_age_s"]) == (MAX_AGE_S, HARD_LIMIT_S - 1)


def test_during_an_outage_fetches_keep_their_distance(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    source.failure = Unavailable("down")
    for second in range(25):
        cache.sealing_key(T0 + MAX_AGE_S + second)
    assert source.fetched_at == [0, MAX_AGE_S, MAX_AGE_S + RETRY_GAP_S, MAX_AGE_S + 2 * RETRY_GAP_S]


def test_after_an_outage_the_new_ring_is_taken_up(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    source.failure = Unavailable("down")
    cache.sealing_key(T0 + MAX_AGE_S)
    source.failure, source.ring = None, ring("k1", "k2")
    assert cache.sealing_key(T0 + MAX_AGE_S + RETRY_GAP_S).kid == "k2"
    assert cache.sealing_key(T0 + 2 * MAX_AGE_S).kid == "k2"
    assert source.fetched_at == [0, MAX_AGE_S, MAX_AGE_S + RETRY_GAP_S]


def test_past_the_hard_limit_nothing_is_sealed_or_opened(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    source.failure = Unavailable("down")
    assert cache.sealing_key(T0 + HARD_LIMIT_S - 0.001).kid == "k1"
    with pytest.raises(Unavailable, match="hard limit"):
        cache.sealing_key(T0 + HARD_LIMIT_S)
    with pytest.raises(Unavailable, match="hard limit"):
        cache.opening_key("k1", T0 + HARD_LIMIT_S + 1)


# Unknown kids


def test_an_unknown_kid_makes_one_fetch_and_is_found_if_it_is_new(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    source.ring = ring("k1", "k2")
    found = cache.opening_key("k2", T0 + 1)
    assert found is not None
    assert found.kid == "k2"
    assert source.fetched_at == [0, 1]


def test_a_fetch_for_an_unknown_kid_makes_the_ring_young_again(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    cache.opening_key("k2", T0 + 200)
    cache.sealing_key(T0 + 200 + MAX_AGE_S - 1)
    assert source.fetched_at == [0, 200]


def test_a_flood_of_junk_kids_is_not_a_flood_of_fetches(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    for number in range(200):
        assert cache.opening_key(f"junk{number}", T0 + number / 10) is None
    assert source.fetched_at == [0, 0, RETRY_GAP_S]


def test_a_kid_that_is_in_the_ring_but_opens_no_more_is_not_fetched_again(source: Source, cache: RingCache) -> None:
    source.ring = KeyRing([RingKey("old", b"1" * 32, 0, T0), RingKey("new", b"2" * 32, 1)])
    assert cache.opening_key("new", T0) is not None
    assert cache.opening_key("old", T0) is None
    assert source.fetched_at == [0]


@down
def test_an_unknown_kid_that_may_be_newer_than_a_ring_that_cant_be_refreshed_is_not_refused(
    source: Source, cache: RingCache, failure: Exception
) -> None:
    cache.sealing_key(T0)
    source.failure = failure
    with pytest.raises(Unavailable, match="kid"):
        cache.opening_key("k2", T0 + 1)
    with pytest.raises(Unavailable, match="kid"):
        cache.opening_key("k2", T0 + RETRY_GAP_S)  # too soon after the failure to try again
    assert source.fetched_at == [0, 1]
    assert cache.opening_key("k1", T0 + 1) is not None

    source.failure, source.ring = None, ring("k1", "k2")
    found = cache.opening_key("k2", T0 + 1 + RETRY_GAP_S)
    assert found is not None
    assert cache.opening_key("junk", T0 + 1 + RETRY_GAP_S) is None


def test_a_flood_of_junk_kids_during_an_outage_is_not_a_flood_of_fetches(source: Source, cache: RingCache) -> None:
    cache.sealing_key(T0)
    source.failure = Unavailable("down")
    for number in range(200):
        with pytest.raises(Unavailable):
            cache.opening_key(f"junk{number}", T0 + number / 10)
    assert source.fetched_at == [0, 0, RETRY_GAP_S]


# Threads


class SlowSource(Source):
    """Fetches only when told to go on, so that a test decides who waits for whom."""

    def __init__(self, *kids: str) -> None:
        super().__init__(*kids)
        self.entered = threading.Event()
        self.go_on = threading.Event()

    def fetch(self, now: float) -> KeyRing:
        self.entered.set()
        assert self.go_on.wait(timeout=30)
        return super().fetch(now)


@pytest.mark.parametrize(
    ("use", "age_s"),
    [
        pytest.param(lambda cache, now: cache.sealing_key(now), MAX_AGE_S, id="an old ring"),
        pytest.param(lambda cache, now: cache.opening_key("new", now), MAX_AGE_S, id="an unknown kid and an old ring"),
        pytest.param(lambda cache, now: cache.opening_key("new", now), 1, id="an unknown kid"),
    ],
)
def test_threads_that_need_a_fetch_at_once_share_one(
    use: Callable[[RingCache, float], RingKey | None], age_s: int
) -> None:
    source = SlowSource("k1")
    cache = RingCache(source, max_age_s=MAX_AGE_S, retry_gap_s=-1)  # no gap: the lock alone is at work
    source.go_on.set()
    cache.sealing_key(T0)
    source.entered.clear()
    source.go_on.clear()
    source.ring = ring("k1", "new")
    found: list[str | None] = []

    def work() -> None:
        key = use(cache, T0 + age_s)
        found.append(None if key is None else key.kid)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert source.entered.wait(timeout=30)
    source.go_on.set()
    for thread in threads:
        thread.join()
    assert found == ["new"] * 8
    assert source.fetched_at == [0, age_s]
