"""The AWS of this machine, for tests whose functions are processes of their own: `python -m tests.flow.cloud` is moto as a server.

It prints its port, and ends with its standard input. Requests are handled one at a time: moto itself checks a condition and writes in two
steps, and DynamoDB in one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from local.environment import REGION

ROOT = Path(__file__).resolve().parents[2]
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}


class Cloud:
    """A server process; `url` is its endpoint."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.flow.cloud"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **CREDENTIALS},
            text=True,
        )
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=30)


def main() -> None:
    from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 - in the server process alone
        DomainDispatcherApplication,
        create_backend_app,
    )
    from werkzeug.serving import make_server  # noqa: PLC0415 - likewise

    application = DomainDispatcherApplication(create_backend_app)
    lock = threading.Lock()

    def one_at_a_time(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        with lock:
            answer = application(environ, start_response)
            try:
                return list(answer)
            finally:
                getattr(answer, "close", lambda: None)()

    server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
