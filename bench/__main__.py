"""`make bench`: the product beside its peers, in one run and one table. Exit status 1 when a budget is missed.

    python -m bench [--write] [--only NAME]...

QUICK=1 in the environment makes it a smoke test: tiny counts, and neither times nor memory are judged.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.aws_calls import aws_calls
from bench.cold import cold
from bench.crypto import crypto
from bench.figures import Section, markdown
from bench.memory import memory
from bench.report import machine, write
from bench.setup import Setup
from bench.sizes import layer_size, states
from bench.throughput import throughput
from bench.warm import warm
from local import stack
from local.environment import say

MEASURES: dict[str, Callable[[Setup], Section]] = {
    "cold": cold,
    "warm": warm,
    "states": states,
    "crypto": crypto,
    "calls": aws_calls,
    "memory": memory,
    "layer": lambda _: layer_size(),
    "throughput": throughput,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the product beside its peers.")
    parser.add_argument("--write", action="store_true", help="also write the table into docs/performance.md")
    parser.add_argument("--only", action="append", choices=list(MEASURES), help="measure only this (may be repeated)")
    chosen = parser.parse_args(arguments)
    if chosen.write and chosen.only:
        parser.error("--write wants a whole run")
    quick = os.environ.get("QUICK") == "1"
    if chosen.write and quick:
        parser.error("--write wants a run that is not QUICK")
    sections = []
    print(machine(), flush=True)
    with stack.running() as askback, tempfile.TemporaryDirectory() as folder:
        setup = Setup(askback, Path(folder), quick)
        for name in chosen.only or MEASURES:
            started = time.monotonic()
            say(f"measuring {name} ...")
            sections.append(MEASURES[name](setup))
            say(f"measured {name} in {time.monotonic() - started:.0f} s")
            print(f"\n{markdown(sections[-1:])}", flush=True)
    table = f"{machine()}\n\n{markdown(sections)}"
    if chosen.write:
        write(table)
    judged = [(section, row) for section in sections for row in section.rows if row.holds is not None]
    missed = [f"{section.title}: {row.what}" for section, row in judged if not row.holds]
    for one in missed:
        say(f"missed: {one}")
    say(
        f"{len(judged)} budgets judged, {len(missed)} missed"
        + (" (QUICK: times and memory are not judged)" if quick else "")
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
