"""What the local stack starts, it ends, and it ends nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from local import aws, stack


def askback(folder: Path) -> stack.Stack:
    return stack.Stack(
        endpoint="http://127.0.0.1:9/mcp",
        aws_endpoint_url="http://127.0.0.1:9",
        functions={"OneFunction": "askback-tool-one"},
        tables={},
        key_ring="ring",
        folder=folder,
    )


def note(folder: Path, pid: int, *, cold: bool = True) -> None:
    line = {"at": 1.0, "function": "askback-tool-one", "pid": pid, "request_id": "r", "cold": cold}
    with (folder / "invocations.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)


def test_a_process_that_no_function_had_is_not_killed(tmp_path: Path) -> None:
    note(tmp_path, 1)
    with pytest.raises(ValueError, match="no process of this stack"):
        askback(tmp_path).kill(os.getpid())


def test_a_killed_process_is_gone_when_kill_returns(tmp_path: Path) -> None:
    with sleeper() as process:
        note(tmp_path, process.pid)
        assert askback(tmp_path).workers() == {process.pid}
        askback(tmp_path).kill(process.pid)
        assert askback(tmp_path).workers() == set()


def test_before_any_invocation_there_are_no_processes_and_no_logs(tmp_path: Path) -> None:
    assert askback(tmp_path).invocations() == []
    assert askback(tmp_path).workers() == set()
    assert askback(tmp_path).logs() == []


def test_logs_are_the_lines_that_are_json_objects(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "askback-tool-one.log").write_text(
        '{"message": "asked"}\nTraceback (most recent call last):\n[1]\n'
    )
    assert askback(tmp_path).logs() == [{"message": "asked"}]


def test_a_taken_port_is_told_at_once() -> None:
    with aws.listening(0) as taken, pytest.raises(OSError, match="in use"):
        aws.listening(taken.getsockname()[1])


def test_sockets_listen_on_loopback_alone() -> None:
    with aws.listening(0) as one:
        assert one.getsockname()[0] == "127.0.0.1"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(aws, "WORK", tmp_path)
    return tmp_path


def test_the_folder_of_a_run_is_removed_when_the_run_ends(work: Path) -> None:
    with aws.run_folder() as folder:
        assert folder.parent == work
    assert not folder.exists()


def test_the_folder_of_a_run_that_was_killed_is_removed_by_the_next(work: Path) -> None:
    (work / "run-left").mkdir()
    with aws.run_folder() as folder:
        assert [path.name for path in work.glob("run-*")] == [folder.name]


def test_the_folder_of_a_living_run_stays(work: Path) -> None:
    with aws.run_folder() as first, aws.run_folder() as second:
        assert {path.name for path in work.glob("run-*")} == {first.name, second.name}


def test_the_emulated_aws_hears_of_no_account_and_no_docker(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a real one")
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://elsewhere.example")
    environment = aws.emulator_environment("http://127.0.0.1:4566", work)
    assert "production" not in environment.values()
    assert "a real one" not in environment.values()
    assert "http://elsewhere.example" not in environment.values()
    assert environment["AUTH"] == "true"
    assert environment["DOCKER_HOST"].endswith("nonexistent")
