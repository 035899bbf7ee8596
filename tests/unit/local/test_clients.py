"""What `make clients` and `make conformance` do with what a machine has and lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from local import clients, node, stack

PROGRAM = node.Installed("node", Path("/nowhere"))


class Askback:
    endpoint = "http://127.0.0.1:1/mcp"

    def reset(self) -> None:
        pass


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that were run, none of which really is."""
    ran: list[str] = []

    @contextmanager
    def running() -> Iterator[Askback]:
        yield Askback()

    @contextmanager
    def inspector(*_: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(stack, "running", running)
    monkeypatch.setattr(clients, "inspector", inspector)
    monkeypatch.setattr(clients, "python_client", lambda _: ran.append("python"))
    monkeypatch.setattr(clients, "script", lambda _, name, *__: ran.append(name))
    return ran


def test_without_a_browser_the_inspector_is_left_out_and_counted_as_skipped(
    scripts: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    assert clients.run(PROGRAM, None) == (2, 0, 1)
    assert scripts == ["python", "typescript.mjs"]
    assert "skipped: the Inspector, because there is no browser here" in capsys.readouterr().out


def test_with_a_browser_all_three_clients_run(scripts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "browser", lambda: "/usr/bin/chromium")

    assert clients.run(PROGRAM, None) == (3, 0, 0)
    assert scripts == ["python", "typescript.mjs", "inspector.mjs"]


def test_a_client_that_does_not_get_through_is_named_and_the_others_go_on(
    scripts: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: str) -> None:
        raise clients.ClientError("it lists nothing")

    monkeypatch.setattr(clients, "python_client", fails)
    monkeypatch.setattr(clients, "browser", lambda: "/usr/bin/chromium")

    assert clients.run(PROGRAM, None) == (2, 1, 0)
    assert scripts == ["typescript.mjs", "inspector.mjs"]
    assert "FAILED the Python client: it lists nothing" in capsys.readouterr().out


@pytest.mark.parametrize(("told", "major"), [("v24.22.3", 24), ("v20.20.2", 20)])
def test_nodes_version_is_what_it_says(tmp_path: Path, told: str, major: int) -> None:
    program = tmp_path / "node"
    program.write_text(f"#!/bin/sh\necho {told}\n")
    program.chmod(0o755)

    assert node.version_of(str(program)) == major


def test_a_node_that_is_not_there_or_does_not_run_has_no_version(tmp_path: Path) -> None:
    assert node.version_of(str(tmp_path / "node")) == 0
    assert node.version_of("/bin/false") == 0


def test_without_npm_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(node.NodeError, match="npm is not installed"):
        node.installed(tmp_path)
