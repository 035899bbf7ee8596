"""The yes/no question."""

from __future__ import annotations

from pydantic import BaseModel, Field

from .questions import Elicit


class Confirmation(BaseModel):
    """A form with one box to tick."""

    confirm: bool = Field(title="Yes, go ahead")


def confirm(message: str) -> Elicit[Confirmation]:
    """A yes/no question: accepted means the form was sent; `data.confirm` is whether the box was ticked."""
    return Elicit(message, Confirmation)
