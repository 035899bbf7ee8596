"""The runtime's own AWS calls, counted where they arrive: at an address between the function and its AWS."""

from collections import Counter

from bench.between import between
from bench.figures import TIMES, Row, Section
from bench.processes import worker
from bench.setup import Setup

LEGS = 5


def aws_calls(setup: Setup) -> Section:
    with (
        between(setup.aws) as counted,
        worker(setup.folder, "askback", "handler", aws=counted.url, settings=setup.settings) as ours,
    ):

        def made_by(op: str, count: int, **details: int) -> Counter[str]:
            counted.actions.clear()
            ours.do(op, count=count, **details)
            return Counter(counted.actions)

        discover = made_by("discover", 1) + made_by("list_tools", 1, tools=1)
        cold = made_by("leg_one", 1)
        one = made_by("leg_one", LEGS)
        two = made_by("leg_two", LEGS)  # their first legs are warm ones

    def row(what: str, calls: Counter[str], legs: int, budget: int | None = None) -> Row:
        each = calls.total() / legs
        names = ", ".join(
            f"{name}" if count == legs else f"{count}{TIMES} {name}" for name, count in sorted(calls.items())
        )
        return Row(
            what,
            f"{each:g}" + (f" ({names})" if names else ""),
            budget="" if budget is None else str(budget),
            holds=None if budget is None else each == budget,
        )

    return Section(
        "The runtime's own AWS calls, per request",
        (
            row("discovery and list, cold", discover, 2, 0),
            row("leg one, cold", cold, 1),
            row("leg one, warm", one, LEGS, 0),
            row("leg two, warm", two, LEGS, 2),
        ),
        peer="",
    )
