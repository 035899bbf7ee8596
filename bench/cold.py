"""Cold starts: from a new process to its first answered leg, import and init included."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import emulator
from bench.between import secure
from bench.figures import Row, Section, by_turns, compared, digits, milliseconds, spread
from bench.inside import wire
from bench.processes import BENCH, KEYS_GIVEN, PYTHON, ChildError, environment
from bench.setup import Setup
from local.environment import ROOT

BUDGET = 0.5
CORE_MB = 1769
"""Memory at which Lambda gives a function the time of one whole core; of less memory, as much less."""
MEMORIES_MB = (256, 512, 1024, 1769)


@dataclass(frozen=True)
class Start:
    """A way to start: the side's environment, the event of the first leg, how the side is reached, and what checks its answer."""

    environ: Mapping[str, str]
    event: Path
    reached: str = "handler"
    expected: Callable[[wire.Answer], None] = wire.asks


@dataclass(frozen=True)
class Sample:
    """Seconds from before the process was started to the answer in its hands; of them after the imports; of a core's time; and its memory."""

    whole: float
    after_import: float
    core: float
    peak_kib: int


def first_answer(start: Start) -> Sample:
    command = [str(PYTHON), str(BENCH / "inside" / "cold_start.py"), str(start.event), start.reached]
    began = time.monotonic_ns()
    done = subprocess.run(command, check=False, cwd=ROOT, env=start.environ, capture_output=True, text=True)
    if done.returncode:
        raise ChildError(done.stderr[-4000:])
    told = json.loads(done.stdout.splitlines()[-1])
    start.expected(wire.Answer(told["status"], told["body"]))
    answered, imported = told["answered_ns"], told["imported_ns"]
    return Sample((answered - began) / 1e9, (answered - imported) / 1e9, told["core_s"], told["peak_kib"])


def bare() -> Sample:
    """An interpreter that does nothing."""
    began = time.monotonic_ns()
    code = "import time; print(time.monotonic_ns(), time.process_time())"
    answered, core = subprocess.run([PYTHON, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return Sample((int(answered) - began) / 1e9, 0.0, float(core), 0)


def cold(setup: Setup) -> Section:
    with secure(setup.aws, setup.folder) as over_tls:
        return _cold(setup, {"SSL_CERT_FILE": str(over_tls.authorities), **setup.settings}, over_tls.url)


def _cold(setup: Setup, settings: Mapping[str, str], aws: str) -> Section:
    asks = event_file(setup.folder, "asks", wire.call("delete_note", {"note_id": "7"}))
    plain = event_file(setup.folder, "plain", wire.call("read_note", {"note_id": "7", "width": 40}))
    fetched = environment("askback", aws=aws, settings=settings)
    given = environment("askback", settings=KEYS_GIVEN)
    deployed = environment("deployed", aws=setup.aws, settings=setup.settings)
    sdk = environment("sdk")
    starts = {
        "fetched": Start(fetched, asks),
        "asgi": Start(sdk, asks, "asgi"),
        "given": Start(given, asks),
        "mangum": Start(sdk, asks),
        "deployed": Start(deployed, asks),
        "awslabs": Start(environment("awslabs"), plain, expected=wire.reads),
    }
    measures: dict[str, Callable[[], Sample]] = {name: partial(first_answer, start) for name, start in starts.items()}
    straight = by_turns(setup.times(full=31, quick=1), {**measures, "bare": bare})
    emulated = by_turns(
        setup.times(full=15, quick=1),
        {
            name: partial(emulator.first_answer_s, environ, asks)
            for name, environ in (("fetched", fetched), ("mangum", sdk), ("given", given))
        },
    )
    whole = {name: [sample.whole for sample in samples] for name, samples in straight.items()}

    def row(what: str, taken: Mapping[str, list[float]], ours: str, theirs: str, at_most: float | None = None) -> Row:
        return compared(what, taken[ours], taken[theirs], at_most, judged=setup.judges_times)

    return Section(
        "Cold: new process to first answered leg",
        (
            row("ring read from the secret store; the SDK's key given to it", whole, "fetched", "asgi", BUDGET),
            row("keys given to both", whole, "given", "asgi", BUDGET),
            row("in Lambda's emulator, ring read; the SDK by way of Mangum", emulated, "fetched", "mangum", BUDGET),
            row("in Lambda's emulator, keys given to both", emulated, "given", "mangum", BUDGET),
            row("ring read; the SDK by way of Mangum", whole, "fetched", "mangum"),
            row("keys given; AWS Labs' handler, which can't ask and only answers", whole, "given", "awslabs"),
            Row(
                "the deployed delete_note, which reads its note with boto3; without TLS",
                milliseconds(whole["deployed"]),
            ),
            Row("an interpreter that does nothing", milliseconds(whole["bare"])),
            *parts(straight["fetched"], straight["asgi"]),
        ),
    )


def parts(ours: Sequence[Sample], theirs: Sequence[Sample]) -> list[Row]:
    """What the first row is made of, and what it comes to where Lambda gives less than a core."""
    after, core = ([getattr(one, name) for one in ours] for name in ("after_import", "core"))
    after_theirs, core_theirs = ([getattr(one, name) for one in theirs] for name in ("after_import", "core"))
    peak, peak_theirs = (spread([one.peak_kib / 1024 for one in side]).middle for side in (ours, theirs))
    return [
        compared("of the first row, after the imports: what SnapStart leaves", after, after_theirs),
        compared("of the first row, a core's time", core, core_theirs),
        *(
            Row(f"that time at {memory:,} MB, computed", at(memory, core), at(memory, core_theirs))
            for memory in MEMORIES_MB
        ),
        Row("memory at its peak", f"{digits(peak)} MiB", f"{digits(peak_theirs)} MiB"),
    ]


def at(memory_mb: int, core_s: Sequence[float]) -> str:
    """Seconds that Lambda would take of it, and the gigabyte-seconds it would bill."""
    seconds = spread(core_s).middle * CORE_MB / memory_mb
    return f"{digits(seconds * 1e3)} ms, {seconds * memory_mb / 1024:.2f} GB-s"


def event_file(folder: Path, name: str, request: wire.Request) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(wire.event(request)))
    return path
