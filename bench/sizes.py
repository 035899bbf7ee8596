"""Sizes: of the sealed state on either side, and of the layer."""

import io
import zipfile
from collections import Counter
from pathlib import Path

from bench.figures import TIMES, Row, Section, digits
from bench.processes import layer, worker
from bench.setup import Setup

FIRST_STATE_CHARS = 180
ANSWER_CHARS = (1, 16, 100, 1_000)
LARGEST = 10
BODIES = {"call": "the call", "question": "the question", "answer": "the answer", "result": "the result"}
MIB = 1024 * 1024


def states(setup: Setup) -> Section:
    with (
        worker(setup.folder, "askback", "handler", aws=setup.aws, settings=setup.settings) as ours,
        worker(setup.folder, "sdk", "asgi") as theirs,
    ):
        flow, flow_theirs = ours.do("flow"), theirs.do("flow")
        first = (flow["state"], flow_theirs["state"])
        by_size = {
            size: (ours.do("states", characters=size), theirs.do("states", characters=size)) for size in ANSWER_CHARS
        }
    rows = [
        Row(
            "delete_note's first question",
            str(first[0]),
            str(first[1]),
            share(*first),
            f"≤ {FIRST_STATE_CHARS}, and smaller",
            first[0] <= FIRST_STATE_CHARS and first[0] < first[1],
        )
    ]
    for body, what in BODIES.items():
        pair = (flow[body], flow_theirs[body])
        rows.append(Row(f"delete_note, bytes of {what}", str(pair[0]), str(pair[1]), share(*pair)))
    for size, (mine, others) in by_size.items():
        for answers, pair in enumerate(zip(mine, others, strict=True)):
            if answers:
                of = f"{answers} answer{'s' if answers > 1 else ''} of {size:,} character{'s' if size > 1 else ''}"
                rows.append(Row(of, str(pair[0]), str(pair[1]), share(*pair), "smaller", pair[0] < pair[1]))
    return Section("State: characters of `requestState`", tuple(rows))


def share(ours: int, theirs: int) -> str:
    return f"{digits(ours / theirs)}{TIMES}"


def packages(folder: Path) -> dict[str, list[Path]]:
    """The layer's files by what they belong to: the folder or file beside the others on the path."""
    root = next(iter(folder.glob("python/lib/python3*/site-packages")), folder / "python")
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            inside = path.relative_to(root).parts[0] if path.is_relative_to(root) else path.relative_to(folder).parts[0]
            found.setdefault("*.dist-info" if inside.endswith(".dist-info") else inside, []).append(path)
    return found


def zipped_bytes(files: list[Path], folder: Path) -> int:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in files:
            file.write(path, path.relative_to(folder))
    return len(archive.getvalue())


def unpacked_bytes(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def layer_size() -> Section:
    folder = layer()
    found = packages(folder)
    every = [path for files in found.values() for path in files]
    unpacked = Counter({name: unpacked_bytes(files) for name, files in found.items()})
    compiled = [path for path in every if path.suffix == ".pyc"]

    def row(what: str, files: list[Path]) -> Row:
        return Row(
            what, f"{digits(unpacked_bytes(files) / MIB)} MiB, zipped {digits(zipped_bytes(files, folder) / MIB)} MiB"
        )

    largest = [row(f"of it {name}", found[name]) for name, _ in unpacked.most_common(LARGEST)]
    return Section(
        "Layer: what a function carries",
        (row("all of it", every), *largest, row("of it bytecode, in all packages", compiled)),
        peer="",
    )
