"""What the public conformance suite looks for: each feature once, under the names that the suite calls."""

import struct
import zlib
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mrtr import (
    AcceptedElicitation,
    AudioContent,
    CompletionArgument,
    CompletionContext,
    Context,
    CreateMessageResult,
    Elicit,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ListRoots,
    ListRootsResult,
    McpHeader,
    PromptMessage,
    PromptReference,
    Resolve,
    ResourceTemplateReference,
    Sample,
    SamplingMessage,
    Server,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
    ToolError,
)

server = Server("everything", version="1.0.0", instructions="Made for the conformance suite.")

READS = ToolAnnotations(read_only_hint=True)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# One red pixel, and 80 samples of silence.
PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
)
WAV = b"RIFF" + struct.pack("<I4s4sIHHIIHH4sI", 116, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 80)
WAV += b"\x80" * 80


# ---- Tools that answer at once --------------------------------------------------------------------------------------


@server.tool(annotations=READS)
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@server.tool(annotations=READS)
def test_image_content() -> ImageContent:
    """Return an image."""
    return ImageContent(data=PNG, mime_type="image/png")


@server.tool(annotations=READS)
def test_audio_content() -> AudioContent:
    """Return a sound."""
    return AudioContent(data=WAV, mime_type="audio/wav")


@server.tool(annotations=READS)
def test_embedded_resource() -> EmbeddedResource:
    """Return a resource inside the result."""
    return EmbeddedResource(
        resource=TextResourceContents(uri="test://embedded-resource", mime_type="text/plain", text="An embedded text.")
    )


@server.tool(annotations=READS)
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Return a text, an image and a resource."""
    data = TextResourceContents(uri="test://mixed-content", mime_type="application/json", text='{"test":"data"}')
    return [
        TextContent(text="Multiple content types test:"),
        ImageContent(data=PNG, mime_type="image/png"),
        EmbeddedResource(resource=data),
    ]


@server.tool(annotations=READS)
def test_error_handling() -> str:
    """Fail, always."""
    raise ToolError("This tool intentionally returns an error for testing.")


@server.tool(annotations=READS)
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100")
    return "Done, step by step."


@server.tool(annotations=READS)
async def test_logging_tool(ctx: Context) -> str:
    """Send a log message to a client that asked for it."""
    await ctx.info("The logging tool runs.")
    return "Logged."


@server.tool(annotations=READS)
def test_x_mcp_header(region: Annotated[str, McpHeader("Region")] = "") -> str:  # noqa: PT028  a tool, not a test
    """Take an argument that is mirrored into a header."""
    return f"Region: {region or 'none'}."


class Address(BaseModel):
    street: str = ""
    city: str = ""


# By hand, because it says what no signature can: the keywords have to reach the client as they stand here.
HAND_WRITTEN: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool(annotations=READS, input_schema=HAND_WRITTEN)
def json_schema_2020_12_tool(
    name: str = "",
    address: Address | None = None,
    contactMethod: str = "",  # noqa: N803  the argument's name on the wire
    phone: str = "",
    email: str = "",
) -> str:
    """Publish a schema that uses what JSON Schema 2020-12 has beyond types."""
    return ", ".join(part for part in (name, address.city if address else "", contactMethod, phone, email) if part)


# ---- Tools that ask -------------------------------------------------------------------------------------------------


class Name(BaseModel):
    name: str = Field(description="Your name.")


class Color(BaseModel):
    color: str = Field(description="Your favourite colour.")


class Sure(BaseModel):
    ok: bool = Field(description="Whether to go on.")


def user_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


def confirm() -> Elicit[Sure]:
    return Elicit("Please confirm.", Sure)


def capital_question() -> Sample:
    return Sample([SamplingMessage(role="user", content="What is the capital of France?")], max_tokens=100)


def greeting() -> Sample:
    return Sample([SamplingMessage(role="user", content="Write a short greeting.")], max_tokens=50)


def client_roots() -> ListRoots:
    return ListRoots()


def accepted(ctx: Context, key: str, field: str) -> str | None:
    """What a client that sends answers without having been asked put into a form; None if it is no text."""
    answer = ctx.input_responses.get(key, {})
    content = answer.get("content") if answer.get("action") == "accept" else None
    value = content.get(field) if isinstance(content, dict) else None
    return value if isinstance(value, str) else None


@server.tool(annotations=READS)
def test_missing_capability(said: Annotated[CreateMessageResult, Resolve(capital_question)]) -> str:
    """Need the client's model."""
    return f"The model said: {said.text}"


@server.tool(annotations=READS)
def test_streaming_elicitation(answer: Annotated[Name, Resolve(user_name)]) -> str:
    """Ask with a form."""
    return f"Hello, {answer.name}."


