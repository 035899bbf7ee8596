"""Sealing and opening a state's worth of bytes: `python -m bench.inside.seal ROUNDS COUNT`. Prints seconds per COUNT, by what and round."""

import json
import os
import sys
import time
from collections.abc import Callable

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from mcp.server.request_state import AESGCMRequestStateCodec

from mrtr import token
from mrtr.testing import ring_key

PLAIN = bytes(range(80))
AUDIENCE = "bench"
Work = Callable[[], object]


def works() -> dict[str, Work]:
    aes = AESGCM(bytes(32))
    nonce = bytes(12)
    box = aes.encrypt(nonce, PLAIN, b"associated")
    key = ring_key("bench")
    sealed = token.seal(PLAIN, key, purpose="state", audience=AUDIENCE)
    text = token.to_text(sealed)
    codec = AESGCMRequestStateCodec(["0123456789abcdef" * 4])
    theirs = codec.seal(PLAIN)
    return {
        "plain seal": lambda: aes.encrypt(os.urandom(12), PLAIN, b"associated"),
        "plain open": lambda: aes.decrypt(nonce, box, b"associated"),
        "askback seal": lambda: token.to_text(token.seal(PLAIN, key, purpose="state", audience=AUDIENCE)),
        "askback open": lambda: token.unseal(
            token.from_text(text, max_chars=8192), lambda _: key, purpose="state", audience=AUDIENCE
        ),
        "sdk seal": lambda: codec.seal(PLAIN),
        "sdk open": lambda: codec.unseal(theirs),
    }


def timed(work: Work, count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        work()
    return time.perf_counter() - started


def main(rounds: int, count: int) -> None:
    all_of_them = works()
    taken: dict[str, list[float]] = {name: [] for name in all_of_them}
    for _ in range(rounds):
        for name, work in all_of_them.items():
            taken[name].append(timed(work, count))
    print(json.dumps(taken))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
