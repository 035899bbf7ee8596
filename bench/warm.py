"""A warm process: time per leg, discovery, lists, dispatch."""

from contextlib import ExitStack
from functools import partial
from typing import Any

from bench.figures import TIMES, Row, Section, by_turns, compared, milliseconds, ratios
from bench.processes import KEYS_GIVEN, Worker, worker
from bench.setup import Setup

BUDGET = 0.25
FLAT = 1.1
"""Most that a leg may take among 1,000 tools, of what it takes alone: the noise between two runs of the same."""

LISTS = (1, 10, 100, 1_000)


class Sides:
    """Every side, started and waiting. Each method gives seconds per unit of work, taken by turns; of a core unless told."""

    def __init__(self, setup: Setup, held: ExitStack) -> None:
        def start(side: str, kind: str, **options: object) -> Worker:
            return held.enter_context(worker(setup.folder, side, kind, **options))

        self._setup = setup
        self.ours = start("askback", "handler", settings=KEYS_GIVEN)
        self.on_aws = start("askback", "handler", aws=setup.aws, settings=setup.settings)
        self.asgi = start("sdk", "asgi")
        self.mangum = start("sdk", "mangum")
        self.awslabs = start("awslabs", "handler")

    def each(self, op: str, *workers: Worker, count: int = 100, **details: Any) -> list[list[float]]:
        return self.pairs(*((one, op, details) for one in workers), count=count)

    def pairs(self, *works: tuple[Worker, str, dict[str, Any]], count: int = 100) -> list[list[float]]:
        many = self._setup.times(full=count, quick=max(1, count // 20))
        measures = {
            str(number): partial(one.each, op, many, **details) for number, (one, op, details) in enumerate(works)
        }
        return list(by_turns(self._setup.times(full=25, quick=2), measures).values())


def warm(setup: Setup) -> Section:
    with ExitStack() as held:
        sides = Sides(setup, held)
        ours, asgi = sides.ours, sides.asgi
        one, two = (sides.each(op, ours, asgi, sides.mangum) for op in ("leg_one", "leg_two"))
        (aws_one,), (aws_two,) = (sides.each(op, sides.on_aws, count=20, clock="wall") for op in ("leg_one", "leg_two"))
        two_on_aws, two_beside = sides.each("leg_two", sides.on_aws, asgi, count=20)
        plain = sides.each("plain", ours, asgi)
        simple = sides.pairs((ours, "plain", {}), (sides.awslabs, "plain_alone", {}))
        discover = sides.each("discover", ours, asgi)
        lists = {
            tools: sides.each("list_tools", ours, asgi, count=max(1, 100 // tools), tools=tools) for tools in LISTS
        }
        alone, among = sides.pairs((ours, "leg_one", {}), (ours, "leg_one", {"tools": LISTS[-1]}))

    def row(what: str, ours: list[float], theirs: list[float], at_most: float | None = None) -> Row:
        return compared(what, ours, theirs, at_most, judged=setup.judges_times)

    flat = ratios(among, alone)
    return Section(
        "Warm: a core's time per request, in one process",
        (
            row("leg one (the question)", one[0], one[1], BUDGET),
            row("leg two (the answer), our claim table in memory", two[0], two[1], BUDGET),
            row("leg two, our claim and record written to the emulated AWS", two_on_aws, two_beside),
            row("leg one, the SDK by way of Mangum", one[0], one[2]),
            row("leg two, our claim table in memory, the SDK by way of Mangum", two[0], two[2]),
            Row("leg one with the emulated AWS, by the clock", milliseconds(aws_one)),
            Row("leg two with the emulated AWS, by the clock: two writes", milliseconds(aws_two)),
            row("a call that asks nothing", plain[0], plain[1]),
            row("a call that asks nothing, AWS Labs' handler", simple[0], simple[1]),
            row("server/discover", discover[0], discover[1]),
            *(
                row(f"tools/list of {tools:,} tool{'s' if tools > 1 else ''}, all pages", mine, theirs)
                for tools, (mine, theirs) in lists.items()
            ),
            Row(
                f"leg one of one tool among {LISTS[-1]:,}, against one alone",
                milliseconds(among),
                "",
                flat.show(TIMES),
                f"≤ {FLAT:g}{TIMES}",
                flat.middle <= FLAT if setup.judges_times else None,
            ),
        ),
    )
