"""`python -m mrtr.ring_admin SECRET list` and `... revoke KID`: look into the key ring's secret, and take a key out of it at once.

SECRET is the secret's ARN or name, the output `KeyRing` of the stack. Runs with an operator's own rights. Prints no key.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from . import rotation
from .errors import MrtrError
from .rotation import Timing
from .rotator import fresh_secret
from .secretsmanager import RingSecret
from .settings import read_timing

_BREAKS = """\
{kid} is revoked. Instances drop it when they renew their ring: within {cache_s} s, or, where they can't reach Secrets Manager, {limit_s} s.
What breaks: every question that was sealed under {kid} and not answered yet is refused, and the tool has to be called anew; a duplicate of a
call that was carried out under {kid} is refused instead of getting the recorded answer. Nothing runs twice. Flows under other keys go on."""


def main(arguments: list[str] | None = None, clock: Callable[[], float] = time.time) -> int:
    parser = argparse.ArgumentParser(prog="python -m mrtr.ring_admin", description=__doc__)
    parser.add_argument("secret", help="the secret's ARN or name")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show the keys and what each does now")
    commands.add_parser("revoke", help="take a key out of the ring at once").add_argument("kid")
    options = parser.parse_args(arguments)
    secret = RingSecret(options.secret)
    try:
        if options.command == "revoke":
            _revoke(secret, options.kid, read_timing(), clock())
        sys.stdout.writelines(f"{line}\n" for line in rotation.describe(secret.read().text, clock()))
    except MrtrError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _revoke(secret: RingSecret, kid: str, timing: Timing, now: float) -> None:
    current = secret.read()
    secret.replace(rotation.revoke(current.text, kid, fresh_secret(), now, timing), over=current.id)
    sys.stdout.write(_BREAKS.format(kid=kid, cache_s=timing.ring_cache_s, limit_s=timing.ring_limit_s) + "\n")


if __name__ == "__main__":
    sys.exit(main())
