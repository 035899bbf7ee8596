"""The path of a call, leg by leg: open the sealed state, resolve parameters, ask or claim, run the body once, record its result."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from . import canonical, strict_json
from . import state as states
from .arguments import InvalidArguments
from .context import Context, remaining_ms
from .dialogue import Dialogue, Paused
from .errors import (
    ConfigurationError,
    Fault,
    ProtocolError,
    ResourceNotFoundError,
    StateRefused,
    ToolError,
    Unavailable,
    not_found,
)
from .feature import Feature
from .input_required import InputRequiredResult, as_question
from .log import log, log_exception
from .notifications import Outbox
from .principal import Principal
from .protocol import Request
from .resolve import NotAccepted, fill
from .result import as_json, from_json, render
from .running import run
from .runtime import Runtime
from .single_use import OutcomeUnknown, Replay, Verdict, Won
from .state import FlowState
from .tags import item_id

REFUSED = "Invalid or expired requestState"
"""The one message of every refused state (basic/patterns/mrtr, 'Server Requirements')."""

_BEING_DONE = "Another request carries this call out; send the same request again to learn its result"
_FAILED = "!"
"""Begins the record of a leg that was answered with a JSON-RPC error; a result begins with a brace."""


@dataclass(slots=True)
class Leg:
    """One leg of a flow while it is answered.

    arguments: canonical JSON. state: None on a call's first leg; flow: the same, or a new flow's. note: the text that an author who asks
    by hand wants carried along.
    """

    feature: Feature
    request: Request
    principal: Principal | None
    arguments: str
    state: FlowState | None
    flow: FlowState
    dialogue: Dialogue
    context: Context
    note: str | None = None

    @property
    def guarded(self) -> bool:
        """Whether this leg's body must run once: the flow asked, and the feature does more than read."""
        return self.state is not None and self.feature.single_use


def answer(
    runtime: Runtime,
    server_info: Mapping[str, Any],
    feature: Feature,
    request: Request,
    outbox: Outbox,
    lambda_context: Any,
) -> str:
    """Answer one leg of a call with the result's JSON; what the client is to be told meanwhile goes to `outbox`.

    Raises ProtocolError for what the table of errors says, Unavailable when the key ring or the claim table is (nothing has run then).
    """
    try:
        return _Call(runtime, server_info, outbox, lambda_context).answer(feature, request)
    except StateRefused as refusal:
        log().warning("requestState refused", extra={"cause": refusal.cause})
        raise ProtocolError(Fault.INVALID_PARAMS, REFUSED) from None


