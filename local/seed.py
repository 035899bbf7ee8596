"""What the tables hold before anyone has called a tool: three notes (one of them private), and one evening with no table left.

`python -m local.seed --stack askback` fills the tables of a deployed stack.
"""

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import boto3

from local.environment import REGION

NOTES = {"7": "Buy flour, eggs, and milk.", "12": "Lab report due Monday.", "15": "Call the dentist."}
FULL_EVENING = "2026-12-31"
# Asked about before it is read (functions/note_resource).
PRIVATE_NOTES = frozenset({"15"})
TABLE_IDS = ("1", "2", "3", "4")


def seed(tables: Mapping[str, str], endpoint_url: str | None = None) -> None:
    """Put the items back as they were; safe to repeat.

    `tables` maps NOTES_TABLE and BOOKINGS_TABLE to the tables' names (others are ignored: they start empty).
    `endpoint_url` is an emulated AWS, which takes made-up credentials; without it this machine's own settings decide.
    Bookings and requests that tools made stay where they are.
    """
    dynamodb: Any
    if endpoint_url is None:
        dynamodb = boto3.resource("dynamodb")
    else:
        dynamodb = boto3.resource(
            "dynamodb",
            endpoint_url=endpoint_url,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106  the emulator's made-up root key
        )
    with dynamodb.Table(tables["NOTES_TABLE"]).batch_writer() as notes:
        for note_id, text in NOTES.items():
            private = {"private": True} if note_id in PRIVATE_NOTES else {}
            notes.put_item(Item={"note_id": note_id, "text": text, **private})
    with dynamodb.Table(tables["BOOKINGS_TABLE"]).batch_writer() as bookings:
        for table_id in TABLE_IDS:
            bookings.put_item(
                Item={
                    "evening": FULL_EVENING,
                    "table_id": table_id,
                    "guests": 2,
                    "name": "New Year's party",
                    "phone": "555-0100",
                }
            )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.seed", description="Fill a deployed stack's tables.")
    parser.add_argument("--stack", default="askback", help="the stack's name (default: askback)")
    stack = parser.parse_args(arguments).stack

    cloudformation: Any = boto3.client("cloudformation")
    names = {}
    for variable, logical_id in (("NOTES_TABLE", "NotesTable"), ("BOOKINGS_TABLE", "BookingsTable")):
        detail = cloudformation.describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)
        names[variable] = detail["StackResourceDetail"]["PhysicalResourceId"]
    seed(names)
    print(f"Notes {', '.join(NOTES)} are there, and {FULL_EVENING} is fully booked.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
