"""What the documentation says is what the project does: its code runs, its commands exist, its numbers and tables are the code's."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from local import retry_event
from mrtr import Server
from mrtr.settings import Settings
from mrtr.testing import Client, accept, decline, offline
from tests.flow.tools.legs import ROOT, Instance, sample

DOCUMENTS = ["README.md", "CHANGELOG.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(language: str) -> Iterator[tuple[str, str]]:
    for document in DOCUMENTS:
        for found, block in FENCE.findall(text(document)):
            if found == language:
                yield document, block


def commands() -> list[str]:
    """Every command line of the documents' shell blocks, and of the tables that list commands."""
    lines = [line for _, block in blocks("sh") for line in block.splitlines()]
    lines += re.findall(r"`(make [\w-]+)`", "".join(text(document) for document in DOCUMENTS))
    parts = [part for line in lines for part in line.partition("#")[0].split("&&")]
    return sorted({part.strip() for part in parts if part.strip()})


class _Template(yaml.SafeLoader):
    """CloudFormation's YAML, its short intrinsics read as plain values."""


def _intrinsic(loader: yaml.SafeLoader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


_Template.add_multi_constructor("!", _intrinsic)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(text("template.yaml"), _Template)  # noqa: S506  a SafeLoader with short intrinsics
    return loaded


# Code


def test_the_readmes_first_example_asks_and_acts() -> None:
    namespace: dict[str, Any] = {"__name__": "readme"}
    exec(next(block for document, block in blocks("python") if document == "README.md"), namespace)  # noqa: S102
    server: Server = namespace["server"]
    offline(server)
    client = Client(namespace["handler"])

    first = client.call("lights_off", {"floor": 3})

    assert first.questions["ask"]["params"]["message"] == "Turn off every light on floor 3?"
    assert client.answer(first, {"ask": accept(confirm=True)}).text == "Floor 3 is dark."
    assert client.answer(client.call("lights_off", {"floor": 3}), {"ask": decline()}).text == "Floor 3 stays lit."


def test_every_python_block_of_a_document_runs_after_those_before_it() -> None:
    by_document: dict[str, list[str]] = {}
    for document, block in blocks("python"):
        by_document.setdefault(document, []).append(block)

    assert {"README.md", "docs/add-a-tool.md"} <= set(by_document)
    for document, found in by_document.items():
        exec("\n".join(found), {"__name__": document})  # noqa: S102  the project's own documents


def test_every_python_block_is_sorted_and_formatted_as_the_check_wants_it() -> None:
    for document, block in blocks("python"):
        for command in (["check", "--select", "I"], ["format", "--check"]):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *command, "--stdin-filename", "functions/example/app.py", "-"],
                input=block, cwd=ROOT, check=False, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, (document, done.stdout)


# Commands


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    named = {command.split()[1] for command in commands() if command.startswith("make ")}

    assert {"demo", "serve", "test", "check"} <= named
    assert named <= targets


def test_every_sam_local_invoke_names_a_function_and_an_event_that_are_there(template: dict[str, Any]) -> None:
    invocations = [shlex.split(c.partition(">")[0]) for c in commands() if c.startswith("sam local invoke")]

    assert invocations
    for words in invocations:
        assert template["Resources"][words[3]]["Type"] == "AWS::Serverless::Function"
        event = words[words.index("--event") + 1]
        assert event == "retry.json" or (ROOT / event).is_file()


def test_every_python_module_that_is_named_is_there() -> None:
    modules = [c.split()[2] for c in commands() if c.startswith("python -m")]

    assert {"local.seed", "local.retry_event"} <= set(modules)
    for module in modules:
        path = f"{module.replace('.', '/')}.py"
        assert any((folder / path).is_file() for folder in (ROOT, ROOT / "layers" / "mrtr"))


@pytest.mark.usefixtures("aws")
def test_the_readmes_retry_command_makes_the_event_that_deletes_the_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = [c for c in commands() if "local.retry_event" in c]
    words = shlex.split(command.partition(">")[0])[3:]
    first_event = words[words.index("--first-event") + 1]
    (tmp_path / "events").symlink_to(ROOT / "events")
    monkeypatch.chdir(tmp_path)
    tool = Instance("delete_note")
    asked = tool.send(sample(first_event.removeprefix("events/")))
    (tmp_path / "out.json").write_text(json.dumps(asked.response))

    assert retry_event.main(words) == 0

    assert tool.send(json.loads(capsys.readouterr().out)).text == "Deleted note 7."


# Facts


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_to_a_file_leads_somewhere(document: str) -> None:
    for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", text(document)):
        assert ((ROOT / document).parent / link).exists(), link


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_module_and_folder_in_backticks_exists(document: str) -> None:
    runtime = ROOT / "layers" / "mrtr" / "mrtr"
    for name in re.findall(r"`([a-z_]+\.py)`", text(document)):
        assert (runtime / name).is_file(), name


def test_the_readme_lists_the_templates_parameters_and_their_defaults(template: dict[str, Any]) -> None:
    listed = dict(re.findall(r"^\| `([A-Z]\w+)` \| (.*?) \|", text("README.md"), re.MULTILINE))

    assert set(listed) == set(template["Parameters"])
    for name, parameter in template["Parameters"].items():
        if name != "AllowedOrigins":
            assert listed[name] == f"`{parameter['Default']}`"


def test_the_permissions_table_has_exactly_the_actions_of_the_templates_roles(template: dict[str, Any]) -> None:
    granted: set[str] = set()
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        documents = [properties.get("PolicyDocument"), *(p["PolicyDocument"] for p in properties.get("Policies", []))]
        for document in documents:
            for written in document["Statement"] if document else []:
                # a statement that depends on a condition stands second in its !If
                action = (written[1] if isinstance(written, list) else written)["Action"]
                granted |= {action} if isinstance(action, str) else set(action)
    table = text("docs/security.md").partition("## Permissions")[2]

    assert set(re.findall(r"`([a-z]+:[A-Z]\w+)`", table)) == granted


def test_the_time_limits_in_the_readme_are_the_defaults() -> None:
    defaults = Settings(keyring="", claim_table="", audience="")

    assert (defaults.round_ttl_s, defaults.flow_ttl_s) == (600, 3600)
    assert "A round waits 10 minutes for its answer, a flow an hour in all" in text("README.md")
