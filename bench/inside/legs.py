"""Legs of delete_note under a profiler: `python -m bench.inside.legs FOLDER COUNT`. Prints where the time goes, and leaves a flame graph a leg."""

import cProfile
import os
import pstats
import sys
from pathlib import Path

from pyinstrument import Profiler
from pyinstrument.renderers import HTMLRenderer

from bench.inside import wire
from bench.inside.sides import Handler
from bench.inside.wire import Request
from bench.inside.worker import confirmed

INTERVAL_S = 0.0002
TOP = 25


def legs(side: Handler, count: int) -> dict[str, list[Request]]:
    notes = [f"note {number}" for number in range(count)]
    ones = [wire.call("delete_note", {"note_id": note}) for note in notes]
    _, asked = side.send(1, ones)
    return {"leg_one": ones, "leg_two": [confirmed(note, one) for note, one in zip(notes, asked, strict=True)]}


def main(folder: Path, count: int) -> None:
    report = os.fdopen(os.dup(1), "w")
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), 1
    )  # where the side's log goes: its cost is in the profile, its lines are not wanted
    side = Handler()
    calls = legs(side, count)
    for name, requests in calls.items():
        profiler = Profiler(interval=INTERVAL_S)
        with profiler:
            side.send(1, requests)
        page = folder / f"{name}.html"
        page.write_text(profiler.output(HTMLRenderer()), encoding="utf-8")
        report.write(f"\n== {name}, {count} times: {page}\n")
        report.write(profiler.output_text(unicode=True, show_all=False))
    for name, requests in legs(side, count).items():
        counted = cProfile.Profile()
        counted.enable()
        side.send(1, requests)
        counted.disable()
        report.write(f"\n== {name}, {count} times, by function\n")
        pstats.Stats(counted, stream=report).sort_stats("tottime").print_stats(TOP)
    report.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
