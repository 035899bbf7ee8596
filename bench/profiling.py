"""`make profile`: where a cold start's imports and a warm leg's time go, of the layer as it is built.

python -m bench.profiling
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bench.cold import event_file
from bench.inside import wire
from bench.processes import BENCH, KEYS_GIVEN, PYTHON, environment
from local.environment import ROOT, WORK, say

TIMES = 7
TOP = 25
LEGS = 500
ASKING = {
    "MRTR_KEYRING": "secretsmanager:arn:aws:secretsmanager:us-east-1:000000000000:secret:bench",
    "MRTR_CLAIM_TABLE": "bench",
    "MRTR_AUDIENCE": "bench",
}
LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|(\s+)(\S+)")


@dataclass(frozen=True)
class Import:
    """Microseconds: in the module's own code, and with what it imports first."""

    own: int
    whole: int


def imports(command: list[str], environ: Mapping[str, str]) -> dict[str, Import]:
    """Every module that the command loads; the least of several times each, since noise only adds."""
    least: dict[str, Import] = {}
    for _ in range(TIMES):
        printed = subprocess.run(
            [PYTHON, "-X", "importtime", *command],
            check=True,
            cwd=ROOT,
            env=dict(environ),
            capture_output=True,
            text=True,
        ).stderr
        for own, whole, _indent, module in LINE.findall(printed):
            before = least.get(module, Import(int(own), int(whole)))
            least[module] = Import(min(before.own, int(own)), min(before.whole, int(whole)))
    return least


def show(title: str, found: Mapping[str, Import]) -> None:
    print(f"\n== {title}: {sum(one.own for one in found.values()) / 1e3:.0f} ms in {len(found)} modules")
    packages: Counter[str] = Counter()
    for module, one in found.items():
        packages[module.partition(".")[0]] += one.own
    print("by package, ms: " + ", ".join(f"{name} {own / 1e3:.1f}" for name, own in packages.most_common(TOP)))
    print(f"{'own ms':>8} {'with its imports':>18}  module")
    for module, one in sorted(found.items(), key=lambda item: -item[1].own)[:TOP]:
        print(f"{one.own / 1e3:8.1f} {one.whole / 1e3:18.1f}  {module}")


def main() -> int:
    folder = WORK / "profile"
    folder.mkdir(parents=True, exist_ok=True)
    given = environment("askback", settings=KEYS_GIVEN)
    event = event_file(folder, "asks", wire.call("delete_note", {"note_id": "7"}))
    answers = [str(BENCH / "inside" / "cold_start.py"), str(event), "handler"]
    show("importing a tool's module", imports(["-c", "import app"], given))
    show("to the first answered leg, keys given", imports(answers, given))
    # nobody answers: what is loaded to ask for the ring is the same
    show("to the first answer, the ring asked for", imports(answers, environment("askback", settings=ASKING)))
    show("the official SDK's server, for comparison", imports(["-c", "import app"], environment("sdk")))
    sys.stdout.flush()
    legs = {**given, "PYTHONPATH": f"{given['PYTHONPATH']}{os.pathsep}{ROOT}"}
    done = subprocess.run([PYTHON, "-m", "bench.inside.legs", folder, str(LEGS)], check=False, cwd=ROOT, env=legs)
    say(f"flame graphs: {folder}/leg_one.html and leg_two.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
