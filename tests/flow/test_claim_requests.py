"""Every request to DynamoDB, whole: what single use hangs on is what is sent, not what an emulator makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.stub import Stubber

from mrtr import aws
from mrtr.claim_table import ASKED, DONE, RUNNING, Claim, ClaimTable, Item
from mrtr.errors import Unavailable
from tests.flow.cloud import CREDENTIALS

CLAIM = Claim(
    id=b"sixteen bytes id",
    answered=2,
    answers=b"tag of answers",
    owner=b"8 random",
    started=1_800_000_000_000,
    until=1_800_000_020_000,
    expires=1_800_090_000,
)
KEY = {"id": {"B": b"sixteen bytes id"}}
STORED = {
    **KEY,
    "status": {"S": "done"},
    "answered": {"N": "1"},
    "answers": {"B": b"other tag"},
    "waiting": {"N": "0"},
    "owner": {"B": b"somebody"},
    "started": {"N": "1799999999000"},
    "until": {"N": "1800000019000"},
    "response": {"B": b"sealed"},
    "expires": {"N": "1800090000"},
}
ITEM = Item(
    status=DONE,
    answered=1,
    answers=b"other tag",
    waiting=0,
    owner=b"somebody",
    started=1_799_999_999_000,
    until=1_800_000_019_000,
    response=b"sealed",
)
NO_ITEM = Item("", 0, b"", 0, b"", 0, 0)


@pytest.fixture(scope="module")
def _client() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as environment:
        for name, value in CREDENTIALS.items():
            environment.setenv(name, value)
        aws.client.cache_clear()
        yield aws.client("dynamodb")
    aws.client.cache_clear()


@pytest.fixture
def stub(_client: Any) -> Iterator[Stubber]:
    """DynamoDB as a list of the requests that shall come, in order, and nothing else."""
    with Stubber(_client) as stub:
        yield stub
        stub.assert_no_pending_responses()


@pytest.fixture
def table() -> ClaimTable:
    return ClaimTable("claims-of-the-stack")


CREATE = {
    "TableName": "claims-of-the-stack",
    "Item": {
        **KEY,
        "status": {"S": "running"},
        "answered": {"N": "2"},
        "answers": {"B": b"tag of answers"},
        "owner": {"B": b"8 random"},
        "started": {"N": "1800000000000"},
        "until": {"N": "1800000020000"},
        "expires": {"N": "1800090000"},
    },
    "ConditionExpression": "attribute_not_exists(id)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}


def updated(condition: str, **condition_values: Any) -> dict[str, Any]:
    """An update that puts the claim's owner in the place of the item's."""
    return {
        "TableName": "claims-of-the-stack",
        "Key": KEY,
        "UpdateExpression": (
            "SET #status = :new_status, #answered = :new_answered, #answers = :new_answers, #owner = :new_owner, "
            "#started = :new_started, #until = :new_until"
        ),
        "ConditionExpression": condition,
        "ExpressionAttributeNames": {
            "#status": "status",
            "#answered": "answered",
            "#answers": "answers",
            "#owner": "owner",
            "#started": "started",
            "#until": "until",
        },
        "ExpressionAttributeValues": {
            ":new_status": {"S": "running"},
            ":new_answered": {"N": "2"},
            ":new_answers": {"B": b"tag of answers"},
            ":new_owner": {"B": b"8 random"},
            ":new_started": {"N": "1800000000000"},
            ":new_until": {"N": "1800000020000"},
            **{f":{name}": value for name, value in condition_values.items()},
        },
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


TAKE = updated("#status = :asked AND waiting = :waiting", asked={"S": "asked"}, waiting={"N": "2"})
TAKE["UpdateExpression"] = TAKE["UpdateExpression"].replace(
    "SET ", "SET former_answered = answered, former_answers = answers, "
)
TAKE_OVER = updated(
    "#status = :running AND #owner = :crashed", running={"S": "running"}, crashed={"B": b"the dead one"}
)
OURS = {":owner": {"B": b"8 random"}, ":running": {"S": "running"}}
RECORD = {
    "TableName": "claims-of-the-stack",
    "Key": KEY,
    "UpdateExpression": "SET #status = :status, waiting = :waiting, #response = :response",
    "ConditionExpression": "#status = :running AND #owner = :owner",
    "ExpressionAttributeNames": {"#status": "status", "#owner": "owner", "#response": "response"},
    "ExpressionAttributeValues": {
        **OURS,
        ":status": {"S": "asked"},
        ":waiting": {"N": "3"},
        ":response": {"B": b"sealed question"},
    },
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
RELEASE = {
    "TableName": "claims-of-the-stack",
    "Key": KEY,
    "ConditionExpression": "#status = :running AND #owner = :owner",
    "ExpressionAttributeNames": {"#status": "status", "#owner": "owner"},
    "ExpressionAttributeValues": OURS,
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}


def fails(stub: Stubber, method: str, request: dict[str, Any], item: dict[str, Any] | None = None) -> None:
    stub.add_client_error(
        method,
        "ConditionalCheckFailedException",
        "The conditional request failed",
        400,
        modeled_fields={} if item is None else {"Item": item},
        expected_params=request,
    )


def test_a_first_claim_is_one_put_that_only_an_absent_item_admits(stub: Stubber, table: ClaimTable) -> None:
    stub.add_response("put_item", {}, CREATE)

    assert table.create(CLAIM) is None


def test_a_first_claim_that_comes_second_gets_the_item_that_was_there_from_the_same_request(
    stub: Stubber, table: ClaimTable
) -> None:
    fails(stub, "put_item", CREATE, STORED)

    assert table.create(CLAIM) == ITEM


def test_a_waiting_item_is_taken_by_an_update_on_exactly_its_round(stub: Stubber, table: ClaimTable) -> None:
    stub.add_response("update_item", {}, TAKE)

    assert table.take(CLAIM, 2) is None


def test_an_item_that_waits_for_another_round_is_shown_as_it_is(stub: Stubber, table: ClaimTable) -> None:
    fails(stub, "update_item", TAKE, {**STORED, "status": {"S": "asked"}, "waiting": {"N": "3"}})

    item = table.take(CLAIM, 2)

    assert item is not None
    assert (item.status, item.waiting) == (ASKED, 3)


def test_an_item_that_is_gone_is_not_made_anew_by_taking_it(stub: Stubber, table: ClaimTable) -> None:
    fails(stub, "update_item", TAKE)

    assert table.take(CLAIM, 2) == NO_ITEM


def test_a_crashed_run_is_taken_over_from_exactly_its_owner(stub: Stubber, table: ClaimTable) -> None:
    stub.add_response("update_item", {}, TAKE_OVER)

    assert table.take_over(CLAIM, b"the dead one") is None


def test_a_crashed_run_that_another_took_over_is_shown_as_it_is(stub: Stubber, table: ClaimTable) -> None:
    fails(stub, "update_item", TAKE_OVER, {**STORED, "status": {"S": "running"}})

    item = table.take_over(CLAIM, b"the dead one")

    assert item is not None
    assert (item.status, item.owner) == (RUNNING, b"somebody")


def test_a_record_is_one_update_that_only_the_running_owner_may_make(stub: Stubber, table: ClaimTable) -> None:
    stub.add_response("update_item", {}, RECORD)

    assert table.record(CLAIM, ASKED, 3, b"sealed question")


def test_a_record_of_a_run_that_was_taken_over_changes_nothing(stub: Stubber, table: ClaimTable) -> None:
    fails(stub, "update_item", RECORD, STORED)

    assert not table.record(CLAIM, ASKED, 3, b"sealed question")


@pytest.mark.parametrize(("status", "recorded"), [("asked", True), ("done", False), ("running", False)])
def test_a_record_that_is_there_already_is_known_as_ones_own(
    stub: Stubber, table: ClaimTable, status: str, recorded: bool
) -> None:
    fails(stub, "update_item", RECORD, {**STORED, "status": {"S": status}, "owner": {"B": b"8 random"}})

    assert table.record(CLAIM, ASKED, 3, b"sealed question") is recorded


def test_a_first_claim_is_given_back_by_deleting_it_if_it_is_still_ours(stub: Stubber, table: ClaimTable) -> None:
    stub.add_response("delete_item", {}, RELEASE)
    fails(stub, "delete_item", RELEASE, STORED)

    table.release(CLAIM, 0)
    table.release(CLAIM, 0)


def test_a_claim_on_a_question_is_given_back_to_the_question_as_it_was(stub: Stubber, table: ClaimTable) -> None:
    request = {
        **RELEASE,
        "UpdateExpression": "SET #status = :asked, answered = former_answered, answers = former_answers",
        "ExpressionAttributeValues": {**OURS, ":asked": {"S": "asked"}},
    }
    stub.add_response("update_item", {}, request)
    fails(stub, "update_item", request, STORED)

    table.release(CLAIM, 2)
    table.release(CLAIM, 2)


def test_an_item_is_read_as_it_is_now_and_not_a_moment_ago(stub: Stubber, table: ClaimTable) -> None:
    request = {"TableName": "claims-of-the-stack", "Key": KEY, "ConsistentRead": True}
    stub.add_response("get_item", {"Item": STORED}, request)
    stub.add_response("get_item", {}, request)

    assert table.read(CLAIM.id) == ITEM
    assert table.read(CLAIM.id) is None


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ProvisionedThroughputExceededException", 400),
        ("ThrottlingException", 400),
        ("RequestLimitExceeded", 400),
        ("InternalServerError", 500),
        ("ServiceUnavailable", 503),
        ("ResourceNotFoundException", 400),
        ("AccessDeniedException", 400),
        ("TransactionConflictException", 400),
        ("ValidationException", 400),
    ],
)
@pytest.mark.parametrize("action", ["PutItem", "UpdateItem", "GetItem", "DeleteItem"])
def test_every_other_error_is_the_table_not_answering(
    stub: Stubber, table: ClaimTable, action: str, code: str, status: int
) -> None:
    calls: dict[str, tuple[str, Any]] = {
        "PutItem": ("put_item", lambda: table.create(CLAIM)),
        "UpdateItem": ("update_item", lambda: table.record(CLAIM, DONE, 0, b"")),
        "GetItem": ("get_item", lambda: table.read(CLAIM.id)),
        "DeleteItem": ("delete_item", lambda: table.release(CLAIM, 0)),
    }
    method, call = calls[action]
    stub.add_client_error(method, code, "a message that quotes the request", status)

    with pytest.raises(Unavailable) as unavailable:
        call()

    assert str(unavailable.value) == f"dynamodb:{action} on claims-of-the-stack failed: {code}"
