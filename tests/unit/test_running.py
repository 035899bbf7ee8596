from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NoReturn

import pytest

from mrtr.dialogue import Paused
from mrtr.running import run


async def immediate() -> int:
    return 7


async def later() -> int:
    await asyncio.sleep(0)
    return 7


async def fail() -> NoReturn:
    raise KeyError("k")


async def pause() -> NoReturn:
    raise Paused


async def cancelled() -> NoReturn:
    raise asyncio.CancelledError


@pytest.mark.parametrize(("work", "is_async"), [(immediate, False), (immediate, True), (later, True)])
def test_work_is_run_to_its_end(work: Any, is_async: bool) -> None:
    assert run(work(), is_async=is_async) == 7


def test_work_that_says_it_does_not_wait_and_does_is_told_to_say_so() -> None:
    with pytest.raises(RuntimeError, match="declare it async def"):
        run(later(), is_async=False)


@pytest.mark.parametrize("is_async", [False, True])
def test_failures_and_pauses_come_through_as_they_are(is_async: bool) -> None:
    with pytest.raises(KeyError, match="k"):
        run(fail(), is_async=is_async)
    with pytest.raises(Paused):
        run(pause(), is_async=is_async)


def test_a_function_that_was_cancelled_has_failed_like_any_other() -> None:
    with pytest.raises(RuntimeError, match="cancelled"):
        run(cancelled(), is_async=True)


def test_work_runs_within_a_loop_that_runs_already() -> None:
    async def authors_test(work: Coroutine[Any, Any, Any]) -> Any:
        return run(work, is_async=True)

    assert asyncio.run(authors_test(later())) == 7
    with pytest.raises(Paused):
        asyncio.run(authors_test(pause()))
