from __future__ import annotations

import traceback
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrtr import canonical, state, tags, token
from mrtr.errors import StateRefused
from mrtr.keyring import RingKey, derive_key
from mrtr.principal import Principal
from mrtr.state import Answer, Asked, FlowState, StateTooLarge

KID = "AbCdk1"  # a source's namespace and the kid that the template gives its first key
KEY = RingKey(KID, derive_key(KID, b"s" * 64))
AUDIENCE = "stack"
NOW = 1_800_000_000.0
ALICE = Principal("https://issuer.example.com", "alice", "app")
BOB = Principal("https://issuer.example.com", "bob", "app")
PHONE = "0123456789"


def find_key(kid: str) -> RingKey | None:
    return KEY if kid == KEY.kid else None


def opened(text: str) -> FlowState:
    return state.unseal(text, find_key, AUDIENCE)


def first_question(principal: Principal | None = None) -> FlowState:
    """The state of a call of delete_note that has just asked its one question."""
    flow = state.bind(state.new_flow(NOW, 3600), "tools/call", "delete_note", '{"note_id":"7"}', principal)
    asked = Asked(
        tags.key_tag(flow.flow, "ask_to_confirm"),
        tags.question_digest(flow.flow, "ask_to_confirm", {"method": "elicitation/create"}),
    )
    return replace(flow, round=1, expires=flow.issued + 600, asked=(asked,))


def full() -> FlowState:
    """A state that uses every claim."""
    return replace(
        first_question(ALICE),
        round=3,
        claimed_round=2,
        answers=(Answer(b"q" * tags.QUESTION, f'{{"phone":"{PHONE}"}}'), Answer(b"r" * tags.QUESTION, "decline")),
        note="a note in other words: 📝",
    )


def checked(
    flow: FlowState,
    *,
    now: float = NOW,
    method: str = "tools/call",
    name: str = "delete_note",
    arguments: str = '{"note_id":"7"}',
    principal: Principal | None = None,
) -> FlowState:
    return state.check(flow, now=now, method=method, name=name, arguments=arguments, principal=principal)


# Size


@pytest.mark.parametrize("principal", [None, ALICE], ids=["nobody signed in", "somebody signed in"])
def test_the_first_state_of_a_tool_with_one_question_takes_at_most_180_characters(principal: Principal | None) -> None:
    text = state.seal(first_question(principal), KEY, AUDIENCE)
    assert len(text) <= 180
    assert checked(opened(text), principal=principal).round == 1


def test_a_state_of_8192_characters_is_sealed_and_opened_and_a_longer_one_refuses_to_be_sealed() -> None:
    flow = first_question()
    fits = next(size for size in range(6200, 5900, -1) if _sealed_size(flow, size) <= state.MAX_CHARS)
    assert state.MAX_CHARS - 1 <= _sealed_size(flow, fits) <= state.MAX_CHARS
    assert opened(state.seal(replace(flow, note="x" * fits), KEY, AUDIENCE)).note == "x" * fits
    with pytest.raises(StateTooLarge, match="answer more briefly"):
        state.seal(replace(flow, note="x" * (fits + 1)), KEY, AUDIENCE)


def _sealed_size(flow: FlowState, note_size: int) -> int:
    try:
        return len(state.seal(replace(flow, note="x" * note_size), KEY, AUDIENCE))
    except StateTooLarge:
        return state.MAX_CHARS + 1


def test_a_text_longer_than_any_state_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(StateRefused, match="too long"):
        opened("v1." + "A" * state.MAX_CHARS)


# Sealing


def test_every_claim_comes_back_as_it_was_sealed() -> None:
    flow = full()
    assert opened(state.seal(flow, KEY, AUDIENCE)) == flow