class _Call:
    def __init__(self, runtime: Runtime, server_info: Mapping[str, Any], outbox: Outbox, lambda_context: Any) -> None:
        self._runtime = runtime
        self._settings = runtime.settings
        self._server_info = server_info
        self._outbox = outbox
        self._lambda_context = lambda_context
        self._now = runtime.clock()

    def answer(self, feature: Feature, request: Request) -> str:
        arguments = canonical.encode(_arguments(request))
        try:
            values = feature.read(request, arguments)
        except InvalidArguments as problem:
            return self._render(feature.failure(f"Invalid arguments for {feature.name}: {problem}"))
        except ProtocolError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a validator of an author's raises is a result
            return self._render(self._crash(feature, error))
        leg = self._open(feature, request, arguments)
        try:
            ready = _run(leg, fill(feature.plan, values, leg.context, leg.dialogue))
        except Paused:
            return self._already(leg) or self._ask(leg, claimed_round=leg.flow.claimed_round)[0]
        except NotAccepted as turned_down:
            return self._already(leg) or self._render(_turned_down(leg, turned_down.action))
        except Exception as error:  # noqa: BLE001 - whatever an author's resolver raises is a result
            return self._already(leg) or self._render(self._failed(leg, error))
        if leg.guarded:
            return self._once(leg, ready)
        return self._body(leg, ready) or self._ask(leg, claimed_round=0)[0]

    def _open(self, feature: Feature, request: Request, arguments: str) -> Leg:
        """The leg, its sealed state opened and checked against this request."""
        text = request.params.get("requestState")
        principal = request.principal
        state = None if text is None else self._unseal(text, request, arguments, principal)
        flow = states.new_flow(self._now, self._settings.flow_ttl_s) if state is None else state
        dialogue = Dialogue(flow, request.input_responses, request.capabilities)
        context = Context(request, principal, dialogue, self._outbox, self._lambda_context, flow.note)
        return Leg(feature, request, principal, arguments, state, flow, dialogue, context)

    def _unseal(self, text: object, request: Request, arguments: str, principal: Principal | None) -> FlowState:
        if not isinstance(text, str):
            raise StateRefused("malformed: not a string")
        runtime, now = self._runtime, self._now
        state = states.unseal(text, lambda kid: runtime.ring.opening_key(kid, now), self._settings.audience)
        method, name = request.method, request.name
        return states.check(state, now=now, method=method, name=name, arguments=arguments, principal=principal)

    def _ask(self, leg: Leg, claimed_round: int) -> tuple[str, bool]:
        """The open questions with the state that lets any instance take their answers; or (…, False), a result that ends the flow."""
        feature, pending = leg.feature, leg.dialogue.pending
        asking = leg.dialogue.advance(leg.flow, claimed_round=claimed_round, note=leg.note)
        if asking.round > states.MAX_ROUNDS:
            reason = f"{feature.name} was given up: it asked {states.MAX_ROUNDS} times without getting what it needs."
            return self._render(feature.notice(leg.request, reason)), False
        try:
            sealed = self._seal(leg, asking)
        except states.StateTooLarge as error:
            return self._render(feature.failure(f"{feature.name} can't go on: {error}")), False
        self._note(leg, asked=len(pending), round=asking.round)
        questions = {"inputRequests": pending} if pending else {}
        return self._render({**questions, "requestState": sealed}, "input_required"), True

    def _seal(self, leg: Leg, state: FlowState) -> str:
        """Seal `state` for the next leg: bound to this request and principal, good for one round and never past the flow's deadline."""
        issued = int(self._now)
        if leg.state is None:
            request = leg.request
            state = states.bind(state, request.method, request.name, leg.arguments, leg.principal)
        timed = replace(state, issued=issued, expires=min(issued + self._settings.round_ttl_s, state.deadline))
        return states.seal(timed, self._runtime.ring.sealing_key(self._now), self._settings.audience)

    def _once(self, leg: Leg, ready: dict[str, Any]) -> str:
        """Claim the flow, run the body, record what it came to; or tell a duplicate what became of the leg it repeats."""
        single_use = self._runtime.single_use
        verdict = single_use.claim(
            leg.flow,
            leg.dialogue.answers_tag,
            remaining_ms=remaining_ms(self._lambda_context),
            rerun_after_crash=leg.feature.rerun_after_crash,
        )
        if not isinstance(verdict, Won):
            return self._of_duplicate(leg, verdict)
        self._note(leg, round=leg.flow.round)
        try:
            response = self._body(leg, ready)
        except ProtocolError as error:
            if error is leg.dialogue.refusal:  # the body stopped at a question that can't be asked: nothing was done
                single_use.release(verdict)
            else:  # a prompt's or a resource's failure, which is no result: a duplicate gets the same
                single_use.finish(verdict, _FAILED + as_json(error))
            raise
        if response is None:
            round_ = leg.flow.round + 1
            try:
                response, asks = self._ask(leg, claimed_round=round_)
                if asks:
                    single_use.ask(verdict, response, round_)
                    return response
            except (ProtocolError, ConfigurationError, Unavailable):
                single_use.release(verdict)  # likewise: the question could not be put
                raise
        single_use.finish(verdict, response)
        return response

    def _body(self, leg: Leg, ready: dict[str, Any]) -> str | None:
        """Run the body: its result, or None when it stopped at a question."""
        feature = leg.feature
        try:
            value = _run(leg, _called(feature, ready), is_body=True)
            if isinstance(value, InputRequiredResult):
                _ask_by_hand(leg, value)
                return None
            return self._render(feature.result(leg.request, value))
        except Paused:
            return None
        except Exception as error:  # noqa: BLE001 - whatever an author's body raises is a result
            return self._render(self._failed(leg, error))

    def _already(self, leg: Leg) -> str | None:
        """The answer to a duplicate whose resolvers no longer lead to the body, because the first one changed what they look at."""
        if not leg.guarded:
            return None
        verdict = self._runtime.single_use.look(
            leg.flow, leg.dialogue.answers_tag, remaining_ms=remaining_ms(self._lambda_context)
        )
        return None if verdict is None else self._of_duplicate(leg, verdict)

    def _of_duplicate(self, leg: Leg, verdict: Verdict) -> str:
        feature, request = leg.feature, leg.request
        self._note(leg, duplicate=type(verdict).__name__, round=leg.flow.round)
        match verdict:
            case Replay(response=None):
                done = f"{feature.name} was carried out already; its result was too large to keep."
                return self._render(feature.notice(request, done))
            case Replay(response=str(response)) if response.startswith(_FAILED):
                raise from_json(response.removeprefix(_FAILED))
            case Replay(response=str(response)):
                return response
            case OutcomeUnknown(started=started):
                when = datetime.fromtimestamp(started / 1000, UTC).isoformat(timespec="seconds")
                unknown = (
                    f"{feature.name} started at {when} and did not finish; whether it took effect is unknown. "
                    "It will not run again for this confirmation: check before asking anew."
                )
                return self._render(feature.failure(unknown))
            case _:
                return self._come_back(leg)

    def _come_back(self, leg: Leg) -> str:
        """Nothing but a state: the same leg again, its answers carried inside, for a client that retries with what it was given."""
        try:
            sealed = self._seal(leg, replace(leg.flow, asked=(), answers=leg.dialogue.answers))
        except states.StateTooLarge:
            raise ProtocolError(Fault.UNAVAILABLE, _BEING_DONE) from None
        return self._render({"requestState": sealed}, "input_required")

    def _failed(self, leg: Leg, error: Exception) -> dict[str, Any]:
        """A failure as a result; what is no result goes its own way."""
        feature = leg.feature
        if error is leg.dialogue.refusal:
            raise error
        if isinstance(error, ResourceNotFoundError) and feature.method == "resources/read":
            raise not_found(leg.request.name)
        if isinstance(error, ToolError | ResourceNotFoundError):
            return feature.failure(str(error))
        return self._crash(feature, error)

    def _crash(self, feature: Feature, error: Exception) -> dict[str, Any]:
        log_exception("call failed", error, feature=feature.name)
        request_id = getattr(self._lambda_context, "aws_request_id", None)
        hint = f"; look for request {request_id} in the log" if request_id else ""
        return feature.crash(f"{feature.name} failed unexpectedly{hint}")

    def _note(self, leg: Leg, **facts: object) -> None:
        """What the log's line on this request says of the flow."""
        self._outbox.facts.update(facts, flow=item_id(leg.flow.flow).hex())

    def _render(self, result: dict[str, Any], kind: str = "complete") -> str:
        return render(result, self._server_info, kind)


