"""Who answers the questions: a person at a terminal, or a script where there is none."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from mcp_types import ElicitResult

from local.screen import Screen

Content = dict[str, str | int | float | bool | list[str] | None]


def at_a_terminal() -> bool:
    """Whether somebody can be asked: both ends are a terminal and no CI runs this."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def scripted(form: Mapping[str, Any], script: Mapping[str, Any]) -> ElicitResult:
    """The script's values for this form's fields; declined when the script says nothing about them."""
    content: Content = {field: script[field] for field in form["properties"] if field in script}
    return ElicitResult(action="accept", content=content) if content else ElicitResult(action="decline")


def ask_in_person(screen: Screen, message: str, form: Mapping[str, Any]) -> ElicitResult:
    """Show the form and read it, field by field."""
    screen.say(message)
    try:
        how = _one_of("[a]nswer, [d]ecline or [c]lose?", {"a": "accept", "d": "decline", "c": "cancel"})
        if how != "accept":
            return ElicitResult(action="decline" if how == "decline" else "cancel")
        required = form.get("required", [])
        content: Content = {}
        for name, field in form["properties"].items():
            value = _field(name, field, needed=name in required)
            if value is not None:
                content[name] = value
    except EOFError:  # Ctrl-D closes the question
        print(flush=True)
        return ElicitResult(action="cancel")
    return ElicitResult(action="accept", content=content)


def _field(name: str, field: Mapping[str, Any], *, needed: bool) -> str | int | float | bool | list[str] | None:
    label = field.get("description") or field.get("title") or name
    if field["type"] == "boolean":
        return _one_of(f"{label} [y/n]", {"y": "yes", "n": ""}) == "yes"
    choices = {one["const"]: one["title"] for one in field.get("oneOf", [])} or {v: v for v in field.get("enum", [])}
    if choices:
        numbered = {str(number): value for number, value in enumerate(choices, 1)}
        listed = ", ".join(f"{number} {choices[value]}" for number, value in numbered.items())
        return _one_of(f"{label} ({listed})", numbered)
    while True:
        text = _read(f"{label}:")
        if not text and not needed:
            return None
        if field["type"] not in ("integer", "number"):
            return text
        try:
            return int(text) if field["type"] == "integer" else float(text)
        except ValueError:
            print("   A number, please.", flush=True)


def _one_of(prompt: str, choices: Mapping[str, str]) -> str:
    while True:
        text = _read(prompt).lower()
        if text in choices:
            return choices[text]


def _read(prompt: str) -> str:
    return input(f"   {prompt} ").strip()