states = st.builds(
    lambda issued, ttl, flow_ttl, **claims: FlowState(
        issued=issued, expires=issued + ttl, deadline=issued + flow_ttl, **claims
    ),
    issued=st.integers(0, 2**40 - 1),
    ttl=st.integers(0, 2**35),
    flow_ttl=st.integers(0, 2**35),
    flow=st.binary(min_size=16, max_size=16),
    round=st.integers(0, 255),
    claimed_round=st.integers(0, 255),
    request=st.binary(min_size=tags.TAG, max_size=tags.TAG),
    principal=st.none() | st.binary(min_size=tags.TAG, max_size=tags.TAG),
    asked=st.lists(
        st.builds(
            Asked,
            st.binary(min_size=tags.KEY_TAG, max_size=tags.KEY_TAG),
            st.binary(min_size=tags.QUESTION, max_size=tags.QUESTION),
        ),
        max_size=5,
    ).map(tuple),
    answers=st.lists(
        st.builds(
            Answer,
            st.binary(min_size=tags.QUESTION, max_size=tags.QUESTION),
            st.text(max_size=200).map(canonical.encode),
        ),
        max_size=5,
    ).map(tuple),
    note=st.none() | st.text(max_size=200) | st.just("\ud800 alone"),
)


@given(states)
@settings(derandomize=True, deadline=None)
def test_whatever_is_sealed_opens_to_an_equal_state(flow: FlowState) -> None:
    assert opened(state.seal(flow, KEY, AUDIENCE)) == flow


@pytest.mark.parametrize("letter", ["a", "é", "д", "漢", "📝"])
def test_an_answer_takes_the_bytes_that_its_letters_take_in_utf_8(letter: str) -> None:
    def sealed(text: str) -> str:
        return state.seal(
            replace(full(), answers=(Answer(b"q" * tags.QUESTION, canonical.encode(text)),)), KEY, AUDIENCE
        )

    some, more = (len(sealed(letter * count)) for count in (300, 600))
    assert more - some == pytest.approx(300 * len(letter.encode()) * 4 / 3, abs=4)


def test_two_new_flows_share_no_flow_id() -> None:
    assert len({state.new_flow(NOW, 3600).flow for _ in range(100)}) == 100


def test_a_new_flow_has_asked_nothing_and_ends_at_its_deadline() -> None:
    flow = state.new_flow(NOW + 0.9, 3600)
    assert (flow.round, flow.claimed_round, flow.asked, flow.answers) == (0, 0, (), ())
    assert (flow.issued, flow.deadline) == (NOW, NOW + 3600)
    assert len(flow.flow) == 16


def test_a_state_of_another_audience_is_refused() -> None:
    with pytest.raises(StateRefused):
        state.unseal(state.seal(first_question(), KEY, AUDIENCE), find_key, "another stack")


def test_a_record_of_the_claim_table_does_not_pass_for_a_state() -> None:
    record = token.to_text(token.seal(_claims(first_question()), KEY, purpose="record 00", audience=AUDIENCE))
    with pytest.raises(StateRefused, match="not authentic"):
        opened(record)


# Tampering


@pytest.mark.parametrize("at", range(len(state.seal(full(), KEY, AUDIENCE))))
def test_a_state_with_any_character_changed_is_refused_and_tells_nothing(at: int) -> None:
    text = state.seal(full(), KEY, AUDIENCE)
    changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
    with pytest.raises(StateRefused) as refusal:
        opened(changed)
    shown = "".join(traceback.format_exception(refusal.value))
    assert PHONE not in shown
    assert "phone" not in shown


def test_a_state_of_a_key_that_left_the_ring_is_refused() -> None:
    with pytest.raises(StateRefused, match="kid"):
        state.unseal(state.seal(first_question(), KEY, AUDIENCE), lambda _: None, AUDIENCE)


# Authentic, but not of this release


def _claims(flow: FlowState) -> bytes:
    sealed = token.from_text(state.seal(flow, KEY, AUDIENCE), max_chars=state.MAX_CHARS)
    return token.unseal(sealed, find_key, purpose="state", audience=AUDIENCE)


def _sealed(claims: bytes) -> str:
    return token.to_text(token.seal(claims, KEY, purpose="state", audience=AUDIENCE))


@pytest.mark.parametrize("size", range(len(_claims(full()))))
def test_claims_that_end_too_early_are_refused(size: int) -> None:
    with pytest.raises(StateRefused, match="malformed"):
        opened(_sealed(_claims(full())[:size]))


def test_claims_that_go_on_after_their_end_are_refused() -> None:
    with pytest.raises(StateRefused, match="trailing"):
        opened(_sealed(_claims(full()) + b"\x00"))


