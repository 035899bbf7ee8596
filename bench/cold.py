"""Cold starts: from a new process to its first answered leg, import and init included."""

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Row, Section, by_turns, compared, milliseconds
from bench.inside import wire
from bench.processes import BENCH, KEYS_GIVEN, PYTHON, ChildError, environment
from bench.setup import Setup
from local import aws
from local.environment import ROOT, architecture

STARTING_S = 10
INVOKING_S = 60
BUDGET = 0.5


@dataclass(frozen=True)
class Start:
    """A way to start: the side's environment, the event of the first leg, and how the side is reached."""

    environ: Mapping[str, str]
    event: Path
    reached: str = "handler"


def first_answer_s(start: Start) -> float:
    """Seconds from before the process is started to the answer in its hands."""
    command = [str(PYTHON), str(BENCH / "inside" / "cold_start.py"), str(start.event), start.reached]
    began = time.monotonic_ns()
    done = subprocess.run(command, check=False, cwd=ROOT, env=start.environ, capture_output=True, text=True)
    if done.returncode:
        raise ChildError(done.stderr[-4000:])
    answer = json.loads(done.stdout.splitlines()[-1])
    expect_answer(answer["status"], answer["body"])
    return float(answer["at_ns"] - began) / 1e9


def bare_s() -> float:
    """Seconds of an interpreter that does nothing."""
    began = time.monotonic_ns()
    code = "import time; print(time.monotonic_ns())"
    done = subprocess.run([PYTHON, "-c", code], check=True, capture_output=True, text=True)
    return (int(done.stdout) - began) / 1e9


def emulated_s(start: Start) -> float:
    """Seconds from the invocation to its answer under Lambda's runtime interface emulator, which starts the function for it."""
    with emulator(start) as url:
        began = time.monotonic_ns()
        with urllib.request.urlopen(url, data=start.event.read_bytes(), timeout=INVOKING_S) as answer:
            response = json.loads(answer.read())
        took = (time.monotonic_ns() - began) / 1e9
    if "statusCode" not in response:
        raise ChildError(str(response))
    expect_answer(response["statusCode"], response["body"])
    return took


@contextmanager
def emulator(start: Start) -> Iterator[str]:
    """Where to post an event to. A new emulator each time: it starts a function once."""
    ours, runtime = free_addresses()
    name = f"aws-lambda-rie-{architecture()}"
    (binary,) = (ROOT / ".venv-sam" / "lib").glob(f"python3*/site-packages/samcli/local/rapid/{name}")
    environ = {
        **start.environ,
        "AWS_LAMBDA_FUNCTION_NAME": "bench",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "LAMBDA_TASK_ROOT": start.environ["PYTHONPATH"].split(os.pathsep)[0],
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
    os.killpg(process.pid, 9)
    process.wait()


def expect_answer(status: int, body: str) -> None:
    result = wire.Answer(status, body).result
    if "requestState" not in result and "content" not in result:
        raise ChildError(body)


def cold(setup: Setup) -> Section:
    asks = event_file(setup.folder, "asks", wire.call("delete_note", {"note_id": "7"}))
    plain = event_file(setup.folder, "plain", wire.call("read_note", {"note_id": "7", "width": 40}))
    fetched = Start(environment("askback", aws=setup.aws, settings=setup.settings), asks)
    given = Start(environment("askback", settings=KEYS_GIVEN), asks)
    asgi = Start(environment("sdk"), asks, "asgi")
    mangum = Start(environment("sdk"), asks)
    awslabs = Start(environment("awslabs"), plain)
    straight = by_turns(
        setup.times(full=31, quick=1),
        {
            "bare": bare_s,
            "fetched": lambda: first_answer_s(fetched),
            "asgi": lambda: first_answer_s(asgi),
            "given": lambda: first_answer_s(given),
            "mangum": lambda: first_answer_s(mangum),
            "awslabs": lambda: first_answer_s(awslabs),
        },
    )
    emulated = by_turns(
        setup.times(full=15, quick=1),
        {
            "fetched": lambda: emulated_s(fetched),
            "mangum": lambda: emulated_s(mangum),
            "given": lambda: emulated_s(given),
        },
    )

    def row(what: str, taken: Mapping[str, list[float]], ours: str, theirs: str, at_most: float | None = BUDGET) -> Row:
        return compared(what, taken[ours], taken[theirs], at_most, judged=setup.judges_times)

    return Section(
        "Cold: new process to first answered leg",
        (
            row("ring read from the secret store; the SDK's key given to it", straight, "fetched", "asgi"),
            row("keys given to both", straight, "given", "asgi"),
            row("ring read, the SDK by way of Mangum", straight, "fetched", "mangum", None),
            row(
                "under Lambda's runtime interface emulator: ring read, the SDK by way of Mangum",
                emulated,
                "fetched",
                "mangum",
            ),
            row("the same, keys given to both", emulated, "given", "mangum"),
            row(
                "a call that asks nothing, in AWS Labs' handler (which can't ask); ours asks",
                straight,
                "given",
                "awslabs",
                None,
            ),
            Row("of it, an interpreter that does nothing", milliseconds(straight["bare"])),
        ),
    )


def event_file(folder: Path, name: str, request: wire.Request) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(wire.event(request)))
    return path
