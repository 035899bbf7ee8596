"""What a command line shows: titles, JSON messages, and whether things are as they must be."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

WIDTH = 110
SHORT_STATE = 28


class Screen:
    """Writes to standard output; with colours only on a terminal that wants them (NO_COLOR is honoured)."""

    def __init__(self) -> None:
        self._colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._titles = 0

    def title(self, text: str) -> None:
        self._titles += 1
        self._print(f"\n{self._paint('1', f'{self._titles}. {text}')}")

    def say(self, text: str) -> None:
        self._print(f"   {text}")

    def good(self, text: str) -> None:
        self._print(f"   {self._paint('32', 'ok')} {text}")

    def bad(self, text: str) -> None:
        self._print(f"   {self._paint('31', 'NOT OK')} {text}")

    def message(self, arrow: str, message: Mapping[str, Any]) -> None:
        """A JSON-RPC message; `_meta` is left out and a sealed state shortened."""
        for number, line in enumerate(_pretty(_shown(message)).splitlines()):
            self._print(f"   {self._paint('36', arrow if number == 0 else ' ' * len(arrow))} {line}")

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours else text

    @staticmethod
    def _print(text: str) -> None:
        print(text, flush=True)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _short(v) if k == "requestState" else _shown(v) for k, v in value.items() if k != "_meta"}
    return [_shown(one) for one in value] if isinstance(value, list) else value


def _short(state: object) -> object:
    if not isinstance(state, str) or len(state) <= SHORT_STATE:
        return state
    return f"{state[:SHORT_STATE]}… ({len(state)} characters)"


def _pretty(value: Any, indent: int = 0) -> str:
    """JSON with whatever fits on one line put on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or indent + len(line) <= WIDTH:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(k, ensure_ascii=False)}: {_pretty(v, indent + 2)}" for k, v in value.items()]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(inner + _pretty(one, indent + 2) for one in value) + "\n" + " " * indent + "]"
