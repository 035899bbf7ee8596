"""The whole story on this machine, told by the official Python client: `make demo`.

Starts the local stack, walks through it leg by leg, checks every leg, and ends what it started. Exits with 1, saying what was
not as it must be, when anything is not. At a terminal the last question is put to whoever sits there.
"""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, InputRequiredResult, TextContent

from local import person, stack
from local.aws import AwsError
from local.build import BuildError
from local.deploy import DeployError
from local.screen import Screen
from local.seed import FULL_EVENING, NOTES
from local.wire import Wire, connected

YES = ElicitResult(action="accept", content={"confirm": True})


class NotAsItMust(Exception):
    """A leg went otherwise than the story says."""


@dataclass
class Story:
    """What the legs share. `script` is what the client answers by itself; with None it asks the person at the terminal."""

    askback: stack.Stack
    screen: Screen
    wire: Wire
    client: Client = field(init=False)
    script: Mapping[str, Any] | None = field(default_factory=dict)

    async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002  the SDK names it
        """The client's elicitation callback."""
        form: Mapping[str, Any] = params.model_dump(by_alias=True, exclude_none=True)["requestedSchema"]
        if self.script is None:
            return person.ask_in_person(self.screen, params.message, form)
        answer = person.scripted(form, self.script)
        self.screen.say(f"asked:    {params.message}")
        self.screen.say(f"answered: {answer.action} {answer.content or ''}")
        return answer

    def must(self, condition: object, what: str) -> None:
        if not condition:
            raise NotAsItMust(what)
        self.screen.good(what)

    def show_exchanges(self) -> None:
        for exchange in self.wire.exchanges:
            self.screen.message("-->", exchange.request)
            self.screen.message("<--", exchange.response)
        self.wire.clear()

    def note_ids(self) -> list[str]:
        notes = self.askback.client("dynamodb").scan(TableName=self.askback.tables["NOTES_TABLE"])["Items"]
        return sorted((note["note_id"]["S"] for note in notes), key=int)

    def process_of(self, tool: str) -> int:
        """The process that served the tool's latest call."""
        return self.askback.invocations(self.askback.functions[tool])[-1].pid

    async def leg(
        self,
        tool: str,
        arguments: dict[str, Any],
        asked: InputRequiredResult | None = None,
        answers: Mapping[str, ElicitResult] | None = None,
        state: str | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """One leg by hand: the first, or the one that answers what the leg before it `asked`."""
        return await self.client.session.call_tool(
            tool,
            arguments,
            input_responses=dict(answers) if answers else None,
            request_state=state or (asked.request_state if asked else None),
            allow_input_required=True,
        )

    async def questions(self, tool: str, arguments: dict[str, Any], **retry: Any) -> InputRequiredResult:
        """A leg that must end with questions."""
        result = await self.leg(tool, arguments, **retry)
        if not isinstance(result, InputRequiredResult) or not result.input_requests:
            raise NotAsItMust(f"{tool} asks")
        return result

    async def outcome(self, tool: str, arguments: dict[str, Any], **retry: Any) -> str:
        """A leg that must end the call: its text."""
        result = await self.leg(tool, arguments, **retry)
        if not isinstance(result, CallToolResult):
            raise NotAsItMust(f"{tool} finishes")
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def what_a_client_finds(story: Story) -> None:
    story.screen.title(f"What a client finds at {story.askback.endpoint}")
    tools = (await story.client.list_tools()).tools
    for tool in tools:
        arguments = ", ".join(tool.input_schema["properties"])
        story.screen.say(f"{tool.name}({arguments}): {tool.description}")
    story.must(story.client.protocol_version == "2026-07-28", "the client and the server speak MCP 2026-07-28")
    names = ["book_table", "delete_note", "provision_database"]
    story.must([tool.name for tool in tools] == names, "three tools are listed, by the front door from its catalog")
    fillable = set(tools[1].input_schema["properties"])
    story.must(fillable == {"note_id"}, "the model can't fill in delete_note's confirmation: it is no argument")
    story.wire.clear()


async def the_clients_own_loop(story: Story) -> None:
    story.screen.title("The client's own loop: it shows the form, and sends the call again with the answer")
    story.script = {"confirm": True}
    result = await story.client.call_tool("delete_note", {"note_id": "12"})
    story.screen.say(f"result:   {text_of(result)}")
    story.must(text_of(result) == "Deleted note 12." and not result.is_error, "note 12 is deleted, after the answer")
    story.must(story.note_ids() == ["7", "15"], "the table holds notes 7 and 15")
    unknown = await story.client.call_tool("delete_note", {"note_id": "99"})
    story.must(
        unknown.is_error and len(story.wire.exchanges) == 3, f"an unknown note is refused unasked: {text_of(unknown)}"
    )
    story.wire.clear()


async def by_hand_on_the_wire(story: Story) -> tuple[InputRequiredResult, str]:
    story.screen.title("The same by hand: four messages, the two requests independent of each other")
    asked = await story.questions("delete_note", {"note_id": "7"})
    story.must("7" in story.note_ids(), "the first leg has deleted nothing")
    done = await story.outcome("delete_note", {"note_id": "7"}, asked=asked, answers={"ask_to_confirm": YES})
    first, second = story.wire.exchanges
    story.screen.say("(Each message's _meta is left out here, and requestState shortened.)")
    story.show_exchanges()
    story.must(done == "Deleted note 7.", "the second leg has deleted note 7")
    story.must(first.request["id"] != second.request["id"], "the retry has an id of its own")
    story.must(
        second.request["params"]["requestState"] == first.response["result"]["requestState"],
        f"the state of {len(asked.request_state or '')} characters came back exactly as it was",
    )
    return asked, done


async def the_same_retry_twice(story: Story, asked: InputRequiredResult, done: str) -> None:
    story.screen.title("The same confirmed retry once more: one deletion, twice the same answer")
    notes = story.askback.tables["NOTES_TABLE"]
    story.screen.say("Note 7 is written anew, so that a second deletion would show.")
    item = {"note_id": {"S": "7"}, "text": {"S": NOTES["7"]}}
    story.askback.client("dynamodb").put_item(TableName=notes, Item=item)
    again = await story.outcome("delete_note", {"note_id": "7"}, asked=asked, answers={"ask_to_confirm": YES})
    story.screen.say(f"result: {again}")
    story.must(again == done, "the repeated retry gets the same answer")
    story.must("7" in story.note_ids(), "and note 7 is still there: nothing ran a second time")
    no = {"ask_to_confirm": ElicitResult(action="decline")}
    refused = await refusal(story, {"note_id": "7"}, asked, no)
    story.must(refused == "-32602 Invalid or expired requestState", f"a used state takes no other answer: {refused}")
    story.wire.clear()


async def declined(story: Story) -> None:
    story.screen.title("A person who says no")
    asked = await story.questions("delete_note", {"note_id": "15"})
    no = {"ask_to_confirm": ElicitResult(action="decline")}
    kept = await story.leg("delete_note", {"note_id": "15"}, asked=asked, answers=no)
    story.show_exchanges()
    if not isinstance(kept, CallToolResult):
        raise NotAsItMust("the refusal ends the call")
    story.must(text_of(kept) == "Kept note 15: the person said no.", text_of(kept))
    story.must(not kept.is_error, "that is a normal result, not an error that a model would try to mend")
    story.must("15" in story.note_ids(), "note 15 is still there")
    story.wire.clear()


async def tampered(story: Story) -> None:
    story.screen.title("A state that the client has touched")
    asked = await story.questions("delete_note", {"note_id": "15"})
    state = asked.request_state or ""
    middle = len(state) // 2
    flipped = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]
    for what, changed in (("one character changed", flipped), ("made up", "v1.forged-by-the-client")):
        refused = await refusal(story, {"note_id": "15"}, asked, {"ask_to_confirm": YES}, state=changed)
        story.must(refused == "-32602 Invalid or expired requestState", f"{what}: {refused}")
    refused = await refusal(story, {"note_id": "7"}, asked, {"ask_to_confirm": YES})
    story.must(refused == "-32602 Invalid or expired requestState", f"sent for another note: {refused}")
    story.must(story.note_ids() == ["7", "15"], "nothing was deleted")
    causes = [line["cause"] for line in story.askback.logs() if line.get("message") == "requestState refused"]
    story.must(
        len(set(causes)) > 1, f"the causes stand in the function's log alone: {'; '.join(dict.fromkeys(causes))}"
    )
    story.wire.clear()


