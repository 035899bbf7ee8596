"""All that modules hold, taken down as text, path by path."""

from __future__ import annotations

import contextvars
import itertools
import re
import threading
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(...), type(NotImplemented), re.Pattern, range)
_OPAQUE = (
    ModuleType,
    threading.local,
    BuiltinFunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    WrapperDescriptorType,
)


class Snapshot(dict[str, str]):
    """Texts by path. It holds on to all it saw: an id is not given twice while it lives."""

    def __init__(self, texts: Iterator[tuple[str, str]], held: object) -> None:
        super().__init__(texts)
        self._held = held


def snapshot(modules: Mapping[str, ModuleType]) -> Snapshot:
    """What every path inside `modules` leads to. Objects that two paths lead to are taken down once.

    Modules outside are not entered, nor are objects of classes that they define: those stand for themselves (so does the state of AWS
    clients, which is botocore's).
    """
    walk = _Walk(modules)
    return Snapshot(walk.walk(), walk)


def changed(before: Mapping[str, str], after: Mapping[str, str], but: Collection[str] = ()) -> list[str]:
    """The paths whose ends differ, but for those that match a pattern of `but`."""
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return [path for path in paths if not any(re.fullmatch(pattern, path) for pattern in but)]


class _Walk:
    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._modules = modules
        self._seen: dict[int, Any] = {}

    def walk(self) -> Iterator[tuple[str, str]]:
        waiting: deque[tuple[str, Any]] = deque()
        for name, module in sorted(self._modules.items()):
            self._seen[id(module)] = module
            # what the import system writes there is not the module's
            waiting.extend((f"{name}.{key}", value) for key, value in vars(module).items() if not key.startswith("__"))
        while waiting:
            path, value = waiting.popleft()
            yield path, self._end(value)
            if not isinstance(value, _PLAIN) and id(value) not in self._seen:
                self._seen[id(value)] = value
                waiting.extend((f"{path}{step}", part) for step, part in self._parts(value))

    @staticmethod
    def _end(value: Any) -> str:
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, contextvars.ContextVar):
            return f"{value.name} {value.get(None)!r}"
        if isinstance(value, itertools.count):
            return repr(value)
        if hasattr(value, "cache_info"):
            return f"{id(value)} {value.cache_info()[-1]}"  # how many are kept; hits are not memory of anyone
        size = len(value) if isinstance(value, dict | list | tuple | set | frozenset | deque) else ""
        return f"{type(value).__qualname__} {id(value)} {size}"

    def _parts(self, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, _OPAQUE):
            return
        if isinstance(value, dict):
            yield from (
                (f"[{key!r}]" if isinstance(key, _PLAIN) else f"[{id(key)}]", part) for key, part in list(value.items())
            )
        elif isinstance(value, list | tuple | deque):
            yield from ((f"[{index}]", part) for index, part in enumerate(value))
        elif isinstance(value, set | frozenset):
            yield from ((f"[{part!r}]" if isinstance(part, _PLAIN) else f"[{id(part)}]", part) for part in value)
        if isinstance(value, CellType):
            if value != CellType():
                yield ".contents", value.cell_contents
            return
        if isinstance(value, MethodType):
            yield ".self", value.__self__
            return
        if isinstance(value, FunctionType):
            if self._ours(value.__module__):
                yield ".defaults", value.__defaults__
                yield ".kwdefaults", value.__kwdefaults__
                yield ".closure", value.__closure__
                yield from ((f".{key}", part) for key, part in vars(value).items() if key != "__wrapped__")
            return
        kind = value if isinstance(value, type) else type(value)
        if self._ours(kind.__module__):
            yield from self._attributes(value)

    def _ours(self, module: str | None) -> bool:
        return module in self._modules

    @staticmethod
    def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
        own = getattr(value, "__dict__", {})
        yield from ((f".{key}", part) for key, part in list(own.items()) if key not in {"__dict__", "__weakref__"})
        for kind in type(value).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                name = (
                    f"_{kind.__name__.lstrip('_')}{slot}" if slot.startswith("__") and not slot.endswith("__") else slot
                )
                if name not in {"__dict__", "__weakref__"} and hasattr(value, name):
                    yield f".{name}", getattr(value, name)
