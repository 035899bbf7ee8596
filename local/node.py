"""Programs from the npm registry: installed once per content of their lock file, with a Node that is new enough to run them."""

import hashlib
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from local.environment import WORK, say

LEAST = 22


class NodeError(Exception):
    """What is needed could not be installed; the message says why."""


@dataclass(frozen=True)
class Installed:
    """`node` is the interpreter, `modules` the folder of the packages."""

    node: str
    modules: Path


def version_of(node: str) -> int:
    """The interpreter's major version; 0 where it does not run."""
    try:
        told = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(told.lstrip("v").partition(".")[0])


def installed(source: Path) -> Installed:
    """What `source`/package-lock.json pins. Its optional packages are Node itself, left out where the machine's own will do.

    No package's install script is run.
    """
    npm, own = shutil.which("npm"), shutil.which("node") or ""
    if npm is None:
        raise NodeError("npm is not installed; Debian and Ubuntu have it as the package npm")
    own_will_do = version_of(own) >= LEAST
    folder = WORK / "npm" / source.name
    stamp = folder / ".made-from"
    wanted = hashlib.sha256((source / "package-lock.json").read_bytes() + bytes([own_will_do])).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        say(f"installing packages of {source.name} with npm ...")
        started = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(source / name, folder)
        left_out = ["--omit=optional"] if own_will_do else []
        done = subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *left_out],
            check=False, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={name: value for name, value in os.environ.items() if name != "NODE_ENV"},
        )  # fmt: skip
        if done.returncode:
            raise NodeError(f"npm ci failed:\n{done.stdout}")
        stamp.write_text(wanted)
        say(f"installed in {time.monotonic() - started:.0f} s")
    modules = folder / "node_modules"
    candidates = [own] if own_will_do else sorted(str(path) for path in modules.glob("node-*/bin/node"))
    for node in candidates:
        if version_of(node) >= LEAST:
            return Installed(node, modules)
    raise NodeError(f"Node {LEAST} or newer is needed: npm has none for this machine, so install it by hand")
