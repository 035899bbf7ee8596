"""A server: the tools, prompts and resources of one Lambda function, and the handler that answers for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import flow
from .endpoint import Endpoint, known
from .errors import InvalidSignature, not_found
from .feature import Feature
from .notifications import Outbox
from .protocol import Request
from .result import render
from .running import run
from .runtime import Runtime
from .settings import read_settings
from .signature import is_async
from .tool import Tool, ToolAnnotations

if (
    TYPE_CHECKING
):  # loaded when a server has them: most functions have tools alone, and a cold start pays for each module
    from .content import Annotations, Icon
    from .prompt import Prompt
    from .resource import Resource

F = TypeVar("F", bound=Callable[..., Any])


class Server(Endpoint):
    """The tools, prompts and resources of one function. `handler = server.lambda_handler` makes it a complete MCP server.

    runtime: given by tests; otherwise made from the environment on the first call.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "1.0.0",
        title: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Icon] | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        super().__init__(
            name, version=version, title=title, instructions=instructions, website_url=website_url, icons=icons
        )
        self._tools: dict[str, Tool] = {}
        self._prompts: dict[str, Prompt] = {}
        self._resources: dict[str, Resource] = {}
        self._completion: Callable[..., Any] | None = None
        self._definitions: dict[str, list[dict[str, Any]]] = {}
        self._runtime = runtime

    def tool(
        self,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[Icon] | None = None,
        annotations: ToolAnnotations | None = None,
        meta: Mapping[str, Any] | None = None,
        input_schema: Mapping[str, Any] | None = None,
        rerun_after_crash: bool = False,
    ) -> Callable[[F], F]:
        """Register a function as a tool; its docstring is what the model reads, its signature the input schema.

        Parameters annotated with `Resolve(…)` or `Context` are not part of the schema. A tool that asked runs once per confirmation, even
        when requests are repeated or a process dies; `rerun_after_crash=True` lets a run that died before its result was recorded be
        started again, for actions that may safely be repeated. input_schema: published instead of the schema made from the signature, by
        which arguments are still read. Raises InvalidSignature when the function can't be served.
        """
        _called(name, "tool")

        def register(fn: F) -> F:
            tool = Tool(
                fn,
                name=name,
                title=title,
                description=description,
                icons=icons,
                annotations=annotations,
                meta=meta,
                input_schema=input_schema,
                rerun_after_crash=rerun_after_crash,
            )
            self._add(self._tools, tool.name, tool, "tools")
            return fn

        return register

    def prompt(
        self,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[Icon] | None = None,
        read_only: bool = False,
        rerun_after_crash: bool = False,
    ) -> Callable[[F], F]:
        """Register a function as a prompt. It returns text, content, PromptMessage, or a list of them, and may ask as a tool may.

        read_only: the function changes nothing, so a flow that asked needs no single use. Raises InvalidSignature.
        """
        from .prompt import Prompt

        _called(name, "prompt")

        def register(fn: F) -> F:
            prompt = Prompt(
                fn,
                name=name,
                title=title,
                description=description,
                icons=icons,
                read_only=read_only,
                rerun_after_crash=rerun_after_crash,
            )
            self._add(self._prompts, prompt.name, prompt, "prompts")
            return fn

        return register

    def resource(
        self,
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
    ) -> Callable[[F], F]:
        """Register a function as the resource at `uri`, or as a template such as `note://{note_id}` whose variables are its arguments.

        It returns text, bytes, contents, or anything that JSON holds, and may ask as a tool may. ttl_ms, cache_scope: how long, and for
        whom, a client may keep what it read without having been asked. read_only: as for prompts. Raises InvalidSignature.
        """
        from .resource import Resource

        def register(fn: F) -> F:
            resource = Resource(
                fn,
                uri,
                name=name,
                title=title,
                description=description,
                mime_type=mime_type,
                size=size,
                icons=icons,
                annotations=annotations,
                ttl_ms=ttl_ms,
                cache_scope=cache_scope,
                read_only=read_only,
                rerun_after_crash=rerun_after_crash,
            )
            self._add(self._resources, uri, resource, "resources")
            return fn

        return register

    def completion(self) -> Callable[[F], F]:
        """Register the function that suggests values: `fn(ref, argument, context)` gives a list of texts, a Completion, or None."""

        def register(fn: F) -> F:
            if self._completion is not None:
                raise InvalidSignature("a server has one completion function; let it look at `ref`")
            self._completion = fn
            self._methods = None
            return fn

        return register

    def capabilities(self) -> dict[str, Any]:
        offered = {
            "tools": self._tools,
            "prompts": self._prompts,
            "resources": self._resources,
            "completions": self._completion,
            "logging": True,
        }
        return {capability: {} for capability, given in offered.items() if given}

    def definitions(self, method: str) -> list[dict[str, Any]]:
        if method not in self._definitions:
            self._definitions[method] = [feature.definition() for feature in self._listed(method)]
        return self._definitions[method]

    def _listed(self, method: str) -> list[Tool] | list[Prompt] | list[Resource]:
        if method == "tools/list":
            return [self._tools[name] for name in sorted(self._tools)]
        if method == "prompts/list":
            return [self._prompts[name] for name in sorted(self._prompts)]
        templates = method == "resources/templates/list"
        return [resource for resource in self._resources.values() if resource.is_template == templates]

    def call(self, request: Request, outbox: Outbox, context: Any) -> str:
        if request.method == "completion/complete":
            return self._complete(request)
        feature = self._feature(request)
        if self._runtime is None:
            self._runtime = Runtime(read_settings())
        return flow.answer(self._runtime, self.server_info, feature, request, outbox, context)

    def _feature(self, request: Request) -> Feature:
        if request.method == "tools/call":
            return known(self._tools, request.name, "tool")
        if request.method == "prompts/get":
            return known(self._prompts, request.name, "prompt")
        from .resource import owner

        resource = owner(self._resources, request.name)
        if resource is None:
            raise not_found(request.name)
        return resource

    def _complete(self, request: Request) -> str:
        from . import completion

        ref = completion.read_reference(request)
        argument, filled = completion.read_argument(request)
        if isinstance(ref, completion.PromptReference):
            known(self._prompts, ref.name, "prompt")
        elif ref.uri not in self._resources:
            raise not_found(ref.uri)

        async def suggested() -> Any:
            fn: Any = self._completion
            value = fn(ref, argument, filled)
            return await value if is_async(fn) else value

        values = completion.as_completion(run(suggested(), is_async=is_async(self._completion)))
        return render({"completion": values.wire()}, self.server_info)

    def _add(self, features: dict[str, Any], name: str, feature: Any, kind: str) -> None:
        if name in features:
            raise InvalidSignature(f"two {kind} are named {name!r}; give one of them another name")
        features[name] = feature
        self._definitions.clear()
        self._methods = None


def _called(name: object, decorator: str) -> None:
    if callable(name):
        raise InvalidSignature(f"write @server.{decorator}() with parentheses")
