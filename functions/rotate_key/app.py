"""What Secrets Manager calls, step by step, to rotate the key ring: see docs/rotation.md."""

import os
import time
from typing import Any

from mrtr.rotator import handle
from mrtr.settings import read_timing
from mrtr.sources import secret_arns


def handler(event: Any, context: Any) -> None:  # noqa: ARG001  Lambda's signature
    """One step of a rotation. A step that fails raises: Secrets Manager then starts over."""
    handle(event, secret_arns(os.environ.get("MRTR_KEYRING", "")), read_timing(), time.time)
