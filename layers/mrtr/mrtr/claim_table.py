"""The claim table in DynamoDB. The only module that knows its items; every change is one conditional write.

An item, by its attributes: id (partition key, made from the flow id by `tags.item_id`); status `running`, `asked` or `done`; answered, the
round whose answers the latest leg brought; answers, a tag of them (former_answered, former_answers: of the leg before, to which a claim that
did nothing is given back); waiting, the round whose answers an asked item waits for; owner, a random
name of the leg that runs; started and until, when it started and when Lambda ends it at the latest (Unix milliseconds); response, sealed,
what the latest finished leg answered; expires, the TTL (Unix seconds).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import aws
from .errors import Unavailable

RUNNING, ASKED, DONE = "running", "asked", "done"


@dataclass(frozen=True, slots=True)
class Item:
    """A flow's item as it was read. response: b'' for a response that was too large to keep, None while there is none."""

    status: str
    answered: int
    answers: bytes
    waiting: int
    owner: bytes
    started: int
    until: int
    response: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a leg writes to claim its flow."""

    id: bytes
    answered: int
    answers: bytes
    owner: bytes
    started: int
    until: int
    expires: int


class ClaimTable:
    """Every method raises Unavailable when the table does not answer, with a cause that names the action and the table."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create(self, claim: Claim) -> Item | None:
        """Claim a flow that has no item. None: it is ours; else the item that was there first."""
        return self._write(
            "PutItem",
            Item={"id": {"B": claim.id}, **_running(claim), "expires": {"N": str(claim.expires)}},
            ConditionExpression="attribute_not_exists(id)",
        )

    def take(self, claim: Claim, waiting: int) -> Item | None:
        """Claim a flow whose body asked and waits for the answers of round `waiting`. None: it is ours; else the item as it is."""
        return self._update(
            claim,
            "#status = :asked AND waiting = :waiting",
            {":asked": {"S": ASKED}, ":waiting": _number(waiting)},
            "SET former_answered = answered, former_answers = answers, ",
        )

    def take_over(self, claim: Claim, crashed: bytes) -> Item | None:
        """Claim a flow whose owner, `crashed`, is known to be dead. None: it is ours; else the item as it is."""
        return self._update(
            claim, "#status = :running AND #owner = :crashed", {":running": {"S": RUNNING}, ":crashed": {"B": crashed}}
        )

    def record(self, claim: Claim, status: str, waiting: int, response: bytes) -> bool:
        """Write what the leg answered. False: the claim is not ours any more."""
        item = self._write(
            "UpdateItem",
            Key={"id": {"B": claim.id}},
            UpdateExpression="SET #status = :status, waiting = :waiting, #response = :response",
            ConditionExpression="#status = :running AND #owner = :owner",
            ExpressionAttributeNames={"#status": "status", "#owner": "owner", "#response": "response"},
            ExpressionAttributeValues={
                ":status": {"S": status},
                ":waiting": _number(waiting),
                ":response": {"B": response},
                ":running": {"S": RUNNING},
                ":owner": {"B": claim.owner},
            },
        )
        # The latter: a lost response to a write that succeeded, and its repetition.
        return item is None or (item.owner == claim.owner and item.status == status)

    def release(self, claim: Claim, waiting: int) -> None:
        """Give a claim back whose body did nothing: to the question it answers (`waiting`), or to no item at all (0)."""
        ours = {":owner": {"B": claim.owner}, ":running": {"S": RUNNING}}
        if waiting:
            self._write(
                "UpdateItem",
                Key={"id": {"B": claim.id}},
                UpdateExpression="SET #status = :asked, answered = former_answered, answers = former_answers",
                ConditionExpression="#status = :running AND #owner = :owner",
                ExpressionAttributeNames={"#status": "status", "#owner": "owner"},
                ExpressionAttributeValues={**ours, ":asked": {"S": ASKED}},
            )
        else:
            self._write(
                "DeleteItem",
                Key={"id": {"B": claim.id}},
                ConditionExpression="#status = :running AND #owner = :owner",
                ExpressionAttributeNames={"#status": "status", "#owner": "owner"},
                ExpressionAttributeValues=ours,
            )

    def read(self, item_id: bytes) -> Item | None:
        """The flow's item as of now, or None."""
        attributes = self._call("GetItem", Key={"id": {"B": item_id}}, ConsistentRead=True).get("Item")
        return _item(attributes) if attributes else None

    def _update(self, claim: Claim, condition: str, values: dict[str, Any], setting: str = "SET ") -> Item | None:
        attributes = _running(claim)
        return self._write(
            "UpdateItem",
            Key={"id": {"B": claim.id}},
            UpdateExpression=setting + ", ".join(f"#{name} = :new_{name}" for name in attributes),
            ConditionExpression=condition,
            ExpressionAttributeNames={f"#{name}": name for name in attributes},
            ExpressionAttributeValues={**values, **{f":new_{name}": value for name, value in attributes.items()}},
        )

    def _write(self, action: str, **request: Any) -> Item | None:
        """None: written. Otherwise the condition failed, and this is the item as it is (status '' where there is none)."""
        answer = self._call(action, ReturnValuesOnConditionCheckFailure="ALL_OLD", **request)
        return _item(answer["Item"]) if answer.get("ConditionFailed") else None

    def _call(self, action: str, **request: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        method = {
            "PutItem": "put_item",
            "UpdateItem": "update_item",
            "GetItem": "get_item",
            "DeleteItem": "delete_item",
        }[action]
        try:
            answer: dict[str, Any] = getattr(aws.client("dynamodb"), method)(TableName=self._name, **request)
            return answer
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
                return {"ConditionFailed": True, "Item": error.response.get("Item", {})}
            raise Unavailable(aws.cause(error, f"dynamodb:{action}", self._name)) from None
        except BotoCoreError as error:
            raise Unavailable(aws.cause(error, f"dynamodb:{action}", self._name)) from None


def _running(claim: Claim) -> dict[str, Any]:
    return {
        "status": {"S": RUNNING},
        "answered": _number(claim.answered),
        "answers": {"B": claim.answers},
        "owner": {"B": claim.owner},
        "started": _number(claim.started),
        "until": _number(claim.until),
    }


def _item(attributes: dict[str, Any]) -> Item:
    def number(name: str) -> int:
        return int(attributes.get(name, {}).get("N", 0))

    response = attributes.get("response")
    return Item(
        status=attributes.get("status", {}).get("S", ""),
        answered=number("answered"),
        answers=attributes.get("answers", {}).get("B", b""),
        waiting=number("waiting"),
        owner=attributes.get("owner", {}).get("B", b""),
        started=number("started"),
        until=number("until"),
        response=None if response is None else response["B"],
    )


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}
