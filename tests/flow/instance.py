"""An instance of a function as a process of its own: `python -m tests.flow.instance APP [CROWD]` loads APP and answers invocations.

Standard input has one JSON object a line, {"event", "now", "remaining_ms"}; each is answered by one line. With CROWD there is one such line,
and that many processes, forked from this one before anything was invoked, answer it at the same moment: the line that comes back is a list.
What a function prints goes to standard error. INSTANCE_DIES names a point at which the process kills itself, as `kill -9` does.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from types import ModuleType
from typing import IO, Any

from mrtr import aws
from mrtr.runtime import Runtime
from mrtr.server import Server
from mrtr.settings import read_settings
from mrtr.testing import Clock, Event, LambdaContext, Reply
from tests.flow.cloud import ROOT
from tests.flow.secrecy import Secrets

NOW = 1_800_000_000.0
"""The time in every process, unless an invocation says another."""

DEATHS = {
    "before the claim arrives": "before-send.dynamodb.PutItem",
    "after the claim": "after-call.dynamodb.PutItem",
    "before the record arrives": "before-send.dynamodb.UpdateItem",
    "after the record": "after-call.dynamodb.UpdateItem",
}


class Died(Exception):
    """The process ended instead of answering."""


class Instance:
    """A process that serves one function. app: the path of its module, from the root of the repository.

    secrets: gathers what its requests and answers hold, which its log must not.
    """

    def __init__(
        self, app: str, environment: dict[str, str], secrets: Secrets, *, dies: str = "", crowd: int = 0
    ) -> None:
        self._secrets = secrets
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.flow.instance", app, *([str(crowd)] if crowd else [])],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **environment, "INSTANCE_DIES": dies, "PYTHONPATH": f"{ROOT / 'layers/mrtr'}:{ROOT}"},
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in: IO[str] = self._process.stdin
        self._out: IO[str] = self._process.stdout
        self.pid = self._process.pid

    def invoke(self, event: Event, *, now: float = NOW, remaining_ms: int = 20_000) -> Reply:
        """Raises Died."""
        return self._reply(event, self._ask(event, now, remaining_ms))

    def invoke_at_once(self, event: Event) -> list[Reply]:
        """One invocation in each process of the crowd."""
        return [self._reply(event, response) for response in self._ask(event, NOW, 20_000)]

    def _reply(self, event: Event, response: dict[str, Any]) -> Reply:
        reply = Reply(event, response)
        self._secrets.add_reply(reply)
        return reply

    def _ask(self, event: Event, now: float, remaining_ms: int) -> Any:
        self._secrets.add_event(event)
        self._in.write(json.dumps({"event": event, "now": now, "remaining_ms": remaining_ms}) + "\n")
        self._in.flush()
        line = self._out.readline()
        if not line:
            raise Died
        return json.loads(line)

    def stop(self) -> str:
        """End the process and give what it logged."""
        self._in.close()
        self._out.close()
        self._process.wait(timeout=30)
        self._log.seek(0)
        log = self._log.read().decode()
        self._log.close()
        return log


def load(app: str) -> ModuleType:
    path = ROOT / app
    name = f"app_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def server_of(module: ModuleType) -> Server:
    return next(value for value in vars(module).values() if isinstance(value, Server))


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the log of a function is its standard output
    be_patient()
    module = load(sys.argv[1])
    arrange_death(os.environ["INSTANCE_DIES"])
    if len(sys.argv) > 2:
        line = sys.stdin.readline()
        answers.write(json.dumps(crowd(module, json.loads(line), int(sys.argv[2]))) + "\n")
        answers.flush()
        return
    clock = Clock(NOW)
    for line in sys.stdin:
        answers.write(json.dumps(invoke(module, json.loads(line), clock)) + "\n")
        answers.flush()


def be_patient() -> None:
    """Wait a minute for every answer: on a busy machine the emulated AWS is slow, and that is no outage."""
    aws.CONNECT_TIMEOUT_S = 60
    aws.client = functools.partial(aws.client, read_timeout_s=60)  # type: ignore[assignment]  # by name, as modules call it


def invoke(module: ModuleType, invocation: dict[str, Any], clock: Clock) -> Any:
    server = server_of(module)
    if server._runtime is None:
        server._runtime = Runtime(read_settings(), clock=clock, sleep=clock.sleep)
    clock.now = invocation["now"]
    return module.handler(invocation["event"], LambdaContext(remaining_ms=invocation["remaining_ms"]))


def crowd(module: ModuleType, invocation: dict[str, Any], size: int) -> list[Any]:
    for service in ("dynamodb", "secretsmanager", "kms"):
        aws.client(service)  # loaded once for all; each process connects by itself
    ready, go = os.pipe()
    readers: list[IO[str]] = []
    children: list[int] = []
    for _ in range(size):
        answer, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(go)
            os.read(ready, 1)  # returns when the last writer, the parent, closes it: to all at the same moment
            with os.fdopen(write, "w") as file:
                json.dump(invoke(module, invocation, Clock(NOW)), file)
            sys.stdout.flush()
            os._exit(0)
        os.close(write)
        readers.append(os.fdopen(answer))
        children.append(pid)
    os.close(go)
    responses = [json.load(reader) for reader in readers]
    for pid in children:
        os.waitpid(pid, 0)
    return responses


def arrange_death(point: str) -> None:
    if point in DEATHS:
        aws.client("dynamodb").meta.events.register(DEATHS[point], die)


def die(**_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
