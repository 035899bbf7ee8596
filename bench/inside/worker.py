"""One side in a process of its own, told what to do line by line, so that several can take turns.

    python -m bench.inside.worker SIDE

Reads `{"op": NAME, ...}` and answers with a line of JSON. What the side itself prints goes where standard error goes.
"""

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from bench.inside import wire
from bench.inside.sides import LONG, SIDES, Side
from bench.inside.wire import Answer, Request, Took

NOTE = "7"
QUESTIONS = 5  # of the long tool


class Worker:
    """Operations with a `count` do so many units of work, and give the time that they took."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._notes = 0

    def leg_one(self, count: int, tools: int = 1) -> Took:
        """First legs of delete_note."""
        took, answers = self._side.send(tools, [wire.call("delete_note", {"note_id": NOTE})] * count)
        expect(all(answer.result["resultType"] == "input_required" for answer in answers), answers)
        return took

    def leg_two(self, count: int, tools: int = 1) -> Took:
        """Confirmed retries of delete_note, each of a flow of its own."""
        notes = [f"{os.getpid()}-{self._notes + number}" for number in range(count)]
        self._notes += count
        _, asked = self._side.send(tools, [wire.call("delete_note", {"note_id": note}) for note in notes])
        took, answers = self._side.send(tools, [confirmed(note, one) for note, one in zip(notes, asked, strict=True)])
        texts = [answer.result["content"][0]["text"] for answer in answers]
        expect(texts == [f"Deleted note {note}." for note in notes], answers)
        return took

    def plain(self, count: int) -> Took:
        """Calls that ask nothing."""
        return self._plain(count, 2, "read_note_1")

    def plain_alone(self, count: int) -> Took:
        """The same of a server that has no other tool."""
        return self._plain(count, 1, "read_note")

    def _plain(self, count: int, tools: int, tool: str) -> Took:
        took, answers = self._side.send(tools, [wire.call(tool, {"note_id": NOTE, "width": 40})] * count)
        expect(all(answer.result["content"][0]["text"] == "Buy milk" for answer in answers), answers)
        return took

    def discover(self, count: int) -> Took:
        took, answers = self._side.send(1, [wire.request("server/discover")] * count)
        expect(all(answer.result["supportedVersions"] for answer in answers), answers)
        return took

    def list_tools(self, count: int, tools: int) -> Took:
        """Whole lists: every page of them."""
        pages = [wire.request("tools/list")]
        seen = 0
        while True:
            _, answers = self._side.send(tools, pages[-1:])
            seen += len(answers[0].result["tools"])
            following = answers[0].result.get("nextCursor")
            if following is None:
                break
            pages.append(wire.request("tools/list", {"cursor": following}))
        expect(seen == tools, answers)
        took, answers = self._side.send(tools, pages * count)
        expect(sum(len(answer.result["tools"]) for answer in answers) == tools * count, answers)
        return took

    def states(self, characters: int) -> list[int]:
        """Lengths of the sealed state after 0, 1, … 4 answers of so many characters."""
        arguments = {"size": characters}
        (answer,) = self._side.send(LONG, [wire.call("write_up", arguments)])[1]
        sizes = []
        while answer.result["resultType"] == "input_required":
            sizes.append(len(answer.result["requestState"]))
            text = {"text": "a" * characters}
            (answer,) = self._side.send(LONG, [wire.retry("write_up", arguments, answer, text)])[1]
        expect(answer.result["content"][0]["text"] == "a" * characters, [answer])
        expect(len(sizes) == QUESTIONS, [answer])
        return sizes

    def flow(self) -> dict[str, int]:
        """Of one flow of delete_note: characters of the state, and bytes of each body."""
        one = wire.call("delete_note", {"note_id": NOTE})
        (asked,) = self._side.send(1, [one])[1]
        two = confirmed(NOTE, asked)
        (done,) = self._side.send(1, [two])[1]
        bodies = {"question": asked.body, "answer": two.body, "result": done.body, "call": one.body}
        return {
            "state": len(asked.result["requestState"]),
            **{name: len(body.encode()) for name, body in bodies.items()},
        }


def confirmed(note: str, asked: Answer) -> Request:
    return wire.retry("delete_note", {"note_id": note}, asked, {"confirm": True})


def expect(held: bool, answers: list[Answer]) -> None:
    if not held:
        raise RuntimeError(f"not the answer of this request: {answers[-1]}")


def main(side: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker(SIDES[side]())
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        answers.write(json.dumps(getattr(worker, order.pop("op"))(**order), default=asdict) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
