"""Lambda's runtime interface emulator, as the SAM CLI brings it: a function in it starts as on Lambda, under Lambda's own runtime client."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from bench.inside.wire import Answer, asks
from bench.processes import PYTHON, ChildError
from local import aws
from local.environment import ROOT, architecture

STARTING_S = 10
INVOKING_S = 60


def first_answer_s(environ: Mapping[str, str], event: Path) -> float:
    """Seconds from the invocation to its answer under Lambda's runtime interface emulator, which starts the function for it."""
    with emulator(environ) as url:
        began = time.monotonic_ns()
        with urllib.request.urlopen(url, data=event.read_bytes(), timeout=INVOKING_S) as answer:
            response = json.loads(answer.read())
        took = (time.monotonic_ns() - began) / 1e9
    if "statusCode" not in response:
        raise ChildError(str(response))
    asks(Answer(response["statusCode"], response["body"]))
    return took


@contextmanager
def emulator(given: Mapping[str, str]) -> Iterator[str]:
    """Where to post an event to. A new emulator each time: it starts a function once."""
    ours, runtime = free_addresses()
    name = f"aws-lambda-rie-{architecture()}"
    (binary,) = (ROOT / ".venv-sam" / "lib").glob(f"python3*/site-packages/samcli/local/rapid/{name}")
    environ = {
        **given,
        "AWS_LAMBDA_FUNCTION_NAME": "bench",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "LAMBDA_TASK_ROOT": given["PYTHONPATH"].split(os.pathsep)[0],
        "_HANDLER": "app.handler",
    }
    command: list[str | Path] = [binary, "--log-level", "error", "--runtime-interface-emulator-address", ours,
               "--runtime-api-address", runtime, PYTHON, "-m", "awslambdaric", "app.handler"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=environ["LAMBDA_TASK_ROOT"], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        await_listener(ours, process)
        yield f"http://{ours}/2015-03-31/functions/function/invocations"
    finally:
        end_group(process)


def free_addresses() -> tuple[str, str]:
    with closing(aws.listening(0)) as one, closing(aws.listening(0)) as other:
        return aws.url_of(one).removeprefix("http://"), aws.url_of(other).removeprefix("http://")


def await_listener(address: str, process: "subprocess.Popen[bytes]") -> None:
    host, _, port = address.partition(":")
    deadline = time.monotonic() + STARTING_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            time.sleep(0.002)
    raise ChildError("the runtime interface emulator did not start")


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """The emulator and the function that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
