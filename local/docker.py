"""The Docker engine of this machine: found, or started where that is possible, and ended if it was started here."""

import ipaddress
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from local.environment import WORK, say

STARTING_S = 30


class NoEngineError(Exception):
    """There is no Docker engine, and none could be started; the message says why."""


def docker(*arguments: str) -> str:
    """What a docker command prints. CalledProcessError if it fails."""
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def answers() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], check=False, capture_output=True).returncode == 0


@contextmanager
def engine() -> Iterator[None]:
    """A Docker engine that answers."""
    if answers():
        yield
        return
    daemon = shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin{os.pathsep}/sbin")
    if daemon is None or shutil.which("docker") is None:
        raise NoEngineError("no Docker engine is reached, and none is installed that could be started")
    if os.geteuid() != 0:
        raise NoEngineError("no Docker engine is reached, and only root could start one")
    say("starting a Docker engine ...")
    WORK.mkdir(exist_ok=True)
    log = WORK / "dockerd.log"
    with log.open("wb") as file:
        process = subprocess.Popen([daemon], stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        deadline = time.monotonic() + STARTING_S
        while not answers():
            if process.poll() is not None or time.monotonic() > deadline:
                last = log.read_text(errors="replace").strip().splitlines()[-3:]
                raise NoEngineError("the Docker engine does not start here:\n" + "\n".join(last))
            time.sleep(0.2)
        yield
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)  # dockerd ends its containers and containerd with it
        process.wait()


def host_addresses() -> tuple[str, str]:
    """(an address to listen at, the name containers reach it by), both of this machine and of no network beyond it."""
    if sys.platform != "linux":
        # Docker runs in a virtual machine that forwards this name to the host's loopback.
        return "127.0.0.1", "host.docker.internal"
    config = json.loads(docker("network", "inspect", "bridge"))[0]["IPAM"]["Config"][0]
    gateway = config.get("Gateway") or str(next(ipaddress.ip_network(config["Subnet"]).hosts()))
    return gateway, gateway


def containers_of(image_prefix: str) -> list[str]:
    """Ids of the running containers whose image's name starts so."""
    lines = docker("ps", "--format", "{{.ID}} {{.Image}}").splitlines()
    return [line.split()[0] for line in lines if line.split()[1].startswith(image_prefix)]
