"""The loader that stands in for wrk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from bench import throughput
from bench.inside import wire

BODY = b"answered"


class Answering(ThreadingHTTPServer):
    """Ends each connection after `most` requests, and without an answer after `drops_after`.

    requests: how many were answered on each connection, in the order they began.
    """

    daemon_threads = True

    def __init__(self, most: int, status: int, drops_after: int | None) -> None:
        super().__init__(("127.0.0.1", 0), Once)
        self.most = most
        self.status = status
        self.drops_after = drops_after
        self.requests: list[int] = []


class Once(BaseHTTPRequestHandler):
    server: Answering
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        self.server.requests.append(0)
        self.number = len(self.server.requests) - 1
        super().handle()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.requests[self.number] == self.server.drops_after:
            self.close_connection = True
            return
        self.server.requests[self.number] += 1
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(BODY)))
        if self.server.requests[self.number] == self.server.most:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def answering(most: int = 100, status: int = 200, drops_after: int | None = None) -> Iterator[Answering]:
    server = Answering(most, status, drops_after)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _a_clock_that_counts_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a hundredth of a second later: how many requests fit into a second is then no matter of the machine."""
    moments = iter(range(10**9))
    monkeypatch.setattr("bench.throughput.time", SimpleNamespace(monotonic=lambda: next(moments) / 100))


def load(server: Answering) -> throughput.Load:
    return throughput.by_ourselves(f"http://127.0.0.1:{server.server_port}/mcp", wire.request("server/discover"), 1, 1)


def test_requests_go_on_over_another_connection_when_the_server_ends_one() -> None:
    with answering(most=3) as server:
        measured = load(server)
    assert len(server.requests) > 2
    assert set(server.requests[:-1]) == {3}
    assert measured.rate == sum(server.requests)
    assert measured.refused == 0


def test_answers_that_are_no_200_are_counted() -> None:
    with answering(status=503) as server:
        measured = load(server)
    assert measured.refused == sum(server.requests) > 0


@pytest.mark.parametrize("answered", [0, 1, 2])
def test_a_request_that_is_dropped_ends_the_measurement(answered: int) -> None:
    with answering(drops_after=answered) as server, pytest.raises(throughput.LoadError, match="without an answer"):
        load(server)
    assert server.requests == [answered]
