"""`python -m mrtr.catalog FUNCTIONS`: collect what every function offers into the front door's catalog.

Writes FUNCTIONS/front_door/catalog.json; with --check writes nothing and exits 1 when that file is not what it would write.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .endpoint import LISTS
from .server import Server

FRONT_DOOR = "front_door"


def collect(functions: Path, name: str, version: str) -> dict[str, Any]:
    """The catalog of a folder of functions. Raises SystemExit as `combine` does, or when a function's module has no server."""
    apps = [app for app in sorted(functions.glob("*/app.py")) if app.parent.name != FRONT_DOOR]
    servers = ((app.parent.name, _server(app)) for app in apps)
    return combine(((folder, server) for folder, server in servers if server is not None), name, version)


def combine(servers: Iterable[tuple[str, Server]], name: str, version: str) -> dict[str, Any]:
    """The catalog of (folder, server) pairs: `server`, `capabilities`, `entries` by list method, `completing` folders.

    Raises SystemExit when two functions have something of one name.
    """
    capabilities: dict[str, Any] = {}
    entries: dict[str, list[dict[str, Any]]] = {method: [] for method in LISTS}
    completing = []
    for folder, server in servers:
        offered = server.capabilities()
        capabilities |= offered
        if "completions" in offered:
            completing.append(folder)
        for method, found in entries.items():
            found += [{"function": folder, "definition": definition} for definition in server.definitions(method)]
    for method, found in entries.items():
        _sort(found, method)
    return {
        "server": {"name": name, "version": version},
        "capabilities": dict(sorted(capabilities.items())),
        "completing": sorted(completing),
        "entries": entries,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mrtr.catalog", description=__doc__)
    parser.add_argument("functions", type=Path, help="the folder that holds a folder for each function")
    parser.add_argument("--check", action="store_true", help="only say whether the catalog is stale")
    parser.add_argument("--name", default="askback", help="the server's name (default: askback)")
    parser.add_argument("--version", default="1.0.0", help="the server's version (default: 1.0.0)")
    options = parser.parse_args(arguments)
    path: Path = options.functions / FRONT_DOOR / "catalog.json"
    if not path.parent.is_dir():
        parser.error(f"{path.parent} is no folder: the front door's function belongs there")
    text = json.dumps(collect(options.functions, options.name, options.version), indent=2, ensure_ascii=False) + "\n"
    if options.check:
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return 0
        sys.stderr.write(f"{path} is stale; run: python -m mrtr.catalog {options.functions}\n")
        return 1
    path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{path} written\n")
    return 0


def _sort(found: list[dict[str, Any]], method: str) -> None:
    _, unique = LISTS[method]
    found.sort(key=lambda entry: str(entry["definition"][unique]))
    names = [entry["definition"][unique] for entry in found]
    twice = sorted({entry for entry in names if names.count(entry) > 1})
    if twice:
        raise SystemExit(f"{method}: two functions have {', '.join(twice)}; it must be unique in a deployment")


def _server(app: Path) -> Server | None:
    """The Server of a function's module, imported under a name of its own and with its folder on the path, as Lambda has it.

    None for a function that is no MCP server.
    """
    name = f"_catalog_{app.parent.name}"
    spec = importlib.util.spec_from_file_location(name, app)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{app} can't be imported")
    module = importlib.util.module_from_spec(spec)
    known = set(sys.modules)
    sys.modules[name] = module
    sys.path.insert(0, str(app.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(app.parent))
        for helper in set(sys.modules) - known:  # the next function may have a helper module of the same name
            if str(getattr(sys.modules[helper], "__file__", "")).startswith(str(app.parent)):
                del sys.modules[helper]
    servers = list({id(value): value for value in vars(module).values() if isinstance(value, Server)}.values())
    if len(servers) > 1:
        raise SystemExit(f"{app} has {len(servers)} servers at module level; a function has one")
    return servers[0] if servers else None


if __name__ == "__main__":
    sys.exit(main())
