"""The four steps in which Secrets Manager has a secret rotated, each safe to repeat and to run after a crash anywhere before it.

Secrets Manager gives a new version the label AWSPENDING, calls each step with that version's id as the token, and retries from the first
step when one fails.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from . import rotation, token
from .errors import ConfigurationError
from .keyring import read_ring
from .log import log
from .rotation import Timing
from .secretsmanager import CURRENT, PENDING, RingSecret


class RotationRefused(ConfigurationError):
    """The event asks for what must not be done."""


def fresh_secret() -> str:
    """The text of a new key: 384 random bits."""
    return secrets.token_urlsafe(48)


class Rotator:
    """Rotates the ring of one secret. clock: Unix seconds."""

    def __init__(self, secret: RingSecret, timing: Timing, clock: Callable[[], float]) -> None:
        self._secret = secret
        self._timing = timing
        self._clock = clock
        self._steps: dict[str, Callable[[str], None]] = {
            "createSecret": self._create,
            "setSecret": self._set,
            "testSecret": self._test,
            "finishSecret": self._finish,
        }

    def run(self, step: object, version: object) -> None:
        """One step for one version.

        Raises RotationRefused for an event that Secrets Manager would not send, ConfigurationError for a ring that can't be used, Unavailable
        when Secrets Manager fails; the ring in use is then as it was, or as a completed step left it.
        """
        if not isinstance(step, str) or step not in self._steps or not isinstance(version, str):
            raise RotationRefused("a rotation event has a Step (createSecret … finishSecret) and a ClientRequestToken")
        labels = self._secret.labels()
        if not labels.rotation_enabled:
            raise RotationRefused("the secret is not set up for rotation")
        stages = labels.stages.get(version, [])
        if CURRENT in stages or (PENDING not in stages and self._is_taken_up(version)):
            log().info("rotation step: nothing to do", extra={"step": step})
            return
        if PENDING not in stages:
            raise RotationRefused("the version is not the pending one of the secret")
        self._steps[step](version)
        log().info("rotation step done", extra={"step": step})

    def _create(self, version: str) -> None:
        if self._secret.read_version(version) is None:
            current = self._secret.read()
            text = rotation.rotate(current.text, current.id, fresh_secret(), self._clock(), self._timing)
            self._secret.put_pending(version, text)

    def _set(self, version: str) -> None:
        """Nothing besides the secret itself has to learn of the key."""

    def _test(self, version: str) -> None:
        """That functions will be able to read the ring, and that its newest key seals and opens.

        Secrets Manager also calls this step alone, to test the set-up with a pending version that no createSecret has filled.
        """
        ring = read_ring(self._secret.read_version(version) or self._secret.read().text)
        now = self._clock()
        ring.sealing_key(now)
        newest = max(ring.keys, key=lambda key: key.seal_from)
        sealed = token.seal(b"test", newest, purpose="rotation", audience=version)
        token.unseal(sealed, lambda kid: ring.opening_key(kid, now), purpose="rotation", audience=version)

    def _finish(self, version: str) -> None:
        pending = self._secret.read_version(version)
        if pending is None:
            raise RotationRefused("the pending version has no value yet; createSecret comes first")
        current, now = self._secret.read(), self._clock()
        secret = rotation.new_secret(current.text, pending)
        if secret is None:
            in_use = current.id  # an earlier run of this step got so far
        elif rotation.follows(pending, current.id, now, self._timing):
            self._secret.promote(version, over=current.id)
            return
        else:
            # Made too long ago, or from a ring that has changed since: the same key joins the ring as it is now, with times as of now.
            text = rotation.rotate(current.text, current.id, secret, now, self._timing)
            in_use = self._secret.replace(text, over=current.id)
        self._secret.settle(version, in_use)

    def _is_taken_up(self, version: str) -> bool:
        """Whether the version, which has no label any more, is one whose key is in use: `_finish` ended with `settle`."""
        pending = self._secret.read_version(version)
        return pending is not None and rotation.new_secret(self._secret.read().text, pending) is None


def handle(event: Any, arns: list[str], timing: Timing, clock: Callable[[], float]) -> None:
    """Do what a rotation event asks, for one of the secrets `arns`."""
    if not isinstance(event, dict) or event.get("SecretId") not in arns:
        raise RotationRefused("the event's SecretId is not the key ring's secret (MRTR_KEYRING)")
    Rotator(RingSecret(event["SecretId"]), timing, clock).run(event.get("Step"), event.get("ClientRequestToken"))
