"""Memory of a side over many requests: `python -m bench.inside.memory SIDE COUNT`. The last line of output: KiB after 1,000 and after COUNT.

Every request differs from every other, so that a cache by arguments, state or message would show.
"""

import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

from bench.inside import wire
from bench.inside.sides import SIDES, Side
from bench.inside.wire import Request
from bench.inside.worker import confirmed

PER_TURN = 6


def resident_kib() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def turn(side: Side, number: int) -> None:
    """A whole flow, a refused state, a refused argument, discovery and a list: PER_TURN requests."""
    note = f"note {number}"
    _, (asked,) = side.send(1, [wire.call("delete_note", {"note_id": note})])
    stranger = f"v1.{number:032d}"
    others: list[Request] = [
        confirmed(note, asked),
        wire.call("delete_note", {"note_id": note}, requestState=stranger, inputResponses={}),
        wire.call("delete_note", {"note_id": number}),
        wire.request("server/discover"),
        wire.request("tools/list"),
    ]
    _, (done, refused, invalid, *listed) = side.send(1, others)
    answers = (
        done.result["content"][0]["text"] == f"Deleted note {note}.",
        json.loads(refused.body)["error"]["code"] == -32602,
        invalid.result["isError"],
        all(answer.result for answer in listed),
    )
    if not all(answers):
        raise RuntimeError(f"not the answers of these requests: {answers}")


def forget(tables: Any) -> None:
    """The claims that a real table would hold outside of this process."""
    if tables is not None:
        tables.items.clear()
        tables.actions.clear()


def main(name: str, count: int) -> None:
    side = SIDES[name]()
    app: Any = sys.modules["app"]
    runtime = getattr(app.server, "_runtime", None)
    table = getattr(runtime, "table", None)
    sizes = []
    for number in range(count // PER_TURN):
        turn(side, number)
        forget(table)
        if number == 1_000 // PER_TURN:
            sizes.append(resident_kib())
    sizes.append(resident_kib())
    print(json.dumps(sizes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
