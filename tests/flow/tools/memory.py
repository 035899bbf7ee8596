"""What a process keeps between invocations: the module-level state of the runtime and of a tool, as comparable values."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

PLAIN = (str, bytes, int, float, bool, type(None))


def snapshot(*tools: ModuleType) -> dict[str, str]:
    """Every module-level variable of `mrtr` and of `tools`, followed into what is theirs, by its path."""
    ours = [module for name, module in sys.modules.items() if name.split(".")[0] == "mrtr" and "testing" not in name]
    walk = _Walk({module.__name__ for module in (*ours, *tools)})
    found: dict[str, str] = {}
    for module in (*ours, *tools):
        for name, value in vars(module).items():
            if not name.startswith("__"):
                found.update(walk.of(value, f"{module.__name__}.{name}"))
    return found


class _Walk:
    """Follows containers, and objects, classes and functions of the named modules; anything else counts by its identity."""

    def __init__(self, modules: set[str]) -> None:
        self._modules = modules
        self._seen: set[int] = set()
        self._kept: list[Any] = []  # so that no identity is given to another object while this walks

    def of(self, value: Any, path: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, PLAIN):
            yield path, repr(value)
            return
        if hasattr(value, "cache_info"):
            yield path, f"cache of {value.cache_info().currsize}"
            return
        yield path, f"{type(value).__qualname__} at {id(value)}"
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        self._kept.append(value)
        for name, inner in self._inside(value):
            yield from self.of(inner, f"{path}.{name}")

    def _inside(self, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, Mapping) and not isinstance(value, type):
            yield "length", len(value)
            yield from ((f"[{key!r}]", inner) for key, inner in list(value.items()))
        elif isinstance(value, list | tuple | set | frozenset):
            yield from ((f"[{position}]", inner) for position, inner in enumerate(value))
        elif inspect.isfunction(value) and value.__module__ in self._modules:
            yield "defaults", value.__defaults__
            yield "keyword defaults", value.__kwdefaults__
            for cell in value.__closure__ or ():
                yield "closure", cell.cell_contents
        elif isinstance(value, type):
            if value.__module__ in self._modules:
                yield from ((n, v) for n, v in vars(value).items() if not n.startswith(("__", "_abc_")))
        elif type(value).__module__ in self._modules:
            yield from getattr(value, "__dict__", {}).items()
            for kind in type(value).__mro__:
                slots = getattr(kind, "__slots__", ())
                yield from (
                    (s, getattr(value, s)) for s in ([slots] if isinstance(slots, str) else slots) if hasattr(value, s)
                )
