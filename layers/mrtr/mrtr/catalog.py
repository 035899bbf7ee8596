"""`python -m mrtr.catalog FUNCTIONS`: collect the tools of every function into the front door's catalog.

Writes FUNCTIONS/front_door/catalog.json; with --check writes nothing and exits 1 when that file is not what it would write.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from .server import Server

FRONT_DOOR = "front_door"


def collect(functions: Path, name: str, version: str) -> dict[str, Any]:
    """The catalog: `server` (name, version) and `tools` (function, definition), sorted by tool name.

    Raises SystemExit when two functions have a tool of one name, or a function's module has no server.
    """
    tools: list[dict[str, Any]] = []
    for app in sorted(functions.glob("*/app.py")):
        folder = app.parent.name
        if folder == FRONT_DOOR:
            continue
        tools += [{"function": folder, "definition": definition} for definition in _server(app).tool_definitions()]
    tools.sort(key=lambda tool: tool["definition"]["name"])
    names = [tool["definition"]["name"] for tool in tools]
    twice = {tool for tool in names if names.count(tool) > 1}
    if twice:
        raise SystemExit(
            f"two functions have a tool named {', '.join(sorted(twice))}; tool names are unique in a deployment"
        )
    return {"server": {"name": name, "version": version}, "tools": tools}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mrtr.catalog", description=__doc__)
    parser.add_argument("functions", type=Path, help="the folder that holds a folder for each function")
    parser.add_argument("--check", action="store_true", help="only say whether the catalog is stale")
    parser.add_argument("--name", default="askback", help="the server's name (default: askback)")
    parser.add_argument("--version", default="1.0.0", help="the server's version (default: 1.0.0)")
    options = parser.parse_args(arguments)
    path: Path = options.functions / FRONT_DOOR / "catalog.json"
    text = json.dumps(collect(options.functions, options.name, options.version), indent=2, ensure_ascii=False) + "\n"
    if options.check:
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return 0
        sys.stderr.write(f"{path} is stale; run: python -m mrtr.catalog {options.functions}\n")
        return 1
    path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{path} written\n")
    return 0


def _server(app: Path) -> Server:
    """The Server of a function's module, imported under a name of its own and with its folder on the path, as Lambda has it."""
    name = f"_catalog_{app.parent.name}"
    spec = importlib.util.spec_from_file_location(name, app)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{app} can't be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(app.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(app.parent))
    servers = [value for value in vars(module).values() if isinstance(value, Server)]
    if len(servers) != 1:
        raise SystemExit(f"{app} has {len(servers)} servers at module level; it needs one")
    return servers[0]


if __name__ == "__main__":
    sys.exit(main())
