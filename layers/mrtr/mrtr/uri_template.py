"""URI templates of resources: the part of RFC 6570 that can be read backwards without guessing.

`{name}` stands for one path segment (or query value), `{+name}` for anything, slashes included.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from .errors import InvalidSignature

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_VARIABLE = re.compile(r"(\+?)([A-Za-z_][A-Za-z0-9_]*)")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
"""RFC 3986: its characters, each percent sign followed by two hexadecimal digits."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


class UriTemplate:
    """A compiled template; `variables` are its names in order. Raises InvalidSignature for what can't be read backwards."""

    def __init__(self, text: str) -> None:
        if not _SCHEME.match(text):
            raise InvalidSignature(f"{text!r} is no URI: it needs a scheme, as in note://{{note_id}}")
        self.text = text
        self.variables: list[str] = []
        pattern = ""
        end = 0
        for expression in _EXPRESSION.finditer(text):
            variable = _VARIABLE.fullmatch(expression[1])
            if variable is None or variable[2] in self.variables:
                raise InvalidSignature(
                    f"{text!r}: {expression[0]} can't be used; write {{name}} or {{+name}}, each name once"
                )
            pattern += re.escape(text[end : expression.start()])
            pattern += "(.+)" if variable[1] else "([^/?#&]+)"
            self.variables.append(variable[2])
            end = expression.end()
        self._pattern = re.compile(pattern + re.escape(text[end:]), re.DOTALL)

    def __repr__(self) -> str:
        return f"UriTemplate({self.text!r})"

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables in `uri`, percent-decoded; None when it isn't of this template, is no URI, or isn't UTF-8 underneath."""
        found = self._pattern.fullmatch(uri)
        if found is None or not _URI.fullmatch(uri):
            return None
        try:
            return {
                name: unquote(value, errors="strict")
                for name, value in zip(self.variables, found.groups(), strict=True)
            }
        except UnicodeDecodeError:
            return None
