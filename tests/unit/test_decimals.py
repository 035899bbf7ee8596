"""Decimals hold what was sent."""

from __future__ import annotations

import inspect
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field, create_model

from mrtr import canonical, strict_json
from mrtr.arguments import Arguments, InvalidArguments
from mrtr.decimals import decimal_names, exactly
from mrtr.forms import Form, InvalidAnswer
from mrtr.signature import Argument

REQUIRED = inspect.Parameter.empty
AMOUNTS = [
    "99999999999999.99",
    "123456789012345678.75",
    "0.1000000000000000055511151231257827",
    "-9007199254740993.5",
    "1e-300",
    "12.50",
    "3",
    "123456789012345678901234567890",
]


def sent(amount: str) -> str:
    return canonical.encode(strict_json.parse(f'{{"amount":{amount},"share":0.5}}'.encode()))


def payment(annotation: Any) -> tuple[Arguments, Form]:
    """An amount, and a share that is a float, as arguments and as a form."""
    fields: Any = {"amount": (annotation, ...), "share": (float, ...)}
    arguments = {"amount": Argument(annotation, REQUIRED), "share": Argument(float, REQUIRED)}
    return Arguments("pay", arguments), Form(create_model("Payment", **fields), frozenset())


@pytest.mark.parametrize("annotation", [Decimal, Decimal | None, Annotated[Decimal, Field(ge=-(10**40))]])
@pytest.mark.parametrize("amount", AMOUNTS)
def test_a_decimal_is_what_was_sent_to_the_last_digit(annotation: Any, amount: str) -> None:
    arguments, form = payment(annotation)
    read = {"amount": Decimal(amount), "share": 0.5}
    assert arguments.read(sent(amount)) == read
    assert form.read(sent(amount)).__dict__ == read


def test_what_bounds_a_decimal_counts_every_digit() -> None:
    arguments, form = payment(Annotated[Decimal, Field(le=Decimal("0.1"))])
    over = "0.1000000000000000000000000001"
    with pytest.raises(InvalidArguments, match=r"^amount: "):
        arguments.read(sent(over))
    with pytest.raises(InvalidAnswer, match=r"^amount: "):
        form.read(sent(over))


def test_a_number_is_no_text_where_text_would_do_as_well() -> None:
    arguments = Arguments("pay", {"amount": Argument(Decimal | str, REQUIRED)})
    assert arguments.read('{"amount":15e-1}') == {"amount": Decimal("1.5")}


def test_only_members_that_hold_decimals_and_nothing_else_are_spelled_out() -> None:
    annotations = {
        "plain": Decimal,
        "optional": Decimal | None,
        "described": Annotated[Decimal | None, Field(gt=0)],
        "text": Decimal | str,
        "float": float,
        "several": list[Decimal],
        "none": None,
    }
    assert decimal_names(annotations) == {"plain", "optional", "described"}


def test_content_without_such_a_fraction_is_left_as_it_is() -> None:
    content = '{"amount":3,"b":15e-1,"c":{"amount":15e-1}}'
    assert exactly(content, {"amount", "absent"}) is content
    assert exactly(content, frozenset()) is content
    assert exactly(content, {"b"}) == '{"amount": 3, "b": "15e-1", "c": {"amount": 1.5}}'
