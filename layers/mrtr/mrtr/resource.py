"""A resource, or a template of resources: an author's function that reads it, with what the protocol says of it (server/resources)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import TypeAdapter

from . import strict_json
from .arguments import Arguments
from .content import Annotations, BlobResourceContents, Icon, TextResourceContents
from .errors import Fault, InvalidSignature, ProtocolError
from .feature import described, is_retry, name_of
from .protocol import Request
from .signature import analyse
from .uri_template import UriTemplate


class Resource:
    """One resource or template. ttl_ms, cache_scope: how long, and for whom, a client may keep what it read without having been asked.

    Raises InvalidSignature when its function can't be served: its arguments are exactly the template's variables.
    """

    method = "resources/read"

    def __init__(
        self,
        fn: Callable[..., Any],
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        icons: Sequence[Icon] | None = None,
        annotations: Annotations | None = None,
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
        read_only: bool = False,
        rerun_after_crash: bool = False,
    ) -> None:
        self.template = UriTemplate(uri)
        self.name = name_of(fn, name)
        self.single_use = not read_only
        self.rerun_after_crash = rerun_after_crash
        self.plan = analyse(fn)
        if set(self.plan.arguments) != set(self.template.variables):
            raise InvalidSignature(
                f"resource {self.name}: the function's arguments ({', '.join(self.plan.arguments) or 'none'}) must be the"
                f" template's variables ({', '.join(self.template.variables) or 'none'})"
            )
        if ttl_ms < 0:
            raise InvalidSignature(f"resource {self.name}: ttl_ms is 0 or more")
        self.arguments = Arguments(self.name, self.plan.arguments)
        self._mime_type = mime_type
        self._hints = {"ttlMs": ttl_ms, "cacheScope": cache_scope}
        self._words = described(fn, title, description, icons)
        self._details = {
            "mimeType": mime_type,
            "size": size,
            "annotations": annotations.wire() if annotations else None,
        }

    def __repr__(self) -> str:
        return f"Resource({self.template.text!r})"

    @property
    def is_template(self) -> bool:
        return bool(self.template.variables)

    def definition(self) -> dict[str, Any]:
        """The resource as `resources/list`, or the template as `resources/templates/list` shows it."""
        where = {"uriTemplate" if self.is_template else "uri": self.template.text}
        details = {name: value for name, value in self._details.items() if value is not None}
        return {**where, "name": self.name, **self._words, **details}

    def read(self, request: Request, canonical_arguments: str) -> dict[str, Any]:  # noqa: ARG002 - Feature's signature
        return self.arguments.read_texts(self.template.match(request.name) or {})

    def result(self, request: Request, value: Any) -> dict[str, Any]:
        items = value if isinstance(value, list | tuple) and _all_contents(value) else [value]
        contents = [self._contents(request.name, item) for item in items]
        hints = {"ttlMs": 0, "cacheScope": "private"} if is_retry(request) else self._hints
        return {"contents": contents, **hints}

    def notice(self, request: Request, text: str) -> dict[str, Any]:
        contents = [{"uri": request.name, "mimeType": "text/plain", "text": text}]
        return {"contents": contents, "ttlMs": 0, "cacheScope": "private"}

    def failure(self, text: str) -> dict[str, Any]:
        raise ProtocolError(Fault.INVALID_PARAMS, text)

    def crash(self, text: str) -> dict[str, Any]:
        raise ProtocolError(Fault.INTERNAL, text)

    def _contents(self, uri: str, value: Any) -> dict[str, Any]:
        if isinstance(value, TextResourceContents | BlobResourceContents):
            return value.wire()
        typed = {"uri": uri} if self._mime_type is None else {"uri": uri, "mimeType": self._mime_type}
        if isinstance(value, str):
            return {**typed, "text": value}
        if isinstance(value, bytes):
            return {**typed, "blob": base64.b64encode(value).decode()}
        plain = TypeAdapter(Any).dump_python(value, mode="json")
        return {"mimeType": "application/json", **typed, "text": strict_json.dump(plain)}


def owner(resources: Mapping[str, Resource], uri: str) -> Resource | None:
    """The resource at `uri`: an exact one before a template, templates in the order they were registered."""
    exact = resources.get(uri)
    if exact is not None and not exact.is_template:
        return exact
    return next((r for r in resources.values() if r.is_template and r.template.match(uri) is not None), None)


def _all_contents(items: Sequence[Any]) -> bool:
    return bool(items) and all(isinstance(item, TextResourceContents | BlobResourceContents) for item in items)
