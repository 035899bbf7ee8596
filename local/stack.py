"""The whole stack on this machine: built, deployed into an emulated AWS, seeded, reachable at one address.

    from local import stack

    with stack.running() as askback:
        httpx.post(askback.endpoint, ...)

Needs `make setup` to have run. Everything it starts is gone when the block is left.
"""

import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local import aws, build, deploy, seed

STACK = "askback"

# The variable under which a function finds its table, and the table's logical id in the template.
TABLES = {
    "MRTR_CLAIM_TABLE": "ClaimTable",
    "NOTES_TABLE": "NotesTable",
    "DATABASES_TABLE": "DatabasesTable",
    "BOOKINGS_TABLE": "BookingsTable",
}


# The emulated Secrets Manager has no schedule of rotations, and calls no function: local/rotation.py does.
NO_SCHEDULE = {"RotationDays": "0"}


@dataclass(frozen=True)
class Invocation:
    """Which process of which function began to serve what, and whether it was started for that."""

    function: str
    pid: int
    request_id: str
    cold: bool
    at: float


@dataclass(frozen=True)
class Stack:
    """A running stack. `tables` has the keys of TABLES; `functions` is by logical id, such as DeleteNoteFunction; `key_ring` is the secret,
    empty where the keys come from KMS.
    """

    endpoint: str
    aws_endpoint_url: str
    functions: Mapping[str, str]
    tables: Mapping[str, str]
    key_ring: str
    folder: Path

    @property
    def function_names(self) -> list[str]:
        return sorted(self.functions.values())

    def client(self, service: str) -> Any:
        """A boto3 client of the stack's AWS, with the rights of the account's owner."""
        return deploy.client(service, self.aws_endpoint_url)

    def invocations(self, function: str | None = None) -> list[Invocation]:
        """All so far, oldest first; of one function only if named."""
        try:
            lines = (self.folder / "invocations.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        all_of_them = [Invocation(**json.loads(line)) for line in lines]
        return [one for one in all_of_them if function in (None, one.function)]

    def logs(self, function: str | None = None) -> list[dict[str, Any]]:
        """The JSON lines that functions logged, oldest first for each function. Other lines are left out."""
        found = []
        for name in [function] if function else self.function_names:
            path = self.folder / "logs" / f"{name}.log"
            for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    found.append(entry)
        return found

    def workers(self, function: str | None = None) -> set[int]:
        """The ids of the functions' living processes."""
        return {one.pid for one in self.invocations(function) if is_running(one.pid)}

    def kill(self, pid: int) -> None:
        """End one process of a function at once, whatever it is doing. The next invocation gets a new one."""
        if pid not in {one.pid for one in self.invocations()}:
            raise ValueError(f"{pid} is no process of this stack's functions")
        os.kill(pid, signal.SIGKILL)
        while is_running(pid):
            time.sleep(0.005)

    def fresh(self, function: str | None = None) -> None:
        """Make the next invocation (of one function, or of any) start in a new process."""
        for pid in self.workers(function):
            self.kill(pid)

    def seed(self) -> None:
        """Put notes and bookings back as they were at the start. Claims and what tools added stay."""
        seed.seed(self.tables, self.aws_endpoint_url)

    def reset(self) -> None:
        """Empty the tools' tables, then seed them. Claims stay."""
        dynamodb = self.client("dynamodb")
        for variable, table in self.tables.items():
            if variable == "MRTR_CLAIM_TABLE":
                continue
            keys = [key["AttributeName"] for key in dynamodb.describe_table(TableName=table)["Table"]["KeySchema"]]
            for item in dynamodb.scan(TableName=table)["Items"]:
                dynamodb.delete_item(TableName=table, Key={name: item[name] for name in keys})
        self.seed()


def is_running(pid: int) -> bool:
    """Whether the process is there and not merely waiting to be reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        # the state is the field after the name, which is in parentheses and may hold anything
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc/self").exists()  # systems without /proc: a signal could be sent, so it is there


@contextmanager
def running(
    port: int = 0, aws_host: str = aws.LOOPBACK, parameters: Mapping[str, str] | None = None
) -> Iterator[Stack]:
    """Build what has changed, deploy, seed. `port` is where the endpoint listens on loopback; 0 takes any free one.
    `aws_host` is for containers that must reach the stack's AWS (see local/docker.py). `parameters` are the template's.

    OSError if the port is taken; BuildError, DeployError or AwsError if a step failed.
    """
    aws.listening(port).close()  # a port that is taken is told before the slow steps
    template = build.build()
    with aws.running(port, aws_host) as emulated:
        made = deploy.deploy(emulated, template, STACK, {**NO_SCHEDULE, **(parameters or {})})
        one = Stack(
            endpoint=f"{emulated.api_url}/mcp",
            aws_endpoint_url=emulated.endpoint_url,
            functions=made.of_type("AWS::Lambda::Function"),
            tables={variable: made.resources[logical_id] for variable, logical_id in TABLES.items()},
            key_ring=made.resources.get("KeyRingSecret", ""),
            folder=emulated.folder,
        )
        one.seed()
        yield one
