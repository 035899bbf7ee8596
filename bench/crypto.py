"""Sealing and opening a state's worth of bytes, beside plain AES-GCM and the SDK's codec."""

from bench.figures import TIMES, Row, Section, ratios, spread
from bench.processes import module
from bench.setup import Setup


def crypto(setup: Setup) -> Section:
    rounds, count = setup.times(full=25, quick=2), setup.times(full=2_000, quick=50)
    # both codecs in one process, so that they take turns
    taken: dict[str, list[float]] = module("seal", "askback", str(rounds), str(count))

    def row(what: str, ours: str, theirs: str) -> Row:
        rates = {name: spread([count / seconds for seconds in taken[name]]).show("/s") for name in (ours, theirs)}
        return Row(what, rates[ours], rates[theirs], ratios(taken[theirs], taken[ours]).show(TIMES))

    return Section(
        "Sealing 80 bytes, as text",
        (
            row("seal, per second; the SDK's codec", "askback seal", "sdk seal"),
            row("open, per second; the SDK's codec", "askback open", "sdk open"),
            row("seal, per second; plain AES-256-GCM, no text", "askback seal", "plain seal"),
            row("open, per second; plain AES-256-GCM, no text", "askback open", "plain open"),
        ),
        peer="beside",
    )
