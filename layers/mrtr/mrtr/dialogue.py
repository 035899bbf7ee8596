"""One leg's questions and answers: which answers count, which questions are still open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import tags
from .errors import Fault, ProtocolError
from .forms import InvalidAnswer
from .questions import Question, normalise
from .state import Answer, Asked, FlowState


class Paused(BaseException):
    """Ends a leg at a question without an answer. Not an Exception: an author's `except Exception` must not swallow it."""


class Dialogue:
    """The questions and answers of one leg.

    state: the opened state of a retry, or a new flow's. responses: the retry's `inputResponses`; without a state they answer nothing.
    An answer counts only for a question that was asked under its key and reads now exactly as it was shown (its digest).
    answers, answers_tag: all that this leg came with, recorded ones included, and one tag of it.
    """

    def __init__(
        self, state: FlowState, responses: Mapping[str, Mapping[str, Any]], capabilities: Mapping[str, Any]
    ) -> None:
        self._flow = state.flow
        self._capabilities = capabilities
        self._answers = {answer.question: answer.json for answer in state.answers}
        asked = {entry.key: entry.question for entry in state.asked}
        for key, response in responses.items() if asked else ():
            question = asked.get(tags.key_tag(state.flow, key))
            if question is not None and question not in self._answers:
                self._answers[question] = normalise(response)
        self.answers = tuple(Answer(question, text) for question, text in self._answers.items())
        self.answers_tag = tags.answers_tag(state.flow, list(self._answers.items()))
        self._used: dict[bytes, str] = {}
        self.pending: dict[str, dict[str, Any]] = {}
        self.refusal: ProtocolError | None = None
        self._asked: list[Asked] = []

    def __repr__(self) -> str:
        return f"Dialogue(pending={list(self.pending)})"

    def outcome(self, key: str, question: Question, allow: frozenset[str] = frozenset()) -> Any:
        """The outcome of `question`. Raises Paused, with the question pending, when it has no usable answer yet."""
        request = question.wire(allow)
        digest = tags.question_digest(self._flow, key, request)
        answer = self._answers.get(digest)
        if answer is None:
            self._put(key, question, request, digest)
            raise Paused
        try:
            outcome = question.read(answer, allow)
        except InvalidAnswer as problem:
            self._put(key, question, _again(request, problem), digest)
            raise Paused from None
        self._used[digest] = answer
        return outcome

    def ask(self, key: str, question: Question) -> None:
        """Put `question` among the pending ones, whatever was answered before. Raises Paused as `outcome` does, when it can't be asked."""
        request = question.wire(frozenset())
        self._put(key, question, request, tags.question_digest(self._flow, key, request))

    def _put(self, key: str, question: Question, request: dict[str, Any], digest: bytes) -> None:
        """Put `request` among the pending ones.

        digest: of the question itself. A remark on its last answer is no part of what an answer is pinned to.
        Raises Paused, with a refusal (-32021), when the client did not declare that it can be asked this.
        """
        required = question.missing_capability(self._capabilities)
        if required is not None:
            self.refusal = ProtocolError(
                Fault.MISSING_CAPABILITY,
                f"The client did not declare the capability that the question {key!r} needs",
                data={"requiredCapabilities": required},
            )
            raise Paused  # not the refusal itself, which an author's `except Exception` would swallow
        self._used.pop(digest, None)
        self._asked.append(Asked(tags.key_tag(self._flow, key), digest))
        self.pending[key] = request

    def settle(self) -> None:
        """After an author's code ended, however it did: raises the refusal of a question that can't be asked, else Paused for an open one."""
        if self.refusal is not None:
            raise self.refusal
        if self.pending:
            raise Paused

    def advance(self, state: FlowState, *, claimed_round: int = 0, note: str | None = None) -> FlowState:
        """`state` one round on: what is asked now, and the answers that this leg used."""
        used = tuple(Answer(question, text) for question, text in self._used.items())
        return replace(
            state,
            round=state.round + 1,
            claimed_round=claimed_round,
            asked=tuple(self._asked),
            answers=used,
            note=note,
        )


def _again(request: dict[str, Any], problem: InvalidAnswer) -> dict[str, Any]:
    """The request with a remark, for the person, on what was wrong with the last answer."""
    message = request.get("params", {}).get("message")
    if not isinstance(message, str):
        return request
    return {**request, "params": {**request["params"], "message": f"{message}\n\nPlease answer again: {problem}"}}
