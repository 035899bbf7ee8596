"""Samples taken by turns, their spread, and the table that shows them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TypeVar

T = TypeVar("T")

TIMES = "\N{MULTIPLICATION SIGN}"


def by_turns(rounds: int, measures: Mapping[str, Callable[[], T]]) -> dict[str, list[T]]:
    """Each once, then each again: what slows the machine for a while slows all of them. The first round only warms caches."""
    taken: dict[str, list[T]] = {name: [] for name in measures}
    for number in range(rounds + 1):
        for name, measure in measures.items():
            sample = measure()
            if number:
                taken[name].append(sample)
    return taken


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles around it."""

    low: float
    middle: float
    high: float

    def show(self, unit: str = "", scale: float = 1.0) -> str:
        low, middle, high = (digits(one * scale) for one in (self.low, self.middle, self.high))
        return f"{middle}{unit}" + ("" if low == high else f" ({low} to {high})")


def spread(samples: Sequence[float]) -> Spread:
    if len(samples) < 2:
        return Spread(samples[0], samples[0], samples[0])
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return Spread(low, median(samples), high)


def milliseconds(samples: Sequence[float]) -> str:
    return spread(samples).show(" ms", 1e3)


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Of samples taken by turns: each of ours over the one of theirs beside it."""
    return spread([one / other for one, other in zip(ours, theirs, strict=True)])


def digits(value: float) -> str:
    """Three significant digits, all of the digits before the point."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


@dataclass(frozen=True)
class Row:
    """What was measured, on either side. holds: whether the budget does; None where there is none, or it is not judged."""

    what: str
    ours: str
    theirs: str = ""
    ratio: str = ""
    budget: str = ""
    holds: bool | None = None


@dataclass(frozen=True)
class Section:
    title: str
    rows: tuple[Row, ...]
    peer: str = "official SDK"


def compared(
    what: str, ours: Sequence[float], theirs: Sequence[float], at_most: float | None = None, *, judged: bool = True
) -> Row:
    """Seconds per unit of work, taken by turns, and how ours stand to theirs; at_most: the budget for that."""
    ratio = ratios(ours, theirs)
    return Row(
        what,
        milliseconds(ours),
        milliseconds(theirs),
        ratio.show(TIMES),
        "" if at_most is None else f"≤ {at_most:g}{TIMES}",
        ratio.middle <= at_most if at_most is not None and judged else None,
    )


VERDICTS = {True: "holds", False: "**missed**", None: ""}


def markdown(sections: Iterable[Section]) -> str:
    parts = []
    for section in sections:
        lines = [f"| {section.title} | askback | {section.peer} | ratio | budget | |", "|---|---|---|---|---|---|"]
        for row in section.rows:
            cells = (row.what, row.ours, row.theirs, row.ratio, row.budget, VERDICTS[row.holds])
            lines.append("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