async def refusal(
    story: Story,
    arguments: dict[str, Any],
    asked: InputRequiredResult,
    answers: Mapping[str, ElicitResult],
    state: str | None = None,
) -> str:
    """Code and message of the error that delete_note answers with."""
    try:
        result = await story.leg("delete_note", arguments, asked, answers, state)
    except MCPError as error:
        return f"{error.error.code} {error.error.message}"
    return f"no refusal but {result}"


async def another_process(story: Story) -> None:
    story.screen.title("A retry that another process answers than the one that asked")
    asked = await story.questions("delete_note", {"note_id": "7"})
    asking = story.process_of("DeleteNoteFunction")
    story.screen.say(f"Process {asking} asked. It is ended before the person has answered.")
    story.askback.kill(asking)
    done = await story.outcome("delete_note", {"note_id": "7"}, asked=asked, answers={"ask_to_confirm": YES})
    answering = story.process_of("DeleteNoteFunction")
    story.screen.say(f"Process {answering} answered: {done}")
    story.must(
        answering != asking, f"process {asking} asked and process {answering} finished, sharing nothing but the table"
    )
    story.must(done == "Deleted note 7." and story.note_ids() == ["15"], "note 7 is deleted")
    story.wire.clear()


async def two_rounds(story: Story) -> None:
    story.screen.title("Two rounds: a region for every database, and a second question for production")
    story.script = {"region": "eu-west-1", "name": "orders-prod"}
    result = await story.client.call_tool("provision_database", {"name": "orders-prod"})
    story.screen.say(f"result:   {text_of(result)}")
    story.must(text_of(result) == "Requested database orders-prod in eu-west-1.", "the database is requested")
    rounds = [exchange.response["result"]["resultType"] for exchange in story.wire.exchanges]
    story.must(rounds == ["input_required", "input_required", "complete"], "after two rounds of one question each")
    story.wire.clear()


