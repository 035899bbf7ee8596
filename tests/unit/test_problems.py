"""What is said of arguments and answers that do not fit."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ValidationError

from mrtr.problems import describe


class Picked(BaseModel):
    colours: list[Literal["red", "blue"]] = []
    counts: dict[str, int] = {}


def problems(sent: Any) -> str:
    with pytest.raises(ValidationError) as wrong:
        Picked.model_validate(sent)
    return describe(wrong.value)


def test_each_problem_is_named_by_where_it_is() -> None:
    assert problems({"colours": ["red", "green"], "counts": {"a": "x"}}) == (
        "colours.1: Input should be 'red' or 'blue'; "
        "counts.a: Input should be a valid integer, unable to parse string as an integer"
    )


def test_what_is_no_object_is_called_the_answer() -> None:
    assert problems([]).startswith("answer: Input should be a valid dictionary")


def test_of_very_many_problems_the_first_ten_are_told_and_the_others_counted() -> None:
    told = problems({"colours": ["green"] * 200_000}).split("; ")
    assert told[0] == "colours.0: Input should be 'red' or 'blue'"
    assert told[-1] == "and 199,990 more"
    assert len(told) == 11


def test_ten_problems_are_told_without_a_count() -> None:
    told = problems({"colours": ["green"] * 10}).split("; ")
    assert len(told) == 10
    assert "more" not in told[-1]


def test_a_very_long_name_is_cut() -> None:
    assert len(problems({"counts": {"a" * 100_000: "x"}})) < 500
