"""Turns a first leg and a person's answer into the event of the next leg.

A retry can't be a sample file: it carries the sealed state of the answer before it, which expires. So:

    sam local invoke DeleteNoteFunction --event events/delete_note/call.json > out.json
    python -m local.retry_event --first-event events/delete_note/call.json --response out.json \
        --accept confirm=true > retry.json
    sam local invoke DeleteNoteFunction --event retry.json

A next round is made the same way, from the retry event and its own output.
"""

import argparse
import base64
import copy
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

JsonObject = dict[str, Any]


class CannotRetry(Exception):
    """There is no next leg to make from what was given; the message says why and what to do."""


def body_of(event: Mapping[str, Any]) -> JsonObject:
    """The JSON-RPC request inside an API Gateway event."""
    raw = event.get("body")
    if not isinstance(raw, str):
        raise CannotRetry("The first event has no body: give the API Gateway event that was sent, not its answer.")
    if event.get("isBase64Encoded"):
        raw = base64.b64decode(raw).decode()
    body = json.loads(raw)
    if not isinstance(body, dict) or "id" not in body:
        raise CannotRetry("The first event's body is not a JSON-RPC request.")
    return body


def last_object(text: str) -> JsonObject:
    """The last JSON object on a line of its own, or the whole text: `sam` may print lines of its own before it."""
    for candidate in (text, *reversed(text.splitlines())):
        try:
            value = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    raise CannotRetry("The response holds no JSON object. Give what `sam local invoke` printed on its standard output.")


def questions_of(response: Mapping[str, Any]) -> tuple[JsonObject, str | None]:
    """The questions and the sealed state of an answer: a Lambda proxy response, or the JSON-RPC message itself."""
    if "errorMessage" in response:
        raise CannotRetry(f"The function failed instead of answering: {response['errorMessage']}")
    message = json.loads(response["body"]) if isinstance(response.get("body"), str) else response
    if "error" in message:
        error = message["error"]
        raise CannotRetry(f"The leg was refused, so there is nothing to retry: {error['code']} {error['message']}")
    result = message.get("result")
    if not isinstance(result, dict):
        raise CannotRetry("The response is not an answer to a JSON-RPC request.")
    if result.get("resultType") != "input_required":
        raise CannotRetry(f"Nothing was asked: the call is finished ({result.get('resultType', 'no resultType')}).")
    return result.get("inputRequests", {}), result.get("requestState")


def typed(text: str, schema: Mapping[str, Any]) -> Any:
    """`text` as the type that a form's field asks for. What isn't one stays text: the server is to refuse it."""
    if schema.get("type") == "array":
        return [part for part in text.split(",") if part]
    if schema.get("type") in ("boolean", "integer", "number"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def accepted(questions: Mapping[str, Any], fields: Sequence[str]) -> JsonObject:
    """Answers from `FIELD=VALUE` or `QUESTION.FIELD=VALUE`, each given to the question whose form has that field."""
    forms = {key: q["params"].get("requestedSchema", {}).get("properties", {}) for key, q in questions.items()}
    answers: JsonObject = {key: {"action": "accept", "content": {}} for key in questions}
    for field in fields:
        name, equals, value = field.partition("=")
        if not equals:
            raise CannotRetry(f"--accept {field}: write it as FIELD=VALUE.")
        wanted, dot, bare = name.rpartition(".")
        owners = [key for key, form in forms.items() if (bare if dot else name) in form and wanted in ("", key)]
        if not owners:
            known = ", ".join(f"{key}.{one}" for key, form in forms.items() for one in form)
            raise CannotRetry(f"--accept {field}: no question has that field. There are: {known or 'none'}.")
        if len(owners) > 1:
            raise CannotRetry(f"--accept {field}: {' and '.join(owners)} both have it. Write {owners[0]}.{field}.")
        answers[owners[0]]["content"][bare if dot else name] = typed(value, forms[owners[0]][bare if dot else name])
    return answers


def next_id(first: object) -> int | str:
    """An id that the first leg did not have: the protocol wants every leg to be a request of its own."""
    return first + 1 if isinstance(first, int) else f"{first}-retry"


def retry_event(first_event: Mapping[str, Any], answers: Mapping[str, Any], state: str | None) -> JsonObject:
    """The first event again, with a new id, the answers and the state exactly as it came."""
    body = body_of(first_event)
    body["id"] = next_id(body["id"])
    params = body["params"]
    params["inputResponses"] = dict(answers)
    params.pop("requestState", None)
    if state is not None:
        params["requestState"] = state
    event: JsonObject = copy.deepcopy(dict(first_event))
    event["body"] = json.dumps(body, ensure_ascii=False)
    event["isBase64Encoded"] = False
    headers = event.get("headers") or {}
    for name in [n for n in headers if n.lower() == "content-length"]:
        headers[name] = str(len(event["body"].encode()))
    return event


def answers_from(text: str, questions: Mapping[str, Any]) -> JsonObject:
    """The map of answers that `--answer` gave, as JSON or as @FILE."""
    if text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8")
    answers = json.loads(text)
    if not isinstance(answers, dict) or not all(isinstance(one, dict) for one in answers.values()):
        raise CannotRetry('--answer must be like {"question": {"action": "accept", "content": {…}}}.')
    if unknown := sorted(set(answers) - set(questions)):
        asked = ", ".join(questions) or "nothing"
        raise CannotRetry(f"--answer: {', '.join(unknown)} was not asked. This leg asked: {asked}.")
    return answers


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m local.retry_event",
        description="Print the API Gateway event that answers the questions of a leg.",
    )
    parser.add_argument("--first-event", required=True, type=Path, help="the event that the leg was invoked with")
    parser.add_argument("--response", required=True, help="the file with what it answered; - reads standard input")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--answer", metavar="JSON", help="the whole inputResponses, as JSON or as @FILE")
    how.add_argument("--accept", metavar="FIELD=VALUE", action="append", help="fill a form's field (repeatable)")
    how.add_argument("--decline", action="store_true", help="say no to every question")
    how.add_argument("--cancel", action="store_true", help="close every question without an answer")
    how.add_argument("--no-answer", action="store_true", help="send the state alone (when asked to come back)")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> JsonObject:
    first_event = json.loads(options.first_event.read_text(encoding="utf-8"))
    text = sys.stdin.read() if options.response == "-" else Path(options.response).read_text(encoding="utf-8")
    questions, state = questions_of(last_object(text))
    if options.no_answer:
        answers: JsonObject = {}
    elif options.answer is not None:
        answers = answers_from(options.answer, questions)
    elif options.accept is not None:
        answers = accepted(questions, options.accept)
    else:
        action = "decline" if options.decline else "cancel"
        answers = {key: {"action": action} for key in questions}
    return retry_event(first_event, answers, state)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 with the event on standard output; 1 with the reason on standard error."""
    try:
        event = run(parse(arguments))
    except CannotRetry as reason:
        print(reason, file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"Can't read {problem.filename}: {problem.strerror}.", file=sys.stderr)
        return 1
    except ValueError as problem:
        print(f"Not valid JSON: {problem}.", file=sys.stderr)
        return 1
    print(json.dumps(event, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