@server.tool(annotations=READS)
def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Ask with a form, and take an answer that came unasked: built by hand, because the runtime's own questions never do."""
    name = accepted(ctx, "user_name", "name")
    return InputRequiredResult(input_requests={"user_name": user_name()}) if name is None else f"Hello, {name}!"


@server.tool(annotations=READS)
def test_input_required_result_sampling(said: Annotated[CreateMessageResult, Resolve(capital_question)]) -> str:
    """Ask the client's model."""
    return f"The model said: {said.text}"


@server.tool(annotations=READS)
def test_input_required_result_list_roots(found: Annotated[ListRootsResult, Resolve(client_roots)]) -> str:
    """Ask for the client's roots."""
    return f"{len(found.roots)} roots: {', '.join(root.uri for root in found.roots)}"


@server.tool(annotations=READS)
def test_input_required_result_request_state(sure: Annotated[Sure, Resolve(confirm)]) -> str:
    """Ask, and know from the state that it was asked."""
    return "state-ok" if sure.ok else "not confirmed"


@server.tool(annotations=READS)
def test_input_required_result_multiple_inputs(
    answer: Annotated[Name, Resolve(user_name)],
    said: Annotated[CreateMessageResult, Resolve(greeting)],
    found: Annotated[ListRootsResult, Resolve(client_roots)],
) -> str:
    """Ask three questions of three kinds in one round."""
    return f"{said.text} {answer.name} has {len(found.roots)} roots."


@server.tool()
def test_input_required_result_multi_round(ctx: Context) -> str:
    """Ask twice, one question after the other."""
    name = ctx.elicit("Step 1: what is your name?", Name, key="step1")
    color = ctx.elicit("Step 2: what is your favourite colour?", Color, key="step2")
    if isinstance(name, AcceptedElicitation) and isinstance(color, AcceptedElicitation):
        return f"{name.data.name} likes {color.data.color}."
    return "One of the questions was not answered."


@server.tool()
def test_input_required_result_tampered_state(sure: Annotated[Sure, Resolve(confirm)]) -> str:
    """Ask; a state that was touched is refused."""
    return "confirmed" if sure.ok else "not confirmed"


@server.tool(annotations=READS)
def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
    """Ask only what this client can answer."""
    if ctx.input_responses:
        return f"Answered: {', '.join(sorted(ctx.input_responses))}."
    questions = {"elicitation": user_name(), "sampling": capital_question(), "roots": client_roots()}
    asked = {capability: questions[capability] for capability in questions if capability in ctx.client_capabilities}
    return InputRequiredResult(input_requests=asked) if asked else "There is nothing this client can be asked."


# ---- Prompts --------------------------------------------------------------------------------------------------------


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


# The argument's name on the wire is resourceUri.
@server.prompt()
def test_prompt_with_embedded_resource(
    resourceUri: Annotated[str, Field(pattern=r"^[a-z]+://[A-Za-z0-9/.-]+$")],  # noqa: N803
) -> list[PromptMessage]:
    """A prompt that carries a resource."""
    resource = TextResourceContents(uri=resourceUri, mime_type="text/plain", text="Embedded resource content.")
    return [
        PromptMessage(role="user", content=EmbeddedResource(resource=resource)),
        PromptMessage(role="user", content="Please process the embedded resource above."),
    ]


@server.prompt()
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt that carries an image."""
    return [
        PromptMessage(role="user", content=ImageContent(data=PNG, mime_type="image/png")),
        PromptMessage(role="user", content="Please analyse the image above."),
    ]


class UserContext(BaseModel):
    context: str = Field(description="What the prompt should take into account.")


def user_context() -> Elicit[UserContext]:
    return Elicit("What context should the prompt use?", UserContext)


@server.prompt(read_only=True)
def test_input_required_result_prompt(given: Annotated[UserContext, Resolve(user_context)]) -> str:
    """A prompt that asks for what it lacks."""
    return f"Use this context: {given.context}"


# ---- Resources ------------------------------------------------------------------------------------------------------


@server.resource("test://static-text", mime_type="text/plain", ttl_ms=60_000, cache_scope="public")
def static_text() -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png", ttl_ms=60_000, cache_scope="public")
def static_binary() -> bytes:
    """An image that never changes."""
    return PNG


@server.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> dict[str, Any]:  # noqa: A002  the variable's name on the wire
    """Data for an id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@server.completion()
def suggest(
    ref: PromptReference | ResourceTemplateReference,  # noqa: ARG001
    argument: CompletionArgument,
    context: CompletionContext,  # noqa: ARG001
) -> list[str]:
    """Suggestions for any argument."""
    return [word for word in ("testValue1", "testValue2", "testing") if word.startswith(argument.value)]


handler = server.lambda_handler
