"""The AWS of the local stack: ministack, on loopback only, plus the front of the HTTP API.

Runs under `.venv-aws` (see requirements/aws.in), started by local/aws.py with two listening sockets as file descriptors:

    emulator.py AWS_FD API_FD RUN_FOLDER

* AWS_FD answers the AWS APIs.
* API_FD answers as the host of the deployed HTTP API would: its paths are the API's own, such as /mcp. Which API that is
  is read from RUN_FOLDER/api, written after the deploy.

RUN_FOLDER/invocations.jsonl tells which process served which invocation, RUN_FOLDER/logs/ holds the functions' output.
The end of standard input ends everything, so that nothing outlives whoever started it, however that one ended.
"""

import asyncio
import functools
import hashlib
import io
import json
import os
import signal
import socket
import sys
import threading
import time
import zipfile
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.app import app as aws
from ministack.core import iam_evaluator, lambda_runtime
from ministack.services import iam, lambda_svc

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Journal:
    """Writes down what the functions' processes do, whole lines only."""

    def __init__(self, folder: Path) -> None:
        self._invocations = folder / "invocations.jsonl"
        self._logs = folder / "logs"
        self._logs.mkdir(exist_ok=True)
        self._lock = threading.Lock()

    def happened(self, **details: object) -> None:
        line = json.dumps({"at": time.time(), **details})
        with self._lock, self._invocations.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def logged(self, function: str, text: str) -> None:
        if text:
            with self._lock, (self._logs / f"{function}.log").open("a", encoding="utf-8") as file:
                file.write(text + "\n")


class Layers:
    """Layers unpacked once and shared by all processes, as Lambda mounts them; ministack unpacks them for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def unpacked(self, reference: str) -> str:
        content = lambda_svc._resolve_layer_zip(reference)  # noqa: SLF001  ministack's own way to the bytes
        target = self._folder / hashlib.sha256(content).hexdigest()[:16]
        with self._lock:
            if not target.exists():
                zipfile.ZipFile(io.BytesIO(content)).extractall(target)
        return str(target)


def recording(journal: Journal, layers: Layers) -> type:
    """ministack's worker (one instance of a function), telling the journal which process serves what."""

    class RecordingWorker(lambda_runtime.Worker):  # type: ignore[misc]  # ministack has no types
        config: dict[str, Any]
        serving = ""

        def _spawn(self) -> None:
            whole = self.config
            paths = [layers.unpacked(one if isinstance(one, str) else one["Arn"]) for one in whole.get("Layers", [])]
            variables = whole.get("Environment", {}).get("Variables", {})
            variables = {**variables, "_LAMBDA_LAYERS_DIRS": os.pathsep.join(paths)}
            self.config = {**whole, "Layers": [], "Environment": {"Variables": variables}}
            try:
                super()._spawn()
            finally:
                self.config = whole
            self._started(cold=True)

        def _started(self, *, cold: bool) -> None:
            journal.happened(function=self.func_name, pid=self._proc.pid, request_id=self.serving, cold=cold)

        def invoke(self, event: object, request_id: str, **rest: Any) -> dict[str, Any]:
            self.serving = request_id
            if self._proc is not None and self._proc.poll() is None:
                self._started(cold=False)
            result: dict[str, Any] = super().invoke(event, request_id, **rest)
            journal.logged(self.func_name, result.get("log", ""))
            return result

    return RecordingWorker


def with_roles_as_principals(resolve: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """ministack's reading of a policy's condition keys, but for `aws:PrincipalArn`: of a role's session it is the role's ARN with its path, as
    AWS documents, where ministack gives the session's.
    """

    def resolved(key: str, context: Any) -> Any:
        value = resolve(key, context)
        if key.lower() == "aws:principalarn" and ":assumed-role/" in str(value):
            role = iam._roles.get_scoped(context.principal_account, None, value.split("/")[1])  # noqa: SLF001
            return role["Arn"] if role else value
        return value

    return resolved


def front(api_port: int, api_file: Path) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The AWS application, reached on `api_port` as the deployed API's own host."""

    @functools.cache
    def prefix() -> str:
        return f"/_aws/execute-api/{api_file.read_text()}/$default"

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["server"][1] == api_port:
            scope = {**scope, "path": prefix() + scope["path"], "raw_path": prefix().encode() + scope["raw_path"]}
        await aws(scope, receive, send)

    return application


def end_of_input() -> None:
    """Ask this process to end when whoever started it closes the pipe, or is gone."""
    while sys.stdin.buffer.read(4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


async def run(aws_fd: str, api_fd: str, folder: Path) -> None:
    iam_evaluator._resolve_condition_key = with_roles_as_principals(iam_evaluator._resolve_condition_key)  # noqa: SLF001
    lambda_runtime.Worker = recording(Journal(folder), Layers(folder / "layers"))
    config = Config()
    config.bind = [f"fd://{aws_fd}", f"fd://{api_fd}"]
    config.loglevel = "WARNING"
    config.graceful_timeout = 1
    with socket.socket(fileno=os.dup(int(api_fd))) as api:
        api_port = api.getsockname()[1]

    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    threading.Thread(target=end_of_input, daemon=True).start()
    try:
        await serve(front(api_port, folder / "api"), config, shutdown_trigger=ending.wait)
    finally:
        lambda_runtime.reset()  # ends and reaps the functions' processes, which are children of this one


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
    # Threads that ministack never joins must not keep the process.
    os._exit(0)
