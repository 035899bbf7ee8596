"""`sam build`, skipped when nothing that it reads has changed."""

import fcntl
import hashlib
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.environment import ROOT, SAM, WORK, parameter_overrides, sam_environment, say

BUILD = WORK / "build"
TEMPLATE = BUILD / "template.yaml"
SOURCES = ("template.yaml", "functions", "layers")


class BuildError(Exception):
    """`sam build` failed; the message holds what it printed."""


def files() -> Iterator[Path]:
    for source in SOURCES:
        path = ROOT / source
        yield from [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def fingerprint() -> str:
    """Of everything that the build reads: a changed byte, name or parameter changes it."""
    digest = hashlib.sha256(repr(parameter_overrides()).encode())
    for path in files():
        if "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@contextmanager
def alone() -> Iterator[None]:
    """One build at a time in this checkout: others wait, then find theirs done."""
    WORK.mkdir(exist_ok=True)
    with (WORK / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build() -> Path:
    """The built template's path."""
    with alone():
        stamp = WORK / "build.made-from"
        wanted = fingerprint()
        if TEMPLATE.is_file() and stamp.is_file() and stamp.read_text() == wanted:
            return TEMPLATE
        say("building functions and layer (sam build) ...")
        started = time.monotonic()
        stamp.unlink(missing_ok=True)
        command: list[str | Path] = [SAM, "build", "--cached", "--build-dir", BUILD, "--cache-dir", WORK / "build-cache",
                   "--template", ROOT / "template.yaml", "--parameter-overrides", *parameter_overrides()]  # fmt: skip
        done = subprocess.run(
            command, check=False, cwd=ROOT, env=sam_environment(), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        if done.returncode:
            raise BuildError(f"sam build failed:\n{done.stdout}")
        stamp.write_text(wanted)
        say(f"built in {time.monotonic() - started:.0f} s")
        return TEMPLATE
