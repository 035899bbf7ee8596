"""`make sam-local`: every function in Docker, by `sam local invoke` with the sample events and by `sam local start-api`.

Exit status 0 if all went as it must, 1 if something did not, 3 if there is no Docker engine to run anything in.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from local import build, docker, lambda_image, retry_event, stack
from local.aws import listening
from local.environment import ROOT, SAM, parameter_overrides, sam_environment, say

EVENTS = ROOT / "events"
NO_ENGINE = 3
READY_S = 60
SHOWN = 2000  # characters of what went wrong
SAM_IMAGES = "public.ecr.aws/lambda/python:"

Json = dict[str, Any]
Answer = Callable[[str, Json], Json]

FUNCTIONS = {
    "front_door": "FrontDoorFunction",
    "delete_note": "DeleteNoteFunction",
    "provision_database": "ProvisionDatabaseFunction",
    "book_table": "BookTableFunction",
    "note_resource": "NoteResourceFunction",
    "write_minutes": "WriteMinutesFunction",
}

# What each sample event must be answered: HTTP status, and words of the body.
SAMPLES = {
    "front_door/discover": (200, "supportedVersions"),
    "front_door/tools_list": (200, "provision_database"),
    "front_door/call_delete_note": (200, "input_required"),
    "front_door/call_provision_database": (200, "input_required"),
    "front_door/call_book_table": (200, "input_required"),
    "front_door/unknown_tool": (400, "-32602"),
    "front_door/wrong_method_header": (400, "-32020"),
    "front_door/get": (405, ""),
    "delete_note/discover": (200, "supportedVersions"),
    "delete_note/tools_list": (200, "delete_note"),
    "delete_note/call": (200, "Buy flour"),
    "delete_note/unknown_note": (200, '"isError":true'),
    "delete_note/invalid_arguments": (200, '"isError":true'),
    "delete_note/no_elicitation": (400, "-32021"),
    "delete_note/wrong_name_header": (400, "-32020"),
    "delete_note/forged_state": (400, "Invalid or expired requestState"),
    "provision_database/discover": (200, "supportedVersions"),
    "provision_database/tools_list": (200, "provision_database"),
    "provision_database/call": (200, "region"),
    "provision_database/call_production": (200, "region"),
    "provision_database/invalid_name": (200, '"isError":true'),
    "book_table/discover": (200, "supportedVersions"),
    "book_table/tools_list": (200, "book_table"),
    "book_table/call": (200, "input_required"),
    "book_table/call_full_evening": (200, "input_required"),
    "book_table/too_many_guests": (200, '"isError":true'),
    "note_resource/read": (200, "Buy flour"),
    "note_resource/read_private": (200, "input_required"),
    "note_resource/complete": (200, '"values":["12","15"]'),
    "write_minutes/prompts_list": (200, "write_minutes"),
    "write_minutes/get": (200, "ask_style"),
}

# Those sent by `sam local invoke`, one of each function at least. It makes its image anew each time, for seconds; so all
# of them are sent by `sam local start-api`, where an image is made once.
INVOKED = (
    "front_door/tools_list",
    "front_door/call_delete_note",
    "delete_note/discover",
    "delete_note/forged_state",
    "provision_database/invalid_name",
    "book_table/too_many_guests",
    "note_resource/read",
    "write_minutes/get",
)

# First event, the answers of each further leg, words of the end. By `sam local invoke`, a container for each leg:
INVOKED_TO_THE_END = (
    ("delete_note/call", ("confirm",), "Deleted note 7"),
    ("provision_database/call_production", ("region", "production"), "Requested database orders-prod"),
    ("book_table/call_full_evening", ("contact_and_seating", "other_evening"), "Booked table"),
)
# And by `sam local start-api`, over HTTP, where those above go by way of the front door:
SERVED_TO_THE_END = (
    ("delete_note/call", ("cancel",), "Kept note 7"),
    ("delete_note/call", ("decline",), "Kept note 7"),
    ("delete_note/call", ("unticked",), "Kept note 7"),
    ("delete_note/call", ("confirm",), "Deleted note 7"),
    ("provision_database/call", ("region_decline",), "Requested nothing"),
    ("provision_database/call", ("region",), "Requested database orders"),
    ("provision_database/call_production", ("region", "production_mistyped"), "Requested nothing"),
    ("book_table/call", ("contact_decline",), "book_table"),
    ("book_table/call_full_evening", ("contact_and_seating", "other_evening_decline"), "Booked nothing"),
    ("book_table/call", ("contact_and_seating",), "Booked table"),
    ("note_resource/read_private", ("show",), "Call the dentist"),
    ("write_minutes/get", ("meeting_and_style",), "Mend it before winter"),
)


@dataclass
class Tally:
    passed: int = 0
    failed: list[str] = field(default_factory=list)

    def record(self, name: str, problem: str | None) -> None:
        if problem is None:
            self.passed += 1
            say(f"ok     {name}")
        else:
            self.failed.append(name)
            say(f"FAILED {name}\n{problem[-SHOWN:]}")


@dataclass(frozen=True)
class SamLocal:
    """`sam local` with what it needs to run this stack's functions in containers against an emulated AWS."""

    template: Path
    variables: Path
    environment: Mapping[str, str]

    def command(self, what: str, *arguments: str) -> list[str]:
        return [str(SAM), "local", what, *arguments, "--template", str(self.template), "--env-vars",
                str(self.variables), "--skip-pull-image", "--parameter-overrides", *parameter_overrides()]  # fmt: skip

    def invoke(self, function: str, event: Json) -> Json:
        """What the function answered. AssertionError with all that SAM printed if it did not."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(event, file)
            file.flush()
            done = subprocess.run(
                self.command("invoke", FUNCTIONS[function], "--event", file.name),
                check=False, capture_output=True, text=True, cwd=ROOT, env=self.environment,
            )  # fmt: skip
        # `sam local invoke` ends with status 0 when the function raises, too.
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        answer: Json = json.loads(lines[-1]) if lines else {}
        if done.returncode or "statusCode" not in answer:
            raise AssertionError(f"{done.stdout}\n{done.stderr}")
        return answer


def event_of(name: str) -> Json:
    event: Json = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event


def compact(answer: Json) -> str:
    """The body with one way to write it, whatever spaces the function puts between members."""
    try:
        return json.dumps(json.loads(answer["body"]), separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return str(answer["body"])


def sample(answer: Answer, name: str) -> str | None:
    """What is wrong with the answer to a sample event, if anything is."""
    status, words = SAMPLES[name]
    try:
        response = answer(name.partition("/")[0], event_of(name))
    except (AssertionError, OSError) as problem:
        return str(problem)
    right = response["statusCode"] == status and words in compact(response)
    return None if right else f"not {status} with {words!r}: {json.dumps(response)}"


def conversation(answer: Answer, first: str, answers: tuple[str, ...], words: str) -> str | None:
    """What is wrong with a whole conversation, if anything is. `answer` gives a function's answer to an event."""
    function = first.partition("/")[0]
    event = event_of(first)
    try:
        response = answer(function, event)
        for name in answers:
            _, state = retry_event.questions_of(response)
            event = retry_event.retry_event(event, event_of(f"{function}/answers/{name}"), state)
            response = answer(function, event)
    except (AssertionError, ValueError, retry_event.CannotRetry) as problem:
        return str(problem)
    body = compact(response)
    right = response["statusCode"] == 200 and words in body and "input_required" not in body
    return None if right else f"not an end with {words!r}: {json.dumps(response)}"


