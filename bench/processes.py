"""The measured processes: what each side has on its path, and its environment. Nothing of this process's own gets in."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

import yaml

from local import build
from local.environment import ROOT, aws_environment

BENCH = ROOT / "bench"
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
SITE = next((ROOT / ".venv-bench" / "lib").glob("python3*/site-packages"), ROOT)
KEYS_GIVEN = {"BENCH_KEYS": "given"}
NOWHERE = "http://127.0.0.1:9"
"""An AWS that refuses every connection."""


AS_ON_LAMBDA = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION")
"""What a function is told of AWS. Settings of this machine's own, such as a bundle of certificates, would change which client is used."""


class ChildError(Exception):
    """A measured process failed; the message holds what it printed."""


@cache
def layer() -> Path:
    """The layer as it is deployed."""
    template = build.build()
    # the template's own tags (!Ref and the like) say nothing about where the layer is
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_multi_constructor("!", lambda *_: None)  # type: ignore[attr-defined]  # made a line above
    resources = yaml.load(template.read_text(), loader)["Resources"]  # noqa: S506 - a subclass of the safe one
    (uri,) = (
        one["Properties"]["ContentUri"] for one in resources.values() if one["Type"] == "AWS::Serverless::LayerVersion"
    )
    return template.parent / str(uri)


def path_of(side: str) -> list[Path]:
    """As on Lambda: the function's folder, then its packages, both before the standard library. deployed: delete_note as it is built."""
    if side in ("sdk", "awslabs"):
        return [BENCH / "servers" / side, SITE]
    python = layer() / "python"
    function = layer().parent / "DeleteNoteFunction" if side == "deployed" else BENCH / "servers" / side
    return [function, python, *python.glob("lib/python3*/site-packages")]


def environment(side: str, aws: str = NOWHERE, settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """No bytecode is written: each side starts with what its packages bring, as on Lambda's read-only folders."""
    if not list((SITE / "mcp" / "__pycache__").glob("*.pyc")):
        raise ChildError("the SDK's packages have no bytecode: remove .venv-bench and make it anew")
    of_template = {"PYDANTIC_DISABLE_PLUGINS": "__all__"} if side in ("askback", "deployed") else {}
    path = os.pathsep.join(str(one) for one in path_of(side))
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    amazon = {name: aws_environment(aws)[name] for name in AS_ON_LAMBDA}
    return {**kept, **amazon, **of_template, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **(settings or {})}


def output(command: list[str | Path], environ: Mapping[str, str]) -> str:
    """The last line that the command prints."""
    done = subprocess.run(command, check=False, cwd=ROOT, env=dict(environ), capture_output=True, text=True)
    if done.returncode:
        raise ChildError(f"{command}:\n{done.stderr[-4000:]}")
    return done.stdout.splitlines()[-1]


def module(name: str, side: str, *arguments: str, **options: Any) -> Any:
    """What a module of bench.inside prints, run for a side."""
    environ = environment(side, **options)
    environ["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    return json.loads(output([PYTHON, "-m", f"bench.inside.{name}", *arguments], environ))


class Worker:
    """A side in a process of its own that does what it is told (bench/inside/worker.py)."""

    def __init__(self, orders: IO[str], answers: IO[str], errors: Path) -> None:
        self._orders = orders
        self._answers = answers
        self._errors = errors

    def do(self, op: str, **details: Any) -> Any:
        self._orders.write(json.dumps({"op": op, **details}) + "\n")
        self._orders.flush()
        line = self._answers.readline()
        if not line:
            raise ChildError(f"{op}:\n{self._errors.read_text(errors='replace')[-4000:]}")
        return json.loads(line)

    def each(self, op: str, count: int, clock: str = "core", **details: Any) -> float:
        """Seconds for one of `count` units of work, by one of Took's clocks."""
        return float(self.do(op, count=count, **details)[clock]) / count


@contextmanager
def worker(folder: Path, side: str, kind: str, **options: Any) -> Iterator[Worker]:
    """kind: of bench.inside.sides. Its log goes to a file, as Lambda's goes away from the function."""
    environ = environment(side, **options)
    environ["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    errors = folder / f"{side}-{kind}-{len(list(folder.iterdir()))}.log"
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [PYTHON, "-m", "bench.inside.worker", kind],
            cwd=ROOT, env=environ, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file,
        )  # fmt: skip
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both are pipes")
    try:
        yield Worker(process.stdin, process.stdout, errors)
    finally:
        process.stdin.close()  # its sign to end
        process.stdout.close()
        process.wait()
