"""The runtime's own AWS calls, counted where they arrive: at an address between the function and its AWS."""

import http.client
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bench.figures import TIMES, Row, Section
from bench.processes import worker
from bench.setup import Setup
from local.aws import LOOPBACK

LEGS = 5
PASSED_ON = {"host", "connection", "content-length", "transfer-encoding"}


class Counting(ThreadingHTTPServer):
    """Passes every request on to `endpoint`, and notes its action."""

    daemon_threads = True

    def __init__(self, endpoint: str) -> None:
        super().__init__((LOOPBACK, 0), Passing)
        self.endpoint = urllib.parse.urlsplit(endpoint).netloc
        self.actions: list[str] = []

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}"


class Passing(BaseHTTPRequestHandler):
    server: Counting
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.actions.append(self.headers.get("X-Amz-Target", "?").rpartition(".")[2])
        connection = http.client.HTTPConnection(self.server.endpoint)
        # Host is passed on as it came: it is part of what was signed
        connection.request("POST", self.path, body, dict(self.headers.items()))
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in PASSED_ON:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def counting(endpoint: str) -> Iterator[Counting]:
    server = Counting(endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def aws_calls(setup: Setup) -> Section:
    with (
        counting(setup.aws) as between,
        worker(setup.folder, "askback", "handler", aws=between.url, settings=setup.settings) as ours,
    ):

        def made_by(op: str, count: int, **details: int) -> Counter[str]:
            between.actions.clear()
            ours.do(op, count=count, **details)
            return Counter(between.actions)

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