def post(url: str, event: Json) -> Json:
    """Send a sample event as the HTTP request that it stands for."""
    body = event.get("body")
    request = urllib.request.Request(
        url, data=body and body.encode(), method=event["requestContext"]["http"]["method"],
        headers={name: value for name, value in event["headers"].items() if not name.startswith(("host", "x-forwarded"))},
    )  # fmt: skip
    try:
        with urllib.request.urlopen(request, timeout=READY_S) as response:
            return {"statusCode": response.status, "body": response.read().decode()}
    except urllib.error.HTTPError as error:
        return {"statusCode": error.code, "body": error.read().decode()}


def over_http(url: str, *, direct: bool) -> Answer:
    """Answers by the API at `url`: at the function's own address, or at the front door's."""

    def answer(function: str, event: Json) -> Json:
        own = direct and function != "front_door"
        return post(f"{url}/mcp/{function}" if own else f"{url}/mcp", event)

    return answer


@contextmanager
def start_api(sam: SamLocal) -> Iterator[str]:
    """`sam local start-api` on loopback: the address of its API."""
    with listening(0) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            sam.command("start-api", "--host", "127.0.0.1", "--port", str(port), "--warm-containers", "LAZY"),
            stdout=output, stderr=subprocess.STDOUT, cwd=ROOT, env=sam.environment, start_new_session=True,
        )  # fmt: skip
        try:
            deadline = time.monotonic() + READY_S
            url = f"http://127.0.0.1:{port}"
            while True:
                try:
                    with urllib.request.urlopen(f"{url}/no-such-path", timeout=READY_S):
                        break
                except urllib.error.HTTPError:
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > deadline:
                        output.seek(0)
                        raise AssertionError(f"start-api did not start:\n{output.read()}") from None
                    time.sleep(0.1)
            yield url
        finally:
            process.send_signal(signal.SIGTERM)  # it removes its containers
            process.wait(READY_S)


