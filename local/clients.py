"""`make clients`: three real clients against the local stack: the official Python and TypeScript clients, and the MCP Inspector in a browser.

    python -m local.clients [--screenshots FOLDER]

Each connects, lists, calls delete_note, answers its question and reads the result. Without a browser on this machine (Debian's chromium will
do) the Inspector is left out: that is said, and counted as skipped.
"""

import argparse
import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mcp.client import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult

from local import aws, build, deploy, node, stack
from local.demo import text_of
from local.environment import ROOT, say
from local.wire import Wire, connected

SOURCE = ROOT / "tests" / "clients"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
INSPECTOR = "http://127.0.0.1:6274"  # where the template's CORS settings expect it
READY_S = 60
SCRIPT_S = 180


class ClientError(Exception):
    """A client did not get through; the message says how far it came."""


def python_client(endpoint: str) -> None:
    """The official Python client."""

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001  the SDK names it
        return ElicitResult(action="accept", content={"confirm": True})

    async def session() -> None:
        async with connected(endpoint, Wire(), answer) as client:
            print(f"ok the Python client connects, at revision {client.protocol_version}")
            names = [tool.name for tool in (await client.list_tools()).tools]
            if names != ["book_table", "delete_note", "provision_database"]:
                raise ClientError(f"it lists {names}")
            print("ok it lists the three tools")
            text = text_of(await client.call_tool("delete_note", {"note_id": "7"}))
            if text != "Deleted note 7.":
                raise ClientError(f"delete_note says {text!r}")
            print("ok it calls delete_note, answers the question, and has the result", flush=True)

    asyncio.run(session())


def script(program: node.Installed, name: str, *arguments: str) -> None:
    """Run a script of tests/clients; its output is shown. It is started beside its packages, where Node looks for them."""
    copy = program.modules.parent / name
    shutil.copy(SOURCE / name, copy)
    try:
        done = subprocess.run([program.node, copy, *arguments], check=False, stdin=subprocess.DEVNULL, timeout=SCRIPT_S)
    except subprocess.TimeoutExpired:
        raise ClientError(f"{name} did not end within {SCRIPT_S} s") from None
    if done.returncode:
        raise ClientError(f"{name} ended with status {done.returncode}")


@contextmanager
def inspector(program: node.Installed, endpoint: str, folder: Path) -> Iterator[None]:
    """The Inspector's web server at INSPECTOR, knowing the endpoint; what it keeps is in `folder`."""
    with suppress(OSError), urllib.request.urlopen(INSPECTOR, timeout=5):
        raise ClientError(f"something listens at {INSPECTOR} already")
    main = program.modules / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    output = folder / "inspector.log"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [program.node, main, "--web", "--transport", "http", "--server-url", endpoint, "--protocol-era", "modern"],
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
            env={
                **os.environ,
                "HOME": str(folder),
                "CLIENT_PORT": INSPECTOR.rpartition(":")[2],
                "MCP_AUTO_OPEN_ENABLED": "false",
                "MCP_STORAGE_DIR": str(folder),
                "MCP_INSPECTOR_SECRET_STORE": "memory",
                "DANGEROUSLY_OMIT_AUTH": "true",  # reached from this machine only, by the browser below
            },
        )  # fmt: skip
    try:
        deadline = time.monotonic() + READY_S
        while True:
            try:
                with urllib.request.urlopen(INSPECTOR, timeout=READY_S):
                    break
            except (urllib.error.URLError, ConnectionError):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise ClientError(f"the Inspector did not start:\n{output.read_text()}") from None
                time.sleep(0.1)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def browser() -> str | None:
    """A browser that Playwright can drive; None if this machine has none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def inspected(program: node.Installed, endpoint: str, executable: str, screenshots: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder, inspector(program, endpoint, Path(folder)):
        shown = [] if screenshots is None else [str(screenshots)]
        script(program, "inspector.mjs", INSPECTOR, endpoint, executable, *shown)


def run(program: node.Installed, screenshots: Path | None) -> tuple[int, int, int]:
    """How many clients passed, failed, and were left out."""
    executable = browser()
    with stack.running() as askback:
        clients: dict[str, Callable[[str], None]] = {
            "the Python client": python_client,
            "the TypeScript client": lambda endpoint: script(program, "typescript.mjs", endpoint),
        }
        if executable is None:
            print(f"skipped: the Inspector, because there is no browser here ({', '.join(BROWSERS)})")
        else:
            clients["the Inspector"] = lambda endpoint: inspected(program, endpoint, executable, screenshots)
        failed = 0
        for name, client in clients.items():
            askback.reset()
            try:
                client(askback.endpoint)
            except ClientError as problem:
                failed += 1
                print(f"FAILED {name}: {problem}", flush=True)
    return len(clients) - failed, failed, int(executable is None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.clients", description="Let real clients use the stack.")
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of what the Inspector shows")
    screenshots = parser.parse_args(arguments).screenshots
    if screenshots is not None:
        screenshots.mkdir(parents=True, exist_ok=True)
    try:
        passed, failed, skipped = run(node.installed(SOURCE), screenshots)
    except (aws.AwsError, build.BuildError, deploy.DeployError, node.NodeError) as problem:
        say(str(problem))
        return 1
    print(f"clients: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
