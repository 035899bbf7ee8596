from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from mrtr.catalog import collect, main

APP = """
from mrtr import Server

server = Server("{folder}", instructions="Not in the catalog.")


@server.tool(name="{tool}")
def tool(note_id: str) -> str:
    "Löscht eine Notiz. 🗑"
    return note_id


handler = server.lambda_handler
"""


def add(functions: Path, folder: str, source: str, **files: str) -> None:
    """A function's folder, with its app.py and other modules."""
    (functions / folder).mkdir()
    (functions / folder / "app.py").write_text(dedent(source), encoding="utf-8")
    for name, text in files.items():
        (functions / folder / f"{name}.py").write_text(dedent(text), encoding="utf-8")


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    folder = tmp_path / "functions"
    folder.mkdir()
    add(folder, "front_door", "raise AssertionError('the front door reads the catalog, it is not in it')")
    add(folder, "write", APP.format(folder="write", tool="b_write"))
    add(folder, "delete", APP.format(folder="delete", tool="a_delete"))
    return folder


def tools_of(functions: Path) -> list[tuple[str, str]]:
    catalog = collect(functions, "askback", "1.0.0")
    return [(entry["function"], entry["definition"]["name"]) for entry in catalog["entries"]["tools/list"]]


def catalog_of(functions: Path) -> Any:
    return json.loads((functions / "front_door" / "catalog.json").read_text(encoding="utf-8"))


# Collecting


def test_every_functions_tools_are_collected_by_name_with_the_folder_that_owns_them(functions: Path) -> None:
    assert tools_of(functions) == [("delete", "a_delete"), ("write", "b_write")]


def test_an_entry_holds_the_definition_as_the_function_itself_lists_it(functions: Path) -> None:
    entry = collect(functions, "askback", "1.0.0")["entries"]["tools/list"][0]
    assert entry["definition"]["description"] == "Löscht eine Notiz. 🗑"
    assert entry["definition"]["inputSchema"]["required"] == ["note_id"]
    assert set(entry) == {"function", "definition"}


def test_prompts_resources_and_completion_are_collected_with_the_capabilities_they_make(functions: Path) -> None:
    source = """
    from mrtr import Server

    server = Server("notes")

    @server.prompt()
    def summary(note_id: str) -> str:
        "Sums up."
        return note_id

    @server.resource("note://all")
    def everything() -> str:
        "All notes."
        return ""

    @server.resource("note://{note_id}")
    def one(note_id: str) -> str:
        "One note."
        return note_id

    @server.completion()
    def complete(ref, argument, context):
        return []
    """
    add(functions, "notes", source)
    catalog = collect(functions, "askback", "1.0.0")
    assert set(catalog["capabilities"]) == {"tools", "prompts", "resources", "completions", "logging"}
    assert catalog["completing"] == ["notes"]
    assert [entry["definition"]["name"] for entry in catalog["entries"]["prompts/list"]] == ["summary"]
    assert [entry["definition"]["uri"] for entry in catalog["entries"]["resources/list"]] == ["note://all"]
    templates = catalog["entries"]["resources/templates/list"]
    assert [entry["definition"]["uriTemplate"] for entry in templates] == ["note://{note_id}"]


def test_a_folder_without_an_app_or_an_app_without_a_server_is_passed_over(functions: Path) -> None:
    (functions / "shared").mkdir()
    add(functions, "rotate_key", "def handler(event, context): ...")
    assert tools_of(functions) == [("delete", "a_delete"), ("write", "b_write")]


def test_a_function_finds_the_modules_beside_it_and_not_those_of_another(functions: Path) -> None:
    for folder in ("one", "two"):
        source = (
            APP.format(folder=folder, tool="{NAME}")
            .replace('"{NAME}"', "NAME")
            .replace("from mrtr", "from names import NAME\nfrom mrtr")
        )
        add(functions, folder, source, names=f"NAME = 'tool_of_{folder}'")
    path, modules = list(sys.path), set(sys.modules)
    assert tools_of(functions)[2:] == [("one", "tool_of_one"), ("two", "tool_of_two")]
    assert sys.path == path
    assert "names" not in set(sys.modules) - modules


def test_a_server_under_two_names_is_one_server(functions: Path) -> None:
    add(functions, "more", APP.format(folder="more", tool="c_more") + "\nalso = server\n")
    assert ("more", "c_more") in tools_of(functions)


def test_two_servers_in_one_function_are_refused_by_file(functions: Path) -> None:
    add(functions, "more", APP.format(folder="more", tool="c_more") + "\nsecond = Server('second')\n")
    with pytest.raises(SystemExit, match=r"more.app\.py has 2 servers"):
        tools_of(functions)


def test_two_functions_with_a_tool_of_one_name_are_refused_by_name(functions: Path) -> None:
    add(functions, "again", APP.format(folder="again", tool="a_delete"))
    with pytest.raises(SystemExit, match=r"a_delete.*unique"):
        tools_of(functions)


def test_a_function_that_cannot_be_imported_fails_loudly(functions: Path) -> None:
    add(functions, "broken", "raise RuntimeError('broken app')")
    path = list(sys.path)
    with pytest.raises(RuntimeError, match="broken app"):
        tools_of(functions)
    assert sys.path == path


def test_a_module_that_python_cannot_load_is_refused_by_file(functions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.spec_from_file_location", lambda *_: None)
    with pytest.raises(SystemExit, match=r"app\.py can't be imported"):
        tools_of(functions)


# The command


def test_the_command_writes_the_catalog_beside_the_front_doors_handler(
    functions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(functions), "--name", "notes", "--version", "2.0.0"]) == 0
    assert catalog_of(functions)["server"] == {"name": "notes", "version": "2.0.0"}
    assert "catalog.json written" in capsys.readouterr().out
    text = (functions / "front_door" / "catalog.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "🗑" in text


def test_writing_twice_gives_the_same_file(functions: Path) -> None:
    main([str(functions)])
    first = (functions / "front_door" / "catalog.json").read_bytes()
    main([str(functions)])
    assert (functions / "front_door" / "catalog.json").read_bytes() == first
    assert catalog_of(functions)["server"] == {"name": "askback", "version": "1.0.0"}


def test_a_check_passes_while_the_catalog_is_what_would_be_written(functions: Path) -> None:
    main([str(functions)])
    assert main([str(functions), "--check"]) == 0


def test_a_check_of_a_missing_catalog_fails_and_writes_nothing(
    functions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(functions), "--check"]) == 1
    assert not (functions / "front_door" / "catalog.json").exists()
    assert f"python -m mrtr.catalog {functions}" in capsys.readouterr().err


def test_a_check_fails_when_a_tool_changed(functions: Path) -> None:
    main([str(functions)])
    before = (functions / "front_door" / "catalog.json").read_bytes()
    app = functions / "delete" / "app.py"
    app.write_text(app.read_text(encoding="utf-8").replace("Notiz", "Notizen"), encoding="utf-8")
    assert main([str(functions), "--check"]) == 1
    assert (functions / "front_door" / "catalog.json").read_bytes() == before


def test_a_folder_without_a_front_door_is_refused_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([str(tmp_path)])
    assert refused.value.code == 2
    assert "front door" in capsys.readouterr().err


def test_the_command_runs_as_a_module(functions: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mrtr.catalog", str(functions), "--check"],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "is stale" in done.stderr
