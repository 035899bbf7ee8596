"""Memory of one process over many requests."""

from bench.figures import TIMES, Row, Section, digits
from bench.processes import KEYS_GIVEN, module
from bench.setup import Setup

GROWTH_KIB = 2048
"""Twenty bytes a request: less than anything that is kept of one. pydantic keeps the short texts of forms, up to 1.3 MiB of them."""


def memory(setup: Setup) -> Section:
    count = setup.times(full=101_000, quick=1_500)
    ours = module("memory", "askback", "handler", str(count), settings=KEYS_GIVEN)
    theirs = module("memory", "sdk", "asgi", "1000")
    growth = ours[1] - ours[0]
    return Section(
        "Memory of one process",
        (
            Row("after 1,000 requests", mib(ours[0]), mib(theirs[0]), f"{digits(ours[0] / theirs[0])}{TIMES}"),
            Row(
                f"growth over {count - 1_000:,} more, all different",
                f"{growth:,} KiB",
                budget=f"≤ {GROWTH_KIB:,} KiB",
                holds=growth <= GROWTH_KIB if not setup.quick else None,
            ),
        ),
    )


def mib(kib: int) -> str:
    return f"{digits(kib / 1024)} MiB"