@pytest.mark.parametrize("version", [0, 2, 255])
def test_claims_in_the_format_of_another_release_are_refused(version: int) -> None:
    with pytest.raises(StateRefused, match="another release"):
        opened(_sealed(bytes([version]) + _claims(full())[1:]))


def test_a_number_without_an_end_is_refused() -> None:
    claims = _claims(first_question())
    with pytest.raises(StateRefused, match="varint"):
        opened(_sealed(claims[:25] + b"\xff" * 40))


def test_a_text_that_is_not_utf_8_is_refused() -> None:
    claims = _claims(replace(first_question(), note="ab"))
    with pytest.raises(StateRefused, match="text"):
        opened(_sealed(claims[:-2] + b"\xff\xfe"))


# Whether the claims hold


def test_a_state_is_good_until_just_before_it_expires() -> None:
    flow = first_question()
    assert checked(flow, now=flow.expires - 1) is flow
    assert checked(flow, now=flow.expires - 0.001) is flow
    for late in (flow.expires, flow.expires + 1, flow.expires + 10**6):
        with pytest.raises(StateRefused, match="expired"):
            checked(flow, now=late)


def test_the_deadline_of_the_flow_ends_a_state_that_would_live_longer() -> None:
    flow = replace(first_question(), expires=int(NOW) + 600, deadline=int(NOW) + 300)
    assert checked(flow, now=NOW + 299.999) is flow
    with pytest.raises(StateRefused, match="expired"):
        checked(flow, now=NOW + 300)


def test_a_clock_that_is_a_minute_behind_still_reads_a_state() -> None:
    flow = first_question()
    assert checked(flow, now=flow.issued - 60) is flow
    with pytest.raises(StateRefused, match="future"):
        checked(flow, now=flow.issued - 60.001)


def test_a_state_has_at_most_ten_rounds() -> None:
    assert checked(replace(first_question(), round=10)).round == 10
    with pytest.raises(StateRefused, match="round"):
        checked(replace(first_question(), round=11))


def test_a_state_opens_for_the_principal_who_got_it() -> None:
    flow = first_question(ALICE)
    assert checked(flow, principal=ALICE) is flow


@pytest.mark.parametrize(
    ("sealed_for", "sent_by"),
    [
        (ALICE, BOB),
        (ALICE, None),
        (None, ALICE),
        (ALICE, replace(ALICE, client_id="other app")),
        (ALICE, Principal("", "")),
    ],
)
def test_a_state_does_not_open_for_anybody_else(sealed_for: Principal | None, sent_by: Principal | None) -> None:
    with pytest.raises(StateRefused, match="principal"):
        checked(first_question(sealed_for), principal=sent_by)


@pytest.mark.parametrize(
    ("method", "name", "arguments"),
    [
        ("prompts/get", "delete_note", '{"note_id":"7"}'),
        ("tools/call", "delete_notes", '{"note_id":"7"}'),
        ("tools/call", "delete_note", '{"note_id":"8"}'),
        ("tools/call", "delete_note", '{"note_id":7}'),
        ("tools/call", "delete_note", '{"note_id":"7","more":null}'),
        ("tools/call", "delete_note", "{}"),
    ],
)
def test_a_state_of_another_request_is_refused(method: str, name: str, arguments: str) -> None:
    with pytest.raises(StateRefused, match="request"):
        checked(first_question(), method=method, name=name, arguments=arguments)


def test_a_state_bound_to_nothing_opens_nothing() -> None:
    with pytest.raises(StateRefused):
        checked(replace(state.new_flow(NOW, 3600), expires=int(NOW) + 600))


def test_binding_changes_only_what_it_binds() -> None:
    flow = full()
    bound = state.bind(flow, "tools/call", "delete_note", '{"note_id":"7"}', ALICE)
    assert bound == flow
    other = state.bind(flow, "tools/call", "delete_note", "{}", BOB)
    assert replace(other, request=flow.request, principal=flow.principal) == flow
    assert other.request != flow.request
    assert other.principal != flow.principal


# Keeping secrets


def test_a_state_shows_neither_its_flow_id_nor_answers_nor_notes() -> None:
    flow = full()
    for shown in (repr(flow), str(flow), repr(flow.answers)):
        for secret in (PHONE, "decline", "other words", repr(flow.flow), flow.flow.hex()):
            assert secret not in shown
