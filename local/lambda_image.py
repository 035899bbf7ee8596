"""A stand-in for the Lambda image that `sam local` runs functions in, made on a machine that reaches no container registry.

It holds the interpreter that the layer was built for, the C libraries that it and a few shell tools are linked to,
and awslambdaric, Lambda's own runtime client. SAM adds the rest: its emulator of the Lambda service, and the layer.
The image is labelled, so that a real one is never replaced.
"""

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from local.docker import docker
from local.environment import AWS_PYTHON, ROOT, architecture, python_version, say

LABEL = "askback.stand-in"
LOCK = ROOT / "requirements" / "image.txt"
PULL_S = 300

# What SAM's own build steps and the bootstrap below call.
TOOLS = ("sh", "cat", "chmod", "cp", "env", "ls", "mkdir", "mv", "rm")

# What a function never imports, and what belongs to the machine rather than to the interpreter.
LEFT_OUT = {
    "__pycache__",
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
}

BOOTSTRAP = """\
#!/bin/sh
# Lambda's order of imports: the function, the layers, the runtime.
export PYTHONPATH="${{LAMBDA_TASK_ROOT:-/var/task}}:/opt/python:/var/runtime"
cd "${{LAMBDA_TASK_ROOT:-/var/task}}"
exec /var/lang/bin/{python} -m awslambdaric "$_HANDLER"
"""


def tag() -> str:
    """The name that SAM looks for."""
    return f"public.ecr.aws/lambda/python:{python_version()}-{architecture()}"


# What wheels may count on (PEP 600) beyond what the interpreter itself is linked to.
C_LIBRARIES = ("c", "dl", "gcc_s", "m", "nss_dns", "nss_files", "pthread", "resolv", "rt", "stdc++", "util", "z")


def libraries(binaries: Iterable[Path]) -> set[Path]:
    """Paths of the shared libraries that these need, the loader included, and of those any wheel may need."""
    found: set[Path] = set()
    for binary in binaries:
        printed = subprocess.run(["ldd", binary], check=False, capture_output=True, text=True).stdout
        found.update(Path(path) for path in re.findall(r"(?:=> |^\s+)(/\S+)", printed, re.MULTILINE))
    folder = next(path.parent for path in found if path.name.startswith("libc.so."))
    for name in C_LIBRARIES:
        found.update(folder.glob(f"lib{name}.so.[0-9]"))
    return found


def runtime_client(target: Path) -> None:
    subprocess.run(
        [AWS_PYTHON, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input", "--no-compile",
         "--only-binary=:all:", "--require-hashes", "--no-deps", "--target", target, "-r", LOCK],
        check=True,
    )  # fmt: skip


def standard_library(prefix: Path, name: str) -> Iterator[Path]:
    folder = prefix / "lib" / name
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if path.is_file() and not LEFT_OUT.intersection(inside) and not inside[0].startswith("config-"):
            yield path


def contents(runtime: Path) -> Iterator[tuple[str, Path]]:
    """(path in the image, file on this machine)."""
    name = f"python{python_version()}"
    prefix = Path(
        subprocess.run(
            [AWS_PYTHON, "-c", "import sys; print(sys.base_prefix)"], check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    interpreter = prefix / "bin" / name
    modules = list(standard_library(prefix, name))
    tools = [Path(found) for tool in TOOLS if (found := shutil.which(tool, path="/usr/bin:/bin"))]
    own = [path for path in sorted(runtime.rglob("*")) if path.is_file()]

    yield f"var/lang/bin/{name}", interpreter
    for path in modules:
        yield f"var/lang/lib/{name}/{path.relative_to(prefix / 'lib' / name)}", path
    for path in tools:
        yield f"bin/{path.name}", path
    for path in own:
        yield f"var/runtime/{path.relative_to(runtime)}", path
    linked = [interpreter, *tools, *(path for path in (*modules, *own) if ".so" in path.suffixes)]
    for path in sorted(libraries(linked)):
        yield str(path).lstrip("/"), path


def rootfs(runtime: Path) -> bytes:
    """The image's files as a tar archive."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
        for folder in ("dev", "etc", "opt", "proc", "root", "sys", "tmp", "usr/bin", "var/rapid", "var/task"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            tar.addfile(entry)
        for name, path in contents(runtime):
            tar.add(path, name, recursive=False)
        for name, text, mode in (
            ("var/runtime/bootstrap", BOOTSTRAP.format(python=f"python{python_version()}"), 0o755),
            ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n", 0o644),
            ("etc/group", "root:x:0:\n", 0o644),
        ):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), mode
            tar.addfile(entry, io.BytesIO(text.encode()))
    return archive.getvalue()


def made_from() -> str:
    """What a stand-in depends on: it is made anew when this changes."""
    interpreter = subprocess.run(
        [AWS_PYTHON, "-c", "import sys; print(sys.version, sys.base_prefix)"], check=True, capture_output=True
    ).stdout
    recipe = Path(__file__).read_bytes()
    return hashlib.sha256(interpreter + LOCK.read_bytes() + recipe).hexdigest()


def label_of(image: str) -> str | None:
    """The label's value, "" without one; None if there is no such image."""
    try:
        return docker("image", "inspect", "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}', image)
    except subprocess.CalledProcessError:
        return None


def pulled(image: str) -> bool:
    """Whether a registry gave the image. STAND_IN=1 in the environment asks none."""
    if os.environ.get("STAND_IN") == "1":
        return False
    say(f"fetching {image} ...")
    try:
        return subprocess.run(["docker", "pull", "--quiet", image], check=False, timeout=PULL_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def make(image: str) -> None:
    say(f"making a stand-in for {image} ...")
    with tempfile.TemporaryDirectory() as folder:
        runtime_client(Path(folder))
        command = ["docker", "import"]
        for change in (
            f"LABEL {LABEL}={made_from()}",
            "ENV PATH=/var/lang/bin:/usr/bin:/bin",
            "ENV LANG=C.UTF-8",
            "ENV LAMBDA_TASK_ROOT=/var/task",
            "ENV LAMBDA_RUNTIME_DIR=/var/runtime",
            "WORKDIR /var/task",
        ):
            command += ["--change", change]
        subprocess.run([*command, "-", image], check=True, input=rootfs(Path(folder)), stdout=subprocess.DEVNULL)


def ensure() -> str:
    """The image's name, once it is on this machine: a real one where there is one or a registry gives it."""
    image = tag()
    label = label_of(image)
    if label in ("", "<no value>", made_from()) or (label is None and pulled(image)):
        return image
    make(image)
    return image
