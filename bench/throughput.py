"""Requests per second of the deployed local stack: `wrk` where it is installed, else a loader of our own."""

import asyncio
import json
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from bench.figures import Row, Section, digits
from bench.inside import wire
from bench.setup import Setup

CONNECTIONS = (1, 8, 32)
STARTING_S = 120
UNITS_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclass(frozen=True)
class Load:
    """Requests per second, the milliseconds within which half and 99 of 100 were answered, and how many were answered with no 200."""

    rate: float
    half_ms: float
    most_ms: float
    refused: int = 0

    def show(self) -> str:
        refused = f", {self.refused} refused" if self.refused else ""
        return f"{digits(self.rate)}/s, half within {digits(self.half_ms)} ms, 99 % within {digits(self.most_ms)} ms{refused}"


class LoadError(Exception):
    """The stack does not answer; the message holds what was seen."""


def sent(request: wire.Request) -> dict[str, str]:
    """The headers, but for the host: that is where it is sent."""
    return {name: value for name, value in request.headers.items() if name != "host"}


def by_wrk(wrk: str, url: str, request: wire.Request, connections: int, seconds: int, folder: Path) -> Load:
    script = folder / "request.lua"
    headers = "\n".join(f"wrk.headers[{quoted(name)}] = {quoted(value)}" for name, value in sent(request).items())
    script.write_text(f'wrk.method = "POST"\nwrk.body = {quoted(request.body)}\n{headers}\n')
    printed = subprocess.run(
        [wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "--latency", "-s", script, url],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    rate = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    if rate is None or "Socket errors" in printed:
        raise LoadError(printed)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
    return Load(
        float(rate[1]), percentile(printed, "50%"), percentile(printed, "99%"), int(refused[1]) if refused else 0
    )


def percentile(printed: str, which: str) -> float:
    found = re.search(rf"{which}\s+([\d.]+)(us|ms|s)\b", printed)
    if found is None:
        raise LoadError(printed)
    return float(found[1]) * UNITS_MS[found[2]]


def quoted(text: str) -> str:
    """As a Lua string: everything that isn't plain is written by its number."""
    return (
        '"' + "".join(one if one.isalnum() else "".join(f"\\{byte:03d}" for byte in one.encode()) for one in text) + '"'
    )


def by_ourselves(url: str, request: wire.Request, connections: int, seconds: int) -> Load:
    return asyncio.run(_load(urllib.parse.urlsplit(url), request, connections, seconds))


async def _load(url: urllib.parse.SplitResult, request: wire.Request, connections: int, seconds: int) -> Load:
    body = request.body.encode()
    headers = {**sent(request), "host": url.netloc, "content-length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    message = f"POST {url.path} HTTP/1.1\r\n{head}\r\n".encode() + body
    ends = time.monotonic() + seconds
    taken: list[float] = []
    statuses: list[int] = []

    async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the server lets another follow."""
        began = time.monotonic()
        writer.write(message)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"content-length: (\d+)", answer, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        statuses.append(int(answer.split(" ", 2)[1]))
        taken.append(time.monotonic() - began)
        return re.search(r"^connection: *close", answer, re.IGNORECASE | re.MULTILINE) is None

    async def connection() -> None:
        while time.monotonic() < ends:  # servers end a connection after so many requests, hypercorn after 1,000
            reader, writer = await asyncio.open_connection(url.hostname, url.port)
            try:
                while await exchange(reader, writer) and time.monotonic() < ends:
                    pass
            except (asyncio.IncompleteReadError, ConnectionError) as cut:
                raise LoadError(f"{url.geturl()} ended a connection without an answer") from cut
            finally:
                writer.close()

    await asyncio.gather(*(connection() for _ in range(connections)))
    cuts = quantiles(taken, n=100, method="inclusive")
    return Load(len(taken) / seconds, cuts[49] * 1e3, cuts[98] * 1e3, len(statuses) - statuses.count(200))


def start_functions(url: str, request: wire.Request, connections: int) -> None:
    """Until so many requests at once are all answered: each has a process of its own then."""

    def answered(_: int) -> bool:
        post = urllib.request.Request(url, request.body.encode(), sent(request), method="POST")
        try:
            with urllib.request.urlopen(post, timeout=STARTING_S) as answer:
                return "result" in json.loads(answer.read())
        except OSError:  # a start that took longer than the emulator or this waits
            return False

    deadline = time.monotonic() + STARTING_S
    with ThreadPoolExecutor(connections) as pool:
        while not all(pool.map(answered, range(connections))):
            if time.monotonic() > deadline:
                raise LoadError(f"{url} does not answer {connections} requests at once")


def throughput(setup: Setup) -> Section:
    wrk = shutil.which("wrk")
    seconds = setup.times(full=8, quick=1)
    connections_each = CONNECTIONS if setup.judges_times else (1, 2)
    endpoint = setup.stack.endpoint
    targets = {
        "leg one, POST /mcp/delete_note": (f"{endpoint}/delete_note", wire.call("delete_note", {"note_id": "7"})),
        "leg one by way of the front door, POST /mcp": (endpoint, wire.call("delete_note", {"note_id": "7"})),
        "server/discover, POST /mcp": (endpoint, wire.request("server/discover")),
    }

    def load(url: str, request: wire.Request, connections: int) -> Load:
        if wrk:
            return by_wrk(wrk, url, request, connections, seconds, setup.folder)
        return by_ourselves(url, request, connections, seconds)

    rows = []
    for what, (url, request) in targets.items():
        start_functions(url, request, connections_each[-1])
        for connections in connections_each:
            one = load(url, request, connections)
            rows.append(Row(f"{what}, {connections} connection{'s' if connections > 1 else ''}", one.show()))
    return Section(
        f"Throughput of the local stack, under {'wrk' if wrk else 'a loader of our own'}", tuple(rows), peer=""
    )
