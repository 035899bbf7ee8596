"""Makes the virtual environments that every command needs, once per content of their lock files.

Runs before anything is installed and under whatever `python3` a machine has: standard library only.

    python3 local/bootstrap.py NAME...     NAME: dev (.venv), sam (.venv-sam), aws (.venv-aws), lock (.venv-lock), bench (.venv-bench)
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Newest first: the first is the template's default runtime, the others are its allowed values.
VERSIONS = ("3.13", "3.12", "3.11")

STAMP = ".made-from"
HOW = "with bytecode"  # what is different about how it is made, beside what goes in: a reason to make it anew
UV = ROOT / ".venv-lock" / "bin" / "uv"

FOLDERS = {"dev": ".venv", "sam": ".venv-sam", "aws": ".venv-aws", "lock": ".venv-lock", "bench": ".venv-bench"}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def works(python: str, version: str) -> bool:
    """Whether `python` runs, is of `version` and can make virtual environments (a pyenv shim may do neither)."""
    check = f"import sys, venv, ensurepip, ssl; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    try:
        return subprocess.run([python, "-c", check], capture_output=True, timeout=30, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def candidates(version: str) -> list[str]:
    """Where an interpreter of `version` may be, the likeliest first."""
    named = shutil.which(f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [named] if named else []
    found += sorted((str(path) for path in pyenv.glob(f"{version}.*/bin/python{version}")), reverse=True)
    return [*found, sys.executable]


def interpreter() -> str:
    """The newest supported interpreter of this machine. PYTHON in the environment goes before all."""
    chosen = os.environ.get("PYTHON")
    if chosen:
        for version in VERSIONS:
            if works(chosen, version):
                return chosen
        raise SystemExit(f"PYTHON={chosen} is not a working Python of {', '.join(VERSIONS)}.")
    for version in VERSIONS:
        for python in candidates(version):
            if works(python, version):
                return python
    raise SystemExit(f"No Python found. Install one of {', '.join(VERSIONS)} (with venv), or set PYTHON to its path.")


def lock_of(name: str) -> Path:
    if name == "bench":
        return ROOT / "bench" / "requirements.txt"
    return ROOT / "requirements" / f"{name}.txt"


def stamp_of(name: str) -> str:
    """What an environment was made from: it is made anew when this changes. Comments say only who wants a package."""
    pins = [HOW, *(line for line in lock_of(name).read_text().splitlines() if not line.lstrip().startswith("#"))]
    return hashlib.sha256("\n".join(pins).encode()).hexdigest()


def is_made(name: str) -> bool:
    folder = ROOT / FOLDERS[name]
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text() == stamp_of(name) and (folder / "bin" / "python").exists()


def install(command: list[str], name: str) -> bool:
    """Install exactly what the lock says, checked against its hashes."""
    locked = ["--require-hashes", "--no-deps", "-r", str(lock_of(name))]
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy", "UV_NO_CONFIG": "1"}
    try:
        return subprocess.run(command + locked, check=False, env=environment).returncode == 0
    except OSError:
        return False


def make(name: str) -> None:
    if is_made(name):
        return
    folder = ROOT / FOLDERS[name]
    python = folder / "bin" / "python"
    base = interpreter()
    started = time.monotonic()
    packages = sum(1 for line in lock_of(name).read_text().splitlines() if "==" in line and not line.startswith(" "))
    say(f"installing {packages} packages into {FOLDERS[name]} ({base}) ...")
    # Made from nothing: an environment half made, or made from another lock, is no start for a reproducible one.
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([base, "-m", "venv", str(folder)], check=True)
    # uv is several times as quick as pip; pip knows of mirrors that uv has not been told of.
    if name == "lock" or not install(
        [str(UV), "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python)], name
    ):
        pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
        if not install(pip, name):
            raise SystemExit(f"Making {FOLDERS[name]} failed; the output of pip is above.")
    (folder / STAMP).write_text(stamp_of(name))
    say(f"installed {FOLDERS[name]} in {time.monotonic() - started:.0f} s")


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in FOLDERS]
    if unknown or not names:
        raise SystemExit(__doc__)
    needed = [name for name in names if not is_made(name)]
    # uv itself first: with it the others take a few seconds each
    for name in dict.fromkeys(["lock", *needed] if needed else []):
        make(name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
