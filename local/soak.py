"""`make soak`: people who confirm, clients that repeat themselves, instances that die, and keys that rotate, for MINUTES on the local stack.

    python -m local.soak [--minutes 10] [--clients 20] [--keys secretsmanager|kms]

Exits with 0 only if no live flow was refused, nothing was carried out twice and no result was lost. Loopback only, and it ends by itself.
"""

import argparse
import json
import os
import random
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from local import rotation, stack
from local.environment import say
from mrtr.testing import accept, call_event

ROUND_S, FLOW_S = 60, 120
# Short, so that keys come and go within minutes. All clocks here are one.
SETTINGS = {
    "MRTR_ROUND_TTL_S": str(ROUND_S),
    "MRTR_FLOW_TTL_S": str(FLOW_S),
    "MRTR_RING_CACHE_S": "5",
    "MRTR_RING_LIMIT_S": "20",
    "MRTR_CLOCK_SKEW_S": "0",
    "MRTR_KMS_EPOCH_S": str(FLOW_S),
    # Of the tools' own clients: a write that they repeat, since its answer was lost, finds itself done already and reads
    # like a second execution.
    "AWS_MAX_ATTEMPTS": "1",
}
REQUEST_S = 35
DRAIN_S = 90
KILL_EACH_S = 3.0
FIRST_DAY = date(2040, 1, 1)


@dataclass
class Tally:
    """What was counted, by any thread. wrong: what must not happen, in words."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def fault(self, what: str, detail: str) -> None:
        with self.lock:
            self.counts[what] += 1
            self.wrong.append(f"{what}: {detail}")


FAILED = "failed unexpectedly"
"""A tool's own call of AWS failed. Told before the claim it says nothing about the call; after it, every copy is told the same."""

REFUSED, TWICE, LOST = "live flows refused", "carried out twice", "results lost"


@dataclass(frozen=True)
class Job:
    """A call, how its questions are answered, and what its result says when it was carried out."""

    tool: str
    arguments: dict[str, Any]
    answers: dict[str, Any]
    done: str


@dataclass(frozen=True)
class Answer:
    """status: 0 where the connection broke, or nothing came in time."""

    status: int
    message: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        result: dict[str, Any] = self.message.get("result", {})
        return result

    @property
    def asks(self) -> bool:
        return self.status == 200 and self.result.get("resultType") == "input_required"

    @property
    def text(self) -> str:
        content = self.result.get("content") or [{}]
        text: str = content[0].get("text", "")
        return text


def post(url: str, event: dict[str, Any]) -> Answer:
    headers = {name: value for name, value in event["headers"].items() if name != "host"}
    request = urllib.request.Request(url, data=event["body"].encode(), headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_S) as response:
            return Answer(response.status, json.loads(response.read()))
    except urllib.error.HTTPError as error:
        body = error.read()
        try:
            return Answer(error.code, json.loads(body))
        except ValueError:
            return Answer(error.code, {})
    except (OSError, ValueError):
        return Answer(0, {})