def variables(askback: stack.Stack, endpoint_url: str) -> Json:
    """Each function's environment as the deploy made it, with AWS where containers reach it."""
    functions = askback.client("lambda")
    return {
        logical_id: functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        | {"AWS_ENDPOINT_URL": endpoint_url}
        for logical_id, name in askback.functions.items()
    }


def with_endpoint(built: Path) -> Path:
    """The built template with AWS_ENDPOINT_URL among the variables: SAM sets only those that a template names."""
    text, count = re.subn(
        r"^( +)(MRTR_KEYRING:)", r"\1AWS_ENDPOINT_URL: ''\n\1\2", built.read_text(), flags=re.MULTILINE
    )
    if count != 1:
        raise AssertionError("the built template does not name MRTR_KEYRING once, among the variables of all functions")
    path = built.with_name("template-sam-local.yaml")
    path.write_text(text)
    return path


def run(tally: Tally) -> None:
    lambda_image.ensure()
    host, name_for_containers = docker.host_addresses()
    with stack.running(aws_host=host) as askback, tempfile.TemporaryDirectory() as folder:
        endpoint_url = f"http://{name_for_containers}:{askback.aws_endpoint_url.rpartition(':')[2]}"
        file = Path(folder) / "variables.json"
        file.write_text(json.dumps(variables(askback, endpoint_url)))
        sam = SamLocal(with_endpoint(build.TEMPLATE), file, sam_environment(endpoint_url))

        say("sam local invoke: every function ...")
        for name in INVOKED:
            tally.record(f"invoke {name}", sample(sam.invoke, name))
        for first, answers, words in INVOKED_TO_THE_END:
            tally.record(f"invoke {first} + {' + '.join(answers)}", conversation(sam.invoke, first, answers, words))

        with start_api(sam) as url:
            askback.reset()
            say("sam local start-api: every sample event ...")
            direct = over_http(url, direct=True)
            for name in SAMPLES:
                tally.record(f"start-api {name}", sample(direct, name))
            say("sam local start-api: conversations to their end ...")
            door = over_http(url, direct=False)
            for by, answer, conversations in (
                ("directly", direct, SERVED_TO_THE_END),
                ("by the front door", door, INVOKED_TO_THE_END),
            ):
                askback.reset()
                for first, answers, words in conversations:
                    problem = conversation(answer, first, answers, words)
                    tally.record(f"start-api {by} {first} + {' + '.join(answers)}", problem)
    left = docker.containers_of(SAM_IMAGES)
    tally.record("no container is left", f"left: {left}" if left else None)


def end(_number: int, _frame: FrameType | None) -> None:
    """SIGTERM ends this as Ctrl-C does: by way of everything that was started."""
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, end)
    tally = Tally()
    try:
        with docker.engine():
            run(tally)
    except docker.NoEngineError as reason:
        say(f"sam local was not run: {reason}")
        return NO_ENGINE
    print(f"{tally.passed} passed, {len(tally.failed)} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
