from __future__ import annotations

import pytest

from mrtr import errors
from mrtr.errors import Fault

TABLE = {
    # fault: HTTP status, JSON-RPC code (basic/index, 'Error Codes'; streamable-http)
    Fault.METHOD_NOT_ALLOWED: (405, -32600),
    Fault.ORIGIN: (403, -32600),
    Fault.TOO_LARGE: (413, -32600),
    Fault.PARSE: (400, -32700),
    Fault.INVALID_REQUEST: (400, -32600),
    Fault.INVALID_PARAMS: (400, -32602),
    Fault.HEADER_MISMATCH: (400, -32020),
    Fault.UNSUPPORTED_VERSION: (400, -32022),
    Fault.METHOD_NOT_FOUND: (404, -32601),
    Fault.MISSING_CAPABILITY: (400, -32021),
    Fault.UNAVAILABLE: (503, -32603),
    Fault.INTERNAL: (500, -32603),
}


def test_every_fault_has_the_status_and_code_that_the_table_gives_it() -> None:
    assert {fault: (fault.status, fault.code) for fault in Fault} == TABLE


def test_no_code_is_one_that_the_specification_reserves_for_something_else() -> None:
    reserved = {fault.code for fault in Fault} - {-32700, *range(-32603, -32599)}
    assert reserved == {-32020, -32021, -32022}


def test_every_fault_has_a_label_of_its_own_for_the_log() -> None:
    assert len({fault.label for fault in Fault}) == len(Fault)


@pytest.mark.parametrize(
    "kind", ["ProtocolError", "StateRefused", "Unavailable", "ConfigurationError", "InvalidSignature", "ToolError"]
)
def test_everything_raised_on_purpose_has_one_base(kind: str) -> None:
    assert issubclass(getattr(errors, kind), errors.MrtrError)