class Soak:
    """ends_at: when clients stop beginning new calls."""

    def __init__(self, askback: stack.Stack, seconds: float) -> None:
        self.askback = askback
        self.tally = Tally()
        self.ends_at = time.monotonic() + seconds
        self.jobs: list[tuple[Job, str]] = []
        self._numbers = iter(range(1, 10**9))
        self._lock = threading.Lock()
        self._crowd = ThreadPoolExecutor(60)

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.ends_at

    def guarded(self, work: Callable[[], None]) -> Callable[[], None]:
        """A thread that ends with an error has not done what it was there for."""

        def guarded() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001  whatever it was
                self.tally.fault("threads that failed", repr(error))

        return guarded

    # Clients

    def client(self, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311  what a client does, not a key
        while not self.over:
            self.one_call(self.job(), chance)

    def job(self) -> Job:
        with self._lock:
            number = next(self._numbers)
        if number % 2:
            note = f"soak-{number}"
            self.askback.client("dynamodb").put_item(
                TableName=self.askback.tables["NOTES_TABLE"], Item={"note_id": {"S": note}, "text": {"S": "soap"}}
            )
            return Job(
                "delete_note", {"note_id": note}, {"ask_to_confirm": accept(confirm=True)}, f"Deleted note {note}."
            )
        evening = (FIRST_DAY + timedelta(days=number)).isoformat()
        answers = {"ask_contact": accept(name="Ada", phone="555-0100"), "ask_seating": accept(area="inside")}
        return Job("book_table", {"evening": evening, "guests": 1}, answers, "Booked table")

    def one_call(self, job: Job, chance: random.Random) -> None:
        begun = time.monotonic()
        url = self.askback.endpoint + (f"/{job.tool}" if chance.random() < 0.3 else "")
        asked = self.until_answered(lambda: post(url, call_event(job.tool, job.arguments)))
        if asked is None or FAILED in asked.text:
            self.tally.count("never asked")
            return
        if not asked.asks:
            self.tally.fault(LOST, f"{job.tool} did not ask: {asked.message}")
            return
        asked_at = time.monotonic()
        self.tally.count("asked")
        time.sleep(chance.uniform(0, 3))
        retry = call_event(job.tool, job.arguments, state=asked.result["requestState"], answers=job.answers)
        copies = chance.choice((1, 1, 1, 2, 3))
        self.tally.counts["duplicates"] += copies - 1
        several = [self._crowd.submit(self.to_the_end, url, job, retry, begun, asked_at) for _ in range(copies)]
        texts = [one.result() for one in several]
        if chance.random() < 0.3 and time.monotonic() - asked_at < ROUND_S - 10:
            self.tally.count("duplicates")
            texts.append(self.to_the_end(url, job, retry, begun, asked_at))
        self.judge(job, [text for text in texts if text is not None])

    def until_answered(self, send: Callable[[], Answer]) -> Answer | None:
        """The first answer that is one, of the same request sent again and again."""
        gives_up = time.monotonic() + ROUND_S / 2
        while time.monotonic() < gives_up:
            answer = send()
            if answer.status in (200, 400):
                return answer
            self.tally.count("sent again: 503" if answer.status == 503 else "sent again: instance died")
            time.sleep(0.3)
        return None

    def to_the_end(self, url: str, job: Job, retry: dict[str, Any], begun: float, asked_at: float) -> str | None:
        """What one sending of the answers comes to; None if its time ran out."""
        sent, sealed_at = retry, asked_at
        while True:
            current = sent
            answer = self.until_answered(lambda: post(url, current))  # noqa: B023  called at once
            now = time.monotonic()
            if answer is None or now - begun > FLOW_S - 2 or now - sealed_at > ROUND_S - 2:
                self.tally.count("ran out of time")
                return None
            if answer.status == 400:
                self.tally.fault(REFUSED, f"{job} {now - sealed_at:.1f} s after its question: {answer.message}")
                return None
            if not answer.asks:
                return answer.text
            if "inputRequests" in answer.result:
                self.tally.fault(LOST, f"{job} was asked again: {answer.result['inputRequests']}")
                return None
            self.tally.count("told to come back")
            sent, sealed_at = call_event(job.tool, job.arguments, state=answer.result["requestState"], answers={}), now
            time.sleep(0.2)

    def judge(self, job: Job, texts: list[str]) -> None:
        """What the copies of one confirmed call were told."""
        done = {text for text in texts if text.startswith(job.done)}
        unknown = [text for text in texts if "did not finish" in text]
        failed = [text for text in texts if FAILED in text]
        other = [text for text in texts if text not in done and text not in unknown and text not in failed]
        if other:
            self.tally.fault(TWICE if "already gone" in other[0] else LOST, f"{job}: {other}")
        elif len(done) > 1:
            self.tally.fault(TWICE, f"{job}: {done}")
        elif done and unknown:
            self.tally.fault(LOST, f"{job}: {texts}")
        elif done:
            self.tally.count("carried out")
            self.jobs.append((job, "done"))
        elif texts:
            self.tally.count(
                "outcome unknown, as its instance died" if unknown else "the tool's own call of AWS failed"
            )
            self.jobs.append((job, "unknown"))

    # Bad luck, and the operator

    def kill(self) -> None:
        chance = random.Random(0)  # noqa: S311
        alive: set[int] = set()
        path = self.askback.folder / "invocations.jsonl"
        path.touch()
        with path.open(encoding="utf-8") as journal:
            while not self.over:
                time.sleep(chance.uniform(0.5, 1.5) * KILL_EACH_S)
                alive |= {json.loads(line)["pid"] for line in journal if line.endswith("\n")}
                alive = {pid for pid in alive if self.is_ours(pid)}
                if alive:
                    os.kill(chance.choice(sorted(alive)), signal.SIGKILL)
                    self.tally.count("instances killed")

    def is_ours(self, pid: int) -> bool:
        """Whether the process still runs, and its number has not gone to another one."""
        try:
            return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(self.askback.folder)
        except OSError:
            return False

    def rotate(self, each_s: float) -> None:
        due = time.monotonic() + min(8.0, each_s)
        while not self.over:
            time.sleep(0.2)
            if time.monotonic() >= due:
                due += each_s
                self.rotate_once()

    def rotate_once(self) -> None:
        token, problem = None, ""
        for _ in range(10):
            try:
                token = token or rotation.begin(self.askback.client("secretsmanager"), self.askback.key_ring)
                rotation.rotate(self.askback, retry_of=token)
            except rotation.RotationError as error:
                problem = str(error)
                self.tally.count("rotations tried again")
                time.sleep(0.5)
            else:
                self.tally.count("rotations")
                return
        self.tally.fault("rotations failed", f"ten times: {problem}")

    # The end

    def check_tables(self) -> None:
        """Whether the tables hold what the results said."""
        dynamodb = self.askback.client("dynamodb")
        for job, outcome in self.jobs:
            if job.tool == "delete_note":
                key = {"note_id": {"S": job.arguments["note_id"]}}
                there = "Item" in dynamodb.get_item(TableName=self.askback.tables["NOTES_TABLE"], Key=key)
                if there and outcome == "done":
                    self.tally.fault(LOST, f"{job}: the note is still there")
                continue
            booked = dynamodb.query(
                TableName=self.askback.tables["BOOKINGS_TABLE"],
                KeyConditionExpression="evening = :evening",
                ExpressionAttributeValues={":evening": {"S": job.arguments["evening"]}},
            )["Count"]
            if booked > 1:
                self.tally.fault(TWICE, f"{job}: {booked} tables")
            elif booked == 0 and outcome == "done":
                self.tally.fault(LOST, f"{job}: no table")


def configure(askback: stack.Stack) -> None:
    """Give all functions the settings of this run."""
    functions = askback.client("lambda")
    for name in askback.function_names:
        variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": {**variables, **SETTINGS}})


def soak(askback: stack.Stack, minutes: float, clients: int) -> Tally:
    configure(askback)
    one = Soak(askback, minutes * 60)
    works: list[Callable[[], None]] = [partial(one.client, seed) for seed in range(clients)]
    works.append(one.kill)
    if askback.key_ring:
        works.append(partial(one.rotate, 60.0))
    threads = [threading.Thread(target=one.guarded(work)) for work in works]
    for thread in threads:
        thread.start()
    while not one.over:
        time.sleep(min(15, max(0.1, one.ends_at - time.monotonic())))
        say(f"  {max(0, one.ends_at - time.monotonic()):4.0f} s left, {one.tally.counts['carried out']} carried out")
    stops_at = time.monotonic() + DRAIN_S
    for thread in threads:
        thread.join(max(0, stops_at - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        one.tally.fault(LOST, "some calls did not end")
    one.check_tables()
    return one.tally


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m local.soak", description="Load, deaths and rotations on the local stack."
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--keys", choices=("secretsmanager", "kms"), default="secretsmanager")
    options = parser.parse_args(arguments)
    with stack.running(parameters={"KeySource": options.keys}) as askback:
        say(f"{options.clients} clients for {options.minutes:g} minutes ...")
        tally = soak(askback, options.minutes, options.clients)
    for what, number in sorted(tally.counts.items()):
        if what not in (REFUSED, TWICE, LOST):
            print(f"{number:8} {what}")
    for fault in tally.wrong[:10]:
        print(fault)
    for what in (REFUSED, TWICE, LOST):
        print(f"{tally.counts[what]:8} {what}")
    worked = (
        tally.counts["carried out"] > 0
        and tally.counts["instances killed"] > 0
        and (options.keys == "kms" or tally.counts["rotations"] > 0)
    )
    return 0 if worked and not tally.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
