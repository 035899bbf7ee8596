"""A build is skipped only when nothing that it reads has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from local import build


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "template.yaml").write_text("Resources: {}")
    for folder in ("functions/one", "layers/mrtr/mrtr"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "functions" / "one" / "app.py").write_text("handler = 1")
    (tmp_path / "layers" / "mrtr" / "requirements.txt").write_text("a==1")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "parameter_overrides", lambda: ["PythonRuntime=python3.13"])
    return tmp_path


@pytest.mark.parametrize("path", ["template.yaml", "functions/one/app.py", "layers/mrtr/requirements.txt"])
def test_a_changed_byte_is_a_reason_to_build(checkout: Path, path: str) -> None:
    before = build.fingerprint()
    (checkout / path).write_bytes((checkout / path).read_bytes() + b" ")
    assert build.fingerprint() != before


def test_a_new_file_is_a_reason_to_build(checkout: Path) -> None:
    before = build.fingerprint()
    (checkout / "functions" / "one" / "more.py").write_text("")
    assert build.fingerprint() != before


def test_a_renamed_file_is_a_reason_to_build(checkout: Path) -> None:
    before = build.fingerprint()
    (checkout / "functions" / "one" / "app.py").rename(checkout / "functions" / "one" / "other.py")
    assert build.fingerprint() != before


@pytest.mark.usefixtures("checkout")
def test_another_runtime_is_a_reason_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    before = build.fingerprint()
    monkeypatch.setattr(build, "parameter_overrides", lambda: ["PythonRuntime=python3.12"])
    assert build.fingerprint() != before


def test_what_python_writes_beside_its_modules_is_no_reason_to_build(checkout: Path) -> None:
    before = build.fingerprint()
    cache = checkout / "functions" / "one" / "__pycache__"
    cache.mkdir()
    (cache / "app.pyc").write_bytes(b"code")
    assert build.fingerprint() == before
