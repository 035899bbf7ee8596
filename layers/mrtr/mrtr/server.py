"""A server: the tools of one Lambda function, and the handler that answers for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import flow
from .endpoint import Endpoint
from .errors import Fault, InvalidSignature, ProtocolError
from .protocol import Request
from .runtime import Runtime
from .settings import read_settings
from .tool import Tool, ToolAnnotations

F = TypeVar("F", bound=Callable[..., Any])


class Server(Endpoint):
    """The tools of one function. `handler = server.lambda_handler` makes it a complete MCP server behind API Gateway.

    runtime: given by tests; otherwise made from the environment on the first call.
    """

    def __init__(
        self, name: str, *, version: str = "1.0.0", instructions: str | None = None, runtime: Runtime | None = None
    ) -> None:
        super().__init__(name, version=version, instructions=instructions)
        self._tools: dict[str, Tool] = {}
        self._definitions: list[dict[str, Any]] | None = None
        self._runtime = runtime

    def tool(
        self,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        rerun_after_crash: bool = False,
    ) -> Callable[[F], F]:
        """Register a function as a tool; its docstring is what the model reads, its signature the input schema.

        Parameters annotated with `Resolve(…)` or `Context` are not part of the schema. A tool that asked runs once per confirmation, even
        when requests are repeated or a process dies; `rerun_after_crash=True` lets a run that died before its result was recorded be
        started again, for actions that may safely be repeated. Raises InvalidSignature when the function can't be served.
        """

        def register(fn: F) -> F:
            tool = Tool(
                fn,
                name=name,
                title=title,
                description=description,
                annotations=annotations,
                rerun_after_crash=rerun_after_crash,
            )
            if tool.name in self._tools:
                raise InvalidSignature(f"two tools are named {tool.name!r}; give one of them another name")
            self._tools[tool.name] = tool
            self._definitions = None
            return fn

        if callable(name):
            raise InvalidSignature("write @server.tool() with parentheses")
        return register

    def tool_definitions(self) -> list[dict[str, Any]]:
        if self._definitions is None:
            self._definitions = [self._tools[name].definition() for name in sorted(self._tools)]
        return self._definitions

    def call(self, request: Request, context: Any) -> str:
        tool = self._tools.get(request.name)
        if tool is None:
            raise ProtocolError(Fault.INVALID_PARAMS, "Unknown tool")
        if self._runtime is None:
            self._runtime = Runtime(read_settings())
        return flow.answer(self._runtime, self.server_info, tool, request, context)