def _arguments(request: Request) -> dict[str, Any]:
    arguments = request.params.get("arguments")
    if arguments is None:
        return {}
    if isinstance(arguments, str):  # some models send the whole object as its JSON text
        try:
            arguments = strict_json.parse(arguments.encode("utf-8", "surrogatepass"))
        except ProtocolError:
            arguments = None
    if not isinstance(arguments, dict):
        raise ProtocolError(Fault.INVALID_PARAMS, "params.arguments must be an object")
    return arguments


def _turned_down(leg: Leg, action: str) -> dict[str, Any]:
    done = "declined to answer" if action == "decline" else "closed the question without an answer"
    return leg.feature.notice(leg.request, f"The person {done}, so {leg.feature.name} did nothing.")


def _ask_by_hand(leg: Leg, value: InputRequiredResult) -> None:
    """Put the questions of a result that an author built. Raises the dialogue's refusal when one of them can't be asked."""
    try:
        for key, request in value.input_requests.items():
            leg.dialogue.ask(key, as_question(request))
    except Paused:
        leg.dialogue.settle()
    leg.note = value.request_state


def _run(leg: Leg, work: Coroutine[Any, Any, Any], *, is_body: bool = False) -> Any:
    """Run an author's code. Raises Paused, or the dialogue's refusal, when it asked; else what it raises.

    A body that asked has asked whatever it made of that: it may have caught Paused along with everything. A resolver's failure is its own:
    the open questions are other resolvers'.
    """
    try:
        value = run(work, is_async=leg.feature.plan.is_async)
    except BaseException as error:
        if is_body or not isinstance(error, Exception):
            leg.dialogue.settle()
        if isinstance(error, Exception | KeyboardInterrupt):
            raise
        raise RuntimeError(f"ended by {type(error).__name__}") from error  # SystemExit and the like are failures here
    leg.dialogue.settle()
    return value


async def _called(feature: Feature, ready: dict[str, Any]) -> Any:
    value = feature.plan.fn(**ready)
    return await value if feature.plan.body_is_async else value
