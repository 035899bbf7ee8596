"""Who calls, by the authorizer's word: issuer, subject and client id. Never the bearer token, so a refreshed one is the same principal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .http import as_object


@dataclass(frozen=True, slots=True)
class Principal:
    """issuer, subject and client id of the caller; a part the authorizer doesn't give is empty."""

    issuer: str
    subject: str
    client_id: str = ""

    @property
    def parts(self) -> tuple[str, str, str]:
        return (self.issuer, self.subject, self.client_id)


def read_principal(authorizer: dict[str, Any]) -> Principal | None:
    """The principal in `requestContext.authorizer`; None where no authorizer ran.

    Understands JWT authorizers (HTTP API), Cognito authorizers (REST API), IAM, and Lambda authorizers that return `principalId`, or
    `sub` with `iss` in their context.
    """
    if not authorizer:
        return None
    claims = as_object(as_object(authorizer.get("jwt")).get("claims")) or as_object(authorizer.get("claims"))
    if claims:
        return _from_claims(claims)
    iam = as_object(authorizer.get("iam"))
    if iam:
        return _made("iam", iam.get("userArn") or iam.get("userId"), None)
    context = as_object(authorizer.get("lambda")) or authorizer
    if context.get("sub"):
        return _from_claims(context)
    return _made("", context.get("principalId"), None)


def _from_claims(claims: dict[str, Any]) -> Principal | None:
    client_id = claims.get("client_id") or claims.get("azp") or claims.get("cid")
    return _made(claims.get("iss"), claims.get("sub") or client_id, client_id)


def _made(issuer: object, subject: object, client_id: object) -> Principal | None:
    if not subject:
        return None
    return Principal(_text(issuer), _text(subject), _text(client_id))


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
