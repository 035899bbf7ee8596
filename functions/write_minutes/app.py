"""write_minutes: a prompt that asks the person for what only they know, and for the style where none was chosen."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from mrtr import (
    CompletionArgument,
    CompletionContext,
    Elicit,
    PromptReference,
    Resolve,
    ResourceTemplateReference,
    Server,
)

server = Server("minutes", version="1.0.0", instructions="Prompts for writing up a meeting.")

Style = Literal["brief", "detailed", "actions"]
STYLES = {
    "brief": "Keep it to one short paragraph.",
    "detailed": "Give each decision a paragraph of its own, with its reasons.",
    "actions": "Write nothing but a list of who does what until when.",
}


class Meeting(BaseModel):
    """Short enough for both to be carried on to a second round, in whatever script."""

    present: str = Field(description="Who was there, separated by commas.", min_length=1, max_length=200)
    decided: str = Field(description="What was decided, in keywords.", min_length=1, max_length=1000)


class Choice(BaseModel):
    style: Style = Field(description="How the minutes should read.")


def ask_meeting(topic: str) -> Elicit[Meeting]:
    return Elicit(f"Who was at the meeting about {topic}, and what was decided?", Meeting)


def ask_style(style: Style | None) -> Elicit[Choice] | Choice:
    return Elicit("How should the minutes read?", Choice) if style is None else Choice(style=style)


@server.prompt(title="Write minutes", read_only=True)
def write_minutes(
    topic: Annotated[str, Field(min_length=1, max_length=200, description="What the meeting was about.")],
    meeting: Annotated[Meeting, Resolve(ask_meeting)],
    choice: Annotated[Choice, Resolve(ask_style)],
    style: Annotated[Style | None, Field(description="brief, detailed or actions; asked for if left out.")] = None,  # noqa: ARG001  read by ask_style
) -> str:
    """Write the minutes of a meeting. The person says who was there and what was decided."""
    return (
        f"Write the minutes of a meeting about {topic}. {STYLES[choice.style]}\n\n"
        f"Present: {meeting.present}\nDecided: {meeting.decided}"
    )


@server.completion()
def suggest(
    ref: PromptReference | ResourceTemplateReference,  # noqa: ARG001  there is one prompt
    argument: CompletionArgument,
    context: CompletionContext,  # noqa: ARG001  no argument depends on another
) -> list[str]:
    """Styles that start as typed; what a meeting was about nobody can guess."""
    return [style for style in STYLES if argument.name == "style" and style.startswith(argument.value)]


handler = server.lambda_handler
