"""Run an author's functions, async or not, from a handler that is not async."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any


def run(work: Coroutine[Any, Any, Any], *, is_async: bool) -> Any:
    """Run to the end. Work without an async function in it never suspends, and needs no event loop."""
    if is_async:
        return _run_async(work)
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise RuntimeError("a function that is not async waited for something; declare it async def")


def _run_async(work: Coroutine[Any, Any, Any]) -> Any:
    """Run in an event loop of its own, and in a thread of its own where a loop runs already, as in an author's async test."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    def run_here() -> Any:
        try:
            return asyncio.run(work)
        except asyncio.CancelledError:
            raise RuntimeError("the function was cancelled") from None  # as an Exception, it is a result like any other

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_here()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run_here).result()
