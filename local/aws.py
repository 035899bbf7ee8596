"""Starts and ends the emulated AWS (local/emulator.py): its sockets, its process group, its folder."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from local.environment import AWS_PYTHON, ROOT, WORK, aws_environment

LOOPBACK = "127.0.0.1"
READY_S = 60
ENDING_S = 10


class AwsError(Exception):
    """The emulated AWS did not start."""


@dataclass(frozen=True)
class Aws:
    """A running one. `folder` holds invocations.jsonl and logs/."""

    endpoint_url: str
    api_url: str
    folder: Path
    pid: int


def listening(port: int, host: str = LOOPBACK) -> socket.socket:
    """A listening socket; port 0 takes any free one. OSError if the port is taken."""
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        one.bind((host, port))
        one.listen(256)
    except OSError:
        one.close()
        raise
    return one


def url_of(one: socket.socket) -> str:
    host, port = one.getsockname()
    return f"http://{host}:{port}"


def emulator_environment(url: str, folder: Path) -> dict[str, str]:
    """Loopback only, state in memory, policies enforced, no Docker."""
    temporary = folder / "tmp"
    temporary.mkdir()
    environment = aws_environment(url) | {
        # Every call of a function is checked against its role: what the template does not grant fails here too.
        "AUTH": "true",
        "GATEWAY_PORT": url.rpartition(":")[2],
        "MINISTACK_HOST": LOOPBACK,
        "MINISTACK_REGION": "us-east-1",
        "LAMBDA_ACCOUNT_CONCURRENCY": "1000",
        "LOG_LEVEL": "WARNING",
        # Listeners that nothing here needs, one of them on all interfaces.
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "LAMBDA_EXECUTOR": "local",
        # An emulator that finds Docker would tidy up containers there.
        "DOCKER_HOST": "unix:///nonexistent",
        "S3_DATA_DIR": str(temporary / "s3"),
        "TMPDIR": str(temporary),
    }
    # The functions' processes inherit it, and Lambda has none of these.
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONWARNINGS", "COVERAGE_PROCESS_START"):
        environment.pop(name, None)
    return environment


def wait_until_ready(url: str, process: "subprocess.Popen[bytes]", output: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_ministack/health", timeout=READY_S) as answer:
                answer.read()
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AwsError(f"The emulated AWS did not start:\n{output.read_text()}")


def group_is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def end(process: "subprocess.Popen[bytes]") -> None:
    """End the emulator and every process of a function. They are one process group, which nothing else belongs to."""
    if process.stdin is not None:
        process.stdin.close()  # the emulator's sign to end
    with suppress(subprocess.TimeoutExpired):
        process.wait(ENDING_S)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not group_is_alive(process.pid):
            break
        os.killpg(process.pid, number)
        deadline = time.monotonic() + ENDING_S / 5
        while group_is_alive(process.pid) and time.monotonic() < deadline:
            process.poll()
            time.sleep(0.02)
    process.wait()


def locked(path: Path, *, wait: bool) -> TextIO | None:
    """The file, locked until it is closed or this process ends, however it does; None if another holds it."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def run_folder() -> Iterator[Path]:
    """A folder for one run, removed on the way out. Those that killed runs have left behind are removed first."""
    WORK.mkdir(exist_ok=True)
    with ExitStack() as held:
        with locked(WORK / "runs.lock", wait=True) or nullcontext():
            for left in WORK.glob("run-*"):
                if mine := locked(left / "alive", wait=False):
                    shutil.rmtree(left, ignore_errors=True)
                    mine.close()
            folder = Path(tempfile.mkdtemp(prefix="run-", dir=WORK))
            held.enter_context(locked(folder / "alive", wait=True) or nullcontext())
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(port: int = 0, aws_host: str = LOOPBACK) -> Iterator[Aws]:
    """The emulated AWS, with the API's own host at `port`; ended, and its folder removed, on the way out.

    `aws_host` is an address of this machine at which its AWS listens, where containers must reach that.
    """
    with run_folder() as folder, listening(0, aws_host) as aws_socket, listening(port) as api_socket:
        output = folder / "emulator.log"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [AWS_PYTHON, ROOT / "local" / "emulator.py", str(aws_socket.fileno()), str(api_socket.fileno()),
                 str(folder)],
                stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT,
                pass_fds=(aws_socket.fileno(), api_socket.fileno()),
                env=emulator_environment(url_of(aws_socket), folder),
                # a process group of its own: Ctrl-C in a terminal reaches only who started this, and who ends it
                start_new_session=True,
            )  # fmt: skip
        try:
            aws = Aws(url_of(aws_socket), url_of(api_socket), folder, process.pid)
            # the emulator has its own copies: once it ends, nobody must seem to listen
            aws_socket.close()
            api_socket.close()
            wait_until_ready(aws.endpoint_url, process, output)
            yield aws
        finally:
            end(process)
