"""book_table: two questions in one round, a third only when the evening is full, and never one table twice."""

import os
from datetime import date, timedelta
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from mrtr import AcceptedElicitation, Elicit, ElicitationResult, Resolve, Server, ToolAnnotations, ToolError

server = Server("restaurant", version="1.0.0", instructions="Books one table for one evening.")


class Table(NamedTuple):
    table_id: str
    area: str
    seats: int


LAST_EVENING = date(2099, 12, 31)
TABLES = (Table("1", "inside", 2), Table("2", "inside", 6), Table("3", "terrace", 2), Table("4", "terrace", 4))


class Contact(BaseModel):
    name: str = Field(description="The name to book under.", min_length=1, max_length=60)
    phone: str = Field(description="Called only if something changes.", min_length=6, max_length=20)


class Seating(BaseModel):
    area: Literal["inside", "terrace"] = Field(description="Where to sit.")


class OtherEvening(BaseModel):
    take: bool = Field(description="Tick to book that evening instead.")


@cache
def bookings() -> Any:  # boto3 makes its resource classes at run time, so there is no class to name here
    """The bookings, one item per evening and table, connected on first use."""
    import boto3
    from botocore.config import Config

    # A write that boto3 repeats, since its answer was lost, would find itself done already and take that for somebody else's.
    once = Config(retries={"total_max_attempts": 1})
    return boto3.resource("dynamodb", config=once).Table(os.environ["BOOKINGS_TABLE"])


def free_tables(evening: date, guests: int, area: str) -> list[Table]:
    """What is left that evening, smallest table first."""
    taken = bookings().query(
        KeyConditionExpression="evening = :evening", ExpressionAttributeValues={":evening": evening.isoformat()}
    )["Items"]
    taken_ids = {item["table_id"] for item in taken}
    return [t for t in TABLES if t.area == area and t.seats >= guests and t.table_id not in taken_ids]


def spoken(evening: date) -> str:
    return f"{evening:%A} {evening.day} {evening:%B %Y}"


def ask_contact() -> Elicit[Contact]:
    return Elicit("Under which name and phone number shall the table be booked?", Contact)


def ask_seating(guests: int) -> Elicit[Seating]:
    return Elicit(f"Where would the {guests} of you like to sit?", Seating)


def find_evening(evening: date, guests: int, seating: Annotated[Seating, Resolve(ask_seating)]) -> date:
    """The wanted evening, or the next of the following week that has a table."""
    for later in range(8):
        candidate = evening + timedelta(days=later)
        if free_tables(candidate, guests, seating.area):
            return candidate
    raise ToolError(f"No table for {guests} ({seating.area}) from {spoken(evening)} on, nor in the week after.")


def offer_evening(evening: date, found: Annotated[date, Resolve(find_evening)]) -> Elicit[OtherEvening] | OtherEvening:
    """Asks only when there is something to ask: a resolver may also return the value itself."""
    if found == evening:
        return OtherEvening(take=True)
    return Elicit(f"{spoken(evening)} is full. The next free evening is {spoken(found)}. Book that?", OtherEvening)


@server.tool(
    title="Book a table",
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
    ),
)
def book_table(
    evening: Annotated[date, Field(le=LAST_EVENING, description="The evening, as YYYY-MM-DD.")],
    guests: Annotated[int, Field(ge=1, le=6, description="How many people.")],
    contact: Annotated[Contact, Resolve(ask_contact)],
    seating: Annotated[Seating, Resolve(ask_seating)],
    found: Annotated[date, Resolve(find_evening)],
    offer: Annotated[ElicitationResult[OtherEvening], Resolve(offer_evening)],
) -> str:
    """Book a table. The person gives name, phone and seating, and is offered another evening when that one is full."""
    if not (isinstance(offer, AcceptedElicitation) and offer.data.take):
        return f"Booked nothing: {spoken(evening)} is full, and {spoken(found)} was not wanted."

    table = bookings()
    for choice in free_tables(found, guests, seating.area):
        item = {"evening": found.isoformat(), "table_id": choice.table_id, "guests": guests, **contact.model_dump()}
        try:
            table.put_item(Item=item, ConditionExpression="attribute_not_exists(table_id)")
        except table.meta.client.exceptions.ConditionalCheckFailedException:
            continue  # somebody took this one a moment ago; perhaps another is left
        return f"Booked table {choice.table_id} ({choice.area}) for {guests} on {spoken(found)}, name {contact.name}."
    return f"Booked nothing: the last table on {spoken(found)} was taken while the questions were being answered."


handler = server.lambda_handler
