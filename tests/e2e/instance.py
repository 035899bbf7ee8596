"""An instance of a function as a process of its own, sharing nothing with others but the AWS that its environment names.

    instance.py FUNCTION_FOLDER REMAINING_MS [DIES]

Says "ready" on its standard output, then answers the one event on its standard input; logs go to standard error. DIES ends the process without a word at "get_item" or
"delete_item", whichever the tool calls on its table first.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Dying:
    """A table at whose `action` the process dies."""

    def __init__(self, table: Any, action: str) -> None:
        self._table = table
        self._action = action

    def __getattr__(self, name: str) -> Any:
        if name == self._action:
            os._exit(9)
        return getattr(self._table, name)


class Context:
    aws_request_id = "instance"
    function_name = "instance"

    def __init__(self, remaining_ms: int) -> None:
        self._remaining_ms = remaining_ms

    def get_remaining_time_in_millis(self) -> int:
        return self._remaining_ms


def load(folder: str) -> Any:
    spec = importlib.util.spec_from_file_location("app", ROOT / "functions" / folder / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["app"] = module
    spec.loader.exec_module(module)
    return module


def main(folder: str, remaining_ms: str, dies: str = "") -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # a function's log goes where its standard output goes: keep it apart from the answer
    app = load(folder)
    if dies:
        table = Dying(app.notes(), dies)
        app.notes = lambda: table
    answers.write("ready\n")
    event = json.loads(sys.stdin.readline())
    answers.write(json.dumps(app.handler(event, Context(int(remaining_ms)))) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
