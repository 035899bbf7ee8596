"""provision_database: records a request for a database, asking from inside the body as if it were synchronous."""

import os
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mrtr import AcceptedElicitation, Context, Server, ToolAnnotations

server = Server("databases", version="1.0.0", instructions="Takes requests for databases, one region each.")


class Region(Enum):
    IRELAND = "eu-west-1"
    VIRGINIA = "us-east-1"
    SINGAPORE = "ap-southeast-1"


REGION_TITLES = {
    Region.IRELAND: "Europe (Ireland)",
    Region.VIRGINIA: "US East (Virginia)",
    Region.SINGAPORE: "Asia Pacific (Singapore)",
}


class Place(BaseModel):
    region: Region = Field(
        description="Where the data will live. It can't be moved later.",
        json_schema_extra={"oneOf": [{"const": r.value, "title": title} for r, title in REGION_TITLES.items()]},
    )


class TypedName(BaseModel):
    name: str = Field(description="Type the database's name to go ahead.", max_length=40)


@cache
def databases() -> Any:  # boto3 makes its resource classes at run time, so there is no class to name here
    """The table of requests, connected on first use."""
    import boto3
    from botocore.config import Config

    # A write that boto3 repeats, since its answer was lost, would find itself done already and take that for somebody else's.
    once = Config(retries={"total_max_attempts": 1})
    return boto3.resource("dynamodb", config=once).Table(os.environ["DATABASES_TABLE"])


@server.tool(
    title="Provision a database",
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)
def provision_database(
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,39}$", description="Small letters, digits and hyphens.")],
    ctx: Context,
) -> str:
    """Request a new database. The person chooses its region; a name that looks like production is confirmed twice."""
    place = ctx.elicit(f"Which region should the database {name} live in?", Place, key="region")
    if not isinstance(place, AcceptedElicitation):
        return f"Requested nothing: no region was chosen for {name}."
    region = place.data.region

    if {"prod", "production", "live"} & set(name.split("-")):
        question = f"{name} looks like a production database. It will be made in {REGION_TITLES[region]}."
        typed = ctx.elicit(question, TypedName, key="production")
        if not isinstance(typed, AcceptedElicitation) or typed.data.name != name:
            return f"Requested nothing: {name} was not confirmed as a production database."

    # The only side effect stands after the last question: everything above runs again on every round.
    table = databases()
    item = {"name": name, "region": region.value, "requested_at": datetime.now(UTC).isoformat(timespec="seconds")}
    try:
        # `name` is a reserved word of DynamoDB's expressions, hence the placeholder.
        table.put_item(
            Item=item, ConditionExpression="attribute_not_exists(#name)", ExpressionAttributeNames={"#name": "name"}
        )
    except table.meta.client.exceptions.ConditionalCheckFailedException:
        return f"Requested nothing: there is a request for {name} already."
    return f"Requested database {name} in {region.value}."


handler = server.lambda_handler
