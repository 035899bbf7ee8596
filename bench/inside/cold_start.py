"""A fresh process to its first answer: `cold_start.py EVENT_FILE handler|asgi`. The last line of output tells when it was, and the answer.

Imports as little as it can before the side's own code.
"""

import json
import sys
import time
from typing import Any


class Context:
    aws_request_id = "00000000-0000-4000-8000-000000000001"
    function_name = "bench"

    def get_remaining_time_in_millis(self) -> int:
        return 20_000


def peak_kib() -> int:
    """Of this program alone: what `getrusage` tells begins with the peak of whoever started it."""
    with open("/proc/self/status", encoding="utf-8") as file:  # noqa: PTH123 - see main
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - pathlib is not imported for this
        event = json.load(file)
    import app  # type: ignore[import-not-found]  # noqa: PLC0415 - the side's own, first on the path; when it begins is what is measured

    side: Any = app
    imported_ns = time.monotonic_ns()
    if sys.argv[2] == "asgi":
        headers = [(name.encode(), value.encode()) for name, value in event["headers"].items()]
        status, body = side.asgi.run(side.asgi.request(headers, event["body"].encode()))
        text = body.decode()
    else:
        answer = side.handler(event, Context())
        status, text = answer["statusCode"], answer["body"]
    told = {
        "imported_ns": imported_ns,
        "answered_ns": time.monotonic_ns(),
        "core_s": time.process_time(),
        "peak_kib": peak_kib(),
        "status": status,
        "body": text,
    }
    print(json.dumps(told), flush=True)


main()