async def questions_together(story: Story) -> None:
    story.screen.title("Two questions in one round, and a third that depends on the answers")
    evening = {"evening": FULL_EVENING, "guests": 2}
    asked = await story.questions("book_table", evening)
    keys = sorted(asked.input_requests or {})
    story.must(keys == ["ask_contact", "ask_seating"], "name and phone, and where to sit, are asked in one round")
    answers = {
        "ask_contact": ElicitResult(action="accept", content={"name": "Ada Example", "phone": "555-0199"}),
        "ask_seating": ElicitResult(action="accept", content={"area": "inside"}),
    }
    offered = await story.questions("book_table", evening, asked=asked, answers=answers)
    question = story.wire.exchanges[-1].response["result"]["inputRequests"]["offer_evening"]
    story.must(list(offered.input_requests or {}) == ["offer_evening"], f"then: {question['params']['message']}")
    yes = {"offer_evening": ElicitResult(action="accept", content={"take": True})}
    done = await story.outcome("book_table", evening, asked=offered, answers=yes)
    story.must(done.startswith("Booked table 1 (inside) for 2 on Friday 1 January 2027"), done)
    story.wire.clear()


async def your_turn(story: Story) -> None:
    if person.at_a_terminal():
        story.screen.title("Your turn: the client asks you")
        story.script = None
    else:
        story.screen.title("The last note (nobody sits at a terminal, so the client answers by itself)")
        story.script = {"confirm": True}
    result = await story.client.call_tool("delete_note", {"note_id": "15"})
    story.screen.say(f"result:   {text_of(result)}")
    left = story.note_ids()
    deleted = text_of(result) == "Deleted note 15."
    story.must(
        not result.is_error and left == ([] if deleted else ["15"]), f"the table agrees: it holds {left or 'no note'}"
    )
    story.must(deleted or person.at_a_terminal(), "the answer decided")


async def tell(askback: stack.Stack, screen: Screen) -> None:
    """The legs, in order. Raises NotAsItMust at the first that goes otherwise."""
    story = Story(askback, screen, Wire())
    async with connected(askback.endpoint, story.wire, story.answer) as story.client:
        await what_a_client_finds(story)
        await the_clients_own_loop(story)
        asked, done = await by_hand_on_the_wire(story)
        await the_same_retry_twice(story, asked, done)
        await declined(story)
        await tampered(story)
        await another_process(story)
        await two_rounds(story)
        await questions_together(story)
        await your_turn(story)


def cause(problem: BaseException) -> BaseException:
    """What went wrong, out of the groups that task groups wrap it in."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


def main() -> int:
    screen = Screen()
    try:
        with stack.running() as askback:
            asyncio.run(tell(askback, screen))
    except (AwsError, BuildError, DeployError) as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as problem:
        inner = cause(problem)
        if not isinstance(inner, NotAsItMust | MCPError | httpx2.HTTPError):
            raise
        screen.bad(str(inner) or type(inner).__name__)
        return 1
    print("\nEverything was as it must be.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
